/*
 * Names for addresses: builds a table of functions for each image on first use, and keeps all
 * results. Also names places in images without symbols.
 */
#include "symbols/names/symbolize.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "symbols/elf/elf.h"
#include "symbols/images/image.h"
#include "symbols/lines/line_worker.h"
#include "symbols/names/demangle.h"
#include "symbols/names/kernel.h"
#include "symbols/names/symtab.h"

#define KERNEL_NAME "[kernel.kallsyms]"
#define SYMBOLS_PER_BLOCK 512

/* State of one image. */
struct image_names {
	struct mt_image *image;
	size_t named, nameless;	  /* places with a name, and without */
	const char *fallback;	  /* "[libc.so.6]" */
	const char *shown;	  /* mt_image_shown() */
	struct mt_symtab *symtab; /* NULL: no symbols */
	struct mt_symtab *whole;  /* of the file that a carried image was made from, or NULL */
	bool whole_tried;
	bool go;		      /* linked by Go */
	struct mt_elf *elf;	      /* the file from which the table was made */
	struct mt_map64 answers;      /* with lines: file offset -> struct mt_symbol * */
	struct mt_symbol last;	      /* without lines: the last answer; name NULL: none */
	uint64_t last_offset;	      /* its file offset */
	uint32_t last_function;	      /* and its function, if resolved */
	struct mt_symtab *last_table; /* in this table */
	struct mt_map64 functions;    /* number in symtab -> name */
	struct mt_line_worker *lines; /* NULL: no lines, or not requested */
	struct mt_map64 inlined;      /* address of a name in the DWARF -> printed name */
	char *lines_problem;	      /* why there are no lines, or NULL */
};

struct mt_symbolizer {
	struct mt_symbolizer_options options;
	struct mt_strings *strings;
	MT_ARRAY(struct image_names *) images; /* by image id; NULL: not looked up yet */
	struct mt_map64 kernel_answers;	       /* address or image -> struct mt_symbol * */
	MT_ARRAY(struct mt_symbol *) blocks;
	size_t block_used;
	size_t lost; /* names missing because memory ran out */
};

/* The answer if there is no image, no memory or no kernel symbol. It needs no storage. */
static const struct mt_symbol unknown = {.name = "[unknown]", .dso = "[unknown]"};
static const struct mt_symbol kernel_unknown = {.name = KERNEL_NAME, .dso = KERNEL_NAME};

struct mt_symbolizer *mt_symbolizer_create(const struct mt_symbolizer_options *options)
{
	struct mt_symbolizer *symbolizer = mt_alloc(1, sizeof(*symbolizer));

	if (!symbolizer)
		return NULL;
	symbolizer->options = *options;
	symbolizer->strings = mt_strings_create();
	if (!symbolizer->strings) {
		free(symbolizer);
		return NULL;
	}
	return symbolizer;
}

static void names_clear(struct image_names *names)
{
	mt_symtab_destroy(names->symtab);
	mt_symtab_destroy(names->whole);
	mt_line_worker_destroy(names->lines);
	names->symtab = names->whole = NULL;
	names->whole_tried = false;
	names->lines = NULL;
	free(MT_TAKE(names->lines_problem));
	mt_map64_deinit(&names->answers);
	mt_map64_deinit(&names->functions);
	mt_map64_deinit(&names->inlined);
	names->last.name = NULL;
}

static void image_names_destroy(struct image_names *names)
{
	if (!names)
		return;
	names_clear(names);
	free(names);
}

void mt_symbolizer_destroy(struct mt_symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	for (size_t i = 0; i < symbolizer->images.count; i++)
		image_names_destroy(symbolizer->images.items[i]);
	for (size_t i = 0; i < symbolizer->blocks.count; i++)
		free(symbolizer->blocks.items[i]);
	mt_array_deinit(&symbolizer->images);
	mt_array_deinit(&symbolizer->blocks);
	mt_map64_deinit(&symbolizer->kernel_answers);
	mt_strings_destroy(symbolizer->strings);
	free(symbolizer);
}

/*
 * Interns a string. Takes ownership of string. Returns fallback for an empty string, or if memory
 * ran out, which NULL also means.
 */
static const char *keep_string(struct mt_symbolizer *symbolizer, char *string, const char *fallback)
{
	uint32_t id = string && *string
			      ? mt_strings_intern(symbolizer->strings, string, strlen(string))
			      : MT_STRING_NONE;

	symbolizer->lost += id == MT_STRING_NONE && !(string && !*string);
	free(string);
	return id == MT_STRING_NONE ? fallback : mt_strings_get(symbolizer->strings, id);
}

/* The name of a place without symbols: "[libc.so.6]", "[anon]", "[heap]". */
static const char *fallback_name(struct mt_symbolizer *symbolizer, const struct mt_image *image)
{
	const char *slash = strrchr(mt_image_shown(image), '/');
	char *name;

	if (!*image->basename)
		return unknown.name;
	if (*image->basename == '[')
		return image->basename;
	if (asprintf(&name, "[%s]", slash ? slash + 1 : image->basename) < 0)
		name = NULL;
	return keep_string(symbolizer, name, unknown.name);
}

/* Makes room up to an image id; false out of memory. */
static bool reserve_images(struct mt_symbolizer *symbolizer, uint32_t id)
{
	while (symbolizer->images.count <= id) {
		if (!mt_array_push(&symbolizer->images))
			return false;
	}
	return true;
}

/*
 * Starts the line worker. An image without lines is normal; lines that cannot be read are reported.
 */
static void load_lines(struct image_names *names, struct mt_image *image)
{
	const char *path;
	struct mt_elf *debug = mt_image_lines_elf(image, &path);
	struct mt_error *err =
		debug ? mt_line_worker_create(names->elf, debug, path, &names->lines) : NULL;

	if (err)
		names->lines_problem = strdup(err->message);
	mt_error_destroy(err);
}

/* Builds the tables again if the image's ELF file has changed since, because a build id arrived. */
static void load_tables(struct mt_symbolizer *symbolizer, struct image_names *names,
			struct mt_image *image)
{
	struct mt_elf *elf = mt_image_elf(image);

	if (names->elf == elf)
		return;
	names_clear(names);
	names->elf = elf;
	names->go =
		elf ? mt_elf_is_go(elf)
		    : mt_is_go_build_id(image->identity.build_id, image->identity.build_id_size);
	names->symtab = elf ? mt_symtab_create(elf, mt_image_symbols_elf(image)) : NULL;
	symbolizer->lost += elf && !names->symtab;
	if (names->symtab && (symbolizer->options.inlined || symbolizer->options.lines))
		load_lines(names, image);
}

static struct image_names *names_of(struct mt_symbolizer *symbolizer, struct mt_image *image)
{
	struct image_names *names;

	if (!reserve_images(symbolizer, image->id))
		return NULL;
	names = symbolizer->images.items[image->id];
	if (!names) {
		names = calloc(1, sizeof(*names));
		if (!names)
			return NULL;
		names->image = image;
		names->shown = mt_image_shown(image);
		names->fallback = fallback_name(symbolizer, image);
		symbolizer->images.items[image->id] = names;
	}
	if (image->kind == MT_IMAGE_FILE || image->kind == MT_IMAGE_VDSO)
		load_tables(symbolizer, names, image);
	return names;
}

/* A function's name, made on first use. */
static const char *function_name(struct mt_symbolizer *symbolizer, struct image_names *names,
				 struct mt_symtab *symtab, uint32_t function)
{
	uint64_t kept, key = function | (uint64_t)(symtab == names->whole) << 32;
	const char *name;

	if (mt_map64_get(&names->functions, key, &kept))
		return (const char *)(uintptr_t)kept;
	name = keep_string(symbolizer,
			   mt_symtab_name(symtab, function, symbolizer->options.demangle),
			   names->fallback);
	(void)mt_map64_put(&names->functions, key, (uintptr_t)name);
	return name;
}

/*
 * The table of the file that a carried image was made from: a recording that was cut short may lack
 * symbols.
 */
static struct mt_symtab *whole_table(struct image_names *names)
{
	struct mt_elf *file;

	if (!names->whole_tried) {
		names->whole_tried = true;
		file = mt_image_file_elf(names->image);
		names->whole = file ? mt_symtab_create(file, file) : NULL;
	}
	return names->whole;
}

/* Appends answers to the blocks, which never move; NULL out of memory. */
static const struct mt_symbol *keep_symbols(struct mt_symbolizer *symbolizer,
					    const struct mt_symbol *symbols, size_t count)
{
	struct mt_symbol **block, *kept;

	if (!symbolizer->blocks.count || symbolizer->block_used + count > SYMBOLS_PER_BLOCK) {
		block = mt_array_push(&symbolizer->blocks);
		if (!block)
			return NULL;
		*block = malloc(SYMBOLS_PER_BLOCK * sizeof(**block));
		if (!*block) {
			symbolizer->blocks.count--;
			return NULL;
		}
		symbolizer->block_used = 0;
	}
	kept = &symbolizer->blocks.items[symbolizer->blocks.count - 1][symbolizer->block_used];
	symbolizer->block_used += count;
	memcpy(kept, symbols, count * sizeof(*kept));
	return kept;
}

/* Keeps an answer; out of memory it becomes unknown. */
static const struct mt_symbol *answer(struct mt_symbolizer *symbolizer, struct mt_map64 *answers,
				      uint64_t key, const struct mt_symbol *symbols, size_t count)
{
	const struct mt_symbol *kept = keep_symbols(symbolizer, symbols, count);

	if (!kept) {
		symbolizer->lost++;
		return &unknown;
	}
	(void)mt_map64_put(answers, key, (uintptr_t)kept);
	return kept;
}

static void resolve(struct mt_symbolizer *symbolizer, struct image_names *names, uint64_t vaddr,
		    struct mt_symbol *out)
{
	struct mt_symtab *symtab = names->symtab;
	uint64_t start;
	uint32_t function = mt_symtab_find(symtab, vaddr, &start);

	if (function == MT_SYMTAB_NONE) {
		symtab = whole_table(names);
		function = symtab ? mt_symtab_find(symtab, vaddr, &start) : MT_SYMTAB_NONE;
	}
	if (function == MT_SYMTAB_NONE)
		return;
	out->name = names->last.name && names->last.resolved && names->last_function == function &&
				    names->last_table == symtab
			    ? names->last.name
			    : function_name(symbolizer, names, symtab, function);
	names->last_function = function;
	names->last_table = symtab;
	out->offset = vaddr - start;
	out->resolved = true;
}

/* The name of an inlined function, made on first use. */
static const char *inlined_name(struct mt_symbolizer *symbolizer, struct image_names *names,
				const struct mt_lines_frame *frame)
{
	bool demangle = frame->mangled && symbolizer->options.demangle;
	const char *kept;
	uint64_t found;
	char *text;

	if (!frame->name)
		return unknown.name;
	if (mt_map64_get(&names->inlined, (uintptr_t)frame->name, &found))
		return (const char *)(uintptr_t)found;
	text = demangle ? mt_demangle(frame->name) : NULL;
	kept = keep_string(symbolizer, text ? text : strdup(frame->name), unknown.name);
	(void)mt_map64_put(&names->inlined, (uintptr_t)frame->name, (uintptr_t)kept);
	return kept;
}

/*
 * Puts the functions inlined at an address before the function that contains the code, chain[0].
 * That function keeps its name: the symbol table has more detail (clones, namespaces). Returns the
 * number of symbols.
 */
static size_t resolve_lines(struct mt_symbolizer *symbolizer, struct image_names *names,
			    uint64_t vaddr, struct mt_symbol chain[MT_LINES_DEPTH])
{
	struct mt_lines_frame frames[MT_LINES_DEPTH];
	struct mt_symbol function = chain[0];
	size_t count = mt_line_worker_find(names->lines, vaddr, frames);

	if (!count)
		return 1;
	for (size_t i = 0; i < count; i++) {
		bool inlined = i + 1 < count;

		chain[i] = function;
		chain[i].inlined = inlined;
		chain[i].file = symbolizer->options.lines ? frames[i].file : NULL;
		chain[i].line = symbolizer->options.lines ? frames[i].line : 0;
		if (inlined)
			chain[i].name = inlined_name(symbolizer, names, &frames[i]);
	}
	if (symbolizer->options.inlined)
		return count;
	/* the line of the code itself, also if it was inlined */
	function.file = chain[0].file;
	function.line = chain[0].line;
	chain[0] = function;
	return 1;
}

static struct mt_symbol nameless(const struct image_names *names)
{
	return (struct mt_symbol){.name = names->fallback,
				  .dso = names->image->identity.path,
				  .shown = names->shown,
				  .go = names->go};
}

/*
 * Looks a place up without inlined functions. Keeps only the last answer, because each place is
 * looked up once.
 */
static const struct mt_symbol *symbolize_place(struct mt_symbolizer *symbolizer,
					       struct image_names *names, uint64_t file_offset)
{
	struct mt_symbol symbol = nameless(names);
	uint64_t vaddr;

	if (names->last.name && names->last_offset == file_offset)
		return &names->last;
	if (names->symtab && mt_elf_offset_to_vaddr(names->elf, file_offset, &vaddr))
		resolve(symbolizer, names, vaddr, &symbol);
	names->named += symbol.resolved;
	names->nameless += !symbol.resolved;
	names->last = symbol;
	names->last_offset = file_offset;
	return &names->last;
}

static const struct mt_symbol *symbolize_lines(struct mt_symbolizer *symbolizer,
					       struct image_names *names, uint64_t file_offset)
{
	struct mt_symbol chain[MT_LINES_DEPTH];
	uint64_t kept, vaddr;
	size_t count = 1;

	if (mt_map64_get(&names->answers, file_offset, &kept))
		return (const struct mt_symbol *)(uintptr_t)kept;
	chain[0] = nameless(names);
	if (mt_elf_offset_to_vaddr(names->elf, file_offset, &vaddr)) {
		resolve(symbolizer, names, vaddr, &chain[0]);
		if (chain[0].resolved)
			count = resolve_lines(symbolizer, names, vaddr, chain);
	}
	names->named += chain[0].resolved;
	names->nameless += !chain[0].resolved;
	return answer(symbolizer, &names->answers, file_offset, chain, count);
}

static const struct mt_symbol *symbolize_user(struct mt_symbolizer *symbolizer,
					      struct mt_image *image, uint64_t file_offset)
{
	struct image_names *names = names_of(symbolizer, image);

	if (!names) {
		symbolizer->lost++;
		return &unknown;
	}
	if (names->lines)
		return symbolize_lines(symbolizer, names, file_offset);
	/* without symbols there is one answer for the whole image */
	return symbolize_place(symbolizer, names, names->symtab ? file_offset : 0);
}

static const struct mt_symbol *symbolize_kernel(struct mt_symbolizer *symbolizer,
						const struct mt_image *image, uint64_t address)
{
	/* without names there is one answer for the whole image */
	uint64_t key = symbolizer->options.kernel ? address : image->id;
	struct mt_symbol symbol = kernel_unknown;
	const char *module = NULL, *name;
	char *dso = NULL;
	uint64_t kept;

	if (mt_map64_get(&symbolizer->kernel_answers, key, &kept))
		return (const struct mt_symbol *)(uintptr_t)kept;
	name = symbolizer->options.kernel ? mt_kernel_symbols_find(symbolizer->options.kernel,
								   address, &symbol.offset, &module)
					  : NULL;
	if (name) {
		symbol.name = name;
		symbol.resolved = true;
	} else if (strncmp(image->basename, "[kernel", 7) != 0) {
		symbol.name = symbol.dso = fallback_name(symbolizer, image);
	}
	if (module) {
		if (asprintf(&dso, "[%s]", module) < 0)
			dso = NULL;
		symbol.dso = keep_string(symbolizer, dso, KERNEL_NAME);
	}
	return answer(symbolizer, &symbolizer->kernel_answers, key, &symbol, 1);
}

const struct mt_symbol *mt_symbolize(struct mt_symbolizer *symbolizer, struct mt_image *image,
				     uint64_t file_offset)
{
	if (!image)
		return &unknown;
	if (image->kind == MT_IMAGE_KERNEL)
		return symbolize_kernel(symbolizer, image, file_offset);
	return symbolize_user(symbolizer, image, file_offset);
}

/*
 * True if the recorded host had lines but the carried image lacks them: an omitted section keeps
 * its name.
 */
static bool lacks_lines(const struct mt_symbolizer *symbolizer, const struct image_names *names)
{
	if ((!symbolizer->options.inlined && !symbolizer->options.lines) || !names->elf ||
	    names->lines || names->lines_problem)
		return false;
	return mt_elf_find_section(names->elf, ".debug_info") ||
	       mt_elf_find_section(names->elf, ".zdebug_info");
}

bool mt_symbolizer_image(const struct mt_symbolizer *symbolizer, size_t i,
			 struct mt_named_image *out)
{
	const struct image_names *names;

	if (i >= symbolizer->images.count)
		return false;
	names = symbolizer->images.items[i];
	*out = (struct mt_named_image){0};
	if (names) {
		out->image = names->image;
		out->named = names->named;
		out->nameless = names->nameless;
		out->lacks_lines = names->named && lacks_lines(symbolizer, names);
	}
	return true;
}

const char *mt_symbolizer_lines_problem(const struct mt_symbolizer *symbolizer,
					const struct mt_image **image)
{
	for (size_t i = 0; i < symbolizer->images.count; i++) {
		const struct image_names *names = symbolizer->images.items[i];
		const char *problem = !names	     ? NULL
				      : names->lines ? mt_line_worker_problem(names->lines)
						     : names->lines_problem;

		if (problem) {
			*image = names->image;
			return problem;
		}
	}
	return NULL;
}

size_t mt_symbolizer_lost(const struct mt_symbolizer *symbolizer)
{
	return symbolizer->lost;
}
