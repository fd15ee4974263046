/*
 * Measures the cost of the first sample in a large file that the process has not read: opening it,
 * finding its CFI, and one rule a frame. The page cache is warm: the file was just made or read.
 *
 *	first_sample FILE OFFSET	OFFSET of .text, whose functions of 256 bytes start with
 *					push %rbp, each followed by a CFI row
 *
 * Each round runs in a new process. Prints the minimum, median and maximum times in us.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "unwind/unwind.h"

#define BASE ((uint64_t)0x7f0000000000)
#define STACK ((uint64_t)0x7ffe00000000)

enum {
	TURNS = 21,
	FUNCTION = 256,
	AFTER_PUSH = 8,
	FRAMES = 8,
	CALLS = 3, /* frames, far from each other */
};

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* The pc of the i-th frame; frames are spread over the file. */
static uint64_t pc_of(uint64_t offset, uint64_t size, unsigned int i)
{
	uint64_t functions = (size - offset) / FUNCTION * 3 / 4;

	return BASE + offset + (functions * (2 * i + 1) / (2 * CALLS)) * FUNCTION + AFTER_PUSH;
}

/*
 * Unwinds one sample in a process without caches. Returns the time; below 0 if the stack is wrong.
 */
static double first_sample(const char *path, uint64_t offset, uint64_t size)
{
	uint64_t dump[2 * CALLS] = {0}; /* rbp and return address of each frame; the last are 0 */
	struct mt_frame frames[FRAMES];
	struct mt_stack stack = {.frames = frames, .capacity = FRAMES};
	struct mt_unwind_input input = {.have_regs = true,
					.dump = (const uint8_t *)dump,
					.dump_size = sizeof(dump),
					.dump_asked = sizeof(dump)};
	const struct mt_unwind_options options = {.max_frames = FRAMES};
	struct mt_image_identity identity = {.path = path};
	struct mt_image_set *images = mt_image_set_create();
	struct mt_image_map *map = mt_image_map_create();
	struct mt_unwinder *unwinder = mt_unwinder_create(&options);
	struct mt_mapping mapping = {
		.start = BASE, .end = BASE + size, .prot = PROT_READ | PROT_EXEC};
	double began;

	if (!images || !map || !unwinder ||
	    !mt_image_set_add_source(images, &mt_image_source_local, NULL))
		return -1;
	for (unsigned int i = 1; i < CALLS; i++)
		dump[2 * i - 1] = pc_of(offset, size, i);
	input.map = map;
	input.regs.value[7] = STACK;
	input.regs.value[16] = pc_of(offset, size, 0);
	input.regs.valid = 1u << 7 | 1u << 16;
	began = now_us();
	mapping.image = mt_image_set_intern(images, &identity);
	if (!mapping.image || !mt_image_map_insert(map, &mapping))
		return -1;
	mt_unwind_methods[0].unwind(unwinder, &input, &stack);
	began = now_us() - began;
	return stack.count == CALLS && frames[CALLS - 1].source == MT_FRAME_CFI ? began : -1;
}

/* Runs first_sample() in a child. */
static double turn(const char *path, uint64_t offset, uint64_t size)
{
	double us = -1;
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		us = first_sample(path, offset, size);
		_exit(write(ends[1], &us, sizeof(us)) != sizeof(us));
	}
	close(ends[1]);
	if (pid < 0 || read(ends[0], &us, sizeof(us)) != sizeof(us))
		us = -1;
	close(ends[0]);
	waitpid(pid, NULL, 0);
	return us;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
	double us[TURNS];
	struct stat st;

	if (argc != 3 || stat(argv[1], &st)) {
		fprintf(stderr, "usage: first_sample FILE OFFSET\n");
		return 2;
	}
	for (int i = 0; i < TURNS; i++)
		us[i] = turn(argv[1], strtoull(argv[2], NULL, 0), (uint64_t)st.st_size);
	qsort(us, TURNS, sizeof(*us), compare);
	if (us[0] < 0) {
		fprintf(stderr, "first_sample: the stack is not what it was made as\n");
		return 1;
	}
	printf("least %.0f, middle %.0f, most %.0f us of %d processes\n", us[0], us[TURNS / 2],
	       us[TURNS - 1], TURNS);
	return 0;
}
