/*
 * Interns each frame once and each stack once per table of stacks: a recording of ten million
 * samples has some thousand of each.
 */
#include "report/outputs/html/page_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/strings.h"
#include "report/outputs/html/page_data.h"
#include "report/stacks/code_class.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/stacks/tree.h"
#include "report/tables/byte_runs.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

/* Bits of place.kinds; model.js has the same. */
enum {
	PLACE_INLINED = 1, /* into its caller */
	PLACE_KERNEL = 2,
	PLACE_MADE = 4,	 /* JIT code */
	PLACE_WORDS = 8, /* no code but a text */
	PLACE_GUESSED = 16,
	PLACE_JOINED = 32, /* it comes from other stacks of the thread */
};

/* Ids of texts, a line, and kinds. */
struct place {
	uint32_t name, image, file, line, kinds;
};

/* Places of one frame, innermost first. */
struct frame_places {
	uint32_t first, count; /* in place_ids; count 0: not made yet */
};

struct mt_page_stacks {
	struct mt_strings *texts;
	struct mt_byte_runs *places;
	struct mt_tree *tree; /* whose names are ids of places */
	/* Of the tables of frames and stacks seen last. */
	const struct mt_frames *frames;
	const struct mt_stacks *stacks;
	MT_ARRAY(struct frame_places) by_frame;
	MT_ARRAY(uint32_t) place_ids;
	MT_ARRAY(uint32_t) nodes; /* by stack; MT_PAGE_NONE: not made yet */
};

struct mt_page_stacks *mt_page_stacks_create(void)
{
	struct mt_page_stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->texts = mt_strings_create();
	s->places = mt_byte_runs_create();
	s->tree = s->texts ? mt_tree_create(s->texts) : NULL;
	if (s->places && s->tree)
		return s;
	mt_page_stacks_destroy(s);
	return NULL;
}

void mt_page_stacks_destroy(struct mt_page_stacks *s)
{
	if (!s)
		return;
	mt_array_deinit(&s->by_frame);
	mt_array_deinit(&s->place_ids);
	mt_array_deinit(&s->nodes);
	mt_tree_destroy(s->tree);
	mt_byte_runs_destroy(s->places);
	mt_strings_destroy(s->texts);
	free(s);
}

uint32_t mt_page_stacks_text(struct mt_page_stacks *s, const char *text)
{
	MT_CLEANUP_FREE char *clean = malloc(strlen(text) + 1);
	size_t used = 0, size;

	while (clean && *text) {
		const char *character = mt_text_take(&text, &size);

		memcpy(clean + used, character, size);
		used += size;
	}
	return clean ? mt_strings_intern(s->texts, clean, used) : MT_PAGE_NONE;
}

/* ---- Places ---- */

static uint32_t kinds_of(const struct mt_page_stacks *s, uint32_t frame,
			 const struct mt_frame_name *name)
{
	uint32_t flags = mt_frames_key(s->frames, frame)->flags;

	return (flags & MT_FRAME_IN_KERNEL ? PLACE_KERNEL : 0u) |
	       (flags & MT_FRAME_WORDS ? PLACE_WORDS : 0u) |
	       (flags & MT_FRAME_GUESSED ? PLACE_GUESSED : 0u) |
	       (mt_is_made_code(name->dso) ? PLACE_MADE : 0u) |
	       (name->inlined ? PLACE_INLINED : 0u);
}

static bool add_place(struct mt_page_stacks *s, const struct mt_table *table, uint32_t frame,
		      const struct mt_frame_name *name)
{
	struct place place = {
		.name = mt_page_stacks_text(s, mt_strings_get(mt_frames_strings(table->frames),
							      name->name)),
		.image = mt_page_stacks_text(s, name->dso),
		.file = name->file ? mt_page_stacks_text(s, name->file) : 0,
		.line = name->line,
		.kinds = kinds_of(s, frame, name),
	};
	uint32_t *slot = mt_array_push(&s->place_ids);

	if (!slot || place.name == MT_PAGE_NONE || place.image == MT_PAGE_NONE ||
	    place.file == MT_PAGE_NONE)
		return false;
	*slot = mt_byte_runs_intern(s->places, &place, sizeof(place));
	return *slot != MT_SEQUENCE_NONE;
}

static const struct frame_places *places_of(struct mt_page_stacks *s, const struct mt_table *table,
					    uint32_t frame)
{
	const struct mt_frame_name *names;
	struct frame_places made;
	size_t count;

	if (frame < s->by_frame.count && s->by_frame.items[frame].count)
		return &s->by_frame.items[frame];
	if (!mt_array_reserve(&s->by_frame, (size_t)frame + 1))
		return NULL;
	while (s->by_frame.count <= frame)
		s->by_frame.items[s->by_frame.count++] = (struct frame_places){0};
	names = mt_frames_names(table->frames, frame, &count);
	made = (struct frame_places){(uint32_t)s->place_ids.count, (uint32_t)count};
	for (size_t i = 0; names && i < count; i++) {
		if (!add_place(s, table, frame, &names[i]))
			return NULL;
	}
	s->by_frame.items[frame] = made;
	return names ? &s->by_frame.items[frame] : NULL;
}

/* The same place, marked as joined; MT_SEQUENCE_NONE out of memory. */
static uint32_t joined(struct mt_page_stacks *s, uint32_t id)
{
	size_t size;
	struct place place = *(const struct place *)mt_byte_runs_get(s->places, id, &size);

	place.kinds |= PLACE_JOINED;
	return mt_byte_runs_intern(s->places, &place, sizeof(place));
}

/* ---- Paths ---- */

static uint32_t walk(struct mt_page_stacks *s, const struct mt_table *table, uint32_t stack)
{
	size_t depth, own;
	const uint32_t *frames = mt_stacks_get(table->stacks, stack, &depth);
	uint32_t node = 0;

	own = depth - mt_stacks_joined(table->stacks, stack);
	while (depth--) {
		const struct frame_places *places = places_of(s, table, frames[depth]);

		for (uint32_t i = places ? places->count : 0; i--;) {
			uint32_t place = s->place_ids.items[places->first + i];

			place = depth >= own ? joined(s, place) : place;
			node = place == MT_SEQUENCE_NONE ? MT_TREE_NONE
							 : mt_tree_step(s->tree, node, place);
			if (node == MT_TREE_NONE)
				return MT_PAGE_NONE;
		}
		if (!places)
			return MT_PAGE_NONE;
	}
	return node;
}

/* Ids are those of one table of frames and one of stacks, which all but comparisons share. */
static void set_tables(struct mt_page_stacks *s, const struct mt_table *table)
{
	if (s->frames == table->frames && s->stacks == table->stacks)
		return;
	s->by_frame.count = s->place_ids.count = s->nodes.count = 0;
	s->frames = table->frames;
	s->stacks = table->stacks;
}

uint32_t mt_page_stacks_node(struct mt_page_stacks *s, const struct mt_table *table, uint32_t stack)
{
	set_tables(s, table);
	if (stack < s->nodes.count && s->nodes.items[stack] != MT_PAGE_NONE)
		return s->nodes.items[stack];
	if (!mt_array_reserve(&s->nodes, (size_t)stack + 1))
		return MT_PAGE_NONE;
	while (s->nodes.count <= stack)
		s->nodes.items[s->nodes.count++] = MT_PAGE_NONE;
	s->nodes.items[stack] = walk(s, table, stack);
	return s->nodes.items[stack];
}

/* ---- Writing ---- */

const char *mt_page_stacks_get(const struct mt_page_stacks *s, uint32_t text)
{
	return mt_strings_get(s->texts, text);
}

bool mt_page_stacks_line(const struct mt_page_stacks *s, size_t i, uint32_t *file, uint32_t *line)
{
	const struct place *place;
	size_t size;

	if (i >= mt_byte_runs_count(s->places))
		return false;
	place = mt_byte_runs_get(s->places, (uint32_t)i, &size);
	*file = place->file;
	*line = place->line;
	return true;
}

static void write_texts(const struct mt_page_stacks *s, struct mt_page_data *data)
{
	size_t count = mt_strings_count(s->texts);

	mt_page_data_column(data, "texts", count);
	for (uint32_t i = 0; i < count; i++)
		mt_page_data_text(data, mt_strings_get(s->texts, i));
}

/* One field of all places as a column. */
static void write_field(const struct mt_page_stacks *s, const char *name, size_t offset,
			struct mt_page_data *data)
{
	size_t count = mt_byte_runs_count(s->places), size;

	mt_page_data_column(data, name, count);
	for (uint32_t i = 0; i < count; i++) {
		const char *place = mt_byte_runs_get(s->places, i, &size);

		mt_page_data_number(data, *(const uint32_t *)(place + offset));
	}
}

/* A node comes behind its parent, mostly at once: what is stored is how far. */
static void write_nodes(const struct mt_page_stacks *s, struct mt_page_data *data, size_t count)
{
	mt_page_data_column(data, "parent", count);
	for (uint32_t i = 1; i <= count; i++)
		mt_page_data_number(data, i - mt_tree_node(s->tree, i)->parent);
	fputc(',', mt_page_data_json(data));
	mt_page_data_column(data, "place", count);
	for (uint32_t i = 1; i <= count; i++)
		mt_page_data_number(data, mt_tree_node(s->tree, i)->name);
}

void mt_page_stacks_write(const struct mt_page_stacks *s, struct mt_page_data *data)
{
	static const struct {
		const char *name;
		size_t offset;
	} fields[] = {
		{"name", offsetof(struct place, name)},	  {"image", offsetof(struct place, image)},
		{"file", offsetof(struct place, file)},	  {"line", offsetof(struct place, line)},
		{"kinds", offsetof(struct place, kinds)},
	};
	FILE *json = mt_page_data_json(data);

	write_texts(s, data);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		fputc(',', json);
		write_field(s, fields[i].name, fields[i].offset, data);
	}
	fputc(',', json);
	write_nodes(s, data, mt_tree_count(s->tree) - 1);
}
