/*
 * A Golomb-Rice coded set of hashes. Direct calls are found by their bytes: e8 with the distance to
 * where a function starts. That five bytes say so by chance is rare.
 */
#include "symbols/call_set.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/map64.h"
#include "symbols/address_sort.h"
#include "symbols/function_starts.h"
#include "symbols/skeleton.h"

#define BITS_MOST 10 /* of the low part of a step: one in 1 << bits is in the set by chance */
#define BITS_LEAST 8
#define HEADER_SIZE 8
#define COUNT_MAX ((uint32_t)1 << 26)
#define CALL_SIZE 5
#define RECENT_BITS 8
#define PIECE ((size_t)128 << 10) /* bytes that are asked for at a time */

/* Where functions start, and how to find one of them soon. */
struct starts {
	struct mt_function_starts all;
	uint32_t *below; /* how many are in spans before: of 1 << shift bytes from the first on */
	unsigned int shift;
};

/* A pair's number below count << bits. */
static uint64_t scale(uint64_t hash, uint64_t count, unsigned int bits)
{
	return (uint64_t)((unsigned __int128)hash * (count << bits) >> 64);
}

/* As many as the numbers of so many pairs may have to fit into 32 bits. */
static unsigned int bits_for(size_t count)
{
	unsigned int bits = BITS_MOST;

	while (bits > BITS_LEAST && (uint64_t)count << bits > UINT32_MAX)
		bits--;
	return bits;
}

static uint64_t hash_pair(uint64_t caller, uint64_t callee)
{
	return mt_hash64(mt_hash64(caller) + callee);
}

/* ---- Making one ---- */

/* Spans that hold a start or less on average, so that looking for one takes few steps. */
static bool index_starts(struct starts *starts)
{
	uint64_t first = starts->all.items[0],
		 size = starts->all.items[starts->all.count - 1] - first;
	size_t spans, at = 0;

	while (size >> starts->shift >= starts->all.count)
		starts->shift++;
	spans = (size_t)(size >> starts->shift) + 1;
	starts->below = malloc((spans + 1) * sizeof(*starts->below));
	if (!starts->below)
		return false;
	for (size_t i = 0; i < spans; i++) {
		for (;
		     at < starts->all.count && (starts->all.items[at] - first) >> starts->shift < i;
		     at++)
			;
		starts->below[i] = (uint32_t)at;
	}
	starts->below[spans] = (uint32_t)starts->all.count;
	return true;
}

static bool is_start(const struct starts *starts, uint64_t address)
{
	uint64_t first = starts->all.items[0];
	size_t low, high, span;

	if (address < first || address > starts->all.items[starts->all.count - 1])
		return false;
	span = (size_t)((address - first) >> starts->shift);
	low = starts->below[span];
	high = starts->below[span + 1];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (starts->all.items[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < starts->below[span + 1] && starts->all.items[low] == address;
}

struct hashes {
	uint64_t *items;
	size_t count, capacity;
	uint64_t recent[1 << RECENT_BITS]; /* most functions call another more than once */
};

/* Adds one, unless that was done just before. */
static bool add_hash(struct hashes *hashes, uint64_t hash)
{
	uint64_t *recent = &hashes->recent[hash >> (64 - RECENT_BITS)];

	if (*recent == hash && hash)
		return true;
	*recent = hash;
	if (!mt_array_reserve(hashes, hashes->count + 1))
		return false;
	hashes->items[hashes->count++] = hash;
	return true;
}

/* Where the call at that address leads to. */
static uint64_t call_target(const uint8_t *bytes, uint64_t site)
{
	return site + CALL_SIZE + (uint64_t)(int64_t)(int32_t)mt_get_le32(bytes + 1);
}

/* Those of a piece of code; *in: how many start at or below what is looked at. */
static bool find_calls(struct mt_span text, size_t *in, const struct starts *starts,
		       struct hashes *out)
{
	const uint8_t *at = text.bytes, *end = text.bytes + text.size;

	while (end - at >= CALL_SIZE) {
		uint64_t site, target;

		at = memchr(at, 0xe8, (size_t)(end - at) - CALL_SIZE + 1);
		if (!at)
			return true;
		site = text.vaddr + (uint64_t)(at - text.bytes);
		target = call_target(at, site);
		at++;
		while (*in < starts->all.count && starts->all.items[*in] <= site)
			++*in;
		if (!*in || !is_start(starts, target))
			continue;
		if (!add_hash(out, hash_pair(starts->all.items[*in - 1], target)))
			return false;
	}
	return true;
}

/* Those of all code, piece by piece; a call may stand across two. */
static bool find_all_calls(struct mt_span text, const struct mt_skeleton_input *input,
			   const struct starts *starts, struct hashes *out)
{
	size_t in = 0;

	for (size_t at = 0; at < text.size; at += PIECE) {
		struct mt_span piece = {text.bytes + at, PIECE + CALL_SIZE - 1, text.vaddr + at};

		piece.size = piece.size < text.size - at ? piece.size : text.size - at;
		mt_skeleton_input_need(input, piece, 0, piece.size);
		if (!find_calls(piece, &in, starts, out))
			return false;
	}
	return true;
}

struct bits {
	uint8_t *bytes;
	size_t at; /* bits */
};

static void put_bits(struct bits *bits, uint32_t value, unsigned int n)
{
	for (; n--; bits->at++)
		bits->bytes[bits->at / 8] |= (uint8_t)((value >> n & 1) << (7 - bits->at % 8));
}

/* Codes sorted hashes, each once. */
static bool code_hashes(const struct hashes *hashes, uint8_t **out, size_t *size)
{
	size_t count = hashes->count;
	unsigned int low = bits_for(count);
	/* all the steps of the unary parts come to less than count, and each ends in a bit */
	size_t most = HEADER_SIZE + (count * (low + 2) + 7) / 8 + 1;
	struct bits bits = {.bytes = calloc(1, most), .at = HEADER_SIZE * 8};
	uint64_t last = 0;

	if (!bits.bytes)
		return false;
	mt_put_le32(bits.bytes, (uint32_t)count);
	mt_put_le32(bits.bytes + 4, low);
	for (size_t i = 0; i < count; i++) {
		uint64_t value = scale(hashes->items[i], count, low), step = value - last;

		for (uint64_t n = step >> low; n; n--)
			put_bits(&bits, 1, 1);
		put_bits(&bits, 0, 1);
		put_bits(&bits, step & ((1u << low) - 1), low);
		last = value;
	}
	*out = bits.bytes;
	*size = (bits.at + 7) / 8;
	return true;
}

static void keep_different(struct hashes *hashes)
{
	size_t kept = 0;

	for (size_t i = 0; i < hashes->count; i++) {
		if (!kept || hashes->items[kept - 1] != hashes->items[i])
			hashes->items[kept++] = hashes->items[i];
	}
	hashes->count = kept;
}

bool mt_call_set_make(struct mt_elf *elf, const struct mt_skeleton_input *input, uint8_t **out,
		      size_t *size)
{
	struct mt_span text = mt_elf_section(elf, ".text");
	struct starts starts = {0};
	struct hashes hashes = {0};
	bool good = true;

	*out = NULL;
	*size = 0;
	if (mt_elf_machine(elf) != EM_X86_64 || !text.bytes || text.size > MT_CALL_SET_TEXT_MAX)
		return true;
	good = mt_function_starts_read(elf, input, &starts.all) &&
	       (!starts.all.count ||
		(index_starts(&starts) && find_all_calls(text, input, &starts, &hashes))) &&
	       mt_number_sort(hashes.items, hashes.count);
	if (good && hashes.count) {
		keep_different(&hashes);
		if (hashes.count < COUNT_MAX)
			good = code_hashes(&hashes, out, size);
	}
	mt_function_starts_deinit(&starts.all);
	free(starts.below);
	mt_array_deinit(&hashes);
	return good;
}

/* ---- Asking one ---- */

struct coded {
	const uint8_t *bytes;
	size_t at, end; /* bits */
};

static bool take_bit(struct coded *coded, unsigned int *bit)
{
	if (coded->at == coded->end)
		return false;
	*bit = coded->bytes[coded->at / 8] >> (7 - coded->at % 8) & 1;
	coded->at++;
	return true;
}

/* One that is long, or near the end. */
static bool take_far_step(struct coded *coded, unsigned int low, uint64_t *step)
{
	unsigned int bit = 1;

	for (*step = 0; bit; *step += bit) {
		if (!take_bit(coded, &bit))
			return false;
	}
	for (unsigned int i = 0; i < low; i++) {
		if (!take_bit(coded, &bit))
			return false;
		*step = *step << 1 | bit;
	}
	return true;
}

/* Nearly all steps are in the next few bits: an image has hundreds of thousands. */
static inline bool take_step(struct coded *coded, unsigned int low, uint64_t *step)
{
	unsigned int ones;
	uint64_t next;

	if (coded->end - coded->at < 64 + 8)
		return take_far_step(coded, low, step);
	next = __builtin_bswap64(mt_get_le64(coded->bytes + coded->at / 8)) << coded->at % 8;
	if (~next >> 32 == 0)
		return take_far_step(coded, low, step);
	ones = (unsigned int)__builtin_clzll(~next);
	*step = (uint64_t)ones << low | next << (ones + 1) >> (64 - low);
	coded->at += ones + 1 + low;
	return true;
}

bool mt_call_set_read(struct mt_span bytes, struct mt_call_set *out)
{
	struct coded coded = {.bytes = bytes.bytes, .at = HEADER_SIZE * 8, .end = bytes.size * 8};
	struct mt_call_set set = {0};
	uint64_t step, value = 0, range;
	unsigned int low;
	size_t count;

	*out = set;
	if (!bytes.bytes || bytes.size < HEADER_SIZE)
		return true;
	count = mt_get_le32(bytes.bytes);
	low = mt_get_le32(bytes.bytes + 4);
	if (low < BITS_LEAST || low > BITS_MOST || !count || count >= COUNT_MAX ||
	    count > (coded.end - coded.at) / (low + 1))
		return true;
	range = (uint64_t)count << low;
	set.values = calloc(count, sizeof(*set.values));
	if (!set.values)
		return false;
	for (; set.count < count && take_step(&coded, low, &step); set.count++) {
		value += step;
		if (value >= range)
			break;
		set.values[set.count] = (uint32_t)value;
	}
	/* what is missing is not in it; the scale is that of all */
	for (size_t i = set.count; i < count; i++)
		set.values[i] = UINT32_MAX;
	set.count = count;
	set.bits = low;
	*out = set;
	return true;
}

void mt_call_set_deinit(struct mt_call_set *set)
{
	free(set->values);
	*set = (struct mt_call_set){0};
}

bool mt_call_set_has(const struct mt_call_set *set, uint64_t caller, uint64_t callee)
{
	uint64_t wanted = scale(hash_pair(caller, callee), set->count, set->bits);
	size_t low = 0, high = set->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->values[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low < set->count && set->values[low] == wanted;
}

/* ---- Without one ---- */

bool mt_call_in_code(const struct mt_elf *elf, uint64_t caller, uint64_t size, uint64_t callee)
{
	const uint8_t *bytes = mt_elf_bytes_at(elf, caller, size), *at, *end;

	if (mt_elf_machine(elf) != EM_X86_64 || !bytes)
		return false;
	at = bytes;
	end = bytes + size;
	while (end - at >= CALL_SIZE) {
		at = memchr(at, 0xe8, (size_t)(end - at) - CALL_SIZE + 1);
		if (!at)
			return false;
		if (call_target(at, caller + (uint64_t)(at - bytes)) == callee)
			return true;
		at++;
	}
	return false;
}
