/*
 * Making a skeleton of an ELF file: what is left of it where only unwinding and naming are wanted
 * (FORMAT.md section 8 says what that is). A recording carries skeletons; mt_elf_open_skeleton()
 * reads them. The recorder uses this: no library behind it, and neither the file nor its skeleton
 * is ever in memory as a whole.
 */
#ifndef MT_SYMBOLS_CARRIED_SKELETON_H
#define MT_SYMBOLS_CARRIED_SKELETON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf/elf.h"

struct mt_error;
struct mt_seen_code;
struct mt_elf_input;
struct mt_skeleton;

struct mt_skeleton_wish {
	bool names, unwind, lines;
	/* NULL: of all functions; else of those alone in which these places lie. Borrowed. */
	const struct mt_seen_code *seen;
};

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
				    const struct mt_elf_input *input, struct mt_skeleton **out);
void mt_skeleton_destroy(struct mt_skeleton *skeleton);

/* Bytes of it. */
uint64_t mt_skeleton_size(const struct mt_skeleton *skeleton);

/* Writes that many bytes, unless memory or the output ends it; false then. */
bool mt_skeleton_write(struct mt_skeleton *skeleton, const struct mt_skeleton_output *output);

/* All of it at once, of files in memory; *out is the caller's to free. */
struct mt_error *mt_skeleton_make(struct mt_elf *elf, struct mt_elf *debug,
				  const struct mt_skeleton_wish *wish, uint8_t **out, size_t *size);

#endif
