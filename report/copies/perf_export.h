/*
 * Writes a recording as a perf.data file, for tools that read those: samples with their unwound
 * stacks as callchains, and the maps, names, forks and exits of the tasks that they are of.
 */
#ifndef MT_REPORT_COPIES_PERF_EXPORT_H
#define MT_REPORT_COPIES_PERF_EXPORT_H

#include <stdint.h>
#include <stdio.h>

struct mt_error;
struct mt_session;

struct mt_perf_export_counts {
	uint64_t samples;
	uint64_t cut;	  /* samples that lack outer frames, for which a record has no room */
	uint64_t written; /* bytes of the file */
};

/*
 * Reads the session to its end and writes the samples that it selects to fd, a file. The session
 * must be open with stacks and addresses, on one recording: else an error that names `path`, and
 * where there are no samples.
 */
struct mt_error *mt_perf_export(struct mt_session *session, const char *path, int fd,
				struct mt_perf_export_counts *out);

/* Says on one line or two, that begin with the tool, what the copy at `path` has. */
void mt_perf_export_print(const struct mt_perf_export_counts *counts, const char *tool,
			  const char *path, FILE *to);

#endif
