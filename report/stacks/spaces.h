/*
 * Tasks by tid with their names and address spaces, at a moment of the recording. Apply the
 * recording's TASK and MAP records first, then the kernel's COMM, FORK, EXIT, MMAP and MMAP2
 * records in order of time.
 *
 * A process has a new address space after exec. An address space begins with a fork or an exec, and
 * the threads of a process share it.
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
	uint32_t id; /* index in order of appearance */
	int32_t pid;
	/* Clock ticks since boot if the recording has them, or ns of the fork; 0: unknown. */
	uint64_t start_time;
	uint32_t generation; /* number of execs of the process before this space */
	uint32_t comm;	     /* string id: name of the first thread */
	uint32_t cgroup;     /* string id: cgroup path; 0: unknown */
	uint32_t exe;	     /* string id: path of the program; 0: unknown */
	uint32_t threads;    /* tasks in this space now */
	bool chosen;	     /* -u, -G, -p and -t do not exclude it */
	bool named;	     /* --comm does not exclude it; a target is chosen and named */
	bool other_names;    /* --comm excluded some threads of the space */
	bool recorder;	     /* mtrec's child before it executes the command */
	bool unused;	     /* created by a FORK record, but the child shares the parent's space */
	struct mt_image_map *map;    /* not NULL while a task runs in the space */
	struct mt_jit_mappings made; /* mappings of code described by a jitdump */
};

/* The last mapping that a thread made. */
struct mt_task_map {
	uint64_t start, end; /* both 0: none */
	uint32_t name;	     /* string id */
};

struct mt_task {
	int32_t pid, tid, ppid;
	uint32_t comm; /* string id */
	struct mt_space *space;
	struct mt_task_map map;
	bool exited;
};

/* Borrows all arguments. Adds the ids of images mapped executable to `code` as keys. */
struct mt_spaces *mt_spaces_create(struct mt_image_set *images, struct mt_strings *strings,
				   struct mt_map64 *code);
void mt_spaces_destroy(struct mt_spaces *spaces);

/*
 * Finds images for generated code that a process mapped at a time (0: before the recording).
 * image() returns the image for its perf map, dump() that of a jitdump that the process maps;
 * `unreported` is the image for code that the dump does not describe. NULL: no image.
 */
struct mt_spaces_jit {
	struct mt_image *(*image)(void *context, int32_t pid, uint64_t time);
	struct mt_image *(*dump)(void *context, const struct mt_image_identity *dump, uint64_t time,
				 struct mt_image *unreported);
	void *context;
};

/*
 * Sets the cgroup of processes without a TASK record or a parent, from a line of /proc/PID/cgroup.
 */
void mt_spaces_set_cgroup(struct mt_spaces *spaces, const struct mt_text *line);

/* Takes an INFO record that may name mtrec's targets; call before any task. */
void mt_spaces_set_fact(struct mt_spaces *spaces, const char *key, const char *value);

/* Marks the space as that of a target, because it has a sample. */
static inline void mt_space_sampled(struct mt_space *space)
{
	space->chosen = space->named = true;
}

static inline bool mt_space_is_target(const struct mt_space *space)
{
	return space->chosen && space->named;
}

/* Sets the resolver for later executable mappings without a file; borrows the context. */
void mt_spaces_set_jit(struct mt_spaces *spaces, const struct mt_spaces_jit *jit);

/* Add tasks and mappings from before the recording. */
void mt_spaces_add_task(struct mt_spaces *spaces, const struct mt_task_record *record);
void mt_spaces_add_map(struct mt_spaces *spaces, const struct mt_map_record *record);

/* Applies COMM, FORK, EXIT, MMAP and MMAP2 records; ignores others. */
void mt_spaces_apply(struct mt_spaces *spaces, const struct mt_kernel_record *record);

/* Updates the map to the code that was generated up to `time`. */
void mt_spaces_come_to(struct mt_space *space, uint64_t time);

/*
 * The task of a sample, created if unknown (named ":TID", as perf does). Valid
 * until the spaces are destroyed; its fields change with later records.
 */
struct mt_task *mt_spaces_task(struct mt_spaces *spaces, int32_t pid, int32_t tid);

/* True if the task is mtrec's child before it executes the command. Its samples are ignored. */
bool mt_spaces_is_recorder(const struct mt_spaces *spaces, int32_t tid);

/* The present task with this tid, or NULL. */
const struct mt_task *mt_spaces_find(const struct mt_spaces *spaces, int32_t tid);

/* Moves a process to another cgroup, if `hierarchy` is the hierarchy that accounts memory. */
void mt_spaces_move(struct mt_spaces *spaces, int32_t pid, uint64_t hierarchy,
		    const struct mt_text *path);

/* Makes task `child` share its parent's space, although its FORK record created a copy. */
void mt_spaces_share(struct mt_spaces *spaces, int32_t parent, int32_t child);

/* Numbers of all tasks and processes seen. */
size_t mt_spaces_tasks(const struct mt_spaces *spaces);
size_t mt_spaces_processes(const struct mt_spaces *spaces);

/* True if --comm recorded some threads of a process and excluded others. */
bool mt_spaces_in_part(const struct mt_spaces *spaces);

#endif
