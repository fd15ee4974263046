/*
 * The headline of a stack: the function that a reader would ask about. It is the innermost function
 * of the program itself, else the innermost of its libraries, else the innermost of user space,
 * else the kernel's. Functions of the runtime, wherever they are linked, are never chosen as the
 * first two.
 */
#ifndef MT_REPORT_OUTPUTS_HEADLINE_H
#define MT_REPORT_OUTPUTS_HEADLINE_H

#include <stddef.h>
#include <stdint.h>

struct mt_table;

/* A line that explains the choice. */
#define MT_HEADLINE_RULE "the innermost of the program, else of its libraries"

struct mt_headline {
	uint32_t name;	   /* id in mt_frames_strings(); MT_STRING_NONE: the stack has no frames */
	const char *dso;   /* the image's recorded path; of JIT code without names the program's */
	const char *shown; /* the path to show in place of dso */
	const char *file;  /* or NULL */
	uint32_t line;	   /* 0: not known */
};

/* The headline of a stack, whose frames must be resolved. Borrows from the table. */
struct mt_headline mt_headline_of(const struct mt_table *table, uint32_t stack);

/*
 * The headlines of stacks that are shown together. If several have the same headline, such as a
 * shared helper, each gets the function that the fewest others have, the innermost of these. It is
 * of the same kind: of the program, or of its libraries. Two stacks that agree up to the end of the
 * shorter one are not distinguished, for example those of threads and of main. `out` has room for
 * `count`.
 */
void mt_headlines_of(const struct mt_table *table, const uint32_t *stacks, size_t count,
		     struct mt_headline *out);

/*
 * Writes the place of a headline: "(grower)", or if lines are known "(grower, grower.cpp:62)";
 * without the line if it is 0; file NULL: unknown. If the text is wider than `room` columns, the
 * image's name is shortened or left out: "(grower.cpp:62)".
 */
void mt_headline_place(const char *dso, const char *file, uint32_t line, size_t room, char out[80]);

/*
 * The names of a path, with consecutive nameless frames as one name: of JIT code "JIT code" or "JIT
 * code x3", of one file "[libc.so.6]". Stores *count names in `room`, which has room for as many as
 * the path has; updates *count.
 */
void mt_headline_fold_nameless(const struct mt_table *table, const uint32_t *names, uint32_t *room,
			       size_t *count);

#endif
