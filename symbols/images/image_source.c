/*
 * Determines the kind of an image from its path. Finds ELF files on this machine: at the recorded
 * path, at that path below a directory that the user names, as this process's vdso, and as packaged
 * debug files by build id. Recorded paths are untrusted: they must be absolute, without "..", and
 * lead to a regular file on an ordinary file system.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/records/jitdump.h"
#include "symbols/images/debug_file.h"
#include "symbols/images/image.h"

#define DELETED " (deleted)"

/*
 * Most bytes of a vdso, which has a page or two. Bounds its headers, although the kernel wrote
 * them.
 */
#define VDSO_MAX 65536

static bool has_parent_step(const char *path)
{
	for (const char *p = path; (p = strstr(p, "..")) != NULL; p += 2) {
		if ((p == path || p[-1] == '/') && (p[2] == '/' || !p[2]))
			return true;
	}
	return false;
}

/*
 * True for file systems whose regular files are not ordinary: reading may have effects, or never
 * end.
 */
static bool is_kernel_file_system(const char *path)
{
	return !strncmp(path, "/proc/", 6) || !strncmp(path, "/sys/", 5);
}

static bool starts_with(const char *string, const char *start)
{
	return !strncmp(string, start, strlen(start));
}

static bool ends_with(const char *string, const char *end)
{
	size_t length = strlen(string), tail = strlen(end);

	return length >= tail && !strcmp(string + length - tail, end);
}

static bool is_module_path(const char *path)
{
	static const char *const ends[] = {".ko", ".ko.xz", ".ko.gz", ".ko.zst"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		if (ends_with(path, ends[i]))
			return true;
	}
	return false;
}

enum mt_image_kind mt_image_kind_of_path(const char *path)
{
	static const char *const anonymous[] = {"//",	     "[heap]",	       "[stack",
						"[anon",     "[vvar",	       "[vsyscall]",
						"[uprobes]", "/memfd:",	       "/dev/zero",
						"/SYSV",     "/anon_hugepage", "anon_inode:",
						"/tmp/perf-"};
	uint32_t pid;

	if (starts_with(path, "[vdso"))
		return MT_IMAGE_VDSO;
	for (size_t i = 0; i < sizeof(anonymous) / sizeof(*anonymous); i++) {
		if (starts_with(path, anonymous[i]))
			return MT_IMAGE_ANONYMOUS;
	}
	if (!*path || mt_jitdump_path(path, strlen(path), &pid))
		return MT_IMAGE_ANONYMOUS;
	if (*path == '[' ||
	    is_module_path(path)) /* [kernel.kallsyms], [nf_tables], /lib/modules/... */
		return MT_IMAGE_KERNEL;
	return MT_IMAGE_FILE;
}

static struct mt_error *check_path(const char *path)
{
	if (*path != '/')
		return mt_error_create(MT_ERR_UNSUPPORTED, "%s: not an absolute path", path);
	if (has_parent_step(path) || is_kernel_file_system(path))
		return mt_error_create(MT_ERR_UNSUPPORTED, "%s: not a path that a mapped file has",
				       path);
	return NULL;
}

const uint8_t *mt_own_vdso(size_t *size)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR); /* NOLINT */
	const Elf64_Phdr *p;

	if (!header)
		return NULL;
	p = (const Elf64_Phdr *)((const char *)header + header->e_phoff);
	*size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	for (size_t i = 0; i < header->e_phnum; i++) {
		if (p[i].p_type == PT_LOAD && p[i].p_offset + p[i].p_filesz > *size)
			*size = p[i].p_offset + p[i].p_filesz;
	}
	*size = *size < VDSO_MAX ? *size : VDSO_MAX;
	return (const uint8_t *)header;
}

static struct mt_error *open_own_vdso(struct mt_elf **out, char **found_at)
{
	size_t size;
	const uint8_t *vdso = mt_own_vdso(&size);
	struct mt_error *err;

	if (!vdso)
		return mt_error_create(MT_ERR_NOT_FOUND, "this process has no vdso");
	err = mt_elf_open_memory(vdso, size, "[vdso]", out);
	if (!err)
		*found_at = strdup("this process's vdso");
	return err;
}

/* Copies the path without " (deleted)"; NULL out of memory. */
static char *live_path(const char *path, bool *deleted)
{
	size_t length = strlen(path), tail = strlen(DELETED);

	*deleted = length > tail && !strcmp(path + length - tail, DELETED);
	return strndup(path, *deleted ? length - tail : length);
}

static struct mt_error *open_local(void *context, const struct mt_image_identity *identity,
				   struct mt_elf **out, char **found_at)
{
	MT_CLEANUP_FREE char *path = NULL;
	struct mt_error *err;
	bool deleted;

	(void)context;
	if (mt_image_kind_of_path(identity->path) == MT_IMAGE_VDSO)
		return open_own_vdso(out, found_at);
	path = live_path(identity->path, &deleted);
	if (!path)
		return mt_error_nomem();
	if (deleted && !identity->build_id_size)
		return mt_error_create(MT_ERR_NOT_FOUND,
				       "%s: deleted or replaced, and no build id was recorded",
				       path);
	err = check_path(path);
	if (!err)
		err = mt_elf_open_file(path, out);
	if (!err)
		*found_at = MT_TAKE(path);
	return err;
}

const struct mt_image_source mt_image_source_local = {.name = "local file", .open = open_local};

/* DIRECTORY/NAME if it is readable; NULL if not, or out of memory. */
static char *path_below(const char *directory, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", directory, name + (*name == '/')) < 0)
		return NULL;
	if (!access(path, R_OK))
		return path;
	free(path);
	return NULL;
}

static struct mt_error *open_below(void *context, const struct mt_image_identity *identity,
				   struct mt_elf **out, char **found_at)
{
	MT_CLEANUP_FREE char *path = NULL, *found = NULL;
	struct mt_error *err;
	bool deleted;

	path = live_path(identity->path, &deleted);
	if (!path)
		return mt_error_nomem();
	if (!strchr(path, '/') || path[strlen(path) - 1] == '/' || has_parent_step(path))
		return NULL;
	/*
	 * The directory may be the recorded root or a directory below it: drop one component each
	 * time.
	 */
	for (const char *part = path; part && !found; part = strchr(part + 1, '/'))
		found = path_below(context, part);
	if (!found)
		return mt_error_create(MT_ERR_NOT_FOUND, "%s: not in %s", path,
				       (const char *)context);
	err = mt_elf_open_named(found, out);
	if (!err)
		*found_at = MT_TAKE(found);
	return err;
}

const struct mt_image_source mt_image_source_below = {.name = "directory", .open = open_below};

static struct mt_error *open_build_id(void *context, const struct mt_image_identity *identity,
				      struct mt_elf **out, char **found_at)
{
	MT_CLEANUP_FREE char *path = NULL;
	struct mt_error *err;

	if (identity->build_id_size < 2)
		return NULL;
	path = mt_debug_file_path(context, identity->build_id, identity->build_id_size);
	if (!path)
		return mt_error_nomem();
	if (access(path, R_OK) != 0)
		return NULL;
	err = mt_elf_open_file(path, out);
	if (!err)
		*found_at = MT_TAKE(path);
	return err;
}

const struct mt_image_source mt_image_source_build_id = {
	.name = "debug file", .debug = true, .open = open_build_id};
