/* Mappings that are no file's, and whose era it is. */
#include "symbols/made_code.h"

#include <string.h>
#include <sys/mman.h>

#include "formats/base/array.h"
#include "symbols/image.h"
#include "symbols/image_map.h"
#include "symbols/jit_code.h"

bool mt_made_code_is_one(const struct mt_mapping *mapping)
{
	const char *path = mapping->image->identity.path;

	return (mapping->prot & PROT_EXEC) && mapping->image->kind == MT_IMAGE_ANONYMOUS &&
	       strncmp(path, "[v", 2) != 0 && strncmp(path, "[u", 2) != 0;
}

void mt_made_code_place(const struct mt_made_code *made, struct mt_mapping *mapping)
{
	if (!made->image || !mt_made_code_is_one(mapping))
		return;
	mapping->image = made->image;
	mapping->era = made->era;
	mapping->offset = mapping->start; /* addresses are its offsets */
}

static void find_era(struct mt_made_code *made, uint64_t time)
{
	const struct mt_jitdump *dump = made->image->jitdump;

	made->era = mt_jitdump_era(dump, time);
	made->era_end = mt_jitdump_era_end(dump, made->era);
}

bool mt_made_code_begin(struct mt_made_code *made, struct mt_image_map *map, struct mt_image *image,
			uint64_t time)
{
	size_t count;
	const struct mt_mapping *all = mt_image_map_all(map, &count);
	MT_ARRAY(struct mt_mapping) placed = {0};
	bool good = true;

	made->image = image;
	find_era(made, time);
	for (size_t i = 0; i < count && good; i++) {
		struct mt_mapping *slot;

		if (!mt_made_code_is_one(&all[i]))
			continue;
		slot = mt_array_push(&placed);
		good = slot;
		if (slot)
			*slot = all[i];
	}
	for (size_t i = 0; i < placed.count && good; i++) {
		mt_made_code_place(made, &placed.items[i]);
		good = mt_image_map_insert(map, &placed.items[i]);
	}
	mt_array_deinit(&placed);
	return good;
}

bool mt_made_code_come_to(struct mt_made_code *made, struct mt_image_map *map, uint64_t time)
{
	return !mt_made_code_is_over(made, time) || mt_made_code_renew(made, map, time);
}

bool mt_made_code_renew(struct mt_made_code *made, struct mt_image_map *map, uint64_t time)
{
	find_era(made, time);
	return mt_image_map_set_era(map, made->image, made->era);
}
