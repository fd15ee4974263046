/* lbr_walk: where a hardware call stack begins, given the ips of a sample. */

#include "formats/records/sample.h"
#include "tests/unit/code_builder.h"
#include "tests/unit/unit.h"
#include "unwind/unwind.h"
#include "unwind/walk.h"

#define FRAMES 8

static struct mt_frame frames[FRAMES];

/* LOOP called READ; the newest record of READ leads to `to`. Returns the number of frames. */
static size_t unwind(uint64_t ip, uint64_t interrupted, uint64_t to, enum mt_stack_end *end)
{
	const struct mt_branch branches[] = {{.from = at(HERE, LOOP, 8), .to = to},
					     {.from = at(HERE, MAIN, 8), .to = at(HERE, LOOP, 0)}};
	struct mt_image_map *map = code_process(HERE, "/a");
	struct mt_unwinder *unwinder =
		mt_unwinder_create(&(struct mt_unwind_options){.max_frames = FRAMES});
	struct mt_stack stack = {.frames = frames, .capacity = FRAMES};
	struct mt_unwind_input input = {.ip = ip,
					.have_regs = true,
					.has_branches = true,
					.branches = branches,
					.branch_count = 2,
					.map = map};

	input.regs.valid = (1u << MT_UNWIND_REGS) - 1;
	input.regs.value[16] = interrupted;
	mt_unwind_method_find("auto")->unwind(unwinder, &input, &stack);
	*end = stack.end;
	mt_unwinder_destroy(unwinder);
	mt_image_map_destroy(map);
	return stack.count;
}

/* The interrupt came after WRITE was called, or the records are from that time. */
MT_TEST(a_call_stack_begins_with_the_precise_ip)
{
	enum mt_stack_end end;

	code_setup();
	code_add_file("/a");
	MT_CHECK_EQ(unwind(at(HERE, READ, 4), at(HERE, WRITE, 0), at(HERE, READ, 0), &end), 3);
	MT_CHECK_EQ(frames[0].pc, at(HERE, READ, 4));
	MT_CHECK_EQ(frames[1].pc, at(HERE, LOOP, 8));
	MT_CHECK_EQ(frames[2].pc, at(HERE, MAIN, 8));
	MT_CHECK_EQ(unwind(at(HERE, READ, 4), at(HERE, WRITE, 0), at(HERE, WRITE, 0), &end), 3);
	MT_CHECK_EQ(frames[0].pc, at(HERE, WRITE, 0));
	code_teardown();
}

/* HOOK may have jumped to READ and left its frame to it. */
MT_TEST(a_call_stack_goes_on_after_a_tail_call)
{
	enum mt_stack_end end;

	code_setup();
	code_add_file("/a");
	MT_CHECK_EQ(unwind(at(HERE, READ, 4), at(HERE, WRITE, 0), at(HERE, HOOK, 0), &end), 3);
	MT_CHECK_EQ(frames[0].pc, at(HERE, READ, 4));
	MT_CHECK_EQ(frames[1].pc, at(HERE, LOOP, 8));
	MT_CHECK_EQ(frames[2].pc, at(HERE, MAIN, 8));
	/* where code without CFI leads is not known */
	MT_CHECK_EQ(unwind(at(HERE, READ, 4), at(HERE, READ, 4), HERE + CODE_NOTHING, &end), 3);
	code_teardown();
}

MT_TEST(the_size_of_a_call_is_read_from_its_bytes)
{
	static const struct {
		const char *bytes;
		size_t n, size;
	} insns[] = {
		{"\xe8\x00\x00\x00\x00", 5, 5},		/* call rel32 */
		{"\xe8\x00\x00\x00", 4, 0},		/* cut short */
		{"\xff\xd0", 2, 2},			/* call *%rax */
		{"\x41\xff\xd4", 3, 3},			/* call *%r12 */
		{"\xff\x15\x00\x00\x00\x00", 6, 6},	/* call *disp(%rip) */
		{"\xff\x54\x24\x08", 4, 4},		/* call *8(%rsp) */
		{"\xff\x14\xc5\x00\x00\x00\x00", 7, 7}, /* call *disp(,%rax,8) */
		{"\x67\xe8\x00\x00\x00\x00", 6, 6},
		{"\xff\xe0", 2, 0}, /* jmp *%rax */
		{"\xff", 1, 0},
		{"\x90", 1, 0},
		{"", 0, 0},
	};

	for (size_t i = 0; i < sizeof(insns) / sizeof(insns[0]); i++)
		MT_CHECK_EQ(mt_fp_call_size((const uint8_t *)insns[i].bytes, insns[i].n),
			    insns[i].size);
}

MT_TEST_MAIN
