/*
 * The account of one address space: its regions, and how each call changes them. The result of a
 * call decides what it changed. Ranges that a failed call may have changed are marked as doubtful.
 * Pass effects in the order in which they took place. The sink receives the changes. No I/O.
 */
#ifndef MT_REPORT_ACCOUNT_ACCOUNT_H
#define MT_REPORT_ACCOUNT_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/account/call.h"
#include "report/account/extents.h"

struct mt_account;
struct mt_attr_table;

/* A range of memory that was mapped or unmapped. */
struct mt_change {
	uint64_t time;
	uint64_t start, end;
	int sign;	 /* +1 mapped, -1 unmapped; 0: unknown whether it changed */
	uint32_t attrs;	 /* attributes id */
	uint32_t origin; /* origin id of the change */
	/* The origin that had reserved the range, and when. For sign 1: `origin` and `time`. */
	uint32_t reserved_by;
	uint64_t reserved;
};

struct mt_account_sink {
	void (*change)(void *context, struct mt_account *account, const struct mt_change *change);
	/*
	 * mprotect or madvise changed the attributes of a mapped range. Sign +1: the range got some
	 * access; `attrs` are the new attributes, and the range is reserved by `origin` from then
	 * on. Sign -1: the range lost all access; `attrs` are the old attributes. Sign 0: another
	 * change. May be NULL.
	 */
	void (*access)(void *context, struct mt_account *account, const struct mt_change *change);
	/* Regions moved with their pages and keep their origin. May be NULL. */
	void (*moved)(void *context, struct mt_account *account, uint64_t from, uint64_t to,
		      uint64_t size);
	void *context;
};

struct mt_account {
	struct mt_attr_table *attr_table;
	const struct mt_account_sink *sink;
	struct mt_extents *regions;
	/* Ranges where the regions may be wrong or missing. */
	struct mt_extents *doubts;
	uint64_t brk; /* the last call's result; 0: unknown */
	uint64_t brk_time;
	/* Range in which brk may have been when a fork copied it; empty if brk is known. */
	struct mt_range brk_copied;
	uint64_t shm_span; /* size of the largest attached segment */
	uint64_t forked;   /* time of the space's fork, 0: none; older regions are inherited */
	bool has_first;
	bool unforked;	    /* some regions are MT_REGION_NOT_FORKED */
	bool moves_checked; /* mremap checks as in Linux 6.17 and later; set by the creator */
	uint32_t first;	    /* attributes of the first mapping that exec made of a file */
	mt_extent_list scratch;
};

/* Borrows both arguments. */
struct mt_account *mt_account_create(struct mt_attr_table *attr_table,
				     const struct mt_account_sink *sink);
/* The account of a child forked at `time`. */
struct mt_account *mt_account_fork(const struct mt_account *parent, uint64_t time);
void mt_account_destroy(struct mt_account *account);

/* The origins of a call's changes. */
struct mt_call_origins {
	uint32_t origin;
	uint32_t lost;	 /* origin for calls that the recording lost */
	bool after_loss; /* brk calls may have been lost since the last one */
};

/* Applies a call. */
void mt_account_call(struct mt_account *account, const struct mt_vm_call *call,
		     const struct mt_call_origins *origins);

/* A mapping that no call made: growth of a stack, a mapping by exec, or one of the kernel's own. */
struct mt_found {
	uint64_t time;
	uint64_t start, end, offset;
	uint32_t file; /* file id, or MT_FILE_NONE */
	uint32_t prot;
	bool shared, exec;
	uint32_t origin;
};
void mt_account_found(struct mt_account *account, const struct mt_found *found);

/*
 * A reading of /proc/PID/maps over [start, end): `lines` are its regions. Known regions keep their
 * origin; new regions get `origin`. `again` (not the first reading): `origin` also unmapped the
 * regions that are missing.
 */
struct mt_reading_piece {
	uint64_t time;
	uint64_t start, end;
	const struct mt_extent *lines;
	size_t count;
	uint32_t origin;
	bool again;
};
void mt_account_reading(struct mt_account *account, const struct mt_reading_piece *piece);

/* Marks a range as doubtful: its regions may be wrong. */
void mt_account_doubt(struct mt_account *account, uint64_t start, uint64_t end, uint64_t time);

/* Doubtful bytes in a range. */
uint64_t mt_account_doubtful(const struct mt_account *account, uint64_t start, uint64_t end);

#endif
