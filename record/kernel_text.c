/*
 * A copy is a head, the text, and where in it which addresses are: of a text that is nearly in
 * order little is read. It tells of addresses in the kernel's own code and in that of the
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
#include "symbols/address_sort.h"
#include "symbols/kernel_blocks.h"
#include "symbols/kernel_lines.h"

#define NAME "kernel.symbols"
#define UNFINISHED "unfinished.%d.symbols" /* which the image cache removes once it is old */
#define MAGIC "mtkernl3"
#define HEAD_SIZE 52
#define BLOCK ((size_t)4 << 10) /* of the text */
#define ENTRY_SIZE 24		/* what is kept of a block */
#define COPY_MAX ((uint64_t)64 << 20)
#define MODULES_MAX ((size_t)1 << 20) /* bytes of their list */
#define PIECE ((size_t)1 << 20)
#define LINE_MAX_BYTES 1024 /* of a kernel's symbol; longer ones are no line that is looked for */

/* Where the fields of the head stand, behind the magic. */
enum {
	OFF_KEY = 8,
	OFF_SIZE = 16, /* of the text */
	OFF_CODE = 24, /* where the kernel's own begins and ends */
	OFF_END = 32,
	OFF_BLOCKS = 40, /* how many; their entries are behind the text */
	OFF_BLOCKS_CRC = 44,
	OFF_CRC = 48, /* of the head up to here */
};

/* And those of a block. */
enum {
	OFF_FIRST = 0,
	OFF_LAST = 8,
	OFF_BLOCK_SIZE = 16,
	OFF_BLOCK_CRC = 20,
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

/* What a head tells. */
struct head {
	struct range code;
	uint64_t size;
	size_t blocks;
	uint32_t crc; /* of their entries */
};

static bool read_head(int fd, const struct kernel *kernel, struct head *out)
{
	uint8_t head[HEAD_SIZE];
	struct stat status;

	if (mt_read_at(fd, 0, head, sizeof(head)) != sizeof(head) ||
	    memcmp(head, MAGIC, strlen(MAGIC)) || mt_get_le64(head + OFF_KEY) != kernel->key ||
	    mt_get_le32(head + OFF_CRC) != mt_crc32c(0, head, OFF_CRC))
		return false;
	*out = (struct head){
		.code = {mt_get_le64(head + OFF_CODE), mt_get_le64(head + OFF_END)},
		.size = mt_get_le64(head + OFF_SIZE),
		.blocks = mt_get_le32(head + OFF_BLOCKS),
		.crc = mt_get_le32(head + OFF_BLOCKS_CRC),
	};
	return !fstat(fd, &status) && S_ISREG(status.st_mode) && out->size &&
	       out->size <= COPY_MAX && out->blocks <= out->size &&
	       (uint64_t)status.st_size == HEAD_SIZE + out->size + out->blocks * ENTRY_SIZE;
}

static bool read_blocks(int fd, const struct head *head, struct mt_kernel_block *out)
{
	size_t size = head->blocks * ENTRY_SIZE;
	MT_CLEANUP_FREE uint8_t *bytes = malloc(size + 1);
	uint64_t sum = 0;

	if (!bytes || mt_read_at(fd, HEAD_SIZE + head->size, bytes, size) != size ||
	    mt_crc32c(0, bytes, size) != head->crc)
		return false;
	for (size_t i = 0; i < head->blocks; i++) {
		const uint8_t *at = bytes + i * ENTRY_SIZE;

		out[i] = (struct mt_kernel_block){
			.first = mt_get_le64(at + OFF_FIRST),
			.last = mt_get_le64(at + OFF_LAST),
			.size = mt_get_le32(at + OFF_BLOCK_SIZE),
			.crc = mt_get_le32(at + OFF_BLOCK_CRC),
		};
		sum += out[i].size;
	}
	return sum == head->size;
}

static size_t chosen_size(const struct mt_kernel_block *blocks, const bool *chosen, size_t count)
{
	size_t size = 0;

	for (size_t i = 0; i < count; i++)
		size += chosen[i] ? blocks[i].size : 0;
	return size;
}

/* Those that were chosen, if they are as they were written; out->bytes has room for them. */
static bool read_chosen(int fd, const struct mt_kernel_block *blocks, const bool *chosen,
			size_t count, struct mt_kernel_text *out)
{
	uint64_t at = HEAD_SIZE;

	for (size_t i = 0; i < count; at += blocks[i++].size) {
		uint8_t *bytes = out->bytes + out->size;
		size_t size = blocks[i].size;

		if (!chosen[i])
			continue;
		if (mt_read_at(fd, at, bytes, size) != size ||
		    mt_crc32c(0, bytes, size) != blocks[i].crc)
			return false;
		out->size += size;
	}
	return true;
}

/* What is to be read for the addresses; false where the copy is not as it was written. */
static bool read_copy(int fd, const struct head *head, const uint64_t *addresses, size_t count,
		      struct mt_kernel_text *out)
{
	MT_CLEANUP_FREE struct mt_kernel_block *blocks = calloc(head->blocks + 1, sizeof(*blocks));
	MT_CLEANUP_FREE bool *chosen = calloc(head->blocks + 1, sizeof(*chosen));
	struct mt_kernel_text text = {.fd = fd};
	size_t size;

	if (!blocks || !chosen || !read_blocks(fd, head, blocks) ||
	    !mt_kernel_blocks_choose(blocks, head->blocks, addresses, count, chosen))
		return false;
	size = chosen_size(blocks, chosen, head->blocks);
	text.bytes = malloc(size + 1);
	mt_pages_prefault(text.bytes, size + 1);
	if (!text.bytes || !read_chosen(fd, blocks, chosen, head->blocks, &text)) {
		free(text.bytes);
		return false;
	}
	*out = text;
	return true;
}

/* The copy that is there, with a good head; -1: there is none. */
static int open_copy(int dir, const struct kernel *kernel, struct head *head)
{
	int fd = openat(dir, NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && read_head(fd, kernel, head))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
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
	struct range code;
	MT_ARRAY(uint8_t) blocks; /* their entries */
};

/* Blocks of lines behind those that were added. */
static bool add_blocks(struct making *making, const char *text, size_t size)
{
	for (size_t at = 0; at < size;) {
		struct mt_kernel_block block = mt_kernel_block_of(text + at, size - at, BLOCK);
		size_t count = making->blocks.count;
		uint8_t *entry;

		if (!mt_array_reserve(&making->blocks, count + ENTRY_SIZE))
			return false;
		entry = making->blocks.items + count;
		mt_put_le64(entry + OFF_FIRST, block.first);
		mt_put_le64(entry + OFF_LAST, block.last);
		mt_put_le32(entry + OFF_BLOCK_SIZE, block.size);
		mt_put_le32(entry + OFF_BLOCK_CRC, mt_crc32c(0, text + at, block.size));
		making->blocks.count += ENTRY_SIZE;
		at += block.size;
	}
	return true;
}

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
	if (!write_at(making->fd, making->bytes, size, HEAD_SIZE + making->size) ||
	    !add_blocks(making, making->bytes, size))
		return false;
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

/* What stands around the text. */
static bool write_rest(const struct making *making, uint64_t key)
{
	uint8_t head[HEAD_SIZE] = MAGIC;
	size_t size = making->blocks.count;

	mt_put_le64(head + OFF_KEY, key);
	mt_put_le64(head + OFF_SIZE, making->size);
	mt_put_le64(head + OFF_CODE, making->code.start);
	mt_put_le64(head + OFF_END, making->code.end);
	mt_put_le32(head + OFF_BLOCKS, (uint32_t)(size / ENTRY_SIZE));
	mt_put_le32(head + OFF_BLOCKS_CRC, mt_crc32c(0, making->blocks.items, size));
	mt_put_le32(head + OFF_CRC, mt_crc32c(0, head, OFF_CRC));
	return write_at(making->fd, making->blocks.items, size, HEAD_SIZE + making->size) &&
	       write_at(making->fd, head, sizeof(head), 0);
}

/* Makes a copy of what `from` tells; false where none could be made: there is none then. */
static bool make_copy(int dir, const struct kernel *kernel, int from)
{
	MT_CLEANUP_FREE struct making *making = calloc(1, sizeof(*making));
	char unfinished[64];
	bool good;

	if (!making)
		return false;
	snprintf(unfinished, sizeof(unfinished), UNFINISHED, (int)getpid());
	(void)unlinkat(dir, unfinished, 0);
	making->fd =
		openat(dir, unfinished, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (making->fd < 0)
		return false;
	good = copy_text(making, from) && write_rest(making, kernel->key) &&
	       !renameat(dir, unfinished, dir, NAME);
	if (!good)
		(void)unlinkat(dir, unfinished, 0);
	close(making->fd);
	mt_array_deinit(&making->blocks);
	return good;
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

/* What a copy tells of the addresses, of all of them or of those that it knows. */
static bool read_kept(int dir, const struct kernel *kernel, bool all, uint64_t *addresses,
		      size_t *count, struct mt_kernel_text *out)
{
	struct head head;
	int fd = open_copy(dir, kernel, &head);
	size_t known = *count;

	if (fd < 0)
		return false;
	if (!all)
		known = put_known_first(kernel, head.code, addresses, known);
	if (!read_copy(fd, &head, addresses, known, out)) {
		close(fd);
		return false;
	}
	*count = known;
	return true;
}

/* The copy that is there, or else one made just now, which tells of all; false: neither. */
static bool open_kept(const struct mt_kernel_files *files, int dir, const struct kernel *kernel,
		      uint64_t *addresses, size_t *count, struct mt_kernel_text *out)
{
	MT_CLEANUP_CLOSE int live = -1;

	if (read_kept(dir, kernel, false, addresses, count, out))
		return true;
	(void)mt_number_sort(addresses, *count);
	live = open(files->symbols, O_RDONLY | O_CLOEXEC);
	return live >= 0 && make_copy(dir, kernel, live) &&
	       read_kept(dir, kernel, true, addresses, count, out);
}

struct mt_kernel_text mt_kernel_text_open(const struct mt_kernel_files *files, int dir,
					  uint64_t *addresses, size_t *count)
{
	struct kernel kernel = {0};
	struct mt_kernel_text text;
	bool kept = dir >= 0 && look_at_kernel(files, &kernel) &&
		    open_kept(files, dir, &kernel, addresses, count, &text);

	mt_array_deinit(&kernel.modules);
	if (kept)
		return text;
	return (struct mt_kernel_text){.fd = open(files->symbols, O_RDONLY | O_CLOEXEC)};
}
