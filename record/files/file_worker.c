/*
 * A queue of calls, and a worker thread that makes them one after the other. An abandoned worker
 * thread stays in its system call, closes the file it opened when the call returns, and exits.
 */
#include "record/files/file_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/foreign_file.h"
#include "formats/base/pool.h"
#include "record/files/mapped_file.h"
#include "record/open/clock.h"

#define DEADLINE_NS UINT64_C(3000000000)
#define LEFT_MAX 8 /* worker threads; after the last one is stuck, all calls fail */
#define READ_MAX ((size_t)256 << 10)

enum kind {
	CALL_OPEN,
	CALL_OPEN_WITH,
	CALL_STAT,
	CALL_READ,
	CALL_CLOSE
};

/* Allocated on the heap, because an abandoned worker thread still uses its call. */
struct call {
	enum kind kind;
	uint64_t tag;
	uint64_t key; /* identifies the file system; calls to one that did not answer fail */
	int (*open_it)(void *argument);
	struct mt_mapped_file file; /* its path points to `argument` */
	void *argument;
	int fd; /* CALL_STAT and later kinds: the borrowed descriptor; otherwise the opened one */
	uint64_t at;
	size_t size; /* bytes to read; afterwards bytes read */
	uint8_t *bytes;
	int error;
	struct stat status;
	bool elsewhere;
	char started[MT_STARTED_SIZE];
	struct call *next;
};

struct worker_thread {
	struct mt_file_worker *worker;
	bool left;	   /* abandoned: exits when its call returns */
	struct call *call; /* the current call, or NULL */
	uint64_t since;
};

struct mt_file_worker {
	pthread_mutex_t lock;
	pthread_cond_t posted, done;
	struct call *queue, **queue_end;
	struct call *finished, **finished_end;
	struct worker_thread *worker_thread; /* NULL once too many were abandoned */
	pthread_t thread;
	size_t worker_threads, asked;
	bool closed;
	MT_ARRAY(uint64_t) silent; /* keys of file systems that did not answer */
};

static void call_destroy(struct call *call)
{
	if (!call)
		return;
	free(call->argument);
	free(call->bytes);
	free(call);
}

/* ---- On the worker thread ---- */

static void open_file(struct call *call)
{
	call->fd = call->kind == CALL_OPEN ? mt_mapped_file_open(&call->file, &call->status)
					   : call->open_it(call->argument);
	call->error = call->fd < 0 ? errno : 0;
	if (call->fd < 0 || !call->bytes)
		call->size = 0;
	else
		call->size = mt_read_at(call->fd, 0, call->bytes, call->size);
	call->elsewhere = call->size && mt_mapped_file_is_elsewhere(&call->file);
	if (call->size)
		mt_mapped_file_started(&call->file, call->started);
}

static void make_call(struct call *call)
{
	switch (call->kind) {
	case CALL_STAT:
		call->error = fstat(call->fd, &call->status) ? errno : 0;
		break;
	case CALL_READ:
		call->size = mt_read_at(call->fd, call->at, call->bytes, call->size);
		break;
	case CALL_CLOSE:
		close(call->fd);
		break;
	default:
		open_file(call);
	}
}

static bool is_listed(const struct mt_file_worker *worker, uint64_t key)
{
	for (size_t i = 0; key && i < worker->silent.count; i++) {
		if (worker->silent.items[i] == key)
			return true;
	}
	return false;
}

/*
 * Returns a key of the mount of an open file, 0 if unknown. Asks only the kernel, not the file
 * system.
 */
static uint64_t mount_of(int fd)
{
	char path[48], text[256];
	MT_CLEANUP_CLOSE int info = -1;
	const char *id;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	n = info >= 0 ? read(info, text, sizeof(text) - 1) : -1;
	text[n > 0 ? n : 0] = '\0';
	id = strstr(text, "mnt_id:");
	return id ? UINT64_C(1) << 62 | strtoull(id + strlen("mnt_id:"), NULL, 10) : 0;
}

/* True if the call is for a file system that did not answer before. */
static bool is_silent(const struct mt_file_worker *worker, const struct call *call)
{
	return worker->silent.count &&
	       is_listed(worker, call->kind > CALL_OPEN_WITH ? mount_of(call->fd) : call->key);
}

static struct call *fail(struct call *call)
{
	call->error = ETIMEDOUT;
	call->fd = -1;
	call->size = 0;
	return call;
}

static void append(struct call ***end, struct call *call)
{
	call->next = NULL;
	**end = call;
	*end = &call->next;
}

static struct call *take_first(struct call **first, struct call ***end)
{
	struct call *call = *first;

	if (call)
		*first = call->next;
	if (!*first)
		*end = first;
	return call;
}

static void finish(struct mt_file_worker *worker, struct call *call)
{
	if (call->kind == CALL_CLOSE)
		call_destroy(call);
	else
		append(&worker->finished_end, call);
	pthread_cond_broadcast(&worker->done);
}

/*
 * Makes the next call. The lock is held on entry and on return, but not during the call. False if
 * the worker thread was abandoned meanwhile.
 */
static bool make_next(struct mt_file_worker *worker, struct worker_thread *worker_thread)
{
	struct call *call = take_first(&worker->queue, &worker->queue_end);

	if (is_silent(worker, call)) {
		finish(worker, fail(call));
		return true;
	}
	worker_thread->call = call;
	worker_thread->since = mt_clock_monotonic();
	pthread_mutex_unlock(&worker->lock);
	make_call(call);
	pthread_mutex_lock(&worker->lock);
	worker_thread->call = NULL;
	if (!worker_thread->left) {
		finish(worker, call);
		return true;
	}
	if (call->kind <= CALL_OPEN_WITH && call->fd >= 0)
		close(call->fd);
	call_destroy(call);
	return false;
}

/* Releases the worker. The last thread to do so frees it. */
static void let_go(struct mt_file_worker *worker)
{
	bool last = !--worker->worker_threads;

	pthread_mutex_unlock(&worker->lock);
	if (!last)
		return;
	pthread_cond_destroy(&worker->posted);
	pthread_cond_destroy(&worker->done);
	pthread_mutex_destroy(&worker->lock);
	mt_array_deinit(&worker->silent);
	free(worker);
}

static void *thread_main(void *argument)
{
	struct worker_thread *worker_thread = argument;
	struct mt_file_worker *worker = worker_thread->worker;
	bool wanted = true;

	pthread_mutex_lock(&worker->lock);
	while (wanted) {
		while (!worker->queue && !worker->closed)
			pthread_cond_wait(&worker->posted, &worker->lock);
		wanted = worker->queue && make_next(worker, worker_thread);
	}
	free(worker_thread);
	let_go(worker);
	return NULL;
}

/* ---- On the caller's thread ---- */

/* Call with the lock held, or while there is no worker thread. */
static bool start_thread(struct mt_file_worker *worker)
{
	struct worker_thread *worker_thread = calloc(1, sizeof(*worker_thread));

	worker->worker_thread = NULL;
	if (!worker_thread)
		return false;
	worker_thread->worker = worker;
	worker->worker_threads++;
	if (mt_thread_start(&worker->thread, thread_main, worker_thread)) {
		worker->worker_threads--;
		free(worker_thread);
		return false;
	}
	worker->worker_thread = worker_thread;
	return true;
}

struct mt_file_worker *mt_file_worker_create(void)
{
	struct mt_file_worker *worker = calloc(1, sizeof(*worker));
	pthread_condattr_t attr;

	if (!worker)
		return NULL;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&worker->posted, &attr);
	pthread_cond_init(&worker->done, &attr);
	pthread_condattr_destroy(&attr);
	worker->queue_end = &worker->queue;
	worker->finished_end = &worker->finished;
	worker->worker_threads = 1; /* the caller counts as one */
	if (start_thread(worker))
		return worker;
	pthread_mutex_lock(&worker->lock);
	let_go(worker);
	return NULL;
}

/* Detaches the worker thread, which exits after its call. */
static void abandon(struct mt_file_worker *worker)
{
	worker->worker_thread->left = true;
	pthread_detach(worker->thread);
	worker->worker_thread = NULL;
}

static void drop_all(struct call **first, struct call ***end)
{
	struct call *call;

	while ((call = take_first(first, end))) {
		if (call->kind <= CALL_OPEN_WITH && call->fd >= 0)
			close(call->fd);
		call_destroy(call);
	}
}

void mt_file_worker_destroy(struct mt_file_worker *worker)
{
	pthread_t thread;
	bool idle;

	if (!worker)
		return;
	pthread_mutex_lock(&worker->lock);
	worker->closed = true;
	drop_all(&worker->queue, &worker->queue_end);
	drop_all(&worker->finished, &worker->finished_end);
	idle = worker->worker_thread && !worker->worker_thread->call;
	thread = worker->thread;
	if (worker->worker_thread && !idle)
		abandon(worker);
	pthread_cond_broadcast(&worker->posted);
	if (idle) {
		pthread_mutex_unlock(&worker->lock);
		pthread_join(thread, NULL);
		pthread_mutex_lock(&worker->lock);
	}
	let_go(worker);
}

/*
 * Abandons the worker thread in its call. Returns a failed call for the caller, or NULL for
 * close(), which nobody waits for. A file whose close() hangs stays open.
 */
static struct call *give_up(struct mt_file_worker *worker)
{
	const struct call *stuck = worker->worker_thread->call;
	struct call *answer = stuck->kind == CALL_CLOSE ? NULL : calloc(1, sizeof(*answer));
	uint64_t key = stuck->kind > CALL_OPEN_WITH ? mount_of(stuck->fd) : stuck->key;
	uint64_t *slot = key ? mt_array_push(&worker->silent) : NULL;

	if (slot)
		*slot = key;
	if (answer) {
		answer->tag = stuck->tag;
		(void)fail(answer);
	}
	abandon(worker);
	if (worker->worker_threads < LEFT_MAX)
		(void)start_thread(worker);
	return answer;
}

/* Fails all queued calls, because no worker thread is left. */
static void fail_queued(struct mt_file_worker *worker)
{
	struct call *call;

	while ((call = take_first(&worker->queue, &worker->queue_end)))
		finish(worker, fail(call));
}

/*
 * Waits for the worker thread, at most until `until` or the deadline of its call. The lock is held.
 */
static void wait_for_thread(struct mt_file_worker *worker, uint64_t now, uint64_t until)
{
	uint64_t deadline =
		(worker->worker_thread->call ? worker->worker_thread->since : now) + DEADLINE_NS;
	uint64_t next = deadline < until ? deadline : until;

	pthread_cond_timedwait(&worker->done, &worker->lock,
			       &(struct timespec){(time_t)(next / 1000000000u),
						  (long)(next % 1000000000u)});
}

/* Waits for a finished call, at most until `until`; NULL if none finished. The lock is held. */
static struct call *wait_for_call(struct mt_file_worker *worker, uint64_t until)
{
	while (!worker->finished) {
		uint64_t now = mt_clock_monotonic();

		if (!worker->worker_thread)
			fail_queued(worker);
		if (worker->finished)
			break;
		if (!worker->worker_thread || now >= until)
			return NULL;
		if (worker->worker_thread->call &&
		    now >= worker->worker_thread->since + DEADLINE_NS) {
			struct call *answer = give_up(worker);

			if (answer)
				return answer;
		} else {
			wait_for_thread(worker, now, until);
		}
	}
	return take_first(&worker->finished, &worker->finished_end);
}

static void post(struct mt_file_worker *worker, struct call *call)
{
	pthread_mutex_lock(&worker->lock);
	append(&worker->queue_end, call);
	pthread_cond_signal(&worker->posted);
	pthread_mutex_unlock(&worker->lock);
}

/* Queues a call and returns the finished call; NULL with errno if memory runs out. */
static struct call *make(struct mt_file_worker *worker, struct call *call)
{
	struct call *answer;

	if (!call) {
		errno = ENOMEM;
		return NULL;
	}
	post(worker, call);
	pthread_mutex_lock(&worker->lock);
	answer = wait_for_call(worker, UINT64_MAX);
	pthread_mutex_unlock(&worker->lock);
	errno = answer ? answer->error : ETIMEDOUT;
	return answer;
}

static struct call *call_create(enum kind kind, const void *argument, size_t size, size_t room)
{
	struct call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	*call = (struct call){.kind = kind, .fd = -1, .size = room};
	call->argument = size ? malloc(size) : NULL;
	call->bytes = room ? malloc(room) : NULL;
	if ((size && !call->argument) || (room && !call->bytes)) {
		call_destroy(call);
		return NULL;
	}
	if (size)
		memcpy(call->argument, argument, size);
	return call;
}

static struct call *open_call(const struct mt_mapped_file *file, size_t front)
{
	struct call *call = call_create(CALL_OPEN, file->path.bytes, file->path.size, front);

	if (!call)
		return NULL;
	call->file = *file;
	call->file.path.bytes = call->argument;
	if (file->major || file->minor)
		call->key = UINT64_C(1) << 63 | (uint64_t)file->major << 32 | file->minor;
	return call;
}

int mt_file_worker_open(struct mt_file_worker *worker, const struct mt_mapped_file *file,
			struct stat *status)
{
	struct call *answer;
	int fd;

	if (!worker)
		return mt_mapped_file_open(file, status);
	answer = make(worker, open_call(file, 0));
	fd = answer ? answer->fd : -1;
	if (fd >= 0)
		*status = answer->status;
	call_destroy(answer);
	return fd;
}

int mt_file_worker_open_with(struct mt_file_worker *worker, uint64_t key,
			     int (*open_it)(void *argument), const void *argument, size_t size)
{
	struct call *call = call_create(CALL_OPEN_WITH, argument, size, 0), *answer;
	int fd = -1;

	if (call && !worker) {
		fd = open_it(call->argument);
		call_destroy(call);
		return fd;
	}
	if (call) {
		call->open_it = open_it;
		call->key = key;
	}
	answer = make(worker, call);
	fd = answer ? answer->fd : -1;
	call_destroy(answer);
	return fd;
}

static struct call *make_with_fd(struct mt_file_worker *worker, enum kind kind, int fd, uint64_t at,
				 size_t room)
{
	struct call *call = call_create(kind, NULL, 0, room);

	if (call) {
		call->fd = fd;
		call->at = at;
	}
	return make(worker, call);
}

int mt_file_worker_stat(struct mt_file_worker *worker, int fd, struct stat *status)
{
	struct call *answer;
	int error;

	if (!worker)
		return fstat(fd, status);
	answer = make_with_fd(worker, CALL_STAT, fd, 0, 0);
	error = errno;
	if (answer && !error)
		*status = answer->status;
	call_destroy(answer);
	errno = error;
	return answer && !error ? 0 : -1;
}

size_t mt_file_worker_read(struct mt_file_worker *worker, int fd, uint64_t at, uint8_t *to,
			   size_t size)
{
	size_t got = 0, n = 1;

	if (!worker)
		return mt_read_at(fd, at, to, size);
	for (; got < size && n; got += n) {
		size_t want = size - got < READ_MAX ? size - got : READ_MAX;
		struct call *answer = make_with_fd(worker, CALL_READ, fd, at + got, want);

		n = answer && answer->bytes ? answer->size : 0;
		if (n)
			memcpy(to + got, answer->bytes, n);
		call_destroy(answer);
	}
	return got;
}

void mt_file_worker_close(struct mt_file_worker *worker, int fd)
{
	struct call *call;

	if (fd < 0)
		return;
	call = worker ? call_create(CALL_CLOSE, NULL, 0, 0) : NULL;
	if (!call) {
		close(fd);
		return;
	}
	call->fd = fd;
	post(worker, call);
}

const char *mt_file_problem(int error)
{
	switch (error) {
	case ETIMEDOUT:
		return "the file did not answer";
	case ESTALE:
		return "replaced since it was mapped";
	default:
		return strerror(error);
	}
}

/* ---- Asynchronous calls ---- */

bool mt_file_worker_ask(struct mt_file_worker *worker, uint64_t tag,
			const struct mt_mapped_file *file, size_t front)
{
	struct call *call = open_call(file, front);

	if (!call)
		return false;
	call->tag = tag;
	worker->asked++;
	post(worker, call);
	return true;
}

bool mt_file_worker_answer(struct mt_file_worker *worker, uint64_t until, struct mt_file_probe *out)
{
	struct call *answer;

	if (!worker->asked)
		return false;
	pthread_mutex_lock(&worker->lock);
	answer = wait_for_call(worker, until);
	pthread_mutex_unlock(&worker->lock);
	if (!answer)
		return false;
	worker->asked--;
	*out = (struct mt_file_probe){
		.tag = answer->tag,
		.fd = answer->fd,
		.error = answer->error,
		.status = answer->status,
		.elsewhere = answer->elsewhere,
		.front = answer->fd >= 0 ? MT_TAKE(answer->bytes) : NULL,
		.size = answer->size,
	};
	memcpy(out->started, answer->started, sizeof(out->started));
	call_destroy(answer);
	return true;
}

size_t mt_file_worker_asked(const struct mt_file_worker *worker)
{
	return worker->asked;
}

uint64_t mt_file_worker_since(struct mt_file_worker *worker)
{
	uint64_t since;

	pthread_mutex_lock(&worker->lock);
	since = worker->worker_thread && worker->worker_thread->call ? worker->worker_thread->since
								     : 0;
	pthread_mutex_unlock(&worker->lock);
	return since;
}
