/*
 * Selects files by the functions that they export, not by file name. So a malloc that a program
 * defines is found, as well as one from LD_PRELOAD.
 */
#include "record/allocators/allocator_files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/foreign_file.h"
#include "formats/base/map64.h"
#include "record/allocators/allocators.h"
#include "record/files/mapped_file.h"
#include "record/open/clock.h"
#include "record/probes/probe_files.h"
#include "record/proc/numbers.h"
#include "record/proc/stopping.h"
#include "record/state/existing.h"
#include "symbols/elf/elf.h"
#include "symbols/elf/plt.h"

#define NEW "_Znwm" /* operator new(unsigned long) */

/* ---- Calls of a function ---- */

enum {
	TARGETS_MOST = 8,
	RELA_SIZE = 24,
	CODE_MOST = 4096, /* bytes of a function that are searched */
};

/* The addresses through which the function is called. */
struct search {
	struct mt_elf *elf;
	const char *name;
	uint64_t targets[TARGETS_MOST]; /* code addresses: the function, its stubs */
	uint64_t slots[TARGETS_MOST];	/* words that contain the function's address */
	size_t target_count, slot_count;
};

static bool has(const uint64_t *list, size_t count, uint64_t address)
{
	while (count && list[count - 1] != address)
		count--;
	return count;
}

static bool take_stub(void *context, const struct mt_plt_stub *stub)
{
	struct search *search = context;

	if (stub->name && !strcmp(stub->name, search->name) && search->target_count < TARGETS_MOST)
		search->targets[search->target_count++] = stub->start;
	return true;
}

static void find_symbols(struct search *search, bool dynamic)
{
	size_t count = mt_elf_symbol_count(search->elf, dynamic);
	struct mt_elf_symbol symbol;

	for (size_t i = 0; i < count && search->target_count < TARGETS_MOST; i++) {
		if (mt_elf_symbol(search->elf, dynamic, i, &symbol) && symbol.section &&
		    !strcmp(symbol.name, search->name))
			search->targets[search->target_count++] = symbol.value;
	}
}

static void find_slots(struct search *search)
{
	struct mt_span table = mt_elf_section(search->elf, ".rela.dyn");
	struct mt_elf_symbol symbol;

	for (size_t at = 0; at + RELA_SIZE <= table.size && search->slot_count < TARGETS_MOST;
	     at += RELA_SIZE) {
		uint64_t info = mt_get_le64(table.bytes + at + 8);

		if ((uint32_t)info == R_X86_64_GLOB_DAT &&
		    mt_elf_symbol(search->elf, true, info >> 32, &symbol) &&
		    !strcmp(symbol.name, search->name))
			search->slots[search->slot_count++] = mt_get_le64(table.bytes + at);
	}
}

/*
 * Returns true if the code at a link-time address calls or jumps to the function `name`: directly,
 * by its PLT entry, or through its GOT slot (-fno-plt). Searches for the bytes of calls and jumps
 * without decoding the code. Bytes within another instruction match only if they happen to lead to
 * the same function. Does not follow calls. Returns true for code that cannot be read, including
 * code of machines other than x86-64.
 */
static bool calls_function(struct mt_elf *elf, uint64_t address, uint64_t size, const char *name)
{
	struct search search = {.elf = elf, .name = name};
	const uint8_t *code;

	size = size < CODE_MOST ? size : CODE_MOST;
	code = mt_elf_machine(elf) == EM_X86_64 ? mt_elf_bytes_at(elf, address, size) : NULL;
	if (!code)
		return true;
	find_symbols(&search, true);
	find_symbols(&search, false);
	mt_plt_each(elf, take_stub, &search);
	find_slots(&search);
	for (size_t at = 0; at + 5 <= size; at++) {
		bool direct = code[at] == 0xe8 || code[at] == 0xe9;
		/* call *SLOT(%rip), jmp *SLOT(%rip) */
		bool by_slot = at + 6 <= size && code[at] == 0xff &&
			       (code[at + 1] == 0x15 || code[at + 1] == 0x25);
		size_t operand = at + (by_slot ? 2 : 1);

		if ((direct || by_slot) &&
		    has(direct ? search.targets : search.slots,
			direct ? search.target_count : search.slot_count,
			address + operand + 4 + (uint64_t)(int32_t)mt_get_le32(code + operand)))
			return true;
	}
	return false;
}

/* ---- One file ---- */

/* Where a file defines malloc and free. */
enum malloc_in {
	MALLOC_IN_NOTHING,
	MALLOC_IN_SYMBOLS, /* not exported: used only by a static program */
	MALLOC_IN_LIBC,
	MALLOC_IN_EXPORTS,
	MALLOC_INS
};

struct defines {
	enum malloc_in malloc_in;
	bool has_new;	  /* exported, so the loader searches no further */
	bool has_own_new; /* operator new that does not call malloc */
	bool is_go;	  /* a Go program, whose heap has no malloc */
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
	       symbol.size && !calls_function(elf, symbol.value, symbol.size, "malloc");
}

/* Returns what an open file defines; nothing if it cannot be read. */
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
		defines.malloc_in = rank == MT_ALLOCATOR_LIBC ? MALLOC_IN_LIBC : MALLOC_IN_EXPORTS;
	else if (has_both(elf, false))
		defines.malloc_in = MALLOC_IN_SYMBOLS;
	defines.is_go = mt_elf_is_go(elf);
	defines.has_new = find_function(elf, true, NEW, &symbol);
	defines.has_own_new = mt_allocator_has_own_new(elf);
	return defines;
}

/* ---- Running processes ---- */

/*
 * Any user can map hundreds of files that export malloc and free. So the processes that map a file
 * are counted before any file is opened, and each step on the whole host takes at most STEP_NS.
 */
#define STEP_NS UINT64_C(2000000000)

enum {
	FILES_MOST = 1 << 16,
	PAIRS_MOST = 1 << 21, /* pairs of a process and a file that it maps */
	NAMED_MOST = 3,
	CHOSEN_MOST = 32,
};

/* A file that processes map as executable. */
struct seen {
	struct mt_mapped_file at; /* its mapping in one of these processes; owns the path */
	size_t last;		  /* number of the last counted process, from 1 */
	size_t processes;	  /* number of processes that map it */
	size_t served;		  /* number of processes that use its allocator */
	struct defines defines;
};

struct survey {
	MT_ARRAY(struct seen) files;
	struct mt_map64 by_hash;
	MT_ARRAY(uint32_t) pairs;    /* files of all processes in sequence */
	MT_ARRAY(size_t) ends;	     /* end of each process in pairs */
	MT_ARRAY(uint32_t) order;    /* files in the order of by_processes() */
	size_t unread, unread_files; /* processes and files skipped for lack of time or room */
	uint64_t until;
	bool failed; /* out of memory */
};

static void survey_deinit(struct survey *survey)
{
	for (size_t i = 0; i < survey->files.count; i++)
		free((char *)survey->files.items[i].at.path.bytes);
	mt_array_deinit(&survey->files);
	mt_map64_deinit(&survey->by_hash);
	mt_array_deinit(&survey->pairs);
	mt_array_deinit(&survey->ends);
	mt_array_deinit(&survey->order);
}

static bool is_over(const struct survey *survey)
{
	return survey->failed || mt_is_stopping() || mt_clock_monotonic() > survey->until;
}

/* ---- Counting ---- */

static uint64_t hash_of(const struct mt_mapped_file *file)
{
	uint64_t numbers[] = {file->major, file->minor, file->inode};

	return mt_hash_bytes(numbers, sizeof(numbers), 0);
}

/* Returns the file's number, counted from 1; 0 if there is no room. */
static uint64_t number_of(struct survey *survey, const struct mt_mapped_file *file)
{
	uint64_t hash = hash_of(file), number;
	struct seen *slot;

	if (mt_map64_get(&survey->by_hash, hash, &number))
		return number;
	if (survey->files.count == FILES_MOST) {
		survey->unread_files++;
		return 0;
	}
	slot = mt_array_push(&survey->files);
	if (slot) {
		*slot = (struct seen){.at = *file};
		slot->at.path.bytes = strndup(file->path.bytes, file->path.size);
	}
	survey->failed |= !slot || !slot->at.path.bytes ||
			  !mt_map64_put(&survey->by_hash, hash, survey->files.count);
	return survey->failed ? 0 : survey->files.count;
}

static void count_file(void *context, const struct mt_mapped_file *file)
{
	struct survey *survey = context;
	uint64_t number = number_of(survey, file);
	struct seen *seen = number ? &survey->files.items[number - 1] : NULL;

	if (!seen || seen->last == survey->ends.count + 1 || survey->pairs.count == PAIRS_MOST)
		return;
	if (!mt_array_append(&survey->pairs, (uint32_t)number - 1)) {
		survey->failed = true;
		return;
	}
	seen->last = survey->ends.count + 1;
	seen->processes++;
}

static void count_process(void *context, pid_t pid)
{
	struct survey *survey = context;

	if (is_over(survey)) {
		survey->unread++;
		return;
	}
	if (!mt_probe_mappings_each(pid, count_file, survey))
		return;
	survey->failed |= !mt_array_append(&survey->ends, survey->pairs.count);
}

/* ---- Reading files ---- */

static int by_processes(const void *a, const void *b, void *context)
{
	const struct seen *files = context;
	const struct seen *x = &files[*(const uint32_t *)a], *y = &files[*(const uint32_t *)b];

	if (x->served != y->served)
		return x->served < y->served ? 1 : -1;
	if (x->processes != y->processes)
		return x->processes < y->processes ? 1 : -1;
	return x < y ? -1 : 1;
}

static void sort_files(struct survey *survey)
{
	survey->order.count = 0;
	for (uint32_t i = 0; i < survey->files.count; i++)
		survey->failed |= !mt_array_append(&survey->order, i);
	if (survey->order.count)
		qsort_r(survey->order.items, survey->order.count, sizeof(*survey->order.items),
			by_processes, survey->files.items);
}

/* Opens a mapped file; -1 on failure. Rejects a copy of the memory, where a probe never fires. */
static int open_seen(const struct seen *seen, struct stat *status)
{
	int fd = mt_mapped_file_open(&seen->at, status);

	if (fd < 0 || status->st_ino == seen->at.inode)
		return fd;
	close(fd);
	return -1;
}

static void look_into_files(struct survey *survey)
{
	for (size_t i = 0; i < survey->order.count; i++) {
		struct seen *seen = &survey->files.items[survey->order.items[i]];
		MT_CLEANUP_CLOSE int fd = -1;
		struct stat status;

		if (is_over(survey)) {
			survey->unread_files += survey->order.count - i;
			return;
		}
		fd = open_seen(seen, &status);
		if (fd >= 0)
			seen->defines = look_into(fd, seen->at.path.bytes);
	}
}

/* ---- Choosing ---- */

static void choose_of_process(struct survey *survey, size_t first, size_t end)
{
	size_t counts[MALLOC_INS] = {0};
	enum malloc_in best = MALLOC_IN_EXPORTS;

	for (size_t i = first; i < end; i++)
		counts[survey->files.items[survey->pairs.items[i]].defines.malloc_in]++;
	while (best > MALLOC_IN_NOTHING && !counts[best])
		best--;
	for (size_t i = first; i < end; i++) {
		struct seen *seen = &survey->files.items[survey->pairs.items[i]];

		seen->served += (best > MALLOC_IN_NOTHING && seen->defines.malloc_in == best) ||
				seen->defines.has_own_new;
	}
}

/* Opens the file again, for probing, and adds it to *out. False if that fails. */
static bool take(struct survey *survey, const struct seen *seen, struct mt_probe_files *out)
{
	struct stat status;
	int fd = open_seen(seen, &status);

	if (fd < 0)
		return false;
	if (mt_probe_files_add(out, fd, &status, seen->at.path.bytes,
			       mt_mapped_file_live_length(&seen->at.path)))
		return true;
	survey->failed = true;
	return false;
}

static void take_first(struct survey *survey, struct mt_probe_files *out, FILE *left_out)
{
	size_t taken = 0, left = 0;

	for (size_t i = 0; i < survey->order.count && !survey->failed; i++) {
		const struct seen *seen = &survey->files.items[survey->order.items[i]];

		if (!seen->served)
			break;
		if (taken < CHOSEN_MOST) {
			taken += take(survey, seen, out);
			continue;
		}
		if (left++ < NAMED_MOST)
			fprintf(left_out, "%s%s", left > 1 ? ", " : "", seen->at.path.bytes);
	}
	if (left > NAMED_MOST)
		fprintf(left_out, " and %zu more", left - NAMED_MOST);
	if (left)
		fprintf(left_out, ", which fewer processes map");
	if (survey->unread_files)
		fprintf(left_out, "%s%zu files that could not be read in time", left ? "; " : "",
			survey->unread_files);
	if (survey->unread)
		fprintf(left_out, "%s%zu processes whose files could not be listed in time",
			left || survey->unread_files ? "; " : "", survey->unread);
}

static void start_step(struct survey *survey, const struct mt_probe_targets *targets)
{
	survey->until = targets->everyone ? mt_clock_monotonic() + STEP_NS : UINT64_MAX;
}

struct surveyed {
	size_t processes; /* number of processes whose mappings could be read */
	bool has_go;	  /* one of the files is a Go program */
};

/* Appends the files that define the malloc and operator new of running targets. */
static struct mt_error *survey_targets(const struct mt_probe_targets *targets,
				       struct mt_probe_files *out, FILE *left_out,
				       struct surveyed *seen)
{
	MT_CLEANUP(survey_deinit) struct survey survey = {0};
	int why;

	start_step(&survey, targets);
	mt_probe_targets_each(targets, count_process, &survey);
	why = errno;
	*seen = (struct surveyed){.processes = survey.ends.count};
	sort_files(&survey);
	start_step(&survey, targets);
	look_into_files(&survey);
	for (size_t i = 0; i < survey.files.count; i++)
		seen->has_go |= survey.files.items[i].defines.is_go;
	for (size_t i = 0, first = 0; i < survey.ends.count; first = survey.ends.items[i++])
		choose_of_process(&survey, first, survey.ends.items[i]);
	sort_files(&survey);
	take_first(&survey, out, left_out);
	if (mt_is_stopping())
		return mt_stop_error();
	errno = why;
	return survey.failed ? mt_error_nomem() : NULL;
}

/* ---- The files of a command ---- */

/* The selection for a command. */
struct choice {
	struct mt_probe_files *out;
	bool has_malloc, has_new; /* found already */
	bool failed;		  /* out of memory */
	bool has_go;		  /* one of the files is a Go program */
};

/*
 * Chooses the first file that defines malloc, and the first that defines operator new if that does
 * not call malloc. Called for the program first, then for its libraries. Returns false to end the
 * search.
 */
static bool take_needed(void *context, const char *path)
{
	struct choice *choice = context;
	struct stat status;
	int fd = mt_foreign_open(AT_FDCWD, path, MT_LINKS_ALL, &status);
	struct defines defines = {0};
	bool chosen = false;

	if (fd >= 0)
		defines = look_into(fd, path);
	choice->has_go |= defines.is_go;
	if (!choice->has_malloc)
		chosen = defines.malloc_in >= MALLOC_IN_LIBC ||
			 (defines.malloc_in == MALLOC_IN_SYMBOLS && !choice->out->items.count);
	chosen |= !choice->has_new && defines.has_own_new;
	if (chosen)
		choice->failed |= !mt_probe_files_add(choice->out, fd, &status, path, strlen(path));
	else
		mt_close_p(&fd);
	choice->has_malloc |= defines.malloc_in >= MALLOC_IN_LIBC;
	choice->has_new |= defines.has_new;
	return !choice->has_malloc || !choice->has_new;
}

static struct mt_error *none_found(const struct mt_probe_targets *targets,
				   const struct surveyed *seen)
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
	struct surveyed seen;
	struct mt_error *err = survey_targets(targets, out, left_out, &seen);

	if (err)
		return err;
	if (targets->command_file)
		mt_needed_files_each(targets->command_file, take_needed, &choice);
	if (choice.failed)
		return mt_error_nomem();
	seen.has_go |= choice.has_go;
	return out->items.count ? NULL : none_found(targets, &seen);
}
