/*
 * The stacks of the page: places (a function, its file and line, its image) and the tree of paths
 * from the root through them, which the rows of all tables share.
 */
#ifndef MT_REPORT_OUTPUTS_HTML_PAGE_STACKS_H
#define MT_REPORT_OUTPUTS_HTML_PAGE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_page_data;
struct mt_page_stacks;
struct mt_table;

#define MT_PAGE_NONE UINT32_MAX

/* NULL out of memory. */
struct mt_page_stacks *mt_page_stacks_create(void);
void mt_page_stacks_destroy(struct mt_page_stacks *stacks);

/* The id of a text, made printable; MT_PAGE_NONE out of memory. */
uint32_t mt_page_stacks_text(struct mt_page_stacks *stacks, const char *text);

/*
 * The node at the end of a stack's path, 0 for a stack without frames. The table says whose stacks
 * and frames the id belongs to; its frames are named. MT_PAGE_NONE out of memory.
 */
uint32_t mt_page_stacks_node(struct mt_page_stacks *stacks, const struct mt_table *table,
			     uint32_t stack);

/* The text of an id, borrowed. */
const char *mt_page_stacks_get(const struct mt_page_stacks *stacks, uint32_t text);

/* The file (id of its text, "" if unknown) and line of place i; false past the last. */
bool mt_page_stacks_line(const struct mt_page_stacks *stacks, size_t i, uint32_t *file,
			 uint32_t *line);

/* Writes texts, places and nodes as columns, and their members of the JSON. */
void mt_page_stacks_write(const struct mt_page_stacks *stacks, struct mt_page_data *data);

#endif
