/*
 * The unwind tables of several skeletons of one image as one, for skeleton_merge.c alone: what is
 * there of .eh_frame stands where it stands in the original, with fillers between.
 */
#ifndef MT_SYMBOLS_SKELETON_FRAMES_H
#define MT_SYMBOLS_SKELETON_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf.h"

/*
 * Merges sections of one size at one address; *out, of that size, is the caller's to free. Where
 * entries overlap the first counts. False out of memory.
 */
bool mt_skeleton_frames_merge(const struct mt_span *sections, size_t count, uint8_t **out);

#endif
