/*
 * Making a skeleton of an ELF file: what is left of it where only unwinding and naming are wanted
 * (FORMAT.md section 8 says what that is). A recording carries skeletons; mt_elf_open_skeleton()
 * reads them. The recorder uses this: no library behind it, and neither the file nor its skeleton
 * is ever in memory as a whole.
 */
#ifndef MT_SYMBOLS_SKELETON_H
#define MT_SYMBOLS_SKELETON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf.h"

struct mt_error;
struct mt_seen_code;
struct mt_skeleton;

struct mt_skeleton_wish {
	bool names, unwind, lines;
	bool no_calls; /* unwind without the list of calls, which only joined stacks need */
	/* NULL: of all functions; else of those alone in which these places lie. Borrowed. */
	const struct mt_seen_code *seen;
	/* NULL, or what other skeletons have, to be merged with this one. Borrowed. */
	const struct mt_seen_code *seen_before;
};

/*
 * Told before bytes of a file are looked at, so that they need not be there all the time: what it
 * was told of last has to stay until the next time. What is looked at without being told of: the
 * headers, section names, and notes.
 */
struct mt_skeleton_input {
	void *context;
	void (*need)(void *context, const uint8_t *bytes, size_t size);
	/* NULL, or copies bytes that it was not told of: of a few among many that costs less. */
	void (*copy)(void *context, const uint8_t *bytes, size_t size, uint8_t *to);
};

/* Tells it that so many of a span's bytes are about to be looked at; input may be NULL. */
void mt_skeleton_input_need(const struct mt_skeleton_input *input, struct mt_span span, size_t at,
			    size_t size);

/*
 * The bytes of a span from `at` on, all of which are in it: where they are, or in the buffer, which
 * has room for so many. They hold until the next time it is told of some.
 */
const uint8_t *mt_skeleton_input_look(const struct mt_skeleton_input *input, struct mt_span span,
				      size_t at, size_t size, uint8_t *buffer);

/* Takes the next bytes of the skeleton; false ends the writing. */
struct mt_skeleton_output {
	void *context;
	bool (*put)(void *context, const uint8_t *bytes, size_t size);
};

/*
 * Plans the skeleton of elf. debug: its debug file, where .symtab and debug information are taken
 * from that elf itself does not have; or NULL. input: NULL where all is in memory. All of them are
 * borrowed until the skeleton is destroyed.
 */
struct mt_error *mt_skeleton_create(struct mt_elf *elf, struct mt_elf *debug,
				    const struct mt_skeleton_wish *wish,
				    const struct mt_skeleton_input *input,
				    struct mt_skeleton **out);
void mt_skeleton_destroy(struct mt_skeleton *skeleton);

/* Bytes of it. */
uint64_t mt_skeleton_size(const struct mt_skeleton *skeleton);

/* Writes that many bytes, unless memory or the output ends it; false then. */
bool mt_skeleton_write(struct mt_skeleton *skeleton, const struct mt_skeleton_output *output);

/* All of it at once, of files in memory; *out is the caller's to free. */
struct mt_error *mt_skeleton_make(struct mt_elf *elf, struct mt_elf *debug,
				  const struct mt_skeleton_wish *wish, uint8_t **out, size_t *size);

#endif
