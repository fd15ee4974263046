/*
 * Collects histories by process and stack during the ledger's run, then merges stacks into paths
 * and judges the paths.
 */
#include "report/verdicts/verdicts.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "report/ledger/ledger.h"
#include "report/residence/page_map.h"
#include "report/session/session.h"
#include "report/session/timespan.h"
#include "report/stacks/code_class.h"
#include "report/stacks/frames.h"
#include "report/stacks/runtime_functions.h"
#include "report/stacks/stacks.h"
#include "report/tables/byte_runs.h"
#include "report/tables/facts.h"
#include "report/verdicts/history.h"
#include "report/verdicts/region_pages.h"
#include "report/verdicts/tierless_paths.h"

MT_DEFINE_CLEANUP(mt_tierless_paths, struct mt_tierless_paths)
MT_DEFINE_CLEANUP(mt_verdicts, struct mt_verdicts)

enum {
	PAGE_ALLOCATOR_DEPTH = 6, /* below it there are the kernel's frames and the C library's */
};

#define LATE_ENOUGH 512		     /* returns, before older ones are dropped */
#define BURST ((uint64_t)1000000000) /* ns, the time between readings of gauges */

/* A stack, or later a path, of a space. */
struct place {
	uint32_t space; /* index */
	uint32_t stack; /* id of the stack or path */
};

/* Bytes returned at a time, which were reserved at another. */
struct returned {
	uint64_t time, reserved;
	double bytes;
};

struct entry {
	struct mt_history history;
	MT_ARRAY(struct returned) late; /* those of the last BURST are among them */
	bool forgiven;			/* what they returned counts as held; its pages are gone */
	struct place place;
	uint32_t stack; /* of a path: one of its stacks */
	/* Bytes reserved in all, in the heap, and of mapped files. */
	double reserved, heap, files;
	double held;	   /* bytes whose pages are touched and not given back, at the end */
	double advised;	   /* bytes of pages that madvise gave back while they stayed reserved, */
	uint64_t advices;  /* in so many calls */
	double newest;	   /* bytes reserved last */
	uint64_t returned; /* times */
};

enum {
	LEAST_REPLACED = 2, /* pieces of a path that doubles what it has: more take long */
};

struct space {
	uint64_t began, end;
	double older_back; /* bytes held before the recording and unmapped during it */
	/*
	 * Bytes without any access, of address space for later: before the recording, at the end.
	 */
	double closed_before, closed;
	double closing;		/* the same by the changes alone, */
	double stable;		/* and as it was before the last burst of them: */
	uint64_t stable_until;	/* a process that ends may first unmap what it has */
	struct mt_range opened; /* of them, what the last call unmapped, */
	uint64_t opened_at;	/* and when: it maps the same range for use */
	bool ended;		/* then, and not only the time that was asked for */
	uint32_t recording, process;
	int32_t pid;
	struct mt_page_map touched; /* each touched page has a holder */
	bool faults, pages_lost;    /* some were seen; or not seen */
};

struct scale {
	struct mt_history_scale history;
	uint64_t to; /* the end of the time asked for */
};

struct mt_verdicts {
	struct mt_session *session;
	bool stacks;
	uint32_t heap; /* stack id of words: all paths of a process that call brk move one heap */
	uint32_t collected_heap; /* the same of those that get pages for a garbage collector */
	uint32_t stackless;	 /* the same of calls that were recorded without a stack */
	const struct mt_timespan *time;
	struct mt_byte_runs *places; /* of the entries */
	MT_ARRAY(struct entry) entries;
	MT_ARRAY(struct space) spaces;
	MT_ARRAY(struct scale) scales; /* by recording */
	MT_ARRAY(struct mt_verdict_row) rows;
	struct mt_map64 by_space; /* of the ledger's: index */
	struct mt_map64 by_pid;	  /* of pid_key(): index */
	bool pages;		  /* the ledger tells of them */
	struct mt_mapping_readings readings;
	struct mt_verdicts_also also;
	struct mt_verdicts_regions regions;
};

/* MT_STACK_NONE out of memory. */
static uint32_t stack_of_words(struct mt_session *session, const char *words)
{
	uint32_t frame = mt_frames_words(mt_session_frames(session), words);

	return frame == MT_FRAME_NONE ? MT_STACK_NONE
				      : mt_stacks_intern(mt_session_stacks(session), &frame, 1);
}

static bool name_heaps(struct mt_verdicts *verdicts)
{
	verdicts->heap = stack_of_words(verdicts->session, "[heap]");
	verdicts->collected_heap = stack_of_words(verdicts->session, "[garbage-collected heap]");
	verdicts->stackless = stack_of_words(verdicts->session, MT_FRAME_STACKLESS);
	return verdicts->heap != MT_STACK_NONE && verdicts->collected_heap != MT_STACK_NONE &&
	       verdicts->stackless != MT_STACK_NONE;
}

/*
 * On whose account memory stands: its path's, or all of the process. Which path calls brk is
 * chance, as freed blocks of one are used by others: the heap has an account of its own.
 */
static uint32_t account_of(const struct mt_verdicts *verdicts, const struct mt_origin *origin,
			   const struct mt_nature *nature)
{
	if (!verdicts->stacks)
		return MT_STACK_NONE;
	if (nature->kind == MT_REGION_HEAP)
		return verdicts->heap;
	return origin->stack == MT_STACK_NONE ? verdicts->stackless : origin->stack;
}

struct mt_error *mt_verdicts_create(struct mt_session *session, bool stacks,
				    const struct mt_timespan *time, struct mt_verdicts **out)
{
	MT_CLEANUP(mt_verdicts_destroy_p)
	struct mt_verdicts *verdicts = calloc(1, sizeof(*verdicts));

	if (!verdicts)
		return mt_error_nomem();
	verdicts->session = session;
	verdicts->stacks = stacks;
	verdicts->time = time;
	verdicts->places = mt_byte_runs_create();
	if (!verdicts->places || (stacks && !name_heaps(verdicts)))
		return mt_error_nomem();
	*out = MT_TAKE(verdicts);
	return NULL;
}

void mt_verdicts_destroy(struct mt_verdicts *verdicts)
{
	if (!verdicts)
		return;
	for (size_t i = 0; i < verdicts->entries.count; i++) {
		mt_history_deinit(&verdicts->entries.items[i].history);
		mt_array_deinit(&verdicts->entries.items[i].late);
	}
	for (size_t i = 0; i < verdicts->spaces.count; i++)
		mt_page_map_deinit(&verdicts->spaces.items[i].touched);
	mt_array_deinit(&verdicts->entries);
	mt_array_deinit(&verdicts->spaces);
	mt_map64_deinit(&verdicts->by_space);
	mt_map64_deinit(&verdicts->by_pid);
	mt_array_deinit(&verdicts->scales);
	mt_mapping_readings_deinit(&verdicts->readings);
	mt_array_deinit(&verdicts->rows);
	mt_byte_runs_destroy(verdicts->places);
	free(verdicts);
}

/* ---- While the ledger runs ---- */

/* Of the first and the last space of a process. */
static uint64_t pid_key(uint32_t recording, int32_t pid, bool last)
{
	return (uint64_t)recording << 33 | (uint64_t)last << 32 | (uint32_t)pid;
}

/* The index of a space; UINT32_MAX out of memory. */
static uint32_t find_space(struct mt_verdicts *verdicts, const struct mt_ledger_space *from)
{
	struct space *space;
	uint64_t index, first;

	if (mt_map64_get(&verdicts->by_space, (uintptr_t)from, &index))
		return (uint32_t)index;
	index = verdicts->spaces.count;
	space = mt_array_push(&verdicts->spaces);
	if (!space || !mt_map64_put(&verdicts->by_space, (uintptr_t)from, index))
		return UINT32_MAX;
	if (!mt_map64_get(&verdicts->by_pid, pid_key(from->recording, from->pid, false), &first) &&
	    !mt_map64_put(&verdicts->by_pid, pid_key(from->recording, from->pid, false), index))
		return UINT32_MAX;
	if (!mt_map64_put(&verdicts->by_pid, pid_key(from->recording, from->pid, true), index))
		return UINT32_MAX;
	*space = (struct space){.began = from->began,
				.recording = from->recording,
				.process = from->comm,
				.pid = from->pid};
	return (uint32_t)index;
}

static struct entry *entry_at(struct mt_verdicts *verdicts, struct mt_byte_runs *places,
			      const struct place *place)
{
	uint32_t at = mt_byte_runs_intern(places, place, sizeof(*place));
	struct entry *entry;

	if (at == MT_SEQUENCE_NONE)
		return NULL;
	if (at < verdicts->entries.count)
		return &verdicts->entries.items[at];
	entry = mt_array_push(&verdicts->entries);
	if (entry)
		entry->place = *place;
	return entry;
}

static struct scale *scale_of(struct mt_verdicts *verdicts, uint32_t recording)
{
	const struct mt_facts *facts = mt_session_facts(verdicts->session);

	while (verdicts->scales.count <= recording) {
		const struct mt_facts_recording *r =
			&facts->recordings.items[verdicts->scales.count];
		struct scale *scale = mt_array_push(&verdicts->scales);
		uint64_t from;

		if (!scale)
			return NULL;
		mt_timespan_apply(verdicts->time, r->start, r->end, &from, &scale->to);
	}
	return &verdicts->scales.items[recording];
}

static bool has_verdict(const struct mt_origin *origin)
{
	return origin->kind == MT_ORIGIN_CALL && origin->selected;
}

/* A path that maps files itself: what the loader maps are programs' parts. */
static bool maps_files(const struct mt_verdicts *verdicts, uint32_t stack)
{
	const struct mt_frames *frames = mt_session_frames(verdicts->session);
	size_t depth;
	const uint32_t *ids = mt_stacks_get(mt_session_stacks(verdicts->session), stack, &depth);

	for (size_t i = 0; i < depth; i++) {
		const struct mt_frame_key *key = mt_frames_key(frames, ids[i]);

		if (!(key->flags & MT_FRAME_IN_KERNEL))
			return !mt_is_loader(mt_session_image_path(verdicts->session, key->image));
	}
	return false;
}

/* Memory that is held; of paths also the files that they map. */
static bool is_judged(const struct mt_verdicts *verdicts, const struct mt_origin *origin,
		      const struct mt_nature *nature)
{
	return has_verdict(origin) &&
	       (mt_nature_is_held(nature) ||
		(verdicts->stacks && nature->kind == MT_REGION_FILE &&
		 origin->stack != MT_STACK_NONE && maps_files(verdicts, origin->stack)));
}

/* Address space for later, which is not memory before it has some access. */
static void add_closed(struct space *space, const struct mt_change *change, int sign)
{
	if (change->time > space->stable_until + BURST) {
		space->stable = space->closing;
		space->stable_until = change->time;
	}
	space->closing += sign * (double)(change->end - change->start);
}

static void note_closed(struct space *space, const struct mt_ledger_change *told)
{
	const struct mt_change *change = told->change;

	add_closed(space, change, change->sign);
	if (change->sign < 0) {
		space->opened = (struct mt_range){change->start, change->end};
		space->opened_at = change->time;
	} else if (told->origin->kind == MT_ORIGIN_BEFORE) {
		space->closed_before += (double)(change->end - change->start);
	}
}

/* What grows within reserved address space grows as a heap does: blocks in it are others'. */
static bool is_of_heap(const struct space *space, const struct mt_ledger_change *told, bool opened)
{
	const struct mt_change *change = told->change;

	if (told->nature->kind == MT_REGION_HEAP)
		return true;
	if (told->nature->kind != MT_REGION_ANONYMOUS)
		return false;
	return opened ||
	       (space->opened_at == change->time && space->opened.start <= change->start &&
		change->start < space->opened.end);
}

/* Keeps what may turn out to be the process's last clean-up. */
static bool note_late(struct entry *entry, const struct mt_change *change, double bytes)
{
	struct returned *slot;
	size_t kept = 0;

	for (size_t i = 0; entry->late.count >= LATE_ENOUGH && i < entry->late.count; i++) {
		if (entry->late.items[i].time + BURST >= change->time)
			entry->late.items[kept++] = entry->late.items[i];
	}
	entry->late.count = entry->late.count >= LATE_ENOUGH ? kept : entry->late.count;
	slot = mt_array_push(&entry->late);
	if (slot)
		*slot = (struct returned){change->time, change->reserved, bytes};
	return slot;
}

/*
 * Many programs free all before they exit: that says nothing of what they did before. What is
 * returned before the last reservation is no clean-up: a cache replaces its entries to the end.
 */
static bool forgive_cleanup(struct entry *entry, struct mt_history_scale *scale, uint64_t end)
{
	for (size_t i = 0; i < entry->late.count; i++) {
		const struct returned *late = &entry->late.items[i];

		if (late->time + BURST < end || late->time < entry->history.last)
			continue;
		entry->forgiven = true;
		if (!mt_history_return(&entry->history, scale, late->time, late->reserved,
				       -late->bytes))
			return false;
	}
	return true;
}

/* opened: by mprotect, of what was mapped before. */
static bool add_change(struct mt_verdicts *verdicts, const struct mt_ledger *ledger,
		       const struct mt_ledger_change *told, bool opened)
{
	const struct mt_change *change = told->change;
	const struct mt_origin *owner =
		change->sign < 0 ? mt_ledger_origin(ledger, change->reserved_by) : told->origin;
	struct place place = {.stack = account_of(verdicts, owner, told->nature)};
	double bytes = (double)(change->end - change->start);
	struct scale *scale;
	struct entry *entry;
	bool older;

	older = change->sign < 0 && owner->kind == MT_ORIGIN_BEFORE &&
		mt_nature_is_held(told->nature);
	if (!change->sign || !(older || is_judged(verdicts, owner, told->nature)))
		return true;
	place.space = find_space(verdicts, told->space);
	scale = scale_of(verdicts, told->space->recording);
	if (place.space == UINT32_MAX || !scale)
		return false;
	if (change->time >= scale->to)
		return true;
	if (older) {
		verdicts->spaces.items[place.space].older_back += bytes;
		return true;
	}
	entry = entry_at(verdicts, verdicts->places, &place);
	verdicts->spaces.items[place.space].process = owner->process;
	if (!entry)
		return false;
	if (change->sign > 0) {
		entry->reserved += bytes;
		entry->newest = bytes;
		entry->files += mt_nature_is_held(told->nature) ? 0 : bytes;
		entry->heap +=
			is_of_heap(&verdicts->spaces.items[place.space], told, opened) ? bytes : 0;
		return mt_history_reserve(&entry->history, &scale->history, change->time, bytes);
	}
	entry->returned++;
	entry->history.replaced += change->reserved < entry->history.last && bytes < entry->newest;
	/* A fork's copy of what the parent reserved is no history of the child's. */
	return !entry->history.count || change->reserved < entry->history.first ||
	       (note_late(entry, change, bytes) &&
		mt_history_return(&entry->history, &scale->history, change->time, change->reserved,
				  bytes));
}

/* ---- Pages ---- */

enum {
	PAGE_SHIFT = 12,
	PAGE = 1 << PAGE_SHIFT,
	TOUCHED = 1, /* the holder of all touched pages */
};

/* Pages touched, or given back. False out of memory. */
static bool mark_pages(struct space *space, uint64_t start, uint64_t end, bool touched)
{
	uint64_t first = start >> PAGE_SHIFT, behind = end >> PAGE_SHIFT, given;

	return touched ? mt_page_map_fill(&space->touched, first, behind, UINT64_MAX, TOUCHED,
					  &given)
		       : mt_page_map_clear(&space->touched, first, behind, NULL, NULL);
}

static bool take_touch(void *context, const struct mt_ledger *ledger,
		       const struct mt_ledger_touch *touch)
{
	struct mt_verdicts *verdicts = context;
	uint64_t page = touch->address & ~(uint64_t)(PAGE - 1);
	uint32_t space;

	(void)ledger;
	if (touch->order || page > INT64_MAX)
		return true;
	space = find_space(verdicts, touch->space);
	if (space == UINT32_MAX)
		return false;
	verdicts->spaces.items[space].faults = true;
	return mark_pages(&verdicts->spaces.items[space], page, page + PAGE, true);
}

static bool take_count(void *context, const struct mt_ledger *ledger,
		       const struct mt_ledger_count *count)
{
	(void)context;
	(void)ledger;
	(void)count;
	return true;
}

/*
 * What goes of the pages that a path reserved is a part of its course, though it is mapped still.
 */
static bool note_advice(struct mt_verdicts *verdicts, const struct mt_ledger *ledger,
			const struct mt_extent *region, uint32_t space)
{
	const struct mt_origin *origin = mt_ledger_origin(ledger, region->origin);
	const struct mt_nature *nature = mt_natures_get(mt_ledger_natures(ledger), region->nature);
	struct place place = {space, account_of(verdicts, origin, nature)};
	double bytes = mt_region_pages_touched(&verdicts->spaces.items[space].touched, region);
	struct entry *entry;

	if (!bytes || !is_judged(verdicts, origin, nature))
		return true;
	entry = entry_at(verdicts, verdicts->places, &place);
	if (!entry)
		return false;
	entry->advised += bytes;
	entry->advices++;
	return true;
}

static bool take_advice(void *context, const struct mt_ledger *ledger,
			const struct mt_ledger_space *from, const struct mt_range *range,
			bool touched)
{
	struct mt_verdicts *verdicts = context;
	uint32_t space = find_space(verdicts, from);
	const struct mt_extent *region = mt_extents_after(from->account->regions, range->start);

	if (space == UINT32_MAX)
		return false;
	for (; !touched && region && region->start < range->end;
	     region = mt_extents_after(from->account->regions, region->end)) {
		struct mt_extent part = *region;

		part.start = part.start > range->start ? part.start : range->start;
		part.end = part.end < range->end ? part.end : range->end;
		if (!note_advice(verdicts, ledger, &part, space))
			return false;
	}
	return mark_pages(&verdicts->spaces.items[space], range->start, range->end, touched);
}

static bool take_move(void *context, const struct mt_ledger *ledger,
		      const struct mt_ledger_space *from, uint64_t at, uint64_t to, uint64_t size)
{
	struct mt_verdicts *verdicts = context;
	uint32_t space = find_space(verdicts, from);

	(void)ledger;
	return space != UINT32_MAX &&
	       mt_page_map_move(&verdicts->spaces.items[space].touched, at >> PAGE_SHIFT,
				to >> PAGE_SHIFT, size >> PAGE_SHIFT);
}

/* Memory of which it matters whether it is touched: not what is only kept free of others. */
static bool is_for_use(const struct mt_nature *nature)
{
	return (nature->kind == MT_REGION_ANONYMOUS || nature->kind == MT_REGION_HEAP) &&
	       (nature->prot & PROT_WRITE);
}

static bool add_held(struct mt_verdicts *verdicts, const struct mt_ledger *ledger, uint32_t space,
		     const struct mt_extent *region)
{
	const struct mt_origin *origin = mt_ledger_origin(ledger, region->origin);
	const struct mt_nature *nature = mt_natures_get(mt_ledger_natures(ledger), region->nature);
	struct place place = {space, account_of(verdicts, origin, nature)};
	double held = (double)(region->end - region->start);
	struct entry *entry;

	if (!is_judged(verdicts, origin, nature) || !nature->prot)
		return true;
	if (is_for_use(nature))
		held = mt_region_pages_touched(&verdicts->spaces.items[space].touched, region);
	entry = entry_at(verdicts, verdicts->places, &place);
	if (entry)
		entry->held += held;
	return entry;
}

/*
 * Whether each fault is known of what stands at the end: none sampled, none lost, and the whole
 * time.
 */
static bool knows_pages(const struct mt_verdicts *verdicts, const struct space *space)
{
	const struct mt_facts *facts = mt_session_facts(verdicts->session);

	if (!verdicts->pages || verdicts->time->given || !space->faults || space->pages_lost)
		return false;
	for (size_t i = 0; i < facts->events.count; i++) {
		const struct mt_facts_event *event = &facts->events.items[i];

		if (mt_page_event_of(event).moment == MT_PAGE_FAULT && !event->thinned &&
		    event->attr.sample_period <= 1 && !mt_attr_has(&event->attr, MT_ATTR_FREQ))
			return true;
	}
	return false;
}

static bool tell_region(const struct mt_verdicts *verdicts, const struct mt_ledger *ledger,
			const struct space *space, struct mt_region_pages *pages,
			const struct mt_extent *region)
{
	const struct mt_nature *nature = mt_natures_get(mt_ledger_natures(ledger), region->nature);

	return !verdicts->regions.region || !is_for_use(nature) ||
	       verdicts->regions.region(
		       verdicts->regions.context, pages->space, region,
		       nature->kind == MT_REGION_HEAP, mt_region_pages_older(pages, region),
		       knows_pages(verdicts, space) ? mt_region_pages_in_use(pages, region) : NAN);
}

static bool take_stood(void *context, const struct mt_ledger *ledger,
		       const struct mt_ledger_space *from, const struct mt_extents *regions,
		       uint64_t time)
{
	struct mt_verdicts *verdicts = context;
	const struct scale *scale = scale_of(verdicts, from->recording);
	const struct mt_extent *region = mt_extents_after(regions, 0);
	uint32_t at = find_space(verdicts, from);
	struct space *space = at == UINT32_MAX ? NULL : &verdicts->spaces.items[at];
	struct mt_region_pages pages;

	if (!space || !scale)
		return false;
	pages = mt_region_pages_of(ledger, from, regions, &space->touched, &verdicts->readings,
				   time);
	space->end = time < scale->to ? time : scale->to;
	space->ended = from->ended && from->ended <= space->end;
	space->pages_lost = mt_ledger_pages_lost(ledger, from->began, time);
	for (; region; region = mt_extents_after(regions, region->end)) {
		if (!mt_natures_get(mt_ledger_natures(ledger), region->nature)->prot)
			space->closed += (double)(region->end - region->start);
		if (!tell_region(verdicts, ledger, space, &pages, region))
			return false;
		if (!verdicts->pages)
			continue;
		if (!mt_ledger_inherited(from, region) && !add_held(verdicts, ledger, at, region))
			return false;
	}
	if (space->ended)
		space->closed += space->stable - space->closing;
	mt_page_map_deinit(&verdicts->spaces.items[at].touched);
	return !verdicts->regions.done || verdicts->regions.done(verdicts->regions.context, from);
}

static bool take_gauge(void *context, uint32_t recording, const struct mt_gauge_record *gauge)
{
	struct mt_verdicts *verdicts = context;

	return mt_mapping_readings_take(&verdicts->readings, recording, gauge);
}

static bool tell_also(const struct mt_verdicts *verdicts, const struct mt_ledger *ledger,
		      const struct mt_ledger_change *told)
{
	return !verdicts->also.change ||
	       verdicts->also.change(verdicts->also.context, ledger, told);
}

static bool take_change(void *context, const struct mt_ledger *ledger,
			const struct mt_ledger_change *told)
{
	const struct mt_change *change = told->change;
	struct mt_verdicts *verdicts = context;
	uint32_t space = find_space(verdicts, told->space);

	/* What comes is untouched, what goes is not touched any more. */
	if (space == UINT32_MAX || (change->sign && !mark_pages(&verdicts->spaces.items[space],
								change->start, change->end, false)))
		return false;
	if (change->sign && !told->nature->prot) {
		note_closed(&verdicts->spaces.items[space], told);
		return true;
	}
	return add_change(verdicts, ledger, told, false) && tell_also(verdicts, ledger, told);
}

static bool take_access(void *context, const struct mt_ledger *ledger,
			const struct mt_ledger_change *told)
{
	struct mt_verdicts *verdicts = context;
	uint32_t space;

	if (!told->change->sign)
		return true;
	space = find_space(verdicts, told->space);
	if (space == UINT32_MAX)
		return false;
	add_closed(&verdicts->spaces.items[space], told->change, -told->change->sign);
	return add_change(verdicts, ledger, told, true) && tell_also(verdicts, ledger, told);
}

void mt_verdicts_tell_also(struct mt_verdicts *verdicts, const struct mt_verdicts_also *also)
{
	verdicts->also = *also;
}

void mt_verdicts_tell_regions(struct mt_verdicts *verdicts,
			      const struct mt_verdicts_regions *regions)
{
	verdicts->regions = *regions;
}

void mt_verdicts_listen(struct mt_verdicts *verdicts, struct mt_ledger_options *options)
{
	verdicts->pages = true;
	options->change = take_change;
	options->accessed = take_access;
	options->stood = take_stood;
	options->advised = take_advice;
	options->stackless = true;
	options->touched = take_touch;
	options->counted = take_count;
	options->moved = take_move;
	options->gauged = take_gauge;
	options->context = verdicts;
}

/* ---- Behind it ---- */

static const struct mt_history_scale *scale_of_space(const struct mt_verdicts *verdicts,
						     uint32_t space)
{
	return &verdicts->scales.items[verdicts->spaces.items[space].recording].history;
}

/* Whether functions of that kind are innermost in a stack. */
static bool ends_in(const struct mt_verdicts *verdicts, uint32_t stack, bool (*is)(const char *))
{
	struct mt_frames *frames = mt_session_frames(verdicts->session);
	struct mt_strings *strings = mt_frames_strings(frames);
	size_t depth, count;
	const uint32_t *ids = mt_stacks_get(mt_session_stacks(verdicts->session), stack, &depth);

	for (size_t i = 0; i < depth && i < PAGE_ALLOCATOR_DEPTH; i++) {
		const struct mt_frame_name *names = mt_frames_names(frames, ids[i], &count);

		for (size_t k = 0; names && k < count; k++) {
			if (is(mt_strings_get(strings, names[k].name)))
				return true;
		}
	}
	return false;
}

/* Whether an allocator with a library of its own is what called the C library. */
static bool is_in_allocator(const struct mt_verdicts *verdicts, uint32_t stack)
{
	const struct mt_frames *frames = mt_session_frames(verdicts->session);
	size_t depth;
	const uint32_t *ids = mt_stacks_get(mt_session_stacks(verdicts->session), stack, &depth);

	for (size_t i = 0; i < depth; i++) {
		const struct mt_frame_key *key = mt_frames_key(frames, ids[i]);
		const char *path = mt_session_image_path(verdicts->session, key->image);

		if (!(key->flags & MT_FRAME_IN_KERNEL) && !mt_is_c_library(path))
			return mt_is_allocator(path);
	}
	return false;
}

/*
 * On whose account a stack's memory is in the end. What a garbage collector got pages for is judged
 * as a whole, and so is what an allocator mapped for blocks of whoever asks.
 */
static uint32_t judged_as(const struct mt_verdicts *verdicts, uint32_t stack)
{
	if (stack == MT_STACK_NONE)
		return stack;
	if (ends_in(verdicts, stack, mt_is_page_allocator))
		return verdicts->collected_heap;
	return ends_in(verdicts, stack, mt_is_arena_mapper) || is_in_allocator(verdicts, stack)
		       ? verdicts->heap
		       : stack;
}

/* The stacks' histories added up by path: entries of paths follow those of stacks. */
static struct mt_error *sum_paths(struct mt_verdicts *verdicts, size_t stacks,
				  struct mt_byte_runs *places, struct mt_tierless_paths *paths)
{
	for (size_t i = 0; i < stacks; i++) {
		struct place place = verdicts->entries.items[i].place;
		const struct space *space = &verdicts->spaces.items[place.space];
		uint32_t stack = judged_as(verdicts, place.stack), at;
		bool moved = stack != place.stack;
		struct entry *entry;

		place.stack =
			stack == MT_STACK_NONE ? MT_PATH_NONE : mt_tierless_paths_of(paths, stack);
		if (stack != MT_STACK_NONE && place.stack == MT_PATH_NONE)
			return mt_error_nomem();
		if (space->ended &&
		    !forgive_cleanup(&verdicts->entries.items[i],
				     &verdicts->scales.items[space->recording].history, space->end))
			return mt_error_nomem();
		at = mt_byte_runs_intern(places, &place, sizeof(place));
		if (at == MT_SEQUENCE_NONE)
			return mt_error_nomem();
		if (stacks + at == verdicts->entries.count && !mt_array_push(&verdicts->entries))
			return mt_error_nomem();
		entry = &verdicts->entries.items[stacks + at];
		entry->place = place;
		entry->stack = stack;
		entry->held += verdicts->entries.items[i].held;
		entry->advised += verdicts->entries.items[i].advised;
		entry->advices += verdicts->entries.items[i].advices;
		entry->returned += verdicts->entries.items[i].returned;
		entry->forgiven |= verdicts->entries.items[i].forgiven;
		entry->reserved += verdicts->entries.items[i].reserved;
		entry->files += verdicts->entries.items[i].files;
		entry->heap += moved ? verdicts->entries.items[i].reserved
				     : verdicts->entries.items[i].heap;
		if (!mt_history_add(&entry->history, scale_of_space(verdicts, place.space),
				    &verdicts->entries.items[i].history))
			return mt_error_nomem();
	}
	return NULL;
}

static int compare_rows(const void *a, const void *b)
{
	const struct mt_verdict_row *x = a, *y = b;

	if (x->verdict.bytes != y->verdict.bytes)
		return x->verdict.bytes > y->verdict.bytes ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

void mt_verdict_rows_sort(struct mt_verdict_row *rows, size_t count)
{
	if (count)
		qsort(rows, count, sizeof(*rows), compare_rows);
}

/* Any program maps some files once, such as those of its locale. */
static bool tells_anything(const struct mt_verdict *verdict)
{
	return !verdict->files ||
	       (verdict->kind != MT_VERDICT_ONE_OFF && verdict->kind != MT_VERDICT_TOO_LITTLE);
}

static bool judge_entry(struct mt_verdicts *verdicts, struct entry *entry)
{
	const struct space *space = &verdicts->spaces.items[entry->place.space];
	const struct mt_facts_recording *recording =
		&mt_session_facts(verdicts->session)->recordings.items[space->recording];
	struct mt_verdict_row *row;

	if (!entry->history.count)
		return true;
	row = mt_array_push(&verdicts->rows);
	if (!row)
		return false;
	*row = (struct mt_verdict_row){
		.pid = space->pid,
		.process = space->process,
		.stack = entry->stack,
		.ended_early = space->ended && mt_facts_ended_early(recording, space->pid,
								    space->began, space->end),
	};
	mt_verdict_judge(&entry->history, scale_of_space(verdicts, entry->place.space), space->end,
			 &row->verdict);
	row->verdict.replaced = row->verdict.why && entry->history.replaced >= LEAST_REPLACED &&
				entry->history.replaced == entry->returned;
	row->verdict.files = entry->files > entry->reserved / 2;
	row->of_heap = entry->heap > entry->reserved / 2;
	if (row->of_heap)
		mt_verdict_consider_heap(
			&row->verdict, verdicts->stacks && entry->stack == verdicts->collected_heap,
			space->ended ? 0 : space->older_back);
	if (verdicts->stacks && entry->stack == verdicts->stackless)
		mt_verdict_consider_pathless(&row->verdict);
	if (space->ended)
		mt_verdict_consider_end(&row->verdict);
	if (knows_pages(verdicts, space) && !entry->forgiven)
		mt_verdict_consider_pages(&row->verdict, entry->held);
	mt_verdict_consider_advice(&row->verdict, entry->advices, entry->advised);
	verdicts->rows.count -= !tells_anything(&row->verdict);
	return true;
}

/* No slice is too short for the end of what was observed. */
static void reach_ends(struct mt_verdicts *verdicts)
{
	for (size_t i = 0; i < verdicts->spaces.count; i++) {
		const struct space *space = &verdicts->spaces.items[i];
		struct mt_history_scale *scale;

		if (space->recording >= verdicts->scales.count) /* nothing of it was selected */
			continue;
		scale = &verdicts->scales.items[space->recording].history;
		if (scale->begun)
			mt_history_scale_reach(scale, space->end);
	}
}

static struct mt_error *judge_paths(struct mt_verdicts *verdicts, struct mt_byte_runs *places)
{
	MT_CLEANUP(mt_tierless_paths_destroy_p) struct mt_tierless_paths *paths = NULL;
	size_t stacks = verdicts->entries.count;
	struct mt_error *err = NULL;

	if (verdicts->stacks) {
		struct mt_frames *frames = mt_session_frames(verdicts->session);

		paths = mt_tierless_paths_create(mt_session_stacks(verdicts->session), frames);
		err = paths ? mt_frames_resolve(frames) : mt_error_nomem();
	}
	reach_ends(verdicts);
	err = err ? err : sum_paths(verdicts, stacks, places, paths);
	if (err)
		return err;
	for (size_t i = stacks; i < verdicts->entries.count; i++) {
		if (!judge_entry(verdicts, &verdicts->entries.items[i]))
			return mt_error_nomem();
	}
	mt_verdict_rows_sort(verdicts->rows.items, verdicts->rows.count);
	return NULL;
}

struct mt_error *mt_verdicts_judge(struct mt_verdicts *verdicts)
{
	struct mt_byte_runs *places = mt_byte_runs_create();
	struct mt_error *err = places ? judge_paths(verdicts, places) : mt_error_nomem();

	mt_byte_runs_destroy(places);
	return err;
}

double mt_verdicts_closed_growth(const struct mt_verdicts *verdicts, uint32_t recording,
				 int32_t pid, bool is_new)
{
	uint64_t first, last;

	if (!mt_map64_get(&verdicts->by_pid, pid_key(recording, pid, false), &first) ||
	    !mt_map64_get(&verdicts->by_pid, pid_key(recording, pid, true), &last))
		return 0;
	return verdicts->spaces.items[last].closed -
	       (is_new ? 0 : verdicts->spaces.items[first].closed_before);
}

const struct mt_verdict_row *mt_verdicts_rows(const struct mt_verdicts *verdicts, size_t *count)
{
	*count = verdicts->rows.count;
	return verdicts->rows.items;
}
