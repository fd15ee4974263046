/*
 * What the page says of the recordings beside its tables: where they come from, why stacks end,
 * what was lost when, the course of time, and the command line that asks for the same.
 */
#ifndef MT_REPORT_OUTPUTS_HTML_PAGE_FACTS_H
#define MT_REPORT_OUTPUTS_HTML_PAGE_FACTS_H

#include <stdio.h>

struct mt_error;
struct mt_view;

/* Writes members of a JSON object, without a comma behind the last. */
struct mt_error *mt_page_facts_put(const struct mt_view *view, FILE *json);

#endif
