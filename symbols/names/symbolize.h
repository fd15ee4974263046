/*
 * Names for addresses. Asked last, once per unique (image, address), batched by image; the answer
 * is interned.
 *
 * Names are as perf prints them: demangled with template arguments and without return type or
 * parameters
 * (`grow<15, 0>`, `XOREncryptor::encryptChunk`), symbol versions cut off, `[dso]` where the image
 * is known but not the symbol and
 * `[unknown]` where neither is.
 */
#ifndef MT_SYMBOLS_NAMES_SYMBOLIZE_H
#define MT_SYMBOLS_NAMES_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;
struct mt_image;
struct mt_kernel_symbols;
struct mt_pool;
struct mt_strings;
struct mt_symbolizer;

struct mt_symbolizer_options {
	bool demangle;
	bool inlined; /* give the functions that were inlined at an address, too */
	bool lines;   /* give files and lines */
	const struct mt_kernel_symbols
		*kernel; /* borrowed; NULL: kernel frames are [kernel.kallsyms] */
};

struct mt_symbol {
	const char *name; /* never NULL: the function, or "[libc.so.6]", "[unknown]",
			     "[kernel.kallsyms]" */
	const char *dso;  /* the image's recorded path, "[kernel.kallsyms]", a module's name, or
			     "[unknown]" */
	uint64_t offset;  /* of the address within the function; 0 where resolved is false */
	bool resolved;	  /* name is a function's name */
	bool inlined;	  /* its call was inlined: the function that it stands in follows */
	const char *file; /* whole path as the compiler knew it, or NULL */
	uint32_t line;	  /* 0 where file is NULL */
};

/* NULL out of memory. */
struct mt_symbolizer *mt_symbolizer_create(const struct mt_symbolizer_options *options);
void mt_symbolizer_destroy(struct mt_symbolizer *symbolizer);

/*
 * The symbol at a file offset of an image (borrowed until the next question, its texts until the
 * symbolizer is destroyed). To be asked once a place, by rising offset where that can be. image
 * NULL: [unknown]. MT_IMAGE_KERNEL: file_offset is the address itself. For a return address the
 * caller passes address - 1. Where calls were inlined, it is the first of several that lie one
 * behind the other, innermost first; the last is not inlined.
 */
const struct mt_symbol *mt_symbolize(struct mt_symbolizer *symbolizer, struct mt_image *image,
				     uint64_t file_offset);

/*
 * Reads what the inlined calls and lines at some file offsets of an image need, several units at a
 * time, for mt_symbolize() that is asked next. It need not be done, and changes no answer.
 */
void mt_symbolizer_prepare(struct mt_symbolizer *symbolizer, struct mt_image *image,
			   const uint64_t *file_offsets, size_t count, struct mt_pool *pool);

/* An image that was asked about, and how many places in it have a name, and have none. */
struct mt_named_image {
	struct mt_image *image; /* NULL: nothing was asked */
	size_t named, nameless;
};

/* Image i, counted by its id; false past the last one that was asked about. */
bool mt_symbolizer_image(const struct mt_symbolizer *symbolizer, size_t i,
			 struct mt_named_image *out);

/*
 * What was wrong with an image's DWARF so far, one line, and which image; NULL where nothing was.
 */
const char *mt_symbolizer_lines_problem(const struct mt_symbolizer *symbolizer,
					const struct mt_image **image);

#endif
