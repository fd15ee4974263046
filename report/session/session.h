/*
 * Reading recordings for a report: opens the files, keeps events, tasks and address spaces as the
 * records tell of them, and gives the samples that the selectors leave, in time order, each with
 * its task, space, weight and stack. One recording after the other.
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
struct mt_facts_event;
struct mt_facts_unseen;
struct mt_frames;
struct mt_gauge_record;
struct mt_image_map;
struct mt_kernel_record;
struct mt_loss_record;
struct mt_map_record;
struct mt_naming;
struct mt_sample;
struct mt_selection;
struct mt_session;
struct mt_space;
struct mt_stacks;
struct mt_strings;
struct mt_task;
struct mt_unwind_method;

/*
 * What a record that an observer is shown says: one that tells of the recording, one of the
 * kernel's, a sample or mark, or that the recording ends, when all stacks have been told.
 */
enum mt_observed_kind {
	MT_OBSERVED_MAP,
	MT_OBSERVED_GAUGE,
	MT_OBSERVED_LOSS,
	MT_OBSERVED_EVENT,
	MT_OBSERVED_KERNEL,
	MT_OBSERVED_SAMPLE,
	MT_OBSERVED_END,
};

/* Views that hold during the call; what its kind does not have is NULL. */
struct mt_observed {
	enum mt_observed_kind kind;
	uint32_t recording; /* index in facts->recordings */
	uint32_t event;	    /* index in facts->events: EVENT, SAMPLE; LOSS, or MT_EVENT_NONE */
	uint64_t serial;    /* of the record: rises; SAMPLE */
	uint64_t time;
	bool selected;		      /* SAMPLE: its stack will be told */
	const struct mt_task *task;   /* SAMPLE: whose; KERNEL: of COMM, EXIT, MMAP, MMAP2, and the
					 child of FORK; as it is behind the record */
	const struct mt_space *space; /* KERNEL: the task's before the record; FORK: the parent's */
	const struct mt_attr *attr;
	const struct mt_sample *sample;
	const struct mt_kernel_record *kernel;
	const struct mt_map_record *map;
	bool again; /* MAP: of a later reading */
	const struct mt_gauge_record *gauge;
	const struct mt_loss_record *loss;
	const struct mt_event_record *described; /* EVENT */
};

/*
 * Sees every record of a report in order of time as it is read, whatever the selectors say, and is
 * told the stacks of the selected samples later, in the same order. For what has to follow all of a
 * recording: the ledger. Its functions give false out of memory.
 */
struct mt_observer {
	void *context;
	/* Whether samples of this event may be given at all; NULL: it is shown what others want. */
	bool (*wants)(void *context, const struct mt_facts_event *event);
	bool (*observe)(void *context, const struct mt_observed *observed);
	/* wanted: false where the stack's selectors leave it out. */
	bool (*stack)(void *context, uint64_t serial, uint32_t stack, bool wanted);
};

struct mt_session_options {
	const char *const *files; /* borrowed; "-" is standard input */
	size_t file_count;
	const struct mt_selection *selection; /* borrowed */
	bool stacks;			      /* unwind each sample */
	bool places;	/* frames for mt_session_place(), without stacks too */
	bool addresses; /* give address and source of each frame too */
	bool regions;	/* look up what is mapped at each sample's address */
	/* Only samples of events of which this is true; NULL: all. */
	bool (*wants)(const char *event);
	bool members; /* give what events grew by that were counted beside others ({a,b}:S) */
	bool images;  /* list the images in the facts at the end */
	bool no_demangle;
	bool inlined, lines; /* name what was inlined; give files and lines */
	const struct mt_unwind_method *method;
	uint32_t max_frames;
	bool scan;	/* guess at callers where nothing else is left (unwind/word_scan.c) */
	bool joining;	/* what a dump was too small for is taken from other stacks
			   (unwind/join/join.h) */
	bool stitching; /* hardware call stacks go on with earlier ones (unwind/branches/stitch.h)
			 */
	unsigned int workers;	     /* threads that decode and unwind, this one counted; 0: 1 */
	bool spare_workers;	     /* this one alone where the others would not pay */
	bool prefer_local;	     /* this machine's files before what recordings carry */
	struct mt_directories symfs; /* with the recorded machine's files */
	const char *debug_dir;	     /* with files that are not here, or NULL */
	struct mt_debuginfod *debuginfod; /* asked for what is not at hand; or NULL */
	const char *kallsyms; /* kernel symbols to use whatever the recording's boot; NULL: this
				 machine's if it is that boot */
	/* Called now and then with the part of the work that is done, 0 to 1; may be NULL. */
	void (*progress)(void *context, double done);
	void *progress_context;
};

/* Opens every file. options (and what they point to) are borrowed until destroyed. */
struct mt_error *mt_session_open(const struct mt_session_options *options, struct mt_session **out);
void mt_session_destroy(struct mt_session *session);

/* The next sample; *more false at the end of the last recording, when the facts are complete. */
struct mt_error *mt_session_next(struct mt_session *session, struct mt_session_sample *out,
				 bool *more);

/*
 * The frame that a code address of the sample given last is in, kernel or user; MT_FRAME_NONE out
 * of memory. For sessions with options.places.
 */
uint32_t mt_session_place(struct mt_session *session, const struct mt_session_sample *sample,
			  uint64_t address);

/*
 * Whether something that no sample tells of, in this task at that time, would be selected: never
 * where events, CPUs or stacks are.
 */
bool mt_session_selects(const struct mt_session *session, const struct mt_task *task,
			uint64_t time);

/*
 * Shows it all records that are read from now on; before the first sample is asked for. Borrowed.
 */
void mt_session_observe(struct mt_session *session, const struct mt_observer *observer);

/*
 * What the ids in samples refer to; borrowed as long as the session. stacks and frames are NULL
 * without options.stacks; options.places makes frames, too.
 */
const struct mt_facts *mt_session_facts(const struct mt_session *session);
/* Adds to its facts; `process` is one of its strings. False out of memory. */
bool mt_session_add_unseen(struct mt_session *session, const struct mt_facts_unseen *unseen);

/* Notes in its facts that memory of processes which ended is shown and not marked. */
void mt_session_add_ended(struct mt_session *session);
struct mt_strings *mt_session_strings(struct mt_session *session);
struct mt_stacks *mt_session_stacks(struct mt_session *session);
struct mt_frames *mt_session_frames(struct mt_session *session);
struct mt_naming *mt_session_naming(struct mt_session *session);

/* The recorded path of an image, by its id in frames; "[unknown]" for MT_FRAME_NO_IMAGE. */
const char *mt_session_image_path(const struct mt_session *session, uint32_t image);

/*
 * What is wrong with the debug information of the images that frames were named in, so far, and
 * which image; NULL where nothing is.
 */
const char *mt_session_lines_problem(const struct mt_session *session, const char **path);

/* Lines, each beginning with prefix, on images that frames could not be named in. */
void mt_session_print_missing_names(const struct mt_session *session, const char *prefix, FILE *to);

#endif
