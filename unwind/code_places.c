/*
 * Stacks have their frames in few images: the mappings found last are kept, each as far as one
 * segment reaches in it.
 */
#include "unwind/code_places.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "symbols/image.h"
#include "symbols/image_map.h"
#include "unwind/lookup.h"

#define FUNCTION_BITS 12
#define NEARBY_BITS 11
#define NEARBY_SHIFT 9 /* bytes of code: about a function */

enum {
	RUNS = 16
};

/* Addresses of one map that are so far from their places. */
struct run {
	uint64_t start, size, to_vaddr;
	uint32_t version; /* of the map; 0: empty */
	uint32_t image;
	bool lasting;
};

/* The function around a place; start == end: there is none. */
struct function {
	uint64_t vaddr, start, end;
	uint32_t image;
	bool used;
};

struct mt_code_places {
	struct run runs[RUNS];
	size_t last, next; /* the one used last, and to be replaced next */
	struct function functions[1 << FUNCTION_BITS];
	struct mt_code_function nearby[1 << NEARBY_BITS]; /* found last around there */
	MT_ARRAY(struct mt_image *) images;		  /* by id; NULL: nothing was found in it */
};

struct mt_code_places *mt_code_places_create(void)
{
	return calloc(1, sizeof(struct mt_code_places));
}

void mt_code_places_destroy(struct mt_code_places *places)
{
	if (!places)
		return;
	mt_array_deinit(&places->images);
	free(places);
}

void mt_code_places_begin(struct mt_code_places *places)
{
	if (!places->images.count) /* to clear what is clear would touch all of it */
		return;
	memset(places->runs, 0, sizeof(places->runs));
	memset(places->functions, 0, sizeof(places->functions));
	memset(places->nearby, 0, sizeof(places->nearby));
	places->images.count = 0;
}

struct mt_image *mt_code_places_image(const struct mt_code_places *places, uint32_t id)
{
	return places->images.items[id];
}

/* False out of memory. */
static bool know_image(struct mt_code_places *places, struct mt_image *image)
{
	while (places->images.count <= image->id) {
		if (!mt_array_push(&places->images))
			return false;
	}
	places->images.items[image->id] = image;
	return true;
}

/* So far does code reach around an offset before there is another edge of a segment. */
static void stop_at(uint64_t edge, uint64_t offset, uint64_t *before, uint64_t *after)
{
	if (edge > offset)
		*after = edge - offset < *after ? edge - offset : *after;
	else
		*before = offset - edge < *before ? offset - edge : *before;
}

/*
 * The addresses around one in the same mapping, from one edge of a segment to the next, whether it
 * is the one that has the address or not: odd files have segments that overlap.
 */
static struct run run_around(const struct mt_mapping *mapping, uint64_t address, uint64_t vaddr)
{
	uint64_t offset = mt_mapping_file_offset(mapping, address);
	uint64_t before = address - mapping->start, after = mapping->end - address;
	size_t count;
	const struct mt_segment *s = mt_elf_segments(mt_image_elf(mapping->image), &count);

	for (; count; s++, count--) {
		stop_at(s->offset, offset, &before, &after);
		stop_at(s->offset + s->file_size, offset, &before, &after);
	}
	return (struct run){
		.start = address - before, .size = before + after, .to_vaddr = vaddr - address};
}

/* NULL where the address is in no file that is at hand, or out of memory. */
static const struct run *find_run(struct mt_code_places *places, const struct mt_image_map *map,
				  uint64_t address, bool *lasting)
{
	struct mt_lookup_place place;
	struct run *run;
	bool found = mt_lookup_place(map, address, &place);

	*lasting &= place.lasting;
	if (!found || !know_image(places, place.mapping->image))
		return NULL;
	places->last = places->next;
	places->next = (places->next + 1) % RUNS;
	run = &places->runs[places->last];
	*run = run_around(place.mapping, address, place.vaddr);
	run->version = mt_image_map_version(map);
	run->image = place.mapping->image->id;
	run->lasting = place.lasting;
	return run;
}

static inline bool is_in(const struct run *run, uint32_t version, uint64_t address)
{
	return run->version == version && address - run->start < run->size;
}

bool mt_code_place_find(struct mt_code_places *places, const struct mt_image_map *map,
			uint64_t address, struct mt_code_place *out, bool *lasting)
{
	uint32_t version = mt_image_map_version(map);
	const struct run *run = &places->runs[places->last];

	for (size_t i = 0; i < RUNS && !is_in(run, version, address); i++) {
		places->last = i;
		run = &places->runs[i];
	}
	if (!is_in(run, version, address))
		run = find_run(places, map, address, lasting);
	if (!run)
		return false;
	*lasting &= run->lasting;
	*out = (struct mt_code_place){address + run->to_vaddr, run->image};
	return true;
}

void mt_code_places_find(struct mt_code_places *places, const struct mt_image_map *map,
			 const uint64_t *addresses, size_t count, struct mt_code_place *out,
			 bool *lasting)
{
	uint32_t version = mt_image_map_version(map);

	for (size_t i = 0; i < count; i++) {
		const struct run *run = &places->runs[places->last];

		out[i] = (struct mt_code_place){.image = MT_NO_IMAGE};
		if (!addresses[i])
			continue;
		if (is_in(run, version, addresses[i]) && run->lasting)
			out[i] = (struct mt_code_place){addresses[i] + run->to_vaddr, run->image};
		else
			mt_code_place_find(places, map, addresses[i], &out[i], lasting);
	}
}

/* Of a place that was not asked for of late: mostly another one of its function was. */
static __attribute__((noinline)) void find_function(struct mt_code_places *places,
						    struct function *out)
{
	uint64_t near = out->vaddr >> NEARBY_SHIFT ^ (uint64_t)out->image << 4;
	struct mt_code_function *nearby = &places->nearby[near % (1 << NEARBY_BITS)];

	if (nearby->image != out->image || out->vaddr < nearby->start ||
	    out->vaddr >= nearby->end) {
		if (!mt_lookup_range(mt_code_places_image(places, out->image), out->vaddr,
				     &out->start, &out->end)) {
			out->start = out->end = 0;
			return;
		}
		*nearby = (struct mt_code_function){out->start, out->end, out->image};
	}
	out->start = nearby->start;
	out->end = nearby->end;
}

bool mt_code_function_find(struct mt_code_places *places, const struct mt_code_place *place,
			   struct mt_code_function *out)
{
	uint64_t hash = mt_hash64(place->vaddr ^ (uint64_t)place->image << 48);
	struct function *known = &places->functions[hash >> (64 - FUNCTION_BITS)];

	if (!known->used || known->vaddr != place->vaddr || known->image != place->image) {
		*known = (struct function){
			.vaddr = place->vaddr, .image = place->image, .used = true};
		find_function(places, known);
	}
	*out = (struct mt_code_function){known->start, known->end, known->image};
	return known->start != known->end;
}

bool mt_code_function_of(struct mt_code_places *places, const struct mt_image_map *map,
			 uint64_t address, struct mt_code_function *out)
{
	struct mt_code_place place;
	bool lasting = true; /* of no matter here */

	return mt_code_place_find(places, map, address, &place, &lasting) &&
	       mt_code_function_find(places, &place, out);
}
