/*
 * Kinds of memory by the names that the kernel gives mappings.
 */
#include "report/regions.h"

#include <stddef.h>
#include <string.h>

#include "symbols/image.h"
#include "symbols/image_map.h"

#define KERNEL_SPACE (1ull << 63)

/* By how the name begins; the first that fits. */
static const struct {
	const char *start;
	struct mt_region region; /* without a name: the mapping's own */
} kinds[] = {
	{"//anon", {"anon", "[anon]"}},
	{"[anon", {"anon", NULL}}, /* named by prctl */
	{"[heap]", {"heap", "[heap]"}},
	{"[stack", {"stack", "[stack]"}},
	{"[vdso]", {"vdso", "[vdso]"}},
	{"[vvar", {"vdso", "[vvar]"}},
	{"[vsyscall]", {"vdso", "[vsyscall]"}},
	{"/anon_hugepage", {"huge", "[huge]"}},
	{"/dev/zero (deleted)", {"shm", "[shared anon]"}},
	{"/SYSV", {"shm", NULL}},
	{"/memfd:", {"shm", NULL}},
	{"/dev/shm/", {"shm", NULL}},
	{"/", {"file", NULL}},
	{"", {"unknown", NULL}},
};

struct mt_region mt_region_none(void)
{
	return (struct mt_region){"unknown", "[no address]"};
}

struct mt_region mt_region_at(const struct mt_image_map *map, uint64_t address)
{
	const struct mt_mapping *mapping = mt_image_map_find(map, address);
	const char *name = mapping ? mapping->image->identity.path : NULL;
	struct mt_region region = {"unknown", "[unknown]"};

	if (address >= KERNEL_SPACE)
		return (struct mt_region){"kernel", "[kernel]"};
	for (size_t i = 0; name; i++) {
		if (strncmp(name, kinds[i].start, strlen(kinds[i].start)) != 0)
			continue;
		region = kinds[i].region;
		region.name = region.name ? region.name : *name ? name : "[unknown]";
		break;
	}
	return region;
}
