/* Applies effects to accounts in order, and delivers changes and ends of spaces to the listener. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/base/strings.h"
#include "report/account/overlaps.h"
#include "report/ledger/ledger_parts.h"
#include "report/session/session.h"
#include "report/stacks/spaces.h"
#include "report/stacks/stacks.h"
#include "report/tables/facts.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

#define FORK_NS 5000000000ull /* how long the place of a fork is kept: mt_order_next() */

/* ---- Delivering ---- */

void mt_ledger_deliver(void *context, struct mt_account *account, const struct mt_change *change)
{
	struct mt_ledger *ledger = context;
	struct mt_ledger_space *space = ledger->posting;
	const struct mt_region_attrs *attrs = mt_attrs_get(ledger->attr_table, change->attrs);
	uint64_t bytes = change->end - change->start;
	struct mt_ledger_change reported = {
		.space = space,
		.change = change,
		.origin = mt_origins_get(ledger->origins, change->origin),
		.attrs = attrs,
	};

	(void)account;
	space->mapped += change->sign > 0 ? bytes : change->sign < 0 ? -bytes : 0;
	if (change->sign && mt_region_attrs_are_held(attrs))
		space->watch->held += change->sign > 0 ? bytes : -bytes;
	if (ledger->options->change)
		ledger->options->change(ledger->options->context, ledger, &reported);
}

void mt_ledger_deliver_access(void *context, struct mt_account *account,
			      const struct mt_change *change)
{
	struct mt_ledger *ledger = context;
	const struct mt_ledger_change reported = {
		.space = ledger->posting,
		.change = change,
		.origin = mt_origins_get(ledger->origins, change->origin),
		.attrs = mt_attrs_get(ledger->attr_table, change->attrs),
	};

	(void)account;
	ledger->options->accessed(ledger->options->context, ledger, &reported);
}

void mt_ledger_deliver_moved(void *context, struct mt_account *account, uint64_t from, uint64_t to,
			     uint64_t size)
{
	struct mt_ledger *ledger = context;

	(void)account;
	ledger->options->moved(ledger->options->context, ledger, ledger->posting, from, to, size);
}

/* The first thread of a space, with the fields that selectors use. */
static struct mt_task leader_of(const struct mt_space *of)
{
	return (struct mt_task){
		.pid = of->pid, .tid = of->pid, .comm = of->comm, .space = (struct mt_space *)of};
}

/* An origin with the process as a whole, for changes without a call. */
static struct mt_origin process_origin(const struct mt_ledger *ledger,
				       const struct mt_ledger_space *space,
				       enum mt_origin_kind kind, uint64_t time)
{
	const struct mt_space *of = space->watch->space;
	const struct mt_task leader = leader_of(of);

	return (struct mt_origin){
		.kind = kind,
		.stack = MT_STACK_NONE,
		.pid = of->pid,
		.tid = of->pid,
		.comm = of->comm,
		.process = of->comm,
		.cgroup = of->cgroup,
		.exe = of->exe,
		.selected = mt_session_selects(ledger->session, &leader, time),
	};
}

/* Marks all addresses of a 32-bit program as doubtful. */
static void doubt_narrow(struct mt_ledger *ledger, struct mt_ledger_space *space, uint64_t time)
{
	const struct mt_origin origin = process_origin(ledger, space, MT_ORIGIN_UNSEEN, time);
	const struct mt_region_attrs attrs = {.kind = MT_REGION_ANONYMOUS};
	struct mt_change change = {
		.time = time,
		.end = MT_NARROW_END,
		.attrs = mt_attr_table_intern(ledger->attr_table, &attrs),
		.origin = mt_origins_intern(ledger->origins, &origin),
		.reserved = time,
	};

	change.reserved_by = change.origin;
	ledger->posting = space;
	mt_account_doubt(space->account, 0, MT_NARROW_END, time);
	mt_ledger_deliver(ledger, space->account, &change);
}

/* Call before `remaining`. Marks doubtful ranges, and adds unseen calls to the session's facts. */
static void close_unseen(struct mt_ledger *ledger, struct mt_ledger_space *space, uint64_t time)
{
	const struct mt_space *of = space->watch->space;
	const struct mt_facts_unseen unseen = {
		.process = mt_strings_get(mt_session_strings(ledger->session), of->comm),
		.pid = space->pid,
		.recording = space->recording,
		.calls = space->unseen & ~(uint32_t)MT_UNSEEN_ADVISED,
	};
	const struct mt_task leader = leader_of(of);

	if (!unseen.calls)
		return;
	if (unseen.calls & MT_UNSEEN_NARROW)
		doubt_narrow(ledger, space, time);
	if (mt_session_selects(ledger->session, &leader, time ? time - 1 : 0))
		mt_session_add_unseen(ledger->session, &unseen);
}

void mt_ledger_close(struct mt_ledger *ledger, struct mt_ledger_space *space, uint64_t time)
{
	const struct mt_extents *regions;
	bool peak = ledger->options->at.when == MT_AT_PEAK && space->watch->peak_regions;

	if (!space->account)
		return;
	close_unseen(ledger, space, time);
	regions = peak ? space->watch->peak_regions : space->account->regions;
	if (ledger->options->remaining && mt_space_is_target(space->watch->space))
		ledger->options->remaining(ledger->options->context, ledger, space, regions,
					   peak ? space->watch->peak_time : time);
	mt_extents_destroy(space->watch->peak_regions);
	space->watch->peak_regions = NULL;
	mt_overlaps_destroy(space->watch->overlaps);
	space->watch->overlaps = NULL;
	mt_account_destroy(space->account);
	space->account = NULL;
}

/* ---- Peaks ---- */

/* Call before an effect that may unmap memory: keeps a copy of the regions at the peak. */
static void keep_peak(struct mt_ledger *ledger, struct mt_ledger_space *space, uint64_t time)
{
	struct mt_ledger_watch *watch = space->watch;

	if (ledger->options->at.when != MT_AT_PEAK || !watch->at_peak)
		return;
	mt_extents_destroy(watch->peak_regions);
	watch->peak_regions = mt_extents_copy(space->account->regions);
	watch->peak_time = time;
	watch->at_peak = false;
}

static void note_peak(struct mt_ledger_watch *watch)
{
	if (watch->held <= watch->peak)
		return;
	watch->peak = watch->held;
	watch->at_peak = true;
	mt_extents_destroy(watch->peak_regions);
	watch->peak_regions = NULL;
}

/* ---- Calls of unknown order ---- */

/* A space with doubtful ranges, and the time of the doubt. */
struct doubting {
	struct mt_ledger *ledger;
	struct mt_ledger_space *space;
	uint64_t time;
};

static void report_doubt(const struct doubting *in, const struct mt_range *range, uint32_t origin)
{
	const struct mt_extent *region =
		mt_extents_after(in->space->account->regions, range->start);
	struct mt_change change = {
		.time = in->time,
		.start = range->start,
		.end = range->end,
		.attrs = region ? region->attrs : UINT32_MAX,
		.origin = origin,
		.reserved_by = origin,
		.reserved = in->time,
	};

	in->ledger->posting = in->space;
	if (region)
		mt_ledger_deliver(in->ledger, in->space->account, &change);
}

static void doubt(void *context, const struct mt_range *range, const uint32_t origins[2])
{
	const struct doubting *in = context;

	mt_account_doubt(in->space->account, range->start, range->end, in->time);
	report_doubt(in, range, origins[0]);
	if (origins[0] != origins[1])
		report_doubt(in, range, origins[1]);
}

static void move_doubt(void *context, const struct mt_range *range, uint64_t to,
		       const uint32_t origins[2])
{
	const struct doubting *in = context;
	mt_extent_list doubts = {0};

	mt_extents_list(in->space->account->doubts, range->start, range->end, &doubts);
	for (size_t i = 0; i < doubts.count; i++) {
		uint64_t by = to - range->start;
		struct mt_range there = {doubts.items[i].start + by, doubts.items[i].end + by};

		if (there.start < there.end)
			doubt(context, &there, origins);
	}
	mt_array_deinit(&doubts);
}

/*
 * Marks the ranges of a call as doubtful in children that were copied while the call ran: they may
 * or may not have its changes.
 */
static void doubt_copies(struct mt_ledger *ledger, const struct mt_effect *effect,
			 const struct mt_timed_call *call)
{
	const struct mt_ledger_watch *watch = effect->space->watch;
	const uint32_t origins[2] = {call->origin, call->origin};

	for (size_t i = 0; i < MT_COPIES && i < watch->copy_count; i++) {
		const struct mt_copied_space *copy = &watch->copies[i];
		struct doubting in = {ledger, copy->child, effect->time};

		if (!copy->child->account || call->enter >= copy->time || call->exit <= copy->since)
			continue;
		for (size_t k = 0; k < call->count; k++)
			doubt(&in, &call->ranges[k], origins);
	}
	ledger->posting = effect->space;
}

static void find_overlaps(struct mt_ledger *ledger, const struct mt_effect *effect, uint64_t brk,
			  uint32_t origin)
{
	struct mt_ledger_space *space = effect->space;
	struct mt_ledger_watch *watch = space->watch;
	struct doubting in = {ledger, space, effect->exit};
	const struct mt_overlap_sink sink = {doubt, move_doubt, &in};
	struct mt_timed_call call = mt_timed_call_of(&effect->call, brk, space->account->shm_span);

	call.tid = effect->task.tid;
	call.origin = origin;
	call.ordered = effect->time != effect->exit;
	if (!watch->overlaps)
		watch->overlaps = mt_overlaps_create();
	mt_overlaps_add(watch->overlaps, &call, &sink);
	if (!call.ordered && watch->copy_count)
		doubt_copies(ledger, effect, &call);
}

/* Marks a range as doubtful, and reports this for each region in the range with its origin. */
static void doubt_regions(const struct doubting *in, const struct mt_range *range)
{
	const struct mt_extents *regions = in->space->account->regions;
	const struct mt_extent *region = mt_extents_after(regions, range->start);

	mt_account_doubt(in->space->account, range->start, range->end, in->time);
	for (; region && region->start < range->end;
	     region = mt_extents_after(regions, region->end)) {
		const struct mt_range piece = {region->start > range->start ? region->start
									    : range->start,
					       region->end < range->end ? region->end : range->end};

		report_doubt(in, &piece, region->origin);
	}
}

/*
 * Notes the copy of a space by fork. Calls of other threads that began before the fork may have
 * changed the space after the copy, so their ranges are doubtful in the child.
 */
static void note_copy(struct mt_ledger *ledger, const struct mt_effect *effect)
{
	struct mt_ledger_watch *watch = effect->parent->watch;
	struct doubting in = {ledger, effect->space, effect->time};
	const struct mt_overlap_sink sink = {doubt, move_doubt, &in};
	uint64_t earliest = effect->time > FORK_NS ? effect->time - FORK_NS : 0;
	uint64_t since = effect->enter > earliest ? effect->enter : earliest;
	struct mt_range forgotten;

	if (watch->overlaps && ledger->has_marks)
		mt_overlaps_brk(watch->overlaps, since, &effect->space->account->brk_copied);
	if (effect->time != effect->exit || !ledger->has_marks)
		return;
	if (!watch->copies)
		watch->copies = mt_alloc(MT_COPIES, sizeof(*watch->copies));
	watch->copies[watch->copy_count++ % MT_COPIES] =
		(struct mt_copied_space){effect->space, since, effect->exit};
	if (!watch->overlaps)
		return;
	forgotten = mt_overlaps_forgotten(watch->overlaps, since);
	doubt_regions(&in, &forgotten);
	mt_overlaps_since(watch->overlaps, since, effect->task.tid, &sink);
}

/* ---- Effects ---- */

static void needs_account(struct mt_ledger *ledger, struct mt_ledger_space *space, uint64_t time)
{
	if (space->account)
		return;
	space->account = mt_account_create(ledger->attr_table, &ledger->sink);
	space->account->moves_checked = ledger->moves_checked;
	space->began = time;
}

static uint32_t origin_of(struct mt_ledger *ledger, const struct mt_effect *effect,
			  enum mt_origin_kind kind)
{
	struct mt_origin origin = {
		.kind = kind,
		.event = kind == MT_ORIGIN_CALL ? effect->event : 0,
		.stack = kind == MT_ORIGIN_CALL ? effect->stack : MT_STACK_NONE,
		.comm = effect->task.comm,
		.process = effect->task.process,
		.cgroup = effect->task.cgroup,
		.exe = effect->task.exe,
		.pid = effect->task.pid,
		.tid = effect->task.tid,
		.selected = effect->selected,
	};

	return mt_origins_intern(ledger->origins, &origin);
}

/* Reports pages that a call touches or gives back while the regions stay the same. */
static void report_advised(struct mt_ledger *ledger, const struct mt_effect *effect)
{
	const struct mt_ledger_options *options = ledger->options;
	const struct mt_vm_call *call = &effect->call;
	bool maps = call->kind == MT_VM_MMAP && !mt_vm_call_failed(call->result);
	bool advises = call->kind == MT_VM_MADVISE && !call->result;
	struct mt_range range;
	bool touched, given_back;

	if (!options->advised || (!maps && !advises))
		return;
	touched =
		maps ? call->args[3] & (MAP_POPULATE | MAP_LOCKED)
		     : call->args[2] == MADV_POPULATE_READ || call->args[2] == MADV_POPULATE_WRITE;
	given_back =
		advises && (call->args[2] == MADV_DONTNEED || call->args[2] == MADV_FREE ||
			    call->args[2] == MADV_REMOVE || call->args[2] == MADV_DONTNEED_LOCKED);
	range.start = maps ? (uint64_t)call->result : mt_page_down(call->args[0]);
	if ((touched || given_back) &&
	    !__builtin_add_overflow(range.start, mt_page_up(call->args[1]), &range.end))
		options->advised(options->context, ledger, effect->space, &range, touched);
}

/* True if the advice may remove pages. Advice that brings pages in does not; unknown advice may. */
static bool may_take_pages(uint64_t advice)
{
	return advice != MADV_WILLNEED && advice != MADV_POPULATE_READ &&
	       advice != MADV_POPULATE_WRITE && advice != MADV_COLLAPSE;
}

/*
 * Which unseen calls a call is evidence of: operations of io_uring, and the ranges of
 * process_madvise, are not recorded. MT_UNSEEN_ADVICE: any process may have lost pages.
 */
static uint32_t unseen_by_call(const struct mt_vm_call *call)
{
	if (call->kind == MT_VM_IO_URING_SETUP && !mt_vm_call_failed(call->result))
		return MT_UNSEEN_RING;
	if (call->kind == MT_VM_PROCESS_MADVISE && call->result > 0 &&
	    may_take_pages(call->args[3]))
		return MT_UNSEEN_ADVICE;
	return 0;
}

static void post_call(struct mt_ledger *ledger, const struct mt_effect *effect)
{
	struct mt_account *account = effect->space->account;
	uint64_t brk = account->brk;
	struct mt_call_origins origins = {
		.origin = origin_of(ledger, effect, MT_ORIGIN_CALL),
		.lost = origin_of(ledger, effect, MT_ORIGIN_LOST),
		.after_loss =
			effect->call.kind == MT_VM_BRK &&
			mt_losses_between(&ledger->brk_losses, account->brk_time, effect->time),
	};
	uint32_t unseen = unseen_by_call(&effect->call);

	effect->space->unseen |= unseen;
	if (unseen & MT_UNSEEN_ADVICE)
		mt_ledger_spaces_doubt_pages(&ledger->spaces);
	mt_account_call(account, &effect->call, &origins);
	report_advised(ledger, effect);
	if (effect->enter != effect->exit)
		find_overlaps(ledger, effect, brk, origins.origin);
}

static void post_found(struct mt_ledger *ledger, const struct mt_effect *effect)
{
	struct mt_found found = effect->found;

	found.time = effect->time;
	found.origin = origin_of(ledger, effect, found.exec ? MT_ORIGIN_EXEC : MT_ORIGIN_KERNEL);
	mt_account_found(effect->space->account, &found);
}

/* Copies the parent's account. A child that has an account shares the space of another task. */
static void post_fork(struct mt_ledger *ledger, const struct mt_effect *effect)
{
	struct mt_ledger_space *child = effect->space;

	if (child->account || child->watch->unused)
		return;
	needs_account(ledger, effect->parent, effect->time);
	child->account = mt_account_fork(effect->parent->account, effect->time);
	child->began = effect->time;
	child->comm = effect->parent->comm;
	child->mapped = effect->parent->mapped;
	child->watch->held = effect->parent->watch->held;
	child->watch->read_once = effect->parent->watch->read_once;
	child->watch->read = effect->parent->watch->read;
	child->unseen = effect->parent->unseen & (MT_UNSEEN_NARROW | MT_UNSEEN_RING);
	note_copy(ledger, effect);
}

static void post_end(struct mt_ledger *ledger, const struct mt_effect *effect)
{
	struct mt_ledger_space *space = effect->space;

	if (!space->account)
		return;
	space->ended = effect->time;
	space->execed = effect->exec;
	space->uncertain = mt_losses_between(&ledger->losses, space->began, effect->time);
	mt_ledger_close(ledger, space, effect->time);
}

/* Reports a page event. Page events do not change accounts. */
static void post_pages(struct mt_ledger *ledger, const struct mt_effect *effect)
{
	const struct mt_ledger_options *options = ledger->options;
	bool count = effect->kind == MT_EFFECT_COUNT;
	uint32_t origin = origin_of(ledger, effect, count ? MT_ORIGIN_UNSEEN : MT_ORIGIN_CALL);

	if (count)
		options->counted(options->context, ledger,
				 &(struct mt_ledger_count){
					 .space = effect->space,
					 .time = effect->time,
					 .count = &effect->count,
					 .origin = origin,
					 .tid = effect->task.tid,
				 });
	else
		options->touched(options->context, ledger,
				 &(struct mt_ledger_touch){
					 .space = effect->space,
					 .time = effect->time,
					 .address = effect->address,
					 .origin = origin,
					 .tid = effect->task.tid,
					 .order = effect->kind == MT_EFFECT_ALLOC ? effect->order
										  : 0,
				 });
}

static bool reports_of_pages(const struct mt_effect *effect)
{
	return effect->kind == MT_EFFECT_TOUCH || effect->kind == MT_EFFECT_COUNT ||
	       effect->kind == MT_EFFECT_ALLOC;
}

/* Applies an effect that may change regions. */
static void post_change(struct mt_ledger *ledger, const struct mt_effect *effect)
{
	struct mt_ledger_space *space = effect->space;

	keep_peak(ledger, space, effect->time);
	ledger->posting = space;
	space->watch->changed = effect->time;
	if (effect->kind == MT_EFFECT_CALL)
		post_call(ledger, effect);
	else
		post_found(ledger, effect);
	note_peak(space->watch);
}

void mt_ledger_post(struct mt_ledger *ledger, const struct mt_effect *effect)
{
	struct mt_ledger_space *space = effect->space;

	if (effect->kind == MT_EFFECT_END) {
		post_end(ledger, effect);
	} else if (effect->kind == MT_EFFECT_FORK) {
		post_fork(ledger, effect);
	} else if (!space->ended) {
		space->comm = effect->task.comm;
		needs_account(ledger, space, effect->time);
		if (reports_of_pages(effect))
			post_pages(ledger, effect);
		else
			post_change(ledger, effect);
	}
}

/* ---- Readings ---- */

static int compare_lines(const void *a, const void *b)
{
	const struct mt_initial_map *x = a, *y = b;

	if (x->after != y->after)
		return x->after < y->after ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/*
 * The lines from one read() of /proc/PID/maps, which are valid at one moment between the times
 * before and after it.
 */
struct piece {
	const struct mt_initial_map *lines;
	size_t count;
	uint64_t start;	  /* start of the range of the piece: the end of the previous one */
	bool first, last; /* of its reading */
};

static bool same_reading(const struct mt_initial_map *a, const struct mt_initial_map *b)
{
	return a->pid == b->pid && a->reading == b->reading;
}

static struct piece piece_at(const struct mt_ledger *ledger, size_t from)
{
	const struct mt_initial_map *lines = ledger->initial_maps.items;
	size_t to = from + 1, count = ledger->initial_maps.count;

	while (to < count && lines[to].before == lines[from].before &&
	       same_reading(&lines[to], &lines[from]))
		to++;
	return (struct piece){
		.lines = lines + from,
		.count = to - from,
		.start = from && same_reading(&lines[from - 1], &lines[from])
				 ? lines[from - 1].region.end
				 : 0,
		.first = !from || !same_reading(&lines[from - 1], &lines[from]),
		.last = to == count || !same_reading(&lines[to], &lines[to - 1]),
	};
}

static bool is_last_reading(const struct mt_ledger *ledger, const struct mt_initial_map *line)
{
	uint64_t index;

	return !mt_map64_get(&ledger->readings_of, (uint32_t)line->pid, &index) ||
	       line->reading + 1 == ledger->readings.items[index].count;
}

/*
 * True if the space may have changed during the read(), so the order of change and read() is
 * unknown. Then a later reading decides. If there is none, the account is kept, provided that the
 * space was read completely before.
 */
static bool is_ambiguous(const struct mt_ledger *ledger, const struct mt_ledger_space *space,
			 const struct piece *piece)
{
	const struct mt_ledger_watch *watch = space->watch;

	return watch->changed >= piece->lines->before &&
	       (watch->read_once || !is_last_reading(ledger, piece->lines));
}

/*
 * The origin of the changes that a reading shows. A region that was mapped or unmapped between two
 * readings was changed by an unseen call, or by a call whose records were lost.
 */
static struct mt_origin name_reading(struct mt_ledger *ledger, const struct mt_ledger_space *space,
				     const struct mt_initial_map *line)
{
	bool lost = mt_losses_between(&ledger->losses, space->watch->read, line->after);

	return process_origin(ledger, space,
			      !space->watch->read_once ? MT_ORIGIN_BEFORE
			      : lost		       ? MT_ORIGIN_LOST
						       : MT_ORIGIN_UNSEEN,
			      line->after);
}

static void account_piece(struct mt_ledger *ledger, struct mt_ledger_space *space,
			  const struct piece *piece)
{
	const struct mt_origin origin = name_reading(ledger, space, piece->lines);
	struct mt_reading_piece reported = {
		.time = piece->lines->after,
		.start = piece->start,
		.end = piece->last ? UINT64_MAX : piece->lines[piece->count - 1].region.end,
		.count = piece->count,
		.origin = mt_origins_intern(ledger->origins, &origin),
		.again = space->watch->read_once,
	};
	MT_ARRAY(struct mt_extent) regions = {0};

	for (size_t i = 0; i < piece->count; i++) {
		space->unseen |= piece->lines[i].unseen;
		mt_array_append(&regions, piece->lines[i].region);
	}
	reported.lines = regions.items;
	ledger->posting = space;
	needs_account(ledger, space, reported.time);
	mt_account_reading(space->account, &reported);
	note_peak(space->watch);
	mt_array_deinit(&regions);
}

static void post_piece(struct mt_ledger *ledger, const struct piece *piece)
{
	struct mt_ledger_space *space = mt_ledger_spaces_of_pid(&ledger->spaces, piece->lines->pid);
	struct mt_ledger_watch *watch = space ? space->watch : NULL;

	if (!space)
		return;
	if (piece->first) {
		watch->reading = piece->lines->before;
		watch->read_in_part = false;
	}
	if (is_ambiguous(ledger, space, piece))
		watch->read_in_part = true;
	else
		account_piece(ledger, space, piece);
	if (piece->last && !watch->read_in_part) {
		watch->read_once = true;
		watch->read = watch->reading;
	}
}

void mt_ledger_post_readings(struct mt_ledger *ledger, uint64_t until)
{
	if (!ledger->initial_maps_sorted && ledger->initial_maps.count)
		qsort(ledger->initial_maps.items, ledger->initial_maps.count,
		      sizeof(*ledger->initial_maps.items), compare_lines);
	ledger->initial_maps_sorted = true;
	while (ledger->initial_maps_from < ledger->initial_maps.count &&
	       ledger->initial_maps.items[ledger->initial_maps_from].after <= until) {
		const struct piece piece = piece_at(ledger, ledger->initial_maps_from);

		post_piece(ledger, &piece);
		ledger->initial_maps_from += piece.count;
	}
}
