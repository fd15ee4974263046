/*
 * --verdict: how the memory of each path develops over time, with slope, confidence and evidence.
 * --leaks: the verdicts on paths whose blocks stay live, by the age of the blocks, with the memory
 * that the allocator has mapped for them.
 */
#include <math.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/analyses/analyses.h"
#include "report/analyses/memory_verdicts.h"
#include "report/analyses/rows/ledger_rows.h"
#include "report/analyses/rows/suppressions.h"
#include "report/session/session.h"
#include "report/stacks/stacks.h"
#include "report/sums/sum_table.h"
#include "report/verdicts/block_verdict.h"
#include "report/verdicts/judgement.h"
#include "report/verdicts/verdicts.h"

MT_DEFINE_CLEANUP(mt_judgement, struct mt_judgement)

enum key {
	KEY_PID,
	KEY_PROCESS,
	KEY_VERDICT,
	KEY_GROUNDS,
	KEY_STACK,
	KEYS
};

enum value {
	VALUE_BYTES,
	VALUE_PER_SECOND,
	VALUE_CONFIDENCE,
	VALUES
};

static const struct mt_key_column key_columns[KEYS] = {
	[KEY_PID] = {"pid", MT_KEY_NUMBER},	    [KEY_PROCESS] = {"process", MT_KEY_STRING},
	[KEY_VERDICT] = {"verdict", MT_KEY_STRING}, [KEY_GROUNDS] = {"rests-on", MT_KEY_STRING},
	[KEY_STACK] = {"stack", MT_KEY_STACK},
};

static const struct mt_value_column value_columns[VALUES] = {
	[VALUE_BYTES] = {"bytes", "B"},
	[VALUE_PER_SECOND] = {"per-second", "B/s"},
	[VALUE_CONFIDENCE] = {"confidence", "%"},
};

/* Rounds to whole bytes; NAN stays NAN. */
static double whole(double value)
{
	return fabs(value) < 1e15 ? (double)(int64_t)(value + (value < 0 ? -0.5 : 0.5)) : value;
}

static struct mt_value per_second(const struct mt_verdict *verdict)
{
	return (struct mt_value){
		.value = whole(verdict->per_second),
		.low = whole(verdict->low),
		.high = whole(verdict->high),
	};
}

static void add_row(struct mt_session *session, const struct mt_analysis_request *request,
		    struct mt_sum_table *groups, const struct mt_verdict_row *row)
{
	const struct mt_verdict *verdict = &row->verdict;
	struct mt_strings *strings = mt_session_strings(session);
	uint64_t keys[KEYS] = {
		[KEY_PID] = row->pid < 0 ? UINT64_MAX : (uint64_t)row->pid,
		[KEY_PROCESS] = row->process,
		[KEY_VERDICT] = mt_strings_add(strings, mt_verdict_name(verdict->kind)),
		[KEY_STACK] = row->stack,
	};
	const struct mt_value values[VALUES] = {
		[VALUE_BYTES] = mt_value_exact(verdict->bytes),
		[VALUE_PER_SECOND] = per_second(verdict),
		[VALUE_CONFIDENCE] = mt_value_exact(whole(100 * verdict->confidence)),
	};
	char grounds[300];

	if (request->living && row->ended_early)
		keys[KEY_PROCESS] = mt_ended_name(strings, row->process, false);
	if (row->heap.mapped > 0)
		mt_heap_grounds(&row->heap, grounds, sizeof(grounds));
	else
		mt_verdict_grounds(verdict, grounds, sizeof(grounds));
	keys[KEY_GROUNDS] = mt_strings_add(strings, grounds);
	mt_sum_table_add(groups, keys, values);
}

struct mt_error *mt_verdict_table(struct mt_session *session,
				  const struct mt_analysis_request *request, const char *name,
				  const struct mt_verdict_row *rows, size_t count,
				  struct mt_table **out)
{
	const struct mt_table shape = {
		.name = name,
		.keys = key_columns,
		.key_count = KEYS - !request->stacks,
		.values = value_columns,
		.value_count = VALUES,
		.sentence = KEY_GROUNDS,
		.strings = mt_session_strings(session),
		.stacks = mt_session_stacks(session),
		.frames = mt_session_frames(session),
	};
	struct mt_sum_table *groups = mt_sum_table_create(&shape);
	struct mt_error *err;
	size_t weight;

	for (size_t i = 0; i < count; i++) {
		if (!(request->living && rows[i].ended_early && rows[i].pid != request->kept &&
		      rows[i].pid != request->kept_second) &&
		    !mt_suppressions_match(request->suppress, mt_session_frames(session),
					   mt_session_stacks(session), rows[i].stack,
					   (double)rows[i].verdict.live, rows[i].verdict.bytes))
			add_row(session, request, groups, &rows[i]);
	}
	err = mt_table_weight(mt_sum_table_table(groups), request->weight, &weight);
	if (err) {
		mt_sum_table_destroy(groups);
		return err;
	}
	mt_sum_table_sort(groups, weight);
	*out = mt_sum_table_table(groups);
	return NULL;
}

static struct mt_error *run(const struct mt_analysis *analysis, struct mt_session *session,
			    const struct mt_analysis_request *request, struct mt_table **out)
{
	const struct mt_judgement_options options = {.stacks = request->stacks,
						     .time = &request->time};
	MT_CLEANUP(mt_judgement_destroy_p)
	struct mt_judgement *judgement = mt_judgement_begin(session, &options);
	struct mt_error *err = mt_judgement_run(judgement);
	const struct mt_verdict_row *rows;
	size_t count;

	if (err)
		return err;
	mt_judgement_end(judgement);
	rows = analysis == &mt_analysis_leaks ? mt_judgement_leaks(judgement, &count)
					      : mt_judgement_rows(judgement, &count);
	return mt_verdict_table(session, request, analysis->name, rows, count, out);
}

const struct mt_analysis mt_analysis_verdict = {
	.name = "verdict",
	.help = "each path over time: leak, plateau, sawtooth",
	.groups = true,
	.by = MT_BY_BIT(MT_BY_PROCESS) | MT_BY_BIT(MT_BY_STACK),
	.default_by = {{MT_BY_PROCESS, MT_BY_STACK}, 2},
	.judges = true,
	.dumps = true,
	.needs = MT_NEEDS_GROWTH | MT_NEEDS_BLOCKS,
	.record = "vm",
	.output = "paths",
	.run = run,
};

const struct mt_analysis mt_analysis_leaks = {
	.name = "leaks",
	.help = "blocks by age: leak, bounded, kept by the allocator",
	.groups = true,
	.by = MT_BY_BIT(MT_BY_PROCESS) | MT_BY_BIT(MT_BY_STACK),
	.default_by = {{MT_BY_PROCESS, MT_BY_STACK}, 2},
	.judges = true,
	.dumps = true,
	.needs = MT_NEEDS_BLOCKS,
	.record = "vm,rss,malloc",
	.output = "paths",
	.run = run,
};
