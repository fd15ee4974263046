/*
 * A list of tracepoint ids as a text file: what `mtrec --check --tracepoint-ids FILE` writes as
 * root for those who cannot read tracefs, what a scan found, and the cache of it. Ids belong to one
 * build of the kernel, those of modules and probes to one boot; the file names both.
 *
 *	# mtrec tracepoint ids 1
 *	kernel 6.1.0-13-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.55-1
 *	boot 3f9cf2a8-...
 *	id 694 syscalls:sys_exit_brk
 *	format syscalls:sys_exit_brk
 *		(the format file, each line behind a tab)
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
	char *format; /* NULL: not known */
};

struct mt_tracepoint_ids {
	MT_ARRAY(struct mt_tracepoint_id) items;
	char *kernel; /* release and version; NULL: the file does not say */
	char *boot;
};

/* Adds or replaces one; format may be NULL and is copied. False out of memory. */
bool mt_tracepoint_ids_add(struct mt_tracepoint_ids *ids, const char *name, uint64_t id,
			   const char *format);

/* The entry of that name, or NULL; borrowed until the list changes. */
const struct mt_tracepoint_id *mt_tracepoint_ids_find(const struct mt_tracepoint_ids *ids,
						      const char *name);

/* Says that the list is of the kernel that runs now. */
void mt_tracepoint_ids_sign(struct mt_tracepoint_ids *ids);

/* Whether it was signed by the kernel that runs now, and in this boot. */
bool mt_tracepoint_ids_same_kernel(const struct mt_tracepoint_ids *ids);
bool mt_tracepoint_ids_same_boot(const struct mt_tracepoint_ids *ids);

/* As text, as above. */
void mt_tracepoint_ids_write(const struct mt_tracepoint_ids *ids, FILE *to);

/* Reads what _write() wrote. Changes text. `what` names it in messages. *out must be released. */
struct mt_error *mt_tracepoint_ids_parse(const char *what, char *text,
					 struct mt_tracepoint_ids *out);
struct mt_error *mt_tracepoint_ids_read(const char *path, struct mt_tracepoint_ids *out);

/*
 * Replaces the file as a whole, readable for `mode`; what is no regular file (/dev/stdout) is
 * written into.
 */
struct mt_error *mt_tracepoint_ids_save(const struct mt_tracepoint_ids *ids, const char *path,
					unsigned mode);

void mt_tracepoint_ids_deinit(struct mt_tracepoint_ids *ids);

#endif
