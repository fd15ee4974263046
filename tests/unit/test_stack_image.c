/*
 * PACKED records: the decoder gives back what the encoder stores, and refuses bodies that no
 * encoder wrote. tests/golden/recording/corpus.py tests coding 1, which is only read.
 */
#include "formats/stacks/sample_record.h"
#include "formats/stacks/stack_encoder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "formats/base/bytes.h"
#include "formats/base/pages.h"
#include "formats/records/record.h"
#include "formats/stacks/kernel_words.h"
#include "formats/stacks/packed_body.h"
#include "formats/stacks/stack_decoder.h"
#include "tests/unit/unit.h"

#define STACK_TOP 0x7ffd00010000ull
#define KERNEL_MAX 300 /* words */
#define BOUND MT_STACK_PACKED_BOUND(8 * KERNEL_MAX, MT_STACK_DUMP_MAX)

static uint8_t stack[65536];
static uint64_t kernel[KERNEL_MAX];
static _Alignas(8) uint8_t body[BOUND + 64];
static _Alignas(8) uint8_t decoded[MT_STACK_UNPACKED_MAX];

/* A small random generator: the same numbers on every machine. */
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

/*
 * A sample with `words` words of the kernel. The last two words are the dump's size; the word
 * before them is the dump's address.
 */
static struct mt_sample_pieces pieces_of(size_t words, uint64_t address, const uint8_t *dump,
					 size_t size)
{
	kernel[words - 3] = address;
	kernel[words - 2] = kernel[words - 1] = size;
	return (struct mt_sample_pieces){
		.event = 5,
		.head = kernel,
		.head_size = 8 * (words - 1),
		.tail = &kernel[words - 1],
		.tail_size = 8,
		.dump = dump,
		.dump_size = size,
		.dump_asked = size,
		.tid = 7,
		.sp_back = 16,
	};
}

static size_t code(struct mt_stack_encoder *encoder, uint64_t time, uint64_t address, size_t size)
{
	struct mt_sample_pieces pieces = pieces_of(20, address, stack, size);

	return mt_stack_encode(encoder, time, &pieces, body);
}

/* Whether the body decodes to the bytes of the pieces. */
static bool comes_back(struct mt_stack_decoder *decoder, uint64_t time, size_t size,
		       const struct mt_sample_pieces *pieces)
{
	size_t kernel_size = pieces->head_size + pieces->tail_size, got;

	return mt_stack_unpack(decoder, time, body, size, decoded, &got) &&
	       got == kernel_size + pieces->dump_size && !memcmp(decoded, kernel, kernel_size) &&
	       !(pieces->dump_size &&
		 memcmp(decoded + kernel_size, pieces->dump, pieces->dump_size));
}

MT_TEST(one_sample_comes_back)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(4);
	struct mt_stack_decoder *decoder = mt_stack_decoder_create();
	struct mt_sample_pieces pieces;
	struct mt_packed_head head;
	uint64_t state = 1;
	size_t size;

	fill_random(stack, 1000, &state);
	fill_random((uint8_t *)kernel, 160, &state);
	pieces = pieces_of(20, STACK_TOP - 1000, stack, 1000);
	size = mt_stack_encode(encoder, 99, &pieces, body);
	MT_REQUIRE(size > 1160 && size <= MT_STACK_PACKED_BOUND(160, 1000) && !(size % 8));
	MT_REQUIRE(mt_packed_head_get(body, size, &head));
	MT_CHECK_EQ(head.event, 5);
	MT_CHECK_EQ(head.words, 20);
	MT_CHECK_EQ(head.tail, 1);
	MT_CHECK_EQ(head.sp, 2);
	MT_CHECK(comes_back(decoder, 99, size, &pieces));
	mt_stack_encoder_destroy(encoder);
	mt_stack_decoder_destroy(decoder);
}

/*
 * All sizes, alignments and places, with few and many changed words: both encoders give the same
 * bytes.
 */
MT_TEST(wide_and_portable_code_the_same_bytes)
{
	struct mt_stack_encoder *wide = mt_stack_encoder_create(4);
	struct mt_stack_encoder *portable = mt_stack_encoder_create(4);
	static _Alignas(8) uint8_t other[sizeof(body)];
	uint64_t state = 5;

	mt_stack_encoder_set_portable(portable, true);
	fill_random(stack, sizeof(stack), &state);
	for (int i = 0; i < 4000; i++) {
		size_t size = 8 * (1 + next_random(&state) % 300), at, got;
		size_t words = 4 + next_random(&state) % 40;
		uint64_t address = STACK_TOP + 512 * (next_random(&state) % 3) - size -
				   8 * (next_random(&state) % 9);
		struct mt_sample_pieces pieces = pieces_of(words, address, stack, size);

		for (unsigned n = next_random(&state) % 40; n; n--) {
			at = 8 * (next_random(&state) % (size / 8));
			fill_random(stack + at, 8, &state);
		}
		if (i % 500 == 499) {
			mt_stack_encoder_reset(wide);
			mt_stack_encoder_reset(portable);
		}
		memset(body, 0xa5, sizeof(body));
		memset(other, 0x5a, sizeof(other));
		got = mt_stack_encode(wide, 0, &pieces, body);
		MT_REQUIRE(got == mt_stack_encode(portable, 0, &pieces, other));
		MT_REQUIRE(got && !memcmp(body, other, got));
		MT_REQUIRE(body[MT_STACK_PACKED_BOUND(8 * words, size)] == 0xa5);
	}
	mt_stack_encoder_destroy(wide);
	mt_stack_encoder_destroy(portable);
}

MT_TEST(the_same_again_costs_only_a_bit_map)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(4);
	uint64_t state = 1;

	fill_random(stack, 8192, &state);
	code(encoder, 1, STACK_TOP - 8192, 8192);
	MT_CHECK_EQ(code(encoder, 2, STACK_TOP - 8192, 8192), 16); /* 13 and 20 bits */
	mt_stack_encoder_destroy(encoder);
}

/* Word 1 is the time. Word 2 is the instruction pointer, and so is word 9. */
MT_TEST(time_is_not_stored_and_the_instruction_pointer_once)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(4);
	struct mt_stack_decoder *decoder = mt_stack_decoder_create();
	static const size_t stored[] = {8 * 6, 8, 8};
	const uint8_t *words;
	uint64_t word;
	size_t bytes;

	memset(kernel, 0, sizeof(kernel));
	memset(stack, 0, 64);
	for (uint64_t n = 0; n < 3; n++) {
		struct mt_sample_pieces pieces;
		size_t size;

		kernel[1] = 1000 + n;
		kernel[2] = kernel[9] = 0x400000 + n;
		pieces = pieces_of(20, STACK_TOP - 64, stack, 64);
		size = mt_stack_encode(encoder, 1000 + n, &pieces, body);
		MT_CHECK_EQ(size, 16 + stored[n]);
		MT_CHECK(mt_packed_word(body, size, 2, &word) && word == 0x400000 + n);
		MT_CHECK(mt_packed_word(body, size, 1, &word) == !n);
		MT_CHECK(!mt_packed_word(body, size, 0, &word));
		MT_CHECK(!mt_packed_word(body, size, 20, &word));
		words = mt_packed_words(body, size, 0, &bytes);
		MT_CHECK_EQ(bytes, stored[n]);
		MT_CHECK(words && mt_get_le64(words + (n ? 0 : 8)) == 0x400000 + n);
		MT_CHECK(comes_back(decoder, 1000 + n, size, &pieces));
	}
	mt_stack_encoder_destroy(encoder);
	mt_stack_decoder_destroy(decoder);
}

/* If a sample has a dump, the words after the registers are left out together with them. */
MT_TEST(words_are_reported_without_registers)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(4);
	struct mt_sample_pieces pieces;
	const uint8_t *words;
	size_t size, bytes;

	for (size_t i = 0; i < 21; i++)
		kernel[i] = 1 + i;
	pieces = pieces_of(20, STACK_TOP - 64, stack, 64);
	size = mt_stack_encode(encoder, 1000, &pieces, body);
	words = mt_packed_words(body, size, 5, &bytes);
	MT_CHECK(words && mt_get_le64(words) == 1);
	MT_CHECK_EQ(bytes, 8 * (20 - 2 - 5));
	words = mt_packed_words(body, size, 100, &bytes);
	MT_CHECK(words);
	MT_CHECK_EQ(bytes, 0);
	pieces = (struct mt_sample_pieces){.head = kernel, .head_size = 8 * 21, .tid = 8};
	size = mt_stack_encode(encoder, 1000, &pieces, body);
	words = mt_packed_words(body, size, 5, &bytes);
	MT_CHECK(words);
	MT_CHECK_EQ(bytes, 8 * 21);
	mt_stack_encoder_destroy(encoder);
}

/* Codes a sample of the thread and checks it; returns its slot. */
static unsigned slot_for(struct mt_stack_encoder *encoder, struct mt_stack_decoder *decoder,
			 uint32_t tid)
{
	struct mt_sample_pieces pieces = pieces_of(20, STACK_TOP - 64, stack, 64);
	struct mt_packed_head head = {0};
	size_t size;

	pieces.tid = tid;
	size = mt_stack_encode(encoder, 1000 + tid, &pieces, body);
	MT_CHECK(mt_packed_head_get(body, size, &head));
	MT_CHECK(comes_back(decoder, 1000 + tid, size, &pieces));
	return head.slot;
}

/* Threads share the slots that have memory. If threads come back, more slots are wanted. */
MT_TEST(slots_without_memory_are_not_used)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(12);
	struct mt_stack_decoder *decoder = mt_stack_decoder_create();

	memset(kernel, 0, sizeof(kernel));
	mt_stack_encoder_populate(encoder, 4);
	for (uint32_t round = 0; round < 3; round++) {
		unsigned wanted = 0;

		for (uint32_t i = 0; i < 40; i++) {
			MT_CHECK(slot_for(encoder, decoder, i) < (round ? 12 : 4));
			wanted |= mt_stack_encoder_wants(encoder);
			mt_stack_encoder_populate(encoder,
						  round ? mt_stack_encoder_wants(encoder) : 0);
		}
		MT_CHECK_EQ(wanted > 4, round == 1);
	}
	mt_stack_encoder_destroy(encoder);
	mt_stack_decoder_destroy(decoder);
}

/* Processes come and go for ever: their number does not make the recorder grow. */
MT_TEST(threads_that_do_not_come_back_want_no_slots)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(64);
	struct mt_stack_decoder *decoder = mt_stack_decoder_create();

	memset(kernel, 0, sizeof(kernel));
	mt_stack_encoder_populate(encoder, 4);
	for (uint32_t i = 0; i < 10000; i++) {
		slot_for(encoder, decoder, 1);
		slot_for(encoder, decoder, 2 + i / 3);
		MT_CHECK_EQ(mt_stack_encoder_wants(encoder), 0);
	}
	mt_stack_encoder_destroy(encoder);
	mt_stack_decoder_destroy(decoder);
}

static long faults_so_far(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* Real-time threads run the encoder: no page may fault, for any history of the slots. */
MT_TEST(coding_into_populated_slots_faults_no_page)
{
	static uint8_t probe[4096] __attribute__((aligned(4096)));
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(12);
	long faults;

	memset(stack, 1, sizeof(stack));
	memset(body, 1, sizeof(body));
	memset(kernel, 0, sizeof(kernel));
	for (unsigned slots = 1; slots <= 12; slots++)
		mt_stack_encoder_populate(encoder, slots);
	faults = faults_so_far();
	for (uint32_t i = 0; i < 12; i++) {
		struct mt_sample_pieces pieces =
			pieces_of(20, STACK_TOP - 65528, stack, MT_STACK_DUMP_MAX);

		pieces.tid = i;
		MT_CHECK(mt_stack_encode(encoder, 1000 + i, &pieces, body));
	}
	faults = faults_so_far() - faults;
	if (mt_pages_populate(probe, sizeof(probe)) && !MT_SANITIZED) /* from Linux 5.14 on */
		MT_CHECK(faults < 12);
	mt_stack_encoder_destroy(encoder);
}

/* One sample of a random sequence. */
static struct mt_sample_pieces random_pieces(uint64_t *state, uint64_t time, bool large)
{
	size_t size = 8 * (next_random(state) % (large ? 8192 : 600));
	size_t words = 4 + next_random(state) % (next_random(state) % 8 ? 60 : KERNEL_MAX - 4);
	uint32_t tid = next_random(state) % 5;
	uint64_t address = STACK_TOP - tid * 0x12340 - size + 8 * (next_random(state) % 9);
	struct mt_sample_pieces pieces;

	fill_random(stack + 8 * (next_random(state) % 8000), 64, state);
	fill_random((uint8_t *)&kernel[next_random(state) % (KERNEL_MAX - 2)], 16, state);
	kernel[1 + next_random(state) % 8] = time;
	kernel[3 + next_random(state) % 50] = kernel[2];
	pieces = pieces_of(words, address, stack + (sizeof(stack) - size), size);
	pieces.tid = tid;
	if (next_random(state) % 10)
		return pieces;
	pieces.head_size += 8;
	pieces.tail_size = pieces.dump_size = pieces.dump_asked = pieces.sp_back = 0;
	return pieces;
}

/*
 * Threads, depths, small changes and resets at random: every sample is decoded to the same bytes.
 */
MT_TEST(a_long_random_course_comes_back)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(3);
	struct mt_stack_decoder *decoder = mt_stack_decoder_create();
	uint64_t state = 42;

	fill_random(stack, sizeof(stack), &state);
	for (int i = 0; i < 5000; i++) {
		uint64_t time = i % 90 ? 1000000 + (uint64_t)i : 0;
		struct mt_sample_pieces pieces = random_pieces(&state, time, !(i % 50));
		size_t got = mt_stack_encode(encoder, time, &pieces, body);

		MT_REQUIRE(got);
		MT_REQUIRE(got <= MT_STACK_PACKED_BOUND(pieces.head_size + pieces.tail_size,
							pieces.dump_size));
		MT_REQUIRE(comes_back(decoder, time, got, &pieces));
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
	struct mt_sample_pieces pieces = pieces_of(20, STACK_TOP, stack, 64);

	MT_CHECK_EQ(code(encoder, 1, STACK_TOP + 4, 64), 0);
	MT_CHECK_EQ(code(encoder, 1, STACK_TOP, 63), 0);
	MT_CHECK_EQ(code(encoder, 1, STACK_TOP, 65536), 0);
	MT_CHECK_EQ(code(encoder, 1, -(uint64_t)56, 64), 0);
	pieces.sp_back = 8 * 20;
	MT_CHECK_EQ(mt_stack_encode(encoder, 1, &pieces, body), 0);
	pieces.sp_back = 12;
	MT_CHECK_EQ(mt_stack_encode(encoder, 1, &pieces, body), 0);
	pieces.sp_back = 0;
	MT_CHECK_EQ(mt_stack_encode(encoder, 1, &pieces, body), 0);
	pieces = pieces_of(20, STACK_TOP, stack, 64);
	pieces.head_size -= 4;
	MT_CHECK_EQ(mt_stack_encode(encoder, 1, &pieces, body), 0);
	pieces.head_size = 8;
	MT_CHECK_EQ(mt_stack_encode(encoder, 1, &pieces, body), 0);
	pieces.head_size = 65528;
	MT_CHECK_EQ(mt_stack_encode(encoder, 1, &pieces, body), 0);
	mt_stack_encoder_destroy(encoder);
}

MT_TEST(a_dump_may_reach_the_last_address)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(4);
	struct mt_stack_decoder *decoder = mt_stack_decoder_create();
	struct mt_sample_pieces pieces = pieces_of(20, -(uint64_t)72, stack, 72);

	memset(stack, 1, 72);
	MT_CHECK(comes_back(decoder, 1, mt_stack_encode(encoder, 1, &pieces, body), &pieces));
	mt_stack_encoder_destroy(encoder);
	mt_stack_decoder_destroy(decoder);
}

/*
 * Every shortened body is refused. A body with a flipped bit is refused or decoded within its
 * bounds.
 */
MT_TEST(damaged_bodies_are_refused_or_harmless)
{
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(1);
	struct mt_stack_decoder *decoder = mt_stack_decoder_create();
	uint64_t state = 3, word;
	size_t size, got;

	fill_random(stack, 512, &state);
	fill_random((uint8_t *)kernel, 160, &state);
	size = code(encoder, 1, STACK_TOP - 520, 512);
	for (size_t cut = 0; cut < size; cut++)
		MT_CHECK(!mt_stack_unpack(decoder, 1, body, cut, decoded, &got));
	for (size_t bit = 0; bit < 8 * size; bit++) {
		body[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (mt_stack_unpack(decoder, 1, body, size, decoded, &got))
			MT_CHECK(got <= MT_STACK_UNPACKED_MAX);
		(void)mt_packed_word(body, size, 19, &word);
		body[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	MT_CHECK(mt_stack_unpack(decoder, 1, body, size, decoded, &got));
	MT_CHECK_EQ(got, 160 + 512);
	mt_stack_encoder_destroy(encoder);
	mt_stack_decoder_destroy(decoder);
}

MT_TEST_MAIN
