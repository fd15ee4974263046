/*
 * Allocates on four paths in one pattern and writes the blocks that live at the end, for
 * sampling.py:
 *
 *	addresses PATTERN SIZE SEED > trace
 *
 * A trace is records of u64 address, u32 bytes, u32 path. Patterns: live (nothing is freed), lru (a
 * cache that evicts its oldest entry, and every tenth block leaks), churn (random blocks are
 * replaced), mixed (churn of sizes from 16 to SIZE). The program's tables are not blocks.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	PATHS = 4,
	BLOCKS_MOST = 20000,
	SMALLEST = 16,
};

struct block {
	uint64_t address;
	uint32_t bytes, path;
};

struct run {
	struct block *blocks; /* the table, with free slots: address 0 */
	uint32_t count, size;
	uint64_t random;
};

static uint32_t draw(struct run *run, uint32_t below)
{
	run->random = run->random * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(run->random >> 33) % below;
}

static void *ask(size_t bytes)
{
	void *block = malloc(bytes);

	if (!block)
		exit(1);
	return block;
}

/* Replaces the block in a slot. */
static void put(struct run *run, uint32_t slot, uint32_t bytes)
{
	struct block *block = &run->blocks[slot];
	void *alongside = ask(1 + draw(run, 300)); /* on another path, of the same size classes */

	free((void *)(uintptr_t)block->address);
	*block = (struct block){(uintptr_t)ask(bytes), bytes, draw(run, PATHS)};
	free(alongside);
}

/* A random size; every magnitude is equally likely. */
static uint32_t some_size(struct run *run)
{
	uint32_t size = SMALLEST;

	while (size < run->size && draw(run, 3))
		size *= 2;
	return size - draw(run, size / 2);
}

static void live(struct run *run)
{
	for (uint32_t i = 0; i < run->count; i++)
		put(run, i, run->size);
}

static void lru(struct run *run)
{
	uint32_t cache = run->count / 4 + 1, leaked = cache;

	for (uint32_t i = 0; leaked < run->count; i++)
		put(run, i % 10 ? i % cache : leaked++, run->size);
}

static void churn(struct run *run)
{
	for (uint32_t i = 0; i < run->count * 4; i++)
		put(run, draw(run, run->count), run->size);
}

static void mixed(struct run *run)
{
	for (uint32_t i = 0; i < run->count * 4; i++)
		put(run, draw(run, run->count), some_size(run));
}

static const struct {
	const char *name;
	void (*fill)(struct run *run);
} patterns[] = {{"live", live}, {"lru", lru}, {"churn", churn}, {"mixed", mixed}};

static int write_all(const void *bytes, size_t size)
{
	while (size) {
		ssize_t put = write(STDOUT_FILENO, bytes, size);

		if (put <= 0)
			return 1;
		bytes = (const char *)bytes + put;
		size -= (size_t)put;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct run run = {0};
	uint32_t used = 0;

	if (argc != 4)
		return 2;
	run.size = (uint32_t)atoi(argv[2]);
	run.random = (uint64_t)atoi(argv[3]) * 2654435761u + run.size;
	/* From few blocks to many; at most 512 MiB. */
	run.count = 50u << draw(&run, 9);
	if (run.count > (512u << 20) / run.size)
		run.count = (512u << 20) / run.size;
	if (run.count > BLOCKS_MOST)
		run.count = BLOCKS_MOST;
	run.blocks = mmap(NULL, BLOCKS_MOST * sizeof(struct block), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (run.blocks == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		if (!strcmp(argv[1], patterns[i].name))
			patterns[i].fill(&run);
	}
	for (uint32_t i = 0; i < run.count; i++) {
		if (run.blocks[i].address)
			run.blocks[used++] = run.blocks[i];
	}
	return write_all(run.blocks, used * sizeof(struct block));
}
