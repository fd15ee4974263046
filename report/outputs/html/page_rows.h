/*
 * The rows of one table for the page: sorted, so that they compress, and in coarser intervals where
 * there are more rows than a browser sums up at once.
 */
#ifndef MT_REPORT_OUTPUTS_HTML_PAGE_ROWS_H
#define MT_REPORT_OUTPUTS_HTML_PAGE_ROWS_H

struct mt_error;
struct mt_named_table;
struct mt_page_data;
struct mt_places;

/* Writes the table's rows as columns, and an object of the JSON that describes them. */
struct mt_error *mt_page_rows_write(const struct mt_named_table *named, struct mt_places *places,
				    struct mt_page_data *data);

#endif
