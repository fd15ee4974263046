/* formats/reader: order, missing data, and no input makes it crash or give false records. */
#include "formats/reader.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "formats/base/bytes.h"
#include "formats/records/sample.h"
#include "formats/stacks/sample_record.h"
#include "formats/stacks/stack_encoder.h"
#include "tests/unit/mt_builder.h"
#include "tests/unit/unit.h"

#define TIMES(...) ((const uint64_t[]){__VA_ARGS__, 0})

/*
 * Records that a reader gave, as text: "i" for an INFO, "v" and the value for a KERNEL, "?" for
 * others; and the facts of the last recording.
 */
struct seen {
	char text[4096];
	struct mt_recording recording;
	size_t recordings;
	uint64_t records;
	struct mt_error *err;
};

static void see_record(struct seen *seen, const struct mt_record *record)
{
	size_t used = strlen(seen->text);
	struct mt_kernel_bytes kernel;
	struct mt_info_record info;

	seen->records++;
	if (sizeof(seen->text) - used < 64)
		return;
	if (record->type == MT_RECORD_KERNEL &&
	    mt_kernel_get(record->body, record->size, &kernel) && kernel.kernel_size == 16)
		snprintf(seen->text + used, 64, "v%llu ",
			 (unsigned long long)mt_get_le64(kernel.kernel + 8));
	else if (record->type == MT_RECORD_INFO && mt_info_get(record->body, record->size, &info) &&
		 info.value.size < 40)
		snprintf(seen->text + used, 64, "i%.*s ", (int)info.value.size, info.value.bytes);
	else if (record->type == MT_RECORD_HEADER)
		strcpy(seen->text + used, "H ");
	else
		strcpy(seen->text + used, "? ");
}

static struct mt_error *see_recording(struct mt_reader *reader, size_t i, struct seen *seen)
{
	struct mt_record record;
	bool more = true;
	struct mt_error *err = mt_reader_rewind(reader, i);

	while (!err) {
		err = mt_reader_next(reader, &record, &more);
		if (err || !more)
			break;
		see_record(seen, &record);
	}
	seen->recording = *mt_reader_recording(reader, i);
	return err;
}

static void see_path(const char *path, size_t memory_limit, struct seen *seen)
{
	struct mt_reader_options options = {.memory_limit = memory_limit};
	struct mt_reader *reader = NULL;

	*seen = (struct seen){0};
	seen->err = mt_reader_open(path, &options, &reader);
	if (seen->err)
		return;
	seen->recordings = mt_reader_recordings(reader);
	for (size_t i = 0; i < seen->recordings && !seen->err; i++) {
		if (i)
			strcat(seen->text, "| ");
		seen->err = see_recording(reader, i, seen);
	}
	mt_reader_destroy(reader);
}

static void see(struct mt_builder *b, struct seen *seen)
{
	see_path(mt_builder_file(b), 0, seen);
}

static void put_info(struct mt_builder *b, const char *value)
{
	mt_info_put(&b->block,
		    &(struct mt_info_record){.key = {"key", 3}, .value = {value, strlen(value)}});
}

static void add_state(struct mt_builder *b, const char *value)
{
	mt_builder_begin(b, MT_CHUNK_STATE, 0);
	put_info(b, value);
	mt_builder_add(b, MT_CODEC_ZSTD);
}

/* Two streams, state in between, a mark. */
static void build_small(struct mt_builder *b)
{
	mt_builder_head_begin(b);
	put_info(b, "a");
	mt_builder_add(b, MT_CODEC_STORED);
	mt_builder_data(b, 0, TIMES(10, 30, 20, 50));
	add_state(b, "b");
	mt_builder_begin(b, MT_CHUNK_DATA, 1);
	for (uint64_t t = 15; t < 60; t += 10)
		mt_builder_kernel(b, t, t);
	mt_builder_add(b, MT_CODEC_ZSTD);
	mt_builder_mark(b, 50);
	mt_builder_data(b, 0, TIMES(60, 70));
	mt_builder_end(b);
}

MT_TEST(state_first_then_data_by_time)
{
	struct mt_builder b;
	struct seen seen;

	mt_builder_init(&b);
	build_small(&b);
	see(&b, &seen);
	MT_CHECK_OK(seen.err);
	MT_CHECK_STR(seen.text, "H ia ib v10 v15 v20 v25 v30 v35 v45 v50 v55 v60 v70 ");
	MT_CHECK_EQ(seen.recordings, 1);
	MT_CHECK_EQ(seen.recording.size, b.size);
	MT_CHECK_EQ(seen.recording.chunks, 7);
	MT_CHECK_EQ(seen.recording.first_time, 10);
	MT_CHECK_EQ(seen.recording.last_time, 70);
	MT_CHECK(seen.recording.has_end && seen.recording.has_mark);
	MT_CHECK_EQ(seen.recording.end.samples, 3);
	MT_CHECK_EQ(seen.recording.mark.complete_below, 50);
	MT_CHECK_EQ(seen.recording.header.id[2], 3);
	MT_CHECK(!memcmp(&seen.recording.damage, &(struct mt_damage){0}, sizeof(struct mt_damage)));
	mt_builder_deinit(&b);
}

MT_TEST(equal_times_go_by_stream_then_by_place)
{
	struct mt_builder b;
	struct seen seen;

	mt_builder_init(&b);
	mt_builder_head(&b);
	mt_builder_begin(&b, MT_CHUNK_DATA, 1);
	mt_builder_kernel(&b, 5, 3);
	mt_builder_kernel(&b, 5, 4);
	mt_builder_add(&b, MT_CODEC_STORED);
	mt_builder_begin(&b, MT_CHUNK_DATA, 0);
	mt_builder_kernel(&b, 5, 1);
	mt_builder_add(&b, MT_CODEC_STORED);
	mt_builder_begin(&b, MT_CHUNK_DATA, 0);
	mt_builder_kernel(&b, 5, 2);
	mt_builder_add(&b, MT_CODEC_STORED);
	see(&b, &seen);
	MT_CHECK_STR(seen.text, "H v1 v2 v3 v4 ");
	MT_CHECK_EQ(seen.recording.damage.disordered, 0);
	mt_builder_deinit(&b);
}

MT_TEST(a_record_without_time_keeps_its_place)
{
	struct mt_builder b;
	struct seen seen;

	mt_builder_init(&b);
	mt_builder_head(&b);
	mt_builder_begin(&b, MT_CHUNK_DATA, 0);
	mt_builder_kernel(&b, 0, 1);
	mt_builder_kernel(&b, 20, 20);
	mt_builder_kernel(&b, 0, 2);
	mt_builder_kernel(&b, 10, 10);
	mt_builder_kernel(&b, 0, 3);
	mt_builder_add(&b, MT_CODEC_STORED);
	mt_builder_data(&b, 1, TIMES(5, 15));
	see(&b, &seen);
	MT_CHECK_STR(seen.text, "H v5 v1 v10 v3 v15 v20 v2 ");
	MT_CHECK_EQ(seen.recording.damage.disordered, 0);
	mt_builder_deinit(&b);
}

#define DUMP 128

/*
 * Adds a sample whose dump is `fill` but for its first word, the time; coded against the image of
 * thread 1.
 */
static void put_sample(struct mt_builder *b, struct mt_stack_encoder *encoder, uint64_t time,
		       uint8_t fill)
{
	uint64_t head[4] = {MT_KERNEL_SAMPLE | (uint64_t)(32 + DUMP + 8) << 48, time, 0x7ffff000,
			    DUMP},
		 tail = DUMP;
	_Alignas(8) uint8_t dump[DUMP];

	memset(dump, fill, sizeof(dump));
	mt_put_le64(dump, time);
	MT_CHECK(mt_sample_put(&b->block, time,
			       &(struct mt_sample_pieces){
				       .head = head,
				       .head_size = sizeof(head),
				       .tail = &tail,
				       .tail_size = sizeof(tail),
				       .dump = dump,
				       .dump_size = DUMP,
				       .dump_asked = DUMP,
				       .encoder = encoder,
				       .tid = 1,
				       .sp_back = 16,
			       }));
}

static void add_samples(struct mt_builder *b, uint32_t stream, const uint64_t *times)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(4);

	MT_REQUIRE(encoder);
	mt_builder_begin(b, MT_CHUNK_DATA, stream);
	for (; *times; times++)
		put_sample(b, encoder, *times, (uint8_t)stream);
	mt_builder_add(b, MT_CODEC_ZSTD);
	mt_stack_encoder_destroy(encoder);
}

/* Two rings of three samples each, in one order of time, read with those dumps. */
static void check_dumps(enum mt_reader_dumps dumps, const uint64_t *first, const uint64_t *second)
{
	static const uint64_t times[] = {10, 12, 15, 20, 25, 30};
	const struct mt_reader_options options = {.dumps = dumps};
	struct mt_reader *reader = NULL;
	struct mt_kernel_bytes bytes;
	struct mt_record record;
	struct mt_builder b;
	bool more = false;

	mt_builder_init(&b);
	mt_builder_head(&b);
	add_samples(&b, 1, first);
	add_samples(&b, 2, second);
	MT_CHECK_OK(mt_reader_open(mt_builder_file(&b), &options, &reader));
	MT_REQUIRE(reader);
	MT_CHECK_OK(mt_reader_next(reader, &record, &more)); /* HEADER */
	for (size_t i = 0; i < 6; i++) {
		MT_CHECK_OK(mt_reader_next(reader, &record, &more));
		MT_REQUIRE(more && mt_record_kernel_get(&record, &bytes));
		MT_CHECK_EQ(record.time, times[i]);
		MT_CHECK_EQ(mt_get_le64(bytes.kernel + 8), times[i]);
		MT_CHECK_EQ(bytes.dump_size, DUMP);
		if (dumps == MT_DUMPS_NONE) {
			MT_CHECK(!bytes.dump);
			continue;
		}
		MT_REQUIRE(bytes.dump);
		MT_CHECK_EQ(mt_get_le64(bytes.dump), times[i]);
		MT_CHECK_EQ(bytes.dump[DUMP - 1], record.stream);
	}
	MT_CHECK_OK(mt_reader_next(reader, &record, &more));
	MT_CHECK(!more);
	mt_reader_destroy(reader);
	mt_builder_deinit(&b);
}

/* Dumps are decoded in chunk order, at once or one by one, but given in order of time. */
MT_TEST(coded_dumps_stay_with_their_records)
{
	for (unsigned dumps = 0; dumps <= MT_DUMPS_NONE; dumps++) {
		check_dumps(dumps, TIMES(10, 30, 20), TIMES(25, 12, 15));
		check_dumps(dumps, TIMES(10, 20, 30), TIMES(25, 12, 15));
		check_dumps(dumps, TIMES(10, 20, 30), TIMES(12, 15, 25));
	}
}

/* A dump after a damaged record that also used images may depend on the damaged one. */
MT_TEST(coded_dumps_after_a_damaged_record_are_damaged)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(4);
	struct mt_builder b;
	struct seen seen;
	size_t second;

	MT_REQUIRE(encoder);
	mt_builder_init(&b);
	mt_builder_head(&b);
	mt_builder_begin(&b, MT_CHUNK_DATA, 0);
	put_sample(&b, encoder, 10, 1);
	second = b.block.used;
	put_sample(&b, encoder, 20, 1);
	put_sample(&b, encoder, 30, 1);
	put_sample(&b, NULL, 40, 1);
	b.block.bytes[second + 26]++; /* the address of the dump */
	mt_builder_add(&b, MT_CODEC_STORED);
	add_samples(&b, 0, TIMES(50));
	mt_builder_end(&b);
	see(&b, &seen);
	MT_CHECK_STR(seen.text, "H ? ? ? ");
	MT_CHECK_EQ(seen.recording.damage.damaged_records, 2);
	mt_stack_encoder_destroy(encoder);
	mt_builder_deinit(&b);
}

MT_TEST(rewinding_gives_the_same_again)
{
	struct mt_builder b;
	struct seen first = {0}, second = {0};
	struct mt_reader *reader = NULL;
	struct mt_record record;
	bool more;

	mt_builder_init(&b);
	build_small(&b);
	b.bytes[b.size - 500] ^= 1;
	MT_CHECK_OK(mt_reader_open(mt_builder_file(&b), NULL, &reader));
	MT_REQUIRE(reader);
	MT_CHECK_OK(see_recording(reader, 0, &first));
	MT_CHECK_OK(mt_reader_rewind(reader, 0));
	for (int i = 0; i < 5; i++)
		MT_CHECK_OK(mt_reader_next(reader, &record, &more));
	MT_CHECK_OK(see_recording(reader, 0, &second));
	MT_CHECK_STR(first.text, second.text);
	MT_CHECK(!memcmp(&first.recording, &second.recording, sizeof(first.recording)));
	mt_reader_destroy(reader);
	mt_builder_deinit(&b);
}

MT_TEST(many_chunks_merge_in_order)
{
	struct mt_reader *reader = NULL;
	struct mt_builder b;
	struct mt_record record;
	uint64_t last = 0, count = 0, raw = 0;
	bool more = true;

	mt_builder_init(&b);
	mt_builder_head(&b);
	for (uint32_t chunk = 0; chunk < 400; chunk++) {
		mt_builder_begin(&b, MT_CHUNK_DATA, chunk % 7);
		for (uint64_t i = 0; i < 50; i++) /* disorder within, overlap between */
			mt_builder_kernel(&b, 1 + chunk * 100 + (i * 37) % 50 * 20 + i % 3, i);
		mt_builder_add(&b, chunk % 2 ? MT_CODEC_ZSTD : MT_CODEC_STORED);
	}
	MT_CHECK_OK(mt_reader_open(mt_builder_file(&b), NULL, &reader));
	MT_REQUIRE(reader);
	for (;;) {
		MT_CHECK_OK(mt_reader_next(reader, &record, &more));
		if (!more)
			break;
		MT_CHECK(record.time >= last || record.type != MT_RECORD_KERNEL);
		last = record.time;
		count++;
		raw += record.size + MT_RECORD_HEADER_SIZE;
	}
	MT_CHECK_EQ(count, 400 * 50 + 1);
	MT_CHECK_EQ(mt_reader_recording(reader, 0)->damage.disordered, 0);
	MT_CHECK_EQ(mt_reader_recording(reader, 0)->raw_bytes, raw);
	mt_reader_destroy(reader);
	mt_builder_deinit(&b);
}

/* In reverse order, so that every insertion would move all others. */
MT_TEST(a_chunk_in_utter_disorder_is_sorted)
{
	struct mt_reader *reader = NULL;
	struct mt_builder b;
	struct mt_record record;
	uint64_t expect = 1;
	bool more;

	mt_builder_init(&b);
	mt_builder_head(&b);
	mt_builder_begin(&b, MT_CHUNK_DATA, 0);
	for (uint64_t t = 100000; t; t--)
		mt_builder_kernel(&b, t, t);
	mt_builder_add(&b, MT_CODEC_ZSTD);
	MT_CHECK_OK(mt_reader_open(mt_builder_file(&b), NULL, &reader));
	MT_REQUIRE(reader);
	MT_CHECK_OK(mt_reader_next(reader, &record, &more));
	for (; expect <= 100000; expect++) {
		MT_CHECK_OK(mt_reader_next(reader, &record, &more));
		if (!MT_CHECK_EQ(record.time, expect))
			break;
	}
	mt_reader_destroy(reader);
	mt_builder_deinit(&b);
}

/*
 * All chunks claim one span and cannot all be open: order is lost and reported; no record is lost.
 */
MT_TEST(memory_goes_before_order)
{
	struct mt_builder b;
	struct seen all, bounded;

	mt_builder_init(&b);
	mt_builder_head(&b);
	for (uint32_t chunk = 0; chunk < 20; chunk++)
		mt_builder_data(&b, chunk, TIMES(10 + chunk, 500 + chunk, 900 + chunk));
	see(&b, &all);
	MT_CHECK_EQ(all.recording.damage.disordered, 0);
	see_path(mt_builder_file(&b), 3000, &bounded);
	MT_CHECK_OK(bounded.err);
	MT_CHECK_EQ(bounded.records, all.records);
	MT_CHECK(bounded.recording.damage.disordered > 0);
	mt_builder_deinit(&b);
}

MT_TEST(recordings_one_after_the_other)
{
	struct mt_builder b;
	struct seen seen;

	mt_builder_init(&b);
	build_small(&b);
	mt_builder_head(&b);
	mt_builder_data(&b, 0, TIMES(1, 2));
	see(&b, &seen);
	MT_CHECK_EQ(seen.recordings, 2);
	MT_CHECK_STR(seen.text, "H ia ib v10 v15 v20 v25 v30 v35 v45 v50 v55 v60 v70 | H v1 v2 ");
	MT_CHECK(seen.recording.damage.cut_short);
	mt_builder_deinit(&b);
}

MT_TEST(garbage_between_chunks_is_skipped_and_counted)
{
	static const char garbage[] = "no chunk \x89MTRC\r\n\x1a at all";
	struct mt_builder b;
	struct seen seen;

	mt_builder_init(&b);
	mt_builder_bytes(&b, garbage, 20);
	mt_builder_head(&b);
	mt_builder_bytes(&b, garbage, sizeof(garbage));
	mt_builder_data(&b, 0, TIMES(1, 2));
	mt_builder_bytes(&b, garbage, 3);
	mt_builder_end(&b);
	mt_builder_bytes(&b, garbage, sizeof(garbage));
	see(&b, &seen);
	MT_CHECK_OK(seen.err);
	MT_CHECK_STR(seen.text, "H v1 v2 ");
	MT_CHECK_EQ(seen.recording.damage.skipped_bytes, 20 + 2 * sizeof(garbage) + 3);
	MT_CHECK_EQ(seen.recording.damage.damaged_chunks, 0);
	MT_CHECK_EQ(seen.recording.damage.missing_chunks, 0);
	mt_builder_deinit(&b);
}

MT_TEST(a_missing_chunk_is_counted)
{
	struct mt_builder b;
	struct seen seen;

	mt_builder_init(&b);
	mt_builder_head(&b);
	b.sequence = 5;
	mt_builder_data(&b, 0, TIMES(1, 2));
	see(&b, &seen);
	MT_CHECK_EQ(seen.recording.damage.missing_chunks, 4);
	mt_builder_deinit(&b);
}

MT_TEST(a_damaged_payload_is_left_out)
{
	struct mt_builder b;
	struct seen seen;
	size_t before;

	mt_builder_init(&b);
	mt_builder_head(&b);
	before = b.size;
	mt_builder_data(&b, 0, TIMES(1, 2));
	b.bytes[before + 70] ^= 4;
	mt_builder_data(&b, 0, TIMES(3, 4));
	mt_builder_end(&b);
	see(&b, &seen);
	MT_CHECK_STR(seen.text, "H v3 v4 ");
	MT_CHECK_EQ(seen.recording.damage.damaged_chunks, 1);
	MT_CHECK_EQ(seen.recording.damage.missing_chunks, 0);
	MT_CHECK_EQ(seen.recording.damage.skipped_bytes, 64 + 2 * 40);
	mt_builder_deinit(&b);
}

/* The size is false and would include the chunk that follows. */
MT_TEST(a_false_size_costs_nothing)
{
	struct mt_builder b;
	struct seen seen;

	mt_builder_init(&b);
	mt_builder_head(&b);
	mt_builder_begin(&b, MT_CHUNK_DATA, 0);
	mt_builder_add(&b, MT_CODEC_STORED);
	b.header.stored_size = b.header.raw_size = 100;
	mt_chunk_header_encode(&b.header, b.bytes + b.header_offset);
	mt_builder_data(&b, 0, TIMES(3, 4));
	mt_builder_end(&b);
	see(&b, &seen);
	MT_CHECK_STR(seen.text, "H v3 v4 ");
	MT_CHECK_EQ(seen.recording.damage.damaged_chunks, 1);
	MT_CHECK_EQ(seen.recording.damage.skipped_bytes, 64);
	mt_builder_deinit(&b);
}

MT_TEST(chunks_without_their_head_are_strays)
{
	struct mt_builder b;
	struct seen seen;
	size_t second;

	mt_builder_init(&b);
	mt_builder_data(&b, 0, TIMES(9)); /* before any HEAD */
	mt_builder_head(&b);
	mt_builder_data(&b, 0, TIMES(1));
	mt_builder_data(&b, 0, TIMES(2));
	second = b.size;
	mt_builder_head(&b);
	b.bytes[second + 64] ^= 1;
	mt_builder_data(&b, 0, TIMES(3));
	mt_builder_data(&b, 0, TIMES(4));
	mt_builder_data(&b, 0, TIMES(5));
	mt_builder_data(&b, 0, TIMES(6));
	b.size--; /* damaged, in no recording: only bytes are counted */
	see(&b, &seen);
	MT_CHECK_STR(seen.text, "H v1 v2 ");
	MT_CHECK_EQ(seen.recording.damage.stray_chunks, 4);
	MT_CHECK_EQ(seen.recording.damage.damaged_chunks, 1);
	mt_builder_deinit(&b);
}

/* Bytes are lost from the middle of a stored payload that contains bytes like a chunk's header. */
MT_TEST(a_header_inside_a_damaged_payload_is_not_believed)
{
	uint8_t kernel[128] = {9, 0, 0, 0, 0, 0, 128};
	struct mt_builder b;
	struct seen seen;
	size_t payload;

	mt_builder_init(&b);
	mt_builder_head(&b);
	mt_chunk_header_encode(&(struct mt_chunk_header){.type = MT_CHUNK_DATA,
							 .stored_size = 4096,
							 .raw_size = 4096,
							 .sequence = 77},
			       kernel + 8);
	mt_builder_begin(&b, MT_CHUNK_DATA, 0);
	mt_kernel_put(&b.block, 1, 0, kernel, sizeof(kernel));
	payload = b.size + 64;
	mt_builder_add(&b, MT_CODEC_STORED);
	memmove(b.bytes + payload, b.bytes + payload + 1, --b.size - payload);
	mt_builder_data(&b, 0, TIMES(2));
	mt_builder_end(&b);
	see(&b, &seen);
	MT_CHECK_STR(seen.text, "H v2 ");
	MT_CHECK_EQ(seen.recording.damage.damaged_chunks, 2);
	MT_CHECK_EQ(seen.recording.damage.missing_chunks, 0);
	MT_CHECK_EQ(seen.recording.damage.skipped_bytes, 64 + 24 + 128 - 1);
	mt_builder_deinit(&b);
}

/* The same, and the false header has the number of the chunk that follows. */
MT_TEST(a_false_header_ends_no_recording)
{
	struct mt_chunk_header false_header = {
		.type = MT_CHUNK_DATA, .stored_size = 4096, .raw_size = 4096, .sequence = 1};
	uint8_t bytes[MT_CHUNK_HEADER_SIZE];
	struct mt_builder b;
	struct seen seen;

	mt_builder_init(&b);
	mt_builder_head(&b);
	mt_chunk_header_encode(&false_header, bytes);
	mt_builder_bytes(&b, bytes, sizeof(bytes));
	mt_builder_data(&b, 0, TIMES(1));
	false_header.sequence = 3;
	mt_chunk_header_encode(&false_header, bytes);
	mt_builder_bytes(&b, bytes, sizeof(bytes));
	b.sequence = 4; /* chunk 2 or 3 is missing */
	mt_builder_data(&b, 0, TIMES(2));
	mt_builder_end(&b);
	see(&b, &seen);
	MT_CHECK_STR(seen.text, "H v1 v2 ");
	MT_CHECK_EQ(seen.recording.damage.damaged_chunks, 2);
	MT_CHECK_EQ(seen.recording.damage.missing_chunks, 2);
	MT_CHECK_EQ(seen.recording.damage.stray_chunks, 0);
	mt_builder_deinit(&b);
}

static void see_chunk(uint16_t type, uint16_t flags, uint8_t codec, struct seen *seen)
{
	struct mt_builder b;

	mt_builder_init(&b);
	mt_builder_head(&b);
	mt_builder_begin(&b, MT_CHUNK_DATA, 0);
	mt_builder_kernel(&b, 7, 7);
	mt_builder_add(&b, MT_CODEC_STORED);
	b.header.type = type;
	b.header.flags = flags;
	b.header.codec = codec;
	mt_chunk_header_encode(&b.header, b.bytes + b.header_offset);
	mt_builder_data(&b, 0, TIMES(9));
	see(&b, seen);
	mt_builder_deinit(&b);
}

MT_TEST(unknown_chunks_are_skipped_or_refused)
{
	struct seen seen;

	see_chunk(MT_CHUNK_DATA, 0, 0, &seen);
	MT_CHECK_STR(seen.text, "H v7 v9 ");
	see_chunk(99, 0, 0, &seen);
	MT_CHECK_STR(seen.text, "H v9 ");
	MT_CHECK_EQ(seen.recording.damage.skipped_bytes, 0);
	see_chunk(MT_CHUNK_FILE, 0, 0, &seen);
	MT_CHECK_STR(seen.text, "H v9 ");
	see_chunk(MT_CHUNK_FILE, 0, 55, &seen);
	MT_CHECK_STR(seen.text, "H v9 ");
	see_chunk(99, MT_CHUNK_CRITICAL, 0, &seen);
	MT_REQUIRE(seen.err);
	MT_CHECK(strstr(seen.err->message, "chunk 1: type 99 is not known to this reader"));
	MT_CHECK_ERR(seen.err, MT_ERR_UNSUPPORTED);
	see_chunk(MT_CHUNK_DATA, MT_CHUNK_CRITICAL, 55, &seen);
	MT_CHECK_ERR(seen.err, MT_ERR_UNSUPPORTED);
}

static void see_record_type(uint32_t type, struct seen *seen)
{
	struct mt_builder b;

	mt_builder_init(&b);
	mt_builder_head(&b);
	mt_builder_begin(&b, MT_CHUNK_DATA, 0);
	mt_builder_kernel(&b, 7, 7);
	mt_block_add(&b.block, type, 24, 8);
	mt_builder_add(&b, MT_CODEC_STORED);
	mt_builder_data(&b, 0, TIMES(9));
	see(&b, seen);
	mt_builder_deinit(&b);
}

MT_TEST(unknown_records_are_skipped_or_refused)
{
	struct seen seen;

	see_record_type(1000, &seen);
	MT_CHECK_STR(seen.text, "H v7 v9 ");
	MT_CHECK_EQ(seen.recording.damage.unknown_records, 1);
	see_record_type(MT_RECORD_BLOCKS + 1, &seen);
	MT_CHECK_EQ(seen.recording.damage.unknown_records, 1);
	see_record_type(MT_RECORD_NOTE | MT_RECORD_CRITICAL, &seen);
	MT_CHECK_STR(seen.text, "H v7 ? v9 ");
	see_record_type(1000 | MT_RECORD_CRITICAL, &seen);
	MT_CHECK_STR(seen.text, "H v9 ");
	MT_CHECK_EQ(seen.recording.damage.refused_chunks, 1);
	MT_CHECK_EQ(seen.recording.damage.unknown_records, 0);
	MT_CHECK_EQ(seen.recording.damage.damaged_chunks, 0);
}

MT_TEST(a_broken_record_ends_its_chunk)
{
	static const uint32_t sizes[] = {0, 8, 20, 48, 0xfffffff8};
	struct seen seen;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct mt_builder b;
		size_t at;

		mt_builder_init(&b);
		mt_builder_head(&b);
		mt_builder_begin(&b, MT_CHUNK_DATA, 0);
		mt_builder_kernel(&b, 7, 7);
		at = b.block.used;
		mt_builder_kernel(&b, 8, 8);
		mt_put_le32(b.block.bytes + at + 4, sizes[i]);
		mt_builder_add(&b, MT_CODEC_STORED);
		mt_builder_data(&b, 0, TIMES(9));
		see(&b, &seen);
		MT_CHECK_STR(seen.text, "H v7 v9 ");
		MT_CHECK_EQ(seen.recording.damage.damaged_records, 1);
		mt_builder_deinit(&b);
	}
}

MT_TEST(minor_versions_are_read_major_ones_refused)
{
	struct mt_builder b;
	struct seen seen;

	mt_builder_init(&b);
	mt_builder_head_version(&b, MT_FORMAT_MAJOR, 9);
	mt_builder_add(&b, MT_CODEC_STORED);
	see(&b, &seen);
	MT_CHECK_OK(seen.err);
	MT_CHECK_EQ(seen.recording.header.minor, 9);
	b.size = 0;
	mt_builder_head_version(&b, MT_FORMAT_MAJOR + 1, 0);
	mt_builder_add(&b, MT_CODEC_STORED);
	see(&b, &seen);
	MT_REQUIRE(seen.err);
	MT_CHECK(strstr(seen.err->message,
			"is a recording in format version 2.0; this reader knows version 1"));
	MT_CHECK_ERR(seen.err, MT_ERR_UNSUPPORTED);
	mt_builder_deinit(&b);
}

/* For every prefix: whole records are given, missing data is reported, and the bytes add up. */
MT_TEST(cut_at_every_length)
{
	struct mt_builder b;
	struct seen whole, seen;
	uint64_t last = 0;
	size_t size;

	mt_builder_init(&b);
	build_small(&b);
	see(&b, &whole);
	size = b.size;
	for (b.size = 0; b.size < size; b.size++) {
		see(&b, &seen);
		if (seen.err) {
			MT_CHECK(b.size < 160);
			MT_CHECK_ERR(seen.err, MT_ERR_FORMAT);
			continue;
		}
		if (!MT_CHECK(seen.recording.damage.cut_short) || !MT_CHECK(seen.records >= last))
			break;
		MT_CHECK_EQ(seen.recording.size, b.size);
		last = seen.records;
	}
	MT_CHECK_EQ(last, whole.records);
	mt_builder_deinit(&b);
}

/* A flipped byte is reported, or it changes nothing. */
MT_TEST(every_byte_flipped)
{
	struct mt_builder b;
	struct seen whole, seen;

	mt_builder_init(&b);
	build_small(&b);
	see(&b, &whole);
	for (size_t i = 0; i < b.size; i++) {
		b.bytes[i] ^= 0x55;
		see(&b, &seen);
		b.bytes[i] ^= 0x55;
		if (seen.err) {
			MT_CHECK_ERR(seen.err, MT_ERR_FORMAT);
			continue;
		}
		if (!MT_CHECK(seen.recording.damage.damaged_chunks +
			      seen.recording.damage.missing_chunks +
			      seen.recording.damage.cut_short))
			printf("# byte %zu\n", i);
		MT_CHECK(seen.records <= whole.records);
	}
	mt_builder_deinit(&b);
}

/* The search must not restart at each magic. */
MT_TEST(a_file_of_magics_is_read_in_no_time)
{
	struct mt_builder b;
	struct seen seen;
	size_t size = 8 << 20;

	mt_builder_init(&b);
	b.bytes = mt_builder_memory(NULL, size);
	for (; b.size < size; b.size += 8)
		memcpy(b.bytes + b.size, MT_CHUNK_MAGIC, 8);
	see(&b, &seen);
	MT_CHECK_ERR(seen.err, MT_ERR_FORMAT);
	mt_builder_deinit(&b);
}

/* Each header claims 64 MiB and no chunk is whole: computing all checksums would take hours. */
MT_TEST(a_file_of_false_headers_is_read_in_no_time)
{
	struct mt_chunk_header header = {.type = MT_CHUNK_DATA, .codec = MT_CODEC_STORED};
	size_t size = 4 << 20;
	struct mt_builder b;
	struct seen seen;

	mt_builder_init(&b);
	mt_builder_head(&b);
	b.bytes = mt_builder_memory(b.bytes, size + 64);
	header.stored_size = header.raw_size = (uint32_t)size / 2 + 3;
	for (; b.size < size; b.size += 64)
		mt_chunk_header_encode(&header, b.bytes + b.size);
	see(&b, &seen);
	MT_CHECK_OK(seen.err);
	MT_CHECK_STR(seen.text, "H ");
	mt_builder_deinit(&b);
}

static void check_refusal(const void *bytes, size_t size, const char *why)
{
	struct mt_builder b;
	struct seen seen;

	mt_builder_init(&b);
	mt_builder_bytes(&b, bytes, size);
	see(&b, &seen);
	if (MT_CHECK(seen.err) && !MT_CHECK(strstr(seen.err->message, why)))
		printf("#   %s\n", seen.err->message);
	if (seen.err)
		MT_CHECK(!strncmp(seen.err->message, b.path, strlen(b.path)));
	MT_CHECK_ERR(seen.err, MT_ERR_FORMAT);
	mt_builder_deinit(&b);
}

MT_TEST(what_is_no_recording_is_reported)
{
	check_refusal("", 0, ": is empty");
	check_refusal("PERFILE2 and so on", 18,
		      ": is a perf.data file cut short or damaged in its header");
	check_refusal("hello\n", 6, ": is not a recording of mtrec");
	check_refusal("\x1f\x8b", 2, "compressed by gzip");
	check_refusal(MT_CHUNK_MAGIC, 5, "is cut short or damaged");
	check_refusal(MT_CHUNK_MAGIC, 8, "is cut short or damaged");
}

MT_TEST(what_is_no_file_is_reported)
{
	struct seen seen;

	see_path("/tmp", 0, &seen);
	MT_REQUIRE(seen.err);
	MT_CHECK_STR(seen.err->message, "/tmp: is a directory, not a recording");
	MT_CHECK_ERR(seen.err, MT_ERR_FORMAT);
	see_path("/nowhere/at/all", 0, &seen);
	MT_CHECK_ERR(seen.err, MT_ERR_OS);
	see_path("/dev/zero", 0, &seen);
	MT_CHECK_ERR(seen.err, MT_ERR_FORMAT);
}

MT_TEST(a_named_pipe_without_a_writer_is_empty)
{
	char path[] = "/tmp/mt-test-XXXXXX", fifo[64];
	struct seen seen;

	MT_REQUIRE(mkdtemp(path));
	snprintf(fifo, sizeof(fifo), "%s/fifo", path);
	MT_REQUIRE(!mkfifo(fifo, 0600));
	see_path(fifo, 0, &seen);
	MT_CHECK_ERR(seen.err, MT_ERR_FORMAT);
	unlink(fifo);
	rmdir(path);
}

MT_TEST(standard_input_is_read)
{
	struct mt_builder b;
	struct seen seen;
	int before = dup(STDIN_FILENO);

	mt_builder_init(&b);
	build_small(&b);
	mt_builder_file(&b);
	MT_CHECK_EQ(dup2(b.fd, STDIN_FILENO), STDIN_FILENO);
	see_path("-", 0, &seen);
	MT_CHECK_OK(seen.err);
	MT_CHECK(!strncmp(seen.text, "H ia ib v10 v15 ", 16));
	MT_CHECK(!ftruncate(b.fd, 0));
	see_path("-", 0, &seen);
	MT_REQUIRE(seen.err);
	MT_CHECK_STR(seen.err->message, "standard input: is empty");
	mt_error_destroy(seen.err);
	dup2(before, STDIN_FILENO);
	close(before);
	mt_builder_deinit(&b);
}

MT_TEST(a_pipe_is_read)
{
	struct mt_builder b;
	struct seen seen;
	char path[32];
	int ends[2];

	mt_builder_init(&b);
	build_small(&b);
	MT_REQUIRE(!pipe(ends));
	MT_CHECK_EQ(write(ends[1], b.bytes, b.size), b.size);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	close(ends[1]);
	see_path(path, 0, &seen);
	close(ends[0]);
	MT_CHECK_OK(seen.err);
	MT_CHECK(!strncmp(seen.text, "H ia ib v10 v15 ", 16));
	mt_builder_deinit(&b);
}

MT_TEST_MAIN
