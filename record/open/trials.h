/*
 * Events opened only to learn whether the kernel allows it. Closing the last event of a tracepoint
 * waits until no CPU can be in it any more, tens of milliseconds; with the recording's own events
 * open it costs nothing. So trials are kept until then.
 */
#ifndef MT_RECORD_OPEN_TRIALS_H
#define MT_RECORD_OPEN_TRIALS_H

#include "formats/base/array.h"

struct mt_trials {
	MT_ARRAY(int) kept;
};

/* Takes the descriptor; one of -1 is none. Where too many are kept already it is closed at once. */
void mt_trials_keep(struct mt_trials *trials, int fd);

/* Closes all. */
void mt_trials_end(struct mt_trials *trials);

#endif
