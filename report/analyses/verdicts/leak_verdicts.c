/*
 * --leaks: paths whose blocks live on, by the age of the blocks, and what the allocator has mapped
 * for them. One reading feeds the accounts of blocks and the ledger.
 */
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/analyses/verdicts/memory_verdicts.h"
#include "report/blocks/blocks.h"
#include "report/ledger/ledger.h"
#include "report/verdicts/leaks.h"

MT_DEFINE_CLEANUP(mt_leaks, struct mt_leaks)
MT_DEFINE_CLEANUP(mt_ledger, struct mt_ledger)
MT_DEFINE_CLEANUP(mt_verdicts, struct mt_verdicts)

static struct mt_error *read_session(struct mt_session *session,
				     const struct mt_analysis_request *request,
				     struct mt_leaks *leaks)
{
	MT_CLEANUP(mt_verdicts_destroy_p) struct mt_verdicts *verdicts = NULL;
	MT_CLEANUP(mt_ledger_destroy_p) struct mt_ledger *ledger = NULL;
	struct mt_blocks_options of_blocks = {.at = mt_at_end_of(&request->time)};
	struct mt_ledger_options of_ledger = {.at = of_blocks.at};
	uint64_t lost;
	struct mt_error *err = mt_verdicts_create(session, false, &request->time, &verdicts);

	if (err)
		return err;
	mt_leaks_listen(leaks, &of_blocks);
	mt_verdicts_listen(verdicts, &of_ledger);
	mt_leaks_listen_regions(leaks, verdicts);
	err = mt_ledger_begin(session, &of_ledger, &ledger);
	err = err ? err : mt_blocks_run(session, &of_blocks, &lost);
	if (!err)
		mt_ledger_end(ledger);
	return err;
}

static struct mt_error *run(struct mt_session *session, const struct mt_analysis_request *request,
			    struct mt_table **out)
{
	MT_CLEANUP(mt_leaks_destroy_p) struct mt_leaks *leaks = NULL;
	struct mt_error *err = mt_leaks_create(session, &leaks);
	const struct mt_verdict_row *rows;
	size_t count;

	err = err ? err : read_session(session, request, leaks);
	err = err ? err : mt_leaks_judge(leaks);
	if (err)
		return err;
	rows = mt_leaks_rows(leaks, &count);
	return mt_verdict_table(session, request, mt_analysis_leaks.name, rows, count, out);
}

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
