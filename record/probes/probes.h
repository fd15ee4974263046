/*
 * The probes of one recording: found, written into tracefs, and removed again. Probes of recorders
 * that were killed are removed on the way.
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

/* Borrows tracefs, the descriptor of its directory or -1, and the targets. NULL out of memory. */
struct mt_probes *mt_probes_create(int tracefs, const struct mt_probe_targets *targets);

/* Removes all its probes; events of them must be closed. NULL-safe. */
void mt_probes_destroy(struct mt_probes *probes);

/*
 * If there are many: a background process closes the open events and removes the probes.
 * To close the event of each takes the kernel a tenth of a second, for which a recorder that is to
 * end does not wait. Call it while the events are open; once it is done, it does nothing.
 */
void mt_probes_remove_later(struct mt_probes *probes);

/* mt_tracepoint_source's probe(), see there. context: struct mt_probes. */
struct mt_error *mt_probes_define(void *context, const char *text, size_t length,
				  mt_take_probe *each, void *out, char **note);

/* An error if tracefs cannot be reached. */
struct mt_error *mt_probes_check(const struct mt_probes *probes);

/*
 * The same for a word whose file is known and read already; its PATH stands in messages only. The
 * entry of a function with a return probe is the caller's to define. MT_ERR_NOT_FOUND: the file has
 * no such function.
 */
struct mt_error *mt_probes_define_in(struct mt_probes *probes, const struct mt_probe_file *file,
				     struct mt_elf *elf, const char *text, mt_take_probe *each,
				     void *out);

/* As given to mt_probes_create(). */
const struct mt_probe_targets *mt_probes_targets_get(const struct mt_probes *probes);

/* Calls say(context, text) for each probe: where it is set. */
void mt_probes_describe(const struct mt_probes *probes,
			void (*say)(void *context, const char *text), void *context);

/*
 * Lists the static probes of what the processes map, as words of -e, with their arguments. Pattern:
 * a part of the word or a pattern, NULL: all. MT_ERR_NOT_FOUND if there is none.
 */
struct mt_error *mt_probes_list_usdt(const struct mt_probe_targets *targets, const char *pattern,
				     FILE *to);

#endif
