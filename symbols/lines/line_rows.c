/* Copies line tables from libdw without redundant rows. */
#include "symbols/lines/line_rows.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "symbols/lines/dwarf_file.h"

/* Adds a row. Replaces the last row at the same address; skips a row with the same line. */
static bool add_row(struct mt_line_rows *rows, const struct mt_line_row *row)
{
	size_t count = rows->rows.count;
	struct mt_line_row *last = count ? &rows->rows.items[count - 1] : NULL;

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
static bool keep_files(Dwarf_Die *unit, struct mt_strings *strings, struct mt_line_rows *out)
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
static struct mt_line_row row_of(Dwarf_Line *line)
{
	struct mt_line_row row = {.file = MT_LINE_FILE_NONE};
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

struct mt_error *mt_line_rows_read(Dwarf_Die *unit, const struct mt_code_filter *filter,
				   struct mt_strings *strings, struct mt_line_rows *rows)
{
	Dwarf_Lines *lines;
	size_t count;

	if (dwarf_getsrclines(unit, &lines, &count))
		return mt_dwarf_error("line table of the unit", dwarf_dieoffset(unit));
	if (!keep_files(unit, strings, rows))
		return mt_error_nomem();
	for (size_t i = 0; i < count; i++) {
		struct mt_line_row row = row_of(dwarf_onesrcline(lines, i));

		if (row.file != MT_LINE_FILE_NONE && !filter->is_code(filter->context, row.address))
			continue;
		if (!add_row(rows, &row))
			return mt_error_nomem();
	}
	mt_array_shrink(&rows->rows);
	return NULL;
}

void mt_line_rows_deinit(struct mt_line_rows *rows)
{
	mt_array_deinit(&rows->rows);
	mt_array_deinit(&rows->files);
}

const struct mt_line_row *mt_line_rows_find(const struct mt_line_rows *rows, uint64_t address)
{
	const struct mt_line_row *items = rows->rows.items;
	size_t after = mt_array_split(rows->rows.count, at, items[at].address <= address);

	return after && items[after - 1].file != MT_LINE_FILE_NONE ? &items[after - 1] : NULL;
}

const char *mt_line_rows_path(const struct mt_line_rows *rows, uint32_t file)
{
	return file < rows->files.count ? rows->files.items[file] : NULL;
}
