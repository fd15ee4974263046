/*
 * The rows of the option tables, and their functions.
 */
#include "report/cli/option_table.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/pool.h"
#include "report/analyses/rows/suppressions.h"
#include "report/cli/options.h"
#include "unwind/oracle/oracle.h"
#include "unwind/unwind.h"

enum {
	MOST_MAX_STACK = 65536,
	FOLLOW_SECONDS = 5,
};

static struct mt_error *set_events(struct mt_report_options *o, const char *name, const char *value)
{
	struct mt_error *err = mt_match_add(name, value, &o->selection.events);

	if (!err)
		mt_match_take_globs(o->selection.events);
	return err;
}

static struct mt_error *set_time(struct mt_report_options *o, const char *name, const char *value)
{
	struct mt_error *err = mt_timespan_parse(name, value, &o->selection.time);

	o->wishes.time = o->selection.time;
	return err;
}

struct mt_error *mt_option_add_file(struct mt_report_options *o, const char *name,
				    const char *value)
{
	(void)name;
	(void)mt_array_grow((void **)&o->files, &o->file_capacity, o->file_count + 1,
			    sizeof(*o->files));
	o->files[o->file_count++] = value;
	return NULL;
}

static struct mt_error *set_output_path(struct mt_report_options *o, const char *name,
					const char *value)
{
	if (!*value)
		return mt_error_create(MT_ERR_USAGE, "%s: a file name is needed", name);
	o->output_path = value;
	return NULL;
}

const char *mt_copy_name(enum mt_copy copy)
{
	static const char *const names[] = {
		[MT_COPY_STRIP] = "--strip",
		[MT_COPY_SEAL] = "--seal",
		[MT_COPY_PERFDATA] = "--perfdata",
	};

	return names[copy];
}

static struct mt_error *set_copy(struct mt_report_options *o, const char *name, const char *value)
{
	enum mt_copy copy = MT_COPY_STRIP;

	if (!*value)
		return mt_error_create(MT_ERR_USAGE, "%s: a file name is needed", name);
	while (copy < MT_COPY_PERFDATA && strcmp(mt_copy_name(copy), name) != 0)
		copy++;
	if (o->copy && o->copy != copy)
		return mt_error_create(MT_ERR_USAGE,
				       "--strip, --seal and --perfdata: one copy at a time");
	o->copy = copy;
	o->copy_path = value;
	return NULL;
}

static struct mt_error *set_embed(struct mt_report_options *o, const char *name, const char *value)
{
	static const struct {
		const char *word;
		struct mt_skeleton_wish wish;
	} words[] = {
		{"symbols", {.names = true}},
		{"unwind", {.names = true, .unwind = true}},
		{"lines", {.names = true, .unwind = true, .lines = true}},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(value, words[i].word) != 0)
			continue;
		o->embed = words[i].word;
		o->wish = words[i].wish;
		return NULL;
	}
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "%s: '%s' is not known", name, value),
			     "known are symbols, unwind and lines");
}

static struct mt_error *set_by(struct mt_report_options *o, const char *name, const char *value)
{
	return mt_by_parse(name, value, &o->wishes.by);
}

static struct mt_error *set_timeline(struct mt_report_options *o, const char *name,
				     const char *value)
{
	o->wishes.timeline = true;
	return value ? mt_seconds_parse(name, value, &o->wishes.interval) : NULL;
}

static struct mt_error *set_base(struct mt_report_options *o, const char *name, const char *value)
{
	(void)name;
	o->baseline.file = value;
	o->wishes.compare = true;
	return NULL;
}

static struct mt_error *set_base_time(struct mt_report_options *o, const char *name,
				      const char *value)
{
	o->wishes.compare = true;
	return mt_timespan_parse(name, value, &o->baseline.time);
}

/* Parses "end", "peak", seconds, or a percentage of the recording's length. */
static struct mt_error *set_at(struct mt_report_options *o, const char *name, const char *value)
{
	struct mt_at at = {.when = MT_AT_TIME, .seconds = -1};
	char *end;

	if (!strcmp(value, "end") || !strcmp(value, "peak")) {
		o->wishes.at.when = *value == 'e' ? MT_AT_END : MT_AT_PEAK;
		return NULL;
	}
	if (*value == '@') {
		at.clock = strtoull(value + 1, &end, 10);
		if (!at.clock || *end)
			return mt_error_create(MT_ERR_USAGE, "%s %s: not @NANOSECONDS", name,
					       value);
		o->wishes.at = at;
		return NULL;
	}
	at.part = strtod(value, &end) / 100;
	if (end == value || strcmp(end, "%") != 0) {
		struct mt_error *err = mt_seconds_parse(name, value, &at.seconds);

		if (err)
			return mt_error_hint(err,
					     "known: end, peak, 12.5, 500ms, 30%%, @NANOSECONDS");
	} else if (!(at.part >= 0 && at.part <= 1)) {
		return mt_error_create(MT_ERR_USAGE, "%s %s: not from 0%% to 100%%", name, value);
	}
	o->wishes.at = at;
	return NULL;
}

static struct mt_error *set_top(struct mt_report_options *o, const char *name, const char *value)
{
	char *end;
	long number = strtol(value, &end, 10);

	if (end == value || *end || number < 1)
		return mt_error_create(MT_ERR_USAGE, "%s %s: not a number above 0", name, value);
	o->wishes.limit.top = (size_t)number;
	return NULL;
}

static struct mt_error *set_percent_limit(struct mt_report_options *o, const char *name,
					  const char *value)
{
	char *end;
	double percent = strtod(value, &end);

	if (end == value || (*end && strcmp(end, "%") != 0) || !(percent >= 0 && percent <= 100))
		return mt_error_create(MT_ERR_USAGE, "%s %s: not a percentage", name, value);
	o->wishes.limit.percent = percent;
	return NULL;
}

/* Checks that a directory exists: a mistyped name would silently match nothing. */
static struct mt_error *set_directory(const char **out, const char *name, const char *value)
{
	const char *slash = strrchr(value, '/');
	struct mt_error *err;
	struct stat st;

	if (stat(value, &st)) {
		err = mt_error_create(MT_ERR_USAGE, "%s %s: %s", name, value, strerror(errno));
		return strchr(value, ':')
			       ? mt_error_hint(err,
					       "%s takes one directory; several are several %s",
					       name, name)
			       : err;
	}
	if (!S_ISDIR(st.st_mode)) {
		err = mt_error_create(MT_ERR_USAGE, "%s %s: not a directory", name, value);
		return mt_error_hint(err, "%s %.*s finds it there by its name", name,
				     slash ? (int)(slash - value + (slash == value)) : 1,
				     slash ? value : ".");
	}
	*out = value;
	return NULL;
}

static struct mt_error *set_symfs(struct mt_report_options *o, const char *name, const char *value)
{
	struct mt_directories *all = &o->symfs;

	if (all->count == MT_DIRECTORIES_MOST)
		return mt_error_create(MT_ERR_USAGE, "%s: at most %d of them", name,
				       MT_DIRECTORIES_MOST);
	return set_directory(&all->items[all->count++], name, value);
}

static struct mt_error *set_source(struct mt_report_options *o, const char *name, const char *value)
{
	struct mt_source_paths *all = &o->source_paths;

	if (all->directory_count == MT_SOURCE_PATHS_MOST)
		return mt_error_create(MT_ERR_USAGE, "%s: at most %d of them", name,
				       MT_SOURCE_PATHS_MOST);
	return set_directory(&all->directories[all->directory_count++], name, value);
}

static struct mt_error *set_source_path(struct mt_report_options *o, const char *name,
					const char *value)
{
	struct mt_source_paths *all = &o->source_paths;
	const char *equals = strchr(value, '=');

	if (!equals || equals == value)
		return mt_error_create(MT_ERR_USAGE, "%s %s: FROM=TO is needed", name, value);
	if (all->count == MT_SOURCE_PATHS_MOST)
		return mt_error_create(MT_ERR_USAGE, "%s: at most %d of them", name,
				       MT_SOURCE_PATHS_MOST);
	all->items[all->count++] = (struct mt_source_path){
		.from = value,
		.to = equals + 1,
		.from_size = (size_t)(equals - value),
	};
	return NULL;
}

static struct mt_error *set_asm(struct mt_report_options *o, const char *name, const char *value)
{
	if (value && strcmp(value, "intel") != 0 && strcmp(value, "att") != 0)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE, "%s: '%s' is not known", name,
						     value),
				     "known are intel and att");
	o->assembly = value && *value == 'a' ? MT_ASM_ATT : MT_ASM_INTEL;
	return NULL;
}

static struct mt_error *set_debug_dir(struct mt_report_options *o, const char *name,
				      const char *value)
{
	return set_directory(&o->debug_dir, name, value);
}

static struct mt_error *set_debuginfod(struct mt_report_options *o, const char *name,
				       const char *value)
{
	(void)name;
	o->debuginfod = true;
	o->debuginfod_urls = value;
	return NULL;
}

static struct mt_error *set_suppress(struct mt_report_options *o, const char *name,
				     const char *value)
{
	mt_suppressions_destroy(o->wishes.suppress);
	o->wishes.suppress = NULL;
	return mt_suppressions_read(name, value, &o->wishes.suppress);
}

static struct mt_error *set_ours(struct mt_report_options *o, const char *name, const char *value)
{
	return mt_match_add_expression(name, value,
				       !strcmp(name, "--ours") ? &o->ours : &o->not_ours);
}

static struct mt_error *set_inline(struct mt_report_options *o, const char *name, const char *value)
{
	(void)value;
	o->no_inline = !strcmp(name, "--no-inline");
	return NULL;
}

static struct mt_error *set_help(struct mt_report_options *o, const char *name, const char *value)
{
	if (value && strcmp(value, "all") != 0)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE, "%s: '%s' is not known", name,
						     value),
				     "known is all: mtreport --help all prints every option");
	o->help = value ? MT_HELP_ALL : MT_HELP_BRIEF;
	return NULL;
}

static struct mt_error *set_strict(struct mt_report_options *o, const char *name, const char *value)
{
	char *end;

	o->strict = true;
	if (!value)
		return NULL;
	o->strict_percent = strtod(value, &end);
	if (end == value || (*end && strcmp(end, "%") != 0) ||
	    !(o->strict_percent >= 0 && o->strict_percent <= 100))
		return mt_error_create(MT_ERR_USAGE, "%s %s: not a percentage", name, value);
	return NULL;
}

static struct mt_error *set_max_stack(struct mt_report_options *o, const char *name,
				      const char *value)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(value, &end, 10);
	if (errno || end == value || *end || number < 1 || number > MOST_MAX_STACK)
		return mt_error_create(MT_ERR_USAGE, "%s %s: not a number from 1 to %d", name,
				       value, MOST_MAX_STACK);
	o->max_stack = (uint32_t)number;
	return NULL;
}

const struct mt_unwind_method *const mt_method_tables[MT_METHOD_TABLES] = {
	mt_unwind_methods,
	mt_unwind_oracle_methods,
};

static struct mt_error *set_workers(struct mt_report_options *o, const char *name,
				    const char *value)
{
	char *end;
	long number = strtol(value, &end, 10);

	if (end == value || *end || number < 1 || number > MT_POOL_MAX)
		return mt_error_create(MT_ERR_USAGE, "%s %s: not a number from 1 to %d", name,
				       value, MT_POOL_MAX);
	o->workers = (unsigned int)number;
	return NULL;
}

static struct mt_error *take_method(struct mt_report_options *o, const char *name,
				    const struct mt_unwind_method *method)
{
	const char *problem = method->problem ? method->problem() : NULL;

	if (problem)
		return mt_error_create(MT_ERR_USAGE, "%s %s: %s", name, method->name, problem);
	o->unwind = method;
	return NULL;
}

static struct mt_error *set_unwind(struct mt_report_options *o, const char *name, const char *value)
{
	char known[256] = "";
	size_t used = 0;

	for (size_t t = 0; t < MT_METHOD_TABLES; t++) {
		for (const struct mt_unwind_method *m = mt_method_tables[t]; m->name; m++) {
			if (!strcmp(m->name, value))
				return take_method(o, name, m);
			if (used < sizeof(known))
				used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
							 used ? ", " : "", m->name);
		}
	}
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "%s %s: no such way to unwind", name,
					     value),
			     "known: %s", known);
}

/* Parses SEC or SEC,COUNT. */
static struct mt_error *set_follow(struct mt_report_options *o, const char *name, const char *value)
{
	const char *comma = value ? strchr(value, ',') : NULL;
	MT_CLEANUP_FREE char *seconds =
		value ? mt_copy_bytes(value, comma ? (size_t)(comma - value) : strlen(value))
		      : NULL;
	char *end;

	o->follow = FOLLOW_SECONDS;
	if (!value)
		return NULL;
	if (comma) {
		o->follow_count = strtoul(comma + 1, &end, 10);
		if (comma[1] < '0' || comma[1] > '9' || *end || !o->follow_count)
			return mt_error_create(MT_ERR_USAGE,
					       "%s %s: not a number of updates behind the comma",
					       name, value);
	}
	return mt_seconds_parse(name, seconds, &o->follow);
}

#define PLACED(kind, field) MT_OPTION_##kind, offsetof(struct mt_report_options, field), NULL
#define OWN(set) MT_OPTION_OWN, 0, set

/* The last two fields of a row: the text for both kinds of --help, or for --help all only. */
#define COMMON(text) text, text
#define RARE(text) NULL, text

static const struct mt_option selectors[] = {
	{'e', "event", "events", "NAME,...", OWN(set_events),
	 "events: alias (brk), group (vm), or 'syscalls:*mmap'",
	 "events: alias (brk), kernel name or group (vm, rss); 'syscalls:*mmap' is a pattern"},
	{0, "comm", "comms", "NAME,...|/RE/", PLACED(MATCH, selection.comms),
	 COMMON("threads by name (comm)")},
	{'p', "pid", NULL, "PID,...", PLACED(NUMBERS, selection.pids), COMMON("processes")},
	{0, "tid", NULL, "TID,...", PLACED(NUMBERS, selection.tids), RARE("threads")},
	{'C', "cpu", NULL, "CPU,...", PLACED(NUMBERS, selection.cpus), RARE("CPUs")},
	{'S', "symbol", "symbols", "NAME,...|/RE/", PLACED(MATCH, selection.symbols),
	 COMMON("stacks with a frame in this function")},
	{'d', "dso", "dsos", "NAME,...|/RE/", PLACED(MATCH, selection.dsos),
	 RARE("stacks with a frame in this file: its path, or the last part of it")},
	{0, "time", NULL, "A,B", OWN(set_time), "from A to B seconds after the start, or 10%-20%",
	 "from A to B seconds after the start; A, and ,B are open; 10%-20% is a part of the "
	 "recording, 10%/2 the second tenth"},
	{0},
};

static const struct mt_option rows[] = {
	{0, "by", NULL, "KEY,...", OWN(set_by),
	 "one row per process, thread, comm, image, event...",
	 "one row for each process, thread, comm, image, cgroup, cpu, mode, event, stack; of "
	 "memory also kind, file, reserver; of blocks size, age; of --processes trend, life; of "
	 "--shm segment; of --latency took; with --weight FIELD value, log2; without an analysis "
	 "process, image, cgroup or container groups the screen"},
	{0, "top", NULL, "N", OWN(set_top), "only the N heaviest rows; of a listing, the first N",
	 "only the N heaviest rows; of a listing of single events, the first N"},
	{0, "percent-limit", NULL, "PCT", OWN(set_percent_limit),
	 RARE("only rows of at least PCT percent of all")},
	{0, "at", NULL, "end|peak|T", OWN(set_at),
	 "memory at the end, at the peak, or after T (30%)",
	 "memory at the end (default), at each process's peak, or at a time: 12.5 (seconds after "
	 "the start), 500ms, 30%, @NANOSECONDS of the recording's clock"},
	{0, "timeline", NULL, "[T]", OWN(set_timeline), "sums for each interval: --timeline 1s",
	 "sums for each interval of T (1s, 500ms; by default 10 to 20 intervals) and process; T "
	 "may also be the next word"},
	{0, "base", NULL, "FILE", OWN(set_base), "compare with an earlier recording",
	 "compare with an earlier recording: rows that are new, gone, grown, shrunk"},
	{0, "base-time", NULL, "A,B", OWN(set_base_time),
	 RARE("compare with this time of the base, or of the same recording")},
	{0, "per", NULL, "time|EVENT|none", PLACED(TEXT, baseline.per),
	 RARE("scale the base to the same length of time (default, but not for memory at a "
	      "moment), to as many EVENTs, or not")},
	{0, "older-than", NULL, "T", PLACED(SECONDS, wishes.older_than),
	 RARE("only memory and blocks that have been held for T (10s, 500ms)")},
	{0, "all", NULL, NULL, PLACED(FLAG, wishes.all),
	 RARE("the screen with what is small, too; --outstanding with file mappings, stacks, what "
	      "was mapped before the recording, and copies made by fork; --blocks with what was "
	      "freed, and frees of what did not live")},
	{0, "suppress", NULL, "FILE", OWN(set_suppress),
	 RARE("leave out blocks of these paths: lines of leak:PATTERN, as LeakSanitizer's")},
	{0, "weight", NULL, "FIGURE", PLACED(TEXT, wishes.weight),
	 RARE("the figure that orders rows, and the only one in tables: count, period, bytes, "
	      "pages")},
	{0, "stacks", NULL, NULL, PLACED(FLAG, wishes.stacks),
	 RARE("show stacks in --table and in listings, too")},
	{0},
};

static const struct mt_option files[] = {
	{'o', "output", NULL, "FILE", OWN(set_output_path),
	 COMMON("write to FILE; an existing one becomes FILE.old")},
	{'i', "input", NULL, "FILE", OWN(mt_option_add_file),
	 RARE("read FILE, as without -i; - is standard input")},
	{0, "follow", NULL, "[=SEC[,N]]", OWN(set_follow),
	 "report again every SEC seconds (5) while it grows",
	 "read a recording while it is written (FILE, or - at the end of a pipe): report again "
	 "every SEC seconds (5), until it ends or N times; --mmaps, --brks and --script appear "
	 "line by line"},
	{'j', "jobs", NULL, "N", OWN(set_workers),
	 RARE("threads: one per CPU by default, one for a perf.data file below 4 GiB; the result "
	      "is the same")},
	{0, "strict", NULL, "[=PCT]", OWN(set_strict),
	 RARE("exit 1 if records were lost, the file is damaged, or more than PCT percent (1) of "
	      "the user stacks are incomplete")},
	{'q', "quiet", NULL, NULL, PLACED(FLAG, quiet),
	 RARE("no progress and no remarks on standard error")},
	{0},
};

static const struct mt_option names[] = {
	{0, "symfs", NULL, "DIR", OWN(set_symfs), "find the recorded machine's files below DIR",
	 "find the recorded machine's files below DIR, by recorded path or its last parts; "
	 "several DIRs are tried in order; this machine's files then need a recorded build id"},
	{0, "source", NULL, "DIR", OWN(set_source),
	 RARE("for --annotate and --html: find sources below DIR, by the path as compiled or its "
	      "last parts; without it, sources that others may read at that path")},
	{0, "source-path", NULL, "FROM=TO", OWN(set_source_path),
	 RARE("for --annotate and --html: sources whose path begins with FROM are at TO; of "
	      "several the first that fits")},
	{0, "asm", NULL, "[=SYNTAX]", OWN(set_asm),
	 RARE("for --annotate: instructions in place of source lines, in the syntax intel "
	      "(default) or att")},
	{0, "debug-dir", NULL, "DIR", OWN(set_debug_dir),
	 RARE("find files that this machine lacks in DIR: by recorded path, by name, and in "
	      "DIR/.build-id")},
	{0, "debuginfod", NULL, "[=URLS]", OWN(set_debuginfod),
	 RARE("fetch missing files by build id from these servers, by default from those in "
	      "DEBUGINFOD_URLS")},
	{0, "kallsyms", NULL, "FILE", PLACED(TEXT, kallsyms),
	 RARE("kernel symbols from FILE; by default this machine's, if it still runs the recorded "
	      "boot")},
	{0, "prefer-local", NULL, NULL, PLACED(FLAG, prefer_local),
	 RARE("use this machine's files before the images that the recording carries")},
	{0, "srcline", NULL, NULL, PLACED(FLAG, srcline),
	 RARE("add FILE:LINE to functions in --folded and --script")},
	{0, "inline", NULL, NULL, OWN(set_inline),
	 RARE("show inlined functions where debug information is found (default)")},
	{0, "no-inline", NULL, NULL, OWN(set_inline), RARE("show only functions that were called")},
	{0, "no-demangle", NULL, NULL, PLACED(FLAG, no_demangle),
	 RARE("show C++ and Rust names as the linker has them")},
	{0, "ours", NULL, "RE", OWN(set_ours),
	 RARE("files whose path or name matches RE are the program's own code")},
	{0, "not-ours", NULL, "RE", OWN(set_ours),
	 RARE("files whose path or name matches RE are libraries")},
	{0},
};

static const struct mt_option unwinding[] = {
	{0, "unwind", NULL, "METHOD", OWN(set_unwind), RARE("how stacks are unwound, see below")},
	{0, "max-stack", NULL, "N", OWN(set_max_stack),
	 RARE("at most N user frames a stack (4096)")},
	{0, "no-join", NULL, NULL, PLACED(FLAG, no_join),
	 RARE("do not complete truncated stacks with frames of the thread's other stacks")},
	{0, "scan", NULL, NULL, PLACED(FLAG, scan),
	 RARE("where unwinding fails, guess callers: words that look like return addresses, marked "
	      "\"? \"; a third to three quarters of them are false")},
	{0},
};

static const struct mt_option copies[] = {
	{0, "seal", NULL, "OUT", OWN(set_copy), "copy the recording, to be read on any machine",
	 "copy the recording with what other machines lack: names and unwind tables of the images "
	 "in its stacks, kernel names, perf maps, "
	 "jitdumps"},
	{0, "embed", NULL, "WHAT", OWN(set_embed),
	 RARE("what --seal adds for each image: symbols (names), unwind (names and unwind tables, "
	      "the default), lines (also debug information)")},
	{0, "perfdata", NULL, "OUT", OWN(set_copy),
	 RARE("write the selected samples, unwound, as a perf.data file, for perf report, perf "
	      "script, hotspot, samply")},
	{0, "strip", NULL, "OUT", OWN(set_copy), "copy it with frames in place of raw stack bytes",
	 "copy the recording with the frames of each stack in place of its raw bytes"},
	{0},
};

static const struct mt_option help[] = {
	{'h', "help", NULL, "[all]", OWN(set_help),
	 RARE("print the most used options, or all of them")},
	{'V', "version", NULL, NULL, PLACED(FLAG, version), RARE("print the version")},
	{0},
};

const struct mt_option_group mt_option_groups[MT_OPTION_GROUPS] = {
	{"Selectors, which samples count (all of them must match)", selectors},
	{"Rows, what one row of the result is", rows},
	{"Pictures, how --flamegraph draws", mt_picture_option_rows},
	{"Files and messages", files},
	{"Names, where functions and lines come from", names},
	{"Unwinding", unwinding},
	{"Copies, in place of a report", copies},
	{"Of perf report and perf script", mt_perf_option_rows},
	{"Help", help},
};

bool mt_option_is_repeated(const struct mt_option *option)
{
	static const struct mt_option *const groups[] = {selectors, names, unwinding};

	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		for (const struct mt_option *o = groups[i]; o->name; o++) {
			if (o == option)
				return true;
		}
	}
	return false;
}

struct mt_error *mt_option_take(const struct mt_option *option, struct mt_report_options *options,
				const char *name, const char *value)
{
	void *field = (char *)options + option->offset;

	switch (option->kind) {
	case MT_OPTION_FLAG:
		*(bool *)field = true;
		return NULL;
	case MT_OPTION_TEXT:
		*(const char **)field = value;
		return NULL;
	case MT_OPTION_SECONDS:
		return mt_seconds_parse(name, value, field);
	case MT_OPTION_NUMBERS:
		return mt_numbers_add(name, value, field);
	case MT_OPTION_MATCH:
		return mt_match_add(name, value, field);
	case MT_OPTION_HELD:
		return NULL;
	case MT_OPTION_INSTEAD:
		return mt_error_create(MT_ERR_USAGE, "%s is perf's; here %s", name, option->help);
	default:
		return option->set(options, name, value);
	}
}
