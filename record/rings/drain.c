/*
 * The drain threads, one per CPU. A drain that copies on the producer's CPU stops the producer.
 * That keeps the ring from overflowing, but slows the target. So the samples of a storm are left to
 * a buddy, the drain of another CPU, as long as the buddy keeps up. Once the ring is a quarter full
 * (a small ring: half full), the CPU's real-time drain preempts the producer. A drain cannot
 * preempt a storm inside one system call; then only the buddy drains.
 */
#include "record/rings/drain.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/open/clock.h"
#include "record/rings/self_limits.h"
#include "record/rings/spool.h"

#define STACK ((size_t)64 << 10)
#define POLL_MS 1000 /* a fallback: marks and watermarks wake the thread earlier */
#define STALL_US 2000
#define LOOK_UP_US 20
#define STALL_SPINS 2000
#define STALL_PATIENCE 8 /* waits without a free block after which the writer counts as blocked */
#define STALL_DOUBLINGS 4
#define WAIT_NS 1000000000ull
#define HELP_ROUNDS 4096 /* rounds of 128 KiB; a bound in case two CPUs keep producing */
#define ASK_AFTER 32 /* shares (a quarter of a ring) until it checks if the helped thread runs */
#define STORM_LEAST ((size_t)1 << 20)
#define STORM_BYTES 300 /* bytes per microsecond; a lower rate is not a storm */
#define WATCH_US 10000	/* if no share fills up for that long, the storm is over */

struct mt_drain {
	int cpu;
	const struct mt_stream_config *config;
	struct mt_stream *streams[MT_CLASSES]; /* NULL: no event of that class */
	struct mt_drain *buddy_of;	       /* the drain that it helps, or NULL */
	_Atomic(struct mt_drain *) buddy;      /* the drain that helps it, or NULL */
	_Atomic bool helping;
	unsigned shares; /* shares drained since the helped thread was last seen running */
	uint64_t written, written_us; /* bytes of the storm ring at the last check, and its time */
	bool storm;		      /* the rate was high at the last check */
	unsigned in_vain;	      /* consecutive waits without a free block */
	bool asked_helped; /* the helped thread was woken; `woken` is its count of wakes before that
			    */
	uint64_t woken;
	pthread_t thread;
	bool running;
	int wake; /* eventfd */
	_Atomic enum mt_priority priority;
	_Atomic uint64_t asked, done; /* numbers of the last flushes */
	_Atomic bool stop, unpinned;
	_Atomic uint64_t wakes, cpu_ns;
	int answered; /* eventfd, written when done changes; writing never blocks */
};

static uint64_t monotonic_us(void)
{
	return mt_clock_monotonic() / 1000;
}

static void notify(int eventfd)
{
	uint64_t one = 1;

	(void)!write(eventfd, &one, sizeof(one));
}

static void wake(struct mt_drain *drain)
{
	notify(drain->wake);
}

/* Calls act for the rare ring of every CPU, following the circle of buddies. */
static bool for_rare(struct mt_drain *own, bool (*act)(struct mt_stream *stream))
{
	struct mt_drain *drain = own;
	bool all = true;

	do {
		if (drain->streams[MT_CLASS_RARE])
			all &= act(drain->streams[MT_CLASS_RARE]);
		drain = drain->buddy_of;
	} while (drain && drain != own);
	return all;
}

static bool listener(struct mt_stream *stream)
{
	return mt_stream_drain(stream) != MT_STREAM_UNREPORTED;
}

static bool report_stream(struct mt_stream *stream)
{
	mt_stream_notify(stream);
	return true;
}

/*
 * Drains the rare rings of all CPUs before samples are filtered by name, because a thread may have
 * been named on another CPU just before.
 */
static bool deliver_names(void *context)
{
	return for_rare(context, listener);
}

/*
 * Delivers the map records of all CPUs before samples, because a thread may have mapped memory on
 * another CPU.
 */
static void report_maps(void *context)
{
	(void)for_rare(context, report_stream);
}

/* True if the ring fills fast, by its growth since an earlier check. */
static bool is_storm(struct mt_drain *drain, const struct mt_stream *stream)
{
	uint64_t now = monotonic_us(), written = mt_stream_written(stream);

	if (written - drain->written >= STORM_LEAST) {
		drain->storm = (written - drain->written) / STORM_BYTES > now - drain->written_us;
		drain->written = written;
		drain->written_us = now;
	}
	return drain->storm;
}

/*
 * True if the samples of the storm ring can wait for the buddy. False outside a storm, because the
 * buddy would fetch from this CPU's caches, which costs more than draining here. False if a filter
 * needs the names in the rare ring first. False without real-time priority, which is needed to
 * catch up if the buddy does not come.
 */
static bool leave_to_buddy(struct mt_drain *drain, const struct mt_stream *stream)
{
	struct mt_drain *buddy = atomic_load(&drain->buddy);

	if (!buddy || drain->priority != MT_PRIORITY_REALTIME || drain->config->filter ||
	    mt_stream_pressing(stream) || !is_storm(drain, stream))
		return false;
	if (mt_stream_worth_help(stream) && !atomic_load(&buddy->helping))
		wake(buddy);
	return true;
}

/* True if records remain in the ring and draining should soon be tried again. */
static bool is_held_up(enum mt_stream_result result)
{
	return result == MT_STREAM_STALLED || result == MT_STREAM_UNREPORTED;
}

/* Drains the rings after a wake-up; false if draining should be tried again. */
static bool drain_due(struct mt_drain *drain)
{
	bool whole = true;

	for (size_t i = 0; i < MT_CLASSES; i++) {
		struct mt_stream *stream = drain->streams[i];

		if (!stream || (i == MT_CLASS_STORM && leave_to_buddy(drain, stream)))
			continue;
		whole &= !is_held_up(mt_stream_drain(stream));
	}
	return whole;
}

/* Empties all rings of the drain; false if draining should be tried again. */
static bool drain_all(struct mt_drain *drain)
{
	bool whole = true;

	for (size_t i = 0; i < MT_CLASSES; i++) {
		if (drain->streams[i])
			whole &= !is_held_up(mt_stream_drain(drain->streams[i]));
	}
	return whole;
}

/* Drains a share of each helped ring that is full enough; false if no ring has another share. */
static bool help_once(struct mt_drain *drain)
{
	bool more = false;

	for (size_t i = 0; i < MT_CLASSES; i++) {
		struct mt_stream *stream = drain->buddy_of->streams[i];

		if (stream)
			more |= mt_stream_help(stream) == MT_STREAM_MORE;
	}
	return more;
}

static bool anything_worth_help(const struct mt_drain *drain)
{
	for (size_t i = 0; i < MT_CLASSES; i++) {
		const struct mt_stream *stream = drain->buddy_of->streams[i];

		if (stream && mt_stream_worth_help(stream))
			return true;
	}
	return false;
}

/*
 * Polls while no ring has a share, if the helped thread has not run since it was woken. A storm
 * inside one system call keeps the helped thread off its CPU, and only this thread drains the
 * rings. If this thread slept, its CPU might go idle, and an idle virtual CPU can take longer to
 * wake up than a ring takes to fill. Returns true if there is a share. Returns false if this thread
 * should sleep, because the helped thread runs or nothing arrives.
 */
static bool watch_storm(struct mt_drain *drain)
{
	struct mt_drain *helped = drain->buddy_of;
	uint64_t began = monotonic_us();

	if (drain->shares < ASK_AFTER || helped->priority != MT_PRIORITY_REALTIME)
		return false;
	if (!drain->asked_helped) {
		drain->asked_helped = true;
		drain->woken = helped->wakes;
		wake(helped);
		return false;
	}
	while (helped->wakes == drain->woken && !helped->helping && drain->asked == drain->done &&
	       !drain->stop && monotonic_us() - began < WATCH_US) {
		if (anything_worth_help(drain))
			return true;
	}
	drain->asked_helped = false;
	drain->shares = 0;
	return false;
}

/* Drains the rings of buddy_of while they fill up. Drains its own rings after each share. */
static void help_buddy(struct mt_drain *drain)
{
	bool helped = false;

	if (!drain->buddy_of)
		return;
	atomic_store(&drain->helping, true);
	for (int round = 0; round < HELP_ROUNDS; round++) {
		if (help_once(drain)) {
			helped = true;
			drain->shares++;
		} else if (!helped || anything_worth_help(drain) || !watch_storm(drain)) {
			break;
		}
		(void)drain_due(drain);
	}
	atomic_store(&drain->helping, false);
}

/* Yields the CPU for a while; true if a block is free. */
static bool spin_for_block(struct mt_drain *drain)
{
	for (int i = 0; i < STALL_SPINS; i++) {
		if (mt_spool_has_free(drain->config->spool))
			return true;
		sched_yield();
	}
	return false;
}

/*
 * Waits for a free block. While the writer makes progress, a real-time drain occupies the CPU for a
 * moment, which stops the producer, so the ring does not overflow. If the writer makes no progress
 * (the output blocks), sleeps longer each time; records are then lost, but the host stays usable.
 */
static void wait_for_block(struct mt_drain *drain)
{
	unsigned more = drain->in_vain < STALL_PATIENCE ? 0 : drain->in_vain - STALL_PATIENCE + 1;
	bool spins = !more && drain->priority == MT_PRIORITY_REALTIME;

	if (!spins || !spin_for_block(drain))
		usleep(STALL_US << (more < STALL_DOUBLINGS ? more : STALL_DOUBLINGS));
	drain->in_vain = mt_spool_has_free(drain->config->spool) ? 0 : drain->in_vain + 1;
}

/*
 * Waits until draining can continue. If blocks are free, the filter is still looking up a thread in
 * /proc.
 */
static void wait_to_go_on(struct mt_drain *drain)
{
	if (drain->config->filter && mt_spool_has_free(drain->config->spool))
		usleep(LOOK_UP_US);
	else
		wait_for_block(drain);
}

static void flush_all(struct mt_drain *drain)
{
	while (!drain_all(drain))
		wait_to_go_on(drain);
	for (size_t i = 0; i < MT_CLASSES; i++) {
		while (drain->streams[i] && !mt_stream_flush(drain->streams[i]))
			wait_for_block(drain);
	}
}

/* Answers a flush: pushes everything that was in the rings when it was requested. */
static void answer_flush(struct mt_drain *drain)
{
	uint64_t asked = atomic_load(&drain->asked);

	if (asked == atomic_load(&drain->done))
		return;
	flush_all(drain);
	atomic_store(&drain->done, asked);
	notify(drain->answered);
}

/*
 * Pins the thread to its CPU and raises its priority as far as permitted. If the CPU is offline or
 * forbidden, the thread stays unpinned.
 */
static enum mt_priority settle_down(int cpu)
{
	cpu_set_t *set = CPU_ALLOC((size_t)cpu + 1);
	size_t size = CPU_ALLOC_SIZE((size_t)cpu + 1);

	if (set) {
		CPU_ZERO_S(size, set);
		CPU_SET_S((size_t)cpu, size, set);
		sched_setaffinity(0, size, set);
		CPU_FREE(set);
	}
	return mt_self_limits_raise_priority();
}

static int stream_fd(const struct mt_drain *drain, size_t class)
{
	return drain && drain->streams[class] ? mt_stream_fd(drain->streams[class]) : -1;
}

/*
 * The watermark of a ring wakes both threads that poll it, but the kernel reports the event to only
 * one of them. If the buddy gets the event but cannot drain everything, it wakes the other thread.
 */
static void pass_on(const struct mt_drain *drain, const struct pollfd *fds)
{
	for (size_t i = 0; i < MT_CLASSES; i++) {
		if ((fds[2 + 2 * i].revents & POLLIN) &&
		    (i != MT_CLASS_STORM || drain->config->filter ||
		     mt_stream_pressing(drain->buddy_of->streams[i])))
			wake(drain->buddy_of);
	}
}

static void *drain_main(void *argument)
{
	struct mt_drain *drain = argument;
	struct pollfd fds[1 + 2 * MT_CLASSES] = {{.fd = drain->wake, .events = POLLIN}};
	uint64_t ignored;

	drain->priority = settle_down(drain->cpu);
	for (size_t i = 0; i < MT_CLASSES; i++) {
		fds[1 + 2 * i].fd = stream_fd(drain, i);
		fds[2 + 2 * i].fd = stream_fd(drain->buddy_of, i);
		fds[1 + 2 * i].events = fds[2 + 2 * i].events = POLLIN;
	}
	while (!atomic_load(&drain->stop)) {
		poll(fds, 1 + 2 * MT_CLASSES, POLL_MS);
		drain->wakes++;
		if (atomic_exchange(&drain->unpinned, false))
			drain->priority = settle_down(drain->cpu);
		if (fds[0].revents & POLLIN)
			(void)!read(drain->wake, &ignored, sizeof(ignored));
		while (!drain_due(drain) && !atomic_load(&drain->stop))
			wait_to_go_on(drain);
		help_buddy(drain);
		pass_on(drain, fds);
		answer_flush(drain);
	}
	drain->cpu_ns = mt_clock_thread_ns();
	return NULL;
}

struct mt_error *mt_drain_create(int cpu, uint32_t slot, struct mt_ring rings[MT_CLASSES],
				 const struct mt_stream_config *config, struct mt_drain **out)
{
	struct mt_drain *drain = calloc(1, sizeof(*drain));

	if (!drain)
		return mt_error_nomem();
	drain->cpu = cpu;
	drain->config = config;
	drain->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	drain->answered = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (drain->wake < 0 || drain->answered < 0) {
		struct mt_error *err =
			mt_error_os(errno, "cannot wake the thread that drains CPU %d", cpu);

		mt_drain_destroy(drain);
		return err;
	}
	for (uint32_t i = 0; i < MT_CLASSES; i++) {
		if (!rings[i].page)
			continue;
		drain->streams[i] = mt_stream_create(&rings[i], MT_CLASSES * slot + i,
						     (enum mt_event_class)i, config);
		if (!drain->streams[i]) {
			mt_drain_destroy(drain);
			return mt_error_nomem();
		}
	}
	if (drain->streams[MT_CLASS_STORM])
		mt_stream_before(drain->streams[MT_CLASS_STORM], report_maps, drain);
	if (drain->streams[MT_CLASS_STORM] && config->filter)
		mt_stream_set_listener(drain->streams[MT_CLASS_STORM], deliver_names, drain);
	*out = drain;
	return NULL;
}

/*
 * Starts the thread with a small stack, because there is one thread for each CPU of the host, and
 * all of a stack is locked.
 */
static int start(struct mt_drain *drain)
{
	pthread_attr_t attr;
	int failed;

	pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, STACK);
	failed = pthread_create(&drain->thread, &attr, drain_main, drain);
	pthread_attr_destroy(&attr);
	return failed;
}

struct mt_error *mt_drain_start(struct mt_drain *drain, struct mt_drain *buddy_of)
{
	int failed;

	drain->buddy_of = buddy_of == drain ? NULL : buddy_of;
	if (drain->buddy_of)
		atomic_store(&drain->buddy_of->buddy, drain);
	failed = start(drain);
	if (failed)
		return mt_error_os(failed, "cannot start the thread that drains CPU %d",
				   drain->cpu);
	drain->running = true;
	mt_drain_flush(drain);
	while (!mt_drain_wait(drain, mt_clock_monotonic() + WAIT_NS))
		;
	return NULL;
}

void mt_drain_flush(struct mt_drain *drain)
{
	atomic_fetch_add(&drain->asked, 1);
	wake(drain);
}

void mt_drain_pin_again(struct mt_drain *drain)
{
	atomic_store(&drain->unpinned, true);
	wake(drain);
}

bool mt_drain_wait(struct mt_drain *drain, uint64_t until)
{
	struct pollfd answered = {.fd = drain->answered, .events = POLLIN};
	uint64_t now, ignored;

	while (!mt_drain_flushed(drain) && (now = mt_clock_monotonic()) < until) {
		(void)poll(&answered, 1, (int)((until - now) / 1000000 + 1));
		(void)!read(drain->answered, &ignored, sizeof(ignored));
	}
	return mt_drain_flushed(drain);
}

bool mt_drain_flushed(const struct mt_drain *drain)
{
	return atomic_load(&drain->done) >= atomic_load(&drain->asked);
}

void mt_drain_stop(struct mt_drain *drain)
{
	if (!drain->running)
		return;
	mt_drain_flush(drain);
	while (!mt_drain_wait(drain, mt_clock_monotonic() + WAIT_NS))
		;
	atomic_store(&drain->stop, true);
	wake(drain);
	pthread_join(drain->thread, NULL);
	drain->running = false;
}

void mt_drain_grow(struct mt_drain *drain)
{
	for (size_t i = 0; i < MT_CLASSES; i++) {
		if (drain->streams[i])
			mt_stream_grow(drain->streams[i]);
	}
}

void mt_drain_destroy(struct mt_drain *drain)
{
	if (!drain)
		return;
	mt_drain_stop(drain);
	for (size_t i = 0; i < MT_CLASSES; i++)
		mt_stream_destroy(drain->streams[i]);
	mt_close_p(&drain->wake);
	mt_close_p(&drain->answered);
	free(drain);
}

void mt_drain_add_counts(const struct mt_drain *drain, struct mt_stream_counts *sum)
{
	for (size_t i = 0; i < MT_CLASSES; i++) {
		if (drain->streams[i])
			mt_stream_add_counts(drain->streams[i], sum);
	}
}

uint64_t mt_drains_event_samples(struct mt_drain *const *drains, size_t count, uint32_t event)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count * MT_CLASSES; i++) {
		const struct mt_stream *stream = drains[i / MT_CLASSES]->streams[i % MT_CLASSES];

		sum += stream ? mt_stream_event_samples(stream, event) : 0;
	}
	return sum;
}

bool mt_drain_class_counts(const struct mt_drain *drain, enum mt_event_class class,
			   struct mt_stream_counts *sum)
{
	if (drain->streams[class])
		mt_stream_add_counts(drain->streams[class], sum);
	return drain->streams[class];
}

uint64_t mt_drain_wakes(const struct mt_drain *drain)
{
	return drain->wakes;
}

uint64_t mt_drain_cpu_ns(const struct mt_drain *drain)
{
	return drain->cpu_ns;
}

enum mt_priority mt_drain_priority(const struct mt_drain *drain)
{
	return drain->priority;
}

const char *mt_drain_priority_name(enum mt_priority priority)
{
	static const char *const names[] = {
		[MT_PRIORITY_REALTIME] = "SCHED_FIFO 1",
		[MT_PRIORITY_NICE] = "nice -20",
		[MT_PRIORITY_NORMAL] = "normal priority",
	};

	return names[priority];
}
