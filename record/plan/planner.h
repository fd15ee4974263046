/*
 * Shared by the files that plan the words of -e. Each uses only the files before it: pmu.c,
 * plan_counters.c, planner.c, plan_calls.c, plan_blocks.c, plan_words.c, plan.c.
 */
#ifndef MT_RECORD_PLAN_PLANNER_H
#define MT_RECORD_PLAN_PLANNER_H

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
struct mt_planned_event;
struct mt_record_options;
struct mt_tracepoint_source;
struct perf_event_attr;

struct mt_planner {
	const struct mt_record_options *options;
	const struct mt_perf_features *features;
	const struct mt_tracepoint_source *tracepoints;
	struct mt_plan *plan;
	const struct mt_event_def *group; /* the group being planned; NULL: none */
	const char *lacking;		  /* alias of a group that lacks a member; NULL: none */
	bool read, weak, sided;		  /* of the last planned word, as in struct mt_counter */
	bool has_vm;			  /* the group vm is planned */
	bool marking;			  /* calls are planned as marks, not as samples */
	bool branches;			  /* an event with branch records was planned */
	bool by_time;			  /* an event sampled by time was planned: -F applies */
	bool calls_seen;		  /* a syscalls:* tracepoint was found */
	struct mt_error *no_calls; /* reason why system calls cannot be recorded; NULL: they can */
	char *calls;		   /* names of calls that cannot be recorded, for the note */
	char *refused;		   /* consequences of members of a group that need privileges */
	char *missing;		   /* calls of a group without a readable tracepoint, for a note */
};

/* One word of -e: "brk", "page-faults:u", "sched:sched_switch". */
struct mt_event_word {
	const char *text;
	size_t length;
	const struct mt_event_def *def; /* NULL: the word is not in the table */
	bool counter;			/* a counter (struct mt_counter), not a tracepoint */
};

/* A word of -e that is neither a tracepoint nor a call nor a group. */
struct mt_counter {
	uint32_t type;
	uint64_t config[3];
	uint64_t period, frequency;    /* values of period= and freq=; 0: none */
	bool user, kernel, hypervisor; /* count only at these levels; all false: at all levels */
	unsigned int precise;
	bool pinned, exclusive; /* in a group, set on its first event only */
	bool read;		/* samples contain the count (:S) */
	bool weak;		/* split a group that the PMU cannot count together (:W) */
	bool host, guest;	/* count only in the host, only in guests; both false: in both */
	bool no_idle;
	bool by_time;	    /* sampled by frequency by default */
	bool core;	    /* event of the CPU's PMU, which can record branches */
	size_t name_length; /* length of the word without its modifiers */
};

/* ---- pmu.c: PMU events with terms ---- */

#define MT_PMU_ROOT "/sys/bus/event_source/devices"

/*
 * Parses "NAME/TERM[=VALUE],.../" (length bytes, both slashes included). The files below root
 * describe which bits of the config fields each term sets. A term is a format or an event of the
 * PMU, or config, config1, config2, period or freq. Sets these fields of *out, its type and core.
 */
struct mt_error *mt_pmu_find(const char *root, const char *text, size_t length,
			     struct mt_counter *out);

/* ---- plan_counters.c: parses counters ---- */

/* Returns true if the word is a counter. def: its row in the event table, or NULL. */
bool mt_planner_is_counter(const char *text, size_t length, const struct mt_event_def *def);

/* Parses a counter with its modifiers. */
struct mt_error *mt_planner_find_counter(const struct mt_planner *planner, const char *text,
					 size_t length, const struct mt_event_def *def,
					 struct mt_counter *out);
void mt_counter_apply(const struct mt_counter *counter, struct perf_event_attr *attr);

/* Parses the modifiers after the colon of text. An error lists the known modifiers. */
struct mt_error *mt_counter_modify(const char *text, size_t length, const char *letters,
				   struct mt_counter *counter);

/* Returns true if user, kernel or hypervisor is set. */
bool mt_counter_has_sides(const struct mt_counter *counter);

/* Applies the modifiers to attr. Fields without a modifier do not change. */
void mt_counter_apply_modifiers(const struct mt_counter *counter, struct perf_event_attr *attr);

/* Adds branch records to a hardware event, as --call-graph lbr requests. */
void mt_planner_ask_branches(struct mt_planner *planner, const struct mt_counter *counter,
			     struct perf_event_attr *attr);

/* Returns an error if the options request branch records and no planned event has them. */
struct mt_error *mt_planner_finish_branches(const struct mt_planner *planner);

/*
 * Returns an error if the kernel would open a planned event but never report it: an event that
 * happens only in the kernel, for a user who may not see kernel events.
 */
struct mt_error *mt_planner_check_seen(const struct mt_planner *planner);

/* ---- planner.c: adds events and notes to the plan ---- */

/* Attributes that every event has. */
struct perf_event_attr mt_planner_attr(const struct mt_planner *planner);

/* Adds an event; takes ownership of its name and format. */
struct mt_error *mt_planner_add(struct mt_planner *planner, const struct mt_planned_event *event,
				const char *alias, size_t alias_length, const char *unit);

/* Plans the counter of a word. */
struct mt_error *mt_planner_counter(struct mt_planner *planner, const struct mt_event_word *word);

/* Plans one tracepoint: "subsystem:name", or "subsystem:name=ID" with an id from the user. */
struct mt_error *mt_planner_tracepoint(struct mt_planner *planner, const char *name,
				       enum mt_event_role role, const struct mt_event_word *word);

/* Return the last event of the plan; remove the last event. */
struct mt_planned_event *mt_planner_last(const struct mt_planner *planner);
void mt_planner_drop_last(struct mt_planner *planner);
void mt_planned_event_deinit(struct mt_planned_event *event);

/* Sets event->decoded from event->attr. */
struct mt_error *mt_planned_event_decode(struct mt_planned_event *event);

/* Returns true if an event with that role and alias is planned. */
bool mt_planner_has(const struct mt_planner *planner, enum mt_event_role role, const char *alias,
		    size_t length);

/* Adds a note for the user. */
struct mt_error *mt_plan_note(struct mt_plan *plan, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/* Appends a name to *list, as in "a, b"; *list may be NULL. The caller frees *list. */
struct mt_error *mt_planner_enumerate(char **list, const char *name);

/* Makes the side-band event record data mappings, too. */
struct mt_error *mt_planner_ask_data(struct mt_planner *planner);

/* Returns false if err reports an event that is not permitted or does not exist. */
bool mt_planner_is_fatal(const struct mt_error *err);

/* ---- plan_calls.c: system calls, and marks of the calls that are not sampled ---- */

/* Plans both ends of a system call, by the first kind of event that opens. */
struct mt_error *mt_planner_call(struct mt_planner *planner, const struct mt_event_word *word);

/* Plans a tracepoint that the event table has only as a mark, with its filter. */
struct mt_error *mt_planner_mark(struct mt_planner *planner, const struct mt_event_word *word);

/*
 * If calls of the group vm are sampled, plans the other members of the group as marks. Call it
 * after all words.
 */
struct mt_error *mt_planner_finish_marks(struct mt_planner *planner);

/* Plans page faults if calls cannot be recorded, and adds the notes. Call it after all words. */
struct mt_error *mt_planner_finish_calls(struct mt_planner *planner);

/* ---- plan_blocks.c: probes ---- */

/*
 * Plans probes at the functions that the user names, and with `allocators` at the functions of the
 * targets' allocators.
 */
struct mt_error *mt_planner_allocators(struct mt_planner *planner, bool allocators);

/* Plans the probes of a word like u:libc:malloc. */
struct mt_error *mt_planner_probe(struct mt_planner *planner, const char *text, size_t length);

/* ---- plan_words.c: the words of -e ---- */

/*
 * Returns the length of a list's first word. Commas within slashes, braces and parentheses do not
 * separate words.
 */
size_t mt_planner_word_length(const char *list);

/* Returns true for a pattern of tracepoints. */
bool mt_planner_is_glob(const char *text, size_t length);

/* Plans the words of a comma-separated list, and groups {a,b} with modifiers after the brace. */
struct mt_error *mt_planner_list(struct mt_planner *planner, const char *list);

/* Returns an error if all words are groups without any events here. Call it after all words. */
struct mt_error *mt_planner_check_groups(const struct mt_planner *planner);

#endif
