/* record/plan/probe_word: the parts of words of -e that name probes. */
#include "record/plan/probe_word.h"

#include "tests/unit/unit.h"

static struct mt_probe_word parsed(const char *text)
{
	struct mt_probe_word word = {0};

	MT_CHECK_OK(mt_probe_word_parse(text, strlen(text), &word));
	return word;
}

static void check_refused(const char *text, const char *why)
{
	struct mt_probe_word word;
	struct mt_error *err = mt_probe_word_parse(text, strlen(text), &word);

	if (!MT_CHECK(err))
		return;
	MT_CHECK_EQ(err->kind, MT_ERR_USAGE);
	MT_CHECK(strstr(err->message, why));
	mt_error_destroy(err);
}

MT_TEST(other_events_are_no_probes)
{
	MT_CHECK(!mt_is_probe_word("cycles:u", 8));
	MT_CHECK(!mt_is_probe_word("sched:sched_switch", 18));
	MT_CHECK(!mt_is_probe_word("u", 1));
	MT_CHECK(mt_is_probe_word("u:libc:malloc", 13));
	MT_CHECK(mt_is_probe_word("usdt:libc:libc:memory_heap_new", 30));
}

MT_TEST(a_function_of_a_file_with_offset_and_fields)
{
	struct mt_probe_word word =
		parsed("u:/opt/a,b/lib.so:work+0x10(size=%di,name=+0(+8(%si)):string,arg3)");

	MT_CHECK_EQ(word.kind, MT_PROBE_ENTRY);
	MT_CHECK_STR(word.text, "u:/opt/a,b/lib.so:work+0x10");
	MT_CHECK_STR(word.path, "/opt/a,b/lib.so");
	MT_CHECK_STR(word.symbol, "work");
	MT_CHECK_EQ(word.offset, 16);
	MT_REQUIRE(MT_CHECK_EQ(word.fields.count, 3));
	MT_CHECK_STR(word.fields.items[0].name, "size");
	MT_CHECK_STR(word.fields.items[0].fetch, "%di");
	MT_CHECK(!word.fields.items[0].type);
	MT_CHECK_STR(word.fields.items[1].fetch, "+0(+8(%si))");
	MT_CHECK_STR(word.fields.items[1].type, "string");
	MT_CHECK_STR(word.fields.items[2].name, "arg3");
	mt_probe_word_deinit(&word);
}

MT_TEST(names_with_brackets_and_signs_are_whole)
{
	struct mt_probe_word word = parsed("u:server:main.(*Cache).Put");

	MT_CHECK_STR(word.symbol, "main.(*Cache).Put");
	MT_CHECK_EQ(word.fields.count, 0);
	mt_probe_word_deinit(&word);
	word = parsed("u:server:a+b");
	MT_CHECK_STR(word.symbol, "a+b");
	mt_probe_word_deinit(&word);
}

MT_TEST(a_static_probe_and_functions_of_the_kernel)
{
	struct mt_probe_word word = parsed("usdt:libc:libc:memory_*");

	MT_CHECK_STR(word.path, "libc");
	MT_CHECK_STR(word.provider, "libc");
	MT_CHECK_STR(word.symbol, "memory_*");
	mt_probe_word_deinit(&word);
	word = parsed("kr:do_exit($retval:s32)");
	MT_CHECK_EQ(word.kind, MT_PROBE_KERNEL_RETURN);
	MT_CHECK(!word.path);
	MT_CHECK_STR(word.fields.items[0].name, "retval");
	MT_CHECK_STR(word.fields.items[0].type, "s32");
	mt_probe_word_deinit(&word);
}

MT_TEST(what_is_wrong_is_said)
{
	check_refused("u:libc", "a part is missing");
	check_refused("usdt:libc:memory", "a part is missing");
	check_refused("ur:libc:malloc+4", "returns as a whole");
	check_refused("u:libc:malloc()", "a field is");
	check_refused("u:libc:malloc(a=)", "a field is");
	check_refused("u:libc:malloc(a=%di:)", "a field is");
	check_refused("u:libc:malloc(a-b=%di)", "letters");
	check_refused("u:libc:malloc(a=%di,a=%si)", "same name");
	check_refused("u:l:m(a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q)", "more than 16");
}

MT_TEST_MAIN
