/* report/stacks/spaces: the address space of each task, through forks, execs and exits. */
#include "report/stacks/spaces.h"

#include <stdlib.h>

#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "tests/unit/unit.h"

struct world {
	struct mt_image_set *images;
	struct mt_strings *strings;
	struct mt_spaces *spaces;
	struct mt_map64 code;
};

static struct world *world_begin(void)
{
	struct world *w = calloc(1, sizeof(*w));

	w->images = mt_image_set_create();
	w->strings = mt_strings_create();
	w->spaces = mt_spaces_create(w->images, w->strings, &w->code);
	return w;
}

static void world_end(struct world *w)
{
	mt_spaces_destroy(w->spaces);
	mt_strings_destroy(w->strings);
	mt_image_set_destroy(w->images);
	mt_map64_deinit(&w->code);
	free(w);
}

static void fork_task(struct world *w, int pid, int tid, int ppid, int ptid)
{
	mt_spaces_apply(w->spaces, &(struct mt_kernel_record){.type = MT_KERNEL_FORK,
							      .pid = pid,
							      .tid = tid,
							      .ppid = ppid,
							      .ptid = ptid,
							      .event_time = 99});
}

static void exit_task(struct world *w, int pid, int tid)
{
	mt_spaces_apply(w->spaces,
			&(struct mt_kernel_record){.type = MT_KERNEL_EXIT, .pid = pid, .tid = tid});
}

static void name_task(struct world *w, int pid, int tid, const char *comm, bool exec)
{
	mt_spaces_apply(w->spaces, &(struct mt_kernel_record){.type = MT_KERNEL_COMM,
							      .pid = pid,
							      .tid = tid,
							      .name = comm,
							      .exec = exec});
}

static void map_file(struct world *w, int pid, uint64_t start, const char *path)
{
	mt_spaces_apply(w->spaces, &(struct mt_kernel_record){.type = MT_KERNEL_MMAP2,
							      .misc = MT_CPUMODE_USER,
							      .pid = pid,
							      .tid = pid,
							      .start = start,
							      .length = 0x1000,
							      .prot = 5,
							      .name = path});
}

/* The path mapped at an address of a task's space; "" if there is none. */
static const char *mapped(struct world *w, int pid, int tid, uint64_t at)
{
	const struct mt_task *task = mt_spaces_task(w->spaces, pid, tid);
	const struct mt_mapping *mapping = mt_image_map_find(task->space->map, at);

	return mapping ? mapping->image->identity.path : "";
}

static const char *comm(struct world *w, int pid, int tid)
{
	return mt_strings_get(w->strings, mt_spaces_task(w->spaces, pid, tid)->comm);
}

MT_TEST(what_already_ran_is_known_at_the_start)
{
	struct world *w = world_begin();

	mt_spaces_add_task(w->spaces,
			   &(struct mt_task_record){
				   .pid = 5, .tid = 5, .start_time = 777, .comm = {"server", 6}});
	mt_spaces_add_task(w->spaces,
			   &(struct mt_task_record){.pid = 5, .tid = 8, .comm = {"worker", 6}});
	mt_spaces_add_map(w->spaces, &(struct mt_map_record){.pid = 5,
							     .start = 0x1000,
							     .end = 0x3000,
							     .prot = 5,
							     .path = {"/bin/server", 11}});
	mt_spaces_add_map(w->spaces, &(struct mt_map_record){
					     .pid = 5, .start = 0x8000, .end = 0x9000, .prot = 3});
	MT_CHECK_STR(comm(w, 5, 8), "worker");
	MT_CHECK_STR(mapped(w, 5, 8, 0x2fff), "/bin/server");
	MT_CHECK_STR(mapped(w, 5, 5, 0x8000), "//anon");
	MT_CHECK_EQ(mt_spaces_task(w->spaces, 5, 8)->space->start_time, 777);
	MT_CHECK_EQ(mt_spaces_task(w->spaces, 5, 8)->space->threads, 2);
	MT_CHECK_EQ(mt_spaces_processes(w->spaces), 1);
	world_end(w);
}

static const char *cgroup(struct world *w, int pid)
{
	return mt_strings_get(w->strings, mt_spaces_task(w->spaces, pid, pid)->space->cgroup);
}

MT_TEST(a_process_is_in_the_cgroup_that_it_was_moved_to)
{
	static const char lines[] = "9:cpu:/busy\n4:memory:/old\n0::/unified";
	const struct mt_text path = {"/new", 4};
	struct world *w = world_begin();

	mt_spaces_add_task(w->spaces,
			   &(struct mt_task_record){.pid = 5,
						    .tid = 5,
						    .comm = {"server", 6},
						    .cgroup = {lines, sizeof(lines) - 1}});
	fork_task(w, 5, 6, 5, 5);
	MT_CHECK_STR(cgroup(w, 5), "/old");
	mt_spaces_move(w->spaces, 5, 9, &path); /* not the memory hierarchy */
	mt_spaces_move(w->spaces, 6, 4, &path); /* a thread, then an unknown pid */
	mt_spaces_move(w->spaces, 77, 4, &path);
	MT_CHECK_STR(cgroup(w, 5), "/old");
	mt_spaces_move(w->spaces, 5, 4, &path);
	MT_CHECK_STR(cgroup(w, 5), "/new");
	fork_task(w, 7, 7, 5, 5);
	MT_CHECK_STR(cgroup(w, 7), "/new");
	world_end(w);
}

MT_TEST(threads_share_and_children_copy)
{
	struct world *w = world_begin();

	name_task(w, 5, 5, "parent", true);
	map_file(w, 5, 0x1000, "/bin/parent");
	fork_task(w, 5, 6, 5, 5);
	fork_task(w, 7, 7, 5, 6);
	map_file(w, 5, 0x2000, "/lib/later");
	MT_CHECK_STR(mapped(w, 5, 6, 0x2000), "/lib/later");
	MT_CHECK_STR(mapped(w, 7, 7, 0x1000), "/bin/parent");
	MT_CHECK_STR(mapped(w, 7, 7, 0x2000), "");
	MT_CHECK_STR(comm(w, 7, 7), "parent");
	MT_CHECK(mt_spaces_task(w->spaces, 5, 6)->space == mt_spaces_task(w->spaces, 5, 5)->space);
	MT_CHECK(mt_spaces_task(w->spaces, 7, 7)->space != mt_spaces_task(w->spaces, 5, 5)->space);
	MT_CHECK_EQ(mt_spaces_task(w->spaces, 7, 7)->space->start_time, 99);
	world_end(w);
}

MT_TEST(exec_begins_a_new_empty_space)
{
	struct world *w = world_begin();
	const struct mt_space *before;

	name_task(w, 5, 5, "sh", false);
	map_file(w, 5, 0x1000, "/bin/sh");
	before = mt_spaces_task(w->spaces, 5, 5)->space;
	name_task(w, 5, 5, "sh2", false); /* prctl: the same space */
	MT_CHECK(mt_spaces_task(w->spaces, 5, 5)->space == before);
	name_task(w, 5, 5, "ls", true);
	MT_CHECK(mt_spaces_task(w->spaces, 5, 5)->space != before);
	MT_CHECK_EQ(mt_spaces_task(w->spaces, 5, 5)->space->generation, 1);
	MT_CHECK_STR(mapped(w, 5, 5, 0x1000), "");
	map_file(w, 5, 0x1000, "/bin/ls"); /* goes into the new space */
	MT_CHECK_STR(mapped(w, 5, 5, 0x1000), "/bin/ls");
	world_end(w);
}

MT_TEST(a_pid_used_again_is_another_task)
{
	struct world *w = world_begin();

	name_task(w, 5, 5, "old", true);
	map_file(w, 5, 0x1000, "/bin/old");
	exit_task(w, 5, 5);
	name_task(w, 1, 1, "init", false);
	fork_task(w, 5, 5, 1, 1);
	MT_CHECK_STR(comm(w, 5, 5), "init");
	MT_CHECK_STR(mapped(w, 5, 5, 0x1000), "");
	/* A tid that appears in another process without a fork record is another task too. */
	MT_CHECK(mt_spaces_task(w->spaces, 900, 5)->space !=
		 mt_spaces_task(w->spaces, 5, 5)->space);
	world_end(w);
}

MT_TEST(maps_of_the_long_gone_are_let_go)
{
	struct world *w = world_begin();
	const struct mt_space *first;

	name_task(w, 1, 1, "init", false);
	map_file(w, 1, 0x1000, "/sbin/init");
	fork_task(w, 2, 2, 1, 1);
	first = mt_spaces_task(w->spaces, 2, 2)->space;
	exit_task(w, 2, 2);
	MT_CHECK_STR(mapped(w, 2, 2, 0x1000), "/sbin/init"); /* a late sample is still resolved */
	for (int pid = 10; pid < 1000; pid++) {
		fork_task(w, pid, pid, 1, 1);
		exit_task(w, pid, pid);
		exit_task(w, pid, pid); /* reported twice */
	}
	MT_CHECK(first->map == NULL);
	MT_CHECK_STR(mapped(w, 2, 2, 0x1000), ""); /* no longer resolved, but not removed */
	MT_CHECK_STR(mapped(w, 1, 1, 0x1000), "/sbin/init");
	MT_CHECK_EQ(mt_spaces_task(w->spaces, 1, 1)->space->threads, 1);
	world_end(w);
}

MT_TEST(kernel_mappings_and_impossible_ones_are_left_out)
{
	struct world *w = world_begin();
	struct mt_kernel_record kernel = {
		.type = MT_KERNEL_MMAP, .misc = MT_CPUMODE_KERNEL, .pid = -1};
	struct mt_kernel_record over = {.type = MT_KERNEL_MMAP2,
					.misc = MT_CPUMODE_USER,
					.pid = 5,
					.start = UINT64_MAX - 5,
					.length = 100,
					.name = "/x"};

	mt_spaces_apply(w->spaces, &kernel);
	mt_spaces_apply(w->spaces, &over);
	MT_CHECK_EQ(mt_image_set_count(w->images), 0);
	world_end(w);
}

/* The path of the program of a task. */
static const char *program(struct world *w, int pid)
{
	return mt_strings_get(w->strings, mt_spaces_task(w->spaces, pid, pid)->space->exe);
}

MT_TEST(a_process_runs_what_its_task_says_or_the_first_program_that_it_maps)
{
	struct world *w = world_begin();
	struct mt_task_record task = {.pid = 1, .tid = 1, .comm = {"a", 1}, .exe = {"/bin/a", 6}};

	mt_spaces_add_task(w->spaces, &task);
	map_file(w, 1, 0x1000, "/bin/other");
	MT_CHECK_STR(program(w, 1), "/bin/a");
	fork_task(w, 2, 2, 1, 1);
	MT_CHECK_STR(program(w, 2), "/bin/a");
	name_task(w, 2, 2, "b", true);
	MT_CHECK_STR(program(w, 2), "");
	map_file(w, 2, 0x5000, "/lib64/ld-linux-x86-64.so.2");
	map_file(w, 2, 0x1000, "/usr/lib/b");
	map_file(w, 2, 0x2000, "/usr/lib/libc.so.6");
	MT_CHECK_STR(program(w, 2), "/usr/lib/b");
	world_end(w);
}

/* The path to show for /bin/box, whose first process was started as "sh". */
static const char *shown_box(const char *first, const char *second)
{
	static char shown[16];
	struct world *w = world_begin();

	MT_CHECK(mt_image_set_started(w->images, "/bin/box", "sh"));
	name_task(w, 1, 1, first, true);
	map_file(w, 1, 0x1000, "/bin/box");
	map_file(w, 1, 0x2000, "/usr/lib/libc.so.6");
	if (second) {
		name_task(w, 2, 2, second, true);
		map_file(w, 2, 0x1000, "/bin/box");
	}
	snprintf(shown, sizeof(shown), "%s",
		 mt_image_shown(
			 mt_image_map_find(mt_spaces_task(w->spaces, 1, 1)->space->map, 0x1000)
				 ->image));
	world_end(w);
	return shown;
}

MT_TEST(a_program_is_shown_as_it_was_started_if_all_were_started_so)
{
	MT_CHECK_STR(shown_box("sh", NULL), "/bin/sh");
	MT_CHECK_STR(shown_box("sh", "sh"), "/bin/sh");
	MT_CHECK_STR(shown_box("sh", "ls"), "/bin/box");
	MT_CHECK_STR(shown_box("box", "sh"), "/bin/box");
	MT_CHECK_STR(shown_box("script", NULL), "/bin/box");
}

MT_TEST(a_process_that_already_ran_counts_too)
{
	struct world *w = world_begin();
	const struct mt_task_record task = {
		.pid = 1, .tid = 1, .comm = {"sh", 2}, .exe = {"/bin/box", 8}};
	const struct mt_map_record map = {
		.pid = 1, .prot = 5, .start = 0x1000, .end = 0x2000, .path = {"/bin/box", 8}};
	const struct mt_image *image;

	mt_spaces_add_task(w->spaces, &task);
	mt_spaces_add_map(w->spaces, &map);
	image = mt_image_map_find(mt_spaces_task(w->spaces, 1, 1)->space->map, 0x1000)->image;
	MT_CHECK_STR(mt_image_shown(image), "/bin/box");
	MT_CHECK(mt_image_set_started(w->images, "/bin/box", "sh"));
	MT_CHECK_STR(mt_image_shown(image), "/bin/sh");
	world_end(w);
}

MT_TEST_MAIN
