/*
 * --summary: one screen. It shows which processes grew, on which path, whether that is a leak, and
 * what the recording lacks. For a recording without facts on memory it shows which events occurred,
 * how often, and where.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "formats/base/cleanup.h"
#include "report/outputs/outputs.h"
#include "report/outputs/summary/summary_parts.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

MT_DEFINE_CLEANUP(mt_counts, struct mt_counts)
MT_DEFINE_CLEANUP(mt_memory_paths, struct mt_memory_paths)

/* ---- The first line ---- */

/* Writes "b.mtr   28.2 s on vm, 2 CPUs, 23 Nov 19:47". */
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

/* Writes "0 lost, 99.0 % whole stacks". */
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

/* ---- The host ---- */

struct gauge {
	bool known;
	double before, now;
};

/* Reads the values of some rows by their names. */
static struct mt_error *read_gauges(struct mt_table *host, const char *const *names,
				    struct gauge *out, size_t count)
{
	struct mt_error *err = mt_table_rewind(host);
	struct mt_row row;

	while (mt_table_read(host, &row, &err)) {
		for (size_t i = 0; i < count; i++) {
			if (!strcmp(names[i], mt_table_text(host, &row, "gauge")))
				out[i] = (struct gauge){true, mt_table_figure(host, &row, "before"),
							mt_table_figure(host, &row, "now")};
		}
	}
	return err;
}

enum {
	AVAILABLE,
	SWAP_TOTAL,
	SWAP_FREE,
	PRESSURE,
	OOM_KILLS,
	SHARED,
	GAUGES
};

enum {
	VICTIMS_SHOWN = 2,
};

#define WORTH_SAYING ((double)(16 << 20)) /* any host varies by this much */

/* Prints "available 21.3 -> 20.7 GB", "0 -> 1.2 GB", or one figure if they are equal. */
static void print_change(const char *what, double before, double now, FILE *to)
{
	struct mt_snippet from = mt_text_bytes(before), until = mt_text_bytes(now);
	char *unit = strchr(from.text, ' '), *unit_now = strchr(until.text, ' ');

	fprintf(to, "%s ", what);
	if (strcmp(from.text, until.text) != 0) {
		if (unit && unit_now && (!before || !strcmp(unit, unit_now)))
			*unit = '\0';
		fprintf(to, "%s -> ", from.text);
	}
	fputs(now ? until.text : "0", to);
}

/* Prints growth of files in memory, which no process is charged for unless it maps them. */
static void print_shared(const struct mt_summary *s, const struct gauge *shared)
{
	if (shared->known && shared->now - shared->before >= WORTH_SAYING)
		fprintf(s->to,
			"shared  %s: files in memory (tmpfs, /dev/shm, memfd), mapped or not\n",
			mt_summary_signed(shared->now - shared->before).text);
}

/* Prints "        OOM-killed: java 4711 (peak 412.3 MB), and 2 others" */
static struct mt_error *print_victims(const struct mt_summary *s, struct mt_table *victims)
{
	size_t pid = mt_table_key(victims, "pid"), others = 0;
	struct mt_error *err = mt_table_rewind(victims);
	struct mt_row row;
	char name[64];

	for (size_t i = 0; mt_table_read(victims, &row, &err); i++) {
		double peak = mt_table_figure(victims, &row, "peak");

		if (i >= VICTIMS_SHOWN) {
			others++;
			continue;
		}
		mt_text_fit(mt_table_text(victims, &row, "process"), 16, name, sizeof(name));
		fprintf(s->to, "%s %s", i ? "," : "        OOM-killed:", name);
		if (row.keys[pid] != UINT64_MAX)
			fprintf(s->to, " %" PRIu64, row.keys[pid]);
		if (peak > 0)
			fprintf(s->to, " (peak %s)", mt_text_bytes(peak).text);
	}
	if (others)
		fprintf(s->to, ", and %zu other%s", others, others == 1 ? "" : "s");
	fputc('\n', s->to);
	return err;
}

/* Prints which processes were OOM-killed, or how to record that: gauges only count kills. */
static struct mt_error *print_kills(const struct mt_summary *s, const struct gauge *kills)
{
	const struct mt_facts *facts = s->view->facts;
	struct mt_table *victims = mt_view_alongside(s->view, "victims");
	bool recorded = false;

	if (victims)
		return print_victims(s, victims);
	for (size_t i = 0; i < facts->events.count; i++)
		recorded |= !strcmp(facts->events.items[i].name, "oom:mark_victim");
	if (!recorded && kills->known && kills->now > kills->before)
		fputs("        what was OOM-killed is not seen: mtrec -e oom,vm,rss -a\n", s->to);
	return NULL;
}

static struct mt_error *print_host(const struct mt_summary *s)
{
	static const char *const names[GAUGES] = {
		[AVAILABLE] = "meminfo MemAvailable", [SWAP_TOTAL] = "meminfo SwapTotal",
		[SWAP_FREE] = "meminfo SwapFree",     [PRESSURE] = "pressure memory some",
		[OOM_KILLS] = "vmstat oom_kill",      [SHARED] = "meminfo Shmem",
	};
	struct gauge g[GAUGES] = {0};
	double seconds = mt_facts_seconds(s->view->facts);
	struct mt_error *err = s->host ? read_gauges(s->host, names, g, GAUGES) : NULL;

	if (err)
		return err;
	if (!g[AVAILABLE].known)
		return print_kills(s, &g[OOM_KILLS]);
	fputs("host    ", s->to);
	print_change("available", g[AVAILABLE].before, g[AVAILABLE].now, s->to);
	if (g[SWAP_TOTAL].known && g[SWAP_FREE].known)
		print_change("   swap", g[SWAP_TOTAL].before - g[SWAP_FREE].before,
			     g[SWAP_TOTAL].now - g[SWAP_FREE].now, s->to);
	if (g[PRESSURE].known && seconds > 0)
		fprintf(s->to, "   pressure %.0f %%",
			(g[PRESSURE].now - g[PRESSURE].before) / seconds / 1e4);
	if (g[OOM_KILLS].known)
		fprintf(s->to, "   OOM kills %s",
			mt_text_count(g[OOM_KILLS].now - g[OOM_KILLS].before).text);
	fputc('\n', s->to);
	print_shared(s, &g[SHARED]);
	return print_kills(s, &g[OOM_KILLS]);
}

/* ---- Notes ---- */

enum {
	NOTES_SHOWN = 3,
};

struct notes {
	const struct mt_view *view;
	void (*put)(void *context, const char *note);
	void *context;
};

__attribute__((format(printf, 2, 3))) static void print_warning(struct notes *s, const char *format,
								...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	s->put(s->context, text);
}

/* Warns if only gauges matched. If nothing matched at all, an error says so. */
static void print_empty(struct notes *s)
{
	const struct mt_facts *facts = s->view->facts;

	if (s->view->gauged && !facts->selected && !facts->marks)
		print_warning(s, facts->samples ? "no samples of the selection"
						: "no samples in this recording");
}

static void print_losses(struct notes *s)
{
	const struct mt_facts *facts = s->view->facts;
	uint64_t lost = mt_facts_lost_all(facts), throttled = mt_facts_throttled(facts);
	char text[400];

	if (lost)
		print_warning(
			s, "%s records (%s) were lost: figures are too low by up to that; mtrec -m",
			mt_text_count((double)lost).text,
			mt_text_percent((double)lost, (double)(lost + facts->samples)).text);
	if (throttled)
		print_warning(
			s, "the kernel throttled sampling %s times, uncounted: sample less often",
			mt_text_count((double)throttled).text);
	for (size_t i = 0; i < facts->recordings.count; i++) {
		const struct mt_facts_recording *r = &facts->recordings.items[i];

		if (!mt_facts_describe_damage(r, text, sizeof(text)))
			continue;
		if (facts->recordings.count > 1)
			print_warning(s, "%s: %s", r->file, text);
		else
			print_warning(s, "%s", text);
	}
	if ((double)(facts->ends[MT_END_DUMP] - facts->entry_ends[MT_END_DUMP]) >
	    0.005 * (double)facts->user_stacks)
		print_warning(s, "stack dumps were too small: mtrec --call-graph dwarf,65528");
	if ((double)facts->ends[MT_END_NO_ELF] > 0.005 * (double)facts->user_stacks)
		print_warning(s,
			      "files of stacks are not at hand, or have changed: mtreport --info");
	if (facts->undecodable)
		print_warning(s, "%s record%s could not be decoded",
			      mt_text_count((double)facts->undecodable).text,
			      facts->undecodable == 1 ? "" : "s");
	if (facts->kernel_problem)
		print_warning(s, "no kernel names: %s", facts->kernel_problem);
}

static void warn_of_unseen(void *context, const char *sentence)
{
	print_warning(context, "%s", sentence);
}

static void print_unseen(struct notes *s)
{
	mt_facts_report_unseen(s->view->facts, warn_of_unseen, s);
}

static void print_said(struct notes *s)
{
	for (size_t i = 0; i < s->view->facts->recordings.count; i++) {
		const struct mt_facts_recording *r = &s->view->facts->recordings.items[i];

		for (size_t k = 0; k < r->notes.count; k++) {
			if (r->notes.items[k].level)
				print_warning(s, "mtrec: %s", r->notes.items[k].text);
		}
	}
}

void mt_summary_notes(const struct mt_summary *s, void (*put)(void *context, const char *note),
		      void *context)
{
	struct notes notes = {.view = s->view, .put = put, .context = context};

	print_empty(&notes);
	print_losses(&notes);
	print_unseen(&notes);
	print_said(&notes);
}

/* Notes printed so far; after the first NOTES_SHOWN, notes are only counted. */
struct printing {
	const struct mt_summary *summary;
	size_t notes; /* so far */
};

static void print_note(void *context, const char *note)
{
	struct printing *printing = context;

	if (printing->notes++ < NOTES_SHOWN)
		mt_text_print_wrapped("! ", "  ", note, printing->summary->view->width,
				      printing->summary->to);
}

static void print_notes(const struct mt_summary *s)
{
	struct printing printing = {.summary = s};

	mt_summary_notes(s, print_note, &printing);
	if (printing.notes > NOTES_SHOWN)
		fprintf(s->to, "  and %zu more: mtreport --info\n", printing.notes - NOTES_SHOWN);
}

/* ---- The summary ---- */

static struct mt_error *print_memory(const struct mt_summary *s)
{
	MT_CLEANUP(mt_memory_paths_destroy_p) struct mt_memory_paths *paths = NULL;
	struct mt_error *err = mt_memory_paths_read(s, &paths);

	err = err ? err : mt_summary_print_growers(s, mt_memory_paths_has, paths);
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
	 * Selectors that match nothing are an error, which main prints. So no first line is
	 * printed.
	 */
	if (view->selected && mt_summary_is_empty(&s) && view->facts->samples && !view->gauged)
		return NULL;
	print_head(&s);
	err = print_host(&s);
	print_notes(&s);
	if (!err && mt_summary_is_empty(&s))
		err = view->gauged ? mt_summary_print_growers(&s, NULL, NULL) : NULL;
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
