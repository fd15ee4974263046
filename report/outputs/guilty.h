/*
 * Whom a reader would ask first about a stack: the innermost function outside the kernel and the
 * system's libraries, else the innermost of the user's, else of all.
 */
#ifndef MT_REPORT_OUTPUTS_GUILTY_H
#define MT_REPORT_OUTPUTS_GUILTY_H

#include <stdbool.h>
#include <stdint.h>

struct mt_frame_name;
struct mt_table;

/* False out of memory; *out is NULL for a stack without frames. Needs resolved frames. */
bool mt_guilty_function(const struct mt_table *table, uint32_t stack,
			const struct mt_frame_name **out);

/*
 * "(grower)", and where lines are known "(grower, grower.cpp:62)"; without the line for 0, file
 * NULL: not known.
 */
void mt_guilty_place(const char *dso, const char *file, uint32_t line, char out[80]);

#endif
