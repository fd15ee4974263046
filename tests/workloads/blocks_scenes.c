/*
 * Programs whose blocks take a known course, for the recordings in tests/golden/scenes:
 * blocks_scenes SCENE. Each runs for 15 s.
 *
 *	growing		a buffer that realloc makes larger; another buffer that is replaced by a
 *			buffer of twice the size each time it is full
 *	filled		a table of 24 MB that is filled for 6 s, and then only read
 *	handover	two threads allocate requests and free answers, two others free requests
 *			and allocate answers; answers that are kept come from a pool whose refill
 *			function is inlined
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

/* Keeps a call from becoming a jump, so that each function has its frame. */
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

enum {
	STEPS = 300,
	STEP_US = 50000,
	CHUNK = 128 << 10,
	ROWS = 1500,
	ROW = 16 << 10,
	ROW_US = 4000,
	SLOTS = 16,
	REQUESTS = 350,
	REQUEST_US = 40000,
	KEPT_IN = 2,
	PARCEL = 8 << 10,
};

static void *must(void *block)
{
	if (!block)
		exit(1);
	return block;
}

/* ---- growing ---- */

struct buffer {
	char *bytes;
	size_t used, room;
};

static NOINLINE void append(struct buffer *buffer)
{
	buffer->bytes = must(realloc(buffer->bytes, buffer->used + CHUNK));
	memset(buffer->bytes + buffer->used, 1, CHUNK);
	buffer->used += CHUNK;
	KEEP_FRAME();
}

static NOINLINE void push(struct buffer *buffer)
{
	if (buffer->used + CHUNK > buffer->room) {
		char *larger = must(malloc(2 * buffer->room + CHUNK));

		if (buffer->used)
			memcpy(larger, buffer->bytes, buffer->used);
		free(buffer->bytes);
		buffer->bytes = larger;
		buffer->room = 2 * buffer->room + CHUNK;
	}
	memset(buffer->bytes + buffer->used, 1, CHUNK);
	buffer->used += CHUNK;
	KEEP_FRAME();
}

static void growing(void)
{
	static struct buffer log, table;

	for (int i = 0; i < STEPS; i++) {
		append(&log);
		push(&table);
		usleep(STEP_US);
	}
}

/* ---- filled ---- */

static char *rows[ROWS];

static NOINLINE void load_row(int i)
{
	rows[i] = must(malloc(ROW));
	memset(rows[i], 1, ROW);
	KEEP_FRAME();
}

static void filled(void)
{
	for (int i = 0; i < ROWS; i++) {
		load_row(i);
		usleep(ROW_US);
	}
	sleep(9);
}

/* ---- handover ---- */

struct ring {
	pthread_mutex_t lock;
	void *slots[SLOTS];
	size_t from, to;
};

static struct ring requests = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct ring answers = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct parcel {
	struct parcel *next;
	char bytes[PARCEL];
};

static struct parcel *pool;

static void put(struct ring *ring, void *block)
{
	void *old = NULL;

	pthread_mutex_lock(&ring->lock);
	if (ring->to - ring->from == SLOTS)
		old = ring->slots[ring->from++ % SLOTS];
	ring->slots[ring->to++ % SLOTS] = block;
	pthread_mutex_unlock(&ring->lock);
	free(old);
}

static void *take(struct ring *ring)
{
	void *block = NULL;

	pthread_mutex_lock(&ring->lock);
	if (ring->from < ring->to)
		block = ring->slots[ring->from++ % SLOTS];
	pthread_mutex_unlock(&ring->lock);
	return block;
}

/* Inlined after malloc() in refill_pool(), whose return address has a line of this function. */
static inline __attribute__((always_inline)) void push_parcel(struct parcel *parcel)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	parcel->next = pool;
	pool = parcel;
	pthread_mutex_unlock(&lock);
}

static inline __attribute__((always_inline)) void refill_pool(void)
{
	push_parcel(malloc(sizeof(struct parcel)));
}

static NOINLINE void keep_answer(void)
{
	refill_pool();
	memset(pool->bytes, 1, PARCEL);
	KEEP_FRAME();
}

static void *ask(void *context)
{
	for (int i = 0; i < REQUESTS; i++) {
		put(&requests, must(malloc(100 + (size_t)i % 900)));
		free(take(&answers));
		usleep(REQUEST_US);
	}
	return context;
}

static void *answer(void *context)
{
	for (int i = 0; i < REQUESTS; i++) {
		free(take(&requests));
		put(&answers,
		    must(realloc(must(malloc(50 + (size_t)i % 90)), 300 + (size_t)i % 900)));
		if (i % KEPT_IN == 0)
			keep_answer();
		usleep(REQUEST_US);
	}
	return context;
}

static void handover(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, i % 2 ? ask : answer, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	const char *scene = argc > 1 ? argv[1] : "";

	if (!strcmp(scene, "growing"))
		growing();
	else if (!strcmp(scene, "filled"))
		filled();
	else if (!strcmp(scene, "handover"))
		handover();
	else
		return 2;
	_exit(0); /* frees no live block */
}
