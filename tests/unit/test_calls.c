/* report/calls: system calls that are told apart by number. */
#include "report/calls.h"

#include "formats/base/bytes.h"
#include "formats/sample.h"
#include "tests/unit/unit.h"

MT_TEST(the_number_stands_in_the_filter)
{
	MT_CHECK_EQ(mt_call_number("raw_syscalls:sys_exit/id == 12/"), 12);
	MT_CHECK_EQ(mt_call_number("raw_syscalls:sys_enter/id == 0/"), 0);
	MT_CHECK_EQ(mt_call_number("raw_syscalls:sys_exit/(id == 9) && (ret > 0)/"), 9);
	MT_CHECK_EQ(mt_call_number("raw_syscalls:sys_exit/ret > 0 && id == 9/"), -1);
	MT_CHECK_EQ(mt_call_number("raw_syscalls:sys_exit/(id == 9 || id == 8) && (ret)/"), -1);
	MT_CHECK_EQ(mt_call_number("raw_syscalls:sys_exit/"), -1);
	MT_CHECK_EQ(mt_call_number("raw_syscalls:sys_exit"), -1);
	MT_CHECK_EQ(mt_call_number("raw_syscalls:sys_exit/id == /"), -1);
	MT_CHECK_EQ(mt_call_number("raw_syscalls:sys_exit/id == 12 || 1/"), -1);
	MT_CHECK_EQ(mt_call_number("raw_syscalls:sys_exit/ret < 0/"), -1);
	MT_CHECK_EQ(mt_call_number("syscalls:sys_exit_brk/id == 12/"), -1);
}

MT_TEST(only_that_number_by_a_64_bit_program)
{
	uint8_t raw[24] = {0};
	struct mt_sample sample = {.raw = raw, .raw_size = sizeof(raw), .user_abi = 2};

	mt_put_le64(raw + 8, 12);
	MT_CHECK(mt_call_is(&sample, 12));
	MT_CHECK(!mt_call_is(&sample, 9));
	sample.user_abi = 1;
	MT_CHECK(!mt_call_is(&sample, 12));
	sample.user_abi = 2;
	sample.raw_size = 12;
	MT_CHECK(!mt_call_is(&sample, 12));
}

MT_TEST_MAIN
