/*
 * Interns the strings of both tables in the session of `now`, and their stacks as paths of names;
 * then merges rows with equal keys.
 */
#include "report/sums/comparison.h"

#include <stdint.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "report/session/session.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/sums/sum_table.h"
#include "report/tables/estimate.h"
#include "report/tables/table.h"

MT_DEFINE_CLEANUP(mt_sum_table, struct mt_sum_table)
MT_DEFINE_CLEANUP(mt_paths, struct mt_paths)

enum {
	SIDE_BASE,
	SIDE_NOW,
	SIDES,
	VALUE_CHANGE = SIDES,
	VALUES
};

enum state {
	STATE_SAME,
	STATE_NEW,
	STATE_GONE,
	STATE_GROWN,
	STATE_SHRUNK,
	STATES
};

struct comparison {
	const struct mt_comparison_options *options;
	struct mt_session *session;
	struct mt_key_column columns[MT_GROUPS_COLUMNS];
	size_t from[MT_GROUPS_COLUMNS]; /* indices of the same columns in the table of `now` */
	size_t key_count;
	struct mt_value_column values[VALUES];
	struct mt_sum_table *sums; /* base and now */
	MT_ARRAY(uint32_t) stacks; /* by path of this table: id of the session's stack + 1 */
	MT_ARRAY(struct mt_reported_frame) scratch;
	struct mt_map64 by_names; /* from number_names() to the stack that is shown */
	MT_ARRAY(uint32_t) names;
};

static void comparison_deinit(struct comparison *comparison)
{
	mt_sum_table_destroy(comparison->sums);
	mt_array_deinit(&comparison->stacks);
	mt_array_deinit(&comparison->scratch);
	mt_array_deinit(&comparison->names);
	mt_map64_deinit(&comparison->by_names);
}

/* ---- Keys ---- */

/* A path's names as one number, which is equal if the names are equal on both sides. */
static uint32_t number_names(struct comparison *c, const struct mt_table *table,
			     const uint32_t *names, size_t count)
{
	struct mt_strings *strings = mt_frames_strings(table->frames);

	c->names.count = 0;
	for (size_t i = 0; i < count; i++)
		*mt_array_push(&c->names) = mt_frames_words(mt_session_frames(c->session),
							    mt_strings_get(strings, names[i]));
	return mt_stacks_intern(mt_session_stacks(c->session), c->names.items, count);
}

static struct mt_text text_of(const char *text)
{
	return (struct mt_text){text, strlen(text)};
}

/* Adds the functions of a frame. *names moves from the end to the start of the frame's names. */
static void report_frame(struct comparison *c, const struct mt_table *table, uint32_t frame,
			 const uint32_t **names)
{
	const struct mt_frame_key *key = mt_frames_key(table->frames, frame);
	size_t count = 0;
	const struct mt_frame_name *functions = mt_frames_names(table->frames, frame, &count);

	for (size_t i = 0; i < count; i++) {
		const char *name = mt_strings_get(mt_frames_strings(table->frames), *--*names);
		bool guessed = (key->flags & MT_FRAME_GUESSED) && !strncmp(name, "? ", 2);

		*mt_array_push(&c->scratch) = (struct mt_reported_frame){
			.name = text_of(name + (guessed ? 2 : 0)),
			.dso = text_of(key->flags & MT_FRAME_WORDS ? "" : functions[i].dso),
			.kernel = key->flags & MT_FRAME_IN_KERNEL,
			.guessed = guessed,
			.inlined = functions[i].inlined,
		};
	}
}

/*
 * Converts a stack of the table to one of the session. Its frames keep names, files and kinds, and
 * have no addresses. If several stacks have the same names, the kinds are those of the first.
 */
static uint32_t spell_stack(struct comparison *c, const struct mt_table *table, uint32_t stack,
			    const uint32_t *names, size_t count)
{
	uint32_t number = number_names(c, table, names, count), made;
	uint64_t known;
	size_t depth;
	const uint32_t *frames = mt_stacks_get(table->stacks, stack, &depth);
	const uint32_t *end = names + count;

	if (mt_map64_get(&c->by_names, number, &known))
		return (uint32_t)known;
	c->scratch.count = 0;
	for (size_t i = 0; i < depth; i++)
		report_frame(c, table, frames[i], &end);
	made = mt_session_reported_stack(c->session,
					 &(struct mt_reported_stack){.frames = c->scratch.items,
								     .count = c->scratch.count});
	mt_map64_put(&c->by_names, number, made);
	return made;
}

/* The session's stack for a stack of the table; each path is converted once. */
static uint32_t find_stack(struct comparison *c, const struct mt_table *table,
			   struct mt_paths *paths, uint32_t stack)
{
	uint32_t path = mt_paths_of(paths, stack), *known = mt_array_at(&c->stacks, path);
	size_t count;
	const uint32_t *names;

	if (!*known) {
		names = mt_paths_get(paths, path, &count);
		*known = spell_stack(c, table, stack, names, count) + 1;
	}
	return *known - 1;
}

static void make_keys(struct comparison *c, const struct mt_table *table, struct mt_paths *paths,
		      const struct mt_row *row, uint64_t *keys)
{
	for (size_t i = 0; i < c->key_count; i++) {
		uint64_t key = row->keys[c->from[i]];

		switch (c->columns[i].kind) {
		case MT_KEY_STACK:
			keys[i] = find_stack(c, table, paths, (uint32_t)key);
			break;
		case MT_KEY_STRING:
			keys[i] = mt_strings_add(mt_session_strings(c->session),
						 mt_strings_get(table->strings, (uint32_t)key));
			break;
		default:
			keys[i] = key;
		}
	}
}

/* Chooses the key columns that have the same meaning in both tables. */
static void choose_columns(struct comparison *c, const struct mt_table *now)
{
	for (size_t i = 0; i < now->key_count && c->key_count < MT_GROUPS_COLUMNS - 1; i++) {
		bool task = !strcmp(now->keys[i].name, "pid") || !strcmp(now->keys[i].name, "tid");

		if (task && !c->options->same_recording)
			continue;
		c->columns[c->key_count] = now->keys[i];
		c->from[c->key_count++] = i;
	}
}

/* ---- Rows ---- */

static struct mt_error *take_rows(struct comparison *c, struct mt_table *table, int side,
				  size_t weight)
{
	MT_CLEANUP(mt_paths_destroy_p) struct mt_paths *paths = NULL;
	struct mt_error *err = NULL;
	struct mt_row row;

	c->stacks.count = 0;
	if (mt_table_key_of_kind(table, MT_KEY_STACK) != MT_COLUMN_NONE) {
		paths = mt_paths_create(table->stacks, table->frames, false);
		mt_frames_resolve(table->frames);
	}
	while (mt_table_read(table, &row, &err)) {
		struct mt_value values[SIDES] = {{0}};
		uint64_t keys[MT_GROUPS_COLUMNS];

		values[side] = mt_value_scaled(&row.values[weight],
					       side == SIDE_BASE ? c->options->scale : 1);
		make_keys(c, table, paths, &row, keys);
		mt_sum_table_add(c->sums, keys, values);
	}
	return err;
}

static enum state state_of(const struct mt_value *base, const struct mt_value *now)
{
	double change = now->value - base->value;

	if (!base->value && now->value)
		return STATE_NEW;
	if (base->value && !now->value)
		return STATE_GONE;
	return change >= 0.5 ? STATE_GROWN : change <= -0.5 ? STATE_SHRUNK : STATE_SAME;
}

/* Adds base, now and change, with a word for the change. */
static struct mt_error *add_changes(struct comparison *c, struct mt_sum_table *out)
{
	static const char *const words[STATES] = {
		[STATE_SAME] = "same",	 [STATE_NEW] = "new",	    [STATE_GONE] = "gone",
		[STATE_GROWN] = "grown", [STATE_SHRUNK] = "shrunk",
	};
	struct mt_table *sums = mt_sum_table_table(c->sums);
	struct mt_error *err = NULL;
	struct mt_row row;

	while (mt_table_read(sums, &row, &err)) {
		uint64_t keys[MT_GROUPS_COLUMNS];
		struct mt_value values[VALUES];

		memcpy(values, row.values, SIDES * sizeof(*values));
		mt_value_none_seen(&row.values[SIDE_NOW], &values[SIDE_BASE]);
		mt_value_none_seen(&row.values[SIDE_BASE], &values[SIDE_NOW]);
		values[VALUE_CHANGE] = mt_value_change(&values[SIDE_BASE], &values[SIDE_NOW]);
		keys[0] = mt_strings_add(mt_session_strings(c->session),
					 words[state_of(&values[SIDE_BASE], &values[SIDE_NOW])]);
		memcpy(keys + 1, row.keys, c->key_count * sizeof(*keys));
		mt_sum_table_add(out, keys, values);
	}
	return err;
}

static struct mt_error *finish(struct comparison *c, struct mt_table *shape, struct mt_table **out)
{
	MT_CLEANUP(mt_sum_table_destroy_p) struct mt_sum_table *groups = NULL;
	struct mt_key_column columns[MT_GROUPS_COLUMNS] = {{"state", MT_KEY_STRING}};
	struct mt_error *err;

	memcpy(columns + 1, c->columns, c->key_count * sizeof(*columns));
	shape->keys = columns;
	shape->key_count = c->key_count + 1;
	shape->value_count = VALUES;
	shape->same_doubt = 0;
	shape->compared = true;
	groups = mt_sum_table_create(shape);
	err = add_changes(c, groups);
	if (err)
		return err;
	mt_sum_table_sort(groups, VALUE_CHANGE);
	*out = mt_sum_table_table(MT_TAKE(groups));
	return NULL;
}

struct mt_error *mt_comparison_make(const struct mt_comparison_options *options,
				    struct mt_table *base, struct mt_table *now,
				    struct mt_session *session, struct mt_table **out)
{
	MT_CLEANUP(comparison_deinit)
	struct comparison c = {.options = options, .session = session};
	static const char *const names[VALUES] = {"base", "now", "change"};
	size_t weight;
	struct mt_error *err = mt_table_weight(now, options->weight, &weight);
	struct mt_table shape;

	if (err)
		return err;
	choose_columns(&c, now);
	for (size_t i = 0; i < VALUES; i++)
		c.values[i] = (struct mt_value_column){names[i], now->values[weight].unit};
	shape = (struct mt_table){
		.name = now->name,
		.keys = c.columns,
		.key_count = c.key_count,
		.values = c.values,
		.value_count = SIDES,
		.base_scale = options->scale,
		.same_doubt = now->same_doubt | base->same_doubt ? UINT32_MAX : 0,
		.strings = mt_session_strings(session),
		.stacks = mt_session_stacks(session),
		.frames = mt_session_frames(session),
	};
	c.sums = mt_sum_table_create(&shape);
	err = take_rows(&c, base, SIDE_BASE, weight);
	err = err ? err : take_rows(&c, now, SIDE_NOW, weight);
	return err ? err : finish(&c, &shape, out);
}
