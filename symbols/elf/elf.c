/*
 * Opens an ELF file and checks its headers: identification, program and section headers; converts
 * file offsets to link-time addresses. elf_section.c reads sections, elf_symbols.c symbols,
 * elf_note.c notes.
 */
#include "symbols/elf/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/cursor.h"
#include "formats/base/err.h"
#include "formats/base/foreign_file.h"
#include "symbols/elf/elf_private.h"

/*
 * Core files have a segment for each mapping, of which the kernel allows 65,530 a process by
 * default. Object files have a section or more for each function; programs and libraries have a few
 * dozen.
 */
enum {
	HEADERS_MAX = 1 << 17,
	SECTIONS_MAX = 1 << 18,
};

/* ---- A file that is read, not mapped ---- */

#define BLOCK_BITS 16
#define BLOCKS_MOST 4096 /* 256 MiB; the symbols of the largest programs take a quarter */

/*
 * A file as bytes in memory, which are read in blocks when they are first requested and then stay
 * unchanged. A process that writes the file can neither change nor remove bytes that were read. In
 * a mapping, a truncated file would raise SIGBUS.
 */
struct mt_elf_copy {
	int fd;
	size_t size;
	uint8_t *bytes;
	bool *is_read; /* by block: it was read */
	size_t blocks; /* number of blocks read */
	pthread_mutex_t lock;
};

static void mt_elf_copy_destroy(struct mt_elf_copy *copy)
{
	if (!copy)
		return;
	if (copy->bytes)
		munmap(copy->bytes, copy->size);
	mt_close_p(&copy->fd);
	pthread_mutex_destroy(&copy->lock);
	free(copy->is_read);
	free(copy);
}

MT_DEFINE_CLEANUP(mt_elf_copy, struct mt_elf_copy)

/* Copies the first `size` bytes of fd, which is duplicated. NULL out of memory or descriptors. */
static struct mt_elf_copy *mt_elf_copy_create(int fd, size_t size)
{
	MT_CLEANUP(mt_elf_copy_destroy_p) struct mt_elf_copy *copy = calloc(1, sizeof(*copy));
	void *bytes;

	if (!copy)
		return NULL;
	pthread_mutex_init(&copy->lock, NULL);
	copy->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	copy->size = size;
	copy->is_read = calloc((size >> BLOCK_BITS) + 1, sizeof(*copy->is_read));
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	copy->bytes = bytes == MAP_FAILED ? NULL : bytes;
	return copy->fd >= 0 && copy->is_read && copy->bytes ? MT_TAKE(copy) : NULL;
}

static void read_block(struct mt_elf_copy *copy, size_t block)
{
	size_t at = block << BLOCK_BITS, size = copy->size - at;

	size = size < (size_t)1 << BLOCK_BITS ? size : (size_t)1 << BLOCK_BITS;
	(void)mt_read_at(copy->fd, at, copy->bytes + at, size);
	copy->is_read[block] = true;
	copy->blocks++;
}

bool mt_elf_copy_need(struct mt_elf_copy *copy, uint64_t offset, uint64_t size)
{
	size_t first = offset >> BLOCK_BITS, last = (offset + size - !!size) >> BLOCK_BITS;
	bool fits = last - first < BLOCKS_MOST;

	pthread_mutex_lock(&copy->lock);
	for (size_t block = first; block <= last && fits; block++) {
		if (copy->is_read[block])
			continue;
		fits = copy->blocks < BLOCKS_MOST;
		if (fits)
			read_block(copy, block);
	}
	pthread_mutex_unlock(&copy->lock);
	return fits;
}

/* ---- Headers ---- */

/* Fields of the file header that locate other headers, for both classes. */
struct file_header {
	uint64_t headers_offset, sections_offset;
	uint64_t headers_count, sections_count;
	uint32_t names_index;
	uint16_t header_size, section_size; /* strides of the two tables */
};

/* Reads a word of the file's class. */
static uint64_t cursor_word(struct mt_cursor *c, bool is_64)
{
	return is_64 ? mt_cursor_u64(c) : mt_cursor_u32(c);
}

static struct mt_error *read_ident(struct mt_elf *elf, struct mt_cursor *c)
{
	const uint8_t *ident = mt_cursor_bytes(c, EI_NIDENT);

	if (!ident || memcmp(ident, ELFMAG, SELFMAG))
		return mt_error_create(MT_ERR_FORMAT, "%s: not an ELF file", elf->name);
	if (ident[EI_DATA] != ELFDATA2LSB)
		return mt_error_create(MT_ERR_UNSUPPORTED, "%s: a big-endian ELF file", elf->name);
	if (ident[EI_CLASS] != ELFCLASS64 && ident[EI_CLASS] != ELFCLASS32)
		return mt_error_create(MT_ERR_FORMAT, "%s: ELF class %u is neither 32 nor 64 bit",
				       elf->name, ident[EI_CLASS]);
	elf->is_64 = ident[EI_CLASS] == ELFCLASS64;
	return NULL;
}

static struct mt_error *read_file_header(struct mt_elf *elf, struct file_header *h)
{
	size_t size = elf->size < sizeof(Elf64_Ehdr) ? elf->size : sizeof(Elf64_Ehdr);
	const uint8_t *bytes = mt_elf_file_bytes(elf, 0, size);
	struct mt_cursor c = mt_cursor_init(bytes, bytes ? size : 0);
	struct mt_error *err = read_ident(elf, &c);

	if (err)
		return err;
	elf->type = mt_cursor_u16(&c);
	elf->machine = mt_cursor_u16(&c);
	mt_cursor_u32(&c);	     /* e_version */
	cursor_word(&c, elf->is_64); /* e_entry */
	h->headers_offset = cursor_word(&c, elf->is_64);
	h->sections_offset = cursor_word(&c, elf->is_64);
	mt_cursor_u32(&c); /* e_flags */
	mt_cursor_u16(&c); /* e_ehsize */
	h->header_size = mt_cursor_u16(&c);
	h->headers_count = mt_cursor_u16(&c);
	h->section_size = mt_cursor_u16(&c);
	h->sections_count = mt_cursor_u16(&c);
	h->names_index = mt_cursor_u16(&c);
	if (c.bad)
		return mt_error_create(MT_ERR_FORMAT, "%s: cut off inside the ELF header",
				       elf->name);
	return NULL;
}

/*
 * A cursor on entry i of a table in the file; bad if the entry is not complete, or if the stride is
 * less than `need` bytes.
 */
static struct mt_cursor table_entry(const struct mt_elf *elf, uint64_t offset, uint16_t stride,
				    size_t need, uint64_t i)
{
	const uint8_t *bytes = NULL;
	struct mt_cursor c;
	uint64_t at;

	if (stride >= need && !__builtin_mul_overflow(i, (uint64_t)stride, &at) &&
	    !__builtin_add_overflow(at, offset, &at))
		bytes = mt_elf_file_bytes(elf, at, need);
	c = mt_cursor_init(bytes, bytes ? need : 0);
	c.bad = !bytes;
	return c;
}

static bool read_section_header(const struct mt_elf *elf, const struct file_header *h, uint64_t i,
				struct mt_elf_section_header *out)
{
	struct mt_cursor c = table_entry(elf, h->sections_offset, h->section_size,
					 elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), i);

	out->name = mt_cursor_u32(&c);
	out->type = mt_cursor_u32(&c);
	out->flags = cursor_word(&c, elf->is_64);
	out->vaddr = cursor_word(&c, elf->is_64);
	out->offset = cursor_word(&c, elf->is_64);
	out->size = cursor_word(&c, elf->is_64);
	out->link = mt_cursor_u32(&c);
	out->info = mt_cursor_u32(&c);
	out->align = cursor_word(&c, elf->is_64);
	out->entry_size = cursor_word(&c, elf->is_64);
	return !c.bad;
}

static bool read_program_header(const struct mt_elf *elf, const struct file_header *h, uint64_t i,
				struct mt_segment *out)
{
	struct mt_cursor c = table_entry(elf, h->headers_offset, h->header_size,
					 elf->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), i);

	out->type = mt_cursor_u32(&c);
	if (elf->is_64)
		out->flags = mt_cursor_u32(&c);
	out->offset = cursor_word(&c, elf->is_64);
	out->vaddr = cursor_word(&c, elf->is_64);
	cursor_word(&c, elf->is_64); /* p_paddr */
	out->file_size = cursor_word(&c, elf->is_64);
	out->memory_size = cursor_word(&c, elf->is_64);
	if (!elf->is_64)
		out->flags = mt_cursor_u32(&c);
	out->align = cursor_word(&c, elf->is_64);
	return !c.bad;
}

/*
 * Reads counts that do not fit the file header's 16 bits from section 0: sh_info, sh_size, sh_link.
 * Truncates tables that are larger than any program's.
 */
static void read_large_counts(const struct mt_elf *elf, struct file_header *h)
{
	struct mt_elf_section_header zero;

	if (!h->sections_offset || !read_section_header(elf, h, 0, &zero)) {
		h->sections_count = 0;
		return;
	}
	if (h->headers_count == PN_XNUM)
		h->headers_count = zero.info;
	if (!h->sections_count)
		h->sections_count = zero.size;
	if (h->names_index == SHN_XINDEX)
		h->names_index = zero.link;
	if (h->headers_count > HEADERS_MAX)
		h->headers_count = HEADERS_MAX;
	if (h->sections_count > SECTIONS_MAX)
		h->sections_count = SECTIONS_MAX;
}

/* Reads the program headers up to the first that is not in the file. False out of memory. */
static bool read_program_headers(struct mt_elf *elf, const struct file_header *h)
{
	struct mt_segment p;
	uint64_t end;

	for (uint64_t i = 0; i < h->headers_count && read_program_header(elf, h, i, &p); i++) {
		if (__builtin_add_overflow(p.offset, p.file_size, &end) ||
		    __builtin_add_overflow(p.vaddr, p.memory_size, &end) ||
		    __builtin_add_overflow(p.vaddr, p.file_size, &end))
			continue;
		if (!mt_array_append(&elf->headers, p) ||
		    (p.type == PT_LOAD && !mt_array_append(&elf->segments, p)))
			return false;
	}
	return true;
}

/* Reads the section headers up to the first that is not in the file. False out of memory. */
static bool read_section_headers(struct mt_elf *elf, const struct file_header *h)
{
	struct mt_elf_section_header s;

	for (uint64_t i = 0; i < h->sections_count && read_section_header(elf, h, i, &s); i++) {
		if (!mt_array_append(&elf->sections, s))
			return false;
	}
	if (h->names_index < elf->sections.count)
		elf->section_names = mt_elf_raw_section(elf, h->names_index);
	return true;
}

/* Opens a file with the bytes, size, mapped and copy of `from`. */
static struct mt_error *open_bytes(const struct mt_elf *from, const char *name, struct mt_elf **out)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = calloc(1, sizeof(*elf));
	struct file_header header = {0};
	struct mt_error *err;

	if (!elf) {
		if (from->mapped)
			munmap((void *)from->bytes, from->size);
		mt_elf_copy_destroy(from->copy);
		return mt_error_nomem();
	}
	pthread_mutex_init(&elf->lock, NULL);
	elf->bytes = from->bytes;
	elf->size = from->size;
	elf->mapped = from->mapped;
	elf->copy = from->copy;
	elf->front = from->front;
	elf->name = strdup(name);
	if (!elf->name)
		return mt_error_nomem();
	err = read_file_header(elf, &header);
	if (err)
		return err;
	read_large_counts(elf, &header);
	if (!read_program_headers(elf, &header) || !read_section_headers(elf, &header))
		return mt_error_nomem();
	*out = MT_TAKE(elf);
	return NULL;
}

struct mt_error *mt_elf_open_memory(const void *bytes, size_t size, const char *name,
				    struct mt_elf **out)
{
	return open_bytes(&(struct mt_elf){.bytes = bytes, .size = size}, name, out);
}

struct mt_error *mt_elf_open_front(const void *bytes, size_t size, const char *name,
				   const struct mt_elf_input *input, struct mt_elf **out)
{
	const struct mt_elf from = {.bytes = bytes, .size = size, .front = input};
	struct mt_error *err = open_bytes(&from, name, out);

	if (err)
		return err;
	(void)mt_elf_build_id(*out);
	(*out)->front = NULL;
	return NULL;
}

struct mt_error *mt_elf_open_skeleton(const void *bytes, size_t size, const char *name,
				      struct mt_elf **out)
{
	struct mt_elf *elf;
	struct mt_error *err = mt_elf_open_memory(bytes, size, name, &elf);

	if (err)
		return err;
	elf->skeleton = true;
	*out = elf;
	return NULL;
}

static struct mt_error *check_file(int fd, const char *name, size_t *size)
{
	struct stat st;

	if (fstat(fd, &st))
		return mt_error_os(errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return mt_error_create(MT_ERR_FORMAT, "%s: not a regular file", name);
	if (!st.st_size)
		return mt_error_create(MT_ERR_FORMAT, "%s: an empty file", name);
	*size = (size_t)st.st_size;
	return NULL;
}

struct mt_error *mt_elf_read_fd(int fd, const char *name, struct mt_elf **out)
{
	struct mt_elf from = {0};
	struct mt_error *err = check_file(fd, name, &from.size);

	if (err)
		return err;
	from.copy = mt_elf_copy_create(fd, from.size);
	if (!from.copy)
		return mt_error_nomem();
	from.bytes = from.copy->bytes;
	return open_bytes(&from, name, out);
}

struct mt_error *mt_elf_open_fd(int fd, const char *name, struct mt_elf **out)
{
	struct mt_elf from = {.mapped = true};
	struct mt_error *err = check_file(fd, name, &from.size);
	void *bytes;

	if (err)
		return err;
	/*
	 * shared, because the kernel sets uprobe breakpoints in private mappings, even in those of
	 * a process that only reads the file
	 */
	bytes = mmap(NULL, from.size, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return mt_error_os(errno, "%s: cannot map", name);
	from.bytes = bytes;
	return open_bytes(&from, name, out);
}

/* Opens a path with mt_elf_open_fd() or mt_elf_read_fd(). */
static struct mt_error *open_path(const char *path, enum mt_foreign_links links,
				  struct mt_error *(*open_fd)(int fd, const char *name,
							      struct mt_elf **out),
				  struct mt_elf **out)
{
	struct stat st;
	MT_CLEANUP_CLOSE int fd = mt_foreign_open(AT_FDCWD, path, links, &st);

	if (fd >= 0)
		return open_fd(fd, path, out);
	if (errno == EINVAL || errno == EISDIR || errno == EPERM)
		return mt_error_create(MT_ERR_FORMAT, "%s: %s", path,
				       errno == EPERM ? mt_foreign_problem(errno)
						      : "not a regular file");
	return mt_error_os(errno, "%s", path);
}

struct mt_error *mt_elf_open_file(const char *path, struct mt_elf **out)
{
	return open_path(path, MT_LINKS_TRUSTED, mt_elf_open_fd, out);
}

struct mt_error *mt_elf_open_named(const char *path, struct mt_elf **out)
{
	return open_path(path, MT_LINKS_ALL, mt_elf_open_fd, out);
}

struct mt_error *mt_elf_read_file(const char *path, struct mt_elf **out)
{
	return open_path(path, MT_LINKS_TRUSTED, mt_elf_read_fd, out);
}

struct mt_error *mt_elf_read_named(const char *path, struct mt_elf **out)
{
	return open_path(path, MT_LINKS_ALL, mt_elf_read_fd, out);
}

void mt_elf_destroy(struct mt_elf *elf)
{
	if (!elf)
		return;
	for (size_t i = 0; i < elf->further.count; i++)
		mt_elf_destroy(elf->further.items[i]);
	mt_array_deinit(&elf->further);
	free(elf->joined[0]);
	free(elf->joined[1]);
	for (size_t i = 0; i < elf->inflated.count; i++)
		free(elf->inflated.items[i].bytes);
	mt_array_deinit(&elf->inflated);
	mt_array_deinit(&elf->headers);
	mt_array_deinit(&elf->segments);
	mt_array_deinit(&elf->sections);
	if (elf->mapped)
		munmap((void *)elf->bytes, elf->size);
	mt_elf_copy_destroy(elf->copy);
	pthread_mutex_destroy(&elf->lock);
	free(elf->name);
	free(elf);
}

struct mt_span mt_elf_whole(const struct mt_elf *elf)
{
	const uint8_t *bytes = mt_elf_file_bytes(elf, 0, elf->size);

	return (struct mt_span){.bytes = bytes, .size = bytes ? elf->size : 0};
}

void mt_elf_set_codec(struct mt_elf *elf, const struct mt_elf_codec *codec)
{
	elf->codec = codec;
	for (size_t i = 0; i < elf->further.count; i++)
		elf->further.items[i]->codec = codec;
}

uint16_t mt_elf_machine(const struct mt_elf *elf)
{
	return elf->machine;
}

bool mt_elf_is_64(const struct mt_elf *elf)
{
	return elf->is_64;
}

const struct mt_segment *mt_elf_segments(const struct mt_elf *elf, size_t *count)
{
	*count = elf->segments.count;
	return elf->segments.items;
}

static const struct mt_segment *segment_of_offset(const struct mt_elf *elf, uint64_t offset,
						  uint32_t flags)
{
	for (size_t i = 0; i < elf->segments.count; i++) {
		const struct mt_segment *s = &elf->segments.items[i];

		if ((s->flags & flags) == flags && offset >= s->offset &&
		    offset - s->offset < s->file_size)
			return s;
	}
	return NULL;
}

bool mt_elf_offset_to_vaddr(const struct mt_elf *elf, uint64_t offset, uint64_t *vaddr)
{
	const struct mt_segment *s = segment_of_offset(elf, offset, PF_X);

	if (!s)
		s = segment_of_offset(elf, offset, 0);
	if (!s)
		return false;
	*vaddr = offset - s->offset + s->vaddr;
	return true;
}

/* Finds the bytes in the kept sections. */
static const uint8_t *skeleton_bytes_at(const struct mt_elf *elf, uint64_t vaddr, size_t n)
{
	for (size_t i = 0; i < elf->sections.count; i++) {
		const struct mt_elf_section_header *s = &elf->sections.items[i];
		uint64_t into = vaddr - s->vaddr;

		if (s->type == SHT_NOBITS || !(s->flags & SHF_ALLOC) || vaddr < s->vaddr ||
		    into >= s->size || n > s->size - into || s->flags & SHF_COMPRESSED)
			continue;
		return mt_elf_file_bytes(elf, s->offset + into, n);
	}
	for (size_t i = 0; i < elf->further.count; i++) {
		const uint8_t *bytes = skeleton_bytes_at(elf->further.items[i], vaddr, n);

		if (bytes)
			return bytes;
	}
	return NULL;
}

const uint8_t *mt_elf_bytes_at(const struct mt_elf *elf, uint64_t vaddr, size_t n)
{
	if (elf->skeleton)
		return skeleton_bytes_at(elf, vaddr, n);
	for (size_t i = 0; i < elf->segments.count; i++) {
		const struct mt_segment *s = &elf->segments.items[i];
		uint64_t into = vaddr - s->vaddr;

		if (vaddr < s->vaddr || into >= s->file_size || n > s->file_size - into)
			continue;
		return mt_elf_file_bytes(elf, s->offset + into, n);
	}
	return NULL;
}
