/*
 * .eh_frame for a skeleton of which only some code was seen, for skeleton.c alone: as large as the
 * original's and all that is kept in its place, since entries say by distances where their code is.
 * What is left out is one CIE, which nothing names, for each gap.
 */
#ifndef MT_SYMBOLS_SEEN_FRAMES_H
#define MT_SYMBOLS_SEEN_FRAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/base/array.h"
#include "symbols/address_sort.h"
#include "symbols/elf.h"

struct mt_seen_code;
struct mt_skeleton_input;
struct mt_skeleton_output;

struct mt_seen_range { /* offsets: [from, to) */
	size_t from, to;
};

struct mt_seen_frames {
	struct mt_span span; /* of the original */
	const struct mt_skeleton_input *input;
	MT_ARRAY(struct mt_seen_range) kept; /* rising; fillers between */
	/* Entries among them that were copied as they were read, rising, and where their bytes are.
	 */
	MT_ARRAY(struct mt_addressed) copied;
	MT_ARRAY(uint8_t) copies;
};

void mt_seen_frames_deinit(struct mt_seen_frames *frames);

/*
 * Plans what is kept of the .eh_frame that span is: the FDEs of code in which a place lies, and
 * their CIEs. What is damaged is kept as it is, or left out. False out of memory.
 */
bool mt_seen_frames_plan(struct mt_elf *elf, struct mt_span span, const struct mt_seen_code *seen,
			 const struct mt_skeleton_input *input, struct mt_seen_frames *out);

/* Writes as many bytes as the original has. False as output, or out of memory. */
bool mt_seen_frames_write(const struct mt_seen_frames *frames,
			  const struct mt_skeleton_output *output);

#endif
