/*
 * Records that hold the kernel's own, FORMAT.md section 7: KERNEL, SAMPLE, PACKED and FRAMES.
 * Encoding into a block and decoding from bytes; what is decoded borrows from the record.
 */
#ifndef MT_FORMATS_STACKS_SAMPLE_RECORD_H
#define MT_FORMATS_STACKS_SAMPLE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_block;
struct mt_stack_encoder;

#define MT_SAMPLE_OFF_CODING 36 /* where `coding` stands in a SAMPLE, from the record's start */

enum mt_coding {
	MT_CODING_PLAIN = 0,
	MT_CODING_IMAGE = 1,  /* stack_decoder.h */
	MT_CODING_PACKED = 2, /* in no SAMPLE: what PACKED records have */
};

/* Codes of a FRAMES record are below these; unwind/unwind.h has the same, by name. */
#define MT_UNWOUND_SOURCES 9u
#define MT_UNWOUND_ENDS 17u
#define MT_UNWOUND_END_UNTOLD 16u
#define MT_UNWOUND_RETURN 0x80u /* of a source: pc is a return address */
#define MT_UNWOUND_MAX 65536u	/* frames */

/* The user stack of a FRAMES record, innermost frame first. */
struct mt_unwound {
	const uint64_t *pcs; /* NULL: not unwound yet */
	const uint8_t *sources;
	uint32_t count;
	uint16_t end;
	uint16_t walked_end; /* before other stacks of the thread went on with it */
	/*
	 * Where the frames stood on the stack, for who joins stacks; steps NULL: nobody told.
	 * mt_unwound_sp() adds them up.
	 */
	uint64_t sp;	      /* of the innermost frame */
	uint64_t boundary;    /* struct mt_stack's */
	const uint8_t *steps; /* a little-endian u32 a frame, or MT_UNWOUND_NO_STEP */
};

/* From a frame's stack pointer to that of the next one in it: not told, nor those behind it. */
#define MT_UNWOUND_NO_STEP UINT32_MAX

/* KERNEL, SAMPLE, FRAMES and PACKED decode to this. */
struct mt_kernel_bytes {
	uint32_t event;
	const uint8_t *kernel; /* 8-byte aligned within the payload */
	uint32_t kernel_size;
	/* SAMPLE and PACKED; KERNEL leaves them 0 and NULL: */
	uint32_t cut;
	uint32_t dump_asked;
	const uint8_t *dump;
	uint32_t dump_size;
	uint32_t coding;
	const uint8_t *coded; /* SAMPLE: what stores the dump; the dump itself where it is plain */
	uint32_t coded_size;
	/* FRAMES only, with cut and dump_asked as of a SAMPLE, or 0; dump is NULL: */
	struct mt_unwound unwound;
};

/* Encoders add one record to the block; false where it does not fit. */

/* KERNEL: the bytes as they are. */
bool mt_kernel_put(struct mt_block *block, uint64_t time, uint32_t event, const void *kernel,
		   size_t kernel_size);

/*
 * A sample: the kernel record in two pieces, `head` up to the cut and `tail` from dyn_size on, and
 * the valid bytes of the dump between them. Without a dump (dump_asked 0) `head` is all of it.
 */
struct mt_sample_pieces {
	uint32_t event;
	const void *head;
	size_t head_size; /* the cut */
	const void *tail;
	size_t tail_size;
	const void *dump;
	size_t dump_size;
	size_t dump_asked;
	/* for coding it against what came before; encoder NULL: as it is */
	struct mt_stack_encoder *encoder;
	uint32_t tid;
	size_t sp_back; /* bytes from the u64 in head that tells where the dump's first byte
			   stands to the end of head; 0 without a dump */
};

/* Where the dump's first byte stands; sp_back must not be 0. */
uint64_t mt_sample_pieces_address(const struct mt_sample_pieces *pieces);

/* As a PACKED record, or a SAMPLE or KERNEL record where it cannot be coded. */
bool mt_sample_put(struct mt_block *block, uint64_t time, const struct mt_sample_pieces *pieces);

/* A decoded sample as a SAMPLE or KERNEL record, which rests on no other. */
bool mt_sample_put_plain(struct mt_block *block, uint64_t time,
			 const struct mt_kernel_bytes *record);

/*
 * FRAMES: the kernel record without its dump, `cut` and dump_asked as of a SAMPLE or 0, and the
 * user stack.
 */
bool mt_unwound_put(struct mt_block *block, uint64_t time, const struct mt_kernel_bytes *record);

/*
 * Decoders read a record's body (what follows the 16 header bytes); false for one too short for its
 * fields or one that FORMAT.md calls damaged, with *out undefined.
 */

/* KERNEL: out has no dump. */
bool mt_kernel_get(const uint8_t *body, size_t size, struct mt_kernel_bytes *out);
/*
 * decoded: the dump of a coded record, as the reader decoded it (struct mt_record.dump); NULL
 * leaves out->dump NULL for those.
 */
bool mt_sample_get(const uint8_t *body, size_t size, const uint8_t *decoded,
		   struct mt_kernel_bytes *out);
bool mt_unwound_get(const uint8_t *body, size_t size, struct mt_kernel_bytes *out);

/* The stack pointer of frame i, from `inner` of the one in it (of frame 0: any); 0: not told. */
uint64_t mt_unwound_sp(const struct mt_unwound *unwound, uint32_t i, uint64_t inner);
/* The step that tells it. */
uint32_t mt_unwound_step(uint64_t inner, uint64_t sp);

/* decoded: as mt_stack_unpack() gave it. */
bool mt_packed_get(const uint8_t *body, size_t size, const uint8_t *decoded,
		   struct mt_kernel_bytes *out);

#endif
