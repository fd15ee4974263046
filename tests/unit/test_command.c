/* record/cli/command: a child that cannot report to the recorder is an error, not a wait. */
#include "record/cli/command.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "tests/unit/unit.h"

/* Makes each write() of an int fail, as the child's write to its status pipe is one. */
static bool fail_writes_of_int(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, sizeof(int), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(filter) / sizeof(*filter), .filter = filter};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int prepare_where_writes_fail(void)
{
	char *argv[] = {"true", NULL};
	struct mt_command command = {0};
	struct mt_error *err;

	if (!fail_writes_of_int())
		return 77;
	alarm(5); /* SIGALRM ends a test that waits forever */
	err = mt_command_prepare(argv, false, &command);
	return err && !command.pid ? 0 : 1;
}

MT_TEST(a_child_that_cannot_report_is_an_error)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(prepare_where_writes_fail());
	MT_REQUIRE(waitpid(pid, &status, 0) == pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		MT_SKIP("no seccomp filters here");
	MT_CHECK(WIFEXITED(status));
	MT_CHECK_EQ(WEXITSTATUS(status), 0);
}

MT_TEST_MAIN
