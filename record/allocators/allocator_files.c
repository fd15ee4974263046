/*
 * Chooses by what the files export, not by their names: so a program's own malloc is found as one
 * that LD_PRELOAD brought in.
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
#include "record/allocators/allocators.h"
#include "record/allocators/function_calls.h"
#include "record/probes/needed_files.h"
#include "record/probes/probe_files.h"
#include "record/proc/numbers.h"
#include "record/state/existing.h"
#include "symbols/elf/elf.h"

#define NEW "_Znwm" /* operator new(unsigned long) */

MT_DEFINE_CLEANUP(mt_elf, struct mt_elf)

/* Where a file's malloc stands. */
enum malloc_in {
	IN_NOTHING,
	IN_SYMBOLS, /* not exported: it serves a static program */
	IN_LIBC,
	IN_EXPORTS,
	MALLOC_INS
};

/* What a file defines. */
struct defines {
	enum malloc_in malloc_in;
	bool has_new;	  /* exported: the loader looks no further */
	bool has_own_new; /* that does not end in malloc */
	bool is_go;	  /* a program of Go's, whose heap has no malloc */
};

/* A file that was looked at before. */
struct seen {
	dev_t device;
	ino_t inode;
	struct defines defines;
};

struct choice {
	struct mt_probe_files *out;
	MT_ARRAY(struct seen) seen;
	size_t processes;	  /* whose maps could be read */
	bool has_malloc, has_new; /* of a command: they were found */
	bool failed;		  /* out of memory */
	bool has_go;		  /* a program of Go's was among the files */
};

static void choice_deinit(struct choice *choice)
{
	mt_array_deinit(&choice->seen);
}

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

static struct defines look_into(int fd, const char *path)
{
	enum mt_allocator_rank rank = mt_allocator_rank(path);
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	struct mt_elf_symbol symbol;
	struct defines defines = {0};

	if (rank != MT_ALLOCATOR_NEVER)
		mt_error_destroy(mt_elf_read_fd(fd, path, &elf));
	if (!elf)
		return defines;
	if (has_both(elf, true))
		defines.malloc_in = rank == MT_ALLOCATOR_LIBC ? IN_LIBC : IN_EXPORTS;
	else if (has_both(elf, false))
		defines.malloc_in = IN_SYMBOLS;
	defines.is_go = mt_elf_section(elf, ".gopclntab").size != 0;
	defines.has_new = find_function(elf, true, NEW, &symbol);
	defines.has_own_new = mt_allocator_has_own_new(elf);
	return defines;
}

/* The same, once a file. */
static struct defines look(struct choice *choice, const struct mt_probe_file *file)
{
	struct seen *slot;

	for (size_t i = 0; i < choice->seen.count; i++) {
		slot = &choice->seen.items[i];
		if (slot->inode == file->inode && slot->device == file->device)
			return slot->defines;
	}
	slot = mt_array_push(&choice->seen);
	if (!slot) {
		choice->failed = true;
		return (struct defines){0};
	}
	*slot = (struct seen){file->device, file->inode, look_into(file->fd, file->path)};
	choice->has_go |= slot->defines.is_go;
	return slot->defines;
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

/* Moves a file to the chosen ones, unless it is there. */
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

static void choose_of_process(void *context, pid_t pid)
{
	struct choice *choice = context;
	MT_CLEANUP(mt_probe_files_deinit) struct mt_probe_files files = {0};
	struct mt_error *err = mt_probe_files_of(pid, &files);
	size_t counts[MALLOC_INS] = {0};
	enum malloc_in best = IN_EXPORTS;

	choice->processes += !err;
	mt_error_destroy(err);
	for (size_t i = 0; i < files.items.count; i++)
		counts[look(choice, &files.items.items[i]).malloc_in]++;
	while (best > IN_NOTHING && !counts[best])
		best--;
	for (size_t i = 0; i < files.items.count; i++) {
		struct defines defines = look(choice, &files.items.items[i]);

		if ((best > IN_NOTHING && defines.malloc_in == best) || defines.has_own_new)
			choose(choice, &files.items.items[i]);
	}
}

/* The first file with each of them counts; the program itself comes first. */
static bool take_needed(void *context, const char *path)
{
	struct choice *choice = context;
	struct stat status;
	struct mt_probe_file file = {.fd = mt_foreign_open(AT_FDCWD, path, MT_LINKS_ALL, &status),
				     .path = strdup(path)};
	struct defines defines = {0};
	bool chosen = false;

	if (file.fd >= 0 && file.path) {
		file.device = status.st_dev;
		file.inode = status.st_ino;
		defines = look(choice, &file);
	}
	if (!choice->has_malloc)
		chosen = defines.malloc_in >= IN_LIBC ||
			 (defines.malloc_in == IN_SYMBOLS && !choice->out->items.count);
	chosen |= !choice->has_new && defines.has_own_new;
	if (chosen)
		choose(choice, &file);
	choice->has_malloc |= defines.malloc_in >= IN_LIBC;
	choice->has_new |= defines.has_new;
	if (file.fd >= 0)
		close(file.fd);
	free(file.path);
	return !choice->has_malloc || !choice->has_new;
}

static struct mt_error *none_found(const struct mt_probe_targets *targets,
				   const struct choice *choice)
{
	bool running = targets->everyone || targets->pids->count || targets->tids->count;

	if (running && !choice->processes)
		return mt_error_create(MT_ERR_PERMISSION,
				       "malloc: what the target maps cannot be read: %s",
				       strerror(errno));
	if (choice->has_go)
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
					 struct mt_probe_files *out)
{
	MT_CLEANUP(choice_deinit) struct choice choice = {.out = out};

	for (size_t i = 0; i < targets->pids->count; i++)
		choose_of_process(&choice, targets->pids->items[i]);
	for (size_t i = 0; i < targets->tids->count; i++)
		choose_of_process(&choice, targets->tids->items[i]);
	if (targets->everyone)
		mt_existing_each(choose_of_process, &choice);
	if (targets->command_file)
		mt_needed_files_each(targets->command_file, take_needed, &choice);
	if (choice.failed)
		return mt_error_nomem();
	return out->items.count ? NULL : none_found(targets, &choice);
}
