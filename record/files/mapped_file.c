/* Opens mapped files. A path may lead to another file by now, so only regular files are read. */
#include "record/files/mapped_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/foreign_file.h"
#include "record/proc/procfs.h"

#define DELETED " (deleted)"

/* ---- A file rebuilt from memory ---- */

#define IMAGE_MAX ((uint64_t)1 << 30)	/* bound on file offsets */
#define COPIED_MAX ((uint64_t)64 << 20) /* bytes read of a file without section headers */
#define PIECE ((size_t)1 << 20)
#define DYNAMIC_MAX 512 /* entries of the dynamic section */

struct copying {
	const struct mt_mapped_file *file;
	int memory, out;
	uint64_t base; /* address of file offset 0; 0: not found */
	uint64_t copied;
	uint8_t *buffer; /* PIECE bytes */
};

static bool is_elf(const struct copying *c, uint64_t start)
{
	unsigned char magic[SELFMAG];

	return pread(c->memory, magic, sizeof(magic), (off_t)start) == sizeof(magic) &&
	       !memcmp(magic, ELFMAG, SELFMAG);
}

/* Copies one mapping to its offset in the file; pages that cannot be read stay holes. */
static void copy_mapping(struct copying *c, const struct mt_map_record *map)
{
	for (uint64_t at = 0, n; at < map->end - map->start && c->copied < COPIED_MAX; at += n) {
		ssize_t got;

		n = map->end - map->start - at < PIECE ? map->end - map->start - at : PIECE;
		got = pread(c->memory, c->buffer, n, (off_t)(map->start + at));
		if (got <= 0)
			return;
		if (pwrite(c->out, c->buffer, (size_t)got, (off_t)(map->offset + at)) != got)
			return;
		c->copied += (uint64_t)got;
	}
}

static bool is_of_file(const struct copying *c, const struct mt_map_record *map)
{
	const struct mt_mapped_file *file = c->file;

	return map->inode == file->inode && map->major == file->major &&
	       map->minor == file->minor && map->offset < IMAGE_MAX &&
	       map->end - map->start < IMAGE_MAX;
}

static bool copy_mappings(struct copying *c)
{
	MT_CLEANUP_FREE char *maps = mt_read_textf(NULL, "/proc/%d/maps", c->file->pid);
	char *rest = maps, *line;

	while (rest && (line = strsep(&rest, "\n"))) {
		struct mt_map_record map = {0};

		if (!mt_map_line_get(line, &map) || !is_of_file(c, &map))
			continue;
		if (!map.offset && !c->base) {
			if (!is_elf(c, map.start))
				return false;
			c->base = map.start;
		}
		if (c->base)
			copy_mapping(c, &map);
	}
	return c->base && c->copied;
}

/* True for the tag of a value that the C library relocates in place. */
static bool is_pointer(int64_t tag)
{
	return tag == DT_SYMTAB || tag == DT_STRTAB || tag == DT_HASH || tag == DT_GNU_HASH;
}

static void restore_dynamic(const struct copying *c, const Elf64_Phdr *dynamic, uint64_t bias)
{
	Elf64_Dyn entry;

	for (uint64_t i = 0; i < dynamic->p_filesz / sizeof(entry) && i < DYNAMIC_MAX; i++) {
		off_t at = (off_t)(dynamic->p_offset + i * sizeof(entry));

		if (pread(c->out, &entry, sizeof(entry), at) != sizeof(entry) ||
		    entry.d_tag == DT_NULL)
			return;
		if (!is_pointer(entry.d_tag) || entry.d_un.d_ptr < bias)
			continue;
		entry.d_un.d_ptr -= bias;
		if (pwrite(c->out, &entry, sizeof(entry), at) != sizeof(entry))
			return;
	}
}

/* Removes the section headers from the file header, and undoes relocations. */
static bool restore_headers(const struct copying *c)
{
	Elf64_Ehdr header;
	Elf64_Phdr p, dynamic = {0};
	uint64_t bias = c->base;

	if (pread(c->out, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(p))
		return false;
	for (int i = 0; i < header.e_phnum; i++) {
		off_t at = (off_t)(header.e_phoff + (uint64_t)i * sizeof(p));

		if (pread(c->out, &p, sizeof(p), at) != sizeof(p))
			return false;
		if (p.p_type == PT_LOAD && !p.p_offset)
			bias = c->base - p.p_vaddr;
		if (p.p_type == PT_DYNAMIC)
			dynamic = p;
	}
	restore_dynamic(c, &dynamic, bias);
	header.e_shoff = 0;
	header.e_shnum = header.e_shstrndx = 0;
	return pwrite(c->out, &header, sizeof(header), 0) == sizeof(header);
}

/*
 * Rebuilds a file that cannot be opened any more from the memory of a process that maps it: copies
 * its mappings out of /proc/PID/mem, and restores the addresses in the dynamic section, which the
 * dynamic linker changed. Returns a memfd with the loaded segments of the file at their file
 * offsets: headers, unwind tables and exported names, but no section headers. Returns -1 if the
 * process has ended, its memory may not be read, or the copy is not an ELF file.
 */
static int memory_image(const struct mt_mapped_file *file, struct stat *status)
{
	MT_CLEANUP_CLOSE int memory = -1;
	MT_CLEANUP_CLOSE int out = -1;
	MT_CLEANUP_FREE uint8_t *buffer = malloc(PIECE);
	struct copying c = {.file = file, .buffer = buffer};
	int given;

	memory = buffer ? mt_openf(O_RDONLY, "/proc/%d/mem", file->pid) : -1;
	if (memory < 0)
		return -1;
	out = memfd_create("image", MFD_CLOEXEC);
	c.memory = memory;
	c.out = out;
	if (out < 0 || !copy_mappings(&c) || !restore_headers(&c) || fstat(out, status))
		return -1;
	given = out;
	out = -1;
	return given;
}

/* ---- Opening ---- */

/* Opens the path if it leads to the mapped inode; -1 with ESTALE if it leads to another one. */
static int open_same(int root, const char *path, enum mt_foreign_links links,
		     const struct mt_mapped_file *file, struct stat *status)
{
	int fd = mt_foreign_open(root, path, links, status);

	if (fd >= 0 && (!file->inode || status->st_ino == file->inode))
		return fd;
	if (fd >= 0) {
		close(fd);
		errno = ESTALE;
	}
	return -1;
}

static int open_root(const struct mt_mapped_file *file)
{
	return mt_openf(O_PATH | O_DIRECTORY, "/proc/%d/root", file->pid);
}

/*
 * Opens the mapping's path in the process's mount namespace. The kernel resolved all links in that
 * path, so a link in it is newer than the mapping and followed only if root or this user owns it.
 */
static int open_in_its_root(const struct mt_mapped_file *file, const char *path,
			    struct stat *status)
{
	MT_CLEANUP_CLOSE int root = open_root(file);

	return root < 0 ? -1 : open_same(root, path, MT_LINKS_TRUSTED, file, status);
}

size_t mt_mapped_file_live_length(const struct mt_text *path)
{
	size_t tail = strlen(DELETED);

	return path->size > tail && !memcmp(path->bytes + path->size - tail, DELETED, tail)
		       ? path->size - tail
		       : path->size;
}

int mt_mapped_file_open(const struct mt_mapped_file *file, struct stat *status)
{
	char path[PATH_MAX + 64];
	int fd, length = (int)mt_mapped_file_live_length(&file->path), why;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", file->pid,
		 (unsigned long long)file->start, (unsigned long long)file->end);
	fd = open_same(AT_FDCWD, path, MT_LINKS_ALL, file, status);
	if (fd < 0 && file->inode) {
		snprintf(path, sizeof(path), "/proc/%d/exe", file->pid);
		fd = open_same(AT_FDCWD, path, MT_LINKS_ALL, file, status);
	}
	snprintf(path, sizeof(path), "%.*s", length, file->path.bytes);
	if (fd < 0)
		fd = open_in_its_root(file, path, status);
	why = errno;
	if (fd < 0) {
		fd = open_same(AT_FDCWD, path, MT_LINKS_TRUSTED, file, status);
		why = why == ESTALE ? why : errno;
	}
	if (fd < 0)
		fd = memory_image(file, status);
	if (fd < 0)
		errno = why;
	return fd;
}

/* True if both paths can be examined and are different files. */
static bool differs(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && (x.st_dev != y.st_dev || x.st_ino != y.st_ino);
}

bool mt_mapped_file_is_elsewhere(const struct mt_mapped_file *file)
{
	char names[64], root[64];

	snprintf(names, sizeof(names), "/proc/%d/ns/mnt", file->pid);
	snprintf(root, sizeof(root), "/proc/%d/root/", file->pid);
	return differs(names, "/proc/self/ns/mnt") || differs(root, "/");
}

/* True if the process runs the mapped file; *program: the status of that file. */
static bool is_program(const struct mt_mapped_file *file, struct stat *program)
{
	char exe[64], path[PATH_MAX];
	ssize_t size;

	snprintf(exe, sizeof(exe), "/proc/%d/exe", file->pid);
	size = readlink(exe, path, sizeof(path));
	return size > 0 && (size_t)size == file->path.size &&
	       !memcmp(path, file->path.bytes, file->path.size) && !stat(exe, program);
}

void mt_mapped_file_started(const struct mt_mapped_file *file, char out[MT_STARTED_SIZE])
{
	char path[PATH_MAX + MT_STARTED_SIZE];
	MT_CLEANUP_FREE char *comm = NULL;
	MT_CLEANUP_CLOSE int root = -1;
	struct stat program, named;
	size_t size, directory;

	*out = '\0';
	if (!is_program(file, &program))
		return;
	comm = mt_read_textf(&size, "/proc/%d/comm", file->pid);
	if (!comm || size < 2 || size > MT_STARTED_SIZE || strchr(comm, '/'))
		return;
	comm[size - 1] = '\0'; /* drops the newline */
	snprintf(path, sizeof(path), "%.*s", (int)file->path.size, file->path.bytes);
	directory = (size_t)(strrchr(path, '/') + 1 - path);
	if (!strcmp(path + directory, comm))
		return;
	memcpy(path + directory, comm, size);
	root = open_root(file);
	if (root >= 0 && !mt_foreign_stat(root, path, MT_LINKS_TRUSTED, &named) &&
	    named.st_dev == program.st_dev && named.st_ino == program.st_ino)
		memcpy(out, comm, size);
}
