/*
 * Calls that stacks show are kept by where caller and callee are in their images, so that one
 * process tells of another. That many are known and no more is a bound; what is learned first
 * stays.
 */
#include "unwind/call_site.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/base/tail.h"
#include "symbols/call_set.h"
#include "symbols/image.h"
#include "symbols/image_map.h"
#include "unwind/lookup.h"
#include "unwind/rivals.h"

#define SITE_BITS 14
/* Small enough to stay in a processor's cache: what has to be found again costs less. */
#define SEEN_BITS 16
#define PLACE_BITS 15
#define STACK_BITS 12
#define CODE_BITS 12
#define RIVAL_BITS 11
#define LEARNED_MAX ((size_t)1 << 20)

struct answer {
	struct mt_call_question question; /* its map is NULL */
	uint32_t version;		  /* of the map; 0: empty */
	size_t learned;			  /* when it was given */
	uint64_t site;
};

struct rival_answer {
	struct mt_call_rival_question question; /* its map is NULL */
	uint32_t version;			/* of the map; 0: empty */
	bool has;
	size_t known; /* of calls and rivals, when it was given */
};

/*
 * The function around an address; direct-mapped, as all that follow are. Its map is a generation,
 * or a version where the address is in no executable mapping (symbols/image_map.h).
 */
struct place {
	uint64_t pc;
	uint32_t map;	/* 0: empty */
	uint32_t image; /* NO_IMAGE: there is no function */
	uint64_t start, vaddr;
};

#define NO_IMAGE UINT32_MAX

/* Whether one function calls another directly, by the bytes of its code. */
struct in_code {
	uint64_t caller, callee; /* link-time addresses */
	const struct mt_image *image;
	bool calls;
};

/* What an image carries of its calls. */
struct carried {
	bool any; /* else its code is looked at */
	struct mt_call_set set;
};

struct mt_call_sites {
	struct mt_map64 calls; /* hash of functions, or of site and function: to offset of a site */
	struct mt_rivals rivals;
	struct answer answers[1 << SITE_BITS];
	struct rival_answer rival_answers[1 << RIVAL_BITS];
	/* hashes: what was learned from already */
	uint64_t stacks[1 << STACK_BITS];
	uint64_t frames[1 << SEEN_BITS];  /* of frames one after the other */
	uint64_t learned[1 << SEEN_BITS]; /* of a call and where its callee starts */
	struct place places[1 << PLACE_BITS];
	struct mt_tail last;   /* stack that was learned from */
	uint32_t last_version; /* of its map */
	bool of_versions;      /* some pairs or places are kept by a version */
	bool used;
	struct in_code in_code[1 << CODE_BITS];
	struct mt_map64 set_of; /* image id to index in sets */
	MT_ARRAY(struct carried) sets;
};

struct mt_call_sites *mt_call_sites_create(void)
{
	return calloc(1, sizeof(struct mt_call_sites));
}

void mt_call_sites_destroy(struct mt_call_sites *sites)
{
	if (!sites)
		return;
	mt_map64_deinit(&sites->calls);
	mt_map64_deinit(&sites->set_of);
	for (size_t i = 0; i < sites->sets.count; i++)
		mt_call_set_deinit(&sites->sets.items[i].set);
	mt_array_deinit(&sites->sets);
	mt_tail_deinit(&sites->last);
	mt_rivals_deinit(&sites->rivals);
	free(sites);
}

void mt_call_sites_begin(struct mt_call_sites *sites)
{
	if (!sites->used) /* to clear what is clear would touch all of it */
		return;
	mt_map64_deinit(&sites->calls);
	sites->calls = (struct mt_map64){0};
	mt_rivals_deinit(&sites->rivals);
	memset(sites->answers, 0, sizeof(sites->answers));
	memset(sites->rival_answers, 0, sizeof(sites->rival_answers));
	memset(sites->frames, 0, sizeof(sites->frames));
	memset(sites->learned, 0, sizeof(sites->learned));
	memset(sites->places, 0, sizeof(sites->places));
	memset(sites->stacks, 0, sizeof(sites->stacks));
	sites->last.count = 0;
	sites->of_versions = false;
}

/* ---- What stacks show ---- */

/* A call at that offset of outer, ANYWHERE for one of its calls, that leads to inner. */
#define ANYWHERE UINT64_MAX

static uint64_t call_key(const struct place *outer, uint64_t offset, const struct place *inner)
{
	uint64_t words[] = {outer->image, outer->vaddr, offset, inner->image, inner->vaddr};

	return mt_hash_bytes(words, sizeof(words), 0);
}

static struct place place_at(const struct mt_lookup_function *function)
{
	return (struct place){
		.image = function->image->id, .start = function->start, .vaddr = function->vaddr};
}

static bool learn_key(struct mt_call_sites *sites, uint64_t key, uint64_t offset)
{
	uint64_t known;

	if (sites->calls.count >= LEARNED_MAX || mt_map64_get(&sites->calls, key, &known))
		return true;
	return mt_map64_put(&sites->calls, key, offset);
}

static uint64_t mix(uint64_t a, uint64_t b, uint32_t map)
{
	uint64_t h = a * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 29 ^ b ^ (uint64_t)map << 48) * 0xd6e8feb86659fd93u + map;
	return h ^ h >> 32;
}

/* Where a hash belongs in such a table. */
static uint64_t *slot_of(uint64_t *table, uint64_t hash)
{
	return &table[hash >> (64 - SEEN_BITS)];
}

static struct place *place_of(struct mt_call_sites *sites, uint64_t pc, uint32_t map)
{
	return &sites->places[mix(pc, 0, map) >> (64 - PLACE_BITS)];
}

static struct place find_place(struct mt_call_sites *sites, const struct mt_image_map *map,
			       uint64_t pc)
{
	struct place found = {.image = NO_IMAGE};
	struct mt_lookup_function function;

	if (mt_lookup_function(map, pc, &function))
		found = place_at(&function);
	found.pc = pc;
	found.map = function.lasting ? mt_image_map_generation(map) : mt_image_map_version(map);
	sites->of_versions |= !function.lasting;
	return found;
}

/* NULL where there is none; *lasting becomes false where that holds for this map alone. */
static const struct place *function_at(struct mt_call_sites *sites, const struct mt_image_map *map,
				       uint64_t pc, bool *lasting)
{
	uint32_t generation = mt_image_map_generation(map), version = mt_image_map_version(map);
	struct place *place = place_of(sites, pc, generation), *here, found;

	if (place->pc == pc && place->map == generation)
		return place->image == NO_IMAGE ? NULL : place;
	here = sites->of_versions ? place_of(sites, pc, version) : place;
	if (here->pc != pc || here->map != version) {
		found = find_place(sites, map, pc);
		here = place_of(sites, pc, found.map);
		*here = found;
	}
	*lasting &= here->map == generation;
	return here->image == NO_IMAGE ? NULL : here;
}

/* Where a function stands: so far below that one; NULL: it is the first of its stack. */
static uint64_t place_key(const struct place *outer, uint64_t size)
{
	static const struct place nothing = {.image = NO_IMAGE};
	const struct place *below = outer ? outer : &nothing;
	uint64_t words[] = {below->image, below->vaddr, size};

	return mt_hash_bytes(words, sizeof(words), 0);
}

/* Two frames, one behind the other or with a third one between; addresses. */
struct pair {
	uint64_t inner, outer;
	uint64_t size; /* from stack pointer to stack pointer, each at its call; 0 unknown */
};

/* Both in one, to be hashed. */
static uint64_t sized(uint64_t inner, uint64_t size)
{
	return inner ^ size << 32;
}

/* That a call which ends at `outer` led to the function around `inner`. */
static bool learn_call(struct mt_call_sites *sites, const struct mt_image_map *map,
		       const struct pair *pair, bool *lasting)
{
	const struct place *found = function_at(sites, map, pair->inner, lasting), *caller;
	uint64_t offset, hash, *learned, here, anywhere;
	struct place callee;

	if (!found)
		return true;
	callee = *found; /* the next may take its place */
	hash = mix(sized(callee.start, pair->size), pair->outer, mt_image_map_generation(map));
	learned = slot_of(sites->learned, hash);
	if (*learned == hash)
		return true;
	caller = function_at(sites, map, pair->outer, lasting);
	if (!caller)
		return true;
	if (*lasting)
		*learned = hash;
	offset = pair->outer - caller->start;
	here = call_key(caller, offset, &callee);
	anywhere = call_key(caller, ANYWHERE, &callee);
	mt_map64_prefetch(&sites->calls, anywhere);
	return learn_key(sites, here, offset) && learn_key(sites, anywhere, offset) &&
	       (!pair->size || mt_rivals_learn(&sites->rivals, place_key(caller, pair->size),
					       callee.image, callee.vaddr));
}

/* That the function around `inner` stands so far below outer's; no outer: that it is a root. */
static bool learn_place(struct mt_call_sites *sites, const struct mt_image_map *map,
			const struct pair *pair, bool *lasting)
{
	const struct place *found = function_at(sites, map, pair->inner, lasting);
	uint64_t hash, *learned;
	struct place inner;

	if (!found)
		return true;
	inner = *found; /* the next may take its place */
	hash = mix(~sized(inner.start, pair->size), pair->outer, mt_image_map_generation(map));
	learned = slot_of(sites->learned, hash);
	if (*learned == hash)
		return true;
	found = pair->outer ? function_at(sites, map, pair->outer, lasting) : NULL;
	if (pair->outer && !found)
		return true;
	if (*lasting)
		*learned = hash;
	return mt_rivals_learn(&sites->rivals, place_key(found, pair->size), inner.image,
			       inner.vaddr);
}

static inline uint64_t hash_of(const struct pair *call, const struct pair *place, uint32_t map)
{
	uint64_t inner = sized(call->inner, call->size);

	return mix(inner ^ sized(place->inner, place->size) * 0x9e3779b97f4a7c15u, call->outer,
		   map);
}

/* Whether it was learned in that generation of the map, as far as is remembered. */
static inline bool is_learned(struct mt_call_sites *sites, const struct pair *call,
			      const struct pair *place, uint32_t generation)
{
	uint64_t hash = hash_of(call, place, generation);

	return *slot_of(sites->frames, hash) == hash;
}

/*
 * What a frame says of the one that it called, and of the one behind, which is 0 where it was
 * sampled. Not remembered as learned; in this version of the map it may have been.
 */
static bool __attribute__((noinline))
learn_frame(struct mt_call_sites *sites, const struct mt_image_map *map, const struct pair *call,
	    const struct pair *place)
{
	uint64_t hash = hash_of(call, place, mt_image_map_generation(map));
	uint64_t hash_here = hash_of(call, place, mt_image_map_version(map));
	uint64_t *slot = slot_of(sites->frames, hash);
	bool lasting = true;

	if (sites->of_versions && *slot_of(sites->frames, hash_here) == hash_here)
		return true;
	if (!learn_call(sites, map, call, &lasting) ||
	    (place->inner && !learn_place(sites, map, place, &lasting)))
		return false;
	if (!lasting) {
		slot = slot_of(sites->frames, hash_here);
		hash = hash_here;
	}
	*slot = hash;
	return true;
}

/* Where a stack of that hash is remembered. */
static inline size_t stack_index(uint64_t hash)
{
	return hash * 0x9e3779b97f4a7c15u >> (64 - STACK_BITS);
}

void mt_call_sites_prefetch(const struct mt_call_sites *sites, uint64_t hash)
{
	__builtin_prefetch(&sites->stacks[stack_index(hash)]);
}

bool mt_call_sites_know(const struct mt_call_sites *sites, uint64_t hash)
{
	return sites->stacks[stack_index(hash)] == hash;
}

bool mt_call_sites_learn(struct mt_call_sites *sites, const struct mt_image_map *map,
			 const struct mt_call_stack *learned)
{
	const uint64_t *pcs = learned->pcs, *sps = learned->sps;
	uint32_t generation = mt_image_map_generation(map), version = mt_image_map_version(map);
	size_t count = learned->count, fresh;
	struct pair root = {0};
	bool lasting = true; /* of no matter here */

	if (!count)
		return true;
	sites->used = true;
	sites->stacks[stack_index(learned->hash)] = learned->hash;
	if (!mt_tail_reserve(&sites->last, count))
		return false;
	/* stacks one after the other mostly have their outer frames in common */
	fresh = count -
		mt_tail_take(&sites->last, pcs, count, sites->last_version == version ? count : 0);
	sites->last_version = version;
	for (size_t i = 1; i < count && i <= fresh + 1; i++) {
		struct pair call = {pcs[i - 1], pcs[i], 0}, place = {0, pcs[i], 0};

		if (i > 1 && sps[i]) /* the first was sampled somewhere in its code */
			call.size = sps[i] - sps[i - 1];
		if (i > 2 && sps[i]) {
			place.inner = pcs[i - 2];
			place.size = sps[i] - sps[i - 2];
		}
		if (!is_learned(sites, &call, &place, generation) &&
		    !learn_frame(sites, map, &call, &place))
			return false;
	}
	root.inner = pcs[count - 1];
	return !learned->whole || learn_place(sites, map, &root, &lasting);
}

/* The same for one that was learned; 0 where none was. */
static uint64_t find_learned(const struct mt_call_sites *sites, const struct mt_call_question *q,
			     const struct mt_lookup_function *outer,
			     const struct mt_lookup_function *inner)
{
	struct place caller = place_at(outer), callee = place_at(inner);
	uint64_t offset, here = q->outer - outer->start;

	if (q->outer_calls &&
	    mt_map64_get(&sites->calls, call_key(&caller, here, &callee), &offset))
		return q->outer;
	return mt_map64_get(&sites->calls, call_key(&caller, ANYWHERE, &callee), &offset)
		       ? outer->start + offset
		       : 0;
}

/* ---- What code says ---- */

/* Borrowed until another image is asked for; NULL out of memory. */
static const struct carried *image_set(struct mt_call_sites *sites, struct mt_image *image)
{
	struct mt_span bytes;
	struct carried *slot;
	uint64_t i;

	if (mt_map64_get(&sites->set_of, image->id, &i))
		return &sites->sets.items[i];
	slot = mt_array_push(&sites->sets);
	if (!slot || !mt_map64_put(&sites->set_of, image->id, sites->sets.count - 1)) {
		sites->sets.count -= slot != NULL;
		return NULL;
	}
	bytes = mt_elf_section(mt_image_elf(image), MT_CALL_SET_SECTION);
	slot->any = bytes.bytes;
	if (!mt_call_set_read(bytes, &slot->set))
		slot->set = (struct mt_call_set){0};
	return slot;
}

/* As the bytes of the code say; of a carried image only its list of calls does. */
static bool code_calls(struct mt_call_sites *sites, const struct mt_lookup_function *outer,
		       const struct mt_lookup_function *inner)
{
	uint64_t hash = mt_hash64(mt_hash64(outer->vaddr) + inner->vaddr);
	struct in_code *known = &sites->in_code[hash >> (64 - CODE_BITS)];
	struct mt_elf *code;

	if (outer->image->carried) /* what is at hand here is not elsewhere */
		return false;
	if (known->image != outer->image || known->caller != outer->vaddr ||
	    known->callee != inner->vaddr) {
		code = mt_image_elf(outer->image);
		*known = (struct in_code){outer->vaddr, inner->vaddr, outer->image,
					  code && mt_call_in_code(code, outer->vaddr, outer->size,
								  inner->vaddr)};
	}
	return known->calls;
}

static bool calls_directly(struct mt_call_sites *sites, const struct mt_lookup_function *outer,
			   const struct mt_lookup_function *inner)
{
	const struct carried *carried;

	if (outer->image != inner->image)
		return false;
	carried = image_set(sites, outer->image);
	if (!carried)
		return false;
	return carried->any ? mt_call_set_has(&carried->set, outer->vaddr, inner->vaddr)
			    : code_calls(sites, outer, inner);
}

/* ---- Both ---- */

static bool same_function(const struct mt_image_map *map, uint64_t address,
			  const struct mt_lookup_function *function)
{
	struct mt_lookup_function other;

	return mt_lookup_function(map, address, &other) && other.start == function->start;
}

/* Of functions in files. */
static uint64_t find_in_files(struct mt_call_sites *sites, const struct mt_call_question *q,
			      const struct mt_lookup_function *inner)
{
	struct mt_lookup_function outer;
	uint64_t learned;

	if (q->outer_calls && same_function(q->map, q->known_inner, inner))
		return q->outer;
	if (!mt_lookup_function(q->map, q->outer, &outer))
		return 0;
	learned = find_learned(sites, q, &outer, inner);
	if (learned)
		return learned;
	/* which call it is the set does not say: outer itself then, which is in the same function
	 */
	return calls_directly(sites, &outer, inner) ? q->outer : 0;
}

/*
 * JIT code, of which nothing tells where its functions begin, calls other such code, or is called.
 */
static uint64_t find(struct mt_call_sites *sites, const struct mt_call_question *q)
{
	struct mt_lookup_function inner, other;

	if (mt_lookup_function(q->map, q->inner, &inner))
		return find_in_files(sites, q, &inner);
	if (!q->outer_calls || mt_lookup_function(q->map, q->known_inner, &other))
		return 0;
	return q->outer;
}

uint64_t mt_call_site_find(struct mt_call_sites *sites, const struct mt_call_question *question)
{
	uint32_t version = mt_image_map_version(question->map);
	struct mt_call_question asked = *question;
	struct answer *answer;
	uint64_t hash;

	sites->used = true;
	asked.map = NULL;
	hash = mt_hash64(mt_hash64(asked.outer ^ (uint64_t)version << 32) ^ asked.inner) ^
	       mt_hash64(asked.known_inner);
	answer = &sites->answers[hash >> (64 - SITE_BITS)];
	if (answer->version != version || answer->question.outer != asked.outer ||
	    answer->question.inner != asked.inner ||
	    answer->question.known_inner != asked.known_inner ||
	    answer->question.outer_calls != asked.outer_calls ||
	    answer->learned != sites->calls.count)
		*answer =
			(struct answer){asked, version, sites->calls.count, find(sites, question)};
	return answer->site;
}

/* ---- Rivals ---- */

/* Whether the rival's code is there at all: another program's is not. */
static bool is_mapped(const struct mt_image_map *map, const struct mt_rival *rival)
{
	size_t count;
	const struct mt_mapping *mappings = mt_image_map_all(map, &count);

	for (size_t i = 0; i < count; i++) {
		if (mappings[i].image->id == rival->image)
			return true;
	}
	return false;
}

/* Whether that function calls inner, as far as is known. */
static bool may_call(struct mt_call_sites *sites, const struct mt_call_rival_question *q,
		     const struct mt_rival *rival, const struct mt_lookup_function *inner)
{
	struct place caller = {.image = rival->image, .vaddr = rival->vaddr};
	struct place callee = place_at(inner);
	struct mt_lookup_function outer;
	uint64_t offset;

	if (mt_map64_get(&sites->calls, call_key(&caller, ANYWHERE, &callee), &offset))
		return true;
	/* of other images no list tells; where this one is mapped, the rival is, too */
	return rival->image == inner->image->id &&
	       mt_lookup_function(q->map, inner->start - inner->vaddr + rival->vaddr, &outer) &&
	       outer.image == inner->image && outer.vaddr == rival->vaddr &&
	       calls_directly(sites, &outer, inner);
}

/* A function that was seen to stand so far below outer's, but the frame's; outer 0: as a root. */
static bool find_rival(struct mt_call_sites *sites, const struct mt_call_rival_question *q,
		       uint64_t outer, uint64_t size)
{
	struct mt_lookup_function inner;
	const struct mt_rival *rival;
	const struct place *found;
	struct place frame;
	bool lasting = true; /* of no matter here */

	found = function_at(sites, q->map, q->frame, &lasting);
	if (!found)
		return false;
	frame = *found;
	found = outer ? function_at(sites, q->map, outer, &lasting) : NULL;
	if (outer && !found)
		return false;
	rival = mt_rivals_first(&sites->rivals, place_key(found, size));
	if (!rival || (!rival->next && rival->vaddr == frame.vaddr) ||
	    !mt_lookup_function(q->map, q->inner, &inner))
		return false;
	for (; rival; rival = mt_rivals_next(&sites->rivals, rival)) {
		if ((rival->image != frame.image || rival->vaddr != frame.vaddr) &&
		    may_call(sites, q, rival, &inner) && is_mapped(q->map, rival))
			return true;
	}
	return false;
}

/* Apart, so that what is answered already costs little. */
static __attribute__((noinline)) void answer_rival(struct mt_call_sites *sites,
						   const struct mt_call_rival_question *q,
						   struct rival_answer *answer)
{
	sites->used = true;
	*answer = (struct rival_answer){.question = *q,
					.version = mt_image_map_version(q->map),
					.has = find_rival(sites, q, q->outer, q->size) ||
					       (q->beyond &&
						find_rival(sites, q, q->beyond, q->span)),
					.known = sites->calls.count + sites->rivals.all.count};
	answer->question.map = NULL;
}

/* Stacks that end in the same place ask the same. */
bool mt_call_site_has_rival(struct mt_call_sites *sites, const struct mt_call_rival_question *q)
{
	uint32_t version = mt_image_map_version(q->map);
	size_t known = sites->calls.count + sites->rivals.all.count;
	uint64_t hash = (q->frame ^ q->outer << 20 ^ q->inner << 40) * 0x9e3779b97f4a7c15u;
	struct rival_answer *answer = &sites->rival_answers[hash >> (64 - RIVAL_BITS)];
	const struct mt_call_rival_question *asked = &answer->question;

	if (asked->frame != q->frame || asked->outer != q->outer || asked->inner != q->inner ||
	    asked->size != q->size || asked->beyond != q->beyond || asked->span != q->span ||
	    answer->known != known || answer->version != version)
		answer_rival(sites, q, answer);
	return answer->has;
}
