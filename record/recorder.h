/* Runs one recording from start to end: opens, enables, waits, drains, closes. */
#ifndef MT_RECORD_RECORDER_H
#define MT_RECORD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "record/rings/stream.h"

struct mt_error;
struct mt_progress;
struct mt_record_options;

/* Receives messages for the user: level 0 a note, 1 a warning, 2 for -v, 3 for -vv. */
struct mt_recorder_voice {
	void *context;
	void (*say)(void *context, int level, const char *text);
	bool (*print)(void *context, const char *text); /* lines of --stat; false: it failed */
	/* Shows how it goes, once a second; NULL: recording has ended. May itself be NULL. */
	void (*show)(void *context, const struct mt_progress *progress);
};

struct mt_recorder_result {
	double seconds;
	struct mt_stream_counts counts;
	uint64_t lost; /* records lost: by LOST records, or by the kernel's own counts if higher */
	uint64_t written; /* bytes of the recording */
	bool command_ran;
	int command_status;	       /* of waitpid */
	int exec_errno;		       /* of the failed exec; 0: none */
	char *stats;		       /* the table of --stats; the caller frees it */
	struct mt_error *output_error; /* the output failed midway; the caller destroys it */
};

/*
 * Records, or with MT_ACTION_COUNT counts. An error means that nothing was recorded, and *out is
 * unchanged. A failed exec, and an output that fails midway, are in *out instead.
 */
struct mt_error *mt_recorder_run(const struct mt_record_options *options, int argc, char **argv,
				 const struct mt_recorder_voice *voice,
				 struct mt_recorder_result *out);

#endif
