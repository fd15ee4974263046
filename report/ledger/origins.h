/*
 * Who did what happened to an address space: each distinct answer once, with an id.
 */
#ifndef MT_REPORT_LEDGER_ORIGINS_H
#define MT_REPORT_LEDGER_ORIGINS_H

#include <stdint.h>

struct mt_origins;

/* What an origin is. */
enum mt_origin_kind {
	MT_ORIGIN_CALL,
	MT_ORIGIN_BEFORE, /* there before the recording */
	MT_ORIGIN_EXEC,	  /* a program's own mappings */
	MT_ORIGIN_KERNEL, /* the kernel by itself: a stack that grew, an aio ring */
	MT_ORIGIN_LOST,	  /* in records that were lost */
	/* Why resident pages came or went without a fault. */
	MT_ORIGIN_POPULATED, /* by the call that reserved them, mlock, madvise */
	MT_ORIGIN_PINNED,    /* by a system call that used them */
	MT_ORIGIN_FORKED,    /* copied by fork */
	MT_ORIGIN_LOADED,    /* by exec, for the new program */
	MT_ORIGIN_COLLAPSED, /* small pages became a huge one */
	MT_ORIGIN_UNMAPPED,  /* given back, and no fault seen */
	MT_ORIGIN_ADVISED,   /* the same by madvise */
	MT_ORIGIN_TRUNCATED, /* its file became shorter */
	MT_ORIGIN_RECLAIMED, /* by the kernel: swapped out, dropped */
	MT_ORIGIN_REPLACED,  /* a page of a file by a copy that was written to */
	MT_ORIGIN_UNSEEN,    /* by others, at a time not known */
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

/* NULL out of memory. */
struct mt_origins *mt_origins_create(void);
void mt_origins_destroy(struct mt_origins *origins);

/* The id of an origin; UINT32_MAX out of memory. */
uint32_t mt_origins_intern(struct mt_origins *origins, const struct mt_origin *origin);

/* Borrowed as long as the origins. */
const struct mt_origin *mt_origins_get(const struct mt_origins *origins, uint32_t id);

/* The same task as another origin's, for another reason; UINT32_MAX out of memory. */
uint32_t mt_origins_because(struct mt_origins *origins, uint32_t id, enum mt_origin_kind kind);

#endif
