/*
 * The code that a process made itself, as its jitdump tells: which piece stood at an address at
 * some time, its name, its lines and its unwind tables. Code comes to addresses where other code
 * was before; each such moment begins an era, within which an address means one thing.
 */
#ifndef MT_SYMBOLS_JIT_JITDUMP_INDEX_H
#define MT_SYMBOLS_JIT_JITDUMP_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf/elf.h"

struct mt_jitdump;

#define MT_JITDUMP_NONE UINT32_MAX

/* A piece of code; borrowed from the bytes. */
struct mt_jitdump_code {
	uint64_t start, size;
	const char *name;
};

/*
 * Borrows the bytes, of a file or as a recording carries it, until destroyed. *ahead is what the
 * caller's clock is before the file's; NULL: not known, then an address means what it meant last.
 * NULL out of memory.
 */
struct mt_jitdump *mt_jitdump_create(const uint8_t *bytes, size_t size, const int64_t *ahead);
void mt_jitdump_destroy(struct mt_jitdump *dump);

/* How many pieces of code there are, and how many could not be kept, as there are too many. */
size_t mt_jitdump_count(const struct mt_jitdump *dump);
size_t mt_jitdump_left_out(const struct mt_jitdump *dump);

/* Whether its times are told on the caller's clock: else an address means what it meant last. */
bool mt_jitdump_is_timed(const struct mt_jitdump *dump);

/* Whether some of it has lines, or unwind tables. */
bool mt_jitdump_has_lines(const struct mt_jitdump *dump);
bool mt_jitdump_has_unwind(const struct mt_jitdump *dump);

/* The era of a time, counted from 0, and when it ends; UINT64_MAX: it is the last. */
uint32_t mt_jitdump_era(const struct mt_jitdump *dump, uint64_t time);
uint64_t mt_jitdump_era_end(const struct mt_jitdump *dump, uint32_t era);

/*
 * The number of what stands at an address in an era, or MT_JITDUMP_NONE. What was told only later,
 * where nothing else had been, counts: compilers write down what may run already.
 */
uint32_t mt_jitdump_find(const struct mt_jitdump *dump, uint32_t era, uint64_t address);

/* Name and place of a piece of code. */
void mt_jitdump_get(const struct mt_jitdump *dump, uint32_t code, struct mt_jitdump_code *out);

/* File and line of the code at an offset; NULL where they are not told. */
const char *mt_jitdump_line(const struct mt_jitdump *dump, uint32_t code, uint64_t offset,
			    uint32_t *line);

/*
 * A place in a piece of code as one number, the offset of a frame in the dump's image, and back
 * again. Its last twelve bits are those of the address, as they are for a file.
 */
uint64_t mt_jitdump_place(const struct mt_jitdump *dump, uint32_t code, uint64_t address);
uint32_t mt_jitdump_placed(const struct mt_jitdump *dump, uint64_t place, uint64_t *offset);

/* Its .eh_frame, with the address that it counts from; bytes NULL where there is none. */
struct mt_span mt_jitdump_unwind(const struct mt_jitdump *dump, uint32_t code);

#endif
