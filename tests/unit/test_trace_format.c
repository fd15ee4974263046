/*
 * report/session/trace_format: fields of tracepoints as text, by the kernel's format descriptions.
 */
#include "report/session/trace_format.h"

#include "tests/unit/unit.h"

#define FIELDS                                                                   \
	"name: test\nID: 1\nformat:\n"                                           \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n" \
	"\tfield:unsigned long addr;\toffset:8;\tsize:8;\tsigned:0;\n"           \
	"\tfield:int member;\toffset:16;\tsize:4;\tsigned:1;\n"                  \
	"\tfield:char comm[4];\toffset:20;\tsize:4;\tsigned:0;\n"                \
	"\tfield:__data_loc char[] path;\toffset:24;\tsize:4;\tsigned:0;\n\n"

static const uint8_t raw[] = {
	1,    0,    0,	  0,	0,   0,	  0,	0,   0x00, 0xf0, 0xff, 0x7f, 0, 0, 0, 0, /* addr */
	0xff, 0xff, 0xff, 0xff, 'a', 'b', 0,	0,	/* member, comm */
	28,   0,    5,	  0,	'/', 't', '\n', 'p', 0, /* path, and its text */
};

/* The first `size` bytes printed by the format; valid until the next call. */
static const char *print(const char *text, size_t size)
{
	static char out[128];
	struct mt_trace_format *format = mt_trace_format_create(text);

	mt_trace_format_print(format, raw, size, out, sizeof(out));
	mt_trace_format_destroy(format);
	return out;
}

MT_TEST(a_simple_print_format_is_followed)
{
	MT_CHECK_STR(print(FIELDS "print fmt: \"addr: 0x%08lx 100%% %d\", ((unsigned "
				  "long)(REC->addr)), REC->member\n",
			   sizeof(raw)),
		     "addr: 0x7ffff000 100% -1");
	MT_CHECK_STR(print(FIELDS "print fmt: \"comm=%s path=%s\", REC->comm, __get_str(path)\n",
			   sizeof(raw)),
		     "comm=ab path=/t p");
	MT_CHECK_STR(print(FIELDS "print fmt: \"%s\", __print_symbolic(REC->member, { 0, \"NO, "
				  "no\" }, { -1, \"YES\" })\n",
			   sizeof(raw)),
		     "YES");
}

MT_TEST(else_the_fields_are_by_name)
{
	static const char want[] = "addr=0x7ffff000 member=-1 comm=ab path=/t p";

	MT_CHECK_STR(print(FIELDS, sizeof(raw)), want);
	MT_CHECK_STR(print(FIELDS "print fmt: \"%d\", REC->member + 1\n", sizeof(raw)), want);
	MT_CHECK_STR(print(FIELDS "print fmt: \"%s\", REC->addr\n", sizeof(raw)), want);
	MT_CHECK_STR(print(FIELDS "print fmt: \"%n\", REC->addr\n", sizeof(raw)), want);
	MT_CHECK_STR(print(FIELDS "print fmt: \"%d %d\", REC->member\n", sizeof(raw)), want);
	MT_CHECK_STR(print(FIELDS "print fmt: \"%d\", REC->nosuch\n", sizeof(raw)), want);
	MT_CHECK_STR(print(FIELDS "print fmt: \"%", sizeof(raw)), want);
}

MT_TEST(what_is_after_the_end_is_not_read)
{
	MT_CHECK_STR(print(FIELDS, 30), "addr=0x7ffff000 member=-1 comm=ab path=?");
	MT_CHECK_STR(print(FIELDS, 18), "addr=0x7ffff000 member=? comm=? path=?");
	MT_CHECK_STR(print(FIELDS, 0), "addr=? member=? comm=? path=?");
	MT_CHECK_STR(print("field:u64 x;\toffset:99999999999;\tsize:8;\tsigned:0;\n", sizeof(raw)),
		     "x=?");
	MT_CHECK_STR(print("field:u8 y[32];\toffset:8;\tsize:32;\tsigned:0;\n", sizeof(raw)),
		     "y=?");
	MT_CHECK_STR(print("field:;offset:0;size:0;\nfield", sizeof(raw)), "=?");
}

MT_TEST_MAIN
