/*
 * The table of options and the parser that walks it: --name VALUE, --name=VALUE, -x VALUE, -xVALUE,
 * -xyz for flags, unambiguous beginnings of long names, -- ends the options.
 */
#include "report/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/pool.h"
#include "report/analyses/analyses.h"
#include "report/outputs/outputs.h"
#include "unwind/oracle.h"
#include "unwind/unwind.h"

#define DEFAULT_FILE "mtrec.mtr"

enum {
	DEFAULT_MAX_STACK = 1024,
	MOST_MAX_STACK = 65536,
	HELP_COLUMN = 28,
	HELP_WIDTH = 80,
};

/*
 * What a row does with its value, NULL for a flag. `name` is the option as it is to be called in
 * messages.
 */
typedef struct mt_error *set_option(struct mt_report_options *options, const char *name,
				    const char *value);

struct option {
	char letter; /* 0: none */
	const char *name;
	const char *also;     /* a second long name, not shown; perf's where it differs */
	const char *argument; /* as --help shows it; NULL: takes none; "[X]": may follow a '=' */
	set_option *set;
	const char *help;
};

static struct mt_error *set_events(struct mt_report_options *o, const char *name, const char *value)
{
	return mt_match_add(name, value, &o->selection.events);
}

static struct mt_error *set_comms(struct mt_report_options *o, const char *name, const char *value)
{
	return mt_match_add(name, value, &o->selection.comms);
}

static struct mt_error *set_dsos(struct mt_report_options *o, const char *name, const char *value)
{
	return mt_match_add(name, value, &o->selection.dsos);
}

static struct mt_error *set_symbols(struct mt_report_options *o, const char *name,
				    const char *value)
{
	return mt_match_add(name, value, &o->selection.symbols);
}

static struct mt_error *set_pids(struct mt_report_options *o, const char *name, const char *value)
{
	return mt_numbers_add(name, value, &o->selection.pids);
}

static struct mt_error *set_tids(struct mt_report_options *o, const char *name, const char *value)
{
	return mt_numbers_add(name, value, &o->selection.tids);
}

static struct mt_error *set_cpus(struct mt_report_options *o, const char *name, const char *value)
{
	return mt_numbers_add(name, value, &o->selection.cpus);
}

static struct mt_error *set_time(struct mt_report_options *o, const char *name, const char *value)
{
	(void)name;
	return mt_timespan_parse(value, &o->selection.time);
}

static struct mt_error *add_file(struct mt_report_options *o, const char *name, const char *value)
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

static struct mt_error *set_weight(struct mt_report_options *o, const char *name, const char *value)
{
	(void)name;
	o->weight = value;
	return NULL;
}

static struct mt_error *set_kallsyms(struct mt_report_options *o, const char *name,
				     const char *value)
{
	(void)name;
	o->kallsyms = value;
	return NULL;
}

/* A directory that is there: to find nothing in a mistyped one says nothing. */
static struct mt_error *set_directory(const char **out, const char *name, const char *value)
{
	struct stat st;

	if (stat(value, &st))
		return mt_error_create(MT_ERR_USAGE, "%s %s: %s", name, value, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return mt_error_create(MT_ERR_USAGE, "%s %s: not a directory", name, value);
	*out = value;
	return NULL;
}

static struct mt_error *set_symfs(struct mt_report_options *o, const char *name, const char *value)
{
	return set_directory(&o->symfs, name, value);
}

static struct mt_error *set_debug_dir(struct mt_report_options *o, const char *name,
				      const char *value)
{
	return set_directory(&o->debug_dir, name, value);
}

static struct mt_error *set_inline(struct mt_report_options *o, const char *name, const char *value)
{
	(void)value;
	o->no_inline = !strcmp(name, "--no-inline");
	return NULL;
}

static struct mt_error *set_srcline(struct mt_report_options *o, const char *name,
				    const char *value)
{
	(void)name;
	(void)value;
	o->srcline = true;
	return NULL;
}

static struct mt_error *set_no_demangle(struct mt_report_options *o, const char *name,
					const char *value)
{
	(void)name;
	(void)value;
	o->no_demangle = true;
	return NULL;
}

static struct mt_error *set_quiet(struct mt_report_options *o, const char *name, const char *value)
{
	(void)name;
	(void)value;
	o->quiet = true;
	return NULL;
}

static struct mt_error *set_help(struct mt_report_options *o, const char *name, const char *value)
{
	(void)name;
	(void)value;
	o->help = true;
	return NULL;
}

static struct mt_error *set_version(struct mt_report_options *o, const char *name,
				    const char *value)
{
	(void)name;
	(void)value;
	o->version = true;
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

/* Ours, and the oracles that were built in. */
static const struct mt_unwind_method *const methods[] = {mt_unwind_methods,
							 mt_unwind_oracle_methods};

#define METHOD_TABLES (sizeof(methods) / sizeof(methods[0]))

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

static struct mt_error *set_unwind(struct mt_report_options *o, const char *name, const char *value)
{
	char known[256] = "";
	size_t used = 0;

	for (size_t t = 0; t < METHOD_TABLES; t++) {
		for (const struct mt_unwind_method *m = methods[t]; m->name; m++) {
			if (!strcmp(m->name, value)) {
				o->unwind = m;
				return NULL;
			}
			if (used < sizeof(known))
				used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
							 used ? ", " : "", m->name);
		}
	}
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "%s %s: no such way to unwind", name,
					     value),
			     "known: %s", known);
}

static const struct option selectors[] = {
	{'e', "event", "events", "NAME,...", set_events, "events, by alias (brk) or kernel name"},
	{0, "comm", "comms", "NAME,...|/RE/", set_comms, "threads by name"},
	{'p', "pid", NULL, "PID,...", set_pids, "processes"},
	{0, "tid", NULL, "TID,...", set_tids, "threads"},
	{'C', "cpu", NULL, "CPU,...", set_cpus, "CPUs"},
	{'d', "dso", "dsos", "NAME,...|/RE/", set_dsos,
	 "stacks with a frame in this file (path or last part)"},
	{'S', "symbol", "symbols", "NAME,...|/RE/", set_symbols,
	 "stacks with a frame in this function"},
	{0, "time", NULL, "A,B", set_time,
	 "from A to B seconds after the start; A, and ,B are open; 10%-20% are parts of the whole, "
	 "10%/2 the second tenth"},
	{0},
};

static const struct option others[] = {
	{'o', "output", NULL, "FILE", set_output_path,
	 "write there (mode 0600; what was there becomes FILE.old)"},
	{'i', "input", NULL, "FILE", add_file,
	 "a recording to read, as FILE does; - is standard input"},
	{0, "weight", NULL, "count|period", set_weight,
	 "what a stack weighs: samples (default), or their periods"},
	{0, "unwind", NULL, "METHOD", set_unwind, "how stacks are unwound, see below"},
	{0, "max-stack", NULL, "N", set_max_stack, "at most N user frames a stack (1024)"},
	{'j', "jobs", NULL, "N", set_workers,
	 "decode and unwind on N CPUs, by default all; the result is the same"},
	{0, "symfs", NULL, "DIR", set_symfs,
	 "the recorded machine's files are there: DIR/recorded path, then DIR/last part; what is "
	 "here counts only where its build id was recorded"},
	{0, "debug-dir", NULL, "DIR", set_debug_dir,
	 "look there for files that are not here: DIR/recorded path, DIR/last part, and "
	 "DIR/.build-id"},
	{0, "kallsyms", NULL, "FILE", set_kallsyms,
	 "kernel symbols from there; by default this machine's, where it is the boot that was "
	 "recorded"},
	{0, "inline", NULL, NULL, set_inline,
	 "name the functions that were inlined, too, where debug information is at hand (default)"},
	{0, "no-inline", NULL, NULL, set_inline, "only functions that were called"},
	{0, "srcline", NULL, NULL, set_srcline,
	 "add FILE:LINE to each function in --folded and --script"},
	{0, "no-demangle", NULL, NULL, set_no_demangle,
	 "C++ and Rust names as the linker sees them"},
	{0, "strict", NULL, "[PCT]", set_strict,
	 "exit 1 where records were lost, the file is damaged, or more than PCT percent of the "
	 "user stacks end early (1)"},
	{'q', "quiet", NULL, NULL, set_quiet, "no progress, and no remarks on standard error"},
	{'h', "help", NULL, NULL, set_help, "this text"},
	{'V', "version", NULL, NULL, set_version, "the version"},
	{0},
};

static const struct option *const tables[] = {selectors, others};

#define TABLES (sizeof(tables) / sizeof(tables[0]))

/* An option as typed: a row, or one of the analyses or outputs. */
struct found {
	const struct option *option;
	const struct mt_analysis *analysis;
	const struct mt_output *output;
	const char *name;
	size_t matches; /* rows that begin with what was typed */
};

static void consider(struct found *found, const char *typed, size_t length, const char *name,
		     const struct found *candidate)
{
	if (!name || strncmp(name, typed, length) != 0)
		return;
	if (!name[length]) { /* in full: nothing else counts */
		*found = *candidate;
		found->name = name;
		found->matches = SIZE_MAX;
	} else if (found->matches != SIZE_MAX) {
		size_t matches = found->matches + 1;

		*found = *candidate;
		found->name = name;
		found->matches = matches;
	}
}

static struct found find_long(const char *typed, size_t length)
{
	struct found found = {0};

	for (size_t i = 0; mt_analyses[i]; i++)
		consider(&found, typed, length, mt_analyses[i]->name,
			 &(struct found){.analysis = mt_analyses[i]});
	for (size_t i = 0; mt_outputs[i]; i++)
		consider(&found, typed, length, mt_outputs[i]->name,
			 &(struct found){.output = mt_outputs[i]});
	for (size_t t = 0; t < TABLES; t++) {
		for (const struct option *o = tables[t]; o->name; o++) {
			consider(&found, typed, length, o->name, &(struct found){.option = o});
			if (found.matches == 0 || (o->also && strlen(o->also) == length))
				consider(&found, typed, length, o->also,
					 &(struct found){.option = o});
		}
	}
	return found;
}

static const struct option *find_letter(char letter)
{
	for (size_t t = 0; t < TABLES; t++) {
		for (const struct option *o = tables[t]; o->name; o++) {
			if (o->letter == letter)
				return o;
		}
	}
	return NULL;
}

/* "--a --b --c" of the analyses, then the outputs. */
static void known_names(char *out, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; mt_analyses[i] && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, " --%s", mt_analyses[i]->name);
	if (used < size)
		used += (size_t)snprintf(out + used, size - used, "; outputs:");
	for (size_t i = 0; mt_outputs[i] && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, " --%s", mt_outputs[i]->name);
}

static struct mt_error *unknown_option(const char *typed)
{
	char known[512];

	known_names(known, sizeof(known));
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "unknown option %s", typed),
			     "analyses:%s; all options: mtreport --help", known);
}

/* What is parsed and what was already chosen. */
struct parser {
	struct mt_report_options options;
	int argc;
	char *const *argv;
	int at; /* the word in hand */
};

static struct mt_error *choose(struct parser *parser, const struct found *found, const char *value)
{
	struct mt_report_options *o = &parser->options;

	if (value)
		return mt_error_create(MT_ERR_USAGE, "--%s takes no value", found->name);
	if (found->analysis) {
		if (o->analysis && o->analysis != found->analysis)
			return mt_error_create(MT_ERR_USAGE,
					       "--%s and --%s: one analysis at a time",
					       o->analysis->name, found->name);
		o->analysis = found->analysis;
		return NULL;
	}
	if (o->output && o->output != found->output)
		return mt_error_create(MT_ERR_USAGE, "--%s and --%s: one output at a time",
				       o->output->name, found->name);
	o->output = found->output;
	return NULL;
}

/* The option's value from behind '=' or, where it needs one, the next word. */
static struct mt_error *apply(struct parser *parser, const struct option *option, const char *name,
			      const char *value)
{
	bool needs = option->argument && *option->argument != '[';

	if (!option->argument && value)
		return mt_error_create(MT_ERR_USAGE, "%s takes no value", name);
	if (needs && !value) {
		if (parser->at + 1 >= parser->argc)
			return mt_error_create(MT_ERR_USAGE, "%s needs a value: %s %s", name, name,
					       option->argument);
		value = parser->argv[++parser->at];
	}
	return option->set(&parser->options, name, value);
}

static struct mt_error *parse_long(struct parser *parser, const char *word)
{
	const char *equals = strchr(word, '=');
	size_t length = equals ? (size_t)(equals - word) : strlen(word);
	const char *value = equals ? equals + 1 : NULL;
	struct found found = find_long(word + 2, length - 2);
	char name[64];

	if (!found.matches || length == 2)
		return unknown_option(word);
	if (found.matches > 1 && found.matches != SIZE_MAX)
		return mt_error_create(MT_ERR_USAGE, "%s is the beginning of several options",
				       word);
	if (!found.option)
		return choose(parser, &found, value);
	snprintf(name, sizeof(name), "--%s", found.name);
	return apply(parser, found.option, name, value);
}

static struct mt_error *parse_letters(struct parser *parser, const char *word)
{
	struct mt_error *err = NULL;

	for (const char *at = word + 1; *at && !err; at++) {
		const struct option *option = find_letter(*at);
		char name[3] = {'-', *at, '\0'};

		if (!option)
			return unknown_option(word);
		if (option->argument && *option->argument != '[')
			return apply(parser, option, name, at[1] ? at + 1 : NULL);
		err = apply(parser, option, name, NULL);
	}
	return err;
}

static struct mt_error *parse_words(struct parser *parser)
{
	bool options_ended = false;
	struct mt_error *err = NULL;

	for (parser->at = 1; parser->at < parser->argc && !err; parser->at++) {
		const char *word = parser->argv[parser->at];

		if (options_ended || word[0] != '-' || !word[1])
			err = add_file(&parser->options, word, word);
		else if (!strcmp(word, "--"))
			options_ended = true;
		else if (word[1] == '-')
			err = parse_long(parser, word);
		else
			err = parse_letters(parser, word);
		if (parser->options.help || parser->options.version)
			break;
	}
	return err;
}

struct mt_error *mt_report_options_parse(int argc, char *const *argv, struct mt_report_options *out)
{
	struct parser parser = {
		.argc = argc,
		.argv = argv,
		.options = {.max_stack = DEFAULT_MAX_STACK,
			    .strict_percent = 1,
			    .unwind = mt_unwind_methods},
	};
	struct mt_error *err = parse_words(&parser);

	if (!err && !parser.options.file_count)
		err = add_file(&parser.options, NULL, DEFAULT_FILE);
	if (err) {
		mt_report_options_deinit(&parser.options);
		return err;
	}
	if (!parser.options.analysis)
		parser.options.analysis = mt_analyses[0];
	if (!parser.options.output)
		parser.options.output = parser.options.analysis->output
						? mt_output_find(parser.options.analysis->output)
						: mt_outputs[0];
	*out = parser.options;
	return NULL;
}

void mt_report_options_deinit(struct mt_report_options *options)
{
	mt_selection_deinit(&options->selection);
	free(options->files);
}

/* ---- Help ---- */

/* Prints text from the column on, broken between words. */
static void print_help_text(const char *text, size_t used, FILE *to)
{
	size_t column = HELP_COLUMN;

	if (used + 2 > HELP_COLUMN)
		fprintf(to, "\n%*s", HELP_COLUMN, "");
	else
		fprintf(to, "%*s", (int)(HELP_COLUMN - used), "");
	for (bool first = true; *text; first = false) {
		size_t word = strcspn(text, " ");

		if (!first && column + 1 + word > HELP_WIDTH) {
			fprintf(to, "\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		} else if (!first) {
			fputc(' ', to);
			column++;
		}
		fprintf(to, "%.*s", (int)word, text);
		column += word;
		text += word + (text[word] == ' ');
	}
	fputc('\n', to);
}

static void print_option(const struct option *o, FILE *to)
{
	bool optional = o->argument && *o->argument == '[';
	char text[80];
	int used = snprintf(text, sizeof(text), "  %c%c%c --%s%s%s%s", o->letter ? '-' : ' ',
			    o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name,
			    optional	  ? "[="
			    : o->argument ? " "
					  : "",
			    o->argument ? o->argument + optional : "", "");

	fputs(text, to);
	print_help_text(o->help, (size_t)used, to);
}

/* dashes: "--" where the name is an option of its own. */
static void print_row(const char *dashes, const char *name, const char *help, bool is_default,
		      FILE *to)
{
	char text[64];
	int used = snprintf(text, sizeof(text), "      %s%s%s", dashes, name,
			    is_default ? " (default)" : "");

	fputs(text, to);
	print_help_text(help, (size_t)used, to);
}

void mt_report_options_help(FILE *to)
{
	fputs("Usage: mtreport [ANALYSIS] [OUTPUT] [selectors] [FILE...]\n"
	      "Reads what mtrec recorded: " DEFAULT_FILE ", or the files named (- is standard\n"
	      "input); several make one report.\n"
	      "\nAnalyses, what the report is about:\n",
	      to);
	for (size_t i = 0; mt_analyses[i]; i++)
		print_row("--", mt_analyses[i]->name, mt_analyses[i]->help, !i, to);
	fputs("\nOutputs, how it is shown:\n", to);
	for (size_t i = 0; mt_outputs[i]; i++)
		print_row("--", mt_outputs[i]->name, mt_outputs[i]->help, !i, to);
	fputs("\nSelectors, which samples count (all that are given must hold):\n", to);
	for (const struct option *o = selectors; o->name; o++)
		print_option(o, to);
	fputs("\nOther options:\n", to);
	for (const struct option *o = others; o->name; o++)
		print_option(o, to);
	fputs("\nWays to unwind:\n", to);
	for (size_t t = 0; t < METHOD_TABLES; t++) {
		for (const struct mt_unwind_method *m = methods[t]; m->name; m++)
			print_row("", m->name, m->help, m == mt_unwind_methods, to);
	}
	fputs("\nExamples:\n"
	      "  mtreport                                       a screenful on " DEFAULT_FILE "\n"
	      "  mtreport --folded -e page-faults > out.folded  for any flame graph tool\n"
	      "  mtreport --comm mariadbd --time 10,20 db.mtr   one program, ten seconds of it\n"
	      "  mtreport --script h.mtr | gprof2dot -f perf    for what reads perf script\n"
	      "\nExit status: 0; 1 --strict found loss, damage or stacks that end early; 2 usage;\n"
	      "3 unreadable; 4 nothing matched, or no samples; 5 the output failed.\n",
	      to);
}
