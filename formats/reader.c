/* Opens any supported file: probes its kind and forwards calls to the source for that kind. */
#include "formats/reader.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/reading/input.h"
#include "formats/reading/source.h"
#include "formats/stacks/sample_record.h"

#define DEFAULT_MEMORY_LIMIT ((size_t)256 << 20)

struct mt_reader {
	char *path;
	struct mt_input own;	      /* if none was passed */
	const struct mt_input *input; /* &own, or the growing input that was passed */
	const struct mt_source_ops *ops;
	void *source;
	uint64_t given;
};

/* The first source that recognizes the file is used; the last one accepts any file. */
static const struct mt_source_ops *const sources[] = {
	&mt_source_perfdata,
	&mt_source_text,
	&mt_source_recording,
};

MT_DEFINE_CLEANUP(mt_reader, struct mt_reader)

static struct mt_error *with_path(const struct mt_reader *reader, struct mt_error *err)
{
	return mt_error_context(err, "%s",
				strcmp(reader->path, "-") ? reader->path : "standard input");
}

static struct mt_error *find_source(struct mt_reader *reader)
{
	MT_CLEANUP_FREE uint8_t *head = calloc(1, MT_PROBE_SIZE);
	struct mt_error *err;
	size_t got, i = 0;

	if (!reader->input->size)
		return mt_error_create(MT_ERR_FORMAT, "is empty");
	if (!head)
		return mt_error_nomem();
	err = mt_input_read(reader->input, 0, head, MT_PROBE_SIZE, &got);
	if (err)
		return err;
	while (!sources[i]->probe(head, got))
		i++;
	reader->ops = sources[i];
	return NULL;
}

static struct mt_error *open_source(struct mt_reader *reader,
				    const struct mt_reader_options *options)
{
	struct mt_error *err = options->growing ? NULL : mt_input_open(reader->path, &reader->own);

	reader->input = options->growing ? options->growing : &reader->own;
	err = err ? err : find_source(reader);
	if (!err && options->growing && !reader->ops->advance)
		err = mt_error_create(MT_ERR_USAGE, "is no recording of mtrec: only those are "
						    "read while they are written");
	return err ? err : reader->ops->open(reader->input, options, &reader->source);
}

struct mt_error *mt_reader_open(const char *path, const struct mt_reader_options *options,
				struct mt_reader **out)
{
	MT_CLEANUP(mt_reader_destroy_p) struct mt_reader *reader = calloc(1, sizeof(*reader));
	struct mt_reader_options own = options ? *options : (struct mt_reader_options){0};
	struct mt_error *err;

	if (!reader)
		return mt_error_nomem();
	reader->own.fd = reader->own.pipe = -1;
	reader->path = strdup(path);
	if (!reader->path)
		return mt_error_nomem();
	if (!own.memory_limit)
		own.memory_limit = DEFAULT_MEMORY_LIMIT;
	err = open_source(reader, &own);
	if (err)
		return with_path(reader, err);
	*out = MT_TAKE(reader);
	return NULL;
}

void mt_reader_destroy(struct mt_reader *reader)
{
	if (!reader)
		return;
	if (reader->source)
		reader->ops->destroy(reader->source);
	mt_input_deinit(&reader->own);
	free(reader->path);
	free(reader);
}

size_t mt_reader_recordings(const struct mt_reader *reader)
{
	return reader->ops->recordings(reader->source);
}

const struct mt_recording *mt_reader_recording(const struct mt_reader *reader, size_t i)
{
	return reader->ops->recording(reader->source, i);
}

struct mt_carried *mt_reader_carried(struct mt_reader *reader, size_t i)
{
	return reader->ops->carried ? reader->ops->carried(reader->source, i) : NULL;
}

uint32_t mt_reader_event_of_id(const struct mt_reader *reader, uint64_t id)
{
	return reader->ops->event_of_id ? reader->ops->event_of_id(reader->source, id)
					: MT_EVENT_NONE;
}

struct mt_error *mt_reader_rewind(struct mt_reader *reader, size_t i)
{
	struct mt_error *err = reader->ops->rewind(reader->source, i);

	return err ? with_path(reader, err) : NULL;
}

struct mt_error *mt_reader_next(struct mt_reader *reader, struct mt_record *out, bool *more)
{
	struct mt_error *err = reader->ops->next(reader->source, out, more);

	reader->given += !err && *more;
	return err ? with_path(reader, err) : NULL;
}

uint64_t mt_reader_given(const struct mt_reader *reader)
{
	return reader->given;
}

struct mt_error *mt_reader_advance(struct mt_reader *reader, struct mt_reader_news *out)
{
	struct mt_error *err = reader->ops->advance(reader->source, out);

	return err ? with_path(reader, err) : NULL;
}

void mt_reader_finish(struct mt_reader *reader)
{
	reader->ops->finish(reader->source);
}

void mt_reader_release(struct mt_reader *reader, uint64_t serial)
{
	reader->ops->release(reader->source, serial);
}

static bool get_packed(const struct mt_record *record, struct mt_kernel_bytes *out)
{
	if (!mt_packed_get(record->body, record->size, record->dump, out))
		return false;
	if (record->apart)
		out->dump = record->passing;
	return true;
}

bool mt_record_kernel_get(const struct mt_record *record, struct mt_kernel_bytes *out)
{
	if (record->type == MT_RECORD_SAMPLE)
		return mt_sample_get(record->body, record->size, record->dump, out) &&
		       (!out->dump_size || out->dump);
	if (record->type == MT_RECORD_PACKED)
		return get_packed(record, out);
	if (record->type == MT_RECORD_FRAMES)
		return mt_unwound_get(record->body, record->size, out);
	if (!record->bare)
		return mt_kernel_get(record->body, record->size, out);
	*out = (struct mt_kernel_bytes){
		.event = record->event,
		.kernel = record->body,
		.kernel_size = (uint32_t)record->size,
	};
	return true;
}
