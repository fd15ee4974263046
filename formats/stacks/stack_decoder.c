/*
 * Keeps the images and kernel references of each slot, which are allocated on first use. A record
 * is checked as a whole before it changes an image.
 */
#include "formats/stacks/stack_decoder.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cursor.h"
#include "formats/stacks/kernel_words.h"
#include "formats/stacks/stack_image.h"

struct mt_stack_decoder {
	size_t memory;
	struct mt_stack_image images[MT_STACK_SLOTS_MAX];
	struct mt_kernel_references *kernel[MT_STACK_SLOTS_MAX];
};

struct mt_stack_decoder *mt_stack_decoder_create(void)
{
	struct mt_stack_decoder *decoder = calloc(1, sizeof(*decoder));

	if (decoder)
		decoder->memory = sizeof(*decoder);
	return decoder;
}

size_t mt_stack_decoder_memory(const struct mt_stack_decoder *decoder)
{
	return decoder->memory;
}

void mt_stack_decoder_destroy(struct mt_stack_decoder *decoder)
{
	if (!decoder)
		return;
	for (unsigned i = 0; i < MT_STACK_SLOTS_MAX; i++) {
		free(decoder->images[i].lines);
		free(decoder->kernel[i]);
	}
	free(decoder);
}

void mt_stack_decoder_reset(struct mt_stack_decoder *decoder)
{
	for (unsigned i = 0; i < MT_STACK_SLOTS_MAX; i++) {
		mt_stack_image_reset(&decoder->images[i]);
		if (decoder->kernel[i])
			mt_kernel_references_reset(decoder->kernel[i]);
	}
}

/*
 * The slot's image, allocated on first use; NULL for a slot number out of range, or out of memory.
 */
static struct mt_stack_image *decoder_image(struct mt_stack_decoder *decoder, uint32_t slot)
{
	struct mt_stack_image *image;

	if (slot >= MT_STACK_SLOTS_MAX)
		return NULL;
	image = &decoder->images[slot];
	if (image->lines)
		return image;
	image->lines = aligned_alloc(MT_STACK_LINE, (size_t)MT_STACK_LINES * MT_STACK_LINE);
	if (!image->lines)
		return NULL;
	decoder->memory += (size_t)MT_STACK_LINES * MT_STACK_LINE;
	return image;
}

/* The slot's references for the kernel's words; allocated and NULL in the same cases. */
static struct mt_kernel_references *decoder_kernel(struct mt_stack_decoder *decoder, uint32_t slot)
{
	struct mt_kernel_references **kernel;

	if (slot >= MT_STACK_SLOTS_MAX)
		return NULL;
	kernel = &decoder->kernel[slot];
	if (*kernel)
		return *kernel;
	*kernel = calloc(1, sizeof(**kernel));
	decoder->memory += *kernel ? sizeof(**kernel) : 0;
	return *kernel;
}

/* Mask of the words of line number `line` that a dump has. */
static unsigned words_in_line(uint64_t address, size_t size, size_t line)
{
	size_t first = line ? 0 : address % MT_STACK_LINE / 8;
	size_t end = (address % MT_STACK_LINE + size - line * MT_STACK_LINE) / 8;

	return 0xffu >> (MT_STACK_WORDS - (end < MT_STACK_WORDS ? end : MT_STACK_WORDS)) &
	       0xffu << first;
}

/* Whether each mask only names words of the dump, and the masks account for all stored words. */
static bool words_agree(uint64_t address, size_t size, const struct mt_packed_changed *changed)
{
	const uint8_t *mask = changed->masks;
	size_t stored = 0;

	for (size_t i = 0; i < changed->bytes; i++) {
		for (unsigned set = changed->bits[i]; set; set &= set - 1, mask++) {
			size_t line = 8 * i + (size_t)__builtin_ctz(set);

			if (!*mask || *mask & ~words_in_line(address, size, line))
				return false;
			stored += mt_packed_count(mask, 1);
		}
	}
	return 8 * stored == mt_cursor_left(&changed->words);
}

/* Applies the changed lines, after words_agree(). */
static void patch_lines(struct mt_stack_image *image, uint64_t address,
			const struct mt_packed_changed *changed)
{
	const uint8_t *mask = changed->masks, *word = changed->words.pos;

	for (size_t i = 0; i < changed->bytes; i++) {
		for (unsigned set = changed->bits[i]; set; set &= set - 1, mask++) {
			size_t line = 8 * i + (size_t)__builtin_ctz(set);
			uint64_t *to =
				image->lines[(address / MT_STACK_LINE + line) % MT_STACK_LINES];

			for (unsigned named = *mask; named; named &= named - 1, word += 8)
				to[__builtin_ctz(named)] = mt_get_le64(word);
		}
	}
}

/* Neighbouring lines are neighbours in the image, up to where the image wraps around. */
static void copy_dump(const struct mt_stack_image *image, uint64_t address, uint8_t *out,
		      size_t size)
{
	const uint8_t *bytes = (const uint8_t *)image->lines;
	size_t from = address % (MT_STACK_LINE * MT_STACK_LINES),
	       head = MT_STACK_LINE * MT_STACK_LINES - from;

	if (head > size)
		head = size;
	memcpy(out, bytes + from, head);
	memcpy(out + head, bytes, size - head);
}

/* Whether the dump's size and address are valid, and only lines of the dump changed. */
static bool lines_fit(uint64_t address, size_t size, const struct mt_packed_changed *changed)
{
	size_t lines = mt_stack_line_count(address, size), bitmap = (lines + 7) / 8;

	if (!size || size > MT_STACK_DUMP_MAX || size % 8 || address % 8 ||
	    mt_stack_past_the_end(address, size) || changed->bytes > bitmap)
		return false;
	if (changed->bytes == bitmap && lines % 8 && changed->bits[bitmap - 1] >> lines % 8)
		return false;
	return words_agree(address, size, changed);
}

/* Decodes a dump, after lines_fit(). */
static bool decode_lines(struct mt_stack_decoder *decoder, uint32_t slot, uint64_t address,
			 const struct mt_packed_changed *changed, uint8_t *out, size_t size)
{
	struct mt_stack_image *image = decoder_image(decoder, slot);

	if (!image)
		return false;
	mt_stack_image_touch(image, address, mt_stack_line_count(address, size));
	patch_lines(image, address, changed);
	copy_dump(image, address, out, size);
	return true;
}

bool mt_stack_decode(struct mt_stack_decoder *decoder, const uint8_t *coded, size_t coded_size,
		     uint8_t *out, size_t size)
{
	struct mt_cursor in = mt_cursor_init(coded, coded_size);
	uint32_t slot = mt_cursor_u32(&in);
	uint64_t address = (mt_cursor_u32(&in), mt_cursor_u64(&in));
	struct mt_packed_changed changed;

	return mt_packed_changed_take(&in, coded, (mt_stack_line_count(address, size) + 7) / 8,
				      &changed) &&
	       lines_fit(address, size, &changed) &&
	       decode_lines(decoder, slot, address, &changed, out, size);
}

/* The address and size of the dump, from the kernel's words. */
static uint64_t dump_size(const struct mt_packed_head *head, const uint8_t *kernel)
{
	return head->tail ? mt_get_le64(kernel + 8u * (size_t)(head->words - head->tail)) : 0;
}

static uint64_t dump_address(const struct mt_packed_head *head, const uint8_t *kernel)
{
	return mt_get_le64(kernel + 8u * (size_t)(head->words - head->tail - head->sp));
}

bool mt_stack_unpack_kernel(struct mt_stack_decoder *decoder, uint64_t time, const uint8_t *body,
			    size_t size, uint8_t *out, size_t *out_size, size_t *dump)
{
	struct mt_kernel_references *references;
	struct mt_kernel_words words;
	struct mt_packed_parts packed;
	uint64_t dumped;

	if (!mt_packed_parts_take(body, size, &packed))
		return false;
	references = decoder_kernel(decoder, packed.head.slot);
	if (!references)
		return false;
	words = mt_kernel_words_begin(references, packed.head.words, time);
	if (!mt_kernel_words_decode(&words, packed.mask, &packed.changed.words, out))
		return false;
	dumped = dump_size(&packed.head, out);
	if (dumped ? dumped > MT_STACK_DUMP_MAX || !lines_fit(dump_address(&packed.head, out),
							      (size_t)dumped, &packed.changed)
		   : packed.changed.bytes || mt_cursor_left(&packed.changed.words))
		return false;
	*out_size = 8u * (size_t)packed.head.words;
	*dump = (size_t)dumped;
	return true;
}

bool mt_stack_unpack_dump(struct mt_stack_decoder *decoder, const uint8_t *body, size_t size,
			  const uint8_t *kernel, uint8_t *out, bool *any)
{
	struct mt_packed_parts packed;
	size_t dumped;

	if (!mt_packed_parts_take(body, size, &packed))
		return false;
	dumped = (size_t)dump_size(&packed.head, kernel);
	mt_cursor_bytes(&packed.changed.words,
			8 * mt_packed_count(packed.mask, ((size_t)packed.head.words + 7) / 8));
	*any = dumped;
	return !dumped ||
	       decode_lines(decoder, packed.head.slot, dump_address(&packed.head, kernel),
			    &packed.changed, out, dumped);
}

bool mt_stack_decoder_reserve(struct mt_stack_decoder *decoder, const uint8_t *body, size_t size)
{
	struct mt_packed_head head;

	return mt_packed_head_get(body, size, &head) && decoder_image(decoder, head.slot);
}

bool mt_stack_unpack(struct mt_stack_decoder *decoder, uint64_t time, const uint8_t *body,
		     size_t size, uint8_t *out, size_t *out_size)
{
	size_t kernel, dump;
	bool any;

	if (!mt_stack_unpack_kernel(decoder, time, body, size, out, &kernel, &dump) ||
	    (dump && !mt_stack_unpack_dump(decoder, body, size, out, out + kernel, &any)))
		return false;
	*out_size = kernel + dump;
	return true;
}
