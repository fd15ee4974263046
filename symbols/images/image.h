/*
 * An image: one executable file as the recording knows it (path, build id, device, inode), and its
 * ELF bytes once somebody asks for them. Where the bytes come from is behind mt_image_source: local
 * files today, carried skeletons and debug files as further rows. A file whose build id differs
 * from the recorded one is refused, and says so.
 *
 * The set owns its images; an image holds as long as its set, so everybody borrows.
 */
#ifndef MT_SYMBOLS_IMAGES_IMAGE_H
#define MT_SYMBOLS_IMAGES_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf/elf.h"

struct mt_code_notes;
struct mt_error;
struct mt_image_set;
struct mt_jitdump;

enum mt_image_kind {
	MT_IMAGE_FILE, /* a path */
	MT_IMAGE_VDSO, /* [vdso]: bytes carried, or this process's own where the build id agrees */
	MT_IMAGE_ANONYMOUS, /* //anon, [heap], JIT code: no file, maybe a perf map later */
	MT_IMAGE_KERNEL,    /* [kernel.kallsyms] and modules */
};

struct mt_image_identity {
	const char *path; /* as recorded, never NULL */
	uint8_t build_id[MT_BUILD_ID_MAX];
	size_t build_id_size; /* 0: not recorded */
	uint32_t device_major, device_minor;
	uint64_t inode; /* 0: not recorded */
	uint64_t inode_generation;
};

struct mt_image {
	uint32_t id;		 /* counts from 0 within the set */
	enum mt_image_kind kind; /* from the path */
	struct mt_image_identity identity;
	const char *basename; /* borrowed from identity.path */
	/* private to image.c, cfi and symtab: */
	struct mt_image_set *set;
	struct mt_image *next_without_id; /* of the same path */
	struct mt_elf *elf;
	bool tried;	/* elf was asked for */
	bool unchecked; /* elf is in use though no build id was recorded that would vouch for it */
	char *missing;	/* why elf is NULL: one line, or NULL */
	char *found_at; /* the local file in use, or NULL */
	bool carried;	/* elf is out of the recording */
	struct mt_elf *code; /* a file with the code that a carried elf lacks, or NULL */
	bool code_tried;
	struct mt_span pieces; /* of code, carried */
	bool pieces_tried;
	struct mt_elf *debug; /* a file with symbols or lines that elf lacks, or NULL */
	bool debug_tried;
	char *debug_found_at;
	char *debug_refused; /* which debug files were there and not used, and why; or NULL */
	struct mt_elf *mini; /* the symbols in elf's .gnu_debugdata, or NULL */
	uint8_t *mini_bytes;
	/*
	 * What stands for code that a process made itself, and told of in a jitdump: its offsets
	 * are addresses; what the dump does not tell of is in `untold`. Set before it is mapped.
	 */
	const struct mt_jitdump *jitdump;
	struct mt_image *untold;
	void *cfi; /* unwind's index of this image, made and released through mt_image_set_cfi() */
	void (*cfi_destroy)(void *cfi);
};

/*
 * One place to find an image's ELF bytes. A source need not compare build ids: the set refuses what
 * does not agree, says so, and asks the next source. It may use the recorded build id to look
 * further than it would without.
 */
struct mt_image_source {
	const char *name; /* "local file", "--symfs", ... */
	bool debug;	  /* gives files with symbols and lines alone; asked where the image itself
			     lacks one of them */
	bool carried;	  /* gives skeletons out of the recording: they say all that names say */
	bool whole;	  /* asked for the image itself alone, not for what it lacks */
	/*
	 * Gives *out, or NULL in *out where this source has nothing; an error only says why it
	 * cannot be used.
	 */
	struct mt_error *(*open)(void *context, const struct mt_image_identity *identity,
				 struct mt_elf **out, char **found_at);
};

/* NULL out of memory. Without sources every image stays nameless. */
struct mt_image_set *mt_image_set_create(void);
void mt_image_set_destroy(struct mt_image_set *set);

/*
 * Adds a source, asked after those added before it. Borrows source and context for the set's life.
 */
bool mt_image_set_add_source(struct mt_image_set *set, const struct mt_image_source *source,
			     void *context);

/*
 * Compressed sections are read with this codec from now on (mt_elf_codec_all, or NULL: they are
 * absent). Borrowed.
 */
void mt_image_set_set_codec(struct mt_image_set *set, const struct mt_elf_codec *codec);

/*
 * The source "local file": the recorded path as it is on this machine; "PATH (deleted)" where a
 * build id can vouch for what stands at PATH now; [vdso] is this process's own. Absolute paths to
 * regular files only.
 */
extern const struct mt_image_source mt_image_source_local;

/*
 * The source "directory": DIR/recorded path, or a part less of that each time, down to DIR/its last
 * part. context is DIR (const char *).
 */
extern const struct mt_image_source mt_image_source_below;

/*
 * The source "debug file": DIR/.build-id/ab/cdef....debug. context is a DIR (const char *), or NULL
 * for /usr/lib/debug.
 */
extern const struct mt_image_source mt_image_source_build_id;

/*
 * Where pieces of an image's code are told (symbols/carried/code_blocks.h), borrowed for the set's
 * life; an empty span: nowhere. Borrows context.
 */
void mt_image_set_set_pieces(struct mt_image_set *set,
			     struct mt_span (*find)(void *context,
						    const struct mt_image_identity *identity),
			     void *context);

/* From now on takes note of the code that mt_image_code() gives; borrowed. */
void mt_image_set_set_notes(struct mt_image_set *set, struct mt_code_notes *notes);

/* The kind of what stands behind a recorded path. */
enum mt_image_kind mt_image_kind_of_path(const char *path);

/*
 * The same, by what else is known: what a compiler makes at run time stands in a memfd, too, but
 * one with a build id is a program that was run from there, or a library.
 */
enum mt_image_kind mt_image_kind_of(const struct mt_image_identity *identity);

/*
 * The image of that identity, made on first sight (identity is copied); NULL out of memory.
 * Identities with a build id are the same image when path and build id agree; without one, when
 * path, device, inode and generation agree.
 */
struct mt_image *mt_image_set_intern(struct mt_image_set *set,
				     const struct mt_image_identity *identity);

/*
 * Tells the set an image's build id that a mapping did not tell: that of the images with this path
 * (and device and inode where identity has one) and no build id so far. An identity without an
 * inode speaks for the path: images of it that are made later have that id, too, if they come
 * without one. Bytes already in use that turn out to differ are not used again; who borrowed them
 * may still read them.
 */
void mt_image_set_learn_build_id(struct mt_image_set *set,
				 const struct mt_image_identity *identity);

/* How many images there are: ids 0 to count - 1. */
size_t mt_image_set_count(const struct mt_image_set *set);

/* The image with that id, NULL for one that intern never gave. */
struct mt_image *mt_image_set_get(const struct mt_image_set *set, uint32_t id);

/*
 * The ELF bytes, opened on first call; NULL (always, after a first failure) where there are none:
 * see image->missing. Threads may ask for the same image at the same time.
 */
struct mt_elf *mt_image_elf(struct mt_image *image);

/*
 * The ELF file to take symbols from: the image itself; where it has no .symtab a debug file with
 * the same build id that a source has, or that .gnu_debuglink names and whose checksum agrees; or
 * what .gnu_debugdata holds. Its addresses are those of mt_image_elf(); its
 * segments and code may be absent. NULL as above.
 */
struct mt_elf *mt_image_symbols_elf(struct mt_image *image);

/*
 * The ELF file to take DWARF from, chosen in the same way; *path is where it is, or NULL. NULL
 * where neither has any.
 */
struct mt_elf *mt_image_lines_elf(struct mt_image *image, const char **path);

/*
 * n bytes of code at a link-time address, of what decides wherever the recording is read: the image
 * itself, or the pieces that are carried beside it; with `anywhere` the file, too, that a carried
 * image was made from, if a source has that.
 * NULL where they are not at hand.
 */
const uint8_t *mt_image_code(struct mt_image *image, uint64_t vaddr, size_t n, bool anywhere);

/* The pieces of its code that are carried, or an empty span. */
struct mt_span mt_image_pieces(struct mt_image *image);

/*
 * Hangs unwind's index onto the image, to be released with it, and gives it back; where another
 * thread was first, destroys this one and gives that one's. destroy is the same from all callers.
 * image->cfi is to be read with acquire order.
 */
void *mt_image_set_cfi(struct mt_image *image, void *cfi, void (*destroy)(void *cfi));

#endif
