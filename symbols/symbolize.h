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
#ifndef MT_SYMBOLS_SYMBOLIZE_H
#define MT_SYMBOLS_SYMBOLIZE_H

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
};

/* NULL out of memory. */
struct mt_symbolizer *mt_symbolizer_create(const struct mt_symbolizer_options *options);
void mt_symbolizer_destroy(struct mt_symbolizer *symbolizer);

/*
 * The symbol at a file offset of an image (borrowed until the symbolizer is destroyed). image NULL:
 * [unknown]. MT_IMAGE_KERNEL: file_offset is the address itself. For a return address the caller
 * passes address - 1.
 */
const struct mt_symbol *mt_symbolize(struct mt_symbolizer *symbolizer, struct mt_image *image,
				     uint64_t file_offset);

#endif
