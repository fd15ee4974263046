/* Chooses the frame of a stack that represents it, and the text for frames without names. */
#include "report/outputs/parts/headline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "report/stacks/code_class.h"
#include "report/stacks/frames.h"
#include "report/stacks/runtime_functions.h"
#include "report/stacks/stacks.h"
#include "report/tables/byte_runs.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

/* Ranks of frames as the headline, best first. */
enum rank {
	RANK_PROGRAM,
	RANK_LIBRARY,
	RANK_USER,
	RANK_KERNEL,
	RANK_NONE,
};

/* Possible headlines of a stack, innermost first. */
struct candidates {
	MT_ARRAY(struct mt_headline) items;
};

struct choice {
	const struct mt_table *table;
	const char *exe;  /* "" if unknown */
	uint32_t program; /* string id of exe */
	enum rank rank;	  /* of *out */
	struct mt_headline *out;
	struct candidates *all; /* candidates of *out's rank; NULL: not wanted */
};

/*
 * The innermost function of a frame that is not the runtime's, by its name and its source. Skips
 * functions inlined from an unknown source. NULL: none.
 */
static const struct mt_frame_name *own_function(const struct choice *c,
						const struct mt_frame_name *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool inlined = i + 1 < count;

		if (names[i].file ? mt_is_runtime_source(names[i].file) : inlined)
			continue;
		if (!mt_frames_is_runtime(c->table->frames, names[i].name))
			return &names[i];
	}
	return NULL;
}

static bool is_nameless_jit(const struct mt_frame_name *name)
{
	return !name->resolved && mt_is_made_code(name->dso);
}

static void take_headline(struct choice *c, enum rank rank, const struct mt_headline *headline)
{
	if (rank < c->rank) {
		c->rank = rank;
		*c->out = *headline;
		if (c->all)
			c->all->items.count = 0;
	}
	if (c->all && rank == c->rank)
		*mt_array_push(&c->all->items) = *headline;
}

static void take(struct choice *c, enum rank rank, const struct mt_frame_name *name)
{
	const struct mt_headline headline = {name->name, name->dso, name->shown, name->file,
					     name->line};

	take_headline(c, rank, &headline);
}

static void take_jit(struct choice *c, const struct mt_frame_name *name)
{
	const struct mt_headline headline = {
		.name = mt_strings_intern(mt_frames_strings(c->table->frames), MT_MADE_CODE_NAME,
					  strlen(MT_MADE_CODE_NAME)),
		.dso = *c->exe ? c->exe : name->dso,
		.shown = *c->exe ? c->exe : name->shown,
		.file = name->file,
		.line = name->line,
	};

	take_headline(c, RANK_PROGRAM, &headline);
}

/*
 * Takes the functions of a frame that are not the runtime's: the innermost one, or with `all` each.
 */
static void take_own(struct choice *c, enum rank rank, const struct mt_frame_name *own,
		     const struct mt_frame_name *names, size_t count)
{
	for (; own;
	     own = c->all ? own_function(c, own + 1, count - (size_t)(own + 1 - names)) : NULL)
		take(c, rank, own);
}

static void take_frame(struct choice *c, uint32_t frame)
{
	struct mt_frames *frames = c->table->frames;
	uint32_t flags = mt_frames_key(frames, frame)->flags;
	size_t count;
	const struct mt_frame_name *names = mt_frames_names(frames, frame, &count), *own;
	enum mt_code_class class = mt_frames_class(frames, frame, c->exe, c->program);

	if (class == MT_CODE_PROGRAM && is_nameless_jit(names)) {
		if (!(flags & MT_FRAME_GUESSED))
			take_jit(c, names);
		return;
	}
	own = class == MT_CODE_OURS ? names : own_function(c, names, count);
	if (own && (class == MT_CODE_OURS || class == MT_CODE_PROGRAM))
		take_own(c, RANK_PROGRAM, own, names, count);
	else if (own && class == MT_CODE_LIBRARY)
		take_own(c, RANK_LIBRARY, own, names, count);
	else
		take(c, flags & MT_FRAME_IN_KERNEL ? RANK_KERNEL : RANK_USER, &names[count - 1]);
}

/* Chooses the headline. With `all`, also lists candidates of the program or of libraries. */
static struct mt_headline choose(const struct mt_table *table, uint32_t stack,
				 struct candidates *all)
{
	struct mt_headline out = {.name = MT_STRING_NONE};
	size_t depth;
	const uint32_t *ids = mt_stacks_get(table->stacks, stack, &depth);
	uint32_t program = mt_stacks_program(table->stacks, stack);
	struct choice choice = {.table = table,
				.exe = mt_strings_get(table->strings, program),
				.program = program,
				.rank = RANK_NONE,
				.out = &out,
				.all = all};

	for (size_t i = 0; i < depth && (all || choice.rank != RANK_PROGRAM); i++)
		take_frame(&choice, ids[i]);
	if (all && choice.rank > RANK_LIBRARY)
		all->items.count = 0;
	return out;
}

struct mt_headline mt_headline_of(const struct mt_table *table, uint32_t stack)
{
	return choose(table, stack, NULL);
}

/* ---- Several stacks ---- */

enum {
	SAME_PATH = 2, /* a headline and its caller: a shorter chain may be a cut stack */
};

/* The candidate names of a stack, innermost first. */
struct chain {
	const uint32_t *names;
	size_t count;
};

/* For each headline, how many of its stacks contain a function. */
struct sharing {
	struct mt_byte_runs *seen; /* the chains of stacks: each counts once */
	MT_ARRAY(struct chain) chains;
	struct mt_map64 of_functions; /* shared_key(): number of chains, and last chain counted */
};

static uint64_t shared_key(uint32_t innermost, uint32_t name)
{
	return (uint64_t)innermost << 32 | name;
}

static void add_chain(struct sharing *sharing, const struct candidates *all)
{
	size_t known = mt_byte_runs_count(sharing->seen), count = all->items.count;
	MT_CLEANUP_FREE uint32_t *names = mt_alloc(count, sizeof(*names));
	uint32_t id;

	for (size_t i = 0; i < count; i++)
		names[i] = all->items.items[i].name;
	id = mt_byte_runs_intern(sharing->seen, names, count * sizeof(*names));
	if (id == known)
		*mt_array_push(&sharing->chains) = (struct chain){
			mt_byte_runs_get(sharing->seen, id, &count), all->items.count};
}

/* Orders a chain right before the chains that continue it. */
static int compare_chains(const void *a, const void *b)
{
	const struct chain *x = a, *y = b;

	for (size_t i = 0; i < x->count && i < y->count; i++) {
		if (x->names[i] != y->names[i])
			return x->names[i] < y->names[i] ? -1 : 1;
	}
	return x->count < y->count ? -1 : x->count > y->count;
}

/*
 * True if `next` has the same path, but longer: `chain` was cut short, or it is from a thread and
 * `next` from main. They count as one.
 */
static bool is_continued(const struct chain *chain, const struct chain *next)
{
	return chain->count >= SAME_PATH && chain->count < next->count &&
	       !memcmp(chain->names, next->names, chain->count * sizeof(*chain->names));
}

static void count_chain(struct sharing *sharing, const struct chain *chain, uint32_t number)
{
	for (size_t i = 0; i < chain->count; i++) {
		uint64_t key = shared_key(chain->names[0], chain->names[i]), had = 0;
		bool has = mt_map64_get(&sharing->of_functions, key, &had);

		if (!has || (uint32_t)had != number) /* not yet counted in this chain */
			mt_map64_put(&sharing->of_functions, key, ((had >> 32) + 1) << 32 | number);
	}
}

static void count_sharing(struct sharing *sharing)
{
	const struct chain *chains = sharing->chains.items;
	size_t count = sharing->chains.count;

	if (count)
		qsort(sharing->chains.items, count, sizeof(*chains), compare_chains);
	for (size_t i = 0; i < count; i++) {
		if (i + 1 == count || !is_continued(&chains[i], &chains[i + 1]))
			count_chain(sharing, &chains[i], (uint32_t)i);
	}
}

static void choose_among(const struct sharing *sharing, const struct candidates *all,
			 struct mt_headline *out)
{
	uint64_t least = UINT64_MAX, count;

	for (size_t i = 0; i < all->items.count; i++) {
		if (!mt_map64_get(&sharing->of_functions,
				  shared_key(all->items.items[0].name, all->items.items[i].name),
				  &count) ||
		    count >> 32 >= least)
			continue;
		least = count >> 32;
		*out = all->items.items[i];
	}
}

void mt_headlines_of(const struct mt_table *table, const uint32_t *stacks, size_t count,
		     struct mt_headline *out)
{
	struct sharing sharing = {.seen = mt_byte_runs_create()};
	struct candidates all = {0};

	for (size_t i = 0; i < count; i++, all.items.count = 0) {
		choose(table, stacks[i], &all);
		add_chain(&sharing, &all);
	}
	count_sharing(&sharing);
	for (size_t i = 0; i < count; i++, all.items.count = 0) {
		out[i] = choose(table, stacks[i], &all);
		choose_among(&sharing, &all, &out[i]);
	}
	mt_array_deinit(&all.items);
	mt_array_deinit(&sharing.chains);
	mt_byte_runs_destroy(sharing.seen);
	mt_map64_deinit(&sharing.of_functions);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void mt_headline_place(const char *dso, const char *file, uint32_t line, size_t room, char out[80])
{
	static const size_t widths[] = {20, 12, 0}; /* bytes of the image's name */
	char where[44], source[24] = "", number[16] = "";

	if (file)
		mt_text_fit(last_part(file), 16, source, sizeof(source));
	if (file && line)
		snprintf(number, sizeof(number), ":%u", line);
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths) && (widths[i] || file); i++) {
		mt_text_fit(last_part(dso), widths[i], where, sizeof(where));
		snprintf(out, 80, "(%s%s%s%s)", where, *where && file ? ", " : "", source, number);
		if (mt_text_columns(out) <= room)
			return;
	}
}

/* The name of a run of nameless JIT code: "JIT code x3". */
static uint32_t jit_run(struct mt_strings *strings, size_t length)
{
	char text[40];

	if (length == 1)
		snprintf(text, sizeof(text), MT_MADE_CODE_NAME);
	else
		snprintf(text, sizeof(text), MT_MADE_CODE_NAME " x%zu", length);
	return mt_strings_intern(strings, text, strlen(text));
}

void mt_headline_fold_nameless(const struct mt_table *table, const uint32_t *names, uint32_t *room,
			       size_t *count)
{
	struct mt_strings *strings = mt_frames_strings(table->frames);
	size_t kept = 0, run = 0;

	for (size_t i = 0; i < *count; i++) {
		const char *name = mt_strings_get(strings, names[i]);

		run = mt_is_made_code_name(name) ? run + 1 : 0;
		if (!run && *name == '[' && i && names[i] == names[i - 1])
			continue;
		kept += run < 2;
		room[kept - 1] = run ? jit_run(strings, run) : names[i];
	}
	*count = kept;
}
