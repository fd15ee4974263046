/*
 * The summary's end: what the recording lacks, including names of JIT code and of files without
 * symbols, and commands to continue with.
 */
#include <stdbool.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/memory.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/name_advice.h"
#include "report/outputs/summary/summary_parts.h"
#include "report/stacks/code_class.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"

enum {
	INDENT = 11,	    /* of a command */
	FILES_MOST = 3,	    /* that a command names */
	NAMELESS_MOST = 64, /* files that are counted separately */
};

/* A file whose frames have a smaller part of the weight is not counted. */
#define LEAST_SHARE 0.01

struct nameless_file {
	const char *path;
	double weight;
};

struct nameless {
	struct mt_name_advice advice;
	struct nameless_file files[NAMELESS_MOST];
	size_t count;
};

static void add_file(struct nameless *nameless, const char *path, double weight)
{
	size_t i = 0;

	while (i < nameless->count && strcmp(nameless->files[i].path, path) != 0)
		i++;
	if (i == NAMELESS_MOST)
		return;
	if (i == nameless->count)
		nameless->files[nameless->count++] = (struct nameless_file){.path = path};
	nameless->files[i].weight += weight;
}

static void see_stack(struct nameless *nameless, const struct mt_table *table, uint32_t stack,
		      double weight)
{
	const char *last = NULL;
	size_t depth, count;
	const uint32_t *ids = mt_stacks_get(table->stacks, stack, &depth);

	for (size_t i = 0; i < depth; i++) {
		const struct mt_frame_name *name = mt_frames_names(table->frames, ids[i], &count);

		if (name->resolved || *name->dso != '/' || mt_is_made_code(name->dso) ||
		    (last && !strcmp(last, name->dso)))
			continue;
		last = name->dso;
		add_file(nameless, last, weight);
	}
	mt_name_advice_see(&nameless->advice, table, stack, weight);
}

static struct mt_error *see_table(struct nameless *nameless, struct mt_table *table)
{
	size_t stack = mt_table_key_of_kind(table, MT_KEY_STACK);
	size_t bytes = mt_table_value(table, "bytes");
	struct mt_error *err = mt_table_rewind(table);
	struct mt_row row;

	mt_frames_resolve(table->frames);
	while (mt_table_read(table, &row, &err)) {
		if (row.values[bytes].value > 0)
			see_stack(nameless, table, (uint32_t)row.keys[stack],
				  row.values[bytes].value);
	}
	return err;
}

static size_t count_files(const struct nameless *nameless)
{
	size_t files = 0;

	for (size_t i = 0; i < nameless->count; i++)
		files += nameless->files[i].weight >= LEAST_SHARE * nameless->advice.all;
	return files;
}

static struct mt_error *print_nameless(const struct mt_summary *s, const char *heading,
				       const char *blocks, const char *said)
{
	struct nameless nameless = {0};
	struct mt_error *err = see_table(&nameless, s->blocks ?: s->resident ?: s->growth);
	size_t files, used;
	char text[240], label[12];

	if (!mt_name_advice_has_blocks(&nameless.advice))
		blocks = "";
	if (err || (!*said && !*blocks && !nameless.count && !nameless.advice.count))
		return err;
	files = count_files(&nameless);
	used = (size_t)snprintf(text, sizeof(text), "%s%s%s", blocks, *blocks && *said ? "; " : "",
				said);
	if (files)
		snprintf(text + used, sizeof(text) - used,
			 "%sthe functions of %zu file%s have no names (mtreport --info)",
			 used ? "; " : "", files, files == 1 ? "" : "s");
	fputc('\n', s->to);
	if (*text)
		mt_summary_print_alongside(s, heading, text);
	snprintf(label, sizeof(label), "%-8s   ", *text ? "" : heading);
	mt_name_advice_print(&nameless.advice, "", label, s->view->width, s->to);
	return NULL;
}

/* True if the word has characters that need quotes in a shell. */
static bool is_quoted(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_";

	return !*word || word[strspn(word, plain)];
}

/* The columns of a word and the blank before it. */
static size_t columns_of(const char *word)
{
	return 1 + mt_text_columns(word) + (is_quoted(word) ? 2 : 0);
}

/* Continues on a new line after " \\" if this one lacks the columns. Returns the columns used. */
static size_t make_room(const struct mt_summary *s, size_t columns, size_t used)
{
	if (used + columns + 2 <= s->view->width)
		return used;
	fprintf(s->to, " \\\n%*s", INDENT + 3, "");
	return INDENT + 3;
}

static size_t print_word(const struct mt_summary *s, const char *word, size_t used)
{
	used = make_room(s, columns_of(word), used);
	fputc(' ', s->to);
	if (is_quoted(word))
		mt_text_print_quoted(word, s->to);
	else
		fputs(word, s->to);
	return used + columns_of(word);
}

static size_t print_files(const struct mt_summary *s, size_t used)
{
	const struct mt_facts *facts = s->view->facts;
	bool many = facts->recordings.count > FILES_MOST;

	for (size_t i = 0; !many && i < facts->recordings.count; i++)
		used = print_word(s, facts->recordings.items[i].file, used);
	return many ? print_word(s, "FILE...", used) : used;
}

/* Prints an option that was given, in a form to type again. */
static size_t print_given(const struct mt_summary *s, const struct mt_given_option *given,
			  size_t used)
{
	const char *value = given->attached ? NULL : given->value;
	MT_CLEANUP_FREE char *option =
		given->letter ? mt_format("-%c", given->letter)
			      : mt_format("--%s%s%s", given->name, given->attached ? "=" : "",
					  given->attached ? given->value : "");
	used = make_room(s, columns_of(option) + (value ? columns_of(value) : 0), used);
	used = print_word(s, option, used);
	return value ? print_word(s, value, used) : used;
}

/*
 * Prints one command to continue with: its beginning, its options, the value of the last option, if
 * any, and the options given, except the one that this command narrows. The purpose of the command
 * follows as a shell comment.
 */
static void print_narrowed(const struct mt_summary *s, const char *what, const char *options,
			   const char *word, const char *narrows, const char *shows)
{
	size_t used = INDENT + strlen("mtreport ") + strlen(options);

	mt_summary_print_heading(s, what);
	fprintf(s->to, "%*smtreport %s", INDENT - (int)strlen(what), "", options);
	if (word)
		used = print_word(s, word, used);
	for (size_t i = 0; i < s->view->given_count; i++) {
		const struct mt_given_option *given = &s->view->given[i];

		if (!narrows || strcmp(given->name, narrows) != 0)
			used = print_given(s, given, used);
	}
	used = print_files(s, used);
	make_room(s, strlen("# ") + strlen(shows), used);
	fprintf(s->to, "  # %s\n", shows);
}

static void print_command(const struct mt_summary *s, const char *what, const char *options,
			  const char *shows)
{
	print_narrowed(s, what, options, NULL, NULL, shows);
}

static bool has_event(const struct mt_summary *s, const char *part)
{
	const struct mt_facts *facts = s->view->facts;

	for (size_t i = 0; i < facts->events.count; i++) {
		if (strstr(facts->events.items[i].name, part))
			return true;
	}
	return false;
}

/* Whether calls that map memory were recorded without their stacks. */
static bool has_marks_only(const struct mt_summary *s)
{
	const struct mt_facts *facts = s->view->facts;
	bool marks = false;

	for (size_t i = 0; i < facts->events.count; i++) {
		const struct mt_facts_event *event = &facts->events.items[i];

		if (!strstr(event->name, "exit_mmap"))
			continue;
		if (event->role == MT_ROLE_SAMPLE)
			return false;
		marks |= event->role == MT_ROLE_MARK;
	}
	return marks;
}

/* Prints which events were not recorded, and what they would have shown. */
static struct mt_error *print_unseen(const struct mt_summary *s)
{
	const char *memory = !has_event(s, "rss_stat") && !has_event(s, "faults")
				     ? "which pages are in use (mtrec -e vm,rss)"
			     : !s->growth	       ? "what is mapped (mtrec -e vm,rss)"
			     : !has_event(s, "munmap") ? "what is given back (mtrec -e vm,rss)"
			     : has_marks_only(s) ? "by which path mmap is called (mtrec -e vm,rss)"
						 : "";
	const char *blocks =
		mt_summary_has_allocations(s) ? "" : "malloc and free (mtrec -e malloc)";

	return print_nameless(s, "NOT SEEN", blocks, memory);
}

static struct mt_error *print_after_memory(const struct mt_summary *s)
{
	struct mt_error *err = print_unseen(s);
	const char *what = "NEXT";
	char options[64];
	long pid;

	if (err)
		return err;
	if (mt_summary_grower(s, &pid)) {
		snprintf(options, sizeof(options), "-p %ld", pid);
		print_narrowed(s, what, options, NULL, "pid", "that process alone");
		what = "";
	}
	snprintf(options, sizeof(options), "--%s --flamegraph out.svg",
		 s->blocks     ? "blocks"
		 : s->resident ? "resident"
			       : "growth");
	print_command(s, what, options, "a flame graph");
	if (s->growth || s->resident)
		print_command(s, "", s->growth ? "--outstanding" : "--resident",
			      s->growth ? "mappings still held" : "all paths");
	if (mt_summary_has_allocations(s))
		print_command(s, "", "--leaks", "all verdicts on blocks");
	return NULL;
}

static void print_after_counts(const struct mt_summary *s)
{
	const char *thread = mt_counts_thread(s->counts);

	fputc('\n', s->to);
	if (mt_counts_event(s->counts, 1))
		print_narrowed(s, "NEXT", "--flamegraph out.svg -e", mt_counts_event(s->counts, 0),
			       "event", "a flame graph");
	else
		print_command(s, "NEXT", "--flamegraph out.svg", "a flame graph");
	if (thread)
		print_narrowed(s, "", "--comm", thread, "comm", "that thread alone");
	if (mt_summary_has_allocations(s))
		print_command(s, "", "--blocks", "live blocks by path");
	else
		print_command(s, "", "--script", "each event");
}

struct mt_error *mt_summary_print_next(const struct mt_summary *s)
{
	const struct mt_facts *facts = s->view->facts;
	struct mt_error *err = NULL;

	if (mt_summary_is_empty(s)) {
		if (s->view->gauged)
			fputc('\n', s->to);
		if (facts->samples && s->view->gauged)
			print_command(s, "NEXT", "--processes", "sizes of all processes");
		else if (s->host && !facts->samples)
			print_command(s, "NEXT", "--host", "memory of the host");
		return NULL;
	}
	if (s->growth || s->resident || s->blocks)
		err = print_after_memory(s);
	else if (mt_counts_event(s->counts, 0))
		print_after_counts(s);
	if (!err && mt_view_alongside(s->view, "victims"))
		print_command(s, "", "--oom", "who was killed, and why");
	return err;
}
