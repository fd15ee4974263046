/*
 * A perf.data file from any bytes: reading must end, stay inside its memory, and return records
 * that can be decoded or refused. The magic is written over the start of an input that lacks it.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "formats/base/err.h"
#include "formats/reader.h"
#include "formats/records/attr.h"
#include "formats/records/sample.h"
#include "formats/stacks/sample_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	MEMORY_LIMIT = 8 << 20,
	RECORDS_MAX = 200000, /* zstd expands a few bytes to many records */
	EVENTS_MAX = 64,
};

struct decoded {
	struct mt_attr attrs[EVENTS_MAX];
	unsigned int sum; /* of all bytes seen: the sanitizer reports bad ranges */
};

static void touch(struct decoded *d, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		d->sum += ((const uint8_t *)bytes)[i];
}

static void decode_kernel(struct decoded *d, const struct mt_record *record)
{
	struct mt_kernel_bytes b;
	struct mt_kernel_record other;
	struct mt_sample sample;

	if ((uintptr_t)record->body % 8 || !mt_record_kernel_get(record, &b) || b.kernel_size < 8 ||
	    b.kernel_size != mt_get_le16(b.kernel + 6))
		__builtin_trap();
	touch(d, b.kernel, b.kernel_size);
	if (b.event >= EVENTS_MAX)
		return;
	if (mt_sample_decode(&d->attrs[b.event], b.kernel, b.kernel_size, NULL, &sample)) {
		touch(d, sample.chain, sample.chain_count * 8);
		touch(d, sample.branches, sample.branch_count * sizeof(*sample.branches));
		touch(d, sample.dump, sample.dump_size);
		touch(d, sample.raw, sample.raw_size);
	}
	if (mt_kernel_record_decode(&d->attrs[b.event], b.kernel, b.kernel_size, &other) &&
	    other.name)
		touch(d, other.name, strlen(other.name));
}

static void decode_event(struct decoded *d, const struct mt_record *record)
{
	struct mt_event_record event;

	if (!mt_event_get(record->body, record->size, &event))
		__builtin_trap();
	touch(d, event.name.bytes, event.name.size);
	touch(d, event.format.bytes, event.format.size);
	if (event.index < EVENTS_MAX)
		mt_attr_decode(event.attr.bytes, event.attr.size, &d->attrs[event.index]);
}

static struct mt_error *read_all(struct mt_reader *reader, struct decoded *d)
{
	struct mt_error *err = NULL;
	struct mt_record record;
	bool more = true;

	for (int i = 0; i < RECORDS_MAX && !err; i++) {
		err = mt_reader_next(reader, &record, &more);
		if (err || !more)
			break;
		if (record.type == MT_RECORD_KERNEL)
			decode_kernel(d, &record);
		else if (record.type == MT_RECORD_EVENT)
			decode_event(d, &record);
		else
			touch(d, record.body, record.size);
	}
	return err;
}

static void read_file(int fd)
{
	struct mt_reader_options options = {.memory_limit = MEMORY_LIMIT};
	static struct decoded d;
	struct mt_reader *reader = NULL;
	struct mt_error *err;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = mt_reader_open(path, &options, &reader);
	for (int i = 0; i < 2 && !err; i++) {
		err = mt_reader_rewind(reader, 0);
		err = err ? err : read_all(reader, &d);
	}
	mt_reader_destroy(reader);
	mt_error_destroy(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	bool good = fd >= 0 && write(fd, data, size) == (ssize_t)size;

	/* A file without this magic would be read as text, see fuzz_text. */
	if (good && (size < 8 || (memcmp(data, "PERFILE2", 8) && memcmp(data, "PERFFILE", 8))))
		good = pwrite(fd, "PERFILE2", 8, 0) == 8;
	if (good)
		read_file(fd);
	if (fd >= 0)
		close(fd);
	return 0;
}
