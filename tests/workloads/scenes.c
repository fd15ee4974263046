/*
 * A small server whose memory takes a known course, for the recordings in tests/golden/scenes:
 * scenes SCENE [SECONDS]. It handles a request each 30 ms, with memory that is freed immediately.
 * In addition:
 *
 *	leak		each request leaves a session in the heap that nothing removes
 *	maps		each tenth request leaves a mapping of 160 KB
 *	files		each tenth request maps a part of a data file and never unmaps it
 *	cache		a bounded cache, full after a third of the time, then drops old entries
 *	sawtooth	a batch of results that is freed as a whole when it is full
 *	startup		tables that are loaded once
 *	forks		each twelfth request is answered by a child, some run another program
 *	nothing		nothing else
 *	burst		leak, and as much again in one step in the middle
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

/* Keeps a call from becoming a jump, so that each function has its frame. */
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

enum {
	TICK_MS = 30,
	SESSION = 16 << 10,
	ENTRIES = 150, /* of the cache; a batch has a third of it */
	SEGMENT = 160 << 10,
	TABLES = 6 << 20,
	DATA_FILE = 8 << 20,
	BURST = 500,
};

struct entry {
	struct entry *next;
	char bytes[];
};

struct server {
	const char *program;
	int ticks; /* of the whole program */
	struct entry *sessions, *batch;
	struct entry *cache[ENTRIES];
	char *tables;
	int data;
};

static NOINLINE void *xmalloc(size_t size)
{
	void *block = malloc(size);

	if (!block)
		exit(1);
	memset(block, 1, size);
	KEEP_FRAME();
	return block;
}

static NOINLINE void parse_request(int number)
{
	char *text = xmalloc(2000), *reply = xmalloc(1000 + (size_t)number % 7 * 100);

	free(text);
	free(reply);
	KEEP_FRAME();
}

static NOINLINE void remember_session(struct server *server, int number)
{
	struct entry *session = xmalloc(SESSION);

	(void)number;
	session->next = server->sessions;
	server->sessions = session;
	KEEP_FRAME();
}

static NOINLINE void map_segment(struct server *server, int number)
{
	int flags = MAP_PRIVATE | (server->data >= 0 ? 0 : MAP_ANONYMOUS);
	off_t offset =
		server->data >= 0 ? (off_t)number * SEGMENT % (DATA_FILE - SEGMENT) & -4096 : 0;
	volatile char *segment =
		mmap(NULL, SEGMENT, PROT_READ | PROT_WRITE, flags, server->data, offset);
	char sum = 0;

	if (segment == MAP_FAILED)
		exit(1);
	for (size_t i = 0; i < SEGMENT; i += 4096) {
		if (server->data >= 0)
			sum = (char)(sum + segment[i]);
		else
			segment[i] = 1;
	}
	KEEP_FRAME();
}

static NOINLINE void open_segment(struct server *server, int number)
{
	if (number % 10 == 0)
		map_segment(server, number);
	KEEP_FRAME();
}

static NOINLINE void cache_insert(struct server *server, int number)
{
	struct entry **slot = &server->cache[number % ENTRIES];

	free(*slot);
	*slot = xmalloc(SESSION);
	KEEP_FRAME();
}

static NOINLINE void flush_batch(struct server *server)
{
	while (server->batch) {
		struct entry *next = server->batch->next;

		free(server->batch);
		server->batch = next;
	}
	KEEP_FRAME();
}

static NOINLINE void collect_result(struct server *server, int number)
{
	struct entry *result = xmalloc(SESSION);

	result->next = server->batch;
	server->batch = result;
	if (number % (ENTRIES / 3) == ENTRIES / 3 - 1)
		flush_batch(server);
	KEEP_FRAME();
}

static NOINLINE void load_tables(struct server *server, int number)
{
	if (!number)
		server->tables = xmalloc(TABLES);
	KEEP_FRAME();
}

static NOINLINE void answer_in_child(struct server *server, int number)
{
	pid_t child;

	if (number % 12)
		return;
	child = fork();
	if (!child && number % 36 == 0)
		execl(server->program, "helper", "nothing", "0.03", NULL);
	if (!child) {
		free(xmalloc(8 * SESSION));
		_exit(0);
	}
	if (waitpid(child, NULL, 0) < 0)
		exit(1);
	KEEP_FRAME();
}

static void do_nothing(struct server *server, int number)
{
	(void)server;
	(void)number;
}

static NOINLINE void remember_burst(struct server *server, int number)
{
	remember_session(server, number);
	for (int i = 0; number == server->ticks / 2 && i < BURST; i++)
		remember_session(server, number);
	KEEP_FRAME();
}

static const struct scene {
	const char *name;
	void (*handle)(struct server *server, int number);
} scenes[] = {
	{"leak", remember_session}, {"maps", open_segment},	  {"files", open_segment},
	{"cache", cache_insert},    {"sawtooth", collect_result}, {"startup", load_tables},
	{"forks", answer_in_child}, {"nothing", do_nothing},	  {"burst", remember_burst},
};

static NOINLINE void handle_request(struct server *server, const struct scene *scene, int number)
{
	parse_request(number);
	scene->handle(server, number);
	KEEP_FRAME();
}

/* A file on a disk: pages of a tmpfs are shared memory. */
static int make_data_file(void)
{
	int data = open("data", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char block[4096] = {1};

	for (int i = 0; i < DATA_FILE / 4096; i++) {
		if (data < 0 || write(data, block, sizeof(block)) < 0)
			exit(1);
	}
	return data;
}

static void run(struct server *server, const struct scene *scene)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	for (int number = 0; number < server->ticks; number++) {
		handle_request(server, scene, number);
		at.tv_nsec += TICK_MS * 1000000;
		at.tv_sec += at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
			;
	}
}

int main(int argc, char **argv)
{
	static struct server server = {.data = -1};

	server.program = argv[0];
	server.ticks = (int)((argc > 2 ? atof(argv[2]) : 15) * 1000 / TICK_MS);
	for (size_t i = 0; argc > 1 && i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (strcmp(argv[1], scenes[i].name) != 0)
			continue;
		if (!strcmp(argv[1], "files"))
			server.data = make_data_file();
		run(&server, &scenes[i]);
		return 0;
	}
	fprintf(stderr, "scenes SCENE [SECONDS]\n");
	return 2;
}
