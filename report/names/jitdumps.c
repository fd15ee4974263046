/* Jitdumps, read when a process maps one. */
#include "report/names/jitdumps.h"

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
#include "formats/base/map64.h"
#include "formats/base/read_at.h"
#include "formats/base/strings.h"
#include "formats/reading/carried.h"
#include "formats/records/jitdump.h"
#include "formats/records/record.h"
#include "report/names/naming.h"
#include "report/tables/facts.h"
#include "symbols/images/image.h"
#include "symbols/jit/jitdump_index.h"
#include "symbols/names/demangle.h"
#include "symbols/names/symbolize.h"

#define LOCAL_MAX ((size_t)256 << 20) /* of a file, without the code */

struct source {
	struct mt_carried *carried; /* NULL: local */
	size_t content, recording;
	struct mt_image_identity identity; /* as it is mapped; its path is ours */
	uint64_t time;
	bool asked;
	const char *problem; /* why it is of no use, or NULL */
	uint8_t *bytes;	     /* of a local one */
	size_t size;
	struct mt_jitdump *dump;
	struct mt_image *image;
};

struct mt_jitdumps {
	struct mt_jitdumps_options options;
	MT_ARRAY(struct source *) sources;
	struct mt_map64 by_image; /* image id to index in sources */
	struct mt_strings *strings;
	struct mt_symbol symbol; /* the last answer */
};

struct mt_jitdumps *mt_jitdumps_create(const struct mt_jitdumps_options *options)
{
	struct mt_jitdumps *dumps = calloc(1, sizeof(*dumps));

	if (!dumps)
		return NULL;
	dumps->options = *options;
	dumps->strings = mt_strings_create();
	if (!dumps->strings) {
		free(dumps);
		return NULL;
	}
	return dumps;
}

void mt_jitdumps_destroy(struct mt_jitdumps *dumps)
{
	if (!dumps)
		return;
	for (size_t i = 0; i < dumps->sources.count; i++) {
		struct source *source = dumps->sources.items[i];

		mt_jitdump_destroy(source->dump);
		free((char *)source->identity.path);
		free(source->bytes);
		free(source);
	}
	mt_array_deinit(&dumps->sources);
	mt_map64_deinit(&dumps->by_image);
	mt_strings_destroy(dumps->strings);
	free(dumps);
}

/* NULL out of memory. */
static struct source *add_source(struct mt_jitdumps *dumps, const struct source *like,
				 const char *path, size_t size)
{
	struct source *source = malloc(sizeof(*source)), **slot = NULL;
	char *copy = strndup(path, size);

	if (source && copy)
		slot = mt_array_push(&dumps->sources);
	if (!slot) {
		free(source);
		free(copy);
		return NULL;
	}
	*slot = source;
	*source = *like;
	source->identity.path = copy;
	return source;
}

bool mt_jitdumps_add(struct mt_jitdumps *dumps, size_t recording, struct mt_carried *carried)
{
	for (size_t i = 0; i < mt_carried_count(carried); i++) {
		const struct mt_file_record *file = mt_carried_get(carried, i);
		struct source like = {
			.carried = carried,
			.content = i,
			.recording = recording,
			.identity = {.device_major = file->major,
				     .device_minor = file->minor,
				     .inode = file->inode},
			.time = mt_carried_time(carried, i),
		};

		if (file->kind == MT_FILE_JITDUMP &&
		    !add_source(dumps, &like, file->path.bytes, file->path.size))
			return false;
	}
	return true;
}

/* ---- Which one ---- */

static bool is_same(const struct mt_image_identity *a, const struct mt_image_identity *b)
{
	return !strcmp(a->path, b->path) && a->inode == b->inode &&
	       a->device_major == b->device_major && a->device_minor == b->device_minor;
}

static struct source *find_source(const struct mt_jitdumps *dumps,
				  const struct mt_jitdump_wanted *wanted, bool carried)
{
	struct source *found = NULL;

	for (size_t i = 0; i < dumps->sources.count; i++) {
		struct source *source = dumps->sources.items[i];

		if (!source->carried != !carried || source->recording != wanted->recording ||
		    !is_same(&source->identity, wanted->identity))
			continue;
		if (source->time >= wanted->time && (!found || source->time < found->time))
			found = source;
	}
	return found;
}

/*
 * Whether the file is the one that was mapped; *why not. Where the user says to look, its name is
 * enough.
 */
static bool is_believed(const struct mt_jitdumps *dumps, const struct mt_image_identity *identity,
			const struct stat *status, const char **why)
{
	if (!S_ISREG(status->st_mode)) {
		*why = "what stands there is no file";
		return false;
	}
	if (status->st_uid && status->st_uid != geteuid()) {
		*why = "the file here is another user's";
		return false;
	}
	if (!dumps->options.symfs->count && identity->inode &&
	    (status->st_ino != identity->inode || major(status->st_dev) != identity->device_major ||
	     minor(status->st_dev) != identity->device_minor)) {
		*why = "the file here is not the one that was mapped";
		return false;
	}
	return true;
}

static size_t read_file(void *context, uint64_t at, uint8_t *out, size_t size)
{
	return mt_read_at(*(const int *)context, at, out, size);
}

/* What it tells, without the code; why not, or NULL. */
static const char *read_whole(int fd, const struct stat *status, uint32_t pid,
			      struct source *source)
{
	struct mt_jitdump_copy copy = {.input = {&fd, read_file}, .unwind = true, .lines = true};
	size_t room = (size_t)status->st_size + MT_JITDUMP_HEADER_SIZE + MT_JITDUMP_NAME_MAX;
	struct mt_jitdump_record header;
	struct mt_cursor c;
	uint8_t *smaller;

	room = (size_t)status->st_size < LOCAL_MAX ? room : LOCAL_MAX;
	source->bytes = malloc(room);
	if (!source->bytes)
		return "out of memory";
	source->size = mt_jitdump_copy(&copy, (uint64_t)status->st_size, source->bytes, room);
	smaller = realloc(source->bytes, source->size + 1);
	source->bytes = smaller ? smaller : source->bytes;
	c = mt_cursor_init(source->bytes, source->size);
	if (!mt_jitdump_next(&c, &header))
		return "the file here tells of no code";
	return header.pid == pid ? NULL : "the file here is of another process";
}

/* The file, or that of its last part's name, below the directory; -1: neither. */
static int open_below(const char *directory, const char *name)
{
	const char *slash = strrchr(name, '/');
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s%s", directory, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 || !slash || slash == name)
		return fd;
	return *directory ? open_below(directory, slash) : -1;
}

static const char *open_local(const struct mt_jitdumps *dumps, struct source *source)
{
	const struct mt_image_identity *identity = &source->identity;
	const struct mt_directories *symfs = dumps->options.symfs;
	MT_CLEANUP_CLOSE int fd = -1;
	const char *why;
	struct stat status;
	uint32_t pid;

	if (!mt_jitdump_path(identity->path, strlen(identity->path), &pid))
		return "no file of that name is looked for";
	if (!symfs->count)
		fd = open_below("", identity->path);
	for (size_t i = 0; i < symfs->count && fd < 0; i++)
		fd = open_below(symfs->items[i], identity->path);
	if (fd < 0 || fstat(fd, &status))
		return "no such file here";
	return is_believed(dumps, identity, &status, &why) ? read_whole(fd, &status, pid, source)
							   : why;
}

static struct source *find_local(struct mt_jitdumps *dumps, const struct mt_jitdump_wanted *wanted)
{
	struct source *source = find_source(dumps, wanted, false);
	struct source like = {.recording = wanted->recording, .identity = *wanted->identity};

	if (source)
		return source;
	like.time = UINT64_MAX;
	source = add_source(dumps, &like, wanted->identity->path, strlen(wanted->identity->path));
	if (source)
		source->problem = open_local(dumps, source);
	return source;
}

/* Reads the source, once. */
static void load(struct source *source, const int64_t *ahead)
{
	const uint8_t *bytes = source->bytes;
	size_t size = source->size;

	if (source->asked)
		return;
	source->asked = true;
	if (source->carried) {
		bytes = mt_carried_bytes(source->carried, source->content);
		size = mt_carried_get(source->carried, source->content)->size;
	}
	if (!bytes && !source->problem)
		source->problem = "what the recording carries of it is damaged";
	if (!source->problem)
		source->dump = mt_jitdump_create(bytes, size, ahead);
	if (!source->problem && !source->dump)
		source->problem = "out of memory";
}

static bool make_image(struct mt_jitdumps *dumps, struct source *source, struct mt_image *untold)
{
	struct mt_image_identity identity = source->identity;
	struct mt_image *image;
	size_t i = 0;

	while (dumps->sources.items[i] != source)
		i++;
	identity.inode_generation = 2 * i + 1;
	image = mt_image_set_intern(dumps->options.images, &identity);
	identity.inode_generation++;
	untold = untold ? untold : mt_image_set_intern(dumps->options.images, &identity);
	if (!image || !untold || !mt_map64_put(&dumps->by_image, image->id, i))
		return false;
	image->jitdump = source->dump;
	image->untold = untold;
	source->image = image;
	return true;
}

struct mt_image *mt_jitdumps_image(struct mt_jitdumps *dumps,
				   const struct mt_jitdump_wanted *wanted)
{
	struct source *source = NULL;

	if (dumps->options.prefer_local)
		source = find_local(dumps, wanted);
	if (source && source->problem)
		source = NULL;
	source = source ? source : find_source(dumps, wanted, true);
	source = source ? source : find_local(dumps, wanted);
	if (!source)
		return NULL;
	load(source, wanted->ahead);
	if (!source->image && source->dump && !make_image(dumps, source, wanted->untold))
		return NULL;
	return source->image;
}

static const struct source *source_of(const struct mt_jitdumps *dumps, const struct mt_image *image)
{
	uint64_t i;

	return mt_map64_get(&dumps->by_image, image->id, &i) ? dumps->sources.items[i] : NULL;
}

const uint8_t *mt_jitdumps_local(const struct mt_jitdumps *dumps, size_t recording,
				 const struct mt_image *image, struct mt_file_record *file)
{
	const struct source *source = source_of(dumps, image);
	const struct mt_jitdump_wanted same = {.recording = recording,
					       .identity = source ? &source->identity : NULL};
	uint32_t pid = 0;

	if (!source || source->carried || find_source(dumps, &same, true))
		return NULL;
	(void)mt_jitdump_path(source->identity.path, strlen(source->identity.path), &pid);
	*file = (struct mt_file_record){
		.kind = MT_FILE_JITDUMP,
		.major = source->identity.device_major,
		.minor = source->identity.device_minor,
		.inode = source->identity.inode,
		.size = source->size,
		.pid = (int32_t)pid,
		.path = {source->identity.path, strlen(source->identity.path)},
	};
	return source->bytes;
}

/* ---- Names ---- */

static const char *name_of(struct mt_jitdumps *dumps, const char *name)
{
	MT_CLEANUP_FREE char *text = dumps->options.demangle ? mt_demangle(name) : NULL;
	uint32_t id = text ? mt_strings_intern(dumps->strings, text, strlen(text)) : MT_STRING_NONE;

	return id == MT_STRING_NONE ? name : mt_strings_get(dumps->strings, id);
}

const struct mt_symbol *mt_jitdumps_name(struct mt_jitdumps *dumps, const struct mt_image *image,
					 uint64_t place)
{
	const struct source *source = image && image->jitdump ? source_of(dumps, image) : NULL;
	struct mt_symbol *symbol = &dumps->symbol;
	struct mt_jitdump_code code;
	uint32_t number;

	if (!source)
		return NULL;
	*symbol = (struct mt_symbol){.dso = source->identity.path, .resolved = true};
	number = mt_jitdump_placed(source->dump, place, &symbol->offset);
	mt_jitdump_get(source->dump, number, &code);
	symbol->name = name_of(dumps, code.name);
	if (!*code.name) {
		symbol->name = "[unknown]";
		symbol->resolved = false;
	}
	if (dumps->options.lines)
		symbol->file = mt_jitdump_line(source->dump, number, symbol->offset, &symbol->line);
	return symbol;
}

bool mt_jitdumps_list(const struct mt_jitdumps *dumps, struct mt_facts *facts)
{
	for (size_t i = 0; i < dumps->sources.count; i++) {
		const struct source *source = dumps->sources.items[i];
		struct mt_facts_jitdump *entry;

		if (!source->asked)
			continue;
		entry = mt_array_push(&facts->jitdumps);
		if (!entry)
			return false;
		*entry = (struct mt_facts_jitdump){.path = source->identity.path,
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
	return true;
}
