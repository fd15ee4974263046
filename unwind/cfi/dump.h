/*
 * The input of a step: registers, and a stack dump, which has the bytes of the sampled thread's
 * stack from the stack pointer up.
 */
#ifndef MT_UNWIND_CFI_DUMP_H
#define MT_UNWIND_CFI_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/bytes.h"

/*
 * General registers by DWARF number (x86-64: 0 rax, 1 rdx, 2 rcx, 3 rbx, 4 rsi, 5 rdi, 6 rbp, 7
 * rsp, 8-15 r8-r15, 16 rip).
 */
#define MT_UNWIND_REGS 17
struct mt_unwind_regs {
	uint64_t value[MT_UNWIND_REGS];
	uint32_t valid; /* bit n: value[n] is known */
};

/* A return address that a return probe has replaced (unwind/return_slots.h). */
struct mt_return_slot {
	uint64_t slot;	  /* stack address of the return address */
	uint64_t address; /* the return address */
};

/* True if the address may be that of a trampoline. */
static inline bool mt_may_be_trampoline(uint64_t address)
{
	return address && !(address & 4095);
}

struct mt_dump {
	const uint8_t *bytes;
	uint64_t start; /* address of the first byte */
	uint64_t size;
	const struct mt_return_slot
		*returns; /* replaced return addresses; see unwind/return_slots.h */
	size_t return_count;
};

/* The word at `address`; if it is a return probe's trampoline, the address that it replaced. */
static inline uint64_t mt_dump_restore(const struct mt_dump *dump, uint64_t address, uint64_t word)
{
	for (size_t i = 0; i < dump->return_count; i++) {
		if (dump->returns[i].slot == address)
			return dump->returns[i].address;
	}
	return word;
}

/* Reads the word at address; false, with *value unchanged, unless all 8 bytes are in the dump. */
static inline bool mt_dump_read(const struct mt_dump *dump, uint64_t address, uint64_t *value)
{
	uint64_t offset = address - dump->start;

	if (dump->size < 8 || offset > dump->size - 8)
		return false;
	*value = mt_get_le64(dump->bytes + offset);
	if (__builtin_expect(dump->return_count && mt_may_be_trampoline(*value), 0))
		*value = mt_dump_restore(dump, address, *value);
	return true;
}

#endif
