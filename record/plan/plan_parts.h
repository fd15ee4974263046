/* What the parts of planning share: plan.c and the files plan_*.c. */
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
	const struct mt_event_def *group; /* that is being planned; NULL: a word of its own */
	bool read, weak, sided;		  /* what the word planned last says */
	bool has_vm;			  /* the group vm is planned */
	bool marking;			  /* calls are planned as marks, not as samples */
	bool branches;			  /* an event with branch records is planned */
	bool by_time;			  /* there is an event that -F means */
	bool calls_seen;		  /* syscalls:* are at hand */
	struct mt_error *no_calls; /* why system calls cannot be recorded as such; NULL: they can */
	char *calls;		   /* which ones, for the note */
	char *missing;		   /* calls of a group that are out of reach, for a note */
};

/* One word of -e: "brk", "page-faults:u", "sched:sched_switch". */
struct mt_event_word {
	const char *text;
	size_t length;
	const struct mt_event_def *def; /* NULL: not in the table */
	bool counter;			/* counted, not traced */
};

/* What a counted word means. */
struct mt_counter {
	uint32_t type;
	uint64_t config[3];
	uint64_t period, frequency;    /* its own, 0: none */
	bool user, kernel, hypervisor; /* counted there alone; none: everywhere */
	unsigned int precise;
	bool pinned, exclusive; /* the first of a group alone says so */
	bool read;		/* samples have the count */
	bool weak;		/* a group that cannot be one is several events */
	bool host, guest;	/* of virtual machines; neither: both */
	bool no_idle;
	bool by_time;	    /* sampled at a frequency by default */
	bool core;	    /* of a CPU's own counters, which can have branch records */
	size_t name_length; /* of the word, without its modifiers */
};

/*
 * plan_counters.c: how long the first word of a list is: commas between slashes and in
 * braces are part of it.
 */
size_t mt_planner_word_length(const char *list);

/* Whether the word is a counter's; def is its row in the table, or NULL. */
bool mt_planner_is_counter(const char *text, size_t length, const struct mt_event_def *def);

/* What it means, its modifiers too. */
struct mt_error *mt_planner_find_counter(const struct mt_planner *planner, const char *text,
					 size_t length, const struct mt_event_def *def,
					 struct mt_counter *out);
void mt_counter_apply(const struct mt_counter *counter, struct perf_event_attr *attr);

/* The letters behind the colon, of text; what is wrong with them, and which there are. */
struct mt_error *mt_counter_modify(const char *text, size_t length, const char *letters,
				   struct mt_counter *counter);

/* Whether it was said which of user, kernel and hypervisor are meant. */
bool mt_counter_has_sides(const struct mt_counter *counter);

/* What such letters said, on top of what the attr has; what they did not say stays. */
void mt_counter_apply_modifiers(const struct mt_counter *counter, struct perf_event_attr *attr);

/* Branch records on top, as -b, -j and --call-graph lbr say, where it is a hardware event. */
void mt_planner_ask_branches(struct mt_planner *planner, const struct mt_counter *counter,
			     struct perf_event_attr *attr);

/* Refuses a plan that was to have them and has no such event. */
struct mt_error *mt_planner_finish_branches(const struct mt_planner *planner);

/*
 * plan_counters.c: an error where the kernel opens an event and will never tell of it: what happens
 * in the kernel alone, for a user to whom its side is closed.
 */
struct mt_error *mt_planner_check_seen(const struct mt_planner *planner);

/* Plans one tracepoint: "subsystem:name", an id behind '=' where the user gave one. */
struct mt_error *mt_planner_tracepoint(struct mt_planner *planner, const char *name,
				       enum mt_event_role role, const struct mt_event_word *word);

/* Takes the last event out of the plan again. */
void mt_planner_drop_last(struct mt_planner *planner);

/* Plans what one word asks for, and what a comma-separated list of them does. */
struct mt_error *mt_planner_word(struct mt_planner *planner, const char *text, size_t length);

/* Whether that is a pattern of tracepoints, and all events that it matches; none is an error. */
bool mt_planner_is_glob(const char *text, size_t length);
struct mt_error *mt_planner_globs(struct mt_planner *planner, const char *text, size_t length);
struct mt_error *mt_planner_list(struct mt_planner *planner, const char *list);

/* Whether an event of that role and alias is planned already. */
bool mt_planner_has(const struct mt_planner *planner, enum mt_event_role role, const char *alias,
		    size_t length);

/* Adds a line for the user; takes text, NULL is out of memory. */
struct mt_error *mt_planner_note(struct mt_planner *planner, char *text);

/* "a" and then "a, b": appends to *list, which NULL begins. */
struct mt_error *mt_planner_enumerate(char **list, const char *name);

/* Turns the side-band's records of data mappings on. */
struct mt_error *mt_planner_ask_data(struct mt_planner *planner);

/* Neither forbidden nor absent: an error of ours, or of the user's. */
bool mt_planner_is_fatal(const struct mt_error *err);

/* plan_calls.c: both ends of a system call, by whatever event tells of it. */
struct mt_error *mt_planner_call(struct mt_planner *planner, const struct mt_event_word *word);

/* plan_calls.c: the same, both ends as marks. What is out of reach is left out, for the note. */
struct mt_error *mt_planner_mark_call(struct mt_planner *planner, const struct mt_event_word *word);

/* plan_groups.c: a tracepoint of the table that is only a mark, likewise. */
struct mt_error *mt_planner_mark(struct mt_planner *planner, const struct mt_event_word *word);

/*
 * plan_marks.c: once all words are planned, the rest of the group vm as marks, where calls of it
 * are sampled.
 */
struct mt_error *mt_planner_finish_marks(struct mt_planner *planner);

/* plan_calls.c: once all is planned, what stands in for calls, and what serves for them. */
struct mt_error *mt_planner_finish_calls(struct mt_planner *planner);

/* plan_together.c: {a,b}, with modifiers behind the brace. */
struct mt_error *mt_planner_together(struct mt_planner *planner, const char *text, size_t length);

/* plan_groups.c: a word that means several events, each as far as this kernel has it. */
struct mt_error *mt_planner_group(struct mt_planner *planner, const struct mt_event_def *group);

#endif
