/* record/output: a new private file each time, and nothing that was there is written over. */
#include "record/output.h"

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

/* Opens the output there and writes that into it. */
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

MT_TEST_MAIN
