/*
 * Finds a rule after a cache miss: mapping, image, ELF, CFI, row, rule. Two kinds of code without
 * CFI are recognized: the signal return stub of some C libraries, and PLT sections.
 */
#include "unwind/lookup.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>

#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "symbols/jit/jitdump_index.h"
#include "unwind/cfi/cfi_rules.h"
#include "unwind/walk.h"

static void destroy_cfi(void *cfi)
{
	mt_cfi_destroy(cfi);
}

/* The image's CFI, read on first use; NULL out of memory. */
static struct mt_cfi *image_cfi(struct mt_image *image, struct mt_elf *elf)
{
	struct mt_cfi *cfi = __atomic_load_n(&image->cfi, __ATOMIC_ACQUIRE);

	if (cfi)
		return cfi;
	cfi = mt_cfi_of_elf(elf);
	return cfi ? mt_image_set_cfi(image, cfi, destroy_cfi) : NULL;
}

/* Looks up the row of generated code in the unwind tables that the process wrote to its jitdump. */
static enum mt_cfi_found jit_row(const struct mt_mapping *mapping, uint64_t address,
				 struct mt_cfi_row *row, int *end)
{
	const struct mt_jitdump *dump = mapping->image->jitdump;
	uint32_t code = mt_jitdump_find(dump, mapping->era, address);
	struct mt_cfi_sections sections = {0};
	enum mt_cfi_found found;
	struct mt_cfi *cfi;

	*end = MT_END_NO_CFI;
	if (code != MT_JITDUMP_NONE)
		sections.eh_frame = mt_jitdump_unwind(dump, code);
	cfi = sections.eh_frame.bytes ? mt_cfi_create(&sections) : NULL;
	if (!cfi)
		return MT_CFI_NONE;
	found = mt_cfi_find(cfi, address, row);
	mt_cfi_destroy(cfi);
	return found;
}

struct place {
	bool code; /* in an executable mapping: the result is valid for this generation */
	const struct mt_mapping *mapping;
	const struct mt_mapping *jit; /* the mapping if the image has a jitdump, else NULL */
	struct mt_image *image;
	struct mt_elf *elf;
	uint64_t vaddr;
};

/*
 * Returns MT_END_REASONS if the address is in an available ELF file, else the reason why not. Sets
 * the members of *out that are known.
 */
static int find_place(const struct mt_image_map *map, uint64_t address, struct place *out)
{
	const struct mt_mapping *mapping = mt_image_map_find(map, address);

	out->code = mapping && (mapping->prot & PROT_EXEC);
	out->mapping = mapping;
	out->jit = mapping && mapping->image->jitdump ? mapping : NULL;
	if (!mapping)
		return MT_END_NO_IMAGE;
	if (mapping->image->kind == MT_IMAGE_ANONYMOUS)
		return MT_END_NO_CFI;
	out->image = mapping->image;
	out->elf = mt_image_elf(mapping->image);
	if (!out->elf)
		return MT_END_NO_ELF;
	if (mt_elf_machine(out->elf) != EM_X86_64 ||
	    !mt_mapping_vaddr(mapping, address, &out->vaddr))
		return MT_END_NO_CFI;
	return MT_END_REASONS;
}

static enum mt_cfi_found place_row(const struct place *place, struct mt_cfi_row *row, int *end)
{
	struct mt_cfi *cfi = image_cfi(place->image, place->elf);
	enum mt_cfi_found found = cfi ? mt_cfi_find(cfi, place->vaddr, row) : MT_CFI_NONE;

	*end = found == MT_CFI_BROKEN ? MT_END_BAD_CFI : MT_END_NO_CFI;
	return found;
}

enum mt_cfi_found mt_lookup_row(const struct mt_image_map *map, uint64_t address,
				struct mt_cfi_row *row, int *end)
{
	struct place place;

	*end = find_place(map, address, &place);
	if (place.jit)
		return jit_row(place.jit, address, row, end);
	return *end == MT_END_REASONS ? place_row(&place, row, end) : MT_CFI_NONE;
}

/*
 * Whether the code is mov $__NR_rt_sigreturn, %rax; syscall. Then sp points to the kernel's struct
 * ucontext, where rsp is saved at offset 160.
 */
static bool is_signal_return(const struct place *place, uint64_t vaddr)
{
	static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
	const uint8_t *bytes = mt_elf_bytes_at(place->elf, vaddr, sizeof(code));

	return bytes && !memcmp(bytes, code, sizeof(code));
}

static bool in_section(const struct place *place, const char *name, uint64_t *offset)
{
	struct mt_span span = mt_elf_section(place->elf, name);

	*offset = place->vaddr - span.vaddr;
	return span.bytes && *offset < span.size;
}

/*
 * The offset of the CFA from sp in a lazy PLT. The return address is on top of the stack, except
 * after pushes: in entry 0, and before the last instruction of other entries.
 */
static int32_t lazy_plt_offset(uint64_t offset)
{
	if (offset < 16)
		return offset < 6 ? 16 : 24;
	return offset % 16 < 11 ? 8 : 16;
}

static bool plt_rule(const struct place *place, struct mt_rule *rule)
{
	uint64_t offset;

	*rule = (struct mt_rule){.kind = MT_RULE_SP, .offset = 8};
	if (in_section(place, ".plt", &offset)) {
		rule->offset = lazy_plt_offset(offset);
		return true;
	}
	return in_section(place, ".plt.sec", &offset) || in_section(place, ".plt.got", &offset) ||
	       in_section(place, ".iplt", &offset);
}

/* The rule for the C library's _init and _fini: sub $8, %rsp ... add $8, %rsp; ret. */
static bool init_rule(const struct place *place, const char *name, struct mt_rule *rule)
{
	static const uint8_t sub[] = {0x48, 0x83, 0xec, 0x08},
			     add[] = {0x48, 0x83, 0xc4, 0x08, 0xc3};
	struct mt_span span = mt_elf_section(place->elf, name);
	uint64_t offset = place->vaddr - span.vaddr;
	const uint8_t *at;

	if (!span.bytes || offset >= span.size || span.size < sizeof(sub) + sizeof(add) ||
	    memcmp(span.bytes + span.size - sizeof(add), add, sizeof(add)))
		return false;
	at = memmem(span.bytes, span.size, sub, sizeof(sub));
	if (!at)
		return false;
	*rule = (struct mt_rule){.kind = MT_RULE_SP, .offset = 16};
	if (offset <= (uint64_t)(at - span.bytes) || offset + 1 == span.size)
		rule->offset = 8;
	return true;
}

/* Whether the address may be in a section of the list. Most code without CFI is elsewhere. */
static bool among_stubs(const struct place *place)
{
	static const char *const names[] = {".plt",  ".plt.sec", ".plt.got",
					    ".iplt", ".init",	 ".fini"};
	struct mt_elf_section_info section;
	size_t i = 0;

	while ((i = mt_elf_section_at(place->elf, place->vaddr, i))) {
		if (!mt_elf_section_info(place->elf, i, &section))
			continue;
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
			if (!strcmp(section.name, names[k]))
				return true;
		}
	}
	return false;
}

/*
 * The rule for code of linkers and C libraries that can be unwound without CFI; false for others.
 */
static bool stub_rule(const struct place *place, struct mt_rule *rule)
{
	if (!among_stubs(place))
		return false;
	return plt_rule(place, rule) || init_rule(place, ".init", rule) ||
	       init_rule(place, ".fini", rule);
}

/* Finds the rule in the rules of the whole FDE. False if the rule depends on the exact address. */
static bool known_rule(const struct place *place, uint64_t address, uint64_t pc,
		       struct mt_rule *rule)
{
	struct mt_cfi *cfi = image_cfi(place->image, place->elf);
	const struct mt_cfi_rules *rules = cfi ? mt_cfi_rules_at(cfi, place->vaddr) : NULL;
	uint64_t at = place->vaddr + (pc - address);

	/* signal return stubs, checked elsewhere, begin at most one byte after their FDE */
	return rules && at > rules->start + 1 && at < rules->end &&
	       mt_cfi_rules_find(rules, place->vaddr, rule);
}

static struct mt_rule place_rule(const struct place *place, uint64_t address, uint64_t pc)
{
	struct mt_cfi_row row;
	struct mt_rule rule;
	int end;

	if (known_rule(place, address, pc, &rule))
		return rule;
	if (is_signal_return(place, place->vaddr + (pc - address)))
		return (struct mt_rule){.kind = MT_RULE_SIGNAL, .offset = 160};
	switch (place_row(place, &row, &end)) {
	case MT_CFI_FOUND:
		return mt_rule_from_row(&row, pc);
	case MT_CFI_NONE:
		return stub_rule(place, &rule) ? rule : mt_rule_none(end);
	default:
		return mt_rule_none(end);
	}
}

/*
 * The rule for a frame, looked up at `address`: pc, or pc - 1 for a return address. *lasting: the
 * rule is valid for every map of this generation. If no code is mapped at the address, the rule is
 * only valid for this version of the map.
 */
static struct mt_rule find_rule(const struct mt_image_map *map, uint64_t address, uint64_t pc,
				bool *lasting)
{
	struct place place;
	int end = find_place(map, address, &place);
	struct mt_cfi_row row;

	*lasting = place.code;
	if (place.jit && jit_row(place.jit, address, &row, &end) == MT_CFI_FOUND)
		return mt_rule_from_row(&row, pc);
	return end == MT_END_REASONS ? place_rule(&place, address, pc) : mt_rule_none(end);
}

const uint8_t *mt_lookup_code(const struct mt_image_map *map, uint64_t address, size_t n,
			      bool anywhere)
{
	struct place place;

	if (find_place(map, address, &place) != MT_END_REASONS)
		return NULL;
	return mt_image_code(place.image, place.vaddr, n, anywhere);
}

bool mt_lookup_is_stub(const struct mt_image_map *map, uint64_t address)
{
	struct place place;
	struct mt_rule rule;

	return find_place(map, address, &place) == MT_END_REASONS && plt_rule(&place, &rule);
}

bool mt_lookup_place(const struct mt_image_map *map, uint64_t address, struct mt_lookup_place *out)
{
	struct place place;
	bool found = find_place(map, address, &place) == MT_END_REASONS;

	*out = (struct mt_lookup_place){.lasting = place.code};
	if (!found)
		return false;
	out->mapping = place.mapping;
	out->vaddr = place.vaddr;
	return true;
}

bool mt_lookup_range(struct mt_image *image, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	struct mt_elf *elf = mt_image_elf(image);
	struct mt_cfi *cfi = elf ? image_cfi(image, elf) : NULL;

	return cfi && mt_cfi_range(cfi, vaddr, start, end);
}

bool mt_lookup_function(const struct mt_image_map *map, uint64_t address,
			struct mt_lookup_function *out)
{
	struct mt_lookup_place place;
	uint64_t start, end;

	if (!mt_lookup_place(map, address, &place) ||
	    !mt_lookup_range(place.mapping->image, place.vaddr, &start, &end))
		return false;
	*out = (struct mt_lookup_function){
		.start = address - (place.vaddr - start),
		.size = end - start,
	};
	return true;
}

/* ---- The rule cache ---- */

static inline bool cache_has(struct mt_cache_entry *cache, struct mt_cache_entry *entry,
			     uint64_t tag)
{
	return entry->tag == tag || mt_cache_recall(cache, entry, tag);
}

/*
 * A rule for an address without mapped code is only valid for this version of the map, so the
 * version is its key.
 */
struct mt_rule mt_walk_rule_miss(struct mt_walk *walk, uint64_t address, uint64_t pc,
				 struct mt_cache_entry *entry, uint64_t tag)
{
	struct mt_cache_entry *cache = walk->unwinder->cache;
	uint64_t tag_here = mt_cache_tag(address, walk->version);
	struct mt_cache_entry *here = mt_cache_entry(cache, address, tag_here);
	struct mt_rule rule;
	bool lasting;

	if (mt_cache_recall(cache, entry, tag))
		return entry->rule;
	if (walk->unwinder->of_versions && cache_has(cache, here, tag_here))
		return here->rule;
	rule = find_rule(walk->input->map, address, pc, &lasting);
	walk->unwinder->counts.cache_misses++;
	if (!lasting) {
		walk->unwinder->of_versions = true;
		entry = here;
		tag = tag_here;
	}
	mt_cache_move(cache, entry);
	*entry = (struct mt_cache_entry){.tag = tag, .rule = rule};
	return rule;
}
