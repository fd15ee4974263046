/* JSON of tables, for outputs that write several of them. */
#ifndef MT_REPORT_OUTPUTS_JSON_H
#define MT_REPORT_OUTPUTS_JSON_H

#include <stdio.h>

struct mt_error;
struct mt_facts;
struct mt_table;
struct mt_view;

/* Writes a string in quotes; invalid UTF-8 becomes U+FFFD. */
void mt_json_string(const char *text, FILE *to);

/*
 * Writes the members "analysis", "columns" and "rows" of an object, its rows within the
 * view's limit.
 */
struct mt_error *mt_json_table(const struct mt_view *view, struct mt_table *table, FILE *to);

/* Writes JSON text as one line: without its newlines and the indentation of its lines. */
void mt_json_line(const char *text, FILE *to);

/* Writes the members on samples and losses, and a newline. */
void mt_json_facts(const struct mt_facts *facts, FILE *to);

#endif
