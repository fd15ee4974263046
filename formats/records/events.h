/*
 * The event table of events.def as data: the events that `-e` can name.
 */
#ifndef MT_FORMATS_RECORDS_EVENTS_H
#define MT_FORMATS_RECORDS_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mt_event_kind {
	MT_EVENT_SOFTWARE,
	MT_EVENT_HARDWARE,
	MT_EVENT_SYSCALL,    /* the tracepoints sys_exit_NAME and sys_enter_NAME */
	MT_EVENT_MARK,	     /* a tracepoint without dump that event groups record */
	MT_EVENT_GROUP,	     /* a list of other events */
	MT_EVENT_ALLOCATOR,  /* the functions of the targets' allocators */
	MT_EVENT_TRACEPOINT, /* any subsystem:name; not in the table */
};

enum mt_event_class {
	MT_CLASS_RARE, /* ledger and side-band events: a ring of their own */
	MT_CLASS_STORM,
	MT_CLASSES
};

struct mt_event_def {
	const char *alias;
	enum mt_event_kind kind;
	enum mt_event_class class;
	uint32_t type;	 /* PERF_TYPE_*, of software and hardware events */
	uint64_t config; /* perf_event_attr.config for that type */
	bool by_time;	 /* sampled at a frequency by default */
	const char *unit;
	const char *help;   /* marks: the data that a recording without the event lacks */
	const char *filter; /* marks: filter expression of the tracepoint, or NULL */
	/* marks: only opened if kmem:rss_stat does not report each change */
	bool batched;
	const char *members; /* groups: comma-separated aliases */
	/* The analysis of mtreport that reads the event; NULL: see mt_event_report() */
	const char *report;
};

/* All rows, in the table's order. */
const struct mt_event_def *mt_event_defs(size_t *count);

/* The row of an alias, or of a cache event by any of perf's names; NULL if unknown. */
const struct mt_event_def *mt_event_def_find(const char *alias, size_t length);

/* The analysis of mtreport that reads the row's event, without dashes; NULL for a mark. */
const char *mt_event_report(const struct mt_event_def *def);

/* The unit of the period of an event of this kernel name: "events" for one not in the table. */
const char *mt_event_unit(const char *name, size_t length);

#endif
