/*
 * record/probes/probe_events, probe_files: which probes belong to a recorder, and the names of
 * files.
 */
#include "record/probes/probe_events.h"

#include <unistd.h>

#include "record/probes/probe_files.h"
#include "tests/unit/unit.h"

MT_TEST(only_lines_of_recorders_are_theirs)
{
	char event[64];
	unsigned long long start;
	int pid;

	MT_REQUIRE(mt_probe_line_get("p:mtrec_12_345/malloc /proc/self/fd/7:0x98930 size=%di:u64",
				     event, sizeof(event), &pid, &start));
	MT_CHECK_STR(event, "mtrec_12_345/malloc");
	MT_CHECK_EQ(pid, 12);
	MT_CHECK_EQ(start, 345);
	MT_CHECK(mt_probe_line_get("r8:mtrec_12_345/free f:0x1", event, sizeof(event), &pid,
				   &start));
	MT_CHECK(!mt_probe_line_get("p:probe_libc/malloc f:0x1", event, sizeof(event), &pid,
				    &start));
	MT_CHECK(!mt_probe_line_get("p:mtrec_12/malloc f:0x1", event, sizeof(event), &pid, &start));
	MT_CHECK(!mt_probe_line_get("p:x/mtrec_12_345/y", event, sizeof(event), &pid, &start));
	MT_CHECK(!mt_probe_line_get("", event, sizeof(event), &pid, &start));
	MT_CHECK(!mt_probe_line_get("p:mtrec_12_345/malloc f:0x1", event, 19, &pid, &start));
}

MT_TEST(the_group_names_this_process)
{
	char group[MT_PROBE_GROUP_SIZE], line[128], event[128];
	unsigned long long start = 0;
	int pid = 0;

	mt_probe_group(group);
	snprintf(line, sizeof(line), "p:%s/x f:0x1", group);
	MT_CHECK(mt_probe_line_get(line, event, sizeof(event), &pid, &start));
	MT_CHECK_EQ(pid, getpid());
	MT_CHECK(start > 0);
}

MT_TEST(a_library_is_called_without_its_version)
{
	MT_CHECK(mt_probe_file_is_called("/usr/lib/libc.so.6", "libc"));
	MT_CHECK(mt_probe_file_is_called("/lib/libc-2.31.so", "libc"));
	MT_CHECK(mt_probe_file_is_called("/usr/lib/libc.so.6", "libc.so"));
	MT_CHECK(mt_probe_file_is_called("/usr/bin/server", "server"));
	MT_CHECK(!mt_probe_file_is_called("/usr/lib/libcap.so.2", "libc"));
	MT_CHECK(!mt_probe_file_is_called("/usr/lib/libc-client.so.2", "libc"));
	MT_CHECK(!mt_probe_file_is_called("/libc/server", "libc"));
}

MT_TEST_MAIN
