/*
 * --summary: one screen. It shows which processes grew, on which path, whether that is a leak, and
 * what the recording lacks. For a recording without facts on memory it shows which events occurred,
 * how often, and where.
 */
#include <string.h>
#include <time.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/outputs/outputs.h"
#include "report/outputs/summary/counts.h"
#include "report/outputs/summary/summary_parts.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

MT_DEFINE_CLEANUP(mt_counts, struct mt_counts)
MT_DEFINE_CLEANUP(mt_memory_paths, struct mt_memory_paths)

/* ---- The first line ---- */

/* "b.mtr   28.2 s on vm, 2 CPUs, 23 Nov 19:47". */
static void describe_recording(const struct mt_facts_recording *r, char *out, size_t size)
{
	const char *host = mt_facts_info(r, "host"), *cpus = mt_facts_info(r, "cpus");
	size_t used = (size_t)snprintf(out, size, "%s   %s",
				       strcmp(r->file, "-") ? r->file : "standard input",
				       mt_text_duration((double)(r->end - r->start) / 1e9).text);

	if (host && used < size)
		used += (size_t)snprintf(out + used, size - used, " on %s", host);
	if (cpus && used < size)
		used += (size_t)snprintf(out + used, size - used, ", %s CPU%s", cpus,
					 strcmp(cpus, "1") ? "s" : "");
	if (r->start_utc && used < size) {
		time_t start = (time_t)(r->start_utc / 1000000000);
		struct tm utc;
		char date[32] = "";

		if (gmtime_r(&start, &utc))
			strftime(date, sizeof(date), ", %-d %b %H:%M", &utc);
		snprintf(out + used, size - used, "%s", date);
	}
}

/* "0 lost, 99.0 % whole stacks". */
static void describe_quality(const struct mt_facts *facts, char *out, size_t size)
{
	size_t used = (size_t)snprintf(out, size, "%s lost",
				       mt_text_count((double)mt_facts_lost_all(facts)).text);

	if (facts->user_stacks && used < size)
		snprintf(out + used, size - used, ", %s whole stacks",
			 mt_text_percent((double)mt_facts_named_whole(facts),
					 (double)facts->user_stacks)
				 .text);
}

/* The quality is at the right of the first line, or below it if there is no room. */
static void print_head(const struct mt_summary *s)
{
	const struct mt_facts *facts = s->view->facts;
	size_t shown = facts->recordings.count > 3 ? 2 : facts->recordings.count;
	char line[512], quality[128];
	size_t width = s->view->width, used;

	describe_quality(facts, quality, sizeof(quality));
	for (size_t i = 0; i < shown; i++) {
		describe_recording(&facts->recordings.items[i], line, sizeof(line));
		used = mt_text_fit(line, width, line, sizeof(line));
		fputs(line, s->to);
		if (i)
			fputc('\n', s->to);
		else if (used + strlen(quality) + 2 <= width)
			fprintf(s->to, "%*s\n", (int)(width - used), quality);
		else
			fprintf(s->to, "\n        %s\n", quality);
	}
	if (shown < facts->recordings.count)
		fprintf(s->to, "and %zu more recordings\n", facts->recordings.count - shown);
}

/* ---- For all blocks ---- */

#define BOLD "\033[1m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

void mt_summary_print_heading(const struct mt_summary *s, const char *heading)
{
	fprintf(s->to, "%s%s%s", s->view->colour ? BOLD : "", heading,
		s->view->colour ? PLAIN : "");
}

void mt_summary_print_alongside(const struct mt_summary *s, const char *heading, const char *text)
{
	bool colour = s->view->colour;
	char first[40];

	snprintf(first, sizeof(first), "%s%-8s%s   ", colour ? BOLD : "", heading,
		 colour ? PLAIN : "");
	mt_text_print_wrapped(first, "           ", text, s->view->width, s->to);
}

void mt_summary_print_growth(const struct mt_summary *s, double bytes)
{
	bool colour = s->view->colour && bytes > 0;

	fprintf(s->to, "%s%9s%s", colour ? YELLOW : "", mt_summary_signed(bytes).text,
		colour ? PLAIN : "");
}

void mt_summary_row(const struct mt_summary *s, const struct mt_summary_row *row)
{
	if (s->view->on_row)
		s->view->on_row(s->view->on_row_context, row);
}

size_t mt_summary_group(const struct mt_table *table)
{
	static const char *const names[] = {"image", "cgroup", "container"};
	size_t column = MT_COLUMN_NONE;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && column == MT_COLUMN_NONE; i++)
		column = mt_table_key(table, names[i]);
	return column;
}

bool mt_summary_has_allocations(const struct mt_summary *s)
{
	const struct mt_facts *facts = s->view->facts;

	for (size_t i = 0; i < facts->events.count; i++) {
		if (*facts->events.items[i].account)
			return true;
	}
	return false;
}

bool mt_summary_is_empty(const struct mt_summary *s)
{
	return !s->view->facts->selected && !s->view->facts->marks;
}

/* ---- The summary ---- */

static struct mt_error *print_memory(const struct mt_summary *s)
{
	MT_CLEANUP(mt_memory_paths_destroy_p) struct mt_memory_paths *paths = NULL;
	struct mt_error *err = mt_memory_paths_read(s, &paths);

	err = err ? err : mt_summary_print_growers(s, paths);
	if (!err)
		mt_memory_paths_print(s, paths);
	return err;
}

static struct mt_error *print_counts(const struct mt_summary *s)
{
	fputc('\n', s->to);
	mt_counts_print_events(s->counts, s->to);
	return mt_counts_print_stacks(s->counts, s->to);
}

static struct mt_error *write_summary(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	MT_CLEANUP(mt_counts_destroy_p) struct mt_counts *counts = NULL;
	struct mt_error *err = mt_counts_read(view, table, &counts);
	const struct mt_summary s = {
		.view = view,
		.to = to,
		.counts = counts,
		.host = mt_view_alongside(view, "host"),
		.processes = mt_view_alongside(view, "processes"),
		.blocks = mt_view_alongside(view, "blocks"),
		.resident = mt_view_alongside(view, "resident"),
		.growth = mt_view_alongside(view, "growth"),
		.verdict = mt_view_alongside(view, "verdict"),
	};

	if (err)
		return err;
	/* A recording without facts on memory, grouped with --by: the table of sums is printed. */
	if (!s.growth && !s.resident && !s.blocks &&
	    mt_table_key_of_kind(table, MT_KEY_STACK) == MT_COLUMN_NONE)
		return mt_output_write(&mt_output_table, view, table, to);
	/*
	 * Selectors that match nothing are an error, which main prints: no first line precedes it.
	 */
	if (view->selected && mt_summary_is_empty(&s) && view->facts->samples && !view->gauged)
		return NULL;
	print_head(&s);
	err = mt_summary_print_host(&s);
	mt_summary_print_notes(&s);
	if (!err && mt_summary_is_empty(&s))
		err = view->gauged ? mt_summary_print_growers(&s, NULL) : NULL;
	else if (!err)
		err = s.growth || s.resident || s.blocks ? print_memory(&s) : print_counts(&s);
	return err ? err : mt_summary_print_next(&s);
}

const struct mt_output mt_output_summary = {
	.name = "summary",
	.help = "one screen: who grew, on which path, is it a leak",
	.needs = MT_LIKES_STACK | MT_REPORTS_FACTS | MT_SHOWS_MEMORY | MT_FOR_READERS,
	.write = write_summary,
};
