/* Whether a signal has asked the recorder to end before its recording began. */
#ifndef MT_RECORD_PROC_STOPPING_H
#define MT_RECORD_PROC_STOPPING_H

#include <stdbool.h>

struct mt_error;

/*
 * True if SIGINT, SIGTERM or SIGHUP is blocked and pending: they are blocked from the recorder's
 * beginning on, and read once it records. Steps of the preparation that can take long ask this.
 */
bool mt_is_stopping(void);

/* The error to return then; mt_error_is_stop() knows it. */
struct mt_error *mt_stop_error(void);
bool mt_error_is_stop(const struct mt_error *err);

#endif
