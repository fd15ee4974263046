/* record/allocators/allocators: which file's malloc is probed, and the words of its probes. */
#include "record/allocators/allocators.h"

#include "formats/base/cleanup.h"
#include "record/plan/probe_word.h"
#include "tests/unit/unit.h"

static const struct mt_allocator_function *row(const char *name)
{
	size_t count = MT_ALLOCATOR_FUNCTIONS;
	const struct mt_allocator_function *rows = mt_allocator_functions;

	for (size_t i = 0; i < count; i++) {
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	}
	return NULL;
}

/* The fields that every entry probe has in addition. */
#define RETURNS ",return_slot=%sp:u64,return_address=+0(%sp):u64)"

static void check_word(const char *name, enum mt_block_moment moment, bool glibc,
		       const char *expected)
{
	MT_CLEANUP_FREE char *word = mt_allocator_word(row(name), moment, glibc);

	MT_CHECK_STR(word, expected);
}

MT_TEST(an_entry_has_what_was_asked_for)
{
	check_word("malloc", MT_BLOCK_ENTER, true, "u:malloc:malloc+0(size=arg1:u64" RETURNS);
	check_word("calloc", MT_BLOCK_ENTER, false,
		   "u:malloc:calloc+0(size=arg2:u64,count=arg1:u64" RETURNS);
	check_word("realloc", MT_BLOCK_ENTER, false,
		   "u:malloc:realloc+0(size=arg2:u64,old=arg1:u64" RETURNS);
	check_word("posix_memalign", MT_BLOCK_ENTER, false,
		   "u:malloc:posix_memalign+0(size=arg3:u64,out=arg1:u64" RETURNS);
}

MT_TEST(a_return_has_the_block_and_with_glibc_its_size)
{
	check_word("malloc", MT_BLOCK_ALLOC, false, "ur:malloc:malloc(ptr=retval:u64)");
	check_word("malloc", MT_BLOCK_ALLOC, true,
		   "ur:malloc:malloc(ptr=retval:u64,size=-8($retval):u64)");
}

MT_TEST(what_returns_an_error_number_has_no_size_before_it)
{
	check_word("posix_memalign", MT_BLOCK_ALLOC, true,
		   "ur:malloc:posix_memalign(ptr=retval:u64)");
}

MT_TEST(a_free_has_the_block_and_with_glibc_its_size)
{
	check_word("free", MT_BLOCK_FREE, true, "u:malloc:free(ptr=arg1:u64,size=-8(%di):u64)");
	check_word("_ZdlPvm", MT_BLOCK_FREE, false, "u:malloc:_ZdlPvm(ptr=arg1:u64)");
}

MT_TEST(every_row_makes_words_that_parse)
{
	size_t count = MT_ALLOCATOR_FUNCTIONS;
	const struct mt_allocator_function *rows = mt_allocator_functions;

	for (size_t i = 0; i < count; i++) {
		enum mt_block_moment moment = rows[i].freed ? MT_BLOCK_FREE : MT_BLOCK_ENTER;
		MT_CLEANUP_FREE char *text = mt_allocator_word(&rows[i], moment, true);
		MT_CLEANUP(mt_probe_word_deinit) struct mt_probe_word word = {0};

		MT_CHECK(!rows[i].freed != !rows[i].size);
		MT_CHECK_OK(mt_probe_word_parse(text, strlen(text), &word));
		MT_CHECK_STR(word.symbol, rows[i].name);
		MT_CHECK(word.fields.count > 0);
	}
}

MT_TEST(an_event_says_its_part_in_the_account)
{
	MT_CLEANUP_FREE char *alloc = mt_allocator_account(row("calloc"), MT_BLOCK_ALLOC);
	MT_CLEANUP_FREE char *enter = mt_allocator_account(row("calloc"), MT_BLOCK_ENTER);
	MT_CLEANUP_FREE char *freed = mt_allocator_account(row("free"), MT_BLOCK_FREE);

	MT_CHECK_STR(alloc, "alloc of=calloc");
	MT_CHECK_STR(enter, "enter of=calloc");
	MT_CHECK_STR(freed, "free of=free");
}

MT_TEST(libc_comes_last_and_the_loaders_own_malloc_never)
{
	MT_CHECK_EQ(mt_allocator_rank("/lib/x86_64-linux-gnu/libc.so.6"), MT_ALLOCATOR_LIBC);
	MT_CHECK_EQ(mt_allocator_rank("/lib/libc-2.27.so"), MT_ALLOCATOR_LIBC);
	MT_CHECK_EQ(mt_allocator_rank("/lib/ld-musl-x86_64.so.1"), MT_ALLOCATOR_LIBC);
	MT_CHECK_EQ(mt_allocator_rank("/lib/libc.musl-x86_64.so.1"), MT_ALLOCATOR_LIBC);
	MT_CHECK_EQ(mt_allocator_rank("/lib64/ld-linux-x86-64.so.2"), MT_ALLOCATOR_NEVER);
	MT_CHECK_EQ(mt_allocator_rank("/lib/x86_64-linux-gnu/ld-2.27.so"), MT_ALLOCATOR_NEVER);
	MT_CHECK_EQ(mt_allocator_rank("/usr/lib/libjemalloc.so.2"), MT_ALLOCATOR_FIRST);
	MT_CHECK_EQ(mt_allocator_rank("/usr/bin/server"), MT_ALLOCATOR_FIRST);
}

MT_TEST(only_glibc_keeps_sizes_where_they_are_read)
{
	MT_CHECK(mt_allocator_is_glibc("/lib/x86_64-linux-gnu/libc.so.6"));
	MT_CHECK(mt_allocator_is_glibc("/lib/libc-2.27.so"));
	MT_CHECK(!mt_allocator_is_glibc("/lib/libc.musl-x86_64.so.1"));
	MT_CHECK(!mt_allocator_is_glibc("/usr/lib/libmimalloc.so.2.0"));
}

MT_TEST_MAIN
