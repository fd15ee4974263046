/* Converts the targets of the options to opened events. */
#include "record/targets.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "record/cli/command.h"
#include "record/cli/options.h"
#include "record/cli/waiting.h"
#include "record/rings/event_set.h"
#include "record/state/existing.h"

/* Returns true if the thread does not exist, which explains why no event was opened for it. */
static bool is_gone(pid_t tid)
{
	return kill(tid, 0) && errno == ESRCH;
}

static struct mt_error *open_tasks(const struct mt_record_options *options,
				   struct mt_event_set *opened)
{
	struct mt_error *err = NULL;
	size_t before;

	for (size_t i = 0; i < options->pids.count && !err; i++)
		err = mt_event_set_add_process(opened, options->pids.items[i]);
	for (size_t i = 0; i < options->tids.count && !err; i++) {
		before = opened->events.count;
		err = mt_event_set_add_task(opened, options->tids.items[i], false);
		if (!err && opened->events.count == before && is_gone(options->tids.items[i]))
			err = mt_error_create(MT_ERR_NOT_FOUND, "-t: there is no thread %d",
					      options->tids.items[i]);
	}
	return err;
}

struct mt_error *mt_targets_open(const struct mt_record_options *options,
				 const struct mt_command *command, struct mt_event_set *opened)
{
	if (mt_options_target_cpus(options))
		return mt_event_set_add_cpus(opened);
	if (mt_options_target_tasks(options))
		return open_tasks(options, opened);
	return mt_event_set_add_task(opened, command->pid, true);
}

void mt_targets_each(const struct mt_record_options *options,
		     void (*each)(void *context, pid_t pid), void *context)
{
	if (mt_options_target_cpus(options))
		mt_existing_each(each, context);
	for (size_t i = 0; i < options->pids.count; i++)
		each(context, options->pids.items[i]);
	for (size_t i = 0; i < options->tids.count; i++)
		each(context, mt_existing_pid_of(options->tids.items[i]));
}

bool mt_targets_watch(const struct mt_record_options *options, struct mt_waiting *waiting)
{
	for (size_t i = 0; i < options->pids.count; i++) {
		if (!mt_waiting_add_target(waiting, options->pids.items[i]))
			return false;
	}
	for (size_t i = 0; i < options->tids.count; i++) {
		if (!mt_waiting_add_target(waiting, options->tids.items[i]))
			return false;
	}
	return true;
}
