/*
 * Line programs, versions 2 to 5: run once, leaving marks from which a program is run again, a few
 * opcodes long, when an address is asked for. That takes a fraction of the memory that all rows
 * would, and of the time to write them.
 */
#include <stddef.h>
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
	LNS_SET_COLUMN = 5,
	LNS_NEGATE_STATEMENT = 6,
	LNS_CONST_ADD_PC = 8,
	LNS_FIXED_ADVANCE_PC = 9,
	LNE_END_SEQUENCE = 1,
	LNE_SET_ADDRESS = 2,
	LNCT_PATH = 1,
	LNCT_DIRECTORY_INDEX = 2,
	FORMATS_MAX = 256,
	MARK_BYTES = 128, /* of a program, from one mark to the next */
};

struct program {
	const struct mt_dwarf_unit *unit;
	struct mt_dwarf_unit forms; /* as unit, with the sizes that the line table's header has */
	struct mt_line_table *table;
	struct mt_cursor c;
	uint16_t version;
	struct mt_line_rules rules;
	bool nomem;
};

static struct mt_error *bad(const struct program *p, const char *what)
{
	return mt_error_create(MT_ERR_FORMAT, ".debug_line: table at 0x%llx: %s",
			       (unsigned long long)p->unit->line_list.number, what);
}

/* ---- Header ---- */

static struct mt_line_file *add_file(struct program *p, uint64_t directory)
{
	struct mt_line_file *file = mt_array_push(&p->table->files);

	if (file)
		file->directory = directory > UINT32_MAX ? UINT32_MAX : (uint32_t)directory;
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
		struct mt_line_file *file = add_file(p, mt_dwarf_uleb(&p->c));

		mt_dwarf_uleb(&p->c); /* time */
		mt_dwarf_uleb(&p->c); /* size */
		if (!file)
			return false;
		file->name.string = name;
	}
	return !p->c.bad;
}

/* How the entries of a table of version 5 look. */
struct entry_format {
	uint64_t types[FORMATS_MAX], forms[FORMATS_MAX];
	size_t count;
};

static bool read_format(struct program *p, struct entry_format *format)
{
	format->count = mt_cursor_u8(&p->c);
	for (size_t i = 0; i < format->count; i++) {
		format->types[i] = mt_dwarf_uleb(&p->c);
		format->forms[i] = mt_dwarf_uleb(&p->c);
		if (format->forms[i] > UINT16_MAX || format->forms[i] == DW_FORM_implicit_const)
			return false;
	}
	return !p->c.bad;
}

/* One entry: its name and its directory, where it has these. */
static inline void read_entry(struct program *p, const struct entry_format *format,
			      struct mt_dwarf_value *name, uint64_t *directory)
{
	for (size_t i = 0; i < format->count; i++) {
		struct mt_dwarf_value value = {.form = (uint16_t)format->forms[i]};

		if (value.form == DW_FORM_line_strp && p->forms.offset_size == 4)
			value.number = mt_cursor_u32(&p->c);
		else if (value.form == DW_FORM_udata)
			value.number = mt_dwarf_uleb(&p->c);
		else
			mt_dwarf_value(&p->forms, &p->c, value.form, 0, &value);
		if (format->types[i] == LNCT_PATH)
			*name = value;
		else if (format->types[i] == LNCT_DIRECTORY_INDEX)
			*directory = value.number;
	}
}

/* Names in .debug_line_str, as all compilers have it, are looked up when they are asked for. */
static bool add_entry(struct program *p, const struct mt_dwarf_value *name, uint64_t directory)
{
	struct mt_line_file *file = add_file(p, directory);

	if (!file)
		return false;
	if (p->table->strings.bytes)
		file->name.offset = name->form ? name->number : p->table->strings.size;
	else
		file->name.string = mt_dwarf_string(&p->forms, name);
	return true;
}

static bool read_entries(struct program *p, bool files)
{
	struct entry_format format;
	uint64_t count;

	if (!read_format(p, &format))
		return false;
	count = mt_dwarf_uleb(&p->c);
	if (p->c.bad || (count && !format.count) || count > mt_cursor_left(&p->c))
		return false;
	for (size_t i = 0; files && i < format.count; i++) {
		if (format.types[i] == LNCT_PATH)
			p->table->strings = format.forms[i] == DW_FORM_line_strp
						    ? p->unit->file->line_str
						    : (struct mt_span){0};
	}
	for (uint64_t i = 0; i < count; i++) {
		struct mt_dwarf_value name = {0};
		uint64_t directory = 0;

		read_entry(p, &format, &name, &directory);
		if (p->c.bad || !(files ? add_entry(p, &name, directory)
					: add_directory(p, mt_dwarf_string(&p->forms, &name))))
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
	p->rules.minimum_length = mt_cursor_u8(&p->c);
	if (p->version >= 4)
		mt_cursor_u8(&p->c); /* operations in one instruction: not on our machines */
	mt_cursor_u8(&p->c);	     /* is_stmt at the start */
	p->rules.line_base = (int8_t)mt_cursor_u8(&p->c);
	p->rules.line_range = mt_cursor_u8(&p->c);
	p->rules.opcode_base = mt_cursor_u8(&p->c);
	for (unsigned int i = 1; i < p->rules.opcode_base; i++)
		p->rules.lengths[i] = mt_cursor_u8(&p->c);
	if (p->c.bad || program.bad || !p->rules.line_range || !p->rules.opcode_base)
		return bad(p, "header cut short");
	if (!(p->version == 5 ? read_entries(p, false) && read_entries(p, true) : read_names(p)))
		return p->nomem ? mt_error_nomem() : bad(p, "corrupt list of files");
	p->c = program;
	return NULL;
}

/* ---- Rules ---- */

static void count_special(struct mt_line_rules *rules)
{
	for (unsigned int opcode = rules->opcode_base; opcode < 256; opcode++) {
		unsigned int special = opcode - rules->opcode_base;

		rules->special[opcode].advance =
			(uint16_t)(special / rules->line_range * rules->minimum_length);
		rules->special[opcode].line =
			(int16_t)(rules->line_base + (int)(special % rules->line_range));
	}
}

/* The kept rules that are the same; NULL out of memory. */
static const struct mt_line_rules *keep_rules(struct mt_line_rule_set *set,
					      const struct mt_line_rules *rules)
{
	struct mt_line_rules **slot, *kept;

	for (size_t i = set->items.count; i-- > 0;) {
		if (!memcmp(set->items.items[i], rules, offsetof(struct mt_line_rules, run)))
			return set->items.items[i];
	}
	kept = malloc(sizeof(*kept));
	slot = kept ? mt_array_push(&set->items) : NULL;
	if (!slot) {
		free(kept);
		return NULL;
	}
	*kept = *rules;
	count_special(kept);
	kept->reciprocal = (uint16_t)(65536 / kept->line_range + 1);
	kept->run = mt_line_wide_usable(kept)	? mt_line_wide_run
		    : mt_line_fast_usable(kept) ? mt_line_fast_run
						: NULL;
	return *slot = kept;
}

void mt_line_rule_set_init(struct mt_line_rule_set *rules)
{
	*rules = (struct mt_line_rule_set){0};
	pthread_mutex_init(&rules->lock, NULL);
}

void mt_line_rule_set_deinit(struct mt_line_rule_set *rules)
{
	pthread_mutex_destroy(&rules->lock);
	for (size_t i = 0; i < rules->items.count; i++)
		free(rules->items.items[i]);
	mt_array_deinit(&rules->items);
}

/* ---- Program ---- */

/* What an opcode brought about. */
enum step {
	STEP_ON,
	STEP_ROW,
	STEP_END, /* of a sequence */
	STEP_BAD,
};

/* By value: the machine lives in local variables, so that it is registers. */
struct extended {
	uint64_t address;
	const uint8_t *end;
	enum step step;
};

static __attribute__((noinline)) struct extended run_extended(struct mt_cursor c, uint64_t address)
{
	uint64_t length = mt_dwarf_uleb(&c);
	struct mt_cursor operands = mt_cursor_sub(&c, length);
	struct extended did = {.address = address, .end = c.pos, .step = STEP_ON};

	switch (mt_cursor_u8(&operands)) {
	case LNE_END_SEQUENCE:
		did.step = STEP_END;
		break;
	case LNE_SET_ADDRESS:
		did.address = mt_dwarf_address(&operands, mt_cursor_left(&operands) == 8 ? 8 : 4);
		break;
	}
	if (c.bad || (operands.bad && did.step == STEP_ON && length))
		did.step = STEP_BAD;
	return did;
}

static inline __attribute__((always_inline)) enum step run_standard(
	const struct mt_line_rules *rules, struct mt_line_machine *m, uint8_t opcode)
{
	switch (opcode) {
	case LNS_COPY:
		return STEP_ROW;
	case LNS_ADVANCE_PC:
		m->address += mt_dwarf_uleb(&m->c) * rules->minimum_length;
		break;
	case LNS_ADVANCE_LINE:
		m->line += (uint32_t)mt_dwarf_sleb(&m->c);
		break;
	case LNS_SET_FILE:
		m->file = (uint32_t)mt_dwarf_uleb(&m->c);
		break;
	case LNS_SET_COLUMN:
		mt_dwarf_uleb(&m->c);
		break;
	case LNS_NEGATE_STATEMENT:
		break;
	case LNS_CONST_ADD_PC:
		m->address += rules->special[255].advance;
		break;
	case LNS_FIXED_ADVANCE_PC:
		m->address += mt_cursor_u16(&m->c);
		break;
	default: /* what nobody asks for here: columns, flags, what later versions may add */
		for (uint8_t i = rules->lengths[opcode]; i; i--)
			mt_dwarf_uleb(&m->c);
	}
	return m->c.bad ? STEP_BAD : STEP_ON;
}

/* Runs one opcode; m->c has one. */
static inline __attribute__((always_inline)) enum step run_opcode(const struct mt_line_rules *rules,
								  struct mt_line_machine *m)
{
	uint8_t opcode = *m->c.pos++;
	struct extended did;

	if (opcode >= rules->opcode_base) {
		m->address += rules->special[opcode].advance;
		m->line += (uint32_t)(int32_t)rules->special[opcode].line;
		return STEP_ROW;
	}
	if (opcode)
		return run_standard(rules, m, opcode);
	did = run_extended(m->c, m->address);
	m->address = did.address;
	m->c.pos = did.end;
	return did.step;
}

static void reset(struct mt_line_machine *m)
{
	m->address = 0;
	m->line = m->file = 1;
}

static bool add_mark(struct mt_line_table *table, const struct mt_line_machine *m)
{
	struct mt_line_mark *mark = mt_array_push(&table->marks);

	if (mark) {
		mark->address = m->address;
		mark->position = (uint32_t)(m->c.pos - table->program.bytes);
		mark->file = m->file;
		mark->line = m->line;
	}
	return mark;
}

/*
 * Runs up to the first opcode behind `limit`, or the end of a sequence; *start becomes the address
 * of the first row. Addresses do not fall within a sequence.
 */
static __attribute__((noinline)) enum step run_some(const struct mt_line_rules *rules,
						    const uint8_t *limit,
						    struct mt_line_machine *machine,
						    uint64_t *start)
{
	struct mt_line_machine m = *machine;
	uint64_t first = *start;
	enum step step = STEP_ON;

	while (step < STEP_END && m.c.pos < limit) {
		if (rules->run && first <= m.address)
			rules->run(rules, limit, &m);
		if (m.c.pos >= limit)
			break;
		step = run_opcode(rules, &m);
		if (step == STEP_ROW && m.address < first)
			first = m.address;
	}
	*machine = m;
	*start = first;
	return step;
}

/* Keeps a sequence with code that is there; false out of memory. */
static bool end_sequence(struct mt_line_table *table, uint64_t start, uint64_t end,
			 size_t first_mark)
{
	struct mt_line_sequence *sequence;

	if (start >= end || !table->filter.is_code(table->filter.context, start)) {
		table->marks.count = first_mark;
		return true;
	}
	sequence = mt_array_push(&table->sequences);
	if (sequence)
		*sequence = (struct mt_line_sequence){start, end, first_mark,
						      table->marks.count - first_mark};
	return sequence;
}

/* One sequence; *nomem out of memory. */
static enum step run_sequence(struct mt_line_table *table, struct mt_line_machine *m, bool *nomem)
{
	size_t first_mark = table->marks.count;
	uint64_t start = UINT64_MAX;
	enum step step = STEP_ON;

	reset(m);
	while (step < STEP_END && m->c.pos < m->c.end) {
		size_t left = (size_t)(m->c.end - m->c.pos);

		*nomem |= !add_mark(table, m);
		if (*nomem)
			return STEP_BAD;
		step = run_some(table->rules, m->c.pos + (left < MARK_BYTES ? left : MARK_BYTES), m,
				&start);
	}
	if (step == STEP_END)
		*nomem |= !end_sequence(table, start, m->address, first_mark);
	else
		table->marks.count = first_mark;
	return *nomem ? STEP_BAD : step;
}

static int compare_sequences(const void *a, const void *b)
{
	const struct mt_line_sequence *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->mark < y->mark ? -1 : 1;
}

/* By address; of two that overlap, the first is kept. */
static void sort_sequences(struct mt_line_table *table)
{
	struct mt_line_sequence *items = table->sequences.items;
	size_t kept = 0;

	if (table->sequences.count > 1)
		qsort(items, table->sequences.count, sizeof(*items), compare_sequences);
	for (size_t i = 0; i < table->sequences.count; i++) {
		if (!kept || items[i].start >= items[kept - 1].end)
			items[kept++] = items[i];
	}
	table->sequences.count = kept;
}

/* Runs the program, which leaves the table with its marks; those before any damage hold. */
static struct mt_error *run(struct mt_line_table *table)
{
	struct mt_line_machine m = {.c = mt_cursor_init(table->program.bytes, table->program.size)};
	enum step step = STEP_END;
	bool nomem = false;

	table->has_marks = true;
	if (!mt_array_reserve(&table->marks, table->program.size / MARK_BYTES + 1))
		return mt_error_nomem();
	while (step == STEP_END && m.c.pos < m.c.end)
		step = run_sequence(table, &m, &nomem);
	sort_sequences(table);
	if (nomem)
		return mt_error_nomem();
	if (step != STEP_BAD)
		return NULL;
	return mt_error_create(MT_ERR_FORMAT, ".debug_line: table at 0x%llx: program cut short",
			       (unsigned long long)table->offset);
}

static void drop_marks(struct mt_line_table *table)
{
	mt_array_deinit(&table->marks);
	mt_array_deinit(&table->sequences);
	table->has_marks = false;
}

struct mt_error *mt_line_table_read(const struct mt_dwarf_unit *unit,
				    const struct mt_code_filter *filter,
				    struct mt_line_rule_set *rules, struct mt_line_table *out)
{
	MT_CLEANUP(mt_line_table_deinit)
	struct mt_line_table table = {
		.comp_dir = unit->comp_dir, .filter = *filter, .offset = unit->line_list.number};
	struct program program = {.unit = unit, .forms = *unit, .table = &table};
	struct mt_error *err;

	if (!unit->line_list.form)
		return NULL;
	err = read_header(&program);
	if (err)
		return err;
	if (mt_cursor_left(&program.c) > UINT32_MAX)
		return bad(&program, "absurdly long");
	table.program =
		(struct mt_span){.bytes = program.c.pos, .size = mt_cursor_left(&program.c)};
	pthread_mutex_lock(&rules->lock);
	table.rules = keep_rules(rules, &program.rules);
	pthread_mutex_unlock(&rules->lock);
	if (!table.rules)
		return mt_error_nomem();
	*out = table;
	table = (struct mt_line_table){0};
	return NULL;
}

void mt_line_table_deinit(struct mt_line_table *table)
{
	for (size_t i = 0; i < table->files.count; i++) {
		if (table->files.items[i].path) /* of few */
			free(table->files.items[i].path);
	}
	drop_marks(table);
	mt_array_deinit(&table->answers);
	mt_array_deinit(&table->files);
	mt_array_deinit(&table->directories);
}

/* ---- Answers ---- */

static const struct mt_line_sequence *find_sequence(const struct mt_line_table *table,
						    uint64_t address)
{
	const struct mt_line_sequence *items = table->sequences.items;
	size_t behind = mt_array_split(table->sequences.count, at, items[at].start <= address);

	return behind && address < items[behind - 1].end ? &items[behind - 1] : NULL;
}

/* The last mark of a sequence that is not behind an address; its first where all are. */
static size_t find_mark(const struct mt_line_table *table, const struct mt_line_sequence *sequence,
			uint64_t address)
{
	const struct mt_line_mark *marks = table->marks.items + sequence->mark;
	size_t behind = mt_array_split(sequence->mark_count, at, marks[at].address <= address);

	return behind ? behind - 1 : 0;
}

/* The last row up to an address among those behind a mark; false where there is none. */
static bool find_row(const struct mt_line_table *table, const struct mt_line_mark *mark,
		     uint64_t address, struct mt_line_row *out)
{
	struct mt_line_machine m = {
		.address = mark->address, .line = mark->line, .file = mark->file};
	enum step step = STEP_ON;
	bool found = false;

	m.c = mt_cursor_init(table->program.bytes + mark->position,
			     table->program.size - mark->position);
	while (step < STEP_END && m.c.pos < m.c.end) {
		step = run_opcode(table->rules, &m);
		if (step != STEP_ROW)
			continue;
		if (m.address > address)
			break;
		*out = (struct mt_line_row){m.file, m.line};
		found = true;
	}
	return found;
}

/* The row at an address, by the marks; its line is 0 where there is none. */
static struct mt_line_row row_at(const struct mt_line_table *table, uint64_t address)
{
	const struct mt_line_sequence *sequence = find_sequence(table, address);
	struct mt_line_row row = {0};
	size_t mark;

	if (!sequence)
		return row;
	mark = find_mark(table, sequence, address);
	/* the row may be one that was made before the mark */
	while (!find_row(table, &table->marks.items[sequence->mark + mark], address, &row) && mark)
		mark--;
	return row;
}

struct mt_error *mt_line_table_prepare(struct mt_line_table *table, const uint64_t *addresses,
				       size_t count)
{
	struct mt_error *err;

	if (!table->rules || table->has_marks || table->answers.count)
		return NULL;
	err = run(table);
	if (!mt_array_reserve(&table->answers, count))
		return err; /* they are found by the marks */
	for (size_t i = 0; i < count; i++)
		table->answers.items[i] =
			(struct mt_line_answer){addresses[i], row_at(table, addresses[i])};
	table->answers.count = count;
	drop_marks(table);
	return err;
}

/* What was found beforehand; NULL where nobody asked then. */
static const struct mt_line_answer *find_answer(const struct mt_line_table *table, uint64_t address)
{
	const struct mt_line_answer *items = table->answers.items;
	size_t at = mt_array_first_from(items, table->answers.count, address);

	return at < table->answers.count && items[at].address == address ? &items[at] : NULL;
}

bool mt_line_table_find(struct mt_line_table *table, uint64_t address, struct mt_line_row *out,
			struct mt_error **problem)
{
	const struct mt_line_answer *answer = find_answer(table, address);
	struct mt_line_row row;

	*problem = NULL;
	if (!table->rules)
		return false;
	if (!answer && !table->has_marks)
		*problem = run(table);
	row = answer ? answer->row : row_at(table, address);
	if (row.line)
		*out = row;
	return row.line;
}

static const char *file_name(const struct mt_line_table *table, const struct mt_line_file *file)
{
	const struct mt_span *strings = &table->strings;
	struct mt_cursor c;

	if (!strings->bytes)
		return file->name.string;
	c = mt_cursor_init(strings->bytes, strings->size);
	mt_cursor_bytes(&c, file->name.offset);
	return mt_cursor_cstring(&c);
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
	const char *directory = NULL, *name;
	uint32_t index = number - table->first_file;

	if (number < table->first_file || index >= table->files.count)
		return NULL;
	file = &table->files.items[index];
	if (file->path)
		return file->path;
	name = file_name(table, file);
	if (file->directory < table->directories.count)
		directory = table->directories.items[file->directory];
	if (name)
		file->path = join(table->comp_dir, directory, name);
	return file->path;
}
