/* Converts MAP, MMAP and MMAP2 records to mappings. */
#include "unwind/mapping_record.h"

#include <string.h>

#include "formats/records/record.h"
#include "formats/records/sample.h"

bool mt_mapped_by_kernel(const struct mt_kernel_record *record, struct mt_mapped *out)
{
	*out = (struct mt_mapped){
		.mapping = {.start = record->start, .offset = record->offset, .prot = record->prot},
		.identity = {.path = record->name ? record->name : "",
			     .device_major = record->major,
			     .device_minor = record->minor,
			     .inode = record->inode},
	};
	if ((record->misc & 7) == MT_CPUMODE_KERNEL || record->pid < 0 ||
	    __builtin_add_overflow(record->start, record->length, &out->mapping.end))
		return false;
	if (record->build_id && record->build_id_size <= MT_BUILD_ID_MAX) {
		memcpy(out->identity.build_id, record->build_id, record->build_id_size);
		out->identity.build_id_size = record->build_id_size;
	}
	return true;
}

struct mt_mapped mt_mapped_by_state(const struct mt_map_record *record, const char *path)
{
	return (struct mt_mapped){
		.mapping = {.start = record->start,
			    .end = record->end,
			    .offset = record->offset,
			    .prot = record->prot},
		.identity = {.path = path,
			     .device_major = record->major,
			     .device_minor = record->minor,
			     .inode = record->inode},
	};
}
