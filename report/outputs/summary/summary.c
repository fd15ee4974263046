/*
 * --summary: one screenful: the recording's origin, event counts, losses, the functions and paths
 * with most of them, and suggested next commands.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/outputs/call_tree.h"
#include "report/outputs/headline.h"
#include "report/outputs/name_advice.h"
#include "report/outputs/outputs.h"
#include "report/outputs/summary/summary_growth.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/stacks/tree.h"
#include "report/sums/sum_table.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

MT_DEFINE_CLEANUP(mt_paths, struct mt_paths)
MT_DEFINE_CLEANUP(mt_tree, struct mt_tree)

enum {
	EVENTS_SHOWN = 8,	 /* in the table of events */
	TREES_SHOWN = 3,	 /* events whose stacks are shown */
	TREE_LINES = 20,	 /* shared among them */
	TREES_BESIDE_GROWTH = 1, /* where there is more to say of memory than how often */
	TREE_LINES_BESIDE_GROWTH = 6,
	FUNCTIONS_SHOWN = 4,
	COMMS_SHOWN = 5,
	NOTES_SHOWN = 4,
};

/* A named sum; of an event, a thread name or a function. */
struct sum {
	uint32_t name; /* string id */
	const char *text, *where;
	double value;
	const char *unit; /* of an event that was only counted, beside another's samples; or NULL */
	const char *file; /* that the function is in, or NULL */
	uint32_t line;	  /* 0: several */
};

typedef MT_ARRAY(struct sum) sums;

struct summary {
	const struct mt_view *view;
	struct mt_table *table;
	FILE *to;
	sums events, comms, functions;
	MT_ARRAY(uint32_t) folded; /* names of one path */
	struct mt_name_advice advice;
	double total;
	size_t event_column, comm_column, stack_column;
};

static void summary_deinit(struct summary *s)
{
	mt_array_deinit(&s->events);
	mt_array_deinit(&s->comms);
	mt_array_deinit(&s->functions);
	mt_array_deinit(&s->folded);
}

/* The widest text is a function; few sums, so a search is enough. */
static struct sum *add_sum(sums *to, uint32_t name, const char *text, const char *where,
			   double value)
{
	struct sum *sum;

	for (size_t i = 0; i < to->count; i++) {
		if (to->items[i].name == name && to->items[i].where == where) {
			to->items[i].value += value;
			return &to->items[i];
		}
	}
	sum = mt_array_push(to);
	if (sum)
		*sum = (struct sum){.name = name, .text = text, .where = where, .value = value};
	return sum;
}

static int compare_sums(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (!x->unit != !y->unit)
		return x->unit ? 1 : -1;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return strcmp(x->text, y->text);
}

static void sort_sums(sums *sorted)
{
	if (sorted->count)
		qsort(sorted->items, sorted->count, sizeof(*sorted->items), compare_sums);
}

/* ---- Head ---- */

static void print_fit(const struct summary *s, const char *text, size_t width)
{
	char fit[1024];

	mt_text_fit(text, width, fit, sizeof(fit));
	fputs(fit, s->to);
}

static void print_field(const struct summary *s, const char *key, const char *text)
{
	fprintf(s->to, "%-9s", key);
	print_fit(s, text, s->view->width - 9);
	fputc('\n', s->to);
}

static void print_recording(const struct summary *s, const struct mt_facts_recording *r)
{
	const char *host = mt_facts_info(r, "host"), *kernel = mt_facts_info(r, "kernel"),
		   *cpus = mt_facts_info(r, "cpus");
	char line[512];
	size_t used;

	used = (size_t)snprintf(line, sizeof(line), "%s: %s", r->file,
				mt_text_duration((double)(r->end - r->start) / 1e9).text);
	if (host && used < sizeof(line))
		used += (size_t)snprintf(line + used, sizeof(line) - used, " on %s", host);
	if (r->start_utc && used < sizeof(line))
		snprintf(line + used, sizeof(line) - used, ", %s", mt_text_date(r->start_utc).text);
	print_field(s, "file", line);
	if (kernel) {
		snprintf(line, sizeof(line), "Linux %s %s%s%s%s", kernel,
			 mt_facts_info(r, "arch") ?: "", cpus ? ", " : "", cpus ? cpus : "",
			 cpus ? (strcmp(cpus, "1") ? " CPUs" : " CPU") : "");
		print_field(s, "host", line);
	}
	if (mt_facts_info(r, "command"))
		print_field(s, "command", mt_facts_info(r, "command"));
}

static void print_head(const struct summary *s)
{
	const struct mt_facts *facts = s->view->facts;
	size_t shown = facts->recordings.count > 3 ? 2 : facts->recordings.count;

	for (size_t i = 0; i < shown; i++)
		print_recording(s, &facts->recordings.items[i]);
	if (shown < facts->recordings.count)
		fprintf(s->to, "         and %zu more recordings\n",
			facts->recordings.count - shown);
}

/* ---- Events ---- */

static const struct mt_facts_event *facts_of(const struct summary *s, enum mt_event_role role,
					     const char *alias)
{
	for (size_t i = 0; i < s->view->facts->events.count; i++) {
		const struct mt_facts_event *event = &s->view->facts->events.items[i];

		if (event->role == role && !strcmp(event->alias, alias))
			return event;
	}
	return NULL;
}

/*
 * What was counted of an event that has no samples, only counts beside another's; NULL of one with
 * samples, and where the analysis counts other things than samples: there all events are alike.
 */
static const char *unit_beside(const struct summary *s, const char *alias)
{
	const struct mt_facts_event *member = facts_of(s, MT_ROLE_MEMBER, alias);
	bool samples = !strcmp(s->table->values[s->view->value].unit, "samples");

	return samples && member && !facts_of(s, MT_ROLE_SAMPLE, alias) ? member->unit : NULL;
}

/* What was lost of an event; "?" where losses are known of which nobody said whose they are. */
static struct mt_snippet event_lost(const struct summary *s, const struct mt_facts_event *event)
{
	uint64_t all = mt_facts_lost_all(s->view->facts), told = 0;

	for (size_t i = 0; i < s->view->facts->events.count; i++)
		told += s->view->facts->events.items[i].lost;
	if (event && (event->lost || told >= all))
		return mt_text_count((double)event->lost);
	return (struct mt_snippet){"?"};
}

static void print_events(const struct summary *s)
{
	double seconds = mt_facts_seconds(s->view->facts);
	size_t shown = s->events.count > EVENTS_SHOWN ? EVENTS_SHOWN : s->events.count;

	fprintf(s->to, "\n%-24s %14s %12s %10s\n", "event", s->table->values[s->view->value].name,
		"a second", "lost");
	for (size_t i = 0; i < shown; i++) {
		const struct sum *sum = &s->events.items[i];
		const struct mt_facts_event *event = facts_of(s, MT_ROLE_SAMPLE, sum->text);
		char name[64];
		size_t width = mt_text_fit(sum->text, 24, name, sizeof(name));

		fprintf(s->to, "%s%*s %14s %12s %10s\n", name, (int)(24 - width), "",
			mt_text_count(sum->value).text,
			seconds > 0 ? mt_text_count(sum->value / seconds).text : "-",
			sum->unit ? "-" : event_lost(s, event).text);
	}
	if (shown < s->events.count)
		fprintf(s->to, "and %zu more events\n", s->events.count - shown);
}

/* ---- What is uncertain ---- */

__attribute__((format(printf, 2, 3))) static void print_warning(const struct summary *s,
								const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	mt_text_print_wrapped("! ", "  ", text, s->view->width, s->to);
}

static void print_losses(const struct summary *s)
{
	const struct mt_facts *facts = s->view->facts;
	uint64_t lost = mt_facts_lost_all(facts), throttled = mt_facts_throttled(facts);
	char text[400];

	if (lost)
		print_warning(s,
			      "%s records were lost while recording (%s): "
			      "the counts are too low by up to that. "
			      "Record with a larger ring (-m).",
			      mt_text_count((double)lost).text,
			      mt_text_percent((double)lost, (double)(lost + facts->samples)).text);
	if (throttled)
		print_warning(s,
			      "The kernel throttled sampling %s times: the counts are too low by "
			      "what it left out, which nobody counted. Record at a lower rate.",
			      mt_text_count((double)throttled).text);
	for (size_t i = 0; i < facts->recordings.count; i++) {
		const struct mt_facts_recording *r = &facts->recordings.items[i];

		if (mt_facts_describe_damage(r, text, sizeof(text)))
			print_warning(s, "%s: %s.", r->file, text);
	}
	if ((double)facts->ends[MT_END_DUMP] > 0.005 * (double)facts->user_stacks)
		print_warning(s, "Dumps were too small: record with --call-graph dwarf,65528.");
	if ((double)facts->ends[MT_END_NO_ELF] > 0.005 * (double)facts->user_stacks)
		print_warning(s, "Files that stacks pass through are not at hand or have changed: "
				 "mtreport --info lists them.");
	if (facts->undecodable)
		print_warning(s, "%s record%s could not be decoded.",
			      mt_text_count((double)facts->undecodable).text,
			      facts->undecodable == 1 ? "" : "s");
	if (facts->kernel_problem)
		print_warning(s, "Kernel functions have no names: %s.", facts->kernel_problem);
}

static void warn_of_unseen(void *context, const char *sentence)
{
	print_warning(context, "%s.", sentence);
}

static void print_unseen(const struct summary *s)
{
	mt_facts_tell_unseen(s->view->facts, warn_of_unseen, (void *)s);
}

static void print_notes(const struct summary *s)
{
	size_t shown = 0;

	for (size_t i = 0; i < s->view->facts->recordings.count; i++) {
		const struct mt_facts_recording *r = &s->view->facts->recordings.items[i];

		for (size_t k = 0; k < r->notes.count && shown < NOTES_SHOWN; k++) {
			if (r->notes.items[k].level) {
				print_warning(s, "mtrec said: %s", r->notes.items[k].text);
				shown++;
			}
		}
	}
}

/* "dump too small 1.2 %, no CFI 0.3 %": the reasons that matter, most frequent first. */
static void list_ends(const struct mt_facts *facts, char *out, size_t size)
{
	bool done[MT_END_REASONS] = {[MT_END_ROOT] = true};
	size_t used = 0;

	*out = '\0';
	for (int round = 0; round < 3 && used < size; round++) {
		int most = -1;

		for (int i = 0; i < MT_END_REASONS; i++) {
			if (!done[i] && facts->ends[i] &&
			    (most < 0 || facts->ends[i] > facts->ends[most]))
				most = i;
		}
		if (most < 0)
			return;
		done[most] = true;
		used += (size_t)snprintf(out + used, size - used, "%s%s %s", used ? ", " : "",
					 mt_stack_end_name((enum mt_stack_end)most),
					 mt_text_percent((double)facts->ends[most],
							 (double)facts->user_stacks)
						 .text);
	}
}

static void print_completeness(const struct summary *s)
{
	const struct mt_facts *facts = s->view->facts;
	double all = (double)facts->user_stacks;
	char ends[256], line[400];

	if (!facts->user_stacks)
		return;
	list_ends(facts, ends, sizeof(ends));
	snprintf(line, sizeof(line), "%s of %s user stacks are complete%s%s",
		 mt_text_percent((double)facts->ends[MT_END_ROOT], all).text,
		 mt_text_count(all).text, *ends ? "; the others: " : "", ends);
	mt_text_print_wrapped("stacks   ", "         ", line, s->view->width, s->to);
}

/* ---- Threads and functions ---- */

static bool add_function(struct summary *s, const struct mt_headline *of, double value)
{
	const char *text = mt_strings_get(mt_frames_strings(s->table->frames), of->name);
	size_t known = s->functions.count;
	struct sum *sum = add_sum(&s->functions, of->name, text, of->dso, value);

	if (!sum)
		return false;
	if (s->functions.count > known) {
		sum->file = of->file;
		sum->line = of->line;
	} else if (sum->line != of->line) {
		sum->line = 0;
	}
	return true;
}

static bool add_headline(struct summary *s, uint32_t stack, double value)
{
	struct mt_headline headline;

	return mt_headline_of(s->table, stack, &headline) &&
	       mt_name_advice_see(&s->advice, s->table, stack, value) &&
	       (headline.name == MT_STRING_NONE || add_function(s, &headline, value));
}

static void print_functions(struct summary *s, double total)
{
	size_t shown = s->functions.count > FUNCTIONS_SHOWN ? FUNCTIONS_SHOWN : s->functions.count;

	if (!shown)
		return;
	fputs("\n  by function: " MT_HEADLINE_RULE "\n", s->to);
	for (size_t i = 0; i < shown; i++) {
		const struct sum *sum = &s->functions.items[i];
		size_t room = s->view->width > 60 ? s->view->width - 46 : 20, used;
		char name[512], place[80];

		mt_headline_place(sum->where, sum->file, sum->line, place);
		used = strlen(place) + 28;
		if (sum->file && used + room > s->view->width)
			room = s->view->width > used + 16 ? s->view->width - used : 16;
		mt_text_fit(sum->text, room, name, sizeof(name));
		fprintf(s->to, "  %9s %12s  %s  %s\n", mt_text_percent(sum->value, total).text,
			mt_text_count(sum->value).text, name, place);
	}
}

static void print_comms(const struct summary *s)
{
	size_t width = 9;

	if (s->comms.count < 2)
		return;
	fputs("threads  ", s->to);
	for (size_t i = 0; i < s->comms.count && i < COMMS_SHOWN; i++) {
		struct mt_snippet part = mt_text_percent(s->comms.items[i].value, s->total);
		char name[64];
		size_t need = mt_text_fit(s->comms.items[i].text, 16, name, sizeof(name)) +
			      strlen(part.text) + 3;

		if (width + need > s->view->width)
			break;
		width += need;
		fprintf(s->to, "%s%s %s", i ? ", " : "", name, part.text);
	}
	fprintf(s->to, "%s\n", s->comms.count > COMMS_SHOWN ? ", .." : "");
}

/* ---- One event's stacks ---- */

/* Adds the rows of one event to the tree and to the functions. */
static struct mt_error *take_event_rows(struct summary *s, uint32_t event, struct mt_paths *paths,
					struct mt_tree *tree)
{
	struct mt_error *err = mt_table_rewind(s->table);
	struct mt_row row;
	bool more = true;

	while (!err) {
		const char *comm;
		double value;
		uint32_t stack, path, first;
		size_t count;
		const uint32_t *names;

		err = mt_table_next(s->table, &row, &more);
		if (err || !more)
			return err;
		if (s->event_column != MT_COLUMN_NONE && row.keys[s->event_column] != event)
			continue;
		value = row.values[s->view->value].value;
		stack = (uint32_t)row.keys[s->stack_column];
		path = mt_paths_of(paths, stack);
		comm = mt_table_string(s->table, &row, s->comm_column);
		first = mt_strings_intern(mt_frames_strings(s->table->frames), comm, strlen(comm));
		if (path == MT_PATH_NONE || first == MT_STRING_NONE)
			return mt_error_nomem();
		names = mt_paths_get(paths, path, &count);
		if (!mt_array_reserve(&s->folded, count + 1) ||
		    !mt_headline_fold_jit(s->table, names, s->folded.items, &count) ||
		    !mt_tree_add(tree, first, s->folded.items, count, value) ||
		    !add_headline(s, stack, value))
			return mt_error_nomem();
	}
	return err;
}

static struct mt_error *print_event_stacks(struct summary *s, const struct sum *event,
					   struct mt_paths *paths, size_t lines)
{
	MT_CLEANUP(mt_tree_destroy_p)
	struct mt_tree *tree = mt_tree_create(mt_frames_strings(s->table->frames));
	struct mt_call_tree_options options = {
		.width = s->view->width, .utf8 = s->view->utf8, .lines = lines};
	struct mt_error *err;

	if (!tree)
		return mt_error_nomem();
	s->functions.count = 0;
	err = take_event_rows(s, event->name, paths, tree);
	if (err)
		return err;
	if (!mt_tree_sort(tree))
		return mt_error_nomem();
	sort_sums(&s->functions);
	fputc('\n', s->to);
	print_fit(s, event->text, 40);
	fprintf(s->to, ": %s %s%s", mt_text_count(event->value).text,
		event->unit ?: s->table->values[s->view->value].unit,
		event->unit ? ", counted beside the samples of another" : "");
	print_functions(s, event->value);
	fputs("\n  by path, from the root to where it happened\n", s->to);
	mt_call_tree_print(tree, &options, s->to);
	return NULL;
}

static struct mt_error *print_stacks(struct summary *s)
{
	MT_CLEANUP(mt_paths_destroy_p)
	struct mt_paths *paths = mt_paths_create(s->table->stacks, s->table->frames, false);
	size_t most = s->view->growth ? TREES_BESIDE_GROWTH : TREES_SHOWN;
	size_t shown = s->events.count > most ? most : s->events.count;
	struct mt_error *err = paths ? mt_frames_resolve(s->table->frames) : mt_error_nomem();

	for (size_t i = 0; i < shown && !err; i++)
		err = print_event_stacks(s, &s->events.items[i], paths,
					 s->view->growth ? TREE_LINES_BESIDE_GROWTH
							 : TREE_LINES / shown);
	return err;
}

/* ---- The whole ---- */

static struct mt_error *sum_rows(struct summary *s)
{
	struct mt_row row;
	bool more;

	for (;;) {
		struct mt_error *err = mt_table_next(s->table, &row, &more);
		double value;

		if (err || !more)
			return err;
		value = row.values[s->view->value].value;
		if (s->event_column != MT_COLUMN_NONE) {
			const char *alias = mt_table_string(s->table, &row, s->event_column);
			struct sum *event = add_sum(&s->events, (uint32_t)row.keys[s->event_column],
						    alias, NULL, value);

			if (!event)
				return mt_error_nomem();
			event->unit = unit_beside(s, alias);
			if (event->unit)
				continue;
		}
		s->total += value;
		if (s->comm_column != MT_COLUMN_NONE &&
		    !add_sum(&s->comms, (uint32_t)row.keys[s->comm_column],
			     mt_table_string(s->table, &row, s->comm_column), NULL, value))
			return mt_error_nomem();
	}
}

/* A word of a command, in quotes where a shell would see more in it. */
static void print_word(const struct summary *s, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_";

	if (*word && !word[strspn(word, plain)])
		fputs(word, s->to);
	else
		mt_text_print_quoted(word, s->to);
}

/*
 * One command to go on with: what it answers, options, the last one's word or NULL, the rest of the
 * line behind the file.
 */
static void print_command(const struct summary *s, const char *what, const char *options,
			  const char *word, const char *rest)
{
	const struct mt_facts *facts = s->view->facts;

	fprintf(s->to, "%-17s mtreport %s ", what, options);
	if (word) {
		print_word(s, word);
		fputc(' ', s->to);
	}
	if (facts->recordings.count == 1)
		print_word(s, facts->recordings.items[0].file);
	else
		fputs("FILE...", s->to);
	fprintf(s->to, "%s\n", rest);
}

static void print_next(const struct summary *s)
{
	bool several = s->events.count > 1;

	fputs("\nand next\n", s->to);
	print_command(s, "  flame graph", several ? "--folded -e" : "--folded",
		      several ? s->events.items[0].text : NULL, " > out.folded");
	if (s->view->growth) {
		print_command(s, "  what grew", "--growth", NULL, "");
		print_command(s, "  and stayed", "--outstanding", NULL, "");
		print_command(s, "  is it a leak", "--verdict", NULL, "");
	}
	if (s->comms.count > 1)
		print_command(s, "  one program", "--comm", s->comms.items[0].text, "");
	print_command(s, "  every sample", "--script", NULL, "");
	print_command(s, "  host, images", "--info", NULL, "");
}

static struct mt_error *write_summary(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	MT_CLEANUP(summary_deinit)
	struct summary s = {
		.view = view,
		.table = table,
		.to = to,
		.event_column = mt_table_key(table, "event"),
		.comm_column = mt_table_key(table, "comm"),
		.stack_column = mt_table_key_of_kind(table, MT_KEY_STACK),
	};
	struct mt_error *err = sum_rows(&s);

	if (err)
		return err;
	sort_sums(&s.events);
	sort_sums(&s.comms);
	print_head(&s);
	if (s.events.count)
		print_events(&s);
	fputc('\n', to);
	print_comms(&s);
	print_completeness(&s);
	print_losses(&s);
	print_unseen(&s);
	print_notes(&s);
	if (view->growth)
		err = mt_summary_growth_print(view, view->growth, to);
	if (!err && view->verdicts)
		err = mt_summary_verdicts_print(view, view->verdicts, to);
	if (!err && s.stack_column != MT_COLUMN_NONE)
		err = print_stacks(&s);
	mt_name_advice_print(&s.advice, "\n", view->width, to);
	if (!err && s.events.count)
		print_next(&s);
	return err;
}

const struct mt_output mt_output_summary = {
	.name = "summary",
	.help = "a screenful: counts, losses, functions, paths",
	.needs = MT_NEEDS_STACK | MT_TELLS_FACTS | MT_FOR_READERS,
	.write = write_summary,
};
