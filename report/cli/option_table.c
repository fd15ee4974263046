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
#include "formats/base/err.h"
#include "formats/base/pool.h"
#include "report/cli/options.h"
#include "unwind/oracle/oracle.h"
#include "unwind/unwind.h"

enum {
	MOST_MAX_STACK = 65536,
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
	if (!mt_array_grow((void **)&o->files, &o->file_capacity, o->file_count + 1,
			   sizeof(*o->files)))
		return mt_error_nomem();
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

static struct mt_error *set_copy(struct mt_report_options *o, const char *name, const char *value)
{
	if (!*value)
		return mt_error_create(MT_ERR_USAGE, "%s: a file name is needed", name);
	if (o->copy && strcmp(o->copy, name) != 0)
		return mt_error_create(MT_ERR_USAGE, "--strip and --seal: one copy at a time");
	o->copy = !strcmp(name, "--strip") ? "--strip" : "--seal";
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

/* "end", "peak", seconds, or a percentage of the recording's length. */
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
	o->wishes.top = (size_t)number;
	return NULL;
}

/* A directory that is there: to find nothing in a mistyped one says nothing. */
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

#define PLACED(kind, field) MT_OPTION_##kind, offsetof(struct mt_report_options, field), NULL
#define OWN(set) MT_OPTION_OWN, 0, set

static const struct mt_option selectors[] = {
	{'e', "event", "events", "NAME,...", OWN(set_events),
	 "events, by alias (brk), kernel name or group (vm); 'syscalls:*mmap' is a pattern"},
	{0, "comm", "comms", "NAME,...|/RE/", PLACED(MATCH, selection.comms), "threads by name"},
	{'p', "pid", NULL, "PID,...", PLACED(NUMBERS, selection.pids), "processes"},
	{0, "tid", NULL, "TID,...", PLACED(NUMBERS, selection.tids), "threads"},
	{'C', "cpu", NULL, "CPU,...", PLACED(NUMBERS, selection.cpus), "CPUs"},
	{'d', "dso", "dsos", "NAME,...|/RE/", PLACED(MATCH, selection.dsos),
	 "stacks with a frame in this file (path or last part)"},
	{'S', "symbol", "symbols", "NAME,...|/RE/", PLACED(MATCH, selection.symbols),
	 "stacks with a frame in this function"},
	{0, "time", NULL, "A,B", OWN(set_time),
	 "from A to B seconds after the start; A, and ,B are open; 10%-20% are parts of the whole, "
	 "10%/2 the second tenth"},
	{0},
};

static const struct mt_option others[] = {
	{'o', "output", NULL, "FILE", OWN(set_output_path),
	 "write there (mode 0600; what was there becomes FILE.old)"},
	{'i', "input", NULL, "FILE", OWN(mt_option_add_file),
	 "a recording to read, as FILE does; - is standard input"},
	{0, "by", NULL, "KEY,...", OWN(set_by),
	 "what sums are told apart by: process, thread, comm, image, cgroup, cpu, mode, event, "
	 "stack; kind, file and reserver where the analysis knows them"},
	{0, "weight", NULL, "FIGURE", PLACED(TEXT, wishes.weight),
	 "what rows weigh, and the one figure of tables: count, period, bytes, pages"},
	{0, "stacks", NULL, NULL, PLACED(FLAG, wishes.stacks),
	 "with stacks where they are not shown anyway"},
	{0, "timeline", NULL, "[T]", OWN(set_timeline),
	 "sums for each T (1s, 500ms; by default a twentieth or so) and process; T may be "
	 "the next word"},
	{0, "top", NULL, "N", OWN(set_top), "of sums only the N rows that weigh most"},
	{0, "base", NULL, "FILE", OWN(set_base),
	 "compare with an earlier recording: what is new, gone, grown and shrunk"},
	{0, "base-time", NULL, "A,B", OWN(set_base_time),
	 "compare with that time of it, or of the same recording"},
	{0, "per", NULL, "time|EVENT|none", PLACED(TEXT, baseline.per),
	 "measure the base to as long a time (default; not what stands at a moment) or as many "
	 "EVENTs"},
	{0, "at", NULL, "end|peak|T", OWN(set_at),
	 "what was outstanding then: at the end (default), when each process held most, or after "
	 "12.5 (seconds), 500ms, 30%, or at @NANOSECONDS of the recording's clock"},
	{0, "older-than", NULL, "T", PLACED(SECONDS, wishes.older_than),
	 "only what has been outstanding for T (10s, 500ms)"},
	{0, "all", NULL, NULL, PLACED(FLAG, wishes.all),
	 "what is outstanding with file mappings, stacks, what was there before the recording and "
	 "what a fork copied"},
	{0, "unwind", NULL, "METHOD", OWN(set_unwind), "how stacks are unwound, see below"},
	{0, "max-stack", NULL, "N", OWN(set_max_stack), "at most N user frames a stack (4096)"},
	{0, "no-join", NULL, NULL, PLACED(FLAG, no_join),
	 "leave stacks cut where their dump ends: nothing from other stacks of the thread"},
	{0, "scan", NULL, NULL, PLACED(FLAG, scan),
	 "where a stack ends and nothing is left to go by, guess: words that look like return "
	 "addresses, marked \"? \"; a third to three quarters of them are false"},
	{0, "stitch-lbr", NULL, NULL, PLACED(FLAG, stitch),
	 "hardware call stacks go on with what earlier samples of the thread had further out"},
	{'j', "jobs", NULL, "N", OWN(set_workers),
	 "decode and unwind on N CPUs, by default all, or one for a short perf.data; the result is "
	 "the same"},
	{0, "prefer-local", NULL, NULL, PLACED(FLAG, prefer_local),
	 "this machine's files before the images that the recording carries"},
	{0, "symfs", NULL, "DIR", OWN(set_symfs),
	 "the recorded machine's files are there: DIR/recorded path, or its last parts; several "
	 "are tried in order; what is here counts only where its build id was recorded"},
	{0, "sysroot", NULL, "DIR", OWN(set_symfs), "the same as --symfs"},
	{0, "debug-dir", NULL, "DIR", OWN(set_debug_dir),
	 "look there for files that are not here: DIR/recorded path, DIR/last part, and "
	 "DIR/.build-id"},
	{0, "debuginfod", NULL, "[URLS]", OWN(set_debuginfod),
	 "fetch by build id what is nowhere else, from these servers, by default those of "
	 "DEBUGINFOD_URLS"},
	{0, "kallsyms", NULL, "FILE", PLACED(TEXT, kallsyms),
	 "kernel symbols from there; by default this machine's, where it is the boot that was "
	 "recorded"},
	{0, "ours", NULL, "RE", OWN(set_ours),
	 "files whose path or name matches are the program's own code, and headlines"},
	{0, "not-ours", NULL, "RE", OWN(set_ours),
	 "files whose path or name matches are libraries, whatever they are"},
	{0, "inline", NULL, NULL, OWN(set_inline),
	 "name the functions that were inlined, too, where debug information is at hand (default)"},
	{0, "no-inline", NULL, NULL, OWN(set_inline), "only functions that were called"},
	{0, "srcline", NULL, NULL, PLACED(FLAG, srcline),
	 "add FILE:LINE to each function in --folded and --script"},
	{0, "no-demangle", NULL, NULL, PLACED(FLAG, no_demangle),
	 "C++ and Rust names as the linker sees them"},
	{0, "seal", NULL, "OUT", OWN(set_copy),
	 "no report: copy the recording to OUT with what it lacks to be read anywhere: names and "
	 "unwind tables of the images in its stacks, the code that branch records led through, the "
	 "kernel's names, perf maps and jitdumps"},
	{0, "embed", NULL, "WHAT", OWN(set_embed),
	 "what --seal carries of each image: symbols, unwind (names and tables, the default), or "
	 "lines (also debug information)"},
	{0, "strip", NULL, "OUT", OWN(set_copy),
	 "no report: copy the recording to OUT, the frames of each stack in the place of its raw "
	 "bytes"},
	{0, "strict", NULL, "[PCT]", OWN(set_strict),
	 "exit 1 where records were lost, the file is damaged, or more than PCT percent of the "
	 "user stacks end early (1)"},
	{'q', "quiet", NULL, NULL, PLACED(FLAG, quiet),
	 "no progress, and no remarks on standard error"},
	{'h', "help", NULL, NULL, PLACED(FLAG, help), "this text"},
	{'V', "version", NULL, NULL, PLACED(FLAG, version), "the version"},
	{0},
};

const struct mt_option *const mt_option_tables[MT_OPTION_TABLES] = {
	[MT_OPTIONS_SELECTORS] = selectors,
	[MT_OPTIONS_OTHERS] = others,
};

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
	default:
		return option->set(options, name, value);
	}
}
