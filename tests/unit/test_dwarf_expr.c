/* unwind/cfi/dwarf_expr: the operations that call frame information may use, and their bounds. */
#include "unwind/cfi/dwarf_expr.h"

#include "tests/unit/cfi_builder.h"
#include "tests/unit/unit.h"
#include "unwind/cfi/dump.h"
#include "unwind/unwind.h"

static bool eval(const uint8_t *bytes, size_t size, const uint64_t *cfa, uint64_t *out)
{
	static const uint8_t stack[16] = {1, 2, 3, 4, 5, 6, 7, 8, 0x99};
	const struct mt_dump dump = {.bytes = stack, .start = 0x7000, .size = sizeof(stack)};
	const struct mt_unwind_regs regs = {.value = {[6] = 0x6000, [7] = 0x7000}, .valid = 0xc0};
	const struct mt_dwarf_expr expr = {
		.bytes = bytes, .size = size, .regs = &regs, .dump = &dump, .cfa = cfa};

	return mt_dwarf_expr_eval(&expr, out);
}

static uint64_t value(const uint8_t *bytes, size_t size)
{
	uint64_t out = 0xbad;

	MT_CHECK(eval(bytes, size, NULL, &out));
	return out;
}

static bool fails(const uint8_t *bytes, size_t size)
{
	uint64_t out;

	return !eval(bytes, size, NULL, &out);
}

MT_TEST(registers_and_memory)
{
	MT_CHECK_EQ(value(BYTES(0x77, 8)), 0x7008);
	MT_CHECK_EQ(value(BYTES(0x76, 0x78)), 0x6000 - 8);
	MT_CHECK_EQ(value(BYTES(0x92, 7, 16)), 0x7010);
	MT_CHECK_EQ(value(BYTES(0x77, 0, 0x06)), 0x0807060504030201);
	MT_CHECK_EQ(value(BYTES(0x77, 8, 0x94, 1)), 0x99);
	MT_CHECK(fails(BYTES(0x70, 0)));       /* rax is not known */
	MT_CHECK(fails(BYTES(0x92, 99, 0)));   /* no such register */
	MT_CHECK(fails(BYTES(0x77, 9, 0x06))); /* one byte past the dump */
	MT_CHECK(fails(BYTES(0x77, 0x7f, 0x06)));
	MT_CHECK(fails(BYTES(0x77, 0, 0x94, 9)));
}

MT_TEST(constants)
{
	MT_CHECK_EQ(value(BYTES(0x31)), 1);
	MT_CHECK_EQ(value(BYTES(0x08, 0xff)), 255);
	MT_CHECK_EQ(value(BYTES(0x09, 0xff)), -1);
	MT_CHECK_EQ(value(BYTES(0x0b, 0xfe, 0xff)), -2);
	MT_CHECK_EQ(value(BYTES(0x0c, 1, 0, 0, 0x80)), 0x80000001);
	MT_CHECK_EQ(value(BYTES(0x10, 0x80, 1)), 128);
	MT_CHECK_EQ(value(BYTES(0x11, 0x7f)), -1);
}

MT_TEST(arithmetic)
{
	MT_CHECK_EQ(value(BYTES(0x37, 0x32, 0x1c)), 5);	       /* 7 - 2 */
	MT_CHECK_EQ(value(BYTES(0x37, 0x32, 0x1b)), 3);	       /* 7 / 2 */
	MT_CHECK_EQ(value(BYTES(0x37, 0x32, 0x1d)), 1);	       /* 7 mod 2 */
	MT_CHECK_EQ(value(BYTES(0x33, 0x34, 0x24)), 48);       /* 3 << 4 */
	MT_CHECK_EQ(value(BYTES(0x33, 0x08, 64, 0x24)), 0);    /* 3 << 64 */
	MT_CHECK_EQ(value(BYTES(0x09, 0xf0, 0x32, 0x26)), -4); /* -16 >> 2 */
	MT_CHECK_EQ(value(BYTES(0x33, 0x1f, 0x19)), 3);	       /* |-3| */
	MT_CHECK_EQ(value(BYTES(0x33, 0x23, 5)), 8);	       /* 3 + 5 */
	MT_CHECK_EQ(value(BYTES(0x33, 0x34, 0x2a)), 0);	       /* 3 >= 4 */
	MT_CHECK(fails(BYTES(0x33, 0x30, 0x1b)));	       /* by zero */
	MT_CHECK(fails(BYTES(0x33, 0x30, 0x1d)));
	MT_CHECK(fails(BYTES(0x0f, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 0xff, 0x1b)));
}

MT_TEST(the_stack_is_shuffled)
{
	MT_CHECK_EQ(value(BYTES(0x31, 0x32, 0x16, 0x1c)), 1);	 /* swap */
	MT_CHECK_EQ(value(BYTES(0x31, 0x32, 0x14, 0x1c)), 1);	 /* over: 2 - 1 */
	MT_CHECK_EQ(value(BYTES(0x31, 0x32, 0x33, 0x17)), 2);	 /* rot: 3 1 2 */
	MT_CHECK_EQ(value(BYTES(0x31, 0x32, 0x33, 0x15, 2)), 1); /* pick */
	MT_CHECK_EQ(value(BYTES(0x31, 0x12, 0x22)), 2);		 /* dup */
	MT_CHECK_EQ(value(BYTES(0x31, 0x32, 0x13)), 1);		 /* drop */
	MT_CHECK(fails(BYTES(0x13)));
	MT_CHECK(fails(BYTES(0x31, 0x15, 1)));
	MT_CHECK(fails(NO_BYTES));
}

MT_TEST(branches_stay_inside_and_end)
{
	MT_CHECK_EQ(value(BYTES(0x31, 0x2f, 1, 0, 0x13, 0x35, 0x22)), 6); /* skip over the drop */
	MT_CHECK_EQ(value(BYTES(0x31, 0x30, 0x28, 1, 0, 0x12, 0x22)), 2); /* not taken */
	MT_CHECK(fails(BYTES(0x31, 0x2f, 0xfd, 0xff)));			  /* endless loop */
	MT_CHECK(fails(BYTES(0x31, 0x2f, 0x00, 0x10))); /* out of the expression */
	MT_CHECK(fails(BYTES(0x12, 0x31, 0x2f, 0xfc, 0xff)));
	MT_CHECK(fails(BYTES(0x31, 0x12, 0x2f, 0xfc, 0xff))); /* endless pushes */
}

MT_TEST(the_cfa_is_there_when_it_is_known)
{
	const uint64_t cfa = 0x5000;
	uint64_t out = 0;

	MT_CHECK(eval(BYTES(0x23, 8), &cfa, &out));
	MT_CHECK_EQ(out, 0x5008);
	MT_CHECK(eval(BYTES(0x9c), &cfa, &out));
	MT_CHECK_EQ(out, 0x5000);
	MT_CHECK(fails(BYTES(0x9c)));
}

MT_TEST(what_has_no_place_in_cfi_is_refused)
{
	MT_CHECK(fails(BYTES(0x31, 0x93, 8))); /* piece */
	MT_CHECK(fails(BYTES(0x57)));	       /* reg7 */
	MT_CHECK(fails(BYTES(0x97)));	       /* push_object_address */
	MT_CHECK(fails(BYTES(0x31, 0x32, 0xff)));
}

MT_TEST_MAIN
