/*
 * Lines and inlined calls by address: finds the unit, reads its tables, and follows scopes
 * outwards.
 */
#include "symbols/lines/lines.h"

#include <dwarf.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "symbols/elf/elf.h"
#include "symbols/lines/dwarf_bounds.h"
#include "symbols/lines/dwarf_file.h"
#include "symbols/lines/scopes.h"
#include "symbols/tables/interval_table.h"

enum {
	ROWS_HELD_MAX = 1 << 20, /* bytes of line programs whose rows a handle may hold */
};

#define FILE_NONE UINT32_MAX

/* A row of a line table. Valid from its address to that of the next row. */
struct row {
	uint64_t address;
	uint32_t file; /* index in files; FILE_NONE: no line from here on */
	uint32_t line;
};

/* The line table of one unit. */
struct rows {
	MT_ARRAY(struct row) rows;    /* by address, ascending */
	MT_ARRAY(const char *) files; /* full paths, borrowed from the strings */
};

/* Everything needed to read units. */
struct reader {
	struct mt_dwarf_file *file;
	Dwarf *rows; /* a handle for line tables only, because these are large: closed at a limit */
	uint64_t rows_held; /* bytes of line programs read by `rows` */
	struct mt_strings *strings;
	struct mt_scope_names names;
};

/* The tables of a unit that was looked up. */
struct tables {
	struct mt_scopes scopes;
	struct rows rows;
};

/* A unit and its offsets. */
struct unit {
	uint64_t entry, size, abbrev_offset;
	struct tables *tables; /* NULL: not looked up yet */
};

struct mt_lines {
	const struct mt_elf *image;
	struct mt_elf *debug;
	const char *path;
	struct reader reader;
	MT_ARRAY(struct unit) units;
	struct mt_interval_table *by_address; /* address -> index of a unit */
	char *problem;
};

MT_DEFINE_CLEANUP(mt_lines, struct mt_lines)

/* True for mapped code. Code that the linker dropped is left at 0, 1 or -1. */
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

/* Keeps the first problem. Takes ownership of err, which may be NULL. */
static void note_problem(struct mt_lines *lines, struct mt_error *err)
{
	if (err && !lines->problem)
		lines->problem = strdup(err->message);
	mt_error_destroy(err);
}

/* The handle for line tables; opens a new one if the last one holds many rows. */
static Dwarf *rows_handle(struct reader *reader)
{
	if (reader->rows && reader->rows_held > ROWS_HELD_MAX) {
		dwarf_end(reader->rows);
		reader->rows = NULL;
	}
	if (!reader->rows) {
		reader->rows = mt_dwarf_file_again(reader->file);
		reader->rows_held = 0;
	}
	return reader->rows;
}

/* ---- Units ---- */

struct indexing {
	struct mt_lines *lines;
	MT_ARRAY(struct mt_interval) intervals;
	bool nomem;
};

static void indexing_deinit(struct indexing *indexing)
{
	mt_array_deinit(&indexing->intervals);
}

static bool add_interval(void *context, uint64_t start, uint64_t end)
{
	struct indexing *indexing = context;
	const uint32_t unit = (uint32_t)indexing->lines->units.count - 1;

	if (is_code(indexing->lines->image, start))
		indexing->nomem |= !mt_array_append(&indexing->intervals,
						    (struct mt_interval){start, end, 0, unit});
	return !indexing->nomem;
}

static bool has_code(Dwarf_Die *unit)
{
	int tag = dwarf_tag(unit);

	return tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit;
}

/* Adds the address ranges of a unit's code. */
static struct mt_error *index_unit(struct indexing *indexing, const struct unit *unit)
{
	const struct mt_range_sink sink = {add_interval, indexing};
	struct mt_dwarf_file *file = indexing->lines->reader.file;
	Dwarf_Die die;

	if (!mt_dwarf_bound_entry(file, unit->entry, unit->abbrev_offset))
		return mt_error_create(MT_ERR_FORMAT, ".debug_abbrev: more than is read");
	if (!dwarf_offdie(file->dwarf, unit->entry, &die))
		return mt_dwarf_error(".debug_info: unit", unit->entry);
	if (!has_code(&die))
		return NULL;
	indexing->nomem |= !mt_array_append(&indexing->lines->units, *unit);
	if (!indexing->nomem && !mt_die_ranges(&die, &file->budget, &sink) && !indexing->nomem)
		return mt_error_create(MT_ERR_FORMAT, ".debug_info: unit at 0x%llx: corrupt ranges",
				       (unsigned long long)unit->entry);
	return NULL;
}

/* Lists all units up to one with a damaged header, after which no unit can be found. */
static void list_units(struct indexing *indexing)
{
	struct mt_lines *lines = indexing->lines;
	Dwarf_Off at = 0, next, abbrev_offset;
	size_t header;
	int status;

	while (!(status = dwarf_next_unit(lines->reader.file->dwarf, at, &next, &header, NULL,
					  &abbrev_offset, NULL, NULL, NULL, NULL)) &&
	       !indexing->nomem) {
		const struct unit unit = {
			.entry = at + header, .size = next - at, .abbrev_offset = abbrev_offset};

		note_problem(lines, index_unit(indexing, &unit));
		at = next;
	}
	if (status < 0)
		note_problem(lines, mt_dwarf_error(".debug_info: unit", at));
}

static struct mt_error *index_units(struct mt_lines *lines)
{
	MT_CLEANUP(indexing_deinit) struct indexing indexing = {.lines = lines};

	list_units(&indexing);
	if (!indexing.nomem)
		lines->by_address = mt_interval_table_create(indexing.intervals.items,
							     indexing.intervals.count);
	return lines->by_address ? NULL : mt_error_nomem();
}

struct mt_error *mt_lines_create(const struct mt_elf *image, struct mt_elf *debug, const char *path,
				 struct mt_lines **out)
{
	MT_CLEANUP(mt_lines_destroy_p) struct mt_lines *lines = calloc(1, sizeof(*lines));
	struct mt_error *err;

	if (!lines || !(lines->reader.strings = mt_strings_create()))
		return mt_error_nomem();
	lines->image = image;
	lines->debug = debug;
	lines->path = path;
	*out = NULL;
	err = mt_dwarf_file_open(debug, path, &lines->reader.file);
	if (err || !lines->reader.file)
		return err;
	err = index_units(lines);
	if (!err)
		*out = MT_TAKE(lines);
	return err;
}

/* ---- Line tables ---- */

/* Adds a row. Replaces the last row at the same address; skips a row with the same line. */
static bool add_row(struct rows *rows, const struct row *row)
{
	size_t count = rows->rows.count;
	struct row *last = count ? &rows->rows.items[count - 1] : NULL;

	if (last && last->address == row->address) {
		*last = *row;
		return true;
	}
	return (last && last->file == row->file && last->line == row->line) ||
	       mt_array_append(&rows->rows, *row);
}

/*
 * Interns a full path. libdw leaves some paths relative to the compiler's directory. NULL out of
 * memory.
 */
static const char *keep_path(struct mt_strings *strings, const char *directory, const char *path)
{
	MT_CLEANUP_FREE char *joined = NULL;
	uint32_t id;

	if (*path != '/' && directory && asprintf(&joined, "%s/%s", directory, path) < 0)
		joined = NULL;
	path = joined ? joined : path;
	id = mt_strings_intern(strings, path, strlen(path));
	return id == MT_STRING_NONE ? NULL : mt_strings_get(strings, id);
}

/* Interns all paths of a unit; false out of memory. */
static bool keep_files(Dwarf_Die *unit, struct mt_strings *strings, struct rows *out)
{
	const char *directory = mt_die_string(unit, DW_AT_comp_dir);
	Dwarf_Files *files;
	size_t count;

	if (dwarf_getsrcfiles(unit, &files, &count))
		return true;
	if (!mt_array_reserve(&out->files, count))
		return false;
	for (size_t i = 0; i < count; i++) {
		const char *path = dwarf_filesrc(files, i, NULL, NULL);

		out->files.items[i] = path ? keep_path(strings, directory, path) : NULL;
	}
	out->files.count = count;
	return true;
}

/* Converts a row of libdw. */
static struct row row_of(Dwarf_Line *line)
{
	struct row row = {.file = FILE_NONE};
	Dwarf_Files *files;
	bool ends = true;
	size_t file;
	int number = 0;

	dwarf_lineaddr(line, &row.address);
	dwarf_lineendsequence(line, &ends);
	if (!ends && !dwarf_lineno(line, &number) && number > 0 &&
	    !dwarf_line_file(line, &files, &file)) {
		row.file = (uint32_t)file;
		row.line = (uint32_t)number;
	}
	return row;
}

/*
 * Reads a unit's table into *rows, which is empty, without redundant rows: libdw's table is several
 * times as large, and then freed.
 */
static struct mt_error *copy_rows(Dwarf_Die *unit, const struct mt_code_filter *filter,
				  struct mt_strings *strings, struct rows *rows)
{
	Dwarf_Lines *lines;
	size_t count;

	if (dwarf_getsrclines(unit, &lines, &count))
		return mt_dwarf_error("line table of the unit", dwarf_dieoffset(unit));
	if (!keep_files(unit, strings, rows))
		return mt_error_nomem();
	for (size_t i = 0; i < count; i++) {
		struct row row = row_of(dwarf_onesrcline(lines, i));

		if (row.file != FILE_NONE && !filter->is_code(filter->context, row.address))
			continue;
		if (!add_row(rows, &row))
			return mt_error_nomem();
	}
	mt_array_shrink(&rows->rows);
	return NULL;
}

static void rows_deinit(struct rows *rows)
{
	mt_array_deinit(&rows->rows);
	mt_array_deinit(&rows->files);
}

/* The row at an address; NULL if no line is known. */
static const struct row *find_row(const struct rows *rows, uint64_t address)
{
	const struct row *items = rows->rows.items;
	size_t after = mt_array_split(rows->rows.count, at, items[at].address <= address);

	return after && items[after - 1].file != FILE_NONE ? &items[after - 1] : NULL;
}

/* The path of a file by its number in the unit's table, or NULL. */
static const char *path_of(const struct rows *rows, uint32_t file)
{
	return file < rows->files.count ? rows->files.items[file] : NULL;
}

static void tables_destroy(struct tables *tables)
{
	if (!tables)
		return;
	mt_scopes_deinit(&tables->scopes);
	rows_deinit(&tables->rows);
	free(tables);
}

static void reader_deinit(struct reader *reader)
{
	if (reader->rows)
		dwarf_end(reader->rows);
	mt_dwarf_file_destroy(reader->file);
	mt_strings_destroy(reader->strings);
	mt_scope_names_deinit(&reader->names);
}

void mt_lines_destroy(struct mt_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->units.count; i++)
		tables_destroy(lines->units.items[i].tables);
	reader_deinit(&lines->reader);
	mt_array_deinit(&lines->units);
	mt_interval_table_destroy(lines->by_address);
	free(lines->problem);
	free(lines);
}

const char *mt_lines_problem(const struct mt_lines *lines)
{
	return lines->problem;
}

/* ---- Tables ---- */

static struct mt_error *read_rows(struct reader *reader, const struct unit *unit,
				  const struct mt_code_filter *filter, struct rows *rows)
{
	Dwarf *handle = rows_handle(reader);
	Dwarf_Attribute attribute;
	Dwarf_Word offset;
	Dwarf_Die die;
	uint64_t size;
	struct mt_error *err;

	if (!handle || !dwarf_offdie(handle, unit->entry, &die))
		return mt_dwarf_error(".debug_info: unit", unit->entry);
	if (!dwarf_attr(&die, DW_AT_stmt_list, &attribute))
		return NULL;
	if (dwarf_formudata(&attribute, &offset))
		return mt_dwarf_error(".debug_info: unit", unit->entry);
	err = mt_dwarf_bound_lines(reader->file, offset, mt_die_string(&die, DW_AT_comp_dir),
				   &size);
	if (err)
		return err;
	reader->rows_held += size;
	return copy_rows(&die, filter, reader->strings, rows);
}

static struct mt_error *read_scopes(struct mt_lines *lines, const struct unit *unit,
				    const struct mt_code_filter *filter, struct mt_scopes *scopes)
{
	struct reader *reader = &lines->reader;
	struct mt_error *err;
	Dwarf_Die die, full;

	if (!mt_dwarf_bound_unit(reader->file, unit->size, unit->abbrev_offset))
		return mt_error_create(MT_ERR_FORMAT, ".debug_info: more than is read");
	if (!dwarf_offdie(reader->file->dwarf, unit->entry, &die))
		return mt_dwarf_error(".debug_info: unit", unit->entry);
	err = mt_dwarf_full_unit(lines->path, &die, &full);
	return err ? err : mt_scopes_read(&full, filter, &reader->file->budget, scopes);
}

/* Reads a unit, or the readable part of a damaged one. NULL out of memory. */
static struct tables *read_tables(struct mt_lines *lines, const struct unit *unit)
{
	const struct mt_code_filter filter = {is_code, lines->image};
	struct tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return NULL;
	note_problem(lines, read_rows(&lines->reader, unit, &filter, &tables->rows));
	note_problem(lines, read_scopes(lines, unit, &filter, &tables->scopes));
	return tables;
}

/* Notes a problem if memory is short, because libdw then also returns "none". */
static void note_shortage(struct mt_lines *lines)
{
	int error = dwarf_errno();

	if (error && !strcmp(dwarf_errmsg(error), "out of memory"))
		note_problem(lines, mt_error_nomem());
}

/* ---- Lookups ---- */

/* Lists the chain of calls from a scope outwards. */
static size_t list_scopes(struct reader *reader, struct tables *tables, uint32_t scope,
			  struct mt_lines_frame out[MT_LINES_DEPTH])
{
	size_t count = 0;

	while (scope != MT_SCOPE_NONE && count < MT_LINES_DEPTH) {
		uint32_t parent = tables->scopes.items.items[scope].parent;
		struct mt_scope_detail detail =
			mt_scope_detail(&tables->scopes, scope, &reader->names, reader->strings);

		out[count].name = detail.name;
		out[count].mangled = detail.mangled;
		count++;
		if (parent != MT_SCOPE_NONE && count < MT_LINES_DEPTH) {
			out[count].file = path_of(&tables->rows, detail.call_file);
			out[count].line = out[count].file ? detail.call_line : 0;
		}
		scope = parent;
	}
	return count;
}

size_t mt_lines_find(struct mt_lines *lines, uint64_t vaddr,
		     struct mt_lines_frame out[MT_LINES_DEPTH])
{
	uint32_t number = mt_interval_table_find(lines->by_address, vaddr), scope;
	const struct row *row;
	struct unit *unit;
	size_t count;

	if (number == MT_INTERVAL_NONE)
		return 0;
	unit = &lines->units.items[number];
	if (!unit->tables)
		unit->tables = read_tables(lines, unit);
	if (!unit->tables)
		return 0;
	out[0] = (struct mt_lines_frame){0};
	row = find_row(&unit->tables->rows, vaddr);
	if (row) {
		out[0].file = path_of(&unit->tables->rows, row->file);
		out[0].line = out[0].file ? row->line : 0;
	}
	scope = mt_scopes_find(&unit->tables->scopes, vaddr);
	count = scope == MT_SCOPE_NONE ? out[0].file != NULL
				       : list_scopes(&lines->reader, unit->tables, scope, out);
	note_shortage(lines);
	return count;
}
