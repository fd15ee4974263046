/* Reading the small text files of /proc, /sys and tracefs: whole, bounded, with errno kept. */
#ifndef MT_RECORD_PROC_PROCFS_H
#define MT_RECORD_PROC_PROCFS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * The whole file as NUL-terminated text (at most 64 MiB), the caller's to free; *size without the
 * NUL where wanted. NULL with errno.
 */
char *mt_read_text_at(int dir, const char *path, size_t *size) __attribute__((warn_unused_result));
char *mt_read_text(const char *path, size_t *size) __attribute__((warn_unused_result));

/* A formatted /proc path read as above. */
char *mt_read_textf(size_t *size, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/*
 * The number in a one-line file like /proc/sys/kernel/perf_event_paranoid; fallback where it cannot
 * be read.
 */
long mt_read_number(const char *path, long fallback);

#endif
