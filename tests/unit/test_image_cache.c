/* record/image_cache: what was made of a file is found again, for that file alone, and whole. */
#include "record/image_cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "formats/record.h"
#include "tests/unit/unit.h"

static char folder[256];

static const char *in_folder(const char *name)
{
	static char text[512];

	snprintf(text, sizeof(text), "%s/%s", folder, name);
	return text;
}

static struct mt_image_cache *open_cache(void)
{
	struct mt_image_cache *cache = NULL;
	const char *dir = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/mt-image-cache-%d", dir ? dir : "/tmp", (int)getpid());
	MT_CHECK_OK(mt_image_cache_open(folder, &cache));
	return cache;
}

static int make_file(const char *name, const char *text)
{
	int fd = open(in_folder(name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	MT_CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	return fd;
}

/* What a sink was given, one after the other. */
struct taken {
	char text[64];
	size_t chunks, most;
};

static bool take(void *context, struct mt_file_chunk *chunk)
{
	struct taken *taken = context;

	if (taken->chunks == taken->most) {
		free(chunk->payload);
		return false;
	}
	taken->chunks++;
	strncat(taken->text, (const char *)chunk->payload, chunk->header.stored_size);
	free(chunk->payload);
	return true;
}

static const struct mt_skeleton_wish both = {.names = true, .unwind = true};

static enum mt_image_cache_found find(struct mt_image_cache *cache, int fd,
				      const struct mt_skeleton_wish *wish, const char *path,
				      struct taken *taken)
{
	const struct mt_file_record file = {
		.kind = MT_FILE_SKELETON,
		.path = {path, strlen(path)},
		.build_id = {"0123456789", 10},
	};
	const struct mt_file_chunk_sink sink = {taken, take};

	*taken = (struct taken){.most = taken->most};
	return mt_image_cache_find(cache, fd, wish, &file, &sink);
}

static void add(struct mt_image_cache *cache, const char *text)
{
	const struct mt_file_chunk chunk = {
		.header = {.type = MT_CHUNK_FILE,
			   .codec = MT_CODEC_STORED,
			   .raw_size = (uint32_t)strlen(text),
			   .stored_size = (uint32_t)strlen(text),
			   .records = 1},
		.payload = (uint8_t *)(uintptr_t)text,
	};

	mt_image_cache_add(cache, &chunk);
}

/* The folder's one entry. */
static const char *entry(void)
{
	static char path[512];
	char command[600];
	FILE *list;

	snprintf(command, sizeof(command), "ls %s/*.image 2>/dev/null", folder);
	list = popen(command, "r");
	path[0] = '\0';
	if (list && fgets(path, sizeof(path), list))
		path[strcspn(path, "\n")] = '\0';
	pclose(list);
	return path;
}

static void clear(void)
{
	char command[600];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	MT_CHECK_EQ(system(command), 0);
}

MT_TEST(kept_and_found)
{
	struct mt_image_cache *cache = open_cache();
	struct taken taken = {.most = 9};
	int fd = make_file("program", "one");

	MT_CHECK_EQ(find(cache, fd, &both, "/bin/a", &taken), MT_CACHE_MISS);
	add(cache, "first ");
	add(cache, "second");
	mt_image_cache_end(cache, true);
	MT_CHECK_EQ(mt_image_cache_hits(cache), 0);
	mt_image_cache_close(cache);

	cache = open_cache();
	MT_CHECK_EQ(find(cache, fd, &both, "/bin/a", &taken), MT_CACHE_DONE);
	MT_CHECK_STR(taken.text, "first second");
	MT_CHECK_EQ(mt_image_cache_hits(cache), 1);
	taken.most = 1;
	MT_CHECK_EQ(find(cache, fd, &both, "/bin/a", &taken), MT_CACHE_REFUSED);
	mt_image_cache_close(cache);
	close(fd);
	clear();
}

MT_TEST(another_file_wish_or_path_is_another_entry)
{
	struct mt_image_cache *cache = open_cache();
	struct mt_skeleton_wish names = {.names = true};
	struct taken taken = {.most = 9};
	int fd = make_file("program", "one"), other = make_file("other", "one");

	MT_CHECK_EQ(find(cache, fd, &both, "/bin/a", &taken), MT_CACHE_MISS);
	add(cache, "text");
	mt_image_cache_end(cache, true);
	MT_CHECK_EQ(find(cache, other, &both, "/bin/a", &taken), MT_CACHE_MISS);
	MT_CHECK_EQ(find(cache, fd, &names, "/bin/a", &taken), MT_CACHE_MISS);
	MT_CHECK_EQ(find(cache, fd, &both, "/bin/b", &taken), MT_CACHE_MISS);
	mt_image_cache_end(cache, false);
	MT_CHECK_EQ(find(cache, fd, &both, "/bin/a", &taken), MT_CACHE_DONE);
	MT_CHECK_EQ(pwrite(fd, "t", 1, 0), 1); /* the file changes in its place */
	MT_CHECK(!futimens(fd, (struct timespec[2]){{.tv_sec = 1}, {.tv_sec = 1}}));
	MT_CHECK_EQ(find(cache, fd, &both, "/bin/a", &taken), MT_CACHE_MISS);
	mt_image_cache_close(cache);
	close(fd);
	close(other);
	clear();
}

MT_TEST(what_is_not_whole_is_not_kept)
{
	struct mt_image_cache *cache = open_cache();
	struct taken taken = {.most = 9};
	int fd = make_file("program", "one");

	MT_CHECK_EQ(find(cache, fd, &both, "/bin/a", &taken), MT_CACHE_MISS);
	add(cache, "half");
	mt_image_cache_end(cache, false);
	MT_CHECK_STR(entry(), "");
	MT_CHECK_EQ(find(cache, fd, &both, "/bin/a", &taken), MT_CACHE_MISS);
	add(cache, "half");
	mt_image_cache_close(cache);
	MT_CHECK_STR(entry(), "");
	close(fd);
	clear();
}

MT_TEST(damage_is_a_miss)
{
	struct mt_image_cache *cache = open_cache();
	struct taken taken = {.most = 9};
	int fd = make_file("program", "one"), file;
	struct stat status;
	uint8_t byte;

	MT_CHECK_EQ(find(cache, fd, &both, "/bin/a", &taken), MT_CACHE_MISS);
	add(cache, "text");
	mt_image_cache_end(cache, true);
	file = open(entry(), O_RDWR | O_CLOEXEC);
	MT_CHECK(file >= 0 && !fstat(file, &status));
	for (off_t at = 0; at < status.st_size; at++) {
		MT_CHECK_EQ(pread(file, &byte, 1, at), 1);
		byte ^= 0x10;
		MT_CHECK_EQ(pwrite(file, &byte, 1, at), 1);
		if (at < 28 || at >= 32) /* those are not used */
			MT_CHECK_EQ(find(cache, fd, &both, "/bin/a", &taken), MT_CACHE_MISS);
		mt_image_cache_end(cache, false);
		byte ^= 0x10;
		MT_CHECK_EQ(pwrite(file, &byte, 1, at), 1);
	}
	MT_CHECK_EQ(find(cache, fd, &both, "/bin/a", &taken), MT_CACHE_DONE);
	for (off_t size = status.st_size - 1; size >= 0; size--) {
		MT_CHECK(!ftruncate(file, size));
		MT_CHECK_EQ(find(cache, fd, &both, "/bin/a", &taken), MT_CACHE_MISS);
		mt_image_cache_end(cache, false);
	}
	mt_image_cache_close(cache);
	close(file);
	close(fd);
	clear();
}

MT_TEST(the_folder_is_bounded_and_private)
{
	struct mt_image_cache *cache = open_cache();
	struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	struct taken taken = {.most = 9};
	int fd = make_file("program", "one"), large = make_file("0.image", "");
	struct mt_error *err;

	MT_CHECK(!ftruncate(large, (off_t)300 << 20)); /* a hole */
	MT_CHECK(!futimens(large, old));
	MT_CHECK_EQ(find(cache, fd, &both, "/bin/a", &taken), MT_CACHE_MISS);
	add(cache, "text");
	mt_image_cache_end(cache, true);
	mt_image_cache_close(cache);
	MT_CHECK(access(in_folder("0.image"), F_OK));
	MT_CHECK(!access(in_folder("program"), F_OK)); /* no entry, no business of ours */
	MT_CHECK(!access(entry(), F_OK));

	MT_CHECK(!chmod(folder, 0770));
	err = mt_image_cache_open(folder, &cache);
	MT_CHECK(err && strstr(err->message, "others may write there"));
	mt_error_destroy(err);
	close(fd);
	close(large);
	clear();
}

MT_TEST_MAIN
