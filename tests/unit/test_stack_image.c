/*
 * Stack images: what the encoder stores, the decoder gives back; what no encoder wrote is refused.
 */
#include "formats/stack_image.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#define STACK_TOP 0x7ffd00010000ull

static uint8_t stack[65536];
static uint8_t coded[MT_STACK_CODED_BOUND(MT_STACK_DUMP_MAX)];
static uint8_t decoded[65536];

/* A small generator of its own: the same numbers everywhere. */
static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 17;
}

static void fill_random(uint8_t *to, size_t size, uint64_t *state)
{
	for (size_t i = 0; i + 8 <= size; i += 8) {
		uint64_t word = next_random(state);

		memcpy(to + i, &word, 8);
	}
}

MT_TEST(one_dump_comes_back)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(4);
	struct mt_stack_decoder *decoder = mt_stack_decoder_create();
	uint64_t state = 1;
	size_t size;

	fill_random(stack, 1000, &state);
	size = mt_stack_encode(encoder, 7, STACK_TOP - 1000, stack, 1000, coded);
	MT_REQUIRE(size > 1000 && size <= MT_STACK_CODED_BOUND(1000));
	MT_CHECK(mt_stack_decode(decoder, coded, size, decoded, 1000));
	MT_CHECK(!memcmp(stack, decoded, 1000));
	mt_stack_encoder_destroy(encoder);
	mt_stack_decoder_destroy(decoder);
}

/* Sizes and alignments of every kind, few words changed and many: the same bytes either way. */
MT_TEST(wide_and_portable_code_the_same_bytes)
{
	struct mt_stack_encoder *wide = mt_stack_encoder_create(4);
	struct mt_stack_encoder *portable = mt_stack_encoder_create(4);
	static uint8_t other[sizeof(coded)];
	uint64_t state = 5;

	mt_stack_encoder_set_portable(portable);
	fill_random(stack, sizeof(stack), &state);
	for (int i = 0; i < 4000; i++) {
		size_t size = 8 * (1 + next_random(&state) % 300), at, got;
		uint64_t address = STACK_TOP - size - 8 * (next_random(&state) % 9);

		for (unsigned n = next_random(&state) % 40; n; n--) {
			at = 8 * (next_random(&state) % (size / 8));
			fill_random(stack + at, 8, &state);
		}
		memset(coded, 0xa5, sizeof(coded));
		memset(other, 0x5a, sizeof(other));
		got = mt_stack_encode(wide, 7, address, stack, size, coded);
		MT_REQUIRE(got == mt_stack_encode(portable, 7, address, stack, size, other));
		MT_REQUIRE(got && !memcmp(coded, other, got));
		MT_REQUIRE(coded[MT_STACK_CODED_BOUND(size)] == 0xa5);
	}
	mt_stack_encoder_destroy(wide);
	mt_stack_encoder_destroy(portable);
}

MT_TEST(the_same_again_costs_only_the_bitmap)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(4);
	uint64_t state = 1;

	fill_random(stack, 8192, &state);
	mt_stack_encode(encoder, 7, STACK_TOP - 8192, stack, 8192, coded);
	MT_CHECK_EQ(mt_stack_encode(encoder, 7, STACK_TOP - 8192, stack, 8192, coded),
		    16 + 8192 / 64 / 8);
	mt_stack_encoder_destroy(encoder);
}

/* Threads, depths, small changes and resets at random: every dump must come back. */
MT_TEST(a_long_random_course_comes_back)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(3);
	struct mt_stack_decoder *decoder = mt_stack_decoder_create();
	uint64_t state = 42;

	fill_random(stack, sizeof(stack), &state);
	for (int i = 0; i < 5000; i++) {
		size_t size = 8 * (1 + next_random(&state) % (i % 50 ? 600 : 8191));
		uint32_t tid = next_random(&state) % 5;
		uint64_t address = STACK_TOP - tid * 0x12340 - size + 8 * (next_random(&state) % 9);
		const uint8_t *dump = stack + (sizeof(stack) - size);
		size_t got;

		fill_random(stack + 8 * (next_random(&state) % 8000), 64, &state);
		got = mt_stack_encode(encoder, tid, address, dump, size, coded);
		MT_REQUIRE(got && got <= MT_STACK_CODED_BOUND(size));
		MT_REQUIRE(mt_stack_decode(decoder, coded, got, decoded, size));
		MT_REQUIRE(!memcmp(dump, decoded, size));
		if (i % 700 == 0) {
			mt_stack_encoder_reset(encoder);
			mt_stack_decoder_reset(decoder);
		}
	}
	mt_stack_encoder_destroy(encoder);
	mt_stack_decoder_destroy(decoder);
}

MT_TEST(what_does_not_fit_is_left_to_be_stored_as_it_is)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(1);

	MT_CHECK_EQ(mt_stack_encode(encoder, 1, STACK_TOP, stack, 0, coded), 0);
	MT_CHECK_EQ(mt_stack_encode(encoder, 1, STACK_TOP + 4, stack, 64, coded), 0);
	MT_CHECK_EQ(mt_stack_encode(encoder, 1, STACK_TOP, stack, 63, coded), 0);
	MT_CHECK_EQ(mt_stack_encode(encoder, 1, STACK_TOP, stack, 65536, coded), 0);
	mt_stack_encoder_destroy(encoder);
}

/*
 * Every shortened coding and every coding with a byte flipped either decodes within its bounds or
 * is refused.
 */
MT_TEST(no_dump_reaches_past_the_last_address)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(4);
	struct mt_stack_decoder *decoder = mt_stack_decoder_create();
	size_t size;

	memset(stack, 1, 72);
	size = mt_stack_encode(encoder, 7, -(uint64_t)72, stack, 72, coded);
	MT_CHECK(mt_stack_decode(decoder, coded, size, decoded, 72));
	MT_CHECK_EQ(mt_stack_encode(encoder, 7, -(uint64_t)64, stack, 72, coded), 0);
	coded[8] += 8;
	MT_CHECK(!mt_stack_decode(decoder, coded, size, decoded, 72));
	mt_stack_encoder_destroy(encoder);
	mt_stack_decoder_destroy(decoder);
}

MT_TEST(damaged_codings_are_refused_or_harmless)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(1);
	struct mt_stack_decoder *decoder = mt_stack_decoder_create();
	uint64_t state = 3;
	size_t size;

	fill_random(stack, 512, &state);
	size = mt_stack_encode(encoder, 1, STACK_TOP - 520, stack, 512, coded);
	for (size_t cut = 0; cut < size; cut++)
		MT_CHECK(!mt_stack_decode(decoder, coded, cut, decoded, 512));
	for (size_t i = 0; i < size; i++) {
		coded[i] ^= 0x41;
		(void)mt_stack_decode(decoder, coded, size, decoded, 512);
		coded[i] ^= 0x41;
	}
	MT_CHECK(!mt_stack_decode(decoder, coded, size, decoded, 504));
	MT_CHECK(!mt_stack_decode(decoder, coded, size, decoded, 0));
	coded[1] = 4; /* slot 1024 */
	MT_CHECK(!mt_stack_decode(decoder, coded, size, decoded, 512));
	mt_stack_encoder_destroy(encoder);
	mt_stack_decoder_destroy(decoder);
}

MT_TEST_MAIN
