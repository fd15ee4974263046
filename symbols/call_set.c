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
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "symbols/address_sort.h"
#include "symbols/function_starts.h"
#include "symbols/number_filter.h"
#include "symbols/number_index.h"
#include "symbols/seen_code.h"
#include "symbols/skeleton.h"

#define BITS_MOST 10 /* of the low part of a step: one in 1 << bits is in the set by chance */
#define BITS_LEAST 8
#define BITS_SEEN 16 /* at most where only some code was seen: there are few, all asked about */
#define HEADER_SIZE 8
#define ONES_AT_ONCE 24
#define COUNT_MAX ((uint32_t)1 << 26)
#define CALL_SIZE 5
#define RECENT_BITS 8
#define PIECE ((size_t)64 << 10) /* bytes that are asked for at a time */

#define GAP ((size_t)4 << 10) /* between functions that are looked at together */

/* A function that was seen. */
struct function {
	uint64_t start, end; /* up to where the next one starts */
	uint8_t marks;
};

enum {
	SEEN_NOW = 1,
	SEEN_BEFORE = 2,
};

/* Code, and where the functions in it start. */
struct code {
	struct mt_span text;
	const struct mt_skeleton_input *input;
	struct mt_function_starts starts;
	/* of all of them, or of those that were seen: */
	struct mt_number_index index;
	struct mt_number_filter filter;
	MT_ARRAY(struct function) functions;
	uint8_t *room; /* where some of the code is looked at: a piece */
	const uint8_t *window;
	size_t from, to; /* what of the code that is */
};

/* A pair's number below count << bits. */
static uint64_t scale(uint64_t hash, uint64_t count, unsigned int bits)
{
	return (uint64_t)((unsigned __int128)hash * (count << bits) >> 64);
}

/* As many as the numbers of so many pairs may have to fit into 32 bits. */
static unsigned int bits_for(size_t count, unsigned int most)
{
	unsigned int bits = most;

	while (bits > BITS_LEAST && (uint64_t)count << bits > UINT32_MAX)
		bits--;
	return bits;
}

static uint64_t hash_pair(uint64_t caller, uint64_t callee)
{
	return mt_hash64(mt_hash64(caller) + callee);
}

/* ---- Making one ---- */

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

/* Those of all code that begin in a piece of it; *in: functions that start at or below there. */
static bool find_calls(const struct code *code, struct mt_span piece, size_t *in,
		       struct hashes *out)
{
	const uint8_t *at = piece.bytes, *end = piece.bytes + piece.size;

	while (end - at >= CALL_SIZE) {
		uint64_t site, target;

		at = memchr(at, 0xe8, (size_t)(end - at) - CALL_SIZE + 1);
		if (!at)
			return true;
		site = piece.vaddr + (uint64_t)(at - piece.bytes);
		target = call_target(at, site);
		at++;
		while (*in < code->starts.count && code->starts.items[*in] <= site)
			++*in;
		if (*in && mt_number_index_has(&code->index, target) &&
		    !add_hash(out, hash_pair(code->starts.items[*in - 1], target)))
			return false;
	}
	return true;
}

/* Piece by piece; a call may stand across two. */
static bool find_all_calls(struct code *code, struct hashes *out)
{
	struct mt_span text = code->text;
	size_t in = 0;

	if (!mt_number_index_init(&code->index, code->starts.items, code->starts.count))
		return false;
	for (size_t at = 0; at < text.size; at += PIECE) {
		size_t left = text.size - at;
		struct mt_span piece = {text.bytes + at, PIECE + CALL_SIZE - 1, text.vaddr + at};

		piece.size = piece.size < left ? piece.size : left;
		mt_skeleton_input_need(code->input, piece, 0, piece.size);
		if (!find_calls(code, piece, &in, out))
			return false;
	}
	return true;
}

/* ---- Of functions that were seen ---- */

/* How many of the starts are below an address, of which so many are. */
static size_t starts_below(const struct mt_function_starts *starts, size_t from, uint64_t address)
{
	size_t step = 1, at;

	while (from + step < starts->count && starts->items[from + step] < address)
		step *= 2;
	at = from + step / 2;
	step -= step / 2;
	step = starts->count - at < step ? starts->count - at : step;
	return at + mt_array_split(step, i, starts->items[at + i] < address);
}

/* Marks those that have one of the places, and those that start in one. */
static void mark_functions(const struct mt_function_starts *starts, const struct mt_seen_code *seen,
			   uint8_t mark, uint8_t *marks)
{
	size_t at = 0;

	for (size_t i = 0; i < seen->count && starts->count; i++) {
		uint64_t unit = seen->units[i];
		size_t end;

		at = starts_below(starts, at, unit + 1);
		end = starts_below(starts, at, unit + MT_SEEN_UNIT);
		for (size_t k = at - (at > 0); k < end; k++)
			marks[k] |= mark;
	}
}

/* Those of one start are one function. */
static bool list_functions(struct code *code, const uint8_t *marks)
{
	const struct mt_function_starts *starts = &code->starts;
	uint64_t limit = code->text.vaddr + code->text.size;

	for (size_t i = 0, next; i < starts->count; i = next) {
		uint8_t mark = marks[i];
		struct function *function;

		for (next = i + 1; next < starts->count && starts->items[next] == starts->items[i];
		     next++)
			mark |= marks[next];
		if (!mark)
			continue;
		function = mt_array_push(&code->functions);
		if (!function)
			return false;
		*function = (struct function){starts->items[i], limit, mark};
		if (next < starts->count && starts->items[next] < limit)
			function->end = starts->items[next];
	}
	return true;
}

/* Only these are asked for from now on. */
static bool index_functions(struct code *code)
{
	struct mt_function_starts *starts = &code->starts;

	starts->count = code->functions.count;
	for (size_t i = 0; i < starts->count; i++)
		starts->items[i] = code->functions.items[i].start;
	return mt_number_index_init(&code->index, starts->items, starts->count) &&
	       mt_number_filter_init(&code->filter, starts->items, starts->count);
}

static bool choose_functions(struct code *code, const struct mt_seen_calls *seen)
{
	MT_CLEANUP_FREE uint8_t *marks = calloc(code->starts.count + 1, 1);

	if (!marks)
		return false;
	mark_functions(&code->starts, seen->now, SEEN_NOW, marks);
	if (seen->before)
		mark_functions(&code->starts, seen->before, SEEN_BEFORE, marks);
	return list_functions(code, marks) && index_functions(code);
}

/* Whether the pair is to be in the set: both were seen, and that was not so before. */
static bool is_wanted(const struct code *code, const struct function *caller, uint64_t target)
{
	size_t callee;

	if (!mt_number_filter_may_have(&code->filter, target))
		return false;
	callee = mt_number_index_less(&code->index, target);
	return callee < code->functions.count && code->functions.items[callee].start == target &&
	       !(caller->marks & code->functions.items[callee].marks & SEEN_BEFORE);
}

/* Those in code of one function, which stands at that address. */
static bool find_calls_in(const struct code *code, const struct function *caller,
			  struct mt_span piece, struct hashes *out)
{
	const uint8_t *at = piece.bytes, *end = piece.bytes + piece.size;

	while (end - at >= CALL_SIZE) {
		uint64_t target;

		at = memchr(at, 0xe8, (size_t)(end - at) - CALL_SIZE + 1);
		if (!at)
			return true;
		target = call_target(at, piece.vaddr + (uint64_t)(at - piece.bytes));
		at++;
		if (is_wanted(code, caller, target) &&
		    !add_hash(out, hash_pair(caller->start, target)))
			return false;
	}
	return true;
}

/* Up to where it is worth looking at code that begins there, in one of the i-th function on. */
static size_t window_end(const struct code *code, size_t i, size_t at)
{
	size_t end = at, most = code->text.size - at < PIECE ? code->text.size : at + PIECE;
	const struct function *f = &code->functions.items[i];
	const struct function *last = &code->functions.items[code->functions.count];

	for (; f < last && end < most && f->start - code->text.vaddr <= end + GAP; f++)
		end = f->end - code->text.vaddr + CALL_SIZE - 1;
	return end < most ? end : most;
}

/* Those that begin in the function, piece by piece; a call may stand across two. */
static bool find_calls_of(struct code *code, size_t i, struct hashes *out)
{
	struct mt_span text = code->text;
	const struct function *function = &code->functions.items[i];
	size_t at, end;

	if (function->start < text.vaddr || function->start >= function->end)
		return true;
	at = function->start - text.vaddr;
	end = function->end - text.vaddr + CALL_SIZE - 1;
	end = end < text.size ? end : text.size;
	while (at + CALL_SIZE <= end) {
		struct mt_span piece = {.vaddr = text.vaddr + at};

		if (at < code->from || at + CALL_SIZE > code->to) {
			code->from = at;
			code->to = window_end(code, i, at);
			code->window = mt_skeleton_input_look(code->input, text, at, code->to - at,
							      code->room);
		}
		piece.bytes = code->window + (at - code->from);
		piece.size = (end < code->to ? end : code->to) - at;
		if (!find_calls_in(code, function, piece, out))
			return false;
		at += piece.size - CALL_SIZE + 1;
	}
	return true;
}

static bool find_seen_calls(struct code *code, const struct mt_seen_calls *seen, struct hashes *out)
{
	code->room = malloc(PIECE);
	if (!code->room || !choose_functions(code, seen))
		return false;
	for (size_t i = 0; i < code->functions.count; i++) {
		if (!find_calls_of(code, i, out))
			return false;
	}
	return true;
}

/* ---- Coding them ---- */

struct bits {
	uint8_t *bytes; /* with 8 more behind what is put */
	size_t at;	/* bits */
};

/* At most 32 bits, behind which there are zeros. */
static void put_bits(struct bits *bits, uint64_t value, unsigned int n)
{
	uint8_t *at = bits->bytes + bits->at / 8;
	uint64_t word = __builtin_bswap64(mt_get_le64(at));

	word |= value << (64 - n - bits->at % 8);
	mt_put_le64(at, __builtin_bswap64(word));
	bits->at += n;
}

/* Codes sorted hashes, each once. */
static bool code_hashes(const struct hashes *hashes, unsigned int most_bits, uint8_t **out,
			size_t *size)
{
	size_t count = hashes->count;
	unsigned int low = bits_for(count, most_bits);
	/* all the steps of the unary parts come to less than count, and each ends in a bit */
	size_t most = HEADER_SIZE + (count * (low + 2) + 7) / 8 + 1;
	struct bits bits = {.bytes = calloc(1, most + 8), .at = HEADER_SIZE * 8};
	uint64_t last = 0;

	if (!bits.bytes)
		return false;
	mt_put_le32(bits.bytes, (uint32_t)count);
	mt_put_le32(bits.bytes + 4, low);
	for (size_t i = 0; i < count; i++) {
		uint64_t value = scale(hashes->items[i], count, low), step = value - last;
		uint64_t ones = step >> low;

		for (; ones > ONES_AT_ONCE; ones -= ONES_AT_ONCE)
			put_bits(&bits, (1u << ONES_AT_ONCE) - 1, ONES_AT_ONCE);
		put_bits(&bits, (UINT64_C(2) << ones) - 2, (unsigned int)ones + 1);
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

bool mt_call_set_make(struct mt_elf *elf, const struct mt_skeleton_input *input,
		      const struct mt_seen_calls *seen, uint8_t **out, size_t *size)
{
	struct code code = {.text = mt_elf_section(elf, ".text"), .input = input};
	struct hashes hashes = {0};
	bool good;

	*out = NULL;
	*size = 0;
	if (mt_elf_machine(elf) != EM_X86_64 || !code.text.bytes ||
	    code.text.size > MT_CALL_SET_TEXT_MAX || (seen && !seen->now->count))
		return true;
	good = mt_function_starts_read(elf, input, &code.starts) &&
	       (seen ? find_seen_calls(&code, seen, &hashes) : find_all_calls(&code, &hashes)) &&
	       mt_number_sort(hashes.items, hashes.count);
	if (good && hashes.count) {
		keep_different(&hashes);
		if (hashes.count < COUNT_MAX)
			good = code_hashes(&hashes, seen ? BITS_SEEN : BITS_MOST, out, size);
	}
	mt_function_starts_deinit(&code.starts);
	mt_number_index_deinit(&code.index);
	mt_number_filter_deinit(&code.filter);
	mt_array_deinit(&code.functions);
	free(code.room);
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

/* What the header of a set says, if what is behind it can be that. */
static bool read_header(struct mt_span bytes, size_t *count, unsigned int *low)
{
	if (!bytes.bytes || bytes.size < HEADER_SIZE)
		return false;
	*count = mt_get_le32(bytes.bytes);
	*low = mt_get_le32(bytes.bytes + 4);
	return *low >= BITS_LEAST && *low <= BITS_SEEN && *count && *count < COUNT_MAX &&
	       *count <= (bytes.size - HEADER_SIZE) * 8 / (*low + 1);
}

/* Reads one; *size: bytes that it takes, all of them where it is damaged. */
static bool read_numbers(struct mt_span bytes, size_t *size, struct mt_call_numbers *out)
{
	struct coded coded = {.bytes = bytes.bytes, .at = HEADER_SIZE * 8, .end = bytes.size * 8};
	struct mt_call_numbers set = {0};
	uint64_t step, value = 0, range;
	size_t count = 0;

	*out = set;
	*size = bytes.size;
	if (!read_header(bytes, &count, &set.bits))
		return true;
	range = (uint64_t)count << set.bits;
	set.values = calloc(count, sizeof(*set.values));
	if (!set.values)
		return false;
	for (; set.count < count && take_step(&coded, set.bits, &step); set.count++) {
		value += step;
		if (value >= range)
			break;
		set.values[set.count] = (uint32_t)value;
	}
	if (set.count == count)
		*size = (coded.at + 7) / 8;
	/* what is missing is not in it; the scale is that of all */
	for (size_t i = set.count; i < count; i++)
		set.values[i] = UINT32_MAX;
	set.count = count;
	*out = set;
	return true;
}

bool mt_call_set_read(struct mt_span bytes, struct mt_call_set *out)
{
	MT_ARRAY(struct mt_call_numbers) sets = {0};
	size_t size;
	bool good = true;

	for (size_t at = 0; at < bytes.size && bytes.bytes && good; at += (size + 7) / 8 * 8) {
		struct mt_span rest = {.bytes = bytes.bytes + at, .size = bytes.size - at};
		struct mt_call_numbers set, *slot;

		good = read_numbers(rest, &size, &set);
		if (!good || !set.count)
			break;
		slot = mt_array_push(&sets);
		good = slot;
		if (slot)
			*slot = set;
		else
			free(set.values);
	}
	*out = (struct mt_call_set){sets.items, sets.count};
	if (!good)
		mt_call_set_deinit(out);
	return good;
}

void mt_call_set_deinit(struct mt_call_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free(set->sets[i].values);
	free(set->sets);
	*set = (struct mt_call_set){0};
}

static bool has_number(const struct mt_call_numbers *set, uint64_t hash)
{
	uint64_t wanted = scale(hash, set->count, set->bits);
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

bool mt_call_set_has(const struct mt_call_set *set, uint64_t caller, uint64_t callee)
{
	uint64_t hash = hash_pair(caller, callee);

	for (size_t i = 0; i < set->count; i++) {
		if (has_number(&set->sets[i], hash))
			return true;
	}
	return false;
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
