/* The event table of events.def as data: what the words of `-e` open. */
#ifndef MT_FORMATS_EVENTS_H
#define MT_FORMATS_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mt_event_kind {
	MT_EVENT_SOFTWARE,
	MT_EVENT_HARDWARE,
	MT_EVENT_SYSCALL,    /* a pair of tracepoints, exit and enter */
	MT_EVENT_MARK,	     /* a tracepoint that only groups record, dumpless */
	MT_EVENT_GROUP,	     /* several of the others */
	MT_EVENT_TRACEPOINT, /* any subsystem:name; not in the table */
};

enum mt_event_class {
	MT_CLASS_RARE, /* ledger and side-band: a ring of its own */
	MT_CLASS_STORM,
	MT_CLASSES
};

struct mt_event_def {
	const char *alias;
	enum mt_event_kind kind;
	enum mt_event_class class;
	uint32_t type;	 /* software and hardware: PERF_TYPE_* */
	uint64_t config; /* of that type */
	bool by_time;	 /* sampled at a frequency by default */
	const char *unit;
	const char *help;    /* of a mark: what a recording lacks that does not have it */
	const char *filter;  /* marks: what of the tracepoint, or NULL */
	bool batched;	     /* marks: only where kmem:rss_stat does not report each change */
	const char *members; /* groups: words, comma-separated */
};

/* The rows in the table's order. */
const struct mt_event_def *mt_event_defs(size_t *count);

/* The row of that alias, or of a cache event that perf knows by that name, or NULL. */
const struct mt_event_def *mt_event_def_find(const char *alias, size_t length);

#endif
