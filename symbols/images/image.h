/*
 * An image: an executable file as the recording identifies it (path, build id, device, inode), and
 * its ELF bytes, opened on first use. The bytes come from an mt_image_source: local files, carried
 * skeletons, debug files. A file whose build id differs from the recorded one is refused with a
 * message.
 *
 * The set owns its images; all users borrow them, as long as the set.
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
	MT_IMAGE_FILE,	    /* a path */
	MT_IMAGE_VDSO,	    /* [vdso]: carried, or this process's if the build id agrees */
	MT_IMAGE_ANONYMOUS, /* //anon, [heap], JIT code: no file, possibly a perf map */
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
	uint32_t id;		 /* counts from 0 in the set */
	enum mt_image_kind kind; /* from the path */
	struct mt_image_identity identity;
	const char *basename; /* borrowed from identity.path */
	/* Set by image.c; jitdump and unreported by report/names/jit_sources.c. */
	struct mt_image_set *set;
	struct mt_image *next_without_id; /* the next image of the same path */
	struct mt_elf *elf;
	bool tried;	     /* opening elf was tried */
	bool unchecked;	     /* elf is used without a recorded build id */
	char *missing;	     /* why elf is NULL: one line, or NULL */
	char *found_at;	     /* the local file in use, or NULL */
	bool carried;	     /* elf is from the recording */
	struct mt_elf *code; /* a file with the code that a carried elf lacks, or NULL */
	bool code_tried;
	struct mt_span pieces; /* carried pieces of code */
	bool pieces_tried;
	struct mt_elf *debug; /* a file with symbols or lines that elf lacks, or NULL */
	bool debug_tried;
	char *debug_found_at;
	char *debug_refused; /* which debug files were refused, and why; or NULL */
	struct mt_elf *mini; /* the symbols in elf's .gnu_debugdata, or NULL */
	uint8_t *mini_bytes;
	/*
	 * Set before the image is mapped, if a jitdump describes its code: then file offsets are
	 * addresses. Code that the dump lacks belongs to `unreported`.
	 */
	const struct mt_jitdump *jitdump;
	struct mt_image *unreported;
	/* unwind's index of this image, see mt_image_set_cfi(); read with acquire order */
	void *cfi;
	void (*cfi_destroy)(void *cfi);
};

/*
 * A place to find an image's ELF bytes. It need not compare build ids: the set refuses files that
 * differ and asks the next source. It may use the recorded build id to search further.
 */
struct mt_image_source {
	const char *name; /* "local file", "--symfs", ... */
	/* has only debug files; asked if the image lacks symbols or lines */
	bool debug;
	bool carried; /* has skeletons of the recording, with all names */
	/* only asked for the image itself, not for parts that it lacks */
	bool whole;
	/*
	 * Sets *out, to NULL if this source has no file; an error only says why a file cannot be
	 * used.
	 */
	struct mt_error *(*open)(void *context, const struct mt_image_identity *identity,
				 struct mt_elf **out, char **found_at);
};

/* NULL out of memory. Without sources no image has symbols. */
struct mt_image_set *mt_image_set_create(void);
void mt_image_set_destroy(struct mt_image_set *set);

/* Appends a source. Borrows source and context until the set is destroyed. */
bool mt_image_set_add_source(struct mt_image_set *set, const struct mt_image_source *source,
			     void *context);

/*
 * Sets the codec for compressed sections, borrowed: mt_elf_codec_all, or NULL for treating them as
 * absent.
 */
void mt_image_set_set_codec(struct mt_image_set *set, const struct mt_elf_codec *codec);

/*
 * The source "local file": the recorded path on this machine; "PATH (deleted)" is PATH if a build
 * id can be compared; [vdso] is this process's own. Opens only absolute paths to regular files.
 */
extern const struct mt_image_source mt_image_source_local;

/* The vdso of this process, which is the same in every 64-bit process; NULL: there is none. */
const uint8_t *mt_own_vdso(size_t *size);

/*
 * The source "directory": DIR/recorded path, then the same with one first component less each time,
 * down to DIR/file name. context is DIR (const char *).
 */
extern const struct mt_image_source mt_image_source_below;

/*
 * The source "debug file": DIR/.build-id/ab/cdef....debug. context is DIR (const char *), or NULL
 * for /usr/lib/debug.
 */
extern const struct mt_image_source mt_image_source_build_id;

/*
 * Sets where pieces of an image's code are found (symbols/carried/code_blocks.h); the spans are
 * borrowed until the set is destroyed, an empty one means none. Borrows context.
 */
void mt_image_set_set_pieces(struct mt_image_set *set,
			     struct mt_span (*find)(void *context,
						    const struct mt_image_identity *identity),
			     void *context);

/* Notes the code that mt_image_code() returns from now on; borrows notes. */
void mt_image_set_set_notes(struct mt_image_set *set, struct mt_code_notes *notes);

/* The kind of image at a recorded path. */
enum mt_image_kind mt_image_kind_of_path(const char *path);

/*
 * The kind of image from its full identity: a memfd is JIT code, unless a build id shows that it is
 * an ELF file.
 */
enum mt_image_kind mt_image_kind_of(const struct mt_image_identity *identity);

/*
 * The image of that identity, created on first use (identity is copied); NULL out of memory. With a
 * build id, images are equal if path and build id agree; without one, if path, device, inode and
 * generation agree.
 */
struct mt_image *mt_image_set_intern(struct mt_image_set *set,
				     const struct mt_image_identity *identity);

/*
 * Sets a build id that a mapping record lacked, for images with this path (and device and inode if
 * identity has them) and no build id yet. An identity without an inode applies to the whole path:
 * later images of the path without a build id get this one. Files in use that turn out to differ
 * are not used again; callers that borrowed them may still read them.
 */
void mt_image_set_learn_build_id(struct mt_image_set *set,
				 const struct mt_image_identity *identity);

/*
 * Store a name of the file at a path, in the same directory, by which a process was started; store
 * the name of a process that runs the file. False out of memory.
 */
bool mt_image_set_started(struct mt_image_set *set, const char *path, const char *name);
bool mt_image_set_run_as(struct mt_image_set *set, const char *path, const char *name);

/*
 * The path to show for an image: the path it was started by, if that is the same for all processes
 * that run it; otherwise the recorded path. Borrowed.
 */
const char *mt_image_shown(const struct mt_image *image);

/* Number of images: ids are 0 to count - 1. */
size_t mt_image_set_count(const struct mt_image_set *set);

/* The image with that id; NULL if there is none. */
struct mt_image *mt_image_set_get(const struct mt_image_set *set, uint32_t id);

/*
 * The ELF file, opened on the first call. NULL on all calls if there is none; image->missing says
 * why. Thread-safe.
 */
struct mt_elf *mt_image_elf(struct mt_image *image);

/*
 * The ELF file with symbols: the image itself; if it has no .symtab, a debug file from a source
 * with the same build id, or from .gnu_debuglink with the right checksum; else what .gnu_debugdata
 * holds. Addresses equal those of mt_image_elf(); segments and code may be absent. NULL as above.
 */
struct mt_elf *mt_image_symbols_elf(struct mt_image *image);

/*
 * The ELF file with DWARF, chosen in the same way; *path is its path, or NULL. NULL if no file has
 * DWARF.
 */
struct mt_elf *mt_image_lines_elf(struct mt_image *image, const char **path);

/*
 * The file that a carried image was made from, if a file with the same build id is found: a
 * recording that was cut short may lack parts of it. NULL for other images. Thread-safe.
 */
struct mt_elf *mt_image_file_elf(struct mt_image *image);

/*
 * n bytes of code at a link-time address. They come from the image or its carried pieces, so that
 * the result does not depend on where the recording is read; with `anywhere`, also from the file
 * that a carried image was made from. NULL if not found.
 */
const uint8_t *mt_image_code(struct mt_image *image, uint64_t vaddr, size_t n, bool anywhere);

/* The carried pieces of the image's code, or an empty span. */
struct mt_span mt_image_pieces(struct mt_image *image);

/*
 * Attaches unwind's index to the image, to be destroyed with it, and returns it. If another thread
 * was first, destroys this one and returns the other. destroy is the same for all callers.
 */
void *mt_image_set_cfi(struct mt_image *image, void *cfi, void (*destroy)(void *cfi));

#endif
