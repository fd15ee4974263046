/* The x86-64 register numbers of perf_event_open (PERF_REG_X86_*, in mask order) and of DWARF. */
#include "unwind/unwind.h"

#define NONE 0xff

/* By perf number: AX BX CX DX SI DI BP SP IP FLAGS CS SS DS ES FS GS R8..R15. */
static const uint8_t dwarf_number[] = {
	0,    3,    2,	  1,	4, 5, 6,  7,  16, NONE, NONE, NONE,
	NONE, NONE, NONE, NONE, 8, 9, 10, 11, 12, 13,	14,   15,
};

/* The registers that perf samples with a dump: all but DS, ES, FS and GS. */
#define USUAL_MASK ((uint64_t)0xff0fff)

static void take_usual(const uint64_t *values, struct mt_unwind_regs *out)
{
	for (unsigned int i = 0; i < 9; i++)
		out->value[dwarf_number[i]] = values[i];
	for (unsigned int i = 0; i < 8; i++)
		out->value[8 + i] = values[12 + i];
	out->valid = (1u << 17) - 1;
}

void mt_unwind_regs_from_perf(uint64_t mask, const uint64_t *values, struct mt_unwind_regs *out)
{
	if (mask == USUAL_MASK) {
		take_usual(values, out);
		return;
	}
	out->valid = 0;
	for (; mask; mask &= mask - 1, values++) {
		unsigned int bit = (unsigned int)__builtin_ctzll(mask);

		if (bit >= sizeof(dwarf_number) || dwarf_number[bit] == NONE)
			continue;
		out->value[dwarf_number[bit]] = *values;
		out->valid |= 1u << dwarf_number[bit];
	}
}
