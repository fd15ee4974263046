/* The summary's notes on the causes of uncertain figures. */
#include <stdarg.h>
#include <stdio.h>

#include "report/outputs/outputs.h"
#include "report/outputs/summary/summary_parts.h"
#include "report/tables/facts.h"
#include "report/tables/text.h"

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

/* If nothing matched at all, an error says so. */
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

/* Notes after the first NOTES_SHOWN are only counted. */
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

void mt_summary_print_notes(const struct mt_summary *s)
{
	struct printing printing = {.summary = s};

	mt_summary_notes(s, print_note, &printing);
	if (printing.notes > NOTES_SHOWN)
		fprintf(s->to, "  and %zu more: mtreport --info\n", printing.notes - NOTES_SHOWN);
}
