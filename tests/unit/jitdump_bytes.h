/* Builds jitdumps record by record, for tests. */
#ifndef MT_TESTS_UNIT_JITDUMP_BYTES_H
#define MT_TESTS_UNIT_JITDUMP_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/records/jitdump.h"

struct bytes {
	uint8_t at[65536];
	size_t size;
};

static inline void u32(struct bytes *b, uint32_t v)
{
	mt_put_le32(b->at + b->size, v);
	b->size += 4;
}

static inline void u64(struct bytes *b, uint64_t v)
{
	mt_put_le64(b->at + b->size, v);
	b->size += 8;
}

static inline void text(struct bytes *b, const char *s)
{
	strcpy((char *)b->at + b->size, s);
	b->size += strlen(s) + 1;
}

static inline void header(struct bytes *b, uint64_t flags)
{
	u32(b, MT_JITDUMP_MAGIC);
	u32(b, 1);
	u32(b, MT_JITDUMP_HEADER_SIZE);
	u32(b, 62);
	u32(b, 0);
	u32(b, 77);
	u64(b, 1000);
	u64(b, flags);
}

static inline size_t begin(struct bytes *b, uint32_t id, uint64_t time)
{
	size_t at = b->size;

	u32(b, id);
	u32(b, 0);
	u64(b, time);
	return at;
}

static inline void end(struct bytes *b, size_t at)
{
	mt_put_le32(b->at + at + 4, (uint32_t)(b->size - at));
}

static inline void load(struct bytes *b, uint64_t time, uint64_t address, uint64_t size,
			uint64_t index, const char *name)
{
	size_t at = begin(b, MT_JITDUMP_LOAD, time);

	u64(b, 77);
	u64(b, address);
	u64(b, address);
	u64(b, size);
	u64(b, index);
	text(b, name);
	memset(b->at + b->size, 0x90, size);
	b->size += size;
	end(b, at);
}

static inline void move(struct bytes *b, uint64_t time, uint64_t from, uint64_t to, uint64_t size,
			uint64_t index)
{
	size_t at = begin(b, MT_JITDUMP_MOVE, time);

	u64(b, 77);
	u64(b, to);
	u64(b, from);
	u64(b, to);
	u64(b, size);
	u64(b, index);
	end(b, at);
}

/* Adds line 10 for the first address and line 11 for the second. */
static inline void lines(struct bytes *b, uint64_t code, uint64_t first, uint64_t second)
{
	size_t at = begin(b, MT_JITDUMP_LINES, 0);

	u64(b, code);
	u64(b, 2);
	u64(b, first);
	u32(b, 10);
	u32(b, 0);
	text(b, "a.js");
	u64(b, second);
	u32(b, 11);
	u32(b, 0);
	text(b, "\xff");
	end(b, at);
}

static inline void unwind(struct bytes *b, uint64_t size, uint64_t index)
{
	size_t at = begin(b, MT_JITDUMP_UNWIND, 0);

	u64(b, size);
	u64(b, index);
	u64(b, 0);
	memset(b->at + b->size, 7, 32);
	b->size += 32;
	end(b, at);
}

/* Adds unwind tables for the next code, of `size` bytes; the CFA is rsp + cfa throughout. */
static inline void tables(struct bytes *b, uint64_t size, uint8_t cfa)
{
	static const uint8_t cie[] = {20, 0,	0,  0, 0,    0,	   0, 0, 1,    'z', 'R', 0,
				      1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,	 0};
	uint8_t fde[24] = {20, 0, 0, 0, 28, 0, 0, 0};
	size_t at = begin(b, MT_JITDUMP_UNWIND, 0);

	u64(b, sizeof(cie) + sizeof(fde) + 4);
	u64(b, 0);
	u64(b, 0);
	memcpy(b->at + b->size, cie, sizeof(cie));
	b->size += sizeof(cie);
	mt_put_le32(fde + 8, (uint32_t)(0 - (mt_align8(size) + sizeof(cie) + 8)));
	mt_put_le32(fde + 12, (uint32_t)size);
	fde[17] = 0x0e; /* DW_CFA_def_cfa_offset */
	fde[18] = cfa;
	memcpy(b->at + b->size, fde, sizeof(fde));
	b->size += sizeof(fde);
	u32(b, 0);
	end(b, at);
}

#endif
