/*
 * --leaks: the verdicts that come from blocks: paths whose blocks stay live, by the age of the
 * blocks, and the memory that the allocator has mapped for them.
 */
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/analyses/verdicts/memory_verdicts.h"
#include "report/verdicts/judgement.h"

MT_DEFINE_CLEANUP(mt_judgement, struct mt_judgement)

static struct mt_error *run(struct mt_session *session, const struct mt_analysis_request *request,
			    struct mt_table **out)
{
	MT_CLEANUP(mt_judgement_destroy_p) struct mt_judgement *judgement = NULL;
	struct mt_error *err = mt_verdict_run(session, request, &judgement);
	const struct mt_verdict_row *rows;
	size_t count;

	if (err)
		return err;
	rows = mt_judgement_leaks(judgement, &count);
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
