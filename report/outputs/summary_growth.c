/*
 * The summary's section about memory.
 */
#include "report/outputs/summary_growth.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/frames.h"
#include "report/outputs/guilty.h"
#include "report/outputs/outputs.h"
#include "report/stacks.h"
#include "report/table.h"
#include "report/text.h"

MT_DEFINE_CLEANUP(mt_paths, struct mt_paths)

#define INDENTED "         "

enum {
	PATHS_SHOWN = 3,
	INDENT = 13, /* of a path below its figure */
};

/* What one path of one thread name changed. */
struct grower {
	const char *comm;
	uint32_t path, stack; /* the stack is that of its heaviest row */
	bool words;	      /* no code, but what stands for it: [exec] */
	double bytes, heaviest;
};

typedef MT_ARRAY(struct grower) growers;

struct section {
	const struct mt_view *view;
	struct mt_table *table;
	struct mt_paths *paths;
	FILE *to;
	growers growers;
	size_t stack_column, comm_column, bytes_column;
	struct mt_value net;
	double added, taken; /* by calls, as net */
	double no_call;
};

static void section_deinit(struct section *s)
{
	mt_array_deinit(&s->growers);
}

/* "+26.0 MB", "-812 B". */
static struct mt_snippet signed_bytes(double bytes)
{
	struct mt_snippet size = mt_text_bytes(bytes < 0 ? -bytes : bytes), out;

	snprintf(out.text, sizeof(out.text), "%c%.40s", bytes < 0 ? '-' : '+', size.text);
	return out;
}

static bool is_words(const struct mt_table *table, uint32_t stack)
{
	size_t depth;
	const uint32_t *ids = mt_stacks_get(table->stacks, stack, &depth);

	return depth && mt_frames_key(table->frames, ids[0])->flags & MT_FRAME_WORDS;
}

static void add_to_sums(struct section *s, const struct mt_value *bytes, bool words)
{
	if (words) {
		s->no_call += bytes->value;
		return;
	}
	s->net.value += bytes->value;
	s->net.low += bytes->low;
	s->net.high += bytes->high;
	*(bytes->value < 0 ? &s->taken : &s->added) += bytes->value;
}

static bool add_row(struct section *s, const struct mt_row *row)
{
	const struct mt_value *bytes = &row->values[s->bytes_column];
	uint32_t stack = (uint32_t)row->keys[s->stack_column], path = mt_paths_of(s->paths, stack);
	const char *comm = mt_table_string(s->table, row, s->comm_column);
	struct grower *grower = NULL;

	if (path == MT_PATH_NONE)
		return false;
	add_to_sums(s, bytes, is_words(s->table, stack));
	for (size_t i = 0; i < s->growers.count && !grower; i++) {
		if (s->growers.items[i].path == path && !strcmp(s->growers.items[i].comm, comm))
			grower = &s->growers.items[i];
	}
	if (!grower) {
		grower = mt_array_push(&s->growers);
		if (!grower)
			return false;
		*grower = (struct grower){.comm = comm, .path = path, .stack = stack};
		grower->words = is_words(s->table, stack);
	}
	grower->bytes += bytes->value;
	if (bytes->value > grower->heaviest) {
		grower->heaviest = bytes->value;
		grower->stack = stack;
	}
	return true;
}

static struct mt_error *take_rows(struct section *s)
{
	struct mt_error *err = mt_table_rewind(s->table);
	struct mt_row row;
	bool more = true;

	while (!err) {
		err = mt_table_next(s->table, &row, &more);
		if (err || !more)
			return err;
		if (!add_row(s, &row))
			return mt_error_nomem();
	}
	return err;
}

static int compare_growers(const void *a, const void *b)
{
	const struct grower *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->comm, y->comm);
}

static void print_total(const struct section *s)
{
	fprintf(s->to, "\nmemory   %s by %s: calls mapped %s and gave back %s",
		s->net.value < 0 ? "shrank" : "grew",
		mt_text_bytes(s->net.value < 0 ? -s->net.value : s->net.value).text,
		mt_text_bytes(s->added).text, mt_text_bytes(0 - s->taken).text);
	if (s->net.low != s->net.high)
		fprintf(s->to,
			";\n" INDENTED
			"between %s and %s, for what was lost or whose order is not known",
			signed_bytes(s->net.low).text, signed_bytes(s->net.high).text);
	fputc('\n', s->to);
	if (s->no_call)
		fprintf(s->to,
			INDENTED "and %s by no call: programs that began, stacks, the kernel\n",
			signed_bytes(s->no_call).text);
}

/* The inner end of a path, as much as fits, from the root on. */
static struct mt_error *print_path(const struct section *s, const struct grower *grower)
{
	struct mt_strings *strings = mt_frames_strings(s->table->frames);
	size_t count, first, used = INDENT, room = s->view->width;
	const uint32_t *names = mt_paths_get(s->paths, grower->path, &count);

	for (first = count; first > 0; first--) {
		size_t size = strlen(mt_strings_get(strings, names[first - 1])) + 3;

		if (used + size + 5 > room && first < count)
			break;
		used += size;
	}
	fprintf(s->to, "%*s%s", INDENT, "", first ? ".. > " : "");
	for (size_t i = first; i < count; i++) {
		char name[256];

		mt_text_fit(mt_strings_get(strings, names[i]), room - INDENT - 5, name,
			    sizeof(name));
		fprintf(s->to, "%s%s", i > first ? " > " : "", name);
	}
	fputc('\n', s->to);
	return NULL;
}

static struct mt_error *print_grower(const struct section *s, const struct grower *grower)
{
	const struct mt_frame_name *guilty;
	char place[80] = "", name[256], comm[32];

	if (!mt_guilty_function(s->table, grower->stack, &guilty))
		return mt_error_nomem();
	if (guilty)
		mt_guilty_place(guilty->dso, guilty->file, guilty->line, place);
	mt_text_fit(guilty ? mt_strings_get(mt_frames_strings(s->table->frames), guilty->name)
			   : "[unknown]",
		    s->view->width > 60 ? s->view->width - 46 : 20, name, sizeof(name));
	mt_text_fit(grower->comm, 16, comm, sizeof(comm));
	fprintf(s->to, "  %9s  %s: %s  %s\n", signed_bytes(grower->bytes).text, comm, name, place);
	return print_path(s, grower);
}

static struct mt_error *print_section(struct section *s)
{
	struct mt_error *err = mt_frames_resolve(s->table->frames);
	size_t shown = 0;

	err = err ? err : take_rows(s);
	if (err || !s->growers.count)
		return err;
	qsort(s->growers.items, s->growers.count, sizeof(*s->growers.items), compare_growers);
	print_total(s);
	for (size_t i = 0; i < s->growers.count && shown < PATHS_SHOWN && !err; i++) {
		if (s->growers.items[i].words || s->growers.items[i].bytes <= 0)
			continue;
		shown++;
		err = print_grower(s, &s->growers.items[i]);
	}
	return err;
}

struct mt_error *mt_summary_growth_print(const struct mt_view *view, struct mt_table *growth,
					 FILE *to)
{
	MT_CLEANUP(mt_paths_destroy_p)
	struct mt_paths *paths = mt_paths_create(growth->stacks, growth->frames, false);
	MT_CLEANUP(section_deinit)
	struct section s = {
		.view = view,
		.table = growth,
		.paths = paths,
		.to = to,
		.stack_column = mt_table_key_of_kind(growth, MT_KEY_STACK),
		.comm_column = mt_table_key(growth, "comm"),
		.bytes_column = mt_table_value(growth, "bytes"),
	};

	return paths ? print_section(&s) : mt_error_nomem();
}
