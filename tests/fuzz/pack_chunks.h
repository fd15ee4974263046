/* Packs the chunks of a recording, so that mutated records are read from zstd and from planes. */
#ifndef MT_TESTS_FUZZ_PACK_CHUNKS_H
#define MT_TESTS_FUZZ_PACK_CHUNKS_H

#include <stdint.h>
#include <zstd.h>

#include "formats/base/bytes.h"
#include "formats/chunks/chunk.h"
#include "formats/stacks/planes_pack.h"

/* Packs a stored chunk's payload and updates its header. Returns 0 if it cannot be packed. */
static inline size_t pack_chunk(const struct mt_chunk_header *from, const uint8_t *payload,
				uint8_t *out, size_t room, struct mt_chunk_header *header)
{
	struct mt_planes_packer *packer = mt_planes_packer_create();
	size_t size = 0;

	*header = *from;
	if (packer && from->type == MT_CHUNK_DATA)
		size = mt_planes_pack(packer, payload, from->raw_size, 1, out, room);
	mt_planes_packer_destroy(packer);
	header->codec = MT_CODEC_PLANES;
	if (!size) {
		header->codec = MT_CODEC_ZSTD;
		size = ZSTD_compress(out, room, payload, from->raw_size, 1);
		size = ZSTD_isError(size) ? 0 : size;
	}
	header->stored_size = (uint32_t)size;
	header->payload_crc = mt_crc32c(0, out, size);
	return size;
}

/*
 * Copies a recording with each stored chunk packed, so that mutated records are read from
 * compressed chunks and from planes. Mutating packed bytes would only break their checksums.
 * Returns the size; `room` must be large enough.
 */
static inline size_t pack_chunks(const uint8_t *data, size_t size, uint8_t *out, size_t room)
{
	struct mt_chunk_header header, packed;
	size_t at = 0, to = 0, payload;

	while (at < size) {
		bool chunk = size - at >= MT_CHUNK_HEADER_SIZE &&
			     mt_chunk_header_decode(data + at, &header) &&
			     header.codec == MT_CODEC_STORED && header.raw_size &&
			     header.raw_size <= size - at - MT_CHUNK_HEADER_SIZE;

		payload = chunk && room - to > MT_CHUNK_HEADER_SIZE
				  ? pack_chunk(&header, data + at + MT_CHUNK_HEADER_SIZE,
					       out + to + MT_CHUNK_HEADER_SIZE,
					       room - to - MT_CHUNK_HEADER_SIZE, &packed)
				  : 0;
		if (payload) {
			mt_chunk_header_encode(&packed, out + to);
			at += MT_CHUNK_HEADER_SIZE + header.raw_size;
			to += MT_CHUNK_HEADER_SIZE + payload;
		} else {
			if (to == room)
				return to;
			out[to++] = data[at++];
		}
	}
	return to;
}

#endif
