/*
 * Prints one line of output about images without function names, and one about images without
 * source lines. A recording may have hundreds of such images, so a line names only a few; --info
 * lists all.
 */
#include "report/names/missing_names.h"

#include <stddef.h>

#include "report/tables/text.h"
#include "symbols/elf/elf.h"
#include "symbols/images/debuginfod.h"
#include "symbols/images/image.h"
#include "symbols/names/symbolize.h"

enum {
	SHOWN = 3, /* images named in the line */
};

/* The reason why some places in the image have no names, or NULL if a file would not add any. */
static const char *why_nameless(const struct mt_named_image *named)
{
	struct mt_image *image = named->image;

	if (!named->nameless || image->kind != MT_IMAGE_FILE)
		return NULL;
	if (!mt_image_elf(image))
		return image->missing;
	if (mt_image_symbols_elf(image) == image->mini)
		return NULL;
	if (!mt_elf_symbol_count(mt_image_symbols_elf(image), false))
		return "no .symtab";
	return named->named ? "no symbol for some" : "its symbols are elsewhere";
}

/* True if a debug file could help. */
static bool is_askable(struct mt_image *image)
{
	struct mt_elf *elf = mt_image_elf(image);

	if (elf && mt_elf_symbol_count(mt_image_symbols_elf(image), false))
		return false;
	return mt_debuginfod_may_know(image);
}

static void print_refused(const struct mt_image *image, const char *prefix, FILE *to)
{
	if (!image->debug_refused || image->carried)
		return;
	fputs(prefix, to);
	mt_text_print_clean(image->identity.path, to);
	fputs(": a debug file is not used: ", to);
	mt_text_print_clean(image->debug_refused, to);
	fputc('\n', to);
}

/* Prints images whose debug information exists on the recorded host, but not here. */
static void print_lineless(const struct mt_symbolizer *symbolizer, const char *prefix, FILE *to)
{
	struct mt_named_image named;
	size_t count = 0;

	for (size_t i = 0; mt_symbolizer_image(symbolizer, i, &named); i++) {
		if (!named.lacks_lines || count++ >= SHOWN)
			continue;
		fprintf(to, "%s%s", count == 1 ? prefix : ", ",
			count == 1 ? "inlined functions and lines are not at hand for " : "");
		mt_text_print_clean(named.image->basename, to);
	}
	if (count > SHOWN)
		fprintf(to, " and %zu more files", count - SHOWN);
	if (count)
		fputs(": their debug information stayed on the recorded host; mtreport --seal OUT "
		      "--embed lines FILE there adds it, mtrec --embed lines records it\n",
		      to);
}

void mt_missing_names_print(const struct mt_symbolizer *symbolizer, bool asked, const char *prefix,
			    FILE *to)
{
	struct mt_named_image named;
	size_t nameless = 0, askable = 0, absent = 0;

	for (size_t i = 0; mt_symbolizer_image(symbolizer, i, &named); i++) {
		const char *why;

		if (!named.image)
			continue;
		print_refused(named.image, prefix, to);
		why = why_nameless(&named);
		if (!why)
			continue;
		askable += is_askable(named.image);
		absent += !mt_image_elf(named.image);
		if (nameless++ >= SHOWN)
			continue;
		fprintf(to, "%s%s", nameless == 1 ? prefix : ", ",
			nameless == 1 ? "functions without names: in " : "");
		mt_text_print_clean(named.image->basename, to);
		fputs(" (", to);
		mt_text_print_clean(why, to);
		fputc(')', to);
	}
	if (nameless > SHOWN)
		fprintf(to, ", and in %zu more images", nameless - SHOWN);
	if (nameless && askable && !asked)
		fprintf(to, "; --debuginfod would ask for %zu of them", askable);
	if (absent)
		fputs("; --symfs DIR names where files of the recorded machine are", to);
	if (nameless)
		fputs("; --info lists each\n", to);
	print_lineless(symbolizer, prefix, to);
}
