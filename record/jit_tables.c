/*
 * Copies of dumps without code and names, each indexed anew when it has grown. What that takes of
 * the thread decides when it is done again.
 */
#include "record/jit_tables.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cursor.h"
#include "formats/jitdump.h"
#include "record/clock.h"
#include "record/code_images.h"
#include "record/jit_files.h"
#include "record/mapped_file.h"
#include "symbols/image.h"
#include "symbols/jit_code.h"

#define PIECE ((size_t)1 << 20)	    /* at a time; larger records are left out */
#define STRETCH ((uint64_t)8 << 20) /* of a file, between two looks at the clock */
#define TURN_NS UINT64_C(20000000)  /* for reading a file, at a time */
#define LAST_NS UINT64_C(1000000000)
#define REST 10		/* times what reading and indexing took, until the next time */
#define CODE_BYTES 320u /* of the index, for a piece of code, and as it is made */

/* Of the file of the same number. */
struct table {
	struct mt_image *image;	  /* NULL: nobody asked for it */
	struct mt_jitdump *empty; /* what the image has while what was told is not known */
	struct mt_jitdump *dump;  /* of the bytes, or NULL */
	uint8_t *bytes;
	size_t used, capacity;
	uint8_t *indexed; /* what dump borrows: bytes, or what they were before */
	uint64_t room;	  /* taken of the memory */
	size_t codes;
	bool has_tables, grown, behind, ended;
	uint64_t due;
};

struct mt_jit_tables {
	struct mt_jit_tables_config config;
	struct mt_jit_files *files;
	MT_ARRAY(struct table) tables; /* by file */
	uint8_t *piece;		       /* PIECE bytes, once they are needed */
};

struct mt_jit_tables *mt_jit_tables_create(const struct mt_jit_tables_config *config)
{
	struct mt_jit_tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return NULL;
	tables->config = *config;
	tables->files = mt_jit_files_create(true, false);
	if (tables->files)
		return tables;
	free(tables);
	return NULL;
}

static void free_bytes(struct table *table)
{
	if (table->indexed != table->bytes)
		free(table->indexed);
	free(table->bytes);
	table->bytes = table->indexed = NULL;
	table->used = table->capacity = 0;
}

void mt_jit_tables_destroy(struct mt_jit_tables *tables)
{
	if (!tables)
		return;
	for (size_t i = 0; i < tables->tables.count; i++) {
		struct table *table = &tables->tables.items[i];

		mt_jitdump_destroy(table->dump);
		mt_jitdump_destroy(table->empty);
		free_bytes(table);
	}
	mt_array_deinit(&tables->tables);
	mt_jit_files_destroy(tables->files);
	free(tables->piece);
	free(tables);
}

void mt_jit_tables_add(struct mt_jit_tables *tables, int fd, const struct mt_mapped_file *file)
{
	int own = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct table *table = own < 0 ? NULL : mt_array_push(&tables->tables);

	if (!table) {
		if (own >= 0)
			close(own);
		return;
	}
	*table = (struct table){0};
	if (mt_jit_files_add(tables->files, own, file))
		mt_jit_files_get(tables->files, tables->tables.count - 1)->copy.nameless = true;
	else
		tables->tables.count--;
}

/* ---- What a dump tells ---- */

static void show(const struct mt_jit_tables *tables, struct table *table,
		 const struct mt_jitdump *dump)
{
	if (table->image->jitdump == dump)
		return;
	table->image->jitdump = dump;
	tables->config.changed(tables->config.context, table->image);
}

/* Whatever else it tells, nothing of it is known any more. */
static void let_go(const struct mt_jit_tables *tables, struct table *table)
{
	show(tables, table, table->empty);
	mt_jitdump_destroy(table->dump);
	table->dump = NULL;
	free_bytes(table);
	mt_code_images_give_back(tables->config.images, table->room);
	table->room = table->codes = 0;
	table->ended = true;
}

static bool take_room(const struct mt_jit_tables *tables, struct table *table, uint64_t bytes)
{
	if (!mt_code_images_take_room(tables->config.images, bytes))
		return false;
	table->room += bytes;
	return true;
}

/* Room for so many bytes more; what is indexed stays where it is. */
static bool grow(const struct mt_jit_tables *tables, struct table *table, size_t size)
{
	size_t more = table->capacity / 4;
	size_t capacity = table->capacity + (size > more ? size : more);
	uint8_t *bytes;

	if (size <= table->capacity - table->used)
		return true;
	if (!take_room(tables, table, capacity - table->capacity))
		return false;
	bytes = malloc(capacity);
	if (!bytes)
		return false;
	if (table->used)
		memcpy(bytes, table->bytes, table->used);
	if (table->bytes != table->indexed)
		free(table->bytes);
	table->bytes = bytes;
	table->capacity = capacity;
	return true;
}

/* How many pieces of code come with these bytes, and whether any tables do. */
static size_t count_codes(const uint8_t *bytes, size_t size, bool *any)
{
	struct mt_cursor c = mt_cursor_init(bytes, size);
	struct mt_jitdump_record record;
	size_t codes = 0;

	while (mt_jitdump_next(&c, &record)) {
		codes += record.type == MT_JITDUMP_LOAD || record.type == MT_JITDUMP_MOVE;
		*any |= record.type == MT_JITDUMP_UNWIND;
	}
	return codes;
}

/* Of a dump with tables; false where there is no room. */
static bool keep_piece(const struct mt_jit_tables *tables, struct table *table, size_t size,
		       size_t codes)
{
	if (!grow(tables, table, size) || !take_room(tables, table, (uint64_t)codes * CODE_BYTES))
		return false;
	memcpy(table->bytes + table->used, tables->piece, size);
	table->used += size;
	table->codes += codes;
	table->grown = true;
	return true;
}

/*
 * Reads on; false at the end of what there is, or of the memory. What comes before the first tables
 * is read again once they come.
 */
static bool read_piece(struct mt_jit_tables *tables, struct table *table, struct mt_jit_file *file)
{
	uint64_t before = file->copy.at;
	size_t size = mt_jitdump_copy(&file->copy, file->size, tables->piece, PIECE), codes;
	bool any = table->has_tables;

	codes = count_codes(tables->piece, size, &any);
	if (any && !table->has_tables) {
		table->has_tables = true;
		file->copy.at = 0;
		file->copy.closed = false;
		return true;
	}
	if (table->has_tables && size && !keep_piece(tables, table, size, codes)) {
		let_go(tables, table);
		return false;
	}
	return size || file->copy.at > before;
}

/* Reads what has come, for so long at most. */
static void read_file(struct mt_jit_tables *tables, struct table *table, struct mt_jit_file *file,
		      uint64_t ns)
{
	uint64_t began = mt_clock_thread_ns();
	struct stat status;

	if (fstat(file->fd, &status) || !S_ISREG(status.st_mode))
		return;
	file->size = (uint64_t)status.st_size;
	file->copy.stretch = STRETCH;
	table->behind = false;
	if (file->size < file->copy.at) /* it was written anew */
		let_go(tables, table);
	while (!table->ended && read_piece(tables, table, file)) {
		table->behind = mt_clock_thread_ns() - began > ns;
		if (table->behind)
			break;
	}
}

/* Out of memory nothing of it is known any more. */
static void make_index(const struct mt_jit_tables *tables, struct table *table)
{
	const int64_t *ahead = tables->config.timed ? &tables->config.ahead : NULL;
	struct mt_jitdump *dump = mt_jitdump_create(table->bytes, table->used, ahead), *old;

	if (!dump) {
		let_go(tables, table);
		return;
	}
	old = table->dump;
	table->dump = dump;
	show(tables, table, dump);
	mt_jitdump_destroy(old);
	if (table->indexed != table->bytes)
		free(table->indexed);
	table->indexed = table->bytes;
	table->grown = false;
}

static bool has_grown(const struct table *table, const struct mt_jit_file *file)
{
	struct stat status;

	return table->behind ||
	       (!fstat(file->fd, &status) && (uint64_t)status.st_size != file->size);
}

/* Until what there is was read, and indexed, nothing is known. */
static void bring_up(struct mt_jit_tables *tables, struct table *table, struct mt_jit_file *file,
		     bool last)
{
	uint64_t began = mt_clock_thread_ns(), now = mt_clock_monotonic();

	if (table->ended || !has_grown(table, file))
		return;
	if (!tables->piece)
		tables->piece = malloc(PIECE);
	if (!tables->piece || (now < table->due && !last)) {
		table->behind = true;
	} else {
		read_file(tables, table, file, last ? LAST_NS : TURN_NS);
		if (table->grown && !table->behind)
			make_index(tables, table);
		table->due = now + REST * (mt_clock_thread_ns() - began);
	}
	if (!table->ended)
		show(tables, table, table->behind || !table->dump ? table->empty : table->dump);
}

/* ---- Images ---- */

/* One that no mapping has: its generation is none of the kernel's. */
static bool make_image(const struct mt_jit_tables *tables, struct table *table,
		       const struct mt_image_identity *identity)
{
	struct mt_image_identity own = *identity;
	struct mt_image *image;

	own.inode_generation = UINT64_MAX;
	table->empty = mt_jitdump_create(NULL, 0, NULL);
	image = table->empty ? mt_image_set_intern(mt_code_images_set(tables->config.images), &own)
			     : NULL;
	if (!image || image->jitdump)
		return false;
	table->image = image;
	image->jitdump = table->empty;
	image->untold = image;
	return true;
}

static bool is_of(const struct mt_jit_file *file, const struct mt_image_identity *identity)
{
	return file->inode == identity->inode && file->major == identity->device_major &&
	       file->minor == identity->device_minor && !strcmp(file->path, identity->path);
}

struct mt_image *mt_jit_tables_image(struct mt_jit_tables *tables,
				     const struct mt_image_identity *identity)
{
	for (size_t i = 0; i < tables->tables.count; i++) {
		struct table *table = &tables->tables.items[i];
		struct mt_jit_file *file = mt_jit_files_get(tables->files, i);

		if (!is_of(file, identity))
			continue;
		if (!table->image && !table->empty && make_image(tables, table, identity))
			bring_up(tables, table, file, false);
		return table->image;
	}
	return NULL;
}

void mt_jit_tables_read(struct mt_jit_tables *tables, bool last)
{
	for (size_t i = 0; i < tables->tables.count; i++) {
		if (tables->tables.items[i].image)
			bring_up(tables, &tables->tables.items[i],
				 mt_jit_files_get(tables->files, i), last);
	}
}

struct mt_jit_tables_counts mt_jit_tables_counts(const struct mt_jit_tables *tables)
{
	struct mt_jit_tables_counts counts = {0};

	for (size_t i = 0; i < tables->tables.count; i++) {
		counts.dumps += tables->tables.items[i].has_tables;
		counts.codes += tables->tables.items[i].codes;
	}
	return counts;
}
