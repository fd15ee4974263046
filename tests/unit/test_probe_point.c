/*
 * record/probes/probe_point: the cheapest place for a probe in a function. Instructions are
 * compared with capstone.
 */
#include "record/probes/probe_point.h"

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>

#include "symbols/elf/elf.h"
#include "tests/unit/unit.h"

enum {
	DI = 1 << 7,
	SI = 1 << 6,
	AX = 1 << 0,
};

/* Checks the chosen offset for code in hex. */
static void check_point(const char *hex, uint32_t needed, size_t offset, const char *instruction)
{
	uint8_t code[128];
	size_t size = 0;
	struct mt_probe_point point;
	int used;

	for (unsigned byte; sscanf(hex, "%2x%n", &byte, &used) == 1; hex += used)
		code[size++] = (uint8_t)byte;
	point = mt_probe_point_choose(code, size, needed);
	MT_CHECK_EQ(point.offset, offset);
	MT_CHECK_STR(point.instruction ? point.instruction : "none", instruction);
}

MT_TEST(the_first_instruction_that_is_emulated_and_that_every_call_passes)
{
	/* push %rbp */
	check_point("55 48 89 e5 c3", DI, 0, "push");
	/* test %rdi,%rdi; je +2; push %rbp: not after the branch */
	check_point("48 85 ff 74 02 55 c3", DI, 3, "jump");
	/* endbr64; push %r12 */
	check_point("f3 0f 1e fa 41 54 c3", DI, 4, "push");
	/* mov %fs:0x28,%rax; call */
	check_point("64 48 8b 04 25 28 00 00 00 e8 00 00 00 00 c3", DI, 9, "call");
	check_point("90 c3", DI, 0, "nop");
}

MT_TEST(registers_that_are_fetched_are_as_they_were)
{
	/* mov %rsi,%rdi; push %rbx */
	check_point("48 89 f7 53 c3", DI, 0, "none");
	check_point("48 89 f7 53 c3", SI, 3, "push");
	/* mov %rdi,8(%rsp); push %rbx: the probe reads that memory */
	check_point("48 89 7c 24 08 53 c3", MT_WRITTEN_MEMORY, 0, "none");
	check_point("48 89 7c 24 08 53 c3", DI, 5, "push");
	/* sub $8,%rsp; call */
	check_point("48 83 ec 08 e8 00 00 00 00", 1 << MT_REGISTER_SP, 0, "none");
	check_point("48 83 ec 08 e8 00 00 00 00", DI, 4, "call");
	MT_CHECK_EQ(mt_probe_needed("p:g/e f:0x1 a=%di:u64 b=%si:u32 c=%ax:u64"), DI | SI | AX);
	MT_CHECK_EQ(mt_probe_needed("p:g/e f:0x1 a=%r9:u64 b=%r15:u32"), 1 << 9 | 1 << 15);
	MT_CHECK_EQ(mt_probe_needed("p:g/e f:0x1 a=$stack1:u64"),
		    1 << MT_REGISTER_SP | MT_WRITTEN_MEMORY);
	MT_CHECK_EQ(mt_probe_needed("p:g/e f:0x1 a=+0(%di):string"), DI | MT_WRITTEN_MEMORY);
}

MT_TEST(a_place_that_loops_come_back_to_is_not_taken)
{
	/* xor %eax,%eax; loop: test %rdi,%rdi; je out; shr %rdi; inc %eax; jmp loop; out: ret */
	check_point("31 c0 48 85 ff 74 07 48 d1 ef ff c0 eb f4 c3", DI, 0, "none");
	/* the same, but the loop jumps to the start: a probe there hits in each round as well */
	check_point("48 85 ff 74 07 48 d1 ef ff c0 eb f4 c3", DI, 3, "jump");
	/* a jump through a register may lead anywhere */
	check_point("48 85 ff 74 02 ff e0 c3", DI, 0, "none");
}

MT_TEST(what_is_not_known_ends_the_search)
{
	/* cpuid; push */
	check_point("0f a2 55", 0, 0, "none");
	check_point("48 89", 0, 0, "none");
	check_point("", 0, 0, "none");
	/* rep stos changes registers that the table does not list */
	check_point("f3 48 ab 55", 0, 0, "none");
}

/* The bit of a register or a part of one; 0 if it is no general register. */
static uint32_t bit_of(csh handle, unsigned reg)
{
	static const char *const names[16][6] = {
		{"rax", "eax", "ax", "al", "ah"},    {"rcx", "ecx", "cx", "cl", "ch"},
		{"rdx", "edx", "dx", "dl", "dh"},    {"rbx", "ebx", "bx", "bl", "bh"},
		{"rsp", "esp", "sp", "spl", ""},     {"rbp", "ebp", "bp", "bpl", ""},
		{"rsi", "esi", "si", "sil", ""},     {"rdi", "edi", "di", "dil", ""},
		{"r8", "r8d", "r8w", "r8b", ""},     {"r9", "r9d", "r9w", "r9b", ""},
		{"r10", "r10d", "r10w", "r10b", ""}, {"r11", "r11d", "r11w", "r11b", ""},
		{"r12", "r12d", "r12w", "r12b", ""}, {"r13", "r13d", "r13w", "r13b", ""},
		{"r14", "r14d", "r14w", "r14b", ""}, {"r15", "r15d", "r15w", "r15b", ""},
	};
	const char *name = cs_reg_name(handle, reg);

	for (unsigned i = 0; name && i < 16; i++) {
		for (unsigned k = 0; k < 6 && names[i][k]; k++) {
			if (!strcmp(names[i][k], name))
				return 1u << i;
		}
	}
	return 0;
}

static uint32_t written_by(csh handle, const cs_insn *insn)
{
	cs_regs read, write;
	uint8_t reads, writes;
	uint32_t written = 0;

	if (cs_regs_access(handle, insn, read, &reads, write, &writes))
		return UINT32_MAX;
	for (uint8_t i = 0; i < writes; i++)
		written |= bit_of(handle, write[i]);
	return written;
}

/* Checks every known instruction up to a branch; returns their number. */
static size_t hold_against(csh handle, const uint8_t *code, size_t size)
{
	size_t at = 0, count = 0, length;
	cs_insn *insn = cs_malloc(handle);

	for (; at < size && at < 64; at += length, count++) {
		const uint8_t *from = code + at;
		const char *emulated;
		size_t left = size - at;
		uint64_t address = at;
		uint32_t written, theirs;

		length = mt_probe_instruction(from, left, &written, &emulated);
		if (!length || !cs_disasm_iter(handle, &from, &left, &address, insn))
			break;
		theirs = written_by(handle, insn);
		if (from[-insn->size] == 0xa8) /* capstone 4 claims that `test $1,%al` writes al */
			theirs = 0;
		if (!MT_CHECK_EQ(length, insn->size) || !MT_CHECK(!(theirs & ~written)))
			printf("#   %s %s: %#x, theirs %#x\n", insn->mnemonic, insn->op_str,
			       written, theirs);
		if (emulated && strcmp(emulated, "push") != 0 && strcmp(emulated, "nop") != 0)
			break;
	}
	cs_free(insn, 1);
	return count;
}

MT_TEST(instructions_are_as_capstone_has_them)
{
	size_t symbols, functions = 0, instructions = 0;
	struct mt_elf *elf = NULL;
	Dl_info libc;
	csh handle;

	MT_REQUIRE(dladdr((void *)strtoull, &libc)); /* NOLINT: a function as data */
	MT_REQUIRE(MT_CHECK_OK(mt_elf_open_file(libc.dli_fname, &elf)));
	MT_REQUIRE(!cs_open(CS_ARCH_X86, CS_MODE_64, &handle));
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	symbols = mt_elf_symbol_count(elf, true);
	for (size_t i = 0; i < symbols; i++) {
		struct mt_elf_symbol symbol;
		const uint8_t *code;

		if (!mt_elf_symbol(elf, true, i, &symbol) || symbol.type != STT_FUNC ||
		    !symbol.section)
			continue;
		code = mt_elf_bytes_at(elf, symbol.value, symbol.size);
		functions += code != NULL;
		instructions += code ? hold_against(handle, code, symbol.size) : 0;
	}
	MT_CHECK(functions > 1000 && instructions > 2 * functions);
	cs_close(&handle);
	mt_elf_destroy(elf);
}

MT_TEST_MAIN
