/*
 * The data of the page: columns of numbers and texts, then JSON that says where each column begins,
 * all compressed as gzip does and written in base64. data.js reads it:
 *
 *	column	numbers in LEB128, signed ones in zigzag; doubles in 8 bytes; texts, each with its
 *		length in front
 *	JSON	one object; a column is [its first byte, its number of items]
 *	end	the length of the JSON, 4 bytes, little-endian
 */
#ifndef MT_REPORT_OUTPUTS_HTML_PAGE_DATA_H
#define MT_REPORT_OUTPUTS_HTML_PAGE_DATA_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct mt_error;
struct mt_named_table;
struct mt_page_data;
struct mt_places;

/* Creates empty data. The caller destroys it. */
struct mt_page_data *mt_page_data_create(void);
void mt_page_data_destroy(struct mt_page_data *data);

/* The stream to write the JSON to, without the outermost braces. */
FILE *mt_page_data_json(struct mt_page_data *data);

/* Begins a column, which ends where the next one begins, as the JSON "name":[at,count]. */
void mt_page_data_column(struct mt_page_data *data, const char *name, size_t count);

/* Add one item to the current column. */
void mt_page_data_number(struct mt_page_data *data, uint64_t number);
void mt_page_data_signed(struct mt_page_data *data, int64_t number);
void mt_page_data_double(struct mt_page_data *data, double number);
void mt_page_data_text(struct mt_page_data *data, const char *text);

/* Ends the data and writes them. Call once. */
void mt_page_data_write(struct mt_page_data *data, FILE *to);

/*
 * Writes a table's rows as columns, and an object of the JSON that describes them. Rows are sorted,
 * so that they compress, and have coarser intervals if there are too many for a browser to sum up.
 */
struct mt_error *mt_page_rows_write(const struct mt_named_table *named, struct mt_places *places,
				    struct mt_page_data *data);

#endif
