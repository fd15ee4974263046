/* Shared by the files that plan: plan.c and plan_*.c. */
#ifndef MT_RECORD_PLAN_PLAN_PARTS_H
#define MT_RECORD_PLAN_PLAN_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/records/record.h"

#if defined(__aarch64__)
#define MT_PERF_REG_SP 31
#else
#define MT_PERF_REG_SP 7
#endif

struct mt_error;
struct mt_event_def;
struct mt_perf_features;
struct mt_plan;
struct mt_record_options;
struct mt_tracepoint_source;
struct perf_event_attr;

struct mt_planner {
	const struct mt_record_options *options;
	const struct mt_perf_features *features;
	const struct mt_tracepoint_source *tracepoints;
	struct mt_plan *plan;
	const struct mt_event_def *group; /* the group being planned; NULL: none */
	const char *lacking;	   /* alias of a group with a member that is absent; NULL: none */
	bool read, weak, sided;	   /* of the word planned last, as in struct mt_counter */
	bool has_vm;		   /* the group vm is planned */
	bool marking;		   /* calls are planned as marks, not as samples */
	bool branches;		   /* an event with branch records was planned */
	bool by_time;		   /* an event sampled by time was planned: -F applies */
	bool calls_seen;	   /* a syscalls:* tracepoint was found */
	struct mt_error *no_calls; /* why system calls cannot be recorded; NULL: they can */
	char *calls;		   /* those calls, for the note */
	char *refused; /* what is lacking without members of a group that need privileges */
	char *missing; /* calls of a group without a readable tracepoint, for a note */
};

/* One word of -e: "brk", "page-faults:u", "sched:sched_switch". */
struct mt_event_word {
	const char *text;
	size_t length;
	const struct mt_event_def *def; /* NULL: not in the table */
	bool counter;			/* a counter (struct mt_counter), not a tracepoint */
};

/* A counter: what a word of -e means that is no tracepoint, call or group. */
struct mt_counter {
	uint32_t type;
	uint64_t config[3];
	uint64_t period, frequency;    /* period= and freq=; 0: none */
	bool user, kernel, hypervisor; /* counted at these levels only; all false: at all levels */
	unsigned int precise;
	bool pinned, exclusive; /* in a group: set on its first event only */
	bool read;		/* samples contain the count (:S) */
	bool weak; /* a group that the PMU cannot count together becomes single events (:W) */
	bool host, guest; /* counted there only; both false: in both */
	bool no_idle;
	bool by_time;	    /* sampled at a frequency by default */
	bool core;	    /* of the CPU's PMU, which can record branches */
	size_t name_length; /* of the word, without its modifiers */
};

/* plan_counters.c: length of a list's first word; slashes, braces and brackets enclose commas. */
size_t mt_planner_word_length(const char *list);

/* True if the word is a counter; def: its row in the event table, or NULL. */
bool mt_planner_is_counter(const char *text, size_t length, const struct mt_event_def *def);

/* Parses a counter with its modifiers. */
struct mt_error *mt_planner_find_counter(const struct mt_planner *planner, const char *text,
					 size_t length, const struct mt_event_def *def,
					 struct mt_counter *out);
void mt_counter_apply(const struct mt_counter *counter, struct perf_event_attr *attr);

/* Parses the modifiers after the colon of text; an error lists the known ones. */
struct mt_error *mt_counter_modify(const char *text, size_t length, const char *letters,
				   struct mt_counter *counter);

/* True if user, kernel or hypervisor is set. */
bool mt_counter_has_sides(const struct mt_counter *counter);

/* Applies the modifiers to attr; fields without a modifier stay as they are. */
void mt_counter_apply_modifiers(const struct mt_counter *counter, struct perf_event_attr *attr);

/* Adds branch records to a hardware event, as --call-graph lbr says. */
void mt_planner_ask_branches(struct mt_planner *planner, const struct mt_counter *counter,
			     struct perf_event_attr *attr);

/* An error if the options request branch records and no planned event has them. */
struct mt_error *mt_planner_finish_branches(const struct mt_planner *planner);

/*
 * plan_counters.c: an error if the kernel would open a planned event but never report it: an event
 * that happens only in the kernel, for a user who may not see kernel events.
 */
struct mt_error *mt_planner_check_seen(const struct mt_planner *planner);

/* Plans one tracepoint: "subsystem:name", or "subsystem:name=ID" with an id from the user. */
struct mt_error *mt_planner_tracepoint(struct mt_planner *planner, const char *name,
				       enum mt_event_role role, const struct mt_event_word *word);

/* Removes the last event from the plan and frees it. */
void mt_planner_drop_last(struct mt_planner *planner);

/* plan_probes.c: plans the probes of a word like u:libc:malloc. */
struct mt_error *mt_planner_probe(struct mt_planner *planner, const char *text, size_t length);

/*
 * plan_blocks.c: plans probes at the user's own functions that give and free blocks, and with
 * `allocators` at those of the targets' allocators.
 */
struct mt_error *mt_planner_allocators(struct mt_planner *planner, bool allocators);

/* Plans one word of -e. */
struct mt_error *mt_planner_word(struct mt_planner *planner, const char *text, size_t length);

/* True for a pattern of tracepoints; plans all that match one; plans a comma-separated list. */
bool mt_planner_is_glob(const char *text, size_t length);
struct mt_error *mt_planner_globs(struct mt_planner *planner, const char *text, size_t length);
struct mt_error *mt_planner_list(struct mt_planner *planner, const char *list);

/* True if an event of that role and alias is planned. */
bool mt_planner_has(const struct mt_planner *planner, enum mt_event_role role, const char *alias,
		    size_t length);

/* Adds a note for the user; takes text. text NULL: returns out of memory. */
struct mt_error *mt_planner_note(struct mt_planner *planner, char *text);

/* Appends a name to *list, as in "a, b"; *list NULL: an empty list. The caller frees *list. */
struct mt_error *mt_planner_enumerate(char **list, const char *name);

/* Makes the side-band event record data mappings, too. */
struct mt_error *mt_planner_ask_data(struct mt_planner *planner);

/* True unless err says that an event is not permitted or does not exist. */
bool mt_planner_is_fatal(const struct mt_error *err);

/* plan_calls.c: plans both ends of a system call, by the first kind of event that opens. */
struct mt_error *mt_planner_call(struct mt_planner *planner, const struct mt_event_word *word);

/* plan_calls.c: the same as marks; leaves out a call that cannot be opened, with a note. */
struct mt_error *mt_planner_mark_call(struct mt_planner *planner, const struct mt_event_word *word);

/* plan_groups.c: the same for a tracepoint that the event table has as a mark only. */
struct mt_error *mt_planner_mark(struct mt_planner *planner, const struct mt_event_word *word);

/*
 * plan_marks.c: after all words, if calls of the group vm are sampled: plans the remainder of the
 * group as marks.
 */
struct mt_error *mt_planner_finish_marks(struct mt_planner *planner);

/* plan_calls.c: after all words: page faults if calls cannot be recorded; the notes. */
struct mt_error *mt_planner_finish_calls(struct mt_planner *planner);

/* plan_together.c: plans a group {a,b}, with modifiers after the brace. */
struct mt_error *mt_planner_together(struct mt_planner *planner, const char *text, size_t length);

/* plan_groups.c: plans a word for several events; leaves out those this kernel lacks. */
struct mt_error *mt_planner_group(struct mt_planner *planner, const struct mt_event_def *group);

/* plan_groups.c: after all words: an error if groups alone were asked for and are empty. */
struct mt_error *mt_planner_check_groups(const struct mt_planner *planner);

#endif
