/*
 * Lists processes by pid. Each process has its map as of the last record applied, and its map
 * before each change since the last mt_code_maps_settle(). The earlier maps are snapshots, which
 * share mappings until one of them changes.
 */
#include "record/write/code_maps.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "unwind/sample_stack.h"

#define EXITED_KEPT 512
#define IMAGES_MAX 16384 /* distinct files; frames in further files are not unwound */
#define PATH_ROOM 4096
/*
 * Number of mappings, 40 bytes each, that changes may copy between two calls of
 * mt_code_maps_settle(). Past this number, a later map is used for an earlier time. Only a process
 * that maps thousands of times within a moment gets there, and its new mappings mostly do not
 * replace old ones.
 */
#define COPIED_MAX ((size_t)1 << 18)

/* A map as it was before a time. */
struct past {
	uint64_t until;
	struct mt_image_map *map; /* a snapshot */
};

struct process {
	int32_t pid;
	uint32_t threads;
	uint64_t serial; /* number of its fork, because pids are reused */
	struct mt_image_map *map;
	MT_ARRAY(struct past) past;
	struct process *next, **link;
};

struct exited {
	int32_t pid;
	uint64_t serial;
};

struct mt_code_maps {
	struct mt_image_set *images;
	struct mt_image *other;	      /* the image of all files past IMAGES_MAX */
	struct mt_image_map *nothing; /* the map of unknown processes */
	struct mt_map64 by_pid;	      /* pid -> pointer to a process */
	struct process *all;
	MT_ARRAY(struct process *) changed; /* processes with past maps */
	MT_ARRAY(struct exited) exited;
	uint64_t serial;
	size_t copied;
};

struct mt_code_maps *mt_code_maps_create(struct mt_image_set *images)
{
	const struct mt_image_identity other = {.path = "/other files"};
	struct mt_code_maps *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return NULL;
	maps->images = images;
	maps->other = mt_image_set_intern(images, &other);
	maps->nothing = mt_image_map_create();
	if (!maps->other || !maps->nothing) {
		mt_code_maps_destroy(maps);
		return NULL;
	}
	return maps;
}

static void forget_past(struct process *process)
{
	for (size_t i = 0; i < process->past.count; i++)
		mt_image_map_release(process->past.items[i].map);
	process->past.count = 0;
}

static void process_destroy(struct process *process)
{
	forget_past(process);
	mt_array_deinit(&process->past);
	mt_image_map_destroy(process->map);
	*process->link = process->next;
	if (process->next)
		process->next->link = process->link;
	free(process);
}

void mt_code_maps_destroy(struct mt_code_maps *maps)
{
	if (!maps)
		return;
	while (maps->all)
		process_destroy(maps->all);
	mt_image_map_destroy(maps->nothing);
	mt_map64_deinit(&maps->by_pid);
	mt_array_deinit(&maps->changed);
	mt_array_deinit(&maps->exited);
	free(maps);
}

static struct process *find_process(const struct mt_code_maps *maps, int32_t pid)
{
	uint64_t at;

	return mt_map64_get(&maps->by_pid, (uint32_t)pid, &at) ? (struct process *)(uintptr_t)at
							       : NULL;
}

/* Returns the process with this pid, added if it is unknown; NULL out of memory. */
static struct process *process_of(struct mt_code_maps *maps, int32_t pid)
{
	struct process *process = find_process(maps, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->serial = ++maps->serial;
	process->map = mt_image_map_create();
	if (!process->map ||
	    !mt_map64_put(&maps->by_pid, (uint32_t)pid, (uint64_t)(uintptr_t)process)) {
		mt_image_map_destroy(process->map);
		free(process);
		return NULL;
	}
	process->next = maps->all;
	process->link = &maps->all;
	if (maps->all)
		maps->all->link = &process->next;
	maps->all = process;
	return process;
}

/* Keeps the map for times before `time`. Call before the map changes or is destroyed. */
static bool keep_past(struct mt_code_maps *maps, struct process *process, uint64_t time)
{
	size_t count = mt_image_map_count(process->map);
	struct mt_image_map *map;

	if (maps->copied + count > COPIED_MAX)
		return true;
	maps->copied += count + 1;
	if (!process->past.count && !mt_array_append(&maps->changed, process))
		return false;
	map = mt_image_map_snapshot(process->map);
	if (map && mt_array_append(&process->past, (struct past){time, map}))
		return true;
	mt_image_map_release(map);
	return false;
}

static struct mt_image *intern_image(struct mt_code_maps *maps,
				     const struct mt_image_identity *identity)
{
	return mt_image_set_count(maps->images) < IMAGES_MAX
		       ? mt_image_set_intern(maps->images, identity)
		       : maps->other;
}

/* ---- Records ---- */

static bool put_mapping(struct mt_code_maps *maps, struct process *process,
			struct mt_mapped *mapped)
{
	mapped->mapping.image = intern_image(maps, &mapped->identity);
	if (!mapped->mapping.image)
		return false;
	return mt_image_map_insert(process->map, &mapped->mapping);
}

bool mt_code_maps_add_task(struct mt_code_maps *maps, const struct mt_task_record *record)
{
	struct process *process = process_of(maps, record->pid);

	if (process)
		process->threads++;
	return process;
}

bool mt_code_maps_add_map(struct mt_code_maps *maps, const struct mt_map_record *record)
{
	struct process *process = process_of(maps, record->pid);
	char path[PATH_ROOM] = "//anon";
	struct mt_mapped mapped;

	if (!process)
		return false;
	if (record->path.size >= sizeof(path) || record->end <= record->start)
		return true;
	if (record->path.size) {
		memcpy(path, record->path.bytes, record->path.size);
		path[record->path.size] = '\0';
	}
	mapped = mt_mapped_by_state(record, path);
	return put_mapping(maps, process, &mapped);
}

static bool apply_mmap(struct mt_code_maps *maps, const struct mt_kernel_record *record,
		       uint64_t time)
{
	struct process *process;
	struct mt_mapped mapped;

	if (!mt_mapped_by_kernel(record, &mapped) || !record->length)
		return true;
	process = process_of(maps, record->pid);
	return process && keep_past(maps, process, time) && put_mapping(maps, process, &mapped);
}

static bool apply_fork(struct mt_code_maps *maps, const struct mt_kernel_record *record,
		       uint64_t time)
{
	struct process *parent = process_of(maps, record->ppid), *child;
	struct mt_image_map *map;

	child = parent ? process_of(maps, record->pid) : NULL;
	if (!child)
		return false;
	if (child == parent) { /* a thread */
		child->threads++;
		return true;
	}
	map = mt_image_map_copy(parent->map);
	if (!map || !keep_past(maps, child, time)) {
		mt_image_map_destroy(map);
		return false;
	}
	mt_image_map_destroy(child->map);
	child->map = map;
	child->threads = 1;
	child->serial = ++maps->serial;
	return true;
}

/* Applies an exec, which makes a new, empty address space. The other threads exited before. */
static bool apply_exec(struct mt_code_maps *maps, const struct mt_kernel_record *record,
		       uint64_t time)
{
	struct process *process = process_of(maps, record->pid);

	if (!process || !keep_past(maps, process, time))
		return false;
	mt_image_map_clear(process->map);
	process->threads = 1;
	return true;
}

static bool apply_exit(struct mt_code_maps *maps, const struct mt_kernel_record *record)
{
	struct process *process = find_process(maps, record->pid);

	return !process || !process->threads || --process->threads ||
	       mt_array_append(&maps->exited, (struct exited){process->pid, process->serial});
}

bool mt_code_maps_apply(struct mt_code_maps *maps, const struct mt_kernel_record *record,
			uint64_t time)
{
	switch (record->type) {
	case MT_KERNEL_MMAP:
	case MT_KERNEL_MMAP2:
		return apply_mmap(maps, record, time);
	case MT_KERNEL_COMM:
		return !record->exec || apply_exec(maps, record, time);
	case MT_KERNEL_FORK:
		return apply_fork(maps, record, time);
	case MT_KERNEL_EXIT:
		return apply_exit(maps, record);
	default:
		return true;
	}
}

const struct mt_image_map *mt_code_maps_find(const struct mt_code_maps *maps, int32_t pid,
					     uint64_t time)
{
	const struct process *process = find_process(maps, pid);
	size_t over;

	if (!process)
		return maps->nothing;
	over = mt_array_split(process->past.count, at, process->past.items[at].until <= time);
	return over < process->past.count ? process->past.items[over].map : process->map;
}

static void forget_exited(struct mt_code_maps *maps)
{
	size_t gone = maps->exited.count > EXITED_KEPT ? maps->exited.count - EXITED_KEPT : 0;

	for (size_t i = 0; i < gone; i++) {
		const struct exited *exited = &maps->exited.items[i];
		struct process *process = find_process(maps, exited->pid);

		if (!process || process->serial != exited->serial || process->threads)
			continue;
		(void)mt_map64_remove(&maps->by_pid, (uint32_t)exited->pid);
		process_destroy(process);
	}
	if (gone)
		memmove(maps->exited.items, maps->exited.items + gone,
			(maps->exited.count - gone) * sizeof(*maps->exited.items));
	maps->exited.count -= gone;
}

void mt_code_maps_settle(struct mt_code_maps *maps)
{
	for (size_t i = 0; i < maps->changed.count; i++)
		forget_past(maps->changed.items[i]);
	maps->changed.count = 0;
	maps->copied = 0;
	forget_exited(maps);
}

size_t mt_code_maps_count(const struct mt_code_maps *maps)
{
	return maps->by_pid.count;
}
