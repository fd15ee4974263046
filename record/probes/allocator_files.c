/*
 * Chooses by what the files export, not by their names: so a program's own malloc is found as one
 * that LD_PRELOAD brought in.
 */
#include "record/probes/allocator_files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/probes/allocators.h"
#include "record/probes/needed_files.h"
#include "record/probes/probe_files.h"
#include "record/proc/numbers.h"
#include "record/state/existing.h"
#include "symbols/elf/elf.h"

MT_DEFINE_CLEANUP(mt_elf, struct mt_elf)

/* Where a file's malloc stands. */
enum malloc_in {
	IN_NOTHING,
	IN_SYMBOLS, /* not exported: it serves a static program */
	IN_LIBC,
	IN_EXPORTS,
	MALLOC_INS
};

/* A file that was looked at before. */
struct seen {
	dev_t device;
	ino_t inode;
	enum malloc_in malloc_in;
};

struct choice {
	struct mt_probe_files *out;
	MT_ARRAY(struct seen) seen;
	size_t processes; /* whose maps could be read */
	bool failed;	  /* out of memory */
};

static void choice_deinit(struct choice *choice)
{
	mt_array_deinit(&choice->seen);
}

static bool has_function(struct mt_elf *elf, bool dynamic, const char *name)
{
	size_t count = mt_elf_symbol_count(elf, dynamic);
	struct mt_elf_symbol symbol;

	for (size_t i = 0; i < count; i++) {
		if (mt_elf_symbol(elf, dynamic, i, &symbol) && symbol.section &&
		    (symbol.type == STT_FUNC || symbol.type == STT_NOTYPE) &&
		    !strcmp(symbol.name, name))
			return true;
	}
	return false;
}

static bool has_both(struct mt_elf *elf, bool dynamic)
{
	return has_function(elf, dynamic, "malloc") && has_function(elf, dynamic, "free");
}

static enum malloc_in look_into(int fd, const char *path)
{
	enum mt_allocator_rank rank = mt_allocator_rank(path);
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;

	if (rank != MT_ALLOCATOR_NEVER)
		mt_error_destroy(mt_elf_open_fd(fd, path, &elf));
	if (!elf)
		return IN_NOTHING;
	if (has_both(elf, true))
		return rank == MT_ALLOCATOR_LIBC ? IN_LIBC : IN_EXPORTS;
	return has_both(elf, false) ? IN_SYMBOLS : IN_NOTHING;
}

/* The same, once a file. */
static enum malloc_in look(struct choice *choice, const struct mt_probe_file *file)
{
	struct seen *slot;

	for (size_t i = 0; i < choice->seen.count; i++) {
		slot = &choice->seen.items[i];
		if (slot->inode == file->inode && slot->device == file->device)
			return slot->malloc_in;
	}
	slot = mt_array_push(&choice->seen);
	if (!slot) {
		choice->failed = true;
		return IN_NOTHING;
	}
	*slot = (struct seen){file->device, file->inode, look_into(file->fd, file->path)};
	return slot->malloc_in;
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
		counts[look(choice, &files.items.items[i])]++;
	while (best > IN_NOTHING && !counts[best])
		best--;
	for (size_t i = 0; i < files.items.count && best > IN_NOTHING; i++) {
		if (look(choice, &files.items.items[i]) == best)
			choose(choice, &files.items.items[i]);
	}
}

/* The first file with a malloc ends the search; the program itself comes first. */
static bool take_needed(void *context, const char *path)
{
	struct choice *choice = context;
	struct mt_probe_file file = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
				     .path = strdup(path)};
	enum malloc_in malloc_in = IN_NOTHING;
	struct stat status;

	if (file.fd >= 0 && file.path && !fstat(file.fd, &status)) {
		file.device = status.st_dev;
		file.inode = status.st_ino;
		malloc_in = look(choice, &file);
	}
	if (malloc_in >= IN_LIBC || (malloc_in == IN_SYMBOLS && !choice->out->items.count))
		choose(choice, &file);
	if (file.fd >= 0)
		close(file.fd);
	free(file.path);
	return malloc_in < IN_LIBC;
}

static struct mt_error *none_found(const struct mt_probe_targets *targets,
				   const struct choice *choice)
{
	bool running = targets->everyone || targets->pids->count || targets->tids->count;

	if (running && !choice->processes)
		return mt_error_create(MT_ERR_PERMISSION,
				       "malloc: what the target maps cannot be read: %s",
				       strerror(errno));
	return mt_error_hint(
		mt_error_create(MT_ERR_USAGE, "malloc: %s has no allocator with symbols",
				running ? "what the target maps" : targets->command_file),
		"a static program needs its .symtab; a function without a name is probed by its "
		"address: -e u:PATH:0x1234(size=arg1)");
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
