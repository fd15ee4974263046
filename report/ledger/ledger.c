/*
 * Passes a recording's records on to intake and posting, and closes all spaces at the requested
 * moment or at the end.
 */
#include "report/ledger/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/err.h"
#include "formats/records/record.h"
#include "report/ledger/ledger_parts.h"
#include "report/session/session.h"
#include "report/stacks/spaces.h"
#include "report/tables/facts.h"

enum {
	MOST_WAITING = 1 << 18, /* effects */
};

#define PATIENCE_NS 100000000ull /* how long a lock outside any recorded call is kept */

/* ---- Borrowed tables ---- */

const struct mt_origin *mt_ledger_origin(const struct mt_ledger *ledger, uint32_t id)
{
	return mt_origins_get(ledger->origins, id);
}

uint32_t mt_ledger_because(const struct mt_ledger *ledger, uint32_t origin,
			   enum mt_origin_kind kind)
{
	return mt_origins_because(ledger->origins, origin, kind);
}

bool mt_ledger_pages_lost(const struct mt_ledger *ledger, uint64_t from, uint64_t to)
{
	/* The query only sorts the losses. */
	return mt_losses_between((struct mt_losses *)&ledger->page_losses, from, to);
}

const struct mt_attr_table *mt_ledger_attrs(const struct mt_ledger *ledger)
{
	return ledger->attr_table;
}

bool mt_ledger_inherited(const struct mt_ledger_space *space, const struct mt_extent *region)
{
	return space->account && space->account->forked && region->time <= space->account->forked;
}

uint64_t mt_ledger_doubtful(const struct mt_ledger *ledger, const struct mt_ledger_space *space,
			    const struct mt_extent *region)
{
	/* The query only sorts the losses. */
	struct mt_losses *losses = (struct mt_losses *)&ledger->losses;
	uint64_t known = region->time > space->watch->read ? region->time : space->watch->read;

	if (mt_losses_between(losses, known, space->ended ? space->ended : ledger->now))
		return region->end - region->start;
	return space->account ? mt_account_doubtful(space->account, region->start, region->end) : 0;
}

/* ---- Changing recordings ---- */

static void forget_recording(struct mt_ledger *ledger)
{
	mt_order_destroy(ledger->order);
	ledger->order = NULL;
	mt_map64_deinit(&ledger->by_tid);
	mt_array_deinit(&ledger->threads);
	mt_array_deinit(&ledger->free_threads);
	mt_array_deinit(&ledger->initial_maps);
	mt_array_deinit(&ledger->readings);
	mt_map64_deinit(&ledger->readings_of);
	mt_losses_deinit(&ledger->losses);
	mt_losses_deinit(&ledger->brk_losses);
	mt_losses_deinit(&ledger->page_losses);
	mt_losses_deinit(&ledger->map_losses);
	ledger->initial_maps_from = 0;
	ledger->has_calls = ledger->has_marks = ledger->has_locks = ledger->frozen = false;
	ledger->has_data = ledger->has_maps = ledger->moves_checked = false;
	ledger->at = 0;
	mt_ledger_spaces_end_recording(&ledger->spaces);
}

void mt_ledger_destroy(struct mt_ledger *ledger)
{
	if (!ledger)
		return;
	mt_session_ignore(ledger->session, &ledger->observer);
	forget_recording(ledger);
	mt_ledger_spaces_deinit(&ledger->spaces);
	mt_array_deinit(&ledger->events);
	mt_origins_destroy(ledger->origins);
	mt_attr_table_destroy(ledger->attr_table);
	free(ledger);
}

/* ---- The requested moment ---- */

static void begin_recording(struct mt_ledger *ledger, uint32_t recording)
{
	const struct mt_facts_recording *facts =
		&mt_session_facts(ledger->session)->recordings.items[recording];
	const char *kernel = mt_facts_info(facts, "kernel");
	int major, minor;

	ledger->at = mt_at_clock(&ledger->options->at, facts->start, facts->end);
	ledger->moves_checked = kernel && sscanf(kernel, "%d.%d", &major, &minor) == 2 &&
				(major > 6 || (major == 6 && minor >= 17));
}

/* Closes all open spaces. */
static void close_all(struct mt_ledger *ledger, uint64_t time)
{
	for (size_t i = ledger->spaces.from; i < ledger->spaces.all.count; i++) {
		struct mt_ledger_space *space = ledger->spaces.all.items[i];

		if (!space->account)
			continue;
		space->uncertain = mt_losses_between(&ledger->losses, space->began, time);
		mt_ledger_close(ledger, space, time);
	}
}

void mt_ledger_post_ready(struct mt_ledger *ledger, bool all)
{
	const struct mt_effect *effect;

	while ((effect = mt_order_next(ledger->order, ledger->now, PATIENCE_NS, all))) {
		if (ledger->frozen)
			continue;
		if (effect->time > ledger->at) {
			ledger->frozen = true;
			mt_ledger_post_readings(ledger, ledger->at);
			close_all(ledger, ledger->at);
			continue;
		}
		mt_ledger_post_readings(ledger, effect->time);
		mt_ledger_post(ledger, effect);
	}
}

/* The recording may end after its last record: memory stays mapped while nothing is recorded. */
static uint64_t observed_end(const struct mt_ledger *ledger)
{
	uint64_t end = mt_facts_observed_end(
		&mt_session_facts(ledger->session)->recordings.items[ledger->recording], 0);

	end = end > ledger->now ? end : ledger->now; /* times may be damaged */
	return ledger->at && ledger->at < end ? ledger->at : end;
}

static void end_recording(struct mt_ledger *ledger)
{
	mt_ledger_post_ready(ledger, true);
	if (!ledger->frozen) {
		mt_ledger_post_readings(ledger, UINT64_MAX);
		close_all(ledger, observed_end(ledger));
	}
	forget_recording(ledger);
}

/* ---- Records from the session ---- */

static bool wants(void *context, const struct mt_facts_event *event)
{
	const struct mt_ledger *ledger = context;
	enum mt_vm_call_kind kind;

	return (mt_vm_call_moment(event->name, &kind) == MT_MOMENT_EXIT &&
		kind != MT_VM_BY_NUMBER) ||
	       (ledger->options->touched && !ledger->options->stackless &&
		mt_page_event_of(event).moment == MT_PAGE_FAULT);
}

static void take_event(struct mt_ledger *ledger, uint32_t index)
{
	const struct mt_facts_event *facts =
		&mt_session_facts(ledger->session)->events.items[index];
	struct mt_ledger_event *event = mt_array_at(&ledger->events, index);

	event->moment = mt_vm_call_moment(facts->name, &event->kind);
	if (event->kind == MT_VM_BY_NUMBER) /* other events most likely record the same calls */
		event->moment = MT_MOMENT_NONE;
	if (ledger->options->touched)
		event->page = mt_page_event_of(facts);
	ledger->has_calls |= event->moment == MT_MOMENT_EXIT;
	ledger->has_maps |= event->moment == MT_MOMENT_EXIT &&
			    (event->kind == MT_VM_MMAP || event->kind == MT_VM_MUNMAP);
	ledger->has_marks |= event->moment == MT_MOMENT_ENTER;
	ledger->has_locks |= event->moment == MT_MOMENT_LOCK;
}

/*
 * If the event of lost records is unknown, any event may have lost records. The kernel only names
 * the first event that found room again in a buffer that all calls share, so any of these calls may
 * have lost records.
 */
static void take_loss(struct mt_ledger *ledger, uint32_t event, const struct mt_loss_record *loss)
{
	const struct mt_ledger_event *lost =
		event < ledger->events.count ? &ledger->events.items[event] : NULL;
	bool named = loss->source != MT_LOSS_KERNEL;

	if (!lost || !named || lost->moment == MT_MOMENT_NONE || lost->moment == MT_MOMENT_LOCK)
		mt_losses_add(&ledger->map_losses, loss->from, loss->to);
	if (!lost || lost->page.moment != MT_PAGE_NONE)
		mt_losses_add(&ledger->page_losses, loss->from, loss->to);
	if (lost && (named ? lost->moment != MT_MOMENT_EXIT : lost->moment == MT_MOMENT_NONE))
		return;
	if (!lost || !named || lost->kind == MT_VM_BRK)
		mt_losses_add(&ledger->brk_losses, loss->from, loss->to);
	mt_losses_add(&ledger->losses, loss->from, loss->to);
}

static void take(struct mt_ledger *ledger, const struct mt_observed *observed)
{
	switch (observed->kind) {
	case MT_OBSERVED_EVENT:
		take_event(ledger, observed->event);
		break;
	case MT_OBSERVED_MAP:
		mt_ledger_take_map(ledger, observed);
		break;
	case MT_OBSERVED_GAUGE:
		if (ledger->options->gauged)
			ledger->options->gauged(ledger->options->context, observed->recording,
						observed->gauge);
		break;
	case MT_OBSERVED_LOSS:
		take_loss(ledger, observed->event, observed->loss);
		break;
	case MT_OBSERVED_KERNEL:
		mt_ledger_take_kernel(ledger, observed);
		mt_ledger_post_ready(ledger, false);
		break;
	case MT_OBSERVED_SAMPLE:
		mt_ledger_take_sample(ledger, observed);
		mt_ledger_post_ready(ledger, false);
		break;
	case MT_OBSERVED_TASK:
		break;
	case MT_OBSERVED_END:
		end_recording(ledger);
		break;
	}
}

static void observe(void *context, const struct mt_observed *observed)
{
	struct mt_ledger *ledger = context;
	bool data = observed->kind == MT_OBSERVED_KERNEL || observed->kind == MT_OBSERVED_SAMPLE;

	if (ledger->alongside && !ledger->has_calls && observed->kind != MT_OBSERVED_EVENT)
		return;
	if (!ledger->order)
		ledger->order = mt_order_create(MOST_WAITING);
	if (data && !ledger->at)
		begin_recording(ledger, observed->recording);
	ledger->recording = observed->recording;
	if (observed->time > ledger->now || !ledger->now)
		ledger->now = observed->time;
	take(ledger, observed);
}

static void deliver(void *context, void *item, uint32_t stack, bool selected)
{
	struct mt_ledger *ledger = context;
	const uint64_t *place = item;
	struct mt_effect *effect = mt_order_at(ledger->order, *place);

	if (effect) {
		effect->stack = stack;
		effect->selected = selected;
		effect->ready = true;
	}
	mt_ledger_post_ready(ledger, false);
}

struct mt_ledger *mt_ledger_begin(struct mt_session *session,
				  const struct mt_ledger_options *options, bool alongside)
{
	struct mt_ledger *ledger = mt_alloc(1, sizeof(*ledger));

	ledger->session = session;
	ledger->options = options;
	ledger->alongside = alongside;
	ledger->observer = (struct mt_observer){
		.context = ledger,
		.wants = alongside ? NULL : wants,
		.observe = observe,
		.deliver = deliver,
		.item_size = sizeof(uint64_t), /* the place of an effect in the order */
	};
	ledger->sink = (struct mt_account_sink){
		.change = mt_ledger_deliver,
		.access = options->accessed ? mt_ledger_deliver_access : NULL,
		.moved = options->moved ? mt_ledger_deliver_moved : NULL,
		.context = ledger,
	};
	ledger->attr_table = mt_attr_table_create();
	ledger->origins = mt_origins_create();
	mt_session_observe(session, &ledger->observer);
	return ledger;
}

void mt_ledger_end(struct mt_ledger *ledger)
{
	mt_session_ignore(ledger->session, &ledger->observer);
}
