/* Perf maps, parsed when a name is first needed. */
#include "report/names/jit_names.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "formats/reading/carried.h"
#include "symbols/images/image.h"
#include "symbols/names/perf_map.h"
#include "symbols/names/symbolize.h"

#define LOCAL_MAX ((off_t)256 << 20)

struct source {
	struct mt_carried *carried; /* NULL: local */
	size_t content, recording;
	int32_t pid;
	uint64_t time;
	char *path;
	struct mt_image *image; /* NULL until asked for */
	char *fallback;		/* "[perf-1.map]" */
	uint8_t *bytes;		/* of a local one */
	size_t size;
	int64_t written; /* when, in s since 1970 */
	bool tried;
	struct mt_perf_map *map;
};

struct mt_jit_names {
	struct mt_image_set *images;
	bool prefer_local;
	MT_ARRAY(struct source *) sources;
	struct mt_map64 local;	  /* pid to index in sources + 1; 0: there is none */
	struct mt_map64 by_image; /* image id to index in sources */
	struct mt_strings *strings;
	struct mt_symbol symbol; /* the last answer */
};

struct mt_jit_names *mt_jit_names_create(struct mt_image_set *images, bool prefer_local)
{
	struct mt_jit_names *jit = calloc(1, sizeof(*jit));

	if (!jit)
		return NULL;
	jit->images = images;
	jit->prefer_local = prefer_local;
	jit->strings = mt_strings_create();
	if (!jit->strings) {
		free(jit);
		return NULL;
	}
	return jit;
}

static void source_destroy(struct source *source)
{
	mt_perf_map_destroy(source->map);
	free(source->path);
	free(source->fallback);
	free(source->bytes);
	free(source);
}

void mt_jit_names_destroy(struct mt_jit_names *jit)
{
	if (!jit)
		return;
	for (size_t i = 0; i < jit->sources.count; i++)
		source_destroy(jit->sources.items[i]);
	mt_array_deinit(&jit->sources);
	mt_map64_deinit(&jit->local);
	mt_map64_deinit(&jit->by_image);
	mt_strings_destroy(jit->strings);
	free(jit);
}

/* Takes path; NULL out of memory. */
static struct source *add_source(struct mt_jit_names *jit, const struct source *like, char *path)
{
	struct source *source = calloc(1, sizeof(*source)), **slot;
	const char *slash = path ? strrchr(path, '/') : NULL;

	slot = source && path ? mt_array_push(&jit->sources) : NULL;
	if (!slot) {
		free(source);
		free(path);
		return NULL;
	}
	*slot = source;
	*source = *like;
	source->path = path;
	if (asprintf(&source->fallback, "[%s]", slash ? slash + 1 : path) < 0)
		source->fallback = NULL;
	return source->fallback ? source : NULL;
}

bool mt_jit_names_add(struct mt_jit_names *jit, size_t recording, struct mt_carried *carried)
{
	for (size_t i = 0; i < mt_carried_count(carried); i++) {
		const struct mt_file_record *fields = mt_carried_get(carried, i);
		struct source like = {.carried = carried,
				      .content = i,
				      .recording = recording,
				      .pid = fields->pid,
				      .time = mt_carried_time(carried, i)};

		if (fields->kind == MT_FILE_PERF_MAP &&
		    !add_source(jit, &like, strndup(fields->path.bytes, fields->path.size)))
			return false;
	}
	return true;
}

/* ---- Which one ---- */

static uint8_t *read_whole(int fd, size_t size)
{
	uint8_t *bytes = malloc(size + 1);
	size_t at = 0;

	while (bytes && at < size) {
		ssize_t n = pread(fd, bytes + at, size - at, (off_t)at);

		if (n <= 0)
			break;
		at += (size_t)n;
	}
	if (bytes)
		memset(bytes + at, 0, size + 1 - at);
	return bytes;
}

/* Only a regular file of ours or of root's is believed. */
static struct source *open_local(struct mt_jit_names *jit, int32_t pid)
{
	char path[40];
	MT_CLEANUP_CLOSE int fd = -1;
	struct stat status;
	struct source *source;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode) || !status.st_size ||
	    status.st_size > LOCAL_MAX || (status.st_uid && status.st_uid != geteuid()))
		return NULL;
	source = add_source(jit,
			    &(struct source){.pid = pid,
					     .size = (size_t)status.st_size,
					     .written = status.st_mtime},
			    strdup(path));
	if (source)
		source->bytes = read_whole(fd, (size_t)status.st_size);
	return source && source->bytes ? source : NULL;
}

static struct source *find_local(struct mt_jit_names *jit, int32_t pid)
{
	struct source *source;
	uint64_t i;

	if (mt_map64_get(&jit->local, (uint32_t)pid, &i))
		return i ? jit->sources.items[i - 1] : NULL;
	source = open_local(jit, pid);
	(void)mt_map64_put(&jit->local, (uint32_t)pid, source ? jit->sources.count : 0);
	return source;
}

static struct source *find_carried(const struct mt_jit_names *jit, size_t recording, int32_t pid,
				   uint64_t time, bool *any)
{
	struct source *found = NULL;

	for (size_t i = 0; i < jit->sources.count; i++) {
		struct source *source = jit->sources.items[i];

		if (!source->carried || source->recording != recording || source->pid != pid)
			continue;
		*any = true;
		if (source->time >= time && (!found || source->time < found->time))
			found = source;
	}
	return found;
}

static struct source *find_since(struct mt_jit_names *jit, int32_t pid, int64_t since)
{
	struct source *source = since == MT_JIT_NAMES_NO_LOCAL ? NULL : find_local(jit, pid);

	return source && source->written >= since ? source : NULL;
}

static struct source *find_source(struct mt_jit_names *jit, size_t recording, int64_t since,
				  int32_t pid, uint64_t time)
{
	struct source *found = jit->prefer_local ? find_since(jit, pid, since) : NULL;
	bool any = false;

	if (!found)
		found = find_carried(jit, recording, pid, time, &any);
	return !found && !any ? find_since(jit, pid, since) : found;
}

struct mt_image *mt_jit_names_image(struct mt_jit_names *jit, size_t recording, int64_t since,
				    int32_t pid, uint64_t time)
{
	struct source *source = find_source(jit, recording, since, pid, time);
	size_t i = 0;

	if (!source || source->image)
		return source ? source->image : NULL;
	while (jit->sources.items[i] != source)
		i++;
	source->image = mt_image_set_intern(
		jit->images, &(struct mt_image_identity){.path = source->path, .inode = i + 1});
	if (source->image && !mt_map64_put(&jit->by_image, source->image->id, i))
		source->image = NULL;
	return source->image;
}

const uint8_t *mt_jit_names_local_text(const struct mt_jit_names *jit, size_t recording,
				       uint32_t image, int32_t *pid, size_t *size)
{
	const struct source *source;
	bool carried = false;
	uint64_t i;

	if (!mt_map64_get(&jit->by_image, image, &i))
		return NULL;
	source = jit->sources.items[i];
	(void)find_carried(jit, recording, source->pid, 0, &carried);
	if (source->carried || carried)
		return NULL;
	*pid = source->pid;
	*size = source->size;
	return source->bytes;
}

/* ---- Names ---- */

static void load(struct source *source)
{
	const uint8_t *bytes = source->carried ? mt_carried_bytes(source->carried, source->content)
					       : source->bytes;
	uint64_t size = source->carried ? mt_carried_get(source->carried, source->content)->size
					: source->size;

	source->tried = true;
	if (bytes)
		source->map = mt_perf_map_create((const char *)bytes, size);
}

const struct mt_symbol *mt_jit_names_name(struct mt_jit_names *jit, uint32_t image,
					  uint64_t address)
{
	struct source *source;
	const char *name;
	uint64_t i, offset;
	uint32_t id;
	size_t size;

	if (!mt_map64_get(&jit->by_image, image, &i))
		return NULL;
	source = jit->sources.items[i];
	if (!source->tried)
		load(source);
	jit->symbol = (struct mt_symbol){.name = source->fallback, .dso = source->path};
	name = source->map ? mt_perf_map_find(source->map, address, &size, &offset) : NULL;
	id = name ? mt_strings_intern(jit->strings, name, size) : MT_STRING_NONE;
	if (id == MT_STRING_NONE)
		return &jit->symbol;
	jit->symbol.name = mt_strings_get(jit->strings, id);
	jit->symbol.offset = offset;
	jit->symbol.resolved = true;
	return &jit->symbol;
}
