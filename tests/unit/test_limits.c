/* record/open/limits: the limits of the host, and the advice that would raise them. */
#include "record/open/limits.h"

#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/unit.h"

MT_TEST(the_limit_of_open_files_is_raised_as_far_as_was_promised)
{
	struct rlimit before, after;
	uint64_t promised;

	getrlimit(RLIMIT_NOFILE, &before);
	before.rlim_cur = before.rlim_max < 64 ? before.rlim_max : 64;
	MT_REQUIRE(MT_CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0));
	promised = mt_limits_files();
	MT_CHECK_EQ(mt_limits_raise_files(), promised);
	getrlimit(RLIMIT_NOFILE, &after);
	MT_CHECK_EQ(after.rlim_cur, promised);
	MT_CHECK(after.rlim_cur >= before.rlim_max);
}

MT_TEST(the_fix_for_rings_is_reported_to_the_number)
{
	char *fix = mt_limits_ring_fix(((size_t)20 << 20) + 8192, 4);

	MT_REQUIRE(MT_CHECK(fix));
	MT_CHECK(strstr(fix, "sysctl kernel.perf_event_mlock_kb=20488 "));
	MT_CHECK(strstr(fix, "ulimit -l "));
	free(fix);
}

MT_TEST(capabilities_are_those_of_this_process)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	MT_REQUIRE(MT_CHECK_EQ(syscall(SYS_capget, &header, data), 0));
	for (int i = 0; i < 64; i++)
		MT_CHECK_EQ(mt_limits_capable(i), (int)(data[i / 32].effective >> i % 32 & 1));
}

MT_TEST_MAIN
