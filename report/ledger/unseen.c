/* Recognizes programs whose calls are not recorded. */
#include "report/ledger/unseen.h"

#include <string.h>
#include <sys/mman.h>

#include "report/account/call.h"
#include "report/tables/facts.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

uint32_t mt_unseen_by_region(const char *name, uint64_t start)
{
	/* The kernel puts these next to the end of the program's addresses. */
	if (start < MT_NARROW_END && (!strcmp(name, "[vdso]") || !strcmp(name, "[stack]")))
		return MT_UNSEEN_NARROW;
	return !strcmp(name, "anon_inode:[io_uring]") ? MT_UNSEEN_RING : 0;
}

/* True if the advice may remove pages. Advice that brings pages in does not; unknown advice may. */
static bool may_take_pages(uint64_t advice)
{
	return advice != MADV_WILLNEED && advice != MADV_POPULATE_READ &&
	       advice != MADV_POPULATE_WRITE && advice != MADV_COLLAPSE;
}

uint32_t mt_unseen_by_call(const struct mt_vm_call *call)
{
	if (call->kind == MT_VM_IO_URING_SETUP && !mt_vm_call_failed(call->result))
		return MT_UNSEEN_RING;
	if (call->kind == MT_VM_PROCESS_MADVISE && call->result > 0 &&
	    may_take_pages(call->args[3]))
		return MT_UNSEEN_ADVICE;
	return 0;
}
