/*
 * Any user can map hundreds of files that export malloc and free. Files are therefore counted by
 * the processes that map them before any file is opened, and the work per file is bounded.
 */
#include "record/allocators/allocator_survey.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "record/allocators/allocator_files.h"
#include "record/files/mapped_file.h"
#include "record/open/clock.h"
#include "record/probes/probe_files.h"
#include "record/proc/numbers.h"
#include "record/proc/stopping.h"
#include "record/state/existing.h"

#define STEP_NS UINT64_C(2000000000)

enum {
	FILES_MOST = 1 << 16,
	PAIRS_MOST = 1 << 21, /* pairs of a process and a file that it maps */
	NAMED_MOST = 3,
};

/* A file that processes map as executable. */
struct seen {
	struct mt_mapped_file at; /* its mapping in one of them; owns the path */
	size_t last;		  /* number of the last counted process, from 1 */
	size_t processes;	  /* number of processes that map it */
	size_t served;		  /* number of processes whose allocator it is */
	struct mt_allocator_defines defines;
};

struct survey {
	MT_ARRAY(struct seen) files;
	struct mt_map64 by_hash;
	MT_ARRAY(uint32_t) pairs;    /* files of all processes in sequence */
	MT_ARRAY(size_t) ends;	     /* end of each process in pairs */
	MT_ARRAY(uint32_t) order;    /* files, most processes first */
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
	uint32_t *pair;

	if (!seen || seen->last == survey->ends.count + 1 || survey->pairs.count == PAIRS_MOST)
		return;
	pair = mt_array_push(&survey->pairs);
	survey->failed |= !pair;
	if (!pair)
		return;
	*pair = (uint32_t)number - 1;
	seen->last = survey->ends.count + 1;
	seen->processes++;
}

static void count_process(void *context, pid_t pid)
{
	struct survey *survey = context;
	size_t *end;

	if (is_over(survey)) {
		survey->unread++;
		return;
	}
	if (!mt_probe_mappings_each(pid, count_file, survey))
		return;
	end = mt_array_push(&survey->ends);
	survey->failed |= !end;
	if (end)
		*end = survey->pairs.count;
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
	for (uint32_t i = 0; i < survey->files.count; i++) {
		uint32_t *slot = mt_array_push(&survey->order);

		survey->failed |= !slot;
		if (slot)
			*slot = i;
	}
	if (survey->order.count)
		qsort_r(survey->order.items, survey->order.count, sizeof(*survey->order.items),
			by_processes, survey->files.items);
}

/* A copy of the memory is another file, where a probe never fires. */
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
			seen->defines = mt_allocator_look(fd, seen->at.path.bytes);
	}
}

/* ---- Choosing ---- */

static void choose_of_process(struct survey *survey, size_t first, size_t end)
{
	size_t counts[MT_MALLOC_INS] = {0};
	enum mt_malloc_in best = MT_MALLOC_IN_EXPORTS;

	for (size_t i = first; i < end; i++)
		counts[survey->files.items[survey->pairs.items[i]].defines.malloc_in]++;
	while (best > MT_MALLOC_IN_NOTHING && !counts[best])
		best--;
	for (size_t i = first; i < end; i++) {
		struct seen *seen = &survey->files.items[survey->pairs.items[i]];

		seen->served += (best > MT_MALLOC_IN_NOTHING && seen->defines.malloc_in == best) ||
				seen->defines.has_own_new;
	}
}

/* Opens the file again, for probing. False if it is gone or a memory file. */
static bool take(struct survey *survey, const struct seen *seen, struct mt_probe_files *out)
{
	struct stat status;
	int fd = open_seen(seen, &status);
	struct mt_probe_file *slot = fd >= 0 ? mt_array_push(&out->items) : NULL;

	if (!slot) {
		survey->failed |= fd >= 0;
		mt_close_p(&fd);
		return false;
	}
	*slot = (struct mt_probe_file){.fd = fd,
				       .path = strndup(seen->at.path.bytes,
						       mt_mapped_file_live_length(&seen->at.path)),
				       .device = status.st_dev,
				       .inode = status.st_ino};
	survey->failed |= !slot->path;
	return true;
}

static void take_first(struct survey *survey, struct mt_probe_files *out, FILE *left_out)
{
	size_t taken = 0, left = 0;

	for (size_t i = 0; i < survey->order.count && !survey->failed; i++) {
		const struct seen *seen = &survey->files.items[survey->order.items[i]];

		if (!seen->served)
			break;
		if (taken < MT_ALLOCATOR_FILES_MOST) {
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

static void count_all(struct survey *survey, const struct mt_probe_targets *targets)
{
	for (size_t i = 0; i < targets->pids->count; i++)
		count_process(survey, targets->pids->items[i]);
	for (size_t i = 0; i < targets->tids->count; i++)
		count_process(survey, targets->tids->items[i]);
	if (targets->everyone)
		mt_existing_each(count_process, survey);
}

static void start_step(struct survey *survey, const struct mt_probe_targets *targets)
{
	survey->until = targets->everyone ? mt_clock_monotonic() + STEP_NS : UINT64_MAX;
}

struct mt_error *mt_allocator_survey(const struct mt_probe_targets *targets,
				     struct mt_probe_files *out, FILE *left_out,
				     struct mt_allocator_surveyed *seen)
{
	MT_CLEANUP(survey_deinit) struct survey survey = {0};
	int why;

	start_step(&survey, targets);
	count_all(&survey, targets);
	why = errno;
	*seen = (struct mt_allocator_surveyed){.processes = survey.ends.count};
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
