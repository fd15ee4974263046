/*
 * Reading build ids. A file is reached through the process that maps it (its own mount namespace,
 * deleted files too), and used only when it is still the one that was mapped.
 */
#include "record/images.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/chunk.h"
#include "formats/jitdump.h"
#include "formats/kernel_words.h"
#include "formats/packed_body.h"
#include "formats/record.h"
#include "formats/sample.h"
#include "record/code_seen.h"
#include "record/embed_choice.h"
#include "record/kernel_seen.h"
#include "record/mapped_file.h"
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
	struct mt_map64 seen;		    /* to the image's numbers in choice and code */
	struct mt_embed_choice *choice;	    /* NULL: nothing is carried */
	struct mt_code_seen *code;	    /* NULL likewise */
	struct mt_kernel_seen *seen_kernel; /* NULL likewise */
	/* of the block being looked at: the pids of the samples that PACKED ones rest on */
	int32_t packed_pids[MT_STACK_SLOTS_MAX][MT_KERNEL_REFERENCES];
	uint8_t front[FRONT_SIZE]; /* of the file being looked at */
};

struct mt_images *mt_images_create(const struct mt_image_sink *sink, const struct mt_plan *plan,
				   struct mt_embed_choice *choice, struct mt_code_seen *code)
{
	struct mt_images *images = calloc(1, sizeof(*images));

	if (images && choice) {
		images->seen_kernel = mt_kernel_seen_create();
		if (!images->seen_kernel) {
			free(images);
			return NULL;
		}
	}
	if (images) {
		images->sink = *sink;
		images->plan = plan;
		images->choice = choice;
		images->code = code;
	}
	return images;
}

void mt_images_destroy(struct mt_images *images)
{
	if (!images)
		return;
	mt_map64_deinit(&images->seen);
	mt_kernel_seen_destroy(images->seen_kernel);
	free(images);
}

static uint64_t key_of(const struct mt_mapped_file *m)
{
	uint64_t key =
		mt_hash_bytes(m->path.bytes, m->path.size,
			      m->inode ^ (uint64_t)m->major << 52 ^ (uint64_t)m->minor << 32);

	return mt_hash64(key ^ m->inode_generation);
}

static bool is_file(const struct mt_mapped_file *m)
{
	return m->path.size && m->path.bytes[0] == '/' &&
	       !(m->path.size > 1 && m->path.bytes[1] == '/');
}

/*
 * Fills build_id, size or problem of the record from the file, which is given back open, or -1; the
 * ELF, if any, holds the bytes.
 */
static int read_file(struct mt_images *images, const struct mt_mapped_file *m,
		     struct mt_image_record *record, struct mt_elf **elf, char *problem,
		     size_t problem_size)
{
	struct stat status;
	int fd = mt_mapped_file_open(m, &status);
	struct mt_error *err;
	struct mt_span id;
	ssize_t read;

	if (fd < 0) {
		snprintf(problem, problem_size, "%s",
			 errno == ESTALE ? "replaced since it was mapped" : strerror(errno));
		return -1;
	}
	record->size = (uint64_t)status.st_size;
	read = pread(fd, images->front, FRONT_SIZE, 0);
	err = mt_elf_open_memory(images->front, read > 0 ? (size_t)read : 0, "image", elf);
	if (err) {
		snprintf(problem, problem_size, "%s", err->message);
		mt_error_destroy(err);
		close(fd);
		return -1;
	}
	id = mt_elf_build_id(*elf);
	record->build_id = (struct mt_text){.bytes = (const char *)id.bytes, .size = id.size};
	return fd;
}

static void read_vdso(struct mt_image_record *record, struct mt_elf **elf)
{
	size_t size;
	const uint8_t *base = mt_own_vdso(&size);
	struct mt_span id;

	if (!base || mt_elf_open_memory(base, size, "[vdso]", elf))
		return;
	id = mt_elf_build_id(*elf);
	record->size = size;
	record->build_id = (struct mt_text){.bytes = (const char *)id.bytes, .size = id.size};
}

/* An image's numbers, as one. */
static uint64_t both_numbers(uint32_t choice, uint32_t code)
{
	return choice | (uint64_t)code << 32;
}

/* An image not seen before: its record, and its numbers where it may be carried. */
static uint64_t see_new(struct mt_images *images, const struct mt_mapped_file *m, bool vdso)
{
	struct mt_image_record record = {
		.major = m->major,
		.minor = m->minor,
		.inode = m->inode,
		.inode_generation = m->inode_generation,
		.path = m->path,
	};
	MT_CLEANUP_CLOSE int fd = -1;
	struct mt_elf *elf = NULL;
	char problem[256] = "";
	uint64_t numbers = 0;

	if (vdso)
		read_vdso(&record, &elf);
	else
		fd = read_file(images, m, &record, &elf, problem, sizeof(problem));
	record.problem = (struct mt_text){.bytes = problem, .size = strlen(problem)};
	images->sink.put(images->sink.context, &record);
	if (images->sink.file && !vdso)
		images->sink.file(images->sink.context, fd, m, &record);
	if (images->choice && elf)
		numbers = both_numbers(mt_embed_choice_add(images->choice, fd, m, &record),
				       vdso ? 0 : mt_code_seen_image(images->code, &record));
	mt_elf_destroy(elf);
	return numbers;
}

/* The number of a jitdump that a process maps, which is no image, among what may be carried. */
static uint32_t see_jitdump(struct mt_images *images, const struct mt_mapped_file *m)
{
	const struct mt_image_record record = {.major = m->major,
					       .minor = m->minor,
					       .inode = m->inode,
					       .inode_generation = m->inode_generation,
					       .path = m->path};
	MT_CLEANUP_CLOSE int fd = -1;
	struct stat status;

	if (!images->choice && !images->sink.file)
		return 0;
	fd = mt_mapped_file_open(m, &status);
	if (images->sink.file)
		images->sink.file(images->sink.context, fd, m, &record);
	return images->choice ? mt_embed_choice_add(images->choice, fd, m, &record) : 0;
}

static void see_mapped(struct mt_images *images, const struct mt_mapped_file *m, uint64_t offset,
		       uint64_t time)
{
	bool vdso = m->path.size == 6 && !memcmp(m->path.bytes, "[vdso]", 6);
	uint64_t key = key_of(m), numbers;
	uint32_t pid;

	if (!vdso && !is_file(m))
		return;
	if (!mt_map64_get(&images->seen, key, &numbers)) {
		if (images->seen.count >= SEEN_MAX || !mt_map64_put(&images->seen, key, 0))
			return;
		numbers = mt_jitdump_path(m->path.bytes, m->path.size, &pid)
				  ? see_jitdump(images, m)
				  : see_new(images, m, vdso);
		(void)mt_map64_put(&images->seen, key, numbers);
	}
	if (!images->choice)
		return;
	mt_embed_choice_map(images->choice, m->pid, (uint32_t)numbers);
	mt_code_seen_map(images->code, &(struct mt_code_mapping){.start = m->start,
								 .end = m->end,
								 .offset = offset,
								 .time = time,
								 .pid = m->pid,
								 .image = numbers >> 32});
}

static void see_map(struct mt_images *images, const uint8_t *body, size_t size)
{
	struct mt_map_record map;

	if (!mt_map_get(body, size, &map) || !(map.prot & PROT_EXEC))
		return;
	see_mapped(images,
		   &(struct mt_mapped_file){.pid = map.pid,
					    .major = map.major,
					    .minor = map.minor,
					    .inode = map.inode,
					    .start = map.start,
					    .end = map.end,
					    .path = map.path},
		   map.offset, 0);
}

static void see_mmap(struct mt_images *images, const struct mt_kernel_record *record)
{
	if (record->prot & PROT_EXEC)
		see_mapped(images,
			   &(struct mt_mapped_file){.pid = record->pid,
						    .major = record->major,
						    .minor = record->minor,
						    .inode = record->inode,
						    .inode_generation = record->inode_generation,
						    .start = record->start,
						    .end = record->start + record->length,
						    .path = {.bytes = record->name,
							     .size = strlen(record->name)}},
			   record->offset, record->time);
}

/* Whether records of that type are of any interest. */
static bool is_watched(const struct mt_images *images, uint32_t type)
{
	if (type == MT_KERNEL_MMAP2 || type == MT_KERNEL_MMAP)
		return true;
	return images->choice &&
	       (type == MT_KERNEL_FORK || type == MT_KERNEL_EXIT || type == MT_KERNEL_COMM);
}

static void see_kernel(struct mt_images *images, const uint8_t *body, size_t size)
{
	struct mt_kernel_bytes bytes;
	struct mt_kernel_record record;

	if (!mt_kernel_get(body, size, &bytes) || bytes.kernel_size < 8 ||
	    !is_watched(images, mt_get_le32(bytes.kernel)) ||
	    !mt_kernel_record_decode(&images->plan->events.items[0].decoded, bytes.kernel,
				     bytes.kernel_size, &record))
		return;
	if (record.type == MT_KERNEL_FORK)
		mt_embed_choice_fork(images->choice, record.pid, record.ppid, record.event_time);
	else if (record.type == MT_KERNEL_COMM) {
		if (record.exec)
			mt_embed_choice_exec(images->choice, record.pid, record.time);
	} else if (record.type != MT_KERNEL_EXIT)
		see_mmap(images, &record);
	else if (record.pid == record.tid)
		mt_embed_choice_exit(images->choice, record.pid, record.event_time);
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

/* Where the kernel puts the pid into samples of such an event; 0 where it does not. */
static size_t pid_offset(const struct mt_attr *attr)
{
	if (!(attr->sample_type & PERF_SAMPLE_TID))
		return 0;
	return 8 + (attr->sample_type & PERF_SAMPLE_IDENTIFIER ? 8 : 0) +
	       (attr->sample_type & PERF_SAMPLE_IP ? 8 : 0);
}

/* Where the pid stands in the kernel's record of such a sample; 0 where it does not. */
static size_t pid_at(const struct mt_images *images, const uint8_t *record)
{
	uint32_t index = mt_get_le32(record + MT_RECORD_HEADER_SIZE);
	const struct mt_planned_event *event =
		index < images->plan->events.count ? &images->plan->events.items[index] : NULL;

	return event ? pid_offset(&event->decoded) : 0;
}

static bool is_counted(const struct mt_images *images, const uint8_t *record)
{
	return images->plan->events.items[mt_get_le32(record + MT_RECORD_HEADER_SIZE)].role ==
	       MT_ROLE_SAMPLE;
}

/* The same of one that was packed: where the word is not stored, it is what it was. */
static int32_t packed_pid(struct mt_images *images, const uint8_t *record, size_t size)
{
	const uint8_t *body = record + MT_RECORD_HEADER_SIZE;
	size_t body_size = size - MT_RECORD_HEADER_SIZE, at = pid_at(images, record);
	struct mt_packed_head head;
	int32_t *known;
	uint64_t word;

	if (!mt_packed_head_get(body, body_size, &head))
		return -1;
	known = &images->packed_pids[head.slot][head.words % MT_KERNEL_REFERENCES];
	if (at && mt_packed_word(body, body_size, at / 8, &word))
		*known = (int32_t)(uint32_t)word;
	return at && is_counted(images, record) ? *known : -1;
}

/* Where the kernel's record begins in one that holds a sample as it came; 0 for others. */
static size_t sample_at(const uint8_t *record, size_t size)
{
	uint32_t type = mt_get_le32(record);
	size_t kernel = type == MT_RECORD_SAMPLE ? 48 : 24;

	return (type == MT_RECORD_SAMPLE || type == MT_RECORD_KERNEL) && size >= kernel + 8 &&
			       mt_get_le32(record + kernel) == MT_KERNEL_SAMPLE
		       ? kernel
		       : 0;
}

/* The process of a sample that counts, or -1. */
static int32_t sampled_pid(const struct mt_images *images, const uint8_t *record, size_t size,
			   size_t kernel)
{
	size_t at = pid_at(images, record);

	return at && size >= kernel + at + 4 && is_counted(images, record)
		       ? (int32_t)mt_get_le32(record + kernel + at)
		       : -1;
}

/* How many words a sample of that event has of registers, their ABI included. */
static size_t register_words(const struct mt_images *images, const uint8_t *record)
{
	uint32_t index = mt_get_le32(record + MT_RECORD_HEADER_SIZE);
	const struct mt_attr *attr = index < images->plan->events.count
					     ? &images->plan->events.items[index].decoded
					     : NULL;

	return attr && attr->sample_type & PERF_SAMPLE_REGS_USER
		       ? 1 + (size_t)__builtin_popcountll(attr->sample_regs_user)
		       : 0;
}

/*
 * The words that the kernel said; where the record does not tell them apart, with those of the
 * dump. The user's registers hold what looks like an address in the kernel by chance, in no code of
 * it that is known: for one such word all its symbols would be read anew.
 */
static void see_kernel_words(struct mt_images *images, const uint8_t *record, size_t size,
			     bool packed)
{
	size_t words;
	const uint8_t *stored = packed ? mt_packed_words(record + MT_RECORD_HEADER_SIZE,
							 size - MT_RECORD_HEADER_SIZE,
							 register_words(images, record), &words)
				       : NULL;

	if (stored)
		mt_kernel_seen_add(images->seen_kernel, stored, words);
	else
		mt_kernel_seen_add(images->seen_kernel, record, size);
}

void mt_images_see_samples(struct mt_images *images, const struct mt_block *block)
{
	size_t size;

	if (!images->choice)
		return;
	memset(images->packed_pids, 0, sizeof(images->packed_pids));
	for (size_t at = 0; at < block->used; at += size) {
		const uint8_t *record = block->bytes + at;
		bool packed = mt_get_le32(record) == MT_RECORD_PACKED;
		size_t kernel;
		int32_t pid;

		size = mt_get_le32(record + 4);
		kernel = packed ? 0 : sample_at(record, size);
		if (!packed && !kernel)
			continue;
		/* Of those, too, that do not count, or have no process any more: one that counts
		   may lack words because they are as they were there. */
		see_kernel_words(images, record, size, packed);
		pid = packed ? packed_pid(images, record, size)
			     : sampled_pid(images, record, size, kernel);
		if (pid > 0)
			mt_embed_choice_sample(images->choice, pid);
	}
}

struct mt_kernel_seen *mt_images_kernel_seen(struct mt_images *images)
{
	return images->seen_kernel;
}
