/* Lookups after a cache miss: from a process address to CFI. Private to the unwinder. */
#ifndef MT_UNWIND_LOOKUP_H
#define MT_UNWIND_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi/cfi.h"
#include "unwind/cfi/rule.h"

struct mt_image;
struct mt_image_map;
struct mt_mapping;

/* The row for an address. If there is none, *end is the reason, an enum mt_stack_end. */
enum mt_cfi_found mt_lookup_row(const struct mt_image_map *map, uint64_t address,
				struct mt_cfi_row *row, int *end);

/* An address in an image. */
struct mt_lookup_place {
	const struct mt_mapping *mapping; /* borrowed until the map changes */
	uint64_t vaddr;			  /* link-time address */
	bool lasting;
};

/* The place of an address. False without an ELF file. Sets out->lasting in either case. */
bool mt_lookup_place(const struct mt_image_map *map, uint64_t address, struct mt_lookup_place *out);

/* The code range [*start, *end) of the FDE that covers a link-time address; false without CFI. */
bool mt_lookup_range(struct mt_image *image, uint64_t vaddr, uint64_t *start, uint64_t *end);

/* A function's range in the process. */
struct mt_lookup_function {
	uint64_t start, size;
};

/* The function that contains an address; false without CFI. */
bool mt_lookup_function(const struct mt_image_map *map, uint64_t address,
			struct mt_lookup_function *out);

/* Whether an address is in a PLT entry. */
bool mt_lookup_is_stub(const struct mt_image_map *map, uint64_t address);

/* n bytes of code at an address, as mt_image_code() returns them; NULL if not available. */
const uint8_t *mt_lookup_code(const struct mt_image_map *map, uint64_t address, size_t n,
			      bool anywhere);

#endif
