/*
 * --maps: each mapping of each process at a moment, as in /proc/PID/maps, with its memory, as pmap
 * -x shows it. Resident, dirty and swapped bytes are the kernel's, if /proc/PID/smaps was read
 * within a second of the moment; a row is then a mapping of smaps. Otherwise adjacent regions of
 * different calls are separate rows, though /proc may merge them. Touched pages come from recorded
 * page faults.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>

#include "formats/base/array.h"
#include "formats/base/strings.h"
#include "formats/records/record.h"
#include "report/analyses/analyses.h"
#include "report/ledger/ledger.h"
#include "report/residence/mapping_readings.h"
#include "report/residence/page_map.h"
#include "report/residence/residence.h"
#include "report/session/session.h"
#include "report/stacks/spaces.h"
#include "report/sums/sum_table.h"
#include "report/tables/facts.h"

#define PAGE 4096

enum {
	KEY_PID,
	KEY_START,
	KEY_END,
	KEY_PERMISSIONS,
	KEY_OFFSET,
	KEY_DEVICE,
	KEY_INODE,
	KEY_KIND,
	KEY_NAME,
	KEYS
};

static const struct mt_key_column key_columns[KEYS] = {
	[KEY_PID] = {"pid", MT_KEY_NUMBER},	   [KEY_START] = {"start", MT_KEY_ADDRESS},
	[KEY_END] = {"end", MT_KEY_ADDRESS},	   [KEY_PERMISSIONS] = {"perms", MT_KEY_STRING},
	[KEY_OFFSET] = {"offset", MT_KEY_ADDRESS}, [KEY_DEVICE] = {"dev", MT_KEY_STRING},
	[KEY_INODE] = {"inode", MT_KEY_NUMBER},	   [KEY_KIND] = {"kind", MT_KEY_STRING},
	[KEY_NAME] = {"name", MT_KEY_STRING},
};

enum {
	VALUE_BYTES,
	VALUE_RESIDENT, /* from here to VALUE_HUGE: from smaps */
	VALUE_DIRTY,
	VALUE_SWAPPED,
	VALUE_HUGE,
	VALUE_TOUCHED,
	VALUE_DOUBTFUL,
	VALUES,
};

static const struct mt_value_column value_columns[VALUES] = {
	{"bytes", "B"}, {"resident", "B"}, {"dirty", "B"},    {"swapped", "B"},
	{"huge", "B"},	{"touched", "B"},  {"doubtful", "B"},
};

struct maps {
	struct mt_session *session;
	struct mt_sum_table *groups;
	struct mt_observer observer;
	struct mt_mapping_readings readings;
	struct mt_at at;
	bool has_faults; /* page faults were recorded */
	uint32_t known;	 /* bit i: a row has value i */
};

/* The mappings of one space, and the data known about them. */
struct mappings {
	struct maps *maps;
	const struct mt_ledger *ledger;
	const struct mt_ledger_space *space;
	const struct mt_extents *regions;
	const struct mt_page_map *touched;
	struct mt_mapping_list reading;
};

static void observe(void *context, const struct mt_observed *observed)
{
	struct maps *maps = context;

	if (observed->kind == MT_OBSERVED_EVENT) {
		const struct mt_facts *facts = mt_session_facts(maps->session);

		maps->has_faults |=
			mt_page_event_of(&facts->events.items[observed->event]).moment ==
			MT_PAGE_FAULT;
	}
	if (observed->kind == MT_OBSERVED_GAUGE)
		mt_mapping_readings_take(&maps->readings, observed->recording, observed->gauge);
}

/* ---- Rows ---- */

static double touched_bytes(const struct mappings *mappings, uint64_t start, uint64_t end)
{
	uint64_t page = start / PAGE, pages = 0;
	const struct mt_page_run *run;

	while ((run = mt_page_map_after(mappings->touched, page)) && run->first < end / PAGE) {
		uint64_t from = run->first > page ? run->first : page, to = run->first + run->pages;

		pages += (to < end / PAGE ? to : end / PAGE) - from;
		page = to;
	}
	return (double)(pages * PAGE);
}

static uint64_t intern(const struct maps *maps, const char *text)
{
	return mt_strings_add(mt_session_strings(maps->session), text);
}

/* Bytes from the region's start to `end` that may not exist. */
static double doubtful_bytes(const struct mappings *mappings, const struct mt_extent *region,
			     uint64_t start, uint64_t end)
{
	uint64_t bytes = 0;

	for (; region && region->start < end;
	     region = mt_extents_after(mappings->regions, region->end))
		bytes += mt_ledger_doubtful(mappings->ledger, mappings->space, region);
	return (double)(bytes < end - start ? bytes : end - start);
}

static void add_row(const struct mappings *mappings, uint64_t *keys, struct mt_value *values)
{
	struct maps *maps = mappings->maps;

	keys[KEY_PID] = (uint64_t)mappings->space->pid;
	values[VALUE_BYTES] = mt_value_exact((double)(keys[KEY_END] - keys[KEY_START]));
	for (int i = 0; i < VALUES; i++) {
		if (i == VALUE_DOUBTFUL ? values[i].value > 0 : !isnan(values[i].value))
			maps->known |= 1u << i;
	}
	mt_sum_table_add(maps->groups, keys, values);
}

/* Adds a row for a part of the region. `line` is the reading of the part from smaps, or NULL. */
static void add_part(const struct mappings *mappings, const struct mt_extent *region,
		     uint64_t start, uint64_t end, const struct mt_mapping_reading *line)
{
	const struct maps *maps = mappings->maps;
	const struct mt_attr_table *attr_table = mt_ledger_attrs(mappings->ledger);
	const struct mt_region_attrs *attrs = mt_attrs_get(attr_table, region->attrs);
	struct mt_file_identity file = mt_attr_table_file_get(attr_table, attrs->file);
	bool has_file = attrs->kind == MT_REGION_FILE || attrs->kind == MT_REGION_SHM;
	char permissions[] = {attrs->prot & PROT_READ ? 'r' : '-',
			      attrs->prot & PROT_WRITE ? 'w' : '-',
			      attrs->prot & PROT_EXEC ? 'x' : '-',
			      attrs->flags & MT_REGION_SHARED ? 's' : 'p', '\0'};
	char device[32];
	struct mt_value values[VALUES];

	snprintf(device, sizeof(device), "%02" PRIx32 ":%02" PRIx32, file.major, file.minor);
	for (int i = VALUE_RESIDENT; i <= VALUE_HUGE; i++)
		values[i] = mt_value_exact(line ? line->bytes[i - VALUE_RESIDENT] : NAN);
	values[VALUE_TOUCHED] =
		mt_value_exact(maps->has_faults ? touched_bytes(mappings, start, end) : NAN);
	values[VALUE_DOUBTFUL] = mt_value_exact(doubtful_bytes(mappings, region, start, end));
	add_row(mappings,
		(uint64_t[KEYS]){
			[KEY_START] = start,
			[KEY_END] = end,
			[KEY_PERMISSIONS] = intern(maps, permissions),
			[KEY_OFFSET] = has_file ? start + attrs->delta : 0,
			[KEY_DEVICE] = intern(maps, device),
			[KEY_INODE] = file.inode,
			[KEY_KIND] =
				intern(maps, mt_region_kind_name((enum mt_region_kind)attrs->kind)),
			[KEY_NAME] = intern(maps, file.name),
		},
		values);
}

/* Adds a row for a range whose mapping, if any, is unknown. */
static void add_doubt(const struct mappings *mappings, const struct mt_extent *range)
{
	struct mt_value values[VALUES];

	for (int i = 0; i < VALUES; i++)
		values[i] = mt_value_exact(NAN);
	values[VALUE_DOUBTFUL] = mt_value_exact((double)(range->end - range->start));
	add_row(mappings,
		(uint64_t[KEYS]){
			[KEY_START] = range->start,
			[KEY_END] = range->end,
			[KEY_PERMISSIONS] = intern(mappings->maps, "????"),
			[KEY_KIND] = intern(mappings->maps, "in doubt"),
		},
		values);
}

/* True if the regions from `region` on have no gap, and the last one ends at `end`. */
static bool fill(const struct mt_extents *regions, const struct mt_extent *region, uint64_t end)
{
	uint64_t at = region->end;

	while (at < end) {
		region = mt_extents_after(regions, at);
		if (!region || region->start != at)
			return false;
		at = region->end;
	}
	return at == end;
}

/*
 * Adds the rows of one region: divided, or joined with the following regions, like the kernel's
 * mappings. Sets *done to the end of the addresses that have a row.
 */
static void add_region(const struct mappings *mappings, const struct mt_extent *region,
		       uint64_t *done)
{
	uint64_t at = region->start > *done ? region->start : *done;

	while (at < region->end) {
		const struct mt_mapping_reading *line =
			mt_mapping_list_after(&mappings->reading, at);
		uint64_t end = region->end;

		if (line && line->start == at &&
		    (line->end <= region->end || fill(mappings->regions, region, line->end)))
			end = line->end;
		else
			line = NULL;
		add_part(mappings, region, at, end, line);
		at = *done = end;
	}
}

/* The requested moment. `time` is the time of the last event before that. */
static uint64_t moment_of(const struct maps *maps, const struct mt_ledger_space *space,
			  uint64_t time)
{
	const struct mt_facts_recording *recording =
		&mt_session_facts(maps->session)->recordings.items[space->recording];
	uint64_t clock = mt_at_clock(&maps->at, recording->start, recording->end);

	if (maps->at.when == MT_AT_PEAK || space->ended)
		return time;
	return clock == UINT64_MAX ? recording->end : clock;
}

static void add_space(void *context, const struct mt_ledger *ledger,
		      const struct mt_ledger_space *space, const struct mt_extents *regions,
		      uint64_t time, const struct mt_page_map *touched)
{
	struct maps *maps = context;
	const struct mt_task leader = {.pid = space->pid, .tid = space->pid, .comm = space->comm};
	const struct mappings mappings = {
		.maps = maps,
		.ledger = ledger,
		.space = space,
		.regions = regions,
		.touched = touched,
		.reading = mt_mapping_readings_near(&maps->readings, space->recording, space->pid,
						    moment_of(maps, space, time)),
	};
	const struct mt_extent *region = mt_extents_after(regions, 0);
	uint64_t done = 0;

	if ((maps->at.when == MT_AT_TIME && space->ended) ||
	    !mt_session_selects(maps->session, &leader, time ? time - 1 : 0))
		return;
	for (; region; region = mt_extents_after(regions, region->end))
		add_region(&mappings, region, &done);
	region = mt_extents_after(space->account->doubts, 0);
	for (; region; region = mt_extents_after(space->account->doubts, region->end))
		add_doubt(&mappings, region);
}

static bool reports_pages(void *context, uint32_t recording)
{
	(void)context;
	(void)recording;
	return false; /* touched pages are found by address, and counts have no addresses */
}

static struct mt_error *run(const struct mt_analysis *analysis, struct mt_session *session,
			    const struct mt_analysis_request *request, struct mt_table **out)
{
	struct maps maps = {
		.session = session,
		.groups = mt_sum_table_plain(analysis->name, mt_session_strings(session),
					     key_columns, KEYS, value_columns, VALUES),
		.at = request->at,
	};
	struct mt_residence *residence = mt_residence_create(&(struct mt_residence_options){
		.each = reports_pages,
		.remaining = add_space,
		.context = &maps,
		.moment = request->at.when == MT_AT_TIME,
	});
	struct mt_ledger_options options = {.at = request->at};
	struct mt_ledger *ledger;
	struct mt_error *err;

	maps.observer = (struct mt_observer){.context = &maps, .observe = observe};
	mt_session_observe(session, &maps.observer);
	mt_residence_listen(residence, &options);
	options.stackless = true;
	ledger = mt_ledger_begin(session, &options, false);
	err = mt_session_read(session, NULL, NULL);
	mt_ledger_end(ledger);
	mt_ledger_destroy(ledger);
	mt_residence_destroy(residence);
	mt_session_ignore(session, &maps.observer);
	mt_mapping_readings_deinit(&maps.readings);
	if (err) {
		mt_sum_table_destroy(maps.groups);
		return err;
	}
	*out = mt_sum_table_table(maps.groups);
	(*out)->quiet_values = ~maps.known; /* the values that no row has */
	return NULL;
}

const struct mt_analysis mt_analysis_maps = {
	.name = "maps",
	.help = "each mapping at a moment: size, resident, dirty",
	.rare = true,
	.groups = true,
	.moments = true,
	.states = true,
	.needs = MT_NEEDS_MAPS,
	.record = "vm,rss",
	.output = "table",
	.run = run,
};
