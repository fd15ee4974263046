/*
 * Index of a jitdump: which function was at an address at a time, its name, lines and unwind
 * tables. JIT compilers reuse addresses; each time that code replaces other code begins an era, in
 * which an address has one meaning.
 */
#ifndef MT_SYMBOLS_JIT_JITDUMP_INDEX_H
#define MT_SYMBOLS_JIT_JITDUMP_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf/elf.h"

struct mt_jitdump;

#define MT_JITDUMP_NONE UINT32_MAX

/* A function; borrows the jitdump's bytes. */
struct mt_jitdump_code {
	uint64_t start, size;
	const char *name;
};

/*
 * Borrows the bytes, of a file or from a recording, until destroyed. *ahead is the caller's clock
 * minus the file's clock. If ahead is NULL, the difference is unknown, and the last code at an
 * address is used. NULL out of memory.
 */
struct mt_jitdump *mt_jitdump_create(const uint8_t *bytes, size_t size, const int64_t *ahead);
void mt_jitdump_destroy(struct mt_jitdump *dump);

/* Number of functions, and of functions left out past the limit. */
size_t mt_jitdump_count(const struct mt_jitdump *dump);
size_t mt_jitdump_left_out(const struct mt_jitdump *dump);

/* True if times are on the caller's clock; otherwise the last code at an address is used. */
bool mt_jitdump_is_timed(const struct mt_jitdump *dump);

/* True if any function has lines, or unwind tables. */
bool mt_jitdump_has_lines(const struct mt_jitdump *dump);
bool mt_jitdump_has_unwind(const struct mt_jitdump *dump);

/* The era of a time, counted from 0; and the end of an era, UINT64_MAX for the last. */
uint32_t mt_jitdump_era(const struct mt_jitdump *dump, uint64_t time);
uint64_t mt_jitdump_era_end(const struct mt_jitdump *dump, uint32_t era);

/*
 * The function at an address in an era, or MT_JITDUMP_NONE. A function that was written to the dump
 * only after the era is found if no other one was there, because compilers write records for code
 * that may already run.
 */
uint32_t mt_jitdump_find(const struct mt_jitdump *dump, uint32_t era, uint64_t address);

/* Name and address range of a function. */
void mt_jitdump_get(const struct mt_jitdump *dump, uint32_t code, struct mt_jitdump_code *out);

/* File and line of a function's code at an offset; NULL if unknown. */
const char *mt_jitdump_line(const struct mt_jitdump *dump, uint32_t code, uint64_t offset,
			    uint32_t *line);

/*
 * Converts an address in a function to one number, the file offset of a frame in the jitdump's
 * image, and back. The low twelve bits are those of the address, as in a file.
 */
uint64_t mt_jitdump_place(const struct mt_jitdump *dump, uint32_t code, uint64_t address);
uint32_t mt_jitdump_placed(const struct mt_jitdump *dump, uint64_t place, uint64_t *offset);

/* A function's .eh_frame and its address; bytes is NULL if it has none. */
struct mt_span mt_jitdump_unwind(const struct mt_jitdump *dump, uint32_t code);

#endif
