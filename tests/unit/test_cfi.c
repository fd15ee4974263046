/*
 * unwind/cfi/cfi: the FDE of an address, by table, index or .debug_frame, and the row that its
 * program gives. Malformed tables are detected.
 */
#include "unwind/cfi/cfi.h"

#include "tests/unit/cfi_builder.h"
#include "tests/unit/unit.h"
#include "unwind/cfi/cfi_rules.h"
#include "unwind/unwind.h"

#define FRAME 0x2000
#define HDR 0x1f00

/*
 * push %rbp at 1, mov %rsp, %rbp at 4: DW_CFA_advance_loc 1, def_cfa_offset 16, offset rbp 2,
 * advance 3, def_cfa_register.
 */
#define STANDARD BYTES(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6)

/* The rules kept for the code around an address agree with its row. */
static void check_rules(struct mt_cfi *cfi, uint64_t address, enum mt_cfi_found found,
			const struct mt_cfi_row *row)
{
	const struct mt_cfi_rules *rules = mt_cfi_rules_at(cfi, address);
	struct mt_rule rule, expected = mt_rule_none(MT_END_BAD_CFI);
	uint64_t start, end;

	if (!rules)
		return;
	MT_CHECK(rules->start <= address && address < rules->end);
	MT_CHECK(mt_cfi_range(cfi, address, &start, &end));
	MT_CHECK_EQ(start, rules->start);
	MT_CHECK_EQ(end, rules->end);
	if (found == MT_CFI_FOUND)
		expected = mt_rule_from_row(row, address);
	if (mt_cfi_rules_find(rules, address, &rule))
		MT_CHECK(!memcmp(&rule, &expected, sizeof(rule)));
	else
		MT_CHECK(found == MT_CFI_FOUND && row->cfa.kind == MT_CFI_VAL_EXPRESSION);
}

static enum mt_cfi_found find(struct mt_span hdr, struct mt_span eh_frame,
			      struct mt_span debug_frame, uint64_t address, struct mt_cfi_row *row)
{
	const struct mt_cfi_sections sections = {
		.eh_frame_hdr = hdr, .eh_frame = eh_frame, .debug_frame = debug_frame};
	struct mt_cfi *cfi = mt_cfi_create(&sections);
	enum mt_cfi_found found;

	found = mt_cfi_find(cfi, address, row);
	MT_CHECK_EQ(mt_cfi_find(cfi, address, row), found);
	check_rules(cfi, address, found, row);
	mt_cfi_destroy(cfi);
	return found;
}

static enum mt_cfi_found find_plain(const struct cfi_builder *b, uint64_t address,
				    struct mt_cfi_row *row)
{
	const struct mt_span none = {0};

	return b->debug_frame ? find(none, none, cfi_span(b), address, row)
			      : find(none, cfi_span(b), none, address, row);
}

static void check_cfa(const struct mt_cfi_row *row, unsigned int reg, int64_t offset)
{
	MT_CHECK_EQ(row->cfa.kind, MT_CFI_REGISTER);
	MT_CHECK_EQ(row->cfa.reg, reg);
	MT_CHECK_EQ(row->cfa.offset, offset);
}

static void check_standard_rows(const struct cfi_builder *b)
{
	struct mt_cfi_row row;

	MT_CHECK_EQ(find_plain(b, 0x1000, &row), MT_CFI_FOUND);
	check_cfa(&row, MT_DWARF_RSP, 8);
	MT_CHECK_EQ(row.reg[MT_DWARF_RBP].kind, MT_CFI_UNSPECIFIED);
	MT_CHECK_EQ(row.reg[MT_DWARF_RIP].kind, MT_CFI_OFFSET);
	MT_CHECK_EQ(row.reg[MT_DWARF_RIP].offset, -8);
	MT_CHECK_EQ(find_plain(b, 0x1001, &row), MT_CFI_FOUND);
	check_cfa(&row, MT_DWARF_RSP, 16);
	MT_CHECK_EQ(row.reg[MT_DWARF_RBP].kind, MT_CFI_OFFSET);
	MT_CHECK_EQ(row.reg[MT_DWARF_RBP].offset, -16);
	MT_CHECK_EQ(find_plain(b, 0x10ff, &row), MT_CFI_FOUND);
	check_cfa(&row, MT_DWARF_RBP, 16);
	MT_CHECK_EQ(find_plain(b, 0xfff, &row), MT_CFI_NONE);
	MT_CHECK_EQ(find_plain(b, 0x1100, &row), MT_CFI_NONE);
}

MT_TEST(rows_follow_the_program)
{
	struct cfi_builder b = {.vaddr = FRAME};

	cfi_fde(&b, cfi_cie(&b, "", NO_BYTES, NO_BYTES), 0x1000, 0x100, STANDARD);
	check_standard_rows(&b);
}

MT_TEST(debug_frame_alone_will_do)
{
	struct cfi_builder b = {.debug_frame = true};

	cfi_fde(&b, cfi_cie(&b, "", NO_BYTES, NO_BYTES), 0x1000, 0x100, STANDARD);
	check_standard_rows(&b);
}

MT_TEST(augmentations_are_understood)
{
	struct cfi_builder b = {.vaddr = FRAME};
	struct mt_cfi_row row;
	/*
	 * zPLR: personality absolute 4 bytes, LSDA absolute, FDE addresses pc-relative signed 4
	 * bytes.
	 */
	size_t cie = cfi_cie(&b, "zPLR", BYTES(7, 0x03, 1, 2, 3, 4, 0x00, 0x1b), NO_BYTES);
	uint8_t addresses[13] = {0};

	mt_put_le32(addresses, (uint32_t)(0x1000 - (FRAME + b.size + 8)));
	mt_put_le32(addresses + 4, 0x100);
	addresses[8] = 4; /* the LSDA pointer is skipped */
	cfi_fde_raw(&b, cie, addresses, 13, STANDARD);
	MT_CHECK_EQ(find_plain(&b, 0x1080, &row), MT_CFI_FOUND);
	check_cfa(&row, MT_DWARF_RBP, 16);
	MT_CHECK(!row.signal);
}

MT_TEST(signal_frames_are_marked)
{
	struct cfi_builder b = {.vaddr = FRAME};
	struct mt_cfi_row row;
	size_t cie = cfi_cie(&b, "zRS", BYTES(1, 0x03), NO_BYTES);

	cfi_fde_raw(&b, cie, BYTES(0, 0x10, 0, 0, 0, 1, 0, 0, 0), NO_BYTES);
	MT_CHECK_EQ(find_plain(&b, 0x1000, &row), MT_CFI_FOUND);
	MT_CHECK(row.signal);
}

MT_TEST(states_are_remembered_and_registers_restored)
{
	struct cfi_builder b = {.vaddr = FRAME};
	struct mt_cfi_row row;

	/* offset 32, rbx saved; remember; at 1: offset 8, restore rbx; at 2: restore the state */
	cfi_fde(&b, cfi_cie(&b, "", NO_BYTES, NO_BYTES), 0x1000, 0x10,
		BYTES(0x0e, 32, 0x83, 3, 0x0a, 0x41, 0x0e, 8, 0xc3, 0x41, 0x0b));
	MT_CHECK_EQ(find_plain(&b, 0x1001, &row), MT_CFI_FOUND);
	check_cfa(&row, MT_DWARF_RSP, 8);
	MT_CHECK_EQ(row.reg[MT_DWARF_RBX].kind, MT_CFI_UNSPECIFIED);
	MT_CHECK_EQ(find_plain(&b, 0x1002, &row), MT_CFI_FOUND);
	check_cfa(&row, MT_DWARF_RSP, 32);
	MT_CHECK_EQ(row.reg[MT_DWARF_RBX].offset, -24);
}

MT_TEST(vector_registers_are_passed_over)
{
	struct cfi_builder b = {.vaddr = FRAME};
	struct mt_cfi_row row;

	/*
	 * offset_extended r40, register r33 in r34, val_expression r50, GNU_args_size, then offset
	 * 24
	 */
	cfi_fde(&b, cfi_cie(&b, "", NO_BYTES, NO_BYTES), 0x1000, 0x10,
		BYTES(0x05, 40, 4, 0x09, 33, 34, 0x16, 50, 1, 0x30, 0x2e, 16, 0x0e, 24));
	MT_CHECK_EQ(find_plain(&b, 0x1000, &row), MT_CFI_FOUND);
	check_cfa(&row, MT_DWARF_RSP, 24);
}

static enum mt_cfi_found program_outcome(const uint8_t *program, size_t size)
{
	struct cfi_builder b = {.vaddr = FRAME};
	struct mt_cfi_row row;

	cfi_fde(&b, cfi_cie(&b, "", NO_BYTES, NO_BYTES), 0x1000, 0x10, program, size);
	return find_plain(&b, 0x100f, &row);
}

MT_TEST(broken_programs_are_broken_and_not_absent)
{
	MT_CHECK_EQ(program_outcome(BYTES(0x3f, 0, 0)), MT_CFI_BROKEN); /* unknown */
	MT_CHECK_EQ(program_outcome(BYTES(0x0b)), MT_CFI_BROKEN);	/* no remembered state */
	MT_CHECK_EQ(program_outcome(BYTES(0x0f, 0x7f, 0x77)),
		    MT_CFI_BROKEN); /* expression is too long */
	MT_CHECK_EQ(program_outcome(BYTES(0x0f, 1, 0x30, 0x0e, 8)),
		    MT_CFI_BROKEN); /* offset of a register that is too large */
	MT_CHECK_EQ(program_outcome(BYTES(0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
					  0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a)),
		    MT_CFI_BROKEN); /* endless remember_state */
	MT_CHECK_EQ(program_outcome(NO_BYTES), MT_CFI_FOUND);
}

MT_TEST(another_machine_s_return_register_is_refused)
{
	struct cfi_builder b = {.vaddr = FRAME};
	struct mt_cfi_row row;
	size_t cie = cfi_cie(&b, "", NO_BYTES, NO_BYTES);

	b.bytes[cie + 12] = 30;
	cfi_fde(&b, cie, 0x1000, 0x10, NO_BYTES);
	MT_CHECK_EQ(find_plain(&b, 0x1000, &row), MT_CFI_BROKEN);
}

/* Three functions with CFAs of rsp + 16, + 24 and + 32, and a table that the test may damage. */
struct three {
	struct cfi_builder frame, hdr;
	uint64_t pairs[3][2];
};

static void three_init(struct three *t)
{
	size_t cie;

	memset(t, 0, sizeof(*t));
	t->frame.vaddr = FRAME;
	cie = cfi_cie(&t->frame, "", NO_BYTES, NO_BYTES);
	for (size_t i = 0; i < 3; i++) {
		uint8_t offset = (uint8_t)(16 + 8 * i);

		t->pairs[i][0] = 0x1000 + 0x100 * i;
		t->pairs[i][1] =
			FRAME + cfi_fde(&t->frame, cie, t->pairs[i][0], 0x80, BYTES(0x0e, offset));
	}
}

static void check_three(struct three *t, size_t count)
{
	const struct mt_span none = {0};
	struct mt_span hdr = cfi_table(&t->hdr, HDR, FRAME, t->pairs, count);
	struct mt_cfi_row row;

	for (size_t i = 0; i < 3; i++) {
		uint64_t start = 0x1000 + 0x100 * i;

		MT_CHECK_EQ(find(hdr, cfi_span(&t->frame), none, start + 0x7f, &row), MT_CFI_FOUND);
		check_cfa(&row, MT_DWARF_RSP, 16 + 8 * (int64_t)i);
		MT_CHECK_EQ(find(hdr, cfi_span(&t->frame), none, start + 0x80, &row), MT_CFI_NONE);
	}
}

MT_TEST(the_table_finds_functions)
{
	struct three t;

	three_init(&t);
	check_three(&t, 3);
}

MT_TEST(a_table_that_is_not_sorted_is_found_out)
{
	struct three t;
	uint64_t pair[2];

	three_init(&t);
	memcpy(pair, t.pairs[0], sizeof(pair));
	memcpy(t.pairs[0], t.pairs[2], sizeof(pair));
	memcpy(t.pairs[2], pair, sizeof(pair));
	check_three(&t, 3);
}

MT_TEST(a_table_that_leads_astray_is_found_out)
{
	struct three t;

	three_init(&t);
	t.pairs[1][1] = t.pairs[2][1];
	check_three(&t, 3);
	t.pairs[1][1] = FRAME; /* the CIE */
	check_three(&t, 3);
	t.pairs[1][1] = 0x70000000;
	check_three(&t, 3);
}

MT_TEST(a_table_that_leaves_functions_out_is_found_out)
{
	struct three t;

	three_init(&t);
	check_three(&t, 1);
	memcpy(t.pairs[1], t.pairs[2], sizeof(t.pairs[1]));
	check_three(&t, 2);
	check_three(&t, 0);
}

MT_TEST(a_table_of_another_form_or_cut_short_is_done_without)
{
	const struct mt_span none = {0};
	struct mt_cfi_row row;
	struct mt_span hdr;
	struct three t;

	three_init(&t);
	hdr = cfi_table(&t.hdr, HDR, FRAME, t.pairs, 3);
	hdr.size -= 1;
	MT_CHECK_EQ(find(hdr, cfi_span(&t.frame), none, 0x1200, &row), MT_CFI_FOUND);
	hdr.size = 3;
	MT_CHECK_EQ(find(hdr, cfi_span(&t.frame), none, 0x1200, &row), MT_CFI_FOUND);
	hdr = cfi_table(&t.hdr, HDR, FRAME, t.pairs, 3);
	t.hdr.bytes[3] = 0x03;
	MT_CHECK_EQ(find(hdr, cfi_span(&t.frame), none, 0x1200, &row), MT_CFI_FOUND);
}

MT_TEST(a_cut_section_keeps_what_is_whole)
{
	const struct mt_span none = {0};
	struct mt_cfi_row row;
	struct mt_span frame;
	struct three t;

	three_init(&t);
	frame = cfi_span(&t.frame);
	for (size_t size = 0; size < t.frame.size; size++) {
		frame.size = size;
		find(none, frame, none, 0x1200, &row);
	}
	frame.size = t.frame.size - 1;
	MT_CHECK_EQ(find(none, frame, none, 0x1200, &row), MT_CFI_NONE);
	MT_CHECK_EQ(find(none, frame, none, 0x1100, &row), MT_CFI_FOUND);
}

MT_TEST(all_rows_of_a_function_are_had_at_once)
{
	struct mt_cfi_sections sections = {0};
	const struct mt_cfi_rules *rules;
	struct mt_cfi *cfi;
	struct three t;

	three_init(&t);
	sections.eh_frame = cfi_span(&t.frame);
	sections.eh_frame_hdr = cfi_table(&t.hdr, HDR, FRAME, t.pairs, 3);
	cfi = mt_cfi_create(&sections);
	rules = mt_cfi_rules_at(cfi, 0x1100);
	MT_REQUIRE(rules);
	for (uint64_t at = rules->start; at < rules->end; at++) {
		struct mt_cfi_row row;

		MT_CHECK_EQ(mt_cfi_rules_at(cfi, at), rules);
		check_rules(cfi, at, mt_cfi_find(cfi, at, &row), &row);
	}
	MT_CHECK(mt_cfi_rules_at(cfi, rules->end) != rules);
	mt_cfi_destroy(cfi);
}

/* Ten pairs lead to one large FDE, which is expanded only once. */
MT_TEST(an_fde_is_not_expanded_for_every_pair_that_leads_to_it)
{
	struct cfi_builder frame = {.vaddr = FRAME}, hdr = {0};
	size_t cie = cfi_cie(&frame, "", NO_BYTES, NO_BYTES), expanded = 0;
	const struct mt_cfi_rules *rules, *last = NULL;
	struct mt_cfi_sections sections = {0};
	uint64_t pairs[10][2], fde;
	struct mt_cfi_row row;
	struct mt_cfi *cfi;

	fde = FRAME + cfi_fde(&frame, cie, 0x1000, 0xa000, BYTES(0x0e, 16));
	for (size_t i = 0; i < 10; i++) {
		pairs[i][0] = 0x1000 + i * 0x1000;
		pairs[i][1] = fde;
	}
	sections.eh_frame = cfi_span(&frame);
	sections.eh_frame_hdr = cfi_table(&hdr, HDR, FRAME, pairs, 10);
	cfi = mt_cfi_create(&sections);
	for (size_t i = 0; i < 10; i++) {
		rules = mt_cfi_rules_at(cfi, pairs[i][0]);
		expanded += rules && rules != last;
		last = rules ? rules : last;
		MT_CHECK_EQ(mt_cfi_find(cfi, pairs[i][0], &row), MT_CFI_FOUND);
		check_cfa(&row, MT_DWARF_RSP, 16);
	}
	MT_CHECK(expanded >= 1 && expanded <= 5);
	mt_cfi_destroy(cfi);
}

MT_TEST_MAIN
