/* A perf map from any text, and look-ups at addresses of all sizes. */
#include <stddef.h>
#include <stdint.h>

#include "symbols/names/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mt_perf_map *map = mt_perf_map_create((const char *)data, size);
	volatile size_t length = 0;
	const char *name;
	uint64_t offset;
	size_t found;

	for (unsigned int shift = 0; map && shift < 64; shift++) {
		name = mt_perf_map_find(map, UINT64_MAX >> shift, &found, &offset);
		for (size_t i = 0; name && i < found; i++)
			length += (unsigned char)name[i];
	}
	(void)length;
	mt_perf_map_destroy(map);
	return 0;
}
