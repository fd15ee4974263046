/*
 * The parts of a session, for its own files alone: session.c (the files, and one recording after
 * the other), statements.c (the records that tell of the recording), data_records.c (those of what
 * happened), stack_choice.c (--dso and --symbol).
 */
#ifndef MT_REPORT_SESSION_SESSION_STATE_H
#define MT_REPORT_SESSION_SESSION_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/records/attr.h"
#include "formats/records/sample.h"
#include "report/session/session.h"
#include "report/tables/facts.h"
#include "report/tables/trace_fields.h"

struct mt_error;
struct mt_frames;
struct mt_naming;
struct mt_pipeline;
struct mt_pool;
struct mt_reader;
struct mt_record;
struct mt_byte_runs;
struct mt_spaces;
struct mt_unwinding;

/* An event as the present recording numbers it. */
struct mt_local_event {
	uint32_t event; /* index in facts.events */
	uint32_t role;
	uint32_t shorter; /* of a seed: the dumps of the event that it is one of, in bytes */
	struct mt_attr attr;
	double weight;	/* of its samples from now on */
	int64_t call;	/* which system call of raw_syscalls:*; -1: not such an event */
	bool wanted;	/* by -e, and of role 0, or a seed that stacks are joined with */
	size_t members; /* events that are counted beside its samples */
	struct mt_field clone_flags, clone_tid; /* of task:task_newtask */
};

/* One that is counted beside the samples of another. */
struct mt_member {
	struct mt_local_event *event, *leader;
	uint64_t grown; /* at the last sample; 0 where it is not wanted */
};

struct mt_session {
	const struct mt_session_options *options;
	MT_ARRAY(struct mt_reader *) readers;
	size_t reader, recording; /* the present ones: index of the file, and within it */
	bool reading;
	uint64_t records;
	uint64_t from, to; /* the wanted times of this recording */

	struct mt_strings *strings;
	struct mt_naming *naming;
	struct mt_spaces *spaces;
	struct mt_stacks *stacks;
	struct mt_frames *frames;
	struct mt_unwinding *unwinding;
	struct mt_pool *pool;
	struct mt_pipeline *pipeline; /* NULL: nobody asked for stacks */
	bool read_all;		      /* of this recording: what is left is in the pipeline */
	MT_ARRAY(uint8_t) verdicts;   /* by stack id */

	struct mt_map64 code;		 /* ids of images that are mapped executable */
	struct mt_map64 by_index;	 /* EVENT index to index in local */
	struct mt_map64 info_by_key;	 /* string id to index in the recording's info */
	struct mt_byte_runs *event_keys; /* what tells events apart, by index in facts.events */
	MT_ARRAY(struct mt_local_event *) local;
	MT_ARRAY(struct mt_member) members; /* in the order of their descriptions */
	size_t next_member;		    /* that is looked at for the sample read last */
	struct mt_session_sample beside;    /* that sample */
	struct mt_map64 counted;	    /* kernel ids and threads to counts */
	uint64_t counted_stack;		    /* serial of the sample whose stack was; 0 none yet */
	struct mt_facts facts;
	const struct mt_observer *observer; /* or NULL */
	struct mt_sample sample;	    /* the one given last */
};

/* Of the present recording: its index among all of them, counted over the files before. */
size_t mt_session_recording_index(const struct mt_session *session);

/* Its facts. */
struct mt_facts_recording *mt_session_present(struct mt_session *session);

/* When it began and ended, and the wanted times in it, as far as its records told by now. */
void mt_session_set_bounds(struct mt_session *session, struct mt_facts_recording *facts);

/* The event that its records call so; NULL for one that is not described. */
struct mt_local_event *mt_session_local_event(struct mt_session *session, uint32_t index);

/* Shows the observer, where there is one, a record of this kind; false out of memory. */
bool mt_session_show(struct mt_session *session, struct mt_observed *observed);

/* Counts a record that did not hold what it says; true. */
bool mt_session_count_undecodable(struct mt_session *session);

/* Decodes and applies a record that is neither KERNEL nor SAMPLE; false out of memory. */
bool mt_session_take_statement(struct mt_session *session, const struct mt_record *record);

/*
 * Reads on to a sample of this recording that is wanted as far as its stack does not matter;
 * *wanted false at the recording's end, and where the pipeline has no room for more.
 */
struct mt_error *mt_session_read_sample(struct mt_session *session, struct mt_session_sample *out,
					bool *wanted);

/* members.c: `event` is counted beside the leader's samples; false out of memory. */
bool mt_session_add_member(struct mt_session *session, struct mt_local_event *event,
			   struct mt_local_event *leader);

/* Takes what the leader's sample, decoded just now, counted; false out of memory. */
bool mt_session_read_members(struct mt_session *session, const struct mt_local_event *leader);

/* The next wanted one that has grown by that sample, or NULL. */
const struct mt_member *mt_session_next_member(struct mt_session *session);

/*
 * --dso and --symbol, asked once for each distinct stack; false in *wanted where no frame matches.
 * False out of memory.
 */
bool mt_session_choose_stack(struct mt_session *session, uint32_t stack, bool *wanted);

#endif
