/*
 * Reading a recording file: scan first, then of one recording its STATE in the order of the file
 * and its DATA by time. What a file that is no recording is instead is told here, too.
 */
#include "formats/reader.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/chunk.h"
#include "formats/input.h"
#include "formats/merge.h"
#include "formats/scan.h"

#define DEFAULT_MEMORY_LIMIT ((size_t)256 << 20)

struct mt_reader {
	char *path;
	struct mt_input input;
	struct mt_loader loader;
	struct mt_scan scan;
	struct mt_scanned *reading; /* the recording that is read */
	size_t next_state;	    /* among its chunks */
	bool state_given; /* the first record of `state` is out, and has to be stepped over */
	struct mt_payload state;
	struct mt_merge merge;
};

static struct mt_error *with_path(const struct mt_reader *reader, struct mt_error *err)
{
	return mt_error_context(err, "%s",
				strcmp(reader->path, "-") ? reader->path : "standard input");
}

/* What else it could be, by its first bytes. */
static const struct {
	const char *magic;
	size_t size;
	const char *what;
	const char *hint;
} foreign[] = {
	{"PERFILE2", 8, "a perf.data file", NULL},
	{"2ELIFREP", 8, "a perf.data file of a big-endian machine", NULL},
	{"\x1f\x8b", 2, "compressed by gzip", "unpack it first: gunzip"},
	{"\x28\xb5\x2f\xfd", 4, "compressed by zstd", "unpack it first: unzstd"},
	{"\xfd"
	 "7zXZ",
	 5, "compressed by xz", "unpack it first: unxz"},
	{"BZh", 3, "compressed by bzip2", "unpack it first: bunzip2"},
	{"\x7f"
	 "ELF",
	 4, "an ELF file", NULL},
};

static struct mt_error *foreign_check(const struct mt_input *input)
{
	uint8_t bytes[8] = {0};
	struct mt_error *err;
	size_t got;

	if (!input->size)
		return mt_error_create(MT_ERR_FORMAT, "is empty");
	err = mt_input_read(input, 0, bytes, sizeof(bytes), &got);
	for (size_t i = 0; !err && i < sizeof(foreign) / sizeof(*foreign); i++) {
		if (got < foreign[i].size || memcmp(bytes, foreign[i].magic, foreign[i].size) != 0)
			continue;
		err = mt_error_create(MT_ERR_FORMAT, "is %s, not a recording of mtrec",
				      foreign[i].what);
		return foreign[i].hint ? mt_error_hint(err, "%s", foreign[i].hint) : err;
	}
	return err;
}

static struct mt_error *no_recording(const struct mt_reader *reader)
{
	uint8_t bytes[MT_CHUNK_MAGIC_SIZE] = {0};
	size_t got = 0;
	struct mt_error *err = mt_input_read(&reader->input, 0, bytes, sizeof(bytes), &got);

	if (err)
		return err;
	if (!memcmp(bytes, MT_CHUNK_MAGIC, got) || reader->scan.before.damaged_chunks ||
	    reader->scan.before.stray_chunks)
		return mt_error_create(
			MT_ERR_FORMAT,
			"is cut short or damaged: the recording's first chunk cannot be read");
	return mt_error_create(MT_ERR_FORMAT, "is not a recording of mtrec");
}

static struct mt_error *reader_scan(struct mt_reader *reader, const char *path, size_t memory_limit)
{
	struct mt_error *err = mt_input_open(path, &reader->input);

	if (err)
		return err;
	mt_loader_init(&reader->loader, &reader->input);
	mt_merge_init(&reader->merge, &reader->loader, memory_limit);
	err = foreign_check(&reader->input);
	if (!err)
		err = mt_scan_file(&reader->loader, memory_limit, &reader->scan);
	if (!err && !reader->scan.recordings.count)
		err = no_recording(reader);
	return err;
}

MT_DEFINE_CLEANUP(mt_reader, struct mt_reader)

struct mt_error *mt_reader_open(const char *path, const struct mt_reader_options *options,
				struct mt_reader **out)
{
	MT_CLEANUP(mt_reader_destroy_p) struct mt_reader *reader = calloc(1, sizeof(*reader));
	size_t limit =
		options && options->memory_limit ? options->memory_limit : DEFAULT_MEMORY_LIMIT;
	struct mt_error *err;

	if (!reader)
		return mt_error_nomem();
	reader->input.fd = -1;
	reader->path = strdup(path);
	if (!reader->path)
		return mt_error_nomem();
	err = reader_scan(reader, path, limit);
	if (!err)
		err = mt_reader_rewind(reader, 0);
	if (err)
		return with_path(reader, err);
	*out = MT_TAKE(reader);
	return NULL;
}

void mt_reader_destroy(struct mt_reader *reader)
{
	if (!reader)
		return;
	mt_merge_deinit(&reader->merge);
	mt_payload_deinit(&reader->state);
	mt_scan_deinit(&reader->scan);
	mt_loader_deinit(&reader->loader);
	mt_input_deinit(&reader->input);
	free(reader->path);
	free(reader);
}

size_t mt_reader_recordings(const struct mt_reader *reader)
{
	return reader->scan.recordings.count;
}

const struct mt_recording *mt_reader_recording(const struct mt_reader *reader, size_t i)
{
	return &reader->scan.recordings.items[i].recording;
}

struct mt_error *mt_reader_rewind(struct mt_reader *reader, size_t i)
{
	reader->reading = &reader->scan.recordings.items[i];
	reader->reading->recording.damage = reader->reading->found;
	reader->next_state = 0;
	reader->state_given = false;
	reader->state.next = reader->state.records.count = 0;
	return mt_merge_begin(&reader->merge,
			      reader->scan.chunks.items + reader->reading->first_chunk,
			      reader->reading->chunks);
}

/*
 * Loads HEAD and STATE chunks until one has a record to give; none is left where the payload stays
 * empty.
 */
static struct mt_error *state_load(struct mt_reader *reader)
{
	struct mt_error *err = NULL;

	while (!err && mt_payload_empty(&reader->state) &&
	       reader->next_state < reader->reading->chunks) {
		const struct mt_chunk_ref *ref =
			&reader->scan.chunks
				 .items[reader->reading->first_chunk + reader->next_state++];

		if (ref->type != MT_CHUNK_DATA)
			err = mt_payload_load(&reader->state, &reader->loader, ref, false,
					      &reader->reading->recording.damage);
	}
	return err;
}

static struct mt_error *state_next(struct mt_reader *reader, struct mt_record *out, bool *more)
{
	struct mt_error *err;

	reader->state.next += reader->state_given;
	reader->state_given = false;
	err = state_load(reader);
	if (err)
		return err;
	*more = !mt_payload_empty(&reader->state);
	if (*more)
		mt_payload_get(&reader->state, out);
	else
		mt_payload_deinit(&reader->state);
	reader->state_given = *more;
	return NULL;
}

struct mt_error *mt_reader_next(struct mt_reader *reader, struct mt_record *out, bool *more)
{
	struct mt_error *err = state_next(reader, out, more);

	if (!err && !*more)
		err = mt_merge_next(&reader->merge, &reader->reading->recording.damage, out, more);
	return err ? with_path(reader, err) : NULL;
}
