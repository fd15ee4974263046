/*
 * Searches /proc/PID/maps of the targets, and the headers of the files of a command that is not yet
 * running.
 */
#include "record/probes/probe_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/foreign_file.h"
#include "formats/records/record.h"
#include "record/files/mapped_file.h"
#include "record/probes/needed_files.h"
#include "record/proc/numbers.h"
#include "record/proc/procfs.h"
#include "record/state/existing.h"

enum {
	FILES_MOST = 512,
};

struct finding {
	const char *path; /* path or name; NULL: every file */
	struct mt_probe_files *files;
	bool failed;
};

bool mt_probe_file_is_called(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t length = strlen(name);

	if (!strcmp(name, "libc") &&
	    (!strncmp(base, "ld-musl", 7) || !strncmp(base, "libc.musl", 9)))
		return true;
	if (strncmp(base, name, length) != 0)
		return false;
	base += length;
	return !*base || !strncmp(base, ".so", 3) ||
	       (*base == '-' && base[1] >= '0' && base[1] <= '9') ||
	       (*base == '.' && strstr(name, ".so"));
}

void mt_probe_files_deinit(struct mt_probe_files *files)
{
	for (size_t i = 0; i < files->items.count; i++) {
		close(files->items.items[i].fd);
		free(files->items.items[i].path);
	}
	mt_array_deinit(&files->items);
}

static bool is_meant(const struct finding *finding, const char *path)
{
	if (!finding->path)
		return true;
	return strchr(finding->path, '/') ? !strcmp(path, finding->path)
					  : mt_probe_file_is_called(path, finding->path);
}

/* Adds a file, or closes it if it is there already. Takes fd. */
static void add_file(struct finding *finding, int fd, const struct stat *status, const char *path)
{
	struct mt_probe_file *slot;

	for (size_t i = 0; i < finding->files->items.count; i++) {
		if (finding->files->items.items[i].inode == status->st_ino &&
		    finding->files->items.items[i].device == status->st_dev) {
			close(fd);
			return;
		}
	}
	slot = finding->files->items.count < FILES_MOST ? mt_array_push(&finding->files->items)
							: NULL;
	if (!slot) {
		finding->failed = true;
		close(fd);
		return;
	}
	*slot = (struct mt_probe_file){
		.fd = fd, .path = strdup(path), .device = status->st_dev, .inode = status->st_ino};
	finding->failed |= !slot->path;
}

/* Opens a regular file by its path. False with errno. */
static bool add_path(struct finding *finding, int root, const char *path)
{
	struct stat status;
	int fd = mt_foreign_open(root, path, root == AT_FDCWD ? MT_LINKS_ALL : MT_LINKS_TRUSTED,
				 &status);

	if (fd < 0)
		return false;
	add_file(finding, fd, &status, path);
	return true;
}

/* Adds the file of a mapping. path: the mapping's path without " (deleted)". */
static void add_mapping(struct finding *finding, const struct mt_mapped_file *file,
			const char *path)
{
	struct stat status;
	int fd = mt_mapped_file_open(file, &status);

	/* a copy of the memory is another file, where a probe never fires */
	if (fd >= 0 && status.st_ino != file->inode)
		close(fd);
	else if (fd >= 0)
		add_file(finding, fd, &status, path);
}

bool mt_probe_mappings_each(pid_t pid,
			    void (*each)(void *context, const struct mt_mapped_file *file),
			    void *context)
{
	MT_CLEANUP_FREE char *text = mt_read_textf(NULL, "/proc/%d/maps", pid);
	char *rest = NULL;

	for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest)) {
		struct mt_map_record map;

		if (!mt_map_line_get(line, &map) || !map.inode || !(map.prot & PROT_EXEC) ||
		    map.path.bytes[0] != '/')
			continue;
		each(context, &(struct mt_mapped_file){
				      .pid = pid,
				      .major = map.major,
				      .minor = map.minor,
				      .inode = map.inode,
				      .start = map.start,
				      .end = map.end,
				      .path = map.path,
			      });
	}
	return text;
}

static void add_if_meant(void *context, const struct mt_mapped_file *file)
{
	struct finding *finding = context;
	MT_CLEANUP_FREE char *path =
		strndup(file->path.bytes, mt_mapped_file_live_length(&file->path));

	if (path && is_meant(finding, path))
		add_mapping(finding, file, path);
	finding->failed |= !path;
}

/* Adds the files that a process maps. False if its maps cannot be read. */
static bool add_mapped(struct finding *finding, pid_t pid)
{
	return mt_probe_mappings_each(pid, add_if_meant, finding);
}

static void add_everyones(void *context, pid_t pid)
{
	add_mapped(context, pid);
}

static bool take_needed(void *context, const char *path)
{
	struct finding *finding = context;

	if (finding->path && !mt_probe_file_is_called(path, finding->path))
		return true;
	add_path(finding, AT_FDCWD, path);
	return !finding->path;
}

/* Adds the file of a path: below the first target's root, else below the recorder's root. */
static struct mt_error *add_by_path(struct finding *finding, const struct mt_probe_targets *targets,
				    const char *word)
{
	MT_CLEANUP_CLOSE int root = -1;

	if (targets->pids->count && *finding->path == '/') {
		root = mt_openf(O_PATH | O_DIRECTORY, "/proc/%d/root", targets->pids->items[0]);
		if (root >= 0 && add_path(finding, root, finding->path))
			return NULL;
	}
	if (add_path(finding, AT_FDCWD, finding->path))
		return NULL;
	return mt_error_create(errno == EACCES ? MT_ERR_PERMISSION : MT_ERR_USAGE, "%s: %s: %s",
			       word, finding->path,
			       errno == EINVAL ? "not a regular file" : strerror(errno));
}

static struct mt_error *nobody_maps(const struct mt_probe_targets *targets, const char *word,
				    const char *name, bool unreadable)
{
	struct mt_error *err;

	if (unreadable)
		return mt_error_create(MT_ERR_PERMISSION,
				       "%s: what the target maps cannot be read: %s", word,
				       strerror(errno));
	if (!name)
		return mt_error_create(MT_ERR_USAGE, "%s: the targets have no file", word);
	if (targets->command_file && !targets->everyone)
		err = mt_error_create(MT_ERR_USAGE,
				      "%s: neither %s nor what it is linked with is "
				      "called %s",
				      word, targets->command_file, name);
	else
		err = mt_error_create(MT_ERR_USAGE, "%s: no target maps a file called %s", word,
				      name);
	return mt_error_hint(err, "a path says which: u:/usr/lib/libNAME.so.1:FUNCTION");
}

struct mt_error *mt_probe_files_find(const struct mt_probe_targets *targets, const char *word,
				     const char *path, struct mt_probe_files *out)
{
	struct finding finding = {.path = path, .files = out};
	bool unreadable = false;

	for (size_t i = 0; i < targets->pids->count; i++)
		unreadable |= !add_mapped(&finding, targets->pids->items[i]);
	for (size_t i = 0; i < targets->tids->count; i++)
		unreadable |= !add_mapped(&finding, targets->tids->items[i]);
	if (targets->everyone)
		mt_existing_each(add_everyones, &finding);
	if (!out->items.count && path && strchr(path, '/'))
		return add_by_path(&finding, targets, word);
	if (!out->items.count && targets->command_file)
		mt_needed_files_each(targets->command_file, take_needed, &finding);
	if (finding.failed)
		return out->items.count < FILES_MOST
			       ? mt_error_nomem()
			       : mt_error_create(MT_ERR_USAGE,
						 "%s: more than %d files may be meant; "
						 "PATH:FUNCTION says which",
						 word, FILES_MOST);
	return out->items.count ? NULL : nobody_maps(targets, word, path, unreadable);
}

struct mt_error *mt_probe_files_of(pid_t pid, struct mt_probe_files *out)
{
	struct finding finding = {.files = out};

	if (!add_mapped(&finding, pid))
		return mt_error_os(errno, "process %d: cannot read what it maps", pid);
	return finding.failed && out->items.count < FILES_MOST ? mt_error_nomem() : NULL;
}
