/*
 * Reads the file twice: first as every report does, to find each recording's images of frames; then
 * to copy the file. The images found are written after each HEAD, where they take precedence over
 * images that the recording carries.
 */
#include "report/copies/seal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/memory.h"
#include "formats/chunks/chunk.h"
#include "formats/file_chunks.h"
#include "formats/records/jitdump.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "formats/writer.h"
#include "report/names/jit_sources.h"
#include "report/names/naming.h"
#include "report/session/session.h"
#include "report/stacks/frames.h"
#include "report/stacks/kernel_names.h"
#include "report/stacks/stacks.h"
#include "report/tables/facts.h"
#include "report/tables/text.h"
#include "symbols/carried/code_blocks.h"
#include "symbols/images/image.h"
#include "symbols/names/kernel.h"
#include "symbols/names/kernel_lines.h"
#include "symbols/tables/address_sort.h"

#define KALLSYMS "/proc/kallsyms"

/* Images and code in the samples of one recording. */
struct part {
	MT_ARRAY(uint32_t) images; /* ids, each once */
	MT_ARRAY(uint64_t) kernel; /* addresses, each once */
	bool in_kernel;		   /* some stacks have kernel frames, named or not */
};

struct seal {
	const struct mt_seal_options *options;
	struct mt_session *session;
	struct mt_naming *naming;
	struct mt_seal_counts counts;
	MT_ARRAY(struct part) parts; /* by recording */
	struct mt_code_notes *code;  /* code of images by which return addresses were checked */
	struct mt_map64 stacks;	     /* stacks already seen in the present recording */
	struct mt_map64 frames;	     /* the same for frames */
	struct mt_map64 images;	     /* the same for images */
	struct mt_file_chunks *chunks;
	struct mt_writer *writer; /* of the recording that is copied */
	struct mt_error *error;	  /* error of the writer */
	struct mt_block notes;	  /* notes for the writer */
};

static void seal_deinit(struct seal *s)
{
	for (size_t i = 0; i < s->parts.count; i++) {
		mt_array_deinit(&s->parts.items[i].images);
		mt_array_deinit(&s->parts.items[i].kernel);
	}
	mt_array_deinit(&s->parts);
	mt_map64_deinit(&s->stacks);
	mt_map64_deinit(&s->frames);
	mt_map64_deinit(&s->images);
	mt_code_notes_destroy(s->code);
	mt_file_chunks_destroy(s->chunks);
	free(s->notes.bytes);
}

/* ---- First pass: images and code in use ---- */

/* Adds the number. True if it is new. */
static bool is_new(struct mt_map64 *seen, uint64_t number)
{
	size_t before = seen->count;

	mt_map64_put(seen, number, 1);
	return seen->count > before;
}

static void touch_frame(struct seal *s, struct part *part, uint32_t frame)
{
	const struct mt_frame_key *key = mt_frames_key(mt_session_frames(s->session), frame);

	if (key->flags & MT_FRAME_IN_KERNEL) {
		part->in_kernel = true;
		if (key->offset)
			(void)mt_array_append(&part->kernel, key->offset);
	} else if (key->image != MT_FRAME_NO_IMAGE && is_new(&s->images, key->image)) {
		(void)mt_array_append(&part->images, key->image);
	}
}

static void touch_stack(struct seal *s, struct part *part, uint32_t stack)
{
	const uint32_t *frames;
	size_t count;

	if (stack == MT_STACK_NONE || !is_new(&s->stacks, stack))
		return;
	frames = mt_stacks_get(mt_session_stacks(s->session), stack, &count);
	for (size_t i = 0; i < count; i++) {
		if (is_new(&s->frames, frames[i]))
			touch_frame(s, part, frames[i]);
	}
}

/* The part for that recording. Parts of earlier recordings are complete. */
static struct part *part_of(struct seal *s, size_t recording)
{
	if (s->parts.count <= recording) {
		mt_map64_deinit(&s->stacks);
		mt_map64_deinit(&s->frames);
		mt_map64_deinit(&s->images);
	}
	return mt_array_at(&s->parts, recording);
}

static struct mt_error *read_samples(struct seal *s)
{
	struct mt_session_sample sample;
	struct mt_error *err;
	bool more = true;

	while (more) {
		err = mt_session_next(s->session, &sample, &more);
		if (err)
			return err;
		if (more)
			touch_stack(s, part_of(s, sample.recording), sample.stack);
	}
	return NULL;
}

/* ---- Second pass: adding files ---- */

/* Reports an item that cannot be added, and notes it in the copy as far as there is room. */
static void lack(struct seal *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void lack(struct seal *s, const char *format, ...)
{
	MT_CLEANUP_FREE char *line = NULL;
	struct mt_note_record note = {.level = 1};
	va_list arguments;

	s->counts.lacking++;
	va_start(arguments, format);
	if (vasprintf(&line, format, arguments) < 0)
		mt_memory_failed();
	va_end(arguments);
	note.text = (struct mt_text){.bytes = line, .size = strlen(line)};
	(void)mt_note_put(&s->notes, &note);
	if (s->options->deliver)
		s->options->deliver(s->options->context, line);
}

/* Writes a FILE chunk. */
static bool write_chunk(void *context, struct mt_file_chunk *chunk)
{
	struct seal *s = context;

	s->error = mt_writer_write_packed(s->writer, &chunk->header, chunk->payload);
	free(chunk->payload);
	return !s->error;
}

/* Writes file->size bytes of content. */
static struct mt_error *write_content(struct seal *s, uint64_t time,
				      const struct mt_file_record *file, const uint8_t *content)
{
	mt_file_chunks_begin(s->chunks, time, file);
	if (!mt_file_chunks_put(s->chunks, content, file->size))
		return s->error ? MT_TAKE(s->error) : mt_error_nomem();
	s->counts.added++;
	return NULL;
}

/* The debug file, if it has sections that the image lacks, or NULL. */
static struct mt_elf *debug_of(struct mt_image *image, const struct mt_skeleton_wish *wish)
{
	struct mt_elf *elf = mt_image_elf(image), *symbols = mt_image_symbols_elf(image), *lines;
	const char *path;

	lines = wish->lines ? mt_image_lines_elf(image, &path) : NULL;
	if (lines && lines != elf)
		return lines;
	return symbols != elf && symbols != image->mini ? symbols : NULL;
}

static struct mt_error *add_skeleton(struct seal *s, struct mt_image *image,
				     struct mt_file_record *file)
{
	const struct mt_skeleton_wish *wish = &s->options->wish;
	MT_CLEANUP_FREE uint8_t *skeleton = NULL;
	struct mt_elf *elf = mt_image_elf(image);
	struct mt_error *err;
	size_t size;

	err = mt_skeleton_make(elf, debug_of(image, wish), wish, &skeleton, &size);
	if (err && err->kind != MT_ERR_NOMEM) {
		lack(s, "%s is not carried: %s", image->identity.path, err->message);
		mt_error_destroy(err);
		return NULL;
	}
	if (err)
		return err;
	file->kept = mt_skeleton_kept(wish);
	file->original_size = mt_elf_whole(elf).size;
	file->size = size;
	return write_content(s, 0, file, skeleton);
}

static struct mt_error *add_vdso(struct seal *s, struct mt_image *image,
				 struct mt_file_record *file)
{
	struct mt_span whole = mt_elf_whole(mt_image_elf(image));

	file->kind = MT_FILE_VDSO;
	file->kept = MT_KEPT_NAMES | MT_KEPT_UNWIND;
	file->size = whole.size;
	return write_content(s, 0, file, whole.bytes);
}

/* The reason why nothing can be added for an image, or NULL. */
static const char *why_not(struct mt_image *image)
{
	if (!mt_image_elf(image))
		return image->missing ? image->missing : "not at hand";
	if (image->carried)
		return "the file to complete it from is not at hand";
	return image->unchecked ? "no build id was recorded that would vouch for what is here now"
				: NULL;
}

static struct mt_file_record file_of(const struct mt_image_identity *identity, uint32_t kind)
{
	return (struct mt_file_record){
		.kind = kind,
		.major = identity->device_major,
		.minor = identity->device_minor,
		.inode = identity->inode,
		.inode_generation = identity->inode_generation,
		.path = {.bytes = identity->path, .size = strlen(identity->path)},
		.build_id = {.bytes = (const char *)identity->build_id,
			     .size = identity->build_id_size},
	};
}

static struct mt_error *add_image(struct seal *s, struct mt_image *image)
{
	const struct mt_image_identity *identity = &image->identity;
	uint32_t kept = mt_naming_kept(s->naming, image),
		 wanted = mt_skeleton_kept(&s->options->wish);
	struct mt_file_record file = file_of(identity, MT_FILE_SKELETON);
	const char *why;

	if (image->kind == MT_IMAGE_VDSO)
		wanted &= MT_KEPT_NAMES | MT_KEPT_UNWIND;
	if ((kept & wanted) == wanted) {
		s->counts.there++;
		return NULL;
	}
	why = why_not(image);
	if (why) {
		lack(s, "%s is not carried%s: %s", identity->path, kept ? " whole" : "", why);
		return NULL;
	}
	return image->kind == MT_IMAGE_VDSO ? add_vdso(s, image, &file)
					    : add_skeleton(s, image, &file);
}

/* Adds the code that was checked, which skeletons lack. */
static struct mt_error *add_code(struct seal *s, struct mt_image *image)
{
	const struct mt_image_identity *identity = &image->identity;
	struct mt_file_record file = file_of(identity, MT_FILE_CODE);
	struct mt_elf *elf = mt_image_elf(image);
	MT_CLEANUP_FREE uint8_t *code = NULL;
	size_t size;

	if (!s->options->wish.unwind || !elf || image->carried ||
	    mt_code_notes_within(s->code, image->id, mt_image_pieces(image)))
		return NULL;
	if (image->unchecked) {
		lack(s,
		     "the code of %s that stacks were checked by is not carried: no build id was "
		     "recorded that would vouch for what is here now",
		     identity->path);
		return NULL;
	}
	if (!mt_code_blocks_make(elf, s->code, image->id, &code, &size))
		return mt_error_nomem();
	file.original_size = mt_elf_whole(elf).size;
	file.size = size;
	return size ? write_content(s, 0, &file, code) : NULL;
}

/* Reads bytes of a jitdump in memory. */
static size_t read_memory(void *context, uint64_t at, uint8_t *out, size_t size)
{
	const struct mt_span *span = context;

	return mt_copy_at(span->bytes, span->size, at, out, size);
}

/* Adds names of generated code, if this machine still has the file. */
static struct mt_error *add_jit(struct seal *s, size_t recording, const struct mt_image *image)
{
	const struct mt_facts_recording *facts =
		&mt_session_facts(s->session)->recordings.items[recording];
	const struct mt_skeleton_wish *wish = &s->options->wish;
	struct mt_file_record file;
	struct mt_span span = {
		.bytes = mt_jit_sources_local(mt_naming_jit(s->naming), recording, image, &file)};
	struct mt_jitdump_copy copy = {
		.input = {&span, read_memory}, .unwind = wish->unwind, .lines = wish->lines};
	MT_CLEANUP_FREE uint8_t *bytes = NULL;

	if (!span.bytes || !wish->names)
		return NULL;
	span.size = file.original_size = file.size;
	if (file.kind == MT_FILE_PERF_MAP)
		return write_content(s, facts->end, &file, span.bytes);
	bytes = mt_alloc(span.size, 1);
	file.size = mt_jitdump_copy(&copy, span.size, bytes, span.size);
	return file.size ? write_content(s, facts->end, &file, bytes) : NULL;
}

/* Chooses the lines of kallsyms around the addresses; size 0 if there are none. */
static struct mt_error *choose_lines(const char *path, struct part *part, char **text, size_t *size)
{
	struct mt_error *err = mt_kernel_text_read(path, text, size);

	if (err)
		return err;
	if (!mt_number_sort(part->kernel.items, part->kernel.count))
		return mt_error_nomem();
	*size = mt_kernel_lines_choose(*text, *size, part->kernel.items, part->kernel.count);
	return NULL;
}

static struct mt_error *add_kernel(struct seal *s, size_t recording, struct part *part)
{
	const struct mt_facts_recording *facts =
		&mt_session_facts(s->session)->recordings.items[recording];
	const char *path = s->options->kallsyms ? s->options->kallsyms : KALLSYMS;
	struct mt_file_record file = {.kind = MT_FILE_KERNEL_SYMBOLS,
				      .path = {.bytes = KALLSYMS, .size = strlen(KALLSYMS)}};
	MT_CLEANUP_FREE char *text = NULL;
	struct mt_error *err;
	size_t size = 0;

	if (!part->in_kernel || !s->options->wish.names)
		return NULL;
	if (mt_kernel_names_are_carried(mt_naming_kernel(s->naming), recording)) {
		s->counts.there++;
		return NULL;
	}
	if (!s->options->kallsyms && !facts->this_boot) {
		lack(s, "kernel symbols are not carried: recorded on another machine, or before "
			"this one last started");
		return NULL;
	}
	err = choose_lines(path, part, &text, &size);
	file.size = file.original_size = size;
	if (!err && size)
		return write_content(s, 0, &file, (const uint8_t *)text);
	lack(s, "kernel symbols are not carried: %s",
	     err ? err->message : "kallsyms shows no addresses (kptr_restrict)");
	mt_error_destroy(err);
	return NULL;
}

/* Begins the copy's note on how it was made. */
static bool begin_notes(struct seal *s)
{
	static const char key[] = "sealed";
	struct mt_info_record info = {
		.key = {key, sizeof(key) - 1},
		.value = {s->options->by, strlen(s->options->by)},
	};

	mt_block_reset(&s->notes, MT_CHUNK_STATE, 0);
	return mt_info_put(&s->notes, &info);
}

static struct mt_error *add_part(struct seal *s, size_t recording, struct part *part)
{
	const struct mt_image_set *images = mt_naming_images(s->naming);
	struct mt_error *err = NULL;

	for (size_t i = 0; i < part->images.count && !err; i++) {
		struct mt_image *image = mt_image_set_get(images, part->images.items[i]);

		if (image->jitdump || image->kind == MT_IMAGE_ANONYMOUS)
			err = add_jit(s, recording, image);
		else if (image->kind != MT_IMAGE_KERNEL)
			err = add_image(s, image);
		if (!err && image->kind == MT_IMAGE_FILE)
			err = add_code(s, image);
	}
	return err ? err : add_kernel(s, recording, part);
}

static struct mt_error *add_contents(void *context, size_t recording, struct mt_writer *writer)
{
	struct seal *s = context;
	struct mt_error *err = NULL;

	s->writer = writer;
	if (!begin_notes(s))
		return mt_error_nomem();
	if (recording < s->parts.count)
		err = add_part(s, recording, &s->parts.items[recording]);
	return err ? err : mt_writer_write(writer, &s->notes, 1);
}

/* Returns an error for perf.data, which has no place for carried files. */
static struct mt_error *refuse_foreign(const struct mt_session *session, const char *path)
{
	const struct mt_facts *facts = mt_session_facts(session);

	for (size_t i = 0; i < facts->recordings.count; i++) {
		if (facts->recordings.items[i].reading->foreign)
			return mt_error_create(
				MT_ERR_USAGE,
				"%s: is perf's, only recordings of mtrec are sealed: take the "
				"files that --info lists along below a directory of yours, and "
				"read it with --symfs DIR",
				path);
	}
	return NULL;
}

struct mt_error *mt_seal(struct mt_session *session, const char *path,
			 const struct mt_seal_options *options, int fd, struct mt_seal_counts *out)
{
	MT_CLEANUP(seal_deinit)
	struct seal s = {
		.options = options,
		.session = session,
		.naming = mt_session_naming(session),
		.notes = {.capacity = 1 << 20},
	};
	const struct mt_rewrite how = {.context = &s, .head = add_contents};
	struct mt_image_set *images = mt_naming_images(s.naming);
	struct mt_error *err = refuse_foreign(session, path);

	if (err)
		return err;
	s.notes.bytes = mt_alloc(s.notes.capacity, 1);
	s.code = mt_code_notes_create();
	s.chunks = mt_file_chunks_create(&(struct mt_file_chunk_sink){&s, write_chunk});
	if (!s.code || !s.chunks)
		return mt_error_nomem();
	mt_image_set_set_notes(images, s.code);
	err = read_samples(&s);
	mt_image_set_set_notes(images, NULL);
	if (!err && mt_code_notes_failed(s.code))
		err = mt_error_nomem();
	err = err ? err : mt_rewrite_file(path, fd, &how, &s.counts.copied);
	if (err)
		return err;
	*out = s.counts;
	return NULL;
}

void mt_seal_print(const struct mt_seal_counts *counts, const char *tool, const char *path,
		   FILE *to)
{
	const struct mt_seal_counts *c = counts;

	fprintf(to,
		"%s: %s: images, kernels and perf maps: %s added, %s carried before, %s not to be "
		"had; %s bytes became %s\n",
		tool, path, mt_text_count((double)c->added).text,
		mt_text_count((double)c->there).text, mt_text_count((double)c->lacking).text,
		mt_text_count((double)c->copied.read).text,
		mt_text_count((double)c->copied.written).text);
}
