/* Recognizes kinds of memory by the kernel's names for mappings. */
#include "report/account/regions.h"

#include <stddef.h>
#include <string.h>

#include "symbols/images/image.h"
#include "symbols/images/image_map.h"

#define KERNEL_SPACE (1ull << 63)

static const struct {
	const char *name, *shown;
} kinds[MT_REGION_KINDS] = {
	[MT_REGION_ANONYMOUS] = {"anon", "[anon]"},
	[MT_REGION_HEAP] = {"heap", "[heap]"},
	[MT_REGION_FILE] = {"file", "[file]"},
	[MT_REGION_STACK] = {"stack", "[stack]"},
	[MT_REGION_THREAD_STACK] = {"thread stack", "[thread stack]"},
	[MT_REGION_SHM] = {"shm", "[shm]"},
	[MT_REGION_VDSO] = {"vdso", "[vdso]"},
	[MT_REGION_HUGE] = {"huge", "[huge]"},
};

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

enum mt_region_kind mt_region_kind_of(const char *name, bool shared)
{
	static const char *const memory[] = {"/SYSV", "/memfd:", "/dev/zero", "/dev/shm/",
					     "[anon_shmem:"};

	if (!*name || begins(name, "//anon") || begins(name, "[anon:"))
		return shared ? MT_REGION_SHM : MT_REGION_ANONYMOUS;
	if (begins(name, "[heap]"))
		return MT_REGION_HEAP;
	if (begins(name, "[stack"))
		return MT_REGION_STACK;
	if (begins(name, "[v"))
		return MT_REGION_VDSO;
	if (begins(name, "/anon_hugepage"))
		return MT_REGION_HUGE;
	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
		if (begins(name, memory[i]))
			return MT_REGION_SHM;
	}
	return MT_REGION_FILE;
}

const char *mt_region_kind_name(enum mt_region_kind kind)
{
	return kinds[kind].name;
}

const char *mt_region_shown_name(enum mt_region_kind kind, const char *name)
{
	if (begins(name, "/dev/zero"))
		return "[shared anon]";
	if (!*name || begins(name, "//anon") || begins(name, "/anon_hugepage") ||
	    begins(name, "[stack")) /* old kernels add the thread's number */
		return kinds[kind].shown;
	return name;
}

struct mt_region mt_region_none(void)
{
	return (struct mt_region){"unknown", "[no address]"};
}

struct mt_region mt_region_at(const struct mt_image_map *map, uint64_t address)
{
	const struct mt_mapping *mapping;
	enum mt_region_kind kind;
	const char *name;

	if (address >= KERNEL_SPACE)
		return (struct mt_region){"kernel", "[kernel]"};
	mapping = mt_image_map_find(map, address);
	if (!mapping)
		return (struct mt_region){"unknown", "[unknown]"};
	name = mapping->image->identity.path;
	kind = mt_region_kind_of(name, false);
	return (struct mt_region){mt_region_kind_name(kind), mt_region_shown_name(kind, name)};
}
