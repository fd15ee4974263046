/*
 * Calls that stacks show are kept by where caller and callee are in their images, so that one
 * process tells of another: those of a function once a question is asked about it. That many are
 * known and no more is a bound; what is learned first stays.
 */
#include "unwind/call_site.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/map64.h"
#include "symbols/image.h"
#include "symbols/image_map.h"
#include "unwind/code_calls.h"
#include "unwind/code_places.h"
#include "unwind/rivals.h"
#include "unwind/shown_calls.h"

#define SITE_BITS 14
#define RIVAL_BITS 11
#define LEARNED_MAX ((size_t)1 << 20)
#define WAITING_MAX ((size_t)1 << 18)

enum {
	FACTS = 32 /* that are kept together */
};

struct answer {
	struct mt_call_question question; /* its map is NULL */
	uint32_t version;		  /* of the map; 0: empty */
	uint64_t site;
	struct mt_shown_pages caller; /* it rests on what was shown of that code: */
	size_t shown;		      /* so much, */
	size_t total;		      /* when so much was shown in all */
};

struct rival_answer {
	struct mt_call_rival_question question; /* its map is NULL */
	uint32_t version;			/* of the map; 0: empty */
	bool has;				/* for good */
	size_t total;				/* of what was shown, when it was given */
};

/* On its way to where it is kept, for which memory was asked. */
struct fact {
	uint64_t key;
	uint64_t value; /* of a call its offset; of a place a function that stands there */
	uint32_t image; /* of the function */
	bool of_place;
};

struct mt_call_sites {
	struct mt_code_places *places;
	struct mt_shown_calls *shown;
	struct mt_code_calls *in_code;
	struct mt_map64 calls; /* hash of functions, or of site and function: to offset of a site */
	struct mt_rivals rivals;
	struct fact facts[FACTS];
	size_t fact_count;
	struct answer answers[1 << SITE_BITS];
	struct rival_answer rival_answers[1 << RIVAL_BITS];
	bool used;    /* a question was asked, or what was shown was looked at */
	bool learned; /* a stack was, since `total` was all that was shown */
	size_t total;
};

struct mt_call_sites *mt_call_sites_create(void)
{
	struct mt_call_sites *sites = calloc(1, sizeof(*sites));

	if (!sites)
		return NULL;
	sites->places = mt_code_places_create();
	sites->shown = sites->places ? mt_shown_calls_create(sites->places) : NULL;
	sites->in_code = sites->shown ? mt_code_calls_create(sites->places) : NULL;
	if (!sites->in_code) {
		mt_call_sites_destroy(sites);
		return NULL;
	}
	return sites;
}

static void forget_learned(struct mt_call_sites *sites)
{
	mt_map64_deinit(&sites->calls);
	mt_rivals_deinit(&sites->rivals);
}

void mt_call_sites_destroy(struct mt_call_sites *sites)
{
	if (!sites)
		return;
	forget_learned(sites);
	mt_code_calls_destroy(sites->in_code);
	mt_shown_calls_destroy(sites->shown);
	mt_code_places_destroy(sites->places);
	free(sites);
}

void mt_call_sites_begin(struct mt_call_sites *sites)
{
	mt_code_calls_begin(sites->in_code);
	mt_shown_calls_begin(sites->shown);
	mt_code_places_begin(sites->places);
	if (!sites->used) /* to clear what is clear would touch all of it */
		return;
	forget_learned(sites);
	sites->calls = (struct mt_map64){0};
	memset(sites->answers, 0, sizeof(sites->answers));
	memset(sites->rival_answers, 0, sizeof(sites->rival_answers));
	sites->used = sites->learned = false;
	sites->total = 0;
}

/* ---- What stacks show ---- */

bool mt_call_sites_know(const struct mt_call_sites *sites, uint64_t hash)
{
	return mt_shown_calls_know(sites->shown, hash);
}

void mt_call_sites_prefetch(const struct mt_call_sites *sites, uint64_t hash)
{
	mt_shown_calls_prefetch(sites->shown, hash);
}

/* A call at that offset of outer, ANYWHERE for one of its calls, that leads to inner. */
#define ANYWHERE UINT64_MAX

static uint64_t function_key(const struct mt_code_function *function)
{
	return mt_hash64(function->start + function->image * 0x9e3779b97f4a7c15u);
}

static uint64_t call_key(const struct mt_code_function *outer, uint64_t offset,
			 const struct mt_code_function *inner)
{
	return mt_hash64(function_key(outer) + offset) + 3 * function_key(inner);
}

/* Where a function stands: so far below that one; NULL: it is the first of its stack. */
static uint64_t place_key(const struct mt_code_function *outer, uint64_t size)
{
	static const struct mt_code_function nothing = {.image = MT_NO_IMAGE};

	return function_key(outer ? outer : &nothing) + size;
}

/* How much was shown in all. */
static size_t total_shown(struct mt_call_sites *sites)
{
	if (sites->learned)
		sites->total = mt_shown_calls_total(sites->shown);
	sites->learned = false;
	return sites->total;
}

static bool keep_fact(struct mt_call_sites *sites, const struct fact *fact)
{
	if (fact->of_place)
		return mt_rivals_learn(&sites->rivals, fact->key, fact->image, fact->value);
	return sites->calls.count >= LEARNED_MAX ||
	       mt_map64_add(&sites->calls, fact->key, fact->value);
}

/* False out of memory. */
static bool keep_facts(struct mt_call_sites *sites)
{
	bool good = true;

	for (size_t i = 0; i < sites->fact_count; i++)
		good = good && keep_fact(sites, &sites->facts[i]);
	sites->fact_count = 0;
	return good;
}

static bool learn_fact(struct mt_call_sites *sites, const struct fact *fact)
{
	if (sites->fact_count == FACTS && !keep_facts(sites))
		return false;
	mt_map64_prefetch(fact->of_place ? &sites->rivals.places : &sites->calls, fact->key);
	sites->facts[sites->fact_count++] = *fact;
	return true;
}

static bool learn_key(struct mt_call_sites *sites, uint64_t key, uint64_t offset)
{
	return learn_fact(sites, &(struct fact){.key = key, .value = offset});
}

/* That a function stands so far below outer's; no outer: that it is a root. */
static bool learn_place(struct mt_call_sites *sites, const struct mt_code_function *outer,
			uint64_t size, const struct mt_code_function *inner)
{
	return learn_fact(sites, &(struct fact){.key = place_key(outer, size),
						.value = inner->start,
						.image = inner->image,
						.of_place = true});
}

/* That the call at that offset of outer led to a function. */
static bool learn_call(struct mt_call_sites *sites, const struct mt_code_function *outer,
		       uint64_t offset, const struct mt_code_function *inner)
{
	return learn_key(sites, call_key(outer, offset, inner), offset) &&
	       learn_key(sites, call_key(outer, ANYWHERE, inner), offset);
}

/* The function around a place; false where there is none. */
static bool function_at(struct mt_call_sites *sites, const struct mt_code_place *place,
			struct mt_code_function *out)
{
	return place->image != MT_NO_IMAGE && mt_code_function_find(sites->places, place, out);
}

/* That the frame of a function which stands at an offset of it has those within. */
static bool learn_frames(struct mt_call_sites *sites, const struct mt_code_function *outer,
			 const struct mt_shown_call *call)
{
	struct mt_code_function inner;

	if (function_at(sites, &call->inner, &inner) &&
	    !(learn_call(sites, outer, call->outer.vaddr - outer->start, &inner) &&
	      (!call->size || learn_place(sites, outer, call->size, &inner))))
		return false;
	return !function_at(sites, &call->third, &inner) ||
	       learn_place(sites, outer, call->span, &inner);
}

static bool is_in(const struct mt_code_function *function, const struct mt_code_place *place)
{
	return function && place->image == function->image && place->vaddr >= function->start &&
	       place->vaddr < function->end;
}

/* asked: the function that is asked about, or NULL. */
static bool learn(struct mt_call_sites *sites, const struct mt_code_function *asked,
		  const struct mt_shown_call *call)
{
	struct mt_code_function outer;

	if (call->outer.image == MT_NO_IMAGE)
		return !function_at(sites, &call->inner, &outer) ||
		       learn_place(sites, NULL, 0, &outer);
	if (is_in(asked, &call->outer))
		return learn_frames(sites, asked, call);
	return !mt_code_function_find(sites->places, &call->outer, &outer) ||
	       learn_frames(sites, &outer, call);
}

/* Learns what was shown of that code. What there is no memory for is not known. */
static void settle(struct mt_call_sites *sites, const struct mt_code_function *asked,
		   struct mt_shown_pages pages)
{
	struct mt_shown_call call;

	sites->used = true;
	while (mt_shown_calls_take(sites->shown, &pages, &call)) {
		if (!learn(sites, asked, &call))
			break;
	}
	keep_facts(sites);
}

bool mt_call_sites_learn(struct mt_call_sites *sites, const struct mt_image_map *map,
			 const struct mt_call_stack *stack)
{
	if (mt_shown_calls_waiting(sites->shown) >= WAITING_MAX)
		settle(sites, NULL, mt_shown_pages_all());
	sites->learned = true;
	return mt_shown_calls_learn(sites->shown, map, stack);
}

bool mt_call_sites_settle(struct mt_call_sites *sites)
{
	return mt_shown_calls_settle(sites->shown);
}

/* Where the call in outer stands, by its offset; ANYWHERE where none was learned. */
static uint64_t find_learned(struct mt_call_sites *sites, const struct mt_code_function *outer,
			     uint64_t offset, const struct mt_code_function *inner)
{
	uint64_t found = ANYWHERE;

	settle(sites, outer, mt_shown_pages_of(outer));
	if (offset != ANYWHERE &&
	    mt_map64_get(&sites->calls, call_key(outer, offset, inner), &found))
		return found;
	mt_map64_get(&sites->calls, call_key(outer, ANYWHERE, inner), &found);
	return found;
}

/* ---- Where a call stands ---- */

static bool same_function(const struct mt_code_function *a, const struct mt_code_function *b)
{
	return a->start == b->start && a->image == b->image;
}

/* Of functions in files. */
static uint64_t find_in_files(struct mt_call_sites *sites, const struct mt_call_question *q,
			      const struct mt_code_function *inner, struct mt_shown_pages *caller)
{
	struct mt_code_place at;
	struct mt_code_function outer, other;
	bool lasting = true; /* of no matter here */
	uint64_t offset;

	if (q->outer_calls && mt_code_function_of(sites->places, q->map, q->known_inner, &other) &&
	    same_function(&other, inner))
		return q->outer;
	if (!mt_code_place_find(sites->places, q->map, q->outer, &at, &lasting) ||
	    !mt_code_function_find(sites->places, &at, &outer))
		return 0;
	*caller = mt_shown_pages_of(&outer);
	offset = find_learned(sites, &outer, q->outer_calls ? at.vaddr - outer.start : ANYWHERE,
			      inner);
	if (offset != ANYWHERE)
		return q->outer - at.vaddr + outer.start + offset;
	/* which call it is the set does not say: outer itself then, which is in the same function
	 */
	return mt_code_calls_has(sites->in_code, &outer, inner) ? q->outer : 0;
}

/*
 * JIT code, of which nothing tells where its functions begin, calls other such code, or is called.
 */
static uint64_t find(struct mt_call_sites *sites, const struct mt_call_question *q,
		     struct mt_shown_pages *caller)
{
	struct mt_code_function inner, other;

	if (mt_code_function_of(sites->places, q->map, q->inner, &inner))
		return find_in_files(sites, q, &inner, caller);
	if (!q->outer_calls || mt_code_function_of(sites->places, q->map, q->known_inner, &other))
		return 0;
	return q->outer;
}

/* Whether nothing was shown since that may change it. */
static bool holds(struct mt_call_sites *sites, struct answer *answer)
{
	size_t total = total_shown(sites);

	if (answer->total == total)
		return true;
	if (mt_shown_calls_count(sites->shown, answer->caller) != answer->shown)
		return false;
	answer->total = total;
	return true;
}

/* Apart, so that what is answered already costs little. */
static __attribute__((noinline)) void give_answer(struct mt_call_sites *sites,
						  const struct mt_call_question *question,
						  struct answer *answer)
{
	struct mt_shown_pages caller = {0};
	uint64_t site = find(sites, question, &caller);
	size_t total = total_shown(sites);

	sites->used = true;
	*answer = (struct answer){
		.question = *question,
		.version = mt_image_map_version(question->map),
		.site = site,
		.caller = caller,
		.shown = mt_shown_calls_count(sites->shown, caller),
		.total = total,
	};
	answer->question.map = NULL;
}

uint64_t mt_call_site_find(struct mt_call_sites *sites, const struct mt_call_question *q)
{
	uint32_t version = mt_image_map_version(q->map);
	uint64_t hash = mt_hash64(mt_hash64(q->outer ^ (uint64_t)version << 32) ^ q->inner) ^
			mt_hash64(q->known_inner);
	struct answer *answer = &sites->answers[hash >> (64 - SITE_BITS)];
	const struct mt_call_question *asked = &answer->question;

	if (answer->version != version || asked->outer != q->outer || asked->inner != q->inner ||
	    asked->known_inner != q->known_inner || asked->outer_calls != q->outer_calls ||
	    !holds(sites, answer))
		give_answer(sites, q, answer);
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

static bool is_function(const struct mt_rival *rival, const struct mt_code_function *function)
{
	return rival->image == function->image && rival->vaddr == function->start;
}

/* Whether that function calls inner, as far as is known; of other images no list tells. */
static bool may_call(struct mt_call_sites *sites, const struct mt_rival *rival,
		     const struct mt_code_function *inner)
{
	const struct mt_code_place start = {rival->vaddr, rival->image};
	struct mt_code_function outer;

	return mt_code_function_find(sites->places, &start, &outer) &&
	       (find_learned(sites, &outer, ANYWHERE, inner) != ANYWHERE ||
		mt_code_calls_has(sites->in_code, &outer, inner));
}

/* A function that was seen to stand so far below outer's, but the frame's; outer 0: as a root. */
static bool find_rival(struct mt_call_sites *sites, const struct mt_call_rival_question *q,
		       uint64_t outer, uint64_t size)
{
	struct mt_code_function inner, frame, function;
	const struct mt_code_function *below = outer ? &function : NULL;
	const struct mt_rival *first;
	struct mt_rival rival;

	if (!mt_code_function_of(sites->places, q->map, q->frame, &frame) ||
	    (outer && !mt_code_function_of(sites->places, q->map, outer, &function)))
		return false;
	settle(sites, below, mt_shown_pages_of(below));
	first = mt_rivals_first(&sites->rivals, place_key(below, size));
	if (!first || (!first->next && is_function(first, &frame)) ||
	    !mt_code_function_of(sites->places, q->map, q->inner, &inner))
		return false;
	for (; first; first = mt_rivals_next(&sites->rivals, &rival)) {
		rival = *first; /* to ask about one may show others */
		if (!is_function(&rival, &frame) && is_mapped(q->map, &rival) &&
		    may_call(sites, &rival, &inner))
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
					.total = total_shown(sites)};
	answer->question.map = NULL;
}

uint64_t mt_call_sites_known(struct mt_call_sites *sites, const struct mt_image_map *map)
{
	return 1 + ((uint64_t)mt_image_map_version(map) << 32 ^ total_shown(sites));
}

/* Stacks that end in the same place ask the same. */
bool mt_call_site_has_rival(struct mt_call_sites *sites, const struct mt_call_rival_question *q)
{
	uint32_t version = mt_image_map_version(q->map);
	uint64_t hash = (q->frame ^ q->outer << 20 ^ q->inner << 40) * 0x9e3779b97f4a7c15u;
	struct rival_answer *answer = &sites->rival_answers[hash >> (64 - RIVAL_BITS)];
	const struct mt_call_rival_question *asked = &answer->question;

	if (asked->frame != q->frame || asked->outer != q->outer || asked->inner != q->inner ||
	    asked->size != q->size || asked->beyond != q->beyond || asked->span != q->span ||
	    answer->version != version || (!answer->has && answer->total != total_shown(sites)))
		answer_rival(sites, q, answer);
	return answer->has;
}
