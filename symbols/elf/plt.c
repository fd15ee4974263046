/*
 * PLT stubs have no symbols. On x86 each stub is decoded to find its GOT slot, whose relocation
 * names the function. This is correct for any order of the stubs, and for .plt.sec (IBT) and
 * .plt.got. On AArch64 the stubs follow a header in the order of .rela.plt.
 */
#include "symbols/elf/plt.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cursor.h"
#include "symbols/elf/elf.h"

struct slot {
	uint64_t address; /* address of the GOT entry */
	uint32_t symbol;  /* index in .dynsym; 0: an IFUNC without a symbol */
	uint64_t addend;  /* if symbol is 0: the address of its resolver */
};

struct slots {
	MT_ARRAY(struct slot) list;
};

static bool is_function_slot(uint16_t machine, uint32_t type)
{
	switch (machine) {
	case EM_X86_64:
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
	case EM_386:
		return type == R_386_JMP_SLOT || type == R_386_GLOB_DAT;
	case EM_AARCH64:
		return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
	default:
		return false;
	}
}

static bool is_ifunc_slot(uint16_t machine, uint32_t type)
{
	return (machine == EM_X86_64 && type == R_X86_64_IRELATIVE) ||
	       (machine == EM_AARCH64 && type == R_AARCH64_IRELATIVE);
}

bool mt_plt_is_slot(uint16_t machine, uint32_t type, uint32_t symbol)
{
	return symbol ? is_function_slot(machine, type) : is_ifunc_slot(machine, type);
}

/* Reads the relocations of a section: with addends in 64-bit files, without in 32-bit files. */
static bool read_slots(struct mt_elf *elf, const char *section, struct slots *slots)
{
	struct mt_span span = mt_elf_section(elf, section);
	struct mt_cursor c = mt_cursor_init(span.bytes, span.bytes ? span.size : 0);
	uint16_t machine = mt_elf_machine(elf);
	bool is_64 = mt_elf_is_64(elf);

	while (mt_cursor_left(&c)) {
		struct slot slot = {.address = is_64 ? mt_cursor_u64(&c) : mt_cursor_u32(&c)};
		uint64_t info = is_64 ? mt_cursor_u64(&c) : mt_cursor_u32(&c);
		uint32_t type = is_64 ? (uint32_t)ELF64_R_TYPE(info) : ELF32_R_TYPE(info);

		slot.symbol = (uint32_t)(is_64 ? ELF64_R_SYM(info) : ELF32_R_SYM(info));
		slot.addend = is_64 ? mt_cursor_u64(&c) : 0;
		if (c.bad || !mt_plt_is_slot(machine, type, slot.symbol))
			continue;
		if (!mt_array_append(&slots->list, slot))
			return false;
	}
	return true;
}

static int compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static const struct slot *find_slot(const struct slots *slots, uint64_t address)
{
	struct slot key = {.address = address};

	if (!slots->list.count)
		return NULL;
	return bsearch(&key, slots->list.items, slots->list.count, sizeof(key), compare_slots);
}

/*
 * The GOT slot that the x86-64 stub at vaddr jumps through, by a jmp *disp32(%rip) anywhere in its
 * bytes. 0 if there is none.
 */
static uint64_t slot_of_stub(const uint8_t *bytes, size_t size, uint64_t vaddr)
{
	for (size_t i = 0; i + 6 <= size; i++) {
		if (bytes[i] == 0xff && bytes[i + 1] == 0x25)
			return vaddr + i + 6 +
			       (uint64_t)(int64_t)(int32_t)mt_get_le32(bytes + i + 2);
	}
	return 0;
}

struct walk {
	struct mt_elf *elf;
	const struct slots *slots;
	bool (*visit)(void *context, const struct mt_plt_stub *stub);
	void *context;
};

static bool visit_slot(const struct walk *walk, uint64_t start, uint64_t size,
		       const struct slot *slot)
{
	struct mt_plt_stub stub = {.start = start, .size = size};
	struct mt_elf_symbol symbol;

	if (!slot)
		return true;
	if (!slot->symbol)
		stub.resolver = slot->addend;
	else if (mt_elf_symbol(walk->elf, true, slot->symbol, &symbol) && *symbol.name)
		stub.name = symbol.name;
	else
		return true;
	return walk->visit(walk->context, &stub);
}

static bool walk_x86_64(const struct walk *walk, const char *section, size_t stub)
{
	struct mt_span span = mt_elf_section(walk->elf, section);

	for (size_t at = 0; span.bytes && at + stub <= span.size; at += stub) {
		uint64_t vaddr = span.vaddr + at;
		uint64_t slot = slot_of_stub(span.bytes + at, stub, vaddr);

		if (slot && !visit_slot(walk, vaddr, stub, find_slot(walk->slots, slot)))
			return false;
	}
	return true;
}

static bool walk_in_order(const struct walk *walk, size_t header, size_t stub)
{
	struct mt_elf_section_info plt = {0};

	mt_elf_section_info(walk->elf, mt_elf_find_section(walk->elf, ".plt"), &plt);
	for (size_t i = 0; i < walk->slots->list.count && header + (i + 1) * stub <= plt.size;
	     i++) {
		if (!visit_slot(walk, plt.vaddr + header + i * stub, stub,
				&walk->slots->list.items[i]))
			return false;
	}
	return true;
}

/* .plt.got stubs are 8 bytes, or 16 with IBT, according to the section. */
static size_t got_stub_size(struct mt_elf *elf)
{
	struct mt_elf_section_info info;

	if (mt_elf_section_info(elf, mt_elf_find_section(elf, ".plt.got"), &info) &&
	    info.entry_size == 16)
		return 16;
	return 8;
}

static bool walk_machine(const struct walk *walk, struct slots *slots)
{
	switch (mt_elf_machine(walk->elf)) {
	case EM_X86_64:
		if (!read_slots(walk->elf, ".rela.dyn", slots))
			return false;
		if (slots->list.count)
			qsort(slots->list.items, slots->list.count, sizeof(struct slot),
			      compare_slots);
		return walk_x86_64(walk, ".plt", 16) && walk_x86_64(walk, ".plt.sec", 16) &&
		       walk_x86_64(walk, ".plt.got", got_stub_size(walk->elf));
	case EM_386:
		return walk_in_order(walk, 16, 16);
	case EM_AARCH64:
		return walk_in_order(walk, 32, 16);
	default:
		return true;
	}
}

bool mt_plt_each(struct mt_elf *elf, bool (*visit)(void *context, const struct mt_plt_stub *stub),
		 void *context)
{
	struct slots slots = {0};
	struct walk walk = {.elf = elf, .slots = &slots, .visit = visit, .context = context};
	bool ok = read_slots(elf, mt_elf_is_64(elf) ? ".rela.plt" : ".rel.plt", &slots) &&
		  walk_machine(&walk, &slots);

	mt_array_deinit(&slots.list);
	return ok;
}
