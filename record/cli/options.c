/*
 * mtrec's command line: one table of options from which parsing and --help come. Long names are
 * perf's.
 */
#include "record/cli/options.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/nearest.h"
#include "record/plan/branch_filter.h"

#define DEFAULT_OUTPUT "mtrec.mtr"
#define DEFAULT_DUMP 16384
#define BESIDE_DUMP 4096 /* of a sample: callchain, registers, a tracepoint's fields */
#define DUMP_MAX 65528	 /* a sample's size is a u16, and the kernel wants a multiple of 8 */
#define LEVEL_MIN (-7)
#define LEVEL_MAX 22
#define MAX_SIZE_MIN ((uint64_t)1 << 20)
#define MAX_SIZE_MAX ((uint64_t)1 << 60)
#define DEFAULT_GAUGES 1000000000ull /* ns */
#define EMBED_LIMIT_MIN ((uint64_t)1 << 10)
#define EMBED_LIMIT ((uint64_t)64 << 20)
#define MEMORY_MIN ((uint64_t)16 << 20)
#define MEMORY_MAX ((uint64_t)1 << 40)
#define SHORT_OPTIONS                                                                        \
	"+:e:aC:p:t:u:G:iD:o:c:F:gbj:m:z:qvh" /* '+': the command's own options are not ours \
					       */

enum long_only {
	OPT_CALL_GRAPH = 256,
	OPT_BUDGET,
	OPT_NO_HEAL,
	OPT_NO_SEEDS,
	OPT_MAX_RATE,
	OPT_FILTER,
	OPT_COMM,
	OPT_DURATION,
	OPT_GAUGES,
	OPT_CONTROL,
	OPT_MAX_SIZE,
	OPT_MEMORY,
	OPT_STATS,
	OPT_EMBED,
	OPT_EMBED_LIMIT,
	OPT_STRIP,
	OPT_LIST,
	OPT_CHECK,
	OPT_TRACEPOINT_IDS,
	OPT_VERSION,
};

struct option_row {
	int key; /* the short option, or one of long_only */
	const char *name;
	const char *argument; /* NULL: takes none */
	const char *help;
};

static const struct option_row rows[] = {
	{'e', "event", "EVENT[,EVENT]", "what to record (repeatable), tracepoints also by pattern"},
	{OPT_FILTER, "filter", "EXPR",
	 "of the tracepoint before it only those: 'ret > 0', 'len > 4096'"},
	{'a', "all-cpus", NULL, "every process on the host"},
	{0, NULL, NULL, "with syscalls, every call on the host costs more: see mtrec(1)"},
	{'C', "cpu", "LIST", "every process, on these CPUs only: 0,2-3"},
	{'p', "pid", "LIST", "these running processes: all threads, and children to come"},
	{'t', "tid", "LIST", "these running threads, and children to come"},
	{'u', "uid", "USER", "this user's processes, new ones too: a name or a number"},
	{'G', "cgroup", "CGROUP", "the processes of this cgroup, new ones too"},
	{OPT_COMM, "comm", "REGEX", "of those only threads whose name matches"},
	{'i', "no-inherit", NULL, "no children: only the processes and threads themselves"},
	{OPT_DURATION, "duration", "TIME", "record for so long: 10s, 500ms, 2m, 1h"},
	{OPT_GAUGES, "gauges", "TIME|none",
	 "read sizes from /proc that often (1s); none: only at start and end"},
	{'D', "delay", "MS", "start the events so much later; -1: --control starts them"},
	{OPT_CONTROL, "control", "fifo:CTL[,ACK]",
	 "take enable, disable, ping and stop from a FIFO (or fd:N[,M])"},
	{'o', "output", "FILE", "where to write (" DEFAULT_OUTPUT "); - is standard output"},
	{'c', "count", "N", "one sample every N events (1 for faults and tracepoints)"},
	{'F', "freq", "HZ|max", "samples a second, for clock and hardware events (1000)"},
	{'g', NULL, NULL, "record call stacks: the default, --call-graph dwarf"},
	{OPT_CALL_GRAPH, "call-graph", "METHOD",
	 "dwarf[,SIZE]: raw stacks of up to SIZE bytes (dwarf,16384);"},
	{0, NULL, NULL, "fp: frame pointers only; lbr: the hardware's call stack; none"},
	{OPT_NO_HEAL, "no-heal", NULL, "never read a byte of a stack page that ends dumps"},
	{OPT_NO_SEEDS, "no-seeds", NULL, "no rare larger dumps beside a storm's small ones"},
	{'b', "branch-any", NULL, "branch records with hardware events: -j any"},
	{'j', "branch-filter", "FILTER", "of branches only those: any, any_call, ind_call, u, ..."},
	{'m', "mmap-pages", "PAGES|SIZE",
	 "ring buffer a CPU: pages, or bytes with K, M or G (8M or 16M)"},
	{'z', "compression-level", "LEVEL", "zstd level -7 to 22, 0 stores (-1)"},
	{OPT_BUDGET, "budget", "PCT",
	 "thin events so that recording costs at most PCT % of one "
	 "CPU"},
	{OPT_MAX_RATE, "max-rate", "N", "thin events to at most N samples a second each"},
	{OPT_MAX_SIZE, "max-size", "SIZE", "stop before the file is larger: 500M, 2G"},
	{OPT_MEMORY, "memory", "MiB",
	 "the recorder's own memory beside the rings (64, with --strip 160)"},
	{OPT_EMBED, "embed", "WHAT",
	 "carry of programs run: none, symbols, unwind (both), all, lines"},
	{OPT_EMBED_LIMIT, "embed-limit", "SIZE", "carry at most that much, compressed (64M)"},
	{OPT_STRIP, "strip", NULL, "unwind now and write the frames of stacks, never their bytes"},
	{OPT_STATS, "stats", NULL, "at the end, a table of what each stage did"},
	{'q', "quiet", NULL, "no closing line and no notes"},
	{'v', "verbose", NULL, "say what is opened and how; twice: every attribute"},
	{OPT_CHECK, "check", NULL, "what this host allows, what the rest costs and needs"},
	{OPT_TRACEPOINT_IDS, "tracepoint-ids", "FILE",
	 "ids where tracefs is closed to us; with --check: write them"},
	{OPT_LIST, "list", "[PATTERN]", "list the events that match PATTERN, tracepoints too"},
	{OPT_VERSION, "version", NULL, "print the version"},
	{'h', "help", NULL, "print this help"},
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static void help_row(const struct option_row *row, FILE *to)
{
	char left[64];
	char shorts[4] = "  ";

	if (row->key && row->key < 256)
		snprintf(shorts, sizeof(shorts), "-%c", row->key);
	snprintf(left, sizeof(left), "%s%s%s%s%s%s", shorts,
		 row->name && row->key < 256 ? "," : " ", row->name ? " --" : "",
		 row->name ? row->name : "", row->argument ? " " : "",
		 row->argument ? row->argument : "");
	fprintf(to, "  %-31s %s\n", left, row->help);
}

void mt_record_options_help(FILE *to)
{
	fputs("mtrec records what makes memory grow: brk, mmap, page faults, with raw user "
	      "stacks.\n\n"
	      "usage: mtrec -e EVENT [options] -a | -u USER | -G CGROUP [-- COMMAND [ARG...]]\n"
	      "       mtrec -e EVENT [options] -p PID | -t TID [-- COMMAND [ARG...]]\n"
	      "       mtrec -e EVENT [options] [--] COMMAND [ARG...]\n"
	      "       mtrec --list [PATTERN]\n"
	      "       mtrec --check [--tracepoint-ids FILE]\n\n"
	      "It records until COMMAND ends, the targets are gone, --duration is over, or SIGINT "
	      "or\nSIGTERM comes.\n\n",
	      to);
	for (size_t i = 0; i < ROW_COUNT; i++)
		help_row(&rows[i], to);
	fputs("\nexamples:\n"
	      "  mtrec -e brk,page-faults -a -- sleep 30\n"
	      "  mtrec -e page-faults -p $(pidof mysqld) -o faults.mtr\n"
	      "  mtrec -e mmap,munmap,brk -o - ./server | ssh host 'cat > server.mtr'\n\n"
	      "exit status: without a command 0 recorded, 2 usage, 3 cannot record, 4 recorded "
	      "nothing,\n"
	      "5 output failed. With a command its own status, 128 + n if signal n ended it, 125 "
	      "if mtrec\n"
	      "failed (2 for usage), 126 if the command cannot be run, 127 if it is not found.\n",
	      to);
}

static struct mt_error *usage_error(struct mt_error *err)
{
	return !err || err->hint ? err : mt_error_hint(err, "mtrec --help lists the options");
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

/* "1%", "0.5": more than nothing, and no more than a machine may have. */
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

/* Applies to the last event of the last -e. */
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
	slot->event = strrchr(events, ',') ? strrchr(events, ',') + 1 : events;
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
		{"unwind", {.wish = {.names = true, .unwind = true}}},
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

/* The options that only set a flag. */
static bool parse_flag(int key, struct mt_record_options *options)
{
	switch (key) {
	case 'a':
		options->all_cpus = true;
		return true;
	case 'b':
		(void)!mt_parse_branches("any", &options->branch_type);
		return true;
	case 'g':
		if (options->call_graph == MT_GRAPH_NONE)
			(void)!parse_call_graph("dwarf", options);
		return true;
	case 'i':
		options->no_inherit = true;
		return true;
	case OPT_NO_HEAL:
		options->no_heal = true;
		return true;
	case OPT_NO_SEEDS:
		options->no_seeds = true;
		return true;
	case OPT_STATS:
		options->stats = true;
		return true;
	case OPT_STRIP:
		options->strip = true;
		return true;
	case 'q':
		options->quiet = true;
		return true;
	case 'v':
		options->verbose++;
		return true;
	case 'h':
		options->action = MT_ACTION_HELP;
		return true;
	case OPT_CHECK:
		options->action = MT_ACTION_CHECK;
		return true;
	case OPT_VERSION:
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

/* The options that limit what is recorded, or for how long. */
static struct mt_error *parse_limit(int key, const char *text, struct mt_record_options *options)
{
	switch (key) {
	case OPT_FILTER:
		return parse_filter(text, options);
	case OPT_COMM:
		options->comm = text;
		return NULL;
	case 'u':
		options->user = text;
		return NULL;
	case 'G':
		options->cgroup = text;
		return NULL;
	case OPT_DURATION:
		return usage_error(mt_parse_duration("--duration", text, &options->duration));
	case OPT_GAUGES:
		return parse_gauges(text, options);
	case 'D':
		return parse_delay(text, options);
	case OPT_CONTROL:
		return parse_control(text, options);
	case OPT_EMBED:
		return parse_embed(text, options);
	case OPT_EMBED_LIMIT:
		return usage_error(mt_parse_size("--embed-limit", text, 1, EMBED_LIMIT_MIN,
						 MAX_SIZE_MAX, &options->embed.limit));
	case OPT_MAX_SIZE:
		return usage_error(mt_parse_size("--max-size", text, 1, MAX_SIZE_MIN, MAX_SIZE_MAX,
						 &options->max_size));
	default:
		return parse_memory(text, options);
	}
}

static struct mt_error *parse_one(int key, const char *text, struct mt_record_options *options)
{
	if (parse_flag(key, options))
		return NULL;
	switch (key) {
	case OPT_TRACEPOINT_IDS:
		options->tracepoint_ids = text;
		return NULL;
	case OPT_LIST:
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
	case 'j':
		return mt_parse_branches(text, &options->branch_type);
	case OPT_CALL_GRAPH:
		return parse_call_graph(text, options);
	case 'm':
		return usage_error(mt_parse_ring_size(text, &options->ring_size));
	case OPT_BUDGET:
		return parse_budget(text, options);
	case OPT_MAX_RATE:
		return parse_number("--max-rate", text, 1, INT32_MAX, &options->max_rate);
	case 'z':
		return parse_level(text, options);
	default:
		return parse_limit(key, text, options);
	}
}

static void fill_long_options(struct option *longs)
{
	size_t n = 0;

	for (size_t i = 0; i < ROW_COUNT; i++) {
		const char *argument = rows[i].argument;
		int takes = !argument		 ? no_argument
			    : argument[0] == '[' ? optional_argument
						 : required_argument;

		if (rows[i].name)
			longs[n++] = (struct option){rows[i].name, takes, NULL, rows[i].key};
	}
	longs[n] = (struct option){0};
}

/* A ring that has no room for one whole sample records nothing, however few there are. */
static struct mt_error *check_ring(const struct mt_record_options *options)
{
	size_t least =
		(options->call_graph == MT_GRAPH_DWARF ? options->dump_size : 0) + BESIDE_DUMP;
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

/* What is wrong with the choice of targets; NULL: nothing. */
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

static struct mt_error *check_together(const struct mt_record_options *options)
{
	const char *what = NULL;

	if (!options->events.count)
		what = "no event: -e says what to record";
	else if (bad_targets(options))
		what = bad_targets(options);
	else if (options->period && options->frequency)
		what = "-c and -F exclude each other";
	else if (options->branch_type && options->call_graph == MT_GRAPH_LBR)
		what = "--call-graph lbr takes the branch records for itself: -b and -j do not go "
		       "with it";
	else if (options->start_disabled && !options->control)
		what = "-D -1 starts nothing by itself: it wants --control";
	else if (!*options->output)
		what = "-o: empty file name";
	else if (options->command && !*options->command[0])
		what = "the name of the command is empty";
	return what ? usage_error(mt_error_create(MT_ERR_USAGE, "%s", what)) : check_ring(options);
}

/*
 * "--cpu, --count or --call-graph": the long names that begin as the word does; NULL for
 * none.
 */
static char *candidates(const char *word)
{
	size_t length = strcspn(word, "="), size, count = 0;
	const char *names[ROW_COUNT];
	char *text = NULL;
	FILE *out;

	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (rows[i].name && length > 2 && !strncmp(rows[i].name, word + 2, length - 2))
			names[count++] = rows[i].name;
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

	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (rows[i].name)
			mt_nearest_offer(&nearest, rows[i].name);
	}
	return nearest.best ? mt_error_hint(err, "did you mean --%s? all options: mtrec --help",
					    nearest.best)
			    : err;
}

/*
 * getopt knows the option by optopt: its letter, its key where it got an argument that it
 * does not take, 0 for a long name that is unknown or not clear.
 */
static struct mt_error *unknown_option(const char *word)
{
	MT_CLEANUP_FREE char *names = NULL;

	for (size_t i = 0; optopt && i < ROW_COUNT; i++) {
		if (rows[i].key == optopt)
			return mt_error_create(MT_ERR_USAGE, "option '--%s' takes no argument",
					       rows[i].name);
	}
	if (optopt)
		return mt_error_create(MT_ERR_USAGE, "unknown option '-%c'", optopt);
	names = candidates(word);
	if (names)
		return mt_error_create(MT_ERR_USAGE, "option '%s' could be %s", word, names);
	return hint_meant(mt_error_create(MT_ERR_USAGE, "unknown option '%s'", word), word);
}

static struct mt_error *parse_all(int argc, char **argv, struct mt_record_options *options)
{
	struct option longs[ROW_COUNT + 1];
	struct mt_error *err;
	int key;

	fill_long_options(longs);
	optind = 0;
	opterr = 0;
	while ((key = getopt_long(argc, argv, SHORT_OPTIONS, longs, NULL)) != -1) {
		if (key == '?' || key == ':')
			return usage_error(key == '?' ? unknown_option(argv[optind - 1])
						      : missing_argument(argv[optind - 1]));
		err = parse_one(key, optarg, options);
		if (err)
			return err;
	}
	if (options->action == MT_ACTION_LIST) {
		if (!options->list_pattern && optind < argc)
			options->list_pattern = argv[optind++];
		return optind == argc ? NULL
				      : usage_error(mt_error_create(MT_ERR_USAGE,
								    "--list takes one pattern"));
	}
	if (options->action == MT_ACTION_CHECK && optind < argc)
		return usage_error(mt_error_create(MT_ERR_USAGE, "--check runs no command: '%s'",
						   argv[optind]));
	options->command = optind < argc ? argv + optind : NULL;
	return options->action == MT_ACTION_RECORD ? check_together(options) : NULL;
}

void mt_record_options_deinit(struct mt_record_options *options)
{
	mt_array_deinit(&options->events);
	mt_array_deinit(&options->filters);
	mt_array_deinit(&options->cpus);
	mt_array_deinit(&options->pids);
	mt_array_deinit(&options->tids);
}

struct mt_error *mt_record_options_parse(int argc, char **argv, struct mt_record_options *out)
{
	struct mt_record_options options = {
		.output = DEFAULT_OUTPUT,
		.call_graph = MT_GRAPH_DWARF,
		.dump_size = DEFAULT_DUMP,
		.gauges = DEFAULT_GAUGES,
		.level = -1,
		.embed = {.wish = {.names = true, .unwind = true}, .limit = EMBED_LIMIT},
	};
	struct mt_error *err = parse_all(argc, argv, &options);

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
