/* One recording from start to end: opens, enables, waits, drains, closes. */
#ifndef MT_RECORD_RECORDER_H
#define MT_RECORD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "record/rings/stream.h"

struct mt_error;
struct mt_record_options;

/*
 * How the recorder talks to its user: level 0 a note, 1 a warning, 2 and 3 what -v and -vv want to
 * know.
 */
struct mt_recorder_voice {
	void *context;
	void (*say)(void *context, int level, const char *text);
};

struct mt_recorder_result {
	double seconds;
	struct mt_stream_counts counts;
	uint64_t lost;	  /* LOST records, or more where the kernel's own counts say so */
	uint64_t written; /* bytes of file */
	bool command_ran;
	int command_status;	       /* as waitpid gives it */
	int exec_errno;		       /* the command could not be executed */
	char *stats;		       /* --stats: the table; the caller's */
	struct mt_error *output_error; /* the output failed midway; the caller's */
};

/*
 * Records. An error means that nothing was recorded; *out is then untouched. A command that cannot
 * be executed and an output that fails midway are told in the result.
 */
struct mt_error *mt_recorder_run(const struct mt_record_options *options, int argc, char **argv,
				 const struct mt_recorder_voice *voice,
				 struct mt_recorder_result *out);

#endif
