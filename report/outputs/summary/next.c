/* The summary's end: what the recording cannot tell, and commands to go on with. */
#include <stdbool.h>
#include <string.h>

#include "formats/base/err.h"
#include "report/outputs/outputs.h"
#include "report/outputs/summary/counts.h"
#include "report/outputs/summary/summary_parts.h"
#include "report/tables/facts.h"

enum {
	INDENT = 11, /* of a command */
};

/* What has to stand in quotes for a shell. */
static bool is_quoted(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_";

	return !*word || word[strspn(word, plain)];
}

/* A word of a command behind a blank, or on a line of its own where that has no room for it. */
static size_t print_word(const struct mt_summary *s, const char *word, size_t used)
{
	size_t columns = 1 + mt_text_columns(word) + (is_quoted(word) ? 2 : 0);

	if (used + columns > s->view->width) {
		fprintf(s->to, " \\\n%*s", INDENT + 3, "");
		used = INDENT + 3;
	}
	fputc(' ', s->to);
	if (is_quoted(word))
		mt_text_print_quoted(word, s->to);
	else
		fputs(word, s->to);
	return used + columns;
}

/* What stands for the recordings in a command: standard input cannot be read again. */
static const char *file_word(const struct mt_facts *facts)
{
	if (facts->recordings.count != 1)
		return "FILE...";
	return strcmp(facts->recordings.items[0].file, "-") != 0 ? facts->recordings.items[0].file
								 : "FILE";
}

/* One command to go on with: what stands before it, options, the last one's word or NULL. */
static void print_command(const struct mt_summary *s, const char *what, const char *options,
			  const char *word)
{
	size_t used = INDENT + strlen("mtreport ") + strlen(options);

	mt_summary_print_heading(s, what);
	fprintf(s->to, "%*smtreport %s", INDENT - (int)strlen(what), "", options);
	if (word)
		used = print_word(s, word, used);
	print_word(s, file_word(s->view->facts), used + 2);
	fputc('\n', s->to);
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

/* Whether calls of allocators were recorded. */
static bool has_blocks(const struct mt_summary *s)
{
	const struct mt_facts *facts = s->view->facts;

	for (size_t i = 0; i < facts->events.count; i++) {
		if (*facts->events.items[i].account)
			return true;
	}
	return false;
}

/* What nobody recorded, and would have answered. */
static struct mt_error *print_unseen(const struct mt_summary *s)
{
	const char *memory = !has_event(s, "rss_stat") && !has_event(s, "faults")
				     ? "which pages are in use (mtrec -e vm,rss)"
			     : !s->growth ? "what is mapped (mtrec -e vm,rss)"
					  : "";
	const char *blocks = has_blocks(s) ? "" : "malloc and free (mtrec -e malloc)";
	char said[120];

	snprintf(said, sizeof(said), "%s%s%s", blocks, *blocks && *memory ? "; " : "", memory);
	return mt_summary_print_nameless(s, "NOT SEEN", said);
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
		print_command(s, what, options, NULL);
		what = "";
	}
	snprintf(options, sizeof(options), "--%s --flamegraph out.svg",
		 s->blocks     ? "blocks"
		 : s->resident ? "resident"
			       : "growth");
	print_command(s, what, options, NULL);
	if (s->growth || s->resident)
		print_command(s, "", s->growth ? "--outstanding" : "--resident", NULL);
	if (has_blocks(s))
		print_command(s, "", "--leaks", NULL);
	return NULL;
}

static void print_after_counts(const struct mt_summary *s)
{
	const char *thread = mt_counts_thread(s->counts);

	fputc('\n', s->to);
	if (mt_counts_event(s->counts, 1))
		print_command(s, "NEXT", "--flamegraph out.svg -e", mt_counts_event(s->counts, 0));
	else
		print_command(s, "NEXT", "--flamegraph out.svg", NULL);
	if (thread)
		print_command(s, "", "--comm", thread);
	print_command(s, "", has_blocks(s) ? "--blocks" : "--script", NULL);
}

struct mt_error *mt_summary_print_next(const struct mt_summary *s)
{
	const struct mt_facts *facts = s->view->facts;

	if (s->host && !facts->samples && !facts->marks)
		print_command(s, "NEXT", "--host", NULL);
	if (!facts->selected && !facts->marks)
		return NULL;
	if (s->growth || s->resident || s->blocks)
		return print_after_memory(s);
	if (mt_counts_event(s->counts, 0))
		print_after_counts(s);
	return NULL;
}
