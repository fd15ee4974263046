/*
 * record/cli/options: mtrec's command line - the effect of each option, and the message for each
 * mistake.
 */
#include "record/cli/options.h"

#include <stdlib.h>

#include "tests/unit/unit.h"

#define WORDS_MAX 32

/* Splits a line at its blanks; '~' is an empty word. The words are valid until the next call. */
static struct mt_error *parse(const char *line, struct mt_record_options *out)
{
	static char text[1024];
	static char *argv[WORDS_MAX + 1];
	int argc = 0;

	snprintf(text, sizeof(text), "mtrec %s", line);
	for (char *word = strtok(text, " "); word && argc < WORDS_MAX; word = strtok(NULL, " "))
		argv[argc++] = strcmp(word, "~") ? word : word + 1;
	argv[argc] = NULL;
	return mt_record_options_parse(argc, argv, out);
}

/* Like parse(), with an event and a target first. */
static struct mt_error *parse_more(const char *line, struct mt_record_options *out)
{
	char text[1024];

	snprintf(text, sizeof(text), "-e brk -a %s", line);
	return parse(text, out);
}

/* Whether the line is a usage error with that message and a hint that contains those words. */
static bool refused(const char *line, const char *message, const char *hint)
{
	struct mt_record_options options = {0};
	struct mt_error *err = parse(line, &options);
	bool ok = err && err->kind == MT_ERR_USAGE && err->hint && strstr(err->hint, hint) &&
		  !strcmp(err->message, message);

	if (!ok)
		printf("# mtrec %s: %s (%s)\n", line, err ? err->message : "no error",
		       err && err->hint ? err->hint : "no hint");
	mt_error_destroy(err);
	return ok && !options.events.items;
}

static bool refused_more(const char *line, const char *message)
{
	char text[1024];

	snprintf(text, sizeof(text), "-e brk -a %s", line);
	return refused(text, message, "");
}

/* Checks that each spelling sets `field` to `value`. */
#define CHECK_FIELD(line, field, value)                          \
	do {                                                     \
		struct mt_record_options options = {0};          \
		if (MT_CHECK_OK(parse_more((line), &options))) { \
			MT_CHECK_EQ(options.field, (value));     \
			mt_record_options_deinit(&options);      \
		}                                                \
	} while (0)

MT_TEST(what_is_not_said_has_its_default)
{
	struct mt_record_options options = {0};

	MT_REQUIRE(MT_CHECK_OK(parse("-e brk -a", &options)));
	MT_CHECK_EQ(options.action, MT_ACTION_RECORD);
	MT_CHECK(options.all_cpus && !options.quiet && !options.verbose);
	MT_CHECK_STR(options.output, "mtrec.mtr");
	MT_CHECK_EQ(options.call_graph, MT_GRAPH_DWARF);
	MT_CHECK_EQ(options.dump_size, 16384);
	MT_CHECK_EQ(options.level, -1);
	MT_CHECK(!options.period && !options.frequency && !options.ring_size);
	MT_CHECK(!options.cpus.count && !options.pids.count && !options.tids.count);
	MT_CHECK(!options.command && !options.list_pattern);
	mt_record_options_deinit(&options);
}

MT_TEST(events_are_kept_in_order)
{
	struct mt_record_options options = {0};

	MT_REQUIRE(MT_CHECK_OK(parse("-e brk,mmap --event page-faults --event=cs -a", &options)));
	MT_CHECK_EQ(options.events.count, 3);
	MT_CHECK_STR(options.events.items[0], "brk,mmap");
	MT_CHECK_STR(options.events.items[1], "page-faults");
	MT_CHECK_STR(options.events.items[2], "cs");
	mt_record_options_deinit(&options);
}

MT_TEST(short_and_perfs_long_names_say_the_same)
{
	CHECK_FIELD("-a", all_cpus, true);
	CHECK_FIELD("--all-cpus", all_cpus, true);
	CHECK_FIELD("-C 0,2-3", cpus.count, 3);
	CHECK_FIELD("--cpu 0,2-3", cpus.items[2], 3);
	CHECK_FIELD("-c 7", period, 7);
	CHECK_FIELD("--count=7", period, 7);
	CHECK_FIELD("-F 99", frequency, 99);
	CHECK_FIELD("--freq 99", frequency, 99);
	CHECK_FIELD("-m 8M", ring_size, 8 << 20);
	CHECK_FIELD("--mmap-pages=8M", ring_size, 8 << 20);
	CHECK_FIELD("-z 0", level, 0);
	CHECK_FIELD("-z -7", level, -7);
	CHECK_FIELD("--compression-level 22", level, 22);
	CHECK_FIELD("-q", quiet, true);
	CHECK_FIELD("--quiet", quiet, true);
	CHECK_FIELD("-v", verbose, 1);
	CHECK_FIELD("-vv", verbose, 2);
	CHECK_FIELD("--verbose --verbose", verbose, 2);
	CHECK_FIELD("-g", call_graph, MT_GRAPH_DWARF);
	CHECK_FIELD("-e mmap -qvz3", level, 3);
}

MT_TEST(options_of_perf_record_that_every_recording_meets_are_accepted)
{
	CHECK_FIELD("-d -T -s -R -P", all_cpus, true);
	CHECK_FIELD("-dTsRP --data --timestamp --raw-samples --period --sample-cpu", verbose, 0);
	CHECK_FIELD("-k mono", all_cpus, true);
	CHECK_FIELD("--clockid CLOCK_MONOTONIC", all_cpus, true);
	CHECK_FIELD("--all-user", all_user, true);
	CHECK_FIELD("--all-kernel", all_kernel, true);
}

MT_TEST(stat_counts_at_intervals_without_an_output_of_its_own)
{
	struct mt_record_options options = {0};

	MT_REQUIRE(MT_CHECK_OK(parse("--stat -I 1000 -x \\t -e brk -d -a", &options)));
	MT_CHECK_EQ(options.action, MT_ACTION_COUNT);
	MT_CHECK_EQ(options.interval, 1000000000);
	MT_CHECK_STR(options.separator, "\t");
	MT_CHECK(!options.output);
	mt_record_options_deinit(&options);
	MT_CHECK(refused("--stat -a --strip", "--stat records nothing: --strip does not go with it",
			 "--help"));
	MT_CHECK(refused("-c 3 -a --stat", "--stat records nothing: -c does not go with it",
			 "--help"));
	MT_CHECK(refused("-a -x ,", "-I and -x go with --stat only", "--help"));
	MT_CHECK(refused("--stat -a -I 9", "-I: '9' is not a number from 10 to 2147483647",
			 "--help"));
}

MT_TEST(the_word_record_in_front_is_perfs)
{
	struct mt_record_options options = {0};

	MT_REQUIRE(MT_CHECK_OK(parse("record -e brk -o a -- record", &options)));
	MT_CHECK_STR(options.output, "a");
	MT_REQUIRE(MT_CHECK(options.command));
	MT_CHECK_STR(options.command[0], "record");
	mt_record_options_deinit(&options);
}

MT_TEST(targets_are_lists)
{
	struct mt_record_options options = {0};

	MT_REQUIRE(
		MT_CHECK_OK(parse("-e brk -p 1,20 --pid=300 --children -t 4 --tid 5-6", &options)));
	MT_CHECK(options.children);
	MT_CHECK_EQ(options.pids.count, 3);
	MT_CHECK_EQ(options.pids.items[2], 300);
	MT_CHECK_EQ(options.tids.count, 3);
	MT_CHECK_EQ(options.tids.items[0], 4);
	mt_record_options_deinit(&options);
}

MT_TEST(the_last_output_counts)
{
	struct mt_record_options options = {0};

	MT_REQUIRE(MT_CHECK_OK(parse_more("-o a --output=b", &options)));
	MT_CHECK_STR(options.output, "b");
	mt_record_options_deinit(&options);
	MT_REQUIRE(MT_CHECK_OK(parse_more("-o -", &options)));
	MT_CHECK_STR(options.output, "-");
	mt_record_options_deinit(&options);
}

MT_TEST(call_graph_has_methods_and_sizes)
{
	CHECK_FIELD("--call-graph dwarf", dump_size, 16384);
	CHECK_FIELD("--call-graph dwarf,8192", dump_size, 8192);
	CHECK_FIELD("--call-graph dwarf,8192", call_graph, MT_GRAPH_DWARF);
	CHECK_FIELD("--call-graph dwarf,8", dump_size, 8);
	CHECK_FIELD("--call-graph=dwarf,65528", dump_size, 65528);
	CHECK_FIELD("--call-graph fp", call_graph, MT_GRAPH_FP);
	CHECK_FIELD("--call-graph fp", dump_size, 0);
	CHECK_FIELD("--call-graph none", call_graph, MT_GRAPH_NONE);
	CHECK_FIELD("--call-graph no", dump_size, 0);
	CHECK_FIELD("--call-graph none -g", call_graph, MT_GRAPH_DWARF);
	CHECK_FIELD("--call-graph none -g", dump_size, 16384);
	CHECK_FIELD("--call-graph fp -g", call_graph, MT_GRAPH_FP);
}

MT_TEST(the_kernel_wants_dumps_of_whole_words)
{
	CHECK_FIELD("--call-graph dwarf,9", dump_size, 16);
	CHECK_FIELD("--call-graph dwarf,65521", dump_size, 65528);
}

MT_TEST(a_bad_call_graph_is_answered_with_the_methods)
{
	MT_CHECK(refused("-e brk -a --call-graph bts", "--call-graph: unknown method 'bts'",
			 "dwarf[,SIZE], fp, lbr and none"));
	MT_CHECK(refused("-e brk -a --call-graph dwarfs", "--call-graph: unknown method 'dwarfs'",
			 "dwarf[,SIZE]"));
	MT_CHECK(refused("-e brk -a --call-graph dwarf,", "--call-graph: bad dump size ''",
			 "8 to 65528"));
	MT_CHECK(refused("-e brk -a --call-graph dwarf,7", "--call-graph: bad dump size '7'",
			 "8 to 65528"));
	MT_CHECK(refused("-e brk -a --call-graph dwarf,65529",
			 "--call-graph: bad dump size '65529'", "8 to 65528"));
	MT_CHECK(refused("-e brk -a --call-graph dwarf,8k", "--call-graph: bad dump size '8k'",
			 "8 to 65528"));
	MT_CHECK(refused("-e brk -a --call-graph fp,8", "--call-graph: unknown method 'fp,8'",
			 "dwarf[,SIZE]"));
}

MT_TEST(numbers_out_of_range_are_answered_with_the_range)
{
	MT_CHECK(refused_more("-c 0", "-c: '0' is not a number from 1 to 9223372036854775807"));
	MT_CHECK(refused_more("-c x", "-c: 'x' is not a number from 1 to 9223372036854775807"));
	MT_CHECK(refused_more("-c -1", "-c: '-1' is not a number from 1 to 9223372036854775807"));
	MT_CHECK(refused_more("-c 9223372036854775808", "-c: '9223372036854775808' is not a number "
							"from 1 to 9223372036854775807"));
	MT_CHECK(refused_more("-F 0", "-F: '0' is not a number from 1 to 2147483647"));
	MT_CHECK(refused_more("-F 99Hz", "-F: '99Hz' is not a number from 1 to 2147483647"));
	MT_CHECK(refused_more("-z 23", "-z: '23' is not a number from -7 to 22"));
	MT_CHECK(refused_more("-z -8", "-z: '-8' is not a number from -7 to 22"));
	MT_CHECK(refused_more("-z --1", "-z: '--1' is not a number from -7 to 22"));
	MT_CHECK(refused_more("-z ~", "-z: '' is not a number from -7 to 22"));
	MT_CHECK(
		refused_more("-m 0", "-m: '0' is not a size like 16M or 4096 (pages), at most 2G"));
}

MT_TEST(a_ring_has_room_for_a_sample)
{
	MT_CHECK(refused("-e brk -a -m 3", "-m: a ring of 16K has no room for one sample",
			 "-m 32K is the least there is for these stacks"));
	MT_CHECK(refused("-e brk -a -m 64K --call-graph dwarf,65528",
			 "-m: a ring of 64K has no room for one sample",
			 "-m 128K is the least there is for these stacks"));
	CHECK_FIELD("-m 32K", ring_size, 32 << 10);
	CHECK_FIELD("-m 1 --call-graph fp", ring_size, 4096);
	CHECK_FIELD("--call-graph none -m 1", ring_size, 4096);
}

MT_TEST(bad_lists_are_shown)
{
	MT_CHECK(refused("-e brk -p 1,,2", "-p: '1,,2' is not a list of numbers like 1,2,5-7",
			 "--help"));
	MT_CHECK(refused("-e brk -t ~", "-t: '' is not a list of numbers like 1,2,5-7", "--help"));
	MT_CHECK(refused("-e brk -C 0-x", "-C: '0-x' is not a list of numbers like 1,2,5-7",
			 "--help"));
}

MT_TEST(process_and_thread_ids_begin_at_one)
{
	MT_CHECK(refused("-e brk -p 0", "-p: there is no process 0", ""));
	MT_CHECK(refused("-e brk -t 3,0", "-t: there is no thread 0", ""));
}

MT_TEST(something_to_record_and_whom)
{
	MT_CHECK(refused("~ ", "the name of the command is empty", "--help"));
	MT_CHECK(refused("-q", "nothing to record: give -a, -C, -u, -G, -p, -t, or a command",
			 "--help"));
	MT_CHECK(refused("-e brk", "nothing to record: give -a, -C, -u, -G, -p, -t, or a command",
			 "--help"));
	MT_CHECK(refused("-e brk --",
			 "nothing to record: give -a, -C, -u, -G, -p, -t, or a command", "--help"));
	MT_CHECK(refused("-e brk -o ~ -a", "-o: empty file name", "--help"));
	MT_CHECK(refused("-e brk -a ~", "the name of the command is empty", "--help"));
}

MT_TEST(what_excludes_each_other)
{
	MT_CHECK(refused("-e brk -a -p 1",
			 "-a and -C record every process: -p and -t do not go with them",
			 "--help"));
	MT_CHECK(refused("-e brk -C 0 -t 1",
			 "-a and -C record every process: -p and -t do not go with them",
			 "--help"));
	MT_CHECK(refused("-e brk -a -c 1 -F 1", "-c and -F exclude each other", "--help"));
}

MT_TEST(unknown_options_are_named_as_they_were_written)
{
	MT_CHECK(refused("-e brk -a -y", "unknown option '-y'", "--help"));
	MT_CHECK(refused("-e brk -aqy", "unknown option '-y'", "--help"));
	MT_CHECK(refused("-e brk -a --frobnicate", "unknown option '--frobnicate'", "--help"));
	MT_CHECK(refused("-e brk -a --durtaion 3", "unknown option '--durtaion'",
			 "did you mean --duration?"));
	MT_CHECK(refused("-e brk -a --frobnicate=3", "unknown option '--frobnicate=3'", "--help"));
	MT_CHECK(refused("-e brk -a --quiet=3", "option '--quiet' takes no argument", "--help"));
	MT_CHECK(refused("--version=3", "option '--version' takes no argument", "--help"));
	MT_CHECK(
		refused("-e brk -a --c 3",
			"option '--c' could be --check, --clean, --children, --cgroup, --comm, "
			"--cpu, --compression-level, --control, --count, --call-graph or --clockid",
			"--help"));
}

MT_TEST(a_missing_argument_is_reported)
{
	MT_CHECK(refused("-a -e", "option '-e' wants an argument", "--help"));
	MT_CHECK(refused("-ae", "option '-e' wants an argument", "--help"));
	MT_CHECK(refused("-e brk -a --output", "option '--output' wants an argument", "--help"));
	MT_CHECK(refused("-e brk -a --call-graph", "option '--call-graph' wants an argument",
			 "--help"));
}

MT_TEST(long_names_may_be_cut_while_they_are_clear)
{
	CHECK_FIELD("--verb", verbose, 1);
	CHECK_FIELD("--comp 5", level, 5);
}

MT_TEST(a_commands_own_options_are_not_ours)
{
	struct mt_record_options options = {0};

	MT_REQUIRE(MT_CHECK_OK(parse("-e brk ls -q -a --version", &options)));
	MT_CHECK(!options.quiet && !options.all_cpus);
	MT_CHECK_EQ(options.action, MT_ACTION_RECORD);
	MT_CHECK_STR(options.command[0], "ls");
	MT_CHECK_STR(options.command[3], "--version");
	MT_CHECK(!options.command[4]);
	mt_record_options_deinit(&options);
}

MT_TEST(two_dashes_end_our_options)
{
	struct mt_record_options options = {0};

	MT_REQUIRE(MT_CHECK_OK(parse("-e brk -a -- -odd -q", &options)));
	MT_CHECK(options.all_cpus && !options.quiet);
	MT_CHECK_STR(options.command[0], "-odd");
	mt_record_options_deinit(&options);
	MT_REQUIRE(MT_CHECK_OK(parse("-e brk sh -- x", &options)));
	MT_CHECK_STR(options.command[1], "--");
	mt_record_options_deinit(&options);
}

MT_TEST(an_option_may_take_what_looks_like_one)
{
	struct mt_record_options options = {0};

	MT_REQUIRE(MT_CHECK_OK(parse("-e -a -o -q true", &options)));
	MT_CHECK_STR(options.events.items[0], "-a");
	MT_CHECK_STR(options.output, "-q");
	mt_record_options_deinit(&options);
}

MT_TEST(help_version_and_list_need_nothing_else)
{
	struct mt_record_options options = {0};

	MT_REQUIRE(MT_CHECK_OK(parse("--help", &options)));
	MT_CHECK_EQ(options.action, MT_ACTION_HELP);
	MT_REQUIRE(MT_CHECK_OK(parse("-h", &options)));
	MT_CHECK_EQ(options.action, MT_ACTION_HELP);
	MT_CHECK(!options.help_topic);
	MT_REQUIRE(MT_CHECK_OK(parse("--help all", &options)));
	MT_CHECK_STR(options.help_topic, "all");
	MT_REQUIRE(MT_CHECK_OK(parse("--help=all", &options)));
	MT_CHECK_STR(options.help_topic, "all");
	MT_CHECK(refused("--help nonsense", "--help: 'nonsense' is not known", "all"));
	MT_REQUIRE(MT_CHECK_OK(parse("--version", &options)));
	MT_CHECK_EQ(options.action, MT_ACTION_VERSION);
	MT_REQUIRE(MT_CHECK_OK(parse("--list", &options)));
	MT_CHECK_EQ(options.action, MT_ACTION_LIST);
	MT_CHECK(!options.list_pattern);
	MT_REQUIRE(MT_CHECK_OK(parse("--list brk", &options)));
	MT_CHECK_STR(options.list_pattern, "brk");
	MT_REQUIRE(MT_CHECK_OK(parse("--list=brk", &options)));
	MT_CHECK_STR(options.list_pattern, "brk");
	MT_CHECK(refused("--list brk mmap", "--list takes one pattern", "--help"));
}

MT_TEST(a_mistake_leaves_the_result_alone)
{
	struct mt_record_options options = {.level = 77};

	MT_CHECK_ERR(parse("-e brk -e mmap -a -z x", &options), MT_ERR_USAGE);
	MT_CHECK_EQ(options.level, 77);
}

MT_TEST(what_limits_a_recording_is_parsed)
{
	CHECK_FIELD("--duration 10", duration, 10000000000);
	CHECK_FIELD("--duration 1.5s", duration, 1500000000);
	CHECK_FIELD("--duration=500ms", duration, 500000000);
	CHECK_FIELD("--duration 2m", duration, 120000000000);
	CHECK_FIELD("--duration 1h", duration, 3600000000000);
	CHECK_FIELD("-D 250", delay, 250000000);
	CHECK_FIELD("--delay 0", delay, 0);
	CHECK_FIELD("-D -1 --control fd:3", start_disabled, true);
	CHECK_FIELD("-D -1 --control fd:3", delay, 0);
	CHECK_FIELD("--max-size 2M", max_size, 2 << 20);
	CHECK_FIELD("--max-size=1G", max_size, 1 << 30);
	CHECK_FIELD("--memory 32", memory, 32 << 20);
	CHECK_FIELD("--memory 32M", memory, 32 << 20);
	CHECK_FIELD("-i", no_inherit, true);
	CHECK_FIELD("--no-inherit", no_inherit, true);
	CHECK_FIELD("--stats", stats, true);
}

MT_TEST(a_filter_is_after_its_events)
{
	struct mt_record_options options = {0};

	MT_REQUIRE(
		MT_CHECK_OK(parse("-e brk,mmap --filter ret<0 -e cs --filter x>1 -a", &options)));
	MT_CHECK_EQ(options.filters.count, 2);
	MT_CHECK_STR(options.filters.items[0].events, "brk,mmap");
	MT_CHECK_STR(options.filters.items[0].expression, "ret<0");
	MT_CHECK_STR(options.filters.items[1].events, "cs");
	mt_record_options_deinit(&options);
	MT_CHECK(refused("--filter ret<0 -e brk -a", "--filter: no event stands before it",
			 "give the tracepoint first"));
	MT_CHECK(refused_more("--filter ~", "--filter: empty expression"));
}

MT_TEST(users_and_cgroups_are_targets)
{
	struct mt_record_options options = {0};

	MT_REQUIRE(MT_CHECK_OK(parse("-e brk -u nobody", &options)));
	MT_CHECK_STR(options.user, "nobody");
	mt_record_options_deinit(&options);
	MT_REQUIRE(MT_CHECK_OK(parse("-e brk --cgroup /a/b --comm ^x$", &options)));
	MT_CHECK_STR(options.cgroup, "/a/b");
	MT_CHECK_STR(options.comm, "^x$");
	mt_record_options_deinit(&options);
	MT_CHECK(refused("-e brk --comm x",
			 "nothing to record: give -a, -C, -u, -G, -p, -t, or a command", ""));
	MT_CHECK(refused("-e brk -u 1 -p 1",
			 "-u and -G choose the processes by themselves: -p and -t do not go with "
			 "them",
			 ""));
	MT_CHECK(refused("-e brk -G ~", "-G: empty name of a cgroup", ""));
}

MT_TEST(bad_limits_are_answered_with_what_is_right)
{
	MT_CHECK(refused_more("--duration 0",
			      "--duration: '0' is not a time like 10s, 500ms, 2m or 1h"));
	MT_CHECK(refused_more("--duration 5d",
			      "--duration: '5d' is not a time like 10s, 500ms, 2m or 1h"));
	MT_CHECK(refused_more("--duration -5",
			      "--duration: '-5' is not a time like 10s, 500ms, 2m or 1h"));
	MT_CHECK(refused("-e brk -a -D x", "-D: 'x' is not a number from 0 to 2147483647",
			 "-1 leaves the start"));
	MT_CHECK(refused_more("-D -1", "-D -1 starts nothing by itself: it wants --control"));
	MT_CHECK(refused("-e brk -a --control /tmp/x",
			 "--control: '/tmp/x' is neither fifo: nor fd:", "fifo:CTL"));
	MT_CHECK(refused_more("--max-size 1000K",
			      "--max-size: '1000K' is not a size from 1M to 1073741824G"));
	MT_CHECK(refused_more("--memory 8", "--memory: '8' is not a size from 16M to 1024G"));
}

MT_TEST(help_all_names_every_option)
{
	static const char *const names[] = {
		"-e, --event",	      "-a, --all-cpus",	  "-C, --cpu",
		"-p, --pid",	      "-t, --tid",	  "-o, --output",
		"-c, --count",	      "-F, --freq",	  "-g ",
		"--call-graph",	      "-m, --mmap-pages", "-z, --compression-level",
		"-q, --quiet",	      "-v, --verbose",	  "--list [PATTERN]",
		"--version",	      "-h, --help",	  "Exit status:",
		"--filter EXPR",      "-u, --uid USER",	  "-G, --cgroup",
		"--comm REGEX",	      "-i, --no-inherit", "--duration TIME",
		"-D, --delay MS",     "--control",	  "--max-size SIZE",
		"--memory MiB",	      "--stats",	  "--embed WHAT",
		"--embed-limit SIZE", "--children"};
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	MT_REQUIRE(to);
	mt_record_options_help("all", to);
	fclose(to);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!MT_CHECK(strstr(text, names[i])))
			printf("# %s\n", names[i]);
	}
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		MT_CHECK(strlen(line) <= 80);
	free(text);
}

MT_TEST_MAIN
