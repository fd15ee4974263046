/*
 * What a record says is mapped in a process: a MAP of the recording, an MMAP or MMAP2 of the
 * kernel. For those who keep address spaces.
 */
#ifndef MT_UNWIND_MAPPING_RECORD_H
#define MT_UNWIND_MAPPING_RECORD_H

#include <stdbool.h>

#include "symbols/images/image.h"
#include "symbols/images/image_map.h"

struct mt_kernel_record;
struct mt_map_record;

/* mapping.image is left for who interns the identity; strings are borrowed from the record. */
struct mt_mapped {
	struct mt_image_identity identity;
	struct mt_mapping mapping;
};

/* False for what is mapped in the kernel, or past the end of all addresses. */
bool mt_mapped_by_kernel(const struct mt_kernel_record *record, struct mt_mapped *out);

/* path: the record's, terminated. */
struct mt_mapped mt_mapped_by_state(const struct mt_map_record *record, const char *path);

#endif
