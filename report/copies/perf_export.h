/*
 * Writes a recording as a perf.data file, for tools that read that format: samples with their
 * unwound stacks as callchains, and the maps, names, forks and exits of their tasks.
 */
#ifndef MT_REPORT_COPIES_PERF_EXPORT_H
#define MT_REPORT_COPIES_PERF_EXPORT_H

#include <stdint.h>
#include <stdio.h>

struct mt_error;
struct mt_session;

struct mt_perf_export_counts {
	uint64_t samples;
	uint64_t cut;	  /* samples that lack outer frames, because a record has no room */
	uint64_t written; /* bytes of the file */
};

/*
 * Reads the session to its end and writes the selected samples to fd, a file. The session must be
 * open with stacks and addresses, on one recording: otherwise returns an error that names `path`. A
 * session without samples is an error, too.
 */
struct mt_error *mt_perf_export(struct mt_session *session, const char *path, int fd,
				struct mt_perf_export_counts *out);

/* Describes the copy at `path` on one or two lines, which begin with the tool. */
void mt_perf_export_print(const struct mt_perf_export_counts *counts, const char *tool,
			  const char *path, FILE *to);

#endif
