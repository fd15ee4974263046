/* Keeps code blocks as one set of (image, number). Adjacent blocks form a piece. */
#include "symbols/carried/code_blocks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "symbols/tables/address_sort.h"

enum {
	HEAD = 8,   /* number of pieces; zero */
	PIECE = 16, /* address, size, offset of its bytes */
};

/* A noted block. */
struct code_block {
	uint64_t number; /* number of MT_CODE_BLOCK bytes */
	uint32_t image;
};

struct mt_code_notes {
	pthread_mutex_t lock;
	struct mt_map64 known; /* hash of a block, or the next free key -> index in blocks */
	MT_ARRAY(struct code_block) blocks;
	bool failed;
};

/* ---- Reading ---- */

/* Number of pieces of a content; 0 if the content is too small for as many as it claims. */
static uint32_t count_pieces(struct mt_span content)
{
	uint32_t count = content.size >= HEAD ? mt_get_le32(content.bytes) : 0;

	return count && count > (content.size - HEAD) / PIECE ? 0 : count;
}

const uint8_t *mt_code_blocks_find(struct mt_span content, uint64_t vaddr, size_t n)
{
	size_t below = mt_array_split(count_pieces(content), at,
				      mt_get_le64(content.bytes + HEAD + at * PIECE) <= vaddr);
	const uint8_t *piece;
	uint64_t into, size, at;

	if (!below)
		return NULL;
	piece = content.bytes + HEAD + (below - 1) * PIECE;
	into = vaddr - mt_get_le64(piece);
	size = mt_get_le32(piece + 8);
	at = mt_get_le32(piece + 12);
	if (into >= size || n > size - into || at > content.size || size > content.size - at)
		return NULL;
	return content.bytes + at + into;
}

/* ---- Noting blocks ---- */

struct mt_code_notes *mt_code_notes_create(void)
{
	struct mt_code_notes *notes = calloc(1, sizeof(*notes));

	if (notes)
		pthread_mutex_init(&notes->lock, NULL);
	return notes;
}

void mt_code_notes_destroy(struct mt_code_notes *notes)
{
	if (!notes)
		return;
	pthread_mutex_destroy(&notes->lock);
	mt_map64_deinit(&notes->known);
	mt_array_deinit(&notes->blocks);
	free(notes);
}

static bool add_block(struct mt_code_notes *notes, const struct code_block *block)
{
	uint64_t key = mt_hash64(block->number ^ (uint64_t)block->image << 44), i;

	for (; mt_map64_get(&notes->known, key, &i); key++) {
		if (notes->blocks.items[i].number == block->number &&
		    notes->blocks.items[i].image == block->image)
			return true;
	}
	return mt_array_append(&notes->blocks, *block) &&
	       mt_map64_put(&notes->known, key, notes->blocks.count - 1);
}

void mt_code_notes_add(struct mt_code_notes *notes, uint32_t image, uint64_t vaddr, size_t n)
{
	uint64_t last = (vaddr + n - 1) / MT_CODE_BLOCK;

	pthread_mutex_lock(&notes->lock);
	for (uint64_t i = vaddr / MT_CODE_BLOCK; n && i <= last; i++)
		notes->failed |= !add_block(notes, &(struct code_block){i, image});
	pthread_mutex_unlock(&notes->lock);
}

bool mt_code_notes_failed(const struct mt_code_notes *notes)
{
	return notes->failed;
}

/* ---- Noted blocks ---- */

/* The numbers of an image's blocks, ascending; the caller frees them. NULL out of memory. */
static uint64_t *list_blocks(const struct mt_code_notes *notes, uint32_t image, size_t *count)
{
	MT_CLEANUP_FREE uint64_t *numbers = malloc((notes->blocks.count + 1) * sizeof(*numbers));

	*count = 0;
	for (size_t i = 0; numbers && i < notes->blocks.count; i++) {
		if (notes->blocks.items[i].image == image)
			numbers[(*count)++] = notes->blocks.items[i].number;
	}
	return numbers && mt_number_sort(numbers, *count) ? MT_TAKE(numbers) : NULL;
}

bool mt_code_notes_within(const struct mt_code_notes *notes, uint32_t image, struct mt_span content)
{
	for (size_t i = 0; i < notes->blocks.count; i++) {
		const struct code_block *block = &notes->blocks.items[i];

		/* a section may begin or end inside a block, so its first or last byte is enough */
		if (block->image == image &&
		    !mt_code_blocks_find(content, block->number * MT_CODE_BLOCK, 1) &&
		    !mt_code_blocks_find(content, block->number * MT_CODE_BLOCK + MT_CODE_BLOCK - 1,
					 1))
			return false;
	}
	return true;
}

/* The part of a block that the file has. */
static struct mt_span block_bytes(const struct mt_elf *elf, uint64_t number)
{
	struct mt_span span = {.vaddr = number * MT_CODE_BLOCK, .size = MT_CODE_BLOCK};

	while (span.size && !(span.bytes = mt_elf_bytes_at(elf, span.vaddr, span.size)))
		span.size--;
	for (; !span.size && span.vaddr % MT_CODE_BLOCK < MT_CODE_BLOCK - 1;) {
		size_t left = MT_CODE_BLOCK - ++span.vaddr % MT_CODE_BLOCK;

		span.bytes = mt_elf_bytes_at(elf, span.vaddr, left);
		span.size = span.bytes ? left : 0;
	}
	return span;
}

/* ---- Building ---- */

struct mt_code_making {
	MT_ARRAY(uint8_t) pieces;
	MT_ARRAY(uint8_t) code;
	uint64_t end; /* end of the last piece */
};

MT_DEFINE_CLEANUP(mt_code_making, struct mt_code_making)

struct mt_code_making *mt_code_making_create(void)
{
	return calloc(1, sizeof(struct mt_code_making));
}

void mt_code_making_destroy(struct mt_code_making *making)
{
	if (!making)
		return;
	mt_array_deinit(&making->pieces);
	mt_array_deinit(&making->code);
	free(making);
}

bool mt_code_making_add(struct mt_code_making *making, struct mt_span span)
{
	size_t last = making->pieces.count - PIECE;
	uint8_t *piece;

	if (!span.size || span.vaddr < making->end || span.size > UINT64_MAX - span.vaddr)
		return true;
	if (!mt_array_reserve(&making->pieces, making->pieces.count + PIECE) ||
	    !mt_array_reserve(&making->code, making->code.count + span.size))
		return false;
	memcpy(making->code.items + making->code.count, span.bytes, span.size);
	if (making->pieces.count && making->end == span.vaddr) {
		piece = making->pieces.items + last;
		mt_put_le32(piece + 8, mt_get_le32(piece + 8) + (uint32_t)span.size);
	} else {
		piece = making->pieces.items + making->pieces.count;
		mt_put_le64(piece, span.vaddr);
		mt_put_le32(piece + 8, (uint32_t)span.size);
		mt_put_le32(piece + 12, (uint32_t)making->code.count);
		making->pieces.count += PIECE;
	}
	making->code.count += span.size;
	making->end = span.vaddr + span.size;
	return true;
}

/*
 * Writes the header, the table of pieces and their bytes into one buffer. The offsets in the table
 * counted from the first byte of code; now they count from the start of the buffer.
 */
bool mt_code_making_finish(struct mt_code_making *making, uint8_t **out, size_t *size)
{
	size_t front = HEAD + making->pieces.count;

	*out = NULL;
	*size = making->pieces.count ? front + making->code.count : 0;
	if (!*size)
		return true;
	*out = *size <= UINT32_MAX ? malloc(*size) : NULL;
	if (!*out)
		return false;
	for (size_t i = 0; i < making->pieces.count; i += PIECE) {
		uint8_t *at = making->pieces.items + i + 12;

		mt_put_le32(at, mt_get_le32(at) + (uint32_t)front);
	}
	mt_put_le32(*out, (uint32_t)(making->pieces.count / PIECE));
	mt_put_le32(*out + 4, 0);
	memcpy(*out + HEAD, making->pieces.items, making->pieces.count);
	memcpy(*out + front, making->code.items, making->code.count);
	return true;
}

/* ---- Merging ---- */

struct part {
	struct mt_span span;
	size_t from; /* index of the content */
};

/* By address; for equal addresses, the earlier content comes first. */
static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->span.vaddr != y->span.vaddr)
		return x->span.vaddr < y->span.vaddr ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/*
 * Lists the pieces whose bytes lie entirely inside the content. In a damaged content pieces may
 * overlap, so their total size is limited to the size of the content.
 */
static size_t list_parts(struct mt_span content, size_t from, struct part *out)
{
	size_t count = count_pieces(content), n = 0, left = content.size;

	for (size_t i = 0; i < count; i++) {
		const uint8_t *piece = content.bytes + HEAD + i * PIECE;
		uint32_t size = mt_get_le32(piece + 8), at = mt_get_le32(piece + 12);

		if (at > content.size || size > content.size - at || size > left)
			continue;
		left -= size;
		out[n++] = (struct part){{content.bytes + at, size, mt_get_le64(piece)}, from};
	}
	return n;
}

/* The part of a span that lies after the end of the pieces added so far. */
static struct mt_span after(const struct mt_code_making *making, struct mt_span span)
{
	uint64_t known = making->end > span.vaddr ? making->end - span.vaddr : 0;

	if (known > span.size)
		known = span.size;
	return (struct mt_span){span.bytes + known, span.size - (size_t)known, span.vaddr + known};
}

bool mt_code_blocks_merge(const struct mt_span *contents, size_t count, uint8_t **out, size_t *size)
{
	MT_CLEANUP(mt_code_making_destroy_p)
	struct mt_code_making *making = mt_code_making_create();
	MT_CLEANUP_FREE struct part *parts = NULL;
	size_t room = 1, n = 0;
	bool good = making;

	for (size_t i = 0; i < count; i++)
		room += count_pieces(contents[i]);
	parts = calloc(room, sizeof(*parts));
	good &= parts != NULL;
	for (size_t i = 0; i < count && good; i++)
		n += list_parts(contents[i], i, parts + n);
	if (good)
		qsort(parts, n, sizeof(*parts), compare_parts);
	for (size_t i = 0; i < n && good; i++)
		good = mt_code_making_add(making, after(making, parts[i].span));
	return good && mt_code_making_finish(making, out, size);
}

/* ---- Content of noted blocks ---- */

bool mt_code_blocks_make(const struct mt_elf *elf, const struct mt_code_notes *notes,
			 uint32_t image, uint8_t **out, size_t *size)
{
	MT_CLEANUP(mt_code_making_destroy_p)
	struct mt_code_making *making = mt_code_making_create();
	size_t count;
	MT_CLEANUP_FREE uint64_t *numbers = list_blocks(notes, image, &count);

	if (!making || !numbers)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!mt_code_making_add(making, block_bytes(elf, numbers[i])))
			return false;
	}
	return mt_code_making_finish(making, out, size);
}
