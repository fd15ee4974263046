/*
 * Keeps a file in blocks of 16 KiB. A block is absent, loaded or kept. If too many blocks are
 * loaded, the oldest is dropped.
 */
#include "record/files/file_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/pages.h"
#include "record/files/file_worker.h"

#define BLOCK_BITS 14
#define BLOCK ((size_t)1 << BLOCK_BITS)
#define LOADED_MAX 96 /* loaded blocks at a time */
#define KEPT_MAX 4096 /* kept blocks, 64 MiB: further ones read as zeros */
#define FILE_MAX ((uint64_t)4 << 30)

enum block_state {
	BLOCK_ABSENT,
	BLOCK_LOADED,
	BLOCK_KEPT
};

struct mt_file_pages {
	struct mt_file_worker *worker;
	int fd;
	uint8_t *bytes; /* `size` reserved bytes */
	size_t size;
	uint8_t *states; /* enum block_state of each block */
	size_t loaded[LOADED_MAX];
	size_t oldest, count; /* of the ring `loaded` */
	size_t kept;	      /* number of kept blocks */
};

MT_DEFINE_CLEANUP(mt_file_pages, struct mt_file_pages)

void mt_file_pages_destroy(struct mt_file_pages *pages)
{
	if (!pages)
		return;
	if (pages->bytes)
		munmap(pages->bytes, pages->size);
	free(pages->states);
	free(pages);
}

struct mt_error *mt_file_pages_create(struct mt_file_worker *worker, int fd, const char *name,
				      struct mt_file_pages **out)
{
	MT_CLEANUP(mt_file_pages_destroy_p) struct mt_file_pages *pages = NULL;
	struct stat status;
	void *bytes;

	if (mt_file_worker_stat(worker, fd, &status))
		return mt_error_os(errno, "%s", name);
	if (!S_ISREG(status.st_mode) || status.st_size <= 0 || (uint64_t)status.st_size > FILE_MAX)
		return mt_error_create(MT_ERR_FORMAT, "%s: not an ELF file", name);
	pages = calloc(1, sizeof(*pages));
	if (!pages)
		return mt_error_nomem();
	pages->worker = worker;
	pages->fd = fd;
	pages->size = (size_t)status.st_size;
	pages->states = calloc((pages->size >> BLOCK_BITS) + 1, 1);
	bytes = mmap(NULL, pages->size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!pages->states || bytes == MAP_FAILED)
		return mt_error_nomem();
	pages->bytes = bytes;
	/* madvise() could not drop locked pages */
	munlock(bytes, pages->size);
	*out = MT_TAKE(pages);
	return NULL;
}

const uint8_t *mt_file_pages_bytes(const struct mt_file_pages *pages)
{
	return pages->bytes;
}

size_t mt_file_pages_size(const struct mt_file_pages *pages)
{
	return pages->size;
}

bool mt_file_pages_has(const struct mt_file_pages *pages, const uint8_t *bytes)
{
	return bytes >= pages->bytes && bytes < pages->bytes + pages->size;
}

/* Populates and reads neighbouring blocks in one go. */
static void read_blocks(struct mt_file_pages *pages, size_t first, size_t count)
{
	size_t at = first << BLOCK_BITS, size = count << BLOCK_BITS;

	size = pages->size - at < size ? pages->size - at : size;
	(void)mt_pages_populate(pages->bytes + at, size);
	(void)mt_file_worker_read(pages->worker, pages->fd, at, pages->bytes + at, size);
}

/* Blocks that are needed by the same call. */
struct range {
	size_t first, last;
};

/* Drops the oldest block that is outside the range. The ring is larger than any range. */
static void drop_oldest(struct mt_file_pages *pages, const struct range *range)
{
	size_t block = pages->loaded[pages->oldest], at;

	for (; block >= range->first && block <= range->last;
	     block = pages->loaded[pages->oldest]) {
		pages->loaded[pages->oldest] = block; /* is the newest now */
		pages->oldest = (pages->oldest + 1) % LOADED_MAX;
	}
	pages->oldest = (pages->oldest + 1) % LOADED_MAX;
	pages->count--;
	at = block << BLOCK_BITS;
	if (pages->states[block] == BLOCK_KEPT)
		return;
	pages->states[block] = BLOCK_ABSENT;
	(void)madvise(pages->bytes + at, pages->size - at < BLOCK ? pages->size - at : BLOCK,
		      MADV_DONTNEED);
}

/* Marks a populated block as loaded or kept. */
static void set_state(struct mt_file_pages *pages, size_t block, bool keep,
		      const struct range *range)
{
	if (!keep) {
		if (pages->count == LOADED_MAX)
			drop_oldest(pages, range);
		pages->loaded[(pages->oldest + pages->count++) % LOADED_MAX] = block;
	}
	pages->kept += keep && pages->states[block] != BLOCK_KEPT;
	pages->states[block] = keep ? BLOCK_KEPT : BLOCK_LOADED;
}

/* Number of consecutive absent blocks from `block` on, at most up to the end of the range. */
static size_t count_absent(const struct mt_file_pages *pages, size_t block,
			   const struct range *range)
{
	size_t count = 0;

	while (block + count <= range->last && pages->states[block + count] == BLOCK_ABSENT)
		count++;
	return count;
}

void mt_file_pages_need(struct mt_file_pages *pages, uint64_t offset, uint64_t size, bool keep)
{
	struct range range;
	size_t most;

	if (offset >= pages->size || !size)
		return;
	if (size > pages->size - offset)
		size = pages->size - offset;
	range = (struct range){offset >> BLOCK_BITS, (offset + size - 1) >> BLOCK_BITS};
	most = keep ? KEPT_MAX - pages->kept : LOADED_MAX;
	if (!most)
		return;
	if (range.last - range.first >= most)
		range.last = range.first + most - 1;
	for (size_t block = range.first, absent; block <= range.last; block += absent + !absent) {
		absent = count_absent(pages, block, &range);
		if (absent)
			read_blocks(pages, block, absent);
		for (size_t i = 0; i < absent; i++)
			set_state(pages, block + i, keep, &range);
		if (!absent && keep)
			set_state(pages, block, true, &range);
	}
}

void mt_file_pages_copy(struct mt_file_pages *pages, uint64_t offset, uint8_t *to, size_t size)
{
	size_t done = offset < pages->size
			      ? mt_file_worker_read(pages->worker, pages->fd, offset, to, size)
			      : 0;

	memset(to + done, 0, size - done);
}
