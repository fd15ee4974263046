/*
 * The carrying thread: takes images from a queue, makes FILE chunks of them, and queues the chunks
 * for the writing thread. Keeps track of images that were carried whole. embed_image.c and
 * embed_names.c make what the chunks contain.
 */
#include "record/carry/carry_worker.h"
#include "symbols/images/image.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/pool.h"
#include "formats/file_chunks.h"
#include "formats/records/jitdump.h"
#include "formats/records/record.h"
#include "record/carry/embed_image.h"
#include "record/carry/embed_names.h"
#include "record/carry/kernel_seen.h"
#include "record/carry/sampled_places.h"
#include "record/files/file_worker.h"
#include "record/files/image_files.h"
#include "record/open/clock.h"

#define NICENESS 10
#define KEPT_OPEN_MAX 64	    /* jobs whose file stays open; other files are reopened */
#define READY_MAX ((size_t)1 << 20) /* bytes of chunks that wait for the writing thread */
#define REST_MAX_NS 2000000000ull
#define ASK_NS 100000000ull  /* interval at which mt_carry_worker_take_last() calls give_up */
#define LOOK_NS 500000000ull /* interval at which the thread looks for new files */
#define FIRST_NEWS_NS UINT64_C(1000000000)
#define LAST_NEWS_NS UINT64_C(60000000000)
#define PIECE ((size_t)256 << 10) /* bytes put between two checks of `stopped`, about 10 ms */

enum job_kind {
	JOB_IMAGE,
	JOB_SEEN,    /* functions of an image around sampled places */
	JOB_LINES,   /* debug information of an image around sampled places, after all other jobs */
	JOB_PROCESS, /* a process that has a sample */
};

struct job {
	enum job_kind kind;
	int32_t process;
	uint64_t exec_time; /* not 0: the process calls exec at that time */
	int fd;		    /* descriptor of the file; -1: not kept open */
	const struct mt_image_file *file;
	uint64_t *numbers; /* sampled places in the file */
	size_t count;
	uint64_t time; /* time of the sampled places */
	bool last;
	struct job *next;
};

struct mt_carry_worker {
	struct mt_embed_options options;
	pthread_t thread;
	bool running;
	struct mt_file_worker *files; /* only the carrying thread uses the fields up to `made` */
	struct mt_embed_names *names;
	struct mt_file_chunks *chunks;
	MT_ARRAY(bool) whole; /* by image number: the whole image was carried */
	uint64_t made;	      /* bytes of all chunks */
	_Atomic bool stopped; /* stop at once, even within an image */
	pthread_mutex_t lock; /* guards the fields below */
	pthread_cond_t offered, taken, finished;
	struct job *queue, **queue_end;
	struct job *lines; /* only JOB_LINES */
	size_t open;
	struct mt_carry_worker_chunk *ready, **ready_end;
	size_t ready_bytes;
	bool closed, ended, given_up;
	pid_t tid;		       /* thread id, once the thread runs */
	bool at_image;		       /* an image is being carried */
	size_t left_out;	       /* number of images left out after give_up */
	struct mt_kernel_seen *kernel; /* set by mt_carry_worker_offer_remaining() */
	struct mt_kernel_news news;
	uint64_t news_due, news_pause;
	uint64_t now;
	uint64_t cpu_ns; /* CPU time of the thread, once it has ended */
};

MT_DEFINE_CLEANUP(mt_carry_worker, struct mt_carry_worker)
MT_DEFINE_CLEANUP(mt_embed_image, struct mt_embed_image)

void mt_carry_worker_chunk_destroy(struct mt_carry_worker_chunk *chunk)
{
	if (!chunk)
		return;
	free(chunk->payload);
	free(chunk->problem);
	free(chunk);
}

static void job_destroy(struct mt_carry_worker *embed, struct job *job)
{
	if (!job)
		return;
	mt_file_worker_close(embed->files, job->fd);
	free(job->numbers);
	free(job);
}

/* ---- On the carrying thread ---- */

/* Queues a chunk for the writing thread. Waits while too many chunks are queued. */
static void deliver(struct mt_carry_worker *embed, struct mt_carry_worker_chunk *chunk)
{
	pthread_mutex_lock(&embed->lock);
	while (embed->ready_bytes >= READY_MAX && !embed->ended)
		pthread_cond_wait(&embed->taken, &embed->lock);
	*embed->ready_end = chunk;
	embed->ready_end = &chunk->next;
	embed->ready_bytes += chunk->header.stored_size;
	pthread_cond_broadcast(&embed->finished);
	pthread_mutex_unlock(&embed->lock);
}

/* Queues a message for the user; drops the message if memory runs out. */
static void deliver_problem(void *context, const struct mt_text *path, const char *problem)
{
	struct mt_carry_worker *embed = context;
	struct mt_carry_worker_chunk *chunk = calloc(1, sizeof(*chunk));

	if (!chunk)
		return;
	if (asprintf(&chunk->problem, "%.*s is not carried: %s", (int)path->size, path->bytes,
		     problem) < 0)
		chunk->problem = NULL;
	deliver(embed, chunk);
}

/* Queues a chunk of file_chunks.c. False if the chunk exceeds the limit, or out of memory. */
static bool take_chunk(void *context, struct mt_file_chunk *made)
{
	struct mt_carry_worker *embed = context;
	uint64_t size = MT_CHUNK_HEADER_SIZE + (uint64_t)made->header.stored_size;
	struct mt_carry_worker_chunk *chunk = NULL;

	if (embed->made + size <= embed->options.limit)
		chunk = calloc(1, sizeof(*chunk));
	if (!chunk) {
		free(made->payload);
		return false;
	}
	embed->made += size;
	chunk->header = made->header;
	chunk->payload = made->payload;
	deliver(embed, chunk);
	return true;
}

static bool put_bytes(void *context, const uint8_t *bytes, size_t size)
{
	struct mt_carry_worker *embed = context;

	for (size_t at = 0, n; at < size; at += n) {
		n = size - at < PIECE ? size - at : PIECE;
		if (atomic_load(&embed->stopped) ||
		    !mt_file_chunks_put(embed->chunks, bytes + at, n))
			return false;
	}
	return true;
}

/* Reports that --embed-limit left no room, unless `stopped` is set. Call after a failed put. */
static void report_no_room(struct mt_carry_worker *embed, const struct mt_text *path)
{
	if (!atomic_load(&embed->stopped))
		deliver_problem(embed, path, "no room within --embed-limit");
}

/* Carries a file whose bytes are in memory. If there is no room, reports that and returns false. */
static bool put_content(void *context, uint64_t time, const struct mt_file_record *file,
			const uint8_t *bytes)
{
	struct mt_carry_worker *embed = context;
	bool good;

	mt_file_chunks_begin(embed->chunks, time, file);
	good = put_bytes(embed, bytes, file->size);
	if (!good)
		report_no_room(embed, &file->path);
	return good;
}

/* Carries the whole vdso, which the kernel has mapped into the recorder, too. */
static void carry_vdso(struct mt_carry_worker *embed, struct mt_file_record *file)
{
	size_t size;
	const uint8_t *bytes = mt_own_vdso(&size);

	if (!bytes)
		return;
	file->kind = MT_FILE_VDSO;
	file->kept = MT_KEPT_NAMES | MT_KEPT_UNWIND;
	file->size = size;
	(void)put_content(embed, 0, file, bytes);
}

/* Reads the file and carries its skeleton around places; the whole skeleton if places is NULL. */
static void carry_image(struct mt_carry_worker *embed, int fd, struct mt_file_record *file,
			const struct mt_skeleton_wish *wish, const struct mt_embed_places *places,
			uint64_t time)
{
	const struct mt_skeleton_output output = {embed, put_bytes};
	MT_CLEANUP(mt_embed_image_destroy_p) struct mt_embed_image *image = NULL;
	struct mt_error *err = mt_embed_image_create(embed->files, fd, wish, places, &image);
	struct mt_skeleton *skeleton;

	if (err) {
		deliver_problem(embed, &file->path, err->message);
		mt_error_destroy(err);
		return;
	}
	skeleton = mt_embed_image_skeleton(image);
	file->kept = mt_skeleton_kept(wish) | (places ? MT_KEPT_SEEN : 0);
	file->original_size = mt_embed_image_original_size(image);
	file->size = mt_skeleton_size(skeleton);
	mt_file_chunks_begin(embed->chunks, time, file);
	if (!mt_skeleton_write(skeleton, &output))
		report_no_room(embed, &file->path);
}

/*
 * Carries the image around places. Carries the whole image if its file was deleted, because the
 * file may no longer exist at the next offer.
 */
static void carry_seen(struct mt_carry_worker *embed, const struct job *job,
		       struct mt_file_record *file)
{
	const struct mt_embed_places places = {job->numbers, job->count};
	bool *whole = mt_array_at(&embed->whole, job->file->places);
	struct mt_skeleton_wish wish = embed->options.wish;
	struct stat status;

	if (whole && *whole)
		return;
	if (job->kind == JOB_SEEN && !job->last &&
	    !mt_file_worker_stat(embed->files, job->fd, &status) && !status.st_nlink) {
		if (whole)
			*whole = true;
		carry_image(embed, job->fd, file, &wish, NULL, 0);
		return;
	}
	wish.lines = job->kind == JOB_LINES;
	if (wish.lines)
		wish.names = wish.unwind = false;
	carry_image(embed, job->fd, file, &wish, &places, job->time);
}

/* Takes the kernel addresses offered so far, and the time of the offer. */
static struct mt_kernel_news take_news(struct mt_carry_worker *embed, uint64_t *now)
{
	struct mt_kernel_news news;

	pthread_mutex_lock(&embed->lock);
	news = embed->news;
	embed->news = (struct mt_kernel_news){0};
	*now = embed->now;
	pthread_mutex_unlock(&embed->lock);
	return news;
}

/* Carries the names written so far, so that a recording that is cut short has them. */
static void carry_so_far(struct mt_carry_worker *embed)
{
	struct mt_kernel_news news;
	uint64_t now;

	if (!mt_embed_names_is_due(embed->names))
		return;
	news = take_news(embed, &now);
	mt_embed_names_see_kernel(embed->names, &news);
	mt_embed_names_so_far(embed->names, now);
}

/* Carries the remaining names at the end. */
static void carry_rest(struct mt_carry_worker *embed)
{
	struct mt_kernel_news news;
	uint64_t now;

	if (!embed->options.wish.names)
		return;
	news = take_news(embed, &now);
	mt_embed_names_so_far(embed->names, now);
	mt_embed_names_see_kernel(embed->names, &news);
	news = (struct mt_kernel_news){0};
	if (embed->kernel)
		news.addresses = mt_kernel_seen_take(embed->kernel, &news.count, &news.all);
	mt_embed_names_see_kernel(embed->names, &news);
	mt_embed_names_rest(embed->names, now);
}

static void carry_jitdump(struct mt_carry_worker *embed, struct job *job)
{
	int fd = job->fd;

	job->fd = -1;
	mt_embed_names_see_jitdump(embed->names, fd, &job->file->at);
}

static void carry(struct mt_carry_worker *embed, struct job *job)
{
	struct mt_file_record file;
	struct stat status;
	uint32_t number;

	if (job->kind == JOB_PROCESS) {
		mt_embed_names_see_process(embed->names, job->process, job->exec_time);
		return;
	}
	file = (struct mt_file_record){
		.kind = MT_FILE_SKELETON,
		.major = job->file->at.major,
		.minor = job->file->at.minor,
		.inode = job->file->at.inode,
		.inode_generation = job->file->at.inode_generation,
		.path = job->file->at.path,
		.build_id = job->file->build_id,
	};
	if (file.path.bytes[0] == '[') {
		carry_vdso(embed, &file);
		return;
	}
	if (job->fd < 0)
		job->fd = mt_file_worker_open(embed->files, &job->file->at, &status);
	if (job->fd < 0)
		deliver_problem(embed, &file.path, mt_file_problem(errno));
	else if (job->kind != JOB_IMAGE)
		carry_seen(embed, job, &file);
	else if (mt_jitdump_path(file.path.bytes, file.path.size, &number))
		carry_jitdump(embed, job);
	else
		carry_image(embed, job->fd, &file, &embed->options.wish, NULL, 0);
}

/* Waits for a condition; the caller holds the lock. True if the timeout passed. */
static bool wait_for(pthread_cond_t *what, pthread_mutex_t *lock, uint64_t ns)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / 1000000000u);
	until.tv_nsec = (long)(ns % 1000000000u);
	return pthread_cond_timedwait(what, lock, &until) == ETIMEDOUT;
}

/* Waits for the next job, which the caller then owns; NULL if no more jobs will come. */
static struct job *next_job(struct mt_carry_worker *embed)
{
	struct job *job = NULL;

	pthread_mutex_lock(&embed->lock);
	while (!embed->queue && !embed->closed) {
		if (!wait_for(&embed->offered, &embed->lock, LOOK_NS))
			continue;
		pthread_mutex_unlock(&embed->lock);
		carry_so_far(embed);
		mt_file_chunks_rest(embed->chunks);
		pthread_mutex_lock(&embed->lock);
	}
	if (embed->queue && !embed->ended) {
		job = embed->queue;
		embed->queue = job->next;
		if (!embed->queue)
			embed->queue_end = &embed->queue;
		embed->open -= job->fd >= 0;
	}
	embed->at_image = job && job->kind <= JOB_SEEN;
	pthread_mutex_unlock(&embed->lock);
	return job;
}

/* Carries debug information last, because names have priority if --embed-limit is too small. */
static void carry_lines(struct mt_carry_worker *embed)
{
	bool ended = false;

	while (!ended) {
		struct job *job;

		pthread_mutex_lock(&embed->lock);
		ended = embed->ended;
		job = ended ? NULL : embed->lines;
		embed->lines = job ? job->next : embed->lines;
		embed->at_image = job;
		pthread_mutex_unlock(&embed->lock);
		ended |= !job;
		if (job)
			carry(embed, job);
		job_destroy(embed, job);
	}
}

/* Sleeps as long as the thread worked, so that it uses at most half a CPU during the recording. */
static void rest(struct mt_carry_worker *embed, uint64_t worked_ns)
{
	uint64_t until = mt_clock_monotonic(), now = until;

	until += worked_ns < REST_MAX_NS ? worked_ns : REST_MAX_NS;
	pthread_mutex_lock(&embed->lock);
	for (; !embed->closed && now < until; now = mt_clock_monotonic())
		(void)wait_for(&embed->offered, &embed->lock, until - now);
	pthread_mutex_unlock(&embed->lock);
}

/* Lowers the thread's priority during the recording. */
static void give_way(struct mt_carry_worker *embed)
{
	pthread_mutex_lock(&embed->lock);
	embed->tid = (pid_t)syscall(SYS_gettid);
	if (!embed->closed)
		setpriority(PRIO_PROCESS, (id_t)embed->tid, NICENESS);
	pthread_mutex_unlock(&embed->lock);
}

static void *embed_main(void *argument)
{
	struct mt_carry_worker *embed = argument;
	struct job *job;
	bool given_up;

	give_way(embed);
	while ((job = next_job(embed))) {
		uint64_t began = mt_clock_monotonic();

		carry(embed, job);
		job_destroy(embed, job);
		carry_so_far(embed);
		rest(embed, mt_clock_monotonic() - began);
	}
	pthread_mutex_lock(&embed->lock);
	given_up = embed->ended;
	pthread_mutex_unlock(&embed->lock);
	if (!given_up) {
		carry_rest(embed);
		carry_lines(embed);
	}
	pthread_mutex_lock(&embed->lock);
	embed->cpu_ns = mt_clock_thread_ns();
	embed->ended = true;
	pthread_cond_broadcast(&embed->finished);
	pthread_mutex_unlock(&embed->lock);
	return NULL;
}

/* ---- On the writing thread ---- */

struct mt_error *mt_carry_worker_create(const struct mt_embed_options *options,
					struct mt_carry_worker **out)
{
	MT_CLEANUP(mt_carry_worker_destroy_p)
	struct mt_carry_worker *embed = calloc(1, sizeof(*embed));
	int failed;

	if (!embed)
		return mt_error_nomem();
	embed->options = *options;
	embed->ready_end = &embed->ready;
	embed->queue_end = &embed->queue;
	embed->news_pause = FIRST_NEWS_NS;
	embed->news_due = mt_clock_monotonic() + FIRST_NEWS_NS;
	mt_inheriting_mutex(&embed->lock);
	pthread_cond_init(&embed->offered, NULL);
	pthread_cond_init(&embed->taken, NULL);
	pthread_cond_init(&embed->finished, NULL);
	embed->chunks = mt_file_chunks_create(&(struct mt_file_chunk_sink){embed, take_chunk});
	embed->files = mt_file_worker_create();
	embed->names = mt_embed_names_create(
		&options->wish, &(struct mt_embed_names_sink){embed, put_content, deliver_problem},
		embed->files);
	if (!embed->files || !embed->chunks || !embed->names)
		return mt_error_nomem();
	failed = pthread_create(&embed->thread, NULL, embed_main, embed);
	if (failed)
		return mt_error_os(failed, "cannot start the thread that carries images");
	embed->running = true;
	*out = MT_TAKE(embed);
	return NULL;
}

/*
 * Closes the queue: the thread ends after the queued jobs, or at once. Raises the priority of the
 * thread back to normal if permitted, because the caller now waits for the thread.
 */
static void close_queue(struct mt_carry_worker *embed, bool at_once)
{
	pthread_mutex_lock(&embed->lock);
	if (!embed->closed && embed->tid)
		(void)!setpriority(PRIO_PROCESS, (id_t)embed->tid, 0);
	embed->closed = true;
	embed->ended |= at_once;
	if (at_once)
		atomic_store(&embed->stopped, true);
	pthread_cond_broadcast(&embed->offered);
	pthread_cond_broadcast(&embed->taken);
	pthread_mutex_unlock(&embed->lock);
}

void mt_carry_worker_destroy(struct mt_carry_worker *embed)
{
	struct mt_carry_worker_chunk *chunk;
	struct job *job;

	if (!embed)
		return;
	if (embed->running) {
		close_queue(embed, true);
		pthread_join(embed->thread, NULL);
	}
	*embed->queue_end = embed->lines;
	while ((job = embed->queue)) {
		embed->queue = job->next;
		job_destroy(embed, job);
	}
	while ((chunk = embed->ready)) {
		embed->ready = chunk->next;
		mt_carry_worker_chunk_destroy(chunk);
	}
	free(embed->news.addresses);
	mt_embed_names_destroy(embed->names);
	mt_file_worker_destroy(embed->files);
	mt_array_deinit(&embed->whole);
	mt_file_chunks_destroy(embed->chunks);
	pthread_cond_destroy(&embed->offered);
	pthread_cond_destroy(&embed->taken);
	pthread_cond_destroy(&embed->finished);
	pthread_mutex_destroy(&embed->lock);
	free(embed);
}

/* Copies the job into a queue, with a descriptor of its file if few descriptors are open. */
static void enqueue(struct mt_carry_worker *embed, const struct job *what)
{
	struct job *job = malloc(sizeof(*job));

	if (!job) {
		free(what->numbers);
		return;
	}
	*job = *what;
	job->fd = -1;
	pthread_mutex_lock(&embed->lock);
	if (job->file && job->file->fd >= 0 && embed->open < KEPT_OPEN_MAX)
		job->fd = fcntl(job->file->fd, F_DUPFD_CLOEXEC, 3);
	embed->open += job->fd >= 0;
	if (job->kind == JOB_LINES) {
		job->next = embed->lines;
		embed->lines = job;
	} else {
		*embed->queue_end = job;
		embed->queue_end = &job->next;
	}
	pthread_cond_broadcast(&embed->offered);
	pthread_mutex_unlock(&embed->lock);
}

void mt_carry_worker_offer(struct mt_carry_worker *embed, const struct mt_image_file *file)
{
	enqueue(embed, &(struct job){.kind = JOB_IMAGE, .file = file});
}

void mt_carry_worker_offer_seen(struct mt_carry_worker *embed, const struct mt_image_file *file,
				struct mt_code_news *news, uint64_t time, bool last)
{
	enqueue(embed, &(struct job){.kind = JOB_SEEN,
				     .file = file,
				     .numbers = MT_TAKE(news->offsets),
				     .count = news->count,
				     .time = time,
				     .last = last});
}

void mt_carry_worker_offer_lines(struct mt_carry_worker *embed, const struct mt_image_file *file,
				 uint64_t *offsets, size_t count, uint64_t time)
{
	enqueue(embed, &(struct job){.kind = JOB_LINES,
				     .file = file,
				     .numbers = offsets,
				     .count = count,
				     .time = time});
}

void mt_carry_worker_offer_process(struct mt_carry_worker *embed, int32_t pid, uint64_t exec_time)
{
	enqueue(embed, &(struct job){.kind = JOB_PROCESS, .process = pid, .exec_time = exec_time});
}

void mt_carry_worker_offer_so_far(struct mt_carry_worker *embed, struct mt_kernel_seen *kernel,
				  uint64_t now)
{
	uint64_t clock = mt_clock_monotonic();
	struct mt_kernel_news news;

	pthread_mutex_lock(&embed->lock);
	embed->now = now;
	if (clock >= embed->news_due && !embed->news.addresses && embed->options.wish.names &&
	    mt_kernel_seen_has_news(kernel)) {
		news.addresses = mt_kernel_seen_take(kernel, &news.count, &news.all);
		embed->news = news;
		embed->news_due = clock + embed->news_pause;
		embed->news_pause *= 2;
		if (embed->news_pause > LAST_NEWS_NS)
			embed->news_pause = LAST_NEWS_NS;
	}
	pthread_mutex_unlock(&embed->lock);
}

void mt_carry_worker_offer_remaining(struct mt_carry_worker *embed, struct mt_kernel_seen *kernel,
				     uint64_t now)
{
	pthread_mutex_lock(&embed->lock);
	embed->kernel = kernel;
	embed->now = now;
	pthread_mutex_unlock(&embed->lock);
}

static struct mt_carry_worker_chunk *take_locked(struct mt_carry_worker *embed)
{
	struct mt_carry_worker_chunk *chunk = embed->ready;

	if (!chunk)
		return NULL;
	embed->ready = chunk->next;
	if (!embed->ready)
		embed->ready_end = &embed->ready;
	embed->ready_bytes -= chunk->header.stored_size;
	chunk->next = NULL;
	pthread_cond_broadcast(&embed->taken);
	return chunk;
}

struct mt_carry_worker_chunk *mt_carry_worker_take(struct mt_carry_worker *embed)
{
	struct mt_carry_worker_chunk *chunk;

	pthread_mutex_lock(&embed->lock);
	chunk = take_locked(embed);
	pthread_mutex_unlock(&embed->lock);
	return chunk;
}

/* Makes the thread stop at once, and counts the images that it leaves out. */
static void stop_now(struct mt_carry_worker *embed)
{
	pthread_mutex_lock(&embed->lock);
	if (!embed->ended) {
		embed->given_up = true;
		embed->left_out = embed->at_image;
		for (const struct job *job = embed->queue; job; job = job->next)
			embed->left_out += job->kind <= JOB_SEEN;
		for (const struct job *job = embed->lines; job; job = job->next)
			embed->left_out++;
	}
	pthread_mutex_unlock(&embed->lock);
	close_queue(embed, true);
}

struct mt_carry_worker_chunk *mt_carry_worker_take_last(struct mt_carry_worker *embed,
							bool (*give_up)(void *context),
							void *context)
{
	struct mt_carry_worker_chunk *chunk = NULL;
	bool ended = false;

	close_queue(embed, false);
	while (!chunk && !ended) {
		if (give_up(context))
			stop_now(embed);
		pthread_mutex_lock(&embed->lock);
		if (!embed->ready && !embed->ended)
			(void)wait_for(&embed->finished, &embed->lock, ASK_NS);
		ended = embed->ended;
		chunk = take_locked(embed);
		pthread_mutex_unlock(&embed->lock);
	}
	return chunk;
}

bool mt_carry_worker_given_up(struct mt_carry_worker *embed, size_t *images)
{
	bool given_up;

	pthread_mutex_lock(&embed->lock);
	given_up = embed->given_up;
	*images = embed->left_out;
	pthread_mutex_unlock(&embed->lock);
	return given_up;
}

uint64_t mt_carry_worker_cpu_ns(struct mt_carry_worker *embed)
{
	uint64_t ns;

	pthread_mutex_lock(&embed->lock);
	ns = embed->cpu_ns;
	pthread_mutex_unlock(&embed->lock);
	return ns;
}
