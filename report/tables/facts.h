/*
 * What is known about the recordings that a report rests on, beside its rows: where they come from,
 * what was lost, damaged or left unresolved. The session fills it while it reads; outputs show it.
 * Strings are borrowed from the session.
 */
#ifndef MT_REPORT_TABLES_FACTS_H
#define MT_REPORT_TABLES_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/reader.h"
#include "formats/records/attr.h"
#include "unwind/unwind.h"

struct mt_facts_pair {
	const char *key, *value;
};

struct mt_facts_note {
	uint32_t level; /* 0 info, 1 warning */
	const char *text;
};

/* An event over all recordings that have it. */
struct mt_facts_event {
	const char *name, *alias, *unit;
	const char *format;   /* of a tracepoint, as the kernel describes it; "" without one */
	uint32_t role;	      /* enum mt_event_role */
	struct mt_attr attr;  /* of the first recording that has it */
	uint64_t samples;     /* in the recordings; of side-band events, records */
	uint64_t selected;    /* of them, by the selectors */
	double weighted;      /* selected, times their weights */
	uint64_t first, last; /* times of selected samples, 0 without any */
	uint64_t lost;	      /* known to be of this event */
};

/* A piece of time in which records of a stream were lost. */
struct mt_facts_loss {
	uint32_t stream;
	uint32_t event; /* index in facts->events, or MT_EVENT_NONE */
	uint32_t source;
	uint64_t from, to, count;
};

struct mt_facts_recording {
	const char *file;
	const struct mt_recording *reading; /* the reader's view: chunks, damage, END, MARK */
	MT_ARRAY(struct mt_facts_pair) info;
	MT_ARRAY(struct mt_facts_note) notes;
	MT_ARRAY(struct mt_facts_loss) losses;
	uint64_t start, end; /* recording's clock */
	int64_t ahead;	     /* of CLOCK_MONOTONIC is that clock, where it is known: */
	bool ahead_known;
	uint64_t start_utc;    /* ns since 1970; 0 not known */
	uint64_t samples;      /* of role 0 that were read */
	uint64_t kernel_lost;  /* of perf.data: by LOST records */
	uint64_t counted_lost; /* of perf.data: perf compares counts at the end, the same once more
				*/
	uint64_t throttled;    /* times that the kernel stopped sampling for the rest of a tick */
	uint64_t tasks, processes, maps;
	bool this_boot; /* recorded on this machine since it last started: its kernel addresses hold
			 */
	bool finished;	/* read to its end */
};

/* An image that a selected stack passed through, or that the recording tells of. */
struct mt_facts_image {
	const char *path;
	char build_id[65];    /* hex, or empty */
	uint64_t frames;      /* distinct places in it; 0 without stacks */
	bool by_path;	      /* the file's numbers were not recorded */
	const char *missing;  /* why it is not at hand; NULL where it is */
	const char *found_at; /* the file in use, or NULL */
	const char *problem;  /* what the recorder said about it, or NULL */
	const char *refused;  /* which debug files were not used and why, or NULL */
	const char *fetch;    /* what debuginfod would be asked for, or NULL */
	/* where each comes from: "carried", "file", "debug file", or NULL: from nowhere */
	const char *unwind, *names, *lines;
};

/* What a process told of the code that it made itself. */
struct mt_facts_jitdump {
	const char *path;
	const char *problem; /* why it is of no use; NULL where it is */
	uint64_t functions;  /* that it tells of */
	uint64_t left_out;   /* more of them than can be kept */
	bool carried;	     /* by the recording; else it is a file here */
	bool unwind, lines;  /* it tells those, too */
	bool untimed;	     /* its times mean nothing: an address means what it meant last */
};

/* Calls that change a process's memory and that no recording tells of. */
enum mt_unseen_calls {
	MT_UNSEEN_NARROW = 1,  /* all of a 32-bit program */
	MT_UNSEEN_RING = 2,    /* madvise by io_uring */
	MT_UNSEEN_ADVICE = 4,  /* what it has process_madvise do */
	MT_UNSEEN_ADVISED = 8, /* what another one has it do; in no facts */
};

struct mt_facts_unseen {
	const char *process;
	int32_t pid;
	uint32_t recording; /* index in recordings */
	uint32_t calls;	    /* enum mt_unseen_calls */
};

struct mt_facts {
	MT_ARRAY(struct mt_facts_recording) recordings;
	MT_ARRAY(struct mt_facts_event) events;
	MT_ARRAY(struct mt_facts_image) images;	    /* where the output asked for them */
	MT_ARRAY(struct mt_facts_jitdump) jitdumps; /* the same */
	MT_ARRAY(struct mt_facts_unseen) unseen;    /* by analyses that follow each address space */
	bool ended;		       /* rows have what processes that ended held, unmarked */
	uint64_t samples, selected;    /* of role 0 */
	uint64_t undecodable;	       /* kernel records that did not hold what their attr says */
	uint64_t user_stacks;	       /* selected samples with user registers */
	uint64_t ends[MT_END_REASONS]; /* of them, by why they ended */
	uint64_t walked_ends[MT_END_REASONS]; /* the same, before stacks were joined */
	/*
	 * Why kernel functions in selected stacks have no names; NULL where they have, or there are
	 * none.
	 */
	const char *kernel_problem;
};

/*
 * Records lost in one recording: as its LOSS records sum up to, or the more that its totals tell.
 */
uint64_t mt_facts_lost(const struct mt_facts_recording *recording);
uint64_t mt_facts_lost_all(const struct mt_facts *facts);

/* How often the kernel stopped sampling, in all recordings: nobody counts what that lost. */
uint64_t mt_facts_throttled(const struct mt_facts *facts);

/* Bytes, chunks or records missing or damaged, or the end cut off. */
bool mt_facts_damaged(const struct mt_facts_recording *recording);

/* The value of an INFO key, or NULL. */
const char *mt_facts_info(const struct mt_facts_recording *recording, const char *key);

/* User stacks that do not reach their root. */
uint64_t mt_facts_incomplete(const struct mt_facts *facts);

/* Seconds that the recordings last, added up. */
double mt_facts_seconds(const struct mt_facts *facts);

/*
 * One sentence on what one recording lacks, "" where nothing: "cut short (no end mark), 2 damaged
 * chunks left out, 512 bytes skipped". Gives the length.
 */
size_t mt_facts_describe_damage(const struct mt_facts_recording *recording, char *out, size_t size);

/*
 * Notes calls that go unseen, once for each process; `process` is borrowed. False out of memory.
 */
bool mt_facts_add_unseen(struct mt_facts *facts, const struct mt_facts_unseen *unseen);

/*
 * Calls `print` with a sentence on each process with such calls, few of them, and one on how many
 * more there are.
 */
void mt_facts_tell_unseen(const struct mt_facts *facts,
			  void (*print)(void *context, const char *sentence), void *context);

void mt_facts_deinit(struct mt_facts *facts);

#endif
