/*
 * Lists for each process the images that it maps, until the process has a sample. All tables are
 * bounded. Past a bound, more images are carried than necessary; images past IMAGES_MAX are not
 * carried.
 */
#include "record/carry/image_choice.h"

#include <stdlib.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "record/files/image_files.h"

#define IMAGES_MAX 16384 /* images with a higher number are not carried */
#define PROCESSES_MAX 65536
#define MAPPED_MAX 1048576 /* images in the lists of all processes */
#define ENDED_MAX 1024	   /* processes remembered after their exit, because samples arrive late */

struct process {
	MT_ARRAY(struct mt_image_file *) images; /* mapped images not chosen yet */
	bool sampled;
};

struct ended {
	int32_t pid;
	uint64_t time;
};

struct mt_image_choice {
	struct mt_carry_worker_offer offer;
	struct mt_image_files *files;
	bool unsampled;
	struct mt_map64 index;		      /* pid -> index in processes */
	MT_ARRAY(struct process *) processes; /* NULL: a free slot */
	MT_ARRAY(uint32_t) free;	      /* free indices in processes */
	size_t mapped;
	int32_t last_sampled; /* pid of the last sample, a shortcut */
	struct ended ended[ENDED_MAX];
	size_t ended_at;
};

struct mt_image_choice *mt_image_choice_create(bool unsampled,
					       const struct mt_carry_worker_offer *offer,
					       struct mt_image_files *files)
{
	struct mt_image_choice *choice = calloc(1, sizeof(*choice));

	if (choice) {
		choice->offer = *offer;
		choice->files = files;
		choice->unsampled = unsampled;
		choice->last_sampled = -1;
	}
	return choice;
}

void mt_image_choice_destroy(struct mt_image_choice *choice)
{
	if (!choice)
		return;
	for (size_t i = 0; i < choice->processes.count; i++) {
		if (choice->processes.items[i])
			mt_array_deinit(&choice->processes.items[i]->images);
		free(choice->processes.items[i]);
	}
	mt_array_deinit(&choice->processes);
	mt_array_deinit(&choice->free);
	mt_map64_deinit(&choice->index);
	free(choice);
}

/* ---- Images ---- */

static void choose(struct mt_image_choice *choice, struct mt_image_file *file)
{
	file->chosen = true;
	if (!file->known)
		return;
	choice->offer.offer(choice->offer.context, file);
	mt_image_files_keep_chosen(choice->files, file);
}

void mt_image_choice_know(struct mt_image_choice *choice, struct mt_image_file *file)
{
	if (file->chosen)
		choose(choice, file);
}

/* ---- Processes ---- */

static struct process *find_process(struct mt_image_choice *choice, int32_t pid)
{
	uint64_t i;

	return mt_map64_get(&choice->index, (uint32_t)pid, &i) ? choice->processes.items[i] : NULL;
}

static void remove_process(struct mt_image_choice *choice, int32_t pid)
{
	uint64_t i;

	if (pid <= 0 || !mt_map64_get(&choice->index, (uint32_t)pid, &i))
		return;
	choice->mapped -= choice->processes.items[i]->images.count;
	mt_array_deinit(&choice->processes.items[i]->images);
	free(MT_TAKE(choice->processes.items[i]));
	mt_map64_remove(&choice->index, (uint32_t)pid);
	(void)mt_array_append(&choice->free, (uint32_t)i);
}

/* Returns a free slot for a process, and its index; NULL if there are too many processes. */
static struct process **take_slot(struct mt_image_choice *choice, uint64_t *i)
{
	if (choice->free.count) {
		*i = choice->free.items[--choice->free.count];
		return &choice->processes.items[*i];
	}
	if (choice->processes.count >= PROCESSES_MAX)
		return NULL;
	*i = choice->processes.count;
	return mt_array_push(&choice->processes);
}

/* Returns the process, added if new; NULL if there are too many processes, or out of memory. */
static struct process *get_process(struct mt_image_choice *choice, int32_t pid)
{
	struct process *process = find_process(choice, pid), **slot;
	uint64_t i;

	if (process || pid <= 0)
		return process;
	slot = take_slot(choice, &i);
	if (!slot)
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process || !mt_map64_put(&choice->index, (uint32_t)pid, i)) {
		free(process);
		return NULL;
	}
	*slot = process;
	return process;
}

static bool maps(const struct process *process, const struct mt_image_file *file)
{
	for (size_t i = 0; i < process->images.count; i++) {
		if (process->images.items[i] == file)
			return true;
	}
	return false;
}

void mt_image_choice_map(struct mt_image_choice *choice, int32_t pid, struct mt_image_file *file)
{
	struct process *process;

	if (file->chosen || file->number > IMAGES_MAX)
		return;
	process = choice->unsampled ? NULL : get_process(choice, pid);
	if (process && !process->sampled && maps(process, file))
		return;
	if (process && !process->sampled && choice->mapped < MAPPED_MAX &&
	    mt_array_append(&process->images, file))
		choice->mapped++;
	else
		choose(choice, file);
}

/*
 * Drops the images of an ended process whose pid a new process got at `time`. Ignores an exit later
 * than `time`, because it is the exit of the new process, recorded on another CPU.
 */
static void forget_ended(struct mt_image_choice *choice, int32_t pid, uint64_t time)
{
	for (size_t i = 0; i < ENDED_MAX; i++) {
		if (choice->ended[i].pid != pid || choice->ended[i].time > time)
			continue;
		choice->ended[i].pid = 0;
		remove_process(choice, pid);
	}
}

void mt_image_choice_fork(struct mt_image_choice *choice, int32_t pid, int32_t parent,
			  uint64_t time)
{
	struct process *from;

	if (pid == parent || choice->unsampled)
		return;
	forget_ended(choice, pid, time);
	from = find_process(choice, parent);
	for (size_t i = 0; from && i < from->images.count; i++)
		mt_image_choice_map(choice, pid, from->images.items[i]);
}

void mt_image_choice_exec(struct mt_image_choice *choice, int32_t pid, uint64_t time)
{
	const struct process *process = find_process(choice, pid);

	if (process && process->sampled)
		choice->offer.process(choice->offer.context, pid, time);
}

void mt_image_choice_exit(struct mt_image_choice *choice, int32_t pid, uint64_t time)
{
	remove_process(choice, choice->ended[choice->ended_at].pid);
	choice->ended[choice->ended_at] = (struct ended){pid, time};
	choice->ended_at = (choice->ended_at + 1) % ENDED_MAX;
	if (choice->last_sampled == pid)
		choice->last_sampled = -1;
}

void mt_image_choice_sample(struct mt_image_choice *choice, int32_t pid)
{
	struct process *process;

	if (pid == choice->last_sampled)
		return;
	choice->last_sampled = pid;
	process = get_process(choice, pid);
	if (!process || process->sampled)
		return;
	process->sampled = true;
	choice->offer.process(choice->offer.context, pid, 0);
	for (size_t i = 0; i < process->images.count; i++) {
		if (!process->images.items[i]->chosen)
			choose(choice, process->images.items[i]);
	}
	choice->mapped -= process->images.count;
	mt_array_deinit(&process->images);
}
