/* Lines and questions that the parts of the summary share. */
#include <math.h>
#include <stdio.h>

#include "report/outputs/outputs.h"
#include "report/outputs/summary/summary_parts.h"
#include "report/tables/facts.h"
#include "report/tables/text.h"

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

struct mt_snippet mt_summary_signed(double bytes)
{
	struct mt_snippet size = mt_text_bytes(fabs(bytes)), out;

	snprintf(out.text, sizeof(out.text), "%c%.40s", bytes < 0 ? '-' : '+', size.text);
	return out;
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
