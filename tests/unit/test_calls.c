/* report/account/calls and report/account/call: the system call of an event and of a sample. */
#include "report/account/calls.h"

#include "formats/base/bytes.h"
#include "formats/records/sample.h"
#include "report/account/call.h"
#include "tests/unit/unit.h"

MT_TEST(the_number_is_in_the_filter)
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
	MT_CHECK_EQ(mt_call_number_in(&sample), 12);
	sample.user_abi = 1;
	MT_CHECK_EQ(mt_call_number_in(&sample), -1);
	sample.user_abi = 2;
	sample.raw_size = 12;
	MT_CHECK_EQ(mt_call_number_in(&sample), -1);
}

/* Events as on a 64-bit kernel: alone, with a user's filter, and for no call in particular. */
MT_TEST(an_event_is_of_the_call_that_its_name_or_number_says)
{
	static const struct {
		const char *name;
		enum mt_vm_call_moment moment;
		enum mt_vm_call_kind kind;
	} events[] = {
		{"syscalls:sys_enter_brk", MT_MOMENT_ENTER, MT_VM_BRK},
		{"syscalls:sys_exit_mmap", MT_MOMENT_EXIT, MT_VM_MMAP},
		{"syscalls:sys_exit_mmap/ret > 0/", MT_MOMENT_EXIT, MT_VM_MMAP},
		{"syscalls:sys_exit_mmap2", MT_MOMENT_NONE, MT_VM_NONE},
		{"syscalls:sys_exit_read", MT_MOMENT_NONE, MT_VM_NONE},
		{"raw_syscalls:sys_enter/id == 11/", MT_MOMENT_ENTER, MT_VM_MUNMAP},
		{"raw_syscalls:sys_exit/(id == 25) && (ret > 0)/", MT_MOMENT_EXIT, MT_VM_MREMAP},
		{"raw_syscalls:sys_exit/id == 425/", MT_MOMENT_EXIT, MT_VM_IO_URING_SETUP},
		{"raw_syscalls:sys_exit/id == 0/", MT_MOMENT_NONE, MT_VM_NONE},
		{"raw_syscalls:sys_exit", MT_MOMENT_EXIT, MT_VM_BY_NUMBER},
		{"raw_syscalls:sys_enter/ret > 0/", MT_MOMENT_ENTER, MT_VM_BY_NUMBER},
		{"mmap_lock:mmap_lock_acquire_returned/write == 1/", MT_MOMENT_LOCK, MT_VM_NONE},
		{"page-faults", MT_MOMENT_NONE, MT_VM_NONE},
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		enum mt_vm_call_kind kind = MT_VM_SHMAT;

		MT_CHECK_EQ(mt_vm_call_moment(events[i].name, &kind), events[i].moment);
		MT_CHECK_EQ(kind, events[i].kind);
	}
}

MT_TEST(a_sample_says_by_its_number_which_call_it_is_of)
{
	uint8_t raw[24] = {0};
	struct mt_sample sample = {.raw = raw, .raw_size = sizeof(raw), .user_abi = 2};

	mt_put_le64(raw + 8, 9);
	MT_CHECK_EQ(mt_vm_call_kind_in(MT_VM_BY_NUMBER, &sample), MT_VM_MMAP);
	MT_CHECK_EQ(mt_vm_call_kind_in(MT_VM_BRK, &sample), MT_VM_BRK);
	mt_put_le64(raw + 8, 1);
	MT_CHECK_EQ(mt_vm_call_kind_in(MT_VM_BY_NUMBER, &sample), MT_VM_NONE);
	mt_put_le64(raw + 8, 9);
	sample.user_abi = 1;
	MT_CHECK_EQ(mt_vm_call_kind_in(MT_VM_BY_NUMBER, &sample), MT_VM_NONE);
}

MT_TEST_MAIN
