/*
 * System calls on files of targets, made by a thread that can be abandoned. A file system that does
 * not answer (a dead NFS mount, a hanging FUSE daemon) blocks open(), fstat(), read() and close()
 * until SIGKILL. After a deadline such a call fails with ETIMEDOUT, a new thread makes the next
 * calls, and that file system is not used again.
 *
 * One thread at a time uses a worker. With worker NULL the functions make the call themselves.
 */
#ifndef MT_RECORD_FILES_FILE_WORKER_H
#define MT_RECORD_FILES_FILE_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "record/files/mapped_file.h"

struct mt_file_worker;

/* NULL if memory or threads run out. */
struct mt_file_worker *mt_file_worker_create(void);

/* Does not wait for a call that has not returned. */
void mt_file_worker_destroy(struct mt_file_worker *worker);

/* Calls mt_mapped_file_open(). Returns the descriptor, or -1 with errno. */
int mt_file_worker_open(struct mt_file_worker *worker, const struct mt_mapped_file *file,
			struct stat *status);

/*
 * Calls open_it, which returns a descriptor, or -1 with errno. It may use only its argument, of
 * which `size` bytes are copied. Calls with the same key are for the same file system.
 */
int mt_file_worker_open_with(struct mt_file_worker *worker, uint64_t key,
			     int (*open_it)(void *argument), const void *argument, size_t size);

/* Call fstat() and mt_read_at() for a descriptor that a worker opened. */
int mt_file_worker_stat(struct mt_file_worker *worker, int fd, struct stat *status);
size_t mt_file_worker_read(struct mt_file_worker *worker, int fd, uint64_t at, uint8_t *to,
			   size_t size);

/* Closes fd without waiting for close(). fd may be -1. */
void mt_file_worker_close(struct mt_file_worker *worker, int fd);

/* Returns why a file could not be opened or read, for a message. */
const char *mt_file_problem(int error);

/* ---- Asynchronous calls ---- */

/* The result of one call. */
struct mt_file_probe {
	uint64_t tag; /* as passed to mt_file_worker_ask() */
	int fd;	      /* the caller closes it; -1 with error */
	int error;
	struct stat status;
	bool elsewhere;		       /* mt_mapped_file_is_elsewhere() */
	char started[MT_STARTED_SIZE]; /* mt_mapped_file_started() */
	uint8_t *front; /* first bytes of the file; the caller frees them; NULL if fd is -1 */
	size_t size;	/* bytes of front */
};

/*
 * Requests that a mapped file is opened and its first `front` bytes are read. False out of memory.
 */
bool mt_file_worker_ask(struct mt_file_worker *worker, uint64_t tag,
			const struct mt_mapped_file *file, size_t front);

/*
 * Gets the next result. Waits at most until `until` (CLOCK_MONOTONIC). False if there is none yet.
 */
bool mt_file_worker_answer(struct mt_file_worker *worker, uint64_t until,
			   struct mt_file_probe *out);

/*
 * Number of results that have not arrived; and the time when the current call began, 0 if there is
 * no call.
 */
size_t mt_file_worker_asked(const struct mt_file_worker *worker);
uint64_t mt_file_worker_since(struct mt_file_worker *worker);

#endif
