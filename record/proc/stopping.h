/* Tests whether a signal asked the recorder to end before the recording began. */
#ifndef MT_RECORD_PROC_STOPPING_H
#define MT_RECORD_PROC_STOPPING_H

#include <stdbool.h>

struct mt_error;

/*
 * Returns true if SIGINT, SIGTERM or SIGHUP is blocked and pending. The recorder blocks these
 * signals from its start and reads them only while it records. Long steps of the preparation call
 * this.
 */
bool mt_is_stopping(void);

/* Returns the error for a stop; mt_error_is_stop() recognises it. */
struct mt_error *mt_stop_error(void);
bool mt_error_is_stop(const struct mt_error *err);

#endif
