/* record/open/ring: reading the records of a ring, across its end and past invalid bytes. */
#include "record/open/ring.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define RING_SIZE 4096u

/* A ring without a kernel: a control page, then data that the test fills. */
struct fake {
	struct mt_ring ring;
	struct perf_event_mmap_page page;
	uint8_t *data;
};

/* Data followed by an unmapped page, so that reading past its end crashes. */
static bool fake_init(struct fake *fake)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *base = mmap(NULL, RING_SIZE + page, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*fake = (struct fake){0};
	if (base == MAP_FAILED || mprotect(base + RING_SIZE, page, PROT_NONE))
		return false;
	fake->data = base;
	fake->ring = (struct mt_ring){.fd = -1,
				      .page = &fake->page,
				      .data = base,
				      .size = RING_SIZE,
				      .joined = malloc(MT_RING_RECORD_MAX)};
	return fake->ring.joined;
}

static void fake_deinit(struct fake *fake)
{
	munmap(fake->data, RING_SIZE + (size_t)sysconf(_SC_PAGESIZE));
	free(fake->ring.joined);
}

/* Like the kernel: adds a record of that size, filled with `fill`, at the head. */
static void produce(struct fake *fake, uint16_t size, uint8_t fill)
{
	struct perf_event_header header = {.type = 9, .size = size};
	uint64_t head = fake->page.data_head;

	for (uint16_t i = 0; i < size; i++)
		fake->data[(head + i) % RING_SIZE] =
			i < sizeof(header) ? ((uint8_t *)&header)[i] : fill;
	fake->page.data_head += size;
}

static bool is_record(const struct perf_event_header *header, uint16_t size, uint8_t fill)
{
	if (!header || header->type != 9 || header->size != size)
		return false;
	for (uint16_t i = sizeof(*header); i < size; i++) {
		if (((const uint8_t *)header)[i] != fill)
			return false;
	}
	return true;
}

MT_TEST(an_empty_ring_has_nothing)
{
	struct fake fake;

	MT_REQUIRE(fake_init(&fake));
	MT_CHECK(!mt_ring_begin(&fake.ring));
	MT_CHECK(!mt_ring_next(&fake.ring));
	fake_deinit(&fake);
}

MT_TEST(records_come_in_order_and_room_is_given_back)
{
	struct fake fake;

	MT_REQUIRE(fake_init(&fake));
	produce(&fake, 16, 1);
	produce(&fake, 40, 2);
	MT_CHECK(mt_ring_begin(&fake.ring));
	MT_CHECK(is_record(mt_ring_next(&fake.ring), 16, 1));
	MT_CHECK_EQ(fake.page.data_tail, 0);
	mt_ring_give_back(&fake.ring);
	MT_CHECK_EQ(fake.page.data_tail, 16);
	MT_CHECK(is_record(mt_ring_next(&fake.ring), 40, 2));
	MT_CHECK(!mt_ring_next(&fake.ring));
	mt_ring_give_back(&fake.ring);
	MT_CHECK_EQ(fake.page.data_tail, 56);
	MT_CHECK(!mt_ring_begin(&fake.ring));
	fake_deinit(&fake);
}

MT_TEST(a_pass_ends_where_the_head_was)
{
	struct fake fake;

	MT_REQUIRE(fake_init(&fake));
	produce(&fake, 16, 1);
	MT_CHECK(mt_ring_begin(&fake.ring));
	produce(&fake, 24, 2);
	MT_CHECK(is_record(mt_ring_next(&fake.ring), 16, 1));
	MT_CHECK(!mt_ring_next(&fake.ring));
	MT_CHECK(mt_ring_begin(&fake.ring));
	MT_CHECK(is_record(mt_ring_next(&fake.ring), 24, 2));
	fake_deinit(&fake);
}

MT_TEST(a_record_across_the_end_is_made_whole)
{
	struct fake fake;
	uint16_t size = 1000;

	MT_REQUIRE(fake_init(&fake));
	/* every place of the ring's end within a record, also at offsets beyond 2^32 */
	fake.page.data_head = fake.ring.tail = (1ull << 33) - 2 * RING_SIZE;
	for (int i = 0; i < 2000; i++) {
		produce(&fake, size, (uint8_t)i);
		MT_CHECK(mt_ring_begin(&fake.ring));
		if (!MT_CHECK(is_record(mt_ring_next(&fake.ring), size, (uint8_t)i)))
			break;
		mt_ring_give_back(&fake.ring);
	}
	fake_deinit(&fake);
}

MT_TEST(a_full_ring_is_read_whole)
{
	struct fake fake;

	MT_REQUIRE(fake_init(&fake));
	fake.page.data_head = fake.ring.tail = 2048;
	produce(&fake, RING_SIZE - 8, 7);
	produce(&fake, 8, 0);
	MT_CHECK(mt_ring_begin(&fake.ring));
	MT_CHECK(is_record(mt_ring_next(&fake.ring), RING_SIZE - 8, 7));
	MT_CHECK(is_record(mt_ring_next(&fake.ring), 8, 0));
	MT_CHECK(!mt_ring_next(&fake.ring));
	fake_deinit(&fake);
}

/* For any false size in a header, the pass ends there and the next pass begins after the bytes. */
static void check_nonsense(uint16_t size, size_t available)
{
	struct fake fake;
	struct perf_event_header header = {.type = 9, .size = size};

	MT_REQUIRE(fake_init(&fake));
	memcpy(fake.data, &header, sizeof(header));
	fake.page.data_head = available;
	MT_CHECK(mt_ring_begin(&fake.ring));
	MT_CHECK(!mt_ring_next(&fake.ring));
	mt_ring_give_back(&fake.ring);
	MT_CHECK_EQ(fake.page.data_tail, available);
	produce(&fake, 16, 5);
	MT_CHECK(mt_ring_begin(&fake.ring));
	MT_CHECK(is_record(mt_ring_next(&fake.ring), 16, 5));
	fake_deinit(&fake);
}

MT_TEST(sizes_that_make_no_sense_are_skipped)
{
	check_nonsense(0, 64);
	check_nonsense(7, 64);
	check_nonsense(72, 64);
	check_nonsense(65528, 64);
}

MT_TEST(a_size_that_is_no_whole_number_of_words_is_skipped)
{
	/* the next header could cross the end of the ring */
	check_nonsense(12, 64);
	check_nonsense(63, 64);
}

MT_TEST(a_head_beyond_the_ring_is_skipped)
{
	struct fake fake;
	struct perf_event_header header = {.type = 9, .size = 65528};

	MT_REQUIRE(fake_init(&fake));
	memcpy(fake.data, &header, sizeof(header));
	fake.page.data_head = 1 << 20;
	MT_CHECK(mt_ring_begin(&fake.ring));
	MT_CHECK(!mt_ring_next(&fake.ring));
	mt_ring_give_back(&fake.ring);
	MT_CHECK_EQ(fake.page.data_tail, 1 << 20);
	fake_deinit(&fake);
}

MT_TEST(what_cannot_be_mapped_is_reported_by_errno)
{
	struct mt_ring ring = {0};

	MT_CHECK_EQ(mt_ring_map(-1, RING_SIZE, &ring), -1);
	mt_ring_unmap(&ring);
	MT_CHECK(!ring.page);
}

MT_TEST_MAIN
