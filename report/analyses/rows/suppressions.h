/*
 * Suppressed paths: lines of LeakSanitizer's suppression files, and the blocks that each left out.
 */
#ifndef MT_REPORT_ANALYSES_ROWS_SUPPRESSIONS_H
#define MT_REPORT_ANALYSES_ROWS_SUPPRESSIONS_H

#include <stdbool.h>
#include <stdint.h>

struct mt_error;
struct mt_frames;
struct mt_stacks;
struct mt_suppressions;

/*
 * Reads lines of leak:PATTERN; blank lines and lines that begin with # are ignored. A usage error
 * names any other line, and a file over 1 MiB or 4,096 patterns.
 */
struct mt_error *mt_suppressions_read(const char *option, const char *path,
				      struct mt_suppressions **out);
void mt_suppressions_destroy(struct mt_suppressions *suppressions);

/*
 * Whether a pattern matches the function, source file or image of any frame of a stack; counts the
 * blocks left out by it. In a pattern * matches any text, ^ and $ match the beginning and the end;
 * otherwise a part is enough. NULL suppressions match nothing.
 */
bool mt_suppressions_match(struct mt_suppressions *suppressions, struct mt_frames *frames,
			   const struct mt_stacks *stacks, uint32_t stack, double blocks,
			   double bytes);

/* "40 blocks of 3.2 MB are left out by leak:cache_fill": one line for each that matched. */
void mt_suppressions_report(const struct mt_suppressions *suppressions,
			    void (*print)(void *context, const char *line), void *context);

#endif
