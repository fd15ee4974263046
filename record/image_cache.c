/*
 * An entry is a file: a head, the key that it is kept under, and chunks as a recording has them.
 * Its name is the key's hash; the key is compared, a checksum covers all. Entries appear whole, by
 * rename.
 */
#include "record/image_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/pages.h"
#include "formats/record.h"
#include "record/embed_image.h"
#include "symbols/elf.h"

#define SYSTEM_DIR "/var/cache/mtrec"
#define FOLDER_MAX ((uint64_t)256 << 20) /* bytes of all entries */
#define ENTRIES_MAX 4096
#define STALE_S 3600 /* an entry begun so long ago was given up */
#define NAME_SIZE 32
#define ENDING ".image"
#define UNFINISHED "unfinished."

#define MAGIC "mtimage1"
#define HEAD_SIZE 32
#define KEY_NUMBERS 17
#define KEY_MAX (8 * KEY_NUMBERS + MT_BUILD_ID_MAX + 4096)

/* Where the fields of the head stand, behind the magic. */
enum {
	OFF_SIZE = 8, /* of the whole file */
	OFF_KEY_SIZE = 16,
	OFF_CHUNKS = 20, /* how many */
	OFF_CRC = 24,	 /* of all behind the head, and of the head up to here */
};

struct key {
	uint8_t bytes[KEY_MAX];
	size_t size;
};

struct mt_image_cache {
	int dir;
	size_t hits;
	bool added; /* the folder may have outgrown its bound */
	/* the entry under way: */
	struct key key;
	int fd; /* -1: none */
	uint64_t size;
	uint32_t chunks, crc;
};

/* ---- The folder ---- */

/* The usual place; NULL where there is none, or no memory. */
static char *usual_dir(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *dir = NULL;
	int n = -1;

	if (cache && cache[0] == '/')
		n = asprintf(&dir, "%s/mtrec", cache);
	else if (!geteuid())
		n = asprintf(&dir, SYSTEM_DIR);
	else if (home && home[0] == '/')
		n = asprintf(&dir, "%s/.cache/mtrec", home);
	return n < 0 ? NULL : dir;
}

/* Opens the folder, made where only it and the one around it are missing. */
static int open_dir(char *dir)
{
	char *slash = strrchr(dir, '/');

	if (mkdir(dir, 0700) && errno == ENOENT && slash && slash != dir) {
		*slash = '\0';
		(void)mkdir(dir, 0700);
		*slash = '/';
		(void)mkdir(dir, 0700);
	}
	return open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

struct mt_error *mt_image_cache_open(const char *dir, struct mt_image_cache **out)
{
	MT_CLEANUP_FREE char *path = dir ? strdup(dir) : usual_dir();
	struct mt_image_cache *cache;
	struct stat status;
	int fd = path ? open_dir(path) : -1;

	if (!path)
		return mt_error_create(MT_ERR_USAGE, "no place for a cache");
	if (fd < 0)
		return mt_error_os(errno, "cannot keep images in %s", path);
	if (fstat(fd, &status) || status.st_uid != geteuid() || (status.st_mode & 022)) {
		close(fd);
		return mt_error_create(MT_ERR_USAGE,
				       "cannot keep images in %s: others may write there", path);
	}
	cache = calloc(1, sizeof(*cache));
	if (!cache) {
		close(fd);
		return mt_error_nomem();
	}
	cache->dir = fd;
	cache->fd = -1;
	*out = cache;
	return NULL;
}

struct entry {
	char name[NAME_SIZE];
	uint64_t size;
	struct timespec used;
};

static int by_use(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;

	if (left->used.tv_sec != right->used.tv_sec)
		return left->used.tv_sec < right->used.tv_sec ? -1 : 1;
	return (left->used.tv_nsec > right->used.tv_nsec) -
	       (left->used.tv_nsec < right->used.tv_nsec);
}

static bool ends_as_entry(const char *name)
{
	size_t size = strlen(name), ending = strlen(ENDING);

	return size < NAME_SIZE && size > ending && !strcmp(name + size - ending, ENDING);
}

/* Looks at a name in the folder: an entry is listed, what was given up is removed. */
static void look_at(const struct mt_image_cache *cache, const char *name, struct entry *entries,
		    size_t *count)
{
	bool unfinished = !strncmp(name, UNFINISHED, strlen(UNFINISHED));
	struct stat status;

	if ((!unfinished && !ends_as_entry(name)) ||
	    fstatat(cache->dir, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
		return;
	if (unfinished) {
		if (status.st_mtime < time(NULL) - STALE_S)
			(void)unlinkat(cache->dir, name, 0);
	} else if (*count == ENTRIES_MAX) {
		(void)unlinkat(cache->dir, name, 0);
	} else {
		struct entry *entry = &entries[(*count)++];

		memcpy(entry->name, name, strlen(name) + 1);
		entry->size = (uint64_t)status.st_size;
		entry->used = status.st_mtim;
	}
}

static void trim(struct mt_image_cache *cache)
{
	MT_CLEANUP_FREE struct entry *entries = calloc(ENTRIES_MAX, sizeof(*entries));
	int fd = openat(cache->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *found;
	uint64_t sum = 0;
	size_t count = 0;

	if (!folder || !entries) {
		mt_close_p(&fd);
		return;
	}
	while ((found = readdir(folder)))
		look_at(cache, found->d_name, entries, &count);
	closedir(folder);
	for (size_t i = 0; i < count; i++)
		sum += entries[i].size;
	qsort(entries, count, sizeof(*entries), by_use);
	for (size_t i = 0; i < count && sum > FOLDER_MAX; i++) {
		(void)unlinkat(cache->dir, entries[i].name, 0);
		sum -= entries[i].size;
	}
}

void mt_image_cache_close(struct mt_image_cache *cache)
{
	if (!cache)
		return;
	mt_image_cache_end(cache, false);
	if (cache->added)
		trim(cache);
	close(cache->dir);
	free(cache);
}

int mt_image_cache_dir(const struct mt_image_cache *cache)
{
	return cache ? cache->dir : -1;
}

size_t mt_image_cache_hits(const struct mt_image_cache *cache)
{
	return cache ? cache->hits : 0;
}

/* ---- Keys ---- */

static uint64_t stamp(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static void put_text(struct key *key, const struct mt_text *text)
{
	if (text->size)
		memcpy(key->bytes + key->size, text->bytes, text->size);
	key->size += text->size;
}

/* The files that what is carried depends on. */
struct origins {
	struct stat self, image, debug; /* zeros: there is none */
};

static void put_numbers(struct key *key, const struct origins *from,
			const struct mt_skeleton_wish *wish, const struct mt_file_record *file)
{
	const uint64_t numbers[KEY_NUMBERS] = {
		stamp(&from->self.st_mtim),
		(uint64_t)from->self.st_size,
		(uint64_t)wish->names | (uint64_t)wish->unwind << 1 | (uint64_t)wish->lines << 2 |
			(uint64_t)wish->no_calls << 3,
		from->image.st_dev,
		from->image.st_ino,
		(uint64_t)from->image.st_size,
		stamp(&from->image.st_mtim),
		stamp(&from->image.st_ctim),
		from->debug.st_ino,
		(uint64_t)from->debug.st_size,
		stamp(&from->debug.st_mtim),
		file->major,
		file->minor,
		file->inode,
		file->inode_generation,
		file->build_id.size,
		file->path.size,
	};

	for (size_t i = 0; i < KEY_NUMBERS; i++, key->size += 8)
		mt_put_le64(key->bytes + key->size, numbers[i]);
}

/*
 * All that what is carried depends on: the file, where the host's debug file of it stands, what is
 * wished for, which recorder makes it, and what the FILE record says. False where it has no key.
 */
static bool make_key(int fd, const struct mt_skeleton_wish *wish, const struct mt_file_record *file,
		     struct key *key)
{
	struct origins from = {0};

	if (fstat(fd, &from.image) || !from.image.st_nlink || !S_ISREG(from.image.st_mode) ||
	    stat("/proc/self/exe", &from.self) || file->build_id.size > MT_BUILD_ID_MAX ||
	    file->path.size > KEY_MAX - 8 * KEY_NUMBERS - MT_BUILD_ID_MAX)
		return false;
	mt_embed_image_debug_stat(file->build_id.bytes, file->build_id.size, &from.debug);
	key->size = 0;
	put_numbers(key, &from, wish, file);
	put_text(key, &file->build_id);
	put_text(key, &file->path);
	return true;
}

static void entry_name(const struct key *key, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%016llx" ENDING,
		 (unsigned long long)mt_hash_bytes(key->bytes, key->size, 1));
}

/* ---- Reading ---- */

static bool read_all(int fd, void *bytes, size_t size, uint64_t at)
{
	ssize_t n;

	for (size_t done = 0; done < size; done += (size_t)n) {
		n = pread(fd, (uint8_t *)bytes + done, size - done, (off_t)(at + done));
		if (n <= 0)
			return false;
	}
	return true;
}

/* Whether all of it is as it was written, under that key; *chunks: how many follow the key. */
static bool check_entry(int fd, const struct key *key, uint64_t size, uint32_t *chunks)
{
	MT_CLEANUP_FREE uint8_t *bytes = malloc(MT_CHUNK_HEADER_SIZE << 10);
	uint8_t head[HEAD_SIZE];
	uint32_t crc = 0;

	if (!bytes || size < HEAD_SIZE + key->size || !read_all(fd, head, sizeof(head), 0) ||
	    memcmp(head, MAGIC, strlen(MAGIC)) || mt_get_le64(head + OFF_SIZE) != size ||
	    mt_get_le32(head + OFF_KEY_SIZE) != key->size ||
	    !read_all(fd, bytes, key->size, HEAD_SIZE) || memcmp(bytes, key->bytes, key->size) != 0)
		return false;
	for (uint64_t at = HEAD_SIZE, n; at < size; at += n) {
		n = size - at < MT_CHUNK_HEADER_SIZE << 10 ? size - at : MT_CHUNK_HEADER_SIZE << 10;
		if (!read_all(fd, bytes, (size_t)n, at))
			return false;
		crc = mt_crc32c(crc, bytes, (size_t)n);
	}
	*chunks = mt_get_le32(head + OFF_CHUNKS);
	return mt_crc32c(crc, head, OFF_CRC) == mt_get_le32(head + OFF_CRC);
}

/* The next chunk, its payload the caller's; false where there is none that could be one. */
static bool read_chunk(int fd, uint64_t size, uint64_t *at, struct mt_file_chunk *chunk)
{
	uint8_t header[MT_CHUNK_HEADER_SIZE];
	uint8_t *payload;

	if (size - *at < sizeof(header) || !read_all(fd, header, sizeof(header), *at) ||
	    !mt_chunk_header_decode(header, &chunk->header) ||
	    chunk->header.stored_size > size - *at - sizeof(header))
		return false;
	payload = malloc(chunk->header.stored_size + 1);
	mt_pages_prefault(payload, chunk->header.stored_size);
	if (!payload || !read_all(fd, payload, chunk->header.stored_size, *at + sizeof(header))) {
		free(payload);
		return false;
	}
	chunk->payload = payload;
	*at += sizeof(header) + chunk->header.stored_size;
	return true;
}

static enum mt_image_cache_found hand_on(struct mt_image_cache *cache, int fd, uint64_t size,
					 const struct mt_file_chunk_sink *sink)
{
	uint64_t at = HEAD_SIZE + cache->key.size;
	uint32_t chunks;

	if (!check_entry(fd, &cache->key, size, &chunks))
		return MT_CACHE_MISS;
	for (uint32_t i = 0; i < chunks; i++) {
		struct mt_file_chunk chunk;

		if (!read_chunk(fd, size, &at, &chunk)) /* what is out already stands alone */
			return i ? MT_CACHE_REFUSED : MT_CACHE_MISS;
		if (!sink->take(sink->context, &chunk))
			return MT_CACHE_REFUSED;
	}
	(void)futimens(fd, NULL);
	cache->hits++;
	return MT_CACHE_DONE;
}

/* ---- Keeping ---- */

static void unfinished_name(char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, UNFINISHED "%d", (int)getpid());
}

static bool write_all(int fd, const void *bytes, size_t size, uint64_t at)
{
	ssize_t n;

	for (size_t done = 0; done < size; done += (size_t)n) {
		n = pwrite(fd, (const uint8_t *)bytes + done, size - done, (off_t)(at + done));
		if (n <= 0)
			return false;
	}
	return true;
}

/* Adds to the entry under way, which ends where that fails. */
static void put(struct mt_image_cache *cache, const void *bytes, size_t size)
{
	if (cache->fd >= 0 && !write_all(cache->fd, bytes, size, cache->size))
		mt_image_cache_end(cache, false);
	cache->crc = mt_crc32c(cache->crc, bytes, size);
	cache->size += size;
}

static void begin_entry(struct mt_image_cache *cache)
{
	char name[NAME_SIZE];

	unfinished_name(name);
	(void)unlinkat(cache->dir, name, 0);
	cache->fd =
		openat(cache->dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	cache->size = HEAD_SIZE;
	cache->chunks = cache->crc = 0;
	put(cache, cache->key.bytes, cache->key.size);
}

enum mt_image_cache_found mt_image_cache_find(struct mt_image_cache *cache, int fd,
					      const struct mt_skeleton_wish *wish,
					      const struct mt_file_record *file,
					      const struct mt_file_chunk_sink *sink)
{
	enum mt_image_cache_found found = MT_CACHE_MISS;
	struct stat status;
	char name[NAME_SIZE];
	int entry;

	if (!cache || !make_key(fd, wish, file, &cache->key))
		return found;
	entry_name(&cache->key, name);
	entry = openat(cache->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (entry >= 0) {
		if (!fstat(entry, &status) && S_ISREG(status.st_mode) && status.st_size > 0)
			found = hand_on(cache, entry, (uint64_t)status.st_size, sink);
		close(entry);
	}
	if (found == MT_CACHE_MISS)
		begin_entry(cache);
	return found;
}

void mt_image_cache_add(struct mt_image_cache *cache, const struct mt_file_chunk *chunk)
{
	uint8_t header[MT_CHUNK_HEADER_SIZE];

	if (!cache || cache->fd < 0)
		return;
	mt_chunk_header_encode(&chunk->header, header);
	put(cache, header, sizeof(header));
	put(cache, chunk->payload, chunk->header.stored_size);
	cache->chunks++;
}

void mt_image_cache_end(struct mt_image_cache *cache, bool whole)
{
	uint8_t head[HEAD_SIZE] = MAGIC;
	char unfinished[NAME_SIZE], name[NAME_SIZE];

	if (!cache || cache->fd < 0)
		return;
	mt_put_le64(head + OFF_SIZE, cache->size);
	mt_put_le32(head + OFF_KEY_SIZE, (uint32_t)cache->key.size);
	mt_put_le32(head + OFF_CHUNKS, cache->chunks);
	mt_put_le32(head + OFF_CRC, mt_crc32c(cache->crc, head, OFF_CRC));
	whole = whole && write_all(cache->fd, head, sizeof(head), 0);
	close(cache->fd);
	cache->fd = -1;
	unfinished_name(unfinished);
	entry_name(&cache->key, name);
	if (!whole || renameat(cache->dir, unfinished, cache->dir, name))
		(void)unlinkat(cache->dir, unfinished, 0);
	else
		cache->added = true;
}
