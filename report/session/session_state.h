/*
 * Private parts of a session, shared by session.c (files and recordings), statements.c (records
 * about the recording), data_records.c (kernel records and samples), members.c (counts of group
 * members), reported_stacks.c, stack_choice.c (--dso and --symbol) and session_state.c (observers).
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
#include "report/session/entry_ends.h"
#include "report/session/session.h"
#include "report/tables/facts.h"
#include "report/tables/trace_fields.h"

struct mt_error;
struct mt_frame_key;
struct mt_frames;
struct mt_naming;
struct mt_pipeline;
struct mt_pool;
struct mt_reader;
struct mt_record;
struct mt_byte_runs;
struct mt_spaces;
struct mt_return_slots;
struct mt_stack_ids;
struct mt_symbol;

/* An event of the present recording. */
struct mt_local_event {
	uint32_t event; /* index into facts.events */
	uint32_t role;
	uint32_t shorter; /* of a seed: size of the dumps of its pair, in bytes; else 0 */
	struct mt_attr attr;
	double weight;	/* weight of its next samples */
	int64_t call;	/* system call number of a raw_syscalls:* event; -1: none */
	bool wanted;	/* its samples are selected, or are seeds for joining */
	bool returns;	/* its samples are at the return address of a call */
	bool marks;	/* its marks are exits of calls that -e selects */
	size_t members; /* number of events counted alongside its samples */
	struct mt_field clone_flags, clone_tid;	       /* fields of task:task_newtask */
	struct mt_field moved_pid, moved_to, moved_in; /* of cgroup:cgroup_attach_task */
	struct mt_field return_slot, return_address;   /* of a mark at a probed entry */
};

/* An event that is counted alongside the samples of another event, its leader. */
struct mt_member {
	struct mt_local_event *event, *leader;
	uint64_t grown; /* growth of the count at the last sample; 0 if not selected */
};

/* Items that observers deferred, each after a struct of session_state.c, in words of 8 bytes. */
struct mt_deferred {
	MT_ARRAY(uint64_t) words;
	size_t from; /* index of the first item not yet delivered */
};

struct mt_session {
	const struct mt_session_options *options;
	MT_ARRAY(struct mt_reader *) readers;
	size_t reader, recording; /* index of the present file, and of the recording within it */
	uint32_t index;		  /* of the present recording among those of all files */
	bool reading;
	uint64_t records;
	uint64_t from, to; /* selected times of this recording */

	struct mt_strings *strings;
	struct mt_naming *naming;
	struct mt_spaces *spaces;
	struct mt_stacks *stacks;
	struct mt_frames *frames;
	struct mt_stack_ids *stack_ids;
	struct mt_entry_ends entry_ends;
	struct mt_byte_runs *reported;		   /* frames of reported stacks; NULL: none */
	MT_ARRAY(struct mt_symbol) reported_names; /* names of the frame named last */
	MT_ARRAY(uint32_t) reported_frames;	   /* frames of the stack interned last */
	struct mt_pool *pool;
	struct mt_pipeline *pipeline;	 /* NULL without stacks */
	struct mt_return_slots *returns; /* NULL until the entry of a probed function is read */
	bool read_all; /* this recording's records are read; the remainder is in the pipeline */
	bool paused;   /* the complete records of a growing file are read; more may follow */
	bool ending;   /* no more records will come */
	bool has_data; /* a record other than a state record was read */
	bool earlier;  /* a record was read that would have changed earlier samples */
	MT_ARRAY(uint8_t) verdicts; /* enum verdict, by stack id */

	struct mt_map64 code;		 /* ids of images mapped executable */
	struct mt_map64 by_index;	 /* index in the EVENT record to index in local */
	struct mt_map64 info_by_key;	 /* string id of a key to index in the recording's info */
	struct mt_byte_runs *event_keys; /* distinct events, by index in facts.events */
	MT_ARRAY(struct mt_local_event *) local;
	MT_ARRAY(struct mt_member) members; /* in the order of their EVENT records */
	size_t next_member;		    /* next member to return for the last sample */
	struct mt_session_sample alongside; /* the sample read last, if it has members */
	struct mt_map64 counted;	    /* kernel event id and thread to the last count */
	uint64_t counted_stack;	 /* serial of the last sample whose stack was counted; 0: none */
	uint64_t counted_sample; /* serial of the last sample counted as selected; 0: none */
	struct mt_facts facts;
	MT_ARRAY(const struct mt_observer *) observers;
	struct mt_deferred deferred;
	struct mt_sample sample; /* the last sample decoded */
};

/* The facts of the present recording. */
static inline struct mt_facts_recording *mt_session_present(struct mt_session *session)
{
	return &session->facts.recordings.items[session->index];
}

/* Sets start, end and selected times of the present recording from the records read so far. */
void mt_session_set_bounds(struct mt_session *session, struct mt_facts_recording *facts);

/* The event with this index in the present recording; NULL if no record describes it. */
struct mt_local_event *mt_session_local_event(struct mt_session *session, uint32_t index);

/* Passes a record to every observer (session_state.c). */
void mt_session_show(struct mt_session *session, struct mt_observed *observed);

/* Passes a sample that mt_session_next() returns to every observer. */
void mt_session_give(struct mt_session *session, const struct mt_session_sample *sample);

/*
 * Delivers deferred items up to one that waits for the stack of a sample after `serial`. `stack` is
 * the stack of that sample.
 */
void mt_session_deliver(struct mt_session *session, uint64_t serial, uint32_t stack, bool selected);

/* Decodes and applies any record except KERNEL, SAMPLE and FRAMES. */
void mt_session_take_statement(struct mt_session *session, const struct mt_record *record);

/*
 * Reads up to the next sample that the selectors other than stack selectors accept. *wanted is
 * false at the recording's end, and if the pipeline must be emptied before more is read.
 */
struct mt_error *mt_session_read_sample(struct mt_session *session, struct mt_session_sample *out,
					bool *wanted);

/* Returns the names of a frame of a reported stack (reported_stacks.c). */
const struct mt_symbol *mt_session_reported_name(struct mt_session *session,
						 const struct mt_frame_key *key);

/* Adds `event` as a member of the leader's group (members.c). */
void mt_session_add_member(struct mt_session *session, struct mt_local_event *event,
			   struct mt_local_event *leader);

/* Reads the members' counts from the leader's sample in session->sample. */
void mt_session_read_members(struct mt_session *session, const struct mt_local_event *leader);

/* The next selected member whose count grew by the last sample, or NULL. */
const struct mt_member *mt_session_next_member(struct mt_session *session);

/* False if --dso or --symbol do not match any frame. Each distinct stack is matched once. */
bool mt_session_choose_stack(struct mt_session *session, uint32_t stack);

#endif
