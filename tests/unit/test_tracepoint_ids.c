/*
 * record/tracepoints/tracepoint_ids: a list that root writes and others read; it may have any
 * contents.
 */
#include "record/tracepoints/tracepoint_ids.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "tests/unit/unit.h"

#define FIRST "# mtrec tracepoint ids 1\n"

static struct mt_error *parse(const char *text, struct mt_tracepoint_ids *out)
{
	char *copy = strdup(text);
	struct mt_error *err = mt_tracepoint_ids_parse("list", copy, out);

	free(copy);
	return err;
}

MT_TEST(what_is_written_is_read_again)
{
	struct mt_tracepoint_ids ids = {0}, again;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	MT_CHECK(mt_tracepoint_ids_add(&ids, "syscalls:sys_exit_brk", 694, "name: x\n\n\tfield\n"));
	MT_CHECK(mt_tracepoint_ids_add(&ids, "sched:sched_switch", 300, NULL));
	MT_CHECK(mt_tracepoint_ids_add(&ids, "sched:sched_switch", 301, NULL));
	mt_tracepoint_ids_sign(&ids);
	mt_tracepoint_ids_write(&ids, to);
	fclose(to);
	MT_REQUIRE(MT_CHECK_OK(mt_tracepoint_ids_parse("list", text, &again)));
	MT_CHECK_EQ(again.items.count, 2);
	MT_CHECK_STR(mt_tracepoint_ids_find(&again, "syscalls:sys_exit_brk")->format,
		     "name: x\n\n\tfield\n");
	MT_CHECK_EQ(mt_tracepoint_ids_find(&again, "sched:sched_switch")->id, 301);
	MT_CHECK(!mt_tracepoint_ids_find(&again, "sched:sched_switch")->format);
	MT_CHECK(mt_tracepoint_ids_same_kernel(&again) && mt_tracepoint_ids_same_boot(&again));
	mt_tracepoint_ids_deinit(&ids);
	mt_tracepoint_ids_deinit(&again);
	free(text);
}

MT_TEST(a_list_of_another_kernel_or_boot_is_distinguished_from_ours)
{
	struct mt_tracepoint_ids ids;

	MT_REQUIRE(MT_CHECK_OK(parse(FIRST "kernel 3.10.0 #1\nboot 1-2-3\nid 5 a:b\n", &ids)));
	MT_CHECK(!mt_tracepoint_ids_same_kernel(&ids) && !mt_tracepoint_ids_same_boot(&ids));
	mt_tracepoint_ids_deinit(&ids);
	MT_REQUIRE(MT_CHECK_OK(parse(FIRST, &ids)));
	MT_CHECK(!mt_tracepoint_ids_same_kernel(&ids) && !mt_tracepoint_ids_same_boot(&ids));
	mt_tracepoint_ids_deinit(&ids);
}

MT_TEST(lines_that_make_no_sense_are_reported_by_their_number)
{
	static const struct {
		const char *text;
		const char *says;
	} cases[] = {
		{"", "not a list"},
		{"# mtrec tracepoint ids 2\n", "not a list"},
		{FIRST "id\n", "line 2 "},
		{FIRST "id x a:b\n", "line 2 "},
		{FIRST "id 0 a:b\n", "line 2 "},
		{FIRST "id 65536 a:b\n", "line 2 "},
		{FIRST "\n#\nid 5 ab\n", "line 4 "},
		{FIRST "format a:b\n\tx\n", "line 2 "},
		{FIRST "id 5 a:b\nformat a:b\n\tx\n\ty\nodd\n", "line 6 "},
		{FIRST "kernel", "line 2 "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mt_tracepoint_ids ids;
		struct mt_error *err = parse(cases[i].text, &ids);

		MT_REQUIRE(MT_CHECK(err));
		MT_CHECK(strstr(err->message, cases[i].says));
		mt_error_destroy(err);
		mt_tracepoint_ids_deinit(&ids);
	}
}

MT_TEST(a_link_or_a_device_is_written_into_and_stays)
{
	char dir[] = "/tmp/mt_ids.XXXXXX", link[64], file[64];
	struct mt_tracepoint_ids ids = {0}, again;
	struct mt_error *err;
	struct stat status;

	MT_REQUIRE(MT_CHECK(mkdtemp(dir)));
	snprintf(link, sizeof(link), "%s/link", dir);
	snprintf(file, sizeof(file), "%s/file", dir);
	mt_tracepoint_ids_add(&ids, "syscalls:sys_exit_brk", 102, NULL);
	mt_tracepoint_ids_sign(&ids);
	MT_CHECK(!symlink(file, link));
	MT_CHECK_OK(mt_tracepoint_ids_save(&ids, link, 0644));
	MT_CHECK(!lstat(link, &status) && S_ISLNK(status.st_mode));
	MT_CHECK_OK(mt_tracepoint_ids_read(file, &again));
	MT_CHECK_EQ(again.items.count, 1);
	mt_tracepoint_ids_deinit(&again);
	unlink(link);
	MT_CHECK(!symlink("/dev/full", link));
	err = mt_tracepoint_ids_save(&ids, link, 0644);
	MT_CHECK(err && err->kind == MT_ERR_OUTPUT);
	mt_error_destroy(err);
	MT_CHECK(!lstat(link, &status) && S_ISLNK(status.st_mode));
	mt_tracepoint_ids_deinit(&ids);
	unlink(link);
	unlink(file);
	rmdir(dir);
}

MT_TEST_MAIN
