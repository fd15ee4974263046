/*
 * The probes of one recording: finds them, writes them into tracefs, and removes them. Also removes
 * probes of recorders that were killed.
 */
#ifndef MT_RECORD_PROBES_PROBES_H
#define MT_RECORD_PROBES_PROBES_H

#include <stddef.h>
#include <stdio.h>

#include "record/probes/probe_files.h"
#include "record/tracepoints/tracepoint_source.h"

struct mt_elf;
struct mt_error;
struct mt_probes;

/*
 * Borrows the targets and tracefs (a descriptor of the tracefs directory, or -1). NULL out of
 * memory.
 */
struct mt_probes *mt_probes_create(int tracefs, const struct mt_probe_targets *targets);

/* Removes all probes; close their events first. NULL-safe. */
void mt_probes_destroy(struct mt_probes *probes);

/*
 * If there are many probes, a background process closes the open events and removes the probes. The
 * kernel takes a tenth of a second to close the event of each probe, and the recorder must not wait
 * for that when it ends. Call it while the events are open. Further calls do nothing.
 */
void mt_probes_remove_later(struct mt_probes *probes);

/* Implements probe() of struct mt_tracepoint_source. context: struct mt_probes. */
struct mt_error *mt_probes_define(void *context, const char *text, size_t length,
				  mt_take_probe *each, void *out, char **note);

/* Returns an error if tracefs cannot be reached. */
struct mt_error *mt_probes_check(const struct mt_probes *probes);

/*
 * Like mt_probes_define() for a word whose file is already open and read; PATH in the word is used
 * only in messages. The caller defines the entry of a function with a return probe.
 * MT_ERR_NOT_FOUND: the file has no such function.
 */
struct mt_error *mt_probes_define_in(struct mt_probes *probes, const struct mt_probe_file *file,
				     struct mt_elf *elf, const char *text, mt_take_probe *each,
				     void *out);

/* Returns the targets given to mt_probes_create(). */
const struct mt_probe_targets *mt_probes_targets_get(const struct mt_probes *probes);

/* Calls say(context, text) for each probe, with the place where it is set. */
void mt_probes_describe(const struct mt_probes *probes,
			void (*say)(void *context, const char *text), void *context);

/*
 * Lists the static probes in files that the processes map, as words of -e, with their arguments.
 * pattern: a part of the word or a shell pattern; NULL: all. MT_ERR_NOT_FOUND if there is none.
 */
struct mt_error *mt_probes_list_usdt(const struct mt_probe_targets *targets, const char *pattern,
				     FILE *to);

#endif
