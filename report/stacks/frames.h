/*
 * The distinct frames of all stacks. A frame is a place in an image. Frames are interned, and named
 * when their name is first used, so a report symbolizes each address once for all its samples.
 */
#ifndef MT_REPORT_STACKS_FRAMES_H
#define MT_REPORT_STACKS_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/stacks/code_class.h"

struct mt_frames;
struct mt_strings;
struct mt_symbol;

#define MT_FRAME_NONE UINT32_MAX
#define MT_FRAME_NO_IMAGE UINT32_MAX

enum mt_frame_flag {
	MT_FRAME_IN_KERNEL = 1,
	MT_FRAME_GUESSED = 4,  /* found by a scan; the names start with "? " */
	MT_FRAME_WORDS = 2,    /* a text in place of code, see mt_frames_words() */
	MT_FRAME_REPORTED = 8, /* named by the input: report/session/reported_stacks.c */
};

/*
 * The place of a frame. The address of a caller is one byte before the return address, in the call.
 */
struct mt_frame_key {
	uint32_t image;	 /* id in the image set, or MT_FRAME_NO_IMAGE */
	uint32_t flags;	 /* bits of enum mt_frame_flag */
	uint64_t offset; /* offset in the image's file; without an image, the address */
};

/*
 * Names frames. name() returns the symbol of a frame, never NULL, followed by the functions that it
 * is inlined into. The owner of the namer documents how long symbols are borrowed.
 */
struct mt_namer {
	const struct mt_symbol *(*name)(void *context, const struct mt_frame_key *key);
	void *context;
};

/* One function of a frame. */
struct mt_frame_name {
	/* Name id in mt_frames_strings(); "[libc.so.6]" or "[unknown]" if unresolved. */
	uint32_t name;
	bool resolved;	 /* the name is that of a function */
	uint64_t offset; /* offset of the frame's address in the function */
	/* The image's recorded path, "[kernel.kallsyms]", a module's name, or "[unknown]". */
	const char *dso;
	const char *shown; /* path of the image to show in place of dso */
	const char *file;  /* source path as compiled, or NULL; borrowed from the namer */
	uint32_t line;	   /* 0 if file is NULL */
	bool inlined;	   /* inlined into the next function */
	bool go;	   /* in an image that Go linked */
};

/* The namer's context is borrowed. */
struct mt_frames *mt_frames_create(const struct mt_namer *namer);
void mt_frames_destroy(struct mt_frames *frames);

/* The id of a frame. */
uint32_t mt_frames_intern(struct mt_frames *frames, const struct mt_frame_key *key);

/* The only frame of calls that were recorded without a stack. */
#define MT_FRAME_STACKLESS "[call recorded without a stack]"

/* The id of a frame that is a text, such as "[lost]". */
uint32_t mt_frames_words(struct mt_frames *frames, const char *words);

/* Borrows a frame's key as long as the table. */
const struct mt_frame_key *mt_frames_key(const struct mt_frames *frames, uint32_t id);
size_t mt_frames_count(const struct mt_frames *frames);

/* Names all unnamed frames, by image and ascending address. */
void mt_frames_resolve(struct mt_frames *frames);

/*
 * The functions of a frame, innermost first: at least one, more with inlined calls. Named on first
 * use. Borrowed until the frame table is destroyed.
 */
const struct mt_frame_name *mt_frames_names(struct mt_frames *frames, uint32_t id, size_t *count);

/* The function of a frame that is already named and has only one; else NULL. */
const struct mt_frame_name *mt_frames_only_name(const struct mt_frames *frames, uint32_t id);

/* mt_is_runtime_function() of a name by id in mt_frames_strings(). The result is cached. */
bool mt_frames_is_runtime(struct mt_frames *frames, uint32_t name);

/*
 * Returns the user's class for the image at a path: MT_CODE_OURS, MT_CODE_LIBRARY, or MT_CODE_NONE
 * to use mt_code_class_of(). Called once for each image and program.
 */
struct mt_frame_owner {
	enum mt_code_class (*class_of)(void *context, const char *path);
	void *context;
};

/* Borrows the context. */
void mt_frames_set_owner(struct mt_frames *frames, const struct mt_frame_owner *owner);

/*
 * The class of a named frame's code in a process of a program, given as path `exe` and as number in
 * mt_stacks_program(). MT_CODE_NONE for the kernel and for frames of words.
 */
enum mt_code_class mt_frames_class(struct mt_frames *frames, uint32_t id, const char *exe,
				   uint32_t program);

/* The table of the strings of names. */
struct mt_strings *mt_frames_strings(struct mt_frames *frames);

#endif
