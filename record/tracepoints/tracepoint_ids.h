/*
 * A list of tracepoint ids as a text file. `mtrec --check --tracepoint-ids FILE`, run as root,
 * writes the file for users who cannot read tracefs. mtrec also keeps the ids that a scan found in
 * such a file. Ids are valid for one build of the kernel; ids of modules and probes are valid for
 * one boot. So the file names the kernel build and the boot.
 *
 *	# mtrec tracepoint ids 1
 *	kernel 6.1.0-13-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.55-1
 *	boot 3f9cf2a8-...
 *	id 694 syscalls:sys_exit_brk
 *	format syscalls:sys_exit_brk
 *		(the format file, each line after a tab)
 */
#ifndef MT_RECORD_TRACEPOINTS_TRACEPOINT_IDS_H
#define MT_RECORD_TRACEPOINTS_TRACEPOINT_IDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/base/array.h"

struct mt_error;

struct mt_tracepoint_id {
	char *name; /* subsystem:name */
	uint64_t id;
	char *format; /* text of the format file; NULL: unknown */
};

struct mt_tracepoint_ids {
	MT_ARRAY(struct mt_tracepoint_id) items;
	char *kernel; /* release and version; NULL: not in the file */
	char *boot;
};

/* Adds or replaces an entry; copies format, which may be NULL. False out of memory. */
bool mt_tracepoint_ids_add(struct mt_tracepoint_ids *ids, const char *name, uint64_t id,
			   const char *format);

/* Returns the entry of that name, or NULL; valid until the list changes. */
const struct mt_tracepoint_id *mt_tracepoint_ids_find(const struct mt_tracepoint_ids *ids,
						      const char *name);

/* Sets kernel and boot of the list to the running ones. */
void mt_tracepoint_ids_sign(struct mt_tracepoint_ids *ids);

/* Return true if the list was made under the running kernel build; in the running boot. */
bool mt_tracepoint_ids_same_kernel(const struct mt_tracepoint_ids *ids);
bool mt_tracepoint_ids_same_boot(const struct mt_tracepoint_ids *ids);

/* Writes the list in the format above. */
void mt_tracepoint_ids_write(const struct mt_tracepoint_ids *ids, FILE *to);

/* Parses the format above; modifies text. `what` names the text in messages. Deinitialise *out. */
struct mt_error *mt_tracepoint_ids_parse(const char *what, char *text,
					 struct mt_tracepoint_ids *out);
struct mt_error *mt_tracepoint_ids_read(const char *path, struct mt_tracepoint_ids *out);

/*
 * Replaces the file atomically, with permissions `mode`. A path that is not a regular file
 * (/dev/stdout) is written in place.
 */
struct mt_error *mt_tracepoint_ids_save(const struct mt_tracepoint_ids *ids, const char *path,
					unsigned mode);

void mt_tracepoint_ids_deinit(struct mt_tracepoint_ids *ids);

#endif
