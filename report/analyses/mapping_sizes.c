/*
 * --map: each mapping of each process at a moment with its memory, as pmap -x. Resident, dirty and
 * swapped bytes are the kernel's, if /proc/PID/smaps was read within a second of the moment.
 * Touched pages come from recorded page faults, at any moment.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
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
	KEY_PERMISSIONS,
	KEY_MAPPING,
	KEYS,
};

static const struct mt_key_column key_columns[KEYS] = {
	[KEY_PID] = {"pid", MT_KEY_NUMBER},
	[KEY_START] = {"start", MT_KEY_ADDRESS},
	[KEY_PERMISSIONS] = {"perms", MT_KEY_STRING},
	[KEY_MAPPING] = {"mapping", MT_KEY_STRING},
};

enum {
	VALUE_BYTES,
	VALUE_RESIDENT, /* from here to VALUE_HUGE: of smaps */
	VALUE_DIRTY,
	VALUE_SWAPPED,
	VALUE_HUGE,
	VALUE_TOUCHED,
	VALUES,
};

static const struct mt_value_column value_columns[VALUES] = {
	{"bytes", "B"},	  {"resident", "B"}, {"dirty", "B"},
	{"swapped", "B"}, {"huge", "B"},     {"touched", "B"},
};

struct map {
	struct mt_session *session;
	struct mt_sum_table *groups;
	struct mt_observer observer;
	struct mt_mapping_readings readings;
	struct mt_at at;
	bool has_faults; /* page faults were recorded */
};

/* The mappings of one space, and the data known about them. */
struct standing {
	const struct map *map;
	const struct mt_ledger *ledger;
	const struct mt_ledger_space *space;
	const struct mt_page_map *touched;
	struct mt_mapping_list reading;
};

static bool observe(void *context, const struct mt_observed *observed)
{
	struct map *map = context;

	if (observed->kind == MT_OBSERVED_EVENT) {
		const struct mt_facts *facts = mt_session_facts(map->session);

		map->has_faults |= mt_page_event_of(&facts->events.items[observed->event]).moment ==
				   MT_PAGE_FAULT;
	}
	if (observed->kind == MT_OBSERVED_GAUGE)
		mt_mapping_readings_take(&map->readings, observed->recording, observed->gauge);
	return true;
}

/* ---- Rows ---- */

static double touched_bytes(const struct standing *standing, uint64_t start, uint64_t end)
{
	uint64_t page = start / PAGE, pages = 0;
	const struct mt_page_run *run;

	while ((run = mt_page_map_after(standing->touched, page)) && run->first < end / PAGE) {
		uint64_t from = run->first > page ? run->first : page, to = run->first + run->pages;

		pages += (to < end / PAGE ? to : end / PAGE) - from;
		page = to;
	}
	return (double)(pages * PAGE);
}

static uint64_t intern(const struct map *map, const char *text)
{
	return mt_strings_add(mt_session_strings(map->session), text);
}

/* A row for a part of the region; line: its reading from smaps, or NULL. */
static void add_row(const struct standing *standing, const struct mt_extent *region, uint64_t start,
		    uint64_t end, const struct mt_mapping_reading *line)
{
	const struct map *map = standing->map;
	const struct mt_attr_table *attr_table = mt_ledger_attrs(standing->ledger);
	const struct mt_region_attrs *attrs = mt_attrs_get(attr_table, region->attrs);
	const char *name = mt_attr_table_file_get(attr_table, attrs->file).name;
	char permissions[] = {attrs->prot & PROT_READ ? 'r' : '-',
			      attrs->prot & PROT_WRITE ? 'w' : '-',
			      attrs->prot & PROT_EXEC ? 'x' : '-',
			      attrs->flags & MT_REGION_SHARED ? 's' : 'p', '\0'};
	uint64_t keys[KEYS] = {
		[KEY_PID] = (uint64_t)standing->space->pid,
		[KEY_START] = start,
	};
	struct mt_value values[VALUES] = {[VALUE_BYTES] = mt_value_exact((double)(end - start))};

	for (int i = VALUE_RESIDENT; i <= VALUE_HUGE; i++)
		values[i] = mt_value_exact(line ? line->bytes[i - VALUE_RESIDENT] : NAN);
	values[VALUE_TOUCHED] =
		mt_value_exact(map->has_faults ? touched_bytes(standing, start, end) : NAN);
	keys[KEY_PERMISSIONS] = intern(map, permissions);
	keys[KEY_MAPPING] =
		intern(map, *name ? name : mt_region_kind_name((enum mt_region_kind)attrs->kind));
	mt_sum_table_add(map->groups, keys, values);
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
 * mappings. *done: the end of the addresses that have a row.
 */
static void add_region(const struct standing *standing, const struct mt_extents *regions,
		       const struct mt_extent *region, uint64_t *done)
{
	uint64_t at = region->start > *done ? region->start : *done;

	while (at < region->end) {
		const struct mt_mapping_reading *line =
			mt_mapping_list_after(&standing->reading, at);
		uint64_t end = region->end;

		if (line && line->start == at &&
		    (line->end <= region->end || fill(regions, region, line->end)))
			end = line->end;
		else
			line = NULL;
		add_row(standing, region, at, end, line);
		at = *done = end;
	}
}

/* The requested moment; `time` is that of the last event before it. */
static uint64_t moment_of(const struct map *map, const struct mt_ledger_space *space, uint64_t time)
{
	const struct mt_facts_recording *recording =
		&mt_session_facts(map->session)->recordings.items[space->recording];
	uint64_t clock = mt_at_clock(&map->at, recording->start, recording->end);

	if (map->at.when == MT_AT_PEAK || space->ended)
		return time;
	return clock == UINT64_MAX ? recording->end : clock;
}

static bool add_space(void *context, const struct mt_ledger *ledger,
		      const struct mt_ledger_space *space, const struct mt_extents *regions,
		      uint64_t time, const struct mt_page_map *touched)
{
	const struct map *map = context;
	const struct mt_task leader = {.pid = space->pid, .tid = space->pid, .comm = space->comm};
	struct standing standing = {
		.map = map, .ledger = ledger, .space = space, .touched = touched};
	const struct mt_extent *region = mt_extents_after(regions, 0);
	uint64_t done = 0;

	if ((map->at.when == MT_AT_TIME && space->ended) ||
	    !mt_session_selects(map->session, &leader, time ? time - 1 : 0))
		return true;
	standing.reading = mt_mapping_readings_near(&map->readings, space->recording, space->pid,
						    moment_of(map, space, time));
	for (; region; region = mt_extents_after(regions, region->end)) {
		add_region(&standing, regions, region, &done);
	}
	return true;
}

static bool reports_pages(void *context, uint32_t recording)
{
	(void)context;
	(void)recording;
	return false; /* touched pages are found by their addresses, which counts lack */
}

static struct mt_error *run_map(struct map *map, const struct mt_analysis_request *request)
{
	const struct mt_residence_options how = {
		.each = reports_pages,
		.remaining = add_space,
		.context = map,
		.moment = request->at.when == MT_AT_TIME,
	};
	struct mt_residence *residence = mt_residence_create(&how);
	struct mt_ledger_options options = {.at = request->at};
	struct mt_ledger *ledger;
	struct mt_error *err;

	mt_residence_listen(residence, &options);
	options.stackless = true;
	ledger = mt_ledger_begin(map->session, &options, false);
	err = mt_session_read(map->session, NULL, NULL);
	mt_ledger_end(ledger);
	mt_ledger_destroy(ledger);
	mt_residence_destroy(residence);
	return err;
}

static struct mt_error *run(const struct mt_analysis *analysis, struct mt_session *session,
			    const struct mt_analysis_request *request, struct mt_table **out)
{
	const struct mt_table shape = {
		.name = analysis->name,
		.keys = key_columns,
		.key_count = KEYS,
		.values = value_columns,
		.value_count = VALUES,
		.strings = mt_session_strings(session),
	};
	struct map map = {
		.session = session,
		.groups = mt_sum_table_create(&shape),
		.at = request->at,
	};
	struct mt_error *err;

	map.observer = (struct mt_observer){.context = &map, .observe = observe};
	mt_session_observe(session, &map.observer);
	err = run_map(&map, request);
	mt_session_ignore(session, &map.observer);
	mt_mapping_readings_deinit(&map.readings);
	*out = mt_sum_table_table(map.groups);
	return err;
}

const struct mt_analysis mt_analysis_map = {
	.name = "map",
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
