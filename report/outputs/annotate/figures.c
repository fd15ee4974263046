/* Adds and prints the figures of one place. */
#include "report/outputs/annotate/figures.h"

#include "report/tables/text.h"

void mt_annotate_add(struct mt_annotate_figures *figures, const struct mt_annotate_part *part)
{
	if (part->self)
		figures->self += part->value;
	if (figures->row == part->row)
		return;
	figures->row = part->row;
	figures->through += part->value;
	figures->count += part->count;
}

void mt_annotate_print(const struct mt_annotate_figures *figures, double total, bool counted,
		       FILE *to)
{
	if (!figures) {
		fprintf(to, "%15s %15s %7s %9s", "", "", "", "");
		return;
	}
	fprintf(to, "%15s %15s %7s %9s", mt_text_count(figures->self).text,
		mt_text_count(figures->through).text, mt_text_percent(figures->through, total).text,
		counted ? mt_text_count(figures->count).text : "-");
}
