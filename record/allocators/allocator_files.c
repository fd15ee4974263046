/*
 * Selects files by their exports, not by their names, so that it finds a program's own malloc as
 * well as one from LD_PRELOAD.
 */
#include "record/allocators/allocator_files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/foreign_file.h"
#include "record/allocators/allocator_survey.h"
#include "record/allocators/allocators.h"
#include "record/allocators/function_calls.h"
#include "record/probes/needed_files.h"
#include "record/probes/probe_files.h"
#include "record/proc/numbers.h"
#include "symbols/elf/elf.h"

#define NEW "_Znwm" /* operator new(unsigned long) */

MT_DEFINE_CLEANUP(mt_elf, struct mt_elf)

/* The selection for a command. */
struct choice {
	struct mt_probe_files *out;
	bool has_malloc, has_new; /* found already */
	bool failed;		  /* out of memory */
	bool has_go;		  /* one of the files is a Go program */
};

static bool find_function(struct mt_elf *elf, bool dynamic, const char *name,
			  struct mt_elf_symbol *out)
{
	size_t count = mt_elf_symbol_count(elf, dynamic);

	for (size_t i = 0; i < count; i++) {
		if (mt_elf_symbol(elf, dynamic, i, out) && out->section &&
		    (out->type == STT_FUNC || out->type == STT_NOTYPE) && !strcmp(out->name, name))
			return true;
	}
	return false;
}

static bool has_both(struct mt_elf *elf, bool dynamic)
{
	struct mt_elf_symbol symbol;

	return find_function(elf, dynamic, "malloc", &symbol) &&
	       find_function(elf, dynamic, "free", &symbol);
}

bool mt_allocator_has_own_new(struct mt_elf *elf)
{
	struct mt_elf_symbol symbol;

	return (find_function(elf, true, NEW, &symbol) ||
		find_function(elf, false, NEW, &symbol)) &&
	       symbol.size && !mt_function_calls(elf, symbol.value, symbol.size, "malloc");
}

struct mt_allocator_defines mt_allocator_look(int fd, const char *path)
{
	enum mt_allocator_rank rank = mt_allocator_rank(path);
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	struct mt_elf_symbol symbol;
	struct mt_allocator_defines defines = {0};

	if (rank != MT_ALLOCATOR_NEVER)
		mt_error_destroy(mt_elf_read_fd(fd, path, &elf));
	if (!elf)
		return defines;
	if (has_both(elf, true))
		defines.malloc_in =
			rank == MT_ALLOCATOR_LIBC ? MT_MALLOC_IN_LIBC : MT_MALLOC_IN_EXPORTS;
	else if (has_both(elf, false))
		defines.malloc_in = MT_MALLOC_IN_SYMBOLS;
	defines.is_go = mt_elf_is_go(elf);
	defines.has_new = find_function(elf, true, NEW, &symbol);
	defines.has_own_new = mt_allocator_has_own_new(elf);
	return defines;
}

static bool is_chosen(const struct choice *choice, const struct mt_probe_file *file)
{
	for (size_t i = 0; i < choice->out->items.count; i++) {
		if (choice->out->items.items[i].inode == file->inode &&
		    choice->out->items.items[i].device == file->device)
			return true;
	}
	return false;
}

/* Moves a file to the chosen files, unless it is one of them already. */
static void choose(struct choice *choice, struct mt_probe_file *file)
{
	struct mt_probe_file *slot =
		is_chosen(choice, file) ? NULL : mt_array_push(&choice->out->items);

	if (!slot) {
		choice->failed |= !is_chosen(choice, file);
		return;
	}
	*slot = *file;
	*file = (struct mt_probe_file){.fd = -1};
}

/*
 * The first file that defines malloc, and the first that defines new, are chosen. The program
 * precedes its libraries.
 */
static bool take_needed(void *context, const char *path)
{
	struct choice *choice = context;
	struct stat status;
	struct mt_probe_file file = {.fd = mt_foreign_open(AT_FDCWD, path, MT_LINKS_ALL, &status),
				     .path = strdup(path)};
	struct mt_allocator_defines defines = {0};
	bool chosen = false;

	if (file.fd >= 0 && file.path) {
		file.device = status.st_dev;
		file.inode = status.st_ino;
		defines = mt_allocator_look(file.fd, path);
		choice->has_go |= defines.is_go;
	}
	if (!choice->has_malloc)
		chosen = defines.malloc_in >= MT_MALLOC_IN_LIBC ||
			 (defines.malloc_in == MT_MALLOC_IN_SYMBOLS && !choice->out->items.count);
	chosen |= !choice->has_new && defines.has_own_new;
	if (chosen)
		choose(choice, &file);
	choice->has_malloc |= defines.malloc_in >= MT_MALLOC_IN_LIBC;
	choice->has_new |= defines.has_new;
	if (file.fd >= 0)
		close(file.fd);
	free(file.path);
	return !choice->has_malloc || !choice->has_new;
}

static struct mt_error *none_found(const struct mt_probe_targets *targets,
				   const struct mt_allocator_surveyed *seen)
{
	bool running = targets->everyone || targets->pids->count || targets->tids->count;

	if (running && !seen->processes)
		return mt_error_create(MT_ERR_PERMISSION,
				       "malloc: what the target maps cannot be read: %s",
				       strerror(errno));
	if (seen->has_go)
		return mt_error_hint(
			mt_error_create(MT_ERR_USAGE,
					"malloc: %s is a Go program: its heap is collected, and "
					"has no malloc and free",
					running ? "the target" : targets->command_file),
			"-e vm,rss records by which paths it grows; Go's own heap profile (pprof) "
			"has the objects");
	return mt_error_hint(
		mt_error_create(MT_ERR_USAGE, "malloc: %s has no allocator with symbols",
				running ? "what the target maps" : targets->command_file),
		"in a static program malloc and free are found by its .symtab; a function without "
		"a name is probed by its address: -e u:PATH:0x1234(size=arg1)");
}

struct mt_error *mt_allocator_files_find(const struct mt_probe_targets *targets,
					 struct mt_probe_files *out, FILE *left_out)
{
	struct choice choice = {.out = out};
	struct mt_allocator_surveyed seen;
	struct mt_error *err = mt_allocator_survey(targets, out, left_out, &seen);

	if (err)
		return err;
	if (targets->command_file)
		mt_needed_files_each(targets->command_file, take_needed, &choice);
	if (choice.failed)
		return mt_error_nomem();
	seen.has_go |= choice.has_go;
	return out->items.count ? NULL : none_found(targets, &seen);
}
