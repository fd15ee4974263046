/*
 * FILE chunks, read lazily: listing unpacks only the front of each chunk, so a recording that
 * carries the images of a whole host opens as fast as one without.
 */
#include "formats/reading/carried.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/memory.h"
#include "formats/chunks/chunk.h"
#include "formats/reading/input.h"
#include "formats/reading/payload.h"
#include "formats/reading/source.h"

/* Size of a FILE record before its content: record header, fields, and size of the content. */
#define FRONT_SIZE (MT_RECORD_HEADER_SIZE + MT_FILE_FIELDS_MAX + 4)
/* zstd compresses 128 KiB at a time: most stored bytes of the first 128 KiB, with all headers. */
#define FRONT_STORED ((size_t)140 << 10)
#define FILES_MAX 65536		       /* chunks that are listed; a host has hundreds */
#define PARTS_MAX 64		       /* of one content */
#define LOADED_MAX ((uint64_t)4 << 30) /* bytes of all contents in memory */

struct part {
	const struct mt_chunk_ref *ref; /* NULL: not seen */
	uint32_t size;
};

struct content {
	struct mt_file_record fields;
	struct content *first, *last; /* list of pieces; a content in pieces has no parts itself */
	struct content *next;	      /* of a piece */
	uint64_t time;
	uint8_t *front;	    /* the fields' strings */
	struct part *parts; /* fields.parts of them */
	uint8_t *bytes;
	bool tried;
};

struct mt_carried {
	struct mt_loader loader;
	struct mt_payload payload;
	pthread_mutex_t lock; /* protects the fields below while loading */
	MT_ARRAY(struct content *) contents;
	MT_ARRAY(struct content *) listed; /* pieces, and contents without pieces */
	struct mt_map64 index; /* in listed: hash of an identity, or the next free key after it */
	struct mt_map64 open;  /* by kind and pid: index + 1 in contents of the continued content */
	uint64_t loaded;
	size_t unread; /* contents that could not be read */
	char *why;     /* why the first of them could not be read */
};

MT_DEFINE_CLEANUP(mt_carried, struct mt_carried)

static void content_destroy(struct content *content)
{
	if (!content)
		return;
	free(content->front);
	free(content->parts);
	free(content->bytes);
	free(content);
}

void mt_carried_destroy(struct mt_carried *carried)
{
	if (!carried)
		return;
	for (size_t i = 0; i < carried->contents.count; i++) {
		if (carried->contents.items[i]->first)
			content_destroy(carried->contents.items[i]);
	}
	for (size_t i = 0; i < carried->listed.count; i++)
		content_destroy(carried->listed.items[i]);
	mt_array_deinit(&carried->contents);
	mt_array_deinit(&carried->listed);
	mt_map64_deinit(&carried->index);
	mt_map64_deinit(&carried->open);
	free(carried->why);
	mt_payload_deinit(&carried->payload);
	mt_loader_deinit(&carried->loader);
	pthread_mutex_destroy(&carried->lock);
	free(carried);
}

/* ---- Listing ---- */

/*
 * Unpacks the first bytes of a payload of *size bytes; sets *size to the number of bytes unpacked.
 */
static void unpack_front(const struct mt_chunk_ref *ref, const uint8_t *stored, size_t *size,
			 uint8_t out[FRONT_SIZE])
{
	ZSTD_DStream *stream;
	ZSTD_inBuffer in = {stored, *size, 0};
	ZSTD_outBuffer to = {out, FRONT_SIZE, 0};
	size_t before, result;

	if (ref->codec == MT_CODEC_STORED) {
		*size = *size < FRONT_SIZE ? *size : FRONT_SIZE;
		memcpy(out, stored, *size);
		return;
	}
	stream = ZSTD_createDStream();
	if (!stream)
		mt_memory_failed();
	do {
		before = in.pos + to.pos;
		result = ZSTD_decompressStream(stream, &to, &in);
	} while (!ZSTD_isError(result) && to.pos < to.size && in.pos + to.pos > before);
	ZSTD_freeDStream(stream);
	*size = to.pos;
	if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
		mt_memory_failed();
}

/* The fields of the chunk's FILE record, whose strings are in `front`. False if it has none. */
static bool read_fields(const struct mt_chunk_ref *ref, const uint8_t *front, size_t size,
			struct mt_file_record *out)
{
	uint32_t record_size;

	if (size < MT_RECORD_HEADER_SIZE ||
	    (mt_get_le32(front) & ~MT_RECORD_CRITICAL) != MT_RECORD_FILE)
		return false;
	record_size = mt_get_le32(front + 4);
	if (record_size < MT_RECORD_HEADER_SIZE || record_size > ref->raw_size)
		return false;
	if (size > record_size)
		size = record_size;
	return mt_file_get_fields(front + MT_RECORD_HEADER_SIZE, size - MT_RECORD_HEADER_SIZE,
				  out) &&
	       out->bytes.size < record_size;
}

static bool same_text(const struct mt_text *a, const struct mt_text *b)
{
	return a->size == b->size && (!a->size || !memcmp(a->bytes, b->bytes, a->size));
}

static bool is_text(const struct mt_file_record *fields)
{
	return fields->kind == MT_FILE_PERF_MAP || fields->kind == MT_FILE_JITDUMP ||
	       fields->kind == MT_FILE_KERNEL_SYMBOLS;
}

static bool is_seen(const struct mt_file_record *fields)
{
	return fields->kind == MT_FILE_SKELETON && fields->kept & MT_KEPT_SEEN;
}

static bool same_content(const struct mt_file_record *a, const struct mt_file_record *b)
{
	if (a->kind != b->kind || a->pid != b->pid || is_seen(a) != is_seen(b) ||
	    !same_text(&a->build_id, &b->build_id))
		return false;
	if (a->build_id.size)
		return true;
	return same_text(&a->path, &b->path) && a->major == b->major && a->minor == b->minor &&
	       a->inode == b->inode && a->inode_generation == b->inode_generation;
}

/* Times distinguish perf maps and jitdumps of one process, pieces, code, and skeletons. */
static bool has_time(const struct mt_file_record *fields)
{
	return is_text(fields) || fields->kind == MT_FILE_CODE || is_seen(fields);
}

static bool is_continued(const struct mt_file_record *fields)
{
	return fields->kept & MT_KEPT_CONTINUED && is_text(fields);
}

static uint64_t content_hash(const struct mt_file_record *fields, uint64_t time)
{
	const struct mt_text *text = fields->build_id.size ? &fields->build_id : &fields->path;
	uint64_t seed = fields->kind | (uint64_t)(uint32_t)fields->pid << 32;

	if (!fields->build_id.size)
		seed ^= mt_hash64(fields->inode ^ (uint64_t)fields->minor << 32);
	if (has_time(fields)) /* there may be thousands */
		seed ^= mt_hash64(time);
	return mt_hash_bytes(text->bytes, text->size, seed);
}

/* The first content with that identity, or NULL and the free key. */
static struct content *find_content(const struct mt_carried *carried,
				    const struct mt_file_record *fields, uint64_t time,
				    uint64_t *key)
{
	uint64_t i;

	for (*key = content_hash(fields, time); mt_map64_get(&carried->index, *key, &i); ++*key) {
		struct content *content = carried->listed.items[i];

		if (same_content(&content->fields, fields) &&
		    (content->time == time || !has_time(fields)))
			return content;
	}
	return NULL;
}

/* Adds a content. It is a content in pieces if the listed one is a piece that is continued. */
static struct content *expose(struct mt_carried *carried, struct content *listed)
{
	struct content *whole = listed;

	if (is_continued(&listed->fields)) {
		whole = mt_alloc(1, sizeof(*whole));
		*whole =
			(struct content){.fields = listed->fields, .first = listed, .last = listed};
	}
	(void)mt_array_append(&carried->contents, whole);
	return whole;
}

/* Fields that are equal for all pieces of one content. A process may have two dumps of its code. */
static uint64_t piece_key(const struct mt_file_record *fields)
{
	uint64_t key = fields->kind | (uint64_t)(uint32_t)fields->pid << 32;

	return fields->kind == MT_FILE_JITDUMP
		       ? mt_hash64(key ^ mt_hash64(fields->inode ^ (uint64_t)fields->minor << 32))
		       : key;
}

/* Adds the piece after the ones it continues, or as a new content. */
static void place(struct mt_carried *carried, struct content *listed)
{
	uint64_t key = piece_key(&listed->fields), open = 0;
	bool continued = is_continued(&listed->fields);
	struct content *whole;

	(void)mt_map64_get(&carried->open, key, &open);
	if (open) {
		whole = carried->contents.items[open - 1];
		if (listed->fields.kept & MT_KEPT_ANEW)
			whole->first = listed;
		else
			whole->last->next = listed;
		whole->last = listed;
	} else {
		whole = expose(carried, listed);
		open = carried->contents.count;
	}
	whole->time = continued ? UINT64_MAX : listed->time;
	if (continued || whole->first)
		mt_map64_put(&carried->open, key, continued ? open : 0);
}

/* Lists a content or a piece. Takes ownership of `front`. */
static struct content *add_content(struct mt_carried *carried, const struct mt_file_record *fields,
				   uint64_t time, uint64_t key, uint8_t **front)
{
	struct content *content = mt_alloc(1, sizeof(*content));

	*content = (struct content){
		.fields = *fields,
		.time = time,
		.front = MT_TAKE(*front),
		.parts = mt_alloc(fields->parts, sizeof(*content->parts)),
	};
	content->fields.part = 0;
	content->fields.bytes = (struct mt_text){0};
	mt_map64_put(&carried->index, key, carried->listed.count);
	(void)mt_array_append(&carried->listed, content);
	place(carried, content);
	return content;
}

static bool known(const struct mt_file_record *fields)
{
	return fields->kind >= MT_FILE_SKELETON && fields->kind <= MT_FILE_CODE &&
	       fields->coding == MT_FILE_PLAIN && fields->parts <= PARTS_MAX && fields->size;
}

static struct mt_error *list_chunk(struct mt_carried *carried, const struct mt_chunk_ref *ref,
				   uint8_t *stored)
{
	MT_CLEANUP_FREE uint8_t *front = mt_alloc(FRONT_SIZE, 1);
	size_t size = ref->stored_size < FRONT_STORED ? ref->stored_size : FRONT_STORED;
	struct mt_file_record fields;
	struct content *content;
	struct mt_error *err;
	uint64_t key, time;

	err = mt_input_read(carried->loader.input, ref->offset + MT_CHUNK_HEADER_SIZE, stored, size,
			    &size);
	if (err)
		return err;
	unpack_front(ref, stored, &size, front);
	if (!read_fields(ref, front, size, &fields) || !known(&fields))
		return NULL;
	time = mt_get_le64(front + 8); /* of the record header */
	content = find_content(carried, &fields, time, &key);
	if (!content)
		content = add_content(carried, &fields, time, key, &front);
	if (content->fields.parts != fields.parts || content->fields.size != fields.size ||
	    content->parts[fields.part].ref)
		return NULL;
	content->parts[fields.part] =
		(struct part){.ref = ref, .size = (uint32_t)fields.bytes.size};
	return NULL;
}

static bool parts_complete(const struct content *content)
{
	uint64_t size = 0;

	for (uint32_t i = 0; i < content->fields.parts; i++) {
		if (!content->parts[i].ref)
			return false;
		size += content->parts[i].size;
	}
	return size == content->fields.size;
}

/* For a content in pieces: leaves out incomplete pieces, and adds up the others. */
static void sum_pieces(struct content *whole)
{
	struct content **slot = &whole->first;

	if (!*slot)
		return;
	whole->fields.size = 0;
	while (*slot) {
		struct content *piece = *slot;

		if (parts_complete(piece)) {
			whole->fields.size += piece->fields.size;
			slot = &piece->next;
		} else if (piece->next || whole->fields.size) {
			*slot = piece->next;
		} else {
			break; /* the only piece: the whole content is missing */
		}
	}
}

struct mt_error *mt_carried_create(const struct mt_input *input, const struct mt_chunk_ref *refs,
				   size_t count, struct mt_carried **out)
{
	MT_CLEANUP(mt_carried_destroy_p) struct mt_carried *carried = mt_alloc(1, sizeof(*carried));
	MT_CLEANUP_FREE uint8_t *stored = mt_alloc(FRONT_STORED, 1);
	struct mt_error *err = NULL;

	pthread_mutex_init(&carried->lock, NULL);
	mt_loader_init(&carried->loader, input);
	for (size_t i = 0; i < count && i < FILES_MAX && !err; i++)
		err = list_chunk(carried, &refs[i], stored);
	if (err)
		return err;
	for (size_t i = 0; i < carried->contents.count; i++)
		sum_pieces(carried->contents.items[i]);
	*out = MT_TAKE(carried);
	return NULL;
}

size_t mt_carried_count(const struct mt_carried *carried)
{
	return carried->contents.count;
}

const struct mt_file_record *mt_carried_get(const struct mt_carried *carried, size_t i)
{
	return &carried->contents.items[i]->fields;
}

uint64_t mt_carried_time(const struct mt_carried *carried, size_t i)
{
	return carried->contents.items[i]->time;
}

/* ---- Loading ---- */

/* Keeps the reason why the first content could not be read. Takes ownership of err. */
static void keep_why(struct mt_carried *carried, struct mt_error *err)
{
	if (!carried->why)
		carried->why = strdup(err->message);
	mt_error_destroy(err);
}

/* Appends the part's bytes at `at`; false if they are damaged or have another size than stated. */
static bool load_part(struct mt_carried *carried, const struct part *part, uint8_t *at)
{
	struct mt_damage damage = {0};
	struct mt_file_record file;
	struct mt_record record;
	struct mt_error *err =
		mt_payload_load(&carried->payload, &carried->loader, part->ref, false, &damage);

	if (err) {
		keep_why(carried, err);
		return false;
	}
	if (mt_payload_empty(&carried->payload))
		return false;
	mt_payload_get(&carried->payload, &record);
	if (record.type != MT_RECORD_FILE || !mt_file_get(record.body, record.size, &file) ||
	    file.bytes.size != part->size)
		return false;
	memcpy(at, file.bytes.bytes, file.bytes.size);
	return true;
}

static bool load_parts(struct mt_carried *carried, const struct content *content, uint8_t *at)
{
	for (uint32_t i = 0; i < content->fields.parts; i++) {
		if (!load_part(carried, &content->parts[i], at))
			return false;
		at += content->parts[i].size;
	}
	return true;
}

/*
 * Writes a substitute for a damaged piece: empty lines in a text, a record of unknown type in a
 * jitdump.
 */
static void fill(const struct content *piece, uint8_t *at)
{
	size_t size = piece->fields.size;

	memset(at, '\n', size);
	if (piece->fields.kind != MT_FILE_JITDUMP || size < 8 || size > UINT32_MAX)
		return;
	mt_put_le32(at, UINT32_MAX);
	mt_put_le32(at + 4, (uint32_t)size);
}

static void load_pieces(struct mt_carried *carried, const struct content *whole, uint8_t *at)
{
	for (const struct content *piece = whole->first; piece; piece = piece->next) {
		if (!load_parts(carried, piece, at)) {
			carried->unread++;
			fill(piece, at);
		}
		at += piece->fields.size;
	}
}

static void load(struct mt_carried *carried, struct content *content)
{
	MT_CLEANUP_FREE uint8_t *bytes = NULL;

	if (!content->fields.size || (!content->first && !parts_complete(content)) ||
	    content->fields.size > LOADED_MAX - carried->loaded)
		return;
	bytes = malloc(content->fields.size); /* size from the file: may fail */
	if (!bytes) {
		keep_why(carried, mt_error_nomem());
		return;
	}
	if (content->first)
		load_pieces(carried, content, bytes);
	else if (!load_parts(carried, content, bytes))
		return;
	/*
	 * the buffers for unpacking may be as large as the content; a second content rarely follows
	 */
	mt_payload_deinit(&carried->payload);
	carried->loaded += content->fields.size;
	content->bytes = MT_TAKE(bytes);
}

const uint8_t *mt_carried_bytes(struct mt_carried *carried, size_t i)
{
	struct content *content = carried->contents.items[i];

	pthread_mutex_lock(&carried->lock);
	if (!content->tried) {
		load(carried, content);
		carried->unread += !content->bytes;
	}
	content->tried = true;
	pthread_mutex_unlock(&carried->lock);
	return content->bytes;
}

size_t mt_carried_unread(const struct mt_carried *carried, const char **why)
{
	*why = carried->why ? carried->why : "damaged or incomplete";
	return carried->unread;
}

void mt_carried_drop(struct mt_carried *carried, size_t i)
{
	struct content *content = carried->contents.items[i];

	pthread_mutex_lock(&carried->lock);
	if (content->bytes) {
		carried->loaded -= content->fields.size;
		free(MT_TAKE(content->bytes));
		content->tried = false;
	}
	pthread_mutex_unlock(&carried->lock);
}
