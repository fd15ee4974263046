/* Asks the kernel which signals are pending, so that no state is needed. */
#include "record/proc/stopping.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "formats/base/err.h"

bool mt_is_stopping(void)
{
	sigset_t pending;

	return !sigpending(&pending) &&
	       (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
		sigismember(&pending, SIGHUP) == 1);
}

struct mt_error *mt_stop_error(void)
{
	struct mt_error *err =
		mt_error_create(MT_ERR_OS, "ended by a signal before recording began");

	err->errnum = EINTR;
	return err;
}

bool mt_error_is_stop(const struct mt_error *err)
{
	return err && err->kind == MT_ERR_OS && err->errnum == EINTR;
}
