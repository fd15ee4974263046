/* Parses the parts of a PACKED record's body that need no earlier record. */
#include "formats/stacks/packed_body.h"

#include "formats/base/bytes.h"
#include "formats/stacks/kernel_words.h"

bool mt_packed_head_get(const uint8_t *body, size_t size, struct mt_packed_head *out)
{
	struct mt_cursor in = mt_cursor_init(body, size);

	out->event = mt_cursor_u32(&in);
	out->words = mt_cursor_u16(&in);
	out->tail = mt_cursor_u16(&in);
	out->slot = mt_cursor_u16(&in);
	out->sp = mt_cursor_u16(&in);
	out->lines = mt_cursor_u8(&in);
	if (in.bad || out->words < MT_KERNEL_WORDS_MIN || out->words > MT_KERNEL_WORDS_MAX ||
	    out->slot >= MT_STACK_SLOTS_MAX)
		return false;
	if (!out->tail)
		return !out->sp && !out->lines;
	return out->tail <= out->words - 2 && out->sp && out->sp <= out->words - out->tail;
}

/* True if no bit is set after the bit of the last word. */
static bool mask_fits(const uint8_t *mask, size_t words)
{
	return !(words % 8) || !(mask[words / 8] >> words % 8);
}

bool mt_packed_changed_take(struct mt_cursor *in, const uint8_t *start, size_t bitmap,
			    struct mt_packed_changed *out)
{
	size_t at;

	out->bytes = bitmap;
	out->bits = mt_cursor_bytes(in, bitmap);
	if (in->bad)
		return false;
	out->masks = mt_cursor_bytes(in, mt_packed_count(out->bits, bitmap));
	at = (size_t)(in->pos - start);
	mt_cursor_bytes(in, mt_align8(at) - at);
	out->words = *in;
	return !in->bad;
}

bool mt_packed_parts_take(const uint8_t *body, size_t size, struct mt_packed_parts *out)
{
	struct mt_cursor in = mt_cursor_init(body, size);

	if (!mt_packed_head_get(body, size, &out->head))
		return false;
	mt_cursor_bytes(&in, MT_PACKED_HEAD_SIZE);
	out->mask = mt_cursor_bytes(&in, ((size_t)out->head.words + 7) / 8);
	return out->mask && mask_fits(out->mask, out->head.words) &&
	       mt_packed_changed_take(&in, body, out->head.lines, &out->changed);
}

bool mt_packed_word(const uint8_t *body, size_t size, size_t index, uint64_t *word)
{
	struct mt_packed_parts packed;
	size_t before;

	if (!mt_packed_parts_take(body, size, &packed) || index >= packed.head.words ||
	    !(packed.mask[index / 8] >> index % 8 & 1))
		return false;
	before = mt_packed_count(packed.mask, index / 8) +
		 (size_t)__builtin_popcount(packed.mask[index / 8] & ((1u << index % 8) - 1));
	mt_cursor_bytes(&packed.changed.words, 8 * before);
	*word = mt_cursor_u64(&packed.changed.words);
	return !packed.changed.words.bad;
}

const uint8_t *mt_packed_words(const uint8_t *body, size_t size, size_t registers, size_t *bytes)
{
	struct mt_packed_parts packed;
	size_t words, left_out;

	if (!mt_packed_parts_take(body, size, &packed))
		return NULL;
	words = packed.head.words;
	left_out = packed.head.tail && registers ? packed.head.tail + registers + 1 : 0;
	words -= left_out < words ? left_out : words;
	*bytes = 8 * mt_packed_count(packed.mask, words / 8);
	if (words % 8)
		*bytes += 8 * (size_t)__builtin_popcount(packed.mask[words / 8] &
							 ((1u << words % 8) - 1));
	return mt_cursor_bytes(&packed.changed.words, *bytes);
}
