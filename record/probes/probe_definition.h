/* Formats the kernel's definition of one probe, a line of uprobe_events or kprobe_events. Pure. */
#ifndef MT_RECORD_PROBES_PROBE_DEFINITION_H
#define MT_RECORD_PROBES_PROBE_DEFINITION_H

#include <stdint.h>

#include "record/plan/probe_word.h"

struct mt_error;

struct mt_probe_definition {
	const char *group, *name;
	const char *file;      /* NULL: a function of the kernel */
	const char *symbol;    /* function of the kernel, or NULL */
	uint64_t offset;       /* in the file, or in the kernel's function */
	uint64_t semaphore;    /* file offset of a static probe's semaphore; 0: none */
	const char *arguments; /* arguments in the note of a static probe; NULL: none */
};

/*
 * Sets *out to the text, and *left_out (if left_out is not NULL) to the arguments of a static probe
 * that the kernel cannot fetch, or to NULL. The caller frees both texts.
 */
struct mt_error *mt_probe_definition_text(const struct mt_probe_definition *definition,
					  const struct mt_probe_word *word, char **out,
					  char **left_out);

#endif
