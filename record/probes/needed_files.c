/* Follows DT_NEEDED from file to file, breadth first like ld.so. */
#include "record/probes/needed_files.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/foreign_file.h"
#include "record/proc/procfs.h"
#include "symbols/elf/elf.h"

#define CONFIGURED "/etc/ld.so.conf.d"

enum {
	FILES_MOST = 256,
};

MT_DEFINE_CLEANUP(mt_elf, struct mt_elf)

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
	slot = walk->paths.count < FILES_MOST ? mt_array_push(&walk->paths) : NULL;
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

/* Tries the folders of a list, which any of `separators` separates. */
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
