/* Events that are opened as a trial. */
#include "record/open/trials.h"

#include <unistd.h>

/*
 * The limit on open files may be as low as 1,024, and the recording's events need descriptors, too.
 */
#define MOST 256

void mt_trials_keep(struct mt_trials *trials, int fd)
{
	int *slot = fd >= 0 && trials->kept.count < MOST ? mt_array_push(&trials->kept) : NULL;

	if (slot)
		*slot = fd;
	else if (fd >= 0)
		close(fd);
}

void mt_trials_end(struct mt_trials *trials)
{
	for (size_t i = 0; i < trials->kept.count; i++)
		close(trials->kept.items[i]);
	mt_array_deinit(&trials->kept);
}
