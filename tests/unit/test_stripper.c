/* record/write/stripper: samples wait for the mappings and are written as frames. */
#include "formats/stacks/sample_record.h"
#include "record/write/stripper.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "formats/chunks/chunk.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "formats/records/sample_type.h"
#include "formats/stacks/stack_encoder.h"
#include "record/files/image_files.h"
#include "record/files/mapped_file.h"
#include "record/plan/plan.h"
#include "record/rings/spool.h"
#include "tests/unit/kernel_bytes.h"
#include "tests/unit/unit.h"

#define PID 100
#define DUMP 256
#define SECRET UINT64_C(0x5ec2e75ec2e75ec2)
#define FP 6
#define SP 7
#define IP 8
#define STACK UINT64_C(0x7ffe00001000)
#define CODE UINT64_C(0x10000)

/* A sample in the kernel's layout: id, ip, pid and tid, time, then registers and the dump. */
struct sample {
	uint32_t type;
	uint16_t misc, size;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time, abi, bx, bp, sp, ip_register, asked, dump[DUMP / 8], valid;
};

static struct mt_planned_event events[2];
static const struct mt_plan plan = {.events = {events, 2, 2}};

static uint8_t written[MT_SPOOL_BLOCK];
static size_t written_size;
static uint32_t streams[8];
static size_t chunks;

static void take(void *context, const struct mt_block *block)
{
	(void)context;
	MT_CHECK(block->type == MT_CHUNK_DATA && block->used);
	memcpy(written + written_size, block->bytes, block->used);
	written_size += block->used;
	streams[chunks++ % 8] = block->stream;
}

static struct mt_image_files *files; /* none */

static struct mt_strip *create_with(uint64_t room, size_t hold)
{
	const struct mt_attr side = {.sample_type =
					     MT_SAMPLE_TID | MT_SAMPLE_TIME | MT_SAMPLE_IDENTIFIER,
				     .flags = UINT64_C(1) << MT_ATTR_SAMPLE_ID_ALL};

	events[0].decoded = side;
	events[0].name = (char *)"dummy";
	events[1] = (struct mt_planned_event){
		.name = (char *)"page-faults",
		.decoded = {.sample_type = MT_SAMPLE_IDENTIFIER | MT_SAMPLE_IP | MT_SAMPLE_TID |
					   MT_SAMPLE_TIME | MT_SAMPLE_REGS_USER |
					   MT_SAMPLE_STACK_USER,
			    .sample_regs_user = 1u << 1 | 1u << FP | 1u << SP | 1u << IP,
			    .sample_stack_user = DUMP},
	};
	written_size = chunks = 0;
	files = mt_image_files_create(NULL);
	return mt_strip_create(&(struct mt_strip_config){
		.plan = &plan, .files = files, .tables = room, .hold = hold, .put = take});
}

static void destroy(struct mt_strip *strip)
{
	mt_strip_destroy(strip);
	mt_image_files_destroy(files);
}

static struct mt_strip *create(size_t hold)
{
	return create_with(1 << 20, hold);
}

/* Two frames in JIT code: the frame pointer leads to a return address, which leads no further. */
static struct sample sample_at(uint64_t time, uint64_t ip)
{
	struct sample s = {.type = MT_KERNEL_SAMPLE,
			   .misc = MT_CPUMODE_USER,
			   .size = sizeof(s),
			   .ip = ip,
			   .pid = PID,
			   .tid = PID,
			   .time = time,
			   .abi = 2,
			   .bx = SECRET,
			   .bp = STACK + 16,
			   .sp = STACK,
			   .ip_register = ip,
			   .asked = DUMP,
			   .valid = DUMP};

	for (size_t i = 0; i < DUMP / 8; i++)
		s.dump[i] = SECRET;
	s.dump[2] = STACK + 64;
	s.dump[3] = CODE + 0x100;
	s.dump[8] = 0;
	s.dump[9] = 0;
	return s;
}

static void put(struct mt_block *block, struct mt_stack_encoder *encoder, const struct sample *s)
{
	const uint8_t *bytes = (const uint8_t *)s;
	size_t head = offsetof(struct sample, dump), tail = offsetof(struct sample, valid);

	MT_CHECK(mt_sample_put(block, s->time,
			       &(struct mt_sample_pieces){.event = 1,
							  .head = bytes,
							  .head_size = head,
							  .tail = bytes + tail,
							  .tail_size = sizeof(*s) - tail,
							  .dump = s->dump,
							  .dump_size = DUMP,
							  .dump_asked = DUMP,
							  .encoder = encoder,
							  .tid = PID,
							  .sp_back = 24}));
}

static void put_code(struct mt_block *block, uint64_t time, const char *name)
{
	const struct made_map map = {.pid = PID, .start = CODE, .length = 0x1000, .name = name};

	MT_CHECK(put_mmap(block, time, &map));
}

static struct mt_block block_of(uint32_t stream)
{
	static uint8_t memory[4][65536] __attribute__((aligned(8)));
	static unsigned int next;
	struct mt_block block = {.bytes = memory[next++ % 4], .capacity = sizeof(memory[0])};

	mt_block_reset(&block, MT_CHUNK_DATA, stream);
	return block;
}

/* The i-th record of the output. */
static bool nth(size_t n, uint32_t *type, uint64_t *time, struct mt_kernel_bytes *out)
{
	size_t at = 0;

	for (size_t i = 0; at < written_size; i++, at += mt_get_le32(written + at + 4)) {
		if (i < n)
			continue;
		*type = mt_get_le32(written + at);
		*time = mt_get_le64(written + at + 8);
		return *type != MT_RECORD_FRAMES ||
		       mt_unwound_get(written + at + 16, mt_get_le32(written + at + 4) - 16, out);
	}
	return false;
}

static size_t secrets(void)
{
	size_t found = 0;

	for (size_t at = 0; at + 8 <= written_size; at++)
		found += mt_get_le64(written + at) == SECRET;
	return found;
}

MT_TEST(frames_leave_and_nothing_of_the_stack)
{
	struct mt_strip *strip = create(1 << 20);
	struct mt_block block = block_of(1);
	struct mt_stack_encoder *encoder = mt_stack_encoder_create(4);
	struct mt_kernel_bytes back;
	struct sample s;
	uint32_t type;
	uint64_t time;

	put_code(&block, 5, "//anon");
	mt_stack_encoder_reset(encoder);
	for (uint64_t t = 10; t < 14; t++) {
		s = sample_at(t, CODE + 0x10);
		put(&block, t % 2 ? encoder : NULL, &s); /* PACKED and SAMPLE in turn */
	}
	mt_strip_hold(strip, &block);
	MT_CHECK_EQ(mt_strip_held(strip), block.used);
	MT_CHECK(!written_size);
	mt_strip_put(strip, 100);
	MT_CHECK(!mt_strip_held(strip));
	MT_CHECK(!secrets());
	MT_REQUIRE(nth(0, &type, &time, &back));
	MT_CHECK(type == MT_RECORD_KERNEL && time == 5);
	for (size_t i = 1; i <= 4; i++) {
		MT_REQUIRE(nth(i, &type, &time, &back));
		MT_CHECK(type == MT_RECORD_FRAMES && time == 9 + i && back.event == 1);
		MT_CHECK_EQ(back.unwound.count, 2);
		MT_CHECK_EQ(back.unwound.pcs[0], CODE + 0x10);
		MT_CHECK_EQ(back.unwound.pcs[1], CODE + 0x100 - 1);
		MT_CHECK(back.unwound.sources[1] == MT_FRAME_FP && back.dump_asked == DUMP);
		MT_CHECK_EQ(mt_unwound_sp(&back.unwound, 0, 0), STACK);
		MT_CHECK_EQ(mt_unwound_sp(&back.unwound, 1, STACK), STACK + 32);
	}
	MT_CHECK(!nth(5, &type, &time, &back));
	MT_CHECK_EQ(mt_strip_counts(strip).stacks, 4);
	MT_CHECK_EQ(mt_strip_counts(strip).frames, 8);
	mt_stack_encoder_destroy(encoder);
	destroy(strip);
}

MT_TEST(what_another_ring_reports_later_counts_at_its_time)
{
	struct mt_strip *strip = create(1 << 20);
	struct mt_block samples = block_of(1), rare = block_of(2);
	struct mt_kernel_bytes back = {0};
	struct sample early = sample_at(10, CODE + 0x10), late = sample_at(20, CODE + 0x10);
	uint32_t type;
	uint64_t time;

	put(&samples, NULL, &early);
	put(&samples, NULL, &late);
	mt_strip_hold(strip, &samples);
	mt_strip_put(strip, 5); /* nothing is due */
	MT_CHECK(!written_size && mt_strip_held(strip));
	put_code(&rare, 15, "/gone/library");
	mt_strip_hold(strip, &rare);
	mt_strip_put(strip, 18);
	MT_REQUIRE(nth(0, &type, &time, &back));
	MT_CHECK(type == MT_RECORD_FRAMES && time == 10);
	MT_CHECK_EQ(back.unwound.count, 2);
	MT_CHECK(!nth(2, &type, &time, &back)); /* only the mapping follows */
	mt_strip_put(strip, UINT64_MAX);
	MT_REQUIRE(nth(2, &type, &time, &back));
	MT_CHECK(type == MT_RECORD_FRAMES && time == 20);
	MT_CHECK_EQ(back.unwound.count, 1); /* there are no tables for that file */
	MT_CHECK_EQ(back.unwound.end, MT_END_NO_ELF);
	MT_CHECK(!mt_strip_held(strip) && !mt_strip_counts(strip).early);
	destroy(strip);
}

MT_TEST(records_of_a_stream_are_one_chunk)
{
	struct mt_strip *strip = create(1 << 20);
	struct sample s = sample_at(10, CODE + 0x10);

	for (uint32_t i = 0; i < 4; i++) {
		struct mt_block block = block_of(i % 2);

		put(&block, NULL, &s);
		mt_strip_hold(strip, &block);
	}
	mt_strip_put(strip, UINT64_MAX);
	MT_CHECK_EQ(chunks, 2);
	MT_CHECK(streams[0] == 0 && streams[1] == 1);
	destroy(strip);
}

MT_TEST(no_more_is_held_than_may_be)
{
	struct mt_strip *strip = create(4096);
	struct sample s = sample_at(10, CODE + 0x10);

	for (int i = 0; i < 100; i++) {
		struct mt_block block = block_of(1);

		put(&block, NULL, &s);
		mt_strip_hold(strip, &block);
		MT_CHECK(mt_strip_held(strip) <= 4096);
	}
	MT_CHECK(mt_strip_counts(strip).early > 5);
	mt_strip_put(strip, UINT64_MAX);
	MT_CHECK_EQ(mt_strip_counts(strip).stacks, 100);
	destroy(strip);
}

MT_TEST(what_does_not_decode_is_left_out)
{
	struct mt_strip *strip = create(1 << 20);
	struct mt_block block = block_of(1);
	struct sample s = sample_at(10, CODE + 0x10);

	s.valid = DUMP + 8;
	MT_CHECK(mt_kernel_put(&block, 10, 1, &s, sizeof(s)));
	s.valid = DUMP;
	MT_CHECK(mt_kernel_put(&block, 11, 7, &s, sizeof(s))); /* no such event */
	MT_CHECK(mt_kernel_put(&block, 12, 1, &s, sizeof(s)));
	mt_strip_hold(strip, &block);
	mt_strip_put(strip, UINT64_MAX);
	MT_CHECK_EQ(mt_strip_counts(strip).left_out, 2);
	MT_CHECK_EQ(mt_strip_counts(strip).stacks, 1);
	MT_CHECK(!secrets());
	destroy(strip);
}

/* ---- Generated code ---- */

MT_TEST(made_code_is_unwound_by_frame_pointers)
{
	struct mt_strip *strip = create(1 << 20);
	struct mt_block maps = block_of(2), samples = block_of(1);
	struct sample s = sample_at(10, CODE + 0x10);
	struct mt_kernel_bytes back = {0};
	uint32_t type = 0;
	uint64_t time;

	put_code(&maps, 6, "//anon");
	mt_strip_hold(strip, &maps);
	put(&samples, NULL, &s);
	mt_strip_hold(strip, &samples);
	mt_strip_end(strip);
	MT_REQUIRE(nth(1, &type, &time, &back) && type == MT_RECORD_FRAMES);
	MT_REQUIRE(back.unwound.count >= 2);
	MT_CHECK_EQ(back.unwound.pcs[1] + 1, CODE + 0x100);
	destroy(strip);
}

MT_TEST_MAIN
