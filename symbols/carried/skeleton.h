/*
 * Makes a skeleton of an ELF file: the parts that unwinding and naming need (FORMAT.md section 8).
 * A recording carries skeletons; mt_elf_open_skeleton() reads them. For the recorder: needs no
 * library, and never holds the whole file or skeleton in memory.
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
	/* borrowed; NULL: all functions; otherwise only functions with these places */
	const struct mt_seen_code *seen;
};

/* The MT_KEPT_* bits of a wish. */
uint32_t mt_skeleton_kept(const struct mt_skeleton_wish *wish);

/* Receives the next bytes of the skeleton; if it returns false, writing stops. */
struct mt_skeleton_output {
	void *context;
	bool (*put)(void *context, const uint8_t *bytes, size_t size);
};

/*
 * Plans the skeleton of elf. `debug` is its debug file, for .symtab and debug information that elf
 * lacks, or NULL; `input` is NULL if all bytes are in memory. Borrows all of them until the
 * skeleton is destroyed.
 */
struct mt_error *mt_skeleton_create(struct mt_elf *elf, struct mt_elf *debug,
				    const struct mt_skeleton_wish *wish,
				    const struct mt_elf_input *input, struct mt_skeleton **out);
void mt_skeleton_destroy(struct mt_skeleton *skeleton);

/* The size of the skeleton in bytes. */
uint64_t mt_skeleton_size(const struct mt_skeleton *skeleton);

/* Writes mt_skeleton_size() bytes; false if memory ran out or the output stopped. */
bool mt_skeleton_write(struct mt_skeleton *skeleton, const struct mt_skeleton_output *output);

/* Writes mt_skeleton_size() bytes to memory, which the caller frees. NULL out of memory. */
uint8_t *mt_skeleton_bytes(struct mt_skeleton *skeleton);

/* Plans and writes in one step, from files in memory. The caller frees *out. */
struct mt_error *mt_skeleton_make(struct mt_elf *elf, struct mt_elf *debug,
				  const struct mt_skeleton_wish *wish, uint8_t **out, size_t *size);

#endif
