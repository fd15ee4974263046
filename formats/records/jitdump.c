/* Reads and copies jitdumps. Sizes are untrusted: each is checked against the available bytes. */
#include "formats/records/jitdump.h"

#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cursor.h"

#define PREFIX_SIZE 16	/* of a record */
#define LOAD_NAME_AT 56 /* in a LOAD: its name, followed by the code */
#define VERSION 1
#define WINDOW 16384
#define NUMBER_MAX 10 /* digits */

bool mt_jitdump_path(const char *path, size_t size, uint32_t *pid)
{
	static const char front[] = "jit-", tail[] = ".dump";
	size_t end = size < sizeof(tail) - 1 ? 0 : size - (sizeof(tail) - 1), at;
	uint64_t number = 0;

	if (!end || memcmp(path + end, tail, sizeof(tail) - 1) != 0)
		return false;
	for (at = end; at && path[at - 1] >= '0' && path[at - 1] <= '9'; at--)
		;
	if (at == end || end - at > NUMBER_MAX || at < sizeof(front) - 1 ||
	    memcmp(path + at - (sizeof(front) - 1), front, sizeof(front) - 1) != 0)
		return false;
	if (at > sizeof(front) - 1 && path[at - sizeof(front)] != '/')
		return false;
	for (; at < end; at++)
		number = number * 10 + (uint64_t)(path[at] - '0');
	*pid = (uint32_t)number;
	return number && number <= INT32_MAX;
}

/* ---- Reading ---- */

static void take_header(struct mt_cursor *c, struct mt_jitdump_record *out)
{
	struct mt_cursor fields = mt_cursor_sub(c, MT_JITDUMP_HEADER_SIZE);
	uint32_t version, size;

	mt_cursor_u32(&fields);
	version = mt_cursor_u32(&fields);
	size = mt_cursor_u32(&fields);
	mt_cursor_bytes(&fields, 8); /* machine, padding */
	out->pid = mt_cursor_u32(&fields);
	out->time = mt_cursor_u64(&fields);
	out->flags = mt_cursor_u64(&fields);
	out->type = MT_JITDUMP_HEADER;
	if (fields.bad || version != VERSION || size < MT_JITDUMP_HEADER_SIZE)
		c->bad = true;
	else
		mt_cursor_bytes(c, size - MT_JITDUMP_HEADER_SIZE);
}

static void take_load(struct mt_cursor *body, struct mt_jitdump_record *out)
{
	mt_cursor_bytes(body, 16); /* pid, tid, vma */
	out->address = mt_cursor_u64(body);
	out->size = mt_cursor_u64(body);
	out->index = mt_cursor_u64(body);
	out->name = mt_cursor_cstring(body);
}

static void take_move(struct mt_cursor *body, struct mt_jitdump_record *out)
{
	mt_cursor_bytes(body, 16); /* pid, tid, vma */
	out->old_address = mt_cursor_u64(body);
	out->address = mt_cursor_u64(body);
	out->size = mt_cursor_u64(body);
	out->index = mt_cursor_u64(body);
}

static void take_rest(struct mt_cursor *body, uint64_t size, struct mt_jitdump_record *out)
{
	out->byte_count = mt_cursor_left(body);
	if (size < out->byte_count)
		out->byte_count = (size_t)size;
	out->bytes = mt_cursor_bytes(body, out->byte_count);
}

static void take_lines(struct mt_cursor *body, struct mt_jitdump_record *out)
{
	out->address = mt_cursor_u64(body);
	mt_cursor_u64(body); /* number of entries */
	take_rest(body, UINT64_MAX, out);
}

static void take_unwind(struct mt_cursor *body, struct mt_jitdump_record *out)
{
	uint64_t size = mt_cursor_u64(body), index = mt_cursor_u64(body);

	mt_cursor_u64(body); /* number of its bytes that are mapped */
	take_rest(body, size, out);
	if (out->byte_count != size || index > size)
		body->bad = true;
	out->index_size = (size_t)index;
}

static bool is_code(const struct mt_jitdump_record *r)
{
	return r->size && r->size <= MT_JITDUMP_CODE_MAX && r->size <= UINT64_MAX - r->address;
}

bool mt_jitdump_next(struct mt_cursor *c, struct mt_jitdump_record *out)
{
	struct mt_cursor body, front = *c;
	uint32_t id = mt_cursor_u32(&front), size = mt_cursor_u32(&front);

	*out = (struct mt_jitdump_record){.type = MT_JITDUMP_OTHER};
	if (front.bad)
		return false;
	if (id == MT_JITDUMP_MAGIC) {
		take_header(c, out);
		return !c->bad;
	}
	body = mt_cursor_sub(c, size);
	mt_cursor_u64(&body);
	out->time = mt_cursor_u64(&body);
	if (body.bad)
		return false;
	out->type = id <= MT_JITDUMP_UNWIND ? (enum mt_jitdump_type)id : MT_JITDUMP_OTHER;
	if (out->type == MT_JITDUMP_LOAD)
		take_load(&body, out);
	else if (out->type == MT_JITDUMP_MOVE)
		take_move(&body, out);
	else if (out->type == MT_JITDUMP_LINES)
		take_lines(&body, out);
	else if (out->type == MT_JITDUMP_UNWIND)
		take_unwind(&body, out);
	if (body.bad || (out->type <= MT_JITDUMP_MOVE && !is_code(out)))
		out->type = MT_JITDUMP_OTHER;
	return true;
}

bool mt_jitdump_next_line(struct mt_cursor *c, struct mt_jitdump_line *out)
{
	uint64_t address = mt_cursor_u64(c);
	uint32_t line = mt_cursor_u32(c);
	const char *file;

	mt_cursor_u32(c); /* discriminator */
	file = mt_cursor_cstring(c);
	if (!file)
		return false;
	if ((uint8_t)file[0] == 0xff && !file[1]) /* the line of the previous entry */
		file = out->file;
	*out = (struct mt_jitdump_line){address, line, file};
	return file;
}

/* ---- Copying ---- */

struct window {
	const struct mt_jitdump_input *input;
	uint64_t at;
	size_t size;
	uint8_t bytes[WINDOW];
};

/* Views up to `want` bytes of the file, at most a window; sets *there to the number available. */
static const uint8_t *look(struct window *w, uint64_t at, size_t want, size_t *there)
{
	if (at < w->at || at - w->at > w->size || w->size - (at - w->at) < want) {
		w->at = at;
		w->size = w->input->read(w->input->context, at, w->bytes, sizeof(w->bytes));
	}
	*there = w->size - (size_t)(at - w->at);
	*there = *there < want ? *there : want;
	return w->bytes + (at - w->at);
}

/* Reads the header before a copy begins; false unless it is complete and valid. */
static bool begin(struct mt_jitdump_copy *copy, struct window *w)
{
	size_t there;
	const uint8_t *bytes;
	uint32_t size;

	if (copy->at)
		return true;
	bytes = look(w, 0, MT_JITDUMP_HEADER_SIZE, &there);
	if (there < MT_JITDUMP_HEADER_SIZE || mt_get_le32(bytes) != MT_JITDUMP_MAGIC ||
	    mt_get_le32(bytes + 4) != VERSION)
		return false;
	size = mt_get_le32(bytes + 8);
	if (size < MT_JITDUMP_HEADER_SIZE)
		return false;
	memcpy(copy->header, bytes, MT_JITDUMP_HEADER_SIZE);
	mt_put_le32(copy->header + 8, MT_JITDUMP_HEADER_SIZE);
	copy->at = size;
	return true;
}

/* Number of bytes that a record takes in the copy; 0 if it is left out. */
static size_t copied_size(const struct mt_jitdump_copy *copy, uint32_t id, uint32_t size)
{
	if (id == MT_JITDUMP_LINES)
		return copy->lines ? size : 0;
	if (id == MT_JITDUMP_UNWIND)
		return copy->unwind ? size : 0;
	return id == MT_JITDUMP_MOVE ? size : 0;
}

/*
 * Copies a LOAD up to the end of its name. Returns the size of the copy; 0 if the record is
 * invalid, SIZE_MAX if there is no room.
 */
static size_t copy_load(const struct mt_jitdump_copy *copy, struct window *w, uint32_t size,
			uint8_t *out, size_t room)
{
	size_t want = LOAD_NAME_AT + MT_JITDUMP_NAME_MAX, there, length;
	const uint8_t *bytes = look(w, copy->at, size < want ? size : want, &there), *nul;

	if (there <= LOAD_NAME_AT)
		return 0;
	nul = memchr(bytes + LOAD_NAME_AT, 0, there - LOAD_NAME_AT);
	length = nul ? (size_t)(nul - bytes) + 1 : there + 1;
	if (length > room)
		return SIZE_MAX;
	memcpy(out, bytes, length - 1);
	out[length - 1] = 0;
	mt_put_le32(out + 4, (uint32_t)length);
	return length;
}

static size_t copy_record(struct mt_jitdump_copy *copy, struct window *w, uint32_t id,
			  uint32_t size, uint8_t *out, size_t room)
{
	size_t length = copied_size(copy, id, size);

	if (id == MT_JITDUMP_LOAD)
		return copy_load(copy, w, size, out, room);
	if (length > room)
		return SIZE_MAX;
	return length && w->input->read(w->input->context, copy->at, out, length) == length ? length
											    : 0;
}

size_t mt_jitdump_copy(struct mt_jitdump_copy *copy, uint64_t end, uint8_t *out, size_t room)
{
	struct window w;
	size_t used = MT_JITDUMP_HEADER_SIZE, there;

	w.input = &copy->input;
	w.at = w.size = 0;
	if (room < used || !begin(copy, &w))
		return 0;
	memcpy(out, copy->header, used);
	while (!copy->closed && copy->at < end && end - copy->at >= PREFIX_SIZE) {
		const uint8_t *bytes = look(&w, copy->at, PREFIX_SIZE, &there);
		uint32_t id, size;
		size_t copied;

		if (there < PREFIX_SIZE)
			break;
		id = mt_get_le32(bytes);
		size = mt_get_le32(bytes + 4);
		if (size < PREFIX_SIZE || size > end - copy->at)
			break;
		copied = copy_record(copy, &w, id, size, out + used, room - used);
		if (copied == SIZE_MAX && used > MT_JITDUMP_HEADER_SIZE)
			break;
		copy->left_out += copied == SIZE_MAX;
		used += copied == SIZE_MAX ? 0 : copied;
		copy->closed = id == MT_JITDUMP_CLOSE;
		copy->at += size;
	}
	return used > MT_JITDUMP_HEADER_SIZE ? used : 0;
}
