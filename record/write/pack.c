/* The writing thread. */
#include "record/write/pack.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/chunks/chunk.h"
#include "formats/records/events.h"
#include "formats/records/record.h"
#include "record/carry/carry_worker.h"
#include "record/carry/carrying.h"
#include "record/carry/images.h"
#include "record/carry/sampled_places.h"
#include "record/files/file_worker.h"
#include "record/files/image_files.h"
#include "record/open/clock.h"
#include "record/plan/plan.h"
#include "record/rings/spool.h"

#define FILL_FAST 25  /* percent of the spool queued: from here on zstd's fast level */
#define FILL_STORE 50 /* ... from here on no compression and high priority */
#define FILL_CALM 10  /* ... until the percentage falls to this */
#define ENDING_MOST 4 /* blocks queued at the end above which the fast level is used */
#define LEVEL_FAST (-3)
#define NICENESS 10
#define ANSWERS_NS UINT64_C(500000000) /* how long a mark waits for answers about files */
#define HOLD_PART 4		       /* drains are asked when 1 / HOLD_PART of `hold` is filled */
#define UNDER_WAY_NS UINT64_C(1000000) /* from a record's time to its appearance in a ring */
/*
 * Level for frames that replace stacks. Frames are not encoded as differences like stacks, and
 * zstd's fastest level shrinks them to a tenth, which costs less than storing them.
 */
#define LEVEL_HASTE (-7)
#define LIMIT_SPARE ((uint64_t)64 << 10) /* --max-size: room for STATE, MARK and END chunks */
#define FULL_SPARE ((uint64_t)128 << 10)

/* A request to flush the drains, after which all records before `below` are here. */
struct asking {
	bool asked, answered;
	uint64_t below;
	size_t after; /* once answered: blocks queued at that time and not taken yet */
};

struct mt_pack {
	struct mt_writer *writer;
	struct mt_spool *spool;
	struct mt_block *images_block; /* IMAGE records; they bypass the spool's queue */
	struct mt_file_worker *worker; /* opens and reads the files of mappings */
	struct mt_image_files *files;
	struct mt_images *images;
	struct mt_carrying *carrying;  /* NULL if no image is carried */
	struct mt_carry_worker *embed; /* of `carrying`, or NULL */
	struct mt_strip *strip;	       /* NULL if stacks are not stripped */
	size_t hold;
	struct asking asking;
	_Atomic(const struct mt_pack_flusher *) flusher;
	int level;
	_Atomic bool hasty; /* the spool was half full: store only, real-time if permitted */
	_Atomic pid_t tid;
	_Atomic int ending; /* signalfd; -1 during the recording */
	int failed_fd;
	struct mt_error *error;
	const struct mt_plan *plan;
	_Atomic uint64_t limit; /* bytes of the file; 0: no limit */
	int full_fd;
	bool reported_full;
	uint64_t data_raw, data_written; /* bytes of DATA chunks */
	uint64_t last_time;		 /* the latest time of all records so far */
	uint64_t written_time;		 /* last time of the block being written */
	struct mt_pack_counts counts;	 /* as far as this file counts them */
	pthread_t thread;
	bool running;
};

MT_DEFINE_CLEANUP(mt_pack, struct mt_pack)

/*
 * Raises the writer's priority. Between real-time drains and a target with very many events, a
 * thread of low priority starves, and the spool fills up. Once the spool is half full, the drains
 * make the writer real-time, too, so that the writer preempts the target.
 */
static void go_first(pid_t tid)
{
	struct sched_param realtime = {.sched_priority = 1};

	(void)!setpriority(PRIO_PROCESS, (id_t)tid, 0); /* in case real-time is not permitted */
	(void)sched_setscheduler(tid, SCHED_FIFO, &realtime);
}

static void make_haste(void *context)
{
	struct mt_pack *pack = context;
	pid_t tid = atomic_load(&pack->tid);

	if (!tid)
		return; /* not running yet; 0 would mean the caller */
	/* raise it again if the writer is just lowering its priority */
	if (!atomic_exchange(&pack->hasty, true) || sched_getscheduler(tid) != SCHED_FIFO)
		go_first(tid);
}

static bool is_ending(const struct mt_pack *pack)
{
	return atomic_load(&pack->ending) >= 0;
}

static void calm_down(struct mt_pack *pack)
{
	struct sched_param none = {.sched_priority = 0};

	atomic_store(&pack->hasty, false);
	if (is_ending(pack))
		return;
	sched_setscheduler(0, SCHED_OTHER, &none);
	setpriority(PRIO_PROCESS, (id_t)pack->tid, NICENESS);
}

static int choose_level(struct mt_pack *pack, const struct mt_block *block)
{
	unsigned fill = mt_spool_fill(pack->spool);
	int level = pack->level;

	if (atomic_load(&pack->hasty) && fill <= FILL_CALM)
		calm_down(pack);
	if (!pack->level)
		return 0;
	if (atomic_load(&pack->hasty)) {
		pack->counts.hurried++;
		pack->counts.fast += pack->strip && block->type == MT_CHUNK_DATA;
		return pack->strip && block->type == MT_CHUNK_DATA ? LEVEL_HASTE : 0;
	}
	if (fill < FILL_FAST && !(is_ending(pack) && mt_spool_queued(pack->spool) > ENDING_MOST))
		return level;
	pack->counts.hurried++;
	pack->counts.fast++;
	return level < LEVEL_FAST ? level : LEVEL_FAST;
}

/* Returns the number of samples of MT_ROLE_SAMPLE in a DATA block. */
static uint64_t count_samples(const struct mt_pack *pack, const struct mt_block *block)
{
	uint64_t samples = 0;
	size_t size;

	for (size_t at = 0; at < block->used; at += size) {
		uint32_t type = mt_get_le32(block->bytes + at), event;

		size = mt_get_le32(block->bytes + at + 4);
		event = mt_get_le32(block->bytes + at + MT_RECORD_HEADER_SIZE);
		if ((type == MT_RECORD_SAMPLE || type == MT_RECORD_KERNEL ||
		     type == MT_RECORD_PACKED || type == MT_RECORD_FRAMES) &&
		    event < pack->plan->events.count &&
		    pack->plan->events.items[event].role == MT_ROLE_SAMPLE)
			samples++;
	}
	return samples;
}

/* Counts the samples of a DATA block that exceeded the limit. */
static void note_left_out(struct mt_pack *pack, const struct mt_block *block)
{
	struct mt_pack_counts *counts = &pack->counts;

	if (!counts->left_out.from || block->first_time < counts->left_out.from)
		counts->left_out.from = block->first_time;
	if (block->last_time > counts->left_out.to)
		counts->left_out.to = block->last_time;
	counts->left_out.samples += count_samples(pack, block);
}

/* Returns how many bytes of the limit are reserved for images not carried yet. */
static uint64_t to_be_carried(const struct mt_pack *pack)
{
	uint64_t limit = atomic_load(&pack->limit), bytes;

	bytes = pack->carrying ? mt_carrying_to_come(pack->carrying) : 0;
	return bytes < limit / 4 ? bytes : limit / 4;
}

/*
 * Returns an estimate of the bytes not yet written: blocks in use plus blocks queued for stripping,
 * scaled by the compression ratio so far, with a margin.
 */
static uint64_t under_way(const struct mt_pack *pack)
{
	double ratio = pack->data_raw ? (double)pack->data_written / (double)pack->data_raw : 0.1,
	       bytes = (double)mt_spool_in_use(pack->spool);

	if (pack->strip)
		bytes += (double)mt_strip_held(pack->strip);
	return FULL_SPARE + to_be_carried(pack) + (uint64_t)(bytes * ratio * 1.25);
}

/* Limits a block: DATA leaves room for STATE, MARK and images; all types leave room for END. */
static void apply_limit(struct mt_pack *pack, const struct mt_block *block)
{
	uint64_t limit = atomic_load(&pack->limit);

	if (limit)
		mt_writer_set_limit(pack->writer,
				    block->type == MT_CHUNK_DATA
					    ? limit - LIMIT_SPARE - to_be_carried(pack)
					    : limit - LIMIT_SPARE / 16);
}

static void watch_output(struct mt_pack *pack, const struct mt_block *block,
			 struct mt_writer_counts before)
{
	struct mt_writer_counts now = mt_writer_counts(pack->writer);
	uint64_t limit = atomic_load(&pack->limit), one = 1;

	if (block->type == MT_CHUNK_DATA && now.left_out > before.left_out)
		note_left_out(pack, block);
	if (block->type == MT_CHUNK_DATA) {
		pack->data_raw += now.raw - before.raw;
		pack->data_written += now.written - before.written;
	}
	if (!limit || pack->reported_full || now.written + under_way(pack) < limit)
		return;
	pack->reported_full = true;
	(void)!write(pack->full_fd, &one, sizeof(one));
}

static void write_block(struct mt_pack *pack, const struct mt_block *block)
{
	struct mt_writer_counts before = mt_writer_counts(pack->writer);
	uint64_t one = 1;
	int level;

	if (pack->error)
		return; /* further records are lost; the main thread stops the recording */
	apply_limit(pack, block);
	level = choose_level(pack, block);
	pack->written_time = block->last_time;
	pack->error = mt_writer_write(pack->writer, block, level);
	if (pack->error)
		(void)!write(pack->failed_fd, &one, sizeof(one));
	watch_output(pack, block, before);
}

/* Writes the IMAGE records before a MARK, which promises that all earlier records are there. */
static void write_images(struct mt_pack *pack)
{
	write_block(pack, pack->images_block);
	mt_block_reset(pack->images_block, MT_CHUNK_STATE, 0);
}

static void put_image(void *context, const struct mt_image_record *record)
{
	struct mt_pack *pack = context;

	if (pack->strip)
		mt_strip_learn(pack->strip, record);
	if (mt_image_put(pack->images_block, record))
		return;
	write_images(pack);
	(void)mt_image_put(pack->images_block, record); /* an empty block has room for any path */
}

static void report_words(void *context, const uint64_t *words, size_t count)
{
	const struct mt_pack *pack = context;

	mt_sampled_places_words(mt_carrying_code_seen(pack->carrying), words, count,
				pack->written_time);
}

/* Starts the carrying thread; leaves pack->carrying NULL if no image is to be carried. */
static struct mt_error *start_carrying(struct mt_pack *pack, const struct mt_embed_options *options)
{
	struct mt_error *err =
		mt_carrying_create(options, pack->plan, pack->files, &pack->carrying);

	if (err || !pack->carrying)
		return err;
	pack->embed = mt_carrying_embed(pack->carrying);
	if (mt_carrying_wants_words(pack->carrying))
		mt_writer_set_words(pack->writer, report_words, pack);
	return NULL;
}

static struct mt_images *create_images(struct mt_pack *pack)
{
	struct mt_carrying *carrying = pack->carrying;

	return mt_images_create(&(struct mt_images_config){
		.sink = {pack, put_image},
		.plan = pack->plan,
		.choice = carrying ? mt_carrying_choice(carrying) : NULL,
		.code = carrying ? mt_carrying_code_seen(carrying) : NULL,
		.files = pack->files,
		.worker = pack->worker,
		.at_once = pack->strip, /* unwinding needs the files at once */
	});
}

/* Queues a note in the STATE block that is written before the next MARK. */
static void put_note(struct mt_pack *pack, const char *text)
{
	const struct mt_note_record note = {.level = 1, .text = {text, strlen(text)}};

	if (mt_note_put(pack->images_block, &note))
		return;
	write_images(pack);
	(void)mt_note_put(pack->images_block, &note);
}

/* Writes a FILE chunk, or a note why there is none; destroys the chunk. */
static void write_carried(struct mt_pack *pack, struct mt_carry_worker_chunk *chunk)
{
	uint64_t limit = atomic_load(&pack->limit), one = 1;

	if (chunk->problem) {
		put_note(pack, chunk->problem);
	} else if (!pack->error) {
		if (limit)
			mt_writer_set_limit(pack->writer, limit - LIMIT_SPARE);
		pack->error = mt_writer_write_packed(pack->writer, &chunk->header, chunk->payload);
		if (pack->error)
			(void)!write(pack->failed_fd, &one, sizeof(one));
	}
	mt_carry_worker_chunk_destroy(chunk);
}

static void write_carried_so_far(struct mt_pack *pack)
{
	struct mt_carry_worker_chunk *chunk;

	mt_carrying_offer_so_far(pack->carrying, mt_images_kernel_seen(pack->images),
				 pack->last_time);
	while ((chunk = mt_carry_worker_take(pack->embed)))
		write_carried(pack, chunk);
}

/* Returns true after a signal at the end. Called while the output blocks or images are carried. */
static bool give_up(void *context)
{
	struct mt_pack *pack = context;
	int signals = atomic_load(&pack->ending);
	struct signalfd_siginfo info;

	while (signals >= 0 && read(signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			return true;
	}
	return false;
}

static void write_last_carried(struct mt_pack *pack)
{
	struct mt_carry_worker_chunk *chunk;

	mt_carrying_offer_rest(pack->carrying, mt_images_kernel_seen(pack->images),
			       pack->last_time);
	while ((chunk = mt_carry_worker_take_last(pack->embed, give_up, pack)))
		write_carried(pack, chunk);
}

/* Returns true for blocks that may have map records: STATE, and the streams of rare events. */
static bool may_report_of_images(const struct mt_block *block)
{
	return block->type == MT_CHUNK_STATE ||
	       (block->type == MT_CHUNK_DATA && block->stream % MT_CLASSES == MT_CLASS_RARE);
}

static void put_stripped(void *context, const struct mt_block *block)
{
	write_block(context, block);
}

static struct mt_error *start_stripping(struct mt_pack *pack, const struct mt_pack_strip *strip)
{
	if (!strip->tables)
		return NULL;
	pack->hold = strip->hold;
	pack->strip = mt_strip_create(&(struct mt_strip_config){
		.plan = pack->plan,
		.files = pack->files,
		.tables = strip->tables,
		.hold = strip->hold,
		.put = put_stripped,
		.context = pack,
	});
	return pack->strip ? NULL : mt_error_nomem();
}

/*
 * Handles a MARK: all records below its time are here now, and mostly the answers about files, too.
 * If answers are outstanding, mappings of these files follow later, so words of that time are not
 * settled yet.
 */
static void put_marked(struct mt_pack *pack, const struct mt_block *block)
{
	bool known = mt_images_take_answers(pack->images, mt_clock_monotonic() + ANSWERS_NS, false);
	struct mt_mark_record mark;

	if (block->used <= MT_RECORD_HEADER_SIZE ||
	    !mt_mark_get(block->bytes + MT_RECORD_HEADER_SIZE, block->used - MT_RECORD_HEADER_SIZE,
			 &mark))
		return;
	if (pack->strip)
		mt_strip_put(pack->strip, mark.complete_below);
	if (pack->carrying && known)
		mt_sampled_places_settle(mt_carrying_code_seen(pack->carrying),
					 mark.complete_below);
}

/*
 * Asks the drains to flush if many blocks wait for map records, instead of waiting for a MARK.
 * After the answer, all records are here that are UNDER_WAY_NS older than the latest record at the
 * request.
 */
static void ask_drains(struct mt_pack *pack)
{
	const struct mt_pack_flusher *flusher = atomic_load(&pack->flusher);
	struct asking *asking = &pack->asking;

	if (!flusher || mt_strip_held(pack->strip) < pack->hold / HOLD_PART) {
		asking->asked = false;
		return;
	}
	if (!asking->asked) {
		*asking = (struct asking){.asked = true, .below = pack->last_time - UNDER_WAY_NS};
		flusher->ask(flusher->context);
	} else if (!asking->answered && flusher->answered(flusher->context)) {
		asking->answered = true;
		asking->after = mt_spool_queued(pack->spool);
	} else if (asking->answered && asking->after) {
		asking->after--;
	}
	if (!asking->answered || asking->after)
		return;
	mt_strip_put(pack->strip, asking->below);
	asking->asked = false;
}

/* Writes a block, or passes it to the stripper; releases the block. */
static void pass_on(struct mt_pack *pack, struct mt_block *block)
{
	if (pack->strip && block->type == MT_CHUNK_DATA)
		mt_strip_hold(pack->strip, block);
	else
		write_block(pack, block);
	mt_spool_release(pack->spool, block);
	if (pack->strip)
		ask_drains(pack);
}

static void take_block(struct mt_pack *pack, struct mt_block *block)
{
	if (may_report_of_images(block))
		mt_images_see(pack->images, block);
	if (block->type == MT_CHUNK_DATA)
		mt_images_see_samples(pack->images, block);
	(void)mt_images_take_answers(pack->images, 0, false);
	if (pack->strip && block->type == MT_CHUNK_STATE)
		mt_strip_see(pack->strip, block);
	if (block->type == MT_CHUNK_MARK) {
		put_marked(pack, block);
		if (pack->embed)
			write_carried_so_far(pack);
		write_images(pack);
	}
	if (block->last_time > pack->last_time)
		pack->last_time = block->last_time;
	pass_on(pack, block);
}

/* Waits for all answers about files. A call that does not return fails at its deadline. */
static void wait_for_files(struct mt_pack *pack)
{
	while (!give_up(pack) &&
	       !mt_images_take_answers(pack->images, mt_clock_monotonic() + ANSWERS_NS, true))
		;
}

static void *pack_main(void *argument)
{
	struct mt_pack *pack = argument;
	struct sched_param none = {.sched_priority = 0};
	struct mt_block *block;

	pack->tid = (pid_t)syscall(SYS_gettid);
	setpriority(PRIO_PROCESS, (id_t)pack->tid, NICENESS);
	while ((block = mt_spool_pop(pack->spool)))
		take_block(pack, block);
	sched_setscheduler(0, SCHED_OTHER, &none); /* the remaining work may take long */
	(void)!setpriority(PRIO_PROCESS, (id_t)pack->tid, 0);
	wait_for_files(pack);
	if (pack->strip)
		mt_strip_end(pack->strip);
	if (pack->embed)
		write_last_carried(pack);
	write_images(pack);
	pack->counts.cpu_ns = mt_clock_thread_ns();
	return NULL;
}

struct mt_error *mt_pack_create(int fd, int level, struct mt_spool *spool,
				const struct mt_plan *plan, int failed_fd,
				const struct mt_embed_options *embed,
				const struct mt_pack_strip *strip, struct mt_pack **out)
{
	MT_CLEANUP(mt_pack_destroy_p) struct mt_pack *pack = calloc(1, sizeof(*pack));
	struct mt_error *err;
	int failed;

	if (!pack)
		return mt_error_nomem();
	pack->spool = spool;
	pack->level = level;
	pack->failed_fd = failed_fd;
	pack->plan = plan;
	atomic_store(&pack->ending, -1);
	pack->worker = mt_file_worker_create();
	pack->files = mt_image_files_create(pack->worker);
	if (!pack->worker || !pack->files)
		return mt_error_nomem();
	err = mt_writer_create(fd, MT_SPOOL_BLOCK, &pack->writer);
	if (!err)
		err = start_carrying(pack, embed);
	if (!err)
		err = start_stripping(pack, strip);
	if (!err)
		pack->images = create_images(pack);
	if (err)
		return err;
	mt_writer_set_patience(pack->writer, give_up, pack);
	/* taken before the drains start: the writer must never wait for itself to free a block */
	pack->images_block = mt_spool_take(spool);
	if (!pack->images || !pack->images_block)
		return mt_error_nomem();
	mt_block_reset(pack->images_block, MT_CHUNK_STATE, 0);
	failed = pthread_create(&pack->thread, NULL, pack_main, pack);
	if (failed)
		return mt_error_os(failed, "cannot start the writing thread");
	pack->running = true;
	mt_spool_set_alarm(spool, FILL_STORE, make_haste, pack);
	*out = MT_TAKE(pack);
	return NULL;
}

void mt_pack_set_ending(struct mt_pack *pack, int signals_fd)
{
	pid_t tid = atomic_load(&pack->tid);

	atomic_store(&pack->ending, signals_fd);
	if (tid)
		go_first(tid);
}

bool mt_pack_finishes_within(struct mt_pack *pack, uint64_t ns)
{
	struct timespec until;

	if (!pack->running)
		return true;
	clock_gettime(CLOCK_REALTIME, &until);
	ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / 1000000000u);
	until.tv_nsec = (long)(ns % 1000000000u);
	pack->running = pthread_timedjoin_np(pack->thread, NULL, &until) != 0;
	return !pack->running;
}

struct mt_error *mt_pack_finish(struct mt_pack *pack)
{
	if (pack->running)
		pthread_join(pack->thread, NULL);
	pack->running = false;
	return MT_TAKE(pack->error);
}

void mt_pack_set_flusher(struct mt_pack *pack, const struct mt_pack_flusher *flusher)
{
	atomic_store(&pack->flusher, flusher);
}

void mt_pack_set_limit(struct mt_pack *pack, uint64_t bytes, int full_fd)
{
	pack->full_fd = full_fd;
	atomic_store(&pack->limit, bytes);
}

struct mt_writer *mt_pack_writer(struct mt_pack *pack)
{
	return pack->writer;
}

struct mt_pack_counts mt_pack_counts(const struct mt_pack *pack)
{
	struct mt_pack_counts counts = pack->counts;

	counts.writer = mt_writer_counts(pack->writer);
	counts.stripped = pack->strip;
	if (pack->strip)
		counts.strip = mt_strip_counts(pack->strip);
	if (pack->embed) {
		counts.given_up = mt_carry_worker_given_up(pack->embed, &counts.not_carried);
		counts.carrying_cpu_ns = mt_carry_worker_cpu_ns(pack->embed);
	}
	return counts;
}

void mt_pack_destroy(struct mt_pack *pack)
{
	if (!pack)
		return;
	if (pack->running) {
		mt_spool_close(pack->spool);
		mt_error_destroy(mt_pack_finish(pack));
	}
	mt_error_destroy(pack->error);
	if (pack->images_block)
		mt_spool_release(pack->spool, pack->images_block);
	mt_strip_destroy(pack->strip);
	mt_images_destroy(pack->images);
	mt_carrying_destroy(pack->carrying);
	mt_image_files_destroy(pack->files);
	mt_file_worker_destroy(pack->worker);
	mt_writer_destroy(pack->writer);
	free(pack);
}
