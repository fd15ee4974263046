/* The rows of the table, most used group first; the functions that store values; and --help. */
#include "record/cli/option_rows.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/help_row.h"
#include "formats/records/address_sample.h"
#include "record/allocators/allocators.h"
#include "record/cli/options.h"

#define DUMP_MAX 65528 /* a sample's size is a u16, and the kernel requires a multiple of 8 */
#define LEVEL_MIN (-7)
#define LEVEL_MAX 22
#define MAX_SIZE_MIN ((uint64_t)1 << 20)
#define MAX_SIZE_MAX ((uint64_t)1 << 60)
#define EMBED_LIMIT_MIN ((uint64_t)1 << 10)
#define MEMORY_MIN ((uint64_t)16 << 20)
#define MEMORY_MAX ((uint64_t)1 << 40)
#define INTERVAL_MIN_MS 10

static struct mt_error *parse_call_graph(const char *text, struct mt_record_options *options)
{
	uint64_t size = MT_DEFAULT_DUMP;

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
	return mt_error_create(MT_ERR_USAGE, "%s: '%s' is not a number from %llu to %llu", option,
			       text, (unsigned long long)low, (unsigned long long)high);
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
	return mt_array_append(&options->events, text) ? NULL : mt_error_nomem();
}

/* Parses "1%" or "0.5". The maximum is 10,000 CPUs. */
static struct mt_error *parse_budget(const char *text, struct mt_record_options *options)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%")) || !(percent > 0) || percent > 1e6)
		return mt_error_create(MT_ERR_USAGE,
				       "--budget: '%s' is not a share "
				       "of a CPU like 1%%",
				       text);
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
		return mt_error_create(MT_ERR_USAGE,
				       "--malloc-sample: '%s' is neither auto nor all nor "
				       "a number like 64, for 1 in 64 blocks",
				       text);
	options->malloc_sample = mt_one_in_round(one_in);
	return NULL;
}

static struct mt_error *parse_custom_function(const char *text, bool frees,
					      struct mt_record_options *options)
{
	MT_CLEANUP(mt_custom_function_deinit) struct mt_custom_function own = {0};
	struct mt_error *err = mt_custom_function_parse(text, frees, &own);

	if (err)
		return err;
	return (frees ? mt_array_append(&options->custom_frees, text)
		      : mt_array_append(&options->custom_allocs, text))
		       ? NULL
		       : mt_error_nomem();
}

static struct mt_error *parse_alloc_function(const char *text, struct mt_record_options *options)
{
	return parse_custom_function(text, false, options);
}

static struct mt_error *parse_free_function(const char *text, struct mt_record_options *options)
{
	return parse_custom_function(text, true, options);
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
		return mt_error_create(MT_ERR_USAGE,
				       "--malloc-size: '%s' is not a range of bytes "
				       "like 4K-64K, or 1M- for 1M and more",
				       text);
	options->malloc_least = least;
	options->malloc_most = most;
	return NULL;
}

/* Adds a filter for the last event of the last -e. */
static struct mt_error *parse_filter(const char *text, struct mt_record_options *options)
{
	const char *events =
		options->events.count ? options->events.items[options->events.count - 1] : NULL;

	if (!events)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "--filter: no event stands before it"),
				     "give the tracepoint first: -e sched:sched_switch --filter "
				     "'prev_prio < 100'");
	if (!text[strspn(text, " \t")])
		return mt_error_create(MT_ERR_USAGE, "--filter: empty expression");
	return mt_array_append(&options->filters, (struct mt_filter_option){events, text})
		       ? NULL
		       : mt_error_nomem();
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
		return mt_error_create(MT_ERR_USAGE, "-z: '%s' is not a number from %d to %d", text,
				       LEVEL_MIN, LEVEL_MAX);
	options->level = negative ? -(int)level : (int)level;
	return NULL;
}

static struct mt_error *parse_gauges(const char *text, struct mt_record_options *options)
{
	options->gauges = 0;
	if (!strcmp(text, "none"))
		return NULL;
	return mt_parse_duration("--gauges", text, &options->gauges);
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

/* -x: accepts perf's spelling of a tab, too. */
static struct mt_error *parse_separator(const char *text, struct mt_record_options *options)
{
	if (!*text)
		return mt_error_create(MT_ERR_USAGE, "-x: empty separator");
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

static struct mt_error *parse_ring_size(const char *text, struct mt_record_options *options)
{
	return mt_parse_ring_size(text, &options->ring_size);
}

static struct mt_error *ask_for_stacks(const char *text, struct mt_record_options *options)
{
	(void)text;
	return options->call_graph == MT_GRAPH_NONE ? parse_call_graph("dwarf", options) : NULL;
}

static struct mt_error *add_verbosity(const char *text, struct mt_record_options *options)
{
	(void)text;
	options->verbose++;
	return NULL;
}

static struct mt_error *ask_for_help(const char *text, struct mt_record_options *options)
{
	options->action = MT_ACTION_HELP;
	options->help_topic = text;
	return NULL;
}

static struct mt_error *ask_for_list(const char *text, struct mt_record_options *options)
{
	options->action = MT_ACTION_LIST;
	options->list_pattern = text;
	return NULL;
}

/* Where the value of an option is stored, its range, or the function that stores it. */
#define AT(kind_, field) \
	.kind = MT_OPTION_##kind_, .offset = offsetof(struct mt_record_options, field)
#define FLAG(field) AT(FLAG, field)
#define TEXT(field) AT(TEXT, field)
#define TIME(field) AT(TIME, field)
#define LIST(field, high) AT(LIST, field), .most = (high)
#define NUMBER(field, low, high) AT(NUMBER, field), .least = (low), .most = (high)
#define SIZE(field, unit_, low, high) \
	AT(SIZE, field), .unit = (unit_), .least = (low), .most = (high)
#define ACTION(action_) .kind = MT_OPTION_ACTION, .action = MT_ACTION_##action_
#define SET(function) .kind = MT_OPTION_SET, .set = function
#define NOT_COUNTED .is_of_recordings = true

/*
 * A text for each kind of --help, one text for both, or one text only for --help all. Options of
 * perf that mtrec does not need have only a text for --help all.
 */
#define BOTH(brief_, help_) .brief = brief_, .help = help_
#define COMMON(text) BOTH(text, text)
#define RARE(text) .help = text
#define HELD(text) .kind = MT_OPTION_HELD, .help = text
#define INSTEAD(text) .kind = MT_OPTION_INSTEAD, .help = text

const struct mt_option_row mt_option_rows[MT_OPTION_ROWS] = {
	{.heading = "Events, what to record"},
	{'e', "event", "EVENT,...", SET(parse_event),
	 BOTH("brk, 'sched:*', u:libc:malloc (repeatable; default: " MT_DEFAULT_EVENTS ")",
	      "events: alias (brk), group (vm, rss), malloc (blocks of the targets' "
	      "allocators), tracepoint or pattern ('sched:*'), perf's "
	      "name, raw (r1a8) or of a PMU; probes: u:PATH:SYMBOL[+OFFSET], ur: (returns), "
	      "usdt:PATH:PROVIDER:NAME, k:FUNCTION, kr:, each with (NAME=arg1,...); repeatable; "
	      "default: " MT_DEFAULT_EVENTS)},
	{0, "list", "[PATTERN]", SET(ask_for_list),
	 BOTH("print the events, and what this host has of each",
	      "print the events, or those matching: what this host has of each and why not all, "
	      "its cost, the report that reads it; usdt with -p: the static probes of what the "
	      "process maps")},
	{0, "check", NULL, ACTION(CHECK),
	 BOTH("print what this host allows, and what is missing",
	      "print what this host allows; for what is missing, what that costs a recording and "
	      "what would allow it")},
	{0, "clean", NULL, ACTION(CLEAN),
	 RARE("remove the probes of recorders that were killed, as the next recording does")},
	{0, "filter", "EXPR", SET(parse_filter),
	 COMMON("filter the tracepoint before it: 'ret > 0'")},
	{0, "alloc-function", "NAME(size=ARG)", SET(parse_alloc_function),
	 RARE("record blocks of a program's own function, too; these alone without -e: "
	      "'pool_alloc(size=arg2)', 'PATH:NAME(size=arg2,count=arg1)', 'cell_alloc(size=64)'; "
	      "repeatable")},
	{0, "free-function", "NAME(ptr=ARG)", SET(parse_free_function),
	 RARE("and this one frees them: 'pool_free(ptr=arg2)'; repeatable")},
	{0, "tracepoint-ids", "FILE", TEXT(tracepoint_ids),
	 RARE("take tracepoint ids from FILE where tracefs cannot be read; with --check: write "
	      "FILE")},

	{.heading = "Targets, whom to record"},
	{'a', "all-cpus", NULL, FLAG(all_cpus),
	 BOTH("every process on the host",
	      "every process on the host; while a syscall event is open, every system call on "
	      "the host takes some 0.1 us longer")},
	{'p', "pid", "LIST", LIST(pids, INT_MAX),
	 COMMON("these processes: all threads, and children to come")},
	{0, "children", NULL, FLAG(children),
	 COMMON("with -p: their children that run already, too")},
	{'t', "tid", "LIST", LIST(tids, INT_MAX), COMMON("these threads, and children to come")},
	{'u', "uid", "USER", NOT_COUNTED, TEXT(user),
	 COMMON("this user's processes, new ones too (name or number)")},
	{'G', "cgroup", "CGROUP", TEXT(cgroup),
	 COMMON("the processes of this cgroup, new ones too")},
	{0, "comm", "REGEX", NOT_COUNTED, TEXT(comm),
	 COMMON("of these only threads whose name matches")},
	{'C', "cpu", "LIST", LIST(cpus, MT_CPU_MAX),
	 RARE("every process, on these CPUs only: 0,2-3")},
	{'i', "no-inherit", NULL, FLAG(no_inherit),
	 RARE("no children, only the given processes and threads")},

	{.heading = "Output"},
	{'o', "output", "FILE", TEXT(output),
	 BOTH("write to FILE (" MT_DEFAULT_OUTPUT "), - is standard output",
	      "write to FILE (" MT_DEFAULT_OUTPUT
	      "), an existing one becomes FILE.old; - is standard "
	      "output")},
	{0, "strip", NULL, NOT_COUNTED, FLAG(strip),
	 BOTH("write frames, never raw bytes of stacks",
	      "unwind while recording and write frames; no raw bytes of stacks reach the file")},
	{0, "max-size", "SIZE", NOT_COUNTED, SIZE(max_size, 1, MAX_SIZE_MIN, MAX_SIZE_MAX),
	 COMMON("stop before the file is larger: 500M, 2G")},
	{'z', "compression-level", "LEVEL", NOT_COUNTED, SET(parse_level),
	 RARE("zstd level, -7 to 22 (-1); 0: none")},
	{0, "embed", "WHAT", NOT_COUNTED, SET(parse_embed),
	 RARE("what to carry of the images that ran: none, symbols, unwind (names and unwind "
	      "tables, the default), lines (also debug information), all (also images that no "
	      "sample met)")},
	{0, "embed-limit", "SIZE", NOT_COUNTED, SIZE(embed.limit, 1, EMBED_LIMIT_MIN, MAX_SIZE_MAX),
	 RARE("carry at most SIZE of images, compressed (64M)")},
	{'q', "quiet", NULL, FLAG(quiet), RARE("print errors only")},
	{'v', "verbose", NULL, SET(add_verbosity),
	 RARE("print what is opened, and what the kernel refused; twice: every attribute")},

	{.heading = "Time, when to record"},
	{0, "duration", "TIME", TIME(duration), COMMON("record that long: 10s, 500ms, 2m, 1h")},
	{0, "gauges", "TIME|none", NOT_COUNTED, SET(parse_gauges),
	 RARE("read sizes from /proc that often (1s); none: only at start and end")},
	{'D', "delay", "MS", SET(parse_delay),
	 RARE("start the events MS milliseconds later; -1: --control starts them")},
	{0, "control", "fifo:CTL[,ACK]", SET(parse_control),
	 RARE("take enable, disable, ping and stop from a FIFO, or from a descriptor: fd:N[,M]")},

	{.heading = "Samples and stacks"},
	{'c', "count", "N", NOT_COUNTED, NUMBER(period, 1, INT64_MAX),
	 COMMON("a sample every N events (1: faults, tracepoints)")},
	{'F', "freq", "HZ|max", NOT_COUNTED, SET(parse_frequency),
	 BOTH("samples a second of clocks and hardware (1000)",
	      "samples a second of clocks and hardware (1000); faults and other storms are "
	      "thinned to about as many")},
	{0, "call-graph", "METHOD", NOT_COUNTED, SET(parse_call_graph),
	 BOTH("dwarf[,SIZE] (dwarf,16384), fp, lbr, none",
	      "dwarf[,SIZE]: up to SIZE bytes of raw stack (dwarf,16384; every block of "
	      "-e malloc: dwarf,4096); fp: the kernel's frame pointer walk; lbr: the "
	      "hardware's call stack; none")},
	{'g', NULL, NULL, NOT_COUNTED, SET(ask_for_stacks), RARE("record stacks, as by default")},
	{0, "no-prefault", NULL, NOT_COUNTED, FLAG(no_prefault),
	 RARE("do not fault in the absent stack pages that end dumps")},
	{0, "no-seeds", NULL, NOT_COUNTED, FLAG(no_seeds),
	 RARE("no larger dumps (64 KiB) beside one in 37 small ones")},

	{.heading = "Cost"},
	{0, "budget", "PCT", NOT_COUNTED, SET(parse_budget),
	 COMMON("thin events to cost at most PCT % of one CPU")},
	{0, "max-rate", "N", NOT_COUNTED, NUMBER(max_rate, 1, INT32_MAX),
	 RARE("thin each event to at most N samples a second")},
	{0, "malloc-sample", "N|auto|all", NOT_COUNTED, SET(parse_malloc_sample),
	 BOTH("-e malloc: 1 in N blocks, chosen by address (auto)",
	      "-e malloc: record 1 in N blocks, chosen by address, a power of two up to 64, and "
	      "with glibc every one of 128 KiB and more; auto, the default: of what runs "
	      "already as many as --budget allows (5), of a command all")},
	{0, "malloc-size", "MIN-MAX", NOT_COUNTED, SET(parse_malloc_size),
	 RARE("-e malloc: record only blocks of MIN to MAX bytes, as 4K-64K; no MAX: no upper "
	      "limit")},
	{'m', "mmap-pages", "PAGES|SIZE", NOT_COUNTED, SET(parse_ring_size),
	 RARE("ring buffer of each CPU: pages, or bytes with K, M or G (16M; 8M for small dumps)")},
	{0, "memory", "MiB", NOT_COUNTED, SIZE(memory, 1 << 20, MEMORY_MIN, MEMORY_MAX),
	 RARE("the recorder's own memory beside the ring buffers (64, with --strip 160)")},
	{0, "stats", NULL, NOT_COUNTED, FLAG(stats),
	 RARE("print a table of what each stage did at the end")},

	{.heading = "Counts, without a recording"},
	{0, "stat", NULL, ACTION(COUNT),
	 BOTH("print counts, as perf stat does",
	      "record nothing: count the events and print the counts, as perf stat does, on "
	      "standard error or to -o FILE")},
	{'I', "interval-print", "MS", SET(parse_interval),
	 COMMON("with --stat: every MS milliseconds")},
	{'x', "field-separator", "SEP", SET(parse_separator),
	 RARE("with --stat: fields separated by SEP, in perf's order")},

	{.heading = "Of perf record"},
	{0, "all-user", NULL, FLAG(all_user),
	 RARE("counted events at user level only, as with the modifier u")},
	{0, "all-kernel", NULL, FLAG(all_kernel),
	 RARE("counted events at kernel level only, as with the modifier k")},
	{'k', "clockid", "CLOCK", NOT_COUNTED, .kind = MT_OPTION_CLOCK,
	 RARE("mono: times are CLOCK_MONOTONIC anyway")},
	{'d', "data", NULL, HELD("faults have their address anyway")},
	{'P', "period", NULL, HELD("samples have their weight anyway")},
	{'R', "raw-samples", NULL, HELD("tracepoints have their fields anyway")},
	{'s', NULL, NULL, HELD("samples have their thread anyway")},
	{0, "sample-cpu", NULL, HELD("samples have their CPU anyway")},
	{'T', "timestamp", NULL, HELD("samples have their time anyway")},
	{'n', "no-samples", NULL, INSTEAD("--stat counts without samples")},
	{0, "overwrite", NULL,
	 INSTEAD("the file has everything; --duration or --max-size bounds it")},
	{0, "switch-output", "[WHEN]",
	 INSTEAD("run mtrec --duration TIME -o FILE in a loop; mtreport FILE... reads them "
		 "as one")},

	{.heading = "Help"},
	{'h', "help", "[all]", SET(ask_for_help),
	 RARE("print the most used options, or all of them")},
	{0, "version", NULL, ACTION(VERSION), RARE("print the version")},
};

struct mt_error *mt_option_take(const struct mt_option_row *row, const char *text,
				struct mt_record_options *options)
{
	void *field = (char *)options + row->offset;
	char name[MT_OPTION_NAME_SIZE];

	mt_option_name(row, name);
	switch (row->kind) {
	case MT_OPTION_FLAG:
		*(bool *)field = true;
		return NULL;
	case MT_OPTION_TEXT:
		*(const char **)field = text;
		return NULL;
	case MT_OPTION_ACTION:
		options->action = row->action;
		return NULL;
	case MT_OPTION_NUMBER:
		return parse_number(name, text, row->least, row->most, field);
	case MT_OPTION_SIZE:
		return mt_parse_size(name, text, row->unit, row->least, row->most, field);
	case MT_OPTION_TIME:
		return mt_parse_duration(name, text, field);
	case MT_OPTION_LIST:
		return mt_parse_list(name, text, (int)row->most, field);
	case MT_OPTION_HELD:
		return NULL;
	case MT_OPTION_CLOCK:
		return check_clock(text);
	case MT_OPTION_INSTEAD:
		return mt_error_create(MT_ERR_USAGE, "%s is perf's; here %s", name, row->help);
	default:
		return row->set(text, options);
	}
}

void mt_option_name(const struct mt_option_row *row, char out[MT_OPTION_NAME_SIZE])
{
	if (row->letter)
		snprintf(out, MT_OPTION_NAME_SIZE, "-%c", row->letter);
	else
		snprintf(out, MT_OPTION_NAME_SIZE, "--%s", row->name);
}

/* ---- --help ---- */

static void print_option(const struct mt_option_row *row, bool all, FILE *to)
{
	const char *use = row->kind == MT_OPTION_HELD	   ? "accepted: "
			  : row->kind == MT_OPTION_INSTEAD ? "refused: "
							   : "";
	char left[80], right[256];

	snprintf(left, sizeof(left), "  %c%c%s%s%s%s", row->letter ? '-' : ' ',
		 row->letter ? row->letter : ' ',
		 !row->name    ? ""
		 : row->letter ? ", --"
			       : "  --",
		 row->name ? row->name : "", row->argument ? " " : "",
		 row->argument ? row->argument : "");
	snprintf(right, sizeof(right), "%s%s", use, all ? row->help : row->brief);
	mt_help_row(left, right, to);
}

/* Prints options; a heading is printed with the first option of its group. */
static void print_options(bool all, FILE *to)
{
	const char *heading = NULL;

	for (size_t i = 0; i < MT_OPTION_ROWS; i++) {
		const struct mt_option_row *row = &mt_option_rows[i];

		if (row->heading) {
			heading = row->heading;
		} else if (all || row->brief) {
			if (heading)
				fprintf(to, "%s%s:\n", all ? "\n" : "", heading);
			heading = NULL;
			print_option(row, all, to);
		}
	}
}

static const char usage[] =
	"Usage: mtrec [-e EVENT] [OPTION...] [--] COMMAND [ARG...]\n"
	"       mtrec [-e EVENT] [OPTION...] -p PID | -t TID [-- COMMAND [ARG...]]\n"
	"       mtrec [-e EVENT] [OPTION...] -a | -u USER | -G CGROUP [-- COMMAND ...]\n"
	"       mtrec --stat [-e EVENT] [-I MS] [OPTION...] -a | -p PID | COMMAND ...\n"
	"       mtrec --list [PATTERN] | --list usdt -p PID | --clean\n"
	"       mtrec --check [--tracepoint-ids FILE]\n"
	"Records what makes memory grow: brk, mmap, page faults, with raw user stacks.\n"
	"Ends with COMMAND, the targets, --duration, --max-size, SIGINT or SIGTERM.\n";

static const char examples[] =
	"Examples:\n"
	"  mtrec -a -- sleep 30\n"
	"  mtrec -o memory.mtr ./server\n"
	"  mtrec -e page-faults -p $(pidof mysqld) -o faults.mtr\n"
	"  mtrec -e mmap,munmap,brk -o - ./server | ssh host 'cat > server.mtr'\n";

static const char exits[] =
	"\nExit status: without a command 0 recorded, 2 usage, 3 cannot record, 4 recorded\n"
	"nothing, 5 output failed. With a command its own status, 128 + n if signal n\n"
	"ended it, 125 if mtrec failed (2 for usage), 126 if the command cannot be run,\n"
	"127 if it is not found.\n";

void mt_record_options_help(const char *topic, FILE *to)
{
	bool all = topic;

	fputs(usage, to);
	if (!all)
		fputc('\n', to);
	print_options(all, to);
	fprintf(to, "\n%s", examples);
	fputs(all ? exits : "All options: mtrec --help all, man mtrec\n", to);
}
