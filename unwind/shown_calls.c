/*
 * What was shown before is passed by in steps: a stack by its hash, its outer frames by those of
 * the stack before, a frame by the addresses in it, and at last by the places of these, which are
 * the same in every process.
 */
#include "unwind/shown_calls.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/base/tag_set.h"
#include "formats/base/tail.h"
#include "symbols/image_map.h"
#include "unwind/call_site.h"

#define STACK_BITS 12
#define PAGE_BITS 13
#define PAGE_SHIFT 12

enum {
	/* small enough to stay in a processor's cache: what has to be found again costs less */
	FRAMES_ROOM = 1 << 16,
	CALLS_ROOM = 1 << 16, /* doubled when it is full, */
	CALLS_ROOM_MAX = 1 << 20,
	AHEAD = 64, /* frames, and calls, that are looked for together */
};

/* A call that waits to be taken: mt_shown_call without holes. */
struct waiting {
	uint64_t outer, inner, third;
	uint64_t size, span;
	uint32_t outer_image, inner_image, third_image;
	uint32_t next; /* an index and one; 0: the last one of its page */
};

/* A call that may have been shown before: memory was asked for what tells. */
struct fresh {
	struct mt_shown_call call;
	uint64_t hash;
	struct page *page;
};

/* Frames of a stack whose hashes are known: memory was asked for what tells. */
struct probes {
	const struct mt_image_map *map;
	struct mt_call_stack stack;
	size_t from, to; /* frames that call; as many: there is none */
	uint64_t hashes[AHEAD];
};

/* A list of calls by those who call. */
struct page {
	uint32_t first, last; /* indices and one; 0: none waits */
	uint32_t count;	      /* those that were taken, too */
};

struct mt_shown_calls {
	struct mt_code_places *places;
	uint64_t stacks[1 << STACK_BITS]; /* hashes: what was shown already */
	struct probes probes[2]; /* of the run of frames before, and of one that comes, in turn */
	size_t turn;
	struct fresh fresh[AHEAD];
	size_t fresh_count;
	struct mt_tag_set frames; /* of two or three frames in a process, */
	struct mt_tag_set calls;  /* and of their places */
	struct mt_tail last;	  /* stack */
	uint32_t last_version;	  /* of its map */
	bool of_versions;	  /* some frames are kept by a version */
	size_t total;		  /* of calls */
	struct page pages[1 << PAGE_BITS];
	MT_ARRAY(struct waiting) waiting;
	uint32_t free; /* those that were taken: an index and one; 0: none */
	size_t free_count;
};

struct mt_shown_calls *mt_shown_calls_create(struct mt_code_places *places)
{
	struct mt_shown_calls *shown = calloc(1, sizeof(*shown));

	if (shown)
		shown->places = places;
	return shown;
}

static void deinit(struct mt_shown_calls *shown)
{
	mt_tag_set_deinit(&shown->frames);
	mt_tag_set_deinit(&shown->calls);
	mt_array_deinit(&shown->waiting);
	mt_tail_deinit(&shown->last);
}

void mt_shown_calls_destroy(struct mt_shown_calls *shown)
{
	if (!shown)
		return;
	deinit(shown);
	free(shown);
}

void mt_shown_calls_begin(struct mt_shown_calls *shown)
{
	struct mt_code_places *places = shown->places;

	if (!shown->last.words) /* to clear what is clear would touch all of it */
		return;
	deinit(shown);
	memset(shown, 0, sizeof(*shown));
	shown->places = places;
}

/* ---- Lists ---- */

struct mt_shown_pages mt_shown_pages_of(const struct mt_code_function *function)
{
	uint64_t first = 0, last = 0, image = MT_NO_IMAGE;

	if (function) {
		image = function->image;
		first = function->start >> PAGE_SHIFT;
		last = (function->end - 1) >> PAGE_SHIFT;
	}
	if (last - first >= 1 << PAGE_BITS)
		last = first + (1 << PAGE_BITS) - 1;
	/* pages that follow one another do so in the table, too */
	return (struct mt_shown_pages){(uint32_t)(mt_hash64(image) + first),
				       (uint32_t)(last - first + 1)};
}

struct mt_shown_pages mt_shown_pages_all(void)
{
	return (struct mt_shown_pages){0, 1 << PAGE_BITS};
}

static struct page *page_at(struct mt_shown_calls *shown, uint32_t at)
{
	return &shown->pages[at % (1 << PAGE_BITS)];
}

/* Room for one more; 0 out of memory, else an index and one. */
static uint32_t new_waiting(struct mt_shown_calls *shown)
{
	uint32_t at = shown->free;

	if (at) {
		shown->free = shown->waiting.items[at - 1].next;
		shown->free_count--;
		if (shown->free) /* of long ago: the next one is far away */
			__builtin_prefetch(&shown->waiting.items[shown->free - 1]);
		return at;
	}
	return mt_array_push(&shown->waiting) ? (uint32_t)shown->waiting.count : 0;
}

/* That of the code which calls. */
static struct page *page_of(struct mt_shown_calls *shown, const struct mt_shown_call *call)
{
	const struct mt_code_function code = {call->outer.vaddr, call->outer.vaddr + 1,
					      call->outer.image};

	return page_at(shown, mt_shown_pages_of(&code).next);
}

static bool add(struct mt_shown_calls *shown, const struct mt_shown_call *call, struct page *page)
{
	uint32_t at = new_waiting(shown);

	if (!at)
		return false;
	shown->waiting.items[at - 1] = (struct waiting){
		.outer = call->outer.vaddr,
		.inner = call->inner.vaddr,
		.third = call->third.vaddr,
		.size = call->size,
		.span = call->span,
		.outer_image = call->outer.image,
		.inner_image = call->inner.image,
		.third_image = call->third.image,
	};
	if (page->first)
		shown->waiting.items[page->last - 1].next = at;
	else
		page->first = at;
	page->last = at;
	page->count++;
	shown->total++;
	return true;
}

/* False out of memory. */
static bool know(struct mt_shown_calls *shown, const struct fresh *fresh)
{
	struct mt_tag_set *calls = &shown->calls;
	size_t room = (calls->mask + 1) * MT_TAG_WAYS;

	if (mt_tag_set_has(calls, fresh->hash))
		return true;
	/* what is forgotten so may be shown again, which does no harm */
	if (calls->count >= room - room / 4 && room < CALLS_ROOM_MAX &&
	    !mt_tag_set_resize(calls, 2 * room))
		return false;
	mt_tag_set_put(calls, fresh->hash);
	return add(shown, &fresh->call, fresh->page);
}

/* False out of memory. */
static bool sort_fresh(struct mt_shown_calls *shown)
{
	bool good = true;

	for (size_t i = 0; i < shown->fresh_count; i++)
		good = good && know(shown, &shown->fresh[i]);
	shown->fresh_count = 0;
	return good;
}

bool mt_shown_calls_take(struct mt_shown_calls *shown, struct mt_shown_pages *pages,
			 struct mt_shown_call *out)
{
	struct waiting *waiting;
	struct page *page = NULL;
	uint32_t at;

	if (!mt_shown_calls_settle(shown))
		return false;
	for (; pages->count; pages->next++, pages->count--) {
		page = page_at(shown, pages->next);
		if (page->first)
			break;
	}
	if (!pages->count)
		return false;
	at = page->first;
	waiting = &shown->waiting.items[at - 1];
	*out = (struct mt_shown_call){
		.outer = {waiting->outer, waiting->outer_image},
		.inner = {waiting->inner, waiting->inner_image},
		.third = {waiting->third, waiting->third_image},
		.size = waiting->size,
		.span = waiting->span,
	};
	page->first = waiting->next;
	if (page->first)
		__builtin_prefetch(&shown->waiting.items[page->first - 1]);
	waiting->next = shown->free;
	shown->free = at;
	shown->free_count++;
	return true;
}

size_t mt_shown_calls_count(const struct mt_shown_calls *shown, struct mt_shown_pages pages)
{
	size_t count = 0;

	for (; pages.count; pages.next++, pages.count--)
		count += shown->pages[pages.next % (1 << PAGE_BITS)].count;
	return count;
}

size_t mt_shown_calls_total(struct mt_shown_calls *shown)
{
	mt_shown_calls_settle(shown); /* what there is no memory for was not shown */
	return shown->total;
}

size_t mt_shown_calls_waiting(const struct mt_shown_calls *shown)
{
	return shown->waiting.count - shown->free_count;
}

/* ---- Stacks ---- */

/* Frames one behind the other; addresses. */
struct frames {
	uint64_t outer, inner, third; /* 0 where there is none */
	uint64_t size, span;	      /* as in struct mt_shown_call */
};

static inline uint64_t hash_of(const struct frames *frames, uint32_t map)
{
	uint64_t h = frames->outer * 0x9e3779b97f4a7c15u + frames->inner;

	h = h * 0xd6e8feb86659fd93u + frames->third + map * 0xe7037ed1a0b428dbu;
	h = h * 0xc2b2ae3d27d4eb4fu + frames->size + (frames->span << 32 | frames->span >> 32);
	return (h ^ h >> 32) * 0x9fb21c651e98df25u;
}

static uint64_t hash_of_places(const struct mt_shown_call *call)
{
	const struct frames frames = {call->outer.vaddr, call->inner.vaddr, call->third.vaddr,
				      call->size, call->span};
	uint64_t h = hash_of(&frames, call->third.image);

	h += (uint64_t)call->outer.image << 32 | call->inner.image;
	return (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
}

/* False out of memory. */
static bool learn_places(struct mt_shown_calls *shown, const struct mt_image_map *map,
			 const struct frames *frames, bool *lasting)
{
	const uint64_t addresses[] = {frames->outer, frames->inner, frames->third};
	struct mt_code_place places[3];
	struct fresh *fresh;

	mt_code_places_find(shown->places, map, addresses, 3, places, lasting);
	if ((frames->outer && places[0].image == MT_NO_IMAGE) ||
	    (places[1].image == MT_NO_IMAGE && places[2].image == MT_NO_IMAGE))
		return true;
	if (shown->fresh_count == AHEAD && !sort_fresh(shown))
		return false;
	fresh = &shown->fresh[shown->fresh_count++];
	fresh->call =
		(struct mt_shown_call){places[0], places[1], places[2], frames->size, frames->span};
	fresh->hash = hash_of_places(&fresh->call);
	fresh->page = page_of(shown, &fresh->call);
	mt_tag_set_prefetch(&shown->calls, fresh->hash);
	__builtin_prefetch(fresh->page);
	return true;
}

/* Not remembered as shown by the hash; in this version of the map they may have been. */
static bool __attribute__((noinline))
learn_frames(struct mt_shown_calls *shown, const struct mt_image_map *map,
	     const struct frames *frames, uint64_t hash)
{
	bool lasting = true;

	if (shown->of_versions &&
	    mt_tag_set_has(&shown->frames, hash_of(frames, mt_image_map_version(map))))
		return true;
	if (!learn_places(shown, map, frames, &lasting))
		return false;
	shown->of_versions |= !lasting;
	mt_tag_set_put(&shown->frames, lasting ? hash : hash_of(frames, mt_image_map_version(map)));
	return true;
}

/* Where a stack of that hash is remembered. */
static inline size_t stack_index(uint64_t hash)
{
	return hash * 0x9e3779b97f4a7c15u >> (64 - STACK_BITS);
}

void mt_shown_calls_prefetch(const struct mt_shown_calls *shown, uint64_t hash)
{
	__builtin_prefetch(&shown->stacks[stack_index(hash)]);
}

bool mt_shown_calls_know(const struct mt_shown_calls *shown, uint64_t hash)
{
	return shown->stacks[stack_index(hash)] == hash;
}

/* How many frames of a stack the one before did not have. */
static size_t fresh_frames(struct mt_shown_calls *shown, const struct mt_call_stack *stack,
			   uint32_t version)
{
	size_t most = shown->last_version == version ? stack->count : 0;

	shown->last_version = version;
	return stack->count - mt_tail_take(&shown->last, stack->pcs, stack->count, most);
}

/* A frame that calls, which stands at i, and those within. */
static inline struct frames frames_at(const struct mt_call_stack *stack, size_t i)
{
	const uint64_t *pcs = stack->pcs + i, *sps = stack->sps + i;
	struct frames frames = {.outer = pcs[0], .inner = pcs[-1]};

	if (i > 1 && sps[0]) /* the first was sampled somewhere in its code */
		frames.size = sps[0] - sps[-1];
	if (i > 2 && sps[0]) {
		frames.third = pcs[-2];
		frames.span = sps[0] - sps[-2];
	}
	return frames;
}

/* Looks for those asked for; false out of memory. */
static bool look_for(struct mt_shown_calls *shown, struct probes *probes)
{
	bool good = true;

	for (size_t i = probes->from; i < probes->to; i++) {
		uint64_t hash = probes->hashes[i - probes->from];
		struct frames frames;

		if (mt_tag_set_has(&shown->frames, hash))
			continue;
		frames = frames_at(&probes->stack, i);
		good = good && learn_frames(shown, probes->map, &frames, hash);
	}
	probes->from = probes->to;
	return good;
}

/*
 * Those at [from, to), of which there are AHEAD at most: memory is asked for all of them, and until
 * it has come those before are looked for.
 */
static bool learn_some(struct mt_shown_calls *shown, const struct mt_image_map *map,
		       const struct mt_call_stack *stack, size_t from, size_t to)
{
	struct probes *probes = &shown->probes[shown->turn];
	const struct mt_tag_set known = shown->frames;
	uint32_t generation = mt_image_map_generation(map);

	probes->stack = *stack;
	probes->map = map;
	probes->from = from;
	probes->to = to;
	for (size_t i = from; i < to; i++) {
		struct frames frames = frames_at(stack, i);
		uint64_t hash = hash_of(&frames, generation);

		probes->hashes[i - from] = hash;
		mt_tag_set_prefetch(&known, hash);
	}
	shown->turn = !shown->turn;
	return look_for(shown, &shown->probes[shown->turn]);
}

/* Looks for those that are left, while none comes. */
static bool look_for_last(struct mt_shown_calls *shown)
{
	return look_for(shown, &shown->probes[!shown->turn]);
}

bool mt_shown_calls_settle(struct mt_shown_calls *shown)
{
	return look_for_last(shown) && sort_fresh(shown);
}

static bool make_room(struct mt_shown_calls *shown, size_t frames)
{
	return mt_tail_reserve(&shown->last, frames) &&
	       (shown->frames.tags || mt_tag_set_resize(&shown->frames, FRAMES_ROOM)) &&
	       (shown->calls.tags || mt_tag_set_resize(&shown->calls, CALLS_ROOM));
}

bool mt_shown_calls_learn(struct mt_shown_calls *shown, const struct mt_image_map *map,
			  const struct mt_call_stack *stack)
{
	size_t count = stack->count, end;
	struct frames root = {0};
	uint64_t hash;

	if (count < 2 && !look_for_last(shown)) /* else learn_some() does */
		return false;
	if (!count)
		return true;
	shown->stacks[stack_index(stack->hash)] = stack->hash;
	if (!make_room(shown, count))
		return false;
	/* stacks one after the other mostly have their outer frames in common */
	end = fresh_frames(shown, stack, mt_image_map_version(map)) + 2;
	end = end < count ? end : count;
	for (size_t i = 1; i < end; i += AHEAD) {
		if (!learn_some(shown, map, stack, i, end - i < AHEAD ? end : i + AHEAD))
			return false;
	}
	root.inner = stack->pcs[count - 1];
	hash = hash_of(&root, mt_image_map_generation(map));
	return !stack->whole || mt_tag_set_has(&shown->frames, hash) ||
	       learn_frames(shown, map, &root, hash);
}
