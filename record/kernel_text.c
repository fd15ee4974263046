/*
 * A copy is a head and the text. It tells of addresses in the kernel's own code and in that of the
 * modules that are loaded; what else runs there (programs of BPF, trampolines) comes and goes, and
 * the kernel is asked anew.
 */
#include "record/kernel_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "formats/base/pages.h"
#include "formats/base/read_at.h"
#include "formats/chunk.h"
#include "symbols/kernel_lines.h"

#define NAME "kernel.symbols"
#define UNFINISHED "unfinished.%d.symbols" /* which the image cache removes once it is old */
#define MAGIC "mtkernl2"
#define HEAD_SIZE 48
#define COPY_MAX ((uint64_t)64 << 20)
#define MODULES_MAX ((size_t)1 << 20) /* bytes of their list */
#define PIECE ((size_t)1 << 20)
#define IN_MEMORY_MAX ((size_t)16 << 20)
#define LINE_MAX_BYTES 1024 /* of a kernel's symbol; longer ones are no line that is looked for */

/* Where the fields of the head stand, behind the magic. */
enum {
	OFF_KEY = 8,
	OFF_SIZE = 16, /* of the text */
	OFF_CODE = 24, /* where the kernel's own begins and ends */
	OFF_END = 32,
	OFF_TEXT_CRC = 40,
	OFF_CRC = 44, /* of the head up to here */
};

const struct mt_kernel_files mt_kernel_files = {"/proc/kallsyms", "/proc/modules",
						"/proc/sys/kernel/random/boot_id"};

struct range {
	uint64_t start, end;
};

/* Which kernel it is: two of the same key have the same symbols in these ranges. */
struct kernel {
	uint64_t key;
	MT_ARRAY(struct range) modules;
};

/* ---- The kernel ---- */

/* A file of which the size is not known; gives how many bytes, and 0 where there is none. */
static size_t read_file(const char *path, uint8_t *out, size_t size)
{
	MT_CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t got = 0;
	ssize_t n = 1;

	while (fd >= 0 && got < size && n) {
		n = read(fd, out + got, size - got);
		if (n < 0 && errno != EINTR)
			return 0;
		got += n > 0 ? (size_t)n : 0;
	}
	return got;
}

/* "NAME SIZE COUNT USERS STATE 0xADDRESS". False out of memory. */
static bool add_module(struct kernel *kernel, const char *line)
{
	unsigned long long size, start;
	struct range *range;
	char name[256];

	if (sscanf(line, "%255s %llu %*s %*s %*s %llx", name, &size, &start) != 3 || !start)
		return true;
	kernel->key = mt_hash_bytes(name, strlen(name), kernel->key + size) + start;
	range = mt_array_push(&kernel->modules);
	if (range)
		*range = (struct range){start, start + size};
	return range;
}

/* False where it cannot be told. */
static bool look_at_kernel(const struct mt_kernel_files *files, struct kernel *kernel)
{
	MT_CLEANUP_FREE char *text = malloc(MODULES_MAX + 1);
	uint8_t boot[64];
	size_t size, boot_size = read_file(files->boot, boot, sizeof(boot));
	char *rest, *line;

	if (!text || !boot_size)
		return false;
	size = read_file(files->modules, (uint8_t *)text, MODULES_MAX);
	if (size == MODULES_MAX)
		return false;
	text[size] = '\0';
	kernel->key = mt_hash_bytes(boot, boot_size, 0);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!add_module(kernel, line))
			return false;
	}
	return true;
}

/*
 * Words that are no addresses of code. On x86-64 what comes and goes has its place above the
 * kernel's own code, with the modules; their range begins there at the lowest.
 */
static bool is_nowhere(struct range code, uint64_t address)
{
#ifdef __x86_64__
	return code.end <= UINT64_C(0xffffffffa0000000) &&
	       (address < UINT64_C(0xffffffffa0000000) || address >= UINT64_C(0xffffffffff000000));
#else
	(void)code;
	(void)address;
	return false;
#endif
}

/* Whether a copy with the kernel's own code there says of an address all that is to be said. */
static bool is_within(const struct kernel *kernel, struct range code, uint64_t address)
{
	if ((address >= code.start && address < code.end) || is_nowhere(code, address))
		return true;
	for (size_t i = 0; i < kernel->modules.count; i++) {
		const struct range *module = &kernel->modules.items[i];

		if (address >= module->start && address < module->end)
			return true;
	}
	return false;
}

/* ---- A copy that is there ---- */

static bool read_head(int fd, const struct kernel *kernel, struct range *code, uint64_t *size,
		      uint32_t *crc)
{
	uint8_t head[HEAD_SIZE];

	if (mt_read_at(fd, 0, head, sizeof(head)) != sizeof(head) ||
	    memcmp(head, MAGIC, strlen(MAGIC)) || mt_get_le64(head + OFF_KEY) != kernel->key ||
	    mt_get_le32(head + OFF_CRC) != mt_crc32c(0, head, OFF_CRC))
		return false;
	*size = mt_get_le64(head + OFF_SIZE);
	*code = (struct range){mt_get_le64(head + OFF_CODE), mt_get_le64(head + OFF_END)};
	*crc = mt_get_le32(head + OFF_TEXT_CRC);
	return true;
}

/* Whether all of it is as it was written; in *bytes, `room` of them, stands the last of it then. */
static bool is_whole(int fd, uint64_t size, uint32_t crc, uint8_t *bytes, size_t room)
{
	uint32_t found = 0;

	for (uint64_t at = 0; at < size; at += room) {
		size_t n = size - at < room ? (size_t)(size - at) : room;

		if (mt_read_at(fd, HEAD_SIZE + at, bytes, n) != n)
			return false;
		found = mt_crc32c(found, bytes, n);
	}
	return found == crc;
}

/* Reads it, to see whether it is right; what fits into memory stays there. */
static bool read_copy(int fd, uint64_t size, uint32_t crc, struct mt_kernel_text *out)
{
	bool fits = size <= IN_MEMORY_MAX;
	size_t room = fits ? (size_t)size : PIECE;
	MT_CLEANUP_FREE uint8_t *bytes = NULL;
	struct stat status;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || !size || size > COPY_MAX ||
	    (uint64_t)status.st_size != HEAD_SIZE + size)
		return false;
	bytes = malloc(room);
	mt_pages_prefault(bytes, room);
	if (!bytes || !is_whole(fd, size, crc, bytes, room))
		return false;
	out->bytes = fits ? MT_TAKE(bytes) : NULL;
	out->size = fits ? (size_t)size : 0;
	return true;
}

/* The copy of this kernel's text, and where it has the kernel's own code; false: there is none. */
static bool open_copy(int dir, const struct kernel *kernel, struct range *code,
		      struct mt_kernel_text *out)
{
	int fd = openat(dir, NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	uint64_t size;
	uint32_t crc;

	if (fd >= 0 && read_head(fd, kernel, code, &size, &crc) && read_copy(fd, size, crc, out)) {
		out->fd = fd;
		return true;
	}
	if (fd >= 0)
		close(fd);
	return false;
}

/* ---- Making one ---- */

static bool write_at(int fd, const void *bytes, size_t size, uint64_t at)
{
	return pwrite(fd, bytes, size, (off_t)at) == (ssize_t)size;
}

/* The address in front of such an end of a line, " T _stext\n"; 0: there is none. */
static uint64_t find_address(const char *text, size_t size, const char *end)
{
	const char *found = memmem(text, size, end, strlen(end)), *line = found;
	char digits[17] = "";

	while (line && line > text && line[-1] != '\n' && found - line < 16)
		line--;
	if (!line)
		return 0;
	memcpy(digits, line, (size_t)(found - line));
	return strtoull(digits, NULL, 16);
}

/* A copy under way. */
struct making {
	int fd;
	char bytes[PIECE + LINE_MAX_BYTES]; /* begins with what may be half a line */
	size_t kept;
	uint64_t size;
	uint32_t crc;
	struct range code;
};

/* The lines that a piece of the text ends, n bytes behind what was kept of the one before. */
static bool add_piece(struct making *making, size_t n)
{
	size_t all = making->kept + n;
	const char *last = memrchr(making->bytes, '\n', all);
	size_t lines = last ? (size_t)(last - making->bytes) + 1 : 0, size;

	if (!making->code.start)
		making->code.start = find_address(making->bytes, lines, " T _stext\n");
	if (!making->code.end)
		making->code.end = find_address(making->bytes, lines, " T _etext\n");
	size = mt_kernel_lines_functions(making->bytes, lines);
	if (!write_at(making->fd, making->bytes, size, HEAD_SIZE + making->size))
		return false;
	making->crc = mt_crc32c(making->crc, making->bytes, size);
	making->size += size;
	making->kept = all - lines;
	memmove(making->bytes, making->bytes + lines, making->kept);
	return making->size <= COPY_MAX && making->kept <= LINE_MAX_BYTES;
}

/* The whole text; false where it has no addresses, too (kptr_restrict). */
static bool copy_text(struct making *making, int from)
{
	ssize_t n;

	while ((n = read(from, making->bytes + making->kept, PIECE))) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || !add_piece(making, (size_t)n))
			return false;
	}
	return making->code.start && making->code.start < making->code.end;
}

static bool write_head(const struct making *making, uint64_t key)
{
	uint8_t head[HEAD_SIZE] = MAGIC;

	mt_put_le64(head + OFF_KEY, key);
	mt_put_le64(head + OFF_SIZE, making->size);
	mt_put_le64(head + OFF_CODE, making->code.start);
	mt_put_le64(head + OFF_END, making->code.end);
	mt_put_le32(head + OFF_TEXT_CRC, making->crc);
	mt_put_le32(head + OFF_CRC, mt_crc32c(0, head, OFF_CRC));
	return write_at(making->fd, head, sizeof(head), 0);
}

/* A descriptor of the copy; -1 where none could be made: there is none then. */
static int make_copy(int dir, const struct kernel *kernel, int from)
{
	MT_CLEANUP_FREE struct making *making = calloc(1, sizeof(*making));
	char unfinished[64];

	if (!making)
		return -1;
	snprintf(unfinished, sizeof(unfinished), UNFINISHED, (int)getpid());
	(void)unlinkat(dir, unfinished, 0);
	making->fd =
		openat(dir, unfinished, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (making->fd < 0)
		return -1;
	if (copy_text(making, from) && write_head(making, kernel->key) &&
	    !renameat(dir, unfinished, dir, NAME))
		return making->fd;
	(void)unlinkat(dir, unfinished, 0);
	close(making->fd);
	return -1;
}

/* ---- Either ---- */

/* Puts those first that the copy tells of; gives how many. */
static size_t put_known_first(const struct kernel *kernel, struct range code, uint64_t *addresses,
			      size_t count)
{
	MT_CLEANUP_FREE uint64_t *others = malloc((count + 1) * sizeof(*others));
	size_t known = 0, left = 0;

	if (!others)
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (is_within(kernel, code, addresses[i]))
			addresses[known++] = addresses[i];
		else
			others[left++] = addresses[i];
	}
	memcpy(addresses + known, others, left * sizeof(*others));
	return known;
}

/* The copy that is there, or else one made just now, which tells of all; no descriptor: neither. */
static struct mt_kernel_text open_kept(const struct mt_kernel_files *files, int dir,
				       const struct kernel *kernel, uint64_t *addresses,
				       size_t *count)
{
	struct mt_kernel_text text = {.fd = -1, .start = HEAD_SIZE};
	struct range code;
	MT_CLEANUP_CLOSE int live = -1;

	if (open_copy(dir, kernel, &code, &text)) {
		*count = put_known_first(kernel, code, addresses, *count);
		return text;
	}
	live = open(files->symbols, O_RDONLY | O_CLOEXEC);
	text.fd = live < 0 ? -1 : make_copy(dir, kernel, live);
	return text;
}

struct mt_kernel_text mt_kernel_text_open(const struct mt_kernel_files *files, int dir,
					  uint64_t *addresses, size_t *count)
{
	struct kernel kernel = {0};
	struct mt_kernel_text text = {.fd = -1};
	size_t all = *count;

	if (dir >= 0 && look_at_kernel(files, &kernel))
		text = open_kept(files, dir, &kernel, addresses, count);
	mt_array_deinit(&kernel.modules);
	if (text.fd >= 0 && lseek(text.fd, HEAD_SIZE, SEEK_SET) == HEAD_SIZE)
		return text;
	if (text.fd >= 0)
		close(text.fd);
	free(text.bytes);
	*count = all;
	return (struct mt_kernel_text){.fd = open(files->symbols, O_RDONLY | O_CLOEXEC)};
}
