/*
 * Reads a recording of mtrec: scans the file, then returns each recording's STATE in file order and
 * its DATA by time. Also names the kind of a file that is not a recording.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/chunks/chunk.h"
#include "formats/reading/carried.h"
#include "formats/reading/chunk_scan.h"
#include "formats/reading/input.h"
#include "formats/reading/merge.h"
#include "formats/reading/source.h"

struct source {
	const struct mt_input *input;
	struct mt_loader loader;
	struct mt_scan scan;
	struct mt_scanner *scanner; /* of a growing input; else NULL */
	struct mt_scanned *reading; /* index of the recording that is being read */
	size_t next_state;	    /* index of the next HEAD or STATE chunk of `reading` */
	bool state_given; /* the first record of `state` was returned and has to be skipped */
	struct mt_payload state;
	struct mt_merge merge;
	struct mt_carried **carried; /* by recording; NULL: it carries nothing */
};

/* Known file types by their first bytes. */
static const struct {
	const char *magic;
	size_t size;
	const char *what;
	const char *hint;
} foreign[] = {
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

static struct mt_error *no_recording(const struct source *source)
{
	uint8_t bytes[MT_CHUNK_MAGIC_SIZE] = {0};
	size_t got = 0;
	struct mt_error *err = mt_input_read(source->input, 0, bytes, sizeof(bytes), &got);

	if (err)
		return err;
	if (!memcmp(bytes, MT_CHUNK_MAGIC, got) || source->scan.before.damaged_chunks ||
	    source->scan.before.stray_chunks)
		return mt_error_create(
			MT_ERR_FORMAT,
			"is cut short or damaged: the recording's first chunk cannot be read");
	return mt_error_create(MT_ERR_FORMAT, "is not a recording of mtrec");
}

static bool source_probe(const uint8_t *head, size_t size)
{
	(void)head;
	(void)size;
	return true;
}

static void source_destroy(void *of)
{
	struct source *source = of;

	if (!source)
		return;
	for (size_t i = 0; source->carried && i < source->scan.recordings.count; i++)
		mt_carried_destroy(source->carried[i]);
	free(source->carried);
	mt_merge_deinit(&source->merge);
	mt_payload_deinit(&source->state);
	mt_scanner_destroy(source->scanner);
	mt_scan_deinit(&source->scan);
	mt_loader_deinit(&source->loader);
	free(source);
}

MT_DEFINE_CLEANUP(source, void)

static struct mt_error *scan_growing(struct source *source, size_t memory_limit)
{
	source->scanner = mt_scanner_create(&source->loader, memory_limit, &source->scan);
	return mt_scanner_advance(source->scanner);
}

static struct mt_error *source_scan(struct source *source, const struct mt_reader_options *options)
{
	size_t limit = options->memory_limit;
	struct mt_error *err = foreign_check(source->input);

	if (!err)
		err = options->growing ? scan_growing(source, limit)
				       : mt_scan_file(&source->loader, limit, &source->scan);
	if (!err && !source->scan.recordings.count)
		err = no_recording(source);
	return err;
}

static size_t source_recordings(const void *of)
{
	return ((const struct source *)of)->scan.recordings.count;
}

static const struct mt_recording *source_recording(const void *of, size_t i)
{
	return &((const struct source *)of)->scan.recordings.items[i].recording;
}

/* Limits reading to records below the last MARK, all of which are in the file. */
static void limit_to_mark(struct source *source)
{
	const struct mt_recording *recording = &source->reading->recording;

	source->merge.limit = recording->has_mark && recording->mark.complete_below
				      ? recording->mark.complete_below - 1
				      : 0;
}

static struct mt_error *source_rewind(void *of, size_t i)
{
	struct source *source = of;

	source->reading = &source->scan.recordings.items[i];
	source->reading->recording.damage = source->reading->found;
	source->next_state = 0;
	source->state_given = false;
	source->state.next = source->state.records.count = 0;
	mt_merge_begin(&source->merge, source->scan.chunks.items + source->reading->first_chunk,
		       source->reading->chunks);
	if (source->scanner)
		limit_to_mark(source);
	return NULL;
}

/* Lists what each recording carries, without its bytes. */
static struct mt_error *source_list_carried(struct source *source)
{
	size_t count = source->scan.recordings.count;
	struct mt_error *err = NULL;

	source->carried = mt_alloc(count, sizeof(struct mt_carried *));
	for (size_t i = 0; i < count && !err; i++) {
		const struct mt_scanned *scanned = &source->scan.recordings.items[i];

		if (scanned->files)
			err = mt_carried_create(source->input,
						source->scan.files.items + scanned->first_file,
						scanned->files, &source->carried[i]);
	}
	return err;
}

static struct mt_carried *source_carried(void *of, size_t i)
{
	return ((struct source *)of)->carried[i];
}

static struct mt_error *source_open(const struct mt_input *input,
				    const struct mt_reader_options *options, void **out)
{
	MT_CLEANUP(source_destroy_p) void *owned = mt_alloc(1, sizeof(struct source));
	struct source *source = owned;
	struct mt_error *err;

	source->input = input;
	mt_loader_init(&source->loader, input);
	mt_merge_init(&source->merge, input, options);
	err = source_scan(source, options);
	err = err ? err : source_list_carried(source);
	err = err ? err : source_rewind(source, 0);
	if (err)
		return err;
	*out = MT_TAKE(owned);
	return NULL;
}

/*
 * Loads HEAD and STATE chunks until one has a record to return. If there is none, the payload stays
 * empty.
 */
static struct mt_error *state_load(struct source *source)
{
	struct mt_error *err = NULL;

	while (!err && mt_payload_empty(&source->state) &&
	       source->next_state < source->reading->chunks) {
		const struct mt_chunk_ref *ref =
			&source->scan.chunks
				 .items[source->reading->first_chunk + source->next_state++];

		if (ref->type != MT_CHUNK_DATA)
			err = mt_payload_load(&source->state, &source->loader, ref, false,
					      &source->reading->recording.damage);
	}
	return err;
}

static bool has_samples(const struct mt_payload *payload)
{
	for (size_t i = 0; i < payload->records.count; i++) {
		uint32_t type = mt_get_le32(payload->raw + payload->records.items[i].offset) &
				~MT_RECORD_CRITICAL;

		if (type >= MT_RECORD_KERNEL && type <= MT_RECORD_PACKED)
			return true;
	}
	return false;
}

/*
 * Steps over the record returned last. With `keep`, holds a STATE chunk that has samples, because
 * they stay valid like those of DATA.
 */
static void state_step(struct source *source)
{
	if (!source->state_given)
		return;
	source->state_given = false;
	source->state.next++;
	if (source->merge.held.keep && mt_payload_empty(&source->state) &&
	    has_samples(&source->state))
		mt_merge_hold(&source->merge, &source->state);
}

static struct mt_error *state_next(struct source *source, struct mt_record *out, bool *more)
{
	struct mt_error *err;

	state_step(source);
	err = state_load(source);
	if (err)
		return err;
	*more = !mt_payload_empty(&source->state);
	if (*more)
		mt_payload_get(&source->state, out);
	else
		mt_payload_deinit(&source->state);
	source->state_given = *more;
	return NULL;
}

static struct mt_error *source_next(void *of, struct mt_record *out, bool *more)
{
	struct source *source = of;
	struct mt_error *err = state_next(source, out, more);

	if (!err && *more)
		out->state = true;
	else if (!err)
		err = mt_merge_next(&source->merge, &source->reading->recording.damage, out, more);
	source->merge.held.given += !err && *more;
	return err;
}

/* Whether a chunk belongs before the records returned so far. */
static bool is_earlier(const struct source *source, const struct mt_chunk_ref *ref)
{
	return ref->type == MT_CHUNK_HEAD ||
	       (ref->type == MT_CHUNK_DATA && ref->first_time <= source->merge.last_key &&
		source->merge.last_key);
}

static struct mt_error *source_advance(void *of, struct mt_reader_news *out)
{
	struct source *source = of;
	size_t from = source->scan.chunks.count, files = source->scan.files.count,
	       others = source->scan.others.count,
	       reading = (size_t)(source->reading - source->scan.recordings.items);
	struct mt_error *err = mt_scanner_advance(source->scanner);

	source->reading = &source->scan.recordings.items[reading];
	if (err)
		return err;
	*out = (struct mt_reader_news){
		.whole = source->scan.chunks.count > from || source->scan.others.count > others,
		.earlier = source->scan.files.count > files,
		.complete = mt_scanner_complete(source->scanner),
	};
	for (size_t i = from; i < source->scan.chunks.count; i++)
		out->earlier |= is_earlier(source, &source->scan.chunks.items[i]);
	limit_to_mark(source);
	mt_merge_add(&source->merge, source->scan.chunks.items + from,
		     source->scan.chunks.count - from);
	return NULL;
}

static void source_finish(void *of)
{
	((struct source *)of)->merge.limit = UINT64_MAX;
}

static void source_release(void *of, uint64_t serial)
{
	mt_merge_release(&((struct source *)of)->merge, serial);
}

const struct mt_source_ops mt_source_recording = {
	.name = "a recording of mtrec",
	.probe = source_probe,
	.open = source_open,
	.destroy = source_destroy,
	.recordings = source_recordings,
	.recording = source_recording,
	.carried = source_carried,
	.rewind = source_rewind,
	.next = source_next,
	.release = source_release,
	.advance = source_advance,
	.finish = source_finish,
};
