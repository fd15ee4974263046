/* report/outputs/annotate/source_file: which files debug information may bring onto a page. */
#include "report/outputs/annotate/source_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

/* Makes a folder with source.c, passwords (no source), private.c, and links to them. */
static bool make_folder(char folder[256])
{
	static const char *const files[] = {"source.c", "passwords", "private.c"};
	const char *tmp = getenv("TMPDIR");
	int dir;

	snprintf(folder, 256, "%s/source.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		return false;
	dir = open(folder, O_PATH | O_DIRECTORY);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		int fd = openat(dir, files[i], O_CREAT | O_WRONLY, i == 2 ? 0600 : 0644);

		(void)!write(fd, "line\n", 5);
		close(fd);
	}
	symlinkat("source.c", dir, "own.c");
	symlinkat("passwords", dir, "renamed.c");
	symlinkat("source.c", dir, "others.c");
	close(dir);
	return true;
}

/* The reason why DIR/NAME is not shown; "" if it is shown. */
static const char *why(const char *folder, const char *name, const struct mt_source_paths *paths)
{
	struct mt_source_file file;
	const char *text;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	mt_source_file_read(*folder ? path : name, paths, &file);
	text = file.text ? "" : file.why;
	mt_source_file_deinit(&file);
	return text;
}

MT_TEST(sources_are_shown_by_their_real_name)
{
	const struct mt_source_paths none = {0};
	char folder[256];

	MT_REQUIRE(make_folder(folder));
	MT_CHECK_STR(why(folder, "source.c", &none), "");
	MT_CHECK_STR(why(folder, "own.c", &none), "");
	MT_CHECK_STR(why(folder, "passwords", &none), "no source by its name");
	MT_CHECK_STR(why(folder, "renamed.c", &none), "no source by its name");
	MT_CHECK_STR(why(folder, "none.c", &none), "No such file or directory");
	MT_CHECK_STR(why("", "source.c", &none), "a relative name");
	MT_CHECK_STR(why("", "/dev/ptmx", &none), "not a regular file");
	MT_CHECK_STR(why(folder, "private.c", &none), "");
}

MT_TEST(what_the_user_said_is_shown)
{
	char folder[256];
	struct mt_source_paths paths = {.directories = {folder}, .directory_count = 1};

	MT_REQUIRE(make_folder(folder));
	MT_CHECK_STR(why("", "source.c", &paths), "");
	MT_CHECK_STR(why("", "/build/deep/source.c", &paths), "");
	MT_CHECK_STR(why("", "../../passwords", &paths), "");
	MT_CHECK_STR(why("", "/build/none.c", &paths), "No such file or directory");
}

MT_TEST(files_and_links_of_others_are_not_shown)
{
	char folder[256];
	struct mt_source_paths none = {0};
	struct mt_source_paths paths = {.directories = {folder}, .directory_count = 1};
	int dir;

	MT_REQUIRE(make_folder(folder));
	if (geteuid())
		MT_SKIP("files can be given to another user by root alone");
	dir = open(folder, O_PATH | O_DIRECTORY);
	MT_REQUIRE(!fchownat(dir, "others.c", 65534, 65534, AT_SYMLINK_NOFOLLOW));
	MT_REQUIRE(!fchownat(dir, "private.c", 65534, 65534, AT_SYMLINK_NOFOLLOW));
	close(dir);
	MT_CHECK_STR(why(folder, "others.c", &none), "through a link that another user owns");
	MT_CHECK(*why("", "/build/others.c", &paths));
	MT_CHECK_STR(why(folder, "private.c", &none), "not readable by others");
}

MT_TEST_MAIN
