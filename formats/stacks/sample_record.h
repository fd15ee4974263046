/*
 * Records that hold a kernel record (FORMAT.md section 7): KERNEL, SAMPLE, PACKED and FRAMES.
 * Encoding into a block and decoding from bytes; results borrow from the record.
 */
#ifndef MT_FORMATS_STACKS_SAMPLE_RECORD_H
#define MT_FORMATS_STACKS_SAMPLE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/bytes.h"
#include "formats/records/sample.h"

struct mt_block;
struct mt_stack_encoder;

#define MT_SAMPLE_OFF_CODING 36 /* offset of `coding` in a SAMPLE, including the record header */

/* Encoders append one record to the block; false if it does not fit. */

/* KERNEL: the kernel's bytes unchanged. */
bool mt_kernel_put(struct mt_block *block, uint64_t time, uint32_t event, const void *kernel,
		   size_t kernel_size);

/*
 * A sample to encode. The kernel record is in two pieces, `head` up to the cut and `tail` from
 * dyn_size on, with the valid bytes of the dump between them. Without a dump (dump_asked 0) `head`
 * is the whole record.
 */
struct mt_sample_pieces {
	uint32_t event;
	const void *head;
	size_t head_size; /* offset of the cut */
	const void *tail;
	size_t tail_size;
	const void *dump;
	size_t dump_size;
	size_t dump_asked;
	/* Encodes against the thread's earlier samples; NULL: stores the sample plain. */
	struct mt_stack_encoder *encoder;
	uint32_t tid;
	size_t sp_back; /* bytes from the dump's address in head to the end of head; 0: no dump */
};

/* Address of the dump's first byte; sp_back must not be 0. */
static inline uint64_t mt_sample_pieces_address(const struct mt_sample_pieces *pieces)
{
	return mt_get_le64((const uint8_t *)pieces->head + pieces->head_size - pieces->sp_back);
}

/* Appends a PACKED record, or a SAMPLE or KERNEL record for a sample that cannot be packed. */
bool mt_sample_put(struct mt_block *block, uint64_t time, const struct mt_sample_pieces *pieces);

/* Appends a decoded sample as a SAMPLE or KERNEL record, which depends on no other record. */
bool mt_sample_put_plain(struct mt_block *block, uint64_t time,
			 const struct mt_kernel_bytes *record);

/*
 * Appends a FRAMES record: the kernel record without its dump, `cut` and dump_asked as in a SAMPLE,
 * or 0, and the user stack.
 */
bool mt_unwound_put(struct mt_block *block, uint64_t time, const struct mt_kernel_bytes *record);

/*
 * Decoders read a record's body (the bytes after its 16-byte header). False, with *out undefined,
 * if the body is too short for its fields or damaged by FORMAT.md's rules.
 */

/* KERNEL; *out has no dump. */
bool mt_kernel_get(const uint8_t *body, size_t size, struct mt_kernel_bytes *out);
/*
 * SAMPLE. `decoded` is the dump of a coded record as the reader decoded it (struct mt_record.dump);
 * with NULL, out->dump is NULL for coded records.
 */
bool mt_sample_get(const uint8_t *body, size_t size, const uint8_t *decoded,
		   struct mt_kernel_bytes *out);
bool mt_unwound_get(const uint8_t *body, size_t size, struct mt_kernel_bytes *out);

/*
 * Stack pointer of frame i; `inner` is that of frame i - 1, and ignored for frame 0. Returns 0 if
 * it is unknown.
 */
uint64_t mt_unwound_sp(const struct mt_unwound *unwound, uint32_t i, uint64_t inner);
/* The step that encodes `sp` after `inner`. */
uint32_t mt_unwound_step(uint64_t inner, uint64_t sp);

/* PACKED. `decoded` is the output of mt_stack_unpack(). */
bool mt_packed_get(const uint8_t *body, size_t size, const uint8_t *decoded,
		   struct mt_kernel_bytes *out);

#endif
