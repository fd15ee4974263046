/*
 * Kinds of memory (file, heap, stack, ...), by the kernel's names of mappings, and the region of an
 * address. Regions come from /proc/PID/maps and MMAP records. munmap leaves no record, so the last
 * mapping at an address counts as still mapped. The ledger is more exact.
 */
#ifndef MT_REPORT_ACCOUNT_REGIONS_H
#define MT_REPORT_ACCOUNT_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

struct mt_image_map;

enum mt_region_kind {
	MT_REGION_ANONYMOUS, /* private, without a file */
	MT_REGION_HEAP,
	MT_REGION_FILE,
	MT_REGION_STACK, /* the first thread's */
	MT_REGION_THREAD_STACK,
	MT_REGION_SHM,	/* shared memory: anonymous, memfd, System V, /dev/shm */
	MT_REGION_VDSO, /* the kernel's mappings in each process */
	MT_REGION_HUGE, /* hugetlbfs */
	MT_REGION_KINDS
};

/* The kind of a mapping, by its name. */
enum mt_region_kind mt_region_kind_of(const char *name, bool shared);

/* The kind as text: "heap", "thread stack". */
const char *mt_region_kind_name(enum mt_region_kind kind);

/* The name to show: the file's, or "[heap]", "[anon]" without one. */
const char *mt_region_shown_name(enum mt_region_kind kind, const char *name);

struct mt_region {
	const char *kind; /* kind's name, "kernel" or "unknown"; static */
	/*
	 * The file's recorded path, "[anon]", "[heap]", ...; borrowed as long as the map's images.
	 */
	const char *name;
};

/* The region of a user or kernel address. */
struct mt_region mt_region_at(const struct mt_image_map *map, uint64_t address);

/* The region of a sample without an address. */
struct mt_region mt_region_none(void);

#endif
