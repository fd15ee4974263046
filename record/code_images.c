/*
 * A list of files by what a mapping says of them, and a source of images that makes skeletons of
 * them. Files are read, not mapped, and what is read is bounded: they are anybody's, and may change
 * meanwhile.
 */
#include "record/code_images.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "record/clock.h"
#include "record/embed_image.h"
#include "record/mapped_file.h"
#include "symbols/elf.h"
#include "symbols/image.h"

#define OPEN_MAX 256
#define FILES_MAX 16384

MT_DEFINE_CLEANUP(mt_embed_image, struct mt_embed_image)

struct file {
	struct mt_mapped_file at; /* its path is ours */
	int fd;			  /* -1: `at` says where to look */
	uint8_t *bytes;		  /* the skeleton, once it is made */
};

struct mt_code_images {
	struct mt_image_set *set;
	struct mt_map64 by_key; /* index in files */
	MT_ARRAY(struct file) files;
	size_t open;
	uint64_t memory;
	struct mt_code_images_counts counts;
};

static struct mt_error *open_image(void *context, const struct mt_image_identity *identity,
				   struct mt_elf **out, char **found_at);

static const struct mt_image_source source = {.name = "mapped file", .open = open_image};

struct mt_code_images *mt_code_images_create(uint64_t memory)
{
	struct mt_code_images *images = calloc(1, sizeof(*images));

	if (!images)
		return NULL;
	images->memory = memory;
	images->set = mt_image_set_create();
	if (!images->set || !mt_image_set_add_source(images->set, &source, images)) {
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
	for (size_t i = 0; i < images->files.count; i++) {
		struct file *file = &images->files.items[i];

		mt_close_p(&file->fd);
		free((char *)file->at.path.bytes);
		free(file->bytes);
	}
	mt_array_deinit(&images->files);
	mt_map64_deinit(&images->by_key);
	free(images);
}

static uint64_t key_of(const char *path, size_t size, uint32_t major, uint32_t minor,
		       uint64_t inode)
{
	return mt_hash_bytes(path, size, inode ^ (uint64_t)major << 52 ^ (uint64_t)minor << 32);
}

void mt_code_images_add(struct mt_code_images *images, int fd, const struct mt_mapped_file *file)
{
	uint64_t key = key_of(file->path.bytes, file->path.size, file->major, file->minor,
			      file->inode),
		 known;
	struct file *added;
	char *path;

	if (images->files.count >= FILES_MAX || mt_map64_get(&images->by_key, key, &known))
		return;
	path = strndup(file->path.bytes, file->path.size);
	added = path ? mt_array_push(&images->files) : NULL;
	if (!added) {
		free(path);
		return;
	}
	*added = (struct file){.at = *file, .fd = -1};
	added->at.path.bytes = path;
	if (fd >= 0 && images->open < OPEN_MAX)
		added->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	images->open += added->fd >= 0;
	(void)mt_map64_put(&images->by_key, key, images->files.count - 1);
}

static struct file *find_file(const struct mt_code_images *images,
			      const struct mt_image_identity *identity)
{
	uint64_t at;

	return mt_map64_get(&images->by_key,
			    key_of(identity->path, strlen(identity->path), identity->device_major,
				   identity->device_minor, identity->inode),
			    &at)
		       ? &images->files.items[at]
		       : NULL;
}

/* ---- The tables ---- */

struct buffer {
	uint8_t *bytes;
	size_t used, size;
};

static bool put_bytes(void *context, const uint8_t *bytes, size_t size)
{
	struct buffer *buffer = context;

	if (size > buffer->size - buffer->used)
		return false;
	memcpy(buffer->bytes + buffer->used, bytes, size);
	buffer->used += size;
	return true;
}

/* Makes file->bytes of the open file; *size of them. */
static struct mt_error *make_tables(struct mt_code_images *images, struct file *file, int fd,
				    size_t *size)
{
	const struct mt_skeleton_wish wish = {.unwind = true, .no_calls = true};
	MT_CLEANUP(mt_embed_image_destroy_p) struct mt_embed_image *image = NULL;
	struct mt_error *err = mt_embed_image_create(fd, &wish, &image);
	struct mt_skeleton *skeleton;
	struct buffer buffer = {0};

	if (err)
		return err;
	skeleton = mt_embed_image_skeleton(image);
	buffer.size = mt_skeleton_size(skeleton);
	if (buffer.size > images->memory - images->counts.bytes) {
		images->counts.no_room++;
		return mt_error_create(MT_ERR_NOMEM, "no room for its unwind tables");
	}
	buffer.bytes = malloc(buffer.size ? buffer.size : 1);
	if (!buffer.bytes)
		return mt_error_nomem();
	if (!mt_skeleton_write(skeleton, &(struct mt_skeleton_output){.context = &buffer,
								      .put = put_bytes}) ||
	    buffer.used != buffer.size) {
		free(buffer.bytes);
		return mt_error_create(MT_ERR_FORMAT, "it changed while it was read");
	}
	file->bytes = buffer.bytes;
	*size = buffer.size;
	images->counts.bytes += buffer.size;
	return NULL;
}

static struct mt_error *open_file(struct mt_code_images *images, struct file *file,
				  struct mt_elf **out)
{
	MT_CLEANUP_CLOSE int fd = file->fd;
	struct mt_error *err;
	struct stat status;
	size_t size = 0;

	file->fd = -1;
	if (fd >= 0)
		images->open--;
	else
		fd = mt_mapped_file_open(&file->at, &status);
	if (fd < 0)
		return mt_error_os(errno, "%s", file->at.path.bytes);
	err = make_tables(images, file, fd, &size);
	return err ? err : mt_elf_open_skeleton(file->bytes, size, file->at.path.bytes, out);
}

static struct mt_error *open_vdso(struct mt_elf **out)
{
	size_t size;
	const uint8_t *bytes = mt_own_vdso(&size);

	return bytes ? mt_elf_open_memory(bytes, size, "[vdso]", out) : NULL;
}

/* Asked once for each image. */
static struct mt_error *open_image(void *context, const struct mt_image_identity *identity,
				   struct mt_elf **out, char **found_at)
{
	struct mt_code_images *images = context;
	uint64_t began = mt_clock_thread_ns();
	struct mt_error *err = NULL;
	struct file *file;

	(void)found_at;
	if (mt_image_kind_of_path(identity->path) == MT_IMAGE_VDSO) {
		err = open_vdso(out);
	} else {
		file = find_file(images, identity);
		if (file && !file->bytes)
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
