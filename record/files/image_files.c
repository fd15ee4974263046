/* A list, and a table of keyed hashes of path, device and inode. */
#include "record/files/image_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "record/files/file_worker.h"
#include "symbols/images/image.h"

#define FILES_MAX 262144 /* files past this number get no build id */
#define KEPT_OPEN_MAX 64 /* files not chosen yet; the same limit for chosen files */

struct mt_image_files {
	struct mt_file_worker *worker;
	MT_ARRAY(struct mt_image_file *) items;
	struct mt_map64 by_hash; /* hash -> number of the last file with that hash */
	uint64_t seed;		 /* random, so that nobody can choose paths with equal hashes */
	size_t open, chosen_open;
};

struct mt_image_files *mt_image_files_create(struct mt_file_worker *worker)
{
	struct mt_image_files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->worker = worker;
	(void)!getrandom(&files->seed, sizeof(files->seed), GRND_NONBLOCK);
	return files;
}

static void file_destroy(struct mt_image_file *file)
{
	free((char *)file->at.path.bytes);
	free((char *)file->build_id.bytes);
	free(file);
}

void mt_image_files_destroy(struct mt_image_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->items.count; i++) {
		mt_file_worker_close(files->worker, files->items.items[i]->fd);
		file_destroy(files->items.items[i]);
	}
	mt_array_deinit(&files->items);
	mt_map64_deinit(&files->by_hash);
	free(files);
}

static uint64_t hash_of(const struct mt_image_files *files, const struct mt_mapped_file *m)
{
	uint64_t numbers[] = {m->major, m->minor, m->inode};

	return mt_hash_bytes(m->path.bytes, m->path.size,
			     mt_hash_bytes(numbers, sizeof(numbers), files->seed));
}

/* Compares everything except the generation. */
static bool is_same(const struct mt_mapped_file *a, const struct mt_mapped_file *b)
{
	return a->inode == b->inode && a->major == b->major && a->minor == b->minor &&
	       a->path.size == b->path.size && !memcmp(a->path.bytes, b->path.bytes, a->path.size);
}

struct mt_image_file *mt_image_files_at(const struct mt_image_files *files, uint32_t number)
{
	return number ? files->items.items[number - 1] : NULL;
}

static struct mt_image_file *add(struct mt_image_files *files, const struct mt_mapped_file *m,
				 uint32_t next, uint64_t hash)
{
	struct mt_image_file *file = calloc(1, sizeof(*file)), **slot = NULL;

	if (!file)
		return NULL;
	*file = (struct mt_image_file){.at = *m, .next = next, .fd = -1};
	file->at.path.bytes = strndup(m->path.bytes, m->path.size);
	if (file->at.path.bytes && files->items.count < FILES_MAX)
		slot = mt_array_push(&files->items);
	if (!slot) {
		file_destroy(file);
		return NULL;
	}
	*slot = file;
	file->number = (uint32_t)files->items.count;
	(void)mt_map64_put(&files->by_hash, hash, file->number);
	return file;
}

struct mt_image_file *mt_image_files_get(struct mt_image_files *files,
					 const struct mt_mapped_file *mapping, bool *added)
{
	uint64_t hash = hash_of(files, mapping), last = 0;
	struct mt_image_file *file;

	(void)mt_map64_get(&files->by_hash, hash, &last);
	file = mt_image_files_at(files, (uint32_t)last);
	while (file && (!is_same(&file->at, mapping) ||
			file->at.inode_generation != mapping->inode_generation))
		file = mt_image_files_at(files, file->next);
	*added = !file;
	return file ? file : add(files, mapping, (uint32_t)last, hash);
}

struct mt_image_file *mt_image_files_find(const struct mt_image_files *files,
					  const struct mt_image_identity *identity)
{
	const struct mt_mapped_file mapping = {
		.major = identity->device_major,
		.minor = identity->device_minor,
		.inode = identity->inode,
		.path = {identity->path, strlen(identity->path)},
	};
	struct mt_image_file *file;
	uint64_t last = 0;

	(void)mt_map64_get(&files->by_hash, hash_of(files, &mapping), &last);
	file = mt_image_files_at(files, (uint32_t)last);
	while (file && !is_same(&file->at, &mapping))
		file = mt_image_files_at(files, file->next);
	return file;
}

static bool copy_build_id(struct mt_image_file *file, const struct mt_text *id)
{
	char *copy = id->size ? malloc(id->size) : NULL;

	if (copy)
		memcpy(copy, id->bytes, id->size);
	file->build_id = (struct mt_text){copy, copy ? id->size : 0};
	return copy || !id->size;
}

void mt_image_files_know(struct mt_image_files *files, struct mt_image_file *file, int fd,
			 const struct mt_image_record *record)
{
	file->size = record->size;
	file->known = copy_build_id(file, &record->build_id);
	if (fd >= 0 && (file->chosen || files->open < KEPT_OPEN_MAX)) {
		file->fd = fd;
		files->open++;
	} else {
		mt_file_worker_close(files->worker, fd);
	}
}

void mt_image_files_keep_chosen(struct mt_image_files *files, struct mt_image_file *file)
{
	if (file->fd < 0)
		return;
	files->open--;
	if (files->chosen_open < KEPT_OPEN_MAX) {
		files->chosen_open++;
	} else {
		mt_file_worker_close(files->worker, file->fd);
		file->fd = -1;
	}
}

struct mt_image_record mt_image_file_record(const struct mt_image_file *file)
{
	return (struct mt_image_record){
		.major = file->at.major,
		.minor = file->at.minor,
		.inode = file->at.inode,
		.inode_generation = file->at.inode_generation,
		.size = file->size,
		.path = file->at.path,
		.build_id = file->build_id,
	};
}

int mt_image_file_open(const struct mt_image_file *file, struct mt_file_worker *worker)
{
	struct stat status;

	return file->fd >= 0 ? fcntl(file->fd, F_DUPFD_CLOEXEC, 3)
			     : mt_file_worker_open(worker, &file->at, &status);
}
