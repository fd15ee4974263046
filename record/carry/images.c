/*
 * Opens each file through the process that maps it, so that files in other mount namespaces and
 * deleted files can be read. Uses a file only if it is still the mapped one.
 */
#include "record/carry/images.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/err.h"
#include "formats/chunks/chunk.h"
#include "formats/records/jitdump.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "formats/stacks/kernel_words.h"
#include "formats/stacks/packed_body.h"
#include "formats/stacks/sample_record.h"
#include "record/carry/image_choice.h"
#include "record/carry/kernel_seen.h"
#include "record/carry/sampled_places.h"
#include "record/files/file_worker.h"
#include "record/files/image_files.h"
#include "record/open/clock.h"
#include "record/plan/plan.h"
#include "symbols/elf/elf.h"
#include "symbols/images/image.h"

/*
 * Build ids are in the first pages. The pages are read, not mapped, because a file may be truncated
 * at any time, which would end the recorder with SIGBUS.
 */
#define FRONT_SIZE ((size_t)64 << 10)
#define WAITING_MAX 65536
#define QUICK_NS UINT64_C(200000000) /* at a mark, do not wait for files that take longer */
#define PAUSE_NS UINT64_C(20000000)

/* A mapping of a file that was not read yet. */
struct waiting {
	struct mt_code_mapping mapping;
	const struct mt_image_file *file;
};

struct mt_images {
	struct mt_images_config config;
	MT_ARRAY(struct waiting) waiting;
	struct mt_kernel_seen *seen_kernel; /* NULL if no image is carried */
	/* pids of the samples in the current block to which PACKED records refer */
	int32_t packed_pids[MT_STACK_SLOTS_MAX][MT_KERNEL_REFERENCES];
};

struct mt_images *mt_images_create(const struct mt_images_config *config)
{
	struct mt_images *images = calloc(1, sizeof(*images));

	if (!images)
		return NULL;
	images->config = *config;
	images->seen_kernel = config->choice ? mt_kernel_seen_create() : NULL;
	if (images->seen_kernel || !config->choice)
		return images;
	free(images);
	return NULL;
}

void mt_images_destroy(struct mt_images *images)
{
	if (!images)
		return;
	mt_array_deinit(&images->waiting);
	mt_kernel_seen_destroy(images->seen_kernel);
	free(images);
}

/* ---- Files ---- */

static bool is_file(const struct mt_mapped_file *m)
{
	return m->path.size && m->path.bytes[0] == '/' &&
	       !(m->path.size > 1 && m->path.bytes[1] == '/');
}

static bool is_vdso(const struct mt_mapped_file *m)
{
	return m->path.size == 6 && !memcmp(m->path.bytes, "[vdso]", 6);
}

static bool is_jitdump(const struct mt_mapped_file *m)
{
	uint32_t pid;

	return mt_jitdump_path(m->path.bytes, m->path.size, &pid);
}

/* Puts the IMAGE record of the vdso, which is the same in every process and in the recorder. */
static void see_vdso(struct mt_images *images, struct mt_image_file *file)
{
	struct mt_image_record record = mt_image_file_record(file);
	struct mt_elf *elf = NULL;
	size_t size;
	const uint8_t *base = mt_own_vdso(&size);
	struct mt_span id;

	if (base && !mt_elf_open_memory(base, size, "[vdso]", &elf)) {
		id = mt_elf_build_id(elf);
		record.size = size;
		record.build_id = (struct mt_text){(const char *)id.bytes, id.size};
		mt_image_files_know(images->config.files, file, -1, &record);
	}
	images->config.sink.put(images->config.sink.context, &record);
	mt_elf_destroy(elf);
}

/* Requests the first bytes of a new file; for a jitdump (not an image), only a descriptor. */
static void ask(struct mt_images *images, struct mt_image_file *file)
{
	bool jitdump = is_jitdump(&file->at);

	if (jitdump && !images->config.choice)
		return;
	file->asked = mt_file_worker_ask(images->config.worker, file->number, &file->at,
					 jitdump ? 0 : FRONT_SIZE);
	if (images->config.at_once)
		(void)mt_images_take_answers(images, UINT64_MAX, true);
}

/* ---- Answers ---- */

/*
 * Sets size and build_id of the record. Returns false if the file cannot be read or is not an ELF
 * file, and sets problem.
 */
static bool read_front(const struct mt_file_probe *probe, struct mt_image_record *record,
		       struct mt_elf **elf, char *problem, size_t problem_size)
{
	struct mt_error *err;
	struct mt_span id;

	if (probe->fd < 0) {
		snprintf(problem, problem_size, "%s", mt_file_problem(probe->error));
		return false;
	}
	record->size = (uint64_t)probe->status.st_size;
	err = mt_elf_open_memory(probe->front, probe->size, "image", elf);
	if (err) {
		snprintf(problem, problem_size, "%s", err->message);
		mt_error_destroy(err);
		return false;
	}
	id = mt_elf_build_id(*elf);
	record->build_id = (struct mt_text){.bytes = (const char *)id.bytes, .size = id.size};
	return true;
}

/* Keeps the file and its build id if they are needed later; otherwise closes the file. */
static void know(struct mt_images *images, struct mt_image_file *file, int fd,
		 const struct mt_image_record *record)
{
	if (images->config.choice || images->config.at_once)
		mt_image_files_know(images->config.files, file, fd, record);
	else
		mt_file_worker_close(images->config.worker, fd);
	if (images->config.choice)
		mt_image_choice_know(images->config.choice, file);
}

static void take_image(struct mt_images *images, struct mt_image_file *file,
		       const struct mt_file_probe *probe)
{
	const struct mt_image_sink *sink = &images->config.sink;
	struct mt_image_record record = mt_image_file_record(file);
	struct mt_elf *elf = NULL;
	char problem[256] = "";
	bool good = read_front(probe, &record, &elf, problem, sizeof(problem));

	record.problem = (struct mt_text){.bytes = problem, .size = strlen(problem)};
	record.started = (struct mt_text){.bytes = probe->started, .size = strlen(probe->started)};
	sink->put(sink->context, &record);
	file->elsewhere = probe->elsewhere;
	if (good && images->config.code)
		file->places = mt_sampled_places_image(images->config.code, &record);
	if (good)
		know(images, file, probe->fd, &record);
	else
		mt_file_worker_close(images->config.worker, probe->fd);
	mt_elf_destroy(elf);
}

/* Adds the mappings that waited for this file. */
static void report_waiting(struct mt_images *images, const struct mt_image_file *file)
{
	size_t kept = 0;

	for (size_t i = 0; i < images->waiting.count; i++) {
		struct waiting *waiting = &images->waiting.items[i];

		if (waiting->file != file) {
			images->waiting.items[kept++] = *waiting;
			continue;
		}
		waiting->mapping.image = file->places;
		mt_sampled_places_map(images->config.code, &waiting->mapping);
	}
	images->waiting.count = kept;
}

static void take_answer(struct mt_images *images, struct mt_file_probe *probe)
{
	struct mt_image_file *file = mt_image_files_at(images->config.files, (uint32_t)probe->tag);
	struct mt_image_record record = mt_image_file_record(file);

	file->asked = false;
	if (is_jitdump(&file->at))
		know(images, file, probe->fd, &record);
	else
		take_image(images, file, probe);
	if (images->config.code)
		report_waiting(images, file);
	free(probe->front);
}

/* Returns false if the worker's current call already takes too long. */
static bool answers_quickly(struct mt_file_worker *files)
{
	uint64_t since = mt_file_worker_since(files);

	return !since || mt_clock_monotonic() < since + QUICK_NS;
}

bool mt_images_take_answers(struct mt_images *images, uint64_t until, bool patient)
{
	struct mt_file_worker *files = images->config.worker;
	struct mt_file_probe probe;

	while (mt_file_worker_asked(files)) {
		uint64_t now = mt_clock_monotonic(), next = now + PAUSE_NS;

		if (mt_file_worker_answer(files, next < until ? next : until, &probe))
			take_answer(images, &probe);
		else if (now >= until || (!patient && !answers_quickly(files)))
			return false;
	}
	return true;
}

/* ---- Records ---- */

static void map_code(struct mt_images *images, const struct mt_image_file *file,
		     struct mt_code_mapping mapping)
{
	if (file->asked && images->waiting.count >= WAITING_MAX)
		(void)mt_images_take_answers(images, UINT64_MAX, true);
	if (file->asked) {
		(void)mt_array_append(&images->waiting, (struct waiting){mapping, file});
	} else {
		mapping.image = file->places;
		mt_sampled_places_map(images->config.code, &mapping);
	}
}

static void see_mapped(struct mt_images *images, const struct mt_mapped_file *m, uint64_t offset,
		       uint64_t time)
{
	struct mt_image_file *file;
	bool added;

	if (!is_vdso(m) && !is_file(m))
		return;
	file = mt_image_files_get(images->config.files, m, &added);
	if (!file)
		return;
	if (added && is_vdso(m))
		see_vdso(images, file);
	else if (added)
		ask(images, file);
	if (!images->config.choice)
		return;
	mt_image_choice_map(images->config.choice, m->pid, file);
	if (images->config.code)
		map_code(images, file,
			 (struct mt_code_mapping){
				 .start = m->start, .end = m->end, .offset = offset, .time = time});
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

/* Returns true if records of this type are used here. */
static bool is_watched(const struct mt_images *images, uint32_t type)
{
	if (type == MT_KERNEL_MMAP2 || type == MT_KERNEL_MMAP)
		return true;
	return images->config.choice &&
	       (type == MT_KERNEL_FORK || type == MT_KERNEL_EXIT || type == MT_KERNEL_COMM);
}

static void see_kernel(struct mt_images *images, const uint8_t *body, size_t size)
{
	struct mt_kernel_bytes bytes;
	struct mt_kernel_record record;

	if (!mt_kernel_get(body, size, &bytes) || bytes.kernel_size < 8 ||
	    !is_watched(images, mt_get_le32(bytes.kernel)) ||
	    !mt_kernel_record_decode(&images->config.plan->events.items[0].decoded, bytes.kernel,
				     bytes.kernel_size, &record))
		return;
	if (record.type == MT_KERNEL_FORK)
		mt_image_choice_fork(images->config.choice, record.pid, record.ppid,
				     record.event_time);
	else if (record.type == MT_KERNEL_COMM) {
		if (record.exec)
			mt_image_choice_exec(images->config.choice, record.pid, record.time);
	} else if (record.type != MT_KERNEL_EXIT)
		see_mmap(images, &record);
	else if (record.pid == record.tid)
		mt_image_choice_exit(images->config.choice, record.pid, record.event_time);
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

/* Returns the offset of the pid in samples of an event; 0 if the samples have no pid. */
static size_t pid_offset(const struct mt_attr *attr)
{
	if (!(attr->sample_type & PERF_SAMPLE_TID))
		return 0;
	return 8 + (attr->sample_type & PERF_SAMPLE_IDENTIFIER ? 8 : 0) +
	       (attr->sample_type & PERF_SAMPLE_IP ? 8 : 0);
}

/* Returns the offset of the pid in the kernel's record of a sample; 0 if there is no pid. */
static size_t pid_at(const struct mt_images *images, const uint8_t *record)
{
	uint32_t index = mt_get_le32(record + MT_RECORD_HEADER_SIZE);
	const struct mt_planned_event *event = index < images->config.plan->events.count
						       ? &images->config.plan->events.items[index]
						       : NULL;

	return event ? pid_offset(&event->decoded) : 0;
}

static bool is_counted(const struct mt_images *images, const uint8_t *record)
{
	return images->config.plan->events.items[mt_get_le32(record + MT_RECORD_HEADER_SIZE)]
		       .role == MT_ROLE_SAMPLE;
}

/*
 * Returns the pid of a packed sample: from the record, or else of the sample to which the record
 * refers. -1 if there is none, or the event does not count.
 */
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

/* Returns the offset of the kernel's record of an unpacked sample; 0 in other records. */
static size_t sample_at(const uint8_t *record, size_t size)
{
	uint32_t type = mt_get_le32(record);
	size_t kernel = type == MT_RECORD_SAMPLE ? 48 : 24;

	return (type == MT_RECORD_SAMPLE || type == MT_RECORD_KERNEL) && size >= kernel + 8 &&
			       mt_get_le32(record + kernel) == MT_KERNEL_SAMPLE
		       ? kernel
		       : 0;
}

/* Returns the pid of a sample; -1 if there is none, or the event does not count. */
static int32_t sampled_pid(const struct mt_images *images, const uint8_t *record, size_t size,
			   size_t kernel)
{
	size_t at = pid_at(images, record);

	return at && size >= kernel + at + 4 && is_counted(images, record)
		       ? (int32_t)mt_get_le32(record + kernel + at)
		       : -1;
}

/* Returns the number of words for user registers in a sample, including the word for the ABI. */
static size_t register_words(const struct mt_images *images, const uint8_t *record)
{
	uint32_t index = mt_get_le32(record + MT_RECORD_HEADER_SIZE);
	const struct mt_attr *attr = index < images->config.plan->events.count
					     ? &images->config.plan->events.items[index].decoded
					     : NULL;

	return attr && attr->sample_type & PERF_SAMPLE_REGS_USER
		       ? 1 + (size_t)__builtin_popcountll(attr->sample_regs_user)
		       : 0;
}

/*
 * Adds the words of a sample except user registers and dump; adds all words if the record does not
 * separate them. User registers are excluded because one that looks like a kernel address by chance
 * would make the carrying thread read all kernel symbols again.
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

	if (!images->config.choice)
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
		/*
		 * Includes samples that do not count or whose process is unknown, because a later
		 * sample that counts may omit words that equal words of these samples.
		 */
		see_kernel_words(images, record, size, packed);
		pid = packed ? packed_pid(images, record, size)
			     : sampled_pid(images, record, size, kernel);
		if (pid > 0)
			mt_image_choice_sample(images->config.choice, pid);
	}
}

struct mt_kernel_seen *mt_images_kernel_seen(struct mt_images *images)
{
	return images->seen_kernel;
}
