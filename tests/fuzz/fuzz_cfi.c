/*
 * CFI, registers, a dump and a kernel chain from any bytes. Unwinding must stay inside them and
 * end, and must return the reason why the stack ends.
 *
 * The input is cut into: sizes, types, .eh_frame_hdr, .eh_frame, .debug_frame, then the dump. The
 * sections are put into a separate ELF file, whose code also comes from the fuzzer. A type can make
 * a section SHT_NOBITS, which has a size but no bytes.
 */
#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "formats/base/cursor.h"
#include "formats/base/err.h"
#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "tests/unit/elf_builder.h"
#include "unwind/cfi/cfi.h"
#include "unwind/cfi/cfi_rules.h"
#include "unwind/cfi/rule.h"
#include "unwind/unwind.h"

#define BASE 0x400000
#define STACK 0x7fff0000
#define FRAMES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct elf_builder builder;

static struct mt_error *open_builder(void *context, const struct mt_image_identity *identity,
				     struct mt_elf **out, char **found_at)
{
	(void)identity;
	(void)found_at;
	return mt_elf_open_memory(context, builder.size, "fuzz", out);
}

static const struct mt_image_source source = {.name = "fuzz", .open = open_builder};

static struct mt_span take(struct mt_cursor *c, size_t size)
{
	size_t left = mt_cursor_left(c);

	size = size < left ? size : left;
	return (struct mt_span){.bytes = mt_cursor_bytes(c, size), .size = size};
}

static void add(const char *name, struct mt_span span, bool nobits)
{
	Elf64_Shdr *s = builder_add_section(&builder, name, SHT_PROGBITS, 0, span.bytes, span.size);

	s->sh_addr = s->sh_offset;
	if (nobits) {
		s->sh_type = SHT_NOBITS;
		s->sh_size <<= 32;
	}
}

/* One segment covers the whole file; addresses equal offsets. */
static void build(const struct mt_span parts[4], uint8_t nobits)
{
	static const char *const names[] = {".eh_frame_hdr", ".eh_frame", ".debug_frame", ".plt"};

	builder_init(&builder, ET_DYN);
	builder_add_segment(&builder, PT_LOAD, PF_R | PF_X, 0, 0, 0x8000);
	for (unsigned int i = 0; i < 4; i++)
		add(names[i], parts[i], nobits >> i & 1);
	builder_finish(&builder);
	builder_segment(&builder, 0)->p_filesz = builder.size;
}

static void fill_regs(struct mt_cursor *c, struct mt_unwind_regs *regs)
{
	for (int i = 0; i < MT_UNWIND_REGS; i++)
		regs->value[i] = STACK + mt_cursor_u8(c) * 8;
	regs->value[7] = STACK;
	regs->value[16] = BASE + mt_cursor_u16(c) % 0x8000;
	regs->valid = (1u << MT_UNWIND_REGS) - 1;
}

/* Uses one unwinder for all inputs, as a worker does; maps differ in their generation. */
static void unwind(struct mt_unwind_input *input)
{
	static struct mt_unwinder *unwinder;
	const struct mt_unwind_options options = {.max_frames = FRAMES};
	struct mt_frame frames[FRAMES];
	struct mt_stack stack = {.frames = frames, .capacity = FRAMES};

	if (!unwinder)
		unwinder = mt_unwinder_create(&options);
	for (const struct mt_unwind_method *m = mt_unwind_methods; unwinder && m->name; m++) {
		stack.count = 0;
		m->unwind(unwinder, input, &stack);
		if (stack.count > FRAMES || (unsigned int)stack.end >= MT_END_REASONS)
			abort();
	}
}

static void unwind_in(struct mt_image_set *images, struct mt_image_map *map, struct mt_cursor *c)
{
	const struct mt_image_identity identity = {.path = "/fuzz"};
	struct mt_unwind_input input = {.have_regs = true, .map = map, .dump_asked = 4096};
	struct mt_mapping mapping = {
		.start = BASE, .end = BASE + 0x8000, .prot = PROT_READ | PROT_EXEC};
	uint64_t chain[8];

	mapping.image = mt_image_set_intern(images, &identity);
	if (!mapping.image || !mt_image_map_insert(map, &mapping))
		return;
	fill_regs(c, &input.regs);
	chain[0] = input.regs.value[16];
	for (int i = 1; i < 8; i++)
		chain[i] = BASE + mt_cursor_u16(c) % 0x8000;
	input.chain = chain;
	input.chain_count = 8;
	input.dump_size = mt_cursor_left(c) & ~(size_t)7;
	input.dump = mt_cursor_bytes(c, input.dump_size);
	unwind(&input);
}

/* Looks up every address in each way. */
static void find_all(const struct mt_span parts[4])
{
	const struct mt_cfi_sections sections = {
		.eh_frame_hdr = parts[0], .eh_frame = parts[1], .debug_frame = parts[2]};
	struct mt_cfi *cfi = mt_cfi_create(&sections);
	const struct mt_cfi_rules *rules;
	struct mt_cfi_row row;
	struct mt_rule rule;

	for (uint64_t address = 0; cfi && address < 64; address++) {
		rules = mt_cfi_rules_at(cfi, address * 97);
		if (rules)
			(void)mt_cfi_rules_find(rules, address * 97, &rule);
		if (mt_cfi_find(cfi, address * 97, &row) == MT_CFI_FOUND)
			mt_rule_from_row(&row, address * 97);
	}
	mt_cfi_destroy(cfi);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mt_cursor c = mt_cursor_init(data, size);
	uint8_t sizes[4] = {mt_cursor_u8(&c), mt_cursor_u8(&c), mt_cursor_u8(&c), mt_cursor_u8(&c)};
	uint8_t nobits = mt_cursor_u8(&c);
	struct mt_image_set *images = mt_image_set_create();
	struct mt_image_map *map = mt_image_map_create();
	struct mt_span parts[4];

	if (size > 8192)
		size = 8192;
	for (int i = 0; i < 4; i++)
		parts[i] = take(&c, sizes[i] * (size_t)4);
	find_all(parts);
	build(parts, nobits);
	if (images && map && mt_image_set_add_source(images, &source, builder.bytes))
		unwind_in(images, map, &c);
	mt_image_map_destroy(map);
	mt_image_set_destroy(images);
	return 0;
}
