/*
 * A sample without what it holds of its process' memory: the kernel's bytes without the dump, and
 * with the registers set to 0 that no account needs (FORMAT.md section 7, FRAMES).
 */
#ifndef MT_FORMATS_STACKS_STRIPPING_H
#define MT_FORMATS_STACKS_STRIPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/records/record.h"

struct mt_attr;
struct mt_kernel_bytes;
struct mt_sample;

/* Where a sample's bytes are put together; all zeros is an empty one. */
struct mt_stripping {
	MT_ARRAY(uint8_t) kernel;
};

void mt_stripping_deinit(struct mt_stripping *stripping);

/* Which registers stay in samples of the event of that name: bit n is perf's number n. */
uint32_t mt_stripping_registers(const struct mt_text *name);

/*
 * Decodes a sample; false where not all that is in it is known, so that nobody can say what to take
 * out.
 */
bool mt_stripping_understand(const struct mt_attr *attr, const struct mt_kernel_bytes *bytes,
			     struct mt_sample *sample);

/*
 * Makes *bytes those of the sample without dump and registers, borrowed until the next call. What
 * mt_stripping_understand() gave is `sample`, and views the bytes as they were. False out of
 * memory.
 */
bool mt_stripping_take_out(struct mt_stripping *stripping, const struct mt_attr *attr,
			   uint32_t kept, const struct mt_sample *sample,
			   struct mt_kernel_bytes *bytes);

#endif
