/*
 * Payloads of codec 2: records are unpacked to the same bytes, and payloads that no packer made are
 * refused. Only the shape of PACKED records counts here; test_stack_image.c tests their contents.
 */
#include "formats/stacks/planes.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "formats/base/bytes.h"
#include "formats/chunks/chunk.h"
#include "formats/records/record.h"
#include "formats/stacks/packed_body.h"
#include "formats/stacks/planes_pack.h"
#include "tests/unit/unit.h"

#define ROOM ((size_t)4 << 20)
#define KERNEL_WORDS 21
#define MAPS 3 /* bytes of the bit map of the kernel's words */
#define DIRECTORY ((size_t)MT_PLANES * 8)

struct fixture {
	uint8_t *records, *payload, *back;
	size_t size; /* of the records */
	struct mt_planes_packer *packer;
	ZSTD_DCtx *zstd;
	uint64_t random;
};

static bool begin(struct fixture *f)
{
	*f = (struct fixture){
		.records = malloc(ROOM),
		.payload = malloc(ROOM),
		.back = malloc(ROOM),
		.packer = mt_planes_packer_create(),
		.zstd = ZSTD_createDCtx(),
		.random = 1,
	};
	return MT_CHECK(f->records && f->payload && f->back && f->packer && f->zstd);
}

static void end(struct fixture *f)
{
	free(f->records);
	free(f->payload);
	free(f->back);
	mt_planes_packer_destroy(f->packer);
	ZSTD_freeDCtx(f->zstd);
}

static uint64_t next_random(struct fixture *f)
{
	f->random = f->random * 6364136223846793005ull + 1442695040888963407ull;
	return f->random >> 17;
}

/* Adds a record's header and a body of zeros. */
static uint8_t *add_record(struct fixture *f, uint32_t type, size_t size, uint64_t time)
{
	uint8_t *record = f->records + f->size;

	memset(record, 0, size);
	mt_put_le32(record, type);
	mt_put_le32(record + 4, (uint32_t)size);
	mt_put_le64(record + 8, time);
	f->size += size;
	return record;
}

/*
 * Adds a record with the shape of PACKED: `lines` changed lines of up to 8, each with `words`
 * words.
 */
static uint8_t *add_packed(struct fixture *f, uint64_t time, unsigned lines, unsigned words,
			   const uint64_t *values)
{
	size_t fixed = MT_PACKED_HEAD_SIZE + MAPS + 1 + lines, count = 2 + lines * words;
	uint8_t *record = add_record(f, MT_RECORD_PACKED,
				     MT_RECORD_HEADER_SIZE + mt_align8(fixed) + 8 * count, time),
		*body = record + MT_RECORD_HEADER_SIZE, *maps = body + MT_PACKED_HEAD_SIZE,
		*to = body + mt_align8(fixed);

	mt_put_le16(body + 4, KERNEL_WORDS);
	body[12] = 1;
	maps[0] = 0x21;
	maps[MAPS] = (uint8_t)((1u << lines) - 1);
	memset(maps + MAPS + 1, (int)((1u << words) - 1), lines);
	for (size_t i = 0; i < count; i++)
		mt_put_le64(to + 8 * i, values[i]);
	return record;
}

/* Values of all kinds: pointers near one another, small numbers, random ones. */
static void make_values(struct fixture *f, uint64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t kind = next_random(f) % 8;

		values[i] = kind < 4   ? 0x7f0012340000u + next_random(f) % 3000
			    : kind < 6 ? next_random(f) % 40
				       : next_random(f) * next_random(f);
	}
}

static void add_samples(struct fixture *f, size_t count)
{
	uint64_t values[2 + 8 * 8];

	for (size_t i = 0; i < count; i++) {
		make_values(f, values, 66);
		add_packed(f, 1000000 + 7777 * i - next_random(f) % 9000,
			   (unsigned)(next_random(f) % 9), 1 + (unsigned)(next_random(f) % 8),
			   values);
	}
}

static size_t pack(struct fixture *f, int level)
{
	return mt_planes_pack(f->packer, f->records, f->size, level, f->payload, ROOM);
}

static bool unpack(struct fixture *f, size_t payload_size, size_t size)
{
	bool no_memory;

	return mt_planes_unpack(f->zstd, f->payload, payload_size, f->back, size, &no_memory);
}

static bool comes_back(struct fixture *f, int level)
{
	size_t size = pack(f, level);

	return MT_CHECK(size) && MT_CHECK(unpack(f, size, f->size)) &&
	       MT_CHECK(!memcmp(f->records, f->back, f->size));
}

MT_TEST(samples_come_back_at_every_level)
{
	static const int levels[] = {-7, -3, 1, 2, 3, 9};
	struct fixture f;
	size_t plain;

	if (begin(&f)) {
		add_samples(&f, 3000);
		plain = ZSTD_compress(f.payload, ROOM, f.records, f.size, 2);
		for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
			comes_back(&f, levels[i]);
		MT_CHECK(pack(&f, 2) < plain);
	}
	end(&f);
}

/* More words than a distance can span; then the packer is used again for fewer words. */
MT_TEST(chunks_of_any_length_come_back)
{
	struct fixture f;

	if (begin(&f)) {
		add_samples(&f, 6000);
		MT_CHECK(f.size > 8 * 100000);
		comes_back(&f, 2);
		f.size = 0;
		add_samples(&f, 2);
		comes_back(&f, 2);
		comes_back(&f, 3);
	}
	end(&f);
}

MT_TEST(a_word_is_found_as_far_back_as_a_distance_reaches)
{
	uint64_t values[66];
	struct fixture f;

	if (begin(&f)) {
		for (uint64_t record = 0, word = 1; record < 1100; record++) {
			for (size_t i = 0; i < 66; i++, word++)
				values[i] = (word % 65537 + 1) << 40;
			add_packed(&f, record, 8, 8, values);
		}
		comes_back(&f, 2);
	}
	end(&f);
}

struct reported {
	uint64_t *words;
	size_t count;
};

static void deliver(void *context, const uint64_t *words, size_t count)
{
	struct reported *reported = context;

	if (count)
		memcpy(reported->words + reported->count, words, 8 * count);
	reported->count += count;
}

static int compare_words(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool was_reported(const struct reported *reported, uint64_t word)
{
	return bsearch(&word, reported->words, reported->count, sizeof(word), compare_words);
}

/* Whether all words after a record's bit maps were reported. */
static bool words_were_reported(const struct reported *reported, const uint8_t *record)
{
	size_t size = mt_get_le32(record + 4), at = MT_RECORD_HEADER_SIZE;

	if (mt_get_le32(record) == MT_RECORD_PACKED)
		at += mt_align8(MT_PACKED_HEAD_SIZE + MAPS + 1 +
				mt_packed_count(record + at + MT_PACKED_HEAD_SIZE + MAPS, 1));
	for (; at < size; at += 8) {
		uint64_t word = mt_get_le64(record + at);

		if (word && !was_reported(reported, word))
			return false;
	}
	return true;
}

MT_TEST(every_word_is_reported_and_few_twice)
{
	struct reported reported = {malloc(ROOM), 0};
	struct fixture f;
	size_t unreported = 0;

	if (begin(&f) && MT_CHECK(reported.words)) {
		add_samples(&f, 3000);
		for (uint64_t i = 0; i < 9; i++)
			mt_put_le64(add_record(&f, MT_RECORD_KERNEL, 40, i) + 24, i << 50);
		mt_planes_packer_set_words(f.packer, deliver, &reported);
		MT_CHECK(pack(&f, 2));
		qsort(reported.words, reported.count, 8, compare_words);
		for (size_t at = 0; at < f.size; at += mt_get_le32(f.records + at + 4))
			unreported += !words_were_reported(&reported, f.records + at);
		MT_CHECK_EQ(unreported, 0);
		MT_CHECK(reported.count < f.size / 8);
	}
	free(reported.words);
	end(&f);
}

MT_TEST(times_of_any_order_come_back)
{
	static const uint64_t times[] = {0, UINT64_MAX, 1, 1ull << 63, 63, 127, 64, 0, 0};
	uint64_t values[2] = {1, 2};
	struct fixture f;

	if (begin(&f)) {
		for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
			add_packed(&f, times[i], 0, 1, values);
		comes_back(&f, 2);
	}
	end(&f);
}

/* Records of other shapes are kept unchanged: other types, flags, other padding, too long. */
MT_TEST(records_of_other_shapes_come_back)
{
	uint64_t values[66] = {0};
	struct fixture f;
	uint8_t *record;

	if (begin(&f)) {
		add_samples(&f, 200);
		add_record(&f, MT_RECORD_KERNEL, 64, 5);
		add_record(&f, MT_RECORD_PACKED | MT_RECORD_CRITICAL, 72, 6);
		add_record(&f, MT_RECORD_PACKED, 16, 7);
		add_record(&f, MT_RECORD_PACKED, 40, 7);
		record = add_packed(&f, 8, 4, 2, values);
		record[MT_RECORD_HEADER_SIZE + MT_PACKED_HEAD_SIZE + MAPS + 1 + 4] =
			1; /* padding */
		record = add_packed(&f, 9, 4, 2, values);
		record[MT_RECORD_HEADER_SIZE + 12] = 255; /* lines past the end of the record */
		record = add_packed(&f, 9, 4, 2, values);
		record[MT_RECORD_HEADER_SIZE + MT_PACKED_HEAD_SIZE] = 1; /* one word fewer */
		mt_put_le16(add_packed(&f, 10, 4, 2, values) + MT_RECORD_HEADER_SIZE + 4, 65535);
		add_samples(&f, 5);
		comes_back(&f, 2);
	}
	end(&f);
}

MT_TEST(what_is_not_mostly_packed_is_left_alone)
{
	struct fixture f;

	if (begin(&f)) {
		add_samples(&f, 20);
		for (size_t i = 0; i < 3000; i++)
			add_record(&f, MT_RECORD_KERNEL, 64, i);
		MT_CHECK_EQ(pack(&f, 2), 0);
		f.size = 0;
		add_samples(&f, 200);
		f.size -= 8; /* the last record is cut off */
		MT_CHECK_EQ(pack(&f, 2), 0);
	}
	end(&f);
}

MT_TEST(no_room_is_said)
{
	struct fixture f;
	size_t size;

	if (begin(&f)) {
		add_samples(&f, 300);
		size = pack(&f, -3);
		for (size_t room = 0; room < size; room += 1 + room / 16)
			MT_CHECK_EQ(mt_planes_pack(f.packer, f.records, f.size, -3, f.payload,
						   room),
				    0);
	}
	end(&f);
}

/* ---- Payloads that no packer made ---- */

/* Writes a payload of uncompressed planes. */
static size_t put_planes(struct fixture *f, const struct mt_plane planes[MT_PLANES])
{
	size_t at = DIRECTORY;

	for (size_t i = 0; i < MT_PLANES; i++) {
		mt_put_le32(f->payload + 8 * i, (uint32_t)planes[i].size);
		mt_put_le32(f->payload + 8 * i + 4, (uint32_t)planes[i].size);
		if (planes[i].size)
			memcpy(f->payload + at, planes[i].bytes, planes[i].size);
		at += planes[i].size;
	}
	return at;
}

/* One PACKED record of a head and one word. */
#define SMALL_SIZE ((size_t)MT_RECORD_HEADER_SIZE + 16 + 8)

static void small_planes(struct mt_plane planes[MT_PLANES])
{
	static const uint8_t head[MT_PACKED_HEAD_SIZE] = {[4] = 8}, one[1] = {1}, literal[8] = {42},
			     tag[1] = {3};

	memset(planes, 0, MT_PLANES * sizeof(planes[0]));
	planes[MT_PLANE_KINDS] = (struct mt_plane){one, 1};
	planes[MT_PLANE_TIMES] = (struct mt_plane){one, 1};
	planes[MT_PLANE_HEADS] = (struct mt_plane){head, sizeof(head)};
	planes[MT_PLANE_STORED] = (struct mt_plane){one, 1};
	planes[MT_PLANE_WORDS + MT_WORD_TAGS] = (struct mt_plane){tag, 1};
	planes[MT_PLANE_WORDS + MT_WORD_LITERALS] = (struct mt_plane){literal, 8};
}

/* Whether the small planes are accepted with one of them replaced. */
static bool takes(struct fixture *f, size_t plane, const void *bytes, size_t size)
{
	struct mt_plane planes[MT_PLANES];

	small_planes(planes);
	planes[plane] = (struct mt_plane){bytes, size};
	return unpack(f, put_planes(f, planes), SMALL_SIZE);
}

MT_TEST(planes_that_do_not_agree_are_refused)
{
	static const uint8_t bytes[16] = {1},
			     long_time[11] = {128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 1};
	struct mt_plane planes[MT_PLANES];
	struct fixture f;
	size_t size;

	if (begin(&f)) {
		small_planes(planes);
		size = put_planes(&f, planes);
		MT_CHECK(unpack(&f, size, SMALL_SIZE));
		MT_CHECK(!unpack(&f, size, SMALL_SIZE - 8));
		MT_CHECK(!unpack(&f, size, SMALL_SIZE + 8));
		MT_CHECK(!unpack(&f, size, 0));
		for (size_t i = 0; i < MT_PLANES; i++) {
			MT_CHECK(!takes(&f, i, bytes, planes[i].size + 1));
			MT_CHECK(!planes[i].size || !takes(&f, i, bytes, planes[i].size - 1));
		}
		MT_CHECK(!takes(&f, MT_PLANE_KINDS, "\3", 1));
		MT_CHECK(!takes(&f, MT_PLANE_KINDS, "\2", 1));
		MT_CHECK(takes(&f, MT_PLANE_TIMES, long_time + 1, 10));
		MT_CHECK(!takes(&f, MT_PLANE_TIMES, long_time, 11));
	}
	end(&f);
}

/* A record among the others whose size is too small, not a multiple of 8, or too large. */
MT_TEST(other_records_are_held_against_their_size)
{
	static const uint32_t sizes[] = {0, 8, 20, 48, 1u << 31, UINT32_MAX};
	struct mt_plane planes[MT_PLANES] = {{0}};
	uint8_t other[SMALL_SIZE] = {MT_RECORD_KERNEL};
	struct fixture f;

	if (begin(&f)) {
		planes[MT_PLANE_KINDS] = (struct mt_plane){(const uint8_t *)"\2", 1};
		planes[MT_PLANE_OTHERS] = (struct mt_plane){other, sizeof(other)};
		mt_put_le32(other + 4, SMALL_SIZE);
		MT_CHECK(unpack(&f, put_planes(&f, planes), SMALL_SIZE));
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			mt_put_le32(other + 4, sizes[i]);
			MT_CHECK(!unpack(&f, put_planes(&f, planes), SMALL_SIZE));
		}
	}
	end(&f);
}

/* Whether the small planes are accepted with their word given as a distance, with that tag. */
static bool takes_distance(struct fixture *f, uint8_t tag, enum mt_word_plane low, uint8_t distance)
{
	struct mt_plane planes[MT_PLANES];
	const uint8_t high = 0;

	small_planes(planes);
	planes[MT_PLANE_WORDS + MT_WORD_TAGS].bytes = &tag;
	planes[MT_PLANE_WORDS + MT_WORD_LITERALS].size = 0;
	planes[MT_PLANE_WORDS + low] = (struct mt_plane){&distance, 1};
	planes[MT_PLANE_WORDS + low + 1] = (struct mt_plane){&high, 1};
	if (low == MT_WORD_ALIKE_LOW) {
		planes[MT_PLANE_WORDS + MT_WORD_DIFFERENCE_LOW] = (struct mt_plane){&high, 1};
		planes[MT_PLANE_WORDS + MT_WORD_DIFFERENCE_HIGH] = (struct mt_plane){&high, 1};
	}
	return unpack(f, put_planes(f, planes), SMALL_SIZE);
}

MT_TEST(distances_stay_within_the_words)
{
	struct fixture f;

	if (begin(&f)) {
		MT_CHECK(takes_distance(&f, 1, MT_WORD_SAME_LOW, 1));
		MT_CHECK(!takes_distance(&f, 1, MT_WORD_SAME_LOW, 0));
		MT_CHECK(!takes_distance(&f, 1, MT_WORD_SAME_LOW, 2));
		MT_CHECK(takes_distance(&f, 2, MT_WORD_ALIKE_LOW, 1));
		MT_CHECK(!takes_distance(&f, 2, MT_WORD_ALIKE_LOW, 0));
		MT_CHECK(!takes_distance(&f, 2, MT_WORD_ALIKE_LOW, 2));
	}
	end(&f);
}

MT_TEST(a_directory_that_lies_is_refused)
{
	struct mt_plane planes[MT_PLANES];
	struct fixture f;
	size_t size;

	if (begin(&f)) {
		small_planes(planes);
		size = put_planes(&f, planes);
		MT_CHECK(!unpack(&f, size + 1, SMALL_SIZE));
		for (size_t cut = 0; cut < size; cut++)
			MT_CHECK(!unpack(&f, cut, SMALL_SIZE));
		mt_put_le32(f.payload, 0); /* the stored size is larger than the plane */
		MT_CHECK(!unpack(&f, size, SMALL_SIZE));
		mt_put_le32(f.payload, 2); /* not a zstd frame */
		MT_CHECK(!unpack(&f, size, SMALL_SIZE));
		for (size_t i = 0; i < MT_PLANES; i++)
			mt_put_le32(f.payload + 8 * i, UINT32_MAX);
		MT_CHECK(!unpack(&f, size, SMALL_SIZE));
	}
	end(&f);
}

/* With any byte of a payload changed, it unpacks to the same size or is refused. */
MT_TEST(damaged_payloads_do_no_harm)
{
	struct fixture f;
	size_t size, refused = 0;

	if (begin(&f)) {
		add_samples(&f, 100);
		size = pack(&f, 2);
		for (size_t at = 0; at < size; at += 1 + at / 200) {
			uint8_t was = f.payload[at];

			f.payload[at] ^= (uint8_t)(1 + next_random(&f) % 255);
			refused += !unpack(&f, size, f.size);
			f.payload[at] = was;
		}
		MT_CHECK(refused > 50);
		MT_CHECK(unpack(&f, size, f.size));
	}
	end(&f);
}

MT_TEST_MAIN
