/*
 * Builds kernel records field by field, for tests.
 *
 *	struct kernel_bytes k = kernel_begin(MT_KERNEL_SAMPLE, MT_CPUMODE_USER);
 *
 *	put64(&k, ip);
 *	kernel_end(&k);		sets the header's size
 */
#ifndef MT_TESTS_UNIT_KERNEL_BYTES_H
#define MT_TESTS_UNIT_KERNEL_BYTES_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "formats/stacks/sample_record.h"

struct kernel_bytes {
	_Alignas(8) uint8_t bytes[2048];
	size_t size;
};

static inline void put_bytes(struct kernel_bytes *k, const void *bytes, size_t size)
{
	assert(k->size + size <= sizeof(k->bytes));
	memcpy(k->bytes + k->size, bytes, size);
	k->size += size;
}

static inline void put8(struct kernel_bytes *k, uint8_t v)
{
	put_bytes(k, &v, 1);
}

static inline void put16(struct kernel_bytes *k, uint16_t v)
{
	put_bytes(k, &v, 2);
}

static inline void put32(struct kernel_bytes *k, uint32_t v)
{
	put_bytes(k, &v, 4);
}

static inline void put64(struct kernel_bytes *k, uint64_t v)
{
	put_bytes(k, &v, 8);
}

/* Adds a NUL-terminated name padded to 8 bytes, as the kernel does. */
static inline void put_name(struct kernel_bytes *k, const char *name)
{
	static const uint8_t zeros[8];

	put_bytes(k, name, strlen(name) + 1);
	put_bytes(k, zeros, mt_align8(k->size) - k->size);
}

static inline void kernel_end(struct kernel_bytes *k)
{
	mt_put_le16(k->bytes + 6, (uint16_t)k->size);
}

static inline struct kernel_bytes kernel_begin(uint32_t type, uint16_t misc)
{
	struct kernel_bytes k = {.size = 0};

	put32(&k, type);
	put16(&k, misc);
	put16(&k, 0);
	return k;
}

/* An executable mapping of a process. */
struct made_map {
	uint32_t pid;
	uint64_t start, length, offset;
	const char *name;
};

/*
 * Adds an MMAP record of the mapping, with the trailer {pid, tid; time; identifier}; false if there
 * is no room.
 */
static inline bool put_mmap(struct mt_block *block, uint64_t time, const struct made_map *map)
{
	struct kernel_bytes k = kernel_begin(MT_KERNEL_MMAP, MT_CPUMODE_USER);

	put32(&k, map->pid);
	put32(&k, map->pid);
	put64(&k, map->start);
	put64(&k, map->length);
	put64(&k, map->offset);
	put_name(&k, map->name);
	put32(&k, map->pid);
	put32(&k, map->pid);
	put64(&k, time);
	put64(&k, 0);
	kernel_end(&k);
	return mt_kernel_put(block, time, 0, k.bytes, k.size);
}

#endif
