/*
 * A recording from any bytes: reading must end, stay inside its memory, and return records that can
 * be decoded or refused. Each input is read unchanged, once more with correct checksums so that the
 * code after the check is reached, and again with its stored chunks packed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "formats/base/err.h"
#include "formats/chunks/chunk.h"
#include "formats/reader.h"
#include "formats/records/attr.h"
#include "formats/records/sample.h"
#include "formats/stacks/sample_record.h"
#include "tests/fuzz/pack_chunks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_LIMIT 100000

/* The part of an event's description that decoding needs here. */
struct decoded {
	struct mt_attr attr;
	bool has_attr;
	unsigned int sum; /* of all bytes seen: the sanitizer reports bad ranges */
};

static void touch(struct decoded *d, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		d->sum += ((const uint8_t *)bytes)[i];
}

static void touch_text(struct decoded *d, struct mt_text text)
{
	touch(d, text.bytes, text.size);
}

static void decode_kernel(struct decoded *d, const struct mt_kernel_bytes *b)
{
	struct mt_dump_apart apart = {b->cut, b->dump_asked, b->dump, b->dump_size};
	struct mt_kernel_record record;
	struct mt_sample sample;

	touch(d, b->kernel, b->kernel_size);
	touch(d, b->dump, b->dump ? b->dump_size : 0);
	if (!d->has_attr)
		return;
	if (mt_sample_decode(&d->attr, b->kernel, b->kernel_size, b->dump_asked ? &apart : NULL,
			     &sample)) {
		touch(d, sample.chain, sample.chain_count * 8);
		touch(d, sample.dump, sample.dump ? sample.dump_size : 0);
	}
	if (mt_kernel_record_decode(&d->attr, b->kernel, b->kernel_size, &record) && record.name)
		d->sum += (unsigned int)strlen(record.name);
}

static void decode_event(struct decoded *d, const struct mt_event_record *event)
{
	touch_text(d, event->name);
	touch_text(d, event->format);
	d->has_attr |= mt_attr_decode(event->attr.bytes, event->attr.size, &d->attr);
}

static void decode_record(struct decoded *d, const struct mt_record *r)
{
	struct mt_kernel_bytes kernel;
	struct mt_event_record event;
	struct mt_image_record image;
	struct mt_task_record task;
	struct mt_info_record info;
	struct mt_map_record map;

	touch(d, r->body, r->size);
	if (mt_event_get(r->body, r->size, &event) && r->type == MT_RECORD_EVENT)
		decode_event(d, &event);
	if (mt_task_get(r->body, r->size, &task))
		touch_text(d, task.nspid);
	if (mt_map_get(r->body, r->size, &map))
		touch_text(d, map.path);
	if (mt_image_get(r->body, r->size, &image))
		touch_text(d, image.problem);
	if (mt_info_get(r->body, r->size, &info))
		touch_text(d, info.value);
	if (mt_kernel_get(r->body, r->size, &kernel))
		decode_kernel(d, &kernel);
	if (r->type == MT_RECORD_FRAMES && mt_unwound_get(r->body, r->size, &kernel))
		decode_kernel(d, &kernel);
	if (r->type == MT_RECORD_SAMPLE && mt_sample_get(r->body, r->size, r->dump, &kernel))
		decode_kernel(d, &kernel);
	if (r->type == MT_RECORD_PACKED) {
		if (!mt_packed_get(r->body, r->size, r->dump, &kernel))
			abort(); /* the reader must not return a damaged record */
		decode_kernel(d, &kernel);
	}
}

static void read_recording(struct mt_reader *reader, size_t i)
{
	const struct mt_recording *recording = mt_reader_recording(reader, i);
	struct decoded d = {.has_attr = false};
	struct mt_error *err = mt_reader_rewind(reader, i);
	struct mt_record record;
	bool more = true;

	while (!err && more) {
		err = mt_reader_next(reader, &record, &more);
		if (!err && more)
			decode_record(&d, &record);
	}
	mt_error_destroy(err);
	/* the damage of the first recording includes the bytes before it */
	if (i && recording->damage.skipped_bytes > recording->size)
		abort();
}

static void read_file(const uint8_t *data, size_t size)
{
	const struct mt_reader_options options = {.memory_limit = MEMORY_LIMIT};
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct mt_reader *reader = NULL;
	struct mt_error *err;
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = mt_reader_open(path, &options, &reader);
	if (!err) {
		for (size_t i = 0; i < mt_reader_recordings(reader); i++)
			read_recording(reader, i);
	}
	mt_error_destroy(err);
	mt_reader_destroy(reader);
	close(fd);
}

static void repair(uint8_t *bytes, size_t size)
{
	uint8_t *at = bytes, *end = bytes + size;

	while ((at = memmem(at, (size_t)(end - at), MT_CHUNK_MAGIC, MT_CHUNK_MAGIC_SIZE))) {
		uint32_t stored;

		if (end - at < MT_CHUNK_HEADER_SIZE)
			return;
		stored = mt_get_le32(at + 16);
		if (stored <= (size_t)(end - at) - MT_CHUNK_HEADER_SIZE)
			mt_put_le32(at + 56, mt_crc32c(0, at + MT_CHUNK_HEADER_SIZE, stored));
		mt_put_le32(at + 60, mt_crc32c(0, at, 60));
		at += MT_CHUNK_HEADER_SIZE;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = 2 * size + 4096;
	uint8_t *copy = malloc(size + 1), *packed = malloc(room);

	if (copy && packed) {
		memcpy(copy, data, size);
		read_file(copy, size);
		repair(copy, size);
		read_file(copy, size);
		read_file(packed, pack_chunks(copy, size, packed, room));
	}
	free(copy);
	free(packed);
	return 0;
}
