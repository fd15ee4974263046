/*
 * Reads recordings for a report, one after another: opens the files, tracks events, tasks and
 * address spaces, and returns the selected samples in order of time, with task, space, weight and
 * stack.
 */
#ifndef MT_REPORT_SESSION_SESSION_H
#define MT_REPORT_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/reader.h"
#include "report/names/naming.h"
#include "report/stacks/session_sample.h"

struct mt_attr;
struct mt_error;
struct mt_event_record;
struct mt_facts;
struct mt_facts_blocks;
struct mt_facts_durations;
struct mt_facts_event;
struct mt_facts_unseen;
struct mt_frames;
struct mt_gauge_record;
struct mt_image_map;
struct mt_input;
struct mt_kernel_record;
struct mt_loss_record;
struct mt_map_record;
struct mt_match;
struct mt_naming;
struct mt_reader_news;
struct mt_sample;
struct mt_selection;
struct mt_session;
struct mt_session_sample;
struct mt_space;
struct mt_stacks;
struct mt_strings;
struct mt_task;
struct mt_reported_stack;
struct mt_unwind_method;

/*
 * The kind of an observed record: a statement about the recording (TASK, MAP, GAUGE, LOSS, EVENT),
 * a kernel record, a sample or mark, or the recording's end, which comes after all stacks.
 */
enum mt_observed_kind {
	MT_OBSERVED_TASK,
	MT_OBSERVED_MAP,
	MT_OBSERVED_GAUGE,
	MT_OBSERVED_LOSS,
	MT_OBSERVED_EVENT,
	MT_OBSERVED_KERNEL,
	MT_OBSERVED_SAMPLE,
	MT_OBSERVED_END,
};

/* Valid during the call. Pointers that a kind does not have are NULL. */
struct mt_observed {
	enum mt_observed_kind kind;
	uint32_t recording; /* index into facts->recordings */
	uint32_t event;	    /* EVENT, SAMPLE, LOSS: index into facts->events, or MT_EVENT_NONE */
	uint64_t serial;    /* SAMPLE: the record's serial number, rising */
	uint64_t time;
	bool selected; /* SAMPLE: selected, so its stack will be known */
	bool marks;    /* SAMPLE: selected exit of a call, recorded without a stack */
	/*
	 * SAMPLE, TASK: the task. KERNEL: the task of COMM, EXIT, MMAP and MMAP2, and the child of
	 * FORK, after the record is applied. GAUGE: the process at the start of the recording, or
	 * NULL; in a growing recording, the process now.
	 */
	const struct mt_task *task;
	/*
	 * KERNEL: the task's space before the record is applied; for FORK the space of the parent.
	 * MAP: the space of the process, or NULL.
	 */
	const struct mt_space *space;
	const struct mt_attr *attr;
	const struct mt_sample *sample;
	const struct mt_kernel_record *kernel;
	const struct mt_map_record *map;
	bool again; /* MAP: from a later reading */
	const struct mt_gauge_record *gauge;
	const struct mt_loss_record *loss;
	const struct mt_event_record *described; /* EVENT */
};

/*
 * Sees every record of a report in order of time as it is read, selected or not. Stacks of samples
 * are known later: observe() defers an item with mt_session_defer(), and deliver() takes the item.
 * For analyses of a whole recording, such as the ledger.
 */
struct mt_observer {
	void *context;
	/* Restricts the session to the events for which wants() is true; NULL: no restriction. */
	bool (*wants)(void *context, const struct mt_facts_event *event);
	void (*observe)(void *context, const struct mt_observed *observed); /* or NULL */
	/*
	 * Takes an item of mt_session_defer(). For a selected sample, `stack` is its stack, and
	 * `selected` is false if --dso or --symbol exclude the stack. Else MT_STACK_NONE and false.
	 */
	void (*deliver)(void *context, void *item, uint32_t stack, bool selected);
	size_t item_size;
	/* Sees each sample that mt_session_next() returns, before the caller does; or NULL. */
	void (*given)(void *context, const struct mt_session_sample *sample);
};

/*
 * How a session waits for more of a recording that is still being written. The session reads all
 * complete records, and calls wait() when there are no more.
 */
struct mt_session_growth {
	const struct mt_input *input; /* read in place of the only file */
	/*
	 * Return samples as soon as they are read. Otherwise samples are returned as for a complete
	 * recording, so that results are the same.
	 */
	bool at_once;
	bool update; /* the present end is not treated as a cut */
	/*
	 * Waits, and calls mt_session_advance(). Sets *end to have the remainder read as if the
	 * recording were cut at its present end.
	 */
	struct mt_error *(*wait)(void *context, struct mt_session *session, bool *end);
	void *context;
};

struct mt_session_options {
	const char *const *files; /* borrowed; "-": standard input */
	size_t file_count;
	const struct mt_session_growth *growth; /* NULL: the files are complete */
	const struct mt_selection *selection;	/* borrowed */
	bool before;	/* use the first count in lines of folded stacks with two counts */
	bool stacks;	/* unwind each sample */
	bool addresses; /* set the address and source of each frame in samples */
	bool regions;	/* look up the region at each sample's address */
	/* Selects events by kernel name; NULL: all events. */
	bool (*wants)(const char *event);
	/* Return counts of group members ({a,b}:S) as separate samples. */
	bool members;
	bool images; /* list images in the facts at the end */
	bool no_demangle;
	/*
	 * Selectors by path or file name for images that are the program's code, and for images
	 * that are not; or NULL.
	 */
	const struct mt_match *ours, *not_ours;
	bool inlined, lines; /* name inlined functions; find source files and lines */
	const struct mt_unwind_method *method;
	uint32_t max_frames;
	bool scan; /* scan the stack for callers as a last resort (unwind/word_scan.c) */
	/* Complete truncated stacks from other stacks (unwind/join/join.h). */
	bool joining;
	unsigned int workers; /* threads that decode and unwind, the caller included; 0: 1 */
	bool spare_workers; /* use only the calling thread if more threads would not be worth it */
	bool prefer_local;  /* prefer this machine's files to carried ones */
	struct mt_directories symfs;	  /* roots with the recorded machine's files */
	const char *debug_dir;		  /* folder with debug files, or NULL */
	struct mt_debuginfod *debuginfod; /* server to ask for missing files; or NULL */
	/* kallsyms file for any boot; NULL: this machine's, for recordings of its boot. */
	const char *kallsyms;
	/* Called from time to time with the part of the work that is done, 0 to 1; may be NULL. */
	void (*progress)(void *context, double done);
	void *progress_context;
};

/* Opens every file. Borrows options and everything they point to until destroyed. */
struct mt_error *mt_session_open(const struct mt_session_options *options, struct mt_session **out);
void mt_session_destroy(struct mt_session *session);

/*
 * True if the input has reported stacks; with `pairs`, only if each has two counts, before and now.
 */
bool mt_session_has_reported(const struct mt_session *session, bool pairs);

/* True if the recording is still being written, so statements may come after data. */
bool mt_session_grows(const struct mt_session *session);

/* With growth: the result of mt_reader_advance() for the input. `earlier` stays true once set. */
struct mt_error *mt_session_advance(struct mt_session *session, struct mt_reader_news *out);

/* Reads the next sample. *more is false after the last one; the facts are then complete. */
struct mt_error *mt_session_next(struct mt_session *session, struct mt_session_sample *out,
				 bool *more);

/* Reads the session to its end; `take`, if not NULL, gets each sample. */
struct mt_error *mt_session_read(struct mt_session *session,
				 void (*take)(void *context,
					      const struct mt_session_sample *sample),
				 void *context);

/*
 * True if the selectors accept something that this task did at this time and that has no sample.
 * False if they select events, CPUs or stacks.
 */
bool mt_session_selects(const struct mt_session *session, const struct mt_task *task,
			uint64_t time);

/*
 * Adds an observer of all later records. Call before the first sample. Borrowed until
 * mt_session_ignore() removes it.
 */
void mt_session_observe(struct mt_session *session, const struct mt_observer *observer);
void mt_session_ignore(struct mt_session *session, const struct mt_observer *observer);

/*
 * A zeroed item of observer->item_size bytes, for observe() to fill. observer->deliver() takes it
 * once all items before it are taken and, for a selected sample, the stack is known. Valid until
 * the next item is deferred.
 */
void *mt_session_defer(struct mt_session *session, const struct mt_observer *observer,
		       const struct mt_observed *observed);

/*
 * The tables that the ids in samples refer to, borrowed as long as the session. Stacks and frames
 * are NULL without options.stacks.
 */
const struct mt_facts *mt_session_facts(const struct mt_session *session);
/* The selectors that the session was opened with. */
const struct mt_selection *mt_session_selection(const struct mt_session *session);
/* Adds calls that were not recorded to the facts; `process` is one of the session's strings. */
void mt_session_add_unseen(struct mt_session *session, const struct mt_facts_unseen *unseen);

/* Adds counts of missing and unreadable allocator calls to the facts. */
void mt_session_add_blocks(struct mt_session *session, const struct mt_facts_blocks *blocks);

/* Adds incomplete durations to the facts. */
void mt_session_add_durations(struct mt_session *session,
			      const struct mt_facts_durations *durations);

/* Notes in the facts that rows include unmarked memory of ended processes. */
void mt_session_add_ended(struct mt_session *session);
/* The cgroup of a thread's process after the records read so far: a string id; 0: unknown. */
uint32_t mt_session_cgroup(const struct mt_session *session, int32_t tid);
struct mt_strings *mt_session_strings(struct mt_session *session);
struct mt_stacks *mt_session_stacks(struct mt_session *session);
struct mt_frames *mt_session_frames(struct mt_session *session);
struct mt_naming *mt_session_naming(struct mt_session *session);

/* The id of a reported stack in mt_session_stacks(). */
uint32_t mt_session_reported_stack(struct mt_session *session,
				   const struct mt_reported_stack *reported);

/* Image ids are below this number. */
uint32_t mt_session_image_count(const struct mt_session *session);

/* The recorded path of an image id; "[unknown]" for MT_FRAME_NO_IMAGE. */
const char *mt_session_image_path(const struct mt_session *session, uint32_t image);
/* mt_image_shown() of an image id. */
const char *mt_session_image_shown(const struct mt_session *session, uint32_t image);

/*
 * A problem with the debug information of an image read so far, and the image's path; NULL: none.
 */
const char *mt_session_lines_problem(const struct mt_session *session, const char **path);

/* Prints lines about images without names, each starting with `prefix`. */
void mt_session_print_missing_names(const struct mt_session *session, const char *prefix, FILE *to);

#endif
