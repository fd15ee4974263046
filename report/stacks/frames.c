/* Interns frames and caches their names, for which the namer is called on first use. */
#include "report/stacks/frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "report/stacks/runtime_functions.h"
#include "report/tables/byte_runs.h"
#include "symbols/names/symbolize.h"
#include "symbols/tables/address_sort.h"

/* The names of a frame, one for each function. */
struct named {
	struct mt_frame_name *names; /* NULL: not yet named */
	size_t count;
};

enum {
	BLOCK_NAMES = 512,
};

enum answer {
	ANSWER_UNKNOWN,
	ANSWER_NO,
	ANSWER_YES,
};

struct mt_frames {
	struct mt_namer namer;
	struct mt_byte_runs *keys; /* keys of frames, by id */
	struct mt_strings *strings;
	MT_ARRAY(struct named) names;		 /* by id */
	MT_ARRAY(struct mt_frame_name *) blocks; /* the blocks that `names` point into */
	size_t block_size, block_left;		 /* of the last block */
	uint32_t last_name;  /* id of the name interned last, or MT_STRING_NONE */
	size_t unnamed_from; /* every id below is named */
	struct mt_frame_owner owner;
	struct mt_map64 classes;   /* image and program to enum mt_code_class */
	MT_ARRAY(uint8_t) runtime; /* by id of a name: enum answer */
};

struct mt_frames *mt_frames_create(const struct mt_namer *namer)
{
	struct mt_frames *frames = mt_alloc(1, sizeof(*frames));

	frames->namer = *namer;
	frames->last_name = MT_STRING_NONE;
	frames->keys = mt_byte_runs_create();
	frames->strings = mt_strings_create();
	return frames;
}

void mt_frames_destroy(struct mt_frames *frames)
{
	if (!frames)
		return;
	for (size_t i = 0; i < frames->blocks.count; i++)
		free(frames->blocks.items[i]);
	mt_array_deinit(&frames->blocks);
	mt_array_deinit(&frames->names);
	mt_map64_deinit(&frames->classes);
	mt_array_deinit(&frames->runtime);
	mt_strings_destroy(frames->strings);
	mt_byte_runs_destroy(frames->keys);
	free(frames);
}

uint32_t mt_frames_intern(struct mt_frames *frames, const struct mt_frame_key *key)
{
	return mt_byte_runs_intern(frames->keys, key, sizeof(*key));
}

uint32_t mt_frames_words(struct mt_frames *frames, const char *words)
{
	uint32_t name = mt_strings_intern(frames->strings, words, strlen(words));
	struct mt_frame_key key = {
		.image = MT_FRAME_NO_IMAGE, .flags = MT_FRAME_WORDS, .offset = name};

	return mt_frames_intern(frames, &key);
}

const struct mt_frame_key *mt_frames_key(const struct mt_frames *frames, uint32_t id)
{
	size_t size;

	return mt_byte_runs_get(frames->keys, id, &size);
}

size_t mt_frames_count(const struct mt_frames *frames)
{
	return mt_byte_runs_count(frames->keys);
}

struct mt_strings *mt_frames_strings(struct mt_frames *frames)
{
	return frames->strings;
}

/* Zeroed room for a number of names. */
static struct mt_frame_name *make_names(struct mt_frames *frames, size_t count)
{
	size_t size = count > BLOCK_NAMES ? count : BLOCK_NAMES;
	struct mt_frame_name *block;

	if (count > frames->block_left) {
		block = mt_alloc(size, sizeof(*block));
		mt_array_append(&frames->blocks, block);
		frames->block_size = frames->block_left = size;
	}
	frames->block_left -= count;
	block = frames->blocks.items[frames->blocks.count - 1];
	return block + frames->block_size - frames->block_left - count;
}

static void name_words(struct mt_frames *frames, uint32_t id)
{
	struct mt_frame_name *name = make_names(frames, 1);

	name->name = (uint32_t)mt_frames_key(frames, id)->offset;
	name->resolved = true;
	name->dso = name->shown = "[unknown]";
	frames->names.items[id] = (struct named){name, 1};
}

/* Interns a function's name, marked if the frame is a guess. Consecutive names are mostly equal. */
static uint32_t intern_name(struct mt_frames *frames, const struct mt_frame_key *key,
			    const char *name)
{
	MT_CLEANUP_FREE char *marked = NULL;
	uint32_t *last = &frames->last_name;

	if (!(key->flags & MT_FRAME_GUESSED)) {
		if (*last == MT_STRING_NONE || strcmp(mt_strings_get(frames->strings, *last), name))
			*last = mt_strings_intern(frames->strings, name, strlen(name));
		return *last;
	}
	marked = mt_format("? %s", name);
	return mt_strings_intern(frames->strings, marked, strlen(marked));
}

/* Names a frame, and stores the names. */
static void name_frame(struct mt_frames *frames, uint32_t id)
{
	const struct mt_frame_key *key = mt_frames_key(frames, id);
	const struct mt_symbol *symbol;
	struct mt_frame_name *names;
	size_t count = 1;

	if (key->flags & MT_FRAME_WORDS) {
		name_words(frames, id);
		return;
	}
	symbol = frames->namer.name(frames->namer.context, key);
	while (symbol[count - 1].inlined)
		count++;
	names = make_names(frames, count);
	for (size_t i = 0; i < count; i++) {
		names[i] = (struct mt_frame_name){
			.name = intern_name(frames, key, symbol[i].name),
			.resolved = symbol[i].resolved,
			.offset = symbol[i].offset,
			.dso = symbol[i].dso,
			.shown = symbol[i].shown ? symbol[i].shown : symbol[i].dso,
			.file = symbol[i].file,
			.line = symbol[i].line,
			.inlined = symbol[i].inlined,
			.go = symbol[i].go,
		};
	}
	frames->names.items[id] = (struct named){names, count};
}

const struct mt_frame_name *mt_frames_names(struct mt_frames *frames, uint32_t id, size_t *count)
{
	if (!mt_array_at(&frames->names, id)->names)
		name_frame(frames, id);
	*count = frames->names.items[id].count;
	return frames->names.items[id].names;
}

const struct mt_frame_name *mt_frames_only_name(const struct mt_frames *frames, uint32_t id)
{
	const struct named *named = id < frames->names.count ? &frames->names.items[id] : NULL;

	return named && named->count == 1 ? named->names : NULL;
}

struct pending {
	struct mt_frame_key key;
	uint32_t id;
};

/* Sorts by image, then by offset; frames of one place by id. */
static void sort_pending(struct pending *pending, size_t count)
{
	MT_CLEANUP_FREE struct mt_addressed *order = mt_alloc(count + 1, sizeof(*order));
	MT_CLEANUP_FREE struct pending *sorted = mt_alloc(count + 1, sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		order[i] = (struct mt_addressed){pending[i].key.offset, (uint32_t)i};
	mt_address_sort(order, count);
	for (size_t i = 0; i < count; i++)
		order[i].address = pending[order[i].index].key.image;
	mt_address_sort(order, count);
	for (size_t i = 0; i < count; i++)
		sorted[i] = pending[order[i].index];
	if (count)
		memcpy(pending, sorted, count * sizeof(*sorted));
}

void mt_frames_resolve(struct mt_frames *frames)
{
	size_t count = mt_frames_count(frames), pending_count = 0, names;
	MT_CLEANUP_FREE struct pending *pending = NULL;

	if (frames->unnamed_from == count)
		return;
	pending = mt_alloc(count - frames->unnamed_from, sizeof(*pending));
	mt_array_at(&frames->names, count - 1);
	for (size_t id = frames->unnamed_from; id < count; id++) {
		if (!frames->names.items[id].names)
			pending[pending_count++] = (struct pending){
				*mt_frames_key(frames, (uint32_t)id), (uint32_t)id};
	}
	sort_pending(pending, pending_count);
	for (size_t i = 0; i < pending_count; i++)
		mt_frames_names(frames, pending[i].id, &names);
	frames->unnamed_from = count;
}

bool mt_frames_is_runtime(struct mt_frames *frames, uint32_t name)
{
	const char *text = mt_strings_get(frames->strings, name);
	uint8_t *answer = mt_array_at(&frames->runtime, name);

	if (*answer == ANSWER_UNKNOWN)
		*answer = mt_is_runtime_function(text) ? ANSWER_YES : ANSWER_NO;
	return *answer == ANSWER_YES;
}

void mt_frames_set_owner(struct mt_frames *frames, const struct mt_frame_owner *owner)
{
	frames->owner = *owner;
}

enum mt_code_class mt_frames_class(struct mt_frames *frames, uint32_t id, const char *exe,
				   uint32_t program)
{
	const struct mt_frame_key *key = mt_frames_key(frames, id);
	enum mt_code_class class = MT_CODE_NONE;
	uint64_t place = (uint64_t)key->image << 32 | program, kept;
	const struct mt_frame_name *name;
	size_t count;

	if (key->image == MT_FRAME_NO_IMAGE || key->flags & (MT_FRAME_IN_KERNEL | MT_FRAME_WORDS))
		return MT_CODE_NONE;
	if (mt_map64_get(&frames->classes, place, &kept))
		return (enum mt_code_class)kept;
	name = mt_frames_names(frames, id, &count);
	if (frames->owner.class_of)
		class = frames->owner.class_of(frames->owner.context, name->dso);
	if (class == MT_CODE_NONE)
		class = mt_code_class_of(name->dso, exe);
	mt_map64_put(&frames->classes, place, class);
	return class;
}
