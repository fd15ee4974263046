/* record/state/host: facts of this host, and the command line quoted for a shell. */
#include "record/state/host.h"

#include <stdlib.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "tests/unit/unit.h"

static void check_quoted(char *const *words, int count, const char *line)
{
	char *got = mt_host_quote(count, words);

	MT_CHECK_STR(got, line);
	free(got);
}

MT_TEST(plain_words_stay_as_they_are)
{
	check_quoted((char *[]){"mtrec", "-e", "brk,page-faults:u", "-C0-3", "-o", "/a_b/c.mtr"}, 6,
		     "mtrec -e brk,page-faults:u -C0-3 -o /a_b/c.mtr");
	check_quoted((char *[]){"A=b", "50%", "x@y+z"}, 3, "A=b 50% x@y+z");
	check_quoted(NULL, 0, "");
}

MT_TEST(what_a_shell_would_change_is_quoted)
{
	check_quoted((char *[]){"sh", "-c", "echo $HOME; rm *"}, 3, "sh -c 'echo $HOME; rm *'");
	check_quoted((char *[]){"a", "", "b"}, 3, "a '' b");
	check_quoted((char *[]){"don't"}, 1, "'don'\\''t'");
	check_quoted((char *[]){"'"}, 1, "''\\'''");
	check_quoted((char *[]){"a\nb", "~", "\\", "\"", "\xc3\xa4"}, 5,
		     "'a\nb' '~' '\\' '\"' '\xc3\xa4'");
}

MT_TEST(a_shell_takes_the_line_back)
{
	char *words[] = {"a b", "don't", "", "$x `y` \"z\" \\", "*", "l1\nl2", "-n", "#", "!"};
	int count = sizeof(words) / sizeof(words[0]);
	char *line = mt_host_quote(count, words), *script = NULL, byte;
	FILE *shell;

	MT_REQUIRE(line && asprintf(&script, "printf '%%s\\0' %s", line) > 0);
	shell = popen(script, "r");
	MT_REQUIRE(shell);
	for (int i = 0; i < count; i++) {
		for (const char *c = words[i];; c++) {
			MT_CHECK(fread(&byte, 1, 1, shell) == 1 && byte == *c);
			if (!*c)
				break;
		}
	}
	MT_CHECK(fread(&byte, 1, 1, shell) == 0);
	pclose(shell);
	free(script);
	free(line);
}

MT_TEST(the_online_cpus_are_known)
{
	struct mt_number_list cpus = {0};

	MT_CHECK_OK(mt_host_cpus(&cpus));
	MT_CHECK_EQ(cpus.count, sysconf(_SC_NPROCESSORS_ONLN));
	mt_array_deinit(&cpus);
}

MT_TEST_MAIN
