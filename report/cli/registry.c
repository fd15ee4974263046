/*
 * The tables of plug-ins. They are in a layer above the plug-ins, so that each table may name them.
 */
#include "report/cli/registry.h"

#include <string.h>

#include "report/analyses/analyses.h"
#include "report/outputs/outputs.h"

const struct mt_analysis *const mt_analyses[] = {
	&mt_analysis_samples,	    &mt_analysis_growth,
	&mt_analysis_outstanding,   &mt_analysis_blocks,
	&mt_analysis_leaks,	    &mt_analysis_temporary,
	&mt_analysis_maps,	    &mt_analysis_resident,
	&mt_analysis_verdict,	    &mt_analysis_processes,
	&mt_analysis_faults,	    &mt_analysis_files,
	&mt_analysis_mmaps,	    &mt_analysis_brks,
	&mt_analysis_kernel_memory, &mt_analysis_host,
	&mt_analysis_shm,	    &mt_analysis_swap,
	&mt_analysis_hugepages,	    &mt_analysis_reclaim,
	&mt_analysis_compaction,    &mt_analysis_latency,
	&mt_analysis_counts,	    &mt_analysis_oom,
	&mt_analysis_unwind_report, NULL,
};

const struct mt_output *const mt_outputs[] = {
	&mt_output_summary,   &mt_output_flamegraph, &mt_output_html,	      &mt_output_folded,
	&mt_output_script,    &mt_output_info,	     &mt_output_table,	      &mt_output_paths,
	&mt_output_csv,	      &mt_output_json,	     &mt_output_summary_json, &mt_output_pprof,
	&mt_output_callgrind, &mt_output_sql,	     &mt_output_annotate,     NULL,
};

const struct mt_output *mt_output_find(const char *name)
{
	for (size_t i = 0; mt_outputs[i]; i++) {
		if (!strcmp(mt_outputs[i]->name, name))
			return mt_outputs[i];
	}
	return NULL;
}
