/* Events that are opened as a trial, disabled. */
#include "record/open/trials.h"

#include "record/open/perf_event.h"
#include <errno.h>
#include <unistd.h>

/*
 * The limit on open files may be as low as 1,024, and the recording's events need descriptors, too.
 */
#define MOST 256

void mt_trials_keep(struct mt_trials *trials, int fd)
{
	if (fd >= 0 && (trials->kept.count >= MOST || !mt_array_append(&trials->kept, fd)))
		close(fd);
}

void mt_trials_end(struct mt_trials *trials)
{
	for (size_t i = 0; i < trials->kept.count; i++)
		close(trials->kept.items[i]);
	mt_array_deinit(&trials->kept);
}

bool mt_group_trial_together(void *context, const struct perf_event_attr *attrs, size_t count)
{
	const struct mt_group_trial *trial = context;
	struct mt_perf_place place = {
		.pid = trial->wide ? -1 : 0, .cgroup = -1, .cpu = trial->cpu, .group = -1};
	bool possible = true;

	for (size_t i = 0; i < count && possible; i++) {
		struct perf_event_attr attr = attrs[i];
		int fd;

		attr.inherit = 0;
		fd = mt_perf_open_at(&attr, &place, trial->features);
		if (fd < 0 && (!i || errno != EINVAL)) {
			possible = count > 1 || errno == EACCES || errno == EPERM;
			break;
		}
		possible = fd >= 0;
		if (i)
			mt_trials_keep(trial->trials, fd);
		else
			place.group = fd;
	}
	mt_trials_keep(trial->trials, place.group);
	return possible;
}
