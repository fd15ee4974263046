/*
 * What memory is: a mapped file, the heap, a stack - by the names that the kernel gives mappings -,
 * and what an address is part of. The latter as far as the kernel told of mappings
 * (/proc/PID/maps, MMAP and MMAP2 records): it does not tell of munmap, so that what was mapped
 * last at an address is taken to be still there. The ledger knows better, where it is asked.
 */
#ifndef MT_REPORT_ACCOUNT_REGIONS_H
#define MT_REPORT_ACCOUNT_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

struct mt_image_map;

enum mt_region_kind {
	MT_REGION_ANONYMOUS, /* private, of no file */
	MT_REGION_HEAP,	     /* by brk */
	MT_REGION_FILE,
	MT_REGION_STACK, /* of the first thread */
	MT_REGION_THREAD_STACK,
	MT_REGION_SHM,	/* shared memory: anonymous, memfd, System V, /dev/shm */
	MT_REGION_VDSO, /* what the kernel maps into each process */
	MT_REGION_HUGE, /* of huge pages, by hugetlbfs */
	MT_REGION_KINDS
};

/* What a file's name says that a mapping of it is, shared or not. */
enum mt_region_kind mt_region_kind_of(const char *name, bool shared);

/* One word or two: "heap", "thread stack". */
const char *mt_region_kind_name(enum mt_region_kind kind);

/* How reports call it: a file's name, as it is; "[heap]", "[anon]" for what has none. */
const char *mt_region_shown_name(enum mt_region_kind kind, const char *name);

struct mt_region {
	const char *kind; /* a kind's name, "kernel" or "unknown"; static */
	const char *name; /* the file's recorded path; "[anon]", "[heap]", ... ; as long as the
			     map's images */
};

/* The region of an address of user or kernel space. */
struct mt_region mt_region_at(const struct mt_image_map *map, uint64_t address);

/* Of a sample without an address. */
struct mt_region mt_region_none(void);

#endif
