/*
 * Facts about the recordings of a report: their origin, and the data that was lost, damaged or left
 * unresolved. The session fills them in while it reads; outputs show them. Strings are borrowed
 * from the session.
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

/* One event, summed over all recordings that have it. */
struct mt_facts_event {
	const char *name, *alias, *unit;
	const char *format;   /* the kernel's format file of a tracepoint, or "" */
	const char *account;  /* what it means for blocks ("alloc ..", "free .."), or "" */
	uint32_t role;	      /* enum mt_event_role */
	struct mt_attr attr;  /* from the first recording with the event */
	uint64_t samples;     /* read; for side-band events, records */
	uint64_t selected;    /* samples that pass the selectors */
	double weighted;      /* sum of the selected samples' weights */
	uint64_t first, last; /* times of first and last selected sample; 0: none selected */
	uint64_t lost;	      /* records lost that are known to be of this event */
	bool thinned;	      /* some of its samples represent several events */
	bool wanted;	      /* its samples, or marks, pass the selector of events */
};

/* An interval in which a stream lost records. */
struct mt_facts_loss {
	uint32_t stream;
	uint32_t event; /* index into facts->events, or MT_EVENT_NONE */
	uint32_t source;
	uint64_t from, to, count;
};

struct mt_facts_recording {
	const char *file;
	/* The reader's state: chunks, damage, END and MARK records. */
	const struct mt_recording *reading;
	MT_ARRAY(struct mt_facts_pair) info;
	MT_ARRAY(struct mt_facts_note) notes;
	MT_ARRAY(struct mt_facts_loss) losses;
	bool growing;	     /* read while it is written: it has no end yet */
	uint64_t start, end; /* ns of the recording's clock */
	uint64_t blocks_end; /* when the probes of allocators were switched off; 0: never */
	int64_t ahead; /* recording's clock minus CLOCK_MONOTONIC in ns; valid if ahead_known */
	bool ahead_known;
	uint64_t start_utc;    /* ns since 1970; 0: unknown */
	uint64_t samples;      /* samples of role MT_ROLE_SAMPLE */
	uint64_t kernel_lost;  /* perf.data: sum of the LOST records */
	uint64_t counted_lost; /* perf.data: sum of the LOST_SAMPLES records, for the same losses */
	uint64_t throttled;    /* THROTTLE records: sampling stopped until the next tick */
	uint64_t tasks, processes, maps;
	/* mtrec --comm recorded some threads of a process and left out others */
	bool in_part;
	int32_t command; /* the recorded command's pid; 0: no command, or unknown */
	/* recorded since this machine's last boot */
	bool this_boot;
	bool finished; /* the session has read it to its end */
};

/* An image with a frame of a selected stack, or one that the recording lists. */
struct mt_facts_image {
	const char *path;
	char build_id[65];    /* in hex; of Go, "go:.." and the end of its text; or "" */
	uint64_t frames;      /* distinct frames in the image; 0 without stacks */
	bool by_path;	      /* known by path alone; device and inode were not recorded */
	const char *missing;  /* why the image was not found; NULL if it was */
	const char *found_at; /* path of the file in use, or NULL */
	const char *problem;  /* the recorder's note about the image, or NULL */
	const char *refused;  /* which debug files were rejected and why, or NULL */
	const char *fetch;    /* what --debuginfod would request from a server, or NULL */
	/*
	 * Sources of unwind tables, names and lines: "carried", "file", "debug file", or NULL if
	 * there are none.
	 */
	const char *unwind, *names, *lines;
};

/* A jitdump: a process's own record of the code that it generated. */
struct mt_facts_jitdump {
	const char *path;
	const char *problem; /* why it is unusable; NULL if it is usable */
	uint64_t functions;  /* functions it describes */
	uint64_t left_out;   /* functions dropped above the limit */
	bool carried;	     /* the recording carries it; else it is a file on this machine */
	bool unwind, lines;  /* it has unwind tables, line numbers */
	bool untimed; /* its timestamps cannot be used: the last function of an address is shown */
};

/* Calls that change a process's memory but appear in no recording. */
enum mt_unseen_calls {
	MT_UNSEEN_NARROW = 1,  /* all calls of a 32-bit program */
	MT_UNSEEN_RING = 2,    /* madvise through io_uring */
	MT_UNSEEN_ADVICE = 4,  /* process_madvise, seen from the caller */
	MT_UNSEEN_ADVISED = 8, /* process_madvise, seen from the target; never in the facts */
};

struct mt_facts_unseen {
	const char *process;
	int32_t pid;
	uint32_t recording; /* index into facts->recordings */
	uint32_t calls;	    /* bits of enum mt_unseen_calls */
};

/* Losses of events that begin and end something (report/durations). */
struct mt_facts_durations {
	uint64_t unbegun; /* ends whose begin was not recorded */
	uint64_t unended; /* begins whose end was not recorded */
};

/* Losses that analyses of blocks found. */
struct mt_facts_blocks {
	uint64_t unknown;      /* frees of blocks that were not seen allocated */
	uint64_t twice;	       /* frees of blocks that were freed before */
	uint64_t unseen_frees; /* addresses allocated again without a recorded free */
	uint64_t unreadable;   /* blocks whose address is not in the sample of their allocation */
	const char *unprobed;  /* path of a mapped allocator without probes; NULL: none */
	/* Range of the number of blocks that one sampled block represents; 0: none was sampled. */
	uint32_t one_in_least, one_in_most;
};

struct mt_facts {
	MT_ARRAY(struct mt_facts_recording) recordings;
	MT_ARRAY(struct mt_facts_event) events;
	MT_ARRAY(struct mt_facts_image) images;	    /* only for outputs with MT_NEEDS_IMAGES */
	MT_ARRAY(struct mt_facts_jitdump) jitdumps; /* only for outputs with MT_NEEDS_IMAGES */
	MT_ARRAY(struct mt_facts_unseen) unseen;    /* from analyses of address spaces */
	struct mt_facts_blocks blocks;		    /* from analyses of blocks */
	struct mt_facts_durations durations;	    /* from analyses of durations */
	bool ended; /* rows include memory of ended processes without saying so */
	/* Samples of role MT_ROLE_SAMPLE; selected by themselves or by a member of their group. */
	uint64_t samples, selected;
	uint64_t marks;		       /* marks (calls without stacks) that pass the selectors */
	uint64_t undecodable;	       /* kernel records that do not match their attr's layout */
	uint64_t user_stacks;	       /* selected samples with a user stack */
	uint64_t ends[MT_END_REASONS]; /* user stacks by the reason for their end */
	/* Stacks in `ends` that lack only the caller of main or of a thread's function. */
	uint64_t entry_ends[MT_END_REASONS];
	/* User stacks by the reason for their end before joining. */
	uint64_t walked_ends[MT_END_REASONS];
	/* Why kernel functions in selected stacks have no names; NULL if none lacks a name. */
	const char *kernel_problem;
};

/*
 * Records lost in one recording: the sum of its LOSS records, or a larger total from its END or
 * MARK record or its LOST records.
 */
uint64_t mt_facts_lost(const struct mt_facts_recording *recording);
uint64_t mt_facts_lost_all(const struct mt_facts *facts);

/* The build id of the image at a path, borrowed; NULL if none or several are known. */
const char *mt_facts_build_id(const struct mt_facts *facts, const char *path);

/* The THROTTLE records in all recordings; samples lost by throttling are not counted anywhere. */
uint64_t mt_facts_throttled(const struct mt_facts *facts);

/* True if bytes, chunks or records are missing or damaged, or the recording is cut short. */
bool mt_facts_damaged(const struct mt_facts_recording *recording);

/* The value of an INFO key, or NULL. */
const char *mt_facts_info(const struct mt_facts_recording *recording, const char *key);

/* The number of user stacks that do not reach their root. */
uint64_t mt_facts_incomplete(const struct mt_facts *facts);

/*
 * Whether a process that began and ended at these times was gone at the recording's end. A process
 * that ended in the recording's last half second counts as alive, as the recorded command does. A
 * process that lived for less than that counts as gone, unless it is the command.
 */
bool mt_facts_ended_early(const struct mt_facts_recording *recording, int32_t pid, uint64_t began,
			  uint64_t ended);

/*
 * The end of the time in which a process was observed, ns: its own end if it ended (`ended`; 0: it
 * did not), else the recording's. Ages, spans and rates count up to this time, not to its last
 * event.
 */
uint64_t mt_facts_observed_end(const struct mt_facts_recording *recording, uint64_t ended);

/*
 * The number of user stacks that name their whole path: they reach their root, or lack only the
 * caller of main.
 */
uint64_t mt_facts_named_whole(const struct mt_facts *facts);

/* Sum of the recordings' durations, in seconds. */
double mt_facts_seconds(const struct mt_facts *facts);

/*
 * Writes the damage of one recording as text, "" without any: "cut short (it has no end), 2 damaged
 * chunks left out, 512 bytes skipped". Returns the length.
 */
size_t mt_facts_describe_damage(const struct mt_facts_recording *recording, char *out, size_t size);

/*
 * Adds a process with unseen calls, or adds the calls to its entry. `process` is borrowed.
 */
void mt_facts_add_unseen(struct mt_facts *facts, const struct mt_facts_unseen *unseen);

/* Writes "1 in 64 blocks was sampled, by address: .."; false if no block was sampled. */
bool mt_facts_blocks_rate(const struct mt_facts_blocks *blocks, char *out, size_t size);

/*
 * Calls `print` with one sentence for each kind of unseen call, for all its processes together, and
 * for each kind of call of allocators that analyses of blocks lack.
 */
void mt_facts_report_unseen(const struct mt_facts *facts,
			    void (*print)(void *context, const char *sentence), void *context);

void mt_facts_deinit(struct mt_facts *facts);

#endif
