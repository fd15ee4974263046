/* mtrec: records what makes memory grow. Only this file prints messages and exits. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "record/cli/check.h"
#include "record/cli/list.h"
#include "record/cli/options.h"
#include "record/cli/stats.h"
#include "record/probes/probe_events.h"
#include "record/probes/probes.h"
#include "record/recorder.h"
#include "record/state/existing.h"
#include "record/tracepoints/tracefs.h"

enum exit_status {
	EXIT_CLEAN = 0,
	EXIT_USAGE = 2,
	EXIT_CANNOT = 3,
	EXIT_NOTHING = 4,
	EXIT_OUTPUT = 5,
	EXIT_FAILED_ALONGSIDE_COMMAND = 125,
	EXIT_CANNOT_EXECUTE = 126,
	EXIT_NO_COMMAND = 127,
};

/* Output of this program: messages go to standard error, counts go there or to the file of -o. */
struct speaker {
	const struct mt_record_options *options;
	FILE *counts;
	bool shows_status; /* the cursor is on the status line */
	unsigned said[2];  /* notes and warnings so far */
	unsigned left_out; /* number of notes and warnings not printed */
};

#define NOTES_MAX 3 /* per level */
#define CLEAR_LINE "\r\033[K"

static void say(void *context, int level, const char *text)
{
	struct speaker *speaker = context;

	if (speaker->options->quiet || level > 1 + speaker->options->verbose)
		return;
	if (level <= 1 && !speaker->options->verbose && ++speaker->said[level] > NOTES_MAX) {
		speaker->left_out++;
		return;
	}
	fprintf(stderr, "%smtrec: %s\n", speaker->shows_status ? CLEAR_LINE : "", text);
	speaker->shows_status = false;
}

/* Says where the notes that were not printed can be found. */
static void print_left_out(const struct speaker *speaker, const char *where)
{
	if (speaker->left_out)
		fprintf(stderr, "mtrec: %u more notes: %s\n", speaker->left_out, where);
}

/*
 * Returns true if a status line disturbs no output. Standard error must be a terminal to which the
 * command, if there is one, does not write. Only the command sleep, the usual timer, is known to
 * write nothing.
 */
static bool wants_status(const struct mt_record_options *options)
{
	const char *terminal = getenv("TERM"), *name = options->command ? options->command[0] : "";
	const char *slash = strrchr(name, '/');

	return isatty(STDERR_FILENO) && !options->quiet &&
	       !(terminal && !strcmp(terminal, "dumb")) &&
	       (!options->command || !strcmp(slash ? slash + 1 : name, "sleep"));
}

/* Returns false in a background job, which must leave the terminal to the foreground job. */
static bool in_foreground(void)
{
	pid_t group = tcgetpgrp(STDERR_FILENO);

	return group < 0 || group == getpgrp();
}

/* Draws the status line over the previous one. Clears the line if progress is NULL. */
static void show(void *context, const struct mt_progress *progress)
{
	struct speaker *speaker = context;
	struct winsize window = {0};
	char line[MT_LINE_SIZE];

	if (speaker->shows_status)
		fputs(CLEAR_LINE, stderr);
	speaker->shows_status = progress && in_foreground();
	if (!speaker->shows_status)
		return;
	mt_status_line(progress, line);
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) || !window.ws_col)
		window.ws_col = 80;
	fprintf(stderr, "%.*s", window.ws_col - 1, line); /* a full line would wrap */
}

static bool print(void *context, const char *text)
{
	const struct speaker *speaker = context;

	return fputs(text, speaker->counts) >= 0 && !fflush(speaker->counts);
}

/*
 * Prints and destroys an error. Returns the exit status: 2 for a usage error, else 125 with a
 * command, else 5 if the output failed, else 3.
 */
static int fail(struct mt_error *err, bool with_command)
{
	int status = err->kind == MT_ERR_USAGE	  ? EXIT_USAGE
		     : with_command		  ? EXIT_FAILED_ALONGSIDE_COMMAND
		     : err->kind == MT_ERR_OUTPUT ? EXIT_OUTPUT
						  : EXIT_CANNOT;

	mt_error_print(err, "mtrec", stderr);
	mt_error_destroy(err);
	return status;
}

static void print_closing_line(const struct mt_record_options *options,
			       const struct mt_recorder_result *result)
{
	const struct mt_progress progress = {.seconds = result->seconds,
					     .samples = result->counts.samples,
					     .lost = result->lost,
					     .raw_bytes = result->counts.raw_bytes,
					     .written = result->written};
	char line[MT_LINE_SIZE];

	if (options->quiet)
		return;
	mt_closing_line(&progress, line);
	fprintf(stderr, "mtrec: %s -> %s\n", line,
		strcmp(options->output, "-") ? options->output : "standard output");
}

static int command_exit(const struct mt_record_options *options,
			const struct mt_recorder_result *result)
{
	int status = result->command_status;

	if (result->exec_errno) {
		fprintf(stderr, "mtrec: cannot run %s: %s\n", options->command[0],
			strerror(result->exec_errno));
		return result->exec_errno == ENOENT ? EXIT_NO_COMMAND : EXIT_CANNOT_EXECUTE;
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Returns true if there are samples, or if only gauges were requested (-e memory). */
static bool has_enough(const struct mt_record_options *options,
		       const struct mt_recorder_result *result)
{
	bool gauges = options->events.count;

	for (size_t i = 0; i < options->events.count; i++)
		gauges &= !strcmp(options->events.items[i], "memory");
	return gauges || result->counts.samples;
}

static int record(const struct mt_record_options *options, int argc, char **argv)
{
	struct speaker speaker = {.options = options, .counts = stderr};
	struct mt_recorder_voice voice = {&speaker, say, print,
					  wants_status(options) ? show : NULL};
	struct mt_recorder_result result;
	struct mt_error *err = mt_recorder_run(options, argc, argv, &voice, &result);

	if (err)
		return fail(err, options->command);
	if (result.stats)
		fputs(result.stats, stderr);
	free(result.stats);
	print_left_out(&speaker, "mtreport --info shows them all");
	if (!result.exec_errno)
		print_closing_line(options, &result);
	if (result.output_error)
		return fail(result.output_error, options->command);
	if (!result.exec_errno && !has_enough(options, &result) && !options->quiet)
		fprintf(stderr, "mtrec: no sample came while it recorded\n");
	if (options->command)
		return command_exit(options, &result);
	return has_enough(options, &result) ? EXIT_CLEAN : EXIT_NOTHING;
}

static int count(const struct mt_record_options *options, int argc, char **argv)
{
	struct speaker speaker = {.options = options, .counts = stderr};
	struct mt_recorder_voice voice = {&speaker, say, print, NULL};
	struct mt_recorder_result result;
	struct mt_error *err;

	if (options->output && !strcmp(options->output, "-"))
		speaker.counts = stdout;
	else if (options->output)
		speaker.counts = fopen(options->output, "we");
	if (!speaker.counts) {
		err = mt_error_os(errno, "cannot write %s", options->output);
		err->kind = MT_ERR_OUTPUT;
		return fail(err, options->command);
	}
	err = mt_recorder_run(options, argc, argv, &voice, &result);
	print_left_out(&speaker, "-v prints them all");
	if (!err && result.output_error)
		err = result.output_error;
	if (speaker.counts != stdout && speaker.counts != stderr)
		fclose(speaker.counts);
	if (err)
		return fail(err, options->command);
	return options->command ? command_exit(options, &result) : EXIT_CLEAN;
}

/* Returns the width of standard output in columns; 0 if it is not a terminal. */
static size_t columns(void)
{
	struct winsize window = {0};

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) || window.ws_col < MT_LIST_WIDTH_MIN)
		return 80;
	return window.ws_col;
}

/* Lists the events, or with -p USDT probes. Without access to tracefs, also prints the error. */
static struct mt_error *list(const struct mt_record_options *options)
{
	struct mt_probe_targets targets = {.pids = &options->pids, .tids = &options->tids};
	size_t count;
	struct mt_error *err;

	if (options->pids.count)
		return mt_probes_list_usdt(&targets, options->list_pattern, stdout);
	err = mt_list_events(options->list_pattern, columns(), stdout, &count);

	if (!err || !count)
		return err;
	mt_error_print(err, "mtrec", stderr);
	mt_error_destroy(err);
	return NULL;
}

/* Removes the probes that killed recorders left in tracefs. */
static struct mt_error *clean(void)
{
	struct mt_tracefs tracefs;
	size_t kept = 0, removed = 0;
	struct mt_error *err = NULL;

	mt_tracefs_open(&tracefs);
	if (tracefs.dir < 0)
		err = mt_error_create(MT_ERR_PERMISSION, "--clean: %s",
				      mt_tracefs_why_not(&tracefs));
	else
		err = mt_probe_events_sweep(tracefs.dir, &removed, &kept);
	mt_tracefs_close(&tracefs);
	if (err)
		return mt_error_hint(err, "probes are removed by root");
	printf("%zu probes of recorders that are gone are removed\n", removed);
	if (kept)
		return mt_error_create(MT_ERR_OS, "--clean: %zu probes are still in use", kept);
	return NULL;
}

static int check(const struct mt_record_options *options)
{
	struct mt_check check;
	struct mt_error *err = mt_check_host(options->tracepoint_ids, &check);

	if (err)
		return fail(err, false);
	mt_check_print(&check, stdout);
	if (ferror(stdout) | fflush(stdout))
		return fail(mt_error_create(MT_ERR_OUTPUT, "cannot write to standard output"),
			    false);
	mt_check_deinit(&check);
	return check.can_record ? EXIT_CLEAN : EXIT_CANNOT;
}

static int act(const struct mt_record_options *options, int argc, char **argv)
{
	struct mt_error *err = NULL;

	switch (options->action) {
	case MT_ACTION_HELP:
		mt_record_options_help(options->help_topic, stdout);
		break;
	case MT_ACTION_VERSION:
		puts("mtrec " MT_VERSION);
		break;
	case MT_ACTION_LIST:
		err = list(options);
		break;
	case MT_ACTION_CHECK:
		return check(options);
	case MT_ACTION_CLEAN:
		err = clean();
		break;
	case MT_ACTION_COUNT:
		return count(options, argc, argv);
	case MT_ACTION_RECORD:
		return record(options, argc, argv);
	}
	if (!err && (ferror(stdout) | fflush(stdout)))
		err = mt_error_create(MT_ERR_OUTPUT, "cannot write to standard output");
	return err ? fail(err, false) : EXIT_CLEAN;
}

/* Opens /dev/null as any closed standard stream, so that no opened file receives the messages. */
static void fill_standard_streams(void)
{
	int fd = open("/dev/null", O_RDONLY); /* read-only, so that writing there still fails */

	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = dup(fd);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	struct mt_record_options options;
	struct mt_error *err;
	int status;

	fill_standard_streams();
	err = mt_record_options_parse(argc, argv, &options);
	if (err)
		return fail(err, false);
	if (options.children && !mt_existing_add_children(&options.pids, getpid()))
		status = fail(mt_error_nomem(), options.command);
	else
		status = act(&options, argc, argv);
	mt_record_options_deinit(&options);
	return status;
}
