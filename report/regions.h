/*
 * What an address is part of: a mapped file, the heap, a stack. As far as the kernel told of
 * mappings (/proc/PID/maps, MMAP and MMAP2 records): it does not tell of munmap, so that what was
 * mapped last at an address is taken to be still there.
 */
#ifndef MT_REPORT_REGIONS_H
#define MT_REPORT_REGIONS_H

#include <stdint.h>

struct mt_image_map;

struct mt_region {
	const char *kind; /* "file", "anon", "heap", "stack", "shm", "huge", "vdso", "kernel",
			     "unknown"; static */
	const char *name; /* the file's recorded path; "[anon]", "[heap]", ... ; as long as the
			     map's images */
};

/* The region of an address of user or kernel space. */
struct mt_region mt_region_at(const struct mt_image_map *map, uint64_t address);

/* Of a sample without an address. */
struct mt_region mt_region_none(void);

#endif
