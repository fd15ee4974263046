/* report/outfile: a file appears whole or not at all. */
#include "report/outfile.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static const char *path(const char *name)
{
	static char text[256];
	const char *dir = getenv("TMPDIR");

	snprintf(text, sizeof(text), "%s/mt-outfile-%d-%s", dir ? dir : "/tmp", (int)getpid(),
		 name);
	return text;
}

static bool exists(const char *name)
{
	return !access(path(name), F_OK);
}

static void write_file(const char *name, const char *text, bool commit)
{
	struct mt_outfile out;

	if (!MT_CHECK_OK(mt_outfile_open(path(name), &out)))
		return;
	fputs(text, out.file);
	if (commit)
		MT_CHECK_OK(mt_outfile_commit(&out));
	else
		mt_outfile_abandon(&out);
}

static const char *read_file(const char *name)
{
	static char text[64];
	FILE *file = fopen(path(name), "r");

	text[0] = '\0';
	if (file) {
		text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
		fclose(file);
	}
	return text;
}

MT_TEST(a_committed_file_is_private_and_keeps_the_old_one)
{
	struct stat st;

	write_file("a", "one", true);
	MT_CHECK_STR(read_file("a"), "one");
	MT_CHECK_EQ(stat(path("a"), &st), 0);
	MT_CHECK_EQ(st.st_mode & 0777, 0600);
	write_file("a", "two", true);
	MT_CHECK_STR(read_file("a"), "two");
	MT_CHECK_STR(read_file("a.old"), "one");
	unlink(path("a"));
	unlink(path("a.old"));
}

MT_TEST(an_abandoned_file_leaves_what_was_there)
{
	write_file("b", "one", true);
	write_file("b", "two", false);
	MT_CHECK_STR(read_file("b"), "one");
	MT_CHECK(!exists("b.old"));
	unlink(path("b"));
	write_file("c", "never", false);
	MT_CHECK(!exists("c"));
}

/* Another user may write to the folder and create a file of that name in the meantime. */
MT_TEST(what_is_planted_under_the_temporary_name_stays_out_of_the_result)
{
	struct mt_outfile out;
	char planted[256];
	FILE *other;

	if (!MT_CHECK_OK(mt_outfile_open(path("d"), &out)))
		return;
	snprintf(planted, sizeof(planted), "%s", out.temporary);
	if (!access(planted, F_OK)) {
		mt_outfile_abandon(&out);
		MT_SKIP("files without a name cannot be made here");
	}
	other = fopen(planted, "w");
	fputs("planted", other);
	fclose(other);
	fputs("report", out.file);
	MT_CHECK_OK(mt_outfile_commit(&out));
	MT_CHECK_STR(read_file("d"), "report");
	MT_CHECK(!access(planted, F_OK));
	unlink(planted);
	unlink(path("d"));
}

MT_TEST(an_abandoned_file_does_not_take_what_is_planted_away)
{
	struct mt_outfile out;
	char planted[256];

	if (!MT_CHECK_OK(mt_outfile_open(path("e"), &out)))
		return;
	snprintf(planted, sizeof(planted), "%s", out.temporary);
	if (!access(planted, F_OK)) {
		mt_outfile_abandon(&out);
		MT_SKIP("files without a name cannot be made here");
	}
	fclose(fopen(planted, "w"));
	mt_outfile_abandon(&out);
	MT_CHECK(!access(planted, F_OK));
	unlink(planted);
}

MT_TEST(a_full_device_is_an_error_of_the_output)
{
	struct mt_outfile out;

	if (access("/dev/full", W_OK))
		MT_SKIP("no /dev/full here");
	MT_CHECK_OK(mt_outfile_open("/dev/full", &out));
	for (int i = 0; i < 100000; i++)
		fputs("0123456789", out.file);
	MT_CHECK_ERR(mt_outfile_commit(&out), MT_ERR_OUTPUT);
}

MT_TEST(a_folder_that_is_not_there_is_an_error_of_the_output)
{
	struct mt_outfile out;

	MT_CHECK_ERR(mt_outfile_open("/no/such/folder/file", &out), MT_ERR_OUTPUT);
}

MT_TEST(a_link_stays_and_what_it_leads_to_is_made_anew)
{
	char link[256];
	struct stat status;

	snprintf(link, sizeof(link), "%s", path("link"));
	write_file("there", "old", true);
	MT_CHECK(!symlink(path("there"), link));
	write_file("link", "new", true);
	MT_CHECK(!lstat(link, &status) && S_ISLNK(status.st_mode));
	MT_CHECK_STR(read_file("there"), "new");
	MT_CHECK_STR(read_file("there.old"), "old");
	unlink(link);
	unlink(path("there"));
	unlink(path("there.old"));
}

MT_TEST_MAIN
