/* record/branch_code: the code between branch records is told by file and block, each once, as soon
 * as what was mapped is known. */
#include "record/branch_code.h"

#include <string.h>
#include <sys/mman.h>

#include "formats/base/bytes.h"
#include "formats/chunk.h"
#include "formats/record.h"
#include "formats/sample.h"
#include "formats/sample_type.h"
#include "record/mapped_file.h"
#include "record/plan.h"
#include "symbols/code_blocks.h"
#include "tests/unit/kernel_bytes.h"
#include "tests/unit/unit.h"

#define PID 100
#define CODE UINT64_C(0x400000)
#define OFFSET UINT64_C(0x1000) /* of that in the file */
#define LENGTH UINT64_C(0x40000)
#define SECOND UINT64_C(1000000000)
#define KERNEL UINT64_C(0xffffffff81000000)
#define BRANCHES 4

static struct mt_planned_event events[3];
static const struct mt_plan plan = {.events = {events, 3, 3}};

/* What was told. */
static struct {
	char path[64];
	uint64_t time, blocks[4096];
	size_t count, calls;
} told;

static void take(void *context, const struct mt_branch_code_news *news)
{
	(void)context;
	MT_CHECK(!told.calls || news->time > told.time);
	MT_CHECK(news->count && news->count <= 4096 - told.count);
	snprintf(told.path, sizeof(told.path), "%.*s", (int)news->image->path.size,
		 news->image->path.bytes);
	for (size_t i = 1; i < news->count; i++)
		MT_CHECK(news->blocks[i - 1] < news->blocks[i]);
	memcpy(told.blocks + told.count, news->blocks, news->count * sizeof(*news->blocks));
	told.count += news->count;
	told.time = news->time;
	told.calls++;
}

/* How often an address' block was told, where it is mapped as put_code() does. */
static size_t times_told(uint64_t address)
{
	size_t n = 0;

	for (size_t i = 0; i < told.count; i++)
		n += told.blocks[i] == (address - CODE + OFFSET) / MT_CODE_BLOCK;
	return n;
}

static void add_file(struct mt_branch_code *code, const char *path)
{
	const struct mt_text text = {path, strlen(path)};

	mt_branch_code_add_file(code, -1, &(struct mt_mapped_file){.pid = PID, .path = text},
				&(struct mt_image_record){.path = text});
}

static struct mt_branch_code *create(uint64_t branch_type)
{
	events[0].decoded = (struct mt_attr){.sample_type = MT_SAMPLE_TID | MT_SAMPLE_TIME |
							    MT_SAMPLE_IDENTIFIER,
					     .flags = UINT64_C(1) << MT_ATTR_SAMPLE_ID_ALL};
	events[1].decoded = events[2].decoded = (struct mt_attr){
		.sample_type = MT_SAMPLE_IP | MT_SAMPLE_TID | MT_SAMPLE_BRANCH_STACK,
		.branch_sample_type = branch_type};
	events[2].decoded.sample_type = MT_SAMPLE_IP | MT_SAMPLE_TID;
	events[1].attr.sample_type = events[1].decoded.sample_type;
	memset(&told, 0, sizeof(told));
	MT_CHECK(mt_branch_code_planned(&plan));
	return mt_branch_code_create(&plan, &(struct mt_branch_code_sink){.offer = take});
}

static struct mt_block block_of(uint32_t stream)
{
	static uint8_t memory[4][65536] __attribute__((aligned(8)));
	static unsigned int next;
	struct mt_block block = {.bytes = memory[next++ % 4], .capacity = sizeof(memory[0])};

	mt_block_reset(&block, MT_CHUNK_DATA, stream);
	return block;
}

/* branches: newest first, from and to. */
static void put_sample(struct mt_block *block, uint64_t time, uint64_t ip,
		       const uint64_t branches[][2], size_t count)
{
	struct {
		uint32_t type;
		uint16_t misc, size;
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t count, words[BRANCHES][3];
	} s = {.type = MT_KERNEL_SAMPLE,
	       .misc = MT_CPUMODE_USER,
	       .size = (uint16_t)(32 + 24 * count),
	       .ip = ip,
	       .pid = PID,
	       .tid = PID,
	       .count = count};

	for (size_t i = 0; i < count; i++)
		memcpy(s.words[i], branches[i], sizeof(branches[i]));
	MT_CHECK(mt_sample_put(
		block, time,
		&(struct mt_sample_pieces){
			.event = 1, .head = (const uint8_t *)&s, .head_size = s.size, .tid = PID}));
}

static void put_code(struct mt_block *block, uint64_t time, const char *name)
{
	const struct made_map map = {
		.pid = PID, .start = CODE, .length = LENGTH, .name = name, .offset = OFFSET};

	MT_CHECK(put_mmap(block, time, &map));
}

MT_TEST(what_lies_between_two_branches_is_told_once)
{
	const uint64_t branches[][2] = {{CODE + 0x203, CODE + 0x300}, {CODE + 0x105, CODE + 0x1f8}};
	struct mt_branch_code *code = create(MT_BRANCH_ANY);
	struct mt_block samples = block_of(1), maps = block_of(0);

	add_file(code, "/bin/a");
	for (uint64_t t = 10; t < 20; t++)
		put_sample(&samples, t, CODE + 0x308, branches, 2);
	put_code(&maps, 5, "/bin/a");
	mt_branch_code_see(code, &samples, false); /* ahead of what it was mapped by */
	mt_branch_code_see(code, &maps, false);
	MT_CHECK(!told.calls);
	mt_branch_code_settle(code, SECOND);
	MT_CHECK_STR(told.path, "/bin/a");
	MT_CHECK_EQ(told.calls, 1);
	/* the oldest one's instruction; from its target to the next; from there to the ip */
	MT_CHECK_EQ(told.count, 2 + 3 + 2);
	MT_CHECK_EQ(times_told(CODE + 0x105), 1);
	MT_CHECK_EQ(times_told(CODE + 0x1f8), 1);
	MT_CHECK_EQ(times_told(CODE + 0x203), 1);
	MT_CHECK_EQ(times_told(CODE + 0x300), 1);
	MT_CHECK_EQ(times_told(CODE + 0x317), 1); /* an instruction may be that long */
	MT_CHECK_EQ(times_told(CODE + 0x120), 0);
	mt_branch_code_see(code, &samples, false);
	mt_branch_code_finish(code);
	MT_CHECK_EQ(told.calls, 1);
	MT_CHECK(!mt_branch_code_counts(code).nowhere);
	mt_branch_code_destroy(code);
}

MT_TEST(what_came_to_be_mapped_later_is_another_file)
{
	const uint64_t branches[][2] = {{CODE + 0x200, CODE + 0x300}};
	struct mt_branch_code *code = create(MT_BRANCH_ANY);
	struct mt_block samples = block_of(1), maps = block_of(0);

	add_file(code, "/bin/a");
	add_file(code, "/bin/b");
	put_code(&maps, 5, "/bin/a");
	mt_branch_code_see(code, &maps, false);
	put_sample(&samples, 10, CODE + 0x300, branches, 1);
	mt_branch_code_see(code, &samples, false);
	mt_branch_code_settle(code, SECOND);
	MT_CHECK_STR(told.path, "/bin/a");
	maps = block_of(0);
	put_code(&maps, SECOND + 5, "/bin/b");
	samples = block_of(1);
	put_sample(&samples, SECOND + 10, CODE + 0x300, branches, 1);
	mt_branch_code_see(code, &maps, false);
	mt_branch_code_see(code, &samples, false);
	mt_branch_code_settle(code, SECOND + 5); /* the mapping's time is not over */
	MT_CHECK_EQ(told.calls, 1);
	mt_branch_code_settle(code, 3 * SECOND);
	MT_CHECK_EQ(told.calls, 2);
	MT_CHECK_STR(told.path, "/bin/b");
	mt_branch_code_destroy(code);
}

MT_TEST(the_kernel_in_between_and_contradictions)
{
	/* an interrupt that ends at 0x210; a blank; and a run backwards, and one too long */
	const uint64_t branches[][2] = {{CODE + 0x240, CODE + 0x500},
					{KERNEL, CODE + 0x210},
					{CODE + 0x20c, KERNEL},
					{CODE + 0x100, CODE + 0x200}};
	const uint64_t odd[][2] = {{CODE + 0x8000, CODE + 0x9000},
				   {CODE + 0x1000, CODE + 0x2000},
				   {0, 0},
				   {CODE + 0x30000, CODE + 0x40}};
	struct mt_branch_code *code = create(MT_BRANCH_ANY);
	struct mt_block block = block_of(1);

	add_file(code, "/bin/a");
	put_code(&block, 5, "/bin/a");
	put_sample(&block, 10, KERNEL + 8, branches, 4);
	mt_branch_code_see(code, &block, false);
	mt_branch_code_settle(code, SECOND);
	MT_CHECK_EQ(told.count, 1 + 5); /* 0x100; 0x200 to 0x210 and from there to 0x240 */
	MT_CHECK_EQ(times_told(CODE + 0x200), 1);
	MT_CHECK_EQ(times_told(CODE + 0x230), 1);
	MT_CHECK_EQ(times_told(CODE + 0x500), 0);
	put_sample(&block, 20, CODE + 0x8fff, odd, 4);
	mt_branch_code_see(code, &block, false);
	mt_branch_code_finish(code);
	MT_CHECK_EQ(times_told(CODE + 0x1000), 1);
	MT_CHECK_EQ(times_told(CODE + 0x8000), 1);
	MT_CHECK_EQ(times_told(CODE + 0x4000), 1); /* may have run from 0x2000 to 0x8000 */
	MT_CHECK_EQ(times_told(CODE + 0x30000), 1);
	MT_CHECK_EQ(times_told(CODE + 0x8fff), 1);
	MT_CHECK_EQ(times_told(CODE + 0x9000), 1);
	MT_CHECK_EQ(times_told(CODE + 0x40), 0);
	mt_branch_code_destroy(code);
}

MT_TEST(of_a_call_stack_the_calls_alone)
{
	const uint64_t branches[][2] = {{CODE + 0x200, CODE + 0x300}, {CODE + 0x100, CODE + 0x180}};
	struct mt_branch_code *code = create(MT_BRANCH_CALL_STACK);
	struct mt_block block = block_of(1);

	add_file(code, "/bin/a");
	put_code(&block, 5, "/bin/a");
	put_sample(&block, 10, CODE + 0x320, branches, 2);
	mt_branch_code_see(code, &block, false);
	mt_branch_code_finish(code);
	MT_CHECK_EQ(told.count, 2);
	MT_CHECK_EQ(times_told(CODE + 0x100), 1);
	MT_CHECK_EQ(times_told(CODE + 0x200), 1);
	mt_branch_code_destroy(code);
}

MT_TEST(what_is_not_told_is_counted)
{
	const uint64_t branches[][2] = {{CODE + 0x200, CODE + 0x300}};
	struct mt_branch_code *code = create(MT_BRANCH_ANY);
	struct mt_block block = block_of(1);

	put_code(&block, 5, "//anon");
	put_sample(&block, 10, 0, branches, 1);
	mt_branch_code_see(code, &block, false);
	mt_branch_code_see(code, &block, true);
	mt_branch_code_finish(code);
	MT_CHECK(!told.calls);
	MT_CHECK_EQ(mt_branch_code_counts(code).nowhere, 1);
	MT_CHECK_EQ(mt_branch_code_counts(code).passed, 1);
	mt_branch_code_destroy(code);
}

MT_TEST(nonsense_does_no_harm)
{
	const uint64_t branches[][2] = {{INT64_MAX, INT64_MAX - 1},
					{1, INT64_MAX - 0x1000},
					{UINT64_MAX, UINT64_MAX},
					{UINT64_MAX, 1}};
	struct mt_branch_code *code = create(MT_BRANCH_ANY);
	struct mt_block block = block_of(1);

	put_code(&block, 5, "/bin/a"); /* which nobody told the place of */
	put_sample(&block, 10, INT64_MAX, branches, 4);
	put_sample(&block, 11, CODE + 8, (const uint64_t[][2]){{CODE, CODE + LENGTH - 1}}, 1);
	put_sample(&block, 12, 0, NULL, 0);
	mt_branch_code_see(code, &block, false);
	mt_branch_code_finish(code);
	MT_CHECK(!told.calls);
	MT_CHECK(mt_branch_code_counts(code).nowhere);
	mt_branch_code_destroy(code);
}

MT_TEST_MAIN
