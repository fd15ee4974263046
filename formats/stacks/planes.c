/*
 * The size of a PACKED record follows from its head and bit maps. Their meaning does not matter
 * here: any bytes with the layout of a PACKED record are restored exactly.
 */
#include "formats/stacks/planes.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cursor.h"
#include "formats/base/pages.h"
#include "formats/chunks/chunk.h"
#include "formats/records/record.h"
#include "formats/stacks/packed_body.h"

#define HEAD MT_PACKED_HEAD_SIZE
#define OFF_WORDS 4  /* u16: words of the kernel's record */
#define OFF_LINES 12 /* u8: bytes of the bit map of changed lines */
#define TIME_MAX 10  /* bytes of a LEB128 number of 64 bits */
#define ROOM_MIN ((size_t)128 << 10)

enum kind {
	KIND_PACKED, /* with the same head as the previous one */
	KIND_PACKED_HEAD,
	KIND_OTHER,
};

/* Sizes of the parts of a PACKED record. */
struct shape {
	size_t stored, changed, masks; /* bytes */
	size_t words;
};

/*
 * Offset of the words from the record's start: padding belongs to the record, its header is 16
 * bytes.
 */
static size_t words_offset(const struct shape *shape)
{
	return MT_RECORD_HEADER_SIZE +
	       mt_align8(HEAD + shape->stored + shape->changed + shape->masks);
}

static uint64_t bits_in_word(uint64_t bits)
{
	bits -= bits >> 1 & UINT64_C(0x5555555555555555);
	bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
	bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return bits * UINT64_C(0x0101010101010101) >> 56;
}

/* Not every processor has an instruction to count bits, and one byte at a time is slow. */
static size_t bits_in(const uint8_t *bytes, size_t size)
{
	uint64_t rest = 0, count = 0;

	for (; size >= 8; size -= 8, bytes += 8)
		count += bits_in_word(mt_get_le64(bytes));
	for (size_t i = 0; i < size; i++)
		rest = rest << 8 | bytes[i];
	return (size_t)(count + bits_in_word(rest));
}

/* ---- Splitting ---- */

struct mt_plane_splitter {
	struct mt_word_tables tables;
	struct mt_word_encoder words;
	uint8_t *memory;
	size_t room; /* bytes of records that the planes have room for */
	uint8_t *begin[MT_PLANES], *at[MT_PLANES], *end[MT_PLANES];
	uint64_t time;
	uint8_t head[HEAD];
	mt_words_deliver *deliver; /* or NULL */
	void *deliver_context;
};

/*
 * Each plane has room for the size of the records divided by this. Records that need more are not
 * worth splitting. A word's distance takes a byte in each of two planes, and so on.
 */
static const uint8_t room_divisor[MT_PLANES] = {
	[MT_PLANE_KINDS] = 16,
	[MT_PLANE_TIMES] = 4,
	[MT_PLANE_HEADS] = 4,
	[MT_PLANE_OTHERS] = 4,
	[MT_PLANE_STORED] = 4,
	[MT_PLANE_CHANGED] = 8,
	[MT_PLANE_MASKS] = 8,
	[MT_PLANE_WORDS + MT_WORD_TAGS] = 32,
	[MT_PLANE_WORDS + MT_WORD_SAME_LOW] = 8,
	[MT_PLANE_WORDS + MT_WORD_SAME_HIGH] = 8,
	[MT_PLANE_WORDS + MT_WORD_ALIKE_LOW] = 8,
	[MT_PLANE_WORDS + MT_WORD_ALIKE_HIGH] = 8,
	[MT_PLANE_WORDS + MT_WORD_DIFFERENCE_LOW] = 8,
	[MT_PLANE_WORDS + MT_WORD_DIFFERENCE_HIGH] = 8,
	[MT_PLANE_WORDS + MT_WORD_LITERALS] = 1,
};

static size_t plane_room(size_t room, size_t plane)
{
	return mt_align8(room / room_divisor[plane] + 8);
}

struct mt_plane_splitter *mt_plane_splitter_create(void)
{
	return calloc(1, sizeof(struct mt_plane_splitter));
}

void mt_plane_splitter_destroy(struct mt_plane_splitter *splitter)
{
	if (!splitter)
		return;
	free(splitter->memory);
	free(splitter);
}

/*
 * One allocation for the words and all planes. It is populated, and it is replaced only when a
 * larger block comes.
 */
static bool make_room(struct mt_plane_splitter *s, size_t size)
{
	size_t room = ROOM_MIN, all;
	uint8_t *at;

	if (size <= s->room)
		return true;
	while (room < size)
		room *= 2;
	all = room + 16;
	for (size_t i = 0; i < MT_PLANES; i++)
		all += plane_room(room, i);
	free(s->memory);
	s->room = 0;
	s->memory = malloc(all);
	if (!s->memory)
		return false;
	mt_pages_prefault(s->memory, all);
	s->room = room;
	at = s->memory + room + 16;
	for (size_t i = 0; i < MT_PLANES; i++) {
		s->begin[i] = at;
		at += plane_room(room, i);
		s->end[i] = at;
	}
	return true;
}

/* Begins a chunk. Numbers are first collected in the memory of the planes that they go to. */
static void begin(struct mt_plane_splitter *s)
{
	uint8_t **words = s->begin + MT_PLANE_WORDS;

	memcpy(s->at, s->begin, sizeof(s->at));
	s->words = (struct mt_word_encoder){
		.tables = &s->tables,
		.words = (uint64_t *)(void *)s->memory,
		.tag_bytes = words[MT_WORD_TAGS],
		.sames = (uint16_t *)(void *)words[MT_WORD_SAME_LOW],
		.alikes = (uint32_t *)(void *)words[MT_WORD_ALIKE_LOW],
		.literals = (uint64_t *)(void *)words[MT_WORD_LITERALS],
	};
	mt_word_encoder_begin(&s->words);
	s->time = 0;
	memset(s->head, 0, sizeof(s->head));
}

static bool put(struct mt_plane_splitter *s, size_t plane, const void *bytes, size_t size)
{
	if (size > (size_t)(s->end[plane] - s->at[plane]))
		return false;
	memcpy(s->at[plane], bytes, size);
	s->at[plane] += size;
	return true;
}

/* Whether the record can be joined again from its parts; its size is implied by them. */
static bool get_shape(const uint8_t *record, size_t size, struct shape *out)
{
	const uint8_t *body = record + MT_RECORD_HEADER_SIZE, *maps = body + HEAD;
	size_t body_size = size - MT_RECORD_HEADER_SIZE, fixed;

	if (mt_get_le32(record) != MT_RECORD_PACKED || body_size < HEAD)
		return false;
	out->stored = ((size_t)mt_get_le16(body + OFF_WORDS) + 7) / 8;
	out->changed = body[OFF_LINES];
	fixed = HEAD + out->stored + out->changed;
	if (fixed > body_size)
		return false;
	out->masks = bits_in(maps + out->stored, out->changed);
	fixed += out->masks;
	if (fixed > body_size)
		return false;
	out->words =
		bits_in(maps, out->stored) + bits_in(maps + out->stored + out->changed, out->masks);
	if (words_offset(out) + 8 * out->words != size)
		return false;
	for (; fixed % 8; fixed++) {
		if (body[fixed])
			return false;
	}
	return true;
}

/* The difference from the previous time, as signed LEB128. */
static bool put_time(struct mt_plane_splitter *s, uint64_t time)
{
	int64_t left = (int64_t)(time - s->time);
	uint8_t bytes[TIME_MAX];
	size_t size = 0;

	s->time = time;
	while (left < -64 || left > 63) {
		bytes[size++] = (uint8_t)(0x80 | (left & 0x7f));
		left >>= 7;
	}
	bytes[size++] = (uint8_t)(left & 0x7f);
	return put(s, MT_PLANE_TIMES, bytes, size);
}

static bool put_head(struct mt_plane_splitter *s, const uint8_t *head)
{
	uint8_t kind = memcmp(head, s->head, HEAD) ? KIND_PACKED_HEAD : KIND_PACKED;

	if (!put(s, MT_PLANE_KINDS, &kind, 1))
		return false;
	if (kind == KIND_PACKED)
		return true;
	memcpy(s->head, head, HEAD);
	return put(s, MT_PLANE_HEADS, head, HEAD);
}

static bool split_packed(struct mt_plane_splitter *s, const uint8_t *record,
			 const struct shape *shape)
{
	const uint8_t *head = record + MT_RECORD_HEADER_SIZE, *maps = head + HEAD;

	if (!put_head(s, head) || !put_time(s, mt_get_le64(record + 8)) ||
	    !put(s, MT_PLANE_STORED, maps, shape->stored) ||
	    !put(s, MT_PLANE_CHANGED, maps + shape->stored, shape->changed) ||
	    !put(s, MT_PLANE_MASKS, maps + shape->stored + shape->changed, shape->masks))
		return false;
	mt_word_encode(&s->words, record + words_offset(shape), shape->words);
	return true;
}

static bool split_other(struct mt_plane_splitter *s, const uint8_t *record, size_t size)
{
	static const uint8_t kind = KIND_OTHER;

	return put(s, MT_PLANE_KINDS, &kind, 1) && put(s, MT_PLANE_OTHERS, record, size);
}

void mt_plane_splitter_set_words(struct mt_plane_splitter *splitter, mt_words_deliver *deliver,
				 void *context)
{
	splitter->deliver = deliver;
	splitter->deliver_context = context;
}

bool mt_planes_split(struct mt_plane_splitter *splitter, const uint8_t *records, size_t size,
		     struct mt_plane planes[MT_PLANES])
{
	struct shape shape;
	size_t record;

	if (!make_room(splitter, size))
		return false;
	begin(splitter);
	for (size_t at = 0; at < size; at += record) {
		record = size - at < MT_RECORD_HEADER_SIZE ? 0 : mt_get_le32(records + at + 4);
		if (record < MT_RECORD_HEADER_SIZE || record % 8 || record > size - at)
			return false;
		if (get_shape(records + at, record, &shape)
			    ? !split_packed(splitter, records + at, &shape)
			    : !split_other(splitter, records + at, record))
			return false;
	}
	if (splitter->deliver)
		mt_word_encoder_deliver(&splitter->words, splitter->deliver,
					splitter->deliver_context);
	mt_word_encoder_end(&splitter->words, planes + MT_PLANE_WORDS);
	for (size_t i = 0; i < MT_PLANE_WORDS; i++)
		planes[i] = (struct mt_plane){splitter->begin[i],
					      (size_t)(splitter->at[i] - splitter->begin[i])};
	return true;
}

/* ---- Joining ---- */

struct joiner {
	struct mt_cursor planes[MT_PLANES];
	struct mt_word_decoder words;
	uint8_t *at, *end; /* of the records */
	uint64_t time;
	uint8_t head[HEAD];
};

static bool join_other(struct joiner *j)
{
	struct mt_cursor *others = &j->planes[MT_PLANE_OTHERS];
	size_t left = mt_cursor_left(others),
	       size = left < MT_RECORD_HEADER_SIZE ? 0 : mt_get_le32(others->pos + 4);

	if (size < MT_RECORD_HEADER_SIZE || size % 8 || size > left ||
	    size > (size_t)(j->end - j->at))
		return false;
	memcpy(j->at, mt_cursor_bytes(others, size), size);
	j->at += size;
	return true;
}

/* The head of the next PACKED record, and its time. */
static bool take_front(struct joiner *j, enum kind kind)
{
	struct mt_cursor *times = &j->planes[MT_PLANE_TIMES];
	const uint8_t *before = times->pos, *head;

	j->time += (uint64_t)mt_cursor_sleb(times);
	if (times->bad || times->pos - before > TIME_MAX)
		return false;
	if (kind == KIND_PACKED)
		return true;
	head = mt_cursor_bytes(&j->planes[MT_PLANE_HEADS], HEAD);
	if (head)
		memcpy(j->head, head, HEAD);
	return head;
}

/* Takes the bit maps of a PACKED record, and computes the sizes of its parts. */
static bool take_maps(struct joiner *j, const uint8_t *maps[3], struct shape *out)
{
	struct mt_cursor *planes = j->planes;

	out->stored = ((size_t)mt_get_le16(j->head + OFF_WORDS) + 7) / 8;
	out->changed = j->head[OFF_LINES];
	maps[0] = mt_cursor_bytes(&planes[MT_PLANE_STORED], out->stored);
	maps[1] = mt_cursor_bytes(&planes[MT_PLANE_CHANGED], out->changed);
	if (planes[MT_PLANE_STORED].bad || planes[MT_PLANE_CHANGED].bad)
		return false;
	out->masks = bits_in(maps[1], out->changed);
	maps[2] = mt_cursor_bytes(&planes[MT_PLANE_MASKS], out->masks);
	if (planes[MT_PLANE_MASKS].bad)
		return false;
	out->words = bits_in(maps[0], out->stored) + bits_in(maps[2], out->masks);
	return true;
}

static uint8_t *add(uint8_t *to, const uint8_t *bytes, size_t size)
{
	if (size) /* bytes may be NULL */
		memcpy(to, bytes, size);
	return to + size;
}

static bool join_packed(struct joiner *j, enum kind kind)
{
	const uint8_t *maps[3];
	struct shape shape;
	uint8_t *to = j->at, *words;
	size_t size;

	if (!take_front(j, kind) || !take_maps(j, maps, &shape))
		return false;
	words = j->at + words_offset(&shape);
	size = words_offset(&shape) + 8 * shape.words;
	if (size > (size_t)(j->end - j->at))
		return false;
	mt_put_le32(to, MT_RECORD_PACKED);
	mt_put_le32(to + 4, (uint32_t)size);
	mt_put_le64(to + 8, j->time);
	to = add(to + MT_RECORD_HEADER_SIZE, j->head, HEAD);
	to = add(to, maps[0], shape.stored);
	to = add(to, maps[1], shape.changed);
	to = add(to, maps[2], shape.masks);
	memset(to, 0, (size_t)(words - to));
	j->at += size;
	return mt_word_decode(&j->words, words, shape.words);
}

static bool join_records(struct joiner *j)
{
	struct mt_cursor *kinds = &j->planes[MT_PLANE_KINDS];

	while (mt_cursor_left(kinds)) {
		uint8_t kind = mt_cursor_u8(kinds);

		if (kind > KIND_OTHER ||
		    !(kind == KIND_OTHER ? join_other(j) : join_packed(j, kind)))
			return false;
	}
	return j->at == j->end;
}

bool mt_planes_join(const struct mt_plane planes[MT_PLANES], uint8_t *records, size_t size,
		    void *scratch)
{
	struct joiner j = {.at = records, .end = records + size};

	for (size_t i = 0; i < MT_PLANES; i++)
		j.planes[i] = mt_cursor_init(planes[i].bytes, planes[i].size);
	j.words.planes = j.planes + MT_PLANE_WORDS;
	j.words.words = scratch;
	mt_word_decoder_begin(&j.words);
	if (!join_records(&j))
		return false;
	for (size_t i = 0; i < MT_PLANES; i++) {
		if (mt_cursor_left(&j.planes[i]))
			return false;
	}
	return true;
}
