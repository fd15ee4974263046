/*
 * Files are read, not mapped: a live one may be cut short at any time, and that must not end the
 * recorder with SIGBUS. What is read is put where it stands in the file, in memory that is only
 * reserved: pages that nothing is read into do not exist, and read as zeros.
 */
#include "record/embed_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/record.h"
#include "symbols/call_set.h"
#include "symbols/elf.h"

#define FRONT_SIZE ((size_t)64 << 10)
#define FILE_MAX ((uint64_t)16 << 30)
#define HEADERS_MAX ((size_t)8 << 20)
#define DEBUG_DIR "/usr/lib/debug"

/* A file of which parts are in memory. */
struct partial {
	int fd;
	uint8_t *bytes; /* size of them, reserved */
	size_t size;
	size_t left; /* bytes that may still be read */
	bool short_of_memory;
	struct mt_elf *elf;
};

static void partial_close(struct partial *p)
{
	mt_elf_destroy(p->elf);
	if (p->bytes)
		munmap(p->bytes, p->size);
}

/* Reads a part of the file to its place; what does not exist stays zero. */
static void partial_read(struct partial *p, uint64_t offset, uint64_t size)
{
	if (offset >= p->size)
		return;
	if (size > p->size - offset)
		size = p->size - offset;
	if (size > p->left) {
		p->short_of_memory = true;
		return;
	}
	p->left -= size;
	while (size) {
		ssize_t n = pread(p->fd, p->bytes + offset, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		offset += (uint64_t)n;
		size -= (uint64_t)n;
	}
}

/* The section headers, and the strings that name them; where nothing lists sections, all of it. */
static void read_headers(struct partial *p)
{
	bool wide = p->bytes[EI_CLASS] == ELFCLASS64;
	uint64_t at = wide ? mt_get_le64(p->bytes + 40) : mt_get_le32(p->bytes + 32);
	uint64_t stride = mt_get_le16(p->bytes + (wide ? 58 : 46));
	uint64_t count = mt_get_le16(p->bytes + (wide ? 60 : 48));
	uint64_t names = mt_get_le16(p->bytes + (wide ? 62 : 50));

	if (!at || !count || at >= p->size) {
		partial_read(p, 0, p->size);
		return;
	}
	partial_read(p, at, stride * count < HEADERS_MAX ? stride * count : HEADERS_MAX);
	if (names < count && at + names * stride + stride <= p->size &&
	    stride >= (wide ? 64 : 40)) {
		const uint8_t *header = p->bytes + at + names * stride;
		uint64_t size = wide ? mt_get_le64(header + 32) : mt_get_le32(header + 20);

		partial_read(p, wide ? mt_get_le64(header + 24) : mt_get_le32(header + 16),
			     size < HEADERS_MAX ? size : HEADERS_MAX);
	}
}

static void read_sections(struct partial *p, const struct mt_skeleton_wish *wish)
{
	struct mt_elf_section_info info;

	for (size_t i = 1; mt_elf_section_info(p->elf, i, &info); i++) {
		if (info.type != SHT_NOBITS && mt_skeleton_needs(wish, info.name, info.type) &&
		    (strcmp(info.name, ".text") != 0 || info.size <= MT_CALL_SET_TEXT_MAX))
			partial_read(p, info.offset, info.size);
	}
}

static struct mt_error *partial_open(struct partial *p, const struct mt_skeleton_wish *wish,
				     const char *name)
{
	struct stat status;
	struct mt_error *err;
	void *bytes;

	if (fstat(p->fd, &status))
		return mt_error_os(errno, "%s", name);
	if (!S_ISREG(status.st_mode) || status.st_size < (off_t)sizeof(Elf64_Ehdr) ||
	    (uint64_t)status.st_size > FILE_MAX)
		return mt_error_create(MT_ERR_FORMAT, "%s: not an ELF file", name);
	p->size = (size_t)status.st_size;
	bytes = mmap(NULL, p->size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes == MAP_FAILED)
		return mt_error_os(errno, "%s", name);
	p->bytes = bytes;
	partial_read(p, 0, FRONT_SIZE);
	read_headers(p);
	err = mt_elf_open_memory(p->bytes, p->size, name, &p->elf);
	if (err)
		return err;
	read_sections(p, wish);
	if (p->short_of_memory)
		return mt_error_create(MT_ERR_NOMEM, "%s: too large to be carried", name);
	return NULL;
}

/* The host's debug file of that build id; fd -1 where none is installed. */
static int open_debug_file(const struct mt_elf *elf)
{
	struct mt_span id = mt_elf_build_id(elf);
	char path[sizeof(DEBUG_DIR) + 32 + 2 * MT_BUILD_ID_MAX];
	int at;

	if (id.size < 2)
		return -1;
	at = snprintf(path, sizeof(path), DEBUG_DIR "/.build-id/%02x/", id.bytes[0]);
	for (size_t i = 1; i < id.size; i++)
		at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x", id.bytes[i]);
	snprintf(path + at, sizeof(path) - (size_t)at, ".debug");
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static uint32_t kept_of(const struct mt_skeleton_wish *wish)
{
	return (wish->names ? MT_KEPT_NAMES : 0) | (wish->unwind ? MT_KEPT_UNWIND : 0) |
	       (wish->lines ? MT_KEPT_LINES : 0);
}

/* The debug file, where it has what the image lacks; opened, or p->elf NULL. */
static void open_debug(struct partial *p, struct mt_elf *elf, const struct mt_skeleton_wish *wish)
{
	struct mt_skeleton_wish own = {.names = wish->names, .lines = wish->lines};
	struct mt_span id = mt_elf_build_id(elf), other;
	bool lacks = (wish->names && !mt_elf_symbol_count(elf, false)) ||
		     (wish->lines && !mt_elf_find_section(elf, ".debug_info"));

	p->fd = lacks ? open_debug_file(elf) : -1;
	if (p->fd < 0)
		return;
	mt_error_destroy(partial_open(p, &own, "debug file"));
	other = p->elf ? mt_elf_build_id(p->elf) : (struct mt_span){0};
	if (p->short_of_memory || other.size != id.size || memcmp(other.bytes, id.bytes, id.size)) {
		mt_elf_destroy(p->elf);
		p->elf = NULL;
	}
}

struct mt_error *mt_embed_image(int fd, const struct mt_skeleton_wish *wish, size_t memory,
				struct mt_embedded *out)
{
	MT_CLEANUP(partial_close) struct partial image = {.fd = fd, .left = memory};
	MT_CLEANUP(partial_close) struct partial debug = {.fd = -1, .left = memory};
	struct mt_error *err = partial_open(&image, wish, "image");
	struct mt_embedded made = {.original_size = image.size};

	if (err)
		return err;
	open_debug(&debug, image.elf, wish);
	err = mt_skeleton_create(image.elf, debug.elf, wish, &made.bytes, &made.size);
	if (!err) {
		made.kept = kept_of(wish);
		*out = made;
	}
	mt_close_p(&debug.fd);
	return err;
}
