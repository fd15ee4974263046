/* A list, and a table of hashes of path, device and inode. */
#include "record/carry/known_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/base/cleanup.h"
#include "record/files/file_worker.h"
#include "symbols/images/image.h"

#define OPEN_MAX 64
#define FILES_MAX 16384

void mt_known_files_deinit(struct mt_known_files *files, struct mt_file_worker *worker)
{
	for (size_t i = 0; i < files->items.count; i++) {
		mt_file_worker_close(worker, files->items.items[i].fd);
		free((char *)files->items.items[i].at.path.bytes);
	}
	mt_array_deinit(&files->items);
	mt_map64_deinit(&files->by_hash);
}

static uint64_t hash_of(const char *path, size_t size, uint32_t major, uint32_t minor,
			uint64_t inode)
{
	return mt_hash_bytes(path, size, inode ^ (uint64_t)major << 52 ^ (uint64_t)minor << 32);
}

/* Path, its end, and build id, as the copies' strings; false out of memory. */
static bool copy_strings(struct mt_known_file *file)
{
	size_t path = file->at.path.size, id = file->record.build_id.size;
	char *text = malloc(path + 1 + id);

	if (!text)
		return false;
	memcpy(text, file->at.path.bytes, path);
	text[path] = '\0';
	if (id)
		memcpy(text + path + 1, file->record.build_id.bytes, id);
	file->at.path.bytes = text;
	file->record.path = file->at.path;
	file->record.build_id.bytes = text + path + 1;
	file->record.problem = (struct mt_text){0};
	return true;
}

/* What a mapping says of a file. */
static struct mt_image_identity identity_of(const struct mt_mapped_file *file)
{
	return (struct mt_image_identity){.path = file->path.bytes,
					  .device_major = file->major,
					  .device_minor = file->minor,
					  .inode = file->inode};
}

static bool is_same(const struct mt_known_file *file, const struct mt_image_identity *identity)
{
	return file->at.inode == identity->inode && file->at.major == identity->device_major &&
	       file->at.minor == identity->device_minor &&
	       !strcmp(file->at.path.bytes, identity->path);
}

static uint64_t hash_identity(const struct mt_image_identity *identity)
{
	return hash_of(identity->path, strlen(identity->path), identity->device_major,
		       identity->device_minor, identity->inode);
}

struct mt_known_file *mt_known_files_find(const struct mt_known_files *files,
					  const struct mt_image_identity *identity)
{
	uint64_t at;

	if (!mt_map64_get(&files->by_hash, hash_identity(identity), &at))
		return NULL;
	while (at && !is_same(&files->items.items[at - 1], identity))
		at = files->items.items[at - 1].next;
	return at ? &files->items.items[at - 1] : NULL;
}

void mt_known_files_add(struct mt_known_files *files, int fd, const struct mt_mapped_file *file,
			const struct mt_image_record *record)
{
	struct mt_known_file copy = {.at = *file, .record = *record, .fd = -1}, *added;
	struct mt_image_identity identity;
	uint64_t before = 0, hash;

	if (files->items.count >= FILES_MAX || !copy_strings(&copy))
		return;
	identity = identity_of(&copy.at);
	added = mt_known_files_find(files, &identity) ? NULL : mt_array_push(&files->items);
	if (!added) {
		free((char *)copy.at.path.bytes);
		return;
	}
	hash = hash_identity(&identity);
	(void)mt_map64_get(&files->by_hash, hash, &before);
	copy.next = before;
	*added = copy;
	if (fd >= 0 && files->open < OPEN_MAX)
		added->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	files->open += added->fd >= 0;
	(void)mt_map64_put(&files->by_hash, hash, files->items.count);
}

int mt_known_files_take(struct mt_known_files *files, struct mt_file_worker *worker,
			struct mt_known_file *file)
{
	struct stat status;
	int fd = file->fd;

	file->fd = -1;
	if (fd < 0)
		return mt_file_worker_open(worker, &file->at, &status);
	files->open--;
	return fd;
}
