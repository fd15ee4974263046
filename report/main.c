/*
 * mtreport: options, session, analysis, output and exit status. The only file of the reporter that
 * writes to standard error.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/foreign_file.h"
#include "formats/base/memory.h"
#include "formats/base/pool.h"
#include "formats/chunks/chunk.h"
#include "report/alongside.h"
#include "report/analyses/analyses.h"
#include "report/analyses/rows/suppressions.h"
#include "report/cli/options.h"
#include "report/cli/registry.h"
#include "report/cli/request.h"
#include "report/copies/perf_export.h"
#include "report/copies/seal.h"
#include "report/copies/strip.h"
#include "report/follow.h"
#include "report/nothing.h"
#include "report/outfile.h"
#include "report/outputs/json.h"
#include "report/outputs/outputs.h"
#include "report/session/session.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/text.h"
#include "report/view.h"
#include "symbols/images/debuginfod.h"

#ifndef MT_VERSION
#define MT_VERSION "unknown"
#endif

#define TOOL "mtreport"

enum status {
	STATUS_OK = 0,
	STATUS_STRICT = 1,
	STATUS_USAGE = 2,
	STATUS_UNREADABLE = 3,
	STATUS_NOTHING = 4,
	STATUS_OUTPUT = 5,
};

MT_DEFINE_CLEANUP(mt_alongside, struct mt_alongside)
MT_DEFINE_CLEANUP(mt_debuginfod, struct mt_debuginfod)
MT_DEFINE_CLEANUP(mt_follow, struct mt_follow)
MT_DEFINE_CLEANUP(mt_session, struct mt_session)
MT_DEFINE_CLEANUP(mt_table, struct mt_table)

/* Prints and destroys the error, and returns its exit status. */
static enum status fail(struct mt_error *err)
{
	enum status status = err->kind == MT_ERR_USAGE	     ? STATUS_USAGE
			     : err->kind == MT_ERR_OUTPUT    ? STATUS_OUTPUT
			     : err->kind == MT_ERR_NOT_FOUND ? STATUS_NOTHING
							     : STATUS_UNREADABLE;

	/*
	 * `mtreport ... | head`: the reader that closed the pipe needs no message, and others see
	 * the exit status
	 */
	if (err->kind != MT_ERR_OUTPUT || err->errnum != EPIPE)
		mt_error_print(err, TOOL, stderr);
	mt_error_destroy(err);
	return status;
}

/* Progress, shown on a terminal once the work has taken a while. */
struct progress {
	struct timespec began;
	long shown_ms; /* when the progress was last drawn; 0: never */
	double last, most;
	int passes, passed; /* recordings to read (two for a comparison), and those read */
};

static long elapsed_ms(const struct progress *progress)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - progress->began.tv_sec) * 1000 +
	       (now.tv_nsec - progress->began.tv_nsec) / 1000000;
}

/*
 * Records are nearly in order of time, but records on state are not. So the value is kept from
 * falling.
 */
static void note_progress(struct progress *progress, double done)
{
	progress->passed += done + 0.5 < progress->last && progress->passed + 1 < progress->passes;
	progress->last = done;
	done = (progress->passed + done) / progress->passes;
	progress->most = done > progress->most ? done : progress->most;
}

static void show_progress(void *context, double done)
{
	struct progress *progress = context;
	long ms = elapsed_ms(progress);

	note_progress(progress, done);
	if (ms < 700 || ms - progress->shown_ms < 200)
		return;
	fprintf(stderr, "\r" TOOL ": %3.0f %%", 100 * progress->most);
	if (progress->most > 0.02)
		fprintf(stderr, ", %.0f s left  ",
			(double)ms / 1e3 * (1 - progress->most) / progress->most);
	progress->shown_ms = ms;
}

static void end_progress(struct progress *progress)
{
	if (progress->shown_ms)
		fputs("\r                                   \r", stderr);
	progress->shown_ms = 0;
}

static bool is_recording(const char *path)
{
	char magic[MT_CHUNK_MAGIC_SIZE];
	struct stat status;
	MT_CLEANUP_CLOSE int fd = mt_foreign_open(AT_FDCWD, path, MT_LINKS_ALL, &status);

	return fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
	       (!memcmp(magic, MT_CHUNK_MAGIC, sizeof(magic)) ||
		!memcmp(magic, "PERFILE2", sizeof(magic)));
}

/* Writing over a recording would destroy it. A copy may replace an earlier copy. */
static struct mt_error *check_output_path(const struct mt_report_options *options)
{
	const char *path = options->copy ? options->copy_path : options->output_path;
	struct stat out, in;

	if (!path || stat(path, &out))
		return NULL;
	for (size_t i = 0; i < options->file_count; i++) {
		if (S_ISREG(out.st_mode) && !stat(options->files[i], &in) &&
		    in.st_dev == out.st_dev && in.st_ino == out.st_ino)
			return mt_error_create(MT_ERR_USAGE, "%s: that is the recording itself",
					       path);
	}
	if (!options->copy && is_recording(path))
		return mt_error_create(MT_ERR_USAGE,
				       "%s: that is a recording, and a report does not replace it",
				       path);
	return NULL;
}

/* Prints a line without control characters. */
static void print_clean_line(const char *text)
{
	mt_text_print_clean(text, stderr);
	fputc('\n', stderr);
}

static void print_remark(void *context, const char *remark)
{
	(void)context;
	fputs(TOOL ": ", stderr);
	print_clean_line(remark);
}

/* Prints limits of the figures: before a report in text, on standard error for data. */
static void print_limits(const struct mt_report_options *options, const struct mt_view *view,
			 const struct mt_facts *facts, FILE *to)
{
	unsigned int needs = options->analysis->needs |
			     (mt_view_alongside(view, "growth") ? MT_NEEDS_GROWTH : 0);
	MT_CLEANUP_FREE char *text = mt_preconditions_describe(needs, facts);

	if (!text)
		return;
	if (options->output->needs & MT_FOR_READERS)
		mt_text_print_wrapped("", "", text, view->width, to);
	else if (!options->quiet)
		print_remark(NULL, text);
}

/* Prints the limits of a comparison: the base may have been shorter, or had fewer events. */
static void print_scale(const struct mt_report_options *options, const struct mt_view *view,
			const struct mt_table *table, FILE *to)
{
	const char *per = options->baseline.per;
	char text[200];

	if (!table->compared || fabs(table->base_scale - 1) < 0.005)
		return;
	snprintf(text, sizeof(text),
		 "the base's figures are multiplied by %.3g, to the same %.80s: --per none shows "
		 "them as they are",
		 table->base_scale, per ? per : "time");
	if (options->output->needs & MT_FOR_READERS)
		mt_text_print_wrapped("", "", text, view->width, to);
	else if (!options->quiet)
		print_remark(NULL, text);
}

/* Prints which figures the output left out. A table without figures leaves nothing out. */
static void print_remainder(const struct mt_remainder *remainder, const char *output,
			    const struct mt_table *table, size_t value)
{
	if (remainder->below_zero <= -0.5)
		fprintf(stderr,
			TOOL ": %s %s of shrinking are left out: --%s has no room for what is "
			     "below 0; --table shows it%s\n",
			mt_text_count(-remainder->below_zero).text, table->values[value].unit,
			output,
			table->compared
				? ""
				: ", and --base FILE or --base-time A,B has two columns: before, "
				  "now");
	if (remainder->narrow)
		fprintf(stderr,
			TOOL ": %s frames narrower than %.2g pixels are not drawn; their %s %s are "
			     "counted in their callers\n",
			mt_text_count((double)remainder->narrow).text, remainder->narrow_pixels,
			mt_text_count(remainder->narrow_sum).text, table->values[value].unit);
}

static struct mt_error *write_table(const struct mt_report_options *options,
				    const struct mt_view *view, struct mt_table *table, FILE *to)
{
	struct mt_view weighed = *view;
	struct mt_remainder remainder = {0};
	struct mt_limited_table limited;
	const char *weight = table->compared ? "change" : options->wishes.weight;
	struct mt_error *err = mt_table_weight(table, weight, &weighed.value);

	weighed.weighed = weight && !table->compared && !table->by_weight;
	weighed.remainder = &remainder;
	if (!err && !(options->output->needs & MT_LIMITS_ROWS)) {
		err = mt_limited_table_init(&limited, table, weighed.value, &view->limit);
		table = &limited.table;
	}
	err = err ? err : mt_output_write(options->output, &weighed, table, to);
	if (!err && !options->quiet)
		print_remainder(&remainder, options->output->name, table, weighed.value);
	return err;
}

/* Writes a report on one line, so that a reader of --follow sees where each report ends. */
static struct mt_error *write_json_line(const struct mt_report_options *options,
					const struct mt_view *view, struct mt_table *table,
					FILE *to)
{
	MT_CLEANUP_FREE char *text = NULL;
	size_t size = 0;
	FILE *memory = mt_open_text(&text, &size);
	struct mt_error *err = write_table(options, view, table, memory);

	if (fclose(memory))
		mt_memory_failed();
	if (!err)
		mt_json_line(text, to);
	return err;
}

/* The recording of the report, and the base of a comparison, or NULL. */
struct sides {
	struct mt_session *session;
	struct mt_baseline *baseline;
	struct mt_follow *follow; /* --follow, borrowed; or NULL */
	bool gauged;		  /* the output shows gauges of the selection */
	bool none;		  /* the table has no row */
	bool empty;		  /* there is no answer: the events or the time were not recorded */
};

static void sides_deinit(struct sides *sides)
{
	mt_baseline_destroy(sides->baseline);
	mt_session_destroy(sides->session);
}

/* The facts of the base, or NULL. */
static const struct mt_facts *base_facts(const struct sides *sides)
{
	return sides->baseline ? mt_session_facts(mt_baseline_session(sides->baseline)) : NULL;
}

/* Number of selected samples, and of calls without a sample that a ledger saw. */
static uint64_t selected(const struct sides *sides)
{
	const struct mt_facts *facts = mt_session_facts(sides->session);
	uint64_t count = facts->selected + facts->marks;

	if (!sides->baseline)
		return count;
	facts = mt_session_facts(mt_baseline_session(sides->baseline));
	return count + facts->selected + facts->marks;
}

/* Whether there is anything to show: samples, or output that needs none. */
static bool has_rows(const struct mt_report_options *options, const struct sides *sides)
{
	return !sides->empty && (options->analysis->states || sides->gauged || selected(sides));
}

/* Sets sides->none if the table has no row, and sides->empty if that is not an answer. */
static struct mt_error *check_rows(const struct mt_report_options *options, struct mt_table *table,
				   struct sides *sides)
{
	struct mt_error *err;

	if (options->analysis == mt_analyses[0])
		return NULL;
	sides->empty = mt_nothing_ends_before_time(options, mt_session_facts(sides->session)) > 0;
	if (sides->empty)
		return NULL;
	err = mt_table_is_empty(table, &sides->none);
	sides->empty =
		sides->none &&
		mt_nothing_to_analyse(options, mt_session_facts(sides->session), base_facts(sides));
	return err;
}

static struct mt_error *analyse(const struct mt_report_options *options,
				const struct mt_analysis_request *request,
				const struct sides *sides, struct mt_table **out)
{
	MT_CLEANUP(mt_table_destroy_p) struct mt_table *now = NULL;
	struct mt_error *err;

	if (!sides->baseline)
		return mt_analysis_run(options->analysis, sides->session, request, out);
	err = mt_analysis_run(options->analysis, sides->session, request, &now);
	return err ? err
		   : mt_baseline_compare(sides->baseline, options->analysis, request,
					 sides->session, now, out);
}

/* Runs analysis and output. */
static struct mt_error *report(const struct mt_report_options *options,
			       const struct mt_analysis_request *request, struct sides *sides,
			       struct progress *progress)
{
	MT_CLEANUP(mt_table_destroy_p) struct mt_table *table = NULL;
	MT_CLEANUP(mt_alongside_destroy_p)
	struct mt_alongside *alongside =
		mt_alongside_listen(options, sides->session, sides->baseline);
	MT_CLEANUP(mt_outfile_abandon) struct mt_outfile out = {.fd = -1};
	struct mt_error *err = analyse(options, request, sides, &table);
	struct mt_view view;
	bool json_line;

	err = err ? err : mt_alongside_finish(alongside);
	if (!err && !sides->follow) /* with --follow, the recording may still reach the time */
		err = mt_nothing_at_times(options, mt_session_facts(sides->session),
					  base_facts(sides));
	if (err)
		return err;
	end_progress(progress);
	err = request->listing ? NULL : check_rows(options, table, sides);
	if (err)
		return err;
	sides->gauged = mt_alongside_is_gauged(alongside) &&
			mt_nothing_ends_before_time(options, mt_session_facts(sides->session)) <= 0;
	/* An existing file is not replaced if there is nothing to write. */
	if (!request->listing && !has_rows(options, sides) &&
	    !(options->output->needs & MT_REPORTS_FACTS))
		return NULL;
	err = mt_outfile_open(options->output_path, &out);
	if (err)
		return err;
	view = mt_report_view(options, sides->session, out.fd);
	json_line = sides->follow && !request->listing && (options->output->needs & MT_IS_JSON);
	if (sides->follow && !out.path && !json_line)
		mt_follow_begin(sides->follow, view.facts, out.file);
	if (alongside)
		mt_alongside_show(alongside, &view);
	view.gauged = sides->gauged;
	print_limits(options, &view, view.facts, out.file);
	if (sides->baseline)
		print_limits(options, &view, mt_session_facts(mt_baseline_session(sides->baseline)),
			     out.file);
	print_scale(options, &view, table, out.file);
	err = (json_line ? write_json_line : write_table)(options, &view, table, out.file);
	if (err)
		return err;
	return mt_outfile_commit(&out);
}

/* Prints remarks that a data output cannot contain. */
static void print_remarks(const struct mt_facts *facts)
{
	uint64_t lost = mt_facts_lost_all(facts), incomplete = mt_facts_incomplete(facts),
		 throttled = mt_facts_throttled(facts);
	char text[400];

	if (lost)
		fprintf(stderr, TOOL ": %s records were lost while recording (%s)\n",
			mt_text_count((double)lost).text,
			mt_text_percent((double)lost, (double)(lost + facts->samples)).text);
	if (throttled)
		fprintf(stderr,
			TOOL ": the kernel throttled sampling %s times, and nobody counted what it "
			     "left out\n",
			mt_text_count((double)throttled).text);
	for (size_t i = 0; i < facts->recordings.count; i++) {
		if (mt_facts_describe_damage(&facts->recordings.items[i], text, sizeof(text)))
			fprintf(stderr, TOOL ": %s: %s\n", facts->recordings.items[i].file, text);
	}
	if (facts->undecodable)
		fprintf(stderr, TOOL ": %s records could not be decoded\n",
			mt_text_count((double)facts->undecodable).text);
	if (incomplete)
		fprintf(stderr, TOOL ": %s of %s user stacks end early (%s)\n",
			mt_text_count((double)incomplete).text,
			mt_text_count((double)facts->user_stacks).text,
			mt_text_percent((double)incomplete, (double)facts->user_stacks).text);
	if (facts->kernel_problem)
		fprintf(stderr, TOOL ": kernel functions have no names: %s\n",
			facts->kernel_problem);
	mt_facts_report_unseen(facts, print_remark, NULL);
	if (facts->ended)
		fprintf(stderr, TOOL ": processes that exited or called exec are shown as they "
				     "stood just before; --by process marks them\n");
}

/* Reports damaged or partly missing debug information. Names then fall back to the symbol. */
static void print_lines_problem(const struct mt_session *session)
{
	const char *path, *problem = mt_session_lines_problem(session, &path);

	if (!problem)
		return;
	fputs(TOOL ": ", stderr);
	mt_text_print_clean(path, stderr);
	fputs(": inlined functions and lines are incomplete: ", stderr);
	print_clean_line(problem);
}

static void report_fetch(void *context, const char *line)
{
	end_progress(context);
	print_remark(NULL, line);
}

static struct mt_error *open_debuginfod(const struct mt_report_options *options,
					struct progress *progress, struct mt_debuginfod **out)
{
	struct mt_debuginfod_teller teller = {.context = progress};

	if (!options->debuginfod)
		return NULL;
	if (!options->quiet)
		teller.deliver = report_fetch;
	return mt_debuginfod_create(options->debuginfod_urls, teller, out);
}

static enum status judge(const struct mt_report_options *options, const struct mt_facts *facts)
{
	bool damaged = facts->undecodable;
	double allowed = options->strict_percent / 100 * (double)facts->user_stacks;

	bool lost = mt_facts_lost_all(facts) || mt_facts_throttled(facts);

	for (size_t i = 0; i < facts->recordings.count; i++)
		damaged |= mt_facts_damaged(&facts->recordings.items[i]);
	if (!options->strict ||
	    (!damaged && !lost && (double)mt_facts_incomplete(facts) <= allowed))
		return STATUS_OK;
	if (!options->quiet)
		fprintf(stderr, TOOL ": --strict: %s\n",
			damaged ? "the recording is damaged or cut short"
			: lost	? "records were lost"
				: "too many stacks end early");
	return STATUS_STRICT;
}

/* A listing appears while it is read: progress would be mixed into it. */
static bool wants_progress(const struct mt_report_options *options)
{
	bool listing = options->output->needs & MT_NEEDS_LISTING;

	return !options->quiet && options->follow == 0 && isatty(STDERR_FILENO) &&
	       !(listing && !options->output_path && isatty(STDOUT_FILENO));
}

static unsigned int online_cpus(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count < 1 ? 1 : count > MT_POOL_MAX ? MT_POOL_MAX : (unsigned int)count;
}

/* Prints remarks on both recordings, and returns the exit status. */
static enum status conclude(const struct mt_report_options *options, const struct sides *sides)
{
	const struct mt_facts *facts = mt_session_facts(sides->session), *base = base_facts(sides);
	enum status status;

	if (base && !options->quiet)
		print_remarks(base);
	if (!options->quiet && !(options->output->needs & MT_REPORTS_FACTS))
		print_remarks(facts);
	if (!options->quiet)
		mt_suppressions_report(options->wishes.suppress, print_remark, NULL);
	if (!options->quiet) {
		print_lines_problem(sides->session);
		mt_session_print_missing_names(sides->session, TOOL ": ", stderr);
	}
	if (!has_rows(options, sides)) {
		mt_nothing_explain(options, facts, TOOL ": ", stderr);
		return STATUS_NOTHING;
	}
	if (sides->none && !options->quiet)
		fprintf(stderr, TOOL ": --%s: none was seen%s\n", options->analysis->name,
			mt_selection_given(&options->selection) ? " of what was selected" : "");
	status = base ? judge(options, base) : STATUS_OK;
	return status == STATUS_OK ? judge(options, facts) : status;
}

/* Options common to all sessions here. */
static struct mt_session_options session_options_of(const struct mt_report_options *options,
						    struct progress *progress)
{
	return (struct mt_session_options){
		.files = options->files,
		.file_count = options->file_count,
		.selection = &options->selection,
		.ours = options->ours,
		.not_ours = options->not_ours,
		.no_demangle = options->no_demangle,
		.inlined = !options->no_inline,
		.lines = options->srcline || !options->no_inline,
		.method = options->unwind,
		.max_frames = options->max_stack,
		.joining = options->unwind == mt_unwind_methods && !options->no_join,
		.scan = options->scan,
		/* only a process with a single thread can fork */
		.workers = options->follow > 0 ? 1
			   : options->workers  ? options->workers
					       : online_cpus(),
		.spare_workers = !options->workers,
		.symfs = options->symfs,
		.prefer_local = options->prefer_local,
		.debug_dir = options->debug_dir,
		.kallsyms = options->kallsyms,
		.progress = wants_progress(options) ? show_progress : NULL,
		.progress_context = progress,
	};
}

/*
 * True if --follow ends a session before the end of the recording. *status is only set if the
 * session did not read the whole recording.
 */
static bool leave_early(struct mt_follow *follow, struct mt_error *err, enum status *status)
{
	switch (follow ? mt_follow_why(follow) : MT_FOLLOW_LAST) {
	case MT_FOLLOW_UPDATE:
		*status = err ? fail(err) : STATUS_OK;
		fflush(stderr);
		_exit(*status); /* this memory is a copy of the parent's */
	case MT_FOLLOW_ANEW:
	case MT_FOLLOW_ENOUGH:
		mt_error_destroy(err);
		*status = (enum status)mt_follow_status(follow);
		return true;
	default:
		return false;
	}
}

static enum status run(const struct mt_report_options *options, struct mt_follow *follow);

/* Folded stacks with two counts per line are both sides of a comparison. */
static enum status run_pairs(const struct mt_report_options *options)
{
	struct mt_report_options both = *options;

	if (!strcmp(options->files[0], "-"))
		return fail(mt_error_create(MT_ERR_USAGE, "standard input: two counts a line are "
							  "read twice: name a file"));
	both.baseline = (struct mt_baseline_options){
		.file = options->files[0], .per = "none", .before = true};
	both.wishes.compare = true;
	return run(&both, NULL);
}

/* Folded stacks contain no data on memory. */
static struct mt_error *check_reported(const struct mt_report_options *options,
				       const struct mt_session *session)
{
	if (options->analysis->reported || !mt_session_has_reported(session, false))
		return NULL;
	return mt_error_create(MT_ERR_NOT_FOUND,
			       "%s: has stacks and counts, not what --%s follows: that takes a "
			       "recording",
			       options->files[0], options->analysis->name);
}

static enum status run(const struct mt_report_options *options, struct mt_follow *follow)
{
	struct progress progress = {.passes = 1 + mt_baseline_given(&options->baseline)};
	struct mt_analysis_request request;
	struct mt_session_options session_options = session_options_of(options, &progress);
	MT_CLEANUP(mt_debuginfod_destroy_p) struct mt_debuginfod *debuginfod = NULL;
	MT_CLEANUP(sides_deinit) struct sides sides = {.follow = follow};
	struct mt_error *err = check_output_path(options);
	enum status status;

	err = err ? err : open_debuginfod(options, &progress, &debuginfod);
	session_options.debuginfod = debuginfod;
	err = err ? err
		  : mt_request_make(options->analysis, options->output, &options->wishes, &request);
	if (err)
		return fail(err);
	session_options.stacks = request.unwind;
	session_options.addresses =
		options->output->needs & MT_NEEDS_LISTING || options->analysis->sources;
	session_options.regions = options->analysis->regions;
	session_options.wants = options->analysis->wants;
	session_options.members = options->analysis->members;
	session_options.images = options->output->needs & MT_NEEDS_IMAGES;
	session_options.growth = follow ? mt_follow_growth(follow) : NULL;
	clock_gettime(CLOCK_MONOTONIC, &progress.began);
	err = mt_session_open(&session_options, &sides.session);
	if (err && !strcmp(options->files[0], "mtrec.mtr") && access("mtrec.mtr", F_OK))
		err = mt_error_hint(err, "record one: mtrec -a -- sleep 30");
	err = err ? err : check_reported(options, sides.session);
	if (!err && mt_session_has_reported(sides.session, true) &&
	    !mt_baseline_given(&options->baseline)) {
		mt_session_destroy(MT_TAKE(sides.session));
		return run_pairs(options);
	}
	if (!err && mt_baseline_given(&options->baseline))
		err = mt_baseline_open(&options->baseline, &session_options, &sides.baseline);
	err = err ? err : report(options, &request, &sides, &progress);
	end_progress(&progress);
	if (leave_early(follow, err, &status))
		return status;
	return err ? fail(err) : conclude(options, &sides);
}

/* ---- --follow ---- */

static volatile sig_atomic_t stop;

static void set_stop(int signal_number)
{
	(void)signal_number;
	stop = 1;
}

/* The first ^C ends the report after the data read so far, the second one ends it immediately. */
static enum status follow(const struct mt_report_options *options)
{
	MT_CLEANUP(mt_follow_destroy_p) struct mt_follow *follow = NULL;
	const struct sigaction action = {.sa_handler = set_stop, .sa_flags = (int)SA_RESETHAND};
	const struct mt_follow_options how = {
		.path = options->files[0],
		.interval = options->follow,
		.most = options->follow_count,
		.listing =
			(options->output->needs & MT_NEEDS_LISTING) || !options->analysis->groups,
		.stop = &stop,
	};
	struct mt_error *err;
	enum status status;

	sigaction(SIGINT, &action, NULL);
	err = mt_follow_create(&how, &follow);
	if (err)
		return fail(err);
	do
		status = run(options, follow);
	while (mt_follow_why(follow) == MT_FOLLOW_ANEW);
	return status;
}

/* ---- Copies ---- */

/* A session to make a copy from, and the copy's counts. */
struct copying {
	const struct mt_report_options *options;
	struct progress progress;
	struct mt_session *session;
	struct mt_strip_counts stripped;
	struct mt_seal_counts sealed;
	struct mt_perf_export_counts perf;
};

static void print_left_out(const struct mt_rewrite_counts *c, uint64_t samples)
{
	if (samples || c->damaged || c->unknown || c->records_left_out)
		fprintf(stderr,
			TOOL ": left out: %s chunks that are damaged or not known, %s records that "
			     "cannot be read\n",
			mt_text_count((double)(c->damaged + c->unknown)).text,
			mt_text_count((double)(samples + c->records_left_out)).text);
}

static void report_lack(void *context, const char *line)
{
	struct copying *c = context;

	end_progress(&c->progress);
	if (!c->options->quiet)
		print_remark(NULL, line);
}

static struct mt_error *strip(struct copying *c, int fd)
{
	const struct mt_report_options *options = c->options;
	char by[128];

	snprintf(by, sizeof(by), TOOL " " MT_VERSION ", --unwind %s --max-stack %u",
		 options->unwind->name, options->max_stack);
	return mt_strip(c->session, options->files[0], by, fd, &c->stripped);
}

static struct mt_error *seal(struct copying *c, int fd)
{
	char by[128];
	struct mt_seal_options how = {
		.wish = c->options->wish,
		.kallsyms = c->options->kallsyms,
		.by = by,
		.deliver = report_lack,
		.context = c,
	};

	snprintf(by, sizeof(by), TOOL " " MT_VERSION ", --embed %s",
		 c->options->embed ? c->options->embed : "unwind");
	return mt_seal(c->session, c->options->files[0], &how, fd, &c->sealed);
}

static struct mt_error *perfdata(struct copying *c, int fd)
{
	return mt_perf_export(c->session, c->options->files[0], fd, &c->perf);
}

static void print_copy(const struct copying *c)
{
	const char *path = c->options->copy_path;

	switch (c->options->copy) {
	case MT_COPY_STRIP:
		mt_strip_print(&c->stripped, TOOL, path, stderr);
		print_left_out(&c->stripped.copied, c->stripped.left_out);
		break;
	case MT_COPY_SEAL:
		mt_seal_print(&c->sealed, TOOL, path, stderr);
		print_left_out(&c->sealed.copied, 0);
		break;
	default:
		mt_perf_export_print(&c->perf, TOOL, path, stderr);
	}
}

static struct mt_error *write_copy(struct copying *c)
{
	static struct mt_error *(*const writes[])(struct copying * c, int fd) = {
		[MT_COPY_STRIP] = strip, [MT_COPY_SEAL] = seal, [MT_COPY_PERFDATA] = perfdata};
	MT_CLEANUP(mt_outfile_abandon) struct mt_outfile out = {.fd = -1};
	struct mt_error *err = mt_outfile_open(c->options->copy_path, &out);

	if (err)
		return err;
	err = writes[c->options->copy](c, out.fd);
	return err ? err : mt_outfile_commit(&out);
}

static enum status copy(const struct mt_report_options *options)
{
	struct copying c = {.options = options, .progress = {.passes = 1}};
	struct mt_session_options session_options = session_options_of(options, &c.progress);
	MT_CLEANUP(mt_debuginfod_destroy_p) struct mt_debuginfod *debuginfod = NULL;
	MT_CLEANUP(mt_session_destroy_p) struct mt_session *session = NULL;
	struct mt_error *err = check_output_path(options);
	bool sealing = options->copy == MT_COPY_SEAL;

	err = err ? err : open_debuginfod(options, &c.progress, &debuginfod);
	session_options.debuginfod = debuginfod;
	session_options.stacks = session_options.addresses = true;
	session_options.prefer_local |= sealing;
	session_options.members = options->copy == MT_COPY_PERFDATA;
	if (sealing)
		session_options.method = &mt_unwind_thorough;
	clock_gettime(CLOCK_MONOTONIC, &c.progress.began);
	err = err ? err : mt_session_open(&session_options, &session);
	c.session = session;
	err = err ? err : write_copy(&c);
	end_progress(&c.progress);
	if (err)
		return fail(err);
	if (!options->quiet)
		print_copy(&c);
	return STATUS_OK;
}

/* Prints the answer to --help or --version. */
static enum status answer(const struct mt_report_options *options)
{
	if (options->help)
		mt_report_options_help(options->help, stdout);
	else
		puts(TOOL " " MT_VERSION);
	return fflush(stdout) ? STATUS_OUTPUT : STATUS_OK;
}

/* Ends the program. May be called on any thread and in a signal handler. */
static void end_with(const char *text)
{
	ssize_t unused = write(STDERR_FILENO, text, strlen(text));

	(void)unused;
	mt_outfile_unlink_open();
	_exit(STATUS_UNREADABLE);
}

/* SIGBUS: an input file is mapped, and was truncated or cannot be read. Ends the report. */
static void unreadable(int signal_number)
{
	(void)signal_number;
	end_with(TOOL ": a file became shorter, or failed, while it was read\n");
}

static void out_of_memory(void)
{
	end_with(TOOL ": out of memory: report a part of the recording (--time, --pid, --comm), or "
		      "use a machine with more\n");
}

int main(int argc, char **argv)
{
	struct mt_report_options options;
	struct mt_error *err;
	enum status status;

	mt_memory_tune();
	mt_memory_set_end(out_of_memory);
	/* Names are UTF-8 in any environment; a UTF-8 locale has the widths of their characters. */
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		setlocale(LC_CTYPE, "");
	signal(SIGBUS, unreadable);
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is an output error, with its own exit status */
	err = mt_report_options_parse(argc, argv, &options);
	if (err)
		return fail(err);
	status = options.help || options.version ? answer(&options)
		 : options.copy			 ? copy(&options)
		 : options.follow > 0		 ? follow(&options)
						 : run(&options, NULL);
	mt_report_options_deinit(&options);
	return status;
}
