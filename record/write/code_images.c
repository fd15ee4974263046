/*
 * A source of images that makes skeletons of mapped files, found by the identity in the mapping.
 * Files are untrusted and may change at any time, so they are read, not mapped, and the number of
 * bytes read is limited.
 */
#include "record/write/code_images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/carry/embed_image.h"
#include "record/files/file_worker.h"
#include "record/files/image_files.h"
#include "record/open/clock.h"
#include "symbols/elf/elf.h"
#include "symbols/images/image.h"

MT_DEFINE_CLEANUP(mt_embed_image, struct mt_embed_image)

struct mt_code_images {
	struct mt_image_set *set;
	struct mt_file_worker *worker;
	const struct mt_image_files *files;
	MT_ARRAY(uint8_t *) tables; /* skeletons, one per file */
	uint64_t memory;
	struct mt_code_images_counts counts;
};

static struct mt_error *open_image(void *context, const struct mt_image_identity *identity,
				   struct mt_elf **out, char **found_at);

static const struct mt_image_source source = {.name = "mapped file", .open = open_image};

struct mt_code_images *mt_code_images_create(const struct mt_image_files *files, uint64_t memory)
{
	struct mt_code_images *images = calloc(1, sizeof(*images));

	if (!images)
		return NULL;
	images->files = files;
	images->memory = memory;
	images->set = mt_image_set_create();
	images->worker = mt_file_worker_create();
	if (!images->set || !images->worker ||
	    !mt_image_set_add_source(images->set, &source, images)) {
		mt_code_images_destroy(images);
		return NULL;
	}
	return images;
}

void mt_code_images_destroy(struct mt_code_images *images)
{
	if (!images)
		return;
	mt_image_set_destroy(images->set);
	for (size_t i = 0; i < images->tables.count; i++)
		free(images->tables.items[i]);
	mt_array_deinit(&images->tables);
	mt_file_worker_destroy(images->worker);
	free(images);
}

void mt_code_images_learn(struct mt_code_images *images, const struct mt_image_record *record)
{
	const struct mt_text *id = &record->build_id;
	MT_CLEANUP_FREE char *path = strndup(record->path.bytes, record->path.size);
	struct mt_image_identity identity = {.path = path,
					     .device_major = record->major,
					     .device_minor = record->minor,
					     .inode = record->inode};

	if (!path || !id->size || id->size > MT_BUILD_ID_MAX ||
	    mt_image_kind_of_path(path) != MT_IMAGE_ANONYMOUS ||
	    !mt_image_set_intern(images->set, &identity))
		return;
	memcpy(identity.build_id, id->bytes, id->size);
	identity.build_id_size = id->size;
	mt_image_set_learn_build_id(images->set, &identity);
}

/* ---- The tables ---- */

/* Takes room from the memory limit. If there is not enough, counts that and returns false. */
static bool take_room(struct mt_code_images *images, uint64_t bytes)
{
	bool room = bytes <= images->memory - images->counts.bytes;

	if (room)
		images->counts.bytes += bytes;
	else
		images->counts.no_room++;
	return room;
}

/* Makes the tables of an open file; images->tables owns *out. */
static struct mt_error *make_tables(struct mt_code_images *images, int fd, struct mt_span *out)
{
	const struct mt_skeleton_wish wish = {.unwind = true};
	MT_CLEANUP(mt_embed_image_destroy_p) struct mt_embed_image *image = NULL;
	struct mt_error *err = mt_embed_image_create(images->worker, fd, &wish, NULL, &image);
	struct mt_skeleton *skeleton;
	uint8_t *bytes;

	if (err)
		return err;
	skeleton = mt_embed_image_skeleton(image);
	if (!take_room(images, mt_skeleton_size(skeleton)))
		return mt_error_create(MT_ERR_NOMEM, "no room for its unwind tables");
	bytes = mt_skeleton_bytes(skeleton);
	if (!bytes || !mt_array_append(&images->tables, bytes)) {
		free(bytes);
		return mt_error_nomem();
	}
	*out = (struct mt_span){.bytes = bytes, .size = mt_skeleton_size(skeleton)};
	return NULL;
}

static struct mt_error *open_file(struct mt_code_images *images, const struct mt_image_file *file,
				  struct mt_elf **out)
{
	int fd = mt_image_file_open(file, images->worker);
	struct mt_span tables = {0};
	struct mt_error *err;

	if (fd < 0)
		return mt_error_os(errno, "%s", file->at.path.bytes);
	err = make_tables(images, fd, &tables);
	mt_file_worker_close(images->worker, fd);
	return err ? err
		   : mt_elf_open_skeleton(tables.bytes, tables.size, file->at.path.bytes, out);
}

static struct mt_error *open_vdso(struct mt_elf **out)
{
	size_t size;
	const uint8_t *bytes = mt_own_vdso(&size);

	return bytes ? mt_elf_open_memory(bytes, size, "[vdso]", out) : NULL;
}

/* Opens the tables of an image. Called once for each image. */
static struct mt_error *open_image(void *context, const struct mt_image_identity *identity,
				   struct mt_elf **out, char **found_at)
{
	struct mt_code_images *images = context;
	uint64_t began = mt_clock_thread_ns();
	struct mt_error *err = NULL;
	const struct mt_image_file *file;

	(void)found_at;
	if (mt_image_kind_of_path(identity->path) == MT_IMAGE_VDSO) {
		err = open_vdso(out);
	} else {
		file = mt_image_files_find(images->files, identity);
		if (file)
			err = open_file(images, file, out);
	}
	images->counts.ns += mt_clock_thread_ns() - began;
	if (*out)
		images->counts.read++;
	else
		images->counts.missing++;
	return err;
}

struct mt_image_set *mt_code_images_set(struct mt_code_images *images)
{
	return images->set;
}

struct mt_code_images_counts mt_code_images_counts(const struct mt_code_images *images)
{
	return images->counts;
}
