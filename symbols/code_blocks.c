/* Blocks are noted as (image, number) in one sorted set; pieces are runs of neighbours. */
#include "symbols/code_blocks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"

enum {
	HEAD = 8,   /* how many pieces; zero */
	PIECE = 16, /* address, size, where its bytes stand */
};

struct block {
	uint64_t number; /* of MT_CODE_BLOCK bytes */
	uint32_t image;
};

struct mt_code_notes {
	pthread_mutex_t lock;
	struct mt_map64 known; /* hash of a block, or the next free number after it, to its index */
	MT_ARRAY(struct block) blocks;
	bool failed;
};

/* ---- Reading ---- */

const uint8_t *mt_code_blocks_find(struct mt_span content, uint64_t vaddr, size_t n)
{
	uint32_t low = 0, high = content.size >= HEAD ? mt_get_le32(content.bytes) : 0;
	uint64_t into, size, at;
	const uint8_t *piece;

	if (high > (content.size - (high ? HEAD : 0)) / PIECE)
		return NULL;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (mt_get_le64(content.bytes + HEAD + (size_t)middle * PIECE) <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	piece = content.bytes + HEAD + (size_t)(low - 1) * PIECE;
	into = vaddr - mt_get_le64(piece);
	size = mt_get_le32(piece + 8);
	at = mt_get_le32(piece + 12);
	if (into >= size || n > size - into || at > content.size || size > content.size - at)
		return NULL;
	return content.bytes + at + into;
}

/* ---- Taking note ---- */

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

static bool add_block(struct mt_code_notes *notes, const struct block *block)
{
	uint64_t key = mt_hash64(block->number ^ (uint64_t)block->image << 44), i;
	struct block *slot;

	for (; mt_map64_get(&notes->known, key, &i); key++) {
		if (notes->blocks.items[i].number == block->number &&
		    notes->blocks.items[i].image == block->image)
			return true;
	}
	slot = mt_array_push(&notes->blocks);
	if (!slot)
		return false;
	*slot = *block;
	return mt_map64_put(&notes->known, key, notes->blocks.count - 1);
}

void mt_code_notes_add(struct mt_code_notes *notes, uint32_t image, uint64_t vaddr, size_t n)
{
	uint64_t last = (vaddr + n - 1) / MT_CODE_BLOCK;

	pthread_mutex_lock(&notes->lock);
	for (uint64_t i = vaddr / MT_CODE_BLOCK; n && i <= last; i++)
		notes->failed |= !add_block(notes, &(struct block){i, image});
	pthread_mutex_unlock(&notes->lock);
}

bool mt_code_notes_failed(const struct mt_code_notes *notes)
{
	return notes->failed;
}

/* ---- What was noted ---- */

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The numbers of an image's blocks, rising, the caller's; NULL out of memory. */
static uint64_t *list_blocks(const struct mt_code_notes *notes, uint32_t image, size_t *count)
{
	uint64_t *numbers = malloc((notes->blocks.count + 1) * sizeof(*numbers));

	*count = 0;
	for (size_t i = 0; numbers && i < notes->blocks.count; i++) {
		if (notes->blocks.items[i].image == image)
			numbers[(*count)++] = notes->blocks.items[i].number;
	}
	if (numbers)
		qsort(numbers, *count, sizeof(*numbers), compare_numbers);
	return numbers;
}

bool mt_code_notes_within(const struct mt_code_notes *notes, uint32_t image, struct mt_span content)
{
	for (size_t i = 0; i < notes->blocks.count; i++) {
		const struct block *block = &notes->blocks.items[i];

		/* the last block of a section may be cut */
		if (block->image == image &&
		    !mt_code_blocks_find(content, block->number * MT_CODE_BLOCK, 1) &&
		    !mt_code_blocks_find(content, block->number * MT_CODE_BLOCK + MT_CODE_BLOCK - 1,
					 1))
			return false;
	}
	return true;
}

/* So much of a block as the file has. */
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

struct making {
	MT_ARRAY(uint8_t) pieces;
	MT_ARRAY(uint8_t) code;
	uint64_t end; /* of the last piece */
};

static void making_deinit(struct making *making)
{
	mt_array_deinit(&making->pieces);
	mt_array_deinit(&making->code);
}

static bool add_bytes(struct making *making, struct mt_span span)
{
	size_t last = making->pieces.count - PIECE;
	uint8_t *piece;

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

/* Pieces and their bytes as one content; what they count from the first byte of code is moved. */
static bool put_together(struct making *making, uint8_t **out, size_t *size)
{
	size_t front = HEAD + making->pieces.count;

	*size = front + making->code.count;
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

bool mt_code_blocks_make(const struct mt_elf *elf, const struct mt_code_notes *notes,
			 uint32_t image, uint8_t **out, size_t *size)
{
	MT_CLEANUP(making_deinit) struct making making = {0};
	size_t count;
	MT_CLEANUP_FREE uint64_t *numbers = list_blocks(notes, image, &count);

	*out = NULL;
	*size = 0;
	if (!numbers)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct mt_span span = block_bytes(elf, numbers[i]);

		if (span.size && !add_bytes(&making, span))
			return false;
	}
	return !making.pieces.count || put_together(&making, out, size);
}
