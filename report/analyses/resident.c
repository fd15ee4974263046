/*
 * --resident: pages touched and not given back, by toucher and by reserver. A process that ended or
 * called exec counts with the pages that it had just before.
 */
#include <stdio.h>

#include "report/analyses/analyses.h"
#include "report/analyses/resident.h"
#include "report/analyses/rows/ledger_rows.h"
#include "report/residence/residence.h"
#include "report/session/session.h"
#include "report/tables/facts.h"

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
 * From 6.2 on the kernel reports each change of its counts; earlier kernels report every 64th
 * change by a thread.
 */
static bool reports_each(void *context, uint32_t recording)
{
	const struct mt_ledger_run *run = context;
	const struct mt_facts *facts = mt_session_facts(run->rows.session);
	const char *kernel = mt_facts_info(&facts->recordings.items[recording], "kernel");
	bool has = false;
	int major, minor;

	for (size_t i = 0; i < facts->events.count; i++)
		has |= mt_page_event_of(&facts->events.items[i]).moment == MT_PAGE_COUNT;
	return has && (!kernel || sscanf(kernel, "%d.%d", &major, &minor) != 2 || major > 6 ||
		       (major == 6 && minor >= 2));
}

struct resident {
	struct mt_ledger_run run; /* first */
	struct mt_residence *residence;
	bool huge;			/* only huge pages are shown */
	struct mt_resident_apart apart; /* `has` is NULL: nothing is left out */
};

/* A process that ended and is shown nevertheless. */
static bool is_kept(const struct resident *resident, const struct mt_ledger_space *space)
{
	return resident->run.request->living && resident->run.request->kept == space->pid &&
	       space->ended && !space->execed;
}

static bool ended_early(const struct resident *resident, const struct mt_ledger_space *space)
{
	const struct mt_facts *facts = mt_session_facts(resident->run.rows.session);

	return resident->run.request->living && space->ended && !is_kept(resident, space) &&
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

static void add_holding(struct resident *resident, const struct mt_ledger *ledger,
			const struct mt_holding *holding, uint64_t time)
{
	struct mt_ledger_rows *rows = &resident->run.rows;
	const struct mt_origin *toucher = mt_ledger_origin(ledger, holding->toucher);
	const struct mt_region_attrs *attrs = mt_attrs_get(mt_ledger_attrs(ledger), holding->attrs);
	struct mt_value values[VALUES], bytes = mt_value_exact((double)holding->pages * PAGE);
	struct mt_row_facts facts;

	if (!toucher->selected || ended_early(resident, holding->space) ||
	    is_apart(resident, ledger, holding))
		return;
	if (holding->space->unseen) /* unseen calls may have given back any part of the memory */
		*(holding->pages > 0 ? &bytes.low : &bytes.high) = 0;
	mt_memory_values(bytes, mt_value_exact((double)holding->count), values);
	values[VALUE_SWAPPED] = mt_value_exact((double)holding->swapped * PAGE);
	facts = mt_ledger_row_facts(rows, ledger, toucher, attrs, holding->space->recording, time);
	facts.reserver =
		mt_origin_row_facts(rows, mt_ledger_origin(ledger, holding->reserver)).stack;
	if (is_kept(resident, holding->space))
		facts.process =
			mt_ended_name(mt_session_strings(rows->session), facts.process, false);
	if (time)
		mt_ledger_row_note(rows, holding->space, &facts);
	else
		mt_ledger_row_mark(rows, holding->space, &facts);
	mt_row_keys_add(resident->run.grouping, &facts, values);
}

/* For --timeline: adds a change, counted for the path that had touched the memory. */
static void add_change(void *context, const struct mt_ledger *ledger, const struct mt_holding *more,
		       uint64_t time)
{
	add_holding(context, ledger, more, time);
}

static void set_up(struct mt_ledger_run *run)
{
	struct resident *resident = (struct resident *)run;
	const struct mt_analysis_request *request = run->request;
	struct mt_residence_options how = {
		.each = reports_each,
		.held = run->timeline ? add_change : NULL,
		.context = run,
		.huge = run->analysis == &mt_analysis_hugepages,
		.ended_at_peak = request->living,
		.as_read = request->living,
		.peak = request->at.when == MT_AT_PEAK,
		.moment = request->at.when == MT_AT_TIME,
	};

	resident->huge = how.huge;
	resident->residence = mt_residence_create(&how);
	run->options.at = request->at;
	if (how.peak)
		run->options.at.when = MT_AT_END;
	mt_residence_listen(resident->residence, &run->options);
}

/* Adds rows for the memory held at the end. */
static void end(struct mt_ledger_run *run)
{
	struct resident *resident = (struct resident *)run;

	for (size_t i = 0; !run->timeline && i < mt_residence_count(resident->residence); i++) {
		struct mt_holding holding = mt_residence_get(resident->residence, i);

		if ((holding.pages || holding.swapped) && (holding.huge || !resident->huge))
			add_holding(resident, run->ledger, &holding, 0);
	}
}

static void destroy(struct mt_ledger_run *run)
{
	mt_residence_destroy(((struct resident *)run)->residence);
}

void mt_resident_leave_out(struct mt_listener *listener, const struct mt_resident_apart *apart)
{
	((struct resident *)listener)->apart = *apart;
}

static const struct mt_ledger_table resident = {
	.size = sizeof(struct resident),
	.values = value_columns,
	.value_count = VALUES,
	.set_up = set_up,
	.end = end,
	.destroy = destroy,
};

static const struct mt_ledger_table huge_pages = {
	.size = sizeof(struct resident),
	.values = value_columns,
	.value_count = VALUE_SWAPPED,
	.set_up = set_up,
	.end = end,
	.destroy = destroy,
};

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
	.listen = mt_ledger_table_listen,
	.rows = &huge_pages,
	.alone = true,
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
	.listen = mt_ledger_table_listen,
	.rows = &resident,
};
