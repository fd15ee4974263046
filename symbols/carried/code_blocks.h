/*
 * Pieces of an image's code, for where the image is carried without it: what branch records are
 * classified by, and return addresses checked. FORMAT.md section 8 has the bytes. And the taking
 * note of what code is looked at, so that a copy of the recording can carry it.
 */
#ifndef MT_SYMBOLS_CARRIED_CODE_BLOCKS_H
#define MT_SYMBOLS_CARRIED_CODE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf/elf.h"

struct mt_code_making;
struct mt_code_notes;

/* Code is noted, and carried, in aligned blocks of so many bytes. */
#define MT_CODE_BLOCK 16

/* n bytes of code at a link-time address; NULL where they are not among the content's pieces. */
const uint8_t *mt_code_blocks_find(struct mt_span content, uint64_t vaddr, size_t n);

/* Content in the making. NULL out of memory. */
struct mt_code_making *mt_code_making_create(void);
void mt_code_making_destroy(struct mt_code_making *making);

/* Adds a piece; one that does not lie behind the last is left out. False out of memory. */
bool mt_code_making_add(struct mt_code_making *making, struct mt_span piece);

/* *out is the caller's to free, NULL with size 0 of no pieces. False out of memory. */
bool mt_code_making_finish(struct mt_code_making *making, uint8_t **out, size_t *size);

/*
 * Makes one content of several, of which the first that has a byte counts; *out as above. What is
 * damaged is left out. False out of memory.
 */
bool mt_code_blocks_merge(const struct mt_span *contents, size_t count, uint8_t **out,
			  size_t *size);

/*
 * Makes the content of what was noted of an image, out of its file; *out is the caller's to free,
 * NULL with size 0 where nothing was. False out of memory.
 */
bool mt_code_blocks_make(const struct mt_elf *elf, const struct mt_code_notes *notes,
			 uint32_t image, uint8_t **out, size_t *size);

/* NULL out of memory. */
struct mt_code_notes *mt_code_notes_create(void);
void mt_code_notes_destroy(struct mt_code_notes *notes);

/* Takes note of n bytes of an image; threads may at the same time. */
void mt_code_notes_add(struct mt_code_notes *notes, uint32_t image, uint64_t vaddr, size_t n);

/* Whether all that was noted of an image is among the content's pieces, or nothing was. */
bool mt_code_notes_within(const struct mt_code_notes *notes, uint32_t image,
			  struct mt_span content);

/* Whether memory was short, and something was not noted. */
bool mt_code_notes_failed(const struct mt_code_notes *notes);

#endif
