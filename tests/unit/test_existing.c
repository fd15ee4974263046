/* record/state/existing: lines of /proc, for any process name; and the records of this process. */
#include "record/state/existing.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "formats/chunks/chunk.h"
#include "formats/records/record.h"
#include "record/open/clock.h"
#include "record/proc/procfs.h"
#include "record/rings/spool.h"
#include "record/rings/state_writer.h"
#include "tests/unit/unit.h"

static bool path_is(const struct mt_map_record *map, const char *path)
{
	return map->path.size == strlen(path) && !memcmp(map->path.bytes, path, map->path.size);
}

MT_TEST(a_mapped_file)
{
	char line[] = "7f0102030000-7f0102034000 r-xp 00022000 fd:01 1835203"
		      "                    /usr/lib/libc.so.6";
	struct mt_map_record map = {0};

	MT_REQUIRE(mt_map_line_get(line, &map));
	MT_CHECK_EQ(map.start, 0x7f0102030000);
	MT_CHECK_EQ(map.end, 0x7f0102034000);
	MT_CHECK_EQ(map.offset, 0x22000);
	MT_CHECK_EQ(map.major, 0xfd);
	MT_CHECK_EQ(map.minor, 1);
	MT_CHECK_EQ(map.inode, 1835203);
	MT_CHECK_EQ(map.prot, PROT_READ | PROT_EXEC);
	MT_CHECK_EQ(map.flags, MAP_PRIVATE);
	MT_CHECK(path_is(&map, "/usr/lib/libc.so.6"));
}

MT_TEST(memory_without_a_name)
{
	char with_blank[] = "10000-20000 rw-p 00000000 00:00 0 ";
	char without[] = "10000-20000 rw-s 00000000 00:00 0";
	struct mt_map_record map = {0};

	MT_REQUIRE(mt_map_line_get(with_blank, &map));
	MT_CHECK(path_is(&map, ""));
	MT_CHECK_EQ(map.prot, PROT_READ | PROT_WRITE);
	MT_REQUIRE(mt_map_line_get(without, &map));
	MT_CHECK(path_is(&map, ""));
	MT_CHECK_EQ(map.flags, MAP_SHARED);
}

MT_TEST(paths_may_hold_anything)
{
	char blanks[] = "1000-2000 ---p 00000000 fd:01 12      /tmp/a  b c (deleted)";
	char newline[] = "1000-2000 r--p 00000000 fd:01 12      /tmp/a\\012b\\0123\\x";
	char special[] =
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0        [vsyscall]";
	struct mt_map_record map = {0};

	MT_REQUIRE(mt_map_line_get(blanks, &map));
	MT_CHECK(path_is(&map, "/tmp/a  b c (deleted)"));
	MT_CHECK_EQ(map.prot, 0);
	MT_REQUIRE(mt_map_line_get(newline, &map));
	MT_CHECK(path_is(&map, "/tmp/a\nb\n3\\x"));
	MT_REQUIRE(mt_map_line_get(special, &map));
	MT_CHECK(path_is(&map, "[vsyscall]"));
	MT_CHECK_EQ(map.end, 0xffffffffff601000);
}

MT_TEST(what_is_no_line_of_maps)
{
	static const char *const lines[] = {
		"",
		"\n",
		"hello",
		"1000-2000",
		"1000-2000 r-xp",
		"1000 2000 r-xp 00000000 00:00 0",
		"1000-2000 r-xp 00000000 00:00",
		"1000-2000 r-xp 00000000 0000 0",
		"1000-2000 r 00000000 00:00 0",
		"x-2000 r-xp 00000000 00:00 0",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char line[128];
		struct mt_map_record map = {0};

		strcpy(line, lines[i]);
		if (!MT_CHECK(!mt_map_line_get(line, &map)))
			printf("# '%s'\n", lines[i]);
	}
}

MT_TEST(the_start_time_is_after_any_name)
{
	const char *rest = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20 21";
	static const char *const names[] = {"sh", "a b", ") S 1 1 1", "(x", "", "a)"};
	char stat[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(stat, sizeof(stat), "12 (%s) %s\n", names[i], rest);
		MT_CHECK_EQ(mt_existing_start_time(stat), 987654);
	}
	MT_CHECK_EQ(mt_existing_start_time(""), 0);
	MT_CHECK_EQ(mt_existing_start_time("12 (sh"), 0);
	MT_CHECK_EQ(mt_existing_start_time("12 (sh) S 1 2"), 0);
}

struct seen {
	unsigned tasks, own_maps;
	bool leader, thread, code, heap_times;
};

static void see_task(const uint8_t *body, size_t size, struct seen *seen)
{
	struct mt_task_record task;

	if (!MT_CHECK(mt_task_get(body, size, &task)))
		return;
	seen->tasks++;
	MT_CHECK_EQ(task.pid, getpid());
	MT_CHECK(task.start_time);
	if (task.tid == getpid()) {
		MT_CHECK_EQ(task.ppid, getppid());
		MT_CHECK_EQ(task.uid, getuid());
		MT_CHECK(task.comm.size == 11 && !memcmp(task.comm.bytes, "odd) \n name", 11));
		MT_CHECK(task.exe.size && task.exe.bytes[0] == '/');
		MT_CHECK(task.cmdline.size);
		seen->leader = true;
	} else {
		MT_CHECK(task.comm.size == 6 && !memcmp(task.comm.bytes, "helper", 6));
		MT_CHECK(!task.exe.size);
		seen->thread = true;
	}
}

static void see_map(const uint8_t *body, size_t size, struct seen *seen)
{
	struct mt_map_record map;
	uint64_t here = (uint64_t)(uintptr_t)&see_map;

	if (!MT_CHECK(mt_map_get(body, size, &map)))
		return;
	seen->own_maps++;
	MT_CHECK_EQ(map.pid, getpid());
	MT_CHECK(map.before && map.before <= map.after);
	if (map.start <= here && here < map.end)
		seen->code = map.prot == (PROT_READ | PROT_EXEC) && map.inode &&
			     strstr(map.path.bytes, "test_existing");
}

static void see(const struct mt_block *block, struct seen *seen)
{
	for (size_t at = 0; at < block->used; at += mt_get_le32(block->bytes + at + 4)) {
		uint32_t type = mt_get_le32(block->bytes + at);
		const uint8_t *body = block->bytes + at + MT_RECORD_HEADER_SIZE;
		size_t size = mt_get_le32(block->bytes + at + 4) - MT_RECORD_HEADER_SIZE;

		if (type == MT_RECORD_TASK)
			see_task(body, size, seen);
		else if (type == MT_RECORD_MAP)
			see_map(body, size, seen);
	}
}

/* The records that mt_existing_process() makes for a process. */
static struct seen seen_of(pid_t pid)
{
	struct mt_state state = {.spool = mt_spool_create(8), .type = MT_CHUNK_STATE};
	struct seen seen = {0};
	struct mt_block *block;

	mt_existing_process(&state, &(struct mt_clock){0}, pid, true);
	mt_state_flush(&state);
	mt_spool_close(state.spool);
	while ((block = mt_spool_pop(state.spool))) {
		see(block, &seen);
		mt_spool_release(state.spool, block);
	}
	mt_spool_destroy(state.spool);
	return seen;
}

static void *helper(void *fd)
{
	char byte;

	prctl(PR_SET_NAME, "helper");
	(void)!write(((int *)fd)[3], "", 1);
	(void)!read(((int *)fd)[0], &byte, 1);
	return NULL;
}

MT_TEST(a_process_with_its_threads_and_maps)
{
	int pipes[4];
	char byte;
	pthread_t thread;
	struct seen seen;

	MT_REQUIRE(!pipe(pipes) && !pipe(pipes + 2));
	MT_REQUIRE(!pthread_create(&thread, NULL, helper, pipes));
	MT_REQUIRE(read(pipes[2], &byte, 1) == 1);
	prctl(PR_SET_NAME, "odd) \n name");
	seen = seen_of(getpid());
	close(pipes[1]);
	pthread_join(thread, NULL);
	MT_CHECK(seen.leader && seen.thread);
	/* a sanitizer may have a thread */
	MT_CHECK(seen.tasks >= 2);
	MT_CHECK(seen.own_maps > 5);
	MT_CHECK(seen.code);
	for (int i = 0; i < 4; i++)
		i == 1 ? 0 : close(pipes[i]);
}

MT_TEST(more_maps_than_one_read_gives)
{
	enum {
		MAPS = 3000
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, MAPS * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MT_REQUIRE(memory != MAP_FAILED);
	for (size_t i = 0; i < MAPS; i += 2)
		mprotect(memory + i * page, page, PROT_READ | PROT_WRITE);
	prctl(PR_SET_NAME, "odd) \n name");
	MT_CHECK(seen_of(getpid()).own_maps >= MAPS);
	munmap(memory, MAPS * page);
}

MT_TEST(a_process_that_is_gone_is_nothing)
{
	struct seen seen = seen_of(0x3ffffff);

	MT_CHECK(!seen.tasks && !seen.own_maps);
}

MT_TEST(the_kernels_own_threads_have_no_memory)
{
	MT_CHECK(mt_existing_is_kernels("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0"));
	MT_CHECK(!mt_existing_is_kernels("99 (sh) 2129984) S 1 99 99 0 -1 4194304 0 0 0 0"));
	MT_CHECK(!mt_existing_is_kernels("99 (sh) S 1"));
	MT_CHECK(!mt_existing_is_kernels(""));
}

MT_TEST(the_process_of_a_thread)
{
	MT_CHECK_EQ(mt_existing_pid_of(getpid()), getpid());
	MT_CHECK_EQ(mt_existing_pid_of(0x3ffffff), 0x3ffffff);
}

MT_TEST_MAIN
