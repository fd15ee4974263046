/*
 * Copies the mappings of one file out of /proc/PID/mem. Restores what the dynamic linker changed
 * there, as far as readers need it: the addresses in the dynamic section.
 */
#include "record/files/memory_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "record/files/mapped_file.h"
#include "record/proc/map_line.h"
#include "record/proc/procfs.h"

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

/* A tag whose value the C library relocates in place. */
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

int mt_memory_image(const struct mt_mapped_file *file, struct stat *status)
{
	char path[64];
	MT_CLEANUP_CLOSE int memory = -1;
	MT_CLEANUP_CLOSE int out = -1;
	MT_CLEANUP_FREE uint8_t *buffer = malloc(PIECE);
	struct copying c = {.file = file, .buffer = buffer};
	int given;

	snprintf(path, sizeof(path), "/proc/%d/mem", file->pid);
	memory = buffer ? open(path, O_RDONLY | O_CLOEXEC) : -1;
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
