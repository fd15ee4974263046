/*
 * System calls that change an address space, decoded from their records: kind, arguments and
 * result. The arguments come from the record of the call's entry. If there is none, they come from
 * the registers at the exit, which still hold them on x86-64.
 */
#ifndef MT_REPORT_ACCOUNT_CALL_H
#define MT_REPORT_ACCOUNT_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_attr;
struct mt_sample;

/* The end of the name of an event that records only calls that failed with ENOMEM. */
#define MT_FAILED_CALLS "/ret == -12/"

enum mt_vm_call_kind {
	MT_VM_NONE, /* none of these calls */
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
	/* Calls that are recorded, but whose effects are not followed. */
	MT_VM_PROCESS_MADVISE,
	MT_VM_IO_URING_SETUP,
	/* An event without a filter: samples have the call's number. The ledger ignores it. */
	MT_VM_BY_NUMBER,
};

enum {
	MT_VM_ARGUMENTS = 6,
	MT_VM_RANGES = 3, /* maximum number of ranges that one call changes */
};

struct mt_vm_call {
	enum mt_vm_call_kind kind;
	uint64_t args[MT_VM_ARGUMENTS];
	int64_t result;
	uint64_t enter, time, exit; /* time: when the call took effect */
	/* From the MMAP2 record inside the call. `file` is 0 if there is no such record. */
	uint32_t file;	     /* file id in the ledger's attribute table */
	uint64_t start, end; /* the whole mapping that the call's range became part of */
	/*
	 * The call's records are complete: each mapping that the call made or changed has a record.
	 * `end` is the highest end of these mappings, 0 if there are none.
	 */
	bool reported;
};

struct mt_range {
	uint64_t start, end;
};

/* The moment of a call that an event records. */
enum mt_vm_call_moment {
	MT_MOMENT_NONE,
	MT_MOMENT_ENTER,
	MT_MOMENT_EXIT,
	MT_MOMENT_LOCK, /* a thread acquired the mmap lock for writing */
};

/*
 * Recognizes an event by its kernel name: "syscalls:sys_exit_brk", "raw_syscalls:sys_exit/id ==
 * 12/".
 */
enum mt_vm_call_moment mt_vm_call_moment(const char *name, enum mt_vm_call_kind *kind);

/* The call of a sample: its event's, or for MT_VM_BY_NUMBER the one whose number it has. */
enum mt_vm_call_kind mt_vm_call_kind_in(enum mt_vm_call_kind of_event,
					const struct mt_sample *sample);

/* Reads the arguments from an entry's sample; arguments that the sample lacks are 0. */
void mt_vm_call_enter(const struct mt_sample *sample, uint64_t args[MT_VM_ARGUMENTS]);

/* The kernel's id of the address space whose lock a sample records; 0: unknown. */
uint64_t mt_vm_call_locked(const struct mt_sample *sample);

/* Reads the result from an exit's sample; false if the sample has none. */
bool mt_vm_call_result(const struct mt_sample *sample, int64_t *result);

/* Reads the arguments from the registers of an exit's sample; false without 64-bit registers. */
bool mt_vm_call_registers(const struct mt_attr *attr, const struct mt_sample *sample,
			  uint64_t args[MT_VM_ARGUMENTS]);

/* True if a result is a negated errno. */
static inline bool mt_vm_call_failed(int64_t result)
{
	return result < 0 && result >= -4095;
}

/*
 * Lists the ranges that a call may have changed, even if it failed; none for brk and shmdt, which
 * depend on the regions. mremap's source range is first. Returns the number of ranges.
 */
size_t mt_vm_call_ranges(const struct mt_vm_call *call, struct mt_range out[MT_VM_RANGES]);

/* Round up or down to whole pages; mt_page_up() saturates at the last page. */
uint64_t mt_page_up(uint64_t bytes);
uint64_t mt_page_down(uint64_t bytes);

/* True if a failed call may still have changed something. */
bool mt_vm_call_partial(const struct mt_vm_call *call);

/* The length that an mmap call maps, rounded up to its page size. */
uint64_t mt_vm_call_mmap_length(const struct mt_vm_call *call);

/* Size of the huge pages that mmap's flags request; 0: none. */
uint64_t mt_vm_call_huge_page(const struct mt_vm_call *call);

#endif
