/*
 * Defines the probes in the files of allocator_files.h: an entry and a return probe for each
 * function that allocates, and an entry probe for each function that frees.
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
#include "record/probes/probe_files.h"
#include "record/probes/probe_sites.h"
#include "record/probes/probes.h"
#include "record/proc/stopping.h"
#include "record/tracepoints/tracepoint_source.h"
#include "symbols/elf/elf.h"
#include "unwind/cfi/cfi.h"

enum {
	PROBES_MOST = 128, /* the kernel takes a tenth of a second to remove each */
	NAMED_MOST = 3,
};

MT_DEFINE_CLEANUP(mt_error, struct mt_error)

struct defining {
	struct mt_probes *probes;
	struct mt_error *(*each)(void *out, const struct mt_allocator_probe *probe);
	void *out;
	const struct mt_allocator_function *function;
	enum mt_block_moment moment;
	bool glibc;
	const char *file;   /* path of the allocator that is being probed, or NULL */
	struct mt_elf *elf; /* the file that is being probed */
	size_t functions;   /* number of probed functions */
	size_t defined;	    /* number of probes */
	FILE *places;	    /* text of the note: functions and their files */
	size_t left;	    /* number of files left out */
	FILE *left_out;
};

static struct mt_error *notify(void *context, const struct mt_defined_probe *defined)
{
	struct defining *defining = context;
	MT_CLEANUP_FREE char *account = mt_allocator_account(defining->function, defining->moment);
	const struct mt_allocator_function *function = defining->function;
	struct mt_allocator_probe probe = {.name = defined->name,
					   .function = function->name,
					   .account = account,
					   .file = defining->file,
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
	defining->defined++;
	return mt_probes_define_in(defining->probes, file, defining->elf, word, notify, defining);
}

/* Defines the probes of one function. Skips a name that is not a function of the file. */
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

/* Finds the addresses of the table's functions; 0: the file does not have the function. */
static void find_addresses(struct mt_elf *elf, bool dynamic, uint64_t *addresses)
{
	size_t count = mt_elf_symbol_count(elf, dynamic);
	struct mt_elf_symbol symbol;

	for (size_t i = 0; i < count; i++) {
		if (!mt_elf_symbol(elf, dynamic, i, &symbol) || !symbol.section ||
		    symbol.type != STT_FUNC)
			continue;
		for (size_t row = 0; row < MT_ALLOCATOR_FUNCTIONS; row++) {
			if (!strcmp(mt_allocator_functions[row].name, symbol.name))
				addresses[row] = symbol.value;
		}
	}
}

/* Returns true if an earlier row has the same code. */
static bool is_alias(const uint64_t *addresses, size_t row)
{
	for (size_t i = 0; i < row; i++) {
		if (addresses[i] == addresses[row])
			return true;
	}
	return false;
}

/* Returns true for a static program with glibc's malloc. */
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

/* Returns the addresses of the functions to probe, each once. */
static void choose_addresses(struct mt_elf *elf, uint64_t *addresses)
{
	uint64_t found[MT_ALLOCATOR_FUNCTIONS] = {0};
	bool own_new = mt_allocator_has_own_new(elf);

	find_addresses(elf, true, found);
	if (!found[0]) /* malloc */
		find_addresses(elf, false, found);
	for (size_t i = 0; i < MT_ALLOCATOR_FUNCTIONS; i++) {
		if (!is_alias(found, i) && (!mt_allocator_functions[i].is_cxx || own_new))
			addresses[i] = found[i];
	}
}

/* Fails unless all functions of a file can be probed; without free, no block would end. */
static struct mt_error *check_addresses(struct mt_elf *elf, const char *path,
					const uint64_t *addresses)
{
	MT_CLEANUP(mt_cfi_destroy_p) struct mt_cfi *cfi = mt_cfi_of_elf(elf);

	for (size_t i = 0; i < MT_ALLOCATOR_FUNCTIONS; i++) {
		if (addresses[i] && !mt_is_function_start(elf, cfi, addresses[i]))
			return mt_error_create(MT_ERR_FORMAT, "%s: its %s is no function", path,
					       mt_allocator_functions[i].name);
	}
	return NULL;
}

static struct mt_error *define_file(struct defining *defining, const struct mt_probe_file *file)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	struct mt_error *err = mt_elf_read_fd(file->fd, file->path, &elf);
	uint64_t addresses[MT_ALLOCATOR_FUNCTIONS] = {0};
	bool glibc;

	if (err)
		return err;
	choose_addresses(elf, addresses);
	err = check_addresses(elf, file->path, addresses);
	defining->file = file->path;
	glibc = mt_allocator_is_glibc(file->path) || is_static_glibc(elf);
	defining->elf = elf;
	for (size_t i = 0; i < MT_ALLOCATOR_FUNCTIONS && !err; i++) {
		if (!addresses[i])
			continue;
		defining->function = &mt_allocator_functions[i];
		defining->glibc = glibc && !mt_allocator_functions[i].is_cxx;
		err = mt_is_stopping() ? mt_stop_error() : define_function(defining, file);
	}
	return err;
}

static struct mt_error *define_custom_in(struct defining *defining,
					 const struct mt_probe_file *file)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	struct mt_error *err = mt_elf_read_fd(file->fd, file->path, &elf);

	defining->elf = elf;
	return err ? err : define_function(defining, file);
}

/* Probes the function in the named file, or else in every file of the targets that defines it. */
static struct mt_error *define_custom(struct defining *defining, const char *text, bool frees)
{
	MT_CLEANUP(mt_custom_function_deinit) struct mt_custom_function own = {0};
	MT_CLEANUP(mt_probe_files_deinit) struct mt_probe_files files = {0};
	struct mt_error *err = mt_custom_function_parse(text, frees, &own);
	size_t before = defining->functions;

	if (!err)
		err = mt_probe_files_find(mt_probes_targets_get(defining->probes), text, own.path,
					  &files);
	defining->file = NULL;
	defining->function = &own.function;
	defining->glibc = false;
	for (size_t i = 0; i < files.items.count && !err; i++) {
		size_t so_far = defining->functions;

		err = define_custom_in(defining, &files.items.items[i]);
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

/* Returns true if the error concerns one file, so that others can still be probed. */
static bool is_of_file(const struct mt_error *err)
{
	return err->kind != MT_ERR_NOMEM && err->kind != MT_ERR_PERMISSION &&
	       !mt_error_is_stop(err);
}

static void leave_out(struct defining *defining, const char *why)
{
	if (defining->left++ < NAMED_MOST)
		fprintf(defining->left_out, "%s%s", ftell(defining->left_out) ? "; " : "", why);
}

/*
 * Probes files until there are PROBES_MOST probes. Returns the first error if no file was probed.
 */
static struct mt_error *define_files(struct defining *defining, const struct mt_probe_files *files)
{
	MT_CLEANUP(mt_error_destroy_p) struct mt_error *first = NULL;

	for (size_t i = 0; i < files->items.count; i++) {
		const struct mt_probe_file *file = &files->items.items[i];
		size_t before = defining->functions;
		struct mt_error *err = NULL;

		if (defining->defined >= PROBES_MOST) {
			leave_out(defining, file->path);
			continue;
		}
		err = define_file(defining, file);
		if (err && !is_of_file(err))
			return err;
		if (defining->functions > before)
			fprintf(defining->places, "%s%zu functions of %s", before ? ", " : "",
				defining->functions - before, file->path);
		if (!err)
			continue;
		leave_out(defining, err->message);
		if (first)
			mt_error_destroy(err);
		else
			first = err;
	}
	if (defining->left > NAMED_MOST)
		fprintf(defining->left_out, " and %zu more", defining->left - NAMED_MOST);
	return defining->functions ? NULL : MT_TAKE(first);
}

static struct mt_error *define_allocators(struct defining *defining)
{
	MT_CLEANUP(mt_probe_files_deinit) struct mt_probe_files files = {0};
	struct mt_error *err = mt_allocator_files_find(mt_probes_targets_get(defining->probes),
						       &files, defining->left_out);

	return err ? err : define_files(defining, &files);
}

static struct mt_error *define_all(struct defining *defining,
				   const struct mt_allocator_choice *choice)
{
	struct mt_error *err = mt_probes_check(defining->probes);

	if (!err && choice->allocators)
		err = define_allocators(defining);
	for (size_t i = 0; i < choice->gives_count && !err; i++)
		err = define_custom(defining, choice->gives[i], false);
	for (size_t i = 0; i < choice->frees_count && !err; i++)
		err = define_custom(defining, choice->frees[i], true);
	return err;
}

struct mt_error *mt_allocator_probes_define(
	void *probes, const struct mt_allocator_choice *choice,
	struct mt_error *(*each)(void *out, const struct mt_allocator_probe *probe), void *out,
	char **note)
{
	MT_CLEANUP_FREE char *places = NULL, *left_out = NULL;
	size_t size;
	struct defining defining = {.probes = probes,
				    .each = each,
				    .out = out,
				    .places = open_memstream(&places, &size),
				    .left_out = open_memstream(&left_out, &size)};
	bool good = defining.places && defining.left_out;
	struct mt_error *err = good ? define_all(&defining, choice) : mt_error_nomem();

	good &= !defining.places || !fclose(defining.places);
	good &= !defining.left_out || !fclose(defining.left_out);
	if (!err && !good)
		err = mt_error_nomem();
	if (err)
		return err;
	/* Readers parse this line for the probed files (FORMAT.md, 4.3). */
	return asprintf(note, "malloc: %s are probed; each call takes 2 to 15 us longer%s%s",
			places, *left_out ? "; left out: " : "", left_out) < 0
		       ? mt_error_nomem()
		       : NULL;
}
