/*
 * Who is who at a moment of the recording: tasks by tid with their comm, and the address space that
 * each runs in. Fed with the recording's TASK and MAP records first, then with the kernel's COMM,
 * FORK, EXIT, MMAP and MMAP2 in time order; so at each sample it tells how things stand just then.
 *
 * An address space is not a pid: it begins with a fork or an exec, and the threads of a process
 * share it.
 */
#ifndef MT_REPORT_STACKS_SPACES_H
#define MT_REPORT_STACKS_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/jit/jit_mappings.h"

struct mt_image;
struct mt_image_identity;
struct mt_image_map;
struct mt_image_set;
struct mt_kernel_record;
struct mt_map64;
struct mt_map_record;
struct mt_spaces;
struct mt_strings;
struct mt_task_record;
struct mt_text;

struct mt_space {
	uint32_t id; /* counts from 0 in order of first sight */
	int32_t pid;
	uint64_t start_time; /* clock ticks since boot where the recording says so, or the ns of its
				fork; 0 unknown */
	uint32_t generation; /* how many execs of this process came before it */
	uint32_t comm;	     /* string id: of its first thread */
	uint32_t cgroup;     /* string id: its path; 0 not known */
	uint32_t threads;    /* tasks known to run in it now */
	bool unused;	     /* made by a FORK whose child shares its parent's after all */
	struct mt_image_map *map;    /* never NULL while a task runs in it */
	struct mt_jit_mappings made; /* as a jitdump tells */
};

/* The last mapping that the kernel told of in a thread. */
struct mt_task_map {
	uint64_t start, end; /* 0 and 0: none yet */
	uint32_t name;	     /* string id */
};

struct mt_task {
	int32_t pid, tid, ppid;
	uint32_t comm; /* id in strings */
	struct mt_space *space;
	struct mt_task_map map;
	bool exited;
};

/*
 * NULL out of memory. Borrows all; `code` gets the id of each image that is mapped executable
 * somewhere, as key.
 */
struct mt_spaces *mt_spaces_create(struct mt_image_set *images, struct mt_strings *strings,
				   struct mt_map64 *code);
void mt_spaces_destroy(struct mt_spaces *spaces);

/*
 * Who knows the image that stands for anonymous code of a process that is mapped at a time (0:
 * before the recording): by its perf map, and by a jitdump that it maps, with an image for what
 * that does not tell of. They give NULL for none.
 */
struct mt_spaces_jit {
	struct mt_image *(*image)(void *context, int32_t pid, uint64_t time);
	struct mt_image *(*dump)(void *context, const struct mt_image_identity *dump, uint64_t time,
				 struct mt_image *untold);
	void *context;
};

/*
 * The cgroup of processes that begin without a TASK or a parent: a line of /proc/PID/cgroup. False
 * out of memory.
 */
bool mt_spaces_set_cgroup(struct mt_spaces *spaces, const struct mt_text *line);

/* Asked for each executable mapping of no file from now on; borrows the context. */
void mt_spaces_set_jit(struct mt_spaces *spaces, const struct mt_spaces_jit *jit);

/* What already ran. False out of memory. */
bool mt_spaces_add_task(struct mt_spaces *spaces, const struct mt_task_record *record);
bool mt_spaces_add_map(struct mt_spaces *spaces, const struct mt_map_record *record);

/*
 * What happened: COMM, FORK, EXIT, MMAP, MMAP2; other records change nothing. False out of memory.
 */
bool mt_spaces_apply(struct mt_spaces *spaces, const struct mt_kernel_record *record);

/* Time comes to a sample in that space: what code stands where. False out of memory. */
bool mt_spaces_come_to(struct mt_space *space, uint64_t time);

/*
 * The task of a sample, made where the recording did not tell of it (its comm is then ":TID", as
 * perf has it). NULL out of memory. Holds until the spaces are destroyed; what it says changes with
 * the next apply.
 */
struct mt_task *mt_spaces_task(struct mt_spaces *spaces, int32_t pid, int32_t tid);

/* The present task of that tid, or NULL. */
const struct mt_task *mt_spaces_find(const struct mt_spaces *spaces, int32_t tid);

/*
 * The task `child` runs in `parent`'s space, although its FORK record made a copy for it. False out
 * of memory.
 */
bool mt_spaces_share(struct mt_spaces *spaces, int32_t parent, int32_t child);

/* How many tasks and processes were seen in all. */
size_t mt_spaces_tasks(const struct mt_spaces *spaces);
size_t mt_spaces_processes(const struct mt_spaces *spaces);

#endif
