/* The summary's paths: the memory that they hold, and whether it is a leak. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/headline.h"
#include "report/outputs/parts/top_paths.h"
#include "report/outputs/summary/summary_parts.h"
#include "report/stacks/code_class.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/table.h"
#include "report/verdicts/tierless_paths.h"
#include "report/verdicts/verdict.h"

MT_DEFINE_CLEANUP(mt_memory_paths, struct mt_memory_paths)
MT_DEFINE_CLEANUP(mt_tierless_paths, struct mt_tierless_paths)

enum {
	PATHS_SHOWN = 4,
	VERDICTS_SHOWN = 3,
	INDENT = 13, /* of a path below its figure */
	ROWS_READ = 1000,
	CALLERS = 2, /* callers of the headline that distinguish paths */
};

/* A path that holds less than this part of the heaviest one is not shown. */
#define WORTH_SHOWING 0.02
/* In bytes, as in WHO GREW. While a process only starts, no path touches as much. */
#define LEAST ((double)(1 << 20))
/*
 * A path with a smaller part of its process's memory is not shown, because it does not answer "by
 * which". If no path has as much, the minimum is half of the process's heaviest path.
 */
#define LEAST_PART 0.05
/* Part of a section: if the paths that are not shown hold more in total, they get a line. */
#define OTHERS_PART 0.2
/*
 * Minimum bytes of a path that grows steadily, or rises and falls: within minutes such a path may
 * be large. Like MT_TREND_NOISE, this exceeds what a process takes and gives back all the time.
 */
#define LEAST_COURSE ((double)(256 << 10))

/* Memory held by the paths of one process name. */
struct total {
	double sum, most;
};

struct totals {
	MT_ARRAY(struct total) items;
	struct mt_map64 by_name; /* string id */
};

static void totals_deinit(struct totals *totals)
{
	mt_array_deinit(&totals->items);
	mt_map64_deinit(&totals->by_name);
}

static void add_total(struct totals *totals, uint32_t name, double bytes)
{
	struct total *total;

	if (bytes <= 0)
		return;
	total = mt_map64_element(&totals->by_name, &totals->items, name);
	total->sum += bytes;
	total->most = bytes > total->most ? bytes : total->most;
}

/* The minimum bytes of a path of this process that is shown; 0 with --all. */
static double least_of(const struct mt_summary *s, const struct totals *totals, uint32_t name)
{
	const struct total *total;
	uint64_t at;
	double part;

	if (s->view->all)
		return 0;
	if (!mt_map64_get(&totals->by_name, name, &at))
		return LEAST;
	total = &totals->items.items[at];
	part = LEAST_PART * total->sum;
	part = part < total->most ? part : total->most / 2;
	return part > LEAST ? part : LEAST;
}

/* The text in place of a stack, for memory without a known path. */
static const char *words_of(const struct mt_top_paths *top, const struct mt_top_path *path)
{
	size_t count;
	const uint32_t *names = mt_paths_get(top->paths, path->path, &count);

	return count ? mt_strings_get(mt_frames_strings(top->table->frames), names[0]) : "";
}

/* Explains the origin of memory without a known path. */
static void print_words(const struct mt_summary *s, const struct mt_top_paths *top)
{
	static const struct {
		const char *words, *text;
	} kinds[] = {
		{MT_FRAME_STACKLESS, "by calls that were recorded without a stack"},
		{"[lost]", "by calls whose records were lost"},
		{NULL, "appeared outside the recorded calls (exec, stacks, shared memory)"},
	};
	double sums[sizeof(kinds) / sizeof(kinds[0])] = {0};
	double most = top->items.count ? fabs(top->items.items[0].values[top->weight].value) : 0;

	for (size_t i = 0; i < top->items.count; i++) {
		const struct mt_top_path *path = &top->items.items[i];
		const char *words = path->words ? words_of(top, path) : NULL;
		size_t kind = 0;

		while (words && kinds[kind].words && strcmp(kinds[kind].words, words) != 0)
			kind++;
		if (words)
			sums[kind] += path->values[top->weight].value;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (sums[i] && fabs(sums[i]) >= WORTH_SHOWING * most)
			fprintf(s->to, "  %9s  %s\n", mt_summary_signed(sums[i]).text,
				kinds[i].text);
	}
}

/* A printed path, with the paths that a reader would consider the same. */
struct entry {
	size_t path;  /* the heaviest, an index in struct mt_top_paths */
	uint32_t who; /* string id */
	double bytes;
	size_t name; /* of those shown: an index in struct names */
};

/* Headlines of all rows of the screen, chosen to distinguish them. */
struct names {
	MT_ARRAY(uint32_t) stacks;
	struct mt_headline *headlines;
};

/* Reserves the headline of a row, and returns its index. */
static size_t add_name(struct names *names, uint32_t stack)
{
	*mt_array_push(&names->stacks) = stack;
	return names->stacks.count - 1;
}

/* Entries that grew and are not shown. */
struct others {
	double bytes, most;
	size_t count;
};

struct entries {
	MT_ARRAY(struct entry) items;
	struct totals totals;
	struct mt_map64 by_key; /* string id */
	struct others others;
};

static void entries_deinit(struct entries *entries)
{
	mt_array_deinit(&entries->items);
	totals_deinit(&entries->totals);
	mt_map64_deinit(&entries->by_key);
}

/*
 * Key of paths that are shown as one: process, headline and some callers of the headline, as
 * verdicts judge them.
 */
static uint32_t describe_path(struct mt_table *table, struct mt_tierless_paths *tierless,
			      const struct mt_top_path *path, uint32_t verdict)
{
	size_t count;
	const uint32_t *names = mt_tierless_paths_callers(
		tierless, path->stack, mt_headline_of(table, path->stack).name, CALLERS, &count);
	MT_CLEANUP_FREE uint32_t *key = mt_alloc(count + 2, sizeof(*key));

	key[0] = verdict;
	key[1] = path->who;
	for (size_t i = 0; i < count; i++)
		key[2 + i] = names[i];
	return mt_strings_intern(table->strings, (const char *)key, (count + 2) * sizeof(*key));
}

static void add_entry(struct entries *entries, uint32_t key, const struct entry *added)
{
	size_t known = entries->items.count;
	struct entry *entry = mt_map64_element(&entries->by_key, &entries->items, key);

	if (entries->items.count > known)
		*entry = *added;
	else
		entry->bytes += added->bytes;
}

/* True for memory that the loader touches before main, in a process that did not grow later. */
static bool is_start_up(const struct mt_summary *s, const struct mt_top_paths *top,
			const struct mt_top_path *path)
{
	const char *dso = s->view->all ? NULL : mt_headline_of(top->table, path->stack).dso;

	return dso && mt_is_loader(dso) &&
	       mt_summary_is_flat(s, mt_strings_get(top->table->strings, path->who));
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->path < y->path ? -1 : x->path > y->path;
}

/* Merges paths that only differ below their headline, in the runtime. The heaviest comes first. */
static void sum_alike(const struct mt_summary *s, const struct mt_top_paths *top,
		      struct entries *out)
{
	MT_CLEANUP(mt_tierless_paths_destroy_p)
	struct mt_tierless_paths *tierless =
		mt_tierless_paths_create(top->table->stacks, top->table->frames);

	for (size_t i = 0; i < top->items.count; i++) {
		const struct mt_top_path *path = &top->items.items[i];
		const struct entry entry = {
			.path = i, .who = path->who, .bytes = path->values[top->weight].value};

		if (!path->words && !is_start_up(s, top, path))
			add_entry(out, describe_path(top->table, tierless, path, 0), &entry);
	}
	for (size_t i = 0; i < out->items.count; i++)
		add_total(&out->totals, out->items.items[i].who, out->items.items[i].bytes);
	if (out->items.count)
		qsort(out->items.items, out->items.count, sizeof(*out->items.items),
		      compare_entries);
}

static void print_title(const struct mt_summary *s, const char *title)
{
	fputc('\n', s->to);
	mt_summary_print_heading(s, title);
	fputc('\n', s->to);
}

static void add_other(struct entries *entries, const struct entry *other)
{
	if (other->bytes <= 0)
		return;
	entries->others.bytes += other->bytes;
	entries->others.most = fmax(entries->others.most, other->bytes);
	entries->others.count++;
}

/* Keeps the entries to be shown. */
static void choose_entries(const struct mt_summary *s, const struct mt_top_paths *top,
			   struct entries *entries, struct names *names)
{
	size_t most = s->view->all ? SIZE_MAX : PATHS_SHOWN, shown = 0;
	double heaviest = entries->items.count ? entries->items.items[0].bytes : 0;

	for (size_t i = 0; i < entries->items.count; i++) {
		struct entry *entry = &entries->items.items[i];
		double least = s->view->all ? 0 : WORTH_SHOWING * heaviest;

		if (shown == most || entry->bytes <= 0 || entry->bytes < least ||
		    entry->bytes < least_of(s, &entries->totals, entry->who)) {
			add_other(entries, entry);
			continue;
		}
		entry->name = add_name(names, top->items.items[entry->path].stack);
		entries->items.items[shown++] = *entry;
	}
	entries->items.count = shown;
}

/* Paths of one table. */
struct section {
	const char *title;
	struct mt_top_paths top;
	struct entries entries;
};

static void section_deinit(struct section *section)
{
	mt_top_paths_deinit(&section->top);
	entries_deinit(&section->entries);
}

static struct mt_error *read_section(const struct mt_summary *s, struct mt_table *table,
				     struct section *out, struct names *names)
{
	struct mt_error *err;

	if (!table)
		return NULL;
	err = mt_top_paths_read(table, mt_table_value(table, "bytes"), &out->top);
	sum_alike(s, &out->top, &out->entries);
	choose_entries(s, &out->top, &out->entries, names);
	return err;
}

/* Whether the paths not shown hold so much that the figures above do not answer the question. */
static bool are_worth_a_line(const struct entries *entries)
{
	double shown = 0;

	for (size_t i = 0; i < entries->items.count; i++)
		shown += entries->items.items[i].bytes;
	return entries->others.count && entries->others.bytes >= LEAST &&
	       entries->others.bytes >= OTHERS_PART * (shown + entries->others.bytes);
}

static void print_others(const struct mt_summary *s, const struct entries *entries)
{
	const struct others *others = &entries->others;

	fputs("  ", s->to);
	mt_summary_print_growth(s, others->bytes);
	fprintf(s->to, "  by %s %spath%s, none over %s; --all shows %s\n",
		mt_text_count((double)others->count).text, entries->items.count ? "other " : "",
		others->count == 1 ? "" : "s", mt_text_bytes(others->most).text,
		others->count == 1 ? "it" : "them");
}

static void print_section(const struct mt_summary *s, const struct section *section,
			  const struct names *names)
{
	const struct mt_top_paths *top = &section->top;
	bool none = !section->entries.items.count;

	if (!top->items.count || (none && s->blocks && top->table != s->blocks))
		return;
	print_title(s, section->title);
	for (size_t i = 0; i < section->entries.items.count; i++) {
		const struct entry *entry = &section->entries.items.items[i];
		const struct mt_top_path *path = &top->items.items[entry->path];

		mt_summary_row(s,
			       &(struct mt_summary_row){
				       .process = mt_strings_get(top->table->strings, entry->who),
				       .table = top->table,
				       .stack = path->stack,
				       .name = names->headlines[entry->name].name});
		fputs("  ", s->to);
		mt_summary_print_growth(s, entry->bytes);
		fputs("  ", s->to);
		mt_top_path_print(top, path, &names->headlines[entry->name],
				  s->view->width - INDENT, s->to);
		mt_top_path_print_end(top, path, INDENT, s->view->width, s->to);
	}
	if (are_worth_a_line(&section->entries))
		print_others(s, &section->entries);
	else if (none)
		fprintf(s->to, "        none by %s or more; --all shows them\n",
			mt_text_bytes(LEAST).text);
}

static const char *title_of_pages(const struct mt_summary *s)
{
	static const char *const touched[] = {
		[MT_NONE_ENDED] = "BY WHICH PATH (touched, still held)",
		[MT_SOME_ENDED] = "BY WHICH PATH (touched, still held; of what ended, at its peak)",
		[MT_ALL_ENDED] = "BY WHICH PATH (touched, held at the peak)",
	};
	static const char *const mapped[] = {
		[MT_NONE_ENDED] = "BY WHICH PATH (mapped, still held)",
		[MT_SOME_ENDED] = "BY WHICH PATH (mapped, not unmapped by a call)",
		[MT_ALL_ENDED] = "BY WHICH PATH (mapped, not unmapped by a call)",
	};

	return (s->resident ? touched : mapped)[mt_summary_growers_ended(s)];
}

/* ---- Verdicts ---- */

/*
 * A verdict on one path, merged with the same verdict on this path in other processes of the same
 * name.
 */
struct judged {
	uint32_t text; /* describe_path() */
	bool grows;    /* shown before verdicts on paths that hold more but do not grow */
	bool is_whole; /* of an allocator's memory, which includes the blocks of the other rows */
	double bytes;  /* of all these processes */
	size_t processes;
	size_t name; /* of those shown: an index in struct names */
	/* Of the heaviest row; texts are string ids. */
	uint32_t process, verdict, grounds, stack;
	long pid;
	double per_second;
};

struct judged_list {
	MT_ARRAY(struct judged) items;
	struct mt_top_paths top; /* paths of the table; its items stay empty */
	struct mt_tierless_paths *tierless;
	struct totals totals; /* by process name */
	struct mt_map64 seen; /* text and pid */
};

static void judged_deinit(struct judged_list *list)
{
	mt_array_deinit(&list->items);
	mt_top_paths_deinit(&list->top);
	mt_tierless_paths_destroy(list->tierless);
	totals_deinit(&list->totals);
	mt_map64_deinit(&list->seen);
}

/* The path of the heaviest of several equal rows: process and stack. */
static struct mt_top_path path_of(const struct judged_list *list, const struct judged *judged)
{
	struct mt_strings *strings = list->top.table->strings;
	char who[80];
	int size = snprintf(who, sizeof(who), "%.60s", mt_strings_get(strings, judged->process));

	if (judged->processes > 1)
		size += snprintf(who + size, sizeof(who) - (size_t)size, " x%zu",
				 judged->processes);
	return (struct mt_top_path){
		.who = mt_strings_intern(strings, who, (size_t)size),
		.path = mt_paths_of(list->top.paths, judged->stack),
		.stack = judged->stack,
	};
}

static bool is_verdict(const struct mt_summary *s, const struct judged *judged,
		       enum mt_verdict_kind kind)
{
	return !strcmp(mt_strings_get(s->verdict->strings, judged->verdict), mt_verdict_name(kind));
}

/* Whether the row has no path: its verdict is only shown with --all. */
static bool is_stackless(const struct mt_table *table, uint32_t stack)
{
	size_t depth, count;
	const uint32_t *frames = mt_stacks_get(table->stacks, stack, &depth);
	const struct mt_frame_name *name =
		depth == 1 ? mt_frames_names(table->frames, frames[0], &count) : NULL;

	return name && !strcmp(mt_strings_get(mt_frames_strings(table->frames), name->name),
			       MT_FRAME_STACKLESS);
}

static struct judged judged_of(const struct mt_summary *s, const struct mt_row *row)
{
	const struct mt_table *table = s->verdict;
	struct judged judged = {
		.bytes = mt_table_figure(table, row, "bytes"),
		.process = (uint32_t)row->keys[mt_table_key(table, "process")],
		.verdict = (uint32_t)row->keys[mt_table_key(table, "verdict")],
		.grounds = (uint32_t)row->keys[mt_table_key(table, "rests-on")],
		.stack = (uint32_t)row->keys[mt_table_key_of_kind(table, MT_KEY_STACK)],
		.pid = (long)row->keys[mt_table_key(table, "pid")],
		.per_second = mt_table_figure(table, row, "per-second"),
	};

	judged.grows = is_verdict(s, &judged, MT_VERDICT_LEAK) ||
		       is_verdict(s, &judged, MT_VERDICT_GROWS) ||
		       is_verdict(s, &judged, MT_VERDICT_HEAP);
	judged.is_whole = is_verdict(s, &judged, MT_VERDICT_IN_USE);
	return judged;
}

static void add_judged(const struct mt_summary *s, struct judged judged, struct judged_list *list)
{
	size_t seen = list->seen.count;
	const struct mt_top_path path = path_of(list, &judged);

	judged.text = describe_path(s->verdict, list->tierless, &path, judged.verdict);
	mt_map64_add(&list->seen, (uint64_t)judged.text << 32 | (uint32_t)judged.pid, 0);
	judged.processes = list->seen.count - seen;
	for (size_t i = 0; i < list->items.count; i++) {
		struct judged *slot = &list->items.items[i];

		if (slot->text == judged.text) {
			slot->bytes += judged.bytes;
			slot->processes += judged.processes;
			return;
		}
	}
	*mt_array_push(&list->items) = judged;
}

static int compare_judged(const void *a, const void *b)
{
	const struct judged *x = a, *y = b;

	if (x->grows != y->grows)
		return x->grows ? -1 : 1;
	if (x->is_whole != y->is_whole)
		return x->is_whole ? 1 : -1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->text < y->text ? -1 : x->text > y->text;
}

/* Reads the first ROWS_READ rows, which are those with the most bytes. */
static struct mt_error *read_judged(const struct mt_summary *s, struct judged_list *list)
{
	struct mt_error *err = mt_table_rewind(s->verdict);
	struct mt_row row;

	mt_frames_resolve(s->verdict->frames);
	for (size_t i = 0; i < ROWS_READ && mt_table_read(s->verdict, &row, &err); i++) {
		const struct judged judged = judged_of(s, &row);

		if (judged.bytes <= 0)
			break;
		if (!s->view->all && is_stackless(s->verdict, judged.stack))
			continue;
		add_judged(s, judged, list);
		add_total(&list->totals, judged.process, judged.bytes);
	}
	if (list->items.count)
		qsort(list->items.items, list->items.count, sizeof(*list->items.items),
		      compare_judged);
	return err;
}

static bool is_worth_a_verdict(const struct mt_summary *s, const struct judged_list *list,
			       const struct judged *judged)
{
	if (s->view->all)
		return true;
	if (judged->grows || is_verdict(s, judged, MT_VERDICT_SAWTOOTH))
		return judged->bytes >= LEAST_COURSE;
	return judged->bytes >= least_of(s, &list->totals, judged->process);
}

/* Keeps the rows to be shown. */
static void choose_judged(const struct mt_summary *s, struct judged_list *list, struct names *names)
{
	size_t most = s->view->all ? SIZE_MAX : VERDICTS_SHOWN, shown = 0;

	for (size_t i = 0; i < list->items.count && shown < most; i++) {
		struct judged *judged = &list->items.items[i];

		if (!is_worth_a_verdict(s, list, judged))
			continue;
		judged->name = add_name(names, judged->stack);
		list->items.items[shown++] = *judged;
	}
	list->items.count = shown;
}

static struct mt_error *read_verdicts(const struct mt_summary *s, struct judged_list *list,
				      struct names *names)
{
	struct mt_table *table = s->verdict;
	struct mt_error *err;

	if (!table)
		return NULL;
	list->top.table = table;
	list->top.paths = mt_paths_create(table->stacks, table->frames, false);
	list->tierless = mt_tierless_paths_create(table->stacks, table->frames);
	err = read_judged(s, list);
	choose_judged(s, list, names);
	return err;
}

/* Writes the rate of growth. Other verdicts, such as plateau, have only a momentary slope. */
static void say_rate(const struct judged *judged, char *out, size_t size)
{
	double per_second = judged->per_second;
	bool has = judged->grows && isfinite(per_second) && fabs(per_second) >= 1;

	snprintf(out, size, "%s%s%s", has ? ", " : "",
		 has ? mt_summary_signed(per_second).text : "", has ? " a second" : "");
}

static void print_verdict(const struct mt_summary *s, const struct judged_list *list,
			  const struct judged *judged, const struct names *names)
{
	const struct mt_strings *strings = s->verdict->strings;
	const struct mt_headline *headline = &names->headlines[judged->name];
	const struct mt_top_path path = path_of(list, judged);
	char text[512], rate[80], indent[INDENT + 1];

	mt_summary_row(s, &(struct mt_summary_row){judged->processes == 1 ? judged->pid : 0,
						   mt_strings_get(strings, judged->process),
						   s->verdict, path.stack, headline->name});
	fprintf(s->to, "  %9s  ", mt_text_bytes(judged->bytes).text);
	mt_top_path_print(&list->top, &path, headline, s->view->width - INDENT, s->to);
	say_rate(judged, rate, sizeof(rate));
	snprintf(text, sizeof(text), "%.60s%s: %.300s", mt_strings_get(strings, judged->verdict),
		 rate, mt_strings_get(strings, judged->grounds));
	snprintf(indent, sizeof(indent), "%*s", INDENT, "");
	mt_text_print_wrapped(indent, indent, text, s->view->width, s->to);
}

/* The last words of a verdict's evidence: "record 5 minutes". */
static const char *advice_of(const struct mt_summary *s, const struct judged *judged)
{
	const char *grounds = mt_strings_get(s->verdict->strings, judged->grounds);
	const char *last = strrchr(grounds, ';');

	return last ? last + 2 : grounds;
}

/* Prints one line about the surest verdict; nothing if all memory is the allocator's. */
static void print_answer(const struct mt_summary *s, const struct judged_list *list,
			 const struct names *names)
{
	static const struct {
		enum mt_verdict_kind kind;
		const char *answer, *course;
	} answers[] = {
		{MT_VERDICT_LEAK, "yes: ", " grows steadily"},
		{MT_VERDICT_GROWS, "likely: ", " grows steadily"},
		{MT_VERDICT_HEAP, "perhaps: ", " grows"},
		{MT_VERDICT_TOO_LITTLE, "not decided for ", ": "},
	};
	char text[300] = "no: none of these paths keeps growing", rate[80];
	const struct judged *best = NULL;
	size_t surest = sizeof(answers) / sizeof(*answers);
	uint32_t name;

	for (size_t i = 0; i < list->items.count; i++) {
		const struct judged *judged = &list->items.items[i];

		for (size_t k = 0; k < surest; k++) {
			if (is_verdict(s, judged, answers[k].kind)) {
				surest = k;
				best = judged;
			}
		}
	}
	if (best) {
		say_rate(best, rate, sizeof(rate));
		name = names->headlines[best->name].name;
		snprintf(text, sizeof(text), "%s%.100s%s%s", answers[surest].answer,
			 name == MT_STRING_NONE
				 ? "[unknown]"
				 : mt_strings_get(mt_frames_strings(s->verdict->frames), name),
			 answers[surest].course, best->grows ? rate : advice_of(s, best));
	}
	if (best || !list->items.items[0].is_whole)
		mt_text_print_wrapped("  ", "  ", text, s->view->width, s->to);
}

static void print_verdicts(const struct mt_summary *s, const struct judged_list *list,
			   const struct names *names)
{
	if (!list->items.count)
		return;
	print_title(s, "IS IT A LEAK?");
	print_answer(s, list, names);
	for (size_t i = 0; i < list->items.count; i++)
		print_verdict(s, list, &list->items.items[i], names);
}

/* ---- The section ---- */

struct mt_memory_paths {
	struct section blocks, pages; /* if blocks are known, pages exclude them */
	struct judged_list verdicts;
	struct names names;
};

void mt_memory_paths_destroy(struct mt_memory_paths *paths)
{
	if (!paths)
		return;
	section_deinit(&paths->blocks);
	section_deinit(&paths->pages);
	judged_deinit(&paths->verdicts);
	mt_array_deinit(&paths->names.stacks);
	free(paths->names.headlines);
	free(paths);
}

bool mt_memory_paths_has(const struct mt_memory_paths *paths, const char *process)
{
	const struct section *sections[] = {&paths->blocks, &paths->pages};

	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		const struct entries *entries = &sections[i]->entries;

		for (size_t k = 0; k < entries->items.count; k++) {
			if (!strcmp(process, mt_strings_get(sections[i]->top.table->strings,
							    entries->items.items[k].who)))
				return true;
		}
	}
	return false;
}

static bool has_ended(const struct section *section)
{
	bool has = false;

	for (size_t i = 0; i < section->entries.items.count && !has; i++)
		has = strstr(mt_strings_get(section->top.table->strings,
					    section->entries.items.items[i].who),
			     " [exited]");
	return has;
}

struct mt_error *mt_memory_paths_read(const struct mt_summary *s, struct mt_memory_paths **out)
{
	MT_CLEANUP(mt_memory_paths_destroy_p)
	struct mt_memory_paths *paths = mt_alloc(1, sizeof(*paths));
	struct names *names = &paths->names;
	const struct mt_table *any = s->blocks ?: s->resident ?: s->growth;
	struct mt_error *err;

	paths->blocks.title = "BY WHICH PATH (allocated, not freed)";
	paths->pages.title = title_of_pages(s);
	err = read_section(s, s->blocks, &paths->blocks, names);
	if (!err && has_ended(&paths->blocks))
		paths->blocks.title =
			"BY WHICH PATH (allocated, not freed; of what ended, as it ended)";
	err = err ? err : read_section(s, s->resident ?: s->growth, &paths->pages, names);
	err = err ? err : read_verdicts(s, &paths->verdicts, names);
	if (err)
		return err;
	names->headlines = mt_alloc(names->stacks.count, sizeof(*names->headlines));
	mt_headlines_of(any, names->stacks.items, names->stacks.count, names->headlines);
	*out = MT_TAKE(paths);
	return NULL;
}

void mt_memory_paths_print(const struct mt_summary *s, const struct mt_memory_paths *paths)
{
	print_section(s, &paths->blocks, &paths->names);
	print_section(s, &paths->pages, &paths->names);
	if (s->growth && !s->resident)
		print_words(s, &paths->pages.top);
	print_verdicts(s, &paths->verdicts, &paths->names);
}
