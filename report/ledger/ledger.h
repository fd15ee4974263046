/*
 * The ledger: follows every call that changes an address space through a recording, in the order in
 * which they took effect, and tells what came and went, on whose account, and how each space stood
 * in the end - or at its peak, or at a moment.
 */
#ifndef MT_REPORT_LEDGER_LEDGER_H
#define MT_REPORT_LEDGER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/ledger/account.h"
#include "report/ledger/nature.h"
#include "report/request.h"

struct mt_error;
struct mt_ledger;
struct mt_session;
struct mt_strings;
struct mt_timespan;

/* What an origin is. */
enum mt_origin_kind {
	MT_ORIGIN_CALL,
	MT_ORIGIN_BEFORE, /* there before the recording */
	MT_ORIGIN_EXEC,	  /* a program's own mappings */
	MT_ORIGIN_KERNEL, /* the kernel by itself: a stack that grew, an aio ring */
	MT_ORIGIN_LOST,	  /* in records that were lost */
	MT_ORIGIN_KINDS
};

struct mt_origin {
	uint32_t kind;			/* enum mt_origin_kind */
	uint32_t event;			/* CALL: index in facts->events */
	uint32_t stack;			/* CALL: id, or MT_STACK_NONE */
	uint32_t comm, process, cgroup; /* string ids: of the thread, of its process */
	int32_t pid, tid;
	uint32_t selected; /* by the selectors */
};

/* An address space over its life in the recording. Holds as long as the ledger. */
struct mt_ledger_space {
	uint32_t recording; /* index in facts->recordings */
	int32_t pid;
	uint32_t generation;	       /* how many execs of this process came before it */
	uint32_t comm;		       /* string id, of the thread that was heard of last */
	uint64_t start_time;	       /* clock ticks since boot, or ns of its fork; 0 unknown */
	uint64_t began, ended;	       /* ns; ended 0: lived on */
	bool execed;		       /* ended by exec */
	bool uncertain;		       /* records about it may have been lost */
	uint64_t mapped;	       /* bytes mapped now */
	struct mt_account *account;    /* NULL once it has been told how it stood */
	struct mt_ledger_watch *watch; /* private to the ledger */
};

/* Every change, as it is put in order. space->account has it already. */
struct mt_ledger_change {
	const struct mt_ledger_space *space;
	const struct mt_change *change;
	const struct mt_origin *origin;
	const struct mt_nature *nature;
};

struct mt_ledger_options {
	struct mt_at at;
	/*
	 * Either may be NULL; false out of memory. `stood` is called once for each space, when it
	 * ends or the recording does, with its regions as they stood at the time asked for.
	 */
	bool (*change)(void *context, const struct mt_ledger *ledger,
		       const struct mt_ledger_change *change);
	bool (*stood)(void *context, const struct mt_ledger *ledger,
		      const struct mt_ledger_space *space, const struct mt_extents *regions,
		      uint64_t time);
	void *context;
};

/* Reads the whole session. The ledger borrows it, and options' context. */
struct mt_error *mt_ledger_run(struct mt_session *session, const struct mt_ledger_options *options,
			       struct mt_ledger **out);
void mt_ledger_destroy(struct mt_ledger *ledger);

/* Ids in regions, as long as the ledger. Within its callbacks, too. */
const struct mt_origin *mt_ledger_origin(const struct mt_ledger *ledger, uint32_t id);
const struct mt_natures *mt_ledger_natures(const struct mt_ledger *ledger);

/* Within `stood`: whether a region was there before the fork that made the space. */
bool mt_ledger_inherited(const struct mt_ledger_space *space, const struct mt_extent *region);

/* Within `stood`: how many bytes of a region may not be there: in doubt, or lost records later. */
uint64_t mt_ledger_doubtful(const struct mt_ledger *ledger, const struct mt_ledger_space *space,
			    const struct mt_extent *region);

#endif
