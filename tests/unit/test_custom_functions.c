/* record/allocators/allocators: functions named by the user that allocate and free blocks. */
#include "record/allocators/allocators.h"

#include "formats/base/cleanup.h"
#include "tests/unit/unit.h"

/* Checks the word of its probe. */
static void check_word(const char *text, enum mt_block_moment moment, const char *expected)
{
	MT_CLEANUP(mt_custom_function_deinit) struct mt_custom_function own = {0};
	MT_CLEANUP_FREE char *word = NULL;

	MT_CHECK_OK(mt_custom_function_parse(text, moment == MT_BLOCK_FREE, &own));
	word = mt_allocator_word(&own.function, moment, false);
	MT_CHECK_STR(word, expected);
}

static void check_bad(const char *text, bool frees, const char *why)
{
	struct mt_custom_function own = {0};
	struct mt_error *err = mt_custom_function_parse(text, frees, &own);

	MT_CHECK(err && err->kind == MT_ERR_USAGE && strstr(err->message, why));
	mt_error_destroy(err);
	MT_CHECK(!own.name);
}

/* The fields that every entry probe has in addition. */
#define RETURNS ",return_slot=%sp:u64,return_address=+0(%sp):u64)"

MT_TEST(what_is_asked_for_is_size_times_count)
{
	check_word("pool_alloc(size=arg2)", MT_BLOCK_ENTER,
		   "u:malloc:pool_alloc+0(size=arg2:u64" RETURNS);
	check_word("p(count=arg1:u32,size=%si)", MT_BLOCK_ENTER,
		   "u:malloc:p+0(size=%si:u64,count=arg1:u32" RETURNS);
}

MT_TEST(a_number_is_a_fixed_size)
{
	check_word("cell_alloc(size=64)", MT_BLOCK_ENTER,
		   "u:malloc:cell_alloc+0(size=\\64:u64" RETURNS);
}

MT_TEST(old_blocks_and_addresses_that_are_left_somewhere)
{
	check_word("grow(size=arg3,old=arg2,out=arg1)", MT_BLOCK_ENTER,
		   "u:malloc:grow+0(size=arg3:u64,old=arg2:u64,out=arg1:u64" RETURNS);
}

MT_TEST(a_return_has_the_block)
{
	check_word("pool_alloc(size=arg2)", MT_BLOCK_ALLOC, "ur:malloc:pool_alloc(ptr=retval:u64)");
}

MT_TEST(a_free_has_the_block)
{
	check_word("pool_free(ptr=arg2)", MT_BLOCK_FREE, "u:malloc:pool_free(ptr=arg2:u64)");
}

MT_TEST(a_path_says_which_file)
{
	MT_CLEANUP(mt_custom_function_deinit) struct mt_custom_function own = {0};
	MT_CLEANUP(mt_custom_function_deinit) struct mt_custom_function any = {0};

	MT_CHECK_OK(mt_custom_function_parse("/usr/lib/p.so:take(size=arg1)", false, &own));
	MT_CHECK_STR(own.path, "/usr/lib/p.so");
	MT_CHECK_STR(own.name, "take");
	MT_CHECK_OK(mt_custom_function_parse("take(size=arg1:u32)", false, &any));
	MT_CHECK(!any.path);
	MT_CHECK_STR(any.name, "take");
}

MT_TEST(what_is_no_function_is_reported_why)
{
	check_bad("pool_alloc", false, "say where the size is");
	check_bad("pool_alloc(count=arg1)", false, "say where the size is");
	check_bad("pool_alloc(size=)", false, "no function with its arguments");
	check_bad("", false, "no function with its arguments");
	check_bad("(size=arg1)", false, "no function with its arguments");
	check_bad("p(size=arg1,ptr=arg2)", false, "size, count, old and out");
	check_bad("p*(size=arg1)", false, "name one function");
	check_bad("p+4(size=arg1)", false, "name one function");
	check_bad("pool_free", true, "where the block's address is");
	check_bad("pool_free(size=arg1)", true, "its argument is ptr");
}

MT_TEST_MAIN
