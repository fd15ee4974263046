/* Blocks are the recorder's own: what stands in them is what was put there. */
#include "record/write/map_records.h"

#include <stdlib.h>

#include "formats/base/bytes.h"
#include "formats/chunks/chunk.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "formats/stacks/sample_record.h"
#include "record/write/code_maps.h"

static bool kernel_bytes(const uint8_t *record, struct mt_kernel_bytes *out)
{
	return mt_get_le32(record) == MT_RECORD_KERNEL &&
	       mt_kernel_get(record + MT_RECORD_HEADER_SIZE,
			     mt_get_le32(record + 4) - MT_RECORD_HEADER_SIZE, out);
}

bool mt_told_map_is_one(const uint8_t *record)
{
	struct mt_kernel_bytes bytes;
	uint32_t type = kernel_bytes(record, &bytes) ? mt_get_le32(bytes.kernel) : 0;

	return type == MT_KERNEL_MMAP || type == MT_KERNEL_MMAP2 || type == MT_KERNEL_COMM ||
	       type == MT_KERNEL_FORK || type == MT_KERNEL_EXIT;
}

void mt_map_records_state(struct mt_code_maps *maps, const struct mt_block *block)
{
	struct mt_task_record task;
	struct mt_map_record map;
	size_t size;

	for (size_t at = 0; at < block->used; at += size) {
		const uint8_t *body = block->bytes + at + MT_RECORD_HEADER_SIZE;
		uint32_t type = mt_get_le32(block->bytes + at);

		size = mt_get_le32(block->bytes + at + 4);
		if (type == MT_RECORD_TASK &&
		    mt_task_get(body, size - MT_RECORD_HEADER_SIZE, &task))
			(void)mt_code_maps_add_task(maps, &task);
		else if (type == MT_RECORD_MAP &&
			 mt_map_get(body, size - MT_RECORD_HEADER_SIZE, &map))
			(void)mt_code_maps_add_map(maps, &map);
	}
}

static int compare(const void *a, const void *b)
{
	const struct mt_told_map *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return (x->record > y->record) - (x->record < y->record);
}

void mt_map_records_apply(struct mt_told_map *told, size_t count, const struct mt_attr *attr,
			  struct mt_code_maps *maps)
{
	struct mt_kernel_record record;
	struct mt_kernel_bytes bytes;

	if (count)
		qsort(told, count, sizeof(*told), compare);
	for (size_t i = 0; i < count; i++) {
		if (kernel_bytes(told[i].record, &bytes) &&
		    mt_kernel_record_decode(attr, bytes.kernel, bytes.kernel_size, &record))
			(void)mt_code_maps_apply(maps, &record, told[i].time);
	}
}
