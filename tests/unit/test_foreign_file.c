/*
 * formats/base/foreign_file: opens only regular files, and follows only links of root or of this
 * user.
 */
#include "formats/base/foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

/* Makes a folder with a file, a FIFO and links; it is removed with the test's TMPDIR. */
static int make_folder(char folder[256])
{
	const char *tmp = getenv("TMPDIR");
	int fd, dir;

	snprintf(folder, 256, "%s/foreign.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		return -1;
	dir = open(folder, O_PATH | O_DIRECTORY);
	fd = openat(dir, "file", O_CREAT | O_WRONLY, 0644);
	close(fd);
	mkdirat(dir, "sub", 0755);
	mkfifoat(dir, "fifo", 0600);
	symlinkat("file", dir, "link");
	symlinkat("/sub/../../file", dir, "absolute");
	symlinkat("loop", dir, "loop");
	return dir;
}

static int error_of(int root, const char *path, enum mt_foreign_links links)
{
	struct stat status;
	int fd = mt_foreign_open(root, path, links, &status);

	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : errno;
}

MT_TEST(regular_files_alone_are_opened)
{
	char folder[256];
	int dir = make_folder(folder);

	MT_REQUIRE(dir >= 0);
	MT_CHECK_EQ(error_of(dir, "file", MT_LINKS_TRUSTED), 0);
	MT_CHECK_EQ(error_of(dir, "fifo", MT_LINKS_TRUSTED), EINVAL);
	MT_CHECK_EQ(error_of(dir, "sub", MT_LINKS_TRUSTED), EISDIR);
	MT_CHECK_EQ(error_of(dir, "none", MT_LINKS_TRUSTED), ENOENT);
	MT_CHECK_EQ(error_of(dir, "file/none", MT_LINKS_TRUSTED), ENOTDIR);
	MT_CHECK_EQ(error_of(AT_FDCWD, "/dev/null", MT_LINKS_ALL), EINVAL);
	MT_CHECK_EQ(error_of(AT_FDCWD, "/proc/self/exe", MT_LINKS_ALL), 0);
	MT_CHECK_EQ(error_of(AT_FDCWD, "/proc/uptime", MT_LINKS_TRUSTED), EINVAL);
	close(dir);
}

MT_TEST(own_links_are_followed_and_do_not_leave_the_root)
{
	char folder[256];
	int dir = make_folder(folder);

	MT_REQUIRE(dir >= 0);
	MT_CHECK_EQ(error_of(dir, "link", MT_LINKS_TRUSTED), 0);
	MT_CHECK_EQ(error_of(dir, "absolute", MT_LINKS_TRUSTED), 0);
	MT_CHECK_EQ(error_of(dir, "../../../file", MT_LINKS_TRUSTED), 0);
	MT_CHECK_EQ(error_of(dir, "/file", MT_LINKS_TRUSTED), 0);
	MT_CHECK_EQ(error_of(dir, "loop", MT_LINKS_TRUSTED), ELOOP);
	MT_CHECK_EQ(error_of(dir, "link", MT_LINKS_NOT_LAST), EPERM);
	MT_CHECK_EQ(error_of(dir, "file", MT_LINKS_NOT_LAST), 0);
	close(dir);
}

MT_TEST(a_link_of_another_user_is_not_followed)
{
	char folder[256];
	int dir = make_folder(folder);

	MT_REQUIRE(dir >= 0);
	if (geteuid())
		MT_SKIP("links can be given to another user by root alone");
	symlinkat("sub", dir, "others");
	MT_REQUIRE(!fchownat(dir, "link", 65534, 65534, AT_SYMLINK_NOFOLLOW));
	MT_REQUIRE(!fchownat(dir, "others", 65534, 65534, AT_SYMLINK_NOFOLLOW));
	MT_CHECK_EQ(error_of(dir, "link", MT_LINKS_TRUSTED), EPERM);
	MT_CHECK_EQ(error_of(dir, "others/../file", MT_LINKS_TRUSTED), EPERM);
	MT_CHECK_STR(mt_foreign_problem(EPERM), "through a link that another user owns");
	close(dir);
}

MT_TEST_MAIN
