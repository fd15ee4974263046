/*
 * From the files of allocators_files.h to their probes: an entry and a return for what gives a
 * block, an entry for what frees one.
 */
#include "record/allocators/allocator_probes.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/allocators/allocator_files.h"
#include "record/allocators/allocators.h"
#include "record/allocators/own_functions.h"
#include "record/probes/probe_files.h"
#include "record/probes/probes.h"
#include "record/tracepoints/tracepoint_source.h"
#include "symbols/elf/elf.h"

enum {
	FUNCTIONS_MOST = 64,
};

MT_DEFINE_CLEANUP(mt_elf, struct mt_elf)

struct defining {
	struct mt_probes *probes;
	struct mt_error *(*each)(void *out, const struct mt_allocator_probe *probe);
	void *out;
	const struct mt_allocator_function *function;
	enum mt_block_moment moment;
	bool glibc;
	size_t functions; /* probed */
	FILE *places;	  /* text of a note: which, and where */
};

static struct mt_error *tell(void *context, const struct mt_defined_probe *defined)
{
	struct defining *defining = context;
	MT_CLEANUP_FREE char *account = mt_allocator_account(defining->function, defining->moment);
	const struct mt_allocator_function *function = defining->function;
	struct mt_allocator_probe probe = {.name = defined->name,
					   .function = function->name,
					   .account = account,
					   .moment = defining->moment,
					   .is_sized = defining->glibc && !function->out,
					   .is_stepped = defined->is_stepped,
					   .frees_old = function->old,
					   .has_no_ptr = function->out};

	return account ? defining->each(defining->out, &probe) : mt_error_nomem();
}

static struct mt_error *define(struct defining *defining, const struct mt_probe_file *file,
			       enum mt_block_moment moment)
{
	MT_CLEANUP_FREE char *word = mt_allocator_word(defining->function, moment, defining->glibc);

	if (!word)
		return mt_error_nomem();
	defining->moment = moment;
	return mt_probes_define_in(defining->probes, file, word, tell, defining);
}

/* A name that is no function to the probes is none here. */
static struct mt_error *define_function(struct defining *defining, const struct mt_probe_file *file)
{
	bool frees = defining->function->freed;
	struct mt_error *err = define(defining, file, frees ? MT_BLOCK_FREE : MT_BLOCK_ALLOC);

	if (!err && !frees)
		err = define(defining, file, MT_BLOCK_ENTER);
	if (err && err->kind == MT_ERR_NOT_FOUND) {
		mt_error_destroy(err);
		return NULL;
	}
	defining->functions += !err;
	return err;
}

/* Addresses of the table's functions; 0: the file has no such one. */
static void find_addresses(struct mt_elf *elf, bool dynamic, uint64_t *addresses)
{
	size_t rows, count = mt_elf_symbol_count(elf, dynamic);
	const struct mt_allocator_function *functions = mt_allocator_functions(&rows);
	struct mt_elf_symbol symbol;

	for (size_t i = 0; i < count; i++) {
		if (!mt_elf_symbol(elf, dynamic, i, &symbol) || !symbol.section ||
		    symbol.type != STT_FUNC)
			continue;
		for (size_t row = 0; row < rows; row++) {
			if (!strcmp(functions[row].name, symbol.name))
				addresses[row] = symbol.value;
		}
	}
}

/* Whether a row before that one has the same code. */
static bool is_alias(const uint64_t *addresses, size_t row)
{
	for (size_t i = 0; i < row; i++) {
		if (addresses[i] == addresses[row])
			return true;
	}
	return false;
}

/* A static program with glibc's malloc. */
static bool is_static_glibc(struct mt_elf *elf)
{
	size_t count = mt_elf_symbol_count(elf, false);
	struct mt_elf_symbol symbol;

	for (size_t i = 0; i < count && mt_elf_symbol_count(elf, true) <= 1; i++) {
		if (mt_elf_symbol(elf, false, i, &symbol) && symbol.type == STT_FUNC &&
		    !strcmp(symbol.name, "_int_malloc"))
			return true;
	}
	return false;
}

static struct mt_error *define_file(struct defining *defining, const struct mt_probe_file *file)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	struct mt_error *err = mt_elf_read_fd(file->fd, file->path, &elf);
	uint64_t addresses[FUNCTIONS_MOST] = {0};
	size_t rows;
	const struct mt_allocator_function *functions = mt_allocator_functions(&rows);
	bool own_new, glibc;

	if (err)
		return err;
	own_new = mt_allocator_has_own_new(elf);
	find_addresses(elf, true, addresses);
	if (!addresses[0]) /* malloc */
		find_addresses(elf, false, addresses);
	glibc = mt_allocator_is_glibc(file->path) || is_static_glibc(elf);
	for (size_t i = 0; i < rows && !err; i++) {
		if (!addresses[i] || is_alias(addresses, i) || (functions[i].is_cxx && !own_new))
			continue;
		defining->function = &functions[i];
		defining->glibc = glibc && !functions[i].is_cxx;
		err = define_function(defining, file);
	}
	return err;
}

/* In every file of the targets, or the one that is named, in which it is found. */
static struct mt_error *define_own(struct defining *defining, const char *text, bool frees)
{
	MT_CLEANUP(mt_own_function_deinit) struct mt_own_function own = {0};
	MT_CLEANUP(mt_probe_files_deinit) struct mt_probe_files files = {0};
	struct mt_error *err = mt_own_function_parse(text, frees, &own);
	size_t before = defining->functions;

	if (!err)
		err = mt_probe_files_find(mt_probes_targets_get(defining->probes), text, own.path,
					  &files);
	defining->function = &own.function;
	defining->glibc = false;
	for (size_t i = 0; i < files.items.count && !err; i++) {
		size_t so_far = defining->functions;

		err = define_function(defining, &files.items.items[i]);
		if (!err && defining->functions > so_far)
			fprintf(defining->places, "%s%s of %s", ftell(defining->places) ? ", " : "",
				own.name, files.items.items[i].path);
	}
	if (err || defining->functions > before)
		return err;
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "%s: no function %s in %s", text,
					     own.name,
					     own.path ? own.path : "what the targets map or need"),
			     "names are as nm has them, of C++ the mangled ones; a stripped file "
			     "needs its debug file, or PATH:0xADDRESS in place of the name");
}

static struct mt_error *define_allocators(struct defining *defining)
{
	MT_CLEANUP(mt_probe_files_deinit) struct mt_probe_files files = {0};
	struct mt_error *err =
		mt_allocator_files_find(mt_probes_targets_get(defining->probes), &files);

	for (size_t i = 0; i < files.items.count && !err; i++) {
		size_t before = defining->functions;

		err = define_file(defining, &files.items.items[i]);
		fprintf(defining->places, "%s%zu functions of %s", i ? ", " : "",
			defining->functions - before, files.items.items[i].path);
	}
	return err;
}

static struct mt_error *define_all(struct defining *defining,
				   const struct mt_allocator_choice *choice)
{
	struct mt_error *err = mt_probes_check(defining->probes);

	if (!err && choice->allocators)
		err = define_allocators(defining);
	for (size_t i = 0; i < choice->gives_count && !err; i++)
		err = define_own(defining, choice->gives[i], false);
	for (size_t i = 0; i < choice->frees_count && !err; i++)
		err = define_own(defining, choice->frees[i], true);
	return err;
}

struct mt_error *mt_allocator_probes_define(
	void *probes, const struct mt_allocator_choice *choice,
	struct mt_error *(*each)(void *out, const struct mt_allocator_probe *probe), void *out,
	char **note)
{
	MT_CLEANUP_FREE char *places = NULL;
	size_t size;
	struct defining defining = {.probes = probes,
				    .each = each,
				    .out = out,
				    .places = open_memstream(&places, &size)};
	struct mt_error *err = defining.places ? define_all(&defining, choice) : mt_error_nomem();

	if (defining.places && fclose(defining.places) && !err)
		err = mt_error_nomem();
	if (err)
		return err;
	/* Readers find by this line which files were probed: FORMAT.md, 4.3. */
	return asprintf(note, "malloc: %s are probed; each call takes 2 to 15 us longer", places) <
			       0
		       ? mt_error_nomem()
		       : NULL;
}
