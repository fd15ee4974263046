/* When perf maps, and pieces of them, are due to be read. */
#include "record/carry/perf_maps.h"

#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static char path[64];

/* Writes this process' perf map. */
static bool write_map(const char *text)
{
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, "w");
	if (file)
		fputs(text, file);
	return file && !fclose(file);
}

MT_TEST(no_two_contents_of_a_process_have_the_same_time)
{
	struct mt_perf_maps *maps = mt_perf_maps_create(NULL);
	struct mt_perf_map_file *piece, taken, last;

	MT_CHECK(write_map("1000 10 f\n"));
	mt_perf_maps_add(maps, getpid());
	piece = mt_perf_maps_next_changed(maps, 1);
	MT_CHECK(piece);
	piece->time = mt_perf_map_piece_time(piece, 100);
	MT_CHECK_EQ(piece->time, 101);
	MT_CHECK_EQ(mt_perf_map_piece_time(piece, 100), 103);

	/* an exec before the piece, reported after it */
	MT_CHECK(mt_perf_maps_take(maps, getpid(), 90, &taken));
	MT_CHECK_EQ(taken.read, 90);
	close(taken.fd);

	/* the new program's, at the end, without a record since the piece */
	MT_CHECK(mt_perf_maps_take_last(maps, 101, &last));
	MT_CHECK_EQ(last.read, 102);
	MT_CHECK_EQ(last.time, 101);
	MT_CHECK(!last.in_pieces);
	close(last.fd);
	MT_CHECK(!mt_perf_maps_take_last(maps, 101, &last));
	mt_perf_maps_destroy(maps);
	unlink(path);
}

MT_TEST(an_exec_as_the_last_thing_is_no_reason_either)
{
	struct mt_perf_maps *maps = mt_perf_maps_create(NULL);
	struct mt_perf_map_file before, after;

	MT_CHECK(write_map("1000 10 f\n"));
	mt_perf_maps_add(maps, getpid());
	MT_CHECK(mt_perf_maps_take(maps, getpid(), 90, &before));
	MT_CHECK(mt_perf_maps_take_last(maps, 90, &after));
	MT_CHECK(after.read > before.read);
	close(before.fd);
	close(after.fd);
	mt_perf_maps_destroy(maps);
	unlink(path);
}

/* A process that ends before the next look; returns its pid, which no process has then. */
static pid_t short_process(struct mt_perf_maps *maps)
{
	int ends[2];
	pid_t pid;
	char byte;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	close(ends[0]);
	mt_perf_maps_add(maps, pid);
	close(ends[1]);
	waitpid(pid, NULL, 0);
	return pid;
}

MT_TEST(processes_that_ended_and_left_nothing_are_forgotten)
{
	struct mt_perf_maps *maps = mt_perf_maps_create(NULL);
	struct mt_perf_map_file last;

	MT_CHECK(write_map("1000 10 f\n"));
	for (int i = 0; i < 20; i++) {
		MT_REQUIRE(short_process(maps) > 0);
		if (i == 10)
			mt_perf_maps_add(maps, getpid());
	}
	MT_CHECK_EQ(mt_perf_maps_count(maps), 21);
	mt_perf_maps_look(maps, UINT64_MAX - 1);
	MT_CHECK_EQ(mt_perf_maps_count(maps), 1);
	mt_perf_maps_add(maps, getpid());
	MT_CHECK_EQ(mt_perf_maps_count(maps), 1);
	MT_CHECK(mt_perf_maps_take_last(maps, 100, &last));
	MT_CHECK_EQ(last.pid, getpid());
	close(last.fd);
	mt_perf_maps_destroy(maps);
	unlink(path);
}

MT_TEST(what_another_process_of_that_number_left_is_passed_over)
{
	const struct timespec past[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	struct mt_perf_maps *maps = mt_perf_maps_create(NULL);
	struct mt_perf_map_file taken;

	MT_CHECK(write_map("1000 10 f\n"));
	MT_CHECK(!utimensat(AT_FDCWD, path, past, 0));
	mt_perf_maps_add(maps, getpid());
	MT_CHECK(!mt_perf_maps_take(maps, getpid(), 90, &taken));
	MT_CHECK(write_map("2000 10 g\n"));
	MT_CHECK(mt_perf_maps_take(maps, getpid(), 100, &taken));
	close(taken.fd);
	mt_perf_maps_destroy(maps);
	unlink(path);
}

static bool is_of_user(pid_t pid, uid_t uid)
{
	struct stat status;
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d", (int)pid);
	return !stat(name, &status) && status.st_uid == uid;
}

/* A process of another user that waits for the end of `ends[1]`; -1 if there can be none. */
static pid_t others_process(int ends[2])
{
	pid_t pid;
	char byte;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		close(ends[1]);
		_exit(setgroups(0, NULL) || setgid(65534) || setuid(65534) ||
		      read(ends[0], &byte, 1) != 0);
	}
	close(ends[0]);
	while (pid > 0 && !is_of_user(pid, 65534) && !waitpid(pid, NULL, WNOHANG))
		usleep(1000);
	return pid;
}

/*
 * The file of that name belongs to root: the process' user may have made it a link to a file of
 * root.
 */
MT_TEST(what_its_process_may_not_read_is_not_read_for_it)
{
	struct mt_perf_maps *maps = mt_perf_maps_create(NULL);
	int ends[2];
	pid_t pid;

	if (geteuid()) {
		mt_perf_maps_destroy(maps);
		MT_SKIP("not root");
	}
	pid = others_process(ends);
	MT_REQUIRE(pid > 0);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	for (int mode = 0600; mode <= 0604; mode += 4) {
		int fd = open(path, O_CREAT | O_WRONLY, mode);
		struct mt_perf_map_file map;

		MT_CHECK(fd >= 0 && !fchmod(fd, (mode_t)mode) &&
			 write(fd, "1000 10 f\n", 10) == 10);
		close(fd);
		mt_perf_maps_add(maps, pid);
		MT_CHECK_EQ(mt_perf_maps_take(maps, pid, 90, &map), mode == 0604);
		if (mode == 0604)
			close(map.fd);
		unlink(path);
	}
	MT_CHECK_EQ(geteuid(), 0);
	close(ends[1]);
	waitpid(pid, NULL, 0);
	mt_perf_maps_destroy(maps);
}

MT_TEST_MAIN
