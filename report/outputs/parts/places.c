/*
 * Interns each frame's functions once, and walks each stack once for each caller that it is below:
 * a recording of ten million samples has only a few thousand frames and stacks.
 */
#include "report/outputs/parts/places.h"

#include <stdlib.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "report/stacks/code_class.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/stacks/tree.h"
#include "report/tables/byte_runs.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

/* Places of one frame, innermost first. */
struct frame_places {
	uint32_t first, count; /* in place_ids; count 0: not made yet */
};

struct mt_places {
	struct mt_strings *texts;
	struct mt_byte_runs *places;
	struct mt_tree *tree; /* whose names are ids of places */
	/* Caches for the tables of frames and stacks used last. */
	const struct mt_frames *frames;
	const struct mt_stacks *stacks;
	MT_ARRAY(struct frame_places) by_frame;
	MT_ARRAY(uint32_t) place_ids;
	struct mt_map64 walked; /* caller and stack to node */
};

struct mt_places *mt_places_create(void)
{
	struct mt_places *p = mt_alloc(1, sizeof(*p));

	p->texts = mt_strings_create();
	p->places = mt_byte_runs_create();
	p->tree = mt_tree_create(p->texts);
	return p;
}

void mt_places_destroy(struct mt_places *p)
{
	if (!p)
		return;
	mt_array_deinit(&p->by_frame);
	mt_array_deinit(&p->place_ids);
	mt_map64_deinit(&p->walked);
	mt_tree_destroy(p->tree);
	mt_byte_runs_destroy(p->places);
	mt_strings_destroy(p->texts);
	free(p);
}

uint32_t mt_places_text(struct mt_places *p, const char *text)
{
	return mt_text_intern(p->texts, text);
}

/* ---- Places ---- */

uint32_t mt_place_kinds(const struct mt_frames *frames, uint32_t frame,
			const struct mt_frame_name *name)
{
	uint32_t flags = mt_frames_key(frames, frame)->flags;

	return (flags & MT_FRAME_IN_KERNEL ? MT_PLACE_KERNEL : 0u) |
	       (flags & MT_FRAME_WORDS ? MT_PLACE_WORDS : 0u) |
	       (flags & MT_FRAME_GUESSED ? MT_PLACE_GUESSED : 0u) |
	       (mt_is_made_code(name->dso) ? MT_PLACE_MADE : 0u) |
	       (name->inlined ? MT_PLACE_INLINED : 0u);
}

/* The places of a frame's functions, made on first use. */
static const struct frame_places *places_of(struct mt_places *p, const struct mt_table *table,
					    uint32_t frame)
{
	struct frame_places *made = mt_array_at(&p->by_frame, frame);
	const struct mt_frame_name *names;
	size_t count;

	if (made->count)
		return made;
	names = mt_frames_names(table->frames, frame, &count);
	*made = (struct frame_places){(uint32_t)p->place_ids.count, (uint32_t)count};
	for (size_t i = 0; i < count; i++) {
		const struct mt_stack_place place = {
			.name = mt_places_text(p, mt_strings_get(mt_frames_strings(table->frames),
								 names[i].name)),
			.image = mt_places_text(p, names[i].dso),
			.file = mt_places_text(p, names[i].file ? names[i].file : ""),
			.line = names[i].line,
			.kinds = mt_place_kinds(p->frames, frame, &names[i]),
			.depth = (uint32_t)(count - 1 - i),
		};

		*mt_array_push(&p->place_ids) =
			mt_byte_runs_intern(p->places, &place, sizeof(place));
	}
	return made;
}

/* The same place, marked as joined. */
static uint32_t joined(struct mt_places *p, uint32_t id)
{
	struct mt_stack_place place = *mt_places_get(p, id);

	place.kinds |= MT_PLACE_JOINED;
	return mt_byte_runs_intern(p->places, &place, sizeof(place));
}

/* ---- Paths ---- */

static uint32_t walk(struct mt_places *p, const struct mt_table *table, uint32_t node,
		     uint32_t stack)
{
	size_t depth, own;
	const uint32_t *frames = mt_stacks_get(table->stacks, stack, &depth);

	own = depth - mt_stacks_joined(table->stacks, stack);
	while (depth--) {
		const struct frame_places *places = places_of(p, table, frames[depth]);

		for (uint32_t i = places->count; i--;) {
			uint32_t place = p->place_ids.items[places->first + i];

			node = mt_tree_step(p->tree, node, depth >= own ? joined(p, place) : place);
		}
	}
	return node;
}

/*
 * Clears the caches if frames and stacks are not those used last. All tables except comparisons
 * share the same frames and stacks.
 */
static void set_tables(struct mt_places *p, const struct mt_table *table)
{
	if (p->frames == table->frames && p->stacks == table->stacks)
		return;
	p->by_frame.count = p->place_ids.count = 0;
	mt_map64_deinit(&p->walked);
	p->walked = (struct mt_map64){0};
	p->frames = table->frames;
	p->stacks = table->stacks;
}

uint32_t mt_places_stack(struct mt_places *p, const struct mt_table *table, uint32_t caller,
			 uint32_t stack)
{
	uint64_t key = (uint64_t)caller << 32 | stack, known;

	set_tables(p, table);
	if (!mt_map64_get(&p->walked, key, &known)) {
		known = walk(p, table, caller, stack);
		mt_map64_put(&p->walked, key, known);
	}
	return (uint32_t)known;
}

/* ---- Reading ---- */

size_t mt_places_count(const struct mt_places *p)
{
	return mt_byte_runs_count(p->places);
}

size_t mt_places_text_count(const struct mt_places *p)
{
	return mt_strings_count(p->texts);
}

size_t mt_places_node_count(const struct mt_places *p)
{
	return mt_tree_count(p->tree) - 1;
}

const struct mt_stack_place *mt_places_get(const struct mt_places *p, uint32_t place)
{
	size_t size;

	return mt_byte_runs_get(p->places, place, &size);
}

const char *mt_places_get_text(const struct mt_places *p, uint32_t text)
{
	return mt_strings_get(p->texts, text);
}

struct mt_place_node mt_places_node(const struct mt_places *p, uint32_t node)
{
	const struct mt_tree_node *n = mt_tree_node(p->tree, node);

	return (struct mt_place_node){n->parent, n->name};
}
