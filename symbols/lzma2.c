/*
 * LZMA2: chunks of LZMA, or of bytes as they are. All of the output stays in memory and is the
 * dictionary. Every chunk says how much it holds and how much it makes, so that no byte behind
 * either is touched; a distance that leads before the dictionary's start is an error.
 */
#include "symbols/lzma2.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"

enum {
	STATES = 12,
	LITERAL_STATES = 7, /* the states after a literal */
	POSITIONS = 16,	    /* of position states */
	LENGTH_STATES = 4,
	SLOTS_MODELLED = 14,
	DISTANCES_MODELLED = 128,
	ALIGN_BITS = 4,
	LITERAL_CODERS = 16, /* lc + lp is 4 at most */
	PROBABILITY_BITS = 11,
	MATCH_MIN = 2,
};

typedef uint16_t probability;

struct length_coder {
	probability choice, choice_2;
	probability low[POSITIONS][8], middle[POSITIONS][8], high[256];
};

/* Only probabilities: they are set as one array. */
struct model {
	probability is_match[STATES][POSITIONS], is_repeat[STATES];
	probability is_repeat_0[STATES], is_repeat_1[STATES], is_repeat_2[STATES];
	probability is_long_repeat_0[STATES][POSITIONS];
	probability slots[LENGTH_STATES][64];
	probability distances[DISTANCES_MODELLED - SLOTS_MODELLED];
	probability align[1 << ALIGN_BITS];
	struct length_coder match_length, repeat_length;
	probability literals[LITERAL_CODERS][0x300];
};

struct decoder {
	struct mt_cursor c; /* of the chunk */
	uint32_t range, code;
	uint8_t *out; /* the dictionary's start */
	size_t at, limit, dictionary_size;
	unsigned int state;
	uint32_t repeats[4];
	unsigned int literal_bits, literal_mask, position_mask;
	bool bad;
	struct model model;
};

/* ---- Range coder ---- */

static inline void normalize(struct decoder *d)
{
	if (d->range < 1U << 24) {
		d->range <<= 8;
		d->code = d->code << 8 | mt_cursor_u8(&d->c);
	}
}

static inline unsigned int take_bit(struct decoder *d, probability *p)
{
	uint32_t bound;

	normalize(d);
	bound = (d->range >> PROBABILITY_BITS) * *p;
	if (d->code < bound) {
		d->range = bound;
		*p = (probability)(*p + (((1U << PROBABILITY_BITS) - *p) >> 5));
		return 0;
	}
	d->range -= bound;
	d->code -= bound;
	*p = (probability)(*p - (*p >> 5));
	return 1;
}

/* A number of so many bits, each by the bits before it; the tree has 1 << bits entries. */
static inline unsigned int take_tree(struct decoder *d, probability *tree, unsigned int bits)
{
	unsigned int symbol = 1;

	for (unsigned int i = 0; i < bits; i++)
		symbol = symbol << 1 | take_bit(d, &tree[symbol]);
	return symbol - (1U << bits);
}

/* The same, lowest bit first; tree[0] is the first entry that is used. */
static inline uint32_t take_reverse(struct decoder *d, probability *tree, unsigned int bits)
{
	unsigned int symbol = 1;
	uint32_t value = 0;

	for (unsigned int i = 0; i < bits; i++) {
		unsigned int bit = take_bit(d, &tree[symbol - 1]);

		symbol = symbol << 1 | bit;
		value |= bit << i;
	}
	return value;
}

static uint32_t take_direct(struct decoder *d, unsigned int bits)
{
	uint32_t value = 0;

	while (bits--) {
		normalize(d);
		d->range >>= 1;
		value = value << 1 | (d->code >= d->range);
		if (d->code >= d->range)
			d->code -= d->range;
	}
	return value;
}

/* ---- Symbols ---- */

static void take_literal(struct decoder *d)
{
	unsigned int last = d->at ? d->out[d->at - 1] : 0, symbol = 1;
	probability *p = d->model.literals[((d->at & d->literal_mask) << d->literal_bits) +
					   (last >> (8 - d->literal_bits))];

	if (d->state >= LITERAL_STATES && d->repeats[0] < d->at) {
		unsigned int match = d->out[d->at - d->repeats[0] - 1], offset = 0x100;

		while (symbol < 0x100) {
			unsigned int match_bit = (match <<= 1) & offset;
			unsigned int bit = take_bit(d, &p[offset + match_bit + symbol]);

			symbol = symbol << 1 | bit;
			offset &= bit ? match_bit : ~match_bit;
		}
	}
	while (symbol < 0x100)
		symbol = symbol << 1 | take_bit(d, &p[symbol]);
	d->out[d->at++] = (uint8_t)symbol;
	d->state = d->state <= 3 ? 0 : d->state <= 9 ? d->state - 3 : d->state - 6;
}

static unsigned int take_length(struct decoder *d, struct length_coder *coder,
				unsigned int position)
{
	if (!take_bit(d, &coder->choice))
		return MATCH_MIN + take_tree(d, coder->low[position], 3);
	if (!take_bit(d, &coder->choice_2))
		return MATCH_MIN + 8 + take_tree(d, coder->middle[position], 3);
	return MATCH_MIN + 16 + take_tree(d, coder->high, 8);
}

static uint32_t take_distance(struct decoder *d, unsigned int length)
{
	unsigned int length_state =
		length - MATCH_MIN < LENGTH_STATES ? length - MATCH_MIN : LENGTH_STATES - 1;
	unsigned int slot = take_tree(d, d->model.slots[length_state], 6), bits;
	uint32_t distance;

	if (slot < 4)
		return slot;
	bits = (slot >> 1) - 1;
	distance = (2 | (slot & 1)) << bits;
	if (slot < SLOTS_MODELLED)
		return distance + take_reverse(d, &d->model.distances[distance - slot], bits);
	distance += take_direct(d, bits - ALIGN_BITS) << ALIGN_BITS;
	return distance + take_reverse(d, d->model.align, ALIGN_BITS);
}

static unsigned int take_match(struct decoder *d, unsigned int position)
{
	unsigned int length = take_length(d, &d->model.match_length, position);

	memmove(d->repeats + 1, d->repeats, 3 * sizeof(*d->repeats));
	d->repeats[0] = take_distance(d, length);
	d->state = d->state < LITERAL_STATES ? 7 : 10;
	return length;
}

/* Which of the last four distances it is, moved to the front. */
static void take_repeat_number(struct decoder *d)
{
	unsigned int number = 1;
	uint32_t distance;

	if (take_bit(d, &d->model.is_repeat_1[d->state]))
		number = 2 + take_bit(d, &d->model.is_repeat_2[d->state]);
	distance = d->repeats[number];
	memmove(d->repeats + 1, d->repeats, number * sizeof(*d->repeats));
	d->repeats[0] = distance;
}

static unsigned int take_repeat(struct decoder *d, unsigned int position)
{
	if (take_bit(d, &d->model.is_repeat_0[d->state])) {
		take_repeat_number(d);
	} else if (!take_bit(d, &d->model.is_long_repeat_0[d->state][position])) {
		d->state = d->state < LITERAL_STATES ? 9 : 11;
		return 1;
	}
	d->state = d->state < LITERAL_STATES ? 8 : 11;
	return take_length(d, &d->model.repeat_length, position);
}

static void copy_match(struct decoder *d, unsigned int length)
{
	size_t distance = (size_t)d->repeats[0] + 1;

	if (distance > d->at || distance > d->dictionary_size || length > d->limit - d->at) {
		d->bad = true;
		return;
	}
	for (; length; length--, d->at++)
		d->out[d->at] = d->out[d->at - distance];
}

static void run(struct decoder *d)
{
	while (d->at < d->limit && !d->bad && !d->c.bad) {
		unsigned int position = (unsigned int)d->at & d->position_mask;

		if (!take_bit(d, &d->model.is_match[d->state][position]))
			take_literal(d);
		else if (!take_bit(d, &d->model.is_repeat[d->state]))
			copy_match(d, take_match(d, position));
		else
			copy_match(d, take_repeat(d, position));
	}
	normalize(d);
	d->bad |= d->c.bad || d->code || mt_cursor_left(&d->c);
}

/* ---- Chunks ---- */

static void reset_state(struct decoder *d)
{
	probability *all = (probability *)&d->model;

	d->state = 0;
	memset(d->repeats, 0, sizeof(d->repeats));
	for (size_t i = 0; i < sizeof(d->model) / sizeof(*all); i++)
		all[i] = 1 << (PROBABILITY_BITS - 1);
}

static bool set_properties(struct decoder *d, uint8_t properties)
{
	unsigned int literal_position = properties / 9 % 5, position = properties / 45;

	d->literal_bits = properties % 9;
	d->literal_mask = (1U << literal_position) - 1;
	d->position_mask = (1U << position) - 1;
	return position <= 4 && d->literal_bits + literal_position <= 4;
}

/* What has been read of a stream. */
struct stream {
	struct mt_lzma2_output *out;
	size_t start; /* of the dictionary in the output */
	bool has_dictionary, has_properties, has_state;
};

/* Room for so many bytes more; what is wrong, or NULL. */
static const char *make_room(struct stream *s, size_t size)
{
	struct mt_lzma2_output *out = s->out;

	if (size > out->max - out->bytes.count)
		return "unpacks to more than anybody would pack";
	return mt_array_reserve(&out->bytes, out->bytes.count + size) ? NULL : "out of memory";
}

static const char *copy_chunk(struct stream *s, struct mt_cursor *in)
{
	size_t high = mt_cursor_u8(in), size = (high << 8 | mt_cursor_u8(in)) + 1;
	const uint8_t *bytes = mt_cursor_bytes(in, size);
	const char *wrong = bytes ? make_room(s, size) : "cut short";

	if (wrong)
		return wrong;
	memcpy(s->out->bytes.items + s->out->bytes.count, bytes, size);
	s->out->bytes.count += size;
	return NULL;
}

static size_t take_be16(struct mt_cursor *in)
{
	size_t high = mt_cursor_u8(in);

	return high << 8 | mt_cursor_u8(in);
}

static const char *lzma_chunk(struct stream *s, struct decoder *d, struct mt_cursor *in,
			      uint8_t control)
{
	size_t size = ((size_t)(control & 0x1f) << 16) + take_be16(in) + 1;
	size_t packed = take_be16(in) + 1;
	const char *wrong;

	if (control >= 0xc0) {
		s->has_properties = set_properties(d, mt_cursor_u8(in));
		s->has_state = s->has_properties;
	}
	if (control >= 0xa0 && s->has_properties) {
		reset_state(d);
		s->has_state = true;
	}
	if (!s->has_properties || !s->has_state)
		return "corrupt chunk";
	d->c = mt_cursor_sub(in, packed);
	wrong = d->c.bad ? "cut short" : make_room(s, size);
	if (wrong)
		return wrong;
	d->bad = mt_cursor_u8(&d->c) != 0;
	d->range = UINT32_MAX;
	d->code = (uint32_t)take_be16(&d->c) << 16;
	d->code |= (uint32_t)take_be16(&d->c);
	d->out = s->out->bytes.items + s->start;
	d->at = s->out->bytes.count - s->start;
	d->limit = d->at + size;
	run(d);
	s->out->bytes.count += d->bad ? 0 : size;
	return d->bad ? "corrupt data" : NULL;
}

const char *mt_lzma2_decode(struct mt_cursor *in, uint64_t dictionary_size,
			    struct mt_lzma2_output *out)
{
	MT_CLEANUP_FREE struct decoder *d = calloc(1, sizeof(*d));
	struct stream s = {.out = out, .start = out->bytes.count};
	const char *wrong = d ? NULL : "out of memory";

	if (d)
		d->dictionary_size = dictionary_size;
	while (!wrong) {
		uint8_t control = mt_cursor_u8(in);

		if (in->bad)
			return "cut short";
		if (!control)
			return NULL;
		if (control == 1 || control >= 0xe0) {
			s.start = out->bytes.count;
			s.has_dictionary = true;
			s.has_properties &= control == 1;
		}
		if (!s.has_dictionary || (control > 2 && control < 0x80))
			return "corrupt chunk";
		wrong = control < 0x80 ? copy_chunk(&s, in) : lzma_chunk(&s, d, in, control);
	}
	return wrong;
}
