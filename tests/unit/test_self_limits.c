/* record/rings/self_limits: how the recorder divides its memory. */
#include "record/rings/self_limits.h"

#include "formats/stacks/stack_encoder.h"
#include "record/rings/spool.h"
#include "tests/unit/unit.h"

#define MIB ((uint64_t)1 << 20)

static uint64_t spent(const struct mt_memory_share *share, size_t streams)
{
	return share->blocks * MT_SPOOL_BLOCK + streams * share->images * MT_STACK_SLOT_SIZE;
}

MT_TEST(the_default_is_64_mib)
{
	struct mt_memory_share share = mt_memory_share(0, 4, &(struct mt_memory_use){0});

	MT_CHECK_EQ(share.bytes, 64 * MIB);
	MT_CHECK_EQ(share.images, 16 * MIB / 4 / MT_STACK_SLOT_SIZE);
	MT_CHECK_EQ(share.blocks, 76);
}

MT_TEST(carrying_images_has_its_part_of_it)
{
	struct mt_memory_share share =
		mt_memory_share(0, 4, &(struct mt_memory_use){.carries = true});

	MT_CHECK_EQ(share.bytes, 64 * MIB);
	MT_CHECK(spent(&share, 4) <= (64 - 22) * MIB);
	MT_CHECK(share.blocks >= 48);
}

MT_TEST(unwinding_has_its_part_of_it)
{
	const struct mt_memory_use use = {.carries = true, .unwinds = true};
	struct mt_memory_share share = mt_memory_share(0, 4, &use);

	MT_CHECK_EQ(share.bytes, 160 * MIB);
	MT_CHECK(share.tables == 32 * MIB && share.hold == 16 * MIB);
	MT_CHECK(spent(&share, 4) + share.tables * 3 / 2 + share.hold <= (160 - 32) * MIB);
	MT_CHECK(share.blocks >= 80);
	share = mt_memory_share(32 * MIB, 4, &use);
	MT_CHECK(share.bytes > 32 * MIB && share.bytes < 80 * MIB); /* more than requested */
	MT_CHECK(share.tables >= 6 * MIB && share.hold >= 2 * MT_SPOOL_BLOCK);
	share = mt_memory_share(0, 4, &(struct mt_memory_use){0});
	MT_CHECK(!share.tables && !share.hold);
}

MT_TEST(many_cpus_have_more)
{
	struct mt_memory_share share =
		mt_memory_share(0, 128, &(struct mt_memory_use){.carries = true});

	MT_CHECK(share.bytes > 64 * MIB && share.bytes < 288 * MIB);
	MT_CHECK(share.blocks >= 256);
}

MT_TEST(what_is_asked_for_is_kept)
{
	static const size_t streams[] = {1, 2, 4, 8, 64};
	static const uint64_t asked[] = {32, 64, 100, 1024};

	for (size_t s = 0; s < sizeof(streams) / sizeof(streams[0]); s++) {
		for (size_t a = 0; a < sizeof(asked) / sizeof(asked[0]); a++) {
			struct mt_memory_share share =
				mt_memory_share(asked[a] * MIB, streams[s],
						&(struct mt_memory_use){.carries = a % 2});

			MT_CHECK(share.bytes == asked[a] * MIB || share.blocks == 16);
			MT_CHECK(spent(&share, streams[s]) <= share.bytes);
			MT_CHECK(share.images >= 4 && share.images <= 64);
			MT_CHECK(share.blocks >= 16);
		}
	}
}

MT_TEST(too_little_is_not_kept_to_but_reported)
{
	struct mt_memory_share share = mt_memory_share(16 * MIB, 64, &(struct mt_memory_use){0});

	MT_CHECK_EQ(share.blocks, 16);
	MT_CHECK_EQ(share.images, 4);
	MT_CHECK_EQ(share.bytes, 18 * MIB + 64 * 4 * MT_STACK_SLOT_SIZE);
}

MT_TEST_MAIN
