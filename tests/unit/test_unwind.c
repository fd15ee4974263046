/*
 * unwind: stacks of made functions. One image holds a function of each kind. A test sets the words
 * of a stack and checks the frames, their sources and the end.
 */
#include "unwind/unwind.h"

#include <elf.h>
#include <sys/mman.h>

#include "formats/base/err.h"
#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "tests/unit/cfi_builder.h"
#include "tests/unit/elf_builder.h"
#include "tests/unit/unit.h"
#include "unwind/oracle/oracle.h"
#include "unwind/sample_stack.h"

#define BASE ((uint64_t)0x555500000000)
#define STACK ((uint64_t)0x7fff00001000)
#define JIT ((uint64_t)0x7f0000000000)
#define NOWHERE ((uint64_t)0x123456789000) /* in no mapping */
#define WORDS 64
#define FRAMES 16
#define ROUNDS 8000

/* Functions, of 0x40 bytes each from the start of the code. */
enum function {
	PLAIN,	      /* CFA = rsp + 16, nothing saved */
	FRAMED,	      /* CFA = rbp + 16, rbp saved */
	SAVING,	      /* CFA = rsp + 24, rbp saved at CFA - 16 */
	OUTERMOST,    /* return address undefined */
	WITHOUT,      /* no CFI; a call at 0x10, so that 0x15 is a return address */
	BROKEN,	      /* its program is invalid */
	REALIGNED,    /* CFA = *(rbp - 8), rbp saved at rbp + 0 */
	IN_RBX,	      /* CFA = rbx + 16, rbp is in rbx */
	SAVES_RBX,    /* CFA = rsp + 16, rbx saved at CFA - 16 */
	POPPED,	      /* CFA = rsp + 8, but the row still has rbp at CFA - 16 */
	SIGNAL,	      /* the C library's signal return */
	BEFORE_CHILD, /* no CFI, */
	CHILD,	      /* and after it, return address undefined */
	FUNCTIONS
};

struct world {
	struct elf_builder elf;
	uint64_t code; /* link-time address of the first function */
	struct mt_image_set *images;
	struct mt_image_map *map;
	struct mt_unwinder *unwinder;
	uint64_t words[WORDS]; /* from STACK upwards */
	struct mt_unwind_input input;
	struct mt_frame frames[FRAMES];
	struct mt_stack stack;
};

static struct world w;

static struct mt_error *open_world(void *context, const struct mt_image_identity *identity,
				   struct mt_elf **out, char **found_at)
{
	(void)identity;
	(void)found_at;
	*out = NULL;
	if (strcmp(identity->path, "/image"))
		return NULL;
	return mt_elf_open_memory(context, w.elf.size, "image", out);
}

static const struct mt_image_source source = {.name = "test", .open = open_world};

static uint64_t vaddr(enum function f)
{
	return w.code + (uint64_t)f * 0x40;
}

/* An address in the process, `offset` into a function. */
static uint64_t at(enum function f, uint64_t offset)
{
	return BASE + vaddr(f) + offset;
}

static void add_functions(struct cfi_builder *b)
{
	size_t cie = cfi_cie(b, "", NO_BYTES, NO_BYTES);
	size_t signal = cfi_cie(b, "zS", BYTES(0), NO_BYTES);
	uint8_t range[17] = {0};

	cfi_fde(b, cie, vaddr(PLAIN), 0x40, BYTES(0x0e, 16));
	cfi_fde(b, cie, vaddr(FRAMED), 0x40, BYTES(0x0c, 6, 16, 0x86, 2));
	cfi_fde(b, cie, vaddr(SAVING), 0x40, BYTES(0x0e, 24, 0x86, 2));
	cfi_fde(b, cie, vaddr(OUTERMOST), 0x40, BYTES(0x07, 16));
	cfi_fde(b, cie, vaddr(CHILD), 0x40, BYTES(0x07, 16));
	cfi_fde(b, cie, vaddr(BROKEN), 0x40, BYTES(0x3f));
	cfi_fde(b, cie, vaddr(REALIGNED), 0x40,
		BYTES(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0));
	cfi_fde(b, cie, vaddr(IN_RBX), 0x40, BYTES(0x0c, 3, 16, 0x86, 2));
	cfi_fde(b, cie, vaddr(SAVES_RBX), 0x40, BYTES(0x0e, 16, 0x83, 2));
	cfi_fde(b, cie, vaddr(POPPED), 0x40, BYTES(0x86, 2));
	mt_put_le64(range, vaddr(SIGNAL));
	mt_put_le64(range + 8, 0x40);
	cfi_fde_raw(b, signal, range, 17,
		    BYTES(0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 16, 3, 0x77, 0xa8, 1, 0x10, 6, 3,
			  0x77, 0xf8, 0));
}

static void map_image(uint64_t start, const char *path, int prot)
{
	const struct mt_image_identity identity = {.path = path};
	struct mt_mapping mapping = {
		.start = start, .end = start + 0x10000, .prot = (uint32_t)prot};

	mapping.image = mt_image_set_intern(w.images, &identity);
	MT_CHECK(mt_image_map_insert(w.map, &mapping));
}

/* A direct call at 0x20 of a function, so that 0x25 is a return address. */
#define CALL 0x20
static void put_call(uint8_t *code, enum function from, enum function to)
{
	code[from * 0x40 + CALL] = 0xe8;
	mt_put_le32(code + from * 0x40 + CALL + 1, (uint32_t)((to - from) * 0x40 - CALL - 5));
}

static void setup_with(const struct mt_unwind_options *options)
{
	struct cfi_builder frame = {0};
	uint8_t code[FUNCTIONS * 0x40];

	memset(&w, 0, sizeof(w));
	memset(code, 0x90, sizeof(code));
	code[WITHOUT * 0x40 + 0x10] = 0xe8;
	put_call(code, PLAIN, WITHOUT);
	put_call(code, SAVING, FRAMED);
	memcpy(code + OUTERMOST * 0x40 + CALL, "\xff\xd0", 2);
	memcpy(code + POPPED * 0x40, "\xff\x25", 2);
	put_call(code, SAVES_RBX, POPPED);
	builder_init(&w.elf, ET_DYN);
	builder_add_segment(&w.elf, PT_LOAD, PF_R | PF_X, 0, 0, 0x10000);
	w.code = builder_append(&w.elf, code, sizeof(code));
	add_functions(&frame);
	builder_add_section(&w.elf, ".eh_frame", SHT_PROGBITS, 0x8000, frame.bytes, frame.size);
	builder_finish(&w.elf);
	builder_segment(&w.elf, 0)->p_filesz = w.elf.size;
	w.images = mt_image_set_create();
	w.map = mt_image_map_create();
	w.unwinder = mt_unwinder_create(options);
	MT_CHECK(mt_image_set_add_source(w.images, &source, w.elf.bytes));
	map_image(BASE, "/image", PROT_READ | PROT_EXEC);
	w.stack = (struct mt_stack){.frames = w.frames, .capacity = FRAMES};
	w.input = (struct mt_unwind_input){.have_regs = true,
					   .dump = (const uint8_t *)w.words,
					   .dump_size = sizeof(w.words),
					   .dump_asked = sizeof(w.words),
					   .map = w.map};
	w.input.regs.valid = (1u << MT_UNWIND_REGS) - 1;
}

static void setup(void)
{
	setup_with(&(struct mt_unwind_options){.max_frames = FRAMES});
}

static void teardown(void)
{
	mt_unwinder_destroy(w.unwinder);
	mt_image_map_destroy(w.map);
	mt_image_set_destroy(w.images);
}

static uint64_t slot(size_t word)
{
	return STACK + word * 8;
}

/* Unwinds from pc with those values of rbp and rbx. */
static void unwind(const char *method, uint64_t pc, uint64_t rbp, uint64_t rbx)
{
	w.input.regs.value[3] = rbx;
	w.input.regs.value[6] = rbp;
	w.input.regs.value[7] = STACK;
	w.input.regs.value[16] = pc;
	w.stack.count = 0;
	mt_unwind_method_find(method)->unwind(w.unwinder, &w.input, &w.stack);
}

#define CHECK_STACK(end_reason, ...)                                         \
	check_stack(__LINE__, (end_reason), (const uint64_t[]){__VA_ARGS__}, \
		    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void check_stack(int line, enum mt_stack_end end, const uint64_t *pcs, size_t count)
{
	bool same = w.stack.end == end && w.stack.count == count;

	for (size_t i = 0; same && i < count; i++)
		same = w.frames[i].pc == pcs[i];
	if (MT_CHECK(same))
		return;
	printf("#   line %d: %s, not %s\n", line, mt_stack_end_name(w.stack.end),
	       mt_stack_end_name(end));
	for (size_t i = 0; i < w.stack.count; i++)
		printf("#   %#lx %s\n", w.frames[i].pc, mt_frame_source_name(w.frames[i].source));
}

MT_TEST(from_a_leaf_to_the_root)
{
	setup();
	w.words[1] = at(SAVING, 8);
	w.words[3] = slot(10); /* SAVING's caller's rbp */
	w.words[4] = at(FRAMED, 8);
	w.words[10] = 0;
	w.words[11] = at(OUTERMOST, 8);
	unwind("auto", at(PLAIN, 0), 1, 2);
	CHECK_STACK(MT_END_ROOT, at(PLAIN, 0), at(SAVING, 8), at(FRAMED, 8), at(OUTERMOST, 8));
	MT_CHECK_EQ(w.frames[0].source, MT_FRAME_IP);
	MT_CHECK(!w.frames[0].call_return);
	MT_CHECK_EQ(w.frames[1].source, MT_FRAME_CFI);
	MT_CHECK(w.frames[1].call_return);
	MT_CHECK_EQ(w.frames[1].sp, slot(2));
	teardown();
}

MT_TEST(the_second_time_comes_from_the_cache)
{
	const struct mt_unwind_counts *counts;

	setup();
	counts = mt_unwinder_counts(w.unwinder);
	w.words[1] = at(OUTERMOST, 8);
	unwind("auto", at(PLAIN, 0), 0, 0);
	MT_CHECK_EQ(counts->cache_misses, 2);
	unwind("auto", at(PLAIN, 0), 0, 0);
	MT_CHECK_EQ(counts->cache_misses, 2);
	MT_CHECK_EQ(counts->stacks, 2);
	MT_CHECK_EQ(counts->ends[MT_END_ROOT], 2);
	MT_CHECK_EQ(counts->frames, 4);
	mt_image_map_remove(w.map, BASE, BASE + 0x10000);
	unwind("auto", at(PLAIN, 0), 0, 0);
	CHECK_STACK(MT_END_NO_IMAGE, at(PLAIN, 0));
	teardown();
}

/*
 * A call that never returns may be the last instruction of a function: its return address is in the
 * next one.
 */
MT_TEST(a_return_address_is_looked_up_one_before)
{
	setup();
	w.words[1] = at(SAVING, 0x40); /* the first byte of OUTERMOST */
	w.words[4] = at(OUTERMOST, 1);
	unwind("auto", at(PLAIN, 0), 0, 0);
	CHECK_STACK(MT_END_ROOT, at(PLAIN, 0), at(SAVING, 0x40), at(OUTERMOST, 1));
	teardown();
}

MT_TEST(every_end_has_its_reason)
{
	setup();
	unwind("auto", at(PLAIN, 0), 0, 0);
	CHECK_STACK(MT_END_ROOT, at(PLAIN, 0)); /* return address 0 */
	w.words[1] = 17;
	unwind("auto", at(PLAIN, 0), 0, 0);
	CHECK_STACK(MT_END_BAD_CFA, at(PLAIN, 0));
	w.words[1] = 0xffffffff81000000;
	unwind("auto", at(PLAIN, 0), 0, 0);
	CHECK_STACK(MT_END_BAD_CFA, at(PLAIN, 0));
	unwind("auto", at(FRAMED, 0), STACK - 64, 0);
	CHECK_STACK(MT_END_LOOP, at(FRAMED, 0));
	unwind("auto", at(FRAMED, 0), slot(WORDS), 0);
	CHECK_STACK(MT_END_DUMP, at(FRAMED, 0));
	unwind("auto", at(FRAMED, 0), 0x7fff80001000, 0);
	CHECK_STACK(MT_END_BAD_CFA, at(FRAMED, 0));
	w.input.dump_asked *= 2;
	unwind("auto", at(FRAMED, 0), slot(WORDS), 0);
	CHECK_STACK(MT_END_PAGE, at(FRAMED, 0));
	unwind("auto", at(BROKEN, 0), slot(4), 0);
	CHECK_STACK(MT_END_BAD_CFI, at(BROKEN, 0));
	unwind("auto", at(WITHOUT, 0), 1, 0);
	CHECK_STACK(MT_END_NO_CFI, at(WITHOUT, 0));
	unwind("auto", NOWHERE, 1, 0);
	CHECK_STACK(MT_END_NO_IMAGE, NOWHERE);
	map_image(JIT, "/gone", PROT_READ | PROT_EXEC);
	unwind("auto", JIT, slot(4), 0);
	CHECK_STACK(MT_END_NO_ELF, JIT);
	w.input.dump_size = 0;
	unwind("auto", at(PLAIN, 0), 0, 0);
	CHECK_STACK(MT_END_NO_DUMP, at(PLAIN, 0));
	w.input.have_regs = false;
	unwind("auto", at(PLAIN, 0), 0, 0);
	MT_CHECK_EQ(w.stack.count, 0);
	MT_CHECK_EQ(w.stack.end, MT_END_NO_REGS);
	teardown();
}

/* A file of objcopy --only-keep-debug: sections have a size and no bytes. */
MT_TEST(unwind_tables_without_bytes_are_none)
{
	void *state = NULL;

	setup();
	builder_init(&w.elf, ET_DYN);
	builder_add_segment(&w.elf, PT_LOAD, PF_R | PF_X, 0, 0, 0x10000);
	builder_add_section(&w.elf, ".eh_frame_hdr", SHT_NOBITS, 0x7000, NULL, 64);
	builder_add_section(&w.elf, ".eh_frame", SHT_NOBITS, 0x8000, NULL, (size_t)1 << 40);
	builder_finish(&w.elf);
	builder_segment(&w.elf, 0)->p_filesz = w.elf.size;
	unwind("auto", at(PLAIN, 0), 1, 2);
	CHECK_STACK(MT_END_NO_CFI, at(PLAIN, 0));
#ifdef HAVE_LIBUNWIND
	state = mt_oracle_libunwind.create(w.map);
#endif
	if (state) {
		w.stack.count = 0;
		mt_oracle_libunwind.unwind(state, &w.input, &w.stack);
		MT_CHECK(w.stack.count >= 1);
		mt_oracle_libunwind.destroy(state);
	}
	teardown();
}

MT_TEST(limits_hold)
{
	setup();
	for (size_t i = 1; i < WORDS; i += 2)
		w.words[i] = at(PLAIN, 8);
	unwind("auto", at(PLAIN, 0), 0, 0);
	MT_CHECK_EQ(w.stack.count, FRAMES);
	MT_CHECK_EQ(w.stack.end, MT_END_LIMIT);
	w.stack.capacity = 3;
	unwind("auto", at(PLAIN, 0), 0, 0);
	MT_CHECK_EQ(w.stack.count, 3);
	MT_CHECK_EQ(w.stack.end, MT_END_LIMIT);
	teardown();
}

MT_TEST(frames_that_are_there_already_stay)
{
	setup();
	w.words[1] = at(OUTERMOST, 8);
	w.frames[0] = (struct mt_frame){.pc = 0xffffffff81000000, .source = MT_FRAME_KERNEL};
	w.input.regs.value[7] = STACK;
	w.input.regs.value[16] = at(PLAIN, 0);
	w.stack.count = 1;
	mt_unwind_methods[0].unwind(w.unwinder, &w.input, &w.stack);
	CHECK_STACK(MT_END_ROOT, 0xffffffff81000000, at(PLAIN, 0), at(OUTERMOST, 8));
	teardown();
}

/* rbp's slot is below the dump: rbp was popped and is the caller's. */
MT_TEST(an_epilogue_that_has_popped_rbp_keeps_it)
{
	setup();
	w.words[0] = at(FRAMED, 8);
	w.words[8] = 0;
	w.words[9] = at(OUTERMOST, 8);
	unwind("auto", at(POPPED, 0), slot(8), 0);
	CHECK_STACK(MT_END_ROOT, at(POPPED, 0), at(FRAMED, 8), at(OUTERMOST, 8));
	teardown();
}

/*
 * A realigned frame's slots are addressed from rbp. If rbp is not below the CFA, it is the
 * caller's.
 */
MT_TEST(a_realigned_epilogue_that_has_popped_rbp_keeps_it)
{
	setup();
	w.words[9] = slot(8); /* the CFA, at rbp - 8 */
	w.words[7] = at(FRAMED, 8);
	w.words[10] = 0xbad;
	w.words[11] = at(OUTERMOST, 8);
	unwind("auto", at(REALIGNED, 0), slot(10), 0);
	CHECK_STACK(MT_END_ROOT, at(REALIGNED, 0), at(FRAMED, 8), at(OUTERMOST, 8));
	teardown();
}

MT_TEST(realigned_frames_find_their_cfa_in_memory)
{
	setup();
	w.words[9] = slot(20);	/* the CFA, at rbp - 8 */
	w.words[10] = slot(30); /* the caller's rbp, at rbp */
	w.words[19] = at(FRAMED, 8);
	w.words[31] = at(OUTERMOST, 8);
	unwind("auto", at(REALIGNED, 0), slot(10), 0);
	CHECK_STACK(MT_END_ROOT, at(REALIGNED, 0), at(FRAMED, 8), at(OUTERMOST, 8));
	teardown();
}

/*
 * The row of the second frame needs rbx, which the first frame saved: all registers are restored to
 * it.
 */
MT_TEST(rows_that_need_other_registers_get_them)
{
	setup();
	w.words[0] = slot(20); /* rbx of SAVES_RBX's caller */
	w.words[1] = at(IN_RBX, 8);
	w.words[20] = slot(30); /* rbp of IN_RBX's caller, at CFA - 16 */
	w.words[21] = at(FRAMED, 8);
	w.words[31] = at(OUTERMOST, 8);
	unwind("auto", at(SAVES_RBX, 0), 0, 0xbad);
	CHECK_STACK(MT_END_ROOT, at(SAVES_RBX, 0), at(IN_RBX, 8), at(FRAMED, 8), at(OUTERMOST, 8));
	MT_CHECK_EQ(mt_unwinder_counts(w.unwinder)->slow_steps, 1);
	teardown();
}

static void lay_signal_frame(size_t word, uint64_t pc, uint64_t sp, uint64_t rbp)
{
	w.words[word + 15] = rbp;
	w.words[word + 20] = sp;
	w.words[word + 21] = pc;
}

/*
 * Above a signal frame the pc is looked up unchanged: the first byte of a function belongs to that
 * function.
 */
MT_TEST(signal_frames_lead_to_the_interrupted_code)
{
	setup();
	w.words[1] = at(SIGNAL, 1);
	lay_signal_frame(2, at(FRAMED, 0), slot(40), slot(50));
	w.words[51] = at(OUTERMOST, 8);
	unwind("auto", at(PLAIN, 0), 0, 0);
	CHECK_STACK(MT_END_ROOT, at(PLAIN, 0), at(SIGNAL, 1), at(FRAMED, 0), at(OUTERMOST, 8));
	MT_CHECK(!w.frames[2].call_return);
	MT_CHECK_EQ(w.frames[2].sp, slot(40));
	teardown();
}

MT_TEST(a_signal_on_another_stack_ends_there_and_says_so)
{
	setup();
	w.words[1] = at(SIGNAL, 1);
	lay_signal_frame(2, at(FRAMED, 0), 0x7ffe00000000, 0x7ffe00000100);
	unwind("auto", at(PLAIN, 0), 0, 0);
	CHECK_STACK(MT_END_STACK, at(PLAIN, 0), at(SIGNAL, 1), at(FRAMED, 0));
	teardown();
}

/*
 * The registers of a signal frame come from the kernel: if CFI needs rbx later, it is found there.
 */
MT_TEST(all_registers_come_back_from_a_signal_frame)
{
	setup();
	w.words[1] = at(SIGNAL, 1);
	lay_signal_frame(2, at(IN_RBX, 0), slot(40), 0);
	w.words[2 + 16] = slot(44); /* rbx */
	w.words[45] = at(OUTERMOST, 8);
	unwind("auto", at(PLAIN, 0), 0, 0);
	CHECK_STACK(MT_END_ROOT, at(PLAIN, 0), at(SIGNAL, 1), at(IN_RBX, 0), at(OUTERMOST, 8));
	teardown();
}

MT_TEST(code_without_cfi_is_stepped_over_by_frame_pointer)
{
	setup();
	w.words[4] = slot(8);
	w.words[5] = at(WITHOUT, 0x15); /* after its call */
	w.words[8] = 0;
	w.words[9] = at(OUTERMOST, 8); /* not after a call: nops */
	unwind("auto", at(WITHOUT, 0), slot(4), 0);
	CHECK_STACK(MT_END_NO_CFI, at(WITHOUT, 0), at(WITHOUT, 0x15));
	MT_CHECK_EQ(w.frames[1].source, MT_FRAME_FP);
	unwind("dwarf", at(WITHOUT, 0), slot(4), 0);
	CHECK_STACK(MT_END_NO_CFI, at(WITHOUT, 0));
	teardown();
}

static void setup_guessing(void)
{
	setup_with(&(struct mt_unwind_options){.max_frames = FRAMES, .scan = true});
}

MT_TEST(after_code_without_cfi_nothing_is_guessed_unasked)
{
	setup();
	w.words[3] = at(PLAIN, CALL + 5);
	w.words[5] = at(OUTERMOST, CALL + 2);
	unwind("auto", at(WITHOUT, 1), 0, 0);
	CHECK_STACK(MT_END_NO_CFI, at(WITHOUT, 1));
	teardown();
	setup_guessing();
	w.words[3] = at(PLAIN, CALL + 5);
	w.words[5] = at(OUTERMOST, CALL + 2);
	unwind("dwarf", at(WITHOUT, 1), 0, 0);
	CHECK_STACK(MT_END_NO_CFI, at(WITHOUT, 1));
	unwind("auto", at(WITHOUT, 1), 0, 0);
	CHECK_STACK(MT_END_NO_CFI, at(WITHOUT, 1), at(PLAIN, CALL + 5), at(OUTERMOST, CALL + 2));
	MT_CHECK_EQ(w.frames[1].source, MT_FRAME_SCANNED);
	MT_CHECK_EQ(w.frames[2].source, MT_FRAME_SCANNED);
	MT_CHECK_EQ(w.frames[1].sp, slot(4));
	teardown();
}

MT_TEST(a_guess_goes_by_the_call)
{
	setup_guessing();
	w.words[1] = at(PLAIN, 8);	/* no call there */
	w.words[2] = at(WITHOUT, 0x15); /* CFI gives no caller */
	w.words[3] = at(OUTERMOST, CALL + 5);
	w.words[4] = NOWHERE;
	w.words[5] = at(SAVING, CALL + 5); /* which called FRAMED */
	unwind("auto", at(WITHOUT, 1), 0, 0);
	CHECK_STACK(MT_END_NO_CFI, at(WITHOUT, 1));
	/* through a pointer, as no better candidate exists */
	w.words[6] = at(OUTERMOST, CALL + 2);
	unwind("auto", at(WITHOUT, 1), 0, 0);
	CHECK_STACK(MT_END_NO_CFI, at(WITHOUT, 1), at(OUTERMOST, CALL + 2));
	/* and a direct call to that code has priority, wherever it is */
	w.words[10] = at(PLAIN, CALL + 5);
	w.words[12] = at(OUTERMOST, CALL + 2);
	unwind("auto", at(WITHOUT, 1), 0, 0);
	CHECK_STACK(MT_END_NO_CFI, at(WITHOUT, 1), at(PLAIN, CALL + 5), at(OUTERMOST, CALL + 2));
	MT_CHECK_EQ(w.frames[1].sp, slot(11));
	teardown();
}

MT_TEST(a_guess_leads_to_the_end_or_is_none)
{
	setup_guessing();
	w.words[3] = at(PLAIN, CALL + 5);
	w.words[5] = NOWHERE;
	unwind("auto", at(WITHOUT, 1), 0, 0);
	CHECK_STACK(MT_END_NO_CFI, at(WITHOUT, 1));
	/* the dump ends before the caller's return address */
	w.words[3] = 0;
	w.words[WORDS - 2] = at(PLAIN, CALL + 5);
	unwind("auto", at(WITHOUT, 1), 0, 0);
	CHECK_STACK(MT_END_NO_CFI, at(WITHOUT, 1), at(PLAIN, CALL + 5));
	teardown();
}

MT_TEST(a_call_through_a_stub_may_lead_anywhere)
{
	setup_guessing();
	w.words[3] = at(SAVES_RBX, CALL + 5);
	w.words[5] = at(OUTERMOST, CALL + 2);
	unwind("auto", at(WITHOUT, 1), 0, 0);
	CHECK_STACK(MT_END_NO_CFI, at(WITHOUT, 1), at(SAVES_RBX, CALL + 5),
		    at(OUTERMOST, CALL + 2));
	teardown();
}

MT_TEST(guesses_are_bounded)
{
	uint64_t words[1024] = {0};

	setup_guessing();
	w.input.dump = (const uint8_t *)words;
	w.input.dump_size = w.input.dump_asked = sizeof(words);
	words[256] = at(PLAIN, CALL + 5); /* 2048 bytes up: one word too far */
	words[258] = at(OUTERMOST, CALL + 2);
	unwind("auto", at(WITHOUT, 1), 0, 0);
	CHECK_STACK(MT_END_NO_CFI, at(WITHOUT, 1));
	words[255] = at(PLAIN, CALL + 5);
	words[257] = at(OUTERMOST, CALL + 2);
	unwind("auto", at(WITHOUT, 1), 0, 0);
	CHECK_STACK(MT_END_NO_CFI, at(WITHOUT, 1), at(PLAIN, CALL + 5), at(OUTERMOST, CALL + 2));
	teardown();
}

MT_TEST(where_no_code_was_known_is_remembered_until_some_comes)
{
	uint64_t later, misses;

	setup();
	later = JIT + vaddr(OUTERMOST) + 8;
	w.words[1] = later;
	w.words[4] = slot(8);
	w.words[5] = JIT + vaddr(WITHOUT) + 0x30; /* no call before it in the image, once mapped */
	unwind("auto", at(PLAIN, 0), 1, 2);
	CHECK_STACK(MT_END_NO_IMAGE, at(PLAIN, 0));
	unwind("auto", JIT + 0x20, slot(4), 2);
	CHECK_STACK(MT_END_NO_IMAGE, JIT + 0x20, JIT + vaddr(WITHOUT) + 0x30);
	misses = mt_unwinder_counts(w.unwinder)->cache_misses;
	unwind("auto", at(PLAIN, 0), 1, 2);
	CHECK_STACK(MT_END_NO_IMAGE, at(PLAIN, 0));
	unwind("auto", JIT + 0x20, slot(4), 2);
	MT_CHECK_EQ(mt_unwinder_counts(w.unwinder)->cache_misses, misses);
	map_image(JIT, "/image", PROT_READ | PROT_EXEC);
	unwind("auto", at(PLAIN, 0), 1, 2);
	CHECK_STACK(MT_END_ROOT, at(PLAIN, 0), later);
	unwind("auto", JIT + vaddr(WITHOUT), slot(4), 2);
	CHECK_STACK(MT_END_NO_CFI, JIT + vaddr(WITHOUT));
	teardown();
}

/* 0 in rax after the system call: CFI continues with the child's code, which is outermost. */
MT_TEST(the_return_of_clone_in_the_child_is_the_root)
{
	setup();
	w.words[0] = at(PLAIN, 0); /* the function to call */
	w.input.regs.value[0] = 0;
	unwind("auto", at(BEFORE_CHILD, 0x38), 0, 0);
	CHECK_STACK(MT_END_ROOT, at(BEFORE_CHILD, 0x38));
	w.input.regs.value[0] = 4711; /* in the parent */
	unwind("auto", at(BEFORE_CHILD, 0x38), 0, 0);
	CHECK_STACK(MT_END_NO_CFI, at(BEFORE_CHILD, 0x38));
	w.input.regs.value[0] = 0;
	unwind("auto", at(BEFORE_CHILD, 0x20), 0, 0); /* too far before it */
	CHECK_STACK(MT_END_NO_CFI, at(BEFORE_CHILD, 0x20));
	unwind("auto", at(WITHOUT, 0x38), 0, 0); /* another function follows */
	CHECK_STACK(MT_END_NO_CFI, at(WITHOUT, 0x38));
	teardown();
}

MT_TEST(jit_code_is_stepped_over_while_frame_pointers_rise)
{
	setup();
	map_image(JIT, "//anon",
		  PROT_NONE); /* reserved; made executable later, which leaves no record */
	w.words[4] = slot(8);
	w.words[5] = JIT + 0x20;
	w.words[8] = slot(12);
	w.words[9] = at(WITHOUT, 0x15);
	w.words[12] = 0;
	unwind("auto", JIT, slot(4), 0);
	CHECK_STACK(MT_END_NO_CFI, JIT, JIT + 0x20, at(WITHOUT, 0x15));
	w.words[4] = slot(2);
	unwind("auto", JIT, slot(4), 0);
	CHECK_STACK(MT_END_NO_CFI, JIT);
	teardown();
}

/*
 * The chain is spliced on if the frame pointers in the dump lead to the last frame's frame pointer.
 */
MT_TEST(the_kernels_chain_reaches_past_the_dump)
{
	uint64_t beyond = slot(WORDS) + 64;
	uint64_t chain[4];

	setup();
	chain[0] = at(FRAMED, 0); /* the image exists only now */
	chain[1] = at(FRAMED, 8);
	chain[2] = at(FRAMED, 16);
	chain[3] = at(OUTERMOST, 8);
	w.words[4] = beyond;
	w.words[5] = at(FRAMED, 8);
	w.input.chain = chain;
	w.input.chain_count = 4;
	unwind("auto", at(FRAMED, 0), slot(4), 0);
	CHECK_STACK(MT_END_ROOT, at(FRAMED, 0), at(FRAMED, 8), at(FRAMED, 16), at(OUTERMOST, 8));
	MT_CHECK_EQ(w.frames[2].source, MT_FRAME_CHAIN);
	chain[3] = at(FRAMED, 24);
	unwind("auto", at(FRAMED, 0), slot(4), 0);
	CHECK_STACK(MT_END_DUMP, at(FRAMED, 0), at(FRAMED, 8), at(FRAMED, 16), at(FRAMED, 24));
	chain[1] = at(FRAMED, 9); /* of another stack */
	unwind("auto", at(FRAMED, 0), slot(4), 0);
	CHECK_STACK(MT_END_DUMP, at(FRAMED, 0), at(FRAMED, 8));
	unwind("dwarf", at(FRAMED, 0), slot(4), 0);
	CHECK_STACK(MT_END_DUMP, at(FRAMED, 0), at(FRAMED, 8));
	teardown();
}

/* Code without CFI may use rbp for anything, but the kernel took it for a frame pointer. */
MT_TEST(a_chain_by_no_frame_pointer_is_not_believed)
{
	uint64_t chain[3];

	setup();
	chain[0] = at(WITHOUT, 0x38), chain[1] = chain[2] = w.words[5] = at(FRAMED, 8);
	w.words[4] = slot(4); /* a list head that points to itself */
	w.input.chain = chain;
	w.input.chain_count = 3;
	unwind("auto", at(WITHOUT, 0x38), slot(4), 0);
	CHECK_STACK(MT_END_NO_CFI, at(WITHOUT, 0x38), at(FRAMED, 8));
	unwind("auto", at(WITHOUT, 0x38), JIT, 0); /* in no stack */
	CHECK_STACK(MT_END_NO_CFI, at(WITHOUT, 0x38));
	teardown();
}

MT_TEST(without_a_dump_the_chain_is_the_stack)
{
	uint64_t chain[3];

	setup();
	chain[0] = at(PLAIN, 0);
	chain[1] = at(FRAMED, 8);
	chain[2] = at(OUTERMOST, 8);
	w.input.chain = chain;
	w.input.chain_count = 3;
	w.input.dump_size = 0;
	unwind("auto", at(PLAIN, 0), 0, 0);
	CHECK_STACK(MT_END_ROOT, at(PLAIN, 0), at(FRAMED, 8), at(OUTERMOST, 8));
	MT_CHECK_EQ(w.frames[0].source, MT_FRAME_IP);
	MT_CHECK_EQ(w.frames[1].source, MT_FRAME_CHAIN);
	w.input.chain_count = 2;
	unwind("fp", at(PLAIN, 0), 0, 0);
	CHECK_STACK(MT_END_CHAIN, at(PLAIN, 0), at(FRAMED, 8));
	teardown();
}

/* If the outermost frame has no return address, the word in its place may be any value. */
MT_TEST(a_return_address_in_no_mapping_is_no_frame)
{
	setup();
	w.words[1] = at(SAVING, 8);
	w.words[4] = NOWHERE;
	unwind("auto", at(PLAIN, 0), 1, 2);
	CHECK_STACK(MT_END_NO_IMAGE, at(PLAIN, 0), at(SAVING, 8));
	unwind("dwarf", at(PLAIN, 0), 1, 2);
	CHECK_STACK(MT_END_NO_IMAGE, at(PLAIN, 0), at(SAVING, 8));
	w.words[3] = slot(WORDS) + 64; /* a frame pointer past the dump changes nothing */
	unwind("auto", at(PLAIN, 0), 1, 2);
	CHECK_STACK(MT_END_NO_IMAGE, at(PLAIN, 0), at(SAVING, 8));
	map_image(NOWHERE - 0x8000, "//anon", PROT_NONE); /* as for memory of JIT code */
	unwind("auto", at(PLAIN, 0), 1, 2);
	CHECK_STACK(MT_END_DUMP, at(PLAIN, 0), at(SAVING, 8), NOWHERE);
	teardown();
}

/* JIT code in memory that was made executable without a record. */
MT_TEST(a_return_address_in_no_mapping_that_leads_on_is_a_frame)
{
	setup();
	w.words[1] = NOWHERE;
	w.words[4] = slot(8);
	w.words[5] = NOWHERE + 0x40;
	w.words[8] = slot(12);
	w.words[9] = at(WITHOUT, 0x15);
	w.words[12] = 0;
	unwind("auto", at(PLAIN, 0), slot(4), 0);
	CHECK_STACK(MT_END_NO_CFI, at(PLAIN, 0), NOWHERE, NOWHERE + 0x40, at(WITHOUT, 0x15));
	teardown();
}

MT_TEST(a_chain_ends_with_its_last_entry_in_a_mapping)
{
	uint64_t chain[] = {0, NOWHERE, 0, NOWHERE, NOWHERE + 64};

	setup();
	chain[0] = at(PLAIN, 0);
	chain[2] = at(FRAMED, 8);
	w.input.chain = chain;
	w.input.chain_count = 5;
	unwind("fp", at(PLAIN, 0), 0, 0);
	CHECK_STACK(MT_END_NO_IMAGE, at(PLAIN, 0), NOWHERE, at(FRAMED, 8));
	chain[0] = NOWHERE; /* the sampled address stays */
	w.input.chain_count = 2;
	unwind("fp", NOWHERE, 0, 0);
	CHECK_STACK(MT_END_NO_IMAGE, NOWHERE);
	mt_image_map_clear(w.map); /* no mapping is known at all */
	unwind("fp", NOWHERE, 0, 0);
	CHECK_STACK(MT_END_CHAIN, NOWHERE, NOWHERE);
	teardown();
}

static uint32_t number;

/* The next pseudo-random number below n. */
static uint32_t below(uint32_t n)
{
	number = number * 1664525 + 1013904223;
	return (number >> 8) % n;
}

/* Odd words are return addresses; even ones are mostly saved frame pointers that point up. */
static uint64_t any_word(size_t i)
{
	static const enum function usual[] = {PLAIN, PLAIN, PLAIN, FRAMED, WITHOUT, WITHOUT};

	switch (below(40)) {
	case 0:
		return at((enum function)below(FUNCTIONS), below(0x40));
	case 1:
	case 2:
		return slot(below(WORDS)) + below(9); /* some are not aligned to a word */
	case 3:
		return below(2) ? 0 : NOWHERE;
	case 4:
	case 5:
	case 6:
		return JIT + below(0x8000);
	default:
		return i % 2 ? at(usual[below(6)], 0x15) : slot((i + 2 + 2 * below(16)) % WORDS);
	}
}

/* Maps or unmaps memory without a file, where JIT code is or around the stack. */
static void any_map(void)
{
	uint64_t start = below(2) ? JIT : STACK;

	if (below(2))
		map_image(start, "//anon", below(2) ? PROT_READ : PROT_READ | PROT_EXEC);
	else
		mt_image_map_remove(w.map, start, start + 0x10000);
}

/* Whether an unwinder that has seen no other sample gives the same stack. */
static bool as_if_first(const struct mt_stack *stack)
{
	const struct mt_unwind_options options = {.max_frames = FRAMES};
	struct mt_unwinder *fresh = mt_unwinder_create(&options);
	struct mt_frame frames[FRAMES];
	struct mt_stack first = {.frames = frames, .capacity = FRAMES};
	bool same;

	mt_unwind_methods[0].unwind(fresh, &w.input, &first);
	same = first.count == stack->count && first.end == stack->end &&
	       first.boundary == stack->boundary;
	for (size_t i = 0; same && i < first.count; i++)
		same = frames[i].pc == stack->frames[i].pc && frames[i].sp == stack->frames[i].sp &&
		       frames[i].source == stack->frames[i].source &&
		       frames[i].call_return == stack->frames[i].call_return;
	mt_unwinder_destroy(fresh);
	return same;
}

/* Stacks of one thread, each a little different from the previous one. */
MT_TEST(a_stack_does_not_depend_on_those_before)
{
	uint64_t pc = 0, rbp = 0;
	size_t wrong = 0, by_fp = 0;

	setup();
	for (size_t i = 0; i < WORDS; i++)
		w.words[i] = any_word(i);
	for (int round = 0; round < ROUNDS; round++) {
		size_t top = 2 * below(4), changed = below(WORDS);

		if (below(2))
			w.words[changed] = any_word(changed);
		if (!below(4))
			pc = below(4) ? at(PLAIN, 0) : at((enum function)below(FUNCTIONS), 0);
		if (!below(4))
			rbp = any_word(8);
		if (!below(20))
			any_map();
		w.input.dump = (const uint8_t *)&w.words[top];
		w.input.dump_size = (WORDS - top - below(2) * below(WORDS / 2)) * 8;
		w.input.regs.value[3] = slot(20);
		w.input.regs.value[6] = rbp;
		w.input.regs.value[7] = slot(top);
		w.input.regs.value[16] = pc;
		w.stack.count = 0;
		mt_unwind_methods[0].unwind(w.unwinder, &w.input, &w.stack);
		wrong += !as_if_first(&w.stack);
		for (size_t i = 0; i < w.stack.count; i++)
			by_fp += w.stack.frames[i].source == MT_FRAME_FP;
	}
	MT_CHECK_EQ(wrong, 0);
	MT_CHECK(by_fp > ROUNDS / 20);
	teardown();
}

/* Frame pointers lead to JIT code because memory is mapped there; then the mapping is removed. */
MT_TEST(what_a_mapping_decided_holds_with_it_alone)
{
	setup();
	map_image(JIT, "//anon", PROT_NONE);
	w.words[1] = at(WITHOUT, 0x15);
	w.words[4] = slot(8);
	w.words[5] = JIT + 0x20;
	w.words[8] = slot(12);
	w.words[9] = JIT + 0x40;
	for (int i = 0; i < 2; i++) {
		unwind("auto", at(PLAIN, 0), slot(4), 0);
		CHECK_STACK(MT_END_NO_CFI, at(PLAIN, 0), at(WITHOUT, 0x15), JIT + 0x20, JIT + 0x40);
	}
	mt_image_map_remove(w.map, JIT, JIT + 0x10000);
	unwind("auto", at(PLAIN, 0), slot(4), 0);
	CHECK_STACK(MT_END_NO_CFI, at(PLAIN, 0), at(WITHOUT, 0x15));
	teardown();
}

MT_TEST(registers_come_in_perfs_order)
{
	const uint64_t values[] = {10, 11, 16, 17, 18, 99, 108};
	struct mt_unwind_regs regs;

	/* AX, BX, BP, SP, IP, FLAGS, R8 */
	mt_unwind_regs_from_perf(1u | 1u << 1 | 1u << 6 | 1u << 7 | 1u << 8 | 1u << 9 | 1u << 16,
				 values, &regs);
	MT_CHECK_EQ(regs.valid, 1u | 1u << 3 | 1u << 6 | 1u << 7 | 1u << 16 | 1u << 8);
	MT_CHECK_EQ(regs.value[0], 10);
	MT_CHECK_EQ(regs.value[3], 11);
	MT_CHECK_EQ(regs.value[6], 16);
	MT_CHECK_EQ(regs.value[7], 17);
	MT_CHECK_EQ(regs.value[16], 18);
	MT_CHECK_EQ(regs.value[8], 108);
}

MT_TEST(everything_has_a_name)
{
	for (int i = 0; i < MT_END_REASONS; i++)
		MT_CHECK(mt_stack_end_name(i) && strcmp(mt_stack_end_name(i), "unknown"));
	for (int i = 0; i < MT_FRAME_SOURCES; i++)
		MT_CHECK(mt_frame_source_name(i) && strcmp(mt_frame_source_name(i), "unknown"));
	MT_CHECK_STR(mt_unwind_methods[0].name, "auto");
	MT_CHECK(!mt_unwind_method_find("magic"));
}

MT_TEST_MAIN
