/* Counts of a table: sums by event, thread name and function, and call trees. */
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/strings.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/headline.h"
#include "report/outputs/parts/name_advice.h"
#include "report/outputs/summary/summary_parts.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/stacks/tree.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

/* ---- A call tree ---- */

enum {
	DEEPEST = 24,	    /* levels of branches drawn */
	SHARE_COLUMNS = 13, /* "     99.3 %  " */
	CHAIN_MOST = 4096,  /* calls in one line that are examined */
	TEXT_SIZE = 1024,
};

/*
 * Draws a call tree for a terminal. A chain of calls without a branch is one line, shortened in its
 * middle. Branches below a share of the total are left out; the share is raised until the tree
 * fits.
 */
struct tree_options {
	size_t width; /* columns of the terminal */
	size_t lines; /* approximate limit; lighter branches are left out */
	bool utf8;    /* draw with UTF-8; else ASCII */
};

struct drawing {
	const struct mt_tree *tree;
	const struct tree_options *options;
	FILE *to;	   /* NULL: only count lines */
	double all, least; /* weight of the whole tree; branches below `least` are left out */
	size_t lines;
	char prefix[DEEPEST * 8];
};

/* The only child that is drawn, if no path ends in the node; MT_TREE_NONE otherwise. */
static uint32_t only_child(const struct drawing *d, uint32_t node)
{
	const struct mt_tree_node *at = mt_tree_node(d->tree, node), *child;

	if (at->child == MT_TREE_NONE || at->self >= d->least)
		return MT_TREE_NONE;
	child = mt_tree_node(d->tree, at->child);
	if (child->next != MT_TREE_NONE && mt_tree_node(d->tree, child->next)->total >= d->least)
		return MT_TREE_NONE;
	return child->total >= 0.9 * at->total && child->total >= d->least ? at->child
									   : MT_TREE_NONE;
}

/* Puts `text` before the contents of `out`, with a separator; false if that exceeds width. */
static bool put_before(const char *text, size_t width, char out[TEXT_SIZE])
{
	char fit[TEXT_SIZE / 2], joined[TEXT_SIZE];
	size_t used = mt_text_fit(text, TEXT_SIZE / 4, fit, sizeof(fit));
	size_t have = mt_text_columns(out);
	int length;

	if (used + 3 + have > width)
		return false;
	length = snprintf(joined, sizeof(joined), "%s > %.*s", fit, TEXT_SIZE / 2 - 4, out);
	if (length < 0 || (size_t)length != strlen(fit) + 3 + strlen(out))
		return false;
	memcpy(out, joined, (size_t)length + 1);
	return true;
}

/*
 * Writes the chain from `node` to `last`: the first call, `..` for calls that have no room, and the
 * last calls.
 */
static void spell_chain(const struct drawing *d, uint32_t node, uint32_t last, size_t width,
			char out[TEXT_SIZE])
{
	char first[32];
	size_t reserve = mt_text_fit(mt_tree_name(d->tree, node), 24, first, sizeof(first)) +
			 8; /* "FIRST > .. > " */
	uint32_t at = last;

	mt_text_fit(mt_tree_name(d->tree, last), width > reserve + 8 ? width - reserve : width, out,
		    TEXT_SIZE);
	while (at != node) {
		at = mt_tree_node(d->tree, at)->parent;
		if (at == node) {
			put_before(first, width, out);
		} else if (width < reserve ||
			   !put_before(mt_tree_name(d->tree, at), width - reserve, out)) {
			put_before("..", width, out);
			put_before(first, width, out);
			return;
		}
	}
}

static void draw_line(struct drawing *d, const char *branch, double total, const char *text)
{
	d->lines++;
	if (!d->to)
		return;
	fprintf(d->to, "  %9s  %s%s%s\n", mt_text_percent(total, d->all).text, d->prefix, branch,
		text);
}

static void draw_children(struct drawing *d, uint32_t node, size_t level);

static void draw_node(struct drawing *d, uint32_t node, size_t level, bool last_sibling)
{
	const char *branch = !level		? ""
			     : d->options->utf8 ? (last_sibling ? "└─ " : "├─ ")
			     : last_sibling	? "`- "
						: "|- ";
	const char *below = !level ? "" : last_sibling ? "   " : d->options->utf8 ? "│  " : "|  ";
	size_t prefix = strlen(d->prefix),
	       used = SHARE_COLUMNS + mt_text_columns(d->prefix) + mt_text_columns(branch);
	uint32_t end = node, next;
	char text[TEXT_SIZE];

	for (size_t i = 0; i < CHAIN_MOST && (next = only_child(d, end)) != MT_TREE_NONE; i++)
		end = next;
	if (d->to)
		spell_chain(d, node, end,
			    d->options->width > used + 20 ? d->options->width - used : 20, text);
	draw_line(d, branch, mt_tree_node(d->tree, node)->total, text);
	if (level + 1 >= DEEPEST)
		return;
	snprintf(d->prefix + prefix, sizeof(d->prefix) - prefix, "%s", below);
	draw_children(d, end, level + 1);
	d->prefix[prefix] = '\0';
}

static void draw_children(struct drawing *d, uint32_t node, size_t level)
{
	uint32_t next;

	for (uint32_t child = mt_tree_node(d->tree, node)->child; child != MT_TREE_NONE;
	     child = next) {
		const struct mt_tree_node *at = mt_tree_node(d->tree, child);

		next = at->next;
		if (at->total < d->least)
			return; /* sorted: the others are lighter still */
		draw_node(d, child, level,
			  next == MT_TREE_NONE || mt_tree_node(d->tree, next)->total < d->least);
	}
}

static size_t count_lines(struct drawing *d)
{
	FILE *to = d->to;

	d->to = NULL;
	d->lines = 0;
	draw_children(d, 0, 0);
	d->to = to;
	return d->lines;
}

static void print_tree(const struct mt_tree *tree, const struct tree_options *options, FILE *to)
{
	static const double shares[] = {0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3};
	struct drawing d = {
		.tree = tree, .options = options, .to = to, .all = mt_tree_node(tree, 0)->total};

	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		d.least = shares[i] * d.all;
		if (d.least <= 0 || count_lines(&d) <= options->lines)
			break;
	}
	d.lines = 0;
	draw_children(&d, 0, 0);
}

MT_DEFINE_CLEANUP(mt_counts, struct mt_counts)
MT_DEFINE_CLEANUP(mt_paths, struct mt_paths)
MT_DEFINE_CLEANUP(mt_tree, struct mt_tree)

enum {
	EVENTS_SHOWN = 8, /* rows of the table of events */
	TREES_SHOWN = 3,  /* events whose stacks are shown */
	TREE_LINES = 20,  /* shared among them */
	FUNCTIONS_SHOWN = 4,
	COMMS_SHOWN = 5,
};

/* A named sum; of an event, a thread name or a function. */
struct sum {
	uint32_t name; /* string id */
	const char *text, *where;
	double value;
	const char *unit; /* of an event only counted with another event's samples; or NULL */
	const char *file; /* that the function is in, or NULL */
	uint32_t line;	  /* 0: several */
};

typedef MT_ARRAY(struct sum) sums;

struct mt_counts {
	const struct mt_view *view;
	struct mt_table *table;
	FILE *to;
	sums events, comms, functions;
	MT_ARRAY(uint32_t) folded; /* names of one path */
	struct mt_name_advice advice;
	double total;
	size_t event_column, comm_column, stack_column;
};

void mt_counts_destroy(struct mt_counts *s)
{
	if (!s)
		return;
	mt_array_deinit(&s->events);
	mt_array_deinit(&s->comms);
	mt_array_deinit(&s->functions);
	mt_array_deinit(&s->folded);
	free(s);
}

/* Adds a value to the sum of a name. There are few sums, so a linear search suffices. */
static struct sum *add_sum(sums *to, uint32_t name, const char *text, const char *where,
			   double value)
{
	struct sum *sum;

	for (size_t i = 0; i < to->count; i++) {
		if (to->items[i].name == name && to->items[i].where == where) {
			to->items[i].value += value;
			return &to->items[i];
		}
	}
	sum = mt_array_push(to);
	*sum = (struct sum){.name = name, .text = text, .where = where, .value = value};
	return sum;
}

static int compare_sums(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (!x->unit != !y->unit)
		return x->unit ? 1 : -1;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return strcmp(x->text, y->text);
}

static void sort_sums(sums *sorted)
{
	if (sorted->count)
		qsort(sorted->items, sorted->count, sizeof(*sorted->items), compare_sums);
}

static void print_fit(const struct mt_counts *s, const char *text, size_t width)
{
	char fit[1024];

	mt_text_fit(text, width, fit, sizeof(fit));
	fputs(fit, s->to);
}

/* ---- Events ---- */

static const struct mt_facts_event *facts_of(const struct mt_counts *s, enum mt_event_role role,
					     const char *alias)
{
	for (size_t i = 0; i < s->view->facts->events.count; i++) {
		const struct mt_facts_event *event = &s->view->facts->events.items[i];

		if (event->role == role && !strcmp(event->alias, alias))
			return event;
	}
	return NULL;
}

/*
 * The unit of an event that has no samples, only counts with another event's samples. NULL for an
 * event with samples, and if the analysis does not count samples: then all events are alike.
 */
static const char *unit_alongside(const struct mt_counts *s, const char *alias)
{
	const struct mt_facts_event *member = facts_of(s, MT_ROLE_MEMBER, alias);
	bool samples = !strcmp(s->table->values[s->view->value].unit, "samples");

	return samples && member && !facts_of(s, MT_ROLE_SAMPLE, alias) ? member->unit : NULL;
}

/* The losses of an event; "?" if there are losses of unknown events. */
static struct mt_snippet event_lost(const struct mt_counts *s, const struct mt_facts_event *event)
{
	uint64_t all = mt_facts_lost_all(s->view->facts), reported = 0;

	for (size_t i = 0; i < s->view->facts->events.count; i++)
		reported += s->view->facts->events.items[i].lost;
	if (event && (event->lost || reported >= all))
		return mt_text_count((double)event->lost);
	return (struct mt_snippet){"?"};
}

static void print_events(const struct mt_counts *s, FILE *to)
{
	double seconds = mt_facts_seconds(s->view->facts);
	size_t shown = s->events.count > EVENTS_SHOWN ? EVENTS_SHOWN : s->events.count;

	fprintf(to, "%-24s %14s %12s %10s\n", "event", s->table->values[s->view->value].name,
		"a second", "lost");
	for (size_t i = 0; i < shown; i++) {
		const struct sum *sum = &s->events.items[i];
		const struct mt_facts_event *event = facts_of(s, MT_ROLE_SAMPLE, sum->text);
		char name[64];
		size_t width = mt_text_fit(sum->text, 24, name, sizeof(name));

		fprintf(to, "%s%*s %14s %12s %10s\n", name, (int)(24 - width), "",
			mt_text_count(sum->value).text,
			seconds > 0 ? mt_text_count(sum->value / seconds).text : "-",
			sum->unit ? "-" : event_lost(s, event).text);
	}
	if (shown < s->events.count)
		fprintf(to, "and %zu more events\n", s->events.count - shown);
}

/* ---- Threads and functions ---- */

static void add_function(struct mt_counts *s, const struct mt_headline *of, double value)
{
	const char *text = mt_strings_get(mt_frames_strings(s->table->frames), of->name);
	size_t known = s->functions.count;
	struct sum *sum = add_sum(&s->functions, of->name, text, of->shown, value);

	if (s->functions.count > known) {
		sum->file = of->file;
		sum->line = of->line;
	} else if (sum->line != of->line) {
		sum->line = 0;
	}
}

static void print_functions(struct mt_counts *s, double total)
{
	size_t shown = s->functions.count > FUNCTIONS_SHOWN ? FUNCTIONS_SHOWN : s->functions.count;

	if (!shown)
		return;
	fputs("\n  by function: " MT_HEADLINE_RULE "\n", s->to);
	for (size_t i = 0; i < shown; i++) {
		const struct sum *sum = &s->functions.items[i];
		size_t room = s->view->width > 60 ? s->view->width - 46 : 20, used;
		char name[512], place[80];

		used = mt_text_columns(sum->text);
		used = 28 + (used < 16 ? used : 16);
		mt_headline_place(sum->where, sum->file, sum->line,
				  s->view->width > used ? s->view->width - used : 0, place);
		used = mt_text_columns(place) + 28;
		if (sum->file && used + room > s->view->width)
			room = s->view->width > used + 16 ? s->view->width - used : 16;
		mt_text_fit(sum->text, room, name, sizeof(name));
		fprintf(s->to, "  %9s %12s  %s  %s\n", mt_text_percent(sum->value, total).text,
			mt_text_count(sum->value).text, name, place);
	}
}

static void print_comms(const struct mt_counts *s, FILE *to)
{
	size_t width = 9;

	if (s->comms.count < 2)
		return;
	fputs("threads  ", to);
	for (size_t i = 0; i < s->comms.count && i < COMMS_SHOWN; i++) {
		struct mt_snippet part = mt_text_percent(s->comms.items[i].value, s->total);
		char name[64];
		size_t need = mt_text_fit(s->comms.items[i].text, 16, name, sizeof(name)) +
			      strlen(part.text) + 3;

		if (width + need > s->view->width)
			break;
		width += need;
		fprintf(to, "%s%s %s", i ? ", " : "", name, part.text);
	}
	fprintf(to, "%s\n", s->comms.count > COMMS_SHOWN ? ", .." : "");
}

/* ---- One event's stacks ---- */

/* Adds the rows of one event to the tree and to the functions. */
static struct mt_error *take_event_rows(struct mt_counts *s, uint32_t event, struct mt_paths *paths,
					struct mt_tree *tree)
{
	struct mt_error *err = mt_table_rewind(s->table);
	struct mt_row row;

	while (mt_table_read(s->table, &row, &err)) {
		uint32_t stack = (uint32_t)row.keys[s->stack_column];
		double value = row.values[s->view->value].value;
		const char *comm = mt_table_string(s->table, &row, s->comm_column);
		struct mt_headline headline;
		const uint32_t *names;
		size_t count;

		if (s->event_column != MT_COLUMN_NONE && row.keys[s->event_column] != event)
			continue;
		names = mt_paths_get(paths, mt_paths_of(paths, stack), &count);
		mt_array_reserve(&s->folded, count + 1);
		mt_headline_fold_nameless(s->table, names, s->folded.items, &count);
		mt_tree_add(tree,
			    mt_strings_intern(mt_frames_strings(s->table->frames), comm,
					      strlen(comm)),
			    s->folded.items, count, value);
		mt_name_advice_see(&s->advice, s->table, stack, value);
		headline = mt_headline_of(s->table, stack);
		if (headline.name != MT_STRING_NONE)
			add_function(s, &headline, value);
	}
	return err;
}

static struct mt_error *print_event_stacks(struct mt_counts *s, const struct sum *event,
					   struct mt_paths *paths, size_t lines)
{
	MT_CLEANUP(mt_tree_destroy_p)
	struct mt_tree *tree = mt_tree_create(mt_frames_strings(s->table->frames));
	struct tree_options options = {
		.width = s->view->width, .utf8 = s->view->utf8, .lines = lines};
	struct mt_error *err;

	s->functions.count = 0;
	err = take_event_rows(s, event->name, paths, tree);
	if (err)
		return err;
	mt_tree_sort(tree);
	sort_sums(&s->functions);
	fputc('\n', s->to);
	print_fit(s, event->text, 40);
	fprintf(s->to, ": %s %s%s", mt_text_count(event->value).text,
		event->unit ?: s->table->values[s->view->value].unit,
		event->unit ? ", counted beside the samples of another" : "");
	print_functions(s, event->value);
	fputs("\n  by path, from the root to where it happened\n", s->to);
	print_tree(tree, &options, s->to);
	return NULL;
}

static struct mt_error *print_stacks(struct mt_counts *s)
{
	MT_CLEANUP(mt_paths_destroy_p)
	struct mt_paths *paths = mt_paths_create(s->table->stacks, s->table->frames, false);
	size_t shown = s->events.count > TREES_SHOWN ? TREES_SHOWN : s->events.count;
	struct mt_error *err = NULL;

	mt_frames_resolve(s->table->frames);
	for (size_t i = 0; i < shown && !err; i++)
		err = print_event_stacks(s, &s->events.items[i], paths, TREE_LINES / shown);
	return err;
}

/* ---- Reading ---- */

static struct mt_error *sum_rows(struct mt_counts *s)
{
	struct mt_error *err = NULL;
	struct mt_row row;

	while (mt_table_read(s->table, &row, &err)) {
		double value = row.values[s->view->value].value;

		if (s->event_column != MT_COLUMN_NONE) {
			const char *alias = mt_table_string(s->table, &row, s->event_column);
			struct sum *event = add_sum(&s->events, (uint32_t)row.keys[s->event_column],
						    alias, NULL, value);

			event->unit = unit_alongside(s, alias);
			if (event->unit)
				continue;
		}
		s->total += value;
		if (s->comm_column != MT_COLUMN_NONE)
			add_sum(&s->comms, (uint32_t)row.keys[s->comm_column],
				mt_table_string(s->table, &row, s->comm_column), NULL, value);
	}
	return err;
}

struct mt_error *mt_counts_read(const struct mt_view *view, struct mt_table *table,
				struct mt_counts **out)
{
	MT_CLEANUP(mt_counts_destroy_p) struct mt_counts *s = mt_alloc(1, sizeof(*s));
	struct mt_error *err;

	s->view = view;
	s->table = table;
	s->event_column = mt_table_key(table, "event");
	s->comm_column = mt_table_key(table, "comm");
	s->stack_column = mt_table_key_of_kind(table, MT_KEY_STACK);
	err = sum_rows(s);
	if (err)
		return err;
	sort_sums(&s->events);
	sort_sums(&s->comms);
	*out = MT_TAKE(s);
	return NULL;
}

/* Writes the most frequent reasons why stacks end early: "dump too small 1.2 %, no CFI 0.3 %". */
static void list_ends(const struct mt_facts *facts, char *out, size_t size)
{
	bool done[MT_END_REASONS] = {[MT_END_ROOT] = true};
	size_t used = 0;

	*out = '\0';
	for (int round = 0; round < 3 && used < size; round++) {
		int most = -1;

		for (int i = 0; i < MT_END_REASONS; i++) {
			if (!done[i] && facts->ends[i] &&
			    (most < 0 || facts->ends[i] > facts->ends[most]))
				most = i;
		}
		if (most < 0)
			return;
		done[most] = true;
		used += (size_t)snprintf(out + used, size - used, "%s%s %s", used ? ", " : "",
					 mt_stack_end_name((enum mt_stack_end)most),
					 mt_text_percent((double)facts->ends[most],
							 (double)facts->user_stacks)
						 .text);
	}
}

static void print_completeness(const struct mt_counts *s, FILE *to)
{
	const struct mt_facts *facts = s->view->facts;
	double all = (double)facts->user_stacks;
	char ends[256], line[400];

	if (!facts->user_stacks)
		return;
	list_ends(facts, ends, sizeof(ends));
	snprintf(line, sizeof(line), "%s of %s user stacks are complete%s%s",
		 mt_text_percent((double)facts->ends[MT_END_ROOT], all).text,
		 mt_text_count(all).text, *ends ? "; the others: " : "", ends);
	mt_text_print_wrapped("stacks   ", "         ", line, s->view->width, to);
}

void mt_counts_print_events(const struct mt_counts *s, FILE *to)
{
	if (s->events.count)
		print_events(s, to);
	print_comms(s, to);
	print_completeness(s, to);
}

struct mt_error *mt_counts_print_stacks(struct mt_counts *s, FILE *to)
{
	struct mt_error *err = NULL;

	s->to = to;
	if (s->stack_column != MT_COLUMN_NONE)
		err = print_stacks(s);
	mt_name_advice_print(&s->advice, "\n", "names", s->view->width, to);
	return err;
}

const char *mt_counts_event(const struct mt_counts *s, size_t index)
{
	return index < s->events.count ? s->events.items[index].text : NULL;
}

const char *mt_counts_thread(const struct mt_counts *s)
{
	return s->comms.count > 1 ? s->comms.items[0].text : NULL;
}
