/* Opens the events disabled, and keeps them open until closing them is cheap (trials.h). */
#include "record/open/group_trial.h"

#include <errno.h>

#include "record/open/perf_event.h"
#include "record/open/trials.h"

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
