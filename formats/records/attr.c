/* Decodes struct perf_event_attr. No field has moved since 2009; later kernels appended fields. */
#include "formats/records/attr.h"

#include "formats/base/bytes.h"

enum {
	ATTR_SIZE_FIRST = 64,  /* PERF_ATTR_SIZE_VER0 */
	ATTR_SIZE_KNOWN = 112, /* the last field read here ends before it */
};

/* Number of bytes of the attr, from its size field; kernels take 0 there for the first size. */
static size_t attr_bytes(const uint8_t *bytes, size_t size)
{
	size_t reported;

	if (size < ATTR_SIZE_FIRST)
		return 0;
	reported = mt_get_le32(bytes + 4);
	if (!reported)
		reported = ATTR_SIZE_FIRST;
	if (reported < ATTR_SIZE_FIRST)
		return 0;
	return reported < size ? reported : size;
}

static void decode_fields(const uint8_t *b, struct mt_attr *out)
{
	*out = (struct mt_attr){
		.type = mt_get_le32(b),
		.size = mt_get_le32(b + 4),
		.config = mt_get_le64(b + 8),
		.sample_period = mt_get_le64(b + 16),
		.sample_type = mt_get_le64(b + 24),
		.read_format = mt_get_le64(b + 32),
		.flags = mt_get_le64(b + 40),
		.config1 = mt_get_le64(b + 56),
		.config2 = mt_get_le64(b + 64),
		.branch_sample_type = mt_get_le64(b + 72),
		.sample_regs_user = mt_get_le64(b + 80),
		.sample_stack_user = mt_get_le32(b + 88),
		.clockid = (int32_t)mt_get_le32(b + 92),
		.sample_regs_intr = mt_get_le64(b + 96),
		.sample_max_stack = mt_get_le16(b + 108),
	};
}

bool mt_attr_decode(const void *bytes, size_t size, struct mt_attr *out)
{
	uint8_t whole[ATTR_SIZE_KNOWN] = {0};
	size_t used = attr_bytes(bytes, size);

	if (!used)
		return false;
	memcpy(whole, bytes, used < sizeof(whole) ? used : sizeof(whole));
	decode_fields(whole, out);
	return true;
}
