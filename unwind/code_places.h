/*
 * Addresses in processes as places in images, which are the same wherever and in whichever process
 * the image is mapped, and the functions around them. Functions are pieces of code as CFI has them.
 * Private to the unwinder.
 */
#ifndef MT_UNWIND_CODE_PLACES_H
#define MT_UNWIND_CODE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_code_places;
struct mt_image;
struct mt_image_map;

/* An image's id and a link-time address. */
struct mt_code_place {
	uint64_t vaddr;
	uint32_t image; /* MT_NO_IMAGE: it is in no file that is at hand */
};

#define MT_NO_IMAGE UINT32_MAX

struct mt_code_function {
	uint64_t start, end; /* link-time addresses */
	uint32_t image;
};

/* NULL out of memory. */
struct mt_code_places *mt_code_places_create(void);
void mt_code_places_destroy(struct mt_code_places *places);

/* Other images come: nothing that was found holds any more. */
void mt_code_places_begin(struct mt_code_places *places);

/*
 * Where an address is; false where no file that is at hand stands there. *lasting becomes false
 * where that holds for this version of the map alone, not for its generation.
 */
bool mt_code_place_find(struct mt_code_places *places, const struct mt_image_map *map,
			uint64_t address, struct mt_code_place *out, bool *lasting);

/* The same of several, nowhere where it would be false; of address 0, too. */
void mt_code_places_find(struct mt_code_places *places, const struct mt_image_map *map,
			 const uint64_t *addresses, size_t count, struct mt_code_place *out,
			 bool *lasting);

/* The function around a place; false where no CFI tells of it. */
bool mt_code_function_find(struct mt_code_places *places, const struct mt_code_place *place,
			   struct mt_code_function *out);

/* Both. */
bool mt_code_function_of(struct mt_code_places *places, const struct mt_image_map *map,
			 uint64_t address, struct mt_code_function *out);

/* An image in which something was found, by its id; borrowed. */
struct mt_image *mt_code_places_image(const struct mt_code_places *places, uint32_t id);

#endif
