/*
 * Records that hold a kernel record (FORMAT.md section 7): KERNEL, SAMPLE, PACKED and FRAMES.
 * Encoding into a block and decoding from bytes; results borrow from the record.
 */
#ifndef MT_FORMATS_STACKS_SAMPLE_RECORD_H
#define MT_FORMATS_STACKS_SAMPLE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_block;
struct mt_stack_encoder;

#define MT_SAMPLE_OFF_CODING 36 /* offset of `coding` in a SAMPLE, including the record header */

enum mt_coding {
	MT_CODING_PLAIN = 0,
	MT_CODING_IMAGE = 1,  /* stack_decoder.h */
	MT_CODING_PACKED = 2, /* not in SAMPLE records: for the dump of a PACKED record */
};

/* The codes in a FRAMES record are below these bounds; unwind/unwind.h has their names. */
#define MT_UNWOUND_SOURCES 9u
#define MT_UNWOUND_ENDS 17u
#define MT_UNWOUND_END_UNREPORTED 16u
#define MT_UNWOUND_RETURN 0x80u /* bit of a source: pc is a return address */
#define MT_UNWOUND_MAX 65536u	/* most frames */

/* The user stack of a FRAMES record, innermost frame first. */
struct mt_unwound {
	const uint64_t *pcs; /* NULL: not unwound yet */
	const uint8_t *sources;
	uint32_t count;
	uint16_t end;
	uint16_t walked_end; /* the end before the stack was joined with others of its thread */
	/*
	 * Frame positions on the stack, for joining; steps NULL: unknown. Read with
	 * mt_unwound_sp().
	 */
	uint64_t sp;	   /* stack pointer of the innermost frame */
	uint64_t boundary; /* as in struct mt_stack */
	/*
	 * a little-endian u32 a frame: its stack pointer less the inner frame's, or
	 * MT_UNWOUND_NO_STEP
	 */
	const uint8_t *steps;
};

/* A step that is unknown, as are all steps after it. */
#define MT_UNWOUND_NO_STEP UINT32_MAX

/* A decoded KERNEL, SAMPLE, PACKED or FRAMES record. */
struct mt_kernel_bytes {
	uint32_t event;
	const uint8_t *kernel; /* 8-byte aligned within the payload */
	uint32_t kernel_size;
	/* SAMPLE and PACKED; 0 and NULL for KERNEL. */
	uint32_t cut;
	uint32_t dump_asked;
	const uint8_t *dump;
	uint32_t dump_size;
	uint32_t coding;
	const uint8_t *coded; /* SAMPLE: the stored dump; the dump itself if plain */
	uint32_t coded_size;
	/* FRAMES only; `cut` and `dump_asked` as of a SAMPLE, or 0; dump is NULL. */
	struct mt_unwound unwound;
};

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
uint64_t mt_sample_pieces_address(const struct mt_sample_pieces *pieces);

/* Appends a PACKED record, or a SAMPLE or KERNEL record for a sample that cannot be packed. */
bool mt_sample_put(struct mt_block *block, uint64_t time, const struct mt_sample_pieces *pieces);

/* Appends a decoded sample as a SAMPLE or KERNEL record, which depends on no other record. */
bool mt_sample_put_plain(struct mt_block *block, uint64_t time,
			 const struct mt_kernel_bytes *record);

/*
 * Appends a FRAMES record: the kernel record without its dump, `cut` and dump_asked as of a SAMPLE
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
 * Stack pointer of frame i; `inner` is that of frame i - 1, and ignored for frame 0. 0 if it is
 * unknown.
 */
uint64_t mt_unwound_sp(const struct mt_unwound *unwound, uint32_t i, uint64_t inner);
/* The step that encodes `sp` after `inner`. */
uint32_t mt_unwound_step(uint64_t inner, uint64_t sp);

/* PACKED. `decoded` is the output of mt_stack_unpack(). */
bool mt_packed_get(const uint8_t *body, size_t size, const uint8_t *decoded,
		   struct mt_kernel_bytes *out);

#endif
