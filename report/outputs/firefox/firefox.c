/*
 * --firefox: the recording as the Firefox Profiler's processed profile, version 70
 * (docs-developer/CHANGELOG-formats.md in its sources): a thread for each thread that was sampled,
 * and for each process one for each figure of each analysis of memory, whose samples weigh bytes; a
 * counter for each gauge of a process.
 *
 * Keys that have no place in the format (event, kind) are the outermost frames, as --folded has it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/outputs/firefox/shared_tables.h"
#include "report/outputs/json.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/cells.h"
#include "report/outputs/parts/places.h"
#include "report/stacks/frames.h"
#include "report/tables/byte_runs.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"

#define VERSION "70"
#define GECKO_VERSION "36"

/* What a thread of the profile stands for; a run of bytes, so that it has no padding. */
struct track {
	uint64_t pid, tid; /* tid UINT64_MAX: the whole process */
	uint64_t comm;	   /* string id in its table; 0 for a process */
	uint32_t table, value;
};

struct sample {
	uint32_t track, node;
	double ms, weight;
};

/* A value of a gauge. */
struct point {
	uint64_t pid, gauge, time; /* gauge: string id in its table */
	double value;
};

struct firefox {
	const struct mt_view *view;
	struct mt_named_table tables[32]; /* that have stacks; the first: --samples */
	size_t table_count;
	struct mt_table *gauges; /* or NULL */
	struct mt_places *places;
	struct mt_byte_runs *tracks;
	MT_ARRAY(uint32_t) order; /* tracks as the profile has them, by process */
	MT_ARRAY(uint32_t) place; /* of each track in `order` */
	MT_ARRAY(struct sample) samples;
	MT_ARRAY(struct point) points;
	double ms; /* length of the recording */
	bool several_events;
};

static void firefox_deinit(struct firefox *f)
{
	mt_places_destroy(f->places);
	mt_byte_runs_destroy(f->tracks);
	mt_array_deinit(&f->order);
	mt_array_deinit(&f->place);
	mt_array_deinit(&f->samples);
	mt_array_deinit(&f->points);
}

/* ---- Reading ---- */

static const struct track *track_of(const struct firefox *f, uint32_t id)
{
	size_t size;

	return mt_byte_runs_get(f->tracks, id, &size);
}

/* Bytes, and how many they are: the figures that have a unit of weight in the format. */
static bool has_weight(const struct mt_table *table, size_t value)
{
	return !(table->most >> value & 1) && (!strcmp(table->values[value].name, "bytes") ||
					       !strcmp(table->values[value].name, "count"));
}

static bool weighs_bytes(const struct mt_table *table, size_t value)
{
	return !strcmp(table->values[value].unit, "B");
}

/* Whether a track is of bytes. */
static bool is_of_bytes(const struct firefox *f, const struct track *track)
{
	return track->table < f->table_count &&
	       weighs_bytes(f->tables[track->table].table, track->value);
}

/* The columns of a table that this output treats apart. */
struct columns {
	size_t pid, tid, comm, time, stack;
};

static struct columns columns_of(const struct mt_table *table)
{
	return (struct columns){
		.pid = mt_table_key(table, "pid"),
		.tid = mt_table_key(table, "tid"),
		.comm = mt_table_key(table, "comm"),
		.time = table->interval ? mt_table_key(table, "time") : MT_COLUMN_NONE,
		.stack = mt_table_key_of_kind(table, MT_KEY_STACK),
	};
}

/* Other keys, then the stack; MT_PLACES_NONE out of memory. */
static uint32_t node_of(struct firefox *f, const struct mt_table *table, const struct columns *c,
			const struct mt_row *row)
{
	uint32_t node = 0;
	struct mt_snippet room;

	for (size_t i = 0; i < table->key_count && node != MT_PLACES_NONE; i++) {
		const char *text;

		if (i == c->pid || i == c->tid || i == c->comm || i == c->time ||
		    table->keys[i].kind == MT_KEY_STACK ||
		    (!f->several_events && !strcmp(table->keys[i].name, "event")))
			continue;
		text = mt_cell_text(table, row, i, &room);
		if (text && *text)
			node = mt_places_words(f->places, node, text);
	}
	if (c->stack == MT_COLUMN_NONE || node == MT_PLACES_NONE)
		return node;
	return mt_places_stack(f->places, table, node, (uint32_t)row->keys[c->stack]);
}

static bool add_sample(struct firefox *f, struct track track, double ms, uint32_t node,
		       double weight)
{
	struct sample *sample = mt_array_push(&f->samples);

	if (!sample)
		return false;
	*sample = (struct sample){
		.track = mt_byte_runs_intern(f->tracks, &track, sizeof(track)),
		.node = node,
		.ms = ms,
		.weight = weight,
	};
	return sample->track != MT_SEQUENCE_NONE;
}

static uint64_t key_or(const struct mt_row *row, size_t column, uint64_t other)
{
	return column == MT_COLUMN_NONE || row->keys[column] == UINT64_MAX ? other
									   : row->keys[column];
}

static bool add_row(struct firefox *f, uint32_t at, const struct columns *c,
		    const struct mt_row *row)
{
	const struct mt_table *table = f->tables[at].table;
	uint32_t node = node_of(f, table, c, row);
	double ms = c->time == MT_COLUMN_NONE ? f->ms : (double)row->keys[c->time] / 1e6;
	struct track track = {.pid = key_or(row, c->pid, 0), .tid = UINT64_MAX, .table = at};

	if (node == MT_PLACES_NONE)
		return false;
	if (!at) {
		track.tid = key_or(row, c->tid, 0);
		track.comm = key_or(row, c->comm, 0);
	}
	for (uint32_t i = 0; i < table->value_count; i++) {
		double weight = row->values[i].value;

		track.value = i;
		if (has_weight(table, i) && isfinite(weight) && weight != 0 &&
		    !add_sample(f, track, ms, node, weight))
			return false;
	}
	return true;
}

static struct mt_error *read_table(struct firefox *f, uint32_t at)
{
	struct mt_table *table = f->tables[at].table;
	const struct columns columns = columns_of(table);
	struct mt_error *err = mt_table_rewind(table);
	struct mt_row row;
	bool more;

	while (!err) {
		err = mt_table_next(table, &row, &more);
		if (err || !more)
			break;
		if (!add_row(f, at, &columns, &row))
			return mt_error_nomem();
	}
	return err;
}

static struct mt_error *read_gauges(struct firefox *f)
{
	struct mt_error *err = f->gauges ? mt_table_rewind(f->gauges) : NULL;
	struct mt_row row;
	bool more = f->gauges;

	while (!err && more) {
		struct point *point;

		err = mt_table_next(f->gauges, &row, &more);
		if (err || !more)
			break;
		point = mt_array_push(&f->points);
		if (!point)
			return mt_error_nomem();
		*point = (struct point){
			.pid = row.keys[mt_table_key(f->gauges, "pid")],
			.gauge = row.keys[mt_table_key(f->gauges, "gauge")],
			.time = row.keys[mt_table_key(f->gauges, "time")],
			.value = row.values[0].value,
		};
	}
	return err;
}

/* ---- Order ---- */

/* Processes by pid; in each its main thread, its threads, then the analyses. */
static int compare_tracks(const void *a, const void *b, void *tracks)
{
	size_t size;
	const struct track *x = mt_byte_runs_get(tracks, *(const uint32_t *)a, &size),
			   *y = mt_byte_runs_get(tracks, *(const uint32_t *)b, &size);
	const uint64_t keys[][2] = {
		{x->pid, y->pid}, {x->table, y->table}, {x->tid != x->pid, y->tid != y->pid},
		{x->tid, y->tid}, {x->value, y->value}, {x->comm, y->comm},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	}
	return 0;
}

static int compare_samples(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->ms != y->ms)
		return x->ms < y->ms ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static int compare_points(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->gauge != y->gauge)
		return x->gauge < y->gauge ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

/* A process that has gauges alone needs a thread, too. */
static bool add_gauged(struct firefox *f)
{
	for (size_t i = 0; i < f->points.count; i++) {
		const struct track track = {.pid = f->points.items[i].pid,
					    .tid = f->points.items[i].pid,
					    .table = UINT32_MAX};
		bool there = false;

		if (i && f->points.items[i - 1].pid == track.pid)
			continue;
		for (uint32_t k = 0; k < mt_byte_runs_count(f->tracks) && !there; k++)
			there = track_of(f, k)->pid == track.pid;
		if (!there &&
		    mt_byte_runs_intern(f->tracks, &track, sizeof(track)) == MT_SEQUENCE_NONE)
			return false;
	}
	return true;
}

static bool sort_all(struct firefox *f)
{
	size_t count;

	if (f->points.count)
		qsort(f->points.items, f->points.count, sizeof(*f->points.items), compare_points);
	if (!add_gauged(f))
		return false;
	count = mt_byte_runs_count(f->tracks);
	if (!mt_array_reserve(&f->order, count) || !mt_array_reserve(&f->place, count))
		return false;
	for (uint32_t i = 0; i < count; i++)
		f->order.items[i] = i;
	f->order.count = count;
	if (count)
		qsort_r(f->order.items, count, sizeof(*f->order.items), compare_tracks, f->tracks);
	for (uint32_t i = 0; i < count; i++)
		f->place.items[f->order.items[i]] = i;
	for (size_t i = 0; i < f->samples.count; i++)
		f->samples.items[i].track = f->place.items[f->samples.items[i].track];
	if (f->samples.count)
		qsort(f->samples.items, f->samples.count, sizeof(*f->samples.items),
		      compare_samples);
	return true;
}

/* ---- Threads ---- */

static void put_samples(const struct firefox *f, size_t first, size_t count, bool bytes, FILE *to)
{
	const struct sample *samples = f->samples.items + first;

	fputs("\"samples\":{\"stack\":[", to);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? "," : "", to);
		if (samples[i].node)
			fprintf(to, "%" PRIu32, samples[i].node - 1);
		else
			fputs("null", to);
	}
	fputs("],\n\"time\":[", to);
	for (size_t i = 0; i < count; i++)
		fprintf(to, "%s%.3f", i ? "," : "", samples[i].ms);
	fputs("],\n\"weight\":[", to);
	for (size_t i = 0; i < count; i++)
		fprintf(to, "%s%s", i ? "," : "", mt_cell_figure(samples[i].weight).text);
	fprintf(to, "],\n\"weightType\":\"%s\",\"length\":%zu},\n", bytes ? "bytes" : "samples",
		count);
}

/* A thread that renamed itself is several, with one number. */
static bool is_renamed(const struct firefox *f, size_t place)
{
	const struct track *track = track_of(f, f->order.items[place]), *before;

	if (!place || track->tid == UINT64_MAX)
		return false;
	before = track_of(f, f->order.items[place - 1]);
	return before->pid == track->pid && before->tid == track->tid &&
	       before->table == track->table;
}

/* Of the samples of a thread. */
static void put_thread_names(const struct firefox *f, size_t place, FILE *to)
{
	const struct track *track = track_of(f, f->order.items[place]);
	const char *comm = mt_strings_get(f->tables[0].table->strings, (uint32_t)track->comm);
	MT_CLEANUP_FREE char *tid = NULL;

	fputs("\"name\":", to);
	mt_json_string(comm, to);
	if (!is_renamed(f, place)) {
		fprintf(to, ",\"tid\":%" PRIu64, track->tid);
		return;
	}
	if (asprintf(&tid, "%" PRIu64 ": %s", track->tid, comm) < 0)
		tid = NULL;
	fputs(",\"tid\":", to);
	mt_json_string(tid ? tid : comm, to);
}

/* Name and number: of a process "growth, bytes". */
static void put_names(const struct firefox *f, size_t place, FILE *to)
{
	const struct track *track = track_of(f, f->order.items[place]);
	char name[128] = "process";

	if (!track->table) {
		put_thread_names(f, place, to);
		return;
	}
	if (track->table < f->table_count) {
		const struct mt_table *table = f->tables[track->table].table;

		snprintf(name, sizeof(name), "%s, %s", table->name,
			 table->values[track->value].name);
	}
	fprintf(to, "\"name\":\"%s\",\"tid\":\"%" PRIu64 " %s\"", name, track->pid, name);
}

/* The name of a process is that of its main thread, or of the first thread that there is. */
static void put_process_name(const struct firefox *f, size_t place, FILE *to)
{
	uint64_t pid = track_of(f, f->order.items[place])->pid;
	const struct track *first;

	while (place && track_of(f, f->order.items[place - 1])->pid == pid)
		place--;
	first = track_of(f, f->order.items[place]);
	fputs(",\"processName\":", to);
	if (!first->table && first->comm)
		mt_json_string(mt_strings_get(f->tables[0].table->strings, (uint32_t)first->comm),
			       to);
	else
		fprintf(to, "\"%s\"", pid ? "process" : "host");
}

static void put_thread(const struct firefox *f, size_t place, size_t first, size_t count, FILE *to)
{
	const struct track *track = track_of(f, f->order.items[place]);

	fputs(place ? ",\n{" : "{", to);
	put_names(f, place, to);
	put_process_name(f, place, to);
	fprintf(to,
		",\"pid\":\"%" PRIu64
		"\",\"isMainThread\":%s,\"processType\":\"default\",\"processStartupTime\":0,"
		"\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
		"\"pausedRanges\":[],\n",
		track->pid, track->tid == track->pid && !is_renamed(f, place) ? "true" : "false");
	put_samples(f, first, count, is_of_bytes(f, track), to);
	fputs("\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],"
	      "\"category\":[],\"length\":0}}",
	      to);
}

static void put_threads(const struct firefox *f, FILE *to)
{
	size_t at = 0;

	fputs("\"threads\":[", to);
	for (size_t i = 0; i < f->order.count; i++) {
		size_t first = at;

		while (at < f->samples.count && f->samples.items[at].track == i)
			at++;
		put_thread(f, i, first, at - first, to);
	}
	fputs("],\n", to);
}

/* ---- Counters ---- */

/* The first thread of a process. */
static size_t thread_of(const struct firefox *f, uint64_t pid)
{
	size_t i = 0;

	while (i < f->order.count && track_of(f, f->order.items[i])->pid != pid)
		i++;
	return i;
}

/* A series is told by its changes. */
static void put_counter(const struct firefox *f, size_t first, size_t count, FILE *to)
{
	const struct point *points = f->points.items + first;
	const char *name = mt_strings_get(f->gauges->strings, (uint32_t)points->gauge);
	double last = 0;

	fprintf(to, "%s{\"name\":\"%s\",\"category\":\"Memory\",", first ? ",\n" : "", name);
	fprintf(to, "\"description\":\"%s bytes of the process, as mtrec read them in /proc\",",
		name);
	fprintf(to, "\"pid\":\"%" PRIu64 "\",\"mainThreadIndex\":%zu,\"display\":", points->pid,
		thread_of(f, points->pid));
	fprintf(to,
		"{\"graphType\":\"line-accumulated\",\"unit\":\"bytes\",\"color\":\"%s\","
		"\"markerSchemaLocation\":null,\"sortWeight\":20,\"label\":\"%s memory\","
		"\"tooltipRows\":[{\"type\":\"value\",\"source\":\"accumulated\",\"format\":"
		"{\"unit\":\"bytes\"},\"label\":\"%s at this time\"},{\"type\":\"value\","
		"\"source\":\"count-range\",\"format\":{\"unit\":\"bytes\"},\"label\":\"range in "
		"the graph\"}]},\n",
		strcmp(name, "resident") != 0 ? "grey" : "green", name, name);
	fputs("\"samples\":{\"time\":[", to);
	for (size_t i = 0; i < count; i++)
		fprintf(to, "%s%.3f", i ? "," : "", (double)points[i].time / 1e6);
	fputs("],\n\"count\":[", to);
	for (size_t i = 0; i < count; i++) {
		fprintf(to, "%s%.0f", i ? "," : "", points[i].value - last);
		last = points[i].value;
	}
	fprintf(to, "],\"length\":%zu}}", count);
}

static void put_counters(const struct firefox *f, FILE *to)
{
	size_t first = 0;

	fputs("\"counters\":[", to);
	for (size_t i = 0; i < f->points.count; i++) {
		const struct point *now = &f->points.items[i], *next = now + 1;

		if (i + 1 < f->points.count && next->pid == now->pid && next->gauge == now->gauge)
			continue;
		put_counter(f, first, i + 1 - first, to);
		first = i + 1;
	}
	fputs("],\n", to);
}

/* ---- What the profile says of itself ---- */

static void put_text(const char *key, const char *text, FILE *to)
{
	if (!text)
		return;
	fprintf(to, ",\"%s\":", key);
	mt_json_string(text, to);
}

/* Of the analysis that was named: all its figures; where none was, the bytes of each. */
static bool is_asked(const struct firefox *f, const struct track *track)
{
	const char *asked = f->view->shown_first;

	if (!track->table || track->table >= f->table_count)
		return true;
	if (!asked || !strcmp(asked, f->tables[0].name))
		return is_of_bytes(f, track);
	return !strcmp(asked, f->tables[track->table].name);
}

/* The thread with most, up or down, of the analysis that was named, of bytes if it can be. */
static size_t heaviest(const struct firefox *f)
{
	size_t best = SIZE_MAX, at = 0;
	bool bytes = false;
	double most = 0;

	for (size_t i = 0; i < f->order.count; i++) {
		const struct track *track = track_of(f, f->order.items[i]);
		double sum = 0;

		for (; at < f->samples.count && f->samples.items[at].track == i; at++)
			sum += fabs(f->samples.items[at].weight);
		if (!track->table || !is_asked(f, track) || is_of_bytes(f, track) < bytes ||
		    (is_of_bytes(f, track) == bytes && sum <= most))
			continue;
		best = i;
		most = sum;
		bytes = is_of_bytes(f, track);
	}
	return best;
}

/* Which threads are shown, and which is chosen. */
static void put_shown(const struct firefox *f, FILE *to)
{
	const char *asked = f->view->shown_first;
	size_t shown = 0, chosen = heaviest(f);

	fputs(",\"keepProfileThreadOrder\":true,\"initialVisibleThreads\":[", to);
	for (size_t i = 0; i < f->order.count; i++) {
		if (is_asked(f, track_of(f, f->order.items[i])))
			fprintf(to, "%s%zu", shown++ ? "," : "", i);
	}
	fputc(']', to);
	if (asked && strcmp(asked, f->tables[0].name) != 0 && chosen != SIZE_MAX)
		fprintf(to, ",\"initialSelectedThreads\":[%zu]", chosen);
}

static void put_losses(const struct mt_facts *facts, FILE *to)
{
	fprintf(to,
		",\"extra\":[{\"label\":\"Losses\",\"entries\":[{\"label\":\"records lost\","
		"\"format\":\"integer\",\"value\":%" PRIu64 "},{\"label\":\"stacks that end "
		"early\",\"format\":\"integer\",\"value\":%" PRIu64 "}]}]",
		mt_facts_lost_all(facts), mt_facts_incomplete(facts));
}

static void put_meta(const struct firefox *f, FILE *to)
{
	const struct mt_facts *facts = f->view->facts;
	const struct mt_facts_recording *r = &facts->recordings.items[0];
	const char *cpus = mt_facts_info(r, "cpus"), *command = mt_facts_info(r, "command");
	double interval = (double)f->tables[0].table->interval / 1e6;

	fprintf(to,
		"{\"meta\":{\"version\":" GECKO_VERSION ",\"preprocessedProfileVersion\":" VERSION
		",\"processType\":0,\"stackwalk\":1,\"symbolicated\":true,\"interval\":%.6f,"
		"\"startTime\":%.3f,\"profilingStartTime\":0,\"profilingEndTime\":%.3f,"
		"\"logicalCPUs\":%lu,\"importedFrom\":\"mtreport\",\"usesOnlyOneStackType\":true,"
		"\"sourceCodeIsNotOnSearchfox\":true,\"markerSchema\":[],\"sampleUnits\":{"
		"\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\n",
		interval > 0 ? interval : 1, (double)r->start_utc / 1e6, f->ms,
		cpus ? strtoul(cpus, NULL, 10) : 0);
	fputs("\"categories\":["
	      "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"User\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}]",
	      to);
	put_text("product", command ? command : r->file, to);
	put_text("device", mt_facts_info(r, "host"), to);
	put_text("oscpu", mt_facts_info(r, "kernel"), to);
	put_text("abi", mt_facts_info(r, "arch"), to);
	put_text("CPUName", mt_facts_info(r, "cpu"), to);
	put_losses(facts, to);
	put_shown(f, to);
	fputs("},\n", to);
}

/* ---- The file ---- */

/* The analysis that was asked for is among the tables. */
static struct mt_error *check_asked(const struct firefox *f)
{
	const char *asked = f->view->shown_first;

	for (size_t i = 0; i < f->table_count; i++) {
		if (!asked || !strcmp(f->tables[i].name, asked))
			return NULL;
	}
	return mt_error_hint(
		mt_error_create(MT_ERR_NOT_FOUND, "--firefox: nothing of --%s here", asked),
		"it shows --samples; --growth, --outstanding and --resident where calls that map "
		"memory were recorded; --blocks where those of allocators were");
}

/* Of which tables the profile is made. */
static struct mt_error *choose_tables(struct firefox *f, struct mt_table *samples)
{
	const struct mt_view *view = f->view;
	size_t most = sizeof(f->tables) / sizeof(*f->tables);

	if (samples->compared)
		return mt_error_create(MT_ERR_USAGE, "--firefox shows no comparison");
	f->tables[f->table_count++] =
		(struct mt_named_table){.name = samples->name, .table = samples};
	for (size_t i = 0; i < view->analysis_count && f->table_count < most; i++) {
		if (view->analyses[i].table->stacks)
			f->tables[f->table_count++] = view->analyses[i];
		else if (!strcmp(view->analyses[i].name, "gauges"))
			f->gauges = view->analyses[i].table;
	}
	return check_asked(f);
}

static bool has_several_events(const struct mt_facts *facts)
{
	size_t count = 0;

	for (size_t i = 0; i < facts->events.count; i++)
		count += facts->events.items[i].selected != 0;
	return count > 1;
}

static struct mt_error *read_all(struct firefox *f)
{
	const struct mt_facts *facts = f->view->facts;
	struct mt_error *err = NULL;

	for (uint32_t i = 0; i < f->table_count && !err; i++) {
		if (!i) {
			err = mt_frames_resolve(f->tables[0].table->frames);
			f->several_events = has_several_events(facts);
			f->ms = mt_facts_seconds(facts) * 1e3;
		}
		err = err ? err : read_table(f, i);
	}
	err = err ? err : read_gauges(f);
	return !err && !sort_all(f) ? mt_error_nomem() : err;
}

static struct mt_error *write_firefox(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	MT_CLEANUP(firefox_deinit)
	struct firefox f = {
		.view = view,
		.places = mt_places_create(),
		.tracks = mt_byte_runs_create(),
	};
	struct mt_error *err = f.places && f.tracks ? choose_tables(&f, table) : mt_error_nomem();

	err = err ? err : read_all(&f);
	if (err)
		return err;
	put_meta(&f, to);
	if (!mt_shared_tables_write(f.places, view->facts, to))
		return mt_error_nomem();
	fputs(",\n", to);
	put_counters(&f, to);
	put_threads(&f, to);
	fputs("\"pages\":[]}\n", to);
	return NULL;
}

const struct mt_output mt_output_firefox = {
	.name = "firefox",
	.argument = "OUT.json",
	.help = "the recording for profiler.firefox.com",
	.rare = true,
	.needs = MT_NEEDS_STACK | MT_SHOWS_MEMORY | MT_SHOWS_RECORDING | MT_NEEDS_IMAGES,
	.write = write_firefox,
};
