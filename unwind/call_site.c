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
#include "symbols/call_set.h"
#include "symbols/image.h"
#include "symbols/image_map.h"
#include "unwind/lookup.h"

#define SITE_BITS 12
#define SEEN_BITS 14
#define LEARNED_MAX ((size_t)1 << 20)

struct answer {
	struct mt_call_question question; /* its map is NULL */
	uint32_t version;		  /* of the map; 0: empty */
	size_t learned;			  /* when it was given */
	uint64_t site;
};

/* Two frames of a stack that were looked at; direct-mapped, as answers are. */
struct pair {
	uint64_t inner, outer;
	uint32_t version;
};

struct mt_call_sites {
	struct mt_map64 calls; /* hash of functions, or of site and function: to offset of a site */
	struct answer answers[1 << SITE_BITS];
	struct pair pairs[1 << SEEN_BITS];
	uint64_t stacks[1 << SEEN_BITS]; /* hashes */
	struct mt_map64 set_of;		 /* image id to index in sets */
	MT_ARRAY(struct mt_call_set) sets;
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
		mt_call_set_deinit(&sites->sets.items[i]);
	mt_array_deinit(&sites->sets);
	free(sites);
}

void mt_call_sites_begin(struct mt_call_sites *sites)
{
	mt_map64_deinit(&sites->calls);
	sites->calls = (struct mt_map64){0};
	memset(sites->answers, 0, sizeof(sites->answers));
	memset(sites->pairs, 0, sizeof(sites->pairs));
	memset(sites->stacks, 0, sizeof(sites->stacks));
}

/* ---- What stacks show ---- */

/* A call at that offset of outer, ANYWHERE for one of its calls, that leads to inner. */
#define ANYWHERE UINT64_MAX

static uint64_t call_key(const struct mt_lookup_function *outer, uint64_t offset,
			 const struct mt_lookup_function *inner)
{
	uint64_t words[] = {outer->image->id, outer->vaddr, offset, inner->image->id, inner->vaddr};

	return mt_hash_bytes(words, sizeof(words), 0);
}

static bool learn_key(struct mt_call_sites *sites, uint64_t key, uint64_t offset)
{
	uint64_t known;

	if (sites->calls.count >= LEARNED_MAX || mt_map64_get(&sites->calls, key, &known))
		return true;
	return mt_map64_put(&sites->calls, key, offset);
}

/* That a call which ends at `outer` led to the function around `inner`. */
static bool learn_call(struct mt_call_sites *sites, const struct mt_image_map *map, uint64_t inner,
		       uint64_t outer)
{
	struct mt_lookup_function callee, caller;
	uint64_t offset;

	if (!mt_lookup_function(map, inner, &callee) || !mt_lookup_function(map, outer, &caller))
		return true;
	offset = outer - caller.start;
	return learn_key(sites, call_key(&caller, offset, &callee), offset) &&
	       learn_key(sites, call_key(&caller, ANYWHERE, &callee), offset);
}

bool mt_call_sites_learn(struct mt_call_sites *sites, const struct mt_image_map *map,
			 const uint64_t *pcs, size_t count, uint64_t hash)
{
	uint64_t *stack = &sites->stacks[mt_hash64(hash) >> (64 - SEEN_BITS)];
	uint32_t version = mt_image_map_version(map);

	if (*stack == hash)
		return true;
	*stack = hash;
	for (size_t i = 1; i < count; i++) {
		uint64_t mixed = mt_hash64(pcs[i] ^ (uint64_t)version << 32) ^ pcs[i - 1];
		struct pair *pair = &sites->pairs[mt_hash64(mixed) >> (64 - SEEN_BITS)];

		if (pair->inner == pcs[i - 1] && pair->outer == pcs[i] && pair->version == version)
			continue;
		*pair = (struct pair){pcs[i - 1], pcs[i], version};
		if (!learn_call(sites, map, pcs[i - 1], pcs[i]))
			return false;
	}
	return true;
}

/* The same for one that was learned; 0 where none was. */
static uint64_t find_learned(const struct mt_call_sites *sites, const struct mt_call_question *q,
			     const struct mt_lookup_function *outer,
			     const struct mt_lookup_function *inner)
{
	uint64_t offset;

	if (q->outer_calls &&
	    mt_map64_get(&sites->calls, call_key(outer, q->outer - outer->start, inner), &offset))
		return q->outer;
	return mt_map64_get(&sites->calls, call_key(outer, ANYWHERE, inner), &offset)
		       ? outer->start + offset
		       : 0;
}

/* ---- What code says ---- */

/* The set of an image that is carried with it, or else made of its code. */
static bool open_set(struct mt_image *image, struct mt_call_set *out)
{
	struct mt_elf *elf = mt_image_elf(image), *code;
	struct mt_span bytes = mt_elf_section(elf, MT_CALL_SET_SECTION);
	uint8_t *made = NULL;
	bool good = true;

	if (!bytes.bytes) {
		code = mt_image_code_elf(image);
		good = !code || mt_call_set_make(code, NULL, &made, &bytes.size);
		bytes.bytes = made;
	}
	good = good && mt_call_set_read(bytes, out);
	free(made);
	return good;
}

/* Borrowed until another image is asked for; NULL out of memory, which is as if it were empty. */
static const struct mt_call_set *image_set(struct mt_call_sites *sites, struct mt_image *image)
{
	struct mt_call_set set = {0}, *slot;
	uint64_t i;

	if (mt_map64_get(&sites->set_of, image->id, &i))
		return &sites->sets.items[i];
	slot = mt_array_push(&sites->sets);
	if (!slot || !mt_map64_put(&sites->set_of, image->id, sites->sets.count - 1)) {
		sites->sets.count -= slot != NULL;
		return NULL;
	}
	if (open_set(image, &set))
		*slot = set;
	return slot;
}

static bool calls_directly(struct mt_call_sites *sites, const struct mt_lookup_function *outer,
			   const struct mt_lookup_function *inner)
{
	const struct mt_call_set *set;

	if (outer->image != inner->image)
		return false;
	set = image_set(sites, outer->image);
	return set && mt_call_set_has(set, outer->vaddr, inner->vaddr);
}

/*
 * Which call it is the set does not say: outer itself then, which is in the same function. A call
 * that led to a function of its image that no call names is one through a pointer, and may lead to
 * any.
 */
static uint64_t find_in_code(struct mt_call_sites *sites, const struct mt_call_question *q,
			     const struct mt_lookup_function *outer,
			     const struct mt_lookup_function *inner)
{
	struct mt_lookup_function known;

	if (calls_directly(sites, outer, inner))
		return q->outer;
	if (!q->outer_calls || !mt_lookup_function(q->map, q->known_inner, &known) ||
	    known.image != outer->image || calls_directly(sites, outer, &known))
		return 0;
	return q->outer;
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
	return learned ? learned : find_in_code(sites, q, &outer, inner);
}

/* JIT code, of which nothing tells where its functions begin, calls other such code, or is called.
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
