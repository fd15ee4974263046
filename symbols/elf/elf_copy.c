/* Blocks of 64 KiB in reserved memory, each read once. */
#include "symbols/elf/elf_copy.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/read_at.h"

#define BLOCK_BITS 16
#define BLOCKS_MOST 4096 /* 256 MiB; the symbols of the largest programs take a quarter */

struct mt_elf_copy {
	int fd;
	size_t size;
	uint8_t *bytes;
	bool *is_read; /* by block: it was read */
	size_t blocks; /* number of blocks read */
	pthread_mutex_t lock;
};

MT_DEFINE_CLEANUP(mt_elf_copy, struct mt_elf_copy)

struct mt_elf_copy *mt_elf_copy_create(int fd, size_t size)
{
	MT_CLEANUP(mt_elf_copy_destroy_p) struct mt_elf_copy *copy = calloc(1, sizeof(*copy));
	void *bytes;

	if (!copy)
		return NULL;
	pthread_mutex_init(&copy->lock, NULL);
	copy->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	copy->size = size;
	copy->is_read = calloc((size >> BLOCK_BITS) + 1, sizeof(*copy->is_read));
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	copy->bytes = bytes == MAP_FAILED ? NULL : bytes;
	return copy->fd >= 0 && copy->is_read && copy->bytes ? MT_TAKE(copy) : NULL;
}

void mt_elf_copy_destroy(struct mt_elf_copy *copy)
{
	if (!copy)
		return;
	if (copy->bytes)
		munmap(copy->bytes, copy->size);
	mt_close_p(&copy->fd);
	pthread_mutex_destroy(&copy->lock);
	free(copy->is_read);
	free(copy);
}

const uint8_t *mt_elf_copy_bytes(const struct mt_elf_copy *copy)
{
	return copy->bytes;
}

static void read_block(struct mt_elf_copy *copy, size_t block)
{
	size_t at = block << BLOCK_BITS, size = copy->size - at;

	size = size < (size_t)1 << BLOCK_BITS ? size : (size_t)1 << BLOCK_BITS;
	(void)mt_read_at(copy->fd, at, copy->bytes + at, size);
	copy->is_read[block] = true;
	copy->blocks++;
}

bool mt_elf_copy_need(struct mt_elf_copy *copy, uint64_t offset, uint64_t size)
{
	size_t first = offset >> BLOCK_BITS, last = (offset + size - !!size) >> BLOCK_BITS;
	bool fits = last - first < BLOCKS_MOST;

	pthread_mutex_lock(&copy->lock);
	for (size_t block = first; block <= last && fits; block++) {
		if (copy->is_read[block])
			continue;
		fits = copy->blocks < BLOCKS_MOST;
		if (fits)
			read_block(copy, block);
	}
	pthread_mutex_unlock(&copy->lock);
	return fits;
}
