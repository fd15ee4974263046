/* Writing perf.data: header, one attr, records, no features. */
#include "tests/oracle/perf_file.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/sample.h"
#include "symbols/image.h"
#include "symbols/image_map.h"

struct perf_file {
	FILE *to;
	uint64_t time, data;
	bool indexed; /* branches have the hardware's index */
};

/* As tools/perf/Documentation/perf.data-file-format.txt has it. */
struct header {
	char magic[8];
	uint64_t size, attr_size, attrs_offset, attrs_size, data_offset, data_size, types_offset,
		types_size, features[4];
};

struct file_attr {
	struct perf_event_attr attr;
	uint64_t ids_offset, ids_size;
};

static void put(struct perf_file *file, const void *bytes, size_t size)
{
	file->data += fwrite(bytes, 1, size, file->to);
}

struct perf_file *perf_file_create(const char *path, uint64_t branch_type)
{
	struct perf_file *file = calloc(1, sizeof(*file));
	struct header header = {
		.magic = "PERFILE2",
		.size = sizeof(header),
		.attr_size = sizeof(struct file_attr),
		.attrs_offset = sizeof(header),
		.attrs_size = sizeof(struct file_attr),
		.data_offset = sizeof(header) + sizeof(struct file_attr),
	};
	struct file_attr attr = {
		.attr = {.size = sizeof(attr.attr),
			 .sample_period = 1000,
			 .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					PERF_SAMPLE_BRANCH_STACK,
			 .branch_sample_type = branch_type,
			 .exclude_kernel = 1},
	};

	if (file)
		file->to = fopen(path, "w+e");
	if (!file || !file->to) {
		free(file);
		return NULL;
	}
	file->indexed = branch_type & PERF_SAMPLE_BRANCH_HW_INDEX;
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
	size_t count;
	const struct mt_mapping *all = mt_image_map_all(map, &count);

	for (size_t i = 0; i < count; i++) {
		if (all[i].prot & PROT_EXEC)
			put_mapping(file, pid, &all[i]);
	}
}

void perf_file_sample(struct perf_file *file, pid_t pid, uint64_t ip,
		      const struct mt_branch *branches, size_t count, uint64_t index)
{
	size_t index_size = file->indexed ? sizeof(index) : 0;
	struct {
		struct perf_event_header header;
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t time, count;
	} record = {
		.header = {.type = PERF_RECORD_SAMPLE,
			   .misc = PERF_RECORD_MISC_USER,
			   .size = (uint16_t)(sizeof(record) + index_size +
					      count * sizeof(*branches))},
		.ip = ip,
		.pid = (uint32_t)pid,
		.tid = (uint32_t)pid,
		.time = file->time += 1000,
		.count = count,
	};

	put(file, &record, sizeof(record));
	put(file, &index, index_size);
	put(file, branches, count * sizeof(*branches));
}

bool perf_file_finish(struct perf_file *file)
{
	bool good = !fseek(file->to, offsetof(struct header, data_size), SEEK_SET);
	uint64_t size = file->data;

	put(file, &size, sizeof(size));
	good &= !ferror(file->to);
	good &= !fclose(file->to);
	free(file);
	return good;
}
