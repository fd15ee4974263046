/*
 * The distinct frames of all stacks: a place in an image, interned, and named once when somebody
 * asks. So a report symbolizes each address once, however many samples passed through it.
 */
#ifndef MT_REPORT_STACKS_FRAMES_H
#define MT_REPORT_STACKS_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;
struct mt_frames;
struct mt_strings;
struct mt_symbol;

#define MT_FRAME_NONE UINT32_MAX
#define MT_FRAME_NO_IMAGE UINT32_MAX

enum mt_frame_flag {
	MT_FRAME_IN_KERNEL = 1,
	MT_FRAME_GUESSED = 4, /* by a scan: its names begin with "? " */
	MT_FRAME_WORDS = 2,   /* no code: what stands for it, mt_frames_words() */
};

/*
 * Which code a frame is in. For a caller the address is that of the call, one byte before the
 * return address.
 */
struct mt_frame_key {
	uint32_t image;	 /* id in the image set, or MT_FRAME_NO_IMAGE */
	uint32_t flags;	 /* enum mt_frame_flag */
	uint64_t offset; /* within the image's file; without an image, the address itself */
};

/*
 * Gives the symbol of a frame, never NULL, or several one behind the other, each inlined into the
 * next; borrowed as long as the namer's owner says.
 */
struct mt_namer {
	const struct mt_symbol *(*name)(void *context, const struct mt_frame_key *key);
	void *context;
	/* told of many places in an image before it is asked about them; may be NULL */
	void (*prepare)(void *context, uint32_t image, const uint64_t *offsets, size_t count);
};

/* One function of a frame. */
struct mt_frame_name {
	uint32_t name;	  /* id of the function's name in mt_frames_strings(); "[libc.so.6]",
			     "[unknown]" where not resolved */
	bool resolved;	  /* name is a function's */
	uint64_t offset;  /* of the frame's address within the function */
	const char *dso;  /* the image's recorded path, "[kernel.kallsyms]", a module's name,
			     "[unknown]" */
	const char *file; /* whole path as the compiler knew it, or NULL; borrowed from the namer */
	uint32_t line;	  /* 0 where file is NULL */
	bool inlined;	  /* into the function that follows */
};

/* NULL out of memory. The namer's context is borrowed. */
struct mt_frames *mt_frames_create(const struct mt_namer *namer);
void mt_frames_destroy(struct mt_frames *frames);

/* The id of a frame; MT_FRAME_NONE out of memory. */
uint32_t mt_frames_intern(struct mt_frames *frames, const struct mt_frame_key *key);

/*
 * The same in two steps, with something to do between them: the first asks memory for where the
 * frame belongs and gives what the second is told beside it.
 */
uint32_t mt_frames_prepare(const struct mt_frames *frames, const struct mt_frame_key *key);
uint32_t mt_frames_intern_prepared(struct mt_frames *frames, const struct mt_frame_key *key,
				   uint32_t prepared);

/* The id of a frame that is only words, such as "[lost]"; MT_FRAME_NONE out of memory. */
uint32_t mt_frames_words(struct mt_frames *frames, const char *words);

/* Borrows the key of an id. */
const struct mt_frame_key *mt_frames_key(const struct mt_frames *frames, uint32_t id);
size_t mt_frames_count(const struct mt_frames *frames);

/* Names every frame that has no name yet, image by image and by rising address. */
struct mt_error *mt_frames_resolve(struct mt_frames *frames);

/*
 * The functions of a frame, innermost first: one, and more where calls were inlined into it. Named
 * on first call. Borrowed until the frame table is destroyed; *count is at least 1. NULL out of
 * memory.
 */
const struct mt_frame_name *mt_frames_names(struct mt_frames *frames, uint32_t id, size_t *count);

/* The function of a frame that was named already and has no more than one; else NULL. */
const struct mt_frame_name *mt_frames_only_name(const struct mt_frames *frames, uint32_t id);

/* The names' strings. */
struct mt_strings *mt_frames_strings(struct mt_frames *frames);

#endif
