/*
 * Measures the work on samples after the ring, with the samples of recordings and on one core.
 * First: coding samples against earlier ones, with and without wide instructions of the processor,
 * compared with a memcpy of the same dumps. Then: packing the chunks, by zstd alone and as planes,
 * for each level.
 *
 *	bench_coding FILE...		a table for each
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#include "formats/base/bytes.h"
#include "formats/base/err.h"
#include "formats/chunks/chunk.h"
#include "formats/reader.h"
#include "formats/records/record.h"
#include "formats/stacks/packed_body.h"
#include "formats/stacks/planes_pack.h"
#include "formats/stacks/sample_record.h"
#include "formats/stacks/stack_encoder.h"

#define BLOCK ((size_t)1 << 20)
#define DUMPS_MAX ((size_t)512 << 20) /* bytes of dumps taken from a recording */
#define SAMPLES_MAX 200000
#define RECORD_ROOM 140000

struct sample {
	uint32_t event, cut, kernel_size, slot, sp_back, dump_asked, dump_size;
	uint64_t time;
	uint8_t *bytes; /* the kernel's bytes, then the dump */
};

struct samples {
	struct sample *items;
	size_t count, dumped;
};

/* Processor time, so that other work on the machine does not count. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *allocate(size_t size)
{
	void *bytes = malloc(size);

	if (!bytes)
		abort();
	return bytes;
}

static void die(const char *path, struct mt_error *err)
{
	fprintf(stderr, "%s: %s\n", path, err->message);
	exit(2);
}

/* Adds a coded sample; other samples lack the place of the dump's address and the thread. */
static void add_sample(struct samples *to, const struct mt_record *record)
{
	struct mt_kernel_bytes b;
	struct mt_packed_head head;
	struct sample *s = &to->items[to->count];

	if (record->type != MT_RECORD_PACKED || !mt_record_kernel_get(record, &b) ||
	    !mt_packed_head_get(record->body, record->size, &head))
		return;
	*s = (struct sample){
		.event = b.event,
		.cut = b.dump_asked ? b.cut : b.kernel_size,
		.kernel_size = b.kernel_size,
		.slot = head.slot,
		.sp_back = 8u * head.sp,
		.dump_asked = b.dump_asked,
		.dump_size = b.dump_size,
		.time = record->time,
		.bytes = allocate(b.kernel_size + b.dump_size),
	};
	memcpy(s->bytes, b.kernel, b.kernel_size);
	if (b.dump_size)
		memcpy(s->bytes + b.kernel_size, b.dump, b.dump_size);
	to->dumped += b.dump_size;
	to->count++;
}

static void load(const char *path, struct samples *out)
{
	struct mt_reader *reader;
	struct mt_error *err = mt_reader_open(path, NULL, &reader);
	struct mt_record record;
	bool more = true;

	if (err)
		die(path, err);
	out->items = allocate(SAMPLES_MAX * sizeof(*out->items));
	err = mt_reader_rewind(reader, 0);
	while (!err && out->count < SAMPLES_MAX && out->dumped < DUMPS_MAX) {
		err = mt_reader_next(reader, &record, &more);
		if (err || !more)
			break;
		add_sample(out, &record);
	}
	if (err)
		die(path, err);
	mt_reader_destroy(reader);
}

static void put(struct mt_block *block, struct mt_stack_encoder *encoder, const struct sample *s)
{
	const struct mt_sample_pieces pieces = {
		.event = s->event,
		.head = s->bytes,
		.head_size = s->cut,
		.tail = s->bytes + s->cut,
		.tail_size = s->kernel_size - s->cut,
		.dump = s->bytes + s->kernel_size,
		.dump_size = s->dump_size,
		.dump_asked = s->dump_asked,
		.encoder = encoder,
		.tid = s->slot,
		.sp_back = s->sp_back,
	};

	if (!mt_sample_put(block, s->time, &pieces))
		abort();
}

/* Codes all samples into blocks and keeps the blocks; returns their number. */
static size_t code(const struct samples *samples, bool portable, struct mt_block *blocks)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(64);
	size_t count = 0;

	if (!encoder)
		abort();
	mt_stack_encoder_set_portable(encoder, portable);
	for (size_t i = 0; i < samples->count; i++) {
		if (!count || BLOCK - blocks[count - 1].used < RECORD_ROOM) {
			mt_block_reset(&blocks[count++], MT_CHUNK_DATA, 0);
			mt_stack_encoder_reset(encoder);
		}
		put(&blocks[count - 1], encoder, &samples->items[i]);
	}
	mt_stack_encoder_destroy(encoder);
	return count;
}

static void copy_dumps(const struct samples *samples, uint8_t *to)
{
	for (size_t i = 0; i < samples->count; i++) {
		const struct sample *s = &samples->items[i];

		memcpy(to + i % 8 * 65536, s->bytes + s->kernel_size, s->dump_size);
		__asm__ volatile("" ::"r"(to) : "memory");
	}
}

static void deliver(const char *what, const struct samples *samples, double seconds, size_t bytes)
{
	double count = (double)samples->count;

	printf("  %-16s %8.2f us/sample %8.1f bytes/sample\n", what, 1e6 * seconds / count,
	       (double)bytes / count);
}

static void compress(const struct samples *samples, const struct mt_block *blocks, size_t count)
{
	static const int levels[] = {-5, -3, -1, 1, 2, 3};
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(BLOCK);
	uint8_t *out = allocate(room);
	char what[32];

	for (size_t level = 0; level < sizeof(levels) / sizeof(levels[0]); level++) {
		double seconds = -now();
		size_t bytes = 0;

		ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, levels[level]);
		/* as the writer does */
		ZSTD_CCtx_setParameter(zstd, ZSTD_c_minMatch, levels[level] == 1 ? 6 : 0);
		for (size_t i = 0; i < count; i++)
			bytes += ZSTD_compress2(zstd, out, room, blocks[i].bytes, blocks[i].used);
		seconds += now();
		snprintf(what, sizeof(what), "zstd %d", levels[level]);
		deliver(what, samples, seconds, bytes);
	}
	free(out);
	ZSTD_freeCCtx(zstd);
}

/* Packs as planes and unpacks again. */
static void pack_planes(const struct samples *samples, const struct mt_block *blocks, size_t count)
{
	static const int levels[] = {-3, 2, 3, 9};
	struct mt_planes_packer *packer = mt_planes_packer_create();
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	uint8_t *out = allocate(BLOCK), *back = allocate(BLOCK);
	char what[32];

	for (size_t level = 0; level < sizeof(levels) / sizeof(levels[0]); level++) {
		double packing = 0, unpacking = 0;
		size_t bytes = 0;

		for (size_t i = 0; i < count; i++) {
			double began = now(), packed;
			size_t size = mt_planes_pack(packer, blocks[i].bytes, blocks[i].used,
						     levels[level], out, BLOCK);
			bool no_memory;

			packed = now();
			packing += packed - began;
			if (!size ||
			    !mt_planes_unpack(zstd, out, size, back, blocks[i].used, &no_memory) ||
			    memcmp(back, blocks[i].bytes, blocks[i].used) != 0)
				abort();
			unpacking += now() - packed;
			bytes += size;
		}
		snprintf(what, sizeof(what), "planes %d", levels[level]);
		deliver(what, samples, packing, bytes);
		if (levels[level] == 2)
			deliver("  unpacking", samples, unpacking, bytes);
	}
	free(out);
	free(back);
	ZSTD_freeDCtx(zstd);
	mt_planes_packer_destroy(packer);
}

static void measure(const char *path)
{
	struct samples samples = {0};
	struct mt_block *blocks;
	size_t most, count = 0, coded = 0;
	double wide, portable, copied;
	uint8_t *memory, *scratch = calloc(8, 65536);

	load(path, &samples);
	printf("%s: %zu samples\n", path, samples.count);
	if (!samples.count || !scratch)
		return;
	most = samples.count * (RECORD_ROOM / 2) / (BLOCK - RECORD_ROOM) + 2;
	blocks = allocate(most * sizeof(*blocks));
	memory = allocate(most * BLOCK);
	for (size_t i = 0; i < most; i++)
		blocks[i] = (struct mt_block){.bytes = memory + i * BLOCK, .capacity = BLOCK};
	code(&samples, false, blocks); /* first run: takes the page faults */
	wide = -now();
	code(&samples, false, blocks);
	wide += now();
	portable = -now();
	count = code(&samples, true, blocks);
	portable += now();
	copied = -now();
	copy_dumps(&samples, scratch);
	copied += now();
	for (size_t i = 0; i < count; i++)
		coded += blocks[i].used;
	deliver("memcpy of dumps", &samples, copied, samples.dumped);
	deliver("coding", &samples, wide, coded);
	deliver("coding, portable", &samples, portable, coded);
	compress(&samples, blocks, count);
	pack_planes(&samples, blocks, count);
	for (size_t i = 0; i < samples.count; i++)
		free(samples.items[i].bytes);
	free(samples.items);
	free(blocks);
	free(memory);
	free(scratch);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		measure(argv[i]);
	return 0;
}
