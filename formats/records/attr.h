/*
 * Decodes struct perf_event_attr of any size and age field by field: from mtrec, or from a perf of
 * 2012. Independent of the build host's kernel headers.
 */
#ifndef MT_FORMATS_RECORDS_ATTR_H
#define MT_FORMATS_RECORDS_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_attr {
	uint32_t type;
	uint32_t size; /* bytes, as written */
	uint64_t config;
	uint64_t sample_period; /* a frequency if MT_ATTR_FREQ is set */
	uint64_t sample_type;	/* PERF_SAMPLE_* */
	uint64_t read_format;	/* PERF_FORMAT_* */
	uint64_t flags;		/* the attr's bit field: bit 0 is `disabled` */
	uint64_t config1, config2;
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint16_t sample_max_stack;
};

enum mt_attr_flag { /* bit numbers of mt_attr.flags */
	MT_ATTR_INHERIT = 1,
	MT_ATTR_EXCLUDE_USER = 4,
	MT_ATTR_EXCLUDE_KERNEL = 5,
	MT_ATTR_FREQ = 10,
	MT_ATTR_SAMPLE_ID_ALL = 18,
	MT_ATTR_USE_CLOCKID = 25,
};

/* Decodes attr bytes; fields past the end are 0. False below 64 bytes (PERF_ATTR_SIZE_VER0). */
bool mt_attr_decode(const void *bytes, size_t size, struct mt_attr *out);

static inline bool mt_attr_has(const struct mt_attr *attr, enum mt_attr_flag flag)
{
	return attr->flags >> flag & 1;
}

#endif
