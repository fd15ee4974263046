/*
 * The headline of a stack: the function that a reader would ask about. It is the innermost function
 * of the program itself, else the innermost of its libraries, else the innermost of user space,
 * else the kernel's; functions of the runtime, wherever they are linked, are never the first two.
 */
#ifndef MT_REPORT_OUTPUTS_HEADLINE_H
#define MT_REPORT_OUTPUTS_HEADLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_table;

/* A line that says how it is chosen. */
#define MT_HEADLINE_RULE "the innermost of the program, else of its libraries"

struct mt_headline {
	uint32_t name;	   /* id in mt_frames_strings(); MT_STRING_NONE: the stack has no frames */
	const char *dso;   /* the image's recorded path; of JIT code without names the program's */
	const char *shown; /* the path to show in place of dso */
	const char *file;  /* or NULL */
	uint32_t line;	   /* 0: not known */
};

/* False out of memory. Needs resolved frames; borrows from the table. */
bool mt_headline_of(const struct mt_table *table, uint32_t stack, struct mt_headline *out);

/*
 * The headlines of stacks that are shown together. Where several have the same one, a helper that
 * they share, each gets the innermost function that fewest of the others have, of the same kind: of
 * the program, or of its libraries. Of two stacks that are alike up to where the shorter one ends,
 * none is told from the other: as of threads and of main. `out` has room for `count`. Likewise.
 */
bool mt_headlines_of(const struct mt_table *table, const uint32_t *stacks, size_t count,
		     struct mt_headline *out);

/*
 * "(grower)", and where lines are known "(grower, grower.cpp:62)"; without the line for 0, file
 * NULL: not known. Where that is wider than `room` columns less of the image's name, or none:
 * "(grower.cpp:62)".
 */
void mt_headline_place(const char *dso, const char *file, uint32_t line, size_t room, char out[80]);

/*
 * The names of a path with each run of frames that nothing names as one: of JIT code "JIT code" or
 * "JIT code x3", of one file "[libc.so.6]". Put into `room`, which is of *count; *count is then
 * theirs. False out of memory.
 */
bool mt_headline_fold_nameless(const struct mt_table *table, const uint32_t *names, uint32_t *room,
			       size_t *count);

#endif
