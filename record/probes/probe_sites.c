/* Finds the symbols of a word, and the file offsets of their first instructions. */
#include "record/probes/probe_sites.h"

#include <elf.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/nearest.h"
#include "record/plan/probe_word.h"
#include "record/probes/usdt_notes.h"
#include "symbols/elf/elf.h"
#include "symbols/images/debug_file.h"
#include "unwind/cfi/cfi.h"

enum {
	SITES_MOST = 256, /* each site needs a descriptor on every CPU */
};

struct search {
	struct mt_elf *elf;
	const char *path;
	const struct mt_probe_word *word;
	struct mt_probe_sites *sites;
	struct mt_cfi *cfi; /* of elf, or NULL */
	struct mt_nearest nearest;
	bool chosen_at_load; /* the name is that of an indirect function */
	bool outside;	     /* an address is not in code, or is inside a function */
	bool failed;
};

void mt_probe_sites_deinit(struct mt_probe_sites *sites)
{
	for (size_t i = 0; i < sites->items.count; i++) {
		free(sites->items.items[i].name);
		free(sites->items.items[i].arguments);
	}
	mt_array_deinit(&sites->items);
}

/* Returns the file offset of a link-time address in a segment with those flags. */
static bool offset_of(const struct mt_elf *elf, uint64_t vaddr, uint32_t flags, uint64_t *out)
{
	size_t count;
	const struct mt_segment *segments = mt_elf_segments(elf, &count);

	for (size_t i = 0; i < count; i++) {
		if ((segments[i].flags & flags) != flags || vaddr < segments[i].vaddr ||
		    vaddr - segments[i].vaddr >= segments[i].file_size)
			continue;
		*out = vaddr - segments[i].vaddr + segments[i].offset;
		return true;
	}
	return false;
}

/* Returns true if a code section contains the address, or if the file has no sections. */
static bool is_in_code_section(const struct mt_elf *elf, uint64_t address)
{
	struct mt_elf_section_info section;
	bool some = false;

	for (size_t i = 1; mt_elf_section_info(elf, i, &section); i++) {
		some = true;
		if (section.type == SHT_PROGBITS && section.flags & SHF_EXECINSTR &&
		    address >= section.vaddr && address - section.vaddr < section.size)
			return true;
	}
	return !some;
}

bool mt_is_function_start(struct mt_elf *elf, struct mt_cfi *cfi, uint64_t address)
{
	uint64_t offset, start, end;

	return offset_of(elf, address, PF_X, &offset) && is_in_code_section(elf, address) &&
	       (!cfi || !mt_cfi_range(cfi, address, &start, &end) || start == address);
}

/* Adds a site. Returns false if the search is complete. */
static bool add_site(struct search *search, const char *name, uint64_t address, uint64_t size,
		     const struct mt_usdt_note *note)
{
	struct mt_probe_site site = {.address = address, .size = size}, *slot;

	if (!offset_of(search->elf, address, PF_X, &site.offset)) {
		search->outside = true;
		return true;
	}
	for (size_t i = 0; i < search->sites->items.count; i++) {
		if (search->sites->items.items[i].offset == site.offset)
			return true;
	}
	if (note && note->semaphore)
		(void)offset_of(search->elf, note->semaphore, PF_W, &site.semaphore);
	slot = mt_array_push(&search->sites->items);
	if (slot) {
		site.name = strdup(name);
		site.arguments = note ? strdup(note->arguments) : NULL;
		*slot = site;
	}
	search->failed = !slot || !slot->name || (note && !slot->arguments);
	return !search->failed && search->sites->items.count <= SITES_MOST;
}

static bool is_pattern(const char *text)
{
	return strpbrk(text, "*?[");
}

static bool fits(const char *pattern, const char *name)
{
	return is_pattern(pattern) ? !fnmatch(pattern, name, 0) : !strcmp(pattern, name);
}

/* ---- Functions ---- */

/*
 * Returns true for a function. Assembly functions have no type, so they match only by their full
 * names.
 */
static bool is_function(const struct search *search, const struct mt_elf_symbol *symbol)
{
	return symbol->section &&
	       (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC ||
		(symbol->type == STT_NOTYPE && !is_pattern(search->word->symbol)));
}

static bool search_table(struct search *search, struct mt_elf *elf, bool dynamic)
{
	size_t count = mt_elf_symbol_count(elf, dynamic);

	for (size_t i = 0; i < count; i++) {
		struct mt_elf_symbol symbol;

		if (!mt_elf_symbol(elf, dynamic, i, &symbol) || !*symbol.name ||
		    !is_function(search, &symbol))
			continue;
		if (!fits(search->word->symbol, symbol.name)) {
			mt_nearest_offer(&search->nearest, symbol.name);
		} else if (symbol.type == STT_GNU_IFUNC) {
			search->chosen_at_load = true;
		} else if (!mt_is_function_start(search->elf, search->cfi, symbol.value)) {
			search->outside = true;
		} else if (!add_site(search, symbol.name, symbol.value + search->word->offset,
				     symbol.size, NULL)) {
			return false;
		}
	}
	return true;
}

static bool search_elf(struct search *search, struct mt_elf *elf)
{
	return search_table(search, elf, false) && search_table(search, elf, true);
}

/*
 * Opens the debug file of the build id or .gnu_debuglink. *out stays NULL if there is no such file
 * or a wrong one.
 */
static void open_debug_file(struct search *search, struct mt_elf **out)
{
	struct mt_span id = mt_elf_build_id(search->elf);
	MT_CLEANUP_FREE char *path = mt_debug_file_path(NULL, id.bytes, id.size);
	MT_CLEANUP_FREE char *found = NULL;
	struct mt_debug_link link;
	bool has_link = mt_debug_link_read(search->elf, &link);

	link.open = mt_elf_read_file;
	if (path)
		mt_error_destroy(mt_elf_read_file(path, out));
	if (!*out && has_link)
		mt_error_destroy(
			mt_debug_link_open(&link, search->elf, search->path, NULL, out, &found));
	if (!*out && has_link)
		mt_error_destroy(mt_debug_link_open(&link, search->elf, search->path,
						    "/usr/lib/debug", out, &found));
}

/*
 * Searches the symbol tables of the file, then its other symbol sources: for a name, until it is
 * found; for a pattern, all.
 */
static void search_functions(struct search *search)
{
	MT_CLEANUP(mt_cfi_destroy_p) struct mt_cfi *cfi = mt_cfi_of_elf(search->elf);
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *debug = NULL;
	MT_CLEANUP_FREE uint8_t *bytes = NULL;
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *mini = NULL;
	bool whole = mt_elf_symbol_count(search->elf, false);

	search->cfi = cfi;
	if (!search_elf(search, search->elf) || whole ||
	    (search->sites->items.count && !is_pattern(search->word->symbol)))
		return;
	mt_error_destroy(mt_mini_symbols_open(search->elf, search->path, &mini, &bytes));
	if (mini && !search_elf(search, mini))
		return;
	open_debug_file(search, &debug);
	if (debug)
		search_elf(search, debug);
}

/* ---- Static probes ---- */

static bool take_note(void *context, const struct mt_usdt_note *note)
{
	struct search *search = context;

	if (!fits(search->word->provider, note->provider))
		return true;
	if (fits(search->word->symbol, note->name))
		return add_site(search, note->name, note->address, 0, note);
	mt_nearest_offer(&search->nearest, note->name);
	return true;
}

/* ---- Outcome ---- */

static struct mt_error *not_found(const struct search *search)
{
	const struct mt_probe_word *word = search->word;
	bool fixed = word->kind == MT_PROBE_USDT;
	struct mt_error *err;

	if (search->chosen_at_load)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "%s: %s chooses among several functions when "
						     "it is loaded",
						     word->text, word->symbol),
				     "name the one that runs here: nm %s | grep %s", search->path,
				     word->symbol);
	if (search->outside)
		return mt_error_create(MT_ERR_USAGE, "%s: that is no code of %s", word->text,
				       search->path);
	err = mt_error_create(MT_ERR_NOT_FOUND, "%s: %s has no %s %s%s%s", word->text, search->path,
			      fixed ? "static probe" : "function", fixed ? word->provider : "",
			      fixed ? ":" : "", word->symbol);
	if (search->nearest.best)
		return mt_error_hint(err, "did you mean %s?", search->nearest.best);
	return mt_error_hint(err,
			     fixed ? "mtrec --list usdt -p PID lists the static probes of what "
				     "a process maps"
				   : "names are as nm has them, of C++ the mangled ones; a "
				     "stripped file needs its debug file, or an address: 0x1234");
}

/* Parses a link-time address in place of a name. */
static bool is_address(const char *symbol, uint64_t *out)
{
	char *end;

	if (strncmp(symbol, "0x", 2) != 0)
		return false;
	errno = 0;
	*out = strtoull(symbol, &end, 16);
	return !*end && !errno;
}

struct mt_error *mt_probe_sites_find(struct mt_elf *elf, const char *path,
				     const struct mt_probe_word *word, struct mt_probe_sites *out)
{
	struct search search = {
		.elf = elf,
		.path = path,
		.word = word,
		.sites = out,
		.nearest = {.typed = word->symbol, .length = strlen(word->symbol)},
	};
	size_t before = out->items.count;
	uint64_t address;

	if (word->kind == MT_PROBE_USDT)
		mt_usdt_notes_each(elf, take_note, &search);
	else if (is_address(word->symbol, &address))
		add_site(&search, word->symbol, address + word->offset, 0, NULL);
	else
		search_functions(&search);
	if (search.failed)
		return mt_error_nomem();
	if (out->items.count > SITES_MOST)
		return mt_error_create(MT_ERR_USAGE, "%s: more than %d functions match", word->text,
				       SITES_MOST);
	/* memcpy is a plain function for old programs and an indirect function for others */
	if (search.chosen_at_load && !is_pattern(word->symbol))
		return not_found(&search);
	return out->items.count > before ? NULL : not_found(&search);
}
