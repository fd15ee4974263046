/* unwind/branches/stitch: a thread's call stacks, sample after sample, in eight registers. */
#include "unwind/branches/stitch.h"

#include "formats/records/sample.h"
#include "tests/unit/unit.h"

enum {
	REGISTERS = 8,
	MOST = 64,
};

/* A call that no other is like, for each letter. */
static struct mt_branch call_of(char letter)
{
	return (struct mt_branch){.from = 0x1000 + 16 * (uint64_t)letter,
				  .to = (uint64_t)letter << 8};
}

/* What is stitched to a stack of calls, outermost first; "-" none, "?" out of memory. */
static const char *stitched(struct mt_stitcher *stitcher, uint64_t thread, const char *calls)
{
	static char text[MOST + 1];
	struct mt_branch own[REGISTERS];
	size_t depth = strlen(calls), kept = depth < REGISTERS ? depth : REGISTERS, count;
	struct mt_stitch_input input = {.thread = thread, .branches = own, .count = kept};
	const struct mt_branch *more;

	input.index = (depth + REGISTERS - 1) % REGISTERS;
	for (size_t i = 0; i < kept; i++)
		own[i] = call_of(calls[depth - 1 - i]);
	if (!mt_stitcher_add(stitcher, &input, &more, &count) || count > MOST)
		return "?";
	for (size_t i = 0; i < count; i++)
		text[count - 1 - i] = (char)(more[i].to >> 8);
	text[count] = '\0';
	return count ? text : "-";
}

MT_TEST(what_an_earlier_sample_had_further_out_is_still_there)
{
	struct mt_stitcher *s = mt_stitcher_create();

	MT_REQUIRE(s);
	MT_CHECK_STR(stitched(s, 1, "abcdefgh"), "-");
	MT_CHECK_STR(stitched(s, 1, "abcdefghij"), "ab");
	MT_CHECK_STR(stitched(s, 1, "abcdefghijklm"), "abcde");
	MT_CHECK_STR(stitched(s, 1, "abcdefghijxyz"), "abcde");
	MT_CHECK_STR(stitched(s, 2, "abcdefghijxyz"), "-"); /* another thread */
	MT_CHECK_STR(stitched(s, 1, "abcdefghijxyzuv"), "abcdefg");
	mt_stitcher_reset(s);
	MT_CHECK_STR(stitched(s, 1, "abcdefghijkl"), "-");
	mt_stitcher_destroy(s);
}

MT_TEST(what_is_not_shared_proves_nothing)
{
	struct mt_stitcher *s = mt_stitcher_create();

	MT_REQUIRE(s);
	MT_CHECK_STR(stitched(s, 1, "abcdefghij"), "-");
	MT_CHECK_STR(stitched(s, 1, "abXdefghijk"), "c");   /* nobody sees that it is X now */
	MT_CHECK_STR(stitched(s, 1, "abcdefg"), "-");	    /* its base is further out */
	MT_CHECK_STR(stitched(s, 1, "abcdefghXYZW"), "-");  /* shares e, f and g: too few */
	MT_CHECK_STR(stitched(s, 1, "Zabcdefghijkl"), "-"); /* in other registers */
	MT_CHECK_STR(stitched(s, 1, "0123456789"), "-");
	MT_CHECK_STR(stitched(s, 1, "01234567890123456789"), "-"); /* moved on by more than all */
	MT_CHECK_STR(stitched(s, 1, ""), "-");
	MT_CHECK_STR(stitched(s, 1, "0123456789ab"), "-");
	mt_stitcher_destroy(s);
}

MT_TEST(what_repeats_itself_proves_nothing)
{
	struct mt_stitcher *s = mt_stitcher_create();

	MT_REQUIRE(s);
	MT_CHECK_STR(stitched(s, 1, "abrrrrrrrr"), "-");
	MT_CHECK_STR(stitched(s, 1, "abrrrrrrrrrr"), "-");
	MT_CHECK_STR(stitched(s, 2, "abrsrsrsrs"), "-");
	MT_CHECK_STR(stitched(s, 2, "abrsrsrsrsrs"), "-");
	mt_stitcher_destroy(s);
}

MT_TEST(an_index_beyond_the_registers_is_none)
{
	struct mt_branch records[4] = {call_of('a'), call_of('b'), call_of('c'), call_of('d')};
	struct mt_stitch_input input = {
		.thread = 1, .branches = records, .count = 4, .index = UINT64_MAX};
	struct mt_stitcher *s = mt_stitcher_create();
	const struct mt_branch *more;
	size_t count = 1;

	MT_REQUIRE(s);
	for (int i = 0; i < 3; i++) {
		MT_CHECK(mt_stitcher_add(s, &input, &more, &count));
		MT_CHECK_EQ(count, 0);
		input.count--;
	}
	mt_stitcher_destroy(s);
}

MT_TEST_MAIN
