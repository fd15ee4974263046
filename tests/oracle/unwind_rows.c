/*
 * Compares the CFI reader with libdw, row by row. For every row of every function in .eh_frame_hdr,
 * the signal flag and the rules for the CFA, the return address, rsp, rbp, rbx and r12-r15 must be
 * the same.
 *
 *	unwind_rows FILE...	prints the number of rows, and differences; exit 1 if rows differ
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "symbols/elf/elf.h"
#include "unwind/cfi/cfi.h"
#include "unwind/cfi/rule.h"

struct tally {
	size_t rows, differ, slow, broken;
	double theirs, ours;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/*
 * libdw returns decoded operations. For an operation with a block, "number2" points to the block's
 * bytes. Instead of encoding them again, operations are compared one by one, with a small decoder
 * for those that occur in CFI.
 */
static bool decode_op(const uint8_t **p, const uint8_t *end, Dwarf_Op *op)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	op->atom = *(*p)++;
	op->number = 0;
	if ((op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) ||
	    op->atom == DW_OP_plus_uconst || op->atom == DW_OP_constu || op->atom == DW_OP_consts) {
		do {
			if (*p == end)
				return false;
			byte = *(*p)++;
			value |= (uint64_t)(byte & 0x7f) << shift;
			shift += 7;
		} while (byte & 0x80);
		if (op->atom != DW_OP_plus_uconst && op->atom != DW_OP_constu && shift < 64 &&
		    (byte & 0x40))
			value |= ~(uint64_t)0 << shift;
		op->number = value;
	} else if (op->atom == DW_OP_const1u || op->atom == DW_OP_const1s) {
		op->number = *(*p)++;
		if (op->atom == DW_OP_const1s)
			op->number = (uint64_t)(int8_t)op->number;
	} else if (op->atom == DW_OP_const2u) {
		op->number = (*p)[0] | (*p)[1] << 8;
		*p += 2;
	} else if (op->atom == DW_OP_const4u) {
		memcpy(&op->number, *p, 4);
		*p += 4;
	}
	return true;
}

static bool same_ops(const struct mt_cfi_rule *rule, const Dwarf_Op *ops, size_t n)
{
	const uint8_t *p = rule->expression, *end = p + rule->expression_size;
	Dwarf_Op op;

	for (size_t i = 0; i < n; i++) {
		if (p >= end || !decode_op(&p, end, &op) || op.atom != ops[i].atom)
			return false;
		if (op.atom != DW_OP_bra && op.atom != DW_OP_skip && op.number != ops[i].number)
			return false;
	}
	return p == end;
}

static bool same_cfa(Dwarf_Frame *frame, const struct mt_cfi_rule *cfa)
{
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n))
		return false;
	if (cfa->kind == MT_CFI_REGISTER)
		return n == 1 && ((ops[0].atom == DW_OP_bregx && ops[0].number == cfa->reg &&
				   (int64_t)ops[0].number2 == cfa->offset) ||
				  (ops[0].atom == DW_OP_breg0 + cfa->reg &&
				   (int64_t)ops[0].number == cfa->offset));
	return same_ops(cfa, ops, n);
}

/*
 * How libdw expresses a rule: no ops and op_mem for undefined, no ops and NULL for same, otherwise
 * ops applied to the CFA.
 */
static bool same_register(Dwarf_Frame *frame, int reg, const struct mt_cfi_rule *rule)
{
	Dwarf_Op mem[3], *ops;
	size_t n;
	bool undefined, value;

	if (dwarf_frame_register(frame, reg, mem, &ops, &n))
		return false;
	undefined = n == 0 && ops == mem;
	value = n && ops[n - 1].atom == DW_OP_stack_value;
	switch (rule->kind) {
	case MT_CFI_UNSPECIFIED: /* libdw uses the ABI's rule: preserved, the CFA, or undefined */
		return n == 0 || reg == MT_DWARF_RSP;
	case MT_CFI_UNDEFINED:
		return undefined;
	case MT_CFI_SAME:
		return n == 0 && !undefined;
	case MT_CFI_OFFSET:
		return n && !value && ops[0].atom == DW_OP_call_frame_cfa &&
		       (n == 1 ? rule->offset == 0 : (int64_t)ops[1].number == rule->offset);
	case MT_CFI_VAL_OFFSET:
		return value && ops[0].atom == DW_OP_call_frame_cfa &&
		       (n == 2 ? rule->offset == 0 : (int64_t)ops[1].number == rule->offset);
	case MT_CFI_REGISTER:
		return n == 1 && ops[0].atom == DW_OP_regx && ops[0].number == rule->reg;
	default:
		/* The CFA is pushed first; libdw may leave this operation out. */
		if (n && ops[0].atom == DW_OP_call_frame_cfa)
			return same_ops(rule, ops + 1, n - 1 - value);
		return same_ops(rule, ops, n - value);
	}
}

static bool same_row(Dwarf_Frame *frame, const struct mt_cfi_row *row, bool signal)
{
	static const int registers[] = {16, 6, 3, 12, 13, 14, 15, 7};

	if (row->signal != signal || !same_cfa(frame, &row->cfa))
		return false;
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		if (!same_register(frame, registers[i], &row->reg[registers[i]]))
			return false;
	}
	return true;
}

static void check_row(struct mt_cfi *ours, Dwarf_Frame *frame, uint64_t address, bool signal,
		      struct tally *t, const char *path)
{
	struct mt_cfi_row row;
	double before = now();
	enum mt_cfi_found found = mt_cfi_find(ours, address, &row);

	t->ours += now() - before;
	t->rows++;
	if (found == MT_CFI_FOUND && mt_rule_from_row(&row, address).kind == MT_RULE_SLOW)
		t->slow++;
	if (found == MT_CFI_FOUND && same_row(frame, &row, signal))
		return;
	if (t->differ++ < 5)
		printf("  %s: 0x%lx differs (found %d)\n", path, address, found);
}

/*
 * Checks every row of the FDE that begins at `start`. The FDE ends at the first address for which
 * libdw has no frame, or where the next function begins.
 */
static void check_function(Dwarf_CFI *theirs, struct mt_cfi *ours, uint64_t start, uint64_t next,
			   struct tally *t, const char *path)
{
	uint64_t address = start;

	while (address < next) {
		Dwarf_Frame *frame;
		Dwarf_Addr from, to;
		bool signal;
		double before = now();

		if (dwarf_cfi_addrframe(theirs, address, &frame)) {
			t->broken += address == start;
			return;
		}
		t->theirs += now() - before;
		dwarf_frame_info(frame, &from, &to, &signal);
		check_row(ours, frame, address, signal, t, path);
		free(frame);
		if (to <= address)
			return;
		address = to;
	}
}

static void check_table(Dwarf_CFI *theirs, struct mt_cfi *ours, const struct mt_span *hdr,
			struct tally *t, const char *path)
{
	uint32_t count;

	memcpy(&count, hdr->bytes + 8, 4);
	for (uint32_t i = 0; i < count && 12 + (size_t)i * 8 + 8 <= hdr->size; i++) {
		const uint8_t *pair = hdr->bytes + 12 + (size_t)i * 8;
		int32_t start, next;

		memcpy(&start, pair, 4);
		if (i + 1 < count)
			memcpy(&next, pair + 8, 4);
		check_function(theirs, ours, hdr->vaddr + (uint64_t)(int64_t)start,
			       i + 1 < count ? hdr->vaddr + (uint64_t)(int64_t)next : UINT64_MAX, t,
			       path);
	}
}

static bool check_file(const char *path)
{
	struct tally t = {0};
	struct mt_cfi_sections sections = {0};
	struct mt_error *err;
	struct mt_elf *elf;
	struct mt_cfi *ours;
	Dwarf_CFI *theirs;
	Elf *their_elf;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return true;
	err = mt_elf_open_file(path, &elf);
	if (err) {
		mt_error_print(err, "unwind_rows", stdout);
		mt_error_destroy(err);
		return false;
	}
	their_elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	theirs = dwarf_getcfi_elf(their_elf);
	sections.eh_frame_hdr = mt_elf_section(elf, ".eh_frame_hdr");
	sections.eh_frame = mt_elf_section(elf, ".eh_frame");
	ours = mt_cfi_create(&sections);
	if (theirs && ours && sections.eh_frame_hdr.size >= 12)
		check_table(theirs, ours, &sections.eh_frame_hdr, &t, path);
	printf("%s: %zu rows, %zu differ, %zu that libdw cannot read, %zu slow (%.3f %%), "
	       "%.0f ns a row, libdw %.0f\n",
	       path, t.rows, t.differ, t.broken, t.slow,
	       t.rows ? 100.0 * (double)t.slow / (double)t.rows : 0.0,
	       t.ours * 1e9 / (double)(t.rows + 1), t.theirs * 1e9 / (double)(t.rows + 1));
	mt_cfi_destroy(ours);
	mt_elf_destroy(elf);
	dwarf_cfi_end(theirs);
	elf_end(their_elf);
	close(fd);
	return t.differ == 0;
}

int main(int argc, char **argv)
{
	bool ok = true;

	elf_version(EV_CURRENT);
	for (int i = 1; i < argc; i++)
		ok = check_file(argv[i]) && ok;
	return !ok;
}
