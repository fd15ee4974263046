/*
 * System calls that change an address space, as their records tell of them: which one it is, its
 * arguments and its result. Of a call's two records the one at its entry holds the arguments; where
 * it is missing they are taken from the registers at its exit, which on x86-64 still hold them.
 */
#ifndef MT_REPORT_ACCOUNT_CALL_H
#define MT_REPORT_ACCOUNT_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_attr;
struct mt_sample;

enum mt_vm_call_kind {
	MT_VM_NONE, /* of no interest here */
	MT_VM_BRK,
	MT_VM_MMAP,
	MT_VM_MUNMAP,
	MT_VM_MREMAP,
	MT_VM_MPROTECT,
	MT_VM_PKEY_MPROTECT,
	MT_VM_MADVISE,
	MT_VM_SHMAT,
	MT_VM_SHMDT,
	MT_VM_REMAP_FILE_PAGES,
	/* Not what they do: that they were called. */
	MT_VM_PROCESS_MADVISE,
	MT_VM_IO_URING_SETUP,
	/* Of an event: each sample tells by its number. The ledger leaves these alone. */
	MT_VM_BY_NUMBER,
};

enum {
	MT_VM_ARGUMENTS = 6,
	MT_VM_RANGES = 3, /* the most that one call touches */
};

struct mt_vm_call {
	enum mt_vm_call_kind kind;
	uint64_t args[MT_VM_ARGUMENTS];
	int64_t result;
	uint64_t enter, time, exit; /* time: when it took effect */
	/* From the MMAP2 record inside the call; file 0: there was none. */
	uint32_t file;	     /* id in the ledger's natures */
	uint64_t start, end; /* of the mapping that the call's became a part of */
	/*
	 * What records beside the call's own would say of it is known. Each mapping that it made
	 * or changed has left one: `end` is the farthest that any of them reached, 0 without one.
	 */
	bool told;
};

struct mt_range {
	uint64_t start, end;
};

/* What an event says about such calls. */
enum mt_vm_call_moment {
	MT_MOMENT_NONE,
	MT_MOMENT_ENTER,
	MT_MOMENT_EXIT,
	MT_MOMENT_LOCK, /* a thread has got the mmap lock for writing */
};

/* By an event's kernel name: "syscalls:sys_exit_brk", "raw_syscalls:sys_exit/id == 12/". */
enum mt_vm_call_moment mt_vm_call_moment(const char *name, enum mt_vm_call_kind *kind);

/* The call that a sample of such an event is of. */
enum mt_vm_call_kind mt_vm_call_kind_in(enum mt_vm_call_kind of_event,
					const struct mt_sample *sample);

/* The arguments of an entry's sample; those that it lacks are 0. */
void mt_vm_call_enter(const struct mt_sample *sample, uint64_t args[MT_VM_ARGUMENTS]);

/* The address space whose lock a sample tells of, as the kernel names it; 0 not known. */
uint64_t mt_vm_call_locked(const struct mt_sample *sample);

/* The result in an exit's sample; false where it has none. */
bool mt_vm_call_result(const struct mt_sample *sample, int64_t *result);

/* The arguments from the registers of an exit's sample; false where it has none, or 32-bit ones. */
bool mt_vm_call_registers(const struct mt_attr *attr, const struct mt_sample *sample,
			  uint64_t args[MT_VM_ARGUMENTS]);

/* Whether a result is an error number, below 0. */
static inline bool mt_vm_call_failed(int64_t result)
{
	return result < 0 && result >= -4095;
}

/*
 * The addresses a call may have changed, failed ones too; of brk and shmdt none: they depend on
 * what was there. The range that mremap takes away comes first. Gives how many ranges.
 */
size_t mt_vm_call_ranges(const struct mt_vm_call *call, struct mt_range out[MT_VM_RANGES]);

/* Rounded up to whole pages; UINT64_MAX's page where there is no room for that. */
uint64_t mt_page_up(uint64_t bytes);
uint64_t mt_page_down(uint64_t bytes);

/* Whether a call that failed may have changed something all the same. */
bool mt_vm_call_partial(const struct mt_vm_call *call);

/* The length that an mmap call maps: huge pages are larger. */
uint64_t mt_vm_call_mmap_length(const struct mt_vm_call *call);

/* The size of the huge pages that its flags ask for; 0: none. */
uint64_t mt_vm_call_huge_page(const struct mt_vm_call *call);

#endif
