/*
 * Lines and inlined calls by address: which unit has it, that unit's tables, and the chain that
 * they give.
 */
#include "symbols/lines.h"

#include <elf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/pool.h"
#include "symbols/address_sort.h"
#include "symbols/dwarf.h"
#include "symbols/interval_table.h"

/* A unit that was asked about. */
struct tables {
	struct mt_scopes scopes;
	struct mt_line_table lines;
	struct mt_error *problem; /* the first; not yet noted */
};

struct mt_lines {
	const struct mt_elf *image;
	struct mt_dwarf *file;
	struct mt_dwarf_splits splits;
	struct mt_interval_table *units; /* address to unit */
	struct tables **tables;		 /* by unit, NULL where nobody asked */
	struct mt_line_rule_set rules;
	pthread_mutex_t splits_lock;
	char *problem;
};

MT_DEFINE_CLEANUP(mt_lines, struct mt_lines)

/* Only code that is mapped: what the linker dropped is left at 0, 1 or -1. */
static bool is_code(const void *context, uint64_t address)
{
	size_t count;
	const struct mt_segment *segments = mt_elf_segments(context, &count);

	for (size_t i = 0; address && i < count; i++) {
		if ((segments[i].flags & PF_X) &&
		    address - segments[i].vaddr < segments[i].memory_size)
			return true;
	}
	return false;
}

/* Keeps the first thing that was wrong. Takes err, which may be NULL. */
static void note_problem(struct mt_lines *lines, struct mt_error *err)
{
	if (err && !lines->problem)
		lines->problem = strdup(err->message);
	mt_error_destroy(err);
}

/* The same for a unit, whose thread must not speak for the whole. */
static void keep_problem(struct tables *tables, struct mt_error *err)
{
	if (tables->problem)
		mt_error_destroy(err);
	else
		tables->problem = err;
}

/* ---- Units ---- */

struct indexing {
	struct mt_lines *lines;
	MT_ARRAY(struct mt_interval) intervals;
	uint32_t unit;
	bool nomem;
};

static void indexing_deinit(struct indexing *indexing)
{
	mt_array_deinit(&indexing->intervals);
}

static bool add_interval(void *context, uint64_t start, uint64_t end)
{
	struct indexing *indexing = context;
	uint64_t *budget = &indexing->lines->file->budget;
	struct mt_interval *interval;

	if (*budget < sizeof(*interval))
		return false;
	*budget -= sizeof(*interval);
	if (!is_code(indexing->lines->image, start))
		return true;
	interval = mt_array_push(&indexing->intervals);
	indexing->nomem |= !interval;
	if (interval)
		*interval = (struct mt_interval){start, end, 0, indexing->unit};
	return interval;
}

static struct mt_error *index_units(struct mt_lines *lines)
{
	MT_CLEANUP(indexing_deinit) struct indexing indexing = {.lines = lines};
	const struct mt_range_sink sink = {add_interval, &indexing};
	struct mt_dwarf *file = lines->file;

	for (size_t i = 0; i < file->units.count && !indexing.nomem; i++) {
		const struct mt_dwarf_unit *unit = &file->units.items[i];

		indexing.unit = (uint32_t)i;
		if (!mt_dwarf_unit_ranges(unit, &sink) && !indexing.nomem)
			note_problem(lines,
				     mt_error_create(MT_ERR_FORMAT,
						     ".debug_info: unit at 0x%llx: corrupt ranges",
						     (unsigned long long)unit->offset));
	}
	if (indexing.nomem)
		return mt_error_nomem();
	lines->units = mt_interval_table_create(indexing.intervals.items, indexing.intervals.count);
	lines->tables = calloc(file->units.count + 1, sizeof(struct tables *));
	return lines->units && lines->tables ? NULL : mt_error_nomem();
}

struct mt_error *mt_lines_create(const struct mt_elf *image, struct mt_elf *debug, const char *path,
				 struct mt_lines **out)
{
	MT_CLEANUP(mt_lines_destroy_p) struct mt_lines *lines = calloc(1, sizeof(*lines));
	struct mt_error *err, *problem;

	if (!lines)
		return mt_error_nomem();
	lines->image = image;
	mt_line_rule_set_init(&lines->rules);
	pthread_mutex_init(&lines->splits_lock, NULL);
	err = mt_dwarf_open(debug, path, false, &lines->file, &problem);
	if (err)
		return err;
	note_problem(lines, problem);
	err = lines->file ? index_units(lines) : NULL;
	if (!err)
		*out = lines->file ? MT_TAKE(lines) : NULL;
	return err;
}

static void tables_destroy(struct tables *tables)
{
	if (!tables)
		return;
	mt_scopes_deinit(&tables->scopes);
	mt_line_table_deinit(&tables->lines);
	mt_error_destroy(tables->problem);
	free(tables);
}

void mt_lines_destroy(struct mt_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; lines->tables && i < lines->file->units.count; i++)
		tables_destroy(lines->tables[i]);
	free(lines->tables);
	mt_line_rule_set_deinit(&lines->rules);
	mt_interval_table_destroy(lines->units);
	mt_dwarf_splits_deinit(&lines->splits);
	mt_dwarf_destroy(lines->file);
	pthread_mutex_destroy(&lines->splits_lock);
	free(lines->problem);
	free(lines);
}

const char *mt_lines_problem(const struct mt_lines *lines)
{
	return lines->problem;
}

/* ---- Answers ---- */

/* Reads a unit; of one that is damaged, what can be read. NULL out of memory. From any thread. */
static struct tables *read_tables(struct mt_lines *lines, struct mt_dwarf_unit *unit)
{
	const struct mt_code_filter filter = {is_code, lines->image};
	struct tables *tables = calloc(1, sizeof(*tables));
	struct mt_dwarf_unit *full = unit;

	if (!tables)
		return NULL;
	keep_problem(tables, mt_line_table_read(unit, &filter, &lines->rules, &tables->lines));
	if (unit->dwo_name) {
		pthread_mutex_lock(&lines->splits_lock);
		keep_problem(tables, mt_dwarf_splits_find(&lines->splits, unit, &full));
		pthread_mutex_unlock(&lines->splits_lock);
	}
	keep_problem(tables, mt_scopes_read(full, &filter, &tables->scopes));
	return tables;
}

/* ---- Many units at a time ---- */

/* An address and its unit. */
struct place {
	uint64_t vaddr;
	uint32_t unit;
};

/* The addresses of one unit. */
struct unit_job {
	struct mt_job job;
	struct mt_lines *lines;
	uint32_t unit;
	const uint64_t *vaddrs; /* by rising address */
	size_t count;
};

static void read_unit(struct mt_job *job, unsigned int worker)
{
	struct unit_job *of = (struct unit_job *)job;
	struct mt_lines *lines = of->lines;
	struct tables *tables = lines->tables[of->unit];

	(void)worker;
	if (!tables)
		tables = lines->tables[of->unit] =
			read_tables(lines, &lines->file->units.items[of->unit]);
	if (tables)
		keep_problem(tables, mt_line_table_prepare(&tables->lines, of->vaddrs, of->count));
	if (tables)
		keep_problem(tables, mt_scopes_prepare(&tables->scopes, of->vaddrs, of->count));
}

/* The addresses that units have, by unit and rising; gives how many, none out of memory. */
static size_t list_places(const struct mt_lines *lines, const uint64_t *vaddrs, size_t count,
			  struct place *out)
{
	MT_CLEANUP_FREE uint64_t *rising = malloc((count + 1) * sizeof(*rising));
	MT_CLEANUP_FREE struct mt_addressed *units = malloc((count + 1) * sizeof(*units));
	size_t listed = 0;

	if (!rising || !units || !count || count > UINT32_MAX)
		return 0;
	memcpy(rising, vaddrs, count * sizeof(*rising));
	if (!mt_number_sort(rising, count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t unit = mt_interval_table_find(lines->units, rising[i]);

		if (unit != MT_INTERVAL_NONE)
			units[listed++] = (struct mt_addressed){unit, (uint32_t)i};
	}
	if (!mt_address_sort(units, listed))
		return 0;
	for (size_t i = 0; i < listed; i++)
		out[i] = (struct place){rising[units[i].index], (uint32_t)units[i].address};
	return listed;
}

/* A job for each unit; sorted becomes the addresses as places has them. */
static size_t list_jobs(struct mt_lines *lines, const struct place *places, size_t count,
			uint64_t *sorted, struct unit_job *out)
{
	size_t jobs = 0;

	for (size_t i = 0; i < count; i++) {
		sorted[i] = places[i].vaddr;
		if (!i || places[i].unit != places[i - 1].unit)
			out[jobs++] = (struct unit_job){.job.run = read_unit,
							.lines = lines,
							.unit = places[i].unit,
							.vaddrs = &sorted[i]};
		out[jobs - 1].count++;
	}
	return jobs;
}

void mt_lines_prepare(struct mt_lines *lines, const uint64_t *vaddrs, size_t count,
		      struct mt_pool *pool)
{
	MT_CLEANUP_FREE struct place *places = calloc(count + 1, sizeof(*places));
	MT_CLEANUP_FREE struct unit_job *jobs = calloc(count + 1, sizeof(*jobs));
	MT_CLEANUP_FREE uint64_t *sorted = calloc(count + 1, sizeof(*sorted));
	size_t job_count;

	if (!places || !jobs || !sorted)
		return; /* they are read when they are asked for */
	job_count =
		list_jobs(lines, places, list_places(lines, vaddrs, count, places), sorted, jobs);
	for (size_t i = 0; i < job_count; i++)
		mt_pool_submit(pool, &jobs[i].job);
	for (size_t i = 0; i < job_count; i++) {
		struct tables *tables;

		mt_pool_wait(pool, &jobs[i].job);
		tables = lines->tables[jobs[i].unit];
		if (tables)
			note_problem(lines, MT_TAKE(tables->problem));
	}
}

/* ---- Answers ---- */

/* The chain of calls from a scope outwards. */
static size_t list_scopes(struct tables *tables, uint32_t scope,
			  struct mt_lines_frame out[MT_LINES_DEPTH])
{
	size_t count = 0;

	while (scope != MT_SCOPE_NONE && count < MT_LINES_DEPTH) {
		struct mt_scope_detail detail = mt_scope_detail(&tables->scopes, scope);

		out[count].name = detail.name;
		out[count].mangled = detail.mangled;
		count++;
		if (detail.parent != MT_SCOPE_NONE && count < MT_LINES_DEPTH) {
			out[count].file = mt_line_table_path(&tables->lines, detail.call_file);
			out[count].line = out[count].file ? detail.call_line : 0;
		}
		scope = detail.parent;
	}
	return count;
}

size_t mt_lines_find(struct mt_lines *lines, uint64_t vaddr,
		     struct mt_lines_frame out[MT_LINES_DEPTH])
{
	uint32_t unit = mt_interval_table_find(lines->units, vaddr), scope = MT_SCOPE_NONE;
	struct mt_error *problem;
	struct mt_line_row row;
	struct tables *tables;

	if (unit == MT_INTERVAL_NONE)
		return 0;
	if (!lines->tables[unit])
		lines->tables[unit] = read_tables(lines, &lines->file->units.items[unit]);
	tables = lines->tables[unit];
	if (!tables)
		return 0;
	note_problem(lines, MT_TAKE(tables->problem));
	out[0] = (struct mt_lines_frame){0};
	if (mt_line_table_find(&tables->lines, vaddr, &row, &problem)) {
		out[0].file = mt_line_table_path(&tables->lines, row.file);
		out[0].line = out[0].file ? row.line : 0;
	}
	note_problem(lines, problem);
	note_problem(lines, mt_scopes_find(&tables->scopes, vaddr, &scope));
	if (scope == MT_SCOPE_NONE)
		return out[0].file != NULL;
	return list_scopes(tables, scope, out);
}
