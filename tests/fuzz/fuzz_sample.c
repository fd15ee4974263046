/*
 * An attr and a kernel record from any bytes: decoding must stay inside both. A sample must decode
 * to the same values with its dump in place and with the dump removed as the recorder does.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/records/attr.h"
#include "formats/records/sample.h"
#include "formats/records/sample_type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ATTR_SIZE 136

static unsigned int touch(const void *bytes, size_t size)
{
	unsigned int sum = 0;

	for (size_t i = 0; bytes && i < size; i++)
		sum += ((const uint8_t *)bytes)[i];
	return sum;
}

static unsigned int touch_sample(const struct mt_attr *attr, const struct mt_sample *s)
{
	size_t regs = (size_t)__builtin_popcountll(attr->sample_regs_user);

	return touch(s->read, s->read_size) + touch(s->chain, s->chain_count * 8) +
	       touch(s->raw, s->raw_size) +
	       touch(s->branches, s->branch_count * sizeof(*s->branches)) +
	       touch(s->user_regs, s->user_regs ? regs * 8 : 0) + touch(s->dump, s->dump_size);
}

/* Removes the dump, closes the gap, and compares what the copy decodes to. */
static void check_apart(const struct mt_attr *attr, const uint8_t *record, size_t size,
			size_t offset, const struct mt_sample *whole)
{
	size_t asked = mt_get_le64(record + offset), cut = offset + 8;
	struct mt_dump_apart apart = {(uint32_t)cut, (uint32_t)asked, record + cut,
				      (uint32_t)whole->dump_size};
	uint8_t *copy = aligned_alloc(8, mt_align8(size - asked + 1));
	struct mt_sample s;

	memcpy(copy, record, cut);
	memcpy(copy + cut, record + cut + asked, size - asked - cut);
	if (!mt_sample_decode(attr, copy, size - asked, &apart, &s))
		abort();
	if (s.dump != whole->dump || s.dump_size != whole->dump_size || s.weight != whole->weight ||
	    s.chain_count != whole->chain_count || s.code_page_size != whole->code_page_size)
		abort();
	free(copy);
}

static void check_record(const struct mt_attr *attr, const uint8_t *record, size_t size)
{
	size_t offset = mt_sample_stack_offset(attr, record, size);
	struct mt_kernel_record other;
	struct mt_sample s;

	if (offset && mt_get_le64(record + offset) > size - offset - 16)
		abort();
	if (mt_sample_decode(attr, record, size, NULL, &s)) {
		touch_sample(attr, &s);
		/* an empty branch stack can be decoded in two ways */
		if (offset && !(attr->branch_sample_type & MT_BRANCH_HW_INDEX))
			check_apart(attr, record, size, offset, &s);
	}
	if (mt_kernel_record_decode(attr, record, size, &other) && other.name)
		touch(other.name, strlen(other.name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mt_attr attr;
	uint8_t *record;

	if (size < ATTR_SIZE || !mt_attr_decode(data, ATTR_SIZE, &attr))
		return 0;
	data += ATTR_SIZE;
	size -= ATTR_SIZE;
	record = aligned_alloc(8, mt_align8(size + 1));
	if (!record)
		return 0;
	memcpy(record, data, size);
	check_record(&attr, record, size);
	free(record);
	return 0;
}
