/*
 * --resident: pages touched and not given back, by toucher and by reserver. A process that ended or
 * called exec counts as of the moment before.
 */
#include <stdio.h>
#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/analyses/analyses.h"
#include "report/analyses/resident.h"
#include "report/analyses/rows/ledger_rows.h"
#include "report/residence/residence.h"
#include "report/session/session.h"
#include "report/tables/facts.h"

MT_DEFINE_CLEANUP(mt_resident_run, struct mt_resident_run)

enum {
	VALUE_SWAPPED = MT_MEMORY_VALUES,
	VALUES,
	PAGE = 4096,
};

static const struct mt_value_column value_columns[VALUES] = {
	{"bytes", "B"},
	{"count", ""},
	{"pages", "pages"},
	{"swapped", "B"},
};

/*
 * From 6.2 on the kernel reports each change of its counts; earlier kernels every 64th of a thread.
 */
static bool reports_each(struct mt_session *session, uint32_t recording)
{
	const struct mt_facts *facts = mt_session_facts(session);
	const char *kernel = mt_facts_info(&facts->recordings.items[recording], "kernel");
	bool has = false;
	int major, minor;

	for (size_t i = 0; i < facts->events.count; i++)
		has |= mt_page_event_of(&facts->events.items[i]).moment == MT_PAGE_COUNT;
	return has && (!kernel || sscanf(kernel, "%d.%d", &major, &minor) != 2 || major > 6 ||
		       (major == 6 && minor >= 2));
}

struct resident {
	struct mt_ledger_rows rows;
	struct mt_row_keys *grouping;
	const struct mt_analysis_request *request;
	bool huge;			/* huge pages alone */
	struct mt_resident_apart apart; /* has: NULL, nothing is left out */
};

/* A process that ended and is shown nevertheless. */
static bool is_kept(const struct resident *resident, const struct mt_ledger_space *space)
{
	return resident->request->living && resident->request->kept == space->pid && space->ended &&
	       !space->execed;
}

static bool ended_early(const struct resident *resident, const struct mt_ledger_space *space)
{
	const struct mt_facts *facts = mt_session_facts(resident->rows.session);

	return resident->request->living && space->ended && !is_kept(resident, space) &&
	       (space->execed || mt_facts_ended_early(&facts->recordings.items[space->recording],
						      space->pid, space->began, space->ended));
}

static bool is_apart(const struct resident *resident, const struct mt_ledger *ledger,
		     const struct mt_holding *holding)
{
	const struct mt_region_attrs *attrs = mt_attrs_get(mt_ledger_attrs(ledger), holding->attrs);

	return resident->apart.has && !is_kept(resident, holding->space) &&
	       resident->apart.has(resident->apart.context, holding->space->pid,
				   attrs->kind == MT_REGION_HEAP,
				   mt_ledger_origin(ledger, holding->reserver)->stack);
}

static bool add_holding(struct resident *resident, const struct mt_ledger *ledger,
			const struct mt_holding *holding, uint64_t time)
{
	struct mt_ledger_rows *rows = &resident->rows;
	const struct mt_origin *toucher = mt_ledger_origin(ledger, holding->toucher);
	const struct mt_region_attrs *attrs = mt_attrs_get(mt_ledger_attrs(ledger), holding->attrs);
	struct mt_value values[VALUES], bytes = mt_value_exact((double)holding->pages * PAGE);
	struct mt_row_facts facts, reserver;

	if (!toucher->selected || ended_early(resident, holding->space) ||
	    is_apart(resident, ledger, holding))
		return true;
	if (holding->space->unseen) /* any part of it may have been given back unseen */
		*(holding->pages > 0 ? &bytes.low : &bytes.high) = 0;
	mt_memory_values(bytes, mt_value_exact((double)holding->count), values);
	values[VALUE_SWAPPED] = mt_value_exact((double)holding->swapped * PAGE);
	if (!mt_ledger_row_facts(rows, ledger, toucher, attrs, holding->space->recording, time,
				 &facts) ||
	    !mt_ledger_row_facts(rows, ledger, mt_ledger_origin(ledger, holding->reserver), attrs,
				 holding->space->recording, 0, &reserver))
		return false;
	facts.reserver = reserver.stack;
	if (is_kept(resident, holding->space)) {
		facts.process =
			mt_ended_name(mt_session_strings(rows->session), facts.process, false);
		if (facts.process == MT_STRING_NONE)
			return false;
	}
	return (time ? mt_ledger_row_note(rows, holding->space, &facts)
		     : mt_ledger_row_mark(rows, holding->space, &facts)) &&
	       mt_row_keys_add(resident->grouping, &facts, values);
}

static bool reports_each_of(void *context, uint32_t recording)
{
	const struct resident *resident = context;

	return reports_each(resident->rows.session, recording);
}

/* --timeline: changes, counted for the path that had touched the memory. */
static bool add_change(void *context, const struct mt_ledger *ledger, const struct mt_holding *more,
		       uint64_t time)
{
	return add_holding(context, ledger, more, time);
}

/* Memory held at the end. */
static bool add_holdings(struct resident *resident, const struct mt_ledger *ledger,
			 const struct mt_residence *residence)
{
	for (size_t i = 0; i < mt_residence_count(residence); i++) {
		struct mt_holding holding = mt_residence_get(residence, i);

		if ((holding.pages || holding.swapped) && (holding.huge || !resident->huge) &&
		    !add_holding(resident, ledger, &holding, 0))
			return false;
	}
	return true;
}

struct mt_resident_run {
	struct mt_listener listener; /* first: ops get a pointer to it */
	struct resident resident;
	struct mt_row_keys *grouping;
	struct mt_residence *residence;
	struct mt_ledger_options options;
	struct mt_ledger *ledger;
	bool timeline;
};

void mt_resident_run_destroy(struct mt_resident_run *run)
{
	if (!run)
		return;
	mt_ledger_destroy(run->ledger);
	mt_residence_destroy(run->residence);
	mt_ledger_rows_deinit(&run->resident.rows);
	mt_row_keys_destroy(run->grouping);
	free(run);
}

static struct mt_error *make_run(struct mt_session *session,
				 const struct mt_analysis_request *request, bool huge,
				 struct mt_resident_run **out)
{
	MT_CLEANUP(mt_resident_run_destroy_p) struct mt_resident_run *run = calloc(1, sizeof(*run));
	struct mt_residence_options how;
	struct mt_error *err;

	if (!run)
		return mt_error_nomem();
	err = mt_row_keys_create(session,
				 huge ? mt_analysis_hugepages.name : mt_analysis_resident.name,
				 value_columns, huge ? VALUE_SWAPPED : VALUES, request,
				 &run->grouping);
	if (err)
		return err;
	run->timeline = mt_by_has(&request->by, MT_BY_TIME);
	run->resident = (struct resident){
		.rows = {.session = session,
			 .stacks = request->unwind,
			 .ended =
				 request->living ? MT_ENDED_SILENT : mt_ledger_rows_ended(request)},
		.grouping = run->grouping,
		.request = request,
		.huge = huge,
	};
	how = (struct mt_residence_options){
		.each = reports_each_of,
		.held = run->timeline ? add_change : NULL,
		.context = &run->resident,
		.huge = huge,
		.ended_at_peak = request->living,
		.as_read = request->living,
		.peak = request->at.when == MT_AT_PEAK,
		.moment = request->at.when == MT_AT_TIME,
	};
	run->residence = mt_residence_create(&how);
	if (!run->residence)
		return mt_error_nomem();
	run->options.at = request->at;
	if (how.peak)
		run->options.at.when = MT_AT_END;
	mt_residence_listen(run->residence, &run->options);
	*out = MT_TAKE(run);
	return NULL;
}

static struct mt_error *conclude(struct mt_resident_run *run, struct mt_table **out)
{
	struct resident *resident = &run->resident;

	if (!(run->timeline ? mt_ledger_rows_mark(&resident->rows, run->grouping)
			    : add_holdings(resident, run->ledger, run->residence)))
		return mt_error_nomem();
	return mt_row_keys_table(MT_TAKE(run->grouping), out);
}

struct mt_error *mt_resident_begin(struct mt_session *session,
				   const struct mt_analysis_request *request,
				   struct mt_resident_run **out)
{
	MT_CLEANUP(mt_resident_run_destroy_p) struct mt_resident_run *run = NULL;
	struct mt_error *err = make_run(session, request, false, &run);

	err = err ? err : mt_ledger_begin(session, &run->options, &run->ledger);
	if (!err)
		*out = MT_TAKE(run);
	return err;
}

void mt_resident_leave_out(struct mt_resident_run *run, const struct mt_resident_apart *apart)
{
	run->resident.apart = *apart;
}

struct mt_error *mt_resident_end(struct mt_resident_run *run, struct mt_table **out)
{
	mt_ledger_end(run->ledger);
	return conclude(run, out);
}

static struct mt_error *end_listening(struct mt_listener *listener, struct mt_table **out)
{
	return mt_resident_end((struct mt_resident_run *)listener, out);
}

static void stop_listening(struct mt_listener *listener)
{
	mt_resident_run_destroy((struct mt_resident_run *)listener);
}

static struct mt_error *listen(struct mt_session *session,
			       const struct mt_analysis_request *request, struct mt_listener **out)
{
	struct mt_resident_run *run;
	struct mt_error *err = mt_resident_begin(session, request, &run);

	if (err)
		return err;
	run->listener = (struct mt_listener){.end = end_listening, .destroy = stop_listening};
	*out = &run->listener;
	return NULL;
}

static struct mt_error *run_of(struct mt_session *session,
			       const struct mt_analysis_request *request, bool huge,
			       struct mt_table **out)
{
	MT_CLEANUP(mt_resident_run_destroy_p) struct mt_resident_run *made = NULL;
	struct mt_error *err = make_run(session, request, huge, &made);

	err = err ? err : mt_ledger_run(session, &made->options, &made->ledger);
	return err ? err : conclude(made, out);
}

static struct mt_error *run_alone(struct mt_session *session,
				  const struct mt_analysis_request *request, struct mt_table **out)
{
	return run_of(session, request, false, out);
}

static struct mt_error *run_huge(struct mt_session *session,
				 const struct mt_analysis_request *request, struct mt_table **out)
{
	return run_of(session, request, true, out);
}

const struct mt_analysis mt_analysis_hugepages = {
	.name = "hugepages",
	.help = "anonymous memory on huge pages, by stack",
	.rare = true,
	.groups = true,
	.by = MT_BY_OF_MEMORY | MT_BY_BIT(MT_BY_RESERVER),
	.default_by = {{MT_BY_PROCESS, MT_BY_STACK}, 2},
	.needs = MT_NEEDS_PAGES,
	.record = "hugepages",
	.output = "paths",
	.run = run_huge,
};

const struct mt_analysis mt_analysis_resident = {
	.name = "resident",
	.help = "pages touched and not given back, by stack",
	.groups = true,
	.by = MT_BY_OF_MEMORY | MT_BY_BIT(MT_BY_RESERVER) | MT_BY_BIT(MT_BY_TIME),
	.default_by = {{MT_BY_COMM, MT_BY_STACK}, 2},
	.moments = true,
	.needs = MT_NEEDS_PAGES,
	.record = "vm,rss",
	.output = "paths",
	.run = run_alone,
	.listen = listen,
};
