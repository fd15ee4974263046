/* record/cli/output: a new private file each time; existing files are not overwritten. */
#include "record/cli/output.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static char directory[64];

static const char *path_of(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

static bool begin(void)
{
	strcpy(directory, "/tmp/mt-output-XXXXXX");
	umask(022);
	return MT_CHECK(mkdtemp(directory));
}

static void end(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	MT_CHECK_EQ(system(command), 0);
}

static void fill(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "w");

	if (MT_CHECK(file)) {
		fputs(text, file);
		fclose(file);
	}
}

static const char *text_in(const char *name)
{
	static char text[64];
	FILE *file = fopen(path_of(name), "r");
	size_t size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[size] = '\0';
	if (file)
		fclose(file);
	return file ? text : NULL;
}

/* Opens the output and writes the text to it. */
static bool record_to(const char *name, const char *text)
{
	int fd = -1;

	if (!MT_CHECK_OK(mt_output_open(path_of(name), -1, &fd)))
		return false;
	MT_CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	MT_CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	return true;
}

MT_TEST(a_new_file_is_private)
{
	struct stat status;

	MT_REQUIRE(begin());
	umask(0);
	MT_CHECK(record_to("new", "x"));
	MT_CHECK(!stat(path_of("new"), &status));
	MT_CHECK_EQ(status.st_mode & 07777, 0600);
	end();
}

MT_TEST(an_existing_file_is_kept_as_old)
{
	struct stat status;

	MT_REQUIRE(begin());
	fill("f", "a longer one");
	MT_CHECK(record_to("f", "second"));
	MT_CHECK_STR(text_in("f"), "second");
	MT_CHECK_STR(text_in("f.old"), "a longer one");
	MT_CHECK(!stat(path_of("f"), &status) && (status.st_mode & 07777) == 0600);
	MT_CHECK(record_to("f", "third"));
	MT_CHECK_STR(text_in("f.old"), "second");
	end();
}

MT_TEST(a_link_stays_and_what_it_leads_to_is_kept)
{
	struct stat status;

	MT_REQUIRE(begin());
	fill("target", "a longer one");
	MT_CHECK(!symlink("target", path_of("link")));
	MT_CHECK(record_to("link", "new"));
	MT_CHECK_STR(text_in("target"), "new");
	MT_CHECK_STR(text_in("target.old"), "a longer one");
	MT_CHECK(!lstat(path_of("link"), &status) && S_ISLNK(status.st_mode));
	end();
}

MT_TEST(a_link_to_nothing_makes_the_file)
{
	MT_REQUIRE(begin());
	MT_CHECK(!symlink("elsewhere", path_of("link")));
	MT_CHECK(record_to("link", "new"));
	MT_CHECK_STR(text_in("elsewhere"), "new");
	end();
}

MT_TEST(devices_and_fifos_are_written_to)
{
	int reader, fd = -1;
	char text[4] = "";

	MT_CHECK_OK(mt_output_open("/dev/null", -1, &fd));
	close(fd);
	MT_REQUIRE(begin());
	MT_CHECK(!mkfifo(path_of("fifo"), 0600));
	reader = open(path_of("fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	MT_CHECK(record_to("fifo", "abc"));
	MT_CHECK(read(reader, text, 3) == 3 && !strcmp(text, "abc"));
	close(reader);
	end();
}

MT_TEST(waiting_for_a_fifos_reader_ends_with_a_signal)
{
	struct mt_error *err;
	int fd = -7, signal[2];

	MT_REQUIRE(begin() && !pipe(signal));
	MT_CHECK(!mkfifo(path_of("fifo"), 0600));
	MT_CHECK_EQ(write(signal[1], "x", 1), 1);
	err = mt_output_open(path_of("fifo"), signal[0], &fd);
	if (MT_CHECK(err)) {
		MT_CHECK_EQ(err->kind, MT_ERR_OUTPUT);
		MT_CHECK(strstr(err->message, "nobody read it"));
	}
	mt_error_destroy(err);
	MT_CHECK_EQ(fd, -7);
	close(signal[0]);
	close(signal[1]);
	end();
}

static void check_refused(const char *path, const char *why)
{
	int fd = -7;
	struct mt_error *err = mt_output_open(path, -1, &fd);

	if (MT_CHECK(err)) {
		MT_CHECK_EQ(err->kind, MT_ERR_OUTPUT);
		if (!MT_CHECK(strstr(err->message, why) && strstr(err->message, path)))
			printf("# %s\n", err->message);
		MT_CHECK_STR(err->hint, "-o FILE chooses another place");
	}
	mt_error_destroy(err);
	MT_CHECK_EQ(fd, -7);
}

MT_TEST(what_cannot_be_written_fails_as_output)
{
	MT_REQUIRE(begin());
	check_refused(directory, "Is a directory");
	check_refused(path_of("none/f"), "No such file or directory");
	check_refused("/proc/mtrec.mtr", "");
	fill("file", "x");
	check_refused(path_of("file/f"), "Not a directory");
	fill("kept", "x");
	MT_CHECK(!mkdir(path_of("kept.old"), 0700));
	fill("kept.old/x", "x");
	check_refused(path_of("kept"), "Is a directory");
	MT_CHECK_STR(text_in("kept"), "x");
	end();
}

/* Makes a folder like /tmp; false if we cannot give a file to another user. */
static bool begin_sticky(void)
{
	if (geteuid() || !begin())
		return false;
	MT_CHECK(!chmod(directory, 01777));
	return true;
}

static void give_away(const char *name)
{
	MT_CHECK(!lchown(path_of(name), 65534, 65534));
}

MT_TEST(in_a_sticky_folder_nothing_of_other_users_is_written_to)
{
	char text[4] = "";
	int reader;

	if (!begin_sticky())
		return;
	MT_CHECK(!mkdir(path_of("far"), 0700));
	fill("far/victim", "precious");
	MT_CHECK(!symlink("far/victim", path_of("link")));
	give_away("link");
	check_refused(path_of("link"), "another user");
	MT_CHECK_STR(text_in("far/victim"), "precious");
	MT_CHECK(!text_in("far/victim.old"));

	MT_CHECK(!mkfifo(path_of("fifo"), 0666));
	reader = open(path_of("fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	give_away("fifo");
	check_refused(path_of("fifo"), "another user");
	MT_CHECK(read(reader, text, 3) <= 0);
	close(reader);

	fill("file", "planted");
	give_away("file");
	check_refused(path_of("file"), "another user");
	MT_CHECK_STR(text_in("file"), "planted");

	MT_CHECK(!symlink("link", path_of("own"))); /* a link to a link */
	check_refused(path_of("own"), "another user");
	end();
}

MT_TEST(in_a_sticky_folder_our_own_is)
{
	if (!begin_sticky())
		return;
	fill("target", "first");
	MT_CHECK(!symlink("target", path_of("link")));
	MT_CHECK(record_to("link", "second"));
	MT_CHECK_STR(text_in("target.old"), "first");
	MT_CHECK_STR(text_in("target"), "second");
	end();
}

MT_TEST(a_folder_after_links_is_reached)
{
	MT_REQUIRE(begin());
	MT_CHECK(!mkdir(path_of("far"), 0700));
	MT_CHECK(!symlink("far", path_of("near")));
	MT_CHECK(!symlink("near/f", path_of("link")));
	MT_CHECK(record_to("link", "x"));
	MT_CHECK_STR(text_in("far/f"), "x");
	MT_CHECK(!symlink("round", path_of("round")));
	check_refused(path_of("round"), "Too many levels");
	end();
}

MT_TEST(standard_output_may_be_named)
{
	int saved = dup(STDOUT_FILENO), file, fd = -1;
	bool good;

	MT_REQUIRE(begin());
	fill("f", "before ");
	fflush(stdout);
	file = open(path_of("f"), O_WRONLY | O_CLOEXEC);
	dup2(file, STDOUT_FILENO);
	good = !mt_output_open("/dev/stdout", -1, &fd) && write(fd, "after", 5) == 5;
	dup2(saved, STDOUT_FILENO);
	MT_CHECK(good);
	MT_CHECK_STR(text_in("f"), "before after");
	close(fd);
	close(file);
	close(saved);
	end();
}

MT_TEST_MAIN
