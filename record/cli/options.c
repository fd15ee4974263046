/*
 * Parses mtrec's command line. The options are in option_rows.c; long names are perf's.
 */
#include "record/cli/options.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/nearest.h"
#include "formats/records/address_sample.h"
#include "record/allocators/custom_functions.h"
#include "record/cli/option_checks.h"
#include "record/cli/option_rows.h"

#define DEFAULT_DUMP 16384
#define DUMP_MAX 65528 /* a sample's size is a u16, and the kernel requires a multiple of 8 */
#define LEVEL_MIN (-7)
#define LEVEL_MAX 22
#define MAX_SIZE_MIN ((uint64_t)1 << 20)
#define MAX_SIZE_MAX ((uint64_t)1 << 60)
#define DEFAULT_GAUGES 1000000000ull /* ns */
#define EMBED_LIMIT_MIN ((uint64_t)1 << 10)
#define EMBED_LIMIT ((uint64_t)64 << 20)
#define MEMORY_MIN ((uint64_t)16 << 20)
#define MEMORY_MAX ((uint64_t)1 << 40)
#define INTERVAL_MIN_MS 10

static struct mt_error *usage_error(struct mt_error *err)
{
	return !err || err->hint ? err : mt_error_hint(err, "mtrec --help all lists every option");
}

static struct mt_error *parse_call_graph(const char *text, struct mt_record_options *options)
{
	uint64_t size = DEFAULT_DUMP;

	if (!strcmp(text, "none") || !strcmp(text, "no") || !strcmp(text, "fp")) {
		options->call_graph = text[0] == 'f' ? MT_GRAPH_FP : MT_GRAPH_NONE;
		options->dump_size = 0;
		return NULL;
	}
	if (!strcmp(text, "lbr")) {
		options->call_graph = MT_GRAPH_LBR;
		options->dump_size = 0;
		return NULL;
	}
	if (strncmp(text, "dwarf", 5) || (text[5] && text[5] != ','))
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "--call-graph: unknown method '%s'", text),
				     "the methods are dwarf[,SIZE], fp, lbr and none");
	if (text[5] && (!mt_parse_u64(text + 6, &size) || size < 8 || size > DUMP_MAX))
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "--call-graph: bad dump size '%s'", text + 6),
				     "SIZE is 8 to %d bytes of user stack", DUMP_MAX);
	options->call_graph = MT_GRAPH_DWARF;
	options->dump_size = (uint32_t)((size + 7) & ~7ull);
	options->dump_given = text[5];
	return NULL;
}

static struct mt_error *parse_number(const char *option, const char *text, uint64_t low,
				     uint64_t high, uint64_t *out)
{
	if (mt_parse_u64(text, out) && *out >= low && *out <= high)
		return NULL;
	return usage_error(
		mt_error_create(MT_ERR_USAGE, "%s: '%s' is not a number from %llu to %llu", option,
				text, (unsigned long long)low, (unsigned long long)high));
}

static struct mt_error *parse_frequency(const char *text, struct mt_record_options *options)
{
	if (strcmp(text, "max") != 0)
		return parse_number("-F", text, 1, INT32_MAX, &options->frequency);
	options->frequency = MT_FREQUENCY_MAX;
	return NULL;
}

static struct mt_error *parse_event(const char *text, struct mt_record_options *options)
{
	const char **slot = mt_array_push(&options->events);

	if (!slot)
		return mt_error_nomem();
	*slot = text;
	return NULL;
}

/* Parses "1%" or "0.5": above 0, and at most what a machine may have. */
static struct mt_error *parse_budget(const char *text, struct mt_record_options *options)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%")) || !(percent > 0) || percent > 1e6)
		return usage_error(mt_error_create(MT_ERR_USAGE,
						   "--budget: '%s' is not a share "
						   "of a CPU like 1%%",
						   text));
	options->budget = percent;
	return NULL;
}

/* Parses "auto", "all", or N to record about 1 in N blocks. */
static struct mt_error *parse_malloc_sample(const char *text, struct mt_record_options *options)
{
	uint64_t one_in = 1;

	options->malloc_sample = 0;
	if (!strcmp(text, "auto"))
		return NULL;
	if (strcmp(text, "all") != 0 && (!mt_parse_u64(text, &one_in) || !one_in))
		return usage_error(
			mt_error_create(MT_ERR_USAGE,
					"--malloc-sample: '%s' is neither auto nor all nor "
					"a number like 64, for 1 in 64 blocks",
					text));
	options->malloc_sample = mt_one_in_round(one_in);
	return NULL;
}

static struct mt_error *parse_custom_function(const char *text, bool frees,
					      struct mt_record_options *options)
{
	MT_CLEANUP(mt_custom_function_deinit) struct mt_custom_function own = {0};
	struct mt_error *err = mt_custom_function_parse(text, frees, &own);
	const char **slot = err	    ? NULL
			    : frees ? mt_array_push(&options->custom_frees)
				    : mt_array_push(&options->custom_allocs);

	if (slot)
		*slot = text;
	return err || slot ? err : mt_error_nomem();
}

/* Parses a size from text to end; 0 is allowed. */
static bool parse_bytes(const char *text, const char *end, uint64_t *out)
{
	MT_CLEANUP_FREE char *word = strndup(text, (size_t)(end - text));
	struct mt_error *err;

	*out = 0;
	if (!word || !strcmp(word, "0"))
		return word;
	err = mt_parse_size("--malloc-size", word, 1, 1, 1ull << 47, out);
	mt_error_destroy(err);
	return !err;
}

static struct mt_error *parse_malloc_size(const char *text, struct mt_record_options *options)
{
	const char *dash = strchr(text, '-');
	uint64_t least, most = UINT64_MAX;

	if (!dash || dash == text || !parse_bytes(text, dash, &least) ||
	    (dash[1] && !parse_bytes(dash + 1, text + strlen(text), &most)) || least > most ||
	    !most)
		return usage_error(mt_error_create(MT_ERR_USAGE,
						   "--malloc-size: '%s' is not a range of bytes "
						   "like 4K-64K, or 1M- for 1M and more",
						   text));
	options->malloc_least = least;
	options->malloc_most = most;
	return NULL;
}

/* Adds a filter for the last event of the last -e. */
static struct mt_error *parse_filter(const char *text, struct mt_record_options *options)
{
	const char *events =
		options->events.count ? options->events.items[options->events.count - 1] : NULL;
	struct mt_filter_option *slot;

	if (!events)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "--filter: no event stands before it"),
				     "give the tracepoint first: -e sched:sched_switch --filter "
				     "'prev_prio < 100'");
	if (!text[strspn(text, " \t")])
		return usage_error(mt_error_create(MT_ERR_USAGE, "--filter: empty expression"));
	slot = mt_array_push(&options->filters);
	if (!slot)
		return mt_error_nomem();
	slot->events = events;
	slot->expression = text;
	return NULL;
}

static struct mt_error *parse_delay(const char *text, struct mt_record_options *options)
{
	uint64_t ms = 0;
	struct mt_error *err;

	options->start_disabled = !strcmp(text, "-1");
	err = options->start_disabled ? NULL : parse_number("-D", text, 0, INT32_MAX, &ms);
	options->delay = ms * 1000000;
	return mt_error_hint(err, "-D counts milliseconds; -1 leaves the start to --control");
}

static struct mt_error *parse_memory(const char *text, struct mt_record_options *options)
{
	return usage_error(
		mt_parse_size("--memory", text, 1 << 20, MEMORY_MIN, MEMORY_MAX, &options->memory));
}

static struct mt_error *parse_embed(const char *text, struct mt_record_options *options)
{
	static const struct {
		const char *word;
		struct mt_embed_options what;
	} words[] = {
		{"none", {.wish = {0}}},
		{"symbols", {.wish = {.names = true}}},
		{"unwind", {.wish = {.names = true, .unwind = true}, .lines_elsewhere = true}},
		{"all", {.wish = {.names = true, .unwind = true}, .unsampled = true}},
		{"lines", {.wish = {.names = true, .unwind = true, .lines = true}}},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		uint64_t limit = options->embed.limit;

		if (strcmp(text, words[i].word) != 0)
			continue;
		options->embed = words[i].what;
		options->embed.limit = limit;
		return NULL;
	}
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "--embed: '%s' is not known", text),
			     "known are none, symbols, unwind, all and lines");
}

static struct mt_error *parse_control(const char *text, struct mt_record_options *options)
{
	if (strncmp(text, "fifo:", 5) && strncmp(text, "fd:", 3))
		return mt_error_hint(
			mt_error_create(MT_ERR_USAGE,
					"--control: '%s' is neither fifo: nor fd:", text),
			"write fifo:CTL or fifo:CTL,ACK (names of FIFOs), or fd:N or "
			"fd:N,M (open descriptors)");
	options->control = text;
	return NULL;
}

static struct mt_error *parse_level(const char *text, struct mt_record_options *options)
{
	bool negative = *text == '-';
	uint64_t level = 0;

	if (!mt_parse_u64(text + negative, &level) || level > (negative ? -LEVEL_MIN : LEVEL_MAX))
		return usage_error(mt_error_create(MT_ERR_USAGE,
						   "-z: '%s' is not a number from %d to %d", text,
						   LEVEL_MIN, LEVEL_MAX));
	options->level = negative ? -(int)level : (int)level;
	return NULL;
}

/* Parses options that only set a flag. */
static bool parse_flag(int key, struct mt_record_options *options)
{
	switch (key) {
	case 'a':
		options->all_cpus = true;
		return true;
	case 'g':
		if (options->call_graph == MT_GRAPH_NONE)
			(void)!parse_call_graph("dwarf", options);
		return true;
	case 'i':
		options->no_inherit = true;
		return true;
	case MT_OPT_CHILDREN:
		options->children = true;
		return true;
	case MT_OPT_ALL_USER:
		options->all_user = true;
		return true;
	case MT_OPT_ALL_KERNEL:
		options->all_kernel = true;
		return true;
	case MT_OPT_NO_PREFAULT:
		options->no_prefault = true;
		return true;
	case MT_OPT_NO_SEEDS:
		options->no_seeds = true;
		return true;
	case MT_OPT_STATS:
		options->stats = true;
		return true;
	case MT_OPT_STRIP:
		options->strip = true;
		return true;
	case 'q':
		options->quiet = true;
		return true;
	case 'v':
		options->verbose++;
		return true;
	case MT_OPT_STAT:
		options->action = MT_ACTION_COUNT;
		return true;
	case MT_OPT_CHECK:
		options->action = MT_ACTION_CHECK;
		return true;
	case MT_OPT_CLEAN:
		options->action = MT_ACTION_CLEAN;
		return true;
	case MT_OPT_VERSION:
		options->action = MT_ACTION_VERSION;
		return true;
	default:
		return false;
	}
}

static struct mt_error *parse_gauges(const char *text, struct mt_record_options *options)
{
	options->gauges = 0;
	if (!strcmp(text, "none"))
		return NULL;
	return usage_error(mt_parse_duration("--gauges", text, &options->gauges));
}

/* Parses options that limit what is recorded, or how long. */
static struct mt_error *parse_limit(int key, const char *text, struct mt_record_options *options)
{
	switch (key) {
	case MT_OPT_FILTER:
		return parse_filter(text, options);
	case MT_OPT_COMM:
		options->comm = text;
		return NULL;
	case 'u':
		options->user = text;
		return NULL;
	case 'G':
		options->cgroup = text;
		return NULL;
	case MT_OPT_DURATION:
		return usage_error(mt_parse_duration("--duration", text, &options->duration));
	case MT_OPT_GAUGES:
		return parse_gauges(text, options);
	case 'D':
		return parse_delay(text, options);
	case MT_OPT_CONTROL:
		return parse_control(text, options);
	case MT_OPT_EMBED:
		return parse_embed(text, options);
	case MT_OPT_EMBED_LIMIT:
		return usage_error(mt_parse_size("--embed-limit", text, 1, EMBED_LIMIT_MIN,
						 MAX_SIZE_MAX, &options->embed.limit));
	case MT_OPT_MAX_SIZE:
		return usage_error(mt_parse_size("--max-size", text, 1, MAX_SIZE_MIN, MAX_SIZE_MAX,
						 &options->max_size));
	default:
		return parse_memory(text, options);
	}
}

/* -k: accepts perf's names of the only clock. */
static struct mt_error *check_clock(const char *name)
{
	static const char *const names[] = {"mono", "monotonic", "CLOCK_MONOTONIC", "1"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(name, names[i]))
			return NULL;
	}
	return mt_error_create(
		MT_ERR_USAGE,
		"-k '%s' is refused: times are CLOCK_MONOTONIC (mono); mtreport --info has "
		"the start in UTC",
		name);
}

static const struct mt_option_row *find_row(int key)
{
	for (size_t i = 0; i < MT_OPTION_ROWS; i++) {
		if (mt_option_rows[i].key == key && !mt_option_rows[i].heading)
			return &mt_option_rows[i];
	}
	return NULL;
}

/* -x: accepts perf's spelling of a tab, too. */
static struct mt_error *parse_separator(const char *text, struct mt_record_options *options)
{
	if (!*text)
		return usage_error(mt_error_create(MT_ERR_USAGE, "-x: empty separator"));
	options->separator = strcmp(text, "\\t") ? text : "\t";
	return NULL;
}

static struct mt_error *parse_interval(const char *text, struct mt_record_options *options)
{
	uint64_t ms = 0;
	struct mt_error *err = parse_number("-I", text, INTERVAL_MIN_MS, INT32_MAX, &ms);

	options->interval = ms * 1000000;
	return err;
}

static struct mt_error *parse_one(int key, const char *text, struct mt_record_options *options)
{
	const struct mt_option_row *row = find_row(key);

	if (row->use == MT_OPTION_INSTEAD)
		return key < MT_OPT_CALL_GRAPH
			       ? mt_error_create(MT_ERR_USAGE, "-%c is perf's; here %s", key,
						 row->help)
			       : mt_error_create(MT_ERR_USAGE, "--%s is perf's; here %s", row->name,
						 row->help);
	if (row->use == MT_OPTION_HELD || parse_flag(key, options))
		return NULL;
	switch (key) {
	case MT_OPT_TRACEPOINT_IDS:
		options->tracepoint_ids = text;
		return NULL;
	case 'h':
		options->action = MT_ACTION_HELP;
		options->help_topic = text;
		return NULL;
	case MT_OPT_LIST:
		options->action = MT_ACTION_LIST;
		options->list_pattern = text;
		return NULL;
	case 'e':
		return parse_event(text, options);
	case 'C':
		return usage_error(mt_parse_list("-C", text, MT_CPU_MAX, &options->cpus));
	case 'p':
		return usage_error(mt_parse_list("-p", text, INT_MAX, &options->pids));
	case 't':
		return usage_error(mt_parse_list("-t", text, INT_MAX, &options->tids));
	case 'o':
		options->output = text;
		return NULL;
	case 'c':
		return parse_number("-c", text, 1, INT64_MAX, &options->period);
	case 'F':
		return parse_frequency(text, options);
	case MT_OPT_CALL_GRAPH:
		return parse_call_graph(text, options);
	case 'k':
		return check_clock(text);
	case 'I':
		return parse_interval(text, options);
	case 'x':
		return parse_separator(text, options);
	case 'm':
		return usage_error(mt_parse_ring_size(text, &options->ring_size));
	case MT_OPT_BUDGET:
		return parse_budget(text, options);
	case MT_OPT_MAX_RATE:
		return parse_number("--max-rate", text, 1, INT32_MAX, &options->max_rate);
	case MT_OPT_MALLOC_SAMPLE:
		return parse_malloc_sample(text, options);
	case MT_OPT_ALLOC_FUNCTION:
	case MT_OPT_FREE_FUNCTION:
		return parse_custom_function(text, key == MT_OPT_FREE_FUNCTION, options);
	case MT_OPT_MALLOC_SIZE:
		return parse_malloc_size(text, options);
	case 'z':
		return parse_level(text, options);
	default:
		return parse_limit(key, text, options);
	}
}

/* Fills getopt's lists: letters (at most 2 bytes a row and 3) and long names. */
static void fill_options(char *letters, struct option *longs)
{
	size_t n = 0;

	letters = stpcpy(letters, "+:"); /* '+': stop at the command, which has its own options */
	for (size_t i = 0; i < MT_OPTION_ROWS; i++) {
		const char *argument = mt_option_rows[i].argument;
		int key = mt_option_rows[i].key;
		int takes = !argument		 ? no_argument
			    : argument[0] == '[' ? optional_argument
						 : required_argument;

		if (mt_option_rows[i].name)
			longs[n++] = (struct option){mt_option_rows[i].name, takes, NULL, key};
		if (!key || key >= 256)
			continue;
		*letters++ = (char)key;
		if (takes == required_argument)
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
 * Explains an error of getopt. optopt is the option's letter, or its key if it has an unexpected
 * argument, or 0 for a long name that is unknown or ambiguous.
 */
static struct mt_error *unknown_option(const char *word)
{
	MT_CLEANUP_FREE char *names = NULL;

	for (size_t i = 0; optopt && i < MT_OPTION_ROWS; i++) {
		if (mt_option_rows[i].key == optopt)
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

/* --help takes its topic from the text after '=', or from the next word. */
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
	char letters[2 * MT_OPTION_ROWS + 3];
	const struct mt_option_row *other = NULL; /* first option that --stat does not accept */
	struct mt_error *err;
	int key;

	fill_options(letters, longs);
	while ((key = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (key == '?' || key == ':')
			return usage_error(key == '?' ? unknown_option(argv[optind - 1])
						      : missing_argument(argv[optind - 1]));
		err = parse_one(key, optarg, options);
		if (err)
			return err;
		if (!other && !mt_option_is_for_counting(find_row(key)))
			other = find_row(key);
	}
	return usage_error(mt_options_check_counting(options, other));
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
	if (argc > 1 && !strcmp(argv[1], "record")) { /* as perf record; getopt begins at 1 */
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
	return measures(options) ? usage_error(mt_options_check(options)) : NULL;
}

static struct mt_error *set_defaults(struct mt_record_options *options)
{
	bool given = options->events.count || options->custom_allocs.count ||
		     options->custom_frees.count;
	const char **slot = given ? NULL : mt_array_push(&options->events);

	if (options->action == MT_ACTION_RECORD && !options->output)
		options->output = MT_DEFAULT_OUTPUT;
	if (slot)
		*slot = MT_DEFAULT_EVENTS;
	return given || slot ? NULL : mt_error_nomem();
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
		.dump_size = DEFAULT_DUMP,
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
