/*
 * record/files/file_worker: a call that does not return is abandoned, and other calls still work.
 */
#include "record/files/file_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "record/files/mapped_file.h"
#include "record/open/clock.h"
#include "tests/unit/unit.h"

#define SECOND UINT64_C(1000000000)

/*
 * Acts like an open() on a file system that does not answer: returns when the pipe's other end is
 * closed.
 */
static int open_never(void *argument)
{
	const int *pipe_end = argument;
	char byte;

	(void)!read(*pipe_end, &byte, 1);
	return dup(*pipe_end);
}

static int open_null(void *argument)
{
	(void)argument;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static struct mt_mapped_file self(void)
{
	static const char path[] = "/proc/self/exe";

	return (struct mt_mapped_file){.pid = (int32_t)getpid(), .path = {path, strlen(path)}};
}

MT_TEST(calls_have_their_results)
{
	struct mt_file_worker *worker = mt_file_worker_create();
	const struct mt_mapped_file file = self();
	struct stat status, again;
	uint8_t *bytes = malloc(1 << 20), magic[4];
	int fd;

	MT_REQUIRE(worker && bytes);
	fd = mt_file_worker_open(worker, &file, &status);
	MT_REQUIRE(fd >= 0);
	MT_CHECK(!mt_file_worker_stat(worker, fd, &again));
	MT_CHECK_EQ(again.st_ino, status.st_ino);
	MT_CHECK_EQ(mt_file_worker_read(worker, fd, 0, magic, 4), 4);
	MT_CHECK(!memcmp(magic, "\177ELF", 4));
	MT_CHECK_EQ(mt_file_worker_read(worker, fd, 0, bytes, 1 << 20),
		    status.st_size < 1 << 20 ? status.st_size : 1 << 20);
	MT_CHECK_EQ(mt_file_worker_read(worker, fd, (uint64_t)status.st_size, bytes, 16), 0);
	mt_file_worker_close(worker, fd);
	fd = mt_file_worker_open(
		worker, &(struct mt_mapped_file){.pid = 1, .path = {"/not/there", 10}}, &status);
	MT_CHECK_EQ(fd, -1);
	MT_CHECK_EQ(errno, ENOENT);
	mt_file_worker_destroy(worker);
	free(bytes);
}

/* A process' name in the kernel is compared with the directory of its program. */
MT_TEST(the_name_that_a_program_was_started_by_is_a_link_to_it)
{
	char path[4096], other[4200], comm[16], started[MT_STARTED_SIZE];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
	struct mt_mapped_file file = {.pid = (int32_t)getpid()};

	MT_REQUIRE(size > 0 && !prctl(PR_GET_NAME, comm));
	file.path = (struct mt_text){path, (size_t)size};
	prctl(PR_SET_NAME, "started-as");
	mt_mapped_file_started(&file, started);
	MT_CHECK_STR(started, "");
	snprintf(other, sizeof(other), "%.*s/started-as",
		 (int)((char *)memrchr(path, '/', (size_t)size) - path), path);
	unlink(other);
	MT_REQUIRE(!symlink("/bin/sh", other));
	mt_mapped_file_started(&file, started);
	MT_CHECK_STR(started, "");
	unlink(other);
	path[size] = '\0';
	MT_REQUIRE(!symlink(path, other));
	mt_mapped_file_started(&file, started);
	MT_CHECK_STR(started, "started-as");
	file.path.size--; /* as for a library of the program */
	mt_mapped_file_started(&file, started);
	MT_CHECK_STR(started, "");
	unlink(other);
	prctl(PR_SET_NAME, comm);
}

MT_TEST(what_does_not_answer_is_given_up_and_not_asked_again)
{
	struct mt_file_worker *worker = mt_file_worker_create();
	uint64_t began = mt_clock_monotonic(), first;
	int ends[2], fd;

	MT_REQUIRE(worker && !pipe(ends));
	MT_CHECK_EQ(mt_file_worker_open_with(worker, 7, open_never, &ends[0], sizeof(int)), -1);
	MT_CHECK_EQ(errno, ETIMEDOUT);
	first = mt_clock_monotonic() - began;
	MT_CHECK(first > SECOND && first < 20 * SECOND);
	began = mt_clock_monotonic();
	MT_CHECK_EQ(mt_file_worker_open_with(worker, 7, open_null, NULL, 0), -1);
	MT_CHECK_EQ(errno, ETIMEDOUT);
	MT_CHECK(mt_clock_monotonic() - began < first / 2);
	fd = mt_file_worker_open_with(worker, 8, open_null, NULL, 0);
	MT_CHECK(fd >= 0); /* other files still open */
	mt_file_worker_close(worker, fd);
	mt_file_worker_destroy(worker); /* does not wait for the abandoned call */
	close(ends[1]);
	usleep(100000); /* the worker closes the file that it opened late */
	close(ends[0]);
}

MT_TEST(answers_are_taken_as_they_come)
{
	struct mt_file_worker *worker = mt_file_worker_create();
	const struct mt_mapped_file file = self(), none = {.pid = 1, .path = {"/not/there", 10}};
	struct mt_file_probe probe;
	bool seen[3] = {false};

	MT_REQUIRE(worker);
	MT_CHECK(!mt_file_worker_answer(worker, UINT64_MAX, &probe)); /* no request is pending */
	MT_CHECK(mt_file_worker_ask(worker, 1, &file, 64));
	MT_CHECK(mt_file_worker_ask(worker, 2, &none, 64));
	MT_CHECK_EQ(mt_file_worker_asked(worker), 2);
	while (mt_file_worker_answer(worker, UINT64_MAX, &probe)) {
		MT_REQUIRE(probe.tag == 1 || probe.tag == 2);
		seen[probe.tag] = true;
		MT_CHECK_EQ(probe.fd >= 0, probe.tag == 1);
		MT_CHECK_EQ(probe.error, probe.tag == 1 ? 0 : ENOENT);
		if (probe.fd < 0)
			continue;
		MT_CHECK_EQ(probe.size, 64);
		MT_CHECK(!memcmp(probe.front, "\177ELF", 4));
		free(probe.front);
		mt_file_worker_close(worker, probe.fd);
	}
	MT_CHECK(seen[1] && seen[2]);
	MT_CHECK(mt_file_worker_ask(worker, 1, &file, 64));
	mt_file_worker_destroy(worker); /* with a request pending */
}

MT_TEST_MAIN
