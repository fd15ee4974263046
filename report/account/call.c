/* Decodes calls from samples. */
#include "report/account/call.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/base/bytes.h"
#include "formats/records/attr.h"
#include "formats/records/sample.h"
#include "report/account/calls.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define PAGE 4096ull
#define ARGUMENTS_AT 16 /* in the raw bytes of sys_enter_*, and of raw_syscalls:sys_enter */
#define RESULT_AT 16	/* of sys_exit_* */
#define LOCKED_AT 8	/* of mmap_lock_acquire_returned */
#define ABI_64 2
#define HUGE_SHIFT 26
#define HUGE_MASK 0x3f
#define HUGE_DEFAULT 21 /* 2 MiB */

/* Call numbers of x86-64. */
static const struct {
	const char *name;
	int64_t number;
	enum mt_vm_call_kind kind;
} calls[] = {
	{"brk", 12, MT_VM_BRK},
	{"mmap", 9, MT_VM_MMAP},
	{"munmap", 11, MT_VM_MUNMAP},
	{"mremap", 25, MT_VM_MREMAP},
	{"mprotect", 10, MT_VM_MPROTECT},
	{"pkey_mprotect", 329, MT_VM_PKEY_MPROTECT},
	{"madvise", 28, MT_VM_MADVISE},
	{"shmat", 30, MT_VM_SHMAT},
	{"shmdt", 67, MT_VM_SHMDT},
	{"remap_file_pages", 216, MT_VM_REMAP_FILE_PAGES},
	{"process_madvise", 440, MT_VM_PROCESS_MADVISE},
	{"io_uring_setup", 425, MT_VM_IO_URING_SETUP},
};

/* The text after the prefix; NULL if text does not begin with the prefix. */
static const char *after(const char *text, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(text, prefix, length) ? NULL : text + length;
}

/* A filter may follow the name. Accounts ignore events of failed calls. */
static enum mt_vm_call_kind kind_by_name(const char *name)
{
	size_t length = strcspn(name, "/");

	if (!strcmp(name + length, MT_FAILED_CALLS))
		return MT_VM_NONE;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strlen(calls[i].name) == length && !memcmp(calls[i].name, name, length))
			return calls[i].kind;
	}
	return MT_VM_NONE;
}

static enum mt_vm_call_kind kind_by_number(int64_t number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i].number == number)
			return calls[i].kind;
	}
	return MT_VM_NONE;
}

static enum mt_vm_call_kind kind_of_raw(const char *event)
{
	int64_t number = mt_call_number(event);

	return number < 0 ? MT_VM_BY_NUMBER : kind_by_number(number);
}

enum mt_vm_call_moment mt_vm_call_moment(const char *name, enum mt_vm_call_kind *kind)
{
	static const struct {
		const char *prefix;
		enum mt_vm_call_moment moment;
		bool raw;
	} events[] = {
		{"syscalls:sys_enter_", MT_MOMENT_ENTER, false},
		{"syscalls:sys_exit_", MT_MOMENT_EXIT, false},
		{"raw_syscalls:sys_enter", MT_MOMENT_ENTER, true},
		{"raw_syscalls:sys_exit", MT_MOMENT_EXIT, true},
	};

	*kind = MT_VM_NONE;
	if (after(name, "mmap_lock:mmap_lock_acquire_returned"))
		return MT_MOMENT_LOCK;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		const char *call = after(name, events[i].prefix);

		if (!call)
			continue;
		*kind = events[i].raw ? kind_of_raw(name) : kind_by_name(call);
		return *kind == MT_VM_NONE ? MT_MOMENT_NONE : events[i].moment;
	}
	return MT_MOMENT_NONE;
}

enum mt_vm_call_kind mt_vm_call_kind_in(enum mt_vm_call_kind of_event,
					const struct mt_sample *sample)
{
	return of_event == MT_VM_BY_NUMBER ? kind_by_number(mt_call_number_in(sample)) : of_event;
}

void mt_vm_call_enter(const struct mt_sample *sample, uint64_t args[MT_VM_ARGUMENTS])
{
	for (size_t i = 0; i < MT_VM_ARGUMENTS; i++) {
		size_t at = ARGUMENTS_AT + 8 * i;

		args[i] = at + 8 <= sample->raw_size ? mt_get_le64(sample->raw + at) : 0;
	}
}

uint64_t mt_vm_call_locked(const struct mt_sample *sample)
{
	return LOCKED_AT + 8 <= sample->raw_size ? mt_get_le64(sample->raw + LOCKED_AT) : 0;
}

bool mt_vm_call_result(const struct mt_sample *sample, int64_t *result)
{
	if (sample->raw_size < RESULT_AT + 8)
		return false;
	*result = (int64_t)mt_get_le64(sample->raw + RESULT_AT);
	return true;
}

bool mt_vm_call_registers(const struct mt_attr *attr, const struct mt_sample *sample,
			  uint64_t args[MT_VM_ARGUMENTS])
{
	/* di, si, dx, r10, r8, r9 as the kernel numbers them for perf */
	static const unsigned int numbers[MT_VM_ARGUMENTS] = {5, 4, 3, 18, 16, 17};
	uint64_t mask = attr->sample_regs_user;

	if (sample->user_abi != ABI_64 || !sample->user_regs)
		return false;
	for (size_t i = 0; i < MT_VM_ARGUMENTS; i++) {
		uint64_t bit = 1ull << numbers[i];

		if (!(mask & bit))
			return false;
		args[i] = sample->user_regs[__builtin_popcountll(mask & (bit - 1))];
	}
	return true;
}

uint64_t mt_page_down(uint64_t bytes)
{
	return bytes & ~(PAGE - 1);
}

uint64_t mt_page_up(uint64_t bytes)
{
	return bytes > UINT64_MAX - PAGE ? mt_page_down(UINT64_MAX)
					 : (bytes + PAGE - 1) & ~(PAGE - 1);
}

uint64_t mt_vm_call_huge_page(const struct mt_vm_call *call)
{
	uint64_t shift = call->args[3] >> HUGE_SHIFT & HUGE_MASK;

	return call->args[3] & MAP_HUGETLB ? 1ull << (shift ? shift : HUGE_DEFAULT) : 0;
}

uint64_t mt_vm_call_mmap_length(const struct mt_vm_call *call)
{
	uint64_t length = mt_page_up(call->args[1]), huge = mt_vm_call_huge_page(call);

	if (!huge)
		return length;
	return length > UINT64_MAX - huge ? length : (length + huge - 1) & ~(huge - 1);
}

static size_t add_range(struct mt_range *out, size_t count, uint64_t start, uint64_t length)
{
	struct mt_range range = {mt_page_down(start), 0};

	if (__builtin_add_overflow(range.start, length, &range.end) || !length)
		return count;
	out[count] = range;
	return count + 1;
}

static bool changes_forks(const struct mt_vm_call *call)
{
	return call->args[2] == MADV_DONTFORK || call->args[2] == MADV_DOFORK;
}

/*
 * With MAP_FIXED the kernel unmaps the old mappings before a driver or a lack of memory can make
 * the mapping fail. A file that is rejected earlier leaves them mapped.
 */
static bool mmap_partial(const struct mt_vm_call *call)
{
	uint64_t flags = call->args[3];
	int64_t error = -call->result;

	return (flags & MAP_FIXED) && (flags & MAP_FIXED_NOREPLACE) != MAP_FIXED_NOREPLACE &&
	       call->args[0] == mt_page_down(call->args[0]) && error != EBADF && error != EACCES &&
	       !(error == EINVAL &&
		 ((flags & MAP_ANONYMOUS) || call->args[5] != mt_page_down(call->args[5])));
}

/*
 * With a fixed destination, kernels before Linux 6.17 unmap the destination before they check the
 * other arguments, so EINVAL may come after that. Some errors in the arguments are detected before.
 */
static bool mremap_partial(const struct mt_vm_call *call)
{
	uint64_t from = call->args[0], old = mt_page_up(call->args[1]);
	uint64_t to = call->args[4], new = mt_page_up(call->args[2]), flags = call->args[3];
	const uint64_t known = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;

	if (!(flags & MREMAP_FIXED))
		return false;
	if (call->result != -EINVAL)
		return true;
	return !(flags & ~known) && (flags & MREMAP_MAYMOVE) && new &&
	       (!(flags & MREMAP_DONTUNMAP) || call->args[1] == call->args[2]) &&
	       from == mt_page_down(from) && to == mt_page_down(to) &&
	       (from + old <= to || to + new <= from);
}

bool mt_vm_call_partial(const struct mt_vm_call *call)
{
	switch (call->kind) {
	case MT_VM_MMAP:
		return mmap_partial(call);
	case MT_VM_MREMAP:
		return mremap_partial(call);
	case MT_VM_MPROTECT:
	case MT_VM_PKEY_MPROTECT:
		return call->reported ? call->end > call->args[0]
				      : call->result == -ENOMEM || call->result == -EACCES;
	case MT_VM_MADVISE:
		return call->result == -ENOMEM && changes_forks(call);
	default:
		return false;
	}
}

/* The length that mprotect changed before it failed. */
static uint64_t protected_length(const struct mt_vm_call *call)
{
	uint64_t length = mt_page_up(call->args[1]);

	if (!mt_vm_call_failed(call->result) || !call->reported || call->end < call->args[0])
		return length;
	return call->end - call->args[0] < length ? call->end - call->args[0] : length;
}

size_t mt_vm_call_ranges(const struct mt_vm_call *call, struct mt_range out[MT_VM_RANGES])
{
	const uint64_t *args = call->args;
	bool failed = mt_vm_call_failed(call->result);
	uint64_t result = (uint64_t)call->result;
	size_t count = 0;

	if (failed && !mt_vm_call_partial(call))
		return 0;
	switch (call->kind) {
	case MT_VM_MMAP:
		return add_range(out, 0, failed ? args[0] : result, mt_vm_call_mmap_length(call));
	case MT_VM_MREMAP:
		/* With an old length of 0, mremap maps the same pages a second time. */
		count = add_range(out, count, args[0], args[1] ? mt_page_up(args[1]) : PAGE);
		if (failed && !(args[3] & MREMAP_FIXED))
			return count;
		return add_range(out, count, failed ? args[4] : result, mt_page_up(args[2]));
	case MT_VM_MADVISE:
		if (!changes_forks(call))
			return 0;
		return add_range(out, 0, args[0], mt_page_up(args[1]));
	case MT_VM_MPROTECT:
	case MT_VM_PKEY_MPROTECT:
		return add_range(out, 0, args[0], protected_length(call));
	case MT_VM_MUNMAP:
	case MT_VM_REMAP_FILE_PAGES:
		return add_range(out, 0, args[0], mt_page_up(args[1]));
	case MT_VM_SHMAT:
		return add_range(out, 0, call->file ? call->start : result,
				 call->file ? call->end - call->start : PAGE);
	default:
		return 0;
	}
}
