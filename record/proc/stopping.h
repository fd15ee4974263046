/* Tests whether a signal asked the recorder to end before the recording began. */
#ifndef MT_RECORD_PROC_STOPPING_H
#define MT_RECORD_PROC_STOPPING_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>

#include "formats/base/err.h"

/*
 * Returns true if SIGINT, SIGTERM or SIGHUP is blocked and pending. The recorder blocks these
 * signals from its start and reads them only while it records. Long steps of the preparation call
 * this.
 */
static inline bool mt_is_stopping(void)
{
	sigset_t pending;

	return !sigpending(&pending) &&
	       (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
		sigismember(&pending, SIGHUP) == 1);
}

/* Returns the error for a stop; mt_error_is_stop() recognises it. */
static inline struct mt_error *mt_stop_error(void)
{
	struct mt_error *err =
		mt_error_create(MT_ERR_OS, "ended by a signal before recording began");

	err->errnum = EINTR;
	return err;
}

static inline bool mt_error_is_stop(const struct mt_error *err)
{
	return err && err->kind == MT_ERR_OS && err->errnum == EINTR;
}

#endif
