/*
 * Finding an earlier word is a look into a table by hash, which names one place: whether that word
 * serves is seen there, so that nothing in the tables needs to be right.
 */
#include "formats/word_code.h"

#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cursor.h"

#define LOW_BITS 16 /* in which words that are alike may differ */
#define MIX UINT64_C(0x9e3779b97f4a7c15)

enum tag {
	TAG_AGAIN,   /* the word as far back as the last one that was told by its distance */
	TAG_SAME,    /* the word so far back */
	TAG_ALIKE,   /* its upper bits are those of the word so far back */
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
	encoder->tag_shift = 0;
}

/* A copy of the encoder's state that no store through a pointer can change. */
struct coding {
	struct mt_word_encoder e;
};

static inline void put_distance(uint8_t *planes[MT_WORD_PLANES], enum mt_word_plane low,
				uint16_t value)
{
	*planes[low]++ = (uint8_t)value;
	*planes[low + 1]++ = (uint8_t)(value >> 8);
}

/* One word, which stands in its place already; its distances to those that the tables name. */
static inline enum tag code_word(struct coding *c, uint64_t word, uint16_t same, uint16_t alike)
{
	const uint64_t *here = c->e.words + c->e.count;

	if (here[-(ptrdiff_t)c->e.same] == word)
		return TAG_AGAIN;
	if (same && here[-(ptrdiff_t)same] == word) {
		put_distance(c->e.planes, MT_WORD_SAME_LOW, same);
		c->e.same = same;
		return TAG_SAME;
	}
	if (c->e.fresh)
		*c->e.fresh++ = word;
	if (alike && !((here[-(ptrdiff_t)alike] ^ word) >> LOW_BITS)) {
		put_distance(c->e.planes, MT_WORD_ALIKE_LOW, alike);
		put_distance(c->e.planes, MT_WORD_DIFFERENCE_LOW,
			     (uint16_t)(word - here[-(ptrdiff_t)alike]));
		return TAG_ALIKE;
	}
	mt_put_le64(c->e.planes[MT_WORD_LITERALS], word);
	c->e.planes[MT_WORD_LITERALS] += 8;
	return TAG_LITERAL;
}

static inline void put_tag(struct coding *c, enum tag tag)
{
	c->e.tags |= (uint32_t)tag << c->e.tag_shift;
	c->e.tag_shift += 2;
	if (c->e.tag_shift < 8)
		return;
	*c->e.planes[MT_WORD_TAGS]++ = (uint8_t)c->e.tags;
	c->e.tags = 0;
	c->e.tag_shift = 0;
}

/*
 * What a table does not know stands at 0 there. No distance is larger than the number of words
 * before this one: it is one modulo 65,536.
 */
void mt_word_encode(struct mt_word_encoder *encoder, const uint8_t *from, size_t count)
{
	struct mt_word_tables *tables = encoder->tables;
	struct coding c = {*encoder};

	for (size_t i = 0; i < count; i++, from += 8, c.e.count++) {
		uint64_t word = mt_get_le64(from);
		uint16_t *same = &tables->same[hash(word)];
		uint16_t *alike = &tables->alike[hash(word >> LOW_BITS)];
		uint16_t to_same = (uint16_t)(c.e.count - *same);
		uint16_t to_alike = (uint16_t)(c.e.count - *alike);

		*same = *alike = (uint16_t)c.e.count;
		c.e.words[c.e.count] = word;
		put_tag(&c, code_word(&c, word, to_same, to_alike));
	}
	*encoder = c.e;
}

void mt_word_encoder_end(struct mt_word_encoder *encoder)
{
	if (encoder->tag_shift)
		*encoder->planes[MT_WORD_TAGS]++ = (uint8_t)encoder->tags;
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

/* How far back a word stands; 0 where none stands there. */
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
