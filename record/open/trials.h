/*
 * Trial events, opened only to test whether the kernel allows it. Closing the last event of a
 * tracepoint waits for a grace period of tens of milliseconds. Closing costs nothing while the
 * recording's events are open, so trials are kept open until then.
 */
#ifndef MT_RECORD_OPEN_TRIALS_H
#define MT_RECORD_OPEN_TRIALS_H

#include "formats/base/array.h"

struct mt_trials {
	MT_ARRAY(int) kept;
};

/* Takes the descriptor (-1: none). Closes it at once if too many are kept. */
void mt_trials_keep(struct mt_trials *trials, int fd);

/* Closes all trials. */
void mt_trials_end(struct mt_trials *trials);

#endif
