/*
 * formats/records/record: records decode to the values that were put, bytes are at the places of
 * FORMAT.md, and bodies that are too short are refused.
 */
#include "formats/records/record.h"

#include <stdlib.h>

#include "formats/base/bytes.h"
#include "formats/chunks/chunk.h"
#include "formats/stacks/sample_record.h"
#include "tests/unit/unit.h"

static _Alignas(8) uint8_t memory[4096];

static struct mt_block block_of(size_t capacity)
{
	struct mt_block block = {.bytes = memory, .capacity = capacity};

	memset(memory, 0xee, sizeof(memory));
	mt_block_reset(&block, MT_CHUNK_STATE, 0);
	return block;
}

static struct mt_text text(const char *s)
{
	return (struct mt_text){s, strlen(s)};
}

#define CHECK_TEXT(is, expected)                  \
	MT_CHECK((is).size == strlen(expected) && \
		 (!(is).size || !memcmp((is).bytes, expected, (is).size)))

static const uint8_t *body(void)
{
	return memory + MT_RECORD_HEADER_SIZE;
}

static size_t body_size(void)
{
	return mt_get_le32(memory + 4) - MT_RECORD_HEADER_SIZE;
}

/*
 * `used` bytes of the body are fields. Fewer bytes are refused; padding and more bytes (of a later
 * version) are accepted. The bodies are copied, so that a sanitizer reports a read past their end.
 */
#define CHECK_LENGTHS(name, used) CHECK_LENGTHS_FROM(name, used, used)

/* The same for records whose bytes from `least` on were appended later and may be missing. */
#define CHECK_LENGTHS_FROM(name, least, used)                                             \
	do {                                                                              \
		struct mt_##name##_record decoded;                                        \
		for (size_t length = 0; length <= (used) + 40; length++) {                \
			uint8_t *copy = malloc(length + 1);                               \
			memcpy(copy, body(), length);                                     \
			MT_CHECK_EQ(mt_##name##_get(copy, length, &decoded),              \
				    length >= (used) ||                                   \
					    (length >= (least) && length < (least) + 4)); \
			free(copy);                                                       \
		}                                                                         \
		MT_CHECK_EQ(body_size(), mt_align8(used));                                \
	} while (0)

MT_TEST(header_bytes_are_where_the_page_says)
{
	struct mt_header_record record = {.major = 1,
					  .minor = 2,
					  .clock = MT_CLOCK_PERF,
					  .id = {9, 8, 7}},
				back;
	struct mt_block block = block_of(sizeof(memory));

	MT_CHECK(mt_header_put(&block, &record));
	MT_CHECK_EQ(mt_get_le32(memory), MT_RECORD_HEADER);
	MT_CHECK_EQ(mt_get_le32(memory + 4), 40);
	MT_CHECK_EQ(mt_get_le64(memory + 8), 0);
	MT_CHECK_EQ(mt_get_le16(memory + 16), 1);
	MT_CHECK_EQ(mt_get_le16(memory + 18), 2);
	MT_CHECK_EQ(mt_get_le32(memory + 20), UINT32_MAX);
	MT_CHECK_EQ(memory[24], 9);
	MT_REQUIRE(mt_header_get(body(), body_size(), &back));
	MT_CHECK(!memcmp(&record, &back, sizeof(back)));
	CHECK_LENGTHS(header, 24);
}

MT_TEST(info)
{
	struct mt_info_record record = {.key = text("host"), .value = text("a longer value")}, back;
	struct mt_block block = block_of(sizeof(memory));

	MT_CHECK(mt_info_put(&block, &record));
	MT_CHECK(!memcmp(memory + 16, "\4\0\0\0host\16\0\0\0a longer value\0\0\0\0\0\0", 32));
	MT_REQUIRE(mt_info_get(body(), body_size(), &back));
	CHECK_TEXT(back.key, "host");
	CHECK_TEXT(back.value, "a longer value");
	CHECK_LENGTHS(info, 26);
}

MT_TEST(event)
{
	struct mt_event_record record = {.index = 3, .role = MT_ROLE_MARK, .pair = 4, .class = 1},
			       back;
	struct mt_block block = block_of(sizeof(memory));

	record.name = text("syscalls:sys_enter_brk");
	record.alias = text("brk");
	record.unit = text("calls");
	record.attr = (struct mt_text){"\0\1\2", 3};
	record.account = text("free of=free");
	MT_CHECK(mt_event_put(&block, &record));
	MT_REQUIRE(mt_event_get(body(), body_size(), &back));
	MT_CHECK_EQ(back.index, 3);
	MT_CHECK_EQ(back.role, MT_ROLE_MARK);
	MT_CHECK_EQ(back.pair, 4);
	MT_CHECK_EQ(back.class, 1);
	CHECK_TEXT(back.name, "syscalls:sys_enter_brk");
	CHECK_TEXT(back.alias, "brk");
	CHECK_TEXT(back.unit, "calls");
	MT_CHECK_EQ(back.attr.size, 3);
	MT_CHECK(!memcmp(back.attr.bytes, "\0\1\2", 3));
	CHECK_TEXT(back.format, "");
	CHECK_TEXT(back.account, "free of=free");
	CHECK_LENGTHS_FROM(event, 16 + 20 + 22 + 3 + 5 + 3, 16 + 20 + 22 + 3 + 5 + 3 + 16);
	MT_REQUIRE(mt_event_get(body(), 16 + 20 + 22 + 3 + 5 + 3, &back));
	CHECK_TEXT(back.account, "");
}

MT_TEST(clock)
{
	struct mt_clock_record record = {1, UINT64_MAX, 3, 4}, back;
	struct mt_block block = block_of(sizeof(memory));

	MT_CHECK(mt_clock_put(&block, &record));
	MT_REQUIRE(mt_clock_get(body(), body_size(), &back));
	MT_CHECK(!memcmp(&record, &back, sizeof(back)));
	CHECK_LENGTHS(clock, 32);
}

MT_TEST(task)
{
	struct mt_task_record record = {.pid = -1, .tid = 2, .ppid = 3, .uid = 4, .start_time = 5},
			      back;
	struct mt_block block = block_of(sizeof(memory));

	record.comm = text("sh");
	record.exe = text("/bin/sh");
	record.cmdline = (struct mt_text){"sh\0-c\0", 6};
	record.cgroup = text("0::/\n");
	record.nspid = text("7 1");
	MT_CHECK(mt_task_put(&block, &record));
	MT_REQUIRE(mt_task_get(body(), body_size(), &back));
	MT_CHECK_EQ(back.pid, -1);
	MT_CHECK_EQ(back.tid, 2);
	MT_CHECK_EQ(back.ppid, 3);
	MT_CHECK_EQ(back.uid, 4);
	MT_CHECK_EQ(back.start_time, 5);
	CHECK_TEXT(back.comm, "sh");
	CHECK_TEXT(back.exe, "/bin/sh");
	MT_CHECK_EQ(back.cmdline.size, 6);
	CHECK_TEXT(back.cgroup, "0::/\n");
	CHECK_TEXT(back.nspid, "7 1");
	CHECK_LENGTHS(task, 24 + 20 + 2 + 7 + 6 + 5 + 3);
}

MT_TEST(map)
{
	struct mt_map_record record = {1,      5,      2,      8,  1,  77,
				       0x1000, 0x2000, 0x3000, 10, 11, {"/lib/x", 6}},
			     back;
	struct mt_block block = block_of(sizeof(memory));

	MT_CHECK(mt_map_put(&block, &record));
	MT_REQUIRE(mt_map_get(body(), body_size(), &back));
	MT_CHECK_EQ(back.prot, 5);
	MT_CHECK_EQ(back.flags, 2);
	MT_CHECK_EQ(back.major, 8);
	MT_CHECK_EQ(back.minor, 1);
	MT_CHECK_EQ(back.inode, 77);
	MT_CHECK_EQ(back.start, 0x1000);
	MT_CHECK_EQ(back.end, 0x2000);
	MT_CHECK_EQ(back.offset, 0x3000);
	MT_CHECK_EQ(back.before, 10);
	MT_CHECK_EQ(back.after, 11);
	CHECK_TEXT(back.path, "/lib/x");
	CHECK_LENGTHS(map, 20 + 48 + 4 + 6);
}

MT_TEST(image)
{
	struct mt_image_record record = {.major = 8,
					 .minor = 2,
					 .inode = 3,
					 .inode_generation = 4,
					 .size = 5},
			       back;
	struct mt_block block = block_of(sizeof(memory));

	record.path = text("/bin/sh");
	record.build_id = (struct mt_text){"\xaa\0\xbb", 3};
	record.problem = text("gone");
	record.started = text("bash");
	MT_CHECK(mt_image_put(&block, &record));
	MT_REQUIRE(mt_image_get(body(), body_size(), &back));
	MT_CHECK_EQ(back.inode_generation, 4);
	MT_CHECK_EQ(back.size, 5);
	CHECK_TEXT(back.path, "/bin/sh");
	MT_CHECK(back.build_id.size == 3 && !memcmp(back.build_id.bytes, "\xaa\0\xbb", 3));
	CHECK_TEXT(back.problem, "gone");
	CHECK_TEXT(back.started, "bash");
	CHECK_LENGTHS_FROM(image, 8 + 24 + 12 + 7 + 3 + 4, 8 + 24 + 12 + 7 + 3 + 4 + 8);
	MT_REQUIRE(mt_image_get(body(), 8 + 24 + 12 + 7 + 3 + 4, &back));
	CHECK_TEXT(back.started, "");
}

MT_TEST(loss)
{
	struct mt_loss_record record = {1, MT_EVENT_NONE, 2, 3, 4, MT_LOSS_COUNTS}, back;
	struct mt_block block = block_of(sizeof(memory));

	MT_CHECK(mt_loss_put(&block, &record));
	MT_REQUIRE(mt_loss_get(body(), body_size(), &back));
	MT_CHECK_EQ(back.stream, 1);
	MT_CHECK_EQ(back.event, MT_EVENT_NONE);
	MT_CHECK_EQ(back.from, 2);
	MT_CHECK_EQ(back.to, 3);
	MT_CHECK_EQ(back.count, 4);
	MT_CHECK_EQ(back.source, MT_LOSS_COUNTS);
	CHECK_LENGTHS(loss, 36);
}

MT_TEST(blocks_say_from_when_one_in_how_many)
{
	struct mt_blocks_record record = {.from = 12300000000, .one_in = 8}, back;
	struct mt_block block = block_of(sizeof(memory));

	MT_CHECK(mt_blocks_put(&block, &record));
	MT_REQUIRE(mt_blocks_get(body(), body_size(), &back));
	MT_CHECK_EQ(back.from, record.from);
	MT_CHECK_EQ(back.one_in, record.one_in);
	CHECK_LENGTHS(blocks, 16);
}

MT_TEST(weight_has_a_time)
{
	struct mt_weight_record record = {.event = 1, .numerator = 10, .denominator = 3}, back;
	struct mt_block block = block_of(sizeof(memory));

	MT_CHECK(mt_weight_put(&block, 99, &record));
	MT_CHECK_EQ(mt_get_le64(memory + 8), 99);
	MT_CHECK_EQ(block.first_time, 99);
	MT_CHECK_EQ(mt_get_le32(memory + 20), 0);
	MT_REQUIRE(mt_weight_get(body(), body_size(), &back));
	MT_CHECK_EQ(back.numerator, 10);
	MT_CHECK_EQ(back.denominator, 3);
	CHECK_LENGTHS(weight, 24);
	mt_put_le64(memory + 32, 0);
	MT_CHECK(!mt_weight_get(body(), body_size(), &back));
}

MT_TEST(mark_end_note)
{
	struct mt_mark_record mark = {1, 2, 3}, mark_back;
	struct mt_end_record end = {1, 2, 3, 4, 5, 6, 2, 9}, end_back;
	struct mt_note_record note = {1, {"careful", 7}}, note_back;
	struct mt_block block = block_of(sizeof(memory));

	MT_CHECK(mt_mark_put(&block, &mark));
	MT_REQUIRE(mt_mark_get(body(), body_size(), &mark_back));
	MT_CHECK(!memcmp(&mark, &mark_back, sizeof(mark)));
	CHECK_LENGTHS(mark, 24);
	block = block_of(sizeof(memory));
	MT_CHECK(mt_end_put(&block, &end));
	MT_REQUIRE(mt_end_get(body(), body_size(), &end_back));
	MT_CHECK(!memcmp(&end, &end_back, sizeof(end)));
	CHECK_LENGTHS(end, 56);
	block = block_of(sizeof(memory));
	MT_CHECK(mt_note_put(&block, &note));
	MT_REQUIRE(mt_note_get(body(), body_size(), &note_back));
	MT_CHECK_EQ(note_back.level, 1);
	CHECK_TEXT(note_back.text, "careful");
	CHECK_LENGTHS(note, 15);
}

MT_TEST(a_gauge_and_a_map_read_again_have_the_time_of_their_reading)
{
	struct mt_gauge_record gauge = {-1, 2, 3, 4, 1ull << 40, {"RssAnon", 7}}, back;
	struct mt_map_record map = {.pid = 7,
				    .start = 4096,
				    .end = 8192,
				    .before = 5,
				    .after = 6,
				    .path = {"[heap]", 6}},
			     map_back;
	struct mt_block block = block_of(sizeof(memory));

	MT_CHECK(mt_gauge_put(&block, &gauge));
	MT_CHECK_EQ(mt_get_le32(memory), MT_RECORD_GAUGE);
	MT_CHECK_EQ(mt_get_le64(memory + 8), 4);
	MT_REQUIRE(mt_gauge_get(body(), body_size(), &back));
	MT_CHECK_EQ(back.pid, -1);
	MT_CHECK_EQ(back.start_time, 2);
	MT_CHECK(back.before == 3 && back.after == 4);
	MT_CHECK_EQ(back.value, 1ull << 40);
	CHECK_TEXT(back.name, "RssAnon");
	CHECK_LENGTHS(gauge, 51);
	block = block_of(sizeof(memory));
	MT_CHECK(mt_reread_put(&block, &map));
	MT_CHECK_EQ(mt_get_le32(memory), MT_RECORD_REREAD);
	MT_CHECK_EQ(mt_get_le64(memory + 8), 6);
	MT_REQUIRE(mt_map_get(body(), body_size(), &map_back));
	MT_CHECK(map_back.start == 4096 && map_back.end == 8192 && map_back.after == 6);
	CHECK_TEXT(map_back.path, "[heap]");
}

MT_TEST(a_full_block_stays_as_it_was)
{
	struct mt_info_record record = {.key = {"key", 3}, .value = {"value", 5}};
	struct mt_block block = block_of(40);

	MT_CHECK(mt_info_put(&block, &record));
	MT_CHECK(!mt_info_put(&block, &record));
	MT_CHECK_EQ(block.used, 32);
	MT_CHECK_EQ(block.records, 1);
	MT_CHECK_EQ(memory[32], 0xee);
	record.value.size = SIZE_MAX;
	MT_CHECK(!mt_info_put(&block, &record));
	MT_CHECK(!mt_kernel_put(&block, 1, 0, memory, SIZE_MAX));
	MT_CHECK(!mt_sample_put(&block, 1, &(struct mt_sample_pieces){.dump_size = SIZE_MAX}));
	MT_CHECK_EQ(block.used, 32);
}

MT_TEST(text_that_reaches_past_the_body_is_refused)
{
	uint8_t bytes[8] = {0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4};
	struct mt_info_record info;

	MT_CHECK(!mt_info_get(bytes, sizeof(bytes), &info));
}

MT_TEST(kernel)
{
	_Alignas(8) uint8_t bytes[16] = {3, 0, 0, 0, 0, 0, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8};
	struct mt_block block = block_of(sizeof(memory));
	struct mt_kernel_bytes back;

	MT_CHECK(mt_kernel_put(&block, 7, 5, bytes, sizeof(bytes)));
	MT_REQUIRE(mt_kernel_get(body(), body_size(), &back));
	MT_CHECK_EQ(back.event, 5);
	MT_CHECK_EQ(back.kernel_size, 16);
	MT_CHECK(back.kernel == memory + 24 && !memcmp(back.kernel, bytes, 16));
	MT_CHECK(!back.dump && !back.dump_asked && !back.cut);
	for (size_t size = 0; size < body_size(); size++)
		MT_CHECK(!mt_kernel_get(body(), size, &back));
	memory[30]++; /* the size in the kernel's record now differs */
	MT_CHECK(!mt_kernel_get(body(), body_size(), &back));
}

/* A sample of 8 + 8 bytes, a dump of 24 of which 16 are valid, and 8 bytes more. */
static struct mt_block sample_block(void)
{
	static const uint8_t head[24] = {9, 0, 0, 0, 2, 0, 64, 0, [16] = 24};
	static const uint8_t tail[16] = {16, [8] = 0xab};
	struct mt_block block = block_of(sizeof(memory));

	MT_CHECK(mt_sample_put(&block, 7,
			       &(struct mt_sample_pieces){
				       .event = 2,
				       .head = head,
				       .head_size = sizeof(head),
				       .tail = tail,
				       .tail_size = sizeof(tail),
				       .dump = "0123456789abcdef",
				       .dump_size = 16,
				       .dump_asked = 24,
			       }));
	return block;
}

MT_TEST(sample)
{
	struct mt_block block = sample_block();
	struct mt_kernel_bytes back;

	MT_CHECK_EQ(block.used, 48 + 40 + 16);
	MT_CHECK_EQ(block.first_time, 7);
	MT_REQUIRE(mt_sample_get(body(), body_size(), NULL, &back));
	MT_CHECK_EQ(back.event, 2);
	MT_CHECK(back.kernel == memory + 48);
	MT_CHECK_EQ(back.kernel_size, 40);
	MT_CHECK_EQ(back.kernel[32], 0xab);
	MT_CHECK_EQ(back.cut, 24);
	MT_CHECK_EQ(back.dump_asked, 24);
	MT_CHECK_EQ(back.dump_size, 16);
	MT_CHECK(!memcmp(back.dump, "0123456789abcdef", 16));
	for (size_t size = 0; size < body_size(); size++)
		MT_CHECK(!mt_sample_get(body(), size, NULL, &back));
}

static bool sample_with(size_t offset, uint32_t value)
{
	struct mt_kernel_bytes back;

	sample_block();
	mt_put_le32(memory + offset, value);
	return mt_sample_get(body(), body_size(), NULL, &back);
}

MT_TEST(a_sample_that_contradicts_itself_is_damaged)
{
	MT_CHECK(sample_with(16, 12345)); /* any event */
	MT_CHECK(!sample_with(20, 41));	  /* kernel_size */
	MT_CHECK(!sample_with(20, 0xfffffff8));
	MT_CHECK(!sample_with(24, 16)); /* cut */
	MT_CHECK(!sample_with(24, 40));
	MT_CHECK(!sample_with(24, 25));
	MT_CHECK(!sample_with(24, 0xfffffff8));
	MT_CHECK(!sample_with(28, 32)); /* dump_asked */
	MT_CHECK(!sample_with(28, 0));
	MT_CHECK(!sample_with(32, 8)); /* dump_size */
	MT_CHECK(!sample_with(32, 32));
	MT_CHECK(sample_with(36, 1));	     /* coded: the reader decodes the dump */
	MT_CHECK(!sample_with(36, 2));	     /* coding */
	MT_CHECK(!sample_with(40, 8));	     /* coded_size */
	MT_CHECK(sample_with(44, 1));	     /* reserved */
	MT_CHECK(!sample_with(48 + 16, 32)); /* the kernel's size */
	MT_CHECK(!sample_with(48 + 24, 15)); /* the kernel's dyn_size */
}

/* Two frames in place of a dump of 24 bytes, 16 of them valid. */
static struct mt_block unwound_block(uint32_t asked)
{
	_Alignas(8) uint8_t kernel[40] = {9, 0, 0, 0, 2, 0, 40, 0, [16] = 24, [24] = 16};
	struct mt_block block = block_of(sizeof(memory));

	kernel[6] += (uint8_t)asked;
	MT_CHECK(mt_unwound_put(&block, 7,
				&(struct mt_kernel_bytes){
					.event = 2,
					.kernel = kernel,
					.kernel_size = sizeof(kernel),
					.cut = asked ? 24 : 0,
					.dump_asked = asked,
					.unwound = {.pcs = (const uint64_t[]){0x400100, 0x400205},
						    .sources = (const uint8_t[]){0, 0x82},
						    .count = 2,
						    .walked_end = 3},
				}));
	return block;
}

/* The same with the places of frames on the stack; the third place is not known. */
static size_t put_places(size_t count)
{
	static const uint64_t pcs[] = {0x400100, 0x400205, 0x400305}, sps[] = {0x7000, 0x7040, 0};
	_Alignas(8) uint8_t kernel[40] = {9, 0, 0, 0, 2, 0, 64, 0, [16] = 24, [24] = 16};
	struct mt_block block = block_of(sizeof(memory));
	uint8_t steps[12];

	for (size_t i = 0; i < count; i++)
		mt_put_le32(steps + 4 * i, mt_unwound_step(sps[i ? i - 1 : 0], sps[i]));
	MT_CHECK(mt_unwound_put(&block, 7,
				&(struct mt_kernel_bytes){
					.kernel = kernel,
					.kernel_size = sizeof(kernel),
					.cut = 24,
					.dump_asked = 24,
					.unwound = {.pcs = pcs,
						    .sources = (const uint8_t[]){0, 2, 4},
						    .count = (uint32_t)count,
						    .sp = 0x7000,
						    .boundary = 0x8000,
						    .steps = steps},
				}));
	return block.used;
}

MT_TEST(frames_with_their_places)
{
	struct mt_kernel_bytes back;
	uint64_t sp;

	for (size_t count = 0; count <= 3; count++) {
		MT_CHECK_EQ(put_places(count),
			    40 + 40 + (9 * count + 7) / 8 * 8 + 16 + (4 * count + 7) / 8 * 8);
		MT_REQUIRE(mt_unwound_get(body(), body_size(), &back));
		MT_REQUIRE(back.unwound.steps && back.unwound.count == count);
		MT_CHECK(back.unwound.sp == 0x7000 && back.unwound.boundary == 0x8000);
	}
	sp = mt_unwound_sp(&back.unwound, 0, 0);
	MT_CHECK_EQ(sp, 0x7000);
	MT_CHECK_EQ(mt_unwound_sp(&back.unwound, 1, sp), 0x7040);
	MT_CHECK_EQ(mt_unwound_sp(&back.unwound, 2, 0x7040), 0);
	MT_CHECK_EQ(mt_unwound_sp(&back.unwound, 1, 0), 0); /* after an unknown place */
	MT_REQUIRE(mt_unwound_get(body(), body_size() - 8, &back));
	MT_CHECK(!back.unwound.steps); /* cut short: places are not known */
}

MT_TEST(steps_up_the_stack)
{
	MT_CHECK_EQ(mt_unwound_step(0x7000, 0x7010), 0x10);
	MT_CHECK_EQ(mt_unwound_step(0x7000, 0x6ff0), MT_UNWOUND_NO_STEP);
	MT_CHECK_EQ(mt_unwound_step(0x7000, 0), MT_UNWOUND_NO_STEP);
	MT_CHECK_EQ(mt_unwound_step(0, UINT64_C(1) << 33), MT_UNWOUND_NO_STEP);
}

MT_TEST(frames)
{
	struct mt_block block = unwound_block(24);
	struct mt_kernel_bytes back;

	MT_CHECK_EQ(block.used, 40 + 40 + 16 + 8);
	MT_CHECK_EQ(mt_get_le32(memory), MT_RECORD_FRAMES);
	MT_REQUIRE(mt_unwound_get(body(), body_size(), &back));
	MT_CHECK(back.event == 2 && back.kernel_size == 40 && back.cut == 24);
	MT_CHECK(back.dump_asked == 24 && !back.dump && !back.dump_size);
	MT_CHECK(back.unwound.count == 2 && !back.unwound.end);
	MT_CHECK_EQ(back.unwound.walked_end, 3);
	MT_CHECK_EQ(back.unwound.pcs[1], 0x400205);
	MT_CHECK_EQ(back.unwound.sources[1], 0x82);
	for (size_t size = 0; size < body_size() - 6; size++)
		MT_CHECK(!mt_unwound_get(body(), size, &back));
	unwound_block(0);
	MT_REQUIRE(mt_unwound_get(body(), body_size(), &back));
	MT_CHECK(!back.cut && !back.dump_asked);
}

static bool unwound_with(size_t offset, uint32_t value)
{
	struct mt_kernel_bytes back;

	unwound_block(24);
	mt_put_le32(memory + offset, value);
	return mt_unwound_get(body(), body_size(), &back);
}

MT_TEST(frames_that_contradict_themselves_are_damaged)
{
	MT_CHECK(unwound_with(16, 12345)); /* any event */
	MT_CHECK(!unwound_with(20, 41));   /* kernel_size */
	MT_CHECK(!unwound_with(20, 0xfffffff8));
	MT_CHECK(!unwound_with(24, 16)); /* cut */
	MT_CHECK(!unwound_with(24, 0));
	MT_CHECK(!unwound_with(28, 32)); /* dump_asked */
	MT_CHECK(!unwound_with(28, 0));
	MT_CHECK(!unwound_with(32, 3)); /* frames */
	MT_CHECK(!unwound_with(32, 65537));
	MT_CHECK(!unwound_with(32, 0xffffffff));
	MT_CHECK(unwound_with(36, 16)); /* end and end of the walk */
	MT_CHECK(!unwound_with(36, 17));
	MT_CHECK(unwound_with(36, 16 << 16));
	MT_CHECK(!unwound_with(36, 17 << 16));
	MT_CHECK(!unwound_with(40 + 24, 25));	    /* dyn_size in the kernel's record */
	MT_CHECK(unwound_with(40 + 40 + 16, 0x86)); /* sources */
	MT_CHECK(unwound_with(40 + 40 + 16, 7));
	MT_CHECK(!unwound_with(40 + 40 + 16, 9));
	MT_CHECK(!unwound_with(40 + 40 + 16, 0x89));
}

MT_TEST_MAIN
