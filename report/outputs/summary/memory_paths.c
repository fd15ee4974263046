/* The summary's paths: what they hold, and whether that is a leak. */
#include <math.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/outputs/outputs.h"
#include "report/outputs/summary/summary_parts.h"
#include "report/outputs/top_paths.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/table.h"

enum {
	PATHS_SHOWN = 4,
	VERDICTS_SHOWN = 3,
	INDENT = 13, /* of a path below its figure */
};

/* A path that holds less than this part of the heaviest one is not shown. */
#define WORTH_SHOWING 0.02
#define WORTH_A_VERDICT 0.05

/* What stands for the stack of memory that is on no path's account. */
static const char *words_of(const struct mt_top_paths *top, const struct mt_top_path *path)
{
	size_t count;
	const uint32_t *names = mt_paths_get(top->paths, path->path, &count);

	return count ? mt_strings_get(mt_frames_strings(top->table->frames), names[0]) : "";
}

/* Says where memory came from that no path is known for. */
static void print_words(const struct mt_summary *s, const struct mt_top_paths *top)
{
	static const struct {
		const char *words, *text;
	} kinds[] = {
		{MT_FRAME_STACKLESS, "by calls that were recorded without a stack"},
		{"[lost]", "by calls whose records were lost"},
		{NULL, "appeared outside the recorded calls (exec, stacks, shared memory)"},
	};
	double sums[sizeof(kinds) / sizeof(kinds[0])] = {0};
	double most = top->items.count ? fabs(top->items.items[0].values[top->weight].value) : 0;

	for (size_t i = 0; i < top->items.count; i++) {
		const struct mt_top_path *path = &top->items.items[i];
		const char *words = path->words ? words_of(top, path) : NULL;
		size_t kind = 0;

		while (words && kinds[kind].words && strcmp(kinds[kind].words, words) != 0)
			kind++;
		if (words)
			sums[kind] += path->values[top->weight].value;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (sums[i] && fabs(sums[i]) >= WORTH_SHOWING * most)
			fprintf(s->to, "  %9s  %s\n", mt_summary_signed(sums[i]).text,
				kinds[i].text);
	}
}

static struct mt_error *print_paths(const struct mt_summary *s, const struct mt_top_paths *top,
				    const char *title)
{
	struct mt_error *err = NULL;
	double most = 0;
	size_t shown = 0;

	for (size_t i = 0; i < top->items.count && shown < PATHS_SHOWN && !err; i++) {
		const struct mt_top_path *path = &top->items.items[i];
		double bytes = path->values[top->weight].value;

		if (path->words || bytes <= 0 || bytes < WORTH_SHOWING * most)
			continue;
		if (!shown++)
			fprintf(s->to, "\n%s\n", title);
		most = bytes > most ? bytes : most;
		fprintf(s->to, "  %9s  ", mt_summary_signed(bytes).text);
		err = mt_top_path_print(top, path, s->view->width - INDENT, s->to);
		if (!err)
			err = mt_top_path_print_end(top, path, INDENT, s->view->width, s->to);
	}
	return err;
}

struct mt_error *mt_summary_print_paths(const struct mt_summary *s)
{
	MT_CLEANUP(mt_top_paths_deinit) struct mt_top_paths top = {0};
	struct mt_table *table = s->resident ?: s->growth;
	const char *title = s->resident ? "BY WHICH PATH (touched, still held)"
					: "BY WHICH PATH (mapped, still held)";
	struct mt_error *err = mt_top_paths_read(table, mt_table_value(table, "bytes"), &top);

	err = err ? err : print_paths(s, &top, title);
	if (!err && !s->resident)
		print_words(s, &top);
	return err;
}

/* ---- Verdicts ---- */

/* A row of --verdict with its columns. */
struct verdict_columns {
	size_t process, verdict, grounds, stack, bytes, per_hour;
};

/* "10 MB a second", "3.2 MB an hour". */
static void describe_rate(double per_hour, char *out, size_t size)
{
	double a_second = per_hour / 3600, rate = a_second;
	const char *unit = "a second";

	if (fabs(a_second) < 1 << 20) {
		rate = fabs(a_second) * 60 < 1 << 20 ? per_hour : a_second * 60;
		unit = fabs(a_second) * 60 < 1 << 20 ? "an hour" : "a minute";
	}
	snprintf(out, size, ", %s %s", mt_summary_signed(rate).text, unit);
}

static struct mt_error *print_verdict(const struct mt_summary *s, const struct mt_row *row,
				      const struct verdict_columns *c)
{
	struct mt_table *table = s->verdict;
	struct mt_top_path path = {.who = (uint32_t)row->keys[c->process],
				   .stack = (uint32_t)row->keys[c->stack]};
	const struct mt_top_paths top = {.table = table};
	double per_hour = row->values[c->per_hour].value;
	char text[512], rate[80] = "", indent[INDENT + 1];
	struct mt_error *err;

	fprintf(s->to, "  %9s  ", mt_text_bytes(row->values[c->bytes].value).text);
	err = mt_top_path_print(&top, &path, s->view->width - INDENT, s->to);
	if (err)
		return err;
	if (isfinite(per_hour) && fabs(per_hour) >= 1)
		describe_rate(per_hour, rate, sizeof(rate));
	snprintf(text, sizeof(text), "%.60s%s: %.300s", mt_table_string(table, row, c->verdict),
		 rate, mt_table_string(table, row, c->grounds));
	snprintf(indent, sizeof(indent), "%*s", INDENT, "");
	mt_text_print_wrapped(indent, indent, text, s->view->width, s->to);
	return NULL;
}

struct mt_error *mt_summary_print_verdicts(const struct mt_summary *s)
{
	struct mt_table *table = s->verdict;
	struct mt_error *err = table ? mt_table_rewind(table) : NULL;
	struct verdict_columns columns;
	struct mt_row row;
	double most = 0;
	bool more;

	if (!table || err)
		return err;
	columns = (struct verdict_columns){
		.process = mt_table_key(table, "process"),
		.verdict = mt_table_key(table, "verdict"),
		.grounds = mt_table_key(table, "rests-on"),
		.stack = mt_table_key_of_kind(table, MT_KEY_STACK),
		.bytes = mt_table_value(table, "bytes"),
		.per_hour = mt_table_value(table, "per-hour"),
	};
	err = mt_frames_resolve(table->frames);
	for (size_t shown = 0; !err && shown < VERDICTS_SHOWN; shown++) {
		double bytes;

		err = mt_table_next(table, &row, &more);
		bytes = err || !more ? 0 : row.values[columns.bytes].value;
		most = shown ? most : bytes;
		if (bytes <= 0 || bytes < WORTH_A_VERDICT * most)
			break;
		if (!shown)
			fputs("\nIS IT A LEAK?\n", s->to);
		err = print_verdict(s, &row, &columns);
	}
	return err;
}
