/*
 * Pieces of an image's code, for recordings that carry the image without code (FORMAT.md section
 * 8). The unwinder checks return addresses with these pieces. Also notes which code was read, so
 * that a copy of the recording can carry it.
 */
#ifndef MT_SYMBOLS_CARRIED_CODE_BLOCKS_H
#define MT_SYMBOLS_CARRIED_CODE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf/elf.h"

struct mt_code_making;
struct mt_code_notes;

/* Size and alignment in bytes of the blocks in which code is noted and carried. */
#define MT_CODE_BLOCK 16

/* n bytes of code at a link-time address; NULL if the content's pieces lack any of these bytes. */
const uint8_t *mt_code_blocks_find(struct mt_span content, uint64_t vaddr, size_t n);

/* A builder of content. NULL out of memory. */
struct mt_code_making *mt_code_making_create(void);
void mt_code_making_destroy(struct mt_code_making *making);

/* Adds a piece; skips a piece that does not start after the last one. False out of memory. */
bool mt_code_making_add(struct mt_code_making *making, struct mt_span piece);

/* The caller frees *out, which is NULL with size 0 if there are no pieces. False out of memory. */
bool mt_code_making_finish(struct mt_code_making *making, uint8_t **out, size_t *size);

/*
 * Merges contents; if several have a byte, that of the first one is used. Skips damaged contents.
 * *out as above. False out of memory.
 */
bool mt_code_blocks_merge(const struct mt_span *contents, size_t count, uint8_t **out,
			  size_t *size);

/*
 * Makes the content of an image's noted code from its file. The caller frees *out, which is NULL
 * with size 0 if no code was noted. False out of memory.
 */
bool mt_code_blocks_make(const struct mt_elf *elf, const struct mt_code_notes *notes,
			 uint32_t image, uint8_t **out, size_t *size);

/* NULL out of memory. */
struct mt_code_notes *mt_code_notes_create(void);
void mt_code_notes_destroy(struct mt_code_notes *notes);

/* Notes n bytes of an image's code. Thread-safe. */
void mt_code_notes_add(struct mt_code_notes *notes, uint32_t image, uint64_t vaddr, size_t n);

/* True if the content's pieces have all code noted of an image. */
bool mt_code_notes_within(const struct mt_code_notes *notes, uint32_t image,
			  struct mt_span content);

/* True if code was not noted because memory ran out. */
bool mt_code_notes_failed(const struct mt_code_notes *notes);

#endif
