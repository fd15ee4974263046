/*
 * The payload is a directory of sizes, then the planes. Heads and bit maps repeat from record to
 * record, so zstd's match search pays for them. The search does not pay for the bytes of distances
 * and differences: repeated words were already found.
 */
#include "formats/stacks/planes_pack.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "formats/base/bytes.h"
#include "formats/base/cursor.h"
#include "formats/chunks/compressor.h"
#include "formats/stacks/planes.h"

#define DIRECTORY ((size_t)MT_PLANES * 8)
#define LEVEL_THOROUGH 3 /* from this level on each plane is searched, at that level */
#define LEVEL_MAPS 1
#define LEVEL_FAST (-1)
#define HUFFMAN_ALONE 1 /* value of ZSTD_c_experimentalParam5 */

struct mt_planes_packer {
	struct mt_plane_splitter *splitter;
	struct mt_compressor *search, *entropy; /* contexts, each with the memory for its planes */
	mt_words_deliver *deliver;		/* or NULL */
	void *deliver_context;
};

/*
 * Compresses without a search for matches, by a step between positions that is longer than a block.
 * Steps also turn Huffman coding off, except with a parameter that exists since 1.4 and is marked
 * experimental. Without that parameter, a small table is searched.
 */
static size_t code_entropy(struct mt_planes_packer *packer, const struct mt_plane *plane,
			   uint8_t *out, size_t room)
{
	ZSTD_CCtx *zstd = mt_compressor_for(packer->entropy, 1, plane->size);

	if (!zstd)
		return 0;
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_hashLog, 6);
	if (!ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_experimentalParam5, HUFFMAN_ALONE)))
		ZSTD_CCtx_setParameter(zstd, ZSTD_c_targetLength, 131072);
	return ZSTD_compress2(zstd, out, room, plane->bytes, plane->size);
}

struct mt_planes_packer *mt_planes_packer_create(void)
{
	struct mt_planes_packer *packer = calloc(1, sizeof(*packer));

	if (!packer)
		return NULL;
	packer->splitter = mt_plane_splitter_create();
	packer->search = mt_compressor_create();
	packer->entropy = mt_compressor_create();
	if (!packer->splitter || !packer->search || !packer->entropy) {
		mt_planes_packer_destroy(packer);
		return NULL;
	}
	return packer;
}

void mt_planes_packer_destroy(struct mt_planes_packer *packer)
{
	if (!packer)
		return;
	mt_plane_splitter_destroy(packer->splitter);
	mt_compressor_destroy(packer->search);
	mt_compressor_destroy(packer->entropy);
	free(packer);
}

static size_t search(struct mt_planes_packer *packer, const struct mt_plane *plane, int level,
		     uint8_t *out, size_t room)
{
	ZSTD_CCtx *zstd = mt_compressor_for(packer->search, level, plane->size);

	return zstd ? ZSTD_compress2(zstd, out, room, plane->bytes, plane->size) : 0;
}

/* Size of the compressed plane; 0 if it is to be stored uncompressed. */
static size_t compress(struct mt_planes_packer *packer, size_t number, const struct mt_plane *plane,
		       int level, uint8_t *out, size_t room)
{
	size_t size;

	if (level >= LEVEL_THOROUGH)
		size = search(packer, plane, level, out, room);
	else if (number < MT_PLANE_WORDS)
		size = search(packer, plane, level > 0 ? LEVEL_MAPS : LEVEL_FAST, out, room);
	else if (number < MT_PLANE_WORDS + MT_WORD_LITERALS)
		size = code_entropy(packer, plane, out, room);
	else
		size = level > 0 ? search(packer, plane, LEVEL_FAST, out, room) : 0;
	return ZSTD_isError(size) || size >= plane->size ? 0 : size;
}

/* Planes begin at multiples of 8, and records have sizes of multiples of 8. */
static void report_others(const struct mt_planes_packer *packer, const struct mt_plane *others)
{
	if (packer->deliver)
		packer->deliver(packer->deliver_context,
				(const uint64_t *)(const void *)others->bytes, others->size / 8);
}

size_t mt_planes_pack(struct mt_planes_packer *packer, const uint8_t *records, size_t size,
		      int level, uint8_t *out, size_t room)
{
	struct mt_plane planes[MT_PLANES];
	size_t at = DIRECTORY;

	if (room < DIRECTORY || !mt_planes_split(packer->splitter, records, size, planes))
		return 0;
	report_others(packer, &planes[MT_PLANE_OTHERS]);
	for (size_t i = 0; i < MT_PLANES; i++) {
		size_t stored = compress(packer, i, &planes[i], level, out + at, room - at);

		if (!stored) {
			stored = planes[i].size;
			if (stored > room - at)
				return 0;
			memcpy(out + at, planes[i].bytes, stored);
		}
		mt_put_le32(out + 8 * i, (uint32_t)planes[i].size);
		mt_put_le32(out + 8 * i + 4, (uint32_t)stored);
		at += stored;
	}
	return at;
}

void mt_planes_packer_set_words(struct mt_planes_packer *packer, mt_words_deliver *deliver,
				void *context)
{
	packer->deliver = deliver;
	packer->deliver_context = context;
	mt_plane_splitter_set_words(packer->splitter, deliver, context);
}

/* A plane in the directory: its size, and its bytes in the payload. */
struct entry {
	size_t size;
	struct mt_cursor stored;
};

static bool read_directory(const uint8_t *payload, size_t payload_size, uint64_t most,
			   struct entry entries[MT_PLANES])
{
	struct mt_cursor in = mt_cursor_init(payload, payload_size),
			 directory = mt_cursor_sub(&in, DIRECTORY);
	uint64_t total = 0;

	for (size_t i = 0; i < MT_PLANES; i++) {
		uint32_t stored;

		entries[i].size = mt_cursor_u32(&directory);
		stored = mt_cursor_u32(&directory);
		total += entries[i].size;
		if (stored > entries[i].size)
			return false;
		entries[i].stored = mt_cursor_sub(&in, stored);
	}
	return !in.bad && !mt_cursor_left(&in) && total <= most;
}

/* Uncompressed planes are used in place. */
static bool unpack_planes(ZSTD_DCtx *zstd, const struct entry entries[MT_PLANES], uint8_t *memory,
			  struct mt_plane planes[MT_PLANES])
{
	for (size_t i = 0; i < MT_PLANES; i++) {
		const struct mt_cursor *stored = &entries[i].stored;
		size_t size = entries[i].size, stored_size = mt_cursor_left(stored);

		planes[i] = (struct mt_plane){stored->pos, size};
		if (stored_size == size)
			continue;
		/* an error code of zstd is larger than any size */
		if (ZSTD_decompressDCtx(zstd, memory, size, stored->pos, stored_size) != size)
			return false;
		planes[i].bytes = memory;
		memory += size;
	}
	return true;
}

bool mt_planes_unpack(struct ZSTD_DCtx_s *zstd, const uint8_t *payload, size_t payload_size,
		      uint8_t *records, size_t size, bool *no_memory)
{
	struct mt_plane planes[MT_PLANES];
	struct entry entries[MT_PLANES];
	uint64_t most = mt_planes_size_max(size);
	size_t scratch = mt_planes_scratch_size(size);
	uint8_t *memory;
	bool good;

	*no_memory = false;
	if (!read_directory(payload, payload_size, most, entries))
		return false;
	memory = malloc(scratch + (size_t)most);
	*no_memory = !memory;
	if (!memory)
		return false;
	good = unpack_planes(zstd, entries, memory + scratch, planes) &&
	       mt_planes_join(planes, records, size, memory);
	free(memory);
	return good;
}
