/* Which calls go unseen in whose address space. */
#include "report/ledger/unseen.h"

#include <string.h>

#include "formats/base/strings.h"
#include "report/facts.h"
#include "report/ledger/ledger_parts.h"
#include "report/session.h"
#include "report/spaces.h"

#define NARROW_END (1ull << 32) /* of a 32-bit program's addresses */

uint32_t mt_unseen_by_region(const char *name, uint64_t start)
{
	/* The kernel puts these next to the end of what the program can address. */
	if (start < NARROW_END && (!strcmp(name, "[vdso]") || !strcmp(name, "[stack]")))
		return MT_UNSEEN_NARROW;
	return !strcmp(name, "anon_inode:[io_uring]") ? MT_UNSEEN_RING : 0;
}

/* Whose pages a process gave back in another one's place is not known: anyone's that lives. */
static void doubt_pages_of_all(struct mt_ledger *ledger)
{
	for (; ledger->advised < ledger->spaces.count; ledger->advised++) {
		struct mt_ledger_space *space = ledger->spaces.items[ledger->advised];

		if (!space->ended)
			space->unseen |= MT_UNSEEN_ADVISED;
	}
}

void mt_unseen_call(struct mt_ledger *ledger, struct mt_ledger_space *space,
		    const struct mt_vm_call *call)
{
	if (call->kind == MT_VM_IO_URING_SETUP && !mt_vm_call_failed(call->result))
		space->unseen |= MT_UNSEEN_RING;
	if (call->kind != MT_VM_PROCESS_MADVISE || call->result <= 0)
		return;
	space->unseen |= MT_UNSEEN_ADVICE;
	doubt_pages_of_all(ledger);
}

/* Of all that it can address it is not known what stands there. */
static bool doubt_all(struct mt_ledger *ledger, struct mt_ledger_space *space, uint64_t time)
{
	const struct mt_origin origin =
		mt_ledger_process_origin(ledger, space, MT_ORIGIN_UNSEEN, time);
	const struct mt_nature nature = {.kind = MT_REGION_ANONYMOUS};
	struct mt_change change = {
		.time = time,
		.end = NARROW_END,
		.nature = mt_natures_intern(ledger->natures, &nature),
		.origin = mt_ledger_intern_origin(ledger, &origin),
		.reserved = time,
	};

	change.reserved_by = change.origin;
	ledger->posting = space;
	return change.nature != UINT32_MAX && change.origin != UINT32_MAX &&
	       mt_account_doubt(space->account, 0, NARROW_END, time) &&
	       mt_ledger_tell(ledger, space->account, &change);
}

bool mt_unseen_close(struct mt_ledger *ledger, struct mt_ledger_space *space, uint64_t time)
{
	const struct mt_space *of = space->watch->space;
	const struct mt_facts_unseen unseen = {
		.process = mt_strings_get(mt_session_strings(ledger->session), of->comm),
		.pid = space->pid,
		.recording = space->recording,
		.calls = space->unseen & ~(uint32_t)MT_UNSEEN_ADVISED,
	};
	const struct mt_task leader = {.pid = of->pid, .tid = of->pid, .comm = of->comm};

	if (!unseen.calls)
		return true;
	if ((unseen.calls & MT_UNSEEN_NARROW) && !doubt_all(ledger, space, time))
		return false;
	return !mt_session_selects(ledger->session, &leader, time ? time - 1 : 0) ||
	       mt_session_add_unseen(ledger->session, &unseen);
}
