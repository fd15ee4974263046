/*
 * Tasks and spaces over time. The present task of each tid is found by a map; a reused tid gets a
 * new task. Spaces are found by their tasks, or by pid for mappings.
 */
#include "report/stacks/spaces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "formats/records/jitdump.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "report/stacks/chosen.h"
#include "report/stacks/code_class.h"
#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "unwind/sample_stack.h"

/*
 * The map of an exited process is kept until this many later processes have exited. If the record
 * of a FORK was lost, samples of an unknown thread of the process may follow.
 */
enum {
	EXITED_KEPT = 512,
};

struct mt_spaces {
	struct mt_image_set *images;
	struct mt_strings *strings;
	struct mt_map64 *code;
	struct mt_chosen *chosen;
	struct mt_map64 by_tid; /* index in tasks */
	struct mt_map64 by_pid; /* index in spaces */
	MT_ARRAY(struct mt_task *) tasks;
	MT_ARRAY(struct mt_space *) spaces;
	uint32_t exited[EXITED_KEPT]; /* a ring of space ids */
	size_t exited_count;
	size_t processes;
	uint32_t cgroup;    /* string id: cgroup of processes without a record */
	uint64_t hierarchy; /* number of the cgroup hierarchy that accounts memory */
	bool everybody;	    /* every process was recorded, so also mtrec's child before its exec */
	int32_t command;    /* pid of mtrec's command; 0: unknown, or not needed */
	struct mt_spaces_jit jit;
};

struct mt_spaces *mt_spaces_create(struct mt_image_set *images, struct mt_strings *strings,
				   struct mt_map64 *code)
{
	struct mt_spaces *spaces = mt_alloc(1, sizeof(*spaces));

	spaces->chosen = mt_chosen_create();
	spaces->images = images;
	spaces->strings = strings;
	spaces->code = code;
	return spaces;
}

void mt_spaces_destroy(struct mt_spaces *spaces)
{
	if (!spaces)
		return;
	for (size_t i = 0; i < spaces->tasks.count; i++)
		free(spaces->tasks.items[i]);
	for (size_t i = 0; i < spaces->spaces.count; i++) {
		mt_image_map_destroy(spaces->spaces.items[i]->map);
		free(spaces->spaces.items[i]);
	}
	mt_array_deinit(&spaces->tasks);
	mt_array_deinit(&spaces->spaces);
	mt_chosen_destroy(spaces->chosen);
	mt_map64_deinit(&spaces->by_tid);
	mt_map64_deinit(&spaces->by_pid);
	free(spaces);
}

/* Creates the present space of pid, with a copy of parent's map or an empty one. */
static struct mt_space *new_space(struct mt_spaces *spaces, int32_t pid,
				  const struct mt_space *parent)
{
	struct mt_space *space = mt_alloc(1, sizeof(*space));

	space->id = (uint32_t)spaces->spaces.count;
	space->pid = pid;
	space->comm = parent ? parent->comm : 0;
	space->cgroup = parent ? parent->cgroup : spaces->cgroup;
	space->exe = parent ? parent->exe : 0;
	space->chosen = parent ? parent->chosen : !mt_chosen_by_process(spaces->chosen);
	space->named = parent ? parent->named : !mt_chosen_by_name(spaces->chosen);
	space->other_names = parent && parent->other_names;
	if (parent)
		space->made = parent->made;
	space->map = parent && parent->map ? mt_image_map_copy(parent->map) : mt_image_map_create();
	mt_array_append(&spaces->spaces, space);
	mt_map64_put(&spaces->by_pid, (uint32_t)pid, space->id);
	return space;
}

static struct mt_space *find_space(const struct mt_spaces *spaces, int32_t pid)
{
	uint64_t index;

	return mt_map64_get(&spaces->by_pid, (uint32_t)pid, &index) ? spaces->spaces.items[index]
								    : NULL;
}

/* Makes an empty map if the space's map was freed. */
static void restore_map(struct mt_space *space)
{
	if (!space->map)
		space->map = mt_image_map_create();
}

/* The space of pid, created if unknown. */
static struct mt_space *space_of(struct mt_spaces *spaces, int32_t pid)
{
	struct mt_space *space = find_space(spaces, pid);

	if (!space) {
		space = new_space(spaces, pid, NULL);
		spaces->processes++;
		space->recorder = pid == spaces->command;
	}
	restore_map(space);
	return space;
}

static struct mt_task *find_task(const struct mt_spaces *spaces, int32_t tid)
{
	uint64_t index;

	return mt_map64_get(&spaces->by_tid, (uint32_t)tid, &index) ? spaces->tasks.items[index]
								    : NULL;
}

static void enter(struct mt_task *task, struct mt_space *space)
{
	if (task->space && task->space->threads)
		task->space->threads--;
	task->space = space;
	space->threads++;
}

/* Creates a task for tid, in place of an earlier one. */
static struct mt_task *new_task(struct mt_spaces *spaces, int32_t pid, int32_t tid,
				struct mt_space *space)
{
	struct mt_task *task = mt_alloc(1, sizeof(*task));

	mt_map64_put(&spaces->by_tid, (uint32_t)tid, spaces->tasks.count);
	mt_array_append(&spaces->tasks, task);
	task->pid = pid;
	task->tid = tid;
	enter(task, space);
	return task;
}

static void set_comm(struct mt_spaces *spaces, struct mt_task *task, const char *comm, size_t size)
{
	static const char unnamed[] = "[unnamed]"; /* by prctl(PR_SET_NAME, "") */
	bool named = size && *comm;
	uint32_t id = mt_strings_intern(spaces->strings, named ? comm : unnamed,
					named ? size : strlen(unnamed));

	task->comm = id;
	if (mt_chosen_name(spaces->chosen, mt_strings_get(spaces->strings, id)))
		task->space->named = true;
	else if (*comm != ':') /* ":TID" marks an unknown name */
		task->space->other_names = true;
	if (task->tid == task->pid)
		task->space->comm = id;
}

struct mt_task *mt_spaces_task(struct mt_spaces *spaces, int32_t pid, int32_t tid)
{
	struct mt_task *task = find_task(spaces, tid), *leader;
	char name[16];

	if (task && (task->pid == pid || pid < 0)) {
		restore_map(task->space);
		return task;
	}
	task = new_task(spaces, pid, tid, space_of(spaces, pid));
	leader = tid != pid ? find_task(spaces, pid) : NULL;
	if (leader && leader->pid == pid) {
		task->comm = leader->comm;
		return task;
	}
	snprintf(name, sizeof(name), tid ? ":%d" : "swapper", tid);
	set_comm(spaces, task, name, strlen(name));
	return task;
}

/*
 * Finds the path in the hierarchy that accounts memory, or else the last path, in the lines
 * HIERARCHY:CONTROLLERS:PATH of /proc/PID/cgroup.
 */
static uint32_t find_cgroup(struct mt_spaces *spaces, struct mt_text text)
{
	const char *at = text.bytes, *end = text.bytes + text.size, *path = at;
	size_t length = 0;

	while (at < end) {
		const char *line = memchr(at, '\n', (size_t)(end - at));
		const char *stop = line ? line : end;
		const char *first = memchr(at, ':', (size_t)(stop - at));
		const char *second =
			first ? memchr(first + 1, ':', (size_t)(stop - first - 1)) : NULL;

		if (second) {
			spaces->hierarchy = strtoull(at, NULL, 10);
			path = second + 1;
			length = (size_t)(stop - path);
			if (memmem(first, (size_t)(second - first), "memory", 6))
				break;
		}
		at = line ? line + 1 : end;
	}
	return mt_strings_intern(spaces->strings, path, length);
}

void mt_spaces_set_fact(struct mt_spaces *spaces, const char *key, const char *value)
{
	if (!strcmp(key, "target"))
		spaces->everybody = !strcmp(value, "all");
	if (!strcmp(key, "command-pid") && spaces->everybody)
		spaces->command = (int32_t)strtol(value, NULL, 10);
	mt_chosen_set_fact(spaces->chosen, key, value);
}

void mt_spaces_set_cgroup(struct mt_spaces *spaces, const struct mt_text *line)
{
	spaces->cgroup = find_cgroup(spaces, *line);
}

/*
 * Sets the process's program to the first program that is mapped executable, unless it is known
 * from a TASK record.
 */
static void learn_exe(struct mt_spaces *spaces, struct mt_space *space,
		      const struct mt_mapping *mapping)
{
	const char *path = mapping->image->identity.path;

	if (!(mapping->prot & PROT_EXEC))
		return;
	if (!space->exe && mapping->image->kind == MT_IMAGE_FILE && mt_may_be_program(path))
		space->exe = mt_strings_intern(spaces->strings, path, strlen(path));
	if (space->exe && !strcmp(mt_strings_get(spaces->strings, space->exe), path))
		mt_image_set_run_as(spaces->images, path,
				    mt_strings_get(spaces->strings, space->comm));
}

void mt_spaces_add_task(struct mt_spaces *spaces, const struct mt_task_record *record)
{
	struct mt_space *space = space_of(spaces, record->pid);
	struct mt_task *task = new_task(spaces, record->pid, record->tid, space);

	task->ppid = record->ppid;
	if (record->tid == record->pid) {
		space->start_time = record->start_time;
		space->chosen = mt_chosen_choose(spaces->chosen, record);
	}
	if (record->cgroup.size)
		space->cgroup = find_cgroup(spaces, record->cgroup);
	if (record->exe.size)
		space->exe =
			mt_strings_intern(spaces->strings, record->exe.bytes, record->exe.size);
	set_comm(spaces, task, record->comm.bytes ? record->comm.bytes : "", record->comm.size);
}

void mt_spaces_set_jit(struct mt_spaces *spaces, const struct mt_spaces_jit *jit)
{
	spaces->jit = *jit;
}

/* Sets the image of a mapping for code that the process made itself. */
static void find_jit(struct mt_spaces *spaces, const struct mt_space *space, uint64_t time,
		     struct mt_mapping *mapping)
{
	struct mt_image *image = NULL;

	if (!space->made.image && mt_jit_mappings_is_one(mapping) && spaces->jit.image)
		image = spaces->jit.image(spaces->jit.context, space->pid, time);
	if (image) {
		mapping->image = image;
		mapping->offset = mapping->start; /* addresses are offsets in the image */
	} else {
		mt_jit_mappings_place(&space->made, mapping);
	}
}

void mt_spaces_come_to(struct mt_space *space, uint64_t time)
{
	mt_jit_mappings_come_to(&space->made, space->map, time);
}

/* If the mapping is of a jitdump, begins to place the code that the jitdump describes. */
static void find_dump(struct mt_spaces *spaces, struct mt_space *space, uint64_t time,
		      const struct mt_image_identity *identity, uint32_t prot)
{
	struct mt_image *unreported, *image;
	uint32_t pid;

	if (!(prot & PROT_EXEC) || !spaces->jit.dump ||
	    !mt_jitdump_path(identity->path, strlen(identity->path), &pid))
		return;
	unreported = spaces->jit.image(spaces->jit.context, space->pid, time);
	image = spaces->jit.dump(spaces->jit.context, identity, time, unreported);
	if (!image || image == space->made.image)
		return;
	mt_map64_put(spaces->code, image->id, true);
	mt_jit_mappings_begin(&space->made, space->map, image, time);
}

static void put_mapping(struct mt_spaces *spaces, struct mt_space *space, uint64_t time,
			struct mt_mapped *mapped)
{
	struct mt_mapping *mapping = &mapped->mapping;

	if (mapping->end <= mapping->start)
		return;
	mapping->image = mt_image_set_intern(spaces->images, &mapped->identity);
	learn_exe(spaces, space, mapping);
	find_dump(spaces, space, time, &mapped->identity, mapping->prot);
	find_jit(spaces, space, time, mapping);
	if (mapping->prot & PROT_EXEC)
		mt_map64_put(spaces->code, mapping->image->id, true);
	mt_image_map_insert(space->map, mapping);
}

void mt_spaces_add_map(struct mt_spaces *spaces, const struct mt_map_record *record)
{
	struct mt_space *space = space_of(spaces, record->pid);
	struct mt_mapped mapped;
	uint32_t path = mt_strings_intern(spaces->strings,
					  record->path.size ? record->path.bytes : "//anon",
					  record->path.size ? record->path.size : 6);

	mapped = mt_mapped_by_state(record, mt_strings_get(spaces->strings, path));
	put_mapping(spaces, space, 0, &mapped);
}

/* Notes the last mapping by a thread. The record of a mapping comes before the exit of its call. */
static void note_mapping(struct mt_spaces *spaces, const struct mt_kernel_record *record)
{
	struct mt_task *task = find_task(spaces, record->tid);
	const char *name = record->name ? record->name : "";

	if (task && task->pid == record->pid)
		task->map = (struct mt_task_map){record->start, record->start + record->length,
						 mt_strings_intern(spaces->strings, name,
								   strlen(name))};
}

static void apply_mmap(struct mt_spaces *spaces, const struct mt_kernel_record *record)
{
	struct mt_mapped mapped;
	struct mt_space *space;

	if (!mt_mapped_by_kernel(record, &mapped))
		return;
	space = space_of(spaces, record->pid);
	note_mapping(spaces, record);
	put_mapping(spaces, space, record->time, &mapped);
}

static void apply_fork(struct mt_spaces *spaces, const struct mt_kernel_record *record)
{
	struct mt_task *parent = mt_spaces_task(spaces, record->ppid, record->ptid), *child;
	struct mt_space *space;

	if (record->pid == record->ppid) {
		space = parent->space;
	} else {
		space = new_space(spaces, record->pid, parent->space);
		space->start_time = record->event_time ? record->event_time : record->time;
		spaces->processes++;
	}
	child = find_task(spaces, record->tid);
	if (child)
		child->exited = true;
	child = new_task(spaces, record->pid, record->tid, space);
	child->ppid = record->ppid;
	child->comm = parent->comm;
}

/*
 * Applies exec: the task enters a new, empty address space. The other threads have exited before.
 */
static void apply_exec(struct mt_spaces *spaces, struct mt_task *task)
{
	const struct mt_space *old = task->space;
	struct mt_space *space = new_space(spaces, task->pid, NULL);

	space->start_time = old->start_time;
	space->generation = old->generation + 1;
	space->comm = old->comm;
	space->cgroup = old->cgroup;
	space->chosen = old->chosen;
	enter(task, space);
}

static void apply_comm(struct mt_spaces *spaces, const struct mt_kernel_record *record)
{
	struct mt_task *task = mt_spaces_task(spaces, record->pid, record->tid);

	if (record->exec)
		apply_exec(spaces, task);
	set_comm(spaces, task, record->name ? record->name : "",
		 record->name ? strlen(record->name) : 0);
}

/*
 * Notes that a process has exited, and frees the map of the one that exited EXITED_KEPT exits ago.
 */
static void retire(struct mt_spaces *spaces, const struct mt_space *space)
{
	uint32_t *slot = &spaces->exited[spaces->exited_count % EXITED_KEPT];

	if (spaces->exited_count >= EXITED_KEPT) {
		struct mt_space *old = spaces->spaces.items[*slot];

		if (!old->threads && old->map) {
			mt_image_map_destroy(old->map);
			old->map = NULL;
		}
	}
	*slot = space->id;
	spaces->exited_count++;
}

static void apply_exit(struct mt_spaces *spaces, const struct mt_kernel_record *record)
{
	struct mt_task *task = find_task(spaces, record->tid);

	if (!task || task->exited || task->pid != record->pid)
		return;
	task->exited = true;
	if (task->space->threads && !--task->space->threads)
		retire(spaces, task->space);
}

void mt_spaces_apply(struct mt_spaces *spaces, const struct mt_kernel_record *record)
{
	switch (record->type) {
	case MT_KERNEL_MMAP:
	case MT_KERNEL_MMAP2:
		apply_mmap(spaces, record);
		return;
	case MT_KERNEL_COMM:
		apply_comm(spaces, record);
		return;
	case MT_KERNEL_FORK:
		apply_fork(spaces, record);
		return;
	case MT_KERNEL_EXIT:
		apply_exit(spaces, record);
		return;
	default:
		return;
	}
}

const struct mt_task *mt_spaces_find(const struct mt_spaces *spaces, int32_t tid)
{
	return find_task(spaces, tid);
}

bool mt_spaces_is_recorder(const struct mt_spaces *spaces, int32_t tid)
{
	const struct mt_task *task =
		spaces->command && tid == spaces->command ? find_task(spaces, tid) : NULL;

	return task && task->space->recorder;
}

void mt_spaces_move(struct mt_spaces *spaces, int32_t pid, uint64_t hierarchy,
		    const struct mt_text *path)
{
	struct mt_task *task = find_task(spaces, pid);

	if (task && task->pid == pid && hierarchy == spaces->hierarchy)
		task->space->cgroup = mt_strings_intern(spaces->strings, path->bytes, path->size);
}

void mt_spaces_share(struct mt_spaces *spaces, int32_t parent, int32_t child)
{
	struct mt_task *from = find_task(spaces, parent), *to = find_task(spaces, child);

	if (!from || !to || from->space == to->space || from->exited || to->exited)
		return;
	to->space->unused = true;
	enter(to, from->space);
	/* The space is found by pid for mappings. */
	mt_map64_put(&spaces->by_pid, (uint32_t)to->pid, from->space->id);
}

size_t mt_spaces_tasks(const struct mt_spaces *spaces)
{
	return spaces->tasks.count;
}

size_t mt_spaces_processes(const struct mt_spaces *spaces)
{
	return spaces->processes;
}

bool mt_spaces_in_part(const struct mt_spaces *spaces)
{
	for (size_t i = 0; i < spaces->spaces.count; i++) {
		const struct mt_space *space = spaces->spaces.items[i];

		if (mt_space_is_target(space) && space->other_names)
			return true;
	}
	return false;
}
