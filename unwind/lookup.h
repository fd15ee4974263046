/*
 * From an address in a process to its image's CFI: the way of a cache miss. Private to the
 * unwinder.
 */
#ifndef MT_UNWIND_LOOKUP_H
#define MT_UNWIND_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi/cfi.h"
#include "unwind/rule.h"

struct mt_image;
struct mt_image_map;
struct mt_mapping;

/* The row for an address; where there is none, *end says why. */
enum mt_cfi_found mt_lookup_row(const struct mt_image_map *map, uint64_t address,
				struct mt_cfi_row *row, int *end);

/*
 * The rule for a frame: looked up at `address`, its pc being that or, for a return address, one
 * more. *lasting: it holds for every map of this generation; what is found where no code is mapped
 * holds for those of this version.
 */
struct mt_rule mt_lookup_rule(const struct mt_image_map *map, uint64_t address, uint64_t pc,
			      bool *lasting);

/* Where in an image an address is. */
struct mt_lookup_place {
	const struct mt_mapping *mapping; /* borrowed until the map changes */
	uint64_t vaddr;			  /* at link time */
	bool lasting;
};

/*
 * False where the address is in no ELF that is at hand. out->lasting, told in either case, is as
 * above.
 */
bool mt_lookup_place(const struct mt_image_map *map, uint64_t address, struct mt_lookup_place *out);

/*
 * The piece of code [*start, *end) around a link-time address, as CFI has it; false where it tells
 * of none.
 */
bool mt_lookup_range(struct mt_image *image, uint64_t vaddr, uint64_t *start, uint64_t *end);

/* The same in the process. */
struct mt_lookup_function {
	uint64_t start, size;
};

/* The one around an address; false where no CFI tells of it. */
bool mt_lookup_function(const struct mt_image_map *map, uint64_t address,
			struct mt_lookup_function *out);

/* Whether an address is in a linker's stub: an entry of a procedure linkage table. */
bool mt_lookup_is_stub(const struct mt_image_map *map, uint64_t address);

/* n bytes of code at an address, as mt_image_code() has them; NULL where they are not at hand. */
const uint8_t *mt_lookup_code(const struct mt_image_map *map, uint64_t address, size_t n,
			      bool anywhere);

#endif
