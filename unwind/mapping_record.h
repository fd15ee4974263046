/*
 * Converts mapping records (MAP of the recording, MMAP and MMAP2 of the kernel) to mappings, for
 * code that keeps address spaces.
 */
#ifndef MT_UNWIND_MAPPING_RECORD_H
#define MT_UNWIND_MAPPING_RECORD_H

#include <stdbool.h>

#include "symbols/images/image.h"
#include "symbols/images/image_map.h"

struct mt_kernel_record;
struct mt_map_record;

/* The caller sets mapping.image from the identity. Strings are borrowed from the record. */
struct mt_mapped {
	struct mt_image_identity identity;
	struct mt_mapping mapping;
};

/* False for a kernel mapping, and for a range that ends past 2^64. */
bool mt_mapped_by_kernel(const struct mt_kernel_record *record, struct mt_mapped *out);

/* `path` is the record's path, NUL-terminated. */
struct mt_mapped mt_mapped_by_state(const struct mt_map_record *record, const char *path);

#endif
