/*
 * Searches /proc/PID/maps of the targets, and the headers of the files of a command that is not yet
 * running.
 */
#include "record/probes/probe_files.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/foreign_file.h"
#include "formats/records/record.h"
#include "record/files/mapped_file.h"
#include "record/proc/numbers.h"
#include "record/proc/procfs.h"
#include "record/state/existing.h"
#include "symbols/elf/elf.h"

enum {
	FILES_MOST = 512,
	NEEDED_MOST = 256,
};

struct finding {
	const char *path; /* path or name; NULL: every file */
	struct mt_probe_files *files;
	bool failed, unreadable;
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

bool mt_probe_files_add(struct mt_probe_files *files, int fd, const struct stat *status,
			const char *path, size_t length)
{
	struct mt_probe_file file = {.fd = fd, .device = status->st_dev, .inode = status->st_ino};

	for (size_t i = 0; i < files->items.count; i++) {
		if (files->items.items[i].inode == file.inode &&
		    files->items.items[i].device == file.device) {
			close(fd);
			return true;
		}
	}
	file.path = files->items.count < FILES_MOST ? strndup(path, length) : NULL;
	if (file.path && mt_array_append(&files->items, file))
		return true;
	free(file.path);
	close(fd);
	return false;
}

/* Adds a file. Takes ownership of fd. */
static void add_file(struct finding *finding, int fd, const struct stat *status, const char *path)
{
	finding->failed |= !mt_probe_files_add(finding->files, fd, status, path, strlen(path));
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

static void add_target(void *context, pid_t pid)
{
	struct finding *finding = context;

	finding->unreadable |= !add_mapped(finding, pid);
}

void mt_probe_targets_each(const struct mt_probe_targets *targets,
			   void (*each)(void *context, pid_t pid), void *context)
{
	for (size_t i = 0; i < targets->pids->count; i++)
		each(context, targets->pids->items[i]);
	for (size_t i = 0; i < targets->tids->count; i++)
		each(context, targets->tids->items[i]);
	if (targets->everyone)
		mt_existing_each(each, context);
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

	mt_probe_targets_each(targets, add_target, &finding);
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
	return out->items.count
		       ? NULL
		       : nobody_maps(targets, word, path, finding.unreadable && !targets->everyone);
}

struct mt_error *mt_probe_files_of(pid_t pid, struct mt_probe_files *out)
{
	struct finding finding = {.files = out};

	if (!add_mapped(&finding, pid))
		return mt_error_os(errno, "process %d: cannot read what it maps", pid);
	return finding.failed && out->items.count < FILES_MOST ? mt_error_nomem() : NULL;
}

/* ---- The files of a command: follows DT_NEEDED, breadth first like ld.so ---- */

#define CONFIGURED "/etc/ld.so.conf.d"

static const char *const system_folders[] = {
	"/lib/x86_64-linux-gnu",
	"/usr/lib/x86_64-linux-gnu",
	"/lib64",
	"/usr/lib64",
	"/lib",
	"/usr/lib",
	"/usr/local/lib",
};

struct walk {
	MT_ARRAY(char *) paths; /* files found so far */
	uint16_t machine;
	bool (*each)(void *context, const char *path);
	void *context;
	bool ended;
};

static void walk_deinit(struct walk *walk)
{
	for (size_t i = 0; i < walk->paths.count; i++)
		free(walk->paths.items[i]);
	mt_array_deinit(&walk->paths);
}

/* Adds a file if it exists and is for the program's machine. */
static bool add(struct walk *walk, const char *path)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	char **slot;

	if (access(path, R_OK))
		return false;
	mt_error_destroy(mt_elf_read_named(path, &elf));
	if (!elf || !mt_elf_is_64(elf) || (walk->machine && mt_elf_machine(elf) != walk->machine))
		return false;
	walk->machine = mt_elf_machine(elf);
	for (size_t i = 0; i < walk->paths.count; i++) {
		if (!strcmp(walk->paths.items[i], path))
			return true;
	}
	slot = walk->paths.count < NEEDED_MOST ? mt_array_push(&walk->paths) : NULL;
	if (slot)
		*slot = strdup(path);
	walk->ended = !slot || !*slot || !walk->each(walk->context, path);
	if (slot && !*slot)
		walk->paths.count--;
	return true;
}

static bool try_in(struct walk *walk, const char *folder, size_t length, const char *origin,
		   const char *name)
{
	const char *variable = strstr(folder, "$ORIGIN");
	size_t skip = strlen("$ORIGIN");
	char path[PATH_MAX];

	if (!variable || variable >= folder + length) {
		variable = strstr(folder, "${ORIGIN}");
		skip = strlen("${ORIGIN}");
	}
	if (variable && variable < folder + length) {
		const char *slash = strrchr(origin, '/');

		snprintf(path, sizeof(path), "%.*s%.*s%.*s/%s", (int)(variable - folder), folder,
			 slash ? (int)(slash - origin) : 1, slash ? origin : ".",
			 (int)(folder + length - variable - (ptrdiff_t)skip), variable + skip,
			 name);
	} else {
		snprintf(path, sizeof(path), "%.*s/%s", (int)length, folder, name);
	}
	return add(walk, path);
}

/* Tries to find a library in the folders of a list, which any of `separators` separates. */
static bool try_list(struct walk *walk, const char *list, const char *separators,
		     const char *origin, const char *name)
{
	for (size_t length; list && *list; list += length + (list[length] != '\0')) {
		length = strcspn(list, separators);
		if (length && *list != '#' && try_in(walk, list, length, origin, name))
			return true;
	}
	return false;
}

static bool try_configured(struct walk *walk, const char *name)
{
	DIR *folder = opendir(CONFIGURED);
	struct dirent *entry;
	bool found = false;

	while (folder && !found && (entry = readdir(folder))) {
		MT_CLEANUP_FREE char *text = mt_read_textf(NULL, CONFIGURED "/%s", entry->d_name);

		found = text && try_list(walk, text, "\n", "", name);
	}
	if (folder)
		closedir(folder);
	return found;
}

static void find(struct walk *walk, const char *run_path, const char *origin, const char *name)
{
	if (strchr(name, '/')) {
		add(walk, name);
		return;
	}
	if (try_list(walk, run_path, ":", origin, name) ||
	    try_list(walk, getenv("LD_LIBRARY_PATH"), ":;", origin, name) ||
	    try_configured(walk, name))
		return;
	for (size_t i = 0; i < sizeof(system_folders) / sizeof(*system_folders); i++) {
		if (try_in(walk, system_folders[i], strlen(system_folders[i]), origin, name))
			return;
	}
}

/* Returns the string of the dynamic entry, or NULL. */
static const char *dynamic_string(struct mt_span strings, uint64_t at)
{
	if (at >= strings.size || !memchr(strings.bytes + at, 0, strings.size - at))
		return NULL;
	return (const char *)strings.bytes + at;
}

static void follow(struct walk *walk, const char *path)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	struct mt_span dynamic = {0}, strings = {0};
	const char *run_path = NULL;

	mt_error_destroy(mt_elf_read_named(path, &elf));
	if (elf) {
		dynamic = mt_elf_section(elf, ".dynamic");
		strings = mt_elf_section(elf, ".dynstr");
	}
	for (size_t pass = 0; pass < 2; pass++) {
		for (size_t at = 0; at + 16 <= dynamic.size && !walk->ended; at += 16) {
			uint64_t tag = mt_get_le64(dynamic.bytes + at);
			const char *text =
				dynamic_string(strings, mt_get_le64(dynamic.bytes + at + 8));

			if (!pass && text && (tag == DT_RUNPATH || tag == DT_RPATH))
				run_path = text;
			else if (pass && text && tag == DT_NEEDED)
				find(walk, run_path, path, text);
		}
	}
}

/*
 * Adds the program or a script's interpreter. Of "#!/usr/bin/env python3" it adds only env, because
 * the file that env executes is unknown here.
 */
static void add_program(struct walk *walk, const char *program)
{
	struct stat status;
	MT_CLEANUP_CLOSE int fd = mt_foreign_open(AT_FDCWD, program, MT_LINKS_ALL, &status);
	char line[256];
	ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);
	char *from = line + 2;

	if (n < 3 || memcmp(line, "#!", 2) != 0) {
		add(walk, program);
		return;
	}
	line[n] = '\0';
	from += strspn(from, " \t");
	from[strcspn(from, " \t\n")] = '\0';
	add(walk, from);
}

/* Adds the files in LD_PRELOAD, which ld.so loads right after the program. */
static void add_preloaded(struct walk *walk, const char *program)
{
	const char *list = getenv("LD_PRELOAD");

	while (list && *list && !walk->ended) {
		size_t length = strcspn(list, " :");
		MT_CLEANUP_FREE char *name = strndup(list, length);

		if (name && *name)
			find(walk, NULL, program, name);
		list += length + (list[length] != '\0');
	}
}

/* Adds the loader. musl's loader is also its libc. */
static void add_loader(struct walk *walk)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	struct mt_span path = {0};

	mt_error_destroy(mt_elf_read_named(walk->paths.items[0], &elf));
	if (elf)
		path = mt_elf_section(elf, ".interp");
	if (path.size && !path.bytes[path.size - 1])
		add(walk, (const char *)path.bytes);
}

void mt_needed_files_each(const char *program, bool (*each)(void *context, const char *path),
			  void *context)
{
	MT_CLEANUP(walk_deinit) struct walk walk = {.each = each, .context = context};

	add_program(&walk, program);
	if (walk.paths.count)
		add_preloaded(&walk, program);
	for (size_t i = 0; i < walk.paths.count && !walk.ended; i++)
		follow(&walk, walk.paths.items[i]);
	if (walk.paths.count && !walk.ended)
		add_loader(&walk);
}
