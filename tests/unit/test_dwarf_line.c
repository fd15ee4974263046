/* Line programs gone over in blocks: where that ends, the machine is as if run opcode by opcode. */
#include <stdlib.h>
#include <string.h>

#include "symbols/dwarf.h"
#include "tests/unit/unit.h"

enum {
	SIZE = 4096,
	ROUNDS = 400,
};

static struct mt_line_rules rules_of(uint8_t range, int8_t base)
{
	struct mt_line_rules rules = {
		.minimum_length = 1,
		.line_range = range,
		.opcode_base = 13,
		.line_base = base,
		.reciprocal = (uint16_t)(65536 / range + 1),
		.lengths = {0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1},
	};

	for (unsigned int opcode = 13; opcode < 256; opcode++) {
		rules.special[opcode].advance = (uint16_t)((opcode - 13) / range);
		rules.special[opcode].line = (int16_t)(base + (int)((opcode - 13) % range));
	}
	return rules;
}

/* What compilers write, and now and then any byte. */
static void make_program(uint8_t *bytes)
{
	static const uint8_t common[] = {5, 5, 5, 3, 3, 1, 6, 4, 8, 10, 2, 0, 9, 12, 7, 11};

	for (size_t i = 0; i < SIZE; i++) {
		int kind = rand() % 16;

		bytes[i] = kind < 8	? common[(size_t)rand() % 11]
			   : kind < 12	? (uint8_t)(13 + rand() % 243)
			   : kind < 15	? (uint8_t)(rand() % 128)
			   : rand() % 4 ? common[(size_t)rand() % sizeof(common)]
					: (uint8_t)rand();
	}
	for (size_t i = 0; i + 4 < SIZE;
	     i += (size_t)(rand() % 200)) /* discriminators, or nearly */
		memcpy(bytes + i, (uint8_t[]){0, 2, 4, (uint8_t)(rand() % 136)}, 3 + rand() % 2);
	for (size_t i = (size_t)(rand() % SIZE); i + 400 < SIZE; i += (size_t)(rand() % SIZE)) {
		bytes[i] = 5; /* with an operand that is longer than blocks are */
		memset(bytes + i + 1, 0x80 | rand() % 128, (size_t)(rand() % 399));
	}
}

/* One opcode, read the plain way; false for those that the fast way must leave alone. */
static bool step(const struct mt_line_rules *rules, struct mt_line_machine *m)
{
	uint8_t opcode = mt_cursor_u8(&m->c), length;

	m->address += opcode >= 13 ? rules->special[opcode].advance : 0;
	m->line += opcode >= 13 ? (uint32_t)(int32_t)rules->special[opcode].line : 0;
	switch (opcode) {
	case 0: /* a discriminator */
		length = mt_cursor_u8(&m->c);
		if (length && mt_cursor_u8(&m->c) != 4)
			return false;
		length += !length;
		mt_cursor_bytes(&m->c, length - 1);
		break;
	case 3:
		m->line += (uint32_t)mt_dwarf_sleb(&m->c);
		break;
	case 4:
		m->file = (uint32_t)mt_dwarf_uleb(&m->c);
		break;
	case 5:
		mt_dwarf_uleb(&m->c);
		break;
	case 8:
		m->address += rules->special[255].advance;
		break;
	case 2:
	case 9:
	case 12:
		return false;
	}
	return !m->c.bad;
}

/*
 * Goes over a program both ways, fast by rules->run; gives how much of it was gone over so, or -1
 * where they differ.
 */
static long run_both(const struct mt_line_rules *rules, const uint8_t *bytes)
{
	struct mt_line_machine fast = {.c = mt_cursor_init(bytes, SIZE), .line = 1, .file = 1},
			       plain;
	long over = 0;

	while (mt_cursor_left(&fast.c)) {
		size_t left = mt_cursor_left(&fast.c), most = 1 + (size_t)(rand() % 500);

		plain = fast;
		rules->run(rules, fast.c.pos + (left < most ? left : most), &fast);
		over += fast.c.pos - plain.c.pos;
		while (plain.c.pos < fast.c.pos) {
			if (!step(rules, &plain))
				return -1;
		}
		if (plain.c.pos != fast.c.pos || plain.address != fast.address ||
		    plain.line != fast.line || plain.file != fast.file)
			return -1;
		if (!step(rules, &fast)) /* whatever it is, what follows is a program, too */
			fast.c.bad = false;
	}
	return over;
}

/* How much of many programs a way goes over, or -1 where it was wrong. */
static long run_many(void (*run)(const struct mt_line_rules *, const uint8_t *,
				 struct mt_line_machine *))
{
	static uint8_t bytes[SIZE];
	static const struct {
		uint8_t range;
		int8_t base;
	} forms[] = {{14, -5}, {14, -3}, {12, -10}, {2, 0}, {255, -128}, {243, 127}};
	long over = 0;

	srand(7);
	for (int i = 0; i < ROUNDS; i++) {
		struct mt_line_rules rules = rules_of(forms[i % 6].range, forms[i % 6].base);
		long once;

		rules.run = run;
		make_program(bytes);
		once = run_both(&rules, bytes);
		if (once < 0)
			return once;
		over += once;
	}
	return over;
}

MT_TEST(blocks_are_run_as_their_opcodes_are)
{
	struct mt_line_rules rules = rules_of(14, -5);

	if (!mt_line_fast_usable(&rules))
		MT_SKIP("this processor has no AVX2");
	MT_CHECK(run_many(mt_line_fast_run) > (long)SIZE * ROUNDS / 4);
}

MT_TEST(wide_blocks_are_run_as_their_opcodes_are)
{
	struct mt_line_rules rules = rules_of(14, -5);

	if (!mt_line_wide_usable(&rules))
		MT_SKIP("this processor has no AVX-512");
	MT_CHECK(run_many(mt_line_wide_run) > (long)SIZE * ROUNDS / 4);
}

MT_TEST(programs_with_other_rules_are_left_alone)
{
	struct mt_line_rules rules = rules_of(14, -5);

	rules.minimum_length = 4;
	MT_CHECK(!mt_line_fast_usable(&rules));
	rules = rules_of(14, -5);
	rules.opcode_base = 10;
	MT_CHECK(!mt_line_fast_usable(&rules));
	rules = rules_of(14, -5);
	rules.lengths[5] = 0;
	MT_CHECK(!mt_line_fast_usable(&rules));
}

MT_TEST_MAIN
