/*
 * Suppressed paths: lines of LeakSanitizer's suppression files, and the blocks that each line left
 * out.
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
 * Reads lines of leak:PATTERN; blank lines and lines that begin with # are ignored. Any other line
 * is a usage error, and so is a file over 1 MiB or 4,096 patterns.
 */
struct mt_error *mt_suppressions_read(const char *option, const char *path,
				      struct mt_suppressions **out);
void mt_suppressions_destroy(struct mt_suppressions *suppressions);

/*
 * Whether a pattern matches the function, source file or image of any frame of a stack. Counts the
 * blocks that the pattern leaves out. In a pattern * matches any text, ^ and $ match the beginning
 * and the end; without these, a pattern may match any part. NULL suppressions match nothing.
 */
bool mt_suppressions_match(struct mt_suppressions *suppressions, struct mt_frames *frames,
			   const struct mt_stacks *stacks, uint32_t stack, double blocks,
			   double bytes);

/* Prints a line for each match: "40 blocks of 3.2 MB are left out by leak:cache_fill". */
void mt_suppressions_report(const struct mt_suppressions *suppressions,
			    void (*print)(void *context, const char *line), void *context);

#endif
