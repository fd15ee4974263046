/*
 * --swap: which pages of processes were swapped out and in, by the process that they belong to and
 * the path that swapped them. The kernel reports each change of a process's count (kmem:rss_stat)
 * in the thread that makes it. A change made by the process itself shows whose count it is. Pages
 * that a process releases at its end count as of the moment before.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "formats/records/record.h"
#include "report/analyses/analyses.h"
#include "report/analyses/rows/ledger_rows.h"
#include "report/ledger/page_events.h"
#include "report/session/session.h"
#include "report/stacks/frames.h"
#include "report/stacks/spaces.h"
#include "report/stacks/stacks.h"
#include "report/tables/facts.h"

enum {
	VALUE_BYTES, /* swapped out at the end */
	VALUE_OUT,
	VALUE_IN,
	VALUE_FREED, /* freed while they were swapped out */
	VALUES,
	PAGE = 4096,
};

static const struct mt_value_column value_columns[VALUES] = {
	{"bytes", "B"},
	{"out", "pages"},
	{"in", "pages"},
	{"freed", "pages"},
};

/* The swapped pages of one address space, from the time when its count is known. */
struct life {
	uint32_t recording;
	int32_t pid; /* -1: unknown so far */
	uint32_t process, cgroup;
	bool has_first;
	uint64_t first_time, first; /* time (ns) and pages of the first reported count */
	uint32_t first_origin;	    /* UINT32_MAX: the sample of the first count is not selected */
};

/* The count of a kernel's id of an address space. Another space may get the same id later. */
struct count {
	uint32_t life;
	uint64_t pages;
	int32_t closed_by; /* the process that had the space and released it; 0: none */
};

/* A change that waits for its stack. */
struct step {
	struct mt_origin origin;
	uint32_t life;
	bool is_first;
	int64_t pages;
};

/* The changes to a life's pages by one path. */
struct sum {
	uint32_t life, origin;
	uint64_t up, down; /* pages */
};

struct reading {
	int32_t pid;
	uint32_t recording;
	uint64_t time, pages;
	uint32_t process, cgroup;
	bool selected;
	bool existed; /* the process existed when recording began */
	bool used;    /* a life began with this reading */
};

struct swap {
	struct mt_ledger_rows rows;
	struct mt_row_keys *grouping;
	struct mt_observer observer;
	struct mt_origins *origins;
	MT_ARRAY(struct mt_page_event) events; /* by index in facts->events */
	struct mt_map64 by_mm;		       /* recording and kernel's id to index in counts */
	MT_ARRAY(struct count) counts;
	MT_ARRAY(struct life) lives;
	struct mt_map64 by_path; /* life and origin to index in sums */
	MT_ARRAY(struct sum) sums;
	struct mt_map64 by_pid; /* recording and pid to index in readings */
	MT_ARRAY(struct reading) readings;
	bool has_counts; /* counts were recorded as samples */
};

static void swap_deinit(struct swap *swap)
{
	mt_session_ignore(swap->rows.session, &swap->observer);
	mt_ledger_rows_deinit(&swap->rows);
	mt_row_keys_destroy(swap->grouping);
	mt_origins_destroy(swap->origins);
	mt_map64_deinit(&swap->by_mm);
	mt_map64_deinit(&swap->by_path);
	mt_map64_deinit(&swap->by_pid);
	mt_array_deinit(&swap->events);
	mt_array_deinit(&swap->counts);
	mt_array_deinit(&swap->lives);
	mt_array_deinit(&swap->sums);
	mt_array_deinit(&swap->readings);
}

static uint64_t pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* ---- The kernel's counts ---- */

static struct mt_page_event *event_of(struct swap *swap, uint32_t event)
{
	const struct mt_facts *facts = mt_session_facts(swap->rows.session);

	for (size_t i = swap->events.count; i <= event; i++)
		*mt_array_push(&swap->events) = mt_page_event_of(&facts->events.items[i]);
	return &swap->events.items[event];
}

static void begin_life(struct swap *swap, struct count *count, uint32_t recording)
{
	*mt_array_push(&swap->lives) =
		(struct life){.recording = recording, .pid = -1, .first_origin = UINT32_MAX};
	*count = (struct count){.life = (uint32_t)swap->lives.count - 1};
}

/* The count of a kernel's id. Valid until the next call. */
static struct count *count_of(struct swap *swap, uint32_t recording, uint32_t mm)
{
	size_t known = swap->counts.count;
	struct count *count = mt_map64_element(&swap->by_mm, &swap->counts, pair(recording, mm));

	if (swap->counts.count > known)
		begin_life(swap, count, recording);
	return count;
}

/*
 * A thread changes the count of its own process, so the count belongs to that process, or to the
 * parent that lent its space.
 */
static void bind(struct swap *swap, struct count *count, const struct mt_observed *observed)
{
	const struct mt_space *space = observed->task->space;
	struct life *life = &swap->lives.items[count->life];

	if (life->pid == space->pid && !count->closed_by)
		return;
	if (life->pid >= 0) { /* the earlier space has ended */
		begin_life(swap, count, observed->recording);
		life = &swap->lives.items[count->life];
	}
	life->pid = space->pid;
	life->process = space->comm;
	life->cgroup = space->cgroup;
}

/*
 * Whether the count still belongs to a process that ended or called exec: its memory counts as of
 * that moment. The id may belong to another space by now, which is being swapped out.
 */
static bool is_closed(const struct count *count, const struct mt_observed *observed, uint64_t pages)
{
	return count->closed_by &&
	       (observed->task->pid == count->closed_by || pages <= count->pages);
}

/* Sets the count to `pages`. */
static void change(struct swap *swap, struct count *count, const struct mt_observed *observed,
		   uint64_t pages)
{
	struct life *life = &swap->lives.items[count->life];
	bool is_first = !life->has_first;
	int64_t change = (int64_t)(pages - count->pages);
	struct step *step;

	if (is_first) {
		life->has_first = true;
		life->first = pages;
		life->first_time = observed->time;
	}
	count->pages = pages;
	if (!observed->selected)
		return;
	step = mt_session_defer(swap->rows.session, &swap->observer, observed);
	step->origin = (struct mt_origin){
		.kind = MT_ORIGIN_CALL,
		.event = observed->event,
		.comm = observed->task->comm,
		.pid = observed->task->pid,
		.tid = observed->task->tid,
		.selected = true,
	};
	step->life = count->life;
	step->is_first = is_first;
	step->pages = is_first ? 0 : change;
}

static bool is_count(const struct mt_page_event *event)
{
	return event->moment == MT_PAGE_COUNT || event->moment == MT_PAGE_PART;
}

/* True for samples. Marks have no path, and only show whose count this is. */
static bool is_reported(const struct swap *swap, const struct mt_observed *observed)
{
	const struct mt_facts *facts = mt_session_facts(swap->rows.session);

	return facts->events.items[observed->event].role == MT_ROLE_SAMPLE;
}

static void take_sample(struct swap *swap, const struct mt_observed *observed)
{
	const struct mt_page_event *event = event_of(swap, observed->event);
	struct mt_page_count reported;
	struct count *count;

	if (!is_count(event) || !mt_page_count_get(event, observed->sample, &reported) ||
	    !reported.mm)
		return;
	count = count_of(swap, observed->recording, reported.mm);
	if (reported.own)
		bind(swap, count, observed);
	if (!reported.own && swap->lives.items[count->life].pid == observed->task->pid)
		count->closed_by = observed->task->pid;
	if (reported.member != MT_PAGES_SWAPPED || !is_reported(swap, observed))
		return;
	if (is_closed(count, observed, reported.bytes / PAGE)) {
		count->pages = reported.bytes / PAGE;
		return;
	}
	if (count->closed_by)
		begin_life(swap, count, observed->recording);
	change(swap, count, observed, reported.bytes / PAGE);
}

/* Keeps the first reading of each process. */
static void take_gauge(struct swap *swap, const struct mt_observed *observed)
{
	static const char name[] = "VmSwap";
	const struct mt_gauge_record *gauge = observed->gauge;
	uint64_t key = pair(observed->recording, (uint32_t)gauge->pid);
	size_t known = swap->readings.count;
	const struct mt_task *task = observed->task;
	struct reading *reading;

	if (gauge->name.size != strlen(name) || memcmp(gauge->name.bytes, name, strlen(name)) != 0)
		return;
	reading = mt_map64_element(&swap->by_pid, &swap->readings, key);
	if (swap->readings.count == known)
		return;
	*reading = (struct reading){.pid = gauge->pid,
				    .recording = observed->recording,
				    .time = gauge->after,
				    .pages = gauge->value / PAGE};
	if (!task)
		return;
	reading->existed = true;
	reading->selected = mt_session_selects(swap->rows.session, task, gauge->after);
	reading->process = task->space->comm;
	reading->cgroup = task->space->cgroup;
}

static void observe(void *context, const struct mt_observed *observed)
{
	struct swap *swap = context;

	if (observed->kind == MT_OBSERVED_SAMPLE)
		take_sample(swap, observed);
	else if (observed->kind == MT_OBSERVED_GAUGE)
		take_gauge(swap, observed);
	else if (observed->kind == MT_OBSERVED_EVENT)
		swap->has_counts |=
			is_count(event_of(swap, observed->event)) && is_reported(swap, observed);
}

/* ---- Paths ---- */

static void add_pages(struct swap *swap, uint32_t life, uint32_t origin, int64_t pages)
{
	struct sum *sum = mt_map64_element(&swap->by_path, &swap->sums, pair(life, origin));

	sum->life = life;
	sum->origin = origin;
	*(pages < 0 ? &sum->down : &sum->up) += (uint64_t)(pages < 0 ? -pages : pages);
}

static void deliver(void *context, void *item, uint32_t stack, bool selected)
{
	struct swap *swap = context;
	struct step *step = item;
	uint32_t id;

	if (!selected)
		return;
	step->origin.stack = stack;
	id = mt_origins_intern(swap->origins, &step->origin);
	if (step->is_first)
		swap->lives.items[step->life].first_origin = id;
	add_pages(swap, step->life, id, step->pages);
}

/* The effect of a kernel path on swapped pages. */
enum path {
	PATH_SWAPS,
	PATH_FREES,
	PATH_COPIES, /* fork */
};

/* Beginnings of names of functions on paths with this effect, from Linux 3.10 to 6.18. */
static const struct {
	const char *begin;
	enum path path;
} functions[] = {
	{"unmap_page_range", PATH_FREES}, {"unmap_vmas", PATH_FREES},
	{"exit_mmap", PATH_FREES},	  {"zap_p", PATH_FREES},
	{"madvise_free", PATH_FREES},	  {"copy_page_range", PATH_COPIES},
	{"dup_mm", PATH_COPIES},	  {"try_to_unmap", PATH_SWAPS}, /* to make room */
};

#define FUNCTIONS (sizeof(functions) / sizeof(*functions))

static enum path classify(struct swap *swap, uint32_t stack)
{
	struct mt_frames *frames = mt_session_frames(swap->rows.session);
	size_t count = 0, names;
	const uint32_t *ids =
		stack == MT_STACK_NONE
			? NULL
			: mt_stacks_get(mt_session_stacks(swap->rows.session), stack, &count);

	for (size_t i = 0; i < count && mt_frames_key(frames, ids[i])->flags & MT_FRAME_IN_KERNEL;
	     i++) {
		const struct mt_frame_name *name = mt_frames_names(frames, ids[i], &names);
		const char *text = mt_strings_get(mt_frames_strings(frames), name->name);

		for (size_t k = 0; k < FUNCTIONS; k++) {
			if (!strncmp(text, functions[k].begin, strlen(functions[k].begin)))
				return functions[k].path;
		}
	}
	return PATH_SWAPS;
}

/* ---- Rows ---- */

/*
 * Swapped pages of a process before its first reported count: those of its first reading. If that
 * is later than the count, they are the count. New processes and later spaces begin with 0.
 */
static uint64_t pages_before(const struct swap *swap, const struct life *life)
{
	struct reading *reading;
	uint64_t at;

	if (life->pid < 0)
		return life->first; /* unknown */
	if (!mt_map64_get(&swap->by_pid, pair(life->recording, (uint32_t)life->pid), &at))
		return swap->readings.count ? 0 : life->first;
	reading = &swap->readings.items[at];
	if (reading->used || !reading->existed)
		return 0;
	reading->used = true;
	if (reading->time > life->first_time)
		reading->pages = life->first;
	return reading->pages;
}

static void add_firsts(struct swap *swap)
{
	for (uint32_t i = 0; i < swap->lives.count; i++) {
		const struct life *life = &swap->lives.items[i];
		uint64_t before = life->has_first ? pages_before(swap, life) : 0;

		if (life->has_first && life->first_origin != UINT32_MAX)
			add_pages(swap, i, life->first_origin, (int64_t)(life->first - before));
	}
}

static void add_sum(struct swap *swap, const struct sum *sum)
{
	const struct mt_origin *origin = mt_origins_get(swap->origins, sum->origin);
	const struct life *life = &swap->lives.items[sum->life];
	double up = (double)sum->up, down = (double)sum->down;
	struct mt_value values[VALUES] = {{0}};
	struct mt_row_facts facts = mt_origin_row_facts(&swap->rows, origin);
	enum path path = classify(swap, origin->stack);

	facts.pid = life->pid;
	facts.process = life->process;
	facts.cgroup = life->cgroup;
	values[VALUE_BYTES] = mt_value_exact((up - down) * PAGE);
	values[VALUE_OUT] = mt_value_exact(path == PATH_COPIES ? 0 : up);
	values[VALUE_IN] = mt_value_exact(path == PATH_FREES ? 0 : down);
	values[VALUE_FREED] = mt_value_exact(path == PATH_FREES ? down : 0);
	mt_row_keys_add(swap->grouping, &facts, values);
}

/* Adds the pages that were swapped out before the recording. */
static void add_reading(struct swap *swap, const struct reading *reading)
{
	const struct mt_origin origin = {
		.kind = MT_ORIGIN_BEFORE,
		.stack = MT_STACK_NONE,
		.comm = reading->process,
		.process = reading->process,
		.cgroup = reading->cgroup,
		.pid = reading->pid,
		.tid = reading->pid,
	};
	const struct mt_value values[VALUES] = {mt_value_exact((double)reading->pages * PAGE)};
	struct mt_row_facts facts = mt_origin_row_facts(&swap->rows, &origin);

	if (reading->selected && reading->pages)
		mt_row_keys_add(swap->grouping, &facts, values);
}

static void add_rows(struct swap *swap)
{
	add_firsts(swap);
	for (size_t i = 0; i < swap->readings.count; i++)
		add_reading(swap, &swap->readings.items[i]);
	for (size_t i = 0; i < swap->sums.count; i++)
		add_sum(swap, &swap->sums.items[i]);
}

static bool wants(const char *event)
{
	return !strncmp(event, "kmem:rss_stat", 13);
}

static struct mt_error *run(const struct mt_analysis *analysis, struct mt_session *session,
			    const struct mt_analysis_request *request, struct mt_table **out)
{
	MT_CLEANUP(swap_deinit)
	struct swap swap = {
		.rows = {.session = session, .stacks = request->stacks},
		.grouping =
			mt_row_keys_create(session, analysis->name, value_columns, VALUES, request),
		.origins = mt_origins_create(),
	};
	struct mt_error *err;

	swap.observer = (struct mt_observer){.context = &swap,
					     .observe = observe,
					     .deliver = deliver,
					     .item_size = sizeof(struct step)};
	mt_session_observe(session, &swap.observer);
	err = mt_session_read(session, NULL, NULL);
	if (!err && !swap.has_counts)
		err = mt_error_hint(mt_error_create(MT_ERR_NOT_FOUND,
						    "no counts of swapped-out pages with their "
						    "paths in it"),
				    "--swap is about what mtrec -e swap records");
	if (err)
		return err;
	add_rows(&swap);
	mt_row_keys_may_have(swap.grouping, mt_facts_lost_all(mt_session_facts(session)),
			     VALUE_OUT);
	return mt_row_keys_table(MT_TAKE(swap.grouping), out);
}

const struct mt_analysis mt_analysis_swap = {
	.name = "swap",
	.help = "pages of processes swapped out and in, by stack",
	.rare = true,
	.groups = true,
	.by = MT_BY_BIT(MT_BY_PROCESS) | MT_BY_BIT(MT_BY_COMM) | MT_BY_BIT(MT_BY_CGROUP) |
	      MT_BY_BIT(MT_BY_CONTAINER) | MT_BY_BIT(MT_BY_IMAGE) | MT_BY_BIT(MT_BY_STACK),
	.default_by = {{MT_BY_PROCESS, MT_BY_STACK}, 2},
	.wants = wants,
	.states = true,
	.dumps = true, /* paths distinguish reading in from freeing */
	.record = "swap",
	.output = "table",
	.run = run,
};
