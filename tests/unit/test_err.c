/* formats/base/err: the message of an error, with contexts and hints. */
#include "formats/base/err.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

MT_TEST(context_goes_in_front)
{
	struct mt_error *err = mt_error_create(MT_ERR_FORMAT, "checksum differs");

	err = mt_error_context(err, "chunk %d", 17);
	err = mt_error_context(err, "recording.mtr");
	MT_CHECK_STR(err->message, "recording.mtr: chunk 17: checksum differs");
	MT_CHECK_EQ(err->kind, MT_ERR_FORMAT);
	mt_error_destroy(err);
}

MT_TEST(a_failed_system_call_says_why)
{
	struct mt_error *err = mt_error_os(ENOENT, "%s", "mtrec.mtr");

	MT_CHECK_STR(err->message, "mtrec.mtr: No such file or directory");
	MT_CHECK_EQ(err->errnum, ENOENT);
	mt_error_destroy(err);
	MT_CHECK_ERR(mt_error_os(ENOMEM, "ring"), MT_ERR_NOMEM);
}

MT_TEST(out_of_memory_is_static)
{
	struct mt_error *err = mt_error_nomem();

	MT_CHECK(mt_error_hint(mt_error_context(err, "reading"), "add memory") == err);
	mt_error_destroy(err);
	MT_CHECK_STR(mt_error_nomem()->message, "out of memory");
}

MT_TEST(no_error_stays_no_error)
{
	MT_CHECK_OK(mt_error_context(NULL, "reading"));
	MT_CHECK_OK(mt_error_hint(NULL, "try again"));
}

MT_TEST(printing_names_the_tool_on_each_line)
{
	struct mt_error *err = mt_error_create(MT_ERR_PERMISSION, "not allowed");
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	MT_REQUIRE(to);
	err = mt_error_hint(err, "first");
	err = mt_error_hint(err, "run as root");
	mt_error_print(err, "mtrec", to);
	fclose(to);
	MT_CHECK_STR(text, "mtrec: not allowed\nmtrec: run as root\n");
	free(text);
	mt_error_destroy(err);
}

MT_TEST(printing_gives_a_terminal_no_commands_and_one_line)
{
	struct mt_error *err = mt_error_create(MT_ERR_OS, "a\033[31m\nname\x7f: \xc3\xa9");
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	MT_REQUIRE(to);
	mt_error_print(err, "mtreport", to);
	fclose(to);
	MT_CHECK_STR(text, "mtreport: a?[31m?name?: \xc3\xa9\n");
	free(text);
	mt_error_destroy(err);
}

MT_TEST_MAIN
