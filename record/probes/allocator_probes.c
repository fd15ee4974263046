/*
 * From the files of allocators_files.h to their probes: an entry and a return for what gives a
 * block, an entry for what frees one.
 */
#include "record/probes/allocator_probes.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/probes/allocator_files.h"
#include "record/probes/allocators.h"
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
};

static struct mt_error *tell(void *context, const char *name, const char *alias, bool entry)
{
	struct defining *defining = context;
	MT_CLEANUP_FREE char *account = mt_allocator_account(defining->function, defining->moment);
	const struct mt_allocator_function *function = defining->function;
	struct mt_allocator_probe probe = {.name = name,
					   .function = function->name,
					   .account = account,
					   .moment = defining->moment,
					   .is_sized = defining->glibc && !function->out,
					   .frees_old = function->old,
					   .has_no_ptr = function->out};

	(void)alias;
	(void)entry;
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

static struct mt_error *define_file(struct defining *defining, const struct mt_probe_file *file)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	struct mt_error *err = mt_elf_open_fd(file->fd, file->path, &elf);
	uint64_t addresses[FUNCTIONS_MOST] = {0};
	size_t rows;
	const struct mt_allocator_function *functions = mt_allocator_functions(&rows);
	bool libc = mt_allocator_rank(file->path) == MT_ALLOCATOR_LIBC;

	if (err)
		return err;
	defining->glibc = mt_allocator_is_glibc(file->path);
	find_addresses(elf, true, addresses);
	if (!addresses[0]) /* malloc */
		find_addresses(elf, false, addresses);
	for (size_t i = 0; i < rows && !err; i++) {
		if (!addresses[i] || is_alias(addresses, i) || (functions[i].is_cxx && libc))
			continue;
		defining->function = &functions[i];
		err = define_function(defining, file);
	}
	return err;
}

static char *make_note(const struct defining *defining, const struct mt_probe_files *files)
{
	MT_CLEANUP_FREE char *paths = NULL;
	size_t size;
	FILE *to = open_memstream(&paths, &size);
	char *note;

	if (!to)
		return NULL;
	for (size_t i = 0; i < files->items.count; i++)
		fprintf(to, "%s%s", i ? ", " : "", files->items.items[i].path);
	if (fclose(to) || asprintf(&note,
				   "malloc: %zu functions of %s are probed; malloc and "
				   "free take 5 to 30 us longer",
				   defining->functions, paths) < 0)
		return NULL;
	return note;
}

struct mt_error *mt_allocator_probes_define(
	void *probes, struct mt_error *(*each)(void *out, const struct mt_allocator_probe *probe),
	void *out, char **note)
{
	MT_CLEANUP(mt_probe_files_deinit) struct mt_probe_files files = {0};
	struct defining defining = {.probes = probes, .each = each, .out = out};
	struct mt_error *err = mt_probes_check(probes);

	if (!err)
		err = mt_allocator_files_find(mt_probes_targets_get(probes), &files);
	for (size_t i = 0; i < files.items.count && !err; i++)
		err = define_file(&defining, &files.items.items[i]);
	if (err)
		return err;
	*note = make_note(&defining, &files);
	return *note ? NULL : mt_error_nomem();
}
