/*
 * Removes process memory from a sample: cuts the dump out of the kernel's bytes and zeroes the
 * registers that no analysis needs (FORMAT.md section 7, FRAMES).
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

/* The buffer for a stripped sample; all-zero is empty. */
struct mt_stripping {
	MT_ARRAY(uint8_t) kernel;
};

void mt_stripping_deinit(struct mt_stripping *stripping);

/* Registers that stay in samples of an event, by its name: bit n is perf's register number n. */
uint32_t mt_stripping_registers(const struct mt_text *name);

/* Decodes a sample; false if it has fields that are unknown, so that it cannot be stripped. */
bool mt_stripping_understand(const struct mt_attr *attr, const struct mt_kernel_bytes *bytes,
			     struct mt_sample *sample);

/*
 * Replaces *bytes by the sample without dump and without registers outside `kept`, borrowed until
 * the next call. `sample` comes from mt_stripping_understand() and views the old bytes. False out
 * of memory.
 */
bool mt_stripping_take_out(struct mt_stripping *stripping, const struct mt_attr *attr,
			   uint32_t kept, const struct mt_sample *sample,
			   struct mt_kernel_bytes *bytes);

#endif
