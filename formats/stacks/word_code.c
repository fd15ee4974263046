/*
 * A hash table has one candidate for an equal earlier word. The encoder compares the candidate with
 * the word, so stale or colliding entries cost compression, never correctness.
 */
#include "formats/stacks/word_code.h"

#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cursor.h"

#define LOW_BITS 16	   /* the bits in which similar words may differ */
#define LITERALS_MANY 2	   /* more than one literal in this many words */
#define AT_ONCE 32	   /* numbers in a batch, which compilers vectorize */
#define REPORTED_TAGS 0xaa /* in four tags: the bit set in TAG_ALIKE and TAG_LITERAL */
#define MIX UINT64_C(0x9e3779b97f4a7c15)

enum tag {
	TAG_AGAIN,   /* the word at the distance of the last TAG_SAME word */
	TAG_SAME,    /* the word at the stored distance */
	TAG_ALIKE,   /* shares its upper bits with the word at the stored distance */
	TAG_LITERAL, /* eight bytes */
};

static inline size_t hash(uint64_t value)
{
	return (size_t)(value * MIX >> (64 - MT_WORD_TABLE_BITS));
}

void mt_word_encoder_begin(struct mt_word_encoder *encoder)
{
	memset(encoder->tables, 0, sizeof(*encoder->tables));
	encoder->words[0] = 0;
	encoder->count = 1;
	encoder->same = 1;
	encoder->tags = 0;
	encoder->same_count = encoder->alike_count = encoder->literal_count = 0;
}

/*
 * The candidates of the tables for a word, as distances. The tables refer to this word from now on.
 * An unknown word has candidate 0. No distance exceeds the number of words before this one: it is
 * taken modulo 65,536.
 */
struct candidates {
	uint16_t same, alike;
};

static inline struct candidates look_up(struct mt_word_tables *tables, uint64_t word, size_t at)
{
	uint16_t *same = &tables->same[hash(word)];
	uint16_t *alike = &tables->alike[hash(word >> LOW_BITS)];
	struct candidates found = {(uint16_t)(at - *same), (uint16_t)(at - *alike)};

	*same = *alike = (uint16_t)at;
	return found;
}

static inline uint32_t pair(uint16_t distance, uint64_t difference)
{
	return distance | (uint32_t)difference << 16;
}

/* The last of four tags is in the highest bits. */
static inline void put_tag(struct mt_word_encoder *e, unsigned tag)
{
	e->tags = e->tags >> 2 | tag << 6;
	e->tag_bytes[(e->count - 1) / 4] = (uint8_t)e->tags;
}

/*
 * No processor can predict which of the four tags applies. So all possible output of a word is
 * written, and the output positions advance by the parts that apply.
 */
static void encode_mixed(struct mt_word_encoder *encoder, const uint8_t *from, size_t count)
{
	struct mt_word_encoder e = *encoder; /* a copy: no store through a pointer changes it */

	for (const uint8_t *end = from + 8 * count; from < end; from += 8, e.count++) {
		uint64_t word = mt_get_le64(from), *here = e.words + e.count, base;
		struct candidates found = look_up(e.tables, word, e.count);
		unsigned fresh, known, differs, literal;

		*here = word;
		base = here[-(ptrdiff_t)found.alike];
		fresh = here[-(ptrdiff_t)e.same] != word;
		known = (found.same != 0) & (here[-(ptrdiff_t)found.same] == word);
		differs = fresh & ~known;
		literal = differs & ((found.alike == 0) | ((base ^ word) >> LOW_BITS != 0));
		e.same = fresh & known ? found.same : e.same;
		e.sames[e.same_count] = found.same;
		e.same_count += fresh & known;
		e.alikes[e.alike_count] = pair(found.alike, word - base);
		e.alike_count += differs ^ literal;
		e.literals[e.literal_count] = word;
		e.literal_count += literal;
		put_tag(&e, fresh + differs + literal);
	}
	*encoder = e;
}

/* The same, for input that is nearly all literals. */
static void encode_random(struct mt_word_encoder *encoder, const uint8_t *from, size_t count)
{
	struct mt_word_encoder e = *encoder;

	for (const uint8_t *end = from + 8 * count; from < end; from += 8, e.count++) {
		uint64_t word = mt_get_le64(from), *here = e.words + e.count;
		struct candidates found = look_up(e.tables, word, e.count);
		enum tag tag = TAG_LITERAL;

		*here = word;
		if (here[-(ptrdiff_t)e.same] == word) {
			tag = TAG_AGAIN;
		} else if (found.same && here[-(ptrdiff_t)found.same] == word) {
			e.sames[e.same_count++] = found.same;
			e.same = found.same;
			tag = TAG_SAME;
		} else if (found.alike && !((here[-(ptrdiff_t)found.alike] ^ word) >> LOW_BITS)) {
			e.alikes[e.alike_count++] =
				pair(found.alike, word - here[-(ptrdiff_t)found.alike]);
			tag = TAG_ALIKE;
		} else {
			e.literals[e.literal_count++] = word;
		}
		put_tag(&e, tag);
	}
	*encoder = e;
}

void mt_word_encode(struct mt_word_encoder *encoder, const uint8_t *from, size_t count)
{
	if (encoder->literal_count > encoder->count / LITERALS_MANY)
		encode_random(encoder, from, count);
	else
		encode_mixed(encoder, from, count);
}

/* Collects the byte of each number at that bit position. */
static uint8_t *put_plane16(uint8_t *restrict to, const uint16_t *restrict from, size_t count,
			    unsigned shift)
{
	size_t i = 0;

	for (; i + AT_ONCE <= count; i += AT_ONCE) {
		for (size_t j = 0; j < AT_ONCE; j++)
			to[i + j] = (uint8_t)(from[i + j] >> shift);
	}
	for (; i < count; i++)
		to[i] = (uint8_t)(from[i] >> shift);
	return to + count;
}

static uint8_t *put_plane32(uint8_t *restrict to, const uint32_t *restrict from, size_t count,
			    unsigned shift)
{
	size_t i = 0;

	for (; i + AT_ONCE <= count; i += AT_ONCE) {
		for (size_t j = 0; j < AT_ONCE; j++)
			to[i + j] = (uint8_t)(from[i + j] >> shift);
	}
	for (; i < count; i++)
		to[i] = (uint8_t)(from[i] >> shift);
	return to + count;
}

/* Four tags; an incomplete last byte is shifted down, because its tags are in the highest bits. */
static unsigned tags_of(const struct mt_word_encoder *encoder, size_t four)
{
	size_t left = encoder->count - 1 - 4 * four;

	return left < 4 ? encoder->tag_bytes[four] >> 2 * (4 - left) : encoder->tag_bytes[four];
}

void mt_word_encoder_deliver(const struct mt_word_encoder *encoder, mt_words_deliver *deliver,
			     void *context)
{
	uint64_t reported[256];
	size_t count = 0;

	for (size_t four = 0; 4 * four < encoder->count - 1; four++) {
		unsigned tags = tags_of(encoder, four);

		if (!(tags & REPORTED_TAGS))
			continue;
		for (unsigned i = 0; i < 4 && 4 * four + i < encoder->count - 1; i++) {
			reported[count] = encoder->words[1 + 4 * four + i];
			count += tags >> (2 * i + 1) & 1;
		}
		if (count < sizeof(reported) / sizeof(*reported) - 4)
			continue;
		deliver(context, reported, count);
		count = 0;
	}
	deliver(context, reported, count);
}

void mt_word_encoder_end(struct mt_word_encoder *encoder, struct mt_plane planes[MT_WORD_PLANES])
{
	size_t count = encoder->count - 1;
	uint8_t *to = (uint8_t *)encoder->words; /* the words are no longer needed */

	if (count % 4)
		encoder->tag_bytes[count / 4] >>= 2 * (4 - count % 4);
	planes[MT_WORD_TAGS] = (struct mt_plane){encoder->tag_bytes, (count + 3) / 4};
	for (unsigned i = 0; i < 2; i++) {
		planes[MT_WORD_SAME_LOW + i] = (struct mt_plane){to, encoder->same_count};
		to = put_plane16(to, encoder->sames, encoder->same_count, 8 * i);
	}
	for (unsigned i = 0; i < 4; i++) {
		planes[MT_WORD_ALIKE_LOW + i] = (struct mt_plane){to, encoder->alike_count};
		to = put_plane32(to, encoder->alikes, encoder->alike_count, 8 * i);
	}
	planes[MT_WORD_LITERALS] =
		(struct mt_plane){(uint8_t *)encoder->literals, 8 * encoder->literal_count};
}

void mt_word_decoder_begin(struct mt_word_decoder *decoder)
{
	decoder->words[0] = 0;
	decoder->count = 1;
	decoder->same = 1;
	decoder->tag_shift = 8;
}

static enum tag take_tag(struct mt_word_decoder *d)
{
	enum tag tag;

	if (d->tag_shift == 8) {
		d->tags = mt_cursor_u8(&d->planes[MT_WORD_TAGS]);
		d->tag_shift = 0;
	}
	tag = d->tags >> d->tag_shift & 3;
	d->tag_shift += 2;
	return tag;
}

static uint16_t take_two(struct mt_word_decoder *d, enum mt_word_plane low)
{
	uint8_t byte = mt_cursor_u8(&d->planes[low]);

	return (uint16_t)(mt_cursor_u8(&d->planes[low + 1]) << 8 | byte);
}

/* The distance of a word; 0 if there is none. */
static size_t take_distance(struct mt_word_decoder *d, enum mt_word_plane low)
{
	size_t distance = take_two(d, low);

	return distance <= d->count ? distance : 0;
}

static bool take_word(struct mt_word_decoder *d, uint64_t *word)
{
	size_t distance;
	uint64_t base;

	switch (take_tag(d)) {
	case TAG_AGAIN:
		*word = d->words[d->count - d->same];
		return true;
	case TAG_SAME:
		distance = take_distance(d, MT_WORD_SAME_LOW);
		if (!distance)
			return false;
		d->same = distance;
		*word = d->words[d->count - distance];
		return true;
	case TAG_ALIKE:
		distance = take_distance(d, MT_WORD_ALIKE_LOW);
		if (!distance)
			return false;
		base = d->words[d->count - distance];
		*word = (base & ~UINT64_C(0xffff)) |
			(uint16_t)(base + take_two(d, MT_WORD_DIFFERENCE_LOW));
		return true;
	default:
		*word = mt_cursor_u64(&d->planes[MT_WORD_LITERALS]);
		return true;
	}
}

static bool any_bad(const struct mt_word_decoder *d)
{
	for (size_t i = 0; i < MT_WORD_PLANES; i++) {
		if (d->planes[i].bad)
			return true;
	}
	return false;
}

bool mt_word_decode(struct mt_word_decoder *decoder, uint8_t *to, size_t count)
{
	for (size_t i = 0; i < count; i++, to += 8) {
		uint64_t word;

		if (!take_word(decoder, &word))
			return false;
		decoder->words[decoder->count++] = word;
		mt_put_le64(to, word);
	}
	return !any_bad(decoder);
}
