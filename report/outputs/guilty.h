/*
 * Chooses the function to name for a stack: the innermost outside the kernel and the system's
 * libraries, else the innermost in user code, else the innermost.
 */
#ifndef MT_REPORT_OUTPUTS_GUILTY_H
#define MT_REPORT_OUTPUTS_GUILTY_H

#include <stdbool.h>
#include <stdint.h>

struct mt_frame_name;
struct mt_table;

/*
 * Sets *out to NULL for a stack without frames. The frames must be resolved. False out of memory.
 */
bool mt_guilty_function(const struct mt_table *table, uint32_t stack,
			const struct mt_frame_name **out);

/*
 * Writes "(grower)", with a source file "(grower, grower.cpp:62)". `file` may be NULL; line 0 is
 * left out.
 */
void mt_guilty_place(const char *dso, const char *file, uint32_t line, char out[80]);

#endif
