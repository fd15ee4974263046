/* Runs one recording, from opening its events to closing its file. */
#ifndef MT_RECORD_RECORDER_H
#define MT_RECORD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "record/rings/stream.h"

struct mt_error;
struct mt_progress;
struct mt_record_options;

/* Receives messages for the user. Level 0: note; 1: warning; 2: for -v; 3: for -vv. */
struct mt_recorder_voice {
	void *context;
	void (*say)(void *context, int level, const char *text);
	bool (*print)(void *context, const char *text); /* prints --stat lines; false: error */
	/* Called once a second, and with a NULL progress at the end. `show` may be NULL. */
	void (*show)(void *context, const struct mt_progress *progress);
};

struct mt_recorder_result {
	double seconds;
	struct mt_stream_counts counts;
	uint64_t lost;	  /* number of records and samples that were lost or left out */
	uint64_t written; /* bytes of the recording */
	bool command_ran;
	int command_status;	       /* status of waitpid */
	int exec_errno;		       /* errno of the failed exec; 0: none */
	char *stats;		       /* the table of --stats; the caller frees it */
	struct mt_error *output_error; /* the output failed midway; the caller destroys it */
};

/*
 * Records, or counts with MT_ACTION_COUNT. An error means that nothing was recorded and *out is
 * unchanged. *out reports a failed exec, and an output that fails during the recording.
 */
struct mt_error *mt_recorder_run(const struct mt_record_options *options, int argc, char **argv,
				 const struct mt_recorder_voice *voice,
				 struct mt_recorder_result *out);

#endif
