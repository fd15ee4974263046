/*
 * Writes and removes probe events in tracefs, and sweeps probes that recorders could not remove.
 * The group of a recorder's probes is mtrec_PID_START: its process id, and its start time in clock
 * ticks since boot, so that a later process with the same id is not mistaken for the recorder.
 */
#ifndef MT_RECORD_PROBES_PROBE_EVENTS_H
#define MT_RECORD_PROBES_PROBE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

struct mt_error;

#define MT_PROBE_GROUP_SIZE 64

/* Remedy if tracefs cannot be written. */
#define MT_PROBES_HINT                                                                          \
	"run as root: CAP_PERFMON does not suffice for probes. -e vm,rss needs none, and says " \
	"which paths grow the heap; mtrec --check says more"

/* Returns the group's name of this process in out. */
void mt_probe_group(char out[MT_PROBE_GROUP_SIZE]);

/*
 * Returns true if a line of uprobe_events defines a recorder's probe. event receives "group/name";
 * pid and start receive those in the name of the group. Pure.
 */
bool mt_probe_line_get(const char *line, char *event, size_t size, int *pid,
		       unsigned long long *start);

/*
 * Writes a definition (probe_definition.h). tracefs: descriptor of the tracefs directory. The error
 * contains the kernel's reason.
 */
struct mt_error *mt_probe_event_write(int tracefs, bool kernel, const char *definition);

/* Removes "group/name". False with errno; EBUSY: a process has the event open. */
bool mt_probe_event_remove(int tracefs, bool kernel, const char *event);

/*
 * Removes the probes of all recorders that have ended. *removed: number of removed probes; *kept:
 * number of probes that a process still has open. Recorders in other pid namespaces seem to have
 * ended; their probes are kept while their events are open. Fails if the lists of probes cannot be
 * read or written.
 */
struct mt_error *mt_probe_events_sweep(int tracefs, size_t *removed, size_t *kept);

#endif
