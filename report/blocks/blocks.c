/*
 * Passes a session's records to the accounts of their spaces, in order: calls of allocators wait
 * for their stacks, and ends of spaces for the calls before them.
 */
#include "report/blocks/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "formats/reader.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "report/blocks/block_calls.h"
#include "report/blocks/kernel_calls.h"
#include "report/ledger/losses.h"
#include "report/session/session.h"
#include "report/stacks/code_class.h"
#include "report/stacks/spaces.h"
#include "report/stacks/stacks.h"
#include "report/tables/facts.h"

enum {
	PENDING_MOST = 1 << 14, /* more than glibc keeps in the caches of a dozen threads */
};

/* The account of a space. */
struct mt_block_account {
	struct mt_blocks_space space;
	bool forked;		  /* frees of unknown blocks may be of the parent's blocks */
	bool closed;		  /* its end is queued */
	struct mt_block_map *map; /* NULL after it was delivered */
	struct mt_map64 anomaly[MT_BLOCK_ANOMALIES]; /* origin to number of calls */
};

/* Anomalous frees of a thread that has done nothing else since. */
struct pending_free {
	struct mt_block_account *account;
	int32_t tid;
	uint32_t origin;
	enum mt_block_anomaly anomaly;
	uint32_t calls;
};

enum queued_kind {
	QUEUED_CALL,
	QUEUED_END,  /* the end of a space */
	QUEUED_LAST, /* a thread ended that is not the process's first */
};

/* An effect on an account, which the session defers. */
struct queued {
	enum queued_kind kind;
	bool execed; /* of QUEUED_END: by exec */
	uint64_t time;
	struct mt_block_account *account;
	int32_t tid; /* CALL, LAST */
	struct mt_block_call call;
	struct mt_origin origin; /* of GIVES and FAILS */
};

struct mt_blocks {
	struct mt_session *session;
	const struct mt_blocks_options *options;
	struct mt_observer observer;
	struct mt_origins *origins;
	MT_ARRAY(struct mt_block_event) events;		/* by index in facts->events */
	MT_ARRAY(struct mt_kernel_event) kernel_events; /* the same with options->kernel */
	/* Of the present recording: */
	struct mt_block_calls *calls;
	struct mt_losses losses;
	MT_ARRAY(struct mt_block_account *) accounts;
	struct mt_map64 by_space; /* id of a struct mt_space to index in accounts */
	MT_ARRAY(struct pending_free) pending;
	struct mt_map64 pending_of; /* tids with pending frees */
	struct mt_map64 last_given; /* tid to address of its last allocated block; with `gone` */
	uint64_t now, at;
	bool begun, frozen;
	uint32_t one_in; /* maximum number of blocks that one recorded block represents */
	bool limited;	 /* blocks of some sizes are left out */
	/* Of all recordings: */
	uint64_t lost;
	struct mt_facts_blocks counts;
};

/* ---- Accounts ---- */

static void account_destroy(struct mt_block_account *account)
{
	mt_block_map_destroy(account->map);
	for (size_t i = 0; i < MT_BLOCK_ANOMALIES; i++)
		mt_map64_deinit(&account->anomaly[i]);
	free(account);
}

static void forget_recording(struct mt_blocks *blocks)
{
	mt_block_calls_destroy(blocks->calls);
	blocks->calls = NULL;
	mt_losses_deinit(&blocks->losses);
	for (size_t i = 0; i < blocks->accounts.count; i++)
		account_destroy(blocks->accounts.items[i]);
	mt_array_deinit(&blocks->accounts);
	mt_map64_deinit(&blocks->by_space);
	mt_array_deinit(&blocks->pending);
	mt_map64_deinit(&blocks->pending_of);
	mt_map64_deinit(&blocks->last_given);
	if (blocks->events.count)
		memset(blocks->events.items, 0,
		       blocks->events.count * sizeof(*blocks->events.items));
	blocks->begun = blocks->frozen = false;
	blocks->one_in = 1;
	blocks->limited = false;
	blocks->now = 0;
}

void mt_blocks_destroy(struct mt_blocks *blocks)
{
	if (!blocks)
		return;
	mt_session_ignore(blocks->session, &blocks->observer);
	forget_recording(blocks);
	mt_array_deinit(&blocks->events);
	mt_array_deinit(&blocks->kernel_events);
	mt_origins_destroy(blocks->origins);
	free(blocks);
}

/* The account `id`, which is that of a space or one of the kernel's. */
static struct mt_block_account *account_of(struct mt_blocks *blocks, const struct mt_space *space,
					   uint64_t id, uint32_t recording)
{
	struct mt_block_account *account;
	uint64_t index;

	if (mt_map64_get(&blocks->by_space, id, &index))
		return blocks->accounts.items[index];
	account = mt_alloc(1, sizeof(*account));
	account->map = mt_block_map_create(blocks->options->at.when == MT_AT_PEAK);
	mt_map64_put(&blocks->by_space, id, blocks->accounts.count);
	mt_array_append(&blocks->accounts, account);
	account->space = (struct mt_blocks_space){
		.recording = recording, .pid = space->pid, .generation = space->generation};
	return account;
}

/* ---- Anomalies ---- */

static void count_anomaly(struct mt_block_account *account, enum mt_block_anomaly anomaly,
			  uint32_t origin, uint64_t calls)
{
	uint64_t before = 0;

	mt_map64_get(&account->anomaly[anomaly], origin, &before);
	mt_map64_put(&account->anomaly[anomaly], origin, before + calls);
}

static void settle_free(struct mt_blocks *blocks, const struct pending_free *free)
{
	blocks->counts.twice += free->anomaly == MT_ANOMALY_TWICE ? free->calls : 0;
	blocks->counts.unknown += free->anomaly == MT_ANOMALY_UNKNOWN ? free->calls : 0;
	if (blocks->options->anomaly)
		count_anomaly(free->account, free->anomaly, free->origin, free->calls);
}

/*
 * Removes the pending frees of a thread, or of an account if that is not NULL. If `count`, counts
 * them first.
 */
static void end_pending(struct mt_blocks *blocks, int32_t tid,
			const struct mt_block_account *account, bool count)
{
	size_t kept = 0;

	for (size_t i = 0; i < blocks->pending.count; i++) {
		struct pending_free *free = &blocks->pending.items[i];

		if (account ? free->account != account : free->tid != tid)
			blocks->pending.items[kept++] = *free;
		else if (count)
			settle_free(blocks, free);
	}
	blocks->pending.count = kept;
}

/* Ends the pending frees of a thread that did something else, or that ended. */
static void end_frees(struct mt_blocks *blocks, int32_t tid, bool count)
{
	if (blocks->pending.count && mt_map64_remove(&blocks->pending_of, (uint32_t)tid))
		end_pending(blocks, tid, NULL, count);
}

/*
 * Anomalous frees right before a thread's end are by glibc, which empties the thread's cache of
 * free blocks. So each free is pending until the thread does something else.
 */
static void add_pending(struct mt_blocks *blocks, const struct pending_free *free)
{
	size_t count = blocks->pending.count;
	struct pending_free *last = count ? &blocks->pending.items[count - 1] : NULL;

	if (last && last->account == free->account && last->tid == free->tid &&
	    last->origin == free->origin && last->anomaly == free->anomaly &&
	    last->calls < UINT32_MAX) {
		last->calls++;
		return;
	}
	if (count == PENDING_MOST) {
		for (size_t i = 0; i < count; i++)
			settle_free(blocks, &blocks->pending.items[i]);
		blocks->pending.count = 0;
		mt_map64_deinit(&blocks->pending_of);
	}
	mt_array_append(&blocks->pending, *free);
	mt_map64_put(&blocks->pending_of, (uint32_t)free->tid, 0);
}

/* ---- Delivering ---- */

struct delivery {
	struct mt_blocks *blocks;
	const struct mt_block_account *account;
	uint64_t until;
};

static void report_block(void *context, const struct mt_block *block)
{
	const struct delivery *delivery = context;
	struct mt_blocks *blocks = delivery->blocks;
	const struct mt_origin *origin = mt_origins_get(blocks->origins, block->origin);

	if (origin->selected)
		blocks->options->block(
			blocks->options->context, &delivery->account->space, origin, block,
			mt_losses_between(&blocks->losses, mt_block_last(block), delivery->until));
}

/* Origins and anomalies are few, so a scan is fast enough. */
static void report_anomaly(const struct mt_blocks *blocks, const struct mt_block_account *account,
			   enum mt_block_anomaly anomaly)
{
	uint64_t calls;

	if (!blocks->options->anomaly || !account->anomaly[anomaly].count)
		return;
	for (uint32_t id = 0; id < mt_origins_count(blocks->origins); id++) {
		const struct mt_origin *origin = mt_origins_get(blocks->origins, id);

		if (origin->selected && mt_map64_get(&account->anomaly[anomaly], id, &calls))
			blocks->options->anomaly(blocks->options->context, &account->space, origin,
						 anomaly, calls);
	}
}

/* Delivers an account as of its end or its peak, and ends it. */
static void end_account(struct mt_blocks *blocks, struct mt_block_account *account, uint64_t time)
{
	struct delivery delivery = {.blocks = blocks, .account = account, .until = time};
	bool at_peak = blocks->options->at.when == MT_AT_PEAK;

	account->space.time = at_peak ? mt_block_map_peak_time(account->map) : time;
	end_pending(blocks, 0, account, true);
	if (blocks->options->block)
		mt_block_map_each(account->map, at_peak, report_block, &delivery);
	for (enum mt_block_anomaly anomaly = 0; anomaly < MT_BLOCK_ANOMALIES; anomaly++)
		report_anomaly(blocks, account, anomaly);
	if (blocks->options->remaining)
		blocks->options->remaining(blocks->options->context, &account->space, account->map);
	mt_block_map_destroy(account->map);
	account->map = NULL;
}

static void report_all(struct mt_blocks *blocks, uint64_t time)
{
	for (size_t i = 0; i < blocks->accounts.count; i++) {
		if (blocks->accounts.items[i]->map)
			end_account(blocks, blocks->accounts.items[i], time);
	}
}

/* ---- Effects, in order ---- */

/* Compares a block that a thread frees with the one that the thread allocated last. */
static void compare_with_last(const struct mt_blocks *blocks, const struct queued *queued,
			      const struct mt_block *block, struct mt_block_end *end)
{
	const struct mt_block *last;
	uint64_t at;

	if (!mt_map64_get(&blocks->last_given, (uint32_t)queued->tid, &at))
		return;
	end->temporary = block->tid == queued->tid && at == block->address;
	last = mt_block_map_at(queued->account->map, at);
	end->replaced = last && last->bytes > block->bytes && last->time > block->time &&
			mt_origins_get(blocks->origins, last->origin)->stack ==
				mt_origins_get(blocks->origins, block->origin)->stack;
}

/* Reports that the block at an address has ended. */
static void report_gone(struct mt_blocks *blocks, const struct queued *queued, uint64_t address,
			bool freed)
{
	struct mt_block_account *account = queued->account;
	const struct mt_block *block = mt_block_map_at(account->map, address);
	const struct mt_origin *origin;
	struct mt_block_end end = {.time = queued->time};

	if (!block || !blocks->options->gone)
		return;
	account->space.time = queued->time;
	origin = mt_origins_get(blocks->origins, block->origin);
	end.resized = freed && queued->call.resizes;
	if (freed)
		compare_with_last(blocks, queued, block, &end);
	if (origin->selected)
		blocks->options->gone(blocks->options->context, &account->space, origin, block,
				      &end);
}

/*
 * Notes a free of an address without a live block. `allocated`: the origin of the block, if known.
 */
static void note_anomaly_free(struct mt_blocks *blocks, const struct queued *queued,
			      enum mt_block_freed freed, uint32_t allocated)
{
	struct pending_free free = {
		.account = queued->account,
		.tid = queued->tid,
		.anomaly = freed == MT_FREED_TWICE ? MT_ANOMALY_TWICE : MT_ANOMALY_UNKNOWN,
		.calls = 1,
	};
	struct mt_origin origin = queued->origin;

	if (allocated != MT_BLOCK_NO_ORIGIN) {
		const struct mt_origin *known = mt_origins_get(blocks->origins, allocated);

		origin.stack = known->stack;
		origin.event = known->event;
		origin.selected = known->selected;
	}
	free.origin = mt_origins_intern(blocks->origins, &origin);
	add_pending(blocks, &free);
}

static void apply_free(struct mt_blocks *blocks, const struct queued *queued)
{
	struct mt_block_account *account = queued->account;
	uint64_t address = queued->call.freed;
	enum mt_block_freed freed;
	uint32_t allocated;
	const struct mt_block_freeing freeing = {
		.address = address,
		.time = queued->time,
		.tid = queued->tid,
		.resizes = queued->call.resizes,
	};

	report_gone(blocks, queued, address, true);
	freed = mt_block_map_free(account->map, &freeing, &allocated);
	blocks->counts.unseen_frees -= freed == MT_FREED_OUT_OF_TURN;
	if (freed == MT_FREED_LIVE || freed == MT_FREED_OUT_OF_TURN) {
		end_frees(blocks, queued->tid, true);
		return;
	}
	if (freed == MT_FREED_UNKNOWN && account->forked)
		return;
	if (blocks->one_in > 1 || blocks->limited)
		return; /* if blocks are sampled, most freed blocks were not chosen */
	/*
	 * The block may have been allocated in between: in bulk, at an address that no sample
	 * shows, in a lost record, or by a child of vfork, if its first allocation was not seen
	 * either.
	 */
	if (freed == MT_FREED_TWICE &&
	    (allocated == MT_BLOCK_NO_ORIGIN || blocks->options->kernel ||
	     blocks->counts.unreadable || mt_losses_between(&blocks->losses, 0, queued->time))) {
		freed = MT_FREED_UNKNOWN;
		allocated = MT_BLOCK_NO_ORIGIN;
	}
	note_anomaly_free(blocks, queued, freed, allocated);
}

/*
 * Applies the free by realloc. Before realloc returned, another thread may have got the address and
 * freed it again. Then the free by realloc is the one that was missing.
 */
static void apply_old(struct mt_blocks *blocks, struct queued *queued)
{
	struct mt_block_account *account = queued->account;
	const struct mt_block_call *call = &queued->call;
	const struct mt_block *old = mt_block_map_at(account->map, call->freed);

	if (call->freed && mt_block_map_freed_within(account->map, call->freed, call->given.enter))
		blocks->counts.unseen_frees--;
	else if (call->freed && !(old && mt_block_last(old) > call->given.enter))
		apply_free(blocks, queued);
}

static void note_rate(struct mt_blocks *blocks, uint32_t one_in)
{
	struct mt_facts_blocks *counts = &blocks->counts;

	if (one_in <= 1)
		return;
	counts->one_in_most = one_in > counts->one_in_most ? one_in : counts->one_in_most;
	if (!counts->one_in_least || one_in < counts->one_in_least)
		counts->one_in_least = one_in;
}

static void apply_given(struct mt_blocks *blocks, const struct queued *queued)
{
	const struct mt_block_given *given = &queued->call.given;
	struct mt_block_map *map = queued->account->map;

	if (mt_block_map_replaces(map, given))
		report_gone(blocks, queued, given->address, false);
	blocks->counts.unseen_frees += mt_block_map_give(map, given);
	note_rate(blocks, blocks->options->kernel
				  ? blocks->kernel_events.items[queued->origin.event].one_in
				  : blocks->events.items[queued->origin.event].one_in);
	if (blocks->options->gone)
		mt_map64_put(&blocks->last_given, (uint32_t)queued->tid, given->address);
}

static void apply_call(struct mt_blocks *blocks, struct queued *queued)
{
	struct mt_block_call *call = &queued->call;

	if (call->effect == MT_BLOCK_FREES) {
		apply_free(blocks, queued);
		return;
	}
	end_frees(blocks, queued->tid, true);
	call->given.origin = mt_origins_intern(blocks->origins, &queued->origin);
	apply_old(blocks, queued);
	blocks->counts.unreadable += call->effect == MT_BLOCK_UNREADABLE;
	if (call->effect == MT_BLOCK_FAILS && blocks->options->anomaly)
		count_anomaly(queued->account, MT_ANOMALY_FAILED, call->given.origin, 1);
	if (call->effect == MT_BLOCK_GIVES)
		apply_given(blocks, queued);
}

static void deliver(void *context, void *item, uint32_t stack, bool selected)
{
	struct mt_blocks *blocks = context;
	struct queued *queued = item;
	struct mt_block_account *account = queued->account;

	queued->origin.stack = stack;
	queued->origin.selected |= selected;
	if (!blocks->frozen && queued->time > blocks->at) {
		blocks->frozen = true;
		report_all(blocks, blocks->at);
	}
	if (queued->kind == QUEUED_LAST) {
		end_frees(blocks, queued->tid, false);
		mt_map64_remove(&blocks->last_given, (uint32_t)queued->tid);
	}
	if (queued->kind == QUEUED_LAST || !account->map)
		return;
	if (queued->kind == QUEUED_CALL) {
		apply_call(blocks, queued);
		return;
	}
	account->space.ended = true;
	account->space.execed = queued->execed;
	end_account(blocks, account, queued->time);
}

/* ---- Records from the session ---- */

static bool wants(void *context, const struct mt_facts_event *event)
{
	const struct mt_blocks *blocks = context;

	return blocks->options->kernel ? mt_kernel_event_is(event->name)
				       : mt_block_operation_of(event->account) == MT_BLOCK_ALLOC;
}

static void take_kernel_event(struct mt_blocks *blocks, const struct mt_observed *observed)
{
	const struct mt_facts_event *facts =
		&mt_session_facts(blocks->session)->events.items[observed->event];
	struct mt_kernel_event *event = mt_array_at(&blocks->kernel_events, observed->event);

	*event = mt_kernel_event_parse(facts->name, &observed->described->format);
	event->one_in = mt_block_one_in(facts->account);
	if (event->allocator && event->one_in > blocks->one_in)
		blocks->one_in = event->one_in;
}

static void take_event(struct mt_blocks *blocks, const struct mt_observed *observed)
{
	struct mt_block_event *event = mt_array_at(&blocks->events, observed->event);

	*event = mt_block_event_parse(observed->described, mt_session_strings(blocks->session));
	if (event->one_in > 1)
		mt_block_calls_set_sampled(blocks->calls);
	if (event->operation != MT_BLOCK_NONE && event->one_in > blocks->one_in)
		blocks->one_in = event->one_in;
	blocks->limited |= event->most;
}

static bool is_ours(const struct mt_blocks *blocks, uint32_t event)
{
	if (blocks->options->kernel)
		return event < blocks->kernel_events.count &&
		       blocks->kernel_events.items[event].allocator;
	return event < blocks->events.count &&
	       blocks->events.items[event].operation != MT_BLOCK_NONE;
}

/*
 * The kernel reports the loss with the event that first found room again in a shared buffer, so any
 * event may have lost the records.
 */
static void take_loss(struct mt_blocks *blocks, const struct mt_observed *observed)
{
	const struct mt_loss_record *loss = observed->loss;
	bool ours = false;

	for (uint32_t i = 0; i < blocks->events.count || i < blocks->kernel_events.count; i++)
		ours |= is_ours(blocks, i);
	if (!ours || (observed->event != MT_EVENT_NONE && loss->source != MT_LOSS_KERNEL &&
		      !is_ours(blocks, observed->event)))
		return;
	blocks->lost += loss->count * blocks->one_in;
	mt_losses_add(&blocks->losses, loss->from, loss->to);
}

/* The account of a call, and the kernel's object cache as a string id. */
struct place {
	uint64_t space; /* id of a struct mt_space; for the kernel's accounts, ids above those */
	uint32_t cache;
};

static struct mt_block_call take_kernel_call(struct mt_blocks *blocks,
					     const struct mt_observed *observed,
					     struct place *place)
{
	struct mt_block_call call;
	const char *cache;
	uint32_t length;

	place->space =
		UINT64_MAX - mt_kernel_call_take(&blocks->kernel_events.items[observed->event],
						 observed->sample, observed->time, &call, &cache,
						 &length);
	place->cache = mt_strings_intern(mt_session_strings(blocks->session), cache, length);
	return call;
}

static void take_sample(struct mt_blocks *blocks, const struct mt_observed *observed)
{
	const struct mt_task *task = observed->task;
	struct queued *queued;
	struct mt_block_call call;
	struct place place = {.space = task->space->id};

	if (!is_ours(blocks, observed->event))
		return;
	call = blocks->options->kernel
		       ? take_kernel_call(blocks, observed, &place)
		       : mt_block_calls_take(blocks->calls, &blocks->events.items[observed->event],
					     observed->attr, observed->sample, observed->time);
	if (call.effect == MT_BLOCK_NOTHING)
		return;
	queued = mt_session_defer(blocks->session, &blocks->observer, observed);
	queued->call = call;
	queued->tid = task->tid;
	queued->time = observed->time;
	queued->account = account_of(blocks, task->space, place.space, observed->recording);
	queued->origin = (struct mt_origin){
		.kind = MT_ORIGIN_CALL,
		.event = observed->event,
		.comm = task->comm,
		.process = task->space->comm,
		.cgroup = task->space->cgroup,
		.exe = task->space->exe,
		.cache = place.cache,
		.pid = task->pid,
		.tid = task->tid,
		.selected = call.effect == MT_BLOCK_FREES &&
			    mt_session_selects(blocks->session, task, observed->time),
	};
}

static void take_fork(struct mt_blocks *blocks, const struct mt_observed *observed)
{
	if (observed->kernel->pid != observed->kernel->ppid && observed->task)
		account_of(blocks, observed->task->space, observed->task->space->id,
			   observed->recording)
			->forked = true;
}

/* Queues the end of a space without threads. */
static void take_end(struct mt_blocks *blocks, const struct mt_observed *observed, bool execed)
{
	struct mt_block_account *account;
	struct queued *queued;

	if (!observed->space || observed->space->threads)
		return;
	account = account_of(blocks, observed->space, observed->space->id, observed->recording);
	if (account->closed)
		return;
	queued = mt_session_defer(blocks->session, &blocks->observer, observed);
	account->closed = true;
	queued->kind = QUEUED_END;
	queued->time = observed->time;
	queued->account = account;
	queued->execed = execed;
}

static void take_thread_end(struct mt_blocks *blocks, const struct mt_observed *observed)
{
	int32_t tid = observed->kernel->tid;
	struct queued *queued;

	mt_block_calls_end(blocks->calls, tid);
	if (tid != observed->kernel->pid) {
		queued = mt_session_defer(blocks->session, &blocks->observer, observed);
		queued->kind = QUEUED_LAST;
		queued->time = observed->time;
		queued->tid = tid;
	}
	take_end(blocks, observed, false);
}

static void take_kernel(struct mt_blocks *blocks, const struct mt_observed *observed)
{
	uint32_t type = observed->kernel->type;

	if (type == MT_KERNEL_FORK) {
		take_fork(blocks, observed);
	} else if (type == MT_KERNEL_COMM && observed->kernel->exec) {
		mt_block_calls_end(blocks->calls, observed->kernel->tid);
		take_end(blocks, observed, true);
	} else if (type == MT_KERNEL_EXIT) {
		take_thread_end(blocks, observed);
	}
}

static void take(struct mt_blocks *blocks, const struct mt_observed *observed)
{
	bool kernel = blocks->options->kernel;

	if (observed->kind == MT_OBSERVED_EVENT && kernel)
		take_kernel_event(blocks, observed);
	else if (observed->kind == MT_OBSERVED_EVENT)
		take_event(blocks, observed);
	else if (observed->kind == MT_OBSERVED_LOSS)
		take_loss(blocks, observed);
	else if (observed->kind == MT_OBSERVED_SAMPLE)
		take_sample(blocks, observed);
	else if (observed->kind == MT_OBSERVED_KERNEL && !kernel) /* only for spaces */
		take_kernel(blocks, observed);
}

static void begin_recording(struct mt_blocks *blocks, uint32_t recording)
{
	const struct mt_facts_recording *facts =
		&mt_session_facts(blocks->session)->recordings.items[recording];

	blocks->at = mt_at_clock(&blocks->options->at, facts->start, facts->end);
	if (facts->blocks_end && !blocks->options->kernel && facts->blocks_end < blocks->at)
		blocks->at = facts->blocks_end; /* later frees are not recorded */
	/* Events are disabled one after another: frees may be recorded longer than allocations. */
	if (facts->reading->has_end && facts->end > facts->start && facts->end < blocks->at)
		blocks->at = facts->end;
	blocks->begun = true;
}

/* Blocks stay live while nothing is recorded. */
static void end_recording(struct mt_blocks *blocks, uint32_t recording)
{
	uint64_t end = mt_facts_observed_end(
		&mt_session_facts(blocks->session)->recordings.items[recording], 0);

	end = blocks->now > end ? blocks->now : end; /* damaged times */
	report_all(blocks, end < blocks->at ? end : blocks->at);
	forget_recording(blocks);
}

static void observe(void *context, const struct mt_observed *observed)
{
	struct mt_blocks *blocks = context;
	bool data = observed->kind == MT_OBSERVED_KERNEL || observed->kind == MT_OBSERVED_SAMPLE;

	if (!blocks->calls)
		blocks->calls = mt_block_calls_create();
	if (data && !blocks->begun)
		begin_recording(blocks, observed->recording);
	if (data && observed->time > blocks->now)
		blocks->now = observed->time;
	if (observed->kind == MT_OBSERVED_END)
		end_recording(blocks, observed->recording);
	else
		take(blocks, observed);
}

struct mt_blocks *mt_blocks_begin(struct mt_session *session,
				  const struct mt_blocks_options *options)
{
	struct mt_blocks *blocks = mt_alloc(1, sizeof(*blocks));

	blocks->session = session;
	blocks->options = options;
	blocks->one_in = 1;
	blocks->observer = (struct mt_observer){
		.context = blocks,
		.wants = options->alongside ? NULL : wants,
		.observe = observe,
		.deliver = deliver,
		.item_size = sizeof(struct queued),
	};
	blocks->origins = mt_origins_create();
	mt_session_observe(session, &blocks->observer);
	return blocks;
}

/*
 * True if a note (FORMAT.md, 4.3) names functions of a file as probed; of any file for `path` "".
 */
static bool notes_probes(const struct mt_facts *facts, const char *path)
{
	for (size_t i = 0; i < facts->recordings.count; i++) {
		const struct mt_facts_recording *r = &facts->recordings.items[i];

		for (size_t k = 0; k < r->notes.count; k++) {
			const char *text = r->notes.items[k].text;
			const char *files = strstr(text, " functions of ");

			if (!strncmp(text, "malloc: ", 8) && files && strstr(files, path))
				return true;
		}
	}
	return false;
}

/* The path of an allocator without probes, which a program loaded later; NULL if there is none. */
static const char *unprobed_allocator(const struct mt_session *session)
{
	const struct mt_facts *facts = mt_session_facts(session);
	uint32_t count = mt_session_image_count(session);

	for (uint32_t i = 0; i < count && notes_probes(facts, ""); i++) {
		const char *path = mt_session_image_path(session, i);

		if (mt_is_allocator(path) && !notes_probes(facts, path))
			return path;
	}
	return NULL;
}

uint64_t mt_blocks_end(struct mt_blocks *blocks)
{
	blocks->counts.unprobed = unprobed_allocator(blocks->session);
	mt_session_add_blocks(blocks->session, &blocks->counts);
	return blocks->lost;
}
