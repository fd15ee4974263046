/*
 * The analyses: each makes a table from a session. To add an analysis, add a file, a line here, and
 * a line in the table of report/cli/registry.c.
 */
#ifndef MT_REPORT_ANALYSES_ANALYSES_H
#define MT_REPORT_ANALYSES_ANALYSES_H

#include "report/analyses/preconditions.h"
#include "report/sums/analysis.h"

extern const struct mt_analysis mt_analysis_blocks;
extern const struct mt_analysis mt_analysis_brks;
extern const struct mt_analysis mt_analysis_compaction;
extern const struct mt_analysis mt_analysis_faults;
extern const struct mt_analysis mt_analysis_files;
extern const struct mt_analysis mt_analysis_leaks;
extern const struct mt_analysis mt_analysis_maps;
extern const struct mt_analysis mt_analysis_mmaps;
extern const struct mt_analysis mt_analysis_growth;
extern const struct mt_analysis mt_analysis_hugepages;
extern const struct mt_analysis mt_analysis_kernel_memory;
extern const struct mt_analysis mt_analysis_counts;
extern const struct mt_analysis mt_analysis_oom;
extern const struct mt_analysis mt_analysis_host;
extern const struct mt_analysis mt_analysis_latency;
extern const struct mt_analysis mt_analysis_outstanding;
extern const struct mt_analysis mt_analysis_processes;
extern const struct mt_analysis mt_analysis_reclaim;
extern const struct mt_analysis mt_analysis_resident;
extern const struct mt_analysis mt_analysis_samples;
extern const struct mt_analysis mt_analysis_shm;
extern const struct mt_analysis mt_analysis_swap;
extern const struct mt_analysis mt_analysis_temporary;
extern const struct mt_analysis mt_analysis_unwind_report;
extern const struct mt_analysis mt_analysis_verdict;

#endif
