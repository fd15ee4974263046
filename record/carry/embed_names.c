/* Each slice of a file of names becomes one piece of the carried file (FORMAT.md section 8). */
#include "record/carry/embed_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/records/record.h"
#include "record/carry/jit_files.h"
#include "record/carry/perf_maps.h"
#include "record/files/file_worker.h"
#include "record/files/mapped_file.h"
#include "record/open/clock.h"
#include "record/proc/procfs.h"
#include "symbols/names/kernel_lines.h"
#include "symbols/tables/address_sort.h"

#define LOOK_NS 500000000ull	      /* interval at which the thread looks for new files */
#define MAP_MAX ((uint64_t)256 << 20) /* bytes of a perf map, or of a jitdump without code */
#define SLICE ((size_t)1 << 20)
#define PIECES_MAX 16384 /* pieces while recording; a reader lists at most 65,536 chunks */

MT_DEFINE_CLEANUP(mt_kernel_lines, struct mt_kernel_lines)

struct mt_embed_names {
	struct mt_skeleton_wish wish;
	struct mt_embed_names_sink sink;
	struct mt_file_worker *worker;
	struct mt_perf_maps *maps;
	struct mt_jit_files *dumps;
	uint64_t next_look; /* time of the next search for new names */
	unsigned int pieces;
	uint64_t kernel_time;	      /* time of the last piece of kernel names; 0: none */
	bool kernel_whole;	      /* all kernel names were carried, or none has an address */
	bool kernel_all, kernel_news; /* carry all kernel names; new addresses have arrived */
	MT_ARRAY(uint64_t) kernel;    /* addresses whose names are to be carried */
	struct mt_kernel_text kernel_text;
	uint8_t *slice; /* SLICE bytes, allocated on first use */
};

struct mt_embed_names *mt_embed_names_create(const struct mt_skeleton_wish *wish,
					     const struct mt_embed_names_sink *sink,
					     struct mt_file_worker *worker)
{
	struct mt_embed_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->wish = *wish;
	names->sink = *sink;
	names->worker = worker;
	names->maps = mt_perf_maps_create(worker);
	names->dumps = mt_jit_files_create(worker, wish->unwind, wish->lines);
	if (names->maps && names->dumps)
		return names;
	mt_embed_names_destroy(names);
	return NULL;
}

void mt_embed_names_destroy(struct mt_embed_names *names)
{
	if (!names)
		return;
	mt_perf_maps_destroy(names->maps);
	mt_jit_files_destroy(names->dumps);
	free(names->slice);
	mt_kernel_text_deinit(&names->kernel_text);
	mt_array_deinit(&names->kernel);
	free(names);
}

static bool have_slice(struct mt_embed_names *names)
{
	if (!names->slice)
		names->slice = malloc(SLICE);
	return names->slice;
}

static bool put(const struct mt_embed_names *names, uint64_t time,
		const struct mt_file_record *file, const uint8_t *bytes)
{
	return names->sink.put(names->sink.context, time, file, bytes);
}

static void notify(const struct mt_embed_names *names, const char *path, const char *problem)
{
	const struct mt_text text = {.bytes = path, .size = strlen(path)};

	names->sink.problem(names->sink.context, &text, problem);
}

/* Returns the size up to the last newline, inclusive; the whole size if there is no newline. */
static size_t whole_lines(const uint8_t *bytes, size_t size)
{
	const uint8_t *last = size ? memrchr(bytes, '\n', size) : NULL;

	return last ? (size_t)(last - bytes) + 1 : size;
}

/* ---- Perf maps ---- */

static bool put_perf_map(const struct mt_embed_names *names, uint64_t time,
			 const struct mt_perf_map_file *map, size_t size, bool continued)
{
	const struct mt_file_record file = {
		.kind = MT_FILE_PERF_MAP,
		.kept = (continued ? MT_KEPT_CONTINUED : 0) | (map->replaces ? MT_KEPT_ANEW : 0),
		.pid = map->pid,
		.major = major(map->status.st_dev),
		.minor = minor(map->status.st_dev),
		.inode = map->status.st_ino,
		.original_size = (uint64_t)map->status.st_size,
		.size = size,
		.path = {.bytes = map->path, .size = strlen(map->path)},
	};

	return put(names, time, &file, names->slice);
}

/*
 * Returns false if the file was rewritten: its last carried byte is missing, or is not a newline.
 */
static bool is_same_text(const struct mt_embed_names *names, const struct mt_perf_map_file *map)
{
	uint8_t last;

	return !map->carried ||
	       ((uint64_t)map->status.st_size >= map->carried &&
		mt_file_worker_read(names->worker, map->fd, map->carried - 1, &last, 1) == 1 &&
		last == '\n');
}

/* If the file was rewritten, makes the next piece begin at the start of the file. */
static void check_text(const struct mt_embed_names *names, struct mt_perf_map_file *map)
{
	if (is_same_text(names, map))
		return;
	map->carried = 0;
	map->replaces = true;
	map->anew++;
}

/*
 * Reads the next slice of whole lines and returns its size; 0 if no line is complete. *all: the
 * file was read up to `end`.
 */
static size_t next_lines(struct mt_embed_names *names, const struct mt_perf_map_file *map,
			 uint64_t end, bool *all)
{
	uint64_t left = end > map->carried ? end - map->carried : 0;
	size_t size = mt_file_worker_read(names->worker, map->fd, map->carried, names->slice,
					  left < SLICE ? left : SLICE),
	       lines = whole_lines(names->slice, size);

	*all = size == left;
	if (lines && names->slice[lines - 1] != '\n' && size < SLICE)
		return 0;
	return lines;
}

static bool carry_piece(struct mt_embed_names *names, uint64_t time, struct mt_perf_map_file *map,
			size_t size)
{
	time = mt_perf_map_piece_time(map, time);
	if (!put_perf_map(names, time, map, size, true))
		return false;
	map->carried += size;
	map->time = time;
	map->in_pieces = true;
	map->replaces = false;
	names->pieces++;
	return true;
}

static uint64_t end_of(const struct mt_perf_map_file *map)
{
	uint64_t all = (uint64_t)map->status.st_size;

	return all < MAP_MAX ? all : MAP_MAX;
}

/* Carries the whole lines added since the last piece; an incomplete line is left for later. */
static void carry_pieces(struct mt_embed_names *names, uint64_t time, struct mt_perf_map_file *map)
{
	bool all = false;
	size_t size;

	check_text(names, map);
	while (!all && names->pieces < PIECES_MAX) {
		size = next_lines(names, map, end_of(map), &all);
		if (!size || !carry_piece(names, time, map, size))
			return;
	}
}

/*
 * Carries the remainder of the file as the last piece. If pieces were carried before and nothing
 * remains, the last piece is an empty line.
 */
static void carry_end(struct mt_embed_names *names, struct mt_perf_map_file *map)
{
	uint64_t end = end_of(map);
	size_t size;

	check_text(names, map);
	while (end > map->carried && end - map->carried > SLICE) {
		size = mt_file_worker_read(names->worker, map->fd, map->carried, names->slice,
					   SLICE);
		size = whole_lines(names->slice, size);
		if (!size || !carry_piece(names, map->read, map, size))
			return;
	}
	size = mt_file_worker_read(names->worker, map->fd, map->carried, names->slice,
				   end > map->carried ? end - map->carried : 0);
	if (!size && map->in_pieces) {
		names->slice[size++] = '\n';
		map->replaces = false; /* the file was truncated for the next program */
	}
	if (size && put_perf_map(names, map->read, map, size, false) &&
	    end < (uint64_t)map->status.st_size)
		notify(names, map->path, "too large: its end is left out");
}

/* Carries the remainder of a perf map, and closes map->fd. */
static void carry_perf_map(struct mt_embed_names *names, struct mt_perf_map_file *map)
{
	if (names->wish.names && have_slice(names))
		carry_end(names, map);
	mt_file_worker_close(names->worker, map->fd);
	mt_perf_maps_keep_time(names->maps, map->pid, map->time);
}

void mt_embed_names_see_process(struct mt_embed_names *names, int32_t pid, uint64_t exec_time)
{
	struct mt_perf_map_file map;

	if (exec_time && mt_perf_maps_take(names->maps, pid, exec_time, &map))
		carry_perf_map(names, &map);
	mt_perf_maps_add(names->maps, pid);
}

/* ---- Jitdumps ---- */

void mt_embed_names_see_jitdump(struct mt_embed_names *names, int fd,
				const struct mt_mapped_file *file)
{
	if (!names->wish.names)
		mt_file_worker_close(names->worker, fd);
	else if (!mt_jit_files_add(names->dumps, fd, file))
		names->sink.problem(names->sink.context, &file->path,
				    "there are too many jitdumps");
}

static bool put_jitdump(const struct mt_embed_names *names, struct mt_jit_file *dump, uint64_t time,
			const uint8_t *bytes, size_t size, bool continued)
{
	const struct mt_file_record file = {
		.kind = MT_FILE_JITDUMP,
		.kept = continued ? MT_KEPT_CONTINUED : 0,
		.pid = dump->pid,
		.major = dump->major,
		.minor = dump->minor,
		.inode = dump->inode,
		.inode_generation = dump->inode_generation,
		.original_size = dump->size,
		.size = size,
		.path = {.bytes = dump->path, .size = strlen(dump->path)},
	};

	dump->time = time > dump->time ? time : dump->time + 1;
	dump->carried += size;
	return put(names, dump->time, &file, bytes);
}

/* Carries the complete records added since the last piece. */
static void carry_jitdump(struct mt_embed_names *names, uint64_t time, struct mt_jit_file *dump)
{
	size_t size;

	while (!dump->ended && names->pieces < PIECES_MAX) {
		size = mt_jitdump_copy(&dump->copy, dump->size, names->slice, SLICE);
		if (!size)
			return;
		if (dump->carried + size > MAP_MAX) {
			notify(names, dump->path, "too large: its end is left out");
			dump->ended = true;
		} else {
			dump->ended = !put_jitdump(names, dump, time, names->slice, size, true);
		}
		names->pieces++;
	}
}

/* Ends the pieces of a jitdump with a header without records, and reports what is missing. */
static void end_jitdump(struct mt_embed_names *names, uint64_t time, struct mt_jit_file *dump)
{
	if (dump->time)
		(void)put_jitdump(names, dump, time, dump->copy.header, sizeof(dump->copy.header),
				  false);
	if (!dump->copy.at && dump->size)
		notify(names, dump->path, "it is no jitdump");
	if (dump->copy.left_out)
		notify(names, dump->path, "some records of it are too large");
}

/* ---- Kernel symbols ---- */

const struct mt_kernel_files mt_kernel_files = {"/proc/kallsyms", "/proc/modules"};

void mt_kernel_text_deinit(struct mt_kernel_text *text)
{
	free(text->lines);
	free(text->modules);
	*text = (struct mt_kernel_text){0};
}

/*
 * Returns true if the lines were read when the same modules were loaded as now. `modules` is NULL
 * if the kernel has no modules.
 */
static bool is_current(const struct mt_kernel_text *text, const char *modules)
{
	return text->lines && (modules && text->modules ? !strcmp(modules, text->modules)
							: !modules && !text->modules);
}

bool mt_kernel_text_update(struct mt_kernel_text *text, const struct mt_kernel_files *files)
{
	MT_CLEANUP_FREE char *modules = mt_read_text(files->modules, NULL);
	char *lines, *exact;
	size_t size;

	if (is_current(text, modules))
		return true;
	lines = mt_read_text(files->symbols, &size);
	if (!lines)
		return false;
	size = mt_kernel_lines_functions(lines, size);
	exact = realloc(lines, size + 1);
	mt_kernel_text_deinit(text);
	*text = (struct mt_kernel_text){exact ? exact : lines, size, MT_TAKE(modules)};
	return true;
}

static bool put_kernel(struct mt_embed_names *names, uint64_t time, const uint8_t *bytes,
		       size_t size, bool continued)
{
	const struct mt_file_record file = {
		.kind = MT_FILE_KERNEL_SYMBOLS,
		.kept = continued ? MT_KEPT_CONTINUED : 0,
		.original_size = size,
		.size = size,
		.path = {.bytes = mt_kernel_files.symbols, .size = strlen(mt_kernel_files.symbols)},
	};

	if (names->kernel_time || continued)
		names->kernel_time = time > names->kernel_time ? time : names->kernel_time + 1;
	return put(names, names->kernel_time, &file, bytes);
}

/* Puts the selected lines, or all if lines is NULL; returns the number of bytes. */
static uint64_t put_lines(struct mt_embed_names *names, uint64_t time,
			  struct mt_kernel_lines *lines, bool last)
{
	const uint8_t *text = (const uint8_t *)names->kernel_text.lines;
	size_t size = names->kernel_text.size, n;
	uint64_t sum = 0;

	for (size_t at = 0, kept; at < size; at += n) {
		n = whole_lines(text + at, size - at < SLICE ? size - at : SLICE);
		memcpy(names->slice, text + at, n);
		kept = lines ? mt_kernel_lines_keep(lines, names->slice, n) : n;
		sum += kept;
		if (kept && !put_kernel(names, time, names->slice, kept, !last || at + n < size))
			break;
	}
	return sum;
}

void mt_embed_names_see_kernel(struct mt_embed_names *names, struct mt_kernel_news *news)
{
	MT_CLEANUP_FREE uint64_t *addresses = MT_TAKE(news->addresses);

	names->kernel_all |= news->all;
	names->kernel_news |= addresses != NULL;
	if (!news->count || !mt_array_extend(&names->kernel, addresses, news->count))
		return;
	names->kernel_all |= !mt_number_sort(names->kernel.items, names->kernel.count);
}

/* Carries the kernel names at the queued addresses. */
static void carry_kernel(struct mt_embed_names *names, uint64_t time, bool last)
{
	MT_CLEANUP(mt_kernel_lines_destroy_p) struct mt_kernel_lines *lines = NULL;
	bool all = names->kernel_all;
	uint64_t sum;

	if (names->kernel_whole || (!names->kernel.count && !all) || !have_slice(names))
		return;
	if (!mt_kernel_text_update(&names->kernel_text, &mt_kernel_files)) {
		notify(names, mt_kernel_files.symbols, strerror(errno));
		return;
	}
	lines = all ? NULL : mt_kernel_lines_create(names->kernel.items, names->kernel.count);
	if (!lines && !all)
		return;
	if (lines)
		mt_kernel_lines_see(lines, names->kernel_text.lines, names->kernel_text.size);
	sum = put_lines(names, time, lines, last);
	names->kernel_whole = all || !sum;
	if (!sum)
		notify(names, mt_kernel_files.symbols, "it shows no addresses (kptr_restrict)");
	names->kernel.count = 0;
}

/* ---- Schedule ---- */

bool mt_embed_names_is_due(const struct mt_embed_names *names)
{
	return mt_clock_monotonic() >= names->next_look;
}

void mt_embed_names_so_far(struct mt_embed_names *names, uint64_t now)
{
	uint64_t clock = mt_clock_monotonic();
	struct mt_perf_map_file *map;
	struct mt_jit_file *dump;

	names->next_look = clock + LOOK_NS;
	mt_perf_maps_look(names->maps, clock);
	if (names->kernel_news)
		carry_kernel(names, now, false);
	names->kernel_news = false;
	if (!now || !names->wish.names || !have_slice(names))
		return;
	while (names->pieces < PIECES_MAX && (map = mt_perf_maps_next_changed(names->maps, clock)))
		carry_pieces(names, now, map);
	while (names->pieces < PIECES_MAX && (dump = mt_jit_files_next_grown(names->dumps, clock)))
		carry_jitdump(names, now, dump);
}

void mt_embed_names_rest(struct mt_embed_names *names, uint64_t now)
{
	struct mt_perf_map_file map;
	struct mt_jit_file *dump;

	if (!names->wish.names || !have_slice(names))
		return;
	while (mt_perf_maps_take_last(names->maps, now, &map))
		carry_perf_map(names, &map);
	mt_jit_files_rewind(names->dumps);
	while ((dump = mt_jit_files_next_grown(names->dumps, UINT64_MAX)))
		carry_jitdump(names, now, dump);
	for (size_t i = 0; (dump = mt_jit_files_get(names->dumps, i)); i++)
		end_jitdump(names, now, dump);
	carry_kernel(names, now, true);
}
