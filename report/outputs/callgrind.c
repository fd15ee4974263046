/*
 * --callgrind: costs by file, function, line and call, as callgrind_annotate and KCachegrind read
 * them. A row's cost is the innermost function's own cost. Each function of its stack is called
 * once with that cost. If a function recurs, only its outermost call has the cost, as valgrind
 * counts, so that no inclusive cost is counted twice. Inlined functions are functions with lines of
 * their own. A row's other keys are its outermost functions, in files such as "(comm)".
 *
 * Memory is bounded by the distinct lines and calls; rows are read one after the other.
 */
#include <math.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/cells.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/sums/sum_table.h"
#include "report/tables/byte_runs.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

#define NO_CALLEE UINT64_MAX
#define UNKNOWN_FILE "???"

/* Keys of the sums: a line's own cost, or the cost of its calls of another function. */
enum {
	COST_FUNCTION,
	COST_LINE,
	COST_CALLEE, /* a function, or NO_CALLEE */
	COST_KEYS,
};

/* Ids of strings. `object` is 0 if the function has a file: only the first object is used. */
struct function {
	uint32_t name, file, object;
};

/* The source place of a function in a frame. */
struct place {
	uint32_t function, line;
};

/* The places of a frame. */
struct span {
	uint32_t first, count; /* count 0: not yet made */
};

/* Names that were written before are written as their number only. */
struct shown {
	MT_ARRAY(bool) of; /* by string */
};

struct callgrind {
	const struct mt_view *view;
	struct mt_table *table;
	FILE *to;
	struct mt_strings *strings;
	struct mt_byte_runs *functions;
	MT_ARRAY(uint32_t) objects;   /* by function: the object where it was seen first */
	MT_ARRAY(uint64_t) entered;   /* by function: the last row that entered it */
	MT_ARRAY(struct place) found; /* of all frames */
	MT_ARRAY(struct span) spans;  /* by frame */
	MT_ARRAY(struct place) line;  /* scratch: a row's places, outermost first */
	struct mt_sum_table *costs;
	struct shown files, names, images;
	size_t events[MT_GROUPS_COLUMNS]; /* value columns to write */
	double totals[MT_GROUPS_COLUMNS]; /* of the rows written */
	size_t event_count, stack;	  /* stack: key column */
	size_t calls;			  /* column with counts; MT_COLUMN_NONE: count rows */
	double below_zero;
};

static void callgrind_deinit(struct callgrind *c)
{
	mt_strings_destroy(c->strings);
	mt_byte_runs_destroy(c->functions);
	mt_sum_table_destroy(c->costs);
	mt_array_deinit(&c->objects);
	mt_array_deinit(&c->entered);
	mt_array_deinit(&c->found);
	mt_array_deinit(&c->spans);
	mt_array_deinit(&c->line);
	mt_array_deinit(&c->files.of);
	mt_array_deinit(&c->names.of);
	mt_array_deinit(&c->images.of);
}

/* ---- Functions ---- */

/* Interns a name. An empty name is replaced: it would look like a reference to an earlier name. */
static uint32_t string_of(struct callgrind *c, const char *text)
{
	text = text[strspn(text, " ")] ? text : UNKNOWN_FILE;
	return mt_strings_intern(c->strings, text, strlen(text));
}

/* The id of a function. */
static uint32_t function_of(struct callgrind *c, const char *name, const char *file,
			    const char *object)
{
	uint32_t image = string_of(c, object);
	struct function key = {
		.name = string_of(c, name),
		.file = string_of(c, file ? file : UNKNOWN_FILE),
		.object = file ? 0 : image,
	};
	uint32_t id = mt_byte_runs_intern(c->functions, &key, sizeof(key));

	if (id == c->objects.count) {
		*mt_array_push(&c->objects) = image;
		*mt_array_push(&c->entered) = 0;
	}
	return id;
}

/* The functions of a frame, innermost first. */
static struct span span_of(struct callgrind *c, uint32_t frame)
{
	struct span *span = mt_array_at(&c->spans, frame);
	size_t count;
	const struct mt_frame_name *names;

	if (span->count)
		return *span;
	names = mt_frames_names(c->table->frames, frame, &count);
	*span = (struct span){(uint32_t)c->found.count, (uint32_t)count};
	for (size_t i = 0; i < count; i++) {
		const char *name =
			mt_strings_get(mt_frames_strings(c->table->frames), names[i].name);
		const struct place place = {function_of(c, name, names[i].file, names[i].dso),
					    names[i].line};

		*mt_array_push(&c->found) = place;
	}
	return *span;
}

/* ---- Costs ---- */

/* A key's text becomes a function without lines, in a file named after the key. */
static void push_key(struct callgrind *c, const char *what, const char *text)
{
	char file[64];

	snprintf(file, sizeof(file), "(%s)", what);
	*mt_array_push(&c->line) =
		(struct place){function_of(c, text && *text ? text : "-", file, file), 0};
}

static void push_keys(struct callgrind *c, const struct mt_row *row)
{
	struct mt_snippet room;

	for (size_t i = 0; i < c->table->key_count; i++) {
		const char *name = c->table->keys[i].name;

		if (i != c->stack && !(c->table->compared && !strcmp(name, "state")))
			push_key(c, name, mt_cell_text(c->table, row, i, &room));
	}
	if (!c->line.count)
		push_key(c, "analysis", c->table->name);
}

static void push_stack(struct callgrind *c, uint32_t stack)
{
	size_t depth;
	const uint32_t *frames = mt_stacks_get(c->table->stacks, stack, &depth);

	while (depth--) {
		struct span span = span_of(c, frames[depth]);

		while (span.count--)
			*mt_array_push(&c->line) = c->found.items[span.first + span.count];
	}
}

/* Sets the costs of a row, which are not negative; the number of calls comes last. */
static void take_values(struct callgrind *c, const struct mt_row *row, struct mt_value *out)
{
	for (size_t i = 0; i < c->event_count; i++) {
		double value = row->values[c->events[i]].value;

		if (c->events[i] == c->view->value && value < 0)
			c->below_zero += value;
		out[i] = mt_value_exact(value > 0 ? value : 0);
	}
	out[c->event_count] =
		mt_value_exact(c->calls == MT_COLUMN_NONE || !(row->values[c->calls].value > 1)
				       ? 1
				       : row->values[c->calls].value);
}

/* Adds a row to the function's own cost, and to each call. `serial` counts rows from 1. */
static void add_costs(struct callgrind *c, const struct mt_value *values, uint64_t serial)
{
	struct mt_value none[MT_GROUPS_COLUMNS] = {{0}};
	const struct place *at = c->line.items, *last = at + c->line.count - 1;
	uint64_t keys[COST_KEYS] = {last->function, last->line, NO_CALLEE};

	mt_sum_table_add(c->costs, keys, values);
	none[c->event_count] = values[c->event_count];
	c->entered.items[at->function] = serial;
	for (; at < last; at++) {
		uint64_t *entered = &c->entered.items[at[1].function];
		bool outermost = *entered != serial;

		*entered = serial;
		keys[COST_FUNCTION] = at->function;
		keys[COST_LINE] = at->line;
		keys[COST_CALLEE] = at[1].function;
		mt_sum_table_add(c->costs, keys, outermost ? values : none);
	}
}

static struct mt_error *take_rows(struct callgrind *c)
{
	struct mt_value values[MT_GROUPS_COLUMNS];
	struct mt_error *err = NULL;
	struct mt_row row;

	for (uint64_t serial = 1; mt_table_read(c->table, &row, &err); serial++) {
		c->line.count = 0;
		take_values(c, &row, values);
		push_keys(c, &row);
		push_stack(c, (uint32_t)row.keys[c->stack]);
		add_costs(c, values, serial);
	}
	return err;
}

/* ---- The file ---- */

static void put_name(struct callgrind *c, struct shown *shown, const char *kind, uint32_t id)
{
	bool *known = mt_array_at(&shown->of, id);

	fprintf(c->to, "%s=(%u)", kind, id);
	if (!*known) {
		fputc(' ', c->to);
		mt_text_print_clean(mt_strings_get(c->strings, id), c->to);
	}
	*known = true;
	fputc('\n', c->to);
}

static void put_function(struct callgrind *c, uint32_t id, bool called)
{
	size_t size;
	const struct function *f = mt_byte_runs_get(c->functions, id, &size);

	put_name(c, &c->images, called ? "cob" : "ob", c->objects.items[id]);
	put_name(c, &c->files, called ? "cfi" : "fl", f->file);
	put_name(c, &c->names, called ? "cfn" : "fn", f->name);
}

static double whole(double value)
{
	return floor(value + 0.5);
}

static void put_costs(struct callgrind *c, uint64_t line, const struct mt_value *values)
{
	fprintf(c->to, "%llu", (unsigned long long)line);
	for (size_t i = 0; i < c->event_count; i++)
		fprintf(c->to, " %.0f", whole(values[i].value));
	fputc('\n', c->to);
}

/* The name of a column: valgrind's (of --xtree-memory) for memory held or freed, if it has one. */
static const char *event_name(const struct callgrind *c, size_t column, const char **meaning)
{
	static const struct {
		const char *name, *event, *meaning;
	} known[] = {
		{"bytes", "curB", "currently allocated Bytes"},
		{"blocks", "curBk", "currently allocated Blocks"},
		{"count", "curBk", "currently allocated Blocks"},
		{"allocated", "totB", "total allocated Bytes"},
		{"allocations", "totBk", "total allocated Blocks"},
		{"freed", "totFdB", "total Freed Bytes"},
		{"frees", "totFdBk", "total Freed Blocks"},
	};
	const char *name = c->table->values[column].name, *analysis = c->table->name;
	bool held = !strcmp(analysis, "outstanding") || !strcmp(analysis, "blocks");

	*meaning = name;
	for (size_t i = 0; held && !c->table->compared && i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(name, known[i].name) != 0)
			continue;
		*meaning = known[i].meaning;
		return known[i].event;
	}
	return name;
}

/* Writes the name of an event as a single word. */
static void put_word(const char *name, FILE *to)
{
	for (; *name; name++)
		fputc(*name == ' ' || *name == ':' ? '_' : *name, to);
}

static void put_head(struct callgrind *c)
{
	const struct mt_facts *facts = c->view->facts;
	uint64_t lost = mt_facts_lost_all(facts);
	const char *meaning;

	fputs("# callgrind format\nversion: 1\ncreator: mtreport\n", c->to);
	for (size_t i = 0; i < facts->recordings.count; i++) {
		fputs("desc: Recording: ", c->to);
		mt_text_print_clean(facts->recordings.items[i].file, c->to);
		fputc('\n', c->to);
	}
	if (lost)
		fprintf(c->to, "desc: Lost: %s records were lost while recording\n",
			mt_text_count((double)lost).text);
	fprintf(c->to, "cmd: mtreport --%s\npositions: line\n", c->table->name);
	for (size_t i = 0; i < c->event_count; i++) {
		fputs("event: ", c->to);
		put_word(event_name(c, c->events[i], &meaning), c->to);
		fprintf(c->to, " : %s\n", meaning);
	}
	fputs("events:", c->to);
	for (size_t i = 0; i < c->event_count; i++) {
		fputc(' ', c->to);
		put_word(event_name(c, c->events[i], &meaning), c->to);
	}
	fputc('\n', c->to);
}

/* Writes a line of own cost or the lines of a call, below the function's name if it is new. */
static void put_row(struct callgrind *c, const struct mt_row *row, uint64_t last)
{
	uint64_t callee = row->keys[COST_CALLEE];

	if (row->keys[COST_FUNCTION] != last) {
		fputc('\n', c->to);
		put_function(c, (uint32_t)row->keys[COST_FUNCTION], false);
	}
	if (callee != NO_CALLEE) {
		put_function(c, (uint32_t)callee, true);
		fprintf(c->to, "calls=%.0f 0\n", whole(row->values[c->event_count].value));
	} else {
		for (size_t i = 0; i < c->event_count; i++)
			c->totals[i] += whole(row->values[i].value);
	}
	put_costs(c, row->keys[COST_LINE], row->values);
}

static struct mt_error *put_rows(struct callgrind *c)
{
	struct mt_table *costs = mt_sum_table_table(c->costs);
	uint64_t last = NO_CALLEE;
	struct mt_error *err = NULL;
	struct mt_row row;

	while (mt_table_read(costs, &row, &err)) {
		put_row(c, &row, last);
		last = row.keys[COST_FUNCTION];
	}
	return err;
}

static void put_totals(struct callgrind *c)
{
	fputs("\ntotals:", c->to);
	for (size_t i = 0; i < c->event_count; i++)
		fprintf(c->to, " %.0f", c->totals[i]);
	fputc('\n', c->to);
}

static struct mt_error *write_costs(struct callgrind *c)
{
	struct mt_error *err;

	mt_sum_table_sort_key(c->costs, COST_FUNCTION);
	put_head(c);
	err = put_rows(c);
	put_totals(c);
	if (c->view->remainder)
		c->view->remainder->below_zero = c->below_zero;
	return err;
}

/* Chooses additive value columns, first the one that orders rows; both sides of a comparison. */
static struct mt_error *choose_events(struct callgrind *c)
{
	const struct mt_table *table = c->table;
	size_t count = table->compared ? 2 : table->value_count, value = c->view->value;

	if (!table->compared && table->most >> value & 1)
		return mt_error_create(MT_ERR_USAGE, "--callgrind writes sums, and %s is none",
				       table->values[value].name);
	if (!table->compared)
		c->events[c->event_count++] = value;
	for (size_t i = 0; i < count; i++) {
		if ((table->compared || (i != value && !(table->most >> i & 1))) &&
		    c->event_count < MT_GROUPS_COLUMNS - 1)
			c->events[c->event_count++] = i;
	}
	c->calls = table->compared ? MT_COLUMN_NONE : mt_table_value(table, "count");
	return NULL;
}

static struct mt_sum_table *create_costs(struct callgrind *c)
{
	static const struct mt_key_column keys[COST_KEYS] = {
		[COST_FUNCTION] = {"function", MT_KEY_NUMBER},
		[COST_LINE] = {"line", MT_KEY_NUMBER},
		[COST_CALLEE] = {"callee", MT_KEY_NUMBER},
	};
	struct mt_value_column values[MT_GROUPS_COLUMNS] = {{0}};
	struct mt_table shape = {
		.name = "callgrind",
		.keys = keys,
		.key_count = COST_KEYS,
		.values = values,
		.value_count = c->event_count + 1,
	};

	return mt_sum_table_create(&shape);
}

static struct mt_error *write_callgrind(const struct mt_view *view, struct mt_table *table,
					FILE *to)
{
	MT_CLEANUP(callgrind_deinit)
	struct callgrind c = {
		.view = view,
		.table = table,
		.to = to,
		.strings = mt_strings_create(),
		.functions = mt_byte_runs_create(),
		.stack = mt_table_key_of_kind(table, MT_KEY_STACK),
	};
	struct mt_error *err = choose_events(&c);

	if (err)
		return err;
	c.costs = create_costs(&c);
	mt_frames_resolve(table->frames);
	err = take_rows(&c);
	return err ? err : write_costs(&c);
}

const struct mt_output mt_output_callgrind = {
	.name = "callgrind",
	.argument = "OUT",
	.help = "costs by line and call, for KCachegrind",
	.rare = true,
	.needs = MT_NEEDS_STACK | MT_TAKES_KEYS,
	.write = write_callgrind,
};
