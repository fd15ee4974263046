/*
 * Probe events in tracefs: written, removed, and swept after a recorder that could not remove its
 * own. Their group is called mtrec_PID_START, after the recorder's process and its start time in
 * clock ticks since boot, so that a later process of the same number is not taken for it.
 */
#ifndef MT_RECORD_PROBES_PROBE_EVENTS_H
#define MT_RECORD_PROBES_PROBE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

struct mt_error;

#define MT_PROBE_GROUP_SIZE 64

/* What to do where tracefs cannot be written. */
#define MT_PROBES_HINT                                                                          \
	"run as root: CAP_PERFMON does not suffice for probes. -e vm,rss needs none, and says " \
	"which paths grow the heap; mtrec --check says more"

/* The group's name of this process. */
void mt_probe_group(char out[MT_PROBE_GROUP_SIZE]);

/*
 * True if a line of uprobe_events is of a recorder's probe: `event` gets "group/name", pid and
 * start those of the group. Pure.
 */
bool mt_probe_line_get(const char *line, char *event, size_t size, int *pid,
		       unsigned long long *start);

/*
 * Writes a definition (probe_definition.h). tracefs: descriptor of its directory. The error has the
 * kernel's reason.
 */
struct mt_error *mt_probe_event_write(int tracefs, bool kernel, const char *definition);

/* Removes "group/name"; false with errno (EBUSY: it is still open somewhere). */
bool mt_probe_event_remove(int tracefs, bool kernel, const char *event);

/*
 * Removes all probes of recorders that are gone: *removed of them; *kept are still open somewhere.
 * A recorder in another pid namespace looks as if it were gone; its probes are kept while their
 * events are open. An error if the lists of probes cannot be read or written.
 */
struct mt_error *mt_probe_events_sweep(int tracefs, size_t *removed, size_t *kept);

#endif
