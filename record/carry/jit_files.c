/* Keeps the files in an array, because few processes have a jitdump. */
#include "record/carry/jit_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/base/array.h"
#include "record/files/file_worker.h"
#include "record/files/mapped_file.h"

#define FILES_MAX 128
#define FIRST_NS UINT64_C(1000000000)
#define LAST_NS UINT64_C(60000000000)

struct mt_jit_files {
	MT_ARRAY(struct mt_jit_file *) files;
	struct mt_file_worker *worker;
	bool unwind, lines;
	size_t asked;
};

struct mt_jit_files *mt_jit_files_create(struct mt_file_worker *worker, bool unwind, bool lines)
{
	struct mt_jit_files *files = calloc(1, sizeof(*files));

	if (files) {
		files->worker = worker;
		files->unwind = unwind;
		files->lines = lines;
	}
	return files;
}

static void file_destroy(struct mt_jit_file *file)
{
	mt_file_worker_close(file->worker, file->fd);
	free(file->path);
	free(file);
}

void mt_jit_files_destroy(struct mt_jit_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->files.count; i++)
		file_destroy(files->files.items[i]);
	mt_array_deinit(&files->files);
	free(files);
}

static size_t read_file(void *context, uint64_t at, uint8_t *out, size_t size)
{
	const struct mt_jit_file *file = context;

	return mt_file_worker_read(file->worker, file->fd, at, out, size);
}

bool mt_jit_files_add(struct mt_jit_files *files, int fd, const struct mt_mapped_file *mapped)
{
	struct mt_jit_file *file = calloc(1, sizeof(*file)), **slot = NULL;

	if (file)
		file->path = strndup(mapped->path.bytes, mapped->path.size);
	if (file && file->path && files->files.count < FILES_MAX)
		slot = mt_array_push(&files->files);
	if (!slot) {
		mt_file_worker_close(files->worker, fd);
		if (file)
			free(file->path);
		free(file);
		return false;
	}
	*slot = file;
	file->pid = mapped->pid;
	file->worker = files->worker;
	file->fd = fd;
	file->major = mapped->major;
	file->minor = mapped->minor;
	file->inode = mapped->inode;
	file->inode_generation = mapped->inode_generation;
	file->copy.input = (struct mt_jitdump_input){file, read_file};
	file->copy.unwind = files->unwind;
	file->copy.lines = files->lines;
	file->pause = FIRST_NS;
	return true;
}

/* Returns true if the file is due and has grown, and lengthens the pause before the next check. */
static bool has_grown(struct mt_jit_file *file, uint64_t now)
{
	struct stat status;

	if (file->ended || file->due > now)
		return false;
	file->due = now + file->pause < now ? now : now + file->pause;
	if (mt_file_worker_stat(file->worker, file->fd, &status) ||
	    (uint64_t)status.st_size <= file->size)
		return false;
	file->size = (uint64_t)status.st_size;
	file->pause = file->pause < LAST_NS / 2 ? file->pause * 2 : LAST_NS;
	return true;
}

struct mt_jit_file *mt_jit_files_next_grown(struct mt_jit_files *files, uint64_t now)
{
	while (files->asked < files->files.count) {
		struct mt_jit_file *file = files->files.items[files->asked++];

		if (has_grown(file, now))
			return file;
	}
	files->asked = 0;
	return NULL;
}

void mt_jit_files_rewind(struct mt_jit_files *files)
{
	files->asked = 0;
}

struct mt_jit_file *mt_jit_files_get(const struct mt_jit_files *files, size_t i)
{
	return i < files->files.count ? files->files.items[i] : NULL;
}
