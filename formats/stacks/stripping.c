/* Cuts the dump out of a sample and clears registers. */
#include "formats/stacks/stripping.h"

#include <string.h>

#include "formats/base/bytes.h"
#include "formats/records/attr.h"
#include "formats/records/sample.h"
#include "formats/stacks/sample_record.h"

#define BIT(n) (1u << (n))

enum { /* perf's numbers of x86-64 registers */
	REG_AX = 0,
	REG_DX = 3,
	REG_SI = 4,
	REG_DI = 5,
	REG_BP = 6,
	REG_SP = 7,
	REG_IP = 8,
	REG_FLAGS = 9,
	REG_CS = 10,
	REG_SS = 11,
	REG_R8 = 16,
	REG_R9 = 17,
	REG_R10 = 18,
};

void mt_stripping_deinit(struct mt_stripping *stripping)
{
	mt_array_deinit(&stripping->kernel);
}

uint32_t mt_stripping_registers(const struct mt_text *name)
{
	uint32_t kept = BIT(REG_BP) | BIT(REG_SP) | BIT(REG_IP) | BIT(REG_FLAGS) | BIT(REG_CS) |
			BIT(REG_SS);
	static const char calls[] = "syscalls:", raw[] = "raw_syscalls:";

	if ((name->size >= sizeof(calls) - 1 && !memcmp(name->bytes, calls, sizeof(calls) - 1)) ||
	    (name->size >= sizeof(raw) - 1 && !memcmp(name->bytes, raw, sizeof(raw) - 1)))
		kept |= BIT(REG_AX) | BIT(REG_DX) | BIT(REG_SI) | BIT(REG_DI) | BIT(REG_R8) |
			BIT(REG_R9) | BIT(REG_R10);
	return kept;
}

bool mt_stripping_understand(const struct mt_attr *attr, const struct mt_kernel_bytes *bytes,
			     struct mt_sample *sample)
{
	return mt_sample_decode_bytes(attr, bytes, sample) &&
	       (!sample->dump_asked || bytes->cut ||
		mt_sample_stack_offset(attr, bytes->kernel, bytes->kernel_size));
}

/* Copies a sample whose dump is in its KERNEL record as if the dump had been cut out. */
static void take_dump_out(struct mt_stripping *s, const struct mt_attr *attr,
			  struct mt_kernel_bytes *b)
{
	size_t cut = mt_sample_stack_offset(attr, b->kernel, b->kernel_size) + 8;
	uint64_t asked = mt_get_le64(b->kernel + cut - 8);

	memcpy(s->kernel.items, b->kernel, cut);
	memcpy(s->kernel.items + cut, b->kernel + cut + asked, b->kernel_size - cut - asked);
	b->cut = (uint32_t)cut;
	b->dump_asked = (uint32_t)asked;
	b->kernel_size -= (uint32_t)asked;
}

bool mt_stripping_take_out(struct mt_stripping *s, const struct mt_attr *attr, uint32_t kept,
			   const struct mt_sample *sample, struct mt_kernel_bytes *b)
{
	uint64_t mask = attr->sample_regs_user;
	size_t at = 0;

	if (!mt_array_reserve(&s->kernel, b->kernel_size))
		return false;
	if (sample->user_abi && sample->user_regs)
		at = (size_t)((const uint8_t *)sample->user_regs - b->kernel);
	if (sample->dump_asked && !b->cut)
		take_dump_out(s, attr, b);
	else
		memcpy(s->kernel.items, b->kernel, b->kernel_size);
	for (unsigned int reg = 0; at && reg < 64; reg++) {
		if (!(mask >> reg & 1))
			continue;
		if (reg >= 32 || !(kept & BIT(reg)))
			mt_put_le64(s->kernel.items + at, 0);
		at += 8;
	}
	b->kernel = s->kernel.items;
	return true;
}
