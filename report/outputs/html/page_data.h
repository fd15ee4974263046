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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct mt_page_data;

/* NULL out of memory. */
struct mt_page_data *mt_page_data_create(void);
void mt_page_data_destroy(struct mt_page_data *data);

/* The stream that takes the JSON, but for the braces around it. */
FILE *mt_page_data_json(struct mt_page_data *data);

/* Begins a column, which lasts until the next one begins, as the JSON "name":[at,count]. */
void mt_page_data_column(struct mt_page_data *data, const char *name, size_t count);

/* Adds one item to the column. */
void mt_page_data_number(struct mt_page_data *data, uint64_t number);
void mt_page_data_signed(struct mt_page_data *data, int64_t number);
void mt_page_data_double(struct mt_page_data *data, double number);
void mt_page_data_text(struct mt_page_data *data, const char *text);

/* Ends the data and writes them. Call once. False out of memory. */
bool mt_page_data_write(struct mt_page_data *data, FILE *to);

#endif
