/*
 * Converts addresses to stack ids.
 *
 * Most samples repeat the addresses of an earlier stack in the same code. The addresses of a stack
 * (a run) are cached when they are met again. Other stacks are looked up frame by frame in the
 * image map and the frame table. When the cache is full, it is emptied; ids do not change. A cached
 * run with frames outside executable mappings is valid for one version of the map, other runs for a
 * generation.
 */
#include "report/stacks/stack_ids.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/base/tail.h"
#include "report/stacks/frames.h"
#include "report/stacks/kernel_names.h"
#include "report/stacks/stacks.h"
#include "report/stacks/unwind_worker.h"
#include "report/tables/byte_runs.h"
#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "symbols/jit/jitdump_index.h"

enum {
	/*
	 * Maximum size of cached address runs in bytes. Runs mostly repeat soon, and touching new
	 * memory costs more than a lookup.
	 */
	SEEN_BYTES = 3 << 20,
	SEEN_RUNS = 1 << 16,
	PLACE_BITS = 14,
	MET_BITS = 14,
};

/* The frame of an address, for all maps of a generation or of a version. Both start at 1. */
struct place {
	uint64_t pc;
	uint32_t map;
	uint32_t frame;
};

/* The stack of an address run. */
struct seen {
	uint32_t stack;
	uint32_t version; /* version of the map; 0: valid for all of the generation */
};

/*
 * The last stack that was looked up. Consecutive stacks mostly share their outer frames, which are
 * then not looked up again.
 */
struct last {
	struct mt_tail pcs;  /* all addresses, including those of the kernel */
	uint32_t *frames;    /* frame of each address in pcs */
	size_t lasting;	     /* outer frames that are valid in all maps of the generation */
	uint32_t generation; /* generation of the stack's map */
};

struct mt_stack_ids {
	const struct mt_kernel_names *kernel;
	struct mt_stacks *stacks;
	struct mt_frames *frames;
	struct place *places;	    /* 1 << PLACE_BITS, direct-mapped */
	bool of_versions;	    /* some places are only valid for one version */
	struct mt_byte_runs *runs;  /* of addresses, including the word before them */
	MT_ARRAY(struct seen) seen; /* by run */
	uint32_t *met;		    /* 1 << MET_BITS hashes of runs, direct-mapped */
	struct last last;
};

struct mt_stack_ids *mt_stack_ids_create(const struct mt_kernel_names *kernel,
					 struct mt_stacks *stacks, struct mt_frames *frames)
{
	struct mt_stack_ids *u = mt_alloc(1, sizeof(*u));

	u->kernel = kernel;
	u->stacks = stacks;
	u->frames = frames;
	u->places = mt_alloc((size_t)1 << PLACE_BITS, sizeof(*u->places));
	u->runs = mt_byte_runs_create();
	u->met = mt_alloc((size_t)1 << MET_BITS, sizeof(*u->met));
	return u;
}

void mt_stack_ids_destroy(struct mt_stack_ids *u)
{
	if (!u)
		return;
	mt_byte_runs_destroy(u->runs);
	mt_array_deinit(&u->seen);
	mt_tail_deinit(&u->last.pcs);
	free(u->last.frames);
	free(u->places);
	free(u->met);
	free(u);
}

static uint32_t kernel_frame(struct mt_stack_ids *u, uint64_t pc)
{
	struct mt_frame_key key = mt_kernel_names_place(u->kernel, pc, false);

	return mt_frames_intern(u->frames, &key);
}

/*
 * Sets *key to the place of an address in the mapping's image; if that is a jitdump, in the dump.
 */
static void place_in(const struct mt_mapping *mapping, uint64_t address, struct mt_frame_key *key)
{
	const struct mt_image *image = mapping->image;
	uint32_t code;

	key->image = image->id;
	key->offset = mt_mapping_file_offset(mapping, address);
	if (!image->jitdump)
		return;
	code = mt_jitdump_find(image->jitdump, mapping->era, address);
	if (code == MT_JITDUMP_NONE)
		key->image = image->unreported->id;
	else
		key->offset = mt_jitdump_place(image->jitdump, code, address);
}

/*
 * The key of an address. *lasting: the key is valid for every map of this generation
 * (symbols/images/image_map.h).
 */
static struct mt_frame_key key_of(const struct mt_image_map *map, uint64_t pc, bool *lasting)
{
	bool scanned = (pc & MT_WALKED_SCANNED) && !(pc >> 63);
	uint64_t address = scanned ? pc & ~MT_WALKED_SCANNED : pc;
	const struct mt_mapping *mapping = mt_image_map_find(map, address);
	struct mt_frame_key key = {.image = MT_FRAME_NO_IMAGE,
				   .flags = scanned ? MT_FRAME_GUESSED : 0,
				   .offset = scanned ? address : 0};

	*lasting = mapping && (mapping->prot & PROT_EXEC);
	if (mapping)
		place_in(mapping, address, &key);
	return key;
}

static inline struct place *place_of(const struct mt_stack_ids *u, uint64_t pc, uint32_t map)
{
	uint64_t mixed = (pc ^ (uint64_t)map << 32) * 0x9e3779b97f4a7c15u;

	return &u->places[mixed >> (64 - PLACE_BITS)];
}

/*
 * The frame of an address that is not in `places` for the generation. Sets *lasting to false if the
 * frame may differ in another map of the same generation.
 */
static __attribute__((noinline)) uint32_t find_frame(struct mt_stack_ids *u,
						     const struct mt_image_map *map, uint64_t pc,
						     bool *lasting)
{
	uint32_t version = mt_image_map_version(map), kept_by, frame;
	const struct place *here = place_of(u, pc, version);
	struct mt_frame_key key;
	bool kept;

	if (u->of_versions && here->pc == pc && here->map == version) {
		*lasting = false;
		return here->frame;
	}
	key = key_of(map, pc, &kept);
	frame = mt_frames_intern(u->frames, &key);
	kept_by = kept ? mt_image_map_generation(map) : version;
	*place_of(u, pc, kept_by) = (struct place){pc, kept_by, frame};
	u->of_versions |= !kept;
	*lasting &= kept;
	return frame;
}

/* The frame of a user address. */
static inline uint32_t user_frame(struct mt_stack_ids *u, const struct mt_image_map *map,
				  uint32_t generation, uint64_t pc, bool *lasting)
{
	const struct place *place = place_of(u, pc, generation);

	if (place->pc != pc || place->map != generation)
		return find_frame(u, map, pc, lasting);
	return place->frame;
}

static void make_room(struct last *last, size_t count)
{
	size_t had = last->pcs.capacity;

	mt_tail_reserve(&last->pcs, count);
	if (last->pcs.capacity != had)
		last->frames = mt_resize(last->frames, last->pcs.capacity, sizeof(*last->frames));
}

/*
 * The frames of addresses, innermost first; the first `kernel` of them are the kernel's. Borrowed
 * until the next call. *lasting as in find_frame().
 */
static const uint32_t *find_frames(struct mt_stack_ids *u, const struct mt_image_map *map,
				   const uint64_t *pcs, size_t kernel, size_t count, bool *lasting)
{
	uint32_t generation = mt_image_map_generation(map), *frames;
	struct last *last = &u->last;
	size_t known = last->generation == generation ? last->lasting : 0;
	size_t outer; /* number of outer frames that are valid for the generation */
	bool lasts = true;

	make_room(last, count);
	known = mt_tail_take(&last->pcs, pcs, count,
			     known < count - kernel ? known : count - kernel);
	frames = last->frames + last->pcs.capacity - count;
	outer = known;
	for (size_t i = 0; i < kernel; i++)
		frames[i] = kernel_frame(u, pcs[i]);
	for (size_t i = count - known; i-- > kernel;) {
		frames[i] = user_frame(u, map, generation, pcs[i], &lasts);
		outer += lasts;
	}
	*lasting &= lasts;
	last->generation = generation;
	last->lasting = outer;
	return frames;
}

/* The stack of addresses, looked up frame by frame; *lasting as in find_frame(). */
static uint32_t intern_stack(struct mt_stack_ids *u, const struct mt_image_map *map,
			     const uint64_t *pcs, const struct mt_walked *walked, bool *lasting)
{
	const uint32_t *frames;

	*lasting = true;
	frames = find_frames(u, map, pcs, walked->kernel, walked->count, lasting);
	return mt_stacks_intern(u->stacks, frames, walked->count);
}

/*
 * True if a run with this hash was met recently. In some recordings hardly any run repeats, and
 * caching all runs would cost more than looking them up.
 */
static bool was_met(struct mt_stack_ids *u, uint32_t hash)
{
	uint32_t *met = &u->met[hash >> (32 - MET_BITS)];
	bool was = *met == hash;

	*met = hash;
	return was;
}

uint32_t mt_stack_ids_intern(struct mt_stack_ids *u, const struct mt_image_map *map,
			     const struct mt_walk_words *words, const struct mt_walked *walked)
{
	const uint64_t *pcs = words->items + walked->pcs;
	uint32_t run, stack, version = mt_image_map_version(map);
	struct seen *seen;
	bool lasting;

	if (!was_met(u, walked->hash))
		return intern_stack(u, map, pcs, walked, &lasting);
	if (mt_byte_runs_bytes(u->runs) >= SEEN_BYTES || mt_byte_runs_count(u->runs) >= SEEN_RUNS) {
		mt_byte_runs_clear(u->runs);
		u->seen.count = 0;
	}
	run = mt_byte_runs_intern_hashed(u->runs, pcs - 1, (walked->count + 1) * sizeof(*pcs),
					 walked->hash);
	seen = run < u->seen.count ? &u->seen.items[run] : NULL;
	if (seen && (!seen->version || seen->version == version))
		return seen->stack;
	stack = intern_stack(u, map, pcs, walked, &lasting);
	*mt_array_at(&u->seen, run) = (struct seen){stack, lasting ? 0 : version};
	return stack;
}
