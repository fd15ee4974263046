/*
 * Builds small .eh_frame and .debug_frame sections byte by byte, so that a test can make malformed
 * ones. FDE addresses are absolute 8-byte numbers unless the CIE's augmentation says otherwise.
 */
#ifndef MT_TESTS_UNIT_CFI_BUILDER_H
#define MT_TESTS_UNIT_CFI_BUILDER_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "symbols/elf/elf.h"

struct cfi_builder {
	uint8_t bytes[4096];
	size_t size;
	uint64_t vaddr;
	bool debug_frame;
};

/* A program or other run of bytes, and its size, as two arguments. */
#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define NO_BYTES NULL, 0

static inline void cfi_put(struct cfi_builder *b, const void *bytes, size_t size)
{
	assert(b->size + size <= sizeof(b->bytes));
	if (size)
		memcpy(b->bytes + b->size, bytes, size);
	b->size += size;
}

static inline void cfi_put32(struct cfi_builder *b, uint32_t value)
{
	uint8_t bytes[4];

	mt_put_le32(bytes, value);
	cfi_put(b, bytes, 4);
}

static inline void cfi_put64(struct cfi_builder *b, uint64_t value)
{
	uint8_t bytes[8];

	mt_put_le64(bytes, value);
	cfi_put(b, bytes, 8);
}

/* Pads an entry with nops to a multiple of 8, and sets its length. */
static inline void cfi_close(struct cfi_builder *b, size_t start)
{
	while (b->size % 8)
		cfi_put(b, "", 1);
	mt_put_le32(b->bytes + start, (uint32_t)(b->size - start - 4));
}

/*
 * x86-64's CIE: code alignment 1, data alignment -8, return address 16; CFA = rsp + 8, return
 * address at CFA - 8, then `more`. With augmentation "" there is no augmentation data; otherwise
 * the data bytes include the size byte. Returns the CIE's offset.
 */
static inline size_t cfi_cie(struct cfi_builder *b, const char *augmentation, const uint8_t *data,
			     size_t data_size, const uint8_t *more, size_t more_size)
{
	size_t start = b->size;

	cfi_put32(b, 0);
	cfi_put32(b, b->debug_frame ? UINT32_MAX : 0);
	cfi_put(b, "\x01", 1);
	cfi_put(b, augmentation, strlen(augmentation) + 1);
	cfi_put(b, "\x01\x78\x10", 3);
	cfi_put(b, data, data_size);
	cfi_put(b, "\x0c\x07\x08\x90\x01", 5);
	cfi_put(b, more, more_size);
	cfi_close(b, start);
	return start;
}

/* Adds an FDE of that CIE with the bytes of `addresses`; returns its offset. */
static inline size_t cfi_fde_raw(struct cfi_builder *b, size_t cie, const uint8_t *addresses,
				 size_t addresses_size, const uint8_t *program, size_t program_size)
{
	size_t start = b->size;

	cfi_put32(b, 0);
	cfi_put32(b, (uint32_t)(b->debug_frame ? cie : b->size - cie));
	cfi_put(b, addresses, addresses_size);
	cfi_put(b, program, program_size);
	cfi_close(b, start);
	return start;
}

/* Adds an FDE for [address, address + length) of a CIE without augmentation. */
static inline size_t cfi_fde(struct cfi_builder *b, size_t cie, uint64_t address, uint64_t length,
			     const uint8_t *program, size_t program_size)
{
	uint8_t addresses[16];

	mt_put_le64(addresses, address);
	mt_put_le64(addresses + 8, length);
	return cfi_fde_raw(b, cie, addresses, 16, program, program_size);
}

static inline struct mt_span cfi_span(const struct cfi_builder *b)
{
	return (struct mt_span){.bytes = b->bytes, .size = b->size, .vaddr = b->vaddr};
}

/*
 * A search table in the usual encoding at vaddr `at`: the frame section's address, then `count`
 * pairs (address, FDE's address).
 */
static inline struct mt_span cfi_table(struct cfi_builder *hdr, uint64_t at, uint64_t frame,
				       const uint64_t (*pairs)[2], size_t count)
{
	*hdr = (struct cfi_builder){.vaddr = at};
	cfi_put(hdr, "\x01\x1b\x03\x3b", 4);
	cfi_put32(hdr, (uint32_t)(frame - (at + 4)));
	cfi_put32(hdr, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		cfi_put32(hdr, (uint32_t)(pairs[i][0] - at));
		cfi_put32(hdr, (uint32_t)(pairs[i][1] - at));
	}
	return cfi_span(hdr);
}

#endif
