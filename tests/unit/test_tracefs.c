/* record/tracepoints/tracefs: the reason why a tracepoint cannot be used. */
#include "record/tracepoints/tracefs.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "record/open/perf_event.h"
#include "tests/unit/unit.h"

/* Makes opening any further file fail. */
static struct rlimit take_files(void)
{
	struct rlimit before, none;
	int next = open("/dev/null", O_RDONLY | O_CLOEXEC);

	close(next);
	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	none.rlim_cur = (rlim_t)next;
	setrlimit(RLIMIT_NOFILE, &none);
	return before;
}

static void check_out_of_files(const struct mt_tracefs *tracefs)
{
	struct mt_tracepoint found = {0};
	struct mt_error *err = mt_tracefs_find(tracefs, "syscalls:sys_enter_brk", &found);

	if (MT_CHECK(err)) {
		MT_CHECK_EQ(err->kind, MT_ERR_OS);
		MT_CHECK(strstr(err->message, "Too many open files"));
		MT_CHECK_STR(err->hint, "raise ulimit -n");
	}
	mt_error_destroy(err);
}

MT_TEST(no_file_left_is_no_matter_of_permission)
{
	struct mt_tracefs tracefs;
	struct rlimit before = take_files();

	mt_tracefs_open(&tracefs);
	MT_CHECK(mt_tracefs_lacks_files(&tracefs));
	check_out_of_files(&tracefs);
	setrlimit(RLIMIT_NOFILE, &before);
	mt_tracefs_close(&tracefs);
}

MT_TEST(nor_after_the_folder)
{
	struct mt_tracefs tracefs;
	struct rlimit before;

	mt_tracefs_open(&tracefs);
	if (tracefs.dir < 0)
		return;
	before = take_files();
	check_out_of_files(&tracefs);
	setrlimit(RLIMIT_NOFILE, &before);
	mt_tracefs_close(&tracefs);
}

MT_TEST(nor_does_a_kernel_lack_perf_events_then)
{
	struct mt_perf_features features;
	struct rlimit before = take_files();
	struct mt_error *err = mt_features_probe(&features);

	setrlimit(RLIMIT_NOFILE, &before);
	if (MT_CHECK(err))
		MT_CHECK(!err->hint || !strstr(err->hint, "CONFIG_PERF_EVENTS"));
	mt_error_destroy(err);
}

MT_TEST_MAIN
