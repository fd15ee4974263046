/*
 * The parser, driven by the option tables. It accepts --name VALUE, --name=VALUE, -x VALUE,
 * -xVALUE, -xyz for flags, and unambiguous prefixes of long names; -- ends the options.
 */
#include "report/cli/options.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/base/array.h"
#include "formats/base/err.h"
#include "formats/base/nearest.h"
#include "report/analyses/analyses.h"
#include "report/analyses/rows/suppressions.h"
#include "report/cli/option_table.h"
#include "report/cli/registry.h"
#include "report/outputs/outputs.h"
#include "report/session/timespan.h"
#include "unwind/unwind.h"

enum {
	DEFAULT_MAX_STACK = 4096,
};

/* An option as typed: an option of a table, or the name of an analysis or output. */
struct found {
	const struct mt_option *option;
	const struct mt_analysis *analysis;
	const struct mt_output *output;
	const char *name;
	size_t matches; /* number of rows whose names begin with the typed text */
};

static void consider(struct found *found, const char *typed, size_t length, const char *name,
		     const struct found *candidate)
{
	if (!name || strncmp(name, typed, length) != 0)
		return;
	if (!name[length]) { /* the full name was typed: other matches do not count */
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
	for (size_t t = 0; t < MT_OPTION_GROUPS; t++) {
		for (const struct mt_option *o = mt_option_groups[t].options; o->name; o++) {
			consider(&found, typed, length, o->name, &(struct found){.option = o});
			if (found.matches == 0 || (o->also && strlen(o->also) == length))
				consider(&found, typed, length, o->also,
					 &(struct found){.option = o});
		}
	}
	return found;
}

static const struct mt_option *find_letter(char letter)
{
	for (size_t t = 0; t < MT_OPTION_GROUPS; t++) {
		for (const struct mt_option *o = mt_option_groups[t].options; o->name; o++) {
			if (o->letter == letter)
				return o;
		}
	}
	return NULL;
}

/* Lists the options of analyses, then of outputs: "--a --b --c". */
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

/* The long name that is most similar, or NULL. */
static const char *meant(const char *typed)
{
	const char *name = typed + strspn(typed, "-");
	struct mt_nearest nearest = {.typed = name, .length = strcspn(name, "=")};

	for (size_t i = 0; mt_analyses[i]; i++)
		mt_nearest_offer(&nearest, mt_analyses[i]->name);
	for (size_t i = 0; mt_outputs[i]; i++)
		mt_nearest_offer(&nearest, mt_outputs[i]->name);
	for (size_t t = 0; t < MT_OPTION_GROUPS; t++) {
		for (const struct mt_option *o = mt_option_groups[t].options; o->name; o++)
			mt_nearest_offer(&nearest, o->name);
	}
	return nearest.best;
}

static struct mt_error *unknown_option(const char *typed)
{
	struct mt_error *err = mt_error_create(MT_ERR_USAGE, "unknown option %s", typed);
	const char *name = meant(typed);
	char known[512];

	if (name)
		return mt_error_hint(err, "did you mean --%s? all options: mtreport --help all",
				     name);
	known_names(known, sizeof(known));
	return mt_error_hint(err, "analyses:%s; all options: mtreport --help all", known);
}

/* The options parsed so far, and the current word. */
struct parser {
	struct mt_report_options options;
	int argc;
	char *const *argv;
	int at;	    /* the current word */
	bool chose; /* the current word named an analysis or an output */
};

/* Takes the word after an option that needs a value. If there is none, returns an error. */
static struct mt_error *take_word(struct parser *parser, const char *name, const char *argument,
				  const char **out)
{
	if (parser->at + 1 >= parser->argc)
		return mt_error_create(MT_ERR_USAGE, "%s needs a value: %s %s", name, name,
				       argument);
	*out = parser->argv[++parser->at];
	return NULL;
}

/* Takes the value of an output: the file to write, or the subject. */
static struct mt_error *take_output_file(struct parser *parser, const struct mt_output *output,
					 const char *value)
{
	bool subject = output->needs & MT_TAKES_SUBJECT;
	struct mt_error *err = NULL;
	char name[64];

	snprintf(name, sizeof(name), "--%s", output->name);
	if (!value)
		err = take_word(parser, name, output->argument, &value);
	if (!err && !*value)
		err = mt_error_create(MT_ERR_USAGE, "%s: a %s is needed", name,
				      subject ? "function or a file" : "file name");
	*(subject ? &parser->options.subject : &parser->options.output_argument) = value;
	return err;
}

/* Takes the value of an analysis. */
static struct mt_error *take_argument(struct parser *parser, const struct mt_analysis *analysis,
				      const char *value)
{
	char name[64];
	struct mt_error *err = NULL;

	snprintf(name, sizeof(name), "--%s", analysis->name);
	if (!value)
		err = take_word(parser, name, analysis->argument, &value);
	parser->options.wishes.argument = value;
	return err;
}

/* True for --summary and --json, in any order. */
static bool is_pair(const struct mt_output *a, const struct mt_output *b)
{
	return (a == &mt_output_summary && b == &mt_output_json) ||
	       (a == &mt_output_json && b == &mt_output_summary);
}

static struct mt_error *choose(struct parser *parser, const struct found *found, const char *value)
{
	struct mt_report_options *o = &parser->options;

	parser->chose = true;
	if (value && !(found->output && found->output->argument) &&
	    !(found->analysis && found->analysis->argument))
		return mt_error_create(MT_ERR_USAGE, "--%s takes no value", found->name);
	if (found->analysis) {
		if (o->analysis && o->analysis != found->analysis)
			return mt_error_create(MT_ERR_USAGE,
					       "--%s and --%s: one analysis at a time",
					       o->analysis->name, found->name);
		o->analysis = found->analysis;
		return o->analysis->argument ? take_argument(parser, o->analysis, value) : NULL;
	}
	if (o->output && is_pair(o->output, found->output)) {
		o->output = &mt_output_summary_json;
		return NULL;
	}
	if (o->output && o->output != found->output)
		return mt_error_create(MT_ERR_USAGE, "--%s and --%s: one output at a time",
				       o->output->name, found->name);
	o->output = found->output;
	return o->output->argument ? take_output_file(parser, o->output, value) : NULL;
}

/*
 * The next word, if it is the option's optional value. For --timeline that is a length of time,
 * which is not used as a file name. For --help it is any word, because --help reads no file.
 */
static const char *next_value(const struct parser *parser, const struct mt_option *option)
{
	const char *word = parser->at + 1 < parser->argc ? parser->argv[parser->at + 1] : NULL;
	struct mt_error *err;
	double seconds;

	if (!word || !option->argument)
		return NULL;
	if (!strcmp(option->argument, "[all]"))
		return *word == '-' ? NULL : word;
	if (strcmp(option->argument, "[T]") != 0)
		return NULL;
	err = mt_seconds_parse("", word, &seconds);
	mt_error_destroy(err);
	return err ? NULL : word;
}

/* Keeps an option that follow-up commands repeat. */
static struct mt_error *keep_given(struct mt_report_options *o, const struct mt_option *option,
				   const char *value)
{
	if (!mt_option_is_repeated(option))
		return NULL;
	(void)mt_array_grow((void **)&o->given, &o->given_capacity, o->given_count + 1,
			    sizeof(*o->given));
	o->given[o->given_count++] = (struct mt_given_option){
		.name = option->name,
		.letter = option->letter,
		.value = value,
		.attached = value && *option->argument == '[',
	};
	return NULL;
}

/* Applies an option. The value comes after '=' or, if the option needs one, is the next word. */
static struct mt_error *apply(struct parser *parser, const struct mt_option *option,
			      const char *name, const char *value)
{
	bool needs = option->argument && *option->argument != '[';
	struct mt_error *err;

	if (!option->argument && value)
		return mt_error_create(MT_ERR_USAGE, "%s takes no value", name);
	if (needs && !value) {
		err = take_word(parser, name, option->argument, &value);
		if (err)
			return err;
	} else if (!value) {
		value = next_value(parser, option);
		parser->at += value != NULL;
	}
	err = mt_option_take(option, &parser->options, name, value);
	return err ? err : keep_given(&parser->options, option, value);
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
		const struct mt_option *option = find_letter(*at);
		char name[3] = {'-', *at, '\0'};

		if (!option)
			return unknown_option(word);
		if (option->argument &&
		    (*option->argument != '[' || (!strncmp(option->argument, "[=", 2) && at[1])))
			return apply(parser, option, name, at[1] ? at + 1 : NULL);
		err = apply(parser, option, name, NULL);
	}
	return err;
}

/* Skips a command of perf, unless a file has that name. */
static int skip_command(struct parser *parser)
{
	const char *word = parser->argc > 1 ? parser->argv[1] : "";
	bool script = !strcmp(word, "script");
	struct stat st;

	if ((!script && strcmp(word, "report") != 0) || (!stat(word, &st) && !S_ISDIR(st.st_mode)))
		return 1;
	if (script)
		parser->options.output = &mt_output_script;
	return 2;
}

/* Keeps the words from `first` to the current one, unless they chose an analysis or an output. */
static struct mt_error *keep_words(struct parser *parser, int first)
{
	struct mt_report_options *o = &parser->options;

	for (int i = first; i <= parser->at && i < parser->argc && !parser->chose; i++) {
		(void)mt_array_grow((void **)&o->words, &o->word_capacity, o->word_count + 1,
				    sizeof(*o->words));
		o->words[o->word_count++] = parser->argv[i];
	}
	return NULL;
}

static struct mt_error *parse_words(struct parser *parser)
{
	bool options_ended = false;
	struct mt_error *err = NULL;

	for (parser->at = skip_command(parser); parser->at < parser->argc && !err; parser->at++) {
		const char *word = parser->argv[parser->at];
		int first = parser->at;

		parser->chose = false;
		if (options_ended || word[0] != '-' || !word[1])
			err = mt_option_add_file(&parser->options, word, word);
		else if (!strcmp(word, "--"))
			options_ended = true;
		else if (word[1] == '-')
			err = parse_long(parser, word);
		else
			err = parse_letters(parser, word);
		err = err ? err : keep_words(parser, first);
		if (parser->options.help || parser->options.version)
			break;
	}
	return err;
}

/*
 * The output if none is named: the default of the analysis, or a table for keys that the default
 * cannot show. If no analysis is named either, it is the summary for the keys that it can be
 * grouped by.
 */
static const struct mt_output *default_output(const struct mt_report_options *options,
					      bool analysis_named)
{
	const struct mt_by_list *by = &options->wishes.by;
	const char *name = options->analysis->output;

	if (!analysis_named && !options->sorted && by->count == 1 &&
	    (MT_BY_OF_SCREEN & MT_BY_BIT(by->keys[0])) && !options->wishes.timeline &&
	    !options->wishes.compare && !options->wishes.stacks && !options->wishes.weight)
		return &mt_output_summary;
	if (options->sorted && mt_by_has(&options->wishes.by, MT_BY_STACK) &&
	    !options->wishes.compare && !options->wishes.timeline)
		return &mt_output_paths;
	if ((!name || !strcmp(name, mt_output_paths.name)) &&
	    (options->wishes.by.count || options->wishes.timeline || options->wishes.compare ||
	     options->wishes.stacks))
		name = mt_output_table.name;
	return name ? mt_output_find(name) : mt_outputs[0];
}

/* A copy has one recording and no report. Only a perf.data copy may have a part of it. */
static struct mt_error *check_copy(const struct mt_report_options *o)
{
	const char *name;

	if (o->embed && o->copy != MT_COPY_SEAL)
		return mt_error_create(MT_ERR_USAGE, "--embed says what --seal OUT is to carry");
	if (!o->copy)
		return NULL;
	name = mt_copy_name(o->copy);
	if (o->analysis || o->output || o->output_path || mt_baseline_given(&o->baseline))
		return mt_error_create(MT_ERR_USAGE,
				       "%s copies the recording: no report, and no -o", name);
	if (o->copy != MT_COPY_PERFDATA && mt_selection_given(&o->selection))
		return mt_error_create(MT_ERR_USAGE, "%s copies the whole recording: no selectors",
				       name);
	if (o->file_count > 1)
		return mt_error_create(MT_ERR_USAGE, "%s copies one file", name);
	return NULL;
}

/* Outputs about the recording itself do not depend on an analysis. */
static struct mt_error *check_info(const struct mt_report_options *o)
{
	if (o->output == &mt_output_info && o->analysis && o->analysis != mt_analyses[0])
		return mt_error_create(
			MT_ERR_USAGE,
			"--%s tells where the recording comes from, and shows no --%s",
			o->output->name, o->analysis->name);
	return NULL;
}

/* Checks an output that takes a file name, and its picture options. */
static struct mt_error *check_picture(struct mt_report_options *o)
{
	if (o->output_argument && o->output_path)
		return mt_error_create(MT_ERR_USAGE, "--%s names the file to write: no -o",
				       o->output->name);
	if (o->output_argument)
		o->output_path = o->output_argument;
	if (o->flame.given && o->output != &mt_output_flamegraph)
		return mt_error_create(MT_ERR_USAGE, "%s says how --flamegraph OUT.svg draws",
				       o->flame.given);
	if ((o->source_paths.count || o->source_paths.directory_count) &&
	    o->output != &mt_output_annotate && o->output != &mt_output_html)
		return mt_error_create(MT_ERR_USAGE,
				       "--source and --source-path say where --annotate "
				       "and --html find sources");
	if (o->assembly && o->output != &mt_output_annotate)
		return mt_error_create(MT_ERR_USAGE, "--asm says what --annotate shows");
	if (o->assembly && o->wishes.compare)
		return mt_error_create(MT_ERR_USAGE, "--base and --asm exclude each other");
	return mt_picture_options_check(o);
}

/* Options that depend on the end of the recording are refused with --follow. */
static struct mt_error *check_follow(const struct mt_report_options *o)
{
	const struct mt_at *at = &o->wishes.at;
	const char *alongside = o->copy					    ? mt_copy_name(o->copy)
				: o->wishes.compare			    ? "--base"
				: o->selection.time.percent		    ? "--time in percent"
				: o->wishes.timeline && !o->wishes.interval ? "--timeline without T"
				: at->when == MT_AT_TIME && !at->clock && at->seconds < 0
					? "--at in percent"
					: NULL;

	if (o->follow == 0)
		return NULL;
	if (o->file_count > 1)
		return mt_error_create(MT_ERR_USAGE, "--follow reads one file");
	return alongside ? mt_error_create(MT_ERR_USAGE, "--follow and %s exclude each other",
					   alongside)
			 : NULL;
}

static struct mt_error *check_words(struct mt_report_options *o)
{
	struct mt_error *err = check_copy(o);

	err = err ? err : check_info(o);
	err = err ? err : check_picture(o);
	return err ? err : check_follow(o);
}

/* States are compared as of the end of each part of time, whenever the memory was reserved. */
static void compare_moments(struct mt_report_options *o)
{
	o->begins = o->selection.time.from;
	o->base_begins = o->baseline.time.from;
	if (o->wishes.compare && o->analysis->moments)
		o->selection.time.from = o->wishes.time.from = o->baseline.time.from = 0;
}

/* A page of a whole recording has all analyses of stacks, and begins with the one named. */
static struct mt_error *show_recording(struct mt_report_options *o)
{
	if (!(o->output->needs & MT_SHOWS_RECORDING))
		return NULL;
	if (!o->analysis->groups || o->analysis->judges ||
	    !(o->analysis->by & MT_BY_BIT(MT_BY_STACK)))
		return mt_error_create(MT_ERR_USAGE,
				       "--%s shows all analyses that sum up stacks, and --%s does "
				       "not",
				       o->output->name, o->analysis->name);
	o->shown_first = o->analysis->name;
	o->analysis = mt_analyses[0];
	return NULL;
}

struct mt_error *mt_report_options_parse(int argc, char *const *argv, struct mt_report_options *out)
{
	struct parser parser = {
		.argc = argc,
		.argv = argv,
		.options = {.max_stack = DEFAULT_MAX_STACK,
			    .strict_percent = 1,
			    .unwind = mt_unwind_methods,
			    .wish = {.names = true, .unwind = true}},
	};
	struct mt_error *err = parse_words(&parser);
	bool analysis_named;

	if (!err && !parser.options.file_count)
		err = mt_option_add_file(&parser.options, NULL, MT_REPORT_DEFAULT_FILE);
	err = err || parser.options.help || parser.options.version ? err
								   : check_words(&parser.options);
	if (!err && parser.options.scan && parser.options.unwind != mt_unwind_methods)
		err = mt_error_create(MT_ERR_USAGE, "--scan goes with --unwind auto");
	if (err) {
		mt_report_options_deinit(&parser.options);
		return err;
	}
	analysis_named = parser.options.analysis;
	if (!analysis_named)
		parser.options.analysis = mt_analyses[0];
	if (!parser.options.output)
		parser.options.output = default_output(&parser.options, analysis_named);
	if (parser.options.baseline.per && !parser.options.wishes.compare) {
		mt_report_options_deinit(&parser.options);
		return mt_error_create(MT_ERR_USAGE,
				       "--per measures a base: --base FILE or --base-time A,B");
	}
	err = show_recording(&parser.options);
	if (err) {
		mt_report_options_deinit(&parser.options);
		return err;
	}
	compare_moments(&parser.options);
	*out = parser.options;
	return NULL;
}

void mt_report_options_deinit(struct mt_report_options *options)
{
	mt_selection_deinit(&options->selection);
	mt_match_destroy(options->ours);
	mt_suppressions_destroy(options->wishes.suppress);
	mt_match_destroy(options->not_ours);
	free(options->files);
	free(options->words);
	free(options->given);
}
