/*
 * Names for addresses. Called last, once for each unique (image, address), in batches by image;
 * results are interned.
 *
 * Names are printed as perf does: demangled with template arguments and without return type or
 * parameters (`grow<15, 0>`, `XOREncryptor::encryptChunk`), without symbol versions; `[dso]` if
 * only the image is known, `[unknown]` if it is not.
 */
#ifndef MT_SYMBOLS_NAMES_SYMBOLIZE_H
#define MT_SYMBOLS_NAMES_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;
struct mt_image;
struct mt_kernel_symbols;
struct mt_strings;
struct mt_symbolizer;

struct mt_symbolizer_options {
	bool demangle;
	bool inlined; /* also return functions inlined at an address */
	bool lines;   /* also return files and lines */
	const struct mt_kernel_symbols
		*kernel; /* borrowed; NULL: kernel frames are [kernel.kallsyms] */
};

struct mt_symbol {
	/* never NULL: the function, or "[libc.so.6]", "[unknown]", "[kernel.kallsyms]" */
	const char *name;
	/* the image's recorded path, "[kernel.kallsyms]", a module's name, or "[unknown]" */
	const char *dso;
	const char *shown; /* mt_image_shown(), or NULL: dso */
	uint64_t offset;   /* of the address in the function; 0 unless resolved */
	bool resolved;	   /* name is a function's name */
	bool go;	   /* Go linked the image */
	bool inlined;	   /* an inlined call: its caller is the next symbol */
	const char *file;  /* full path from the compiler, or NULL */
	uint32_t line;	   /* 0 if file is NULL */
};

/* NULL out of memory. */
struct mt_symbolizer *mt_symbolizer_create(const struct mt_symbolizer_options *options);
void mt_symbolizer_destroy(struct mt_symbolizer *symbolizer);

/*
 * The symbol at a file offset of an image, borrowed until the next call; its strings until the
 * symbolizer is destroyed. Call once per place, by ascending offset if possible. image NULL:
 * [unknown]. MT_IMAGE_KERNEL: file_offset is the address. For a return address pass address - 1.
 * With inlined calls, this is the first of several contiguous symbols, innermost first; the last
 * one is not inlined.
 */
const struct mt_symbol *mt_symbolize(struct mt_symbolizer *symbolizer, struct mt_image *image,
				     uint64_t file_offset);

/* An image, and how many of its places have a name and how many have none. */
struct mt_named_image {
	struct mt_image *image; /* NULL: no place was looked up */
	size_t named, nameless;
	bool lacks_lines; /* lines were requested, there are none, and the recorded host had them */
};

/* Image i, by its id; false past the last one that was looked up. */
bool mt_symbolizer_image(const struct mt_symbolizer *symbolizer, size_t i,
			 struct mt_named_image *out);

/*
 * The problem with an image's DWARF so far, one line, and which image; NULL if there is no problem.
 */
const char *mt_symbolizer_lines_problem(const struct mt_symbolizer *symbolizer,
					const struct mt_image **image);

/* How many names, or tables of names, are missing because memory was short. */
size_t mt_symbolizer_lost(const struct mt_symbolizer *symbolizer);

#endif
