/* record/probes/probe_definition, usdt_notes: the text of a probe for the kernel. */
#include "record/probes/probe_definition.h"

#include "formats/base/cleanup.h"
#include "record/probes/usdt_notes.h"
#include "tests/unit/unit.h"

static struct mt_error *define(const char *text, const char *arguments, char **out, char **left_out)
{
	MT_CLEANUP(mt_probe_word_deinit) struct mt_probe_word word = {0};
	struct mt_probe_definition definition = {.group = "g", .name = "e", .arguments = arguments};
	struct mt_error *err = mt_probe_word_parse(text, strlen(text), &word);

	if (err)
		return err;
	definition.file = word.path;
	definition.symbol = word.path ? NULL : word.symbol;
	definition.offset = 0x1230 + word.offset;
	definition.semaphore = arguments ? 0x40 : 0;
	return mt_probe_definition_text(&definition, &word, out, left_out);
}

static void check_text(const char *text, const char *arguments, const char *want)
{
	MT_CLEANUP_FREE char *got = NULL;
	MT_CLEANUP_FREE char *left_out = NULL;

	MT_CHECK_OK(define(text, arguments, &got, &left_out));
	MT_CHECK_STR(got, want);
	MT_CHECK(!left_out);
}

static void check_refused(const char *text, const char *arguments, const char *why)
{
	char *got = NULL, *left_out = NULL;
	struct mt_error *err = define(text, arguments, &got, &left_out);

	if (!MT_CHECK(err))
		return;
	MT_CHECK(strstr(err->message, why));
	mt_error_destroy(err);
}

MT_TEST(arguments_are_where_the_abi_has_them)
{
	check_text("u:f:s", NULL, "p:g/e f:0x1230");
	check_text("u:f:s(size=%rdi)", NULL, "p:g/e f:0x1230 size=%di:u64");
	check_text("u:f:s(arg1,arg2:u32,arg6,arg7,arg8)", NULL,
		   "p:g/e f:0x1230 arg1=%di:u64 arg2=%si:u32 arg6=%r9:u64 arg7=$stack1:u64 "
		   "arg8=$stack2:u64");
	check_text("u:f:s+1(x=%ax:s8)", NULL, "p:g/e f:0x1231 x=%ax:s8");
	check_text("ur:f:s(p=retval,size=-8($retval))", NULL,
		   "r:g/e f:0x1230 p=$retval:u64 size=-8($retval):u64");
	check_text("k:do_exit(code=arg1)", NULL, "p:g/e do_exit+4656 code=%di:u64");
}

MT_TEST(a_string_is_read_where_the_argument_points)
{
	check_text("u:f:s(name=arg2:string,c=$comm)", NULL,
		   "p:g/e f:0x1230 name=+0(%si):string c=$comm");
	check_text("u:f:s(name=+16(%si):string)", NULL, "p:g/e f:0x1230 name=+16(%si):string");
}

MT_TEST(a_static_probe_has_arguments_of_its_own)
{
	check_text("usdt:f:p:n", "-4@%ebx 8@-16(%rbp) 2@$7 1@(%rax)",
		   "p:g/e f:0x1230(0x40) arg1=%bx:s32 arg2=-16(%bp):u64 arg3=\\7:u16 "
		   "arg4=+0(%ax):u8");
	check_text("usdt:f:p:n(size=arg2)", "-4@%ebx 8@%r12d",
		   "p:g/e f:0x1230(0x40) size=%r12:u64");
}

MT_TEST(arguments_that_the_kernel_cannot_fetch_are_reported)
{
	MT_CLEANUP_FREE char *got = NULL;
	MT_CLEANUP_FREE char *left_out = NULL;

	MT_CHECK_OK(define("usdt:f:p:n", "8@(%rax,%rbx,8) 4@%edi 8f@%xmm0 8@name(%rip)", &got,
			   &left_out));
	MT_CHECK_STR(got, "p:g/e f:0x1230(0x40) arg2=%di:u32");
	MT_CHECK_STR(left_out, "arg1 (8@(%rax,%rbx,8)), arg3 (8f@%xmm0), arg4 (8@name(%rip))");
	check_refused("usdt:f:p:n(x=arg1)", "8@name(%rip)", "cannot fetch");
	check_refused("usdt:f:p:n(x=arg2)", "8@%rdi", "not so many");
}

MT_TEST(what_a_probe_cannot_have_is_refused)
{
	check_refused("u:f:s(x=$retval)", NULL, "only a return probe");
	check_refused("ur:f:s(arg1)", NULL, "arguments are gone");
	check_refused("u:f:s+4(arg1)", NULL, "at a function's start only");
	check_refused("u:f:s(x=%foo)", NULL, "no such register");
}

MT_TEST(damaged_arguments_end_without_harm)
{
	static const char *const damaged[] = {"@",	 "8@",	    "-@%di", "9@%di",	 "-4",
					      "8@-16(%", "8@(%rdi", "8@$",   "8@$zz",	 "8@()",
					      "88@%rdi", "8@-",	    "-",     "8@0x(%di)"};
	struct mt_usdt_argument argument;

	for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
		MT_CHECK(mt_usdt_argument_get(damaged[i], 0, &argument));
		MT_CHECK(!*argument.fetch);
		MT_CHECK(!mt_usdt_argument_get(damaged[i], 1, &argument));
	}
	MT_CHECK(!mt_usdt_argument_get("   ", 0, &argument));
}

MT_TEST_MAIN
