/* PLT stubs, each with the function that it jumps to. */
#ifndef MT_SYMBOLS_ELF_PLT_H
#define MT_SYMBOLS_ELF_PLT_H

#include <stdbool.h>
#include <stdint.h>

struct mt_elf;

struct mt_plt_stub {
	uint64_t start;
	uint64_t size;
	/* name of the function, borrowed from the ELF's string table; NULL: see resolver */
	const char *name;
	uint64_t resolver; /* address of the stub's IFUNC resolver if name is NULL */
};

/*
 * True if a relocation of that type connects a stub to its function: by symbol, or (symbol 0) by
 * the address of a resolver.
 */
bool mt_plt_is_slot(uint16_t machine, uint32_t type, uint32_t symbol);

/*
 * Calls visit for each stub of .plt, .plt.sec and .plt.got with a known function, in no particular
 * order, until visit returns false. Returns false in that case, or out of memory.
 */
bool mt_plt_each(struct mt_elf *elf, bool (*visit)(void *context, const struct mt_plt_stub *stub),
		 void *context);

#endif
