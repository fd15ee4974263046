/*
 * Adds each row at the end of its path, then sums up from the leaves to the root. So equal paths
 * are merged before negative ones are left out, as in --folded.
 */
#include "report/outputs/flame/flame_tree.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/outputs/parts/cells.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/stacks/tree.h"

MT_DEFINE_CLEANUP(mt_paths, struct mt_paths)

enum {
	/* In addition to enum mt_flame_kind: of one path only, and of a frame whose kinds are set.
	 */
	PASSING_JOINED = 128,
	KINDS_KNOWN = 128,
};

struct step {
	uint32_t name;
	uint8_t kinds;
};

struct growing {
	const struct mt_flame_tree_options *options;
	struct mt_table *table;
	struct mt_table shape; /* of the sums, for mt_table_add_values() */
	struct mt_paths *paths;
	struct mt_flame_tree *out;
	MT_ARRAY(struct step) path;
	MT_ARRAY(uint8_t) kinds; /* by frame; 0: not computed yet */
	size_t event, stack, state, time;
	bool has_events; /* several events: their names are part of the path */
};

static void growing_deinit(struct growing *g)
{
	mt_array_deinit(&g->path);
	mt_array_deinit(&g->kinds);
}

/* ---- Paths ---- */

static void push(struct growing *g, uint32_t name, uint8_t kinds)
{
	*mt_array_push(&g->path) = (struct step){name, kinds};
}

static void push_text(struct growing *g, const char *text)
{
	struct mt_strings *names = mt_frames_strings(g->table->frames);

	push(g, mt_strings_intern(names, text, strlen(text)), MT_FLAME_WORDS);
}

static void push_key(struct growing *g, const struct mt_row *row, size_t column)
{
	struct mt_snippet room;

	push_text(g, mt_cell_text(g->table, row, column, &room) ?: "-");
}

static void push_keys(struct growing *g, const struct mt_row *row)
{
	char time[24];

	if (g->options->chart) {
		snprintf(time, sizeof(time), "%020" PRIu64, row->keys[g->time]);
		push_text(g, time);
	}
	if (g->has_events)
		push_key(g, row, g->event);
	for (size_t i = 0; i < g->table->key_count; i++) {
		bool apart = i == g->event || i == g->stack || i == g->state ||
			     (g->options->chart && i == g->time);

		if (!apart)
			push_key(g, row, i);
	}
}

/* Kinds of all functions of a frame. */
static uint8_t kinds_of(const struct growing *g, uint32_t frame, const struct mt_frame_name *name)
{
	uint32_t flags = mt_frames_key(g->table->frames, frame)->flags;

	return (uint8_t)((flags & MT_FRAME_IN_KERNEL ? MT_FLAME_KERNEL : 0) |
			 (flags & MT_FRAME_WORDS ? MT_FLAME_WORDS : 0) |
			 (flags & MT_FRAME_GUESSED ? MT_FLAME_GUESSED : 0) |
			 (mt_is_made_code(name->dso) ? MT_FLAME_MADE : 0));
}

/* Adds the kinds of the path's names from `at` on, which belong to a frame. */
static void mark_frame(struct growing *g, uint32_t frame, bool joined, size_t *at)
{
	size_t count;
	const struct mt_frame_name *name = mt_frames_names(g->table->frames, frame, &count);
	uint8_t *kinds = mt_array_at(&g->kinds, frame);

	if (!*kinds)
		*kinds = KINDS_KNOWN | kinds_of(g, frame, name);
	while (count-- && *at < g->path.count)
		g->path.items[(*at)++].kinds =
			(uint8_t)((*kinds & ~KINDS_KNOWN) |
				  (name[count].inlined ? MT_FLAME_INLINED : 0) |
				  (joined ? PASSING_JOINED : 0));
}

static void push_stack(struct growing *g, uint32_t stack)
{
	size_t at = g->path.count, count, same, depth;
	const uint32_t *names = mt_paths_spell(g->paths, stack, &count, &same);
	const uint32_t *frames = mt_stacks_get(g->table->stacks, stack, &depth);
	size_t own = depth - mt_stacks_joined(g->table->stacks, stack);

	for (size_t i = 0; i < count; i++)
		push(g, names[i], 0);
	while (depth--)
		mark_frame(g, frames[depth], depth >= own, &at);
}

static void reverse(struct growing *g)
{
	for (size_t i = g->options->chart, k = g->path.count; i + 1 < k; i++) {
		struct step first = g->path.items[i];

		g->path.items[i] = g->path.items[--k];
		g->path.items[k] = first;
	}
}

/* ---- Sums ---- */

/* The sums of the node at the end of the path, created if necessary. */
static struct mt_flame_sums *walk_path(struct growing *g, double value)
{
	uint32_t node = 0;

	for (size_t i = 0; i < g->path.count; i++) {
		struct step *step = &g->path.items[i];
		struct mt_flame_sums *sums;

		node = mt_tree_step(g->out->tree, node, step->name);
		sums = mt_array_at(&g->out->sums, node);
		sums->kinds |= (uint8_t)(step->kinds & ~PASSING_JOINED);
		if (step->kinds & PASSING_JOINED && value > 0)
			sums->joined += value;
	}
	return mt_array_at(&g->out->sums, node);
}

static void add_row(struct growing *g, const struct mt_row *row)
{
	const struct mt_value *value = &row->values[g->table->compared ? 1 : g->options->value];
	struct mt_flame_sums *sums;

	g->path.count = 0;
	if (!isfinite(value->value))
		return;
	push_keys(g, row);
	push_stack(g, (uint32_t)row->keys[g->stack]);
	if (g->options->reverse)
		reverse(g);
	sums = walk_path(g, value->value);
	mt_table_add_values(&g->shape, &sums->value, value);
	if (g->table->compared)
		sums->base += row->values[0].value;
}

/* Removes negative figures from the paths that end at a node. */
static void clamp(struct mt_flame_tree *tree, struct mt_flame_sums *sums)
{
	if (sums->value.value < 0)
		tree->below_zero += sums->value.value;
	if (!(sums->value.value > 0))
		sums->value = mt_value_exact(0);
	if (!(sums->base > 0))
		sums->base = 0;
	if (!sums->value.value)
		sums->gone = sums->base;
}

/*
 * A node is created before its children: going from the last to the first completes each one's
 * sums.
 */
static void sum_up(struct growing *g)
{
	struct mt_flame_tree *out = g->out;

	for (size_t i = 0; i < out->sums.count; i++)
		clamp(out, &out->sums.items[i]);
	for (size_t i = out->sums.count; i-- > 1;) {
		const struct mt_flame_sums *from = &out->sums.items[i];
		struct mt_flame_sums *to =
			&out->sums.items[mt_tree_node(out->tree, (uint32_t)i)->parent];

		mt_table_add_values(&g->shape, &to->value, &from->value);
		to->base += from->base;
		to->gone += from->gone;
	}
}

static struct mt_error *grow(struct growing *g)
{
	struct mt_error *err = mt_has_several_events(g->table, &g->has_events);
	struct mt_row row;

	mt_frames_resolve(g->table->frames);
	while (mt_table_read(g->table, &row, &err))
		add_row(g, &row);
	mt_array_at(&g->out->sums, 0);
	sum_up(g);
	/* Without totals in its nodes the tree sorts siblings by name. */
	mt_tree_sort(g->out->tree);
	return err;
}

struct mt_error *mt_flame_tree_make(const struct mt_flame_tree_options *options,
				    struct mt_table *table, struct mt_flame_tree *out)
{
	size_t value = options->value;
	MT_CLEANUP(growing_deinit)
	struct growing g = {
		.options = options,
		.table = table,
		.shape = {.value_count = 1,
			  .same_doubt = table->compared ? 0 : table->same_doubt >> value & 1},
		.out = out,
		.event = mt_table_key(table, "event"),
		.stack = mt_table_key_of_kind(table, MT_KEY_STACK),
		.state = table->compared ? mt_table_key(table, "state") : MT_COLUMN_NONE,
		.time = mt_table_key_of_kind(table, MT_KEY_TIME),
	};
	MT_CLEANUP(mt_paths_destroy_p)
	struct mt_paths *paths = mt_paths_create(table->stacks, table->frames, options->srcline);

	g.paths = paths;
	*out = (struct mt_flame_tree){.tree = mt_tree_create(mt_frames_strings(table->frames))};
	return grow(&g);
}

void mt_flame_tree_deinit(struct mt_flame_tree *tree)
{
	mt_tree_destroy(tree->tree);
	mt_array_deinit(&tree->sums);
}
