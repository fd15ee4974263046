/* Recognizes programs with unseen calls. */
#include "report/ledger/unseen.h"

#include <string.h>

#include "report/account/call.h"
#include "report/tables/facts.h"

uint32_t mt_unseen_by_region(const char *name, uint64_t start)
{
	/* The kernel puts these next to the end of what the program can address. */
	if (start < MT_NARROW_END && (!strcmp(name, "[vdso]") || !strcmp(name, "[stack]")))
		return MT_UNSEEN_NARROW;
	return !strcmp(name, "anon_inode:[io_uring]") ? MT_UNSEEN_RING : 0;
}

uint32_t mt_unseen_by_call(const struct mt_vm_call *call)
{
	if (call->kind == MT_VM_IO_URING_SETUP && !mt_vm_call_failed(call->result))
		return MT_UNSEEN_RING;
	return call->kind == MT_VM_PROCESS_MADVISE && call->result > 0 ? MT_UNSEEN_ADVICE : 0;
}
