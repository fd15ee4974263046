/*
 * Searches the code for the bytes of calls and jumps, without decoding it. Bytes within another
 * instruction match only if they lead to the same function by chance.
 */
#include "record/allocators/function_calls.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "symbols/elf/elf.h"
#include "symbols/elf/plt.h"

enum {
	TARGETS_MOST = 8,
	RELA_SIZE = 24,
	CODE_MOST = 4096, /* bytes of a function that are searched */
};

/* The addresses through which the function is called. */
struct search {
	struct mt_elf *elf;
	const char *name;
	uint64_t targets[TARGETS_MOST]; /* code addresses: the function, its stubs */
	uint64_t slots[TARGETS_MOST];	/* words that contain its address */
	size_t target_count, slot_count;
};

static bool has(const uint64_t *list, size_t count, uint64_t address)
{
	while (count && list[count - 1] != address)
		count--;
	return count;
}

static bool take_stub(void *context, const struct mt_plt_stub *stub)
{
	struct search *search = context;

	if (stub->name && !strcmp(stub->name, search->name) && search->target_count < TARGETS_MOST)
		search->targets[search->target_count++] = stub->start;
	return true;
}

static void find_symbols(struct search *search, bool dynamic)
{
	size_t count = mt_elf_symbol_count(search->elf, dynamic);
	struct mt_elf_symbol symbol;

	for (size_t i = 0; i < count && search->target_count < TARGETS_MOST; i++) {
		if (mt_elf_symbol(search->elf, dynamic, i, &symbol) && symbol.section &&
		    !strcmp(symbol.name, search->name))
			search->targets[search->target_count++] = symbol.value;
	}
}

static void find_slots(struct search *search)
{
	struct mt_span table = mt_elf_section(search->elf, ".rela.dyn");
	struct mt_elf_symbol symbol;

	for (size_t at = 0; at + RELA_SIZE <= table.size && search->slot_count < TARGETS_MOST;
	     at += RELA_SIZE) {
		uint64_t info = mt_get_le64(table.bytes + at + 8);

		if ((uint32_t)info == R_X86_64_GLOB_DAT &&
		    mt_elf_symbol(search->elf, true, info >> 32, &symbol) &&
		    !strcmp(symbol.name, search->name))
			search->slots[search->slot_count++] = mt_get_le64(table.bytes + at);
	}
}

bool mt_function_calls(struct mt_elf *elf, uint64_t address, uint64_t size, const char *name)
{
	struct search search = {.elf = elf, .name = name};
	const uint8_t *code;

	size = size < CODE_MOST ? size : CODE_MOST;
	code = mt_elf_machine(elf) == EM_X86_64 ? mt_elf_bytes_at(elf, address, size) : NULL;
	if (!code)
		return true;
	find_symbols(&search, true);
	find_symbols(&search, false);
	mt_plt_each(elf, take_stub, &search);
	find_slots(&search);
	for (size_t at = 0; at + 5 <= size; at++) {
		bool direct = code[at] == 0xe8 || code[at] == 0xe9;
		/* call *SLOT(%rip), jmp *SLOT(%rip) */
		bool by_slot = at + 6 <= size && code[at] == 0xff &&
			       (code[at + 1] == 0x15 || code[at + 1] == 0x25);
		size_t operand = at + (by_slot ? 2 : 1);

		if ((direct || by_slot) &&
		    has(direct ? search.targets : search.slots,
			direct ? search.target_count : search.slot_count,
			address + operand + 4 + (uint64_t)(int32_t)mt_get_le32(code + operand)))
			return true;
	}
	return false;
}
