/*
 * Interned origins: which task changed an address space, and how.
 */
#ifndef MT_REPORT_LEDGER_ORIGINS_H
#define MT_REPORT_LEDGER_ORIGINS_H

#include <stdint.h>

struct mt_origins;

enum mt_origin_kind {
	MT_ORIGIN_CALL,
	MT_ORIGIN_BEFORE, /* mapped before the recording */
	MT_ORIGIN_EXEC,	  /* a new program's own mappings */
	MT_ORIGIN_KERNEL, /* mapped by the kernel: a grown stack, an aio ring */
	MT_ORIGIN_LOST,	  /* mapped or unmapped by calls whose records were lost */
	/* Reasons for resident pages without a fault: */
	MT_ORIGIN_POPULATED, /* by mmap itself, mlock or madvise */
	MT_ORIGIN_PINNED,    /* by a system call that accessed the pages */
	MT_ORIGIN_FORKED,    /* copied by fork */
	MT_ORIGIN_LOADED,    /* by exec for the new program */
	MT_ORIGIN_COLLAPSED, /* small pages were merged into a huge page */
	MT_ORIGIN_UNMAPPED,  /* unmapped, although no fault had been seen */
	MT_ORIGIN_ADVISED,   /* given back by madvise */
	MT_ORIGIN_TRUNCATED, /* the file was truncated */
	MT_ORIGIN_RECLAIMED, /* swapped out or dropped by the kernel */
	MT_ORIGIN_REPLACED,  /* a page of a file was replaced by a written copy */
	MT_ORIGIN_SPLIT,     /* huge pages became small ones */
	MT_ORIGIN_UNSEEN,    /* unknown cause at an unknown time */
	MT_ORIGIN_KINDS
};

struct mt_origin {
	uint32_t kind;	/* enum mt_origin_kind */
	uint32_t event; /* of a CALL: index into facts->events */
	uint32_t stack; /* of a CALL: stack id, or MT_STACK_NONE */
	/* String ids: thread name, process name, cgroup, path of the program. */
	uint32_t comm, process, cgroup, exe;
	uint32_t cache; /* string id: the kernel's cache of objects; 0: none */
	int32_t pid, tid;
	uint32_t selected; /* bool: passes the selectors */
};

/* Creates an empty table. */
struct mt_origins *mt_origins_create(void);
void mt_origins_destroy(struct mt_origins *origins);

/* The id of an origin. */
uint32_t mt_origins_intern(struct mt_origins *origins, const struct mt_origin *origin);

/* The number of origins. All ids are below it. */
uint32_t mt_origins_count(const struct mt_origins *origins);

/* Borrowed as long as `origins`. */
const struct mt_origin *mt_origins_get(const struct mt_origins *origins, uint32_t id);

/* The id of an origin with the same task and another kind. */
uint32_t mt_origins_because(struct mt_origins *origins, uint32_t id, enum mt_origin_kind kind);

#endif
