/*
 * System calls on the files of targets, made by a thread that can be left behind. A file system
 * that does not answer (a dead NFS mount, a FUSE daemon that hangs) blocks open(), fstat(), read()
 * and close() alike, and only SIGKILL ends that. Past a deadline such a call has failed with
 * ETIMEDOUT, another thread makes the next ones, and that file system is not asked again.
 *
 * One thread at a time uses a worker. Where a function takes a worker, NULL makes the call at once.
 */
#ifndef MT_RECORD_FILES_FILE_WORKER_H
#define MT_RECORD_FILES_FILE_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct mt_file_worker;
struct mt_mapped_file;

/* NULL out of memory, or of threads. */
struct mt_file_worker *mt_file_worker_create(void);

/* Does not wait for a call under way. */
void mt_file_worker_destroy(struct mt_file_worker *worker);

/* mt_mapped_file_open(); -1 with errno. */
int mt_file_worker_open(struct mt_file_worker *worker, const struct mt_mapped_file *file,
			struct stat *status);

/*
 * Runs open_it, which gives a descriptor or -1 with errno and may not refer to anything but its
 * argument: size bytes, which are copied. Calls of the same key have the same file system.
 */
int mt_file_worker_open_with(struct mt_file_worker *worker, uint64_t key,
			     int (*open_it)(void *argument), const void *argument, size_t size);

/* fstat(), and mt_read_at(), of a descriptor that a worker opened. */
int mt_file_worker_stat(struct mt_file_worker *worker, int fd, struct stat *status);
size_t mt_file_worker_read(struct mt_file_worker *worker, int fd, uint64_t at, uint8_t *to,
			   size_t size);

/* Without waiting for it. fd may be -1. */
void mt_file_worker_close(struct mt_file_worker *worker, int fd);

/* Why a file could not be had, for a message. */
const char *mt_file_problem(int error);

/* ---- Calls that are waited for later ---- */

/* What became of one. */
struct mt_file_probe {
	uint64_t tag; /* as it was asked with */
	int fd;	      /* the caller's; -1 with error */
	int error;
	struct stat status;
	uint8_t *front; /* the caller's to free; NULL where fd is -1 */
	size_t size;	/* of the front */
};

/*
 * Asks for a mapped file to be opened, and for so many bytes of its front. False out of memory.
 */
bool mt_file_worker_ask(struct mt_file_worker *worker, uint64_t tag,
			const struct mt_mapped_file *file, size_t front);

/* The next answer; waits until that time of CLOCK_MONOTONIC at most. False: there is none yet. */
bool mt_file_worker_answer(struct mt_file_worker *worker, uint64_t until,
			   struct mt_file_probe *out);

/* How many answers are to come; since when the call under way is, 0: none is. */
size_t mt_file_worker_asked(const struct mt_file_worker *worker);
uint64_t mt_file_worker_since(struct mt_file_worker *worker);

#endif
