/*
 * --branches: three rows of totals, then each pair of branch source and target and each straight
 * range between two consecutive branches, most frequent first.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "formats/records/sample.h"
#include "formats/records/sample_type.h"
#include "report/analyses/analyses.h"
#include "report/session/session.h"
#include "report/stacks/frames.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"

static const struct mt_value_column value_columns[] = {
	{"count", ""},
	{"mispredicted", "branches"},
	{"cycles", "cycles"},
};

enum {
	VALUES = sizeof(value_columns) / sizeof(value_columns[0]),
};

enum {
	KEY_WHAT,
	KEY_FROM,
	KEY_TO,
	KEY_IMAGE,
	KEY_SYMBOLS,
	KEYS
};

static const struct mt_key_column key_columns[KEYS] = {
	[KEY_WHAT] = {"what", MT_KEY_STRING},	    [KEY_FROM] = {"from", MT_KEY_ADDRESS},
	[KEY_TO] = {"to", MT_KEY_ADDRESS},	    [KEY_IMAGE] = {"image", MT_KEY_STRING},
	[KEY_SYMBOLS] = {"symbols", MT_KEY_STRING},
};

/* A pair of places, of a kind. */
struct pair {
	uint32_t from, to; /* frames */
	bool range;
	uint64_t count, mispredicted;
	uint64_t cycles; /* from the branch before to this one; of a range, in it */
};

struct counts {
	struct mt_session *session;
	uint64_t branches, mispredicted, cycles, samples, empty;
	MT_ARRAY(struct pair) pairs;
	struct mt_map64 of[2]; /* index in pairs by from and to; [1] of ranges */
};

static bool count_pair(struct counts *counts, uint32_t from, uint32_t to, bool range,
		       bool mispredicted, uint64_t cycles)
{
	uint64_t key = (uint64_t)from << 32 | to, at = counts->pairs.count;
	struct pair *pair;

	if (!mt_map64_get(&counts->of[range], key, &at)) {
		pair = mt_array_push(&counts->pairs);
		if (!pair || !mt_map64_put(&counts->of[range], key, at))
			return false;
		*pair = (struct pair){.from = from, .to = to, .range = range};
	}
	pair = &counts->pairs.items[at];
	pair->count++;
	pair->mispredicted += mispredicted;
	pair->cycles += cycles;
	return true;
}

static bool same_image(struct counts *counts, uint32_t a, uint32_t b)
{
	struct mt_frames *frames = mt_session_frames(counts->session);

	return mt_frames_key(frames, a)->image == mt_frames_key(frames, b)->image;
}

/* Records that the hardware left blank are of no image: nothing ran from 0 to 0. */
static bool is_range(struct counts *counts, uint32_t from, uint32_t to)
{
	struct mt_frames *frames = mt_session_frames(counts->session);

	return same_image(counts, from, to) &&
	       mt_frames_key(frames, from)->image != MT_FRAME_NO_IMAGE;
}

static uint64_t cycles_of(const struct mt_branch *branch)
{
	return branch->flags >> MT_BRANCH_FLAGS_CYCLES & UINT16_MAX;
}

/*
 * Newest first: what ran between the target of an older entry and the source of the next one is a
 * range. One that ends before it begins, or elsewhere, was interrupted.
 */
static bool count_entries(struct counts *counts, const struct mt_session_sample *sample)
{
	const struct mt_branch *branches = sample->kernel->branches;
	uint32_t newer = MT_FRAME_NONE; /* the source of the entry before */

	for (size_t i = 0; i < sample->kernel->branch_count; i++) {
		uint32_t from = mt_session_place(counts->session, sample, branches[i].from);
		uint32_t to = mt_session_place(counts->session, sample, branches[i].to);
		bool mispredicted = branches[i].flags & MT_BRANCH_FLAGS_MISPREDICTED;

		if (from == MT_FRAME_NONE || to == MT_FRAME_NONE ||
		    !count_pair(counts, from, to, false, mispredicted, cycles_of(&branches[i])))
			return false;
		counts->mispredicted += mispredicted;
		counts->cycles += cycles_of(&branches[i]);
		if (i && branches[i - 1].from >= branches[i].to && is_range(counts, to, newer) &&
		    !count_pair(counts, to, newer, true, false, cycles_of(&branches[i - 1])))
			return false;
		newer = from;
	}
	counts->branches += sample->kernel->branch_count;
	counts->empty += !sample->kernel->branch_count;
	return true;
}

static struct mt_error *count_samples(struct counts *counts)
{
	struct mt_session_sample sample;
	bool more;

	for (;;) {
		struct mt_error *err = mt_session_next(counts->session, &sample, &more);

		if (err || !more)
			return err;
		if (!sample.kernel->has_branches)
			continue;
		counts->samples++;
		if (!count_entries(counts, &sample))
			return mt_error_nomem();
	}
}

/* ---- The table ---- */

struct branch_table {
	struct mt_table table; /* first: ops get a pointer to it */
	struct counts counts;
	size_t at;
	uint64_t keys[KEYS];
	struct mt_value values[VALUES];
};

static struct mt_error *rewind_table(struct mt_table *table)
{
	((struct branch_table *)table)->at = 0;
	return NULL;
}

static bool put_word(struct branch_table *t, int key, const char *word)
{
	t->keys[key] = mt_strings_intern(t->table.strings, word, strlen(word));
	return t->keys[key] != MT_STRING_NONE;
}

/* The function that a place is in, not one inlined there. */
static const struct mt_frame_name *name_of(struct branch_table *t, uint32_t frame)
{
	size_t count;
	const struct mt_frame_name *names = mt_frames_names(t->table.frames, frame, &count);

	return names ? &names[count - 1] : NULL;
}

static const char *symbol_of(struct branch_table *t, const struct mt_frame_name *name)
{
	return mt_strings_get(mt_frames_strings(t->table.frames), name->name);
}

/* "main", "main -> run"; where the target is in another image, "main -> libc.so.6 malloc". */
static bool put_places(struct branch_table *t, const struct pair *pair)
{
	const struct mt_frame_name *from = name_of(t, pair->from), *to = name_of(t, pair->to);
	bool same = same_image(&t->counts, pair->from, pair->to), good;
	char *text;
	int length;

	if (!from || !to)
		return false;
	if (same && from->name == to->name)
		length = asprintf(&text, "%s", symbol_of(t, from));
	else
		length = asprintf(&text, "%s -> %s%s%s", symbol_of(t, from), same ? "" : to->dso,
				  same ? "" : " ", symbol_of(t, to));
	if (length < 0)
		return false;
	good = put_word(t, KEY_IMAGE, from->dso) && put_word(t, KEY_SYMBOLS, text);
	free(text);
	return good;
}

static bool put_pair(struct branch_table *t, const struct pair *pair)
{
	t->keys[KEY_FROM] = mt_frames_key(t->table.frames, pair->from)->offset;
	t->keys[KEY_TO] = mt_frames_key(t->table.frames, pair->to)->offset;
	t->values[0] = mt_value_exact((double)pair->count);
	t->values[1] = mt_value_exact((double)pair->mispredicted);
	t->values[2] = mt_value_exact((double)pair->cycles);
	return put_word(t, KEY_WHAT, pair->range ? "range" : "branch") && put_places(t, pair);
}

static bool put_total(struct branch_table *t, size_t i)
{
	const struct counts *c = &t->counts;
	const struct {
		const char *what;
		uint64_t count, mispredicted, cycles;
	} totals[] = {
		{"branches", c->branches, c->mispredicted, c->cycles},
		{"samples", c->samples, 0, 0},
		{"empty", c->empty, 0, 0},
	};

	t->values[0] = mt_value_exact((double)totals[i].count);
	t->values[1] = mt_value_exact((double)totals[i].mispredicted);
	t->values[2] = mt_value_exact((double)totals[i].cycles);
	t->keys[KEY_FROM] = t->keys[KEY_TO] = 0;
	return put_word(t, KEY_WHAT, totals[i].what) && put_word(t, KEY_IMAGE, "") &&
	       put_word(t, KEY_SYMBOLS, "");
}

enum {
	TOTALS = 3,
};

static struct mt_error *next_row(struct mt_table *table, struct mt_row *out, bool *more)
{
	struct branch_table *t = (struct branch_table *)table;
	bool good;

	*more = t->at < TOTALS + t->counts.pairs.count;
	if (!*more)
		return NULL;
	good = t->at < TOTALS ? put_total(t, t->at)
			      : put_pair(t, &t->counts.pairs.items[t->at - TOTALS]);
	t->at++;
	*out = (struct mt_row){.keys = t->keys, .values = t->values};
	return good ? NULL : mt_error_nomem();
}

static void destroy_table(struct mt_table *table)
{
	struct branch_table *t = (struct branch_table *)table;

	mt_array_deinit(&t->counts.pairs);
	mt_map64_deinit(&t->counts.of[0]);
	mt_map64_deinit(&t->counts.of[1]);
	free(t);
}

static const struct mt_table_ops table_ops = {
	.rewind = rewind_table,
	.next = next_row,
	.destroy = destroy_table,
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Most frequent first; then branches before ranges, by image and offsets. */
static int compare_pairs(const void *a, const void *b, void *frames)
{
	const struct pair *x = a, *y = b;
	const struct mt_frame_key *from_x = mt_frames_key(frames, x->from),
				  *from_y = mt_frames_key(frames, y->from);
	int order = compare_numbers(y->count, x->count);

	order = order ? order : x->range - y->range;
	order = order ? order : compare_numbers(from_x->image, from_y->image);
	order = order ? order : compare_numbers(from_x->offset, from_y->offset);
	return order ? order
		     : compare_numbers(mt_frames_key(frames, x->to)->offset,
				       mt_frames_key(frames, y->to)->offset);
}

MT_DEFINE_CLEANUP(mt_table, struct mt_table)

static struct mt_error *run(struct mt_session *session, const struct mt_analysis_request *request,
			    struct mt_table **out)
{
	struct branch_table *t = calloc(1, sizeof(*t));
	MT_CLEANUP(mt_table_destroy_p) struct mt_table *table = t ? &t->table : NULL;
	struct mt_error *err;

	(void)request;
	if (!t)
		return mt_error_nomem();
	t->table = (struct mt_table){
		.ops = &table_ops,
		.name = mt_analysis_branches.name,
		.keys = key_columns,
		.key_count = KEYS,
		.values = value_columns,
		.value_count = VALUES,
		.strings = mt_session_strings(session),
		.frames = mt_session_frames(session),
	};
	t->counts.session = session;
	err = count_samples(&t->counts);
	if (!err && mt_session_facts(session)->selected && !t->counts.samples)
		err = mt_error_hint(mt_error_create(MT_ERR_NOT_FOUND,
						    "--branches: no sample has branch records"),
				    "mtrec -b -e cycles records them, and perf record -b");
	err = err ? err : mt_frames_resolve(t->table.frames);
	if (err)
		return err;
	if (t->counts.pairs.count)
		qsort_r(t->counts.pairs.items, t->counts.pairs.count, sizeof(struct pair),
			compare_pairs, t->table.frames);
	*out = MT_TAKE(table);
	return NULL;
}

const struct mt_analysis mt_analysis_branches = {
	.name = "branches",
	.help = "branch pairs, straight ranges, mispredictions",
	.rare = true,
	.groups = true,
	.places = true,
	.output = "branch-lines",
	.run = run,
};
