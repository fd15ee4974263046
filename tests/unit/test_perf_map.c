/* Names of code that a process generated, from /tmp/perf-PID.map. */
#include <string.h>

#include "formats/base/cleanup.h"
#include "symbols/names/perf_map.h"
#include "tests/unit/unit.h"

MT_DEFINE_CLEANUP(mt_perf_map, struct mt_perf_map)
#define MAP_GUARD MT_CLEANUP(mt_perf_map_destroy_p) struct mt_perf_map *

static void check(const struct mt_perf_map *map, uint64_t address, const char *name,
		  uint64_t offset)
{
	uint64_t found_offset = 0;
	size_t size = 0;
	const char *found = mt_perf_map_find(map, address, &size, &found_offset);

	MT_CHECK_EQ(found != NULL, name != NULL);
	if (!found || !name)
		return;
	MT_CHECK_EQ(size, strlen(name));
	MT_CHECK(!strncmp(found, name, size));
	MT_CHECK_EQ(found_offset, offset);
}

MT_TEST(names_reach_to_the_lines_end)
{
	static const char text[] = "7f0000001000 20 LazyCompile:*grow /srv/a b.js:12\n"
				   "0x7f0000002000 0x10 plain\r\n"
				   "7F0000003000 1f last";
	MAP_GUARD map = mt_perf_map_create(text, sizeof(text) - 1);

	check(map, 0x7f0000000fff, NULL, 0);
	check(map, 0x7f0000001000, "LazyCompile:*grow /srv/a b.js:12", 0);
	check(map, 0x7f000000101f, "LazyCompile:*grow /srv/a b.js:12", 0x1f);
	check(map, 0x7f0000001020, NULL, 0);
	check(map, 0x7f000000200f, "plain", 0xf);
	check(map, 0x7f000000301e, "last", 0x1e);
}

MT_TEST(later_lines_supersede)
{
	static const char text[] = "1000 100 old\n"
				   "1040 20 new\n"
				   "10f0 20 over_its_end\n";
	MAP_GUARD map = mt_perf_map_create(text, sizeof(text) - 1);

	check(map, 0x103f, "old", 0x3f);
	check(map, 0x1040, "new", 0);
	check(map, 0x1060, "old", 0x60);
	check(map, 0x10f0, "over_its_end", 0);
	check(map, 0x110f, "over_its_end", 0x1f);
}

MT_TEST(other_lines_are_passed_over)
{
	static const char text[] = "\n# comment\n1000\n1000 10\n1000 10 \n1000 0 empty\n"
				   "ffffffffffffffff 10 wraps\n11112222333344445 10 long\n"
				   "g000 10 no_number\n2000 10 good\n3000 10 a\0b\n";
	MAP_GUARD map = mt_perf_map_create(text, sizeof(text) - 1);

	check(map, 0x1000, NULL, 0);
	check(map, UINT64_MAX, NULL, 0);
	check(map, 0x2001, "good", 1);
	check(map, 0x3000, "a", 0);
}

MT_TEST(nothing_is_an_empty_map)
{
	MAP_GUARD map = mt_perf_map_create("", 0);

	check(map, 0, NULL, 0);
}

MT_TEST_MAIN
