/* formats/base/map64: entries are found, through growth and removal. */
#include "formats/base/map64.h"

#include "tests/unit/unit.h"

MT_TEST(an_empty_map_has_nothing)
{
	struct mt_map64 map = {0};
	uint64_t value = 7;

	MT_CHECK(!mt_map64_get(&map, 0, &value));
	MT_CHECK(!mt_map64_remove(&map, 0));
	MT_CHECK_EQ(value, 7);
	mt_map64_deinit(&map);
}

MT_TEST(put_replaces)
{
	struct mt_map64 map = {0};
	uint64_t value = 0;

	MT_CHECK(mt_map64_put(&map, UINT64_MAX, 1) && mt_map64_put(&map, UINT64_MAX, 2));
	MT_CHECK(mt_map64_get(&map, UINT64_MAX, &value));
	MT_CHECK_EQ(value, 2);
	MT_CHECK_EQ(map.count, 1);
	mt_map64_deinit(&map);
}

/*
 * Compared with a plain array: keys of a small range are added and removed, so that slots collide
 * and holes are filled.
 */
MT_TEST(agrees_with_an_array)
{
	struct mt_map64 map = {0};
	uint64_t plain[512] = {0}, value, state = 1;
	size_t wrong = 0, count = 0;

	for (int step = 0; step < 100000; step++) {
		uint64_t key = (state = mt_hash64(state + (uint64_t)step)) % 512;

		if (state >> 63) {
			count += !plain[key];
			plain[key] = state | 1;
			wrong += !mt_map64_put(&map, key, state | 1);
		} else {
			count -= plain[key] != 0;
			wrong += mt_map64_remove(&map, key) != (plain[key] != 0);
			plain[key] = 0;
		}
		wrong += map.count != count;
	}
	for (uint64_t key = 0; key < 512; key++) {
		bool found = mt_map64_get(&map, key, &value);

		wrong += found != (plain[key] != 0) || (found && value != plain[key]);
	}
	MT_CHECK_EQ(wrong, 0);
	mt_map64_deinit(&map);
}

MT_TEST(what_is_added_does_not_replace_what_is_there)
{
	struct mt_map64 map = {0};
	uint64_t value = 0;

	MT_CHECK(mt_map64_add(&map, 5, 1));
	MT_CHECK(mt_map64_add(&map, 5, 2));
	MT_CHECK(mt_map64_get(&map, 5, &value));
	MT_CHECK_EQ(value, 1);
	MT_CHECK_EQ(map.count, 1);
	mt_map64_deinit(&map);
}

MT_TEST(a_key_has_one_element)
{
	struct mt_map64 map = {0};
	MT_ARRAY(int) numbers = {0};

	*mt_map64_element(&map, &numbers, 70) = 7;
	*mt_map64_element(&map, &numbers, 80) = 8;
	MT_CHECK_EQ(*mt_map64_element(&map, &numbers, 70), 7);
	MT_CHECK_EQ(numbers.count, 2);
	*mt_array_at(&numbers, 100) = 9;
	MT_CHECK_EQ(numbers.count, 101);
	MT_CHECK(numbers.items[1] == 8 && !numbers.items[2] && !numbers.items[99]);
	MT_CHECK_EQ(*mt_array_at(&numbers, 100), 9);
	mt_array_deinit(&numbers);
	mt_map64_deinit(&map);
}

static size_t ends;

static void end(void)
{
	ends++;
}

MT_TEST(an_end_is_called_where_memory_runs_out)
{
	volatile size_t far = SIZE_MAX / 2; /* not a constant that compilers refuse */
	struct mt_map64 map = {0};
	MT_ARRAY(int) numbers = {0};

	MT_CHECK(!mt_array_at(&numbers, far));
	MT_CHECK_EQ(ends, 0);
	mt_memory_set_end(end);
	MT_CHECK(!mt_array_at(&numbers, far));
	MT_CHECK_EQ(ends, 1);
	*mt_map64_element(&map, &numbers, 1) = 1;
	MT_CHECK_EQ(ends, 1);
	mt_memory_set_end(NULL);
	mt_array_deinit(&numbers);
	mt_map64_deinit(&map);
}

MT_TEST(hashes_depend_on_every_byte)
{
	uint8_t bytes[19 + 3 * 64] = {0}; /* long inputs are hashed in another way */
	uint64_t plain = mt_hash_bytes(bytes, sizeof(bytes), 0);

	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = 1;
		MT_CHECK(mt_hash_bytes(bytes, sizeof(bytes), 0) != plain);
		bytes[i] = 0;
	}
	MT_CHECK(mt_hash_bytes(bytes, sizeof(bytes), 1) != plain);
	MT_CHECK(mt_hash_bytes(bytes, sizeof(bytes) - 1, 0) != plain);
}

MT_TEST_MAIN
