/* Perf maps and jitdumps, read when a process's code first needs them. */
#include "report/names/jit_sources.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/cursor.h"
#include "formats/base/foreign_file.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "formats/reading/carried.h"
#include "formats/records/jitdump.h"
#include "formats/records/record.h"
#include "report/names/naming.h"
#include "report/tables/facts.h"
#include "symbols/images/image.h"
#include "symbols/jit/jitdump_index.h"
#include "symbols/names/demangle.h"
#include "symbols/names/perf_map.h"
#include "symbols/names/symbolize.h"

#define LOCAL_MAX ((size_t)256 << 20) /* bytes of a file, without the code in a jitdump */

struct source {
	struct mt_carried *carried; /* NULL: a file of this machine */
	size_t content, recording;
	struct mt_file_record file; /* its path is a copy, and ends with NUL */
	uint64_t time;
	bool loaded;
	const char *problem; /* the problem with the file, or NULL */
	uint8_t *bytes;	     /* of a file of this machine: file.size bytes */
	int64_t written;     /* of a local perf map: time of writing, in s since 1970 */
	struct mt_perf_map *map;
	struct mt_jitdump *dump;
	struct mt_image *image;
};

struct mt_jit_sources {
	struct mt_jit_options options;
	MT_ARRAY(struct source *) sources;
	struct mt_map64 local_maps; /* pid to index in sources + 1; 0: there is no perf map */
	struct mt_map64 by_image;   /* image id to index in sources */
	struct mt_strings *strings;
	struct mt_symbol symbol; /* the last result */
};

struct mt_jit_sources *mt_jit_sources_create(const struct mt_jit_options *options)
{
	struct mt_jit_sources *sources = mt_alloc(1, sizeof(*sources));

	sources->options = *options;
	sources->strings = mt_strings_create();
	return sources;
}

void mt_jit_sources_destroy(struct mt_jit_sources *sources)
{
	if (!sources)
		return;
	for (size_t i = 0; i < sources->sources.count; i++) {
		struct source *source = sources->sources.items[i];

		mt_perf_map_destroy(source->map);
		mt_jitdump_destroy(source->dump);
		free((char *)source->file.path.bytes);
		free(source->bytes);
		free(source);
	}
	mt_array_deinit(&sources->sources);
	mt_map64_deinit(&sources->local_maps);
	mt_map64_deinit(&sources->by_image);
	mt_strings_destroy(sources->strings);
	free(sources);
}

/* Adds a source like this one, with a copy of the path. */
static struct source *add_source(struct mt_jit_sources *sources, const struct source *like)
{
	struct source *source = mt_alloc(1, sizeof(*source));
	char *path = mt_copy_bytes(like->file.path.bytes, like->file.path.size);

	*source = *like;
	source->file.path = (struct mt_text){path, strlen(path)}; /* up to the first NUL */
	mt_array_append(&sources->sources, source);
	return source;
}

void mt_jit_sources_add(struct mt_jit_sources *sources, size_t recording,
			struct mt_carried *carried)
{
	for (size_t i = 0; i < mt_carried_count(carried); i++) {
		struct source like = {.carried = carried,
				      .content = i,
				      .recording = recording,
				      .file = *mt_carried_get(carried, i),
				      .time = mt_carried_time(carried, i)};

		if (like.file.kind == MT_FILE_PERF_MAP || like.file.kind == MT_FILE_JITDUMP)
			add_source(sources, &like);
	}
}

/* ---- Finding a source ---- */

static bool is_same(const struct mt_file_record *a, const struct mt_file_record *b)
{
	if (a->kind != b->kind || a->kind == MT_FILE_PERF_MAP)
		return a->kind == b->kind && a->pid == b->pid;
	return a->path.size == b->path.size &&
	       !memcmp(a->path.bytes, b->path.bytes, a->path.size) && a->inode == b->inode &&
	       a->major == b->major && a->minor == b->minor;
}

/* The first source read at `time` or later. */
static struct source *find_source(const struct mt_jit_sources *sources, bool carried,
				  size_t recording, const struct mt_file_record *file,
				  uint64_t time)
{
	struct source *found = NULL;

	for (size_t i = 0; i < sources->sources.count; i++) {
		struct source *source = sources->sources.items[i];

		if (!source->carried == !carried && source->recording == recording &&
		    is_same(&source->file, file) && source->time >= time &&
		    (!found || source->time < found->time))
			found = source;
	}
	return found;
}

static bool is_trusted(const struct stat *status)
{
	return !status->st_uid || status->st_uid == geteuid();
}

/* ---- Perf maps of this machine ---- */

static struct source *open_perf_map(struct mt_jit_sources *sources, int32_t pid)
{
	char path[40];
	MT_CLEANUP_CLOSE int fd = -1;
	struct stat status;
	struct source *source, like = {.file = {.kind = MT_FILE_PERF_MAP, .pid = pid}};

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	fd = mt_foreign_open(AT_FDCWD, path, MT_LINKS_NOT_LAST, &status);
	if (fd < 0 || status.st_size <= 0 || (size_t)status.st_size > LOCAL_MAX ||
	    !is_trusted(&status))
		return NULL;
	like.file.path = (struct mt_text){path, strlen(path)};
	like.written = status.st_mtime;
	source = add_source(sources, &like);
	source->bytes = mt_alloc(1, (size_t)status.st_size);
	source->file.size = mt_read_at(fd, 0, source->bytes, (size_t)status.st_size);
	return source;
}

/* The perf map if it was written at `since` or later. */
static struct source *find_perf_map(struct mt_jit_sources *sources, int32_t pid, int64_t since)
{
	struct source *source = NULL;
	uint64_t i;

	if (since == MT_JIT_NO_LOCAL)
		return NULL;
	if (!mt_map64_get(&sources->local_maps, (uint32_t)pid, &i)) {
		i = open_perf_map(sources, pid) ? sources->sources.count : 0;
		mt_map64_put(&sources->local_maps, (uint32_t)pid, i);
	}
	source = i ? sources->sources.items[i - 1] : NULL;
	return source && source->written >= since ? source : NULL;
}

/* ---- Jitdumps of this machine ---- */

/*
 * True if the file's owner is trusted and the file is the mapped one; else sets *why. With symfs
 * the file need not be the mapped one.
 */
static bool is_believed(const struct mt_jit_sources *sources, const struct mt_file_record *file,
			const struct stat *status, const char **why)
{
	if (!is_trusted(status)) {
		*why = "the file here is another user's";
		return false;
	}
	if (!sources->options.symfs->count && file->inode &&
	    (status->st_ino != file->inode || major(status->st_dev) != file->major ||
	     minor(status->st_dev) != file->minor)) {
		*why = "the file here is not the one that was mapped";
		return false;
	}
	return true;
}

static size_t read_file(void *context, uint64_t at, uint8_t *out, size_t size)
{
	return mt_read_at(*(const int *)context, at, out, size);
}

/* Reads a jitdump without the code; returns the problem, or NULL. */
static const char *read_jitdump(int fd, const struct stat *status, struct source *source)
{
	struct mt_jitdump_copy copy = {.input = {&fd, read_file}, .unwind = true, .lines = true};
	size_t room = (size_t)status->st_size + MT_JITDUMP_HEADER_SIZE + MT_JITDUMP_NAME_MAX;
	struct mt_jitdump_record header;
	struct mt_cursor c;

	room = (size_t)status->st_size < LOCAL_MAX ? room : LOCAL_MAX;
	source->bytes = mt_resize(NULL, 1, room);
	source->file.size = mt_jitdump_copy(&copy, (uint64_t)status->st_size, source->bytes, room);
	source->bytes = mt_resize(source->bytes, 1, source->file.size + 1);
	c = mt_cursor_init(source->bytes, source->file.size);
	if (!mt_jitdump_next(&c, &header))
		return "the file here tells of no code";
	return header.pid == (uint32_t)source->file.pid ? NULL
							: "the file here is of another process";
}

/* Opens the file `name` below the directory, or the last part of `name` there; -1: none. */
static int open_below(const char *directory, const char *name, struct stat *status)
{
	MT_CLEANUP_CLOSE int root = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *slash = strrchr(name, '/');
	int fd = root < 0 ? -1 : mt_foreign_open(root, name, MT_LINKS_TRUSTED, status);

	if (fd < 0 && root >= 0 && slash)
		fd = mt_foreign_open(root, slash, MT_LINKS_TRUSTED, status);
	return fd;
}

static const char *open_jitdump(const struct mt_jit_sources *sources, struct source *source)
{
	const struct mt_text *path = &source->file.path;
	const struct mt_directories *symfs = sources->options.symfs;
	MT_CLEANUP_CLOSE int fd = -1;
	const char *why;
	struct stat status;
	uint32_t pid;

	if (!mt_jitdump_path(path->bytes, path->size, &pid))
		return "no file of that name is looked for";
	source->file.pid = (int32_t)pid;
	if (!symfs->count)
		fd = mt_foreign_open(AT_FDCWD, path->bytes, MT_LINKS_TRUSTED, &status);
	for (size_t i = 0; i < symfs->count && fd < 0; i++)
		fd = open_below(symfs->items[i], path->bytes, &status);
	if (fd < 0)
		return errno == EINVAL || errno == EISDIR ? "what stands there is no file"
							  : "no such file here";
	return is_believed(sources, &source->file, &status, &why)
		       ? read_jitdump(fd, &status, source)
		       : why;
}

static struct source *find_jitdump(struct mt_jit_sources *sources, size_t recording,
				   const struct mt_file_record *file)
{
	struct source *source = find_source(sources, false, recording, file, 0);

	if (source)
		return source;
	source = add_source(sources, &(struct source){.recording = recording,
						      .file = *file,
						      .time = UINT64_MAX});
	source->problem = open_jitdump(sources, source);
	return source;
}

/* ---- Images ---- */

/* Parses the source, unless that was done before. */
static void load(struct source *source, const int64_t *ahead)
{
	const uint8_t *bytes = source->bytes;

	if (source->loaded)
		return;
	source->loaded = true;
	if (source->carried)
		bytes = mt_carried_bytes(source->carried, source->content);
	if (!bytes && !source->problem)
		source->problem = "what the recording carries of it is damaged";
	if (source->problem)
		return;
	if (source->file.kind == MT_FILE_PERF_MAP)
		source->map = mt_perf_map_create((const char *)bytes, source->file.size);
	else
		source->dump = mt_jitdump_create(bytes, source->file.size, ahead);
	if (!source->map && !source->dump)
		source->problem = "out of memory";
}

/* The image of a source, interned on first use. The source's number is part of its identity. */
static struct mt_image *image_of(struct mt_jit_sources *sources, struct source *source,
				 struct mt_image *unreported)
{
	struct mt_image_identity identity = {.path = source->file.path.bytes};
	struct mt_image *image;
	size_t i = 0;

	if (source->image)
		return source->image;
	while (sources->sources.items[i] != source)
		i++;
	identity.inode = i + 1;
	if (source->file.kind == MT_FILE_JITDUMP) {
		identity.device_major = source->file.major;
		identity.device_minor = source->file.minor;
		identity.inode = source->file.inode;
		identity.inode_generation = 2 * i + 1;
	}
	image = mt_image_set_intern(sources->options.images, &identity);
	identity.inode_generation++;
	if (source->dump && !unreported)
		unreported = mt_image_set_intern(sources->options.images, &identity);
	mt_map64_put(&sources->by_image, image->id, i);
	image->jitdump = source->dump;
	image->unreported = unreported;
	source->image = image;
	return image;
}

struct mt_image *mt_jit_sources_perf_map(struct mt_jit_sources *sources, size_t recording,
					 int64_t since, int32_t pid, uint64_t time)
{
	const struct mt_file_record file = {.kind = MT_FILE_PERF_MAP, .pid = pid};
	struct source *source = NULL;

	if (sources->options.prefer_local)
		source = find_perf_map(sources, pid, since);
	if (!source)
		source = find_source(sources, true, recording, &file, time);
	if (!source && !find_source(sources, true, recording, &file, 0))
		source = find_perf_map(sources, pid, since);
	return source ? image_of(sources, source, NULL) : NULL;
}

struct mt_image *mt_jit_sources_jitdump(struct mt_jit_sources *sources,
					const struct mt_jitdump_wanted *wanted)
{
	const struct mt_image_identity *identity = wanted->identity;
	const struct mt_file_record file = {.kind = MT_FILE_JITDUMP,
					    .major = identity->device_major,
					    .minor = identity->device_minor,
					    .inode = identity->inode,
					    .path = {identity->path, strlen(identity->path)}};
	struct source *source = NULL;

	if (sources->options.prefer_local)
		source = find_jitdump(sources, wanted->recording, &file);
	if (!source || source->problem) {
		source = find_source(sources, true, wanted->recording, &file, wanted->time);
		source = source ? source : find_jitdump(sources, wanted->recording, &file);
	}
	load(source, wanted->ahead);
	return source->dump ? image_of(sources, source, wanted->unreported) : NULL;
}

static struct source *source_of(const struct mt_jit_sources *sources, const struct mt_image *image)
{
	uint64_t i;

	return image && mt_map64_get(&sources->by_image, image->id, &i) ? sources->sources.items[i]
									: NULL;
}

const uint8_t *mt_jit_sources_local(const struct mt_jit_sources *sources, size_t recording,
				    const struct mt_image *image, struct mt_file_record *file)
{
	const struct source *source = source_of(sources, image);

	if (!source || source->carried || find_source(sources, true, recording, &source->file, 0))
		return NULL;
	*file = source->file;
	return source->bytes;
}

/* ---- Names ---- */

/* Keeps a copy of the name. */
static const char *keep(struct mt_jit_sources *sources, const char *name, size_t size)
{
	return mt_strings_get(sources->strings, mt_strings_intern(sources->strings, name, size));
}

/* Sets the symbol from a perf map; its name is "[perf-1.map]" if the map has none. */
static void name_by_perf_map(struct mt_jit_sources *sources, const struct source *source,
			     uint64_t address, struct mt_symbol *symbol)
{
	const char *slash = strrchr(symbol->dso, '/'), *name;
	char fallback[NAME_MAX + 3];
	size_t size;

	name = source->map ? mt_perf_map_find(source->map, address, &size, &symbol->offset) : NULL;
	symbol->resolved = name;
	if (!name) {
		size = (size_t)snprintf(fallback, sizeof(fallback), "[%.*s]", NAME_MAX,
					slash ? slash + 1 : symbol->dso);
		name = fallback;
	}
	symbol->name = keep(sources, name, size);
}

static void name_by_jitdump(struct mt_jit_sources *sources, const struct source *source,
			    uint64_t place, struct mt_symbol *symbol)
{
	MT_CLEANUP_FREE char *text = NULL;
	struct mt_jitdump_code code;
	uint32_t number = mt_jitdump_placed(source->dump, place, &symbol->offset);

	mt_jitdump_get(source->dump, number, &code);
	text = sources->options.demangle ? mt_demangle(code.name) : NULL;
	symbol->name = text ? keep(sources, text, strlen(text)) : code.name;
	symbol->resolved = *code.name;
	if (!*code.name)
		symbol->name = "[unknown]";
	if (sources->options.lines)
		symbol->file = mt_jitdump_line(source->dump, number, symbol->offset, &symbol->line);
}

const struct mt_symbol *mt_jit_sources_name(struct mt_jit_sources *sources,
					    const struct mt_image *image, uint64_t offset)
{
	struct source *source = source_of(sources, image);

	if (!source)
		return NULL;
	load(source, NULL);
	sources->symbol = (struct mt_symbol){.dso = source->file.path.bytes};
	(source->dump ? name_by_jitdump : name_by_perf_map)(sources, source, offset,
							    &sources->symbol);
	return &sources->symbol;
}

void mt_jit_sources_list(const struct mt_jit_sources *sources, struct mt_facts *facts)
{
	for (size_t i = 0; i < sources->sources.count; i++) {
		const struct source *source = sources->sources.items[i];
		struct mt_facts_jitdump *entry;

		if (source->file.kind != MT_FILE_JITDUMP || !source->loaded)
			continue;
		entry = mt_array_push(&facts->jitdumps);
		*entry = (struct mt_facts_jitdump){.path = source->file.path.bytes,
						   .problem = source->problem,
						   .carried = source->carried};
		if (!source->dump)
			continue;
		entry->functions = mt_jitdump_count(source->dump);
		entry->left_out = mt_jitdump_left_out(source->dump);
		entry->unwind = mt_jitdump_has_unwind(source->dump);
		entry->lines = mt_jitdump_has_lines(source->dump);
		entry->untimed = !mt_jitdump_is_timed(source->dump);
	}
}
