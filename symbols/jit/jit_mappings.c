/* Assigns executable anonymous mappings to a jitdump's image and era. */
#include "symbols/jit/jit_mappings.h"

#include <string.h>
#include <sys/mman.h>

#include "formats/base/array.h"
#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "symbols/jit/jitdump_index.h"

bool mt_jit_mappings_is_one(const struct mt_mapping *mapping)
{
	const char *path = mapping->image->identity.path;

	return (mapping->prot & PROT_EXEC) && mapping->image->kind == MT_IMAGE_ANONYMOUS &&
	       strncmp(path, "[v", 2) != 0 && strncmp(path, "[u", 2) != 0;
}

void mt_jit_mappings_place(const struct mt_jit_mappings *made, struct mt_mapping *mapping)
{
	if (!made->image || !mt_jit_mappings_is_one(mapping))
		return;
	mapping->image = made->image;
	mapping->era = made->era;
	mapping->offset = mapping->start; /* offsets in the jitdump's image are addresses */
}

static void find_era(struct mt_jit_mappings *made, uint64_t time)
{
	const struct mt_jitdump *dump = made->image->jitdump;

	made->era = mt_jitdump_era(dump, time);
	made->era_end = mt_jitdump_era_end(dump, made->era);
}

bool mt_jit_mappings_begin(struct mt_jit_mappings *made, struct mt_image_map *map,
			   struct mt_image *image, uint64_t time)
{
	const struct mt_mapping *m = mt_image_map_next(map, 0);
	MT_ARRAY(struct mt_mapping) placed = {0};
	bool good = true;

	made->image = image;
	find_era(made, time);
	for (; m && good; m = mt_image_map_next(map, m->end))
		good = !mt_jit_mappings_is_one(m) || mt_array_append(&placed, *m);
	for (size_t i = 0; i < placed.count && good; i++) {
		mt_jit_mappings_place(made, &placed.items[i]);
		good = mt_image_map_insert(map, &placed.items[i]);
	}
	mt_array_deinit(&placed);
	return good;
}

bool mt_jit_mappings_come_to(struct mt_jit_mappings *made, struct mt_image_map *map, uint64_t time)
{
	if (!mt_jit_mappings_is_over(made, time))
		return true;
	find_era(made, time);
	return mt_image_map_set_era(map, made->image, made->era);
}
