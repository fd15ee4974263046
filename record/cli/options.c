/* Parses mtrec's command line. The options are in option_rows.c; long names are those of perf. */
#include "record/cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/nearest.h"
#include "record/cli/option_rows.h"

#define DEFAULT_GAUGES 1000000000ull /* ns */
#define EMBED_LIMIT ((uint64_t)64 << 20)
#define ALONGSIDE_DUMP 4096 /* bytes of callchain, registers and tracepoint fields */

static struct mt_error *usage_error(struct mt_error *err)
{
	return !err || err->hint ? err : mt_error_hint(err, "mtrec --help all lists every option");
}

/* ---- Combinations of options ---- */

/* Returns an error if a ring has no room for one whole sample, because it would record nothing. */
static struct mt_error *check_ring(const struct mt_record_options *options)
{
	size_t least =
		(options->call_graph == MT_GRAPH_DWARF ? options->dump_size : 0) + ALONGSIDE_DUMP;
	size_t size = 4096;

	if (!options->ring_size || options->ring_size >= least)
		return NULL;
	while (size < least)
		size *= 2;
	return mt_error_hint(mt_error_create(MT_ERR_USAGE,
					     "-m: a ring of %zuK has no room for one sample",
					     options->ring_size >> 10),
			     "-m %zuK is the least there is for these stacks", size >> 10);
}

/* Returns what is wrong with the targets; NULL: nothing. */
static const char *bad_targets(const struct mt_record_options *options)
{
	bool wide = options->all_cpus || options->cpus.count;
	bool tasks = options->pids.count || options->tids.count;

	if (wide && tasks)
		return "-a and -C record every process: -p and -t do not go with them";
	if ((options->user || options->cgroup) && tasks)
		return "-u and -G choose the processes by themselves: -p and -t do not go with "
		       "them";
	if (!wide && !tasks && !options->command && !options->user && !options->cgroup)
		return "nothing to record: give -a, -C, -u, -G, -p, -t, or a command";
	if (mt_list_has(&options->pids, 0))
		return "-p: there is no process 0";
	if (mt_list_has(&options->tids, 0))
		return "-t: there is no thread 0";
	if (options->cgroup && !*options->cgroup)
		return "-G: empty name of a cgroup";
	return NULL;
}

/* Returns an error if options of a recording or of a count exclude each other. */
static struct mt_error *check(const struct mt_record_options *options)
{
	const char *what = NULL;

	if (bad_targets(options))
		what = bad_targets(options);
	else if (options->children && (!options->pids.count || options->no_inherit))
		what = "--children goes with -p, and not with -i";
	else if (options->period && options->frequency)
		what = "-c and -F exclude each other";
	else if (options->all_user && options->all_kernel)
		what = "--all-user and --all-kernel exclude each other";
	else if (options->start_disabled && !options->control)
		what = "-D -1 starts nothing by itself: it wants --control";
	else if (options->output && !*options->output)
		what = "-o: empty file name";
	else if (options->action != MT_ACTION_COUNT && (options->interval || options->separator))
		what = "-I and -x go with --stat only";
	else if (options->command && !*options->command[0])
		what = "the name of the command is empty";
	return what ? mt_error_create(MT_ERR_USAGE, "%s", what) : check_ring(options);
}

/* ---- The command line ---- */

/* The value that getopt returns for a row: its letter, or a number past all letters. */
static int value_of(size_t row)
{
	return mt_option_rows[row].letter ? mt_option_rows[row].letter : 256 + (int)row;
}

static const struct mt_option_row *row_of(int value)
{
	size_t row = 0;

	while (value_of(row) != value)
		row++;
	return &mt_option_rows[row];
}

/* Fills getopt's lists: letters (at most 3 bytes, and 2 bytes for each row) and long names. */
static void fill_options(char *letters, struct option *longs)
{
	size_t n = 0;

	letters = stpcpy(letters, "+:"); /* '+': stop at the command, which has its own options */
	for (size_t i = 0; i < MT_OPTION_ROWS; i++) {
		const struct mt_option_row *row = &mt_option_rows[i];
		int takes = !row->argument	      ? no_argument
			    : row->argument[0] == '[' ? optional_argument
						      : required_argument;

		if (row->name)
			longs[n++] = (struct option){row->name, takes, NULL, value_of(i)};
		if (row->letter)
			*letters++ = row->letter;
		if (row->letter && takes == required_argument)
			*letters++ = ':';
	}
	*letters = '\0';
	longs[n] = (struct option){0};
}

/*
 * Returns the long names that begin with the word, as in "--cpu, --count or --call-graph"; NULL:
 * none.
 */
static char *candidates(const char *word)
{
	size_t length = strcspn(word, "="), size, count = 0;
	const char *names[MT_OPTION_ROWS];
	char *text = NULL;
	FILE *out;

	for (size_t i = 0; i < MT_OPTION_ROWS; i++) {
		if (mt_option_rows[i].name && length > 2 &&
		    !strncmp(mt_option_rows[i].name, word + 2, length - 2))
			names[count++] = mt_option_rows[i].name;
	}
	out = count ? open_memstream(&text, &size) : NULL;
	for (size_t i = 0; out && i < count; i++)
		fprintf(out, "%s--%s", !i ? "" : i + 1 < count ? ", " : " or ", names[i]);
	if (out)
		fclose(out);
	return text;
}

static struct mt_error *missing_argument(const char *word)
{
	if (word[1] == '-')
		return mt_error_create(MT_ERR_USAGE, "option '%s' wants an argument", word);
	return mt_error_create(MT_ERR_USAGE, "option '-%c' wants an argument", optopt);
}

static struct mt_error *hint_meant(struct mt_error *err, const char *word)
{
	const char *name = word + strspn(word, "-");
	struct mt_nearest nearest = {.typed = name, .length = strcspn(name, "=")};

	for (size_t i = 0; i < MT_OPTION_ROWS; i++) {
		if (mt_option_rows[i].name)
			mt_nearest_offer(&nearest, mt_option_rows[i].name);
	}
	return nearest.best ? mt_error_hint(err, "did you mean --%s? all options: mtrec --help all",
					    nearest.best)
			    : err;
}

/*
 * Explains an error of getopt. optopt is the letter of an unknown option, or the value_of() of an
 * option with an unexpected argument, or 0 for a long name that is unknown or ambiguous.
 */
static struct mt_error *unknown_option(const char *word)
{
	MT_CLEANUP_FREE char *names = NULL;

	for (size_t i = 0; optopt && i < MT_OPTION_ROWS; i++) {
		if (value_of(i) == optopt)
			return mt_error_create(MT_ERR_USAGE, "option '--%s' takes no argument",
					       mt_option_rows[i].name);
	}
	if (optopt)
		return mt_error_create(MT_ERR_USAGE, "unknown option '-%c'", optopt);
	names = candidates(word);
	if (names)
		return mt_error_create(MT_ERR_USAGE, "option '%s' could be %s", word, names);
	return hint_meant(mt_error_create(MT_ERR_USAGE, "unknown option '%s'", word), word);
}

/* Accepts the topic of --help, from the text after '=' or from the next word. */
static struct mt_error *check_help(const char *next, struct mt_record_options *options)
{
	if (!options->help_topic)
		options->help_topic = next;
	if (!options->help_topic || !strcmp(options->help_topic, "all"))
		return NULL;
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "--help: '%s' is not known",
					     options->help_topic),
			     "known is all: mtrec --help all prints every option");
}

/* Returns true if the action opens events for targets. */
static bool measures(const struct mt_record_options *options)
{
	return options->action == MT_ACTION_RECORD || options->action == MT_ACTION_COUNT;
}

/* Parses options from optind up to the first word that is not an option. */
static struct mt_error *parse_options(int argc, char **argv, struct mt_record_options *options)
{
	struct option longs[MT_OPTION_ROWS + 1];
	char letters[2 * MT_OPTION_ROWS + 3], name[MT_OPTION_NAME_SIZE];
	const struct mt_option_row *row, *other = NULL; /* first option that --stat refuses */
	struct mt_error *err;
	int value;

	fill_options(letters, longs);
	while ((value = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (value == '?' || value == ':')
			return usage_error(value == '?' ? unknown_option(argv[optind - 1])
							: missing_argument(argv[optind - 1]));
		row = row_of(value);
		err = mt_option_take(row, optarg, options);
		if (err)
			return row->kind < MT_OPTION_HELD ? usage_error(err) : err;
		other = !other && row->is_of_recordings ? row : other;
	}
	if (options->action != MT_ACTION_COUNT || !other)
		return NULL;
	mt_option_name(other, name);
	return usage_error(mt_error_create(MT_ERR_USAGE,
					   "--stat records nothing: %s does not go with it", name));
}

/* Parses PATTERN of --list and the options after it. */
static struct mt_error *parse_list_rest(int argc, char **argv, struct mt_record_options *options)
{
	struct mt_error *err = NULL;

	if (!options->list_pattern && optind < argc) {
		options->list_pattern = argv[optind++];
		err = parse_options(argc, argv, options);
	}
	if (!err && optind < argc)
		err = usage_error(mt_error_create(MT_ERR_USAGE, "--list takes one pattern"));
	if (!err && options->list_pattern && !strncmp(options->list_pattern, "usdt", 4) &&
	    !options->pids.count)
		err = mt_error_hint(mt_error_create(MT_ERR_USAGE,
						    "--list usdt: no process is given"),
				    "mtrec --list usdt -p PID lists the static probes of what it "
				    "maps");
	return err;
}

static struct mt_error *parse_all(int argc, char **argv, struct mt_record_options *options)
{
	struct mt_error *err;

	optind = 0;
	opterr = 0;
	if (argc > 1 && !strcmp(argv[1], "record")) { /* like perf record; getopt begins at 1 */
		argc--;
		argv++;
	}
	err = parse_options(argc, argv, options);
	if (err)
		return err;
	if (options->action == MT_ACTION_HELP)
		return check_help(argv[optind], options);
	if (options->action == MT_ACTION_LIST)
		return parse_list_rest(argc, argv, options);
	if ((options->action == MT_ACTION_CHECK || options->action == MT_ACTION_CLEAN) &&
	    optind < argc)
		return usage_error(mt_error_create(
			MT_ERR_USAGE, "--%s runs no command: '%s'",
			options->action == MT_ACTION_CHECK ? "check" : "clean", argv[optind]));
	options->command = optind < argc ? argv + optind : NULL;
	return measures(options) ? usage_error(check(options)) : NULL;
}

static struct mt_error *set_defaults(struct mt_record_options *options)
{
	bool given = options->events.count || options->custom_allocs.count ||
		     options->custom_frees.count;

	if (options->action == MT_ACTION_RECORD && !options->output)
		options->output = MT_DEFAULT_OUTPUT;
	return given || mt_array_append(&options->events, MT_DEFAULT_EVENTS) ? NULL
									     : mt_error_nomem();
}

void mt_record_options_deinit(struct mt_record_options *options)
{
	mt_array_deinit(&options->events);
	mt_array_deinit(&options->custom_allocs);
	mt_array_deinit(&options->custom_frees);
	mt_array_deinit(&options->filters);
	mt_array_deinit(&options->cpus);
	mt_array_deinit(&options->pids);
	mt_array_deinit(&options->tids);
}

struct mt_error *mt_record_options_parse(int argc, char **argv, struct mt_record_options *out)
{
	struct mt_record_options options = {
		.call_graph = MT_GRAPH_DWARF,
		.dump_size = MT_DEFAULT_DUMP,
		.gauges = DEFAULT_GAUGES,
		.level = -1,
		.embed = {.wish = {.names = true, .unwind = true},
			  .lines_elsewhere = true,
			  .limit = EMBED_LIMIT},
	};
	struct mt_error *err = parse_all(argc, argv, &options);

	if (!err && measures(&options))
		err = set_defaults(&options);
	if (err) {
		mt_record_options_deinit(&options);
		return err;
	}
	*out = options;
	return NULL;
}

bool mt_options_target_cpus(const struct mt_record_options *options)
{
	return options->all_cpus || options->cpus.count || options->user || options->cgroup;
}

bool mt_options_target_tasks(const struct mt_record_options *options)
{
	return options->pids.count || options->tids.count;
}
