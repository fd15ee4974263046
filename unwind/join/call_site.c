/*
 * Learns calls from stacks. Caches skip what was learned before: whole stacks, outer frames of
 * stacks, pairs of addresses.
 */
#include "unwind/join/call_site.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/map64.h"
#include "formats/base/tail.h"
#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "unwind/lookup.h"

#define FUNCTION_BITS 12
#define STACK_BITS 12
#define PAIR_BITS 15
#define LEARNED_MAX ((size_t)1 << 20)

/* The function that contains an address; an entry of a direct-mapped cache. */
struct function {
	uint64_t address;
	uint64_t vaddr, start; /* link-time addresses: of `address`, and of the function's start */
	uint32_t image;
	uint32_t era; /* generation of the map; its version if only valid for that */
	bool found;
};

struct mt_call_sites {
	struct mt_map64 calls;	  /* hash of two functions to the offset of a call */
	struct mt_tail last;	  /* the stack learned last */
	uint32_t last_generation; /* generation of the map of that stack */
	struct function functions[1 << FUNCTION_BITS];
	uint64_t stacks[1 << STACK_BITS]; /* hashes of learned stacks */
	uint64_t pairs[1 << PAIR_BITS];	  /* hashes of learned pairs of addresses */
};

struct mt_call_sites *mt_call_sites_create(void)
{
	return mt_alloc(1, sizeof(struct mt_call_sites));
}

static void deinit(struct mt_call_sites *sites)
{
	mt_map64_deinit(&sites->calls);
	mt_tail_deinit(&sites->last);
}

void mt_call_sites_destroy(struct mt_call_sites *sites)
{
	if (!sites)
		return;
	deinit(sites);
	free(sites);
}

void mt_call_sites_begin(struct mt_call_sites *sites)
{
	if (!sites->last.words) /* clearing an empty table would touch all of its memory */
		return;
	deinit(sites);
	memset(sites, 0, sizeof(*sites));
}

static void find_function(const struct mt_image_map *map, uint64_t address, struct function *out)
{
	struct mt_lookup_place place;
	uint64_t end;
	bool in_file = mt_lookup_place(map, address, &place);

	*out = (struct function){.address = address,
				 .era = place.lasting ? mt_image_map_generation(map)
						      : mt_image_map_version(map)};
	if (!in_file)
		return;
	out->image = place.mapping->image->id;
	out->vaddr = place.vaddr;
	out->found = mt_lookup_range(place.mapping->image, place.vaddr, &out->start, &end);
}

/* Finds the function that contains an address, with a cache. False if the address has no CFI. */
static bool function_at(struct mt_call_sites *sites, const struct mt_image_map *map,
			uint64_t address, struct function *out)
{
	struct function *slot = &sites->functions[mt_hash64(address) >> (64 - FUNCTION_BITS)];

	if (slot->address != address ||
	    (slot->era != mt_image_map_generation(map) && slot->era != mt_image_map_version(map)))
		find_function(map, address, slot);
	*out = *slot;
	return out->found;
}

static uint64_t function_key(const struct function *function)
{
	return mt_hash64(function->start + function->image * 0x9e3779b97f4a7c15u);
}

static uint64_t call_key(const struct function *outer, const struct function *inner)
{
	return mt_hash64(function_key(outer)) + 3 * function_key(inner);
}

static bool learn_call(struct mt_call_sites *sites, const struct mt_image_map *map, uint64_t outer,
		       uint64_t inner)
{
	struct function caller, callee;

	if (sites->calls.count >= LEARNED_MAX || !function_at(sites, map, outer, &caller) ||
	    !function_at(sites, map, inner, &callee))
		return true;
	return mt_map64_add(&sites->calls, call_key(&caller, &callee), caller.vaddr - caller.start);
}

/* Number of inner frames, without the outer frames that are shared with the last stack. */
static size_t count_fresh(struct mt_call_sites *sites, const struct mt_image_map *map,
			  const uint64_t *pcs, size_t count)
{
	uint32_t generation = mt_image_map_generation(map);
	size_t most = generation == sites->last_generation ? count : 0;

	sites->last_generation = generation;
	return count - mt_tail_take(&sites->last, pcs, count, most);
}

bool mt_call_sites_learn(struct mt_call_sites *sites, const struct mt_image_map *map,
			 const uint64_t *pcs, size_t count, uint64_t hash)
{
	const uint64_t salt = (uint64_t)mt_image_map_generation(map) << 40;
	uint64_t *known = &sites->stacks[mt_hash64(hash) >> (64 - STACK_BITS)], *slot, pair;
	size_t fresh;

	if (*known == hash)
		return true;
	*known = hash;
	if (!mt_tail_reserve(&sites->last, count))
		return false;
	fresh = count_fresh(sites, map, pcs, count);
	for (size_t i = 0; i < fresh && i + 1 < count; i++) {
		pair = mt_hash64(mt_hash64(pcs[i + 1] ^ salt) + pcs[i]);
		slot = &sites->pairs[pair >> (64 - PAIR_BITS)];
		if (*slot != pair && !learn_call(sites, map, pcs[i + 1], pcs[i]))
			return false;
		*slot = pair;
	}
	return true;
}

uint64_t mt_call_site_find(struct mt_call_sites *sites, const struct mt_call_question *q)
{
	struct function outer, inner, other;
	uint64_t offset;

	if (!function_at(sites, q->map, q->inner, &inner)) /* JIT code: functions are unknown */
		return q->outer_calls && !function_at(sites, q->map, q->known_inner, &other)
			       ? q->outer
			       : 0;
	if (q->outer_calls && mt_call_sites_same(sites, q->map, q->known_inner, q->inner))
		return q->outer;
	if (!function_at(sites, q->map, q->outer, &outer) ||
	    !mt_map64_get(&sites->calls, call_key(&outer, &inner), &offset))
		return 0;
	return q->outer - outer.vaddr + outer.start + offset;
}

bool mt_call_sites_same(struct mt_call_sites *sites, const struct mt_image_map *map, uint64_t a,
			uint64_t b)
{
	struct function x, y;

	return function_at(sites, map, a, &x) && function_at(sites, map, b, &y) &&
	       x.start == y.start && x.image == y.image;
}
