/* Writes perf.data: the header, one attr, records, and the host name as the only feature. */
#include "tests/oracle/perf_file.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include "formats/records/sample.h"
#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "unwind/unwind.h"

/* The general registers in the kernel's order, by their numbers in DWARF. */
static const uint8_t dwarf_numbers[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15};
#define REGISTERS (sizeof(dwarf_numbers))
#define REGISTERS_MASK ((uint64_t)0xff01ff)

enum {
	FEATURE_HOSTNAME = 3,
};

struct perf_file {
	FILE *to;
	uint64_t time, data;
	size_t dump_size;
};

/* The header of tools/perf/Documentation/perf.data-file-format.txt. */
struct header {
	char magic[8];
	uint64_t size, attr_size, attrs_offset, attrs_size, data_offset, data_size, types_offset,
		types_size, features[4];
};

struct feature {
	uint64_t offset, size;
	uint32_t length;
	char text[sizeof(((struct utsname *)0)->nodename)];
} __attribute__((packed));

struct file_attr {
	struct perf_event_attr attr;
	uint64_t ids_offset, ids_size;
};

static void put(struct perf_file *file, const void *bytes, size_t size)
{
	file->data += fwrite(bytes, 1, size, file->to);
}

struct perf_file *perf_file_create(const char *path, size_t dump_size)
{
	struct perf_file *file = calloc(1, sizeof(*file));
	struct header header = {
		.magic = "PERFILE2",
		.size = sizeof(header),
		.attr_size = sizeof(struct file_attr),
		.attrs_offset = sizeof(header),
		.attrs_size = sizeof(struct file_attr),
		.data_offset = sizeof(header) + sizeof(struct file_attr),
		.features = {1 << FEATURE_HOSTNAME},
	};
	struct file_attr attr = {
		.attr = {.size = sizeof(attr.attr),
			 .sample_period = 1000,
			 .sample_type =
				 PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				 PERF_SAMPLE_BRANCH_STACK |
				 (dump_size ? PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER : 0),
			 .branch_sample_type =
				 PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK,
			 .sample_regs_user = dump_size ? REGISTERS_MASK : 0,
			 .sample_stack_user = (uint32_t)dump_size,
			 .exclude_kernel = 1},
	};

	if (file)
		file->to = fopen(path, "w+e");
	if (!file || !file->to) {
		free(file);
		return NULL;
	}
	file->dump_size = dump_size;
	put(file, &header, sizeof(header));
	put(file, &attr, sizeof(attr));
	file->data = 0;
	return file;
}

static void put_mapping(struct perf_file *file, pid_t pid, const struct mt_mapping *mapping)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t start, length, offset;
		char name[512];
	} record = {
		.header = {.type = PERF_RECORD_MMAP, .misc = PERF_RECORD_MISC_USER},
		.pid = (uint32_t)pid,
		.tid = (uint32_t)pid,
		.start = mapping->start,
		.length = mapping->end - mapping->start,
		.offset = mapping->offset,
	};

	snprintf(record.name, sizeof(record.name), "%s", mapping->image->identity.path);
	record.header.size = (uint16_t)(offsetof(__typeof__(record), name) +
					((strlen(record.name) + 8) & ~(size_t)7));
	put(file, &record, record.header.size);
}

void perf_file_map(struct perf_file *file, pid_t pid, const struct mt_image_map *map)
{
	const struct mt_mapping *m = mt_image_map_next(map, 0);

	for (; m; m = mt_image_map_next(map, m->end)) {
		if (m->prot & PROT_EXEC)
			put_mapping(file, pid, m);
	}
}

/*
 * Bytes of registers and dump in a sample: ABI, registers, size, dump, and the dump's valid size.
 */
static size_t dump_part(const struct perf_file *file)
{
	return file->dump_size ? (REGISTERS + 3) * sizeof(uint64_t) + file->dump_size : 0;
}

static void put_dump(struct perf_file *file, const struct mt_unwind_input *input)
{
	static const uint8_t zeros[1 << 16];
	uint64_t words[REGISTERS + 2] = {PERF_SAMPLE_REGS_ABI_64}, dynamic = input->dump_size;

	if (!file->dump_size)
		return;
	for (size_t i = 0; i < REGISTERS; i++)
		words[1 + i] = input->regs.value[dwarf_numbers[i]];
	words[1 + REGISTERS] = file->dump_size;
	put(file, words, sizeof(words));
	put(file, input->dump, input->dump_size);
	put(file, zeros, file->dump_size - input->dump_size);
	put(file, &dynamic, sizeof(dynamic));
}

void perf_file_sample(struct perf_file *file, pid_t pid, const struct mt_unwind_input *input)
{
	size_t branches = input->branch_count * sizeof(*input->branches);
	struct {
		struct perf_event_header header;
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t time, count;
	} record = {
		.header = {.type = PERF_RECORD_SAMPLE,
			   .misc = PERF_RECORD_MISC_USER,
			   .size = (uint16_t)(sizeof(record) + branches + dump_part(file))},
		.ip = input->ip,
		.pid = (uint32_t)pid,
		.tid = (uint32_t)pid,
		.time = file->time += 1000,
		.count = input->branch_count,
	};

	put(file, &record, sizeof(record));
	put(file, input->branches, branches);
	put_dump(file, input);
}

/* Without the host name, mtreport ignores files of this host that have no build id. */
static void put_host(struct perf_file *file)
{
	struct feature feature = {.size = sizeof(feature.length) + sizeof(feature.text),
				  .length = sizeof(feature.text)};
	struct utsname host;

	uname(&host);
	memcpy(feature.text, host.nodename, sizeof(feature.text));
	feature.offset = sizeof(struct header) + sizeof(struct file_attr) + file->data +
			 offsetof(struct feature, length);
	put(file, &feature, sizeof(feature));
}

bool perf_file_finish(struct perf_file *file)
{
	uint64_t size = file->data;
	bool good;

	put_host(file);
	good = !fseek(file->to, offsetof(struct header, data_size), SEEK_SET);
	put(file, &size, sizeof(size));
	good &= !ferror(file->to);
	good &= !fclose(file->to);
	free(file);
	return good;
}
