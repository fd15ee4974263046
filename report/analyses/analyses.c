/*
 * The table of analyses.
 */
#include "report/analyses/analyses.h"

const struct mt_analysis *const mt_analyses[] = {
	&mt_analysis_samples,	    &mt_analysis_growth,	&mt_analysis_outstanding,
	&mt_analysis_blocks,	    &mt_analysis_leaks,		&mt_analysis_temporary,
	&mt_analysis_maps,	    &mt_analysis_map,		&mt_analysis_resident,
	&mt_analysis_verdict,	    &mt_analysis_processes,	&mt_analysis_faults,
	&mt_analysis_files,	    &mt_analysis_mmaps,		&mt_analysis_brks,
	&mt_analysis_kernel_memory, &mt_analysis_host,		&mt_analysis_shm,
	&mt_analysis_swap,	    &mt_analysis_hugepages,	&mt_analysis_reclaim,
	&mt_analysis_compaction,    &mt_analysis_latency,	&mt_analysis_counts,
	&mt_analysis_oom,	    &mt_analysis_unwind_report, NULL,
};
