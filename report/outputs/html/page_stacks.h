/*
 * The stacks of the page as columns: texts, places and nodes, which the rows of all tables share.
 */
#ifndef MT_REPORT_OUTPUTS_HTML_PAGE_STACKS_H
#define MT_REPORT_OUTPUTS_HTML_PAGE_STACKS_H

struct mt_page_data;
struct mt_places;

/* Writes columns and their members of the JSON, without a comma behind the last. */
void mt_page_stacks_write(const struct mt_places *places, struct mt_page_data *data);

#endif
