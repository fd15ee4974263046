/*
 * unwind/branches/lbr: branch records replayed, entry by entry; symbols/images/disasm: what an
 * instruction is.
 */
#include "unwind/branches/lbr.h"

#include "symbols/images/disasm.h"
#include "tests/unit/unit.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Oldest first, as it happened; replays it newest first and gives the open calls' sources. */
static size_t replay(const struct mt_lbr_entry *happened, size_t count, uint64_t *sources)
{
	struct mt_lbr_entry entries[16];
	uint16_t calls[16];
	size_t depth;

	for (size_t i = 0; i < count; i++)
		entries[i] = happened[count - 1 - i];
	depth = mt_lbr_replay(entries, count, calls, COUNT(calls));
	for (size_t i = 0; i < depth; i++)
		sources[i] = entries[calls[i]].from;
	return depth;
}

#define CALL(f, t)                                                      \
	{                                                               \
		.from = (f), .to = (t), .kind = MT_INSN_CALL, .size = 5 \
	}
#define RET(f, t)                                                         \
	{                                                                 \
		.from = (f), .to = (t), .kind = MT_INSN_RETURN, .size = 1 \
	}
#define JUMP(f, t)                                                      \
	{                                                               \
		.from = (f), .to = (t), .kind = MT_INSN_JUMP, .size = 5 \
	}

MT_TEST(calls_that_did_not_return_are_the_callers)
{
	const struct mt_lbr_entry happened[] = {
		CALL(0x100, 0x200), CALL(0x210, 0x300), RET(0x310, 0x215),
		JUMP(0x220, 0x230), CALL(0x240, 0x400),
	};
	uint64_t sources[16];

	MT_REQUIRE(replay(happened, COUNT(happened), sources) == 2);
	MT_CHECK_EQ(sources[0], 0x240);
	MT_CHECK_EQ(sources[1], 0x100);
}

MT_TEST(a_return_from_what_was_called_before_leaves_nothing_known)
{
	const struct mt_lbr_entry happened[] = {RET(0x110, 0x505), CALL(0x510, 0x600)};
	uint64_t sources[16];

	MT_REQUIRE(replay(happened, COUNT(happened), sources) == 1);
	MT_CHECK_EQ(sources[0], 0x510);
}

MT_TEST(a_return_elsewhere_gives_up_all_that_is_older)
{
	const struct mt_lbr_entry happened[] = {CALL(0x100, 0x200), CALL(0x210, 0x300),
						RET(0x310, 0x999), CALL(0x9a0, 0x400)};
	uint64_t sources[16];

	MT_REQUIRE(replay(happened, COUNT(happened), sources) == 1);
	MT_CHECK_EQ(sources[0], 0x9a0);
}

MT_TEST(a_gap_gives_up_all_that_is_older)
{
	struct mt_lbr_entry happened[] = {CALL(0x100, 0x200), CALL(0x210, 0x300),
					  CALL(0x800, 0x400)};
	uint64_t sources[16];

	happened[2].gap = true;
	MT_REQUIRE(replay(happened, COUNT(happened), sources) == 1);
	MT_CHECK_EQ(sources[0], 0x800);
}

MT_TEST(a_branch_of_no_known_kind_gives_up_all_that_is_older)
{
	const struct mt_lbr_entry happened[] = {
		CALL(0x100, 0x200), {.from = 0x210, .to = 0x300}, CALL(0x310, 0x400)};
	uint64_t sources[16];

	MT_CHECK_EQ(replay(happened, COUNT(happened), sources), 1);
}

MT_TEST(a_call_of_the_next_instruction_calls_nothing)
{
	const struct mt_lbr_entry happened[] = {CALL(0x100, 0x200), CALL(0x210, 0x215),
						RET(0x220, 0x105)};
	uint64_t sources[16];

	MT_CHECK_EQ(replay(happened, COUNT(happened), sources), 0);
	MT_CHECK_EQ(replay(happened, 2, sources), 1);
}

MT_TEST(without_its_code_a_call_is_as_long_as_an_instruction_may_be)
{
	struct mt_lbr_entry call = CALL(0x100, 0x200);

	call.size = 0;
	MT_CHECK(mt_lbr_is_return(&call, 0x102) && mt_lbr_is_return(&call, 0x10f));
	MT_CHECK(!mt_lbr_is_return(&call, 0x110) && !mt_lbr_is_return(&call, 0x100));
}

MT_TEST(no_more_callers_than_there_is_room_for)
{
	const struct mt_lbr_entry entries[] = {CALL(0x310, 0x400), CALL(0x210, 0x300),
					       CALL(0x100, 0x200)};
	uint16_t calls[2];

	MT_REQUIRE(mt_lbr_replay(entries, 3, calls, 2) == 2);
	MT_CHECK_EQ(calls[0], 0);
	MT_CHECK_EQ(calls[1], 1);
	MT_CHECK_EQ(mt_lbr_replay(entries, 0, calls, 2), 0);
}

MT_TEST(instructions_are_what_their_bytes_say)
{
	static const struct {
		const char *bytes;
		size_t size;
		enum mt_insn_kind kind;
		bool loads_sp;
	} insns[] = {
		{"\xe8\x00\x00\x00\x00", 5, MT_INSN_CALL, false},
		{"\xff\xd0", 2, MT_INSN_CALL_INDIRECT, false},
		{"\xff\x15\x00\x00\x00\x00", 6, MT_INSN_CALL_INDIRECT, false},
		{"\xeb\x10", 2, MT_INSN_JUMP, false},
		{"\x3e\xff\xe0", 3, MT_INSN_JUMP_INDIRECT, false},
		{"\x74\x10", 2, MT_INSN_CONDITIONAL, false},
		{"\xe3\x10", 2, MT_INSN_CONDITIONAL, false},
		{"\xc3", 1, MT_INSN_RETURN, false},
		{"\xc2\x08\x00", 3, MT_INSN_RETURN, false},
		{"\x0f\x05", 2, MT_INSN_SYSCALL, false},
		{"\xcc", 1, MT_INSN_STOP, false},
		{"\x0f\x0b", 2, MT_INSN_STOP, false},
		{"\x90", 1, MT_INSN_OTHER, false},
		{"\x48\x89\xec", 3, MT_INSN_OTHER, false}, /* mov %rbp, %rsp */
		{"\x48\x89\xc4", 3, MT_INSN_OTHER, true},  /* mov %rax, %rsp */
		{"\x48\x94", 2, MT_INSN_OTHER, true},	   /* xchg %rax, %rsp */
		{"\x5c", 1, MT_INSN_OTHER, true},	   /* pop %rsp */
		{"\x48\x8d\x65\xf0", 4, MT_INSN_OTHER, false},
		{"\x48\x8d\x60\x08", 4, MT_INSN_OTHER, true}, /* lea 8(%rax), %rsp */
	};
	struct mt_disasm *disasm = mt_disasm_create();
	struct mt_decoder decoder = mt_disasm_decoder(disasm);

	for (size_t i = 0; decoder.ready(decoder.context) && i < COUNT(insns); i++) {
		struct mt_insn insn = {0};

		MT_CHECK(decoder.decode(decoder.context, (const uint8_t *)insns[i].bytes,
					insns[i].size, &insn));
		MT_CHECK_EQ(insn.kind, insns[i].kind);
		MT_CHECK_EQ(insn.size, insns[i].size);
		MT_CHECK_EQ(insn.loads_sp, insns[i].loads_sp);
	}
	mt_disasm_destroy(disasm);
}

MT_TEST_MAIN
