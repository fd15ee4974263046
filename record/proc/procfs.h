/*
 * Reads whole text files of /proc, /sys and tracefs, up to a maximum size. Failures set errno.
 * Parses lines of /proc/PID/maps, which are hostile input because paths are arbitrary bytes.
 */
#ifndef MT_RECORD_PROC_PROCFS_H
#define MT_RECORD_PROC_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mt_map_record;

/*
 * Returns the whole file (at most 64 MiB) as NUL-terminated text, which the caller frees; NULL with
 * errno. *size, if size is not NULL, does not count the NUL.
 */
char *mt_read_text_at(int dir, const char *path, size_t *size) __attribute__((warn_unused_result));
char *mt_read_text(const char *path, size_t *size) __attribute__((warn_unused_result));

/* Opens a file of a formatted path; -1 with errno. */
int mt_openf(int flags, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads a file of a formatted path as mt_read_text() does. */
char *mt_read_textf(size_t *size, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/* Returns where the value on the line "NAME: value" begins in the text; NULL: no such line. */
const char *mt_find_line(const char *text, const char *name);

/* Sets *out to the number on such a line, "123 kB" in bytes. False: text NULL, or no such line. */
bool mt_find_number(const char *text, const char *name, uint64_t *out);

/*
 * Returns the number in a one-line file like /proc/sys/kernel/perf_event_paranoid, or `fallback` if
 * it cannot be read.
 */
long mt_read_number(const char *path, long fallback);

/*
 * Calls each() for every entry of a directory whose name is a number, such as a process or a
 * thread. Returns false if the directory cannot be listed.
 */
bool mt_each_number(const char *path, void (*each)(void *context, pid_t number), void *context);

/*
 * Parses "start-end perms offset major:minor inode   path", without a newline. Sets all of map
 * except pid and the times. Unescapes the path in place; map borrows it from the line. Returns
 * false if the line does not have that form.
 */
bool mt_map_line_get(char *line, struct mt_map_record *map);

#endif
