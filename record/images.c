/*
 * Reading build ids. A file is reached through the process that maps it (its own mount namespace,
 * deleted files too), and used only when it is still the one that was mapped.
 */
#include "record/images.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/chunk.h"
#include "formats/record.h"
#include "formats/sample.h"
#include "record/plan.h"
#include "symbols/elf.h"

/*
 * Build ids stand in the first pages. They are read, not mapped: a live file may be cut short at
 * any time, and that must not end the recorder with SIGBUS.
 */
#define FRONT_SIZE ((size_t)64 << 10)
#define SEEN_MAX 262144 /* images: what lies beyond is left without a build id */

struct mt_images {
	struct mt_image_sink sink;
	const struct mt_plan *plan;
	struct mt_map64 seen;
	uint8_t front[FRONT_SIZE]; /* of the file being looked at */
};

/* One executable mapping of a file. */
struct mapped {
	int32_t pid;
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	uint64_t start, end;
	struct mt_text path;
};

struct mt_images *mt_images_create(const struct mt_image_sink *sink, const struct mt_plan *plan)
{
	struct mt_images *images = calloc(1, sizeof(*images));

	if (images) {
		images->sink = *sink;
		images->plan = plan;
	}
	return images;
}

void mt_images_destroy(struct mt_images *images)
{
	if (!images)
		return;
	mt_map64_deinit(&images->seen);
	free(images);
}

static bool seen_before(struct mt_images *images, const struct mapped *m)
{
	uint64_t key =
		mt_hash_bytes(m->path.bytes, m->path.size,
			      m->inode ^ (uint64_t)m->major << 52 ^ (uint64_t)m->minor << 32);
	uint64_t ignored;

	key = mt_hash64(key ^ m->inode_generation);
	if (images->seen.count >= SEEN_MAX || mt_map64_get(&images->seen, key, &ignored))
		return true;
	return !mt_map64_put(&images->seen, key, 1);
}

static bool is_file(const struct mapped *m)
{
	return m->path.size && m->path.bytes[0] == '/' &&
	       !(m->path.size > 1 && m->path.bytes[1] == '/');
}

/* Opens only what is a regular file: a recorded path could name a fifo or a device by now. */
static int open_regular(const char *path, struct stat *status)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && !fstat(fd, status) && S_ISREG(status->st_mode))
		return fd;
	if (fd >= 0) {
		close(fd);
		errno = EINVAL;
	}
	return -1;
}

/*
 * The mapped file: through map_files (the very inode, root only), else by path as its process sees
 * it, else by path as we do.
 */
static int open_mapped(const struct mapped *m, struct stat *status)
{
	char path[PATH_MAX + 64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", m->pid,
		 (unsigned long long)m->start, (unsigned long long)m->end);
	fd = open_regular(path, status);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%.*s", m->pid, (int)m->path.size, m->path.bytes);
	for (int i = 0; i < 2; i++) {
		fd = open_regular(path, status);
		if (fd >= 0 && (!m->inode || status->st_ino == m->inode))
			return fd;
		if (fd >= 0) {
			close(fd);
			errno = ESTALE;
		}
		snprintf(path, sizeof(path), "%.*s", (int)m->path.size, m->path.bytes);
	}
	return -1;
}

/* Fills build_id, size or problem of the record from the file; the ELF, if any, holds the bytes. */
static void read_file(struct mt_images *images, const struct mapped *m,
		      struct mt_image_record *record, struct mt_elf **elf, char *problem,
		      size_t problem_size)
{
	struct stat status;
	MT_CLEANUP_CLOSE int fd = open_mapped(m, &status);
	struct mt_error *err;
	struct mt_span id;
	ssize_t read;

	if (fd < 0) {
		snprintf(problem, problem_size, "%s",
			 errno == ESTALE ? "replaced since it was mapped" : strerror(errno));
		return;
	}
	record->size = (uint64_t)status.st_size;
	read = pread(fd, images->front, FRONT_SIZE, 0);
	err = mt_elf_open_memory(images->front, read > 0 ? (size_t)read : 0, "image", elf);
	if (err) {
		snprintf(problem, problem_size, "%s", err->message);
		mt_error_destroy(err);
		return;
	}
	id = mt_elf_build_id(*elf);
	record->build_id = (struct mt_text){.bytes = (const char *)id.bytes, .size = id.size};
	images->sink.found(images->sink.context, fd, record);
}

/* The vdso is the kernel's, the same in every 64-bit process: read our own. */
static void read_vdso(struct mt_image_record *record, struct mt_elf **elf)
{
	const uint8_t *base = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); /* NOLINT */
	Elf64_Ehdr header;
	size_t size;
	struct mt_span id;

	if (!base)
		return;
	memcpy(&header, base, sizeof(header));
	size = header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
	if (mt_elf_open_memory(base, size, "[vdso]", elf))
		return;
	id = mt_elf_build_id(*elf);
	record->size = size;
	record->build_id = (struct mt_text){.bytes = (const char *)id.bytes, .size = id.size};
}

static void see_mapped(struct mt_images *images, const struct mapped *m)
{
	bool vdso = m->path.size == 6 && !memcmp(m->path.bytes, "[vdso]", 6);
	struct mt_image_record record = {
		.major = m->major,
		.minor = m->minor,
		.inode = m->inode,
		.inode_generation = m->inode_generation,
		.path = m->path,
	};
	struct mt_elf *elf = NULL;
	char problem[256] = "";

	if ((!vdso && !is_file(m)) || seen_before(images, m))
		return;
	if (vdso)
		read_vdso(&record, &elf);
	else
		read_file(images, m, &record, &elf, problem, sizeof(problem));
	record.problem = (struct mt_text){.bytes = problem, .size = strlen(problem)};
	images->sink.put(images->sink.context, &record);
	mt_elf_destroy(elf);
}

static void see_map(struct mt_images *images, const uint8_t *body, size_t size)
{
	struct mt_map_record map;

	if (!mt_map_get(body, size, &map) || !(map.prot & PROT_EXEC))
		return;
	see_mapped(images, &(struct mapped){.pid = map.pid,
					    .major = map.major,
					    .minor = map.minor,
					    .inode = map.inode,
					    .start = map.start,
					    .end = map.end,
					    .path = map.path});
}

static void see_kernel(struct mt_images *images, const uint8_t *body, size_t size)
{
	struct mt_kernel_bytes bytes;
	struct mt_kernel_record record;

	if (!mt_kernel_get(body, size, &bytes) || bytes.kernel_size < 8)
		return;
	if (mt_get_le32(bytes.kernel) != MT_KERNEL_MMAP2 &&
	    mt_get_le32(bytes.kernel) != MT_KERNEL_MMAP)
		return;
	if (!mt_kernel_record_decode(&images->plan->events.items[0].decoded, bytes.kernel,
				     bytes.kernel_size, &record) ||
	    !(record.prot & PROT_EXEC))
		return;
	see_mapped(images,
		   &(struct mapped){.pid = record.pid,
				    .major = record.major,
				    .minor = record.minor,
				    .inode = record.inode,
				    .inode_generation = record.inode_generation,
				    .start = record.start,
				    .end = record.start + record.length,
				    .path = {.bytes = record.name, .size = strlen(record.name)}});
}

void mt_images_see(struct mt_images *images, const struct mt_block *block)
{
	size_t size;

	for (size_t at = 0; at < block->used; at += size) {
		uint32_t type = mt_get_le32(block->bytes + at);
		const uint8_t *body = block->bytes + at + MT_RECORD_HEADER_SIZE;

		size = mt_get_le32(block->bytes + at + 4);
		if (type == MT_RECORD_KERNEL)
			see_kernel(images, body, size - MT_RECORD_HEADER_SIZE);
		else if (type == MT_RECORD_MAP)
			see_map(images, body, size - MT_RECORD_HEADER_SIZE);
	}
}
