/* record/write/code_maps: the mapping at an address at a time. */
#include "record/write/code_maps.h"

#include <string.h>
#include <sys/mman.h>

#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "tests/unit/unit.h"

#define PID 100
#define CODE 0x400000

static struct mt_kernel_record mmap_of(int32_t pid, uint64_t start, const char *name)
{
	return (struct mt_kernel_record){.type = MT_KERNEL_MMAP2,
					 .misc = MT_CPUMODE_USER,
					 .pid = pid,
					 .tid = pid,
					 .start = start,
					 .length = 0x1000,
					 .prot = PROT_READ | PROT_EXEC,
					 .name = name};
}

static void map(struct mt_code_maps *maps, int32_t pid, uint64_t start, const char *name,
		uint64_t time)
{
	struct mt_kernel_record record = mmap_of(pid, start, name);

	MT_CHECK(mt_code_maps_apply(maps, &record, time));
}

static void deliver(struct mt_code_maps *maps, uint32_t type, int32_t pid, int32_t ppid,
		    uint64_t time)
{
	struct mt_kernel_record record = {.type = type,
					  .pid = pid,
					  .tid = pid,
					  .ppid = ppid,
					  .ptid = ppid,
					  .exec = type == MT_KERNEL_COMM};

	MT_CHECK(mt_code_maps_apply(maps, &record, time));
}

/* The path mapped at the address; "" if there is no mapping. */
static const char *at(const struct mt_code_maps *maps, int32_t pid, uint64_t address, uint64_t time)
{
	const struct mt_mapping *mapping =
		mt_image_map_find(mt_code_maps_find(maps, pid, time), address);

	return mapping ? mapping->image->identity.path : "";
}

MT_TEST(what_ran_already)
{
	struct mt_image_set *set = mt_image_set_create();
	struct mt_code_maps *maps = mt_code_maps_create(set);
	struct mt_map_record record = {.pid = PID,
				       .prot = PROT_READ | PROT_EXEC,
				       .start = CODE,
				       .end = CODE + 0x1000,
				       .path = {"/bin/one", 8}};

	MT_CHECK(mt_code_maps_add_task(maps, &(struct mt_task_record){.pid = PID, .tid = PID}));
	MT_CHECK(mt_code_maps_add_map(maps, &record));
	MT_CHECK_STR(at(maps, PID, CODE, 0), "/bin/one");
	MT_CHECK_STR(at(maps, PID, CODE + 0x1000, 0), "");
	MT_CHECK_STR(at(maps, 4711, CODE, 0), ""); /* no record has shown this process */
	mt_code_maps_destroy(maps);
	mt_image_set_destroy(set);
}

MT_TEST(until_it_is_settled_the_past_is_known)
{
	struct mt_image_set *set = mt_image_set_create();
	struct mt_code_maps *maps = mt_code_maps_create(set);

	map(maps, PID, CODE, "/bin/one", 10);
	map(maps, PID, CODE, "/bin/two", 20);
	deliver(maps, MT_KERNEL_COMM, PID, 0, 30); /* exec */
	map(maps, PID, CODE, "/bin/three", 40);
	MT_CHECK_STR(at(maps, PID, CODE, 15), "/bin/one");
	MT_CHECK_STR(at(maps, PID, CODE, 20), "/bin/two");
	MT_CHECK_STR(at(maps, PID, CODE, 29), "/bin/two");
	MT_CHECK_STR(at(maps, PID, CODE, 30), "");
	MT_CHECK_STR(at(maps, PID, CODE, 40), "/bin/three");
	mt_code_maps_settle(maps);
	MT_CHECK_STR(at(maps, PID, CODE, 15), "/bin/three");
	mt_code_maps_destroy(maps);
	mt_image_set_destroy(set);
}

MT_TEST(a_child_has_what_its_parent_had)
{
	struct mt_image_set *set = mt_image_set_create();
	struct mt_code_maps *maps = mt_code_maps_create(set);

	map(maps, PID, CODE, "/bin/one", 10);
	deliver(maps, MT_KERNEL_FORK, PID + 1, PID, 20);
	map(maps, PID, CODE, "/bin/two", 30);
	map(maps, PID + 1, CODE + 0x1000, "/lib/child", 40);
	MT_CHECK_STR(at(maps, PID + 1, CODE, 50), "/bin/one");
	MT_CHECK_STR(at(maps, PID + 1, CODE + 0x1000, 50), "/lib/child");
	MT_CHECK_STR(at(maps, PID, CODE, 50), "/bin/two");
	MT_CHECK_STR(at(maps, PID, CODE + 0x1000, 50), "");
	/* the pid is used again, by a child of another parent */
	deliver(maps, MT_KERNEL_EXIT, PID + 1, PID, 60);
	deliver(maps, MT_KERNEL_FORK, PID + 1, PID, 70);
	MT_CHECK_STR(at(maps, PID + 1, CODE, 65), "/bin/one");
	MT_CHECK_STR(at(maps, PID + 1, CODE, 75), "/bin/two");
	mt_code_maps_destroy(maps);
	mt_image_set_destroy(set);
}

MT_TEST(who_exited_long_ago_is_forgotten)
{
	struct mt_image_set *set = mt_image_set_create();
	struct mt_code_maps *maps = mt_code_maps_create(set);
	uint64_t time = 1;

	map(maps, PID, CODE, "/bin/one", time++);
	for (int32_t pid = PID + 1; pid < 20000; pid++) {
		deliver(maps, MT_KERNEL_FORK, pid, PID, time++);
		map(maps, pid, CODE, "/bin/two", time++);
		deliver(maps, MT_KERNEL_EXIT, pid, PID, time++);
		if (pid % 1000 == 0)
			mt_code_maps_settle(maps);
	}
	mt_code_maps_settle(maps);
	MT_CHECK(mt_code_maps_count(maps) <= 513);
	MT_CHECK_STR(at(maps, PID, CODE, time), "/bin/one");
	MT_CHECK_STR(at(maps, 19999, CODE, time), "/bin/two"); /* late samples are resolved */
	mt_code_maps_destroy(maps);
	mt_image_set_destroy(set);
}

MT_TEST(absurd_records_change_nothing)
{
	struct mt_image_set *set = mt_image_set_create();
	struct mt_code_maps *maps = mt_code_maps_create(set);
	struct mt_kernel_record record = mmap_of(PID, UINT64_MAX - 1, "/bin/one");

	MT_CHECK(mt_code_maps_apply(maps, &record, 1));
	record = mmap_of(-1, CODE, "/bin/one");
	MT_CHECK(mt_code_maps_apply(maps, &record, 1));
	record = mmap_of(PID, CODE, "/bin/one");
	record.length = 0;
	MT_CHECK(mt_code_maps_apply(maps, &record, 1));
	deliver(maps, MT_KERNEL_EXIT, 4711, 1, 2);
	MT_CHECK(mt_code_maps_add_map(
		maps, &(struct mt_map_record){.pid = PID, .start = CODE + 1, .end = CODE}));
	MT_CHECK_STR(at(maps, PID, CODE, 3), "");
	mt_code_maps_destroy(maps);
	mt_image_set_destroy(set);
}

MT_TEST_MAIN
