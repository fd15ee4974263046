/*
 * Keeps a file's headers, section names and notes in memory. Other pages are read while the
 * skeleton is planned and written, and dropped afterwards. A file without section headers is kept
 * whole, because it is a copy of a process's memory.
 */
#include "record/carry/embed_image.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/foreign_file.h"
#include "formats/records/record.h"
#include "record/files/file_pages.h"
#include "symbols/carried/seen_code.h"
#include "symbols/elf/elf.h"
#include "symbols/elf/elf_input.h"
#include "symbols/tables/address_sort.h"

#define HEADERS_MAX ((size_t)8 << 20)
#define WHOLE_MAX ((size_t)64 << 20) /* bytes kept of a file without section headers */

struct units {
	uint64_t *units; /* link-time addresses of the places, or NULL */
	struct mt_seen_code code;
};

struct mt_embed_image {
	struct mt_embed_file image, debug;
	struct mt_elf_input input;
	struct mt_skeleton_wish wish;
	struct units seen;
	struct mt_skeleton *skeleton;
};

MT_DEFINE_CLEANUP(mt_embed_image, struct mt_embed_image)

void mt_embed_file_close(struct mt_embed_file *file)
{
	mt_elf_destroy(file->elf);
	mt_file_pages_destroy(file->pages);
	file->elf = NULL;
	file->pages = NULL;
}

void mt_embed_image_destroy(struct mt_embed_image *image)
{
	if (!image)
		return;
	mt_skeleton_destroy(image->skeleton);
	mt_embed_file_close(&image->image);
	mt_embed_file_close(&image->debug);
	mt_close_p(&image->debug.fd);
	free(image->seen.units);
	free(image);
}

/* ---- Opening ---- */

/* Keeps pages with headers, section names and notes in memory. */
static void keep(void *context, const uint8_t *bytes, size_t size)
{
	const struct mt_embed_file *file = context;

	mt_file_pages_need(file->pages, (uint64_t)(bytes - mt_file_pages_bytes(file->pages)),
			   size < HEADERS_MAX ? size : HEADERS_MAX, true);
}

struct mt_error *mt_embed_file_open(struct mt_embed_file *file, const char *name)
{
	struct mt_error *err = mt_file_pages_create(file->worker, file->fd, name, &file->pages);
	const struct mt_elf_input input = {.context = file, .need = keep};
	struct mt_elf_section_info first;

	if (err)
		return err;
	err = mt_elf_open_front(mt_file_pages_bytes(file->pages), mt_file_pages_size(file->pages),
				name, &input, &file->elf);
	if (!err && !mt_elf_section_info(file->elf, 0, &first))
		mt_file_pages_need(file->pages, 0, WHOLE_MAX, true);
	return err;
}

/* Opens the host's debug file with the build id of elf; -1 if none is installed. */
static int open_debug_file(const struct mt_elf *elf)
{
	struct mt_span id = mt_elf_build_id(elf);
	MT_CLEANUP_FREE char *path = mt_debug_file_path(NULL, id.bytes, id.size);

	struct stat status;

	return !path ? -1 : mt_foreign_open(AT_FDCWD, path, MT_LINKS_TRUSTED, &status);
}

/* Opens the debug file if the image lacks wanted sections; otherwise debug->elf is NULL. */
static void open_debug(struct mt_embed_file *debug, struct mt_elf *elf,
		       const struct mt_skeleton_wish *wish)
{
	struct mt_span id = mt_elf_build_id(elf);
	bool lacks = (wish->names && !mt_elf_symbol_count(elf, false)) ||
		     (wish->lines && !mt_elf_find_section(elf, ".debug_info"));

	debug->fd = lacks ? open_debug_file(elf) : -1;
	if (debug->fd < 0)
		return;
	mt_error_destroy(mt_embed_file_open(debug, "debug file"));
	if (!debug->elf || !mt_elf_has_build_id(debug->elf, id.bytes, id.size))
		mt_embed_file_close(debug);
}

/* ---- The skeleton ---- */

/* Returns the pages of the file to which the bytes belong; NULL if they belong to neither file. */
static struct mt_file_pages *pages_of(const struct mt_embed_image *image, const uint8_t *bytes)
{
	if (mt_file_pages_has(image->image.pages, bytes))
		return image->image.pages;
	if (image->debug.pages && mt_file_pages_has(image->debug.pages, bytes))
		return image->debug.pages;
	return NULL;
}

static void need(void *context, const uint8_t *bytes, size_t size)
{
	struct mt_file_pages *pages = pages_of(context, bytes);

	if (pages)
		mt_file_pages_need(pages, (uint64_t)(bytes - mt_file_pages_bytes(pages)), size,
				   false);
}

static void copy(void *context, const uint8_t *bytes, size_t size, uint8_t *to)
{
	struct mt_file_pages *pages = pages_of(context, bytes);

	if (pages)
		mt_file_pages_copy(pages, (uint64_t)(bytes - mt_file_pages_bytes(pages)), to, size);
	else
		memcpy(to, bytes, size);
}

/*
 * Converts file offsets to link-time addresses; returns their number. An offset has two addresses
 * if two segments share its page. The first unit of a segment may begin before the segment.
 */
static size_t place_units(const struct mt_elf *elf, const uint64_t *offsets, size_t count,
			  uint64_t *units, size_t room)
{
	size_t segments, made = 0;
	const struct mt_segment *s = mt_elf_segments(elf, &segments);

	for (size_t i = 0; i < segments; i++) {
		uint64_t from = s[i].offset & ~(MT_SEEN_UNIT - UINT64_C(1));
		uint64_t size = s[i].memory_size + (s[i].offset - from);

		for (size_t k = 0; k < count && s[i].flags & PF_X && made < room; k++) {
			if (offsets[k] >= from && offsets[k] - from < size)
				units[made++] = offsets[k] - s[i].offset + s[i].vaddr;
		}
	}
	return made;
}

static bool find_units(const struct mt_elf *elf, const uint64_t *offsets, size_t count,
		       struct units *out)
{
	size_t room = 2 * count + 1, made, kept = 0;
	uint64_t *units = calloc(room, sizeof(*units));

	out->units = units;
	if (!units)
		return false;
	made = place_units(elf, offsets, count, units, room);
	if (!mt_number_sort(units, made))
		return false;
	for (size_t i = 0; i < made; i++) {
		if (!kept || units[kept - 1] != units[i])
			units[kept++] = units[i];
	}
	out->code = (struct mt_seen_code){units, kept};
	return true;
}

static bool find_seen(struct mt_embed_image *image, const struct mt_embed_places *places)
{
	const struct mt_elf *elf = image->image.elf;

	if (!places)
		return true;
	image->wish.seen = &image->seen.code;
	return find_units(elf, places->offsets, places->count, &image->seen);
}

struct mt_error *mt_embed_image_create(struct mt_file_worker *worker, int fd,
				       const struct mt_skeleton_wish *wish,
				       const struct mt_embed_places *places,
				       struct mt_embed_image **out)
{
	MT_CLEANUP(mt_embed_image_destroy_p)
	struct mt_embed_image *image = calloc(1, sizeof(*image));
	struct mt_error *err;

	if (!image)
		return mt_error_nomem();
	image->image.worker = worker;
	image->image.fd = fd;
	image->debug.fd = -1;
	image->wish = *wish;
	image->input = (struct mt_elf_input){image, need, copy};
	err = mt_embed_file_open(&image->image, "image");
	if (err)
		return err;
	open_debug(&image->debug, image->image.elf, wish);
	if (!find_seen(image, places))
		return mt_error_nomem();
	err = mt_skeleton_create(image->image.elf, image->debug.elf, &image->wish, &image->input,
				 &image->skeleton);
	if (err)
		return err;
	*out = MT_TAKE(image);
	return NULL;
}

struct mt_skeleton *mt_embed_image_skeleton(struct mt_embed_image *image)
{
	return image->skeleton;
}

uint64_t mt_embed_image_original_size(const struct mt_embed_image *image)
{
	return mt_file_pages_size(image->image.pages);
}
