/* record/open/trials: events opened on trial stay open until the trials end. */
#include "record/open/trials.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

MT_TEST(what_is_kept_is_open_until_the_end)
{
	struct mt_trials trials = {0};
	int fd = dup(0);

	mt_trials_keep(&trials, fd);
	mt_trials_keep(&trials, -1);
	MT_CHECK(is_open(fd));
	MT_CHECK_EQ(trials.kept.count, 1);
	mt_trials_end(&trials);
	MT_CHECK(!is_open(fd));
	mt_trials_end(&trials);
}

MT_TEST(too_many_do_not_eat_up_the_files)
{
	struct mt_trials trials = {0};
	int last = -1;

	for (int i = 0; i < 600; i++) {
		last = dup(0);
		MT_REQUIRE(last >= 0);
		mt_trials_keep(&trials, last);
	}
	MT_CHECK(!is_open(last));
	MT_CHECK(is_open(trials.kept.items[0]));
	mt_trials_end(&trials);
}

MT_TEST_MAIN
