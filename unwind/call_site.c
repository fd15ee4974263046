/*
 * Direct calls are found by their bytes: e8 with the distance to the inner function's start. That
 * five bytes say so by chance, within one function, has not been seen.
 */
#include "unwind/call_site.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/map64.h"
#include "symbols/image_map.h"
#include "unwind/lookup.h"

#define SITE_BITS 12
#define CALL_SIZE 5
#define SCAN_MAX ((uint64_t)1 << 20) /* bytes of one function */

struct answer {
	struct mt_call_question question; /* its map is NULL */
	uint32_t version;		  /* of the map; 0: empty */
	uint64_t site;
};

struct mt_call_sites {
	struct answer answers[1 << SITE_BITS]; /* direct-mapped */
};

struct mt_call_sites *mt_call_sites_create(void)
{
	return calloc(1, sizeof(struct mt_call_sites));
}

void mt_call_sites_destroy(struct mt_call_sites *sites)
{
	free(sites);
}

static uint64_t target_of(uint64_t behind, const uint8_t *code)
{
	return behind + (uint64_t)(int64_t)(int32_t)mt_get_le32(code + 1);
}

/* Whether the call that ends with this address is one whose target its bytes do not tell. */
static bool is_indirect(const struct mt_lookup_function *function, uint64_t address)
{
	uint64_t size = address + 1 - function->start;
	const uint8_t *end = function->code + size;

	if (size > function->size || (size >= CALL_SIZE && end[-CALL_SIZE] == 0xe8))
		return false;
	for (size_t n = 2; n <= 7 && n <= size; n++) {
		if (end[-(long)n] == 0xff && (end[1 - (long)n] >> 3 & 7) == 2)
			return true;
	}
	return false;
}

/* The last byte of outer's first direct call of the function that starts there; 0 without one. */
static uint64_t find_direct(const struct mt_lookup_function *outer, uint64_t start)
{
	uint64_t size = outer->size < SCAN_MAX ? outer->size : SCAN_MAX;
	const uint8_t *at = outer->code, *end = outer->code + size;

	while (end - at >= CALL_SIZE) {
		uint64_t behind;

		at = memchr(at, 0xe8, (size_t)(end - at) - CALL_SIZE + 1);
		if (!at)
			return 0;
		behind = outer->start + (uint64_t)(at - outer->code) + CALL_SIZE;
		if (target_of(behind, at) == start)
			return behind - 1;
		at++;
	}
	return 0;
}

static bool same_function(const struct mt_image_map *map, uint64_t address,
			  const struct mt_lookup_function *function)
{
	struct mt_lookup_function other;

	return mt_lookup_function(map, address, &other) && other.start == function->start;
}

/* Of functions in files; where outer's code is not at hand, only the same call again will do. */
static uint64_t find_in_files(const struct mt_call_question *q,
			      const struct mt_lookup_function *inner)
{
	struct mt_lookup_function outer;
	uint64_t direct;

	if (q->outer_calls && same_function(q->map, q->known_inner, inner))
		return q->outer;
	if (!mt_lookup_function(q->map, q->outer, &outer) || !outer.code)
		return 0;
	direct = find_direct(&outer, inner->start);
	return !direct && q->outer_calls && is_indirect(&outer, q->outer) ? q->outer : direct;
}

/* JIT code, of which nothing tells where its functions begin, calls other such code, or is called.
 */
static uint64_t find(const struct mt_call_question *q)
{
	struct mt_lookup_function inner, other;

	if (mt_lookup_function(q->map, q->inner, &inner))
		return find_in_files(q, &inner);
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
	    answer->question.outer_calls != asked.outer_calls)
		*answer = (struct answer){asked, version, find(question)};
	return answer->site;
}
