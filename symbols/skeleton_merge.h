/*
 * Several skeletons of one image, each of which has of the code only what a part of the recording
 * shows (MT_KEPT_SEEN), made into one that has what any of them has. FORMAT.md section 8 says what
 * such skeletons lack.
 */
#ifndef MT_SYMBOLS_SKELETON_MERGE_H
#define MT_SYMBOLS_SKELETON_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "symbols/elf.h"

struct mt_error;

/*
 * Merges them; *out is the caller's to free, and about as large as all of them at most. Headers,
 * the numbers of sections and relocations are those of the first that can be read; what cannot be,
 * or is of another image, is left out. An error where none can be read.
 */
struct mt_error *mt_skeleton_merge(const struct mt_span *parts, size_t count, uint8_t **out,
				   size_t *size);

#endif
