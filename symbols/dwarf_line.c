/*
 * Line programs, versions 2 to 5: run once, into rows sorted by address.
 */
#include <stdio.h>
#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "symbols/dwarf.h"

enum {
	LNS_COPY = 1,
	LNS_ADVANCE_PC = 2,
	LNS_ADVANCE_LINE = 3,
	LNS_SET_FILE = 4,
	LNS_CONST_ADD_PC = 8,
	LNS_FIXED_ADVANCE_PC = 9,
	LNE_END_SEQUENCE = 1,
	LNE_SET_ADDRESS = 2,
	LNE_DEFINE_FILE = 3,
	LNCT_PATH = 1,
	LNCT_DIRECTORY_INDEX = 2,
	FORMATS_MAX = 256,
};

/* Rows of one run of addresses, from `first` to the end of the sequence. */
struct sequence {
	uint64_t start, end;
	size_t first, count; /* in the program's rows */
};

struct program {
	const struct mt_dwarf_unit *unit;
	struct mt_dwarf_unit forms; /* as unit, with the sizes that the line table's header has */
	struct mt_line_table *table;
	struct mt_cursor c;
	uint16_t version;
	uint8_t minimum_length, line_range, opcode_base;
	int8_t line_base;
	const uint8_t *lengths; /* of the operands of standard opcodes */
	MT_ARRAY(struct mt_line_row) rows;
	MT_ARRAY(struct sequence) sequences;
	size_t sequence_start;
	bool nomem;
	/* the state machine's registers */
	uint64_t address, line, file;
};

static void program_deinit(struct program *p)
{
	mt_array_deinit(&p->rows);
	mt_array_deinit(&p->sequences);
}

static struct mt_error *bad(const struct program *p, const char *what)
{
	return mt_error_create(MT_ERR_FORMAT, ".debug_line: table at 0x%llx: %s",
			       (unsigned long long)p->unit->line_list.number, what);
}

/* ---- Header ---- */

static bool add_file(struct program *p, const char *name, uint64_t directory)
{
	struct mt_line_file *file = mt_array_push(&p->table->files);

	if (file)
		*file = (struct mt_line_file){.name = name, .directory = directory};
	p->nomem |= !file;
	return file;
}

static bool add_directory(struct program *p, const char *name)
{
	const char **directory = mt_array_push(&p->table->directories);

	if (directory)
		*directory = name;
	p->nomem |= !directory;
	return directory;
}

/* Directories and files as versions 2 to 4 list them; both count from 1. */
static bool read_names(struct program *p)
{
	const char *name;

	p->table->first_file = 1;
	if (!add_directory(p, p->unit->comp_dir))
		return false;
	while ((name = mt_cursor_cstring(&p->c)) && *name) {
		if (!add_directory(p, name))
			return false;
	}
	while ((name = mt_cursor_cstring(&p->c)) && *name) {
		uint64_t directory = mt_dwarf_uleb(&p->c);

		mt_dwarf_uleb(&p->c); /* time */
		mt_dwarf_uleb(&p->c); /* size */
		if (!add_file(p, name, directory))
			return false;
	}
	return !p->c.bad;
}

/* A table of version 5: how its entries look, then the entries. */
static bool read_table_5(struct program *p, bool files)
{
	uint64_t types[FORMATS_MAX], forms[FORMATS_MAX], count;
	uint8_t formats = mt_cursor_u8(&p->c);

	for (size_t i = 0; i < formats; i++) {
		types[i] = mt_dwarf_uleb(&p->c);
		forms[i] = mt_dwarf_uleb(&p->c);
		if (forms[i] > UINT16_MAX || forms[i] == DW_FORM_implicit_const)
			return false;
	}
	count = mt_dwarf_uleb(&p->c);
	if (p->c.bad || (count && !formats) || count > mt_cursor_left(&p->c))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		const char *name = NULL;
		uint64_t directory = 0;

		for (size_t k = 0; k < formats; k++) {
			struct mt_dwarf_value value;

			mt_dwarf_value(&p->forms, &p->c, (uint16_t)forms[k], 0, &value);
			if (types[k] == LNCT_PATH)
				name = mt_dwarf_string(&p->forms, &value);
			else if (types[k] == LNCT_DIRECTORY_INDEX)
				directory = value.number;
		}
		if (p->c.bad || !(files ? add_file(p, name, directory) : add_directory(p, name)))
			return false;
	}
	return true;
}

/* Leaves p->c at the program itself. */
static struct mt_error *read_header(struct program *p)
{
	const struct mt_span *section = &p->unit->file->line;
	struct mt_cursor all = mt_cursor_init(section->bytes, section->bytes ? section->size : 0),
			 program;
	uint64_t length;

	mt_cursor_bytes(&all, p->unit->line_list.number);
	length = mt_cursor_u32(&all);
	p->forms.offset_size = length == UINT32_MAX ? 8 : 4;
	if (p->forms.offset_size == 8)
		length = mt_cursor_u64(&all);
	p->c = mt_cursor_sub(&all, length);
	p->version = p->forms.version = mt_cursor_u16(&p->c);
	if (p->c.bad)
		return bad(p, "outside the section");
	if (p->version < 2 || p->version > 5)
		return bad(p, "unknown version");
	if (p->version == 5) {
		p->forms.address_size = mt_cursor_u8(&p->c);
		mt_cursor_u8(&p->c);
	}
	length = mt_dwarf_offset(&p->c, p->forms.offset_size);
	program = p->c;
	mt_cursor_bytes(&program, length);
	p->minimum_length = mt_cursor_u8(&p->c);
	if (p->version >= 4)
		mt_cursor_u8(&p->c); /* operations in one instruction: not on our machines */
	mt_cursor_u8(&p->c);	     /* is_stmt at the start */
	p->line_base = (int8_t)mt_cursor_u8(&p->c);
	p->line_range = mt_cursor_u8(&p->c);
	p->opcode_base = mt_cursor_u8(&p->c);
	p->lengths = mt_cursor_bytes(&p->c, p->opcode_base ? p->opcode_base - 1 : 0);
	if (p->c.bad || program.bad || !p->line_range || !p->opcode_base)
		return bad(p, "header cut short");
	if (!(p->version == 5 ? read_table_5(p, false) && read_table_5(p, true) : read_names(p)))
		return p->nomem ? mt_error_nomem() : bad(p, "corrupt list of files");
	p->c = program;
	return NULL;
}

/* ---- Program ---- */

static void reset(struct program *p)
{
	p->address = 0;
	p->line = p->file = 1;
	p->sequence_start = p->rows.count;
}

/* Rows of one address: the last one counts. Addresses do not fall within a sequence. */
static bool add_row(struct program *p, bool end)
{
	struct mt_line_row *last =
		p->rows.count > p->sequence_start ? &p->rows.items[p->rows.count - 1] : NULL;
	struct mt_line_row row = {p->address, (uint32_t)p->file, (uint32_t)p->line};

	if (end || p->line > UINT32_MAX || p->file > UINT32_MAX)
		row.line = row.file = 0;
	if (last && p->address < last->address)
		return true;
	if (!last || last->address != p->address) {
		last = mt_array_push(&p->rows);
		p->nomem |= !last;
		if (!last)
			return false;
	}
	*last = row;
	return true;
}

static bool end_sequence(struct program *p)
{
	struct sequence *sequence;
	size_t first = p->sequence_start;

	if (!add_row(p, true))
		return false;
	if (p->rows.count > first + 1) {
		sequence = mt_array_push(&p->sequences);
		p->nomem |= !sequence;
		if (!sequence)
			return false;
		*sequence = (struct sequence){p->rows.items[first].address,
					      p->rows.items[p->rows.count - 1].address, first,
					      p->rows.count - first};
	}
	reset(p);
	return true;
}

static bool run_extended(struct program *p)
{
	uint64_t length = mt_dwarf_uleb(&p->c);
	struct mt_cursor c = mt_cursor_sub(&p->c, length);
	const char *name;

	switch (mt_cursor_u8(&c)) {
	case LNE_END_SEQUENCE:
		return end_sequence(p);
	case LNE_SET_ADDRESS:
		p->address = mt_dwarf_address(&c, mt_cursor_left(&c) == 8 ? 8 : 4);
		break;
	case LNE_DEFINE_FILE:
		name = mt_cursor_cstring(&c);
		if (!c.bad && !add_file(p, name, mt_dwarf_uleb(&c)))
			return false;
		break;
	}
	return !p->c.bad;
}

static bool run_standard(struct program *p, uint8_t opcode)
{
	switch (opcode) {
	case LNS_COPY:
		return add_row(p, false);
	case LNS_ADVANCE_PC:
		p->address += mt_dwarf_uleb(&p->c) * p->minimum_length;
		break;
	case LNS_ADVANCE_LINE:
		p->line += (uint64_t)mt_dwarf_sleb(&p->c);
		break;
	case LNS_SET_FILE:
		p->file = mt_dwarf_uleb(&p->c);
		break;
	case LNS_CONST_ADD_PC:
		p->address +=
			(uint64_t)((255 - p->opcode_base) / p->line_range) * p->minimum_length;
		break;
	case LNS_FIXED_ADVANCE_PC:
		p->address += mt_cursor_u16(&p->c);
		break;
	default: /* flags that nobody asks for here, and what later versions may add */
		for (uint8_t i = 0; i < p->lengths[opcode - 1]; i++)
			mt_dwarf_uleb(&p->c);
	}
	return !p->c.bad;
}

static struct mt_error *run(struct program *p)
{
	bool good = true;

	reset(p);
	while (good && mt_cursor_left(&p->c)) {
		uint8_t opcode = mt_cursor_u8(&p->c), special;

		if (!opcode) {
			good = run_extended(p);
		} else if (opcode < p->opcode_base) {
			good = run_standard(p, opcode);
		} else {
			special = opcode - p->opcode_base;
			p->address += (uint64_t)(special / p->line_range) * p->minimum_length;
			p->line += (uint64_t)(p->line_base + special % p->line_range);
			good = add_row(p, false);
		}
	}
	if (p->nomem)
		return mt_error_nomem();
	return good ? NULL : bad(p, "program cut short");
}

/* ---- Rows ---- */

static int compare_sequences(const void *a, const void *b)
{
	const struct sequence *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->first < y->first ? -1 : 1;
}

/* Puts the sequences of code that is there in order; of two that overlap, the first is kept. */
static bool sort_rows(struct program *p, bool (*is_code)(const void *context, uint64_t address),
		      const void *context)
{
	struct mt_line_table *table = p->table;
	uint64_t end = 0;

	if (p->sequences.count)
		qsort(p->sequences.items, p->sequences.count, sizeof(*p->sequences.items),
		      compare_sequences);
	if (!mt_array_reserve(&table->rows, p->rows.count))
		return false;
	for (size_t i = 0; i < p->sequences.count; i++) {
		const struct sequence *s = &p->sequences.items[i];

		if (s->start < end || !is_code(context, s->start))
			continue;
		memcpy(table->rows.items + table->rows.count, p->rows.items + s->first,
		       s->count * sizeof(*p->rows.items));
		table->rows.count += s->count;
		end = s->end;
	}
	return true;
}

struct mt_error *mt_line_table_read(const struct mt_dwarf_unit *unit,
				    bool (*is_code)(const void *context, uint64_t address),
				    const void *context, struct mt_line_table *out)
{
	MT_CLEANUP(mt_line_table_deinit)
	struct mt_line_table table = {.comp_dir = unit->comp_dir};
	MT_CLEANUP(program_deinit)
	struct program program = {.unit = unit, .forms = *unit, .table = &table};
	struct mt_error *err;

	if (!unit->line_list.form)
		return NULL;
	err = read_header(&program);
	err = err ? err : run(&program);
	if (err && err->kind == MT_ERR_NOMEM)
		return err;
	/* what came before the damage holds */
	if (!sort_rows(&program, is_code, context)) {
		mt_error_destroy(err);
		return mt_error_nomem();
	}
	*out = table;
	table = (struct mt_line_table){0};
	return err;
}

void mt_line_table_deinit(struct mt_line_table *table)
{
	for (size_t i = 0; i < table->files.count; i++)
		free(table->files.items[i].path);
	mt_array_deinit(&table->rows);
	mt_array_deinit(&table->files);
	mt_array_deinit(&table->directories);
}

const struct mt_line_row *mt_line_table_find(const struct mt_line_table *table, uint64_t address)
{
	const struct mt_line_row *rows = table->rows.items;
	size_t low = 0, high = table->rows.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rows[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && rows[low - 1].line ? &rows[low - 1] : NULL;
}

static char *join(const char *base, const char *directory, const char *name)
{
	char *path;

	if (*name == '/' || !directory)
		return strdup(name);
	if (*directory == '/' || !base || base == directory)
		return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
	return asprintf(&path, "%s/%s/%s", base, directory, name) < 0 ? NULL : path;
}

const char *mt_line_table_path(struct mt_line_table *table, uint32_t number)
{
	struct mt_line_file *file;
	const char *directory = NULL;
	uint32_t index = number - table->first_file;

	if (number < table->first_file || index >= table->files.count)
		return NULL;
	file = &table->files.items[index];
	if (!file->path && file->name) {
		if (file->directory < table->directories.count)
			directory = table->directories.items[file->directory];
		file->path = join(table->comp_dir, directory, file->name);
	}
	return file->path;
}
