/*
 * The summary's sections about memory.
 */
#include "report/outputs/summary/summary_growth.h"

#include <math.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/outputs/outputs.h"
#include "report/outputs/top_paths.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

#define INDENTED "         "

enum {
	PATHS_SHOWN = 3,
	VERDICTS_SHOWN = 3,
	INDENT = 13, /* of a path below its figure */
};

/* A path that holds less than this part of the heaviest one is not worth a verdict here. */
#define WORTH_A_VERDICT 0.05

struct section {
	const struct mt_view *view;
	FILE *to;
	struct mt_top_paths top; /* weighed by bytes */
	struct mt_value net;
	double no_call, lost; /* lost: it is not known by whom */
	double stackless;     /* part of net: by calls that were recorded without a stack */
};

static void section_deinit(struct section *s)
{
	mt_top_paths_deinit(&s->top);
}

/* "+26.0 MB", "-812 B". */
static struct mt_snippet signed_bytes(double bytes)
{
	struct mt_snippet size = mt_text_bytes(bytes < 0 ? -bytes : bytes), out;

	snprintf(out.text, sizeof(out.text), "%c%.40s", bytes < 0 ? '-' : '+', size.text);
	return out;
}

/* What stands for the stack of a path of words. */
static const char *words_of(const struct section *s, const struct mt_top_path *path)
{
	size_t count;
	const uint32_t *names = mt_paths_get(s->top.paths, path->path, &count);

	return count ? mt_strings_get(mt_frames_strings(s->top.table->frames), names[0]) : "";
}

static void add_up(struct section *s)
{
	for (size_t i = 0; i < s->top.items.count; i++) {
		const struct mt_top_path *path = &s->top.items.items[i];
		const struct mt_value *bytes = &path->values[s->top.weight];
		const char *words = path->words ? words_of(s, path) : "";
		bool stackless = !strcmp(words, MT_FRAME_STACKLESS);

		if (path->words && !stackless) {
			*(strcmp(words, "[lost]") ? &s->no_call : &s->lost) += bytes->value;
			continue;
		}
		s->stackless += stackless ? bytes->value : 0;
		s->net.value += bytes->value;
		s->net.low += bytes->low;
		s->net.high += bytes->high;
	}
}

static void print_total(const struct section *s)
{
	fprintf(s->to, "\nmemory   %s by %s: calls mapped %s and gave back %s",
		s->net.value < 0 ? "shrank" : "grew", mt_text_bytes(fabs(s->net.value)).text,
		mt_text_bytes(s->view->growth_mapped).text,
		mt_text_bytes(0 - s->view->growth_returned).text);
	if (s->net.low != s->net.high)
		fprintf(s->to,
			";\n" INDENTED
			"between %s and %s, for what was lost or whose order is not known",
			signed_bytes(s->net.low).text, signed_bytes(s->net.high).text);
	fputc('\n', s->to);
	if (s->stackless)
		fprintf(s->to, INDENTED "of it %s by calls that were recorded without a stack\n",
			signed_bytes(s->stackless).text);
	if (s->lost)
		fprintf(s->to, INDENTED "and %s by calls whose records were lost\n",
			signed_bytes(s->lost).text);
	if (s->no_call)
		fprintf(s->to,
			INDENTED "and %s by no call: programs that began, stacks, the kernel\n",
			signed_bytes(s->no_call).text);
}

static struct mt_error *print_paths(const struct section *s)
{
	struct mt_error *err = NULL;
	size_t shown = 0;

	for (size_t i = 0; i < s->top.items.count && shown < PATHS_SHOWN && !err; i++) {
		const struct mt_top_path *path = &s->top.items.items[i];
		double bytes = path->values[s->top.weight].value;

		if (path->words || bytes <= 0)
			continue;
		shown++;
		fprintf(s->to, "  %9s  ", signed_bytes(bytes).text);
		err = mt_top_path_print(&s->top, path, s->view->width - INDENT, s->to);
		if (!err)
			err = mt_top_path_print_end(&s->top, path, INDENT, s->view->width, s->to);
	}
	return err;
}

struct mt_error *mt_summary_growth_print(const struct mt_view *view, struct mt_table *growth,
					 FILE *to)
{
	MT_CLEANUP(section_deinit) struct section s = {.view = view, .to = to};
	struct mt_error *err = mt_top_paths_read(growth, mt_table_value(growth, "bytes"), &s.top);

	if (err || !s.top.items.count)
		return err;
	add_up(&s);
	print_total(&s);
	return print_paths(&s);
}

/* ---- Verdicts ---- */

/* A row of --verdict with its columns. */
struct verdict_columns {
	size_t process, verdict, grounds, stack, bytes, per_hour, confidence;
};

static struct mt_error *print_verdict(const struct mt_view *view, struct mt_table *table,
				      const struct mt_row *row, const struct verdict_columns *c,
				      FILE *to)
{
	struct mt_top_path path = {.who = (uint32_t)row->keys[c->process],
				   .stack = (uint32_t)row->keys[c->stack]};
	const struct mt_top_paths top = {.table = table};
	double per_hour = row->values[c->per_hour].value;
	char text[512], rate[64] = "", confidence[32] = "", indent[INDENT + 1];
	struct mt_error *err;

	fprintf(to, "  %9s  ", mt_text_bytes(row->values[c->bytes].value).text);
	err = mt_top_path_print(&top, &path, view->width - INDENT, to);
	if (err)
		return err;
	if (isfinite(per_hour) && per_hour >= 1)
		snprintf(rate, sizeof(rate), ", %s an hour", signed_bytes(per_hour).text);
	if (row->values[c->confidence].value > 0)
		snprintf(confidence, sizeof(confidence), ", confidence %.0f %%",
			 row->values[c->confidence].value);
	snprintf(text, sizeof(text), "%.40s%s%s: %.300s", mt_table_string(table, row, c->verdict),
		 rate, confidence, mt_table_string(table, row, c->grounds));
	snprintf(indent, sizeof(indent), "%*s", INDENT, "");
	mt_text_print_wrapped(indent, indent, text, view->width, to);
	return NULL;
}

struct mt_error *mt_summary_verdicts_print(const struct mt_view *view, struct mt_table *verdicts,
					   FILE *to)
{
	const struct verdict_columns columns = {
		.process = mt_table_key(verdicts, "process"),
		.verdict = mt_table_key(verdicts, "verdict"),
		.grounds = mt_table_key(verdicts, "rests-on"),
		.stack = mt_table_key_of_kind(verdicts, MT_KEY_STACK),
		.bytes = mt_table_value(verdicts, "bytes"),
		.per_hour = mt_table_value(verdicts, "per-hour"),
		.confidence = mt_table_value(verdicts, "confidence"),
	};
	struct mt_error *err = mt_table_rewind(verdicts);
	struct mt_row row;
	double first = 0;
	bool more;

	err = err ? err : mt_frames_resolve(verdicts->frames);
	for (size_t shown = 0; !err && shown < VERDICTS_SHOWN; shown++) {
		double bytes;

		err = mt_table_next(verdicts, &row, &more);
		bytes = err || !more ? 0 : row.values[columns.bytes].value;
		first = shown ? first : bytes;
		if (bytes <= 0 || bytes < WORTH_A_VERDICT * first)
			break;
		if (!shown)
			fputs("\nverdict  on the paths that hold most\n", to);
		err = print_verdict(view, verdicts, &row, &columns, to);
	}
	return err;
}
