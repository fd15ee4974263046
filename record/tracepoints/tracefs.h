/*
 * Finds ids and formats of tracepoints by name in tracefs: mounted at /sys/kernel/tracing or under
 * debugfs, or, for root, a private mount that ends with the process.
 */
#ifndef MT_RECORD_TRACEPOINTS_TRACEFS_H
#define MT_RECORD_TRACEPOINTS_TRACEFS_H

#include <stdbool.h>
#include <stdint.h>

struct mt_error;

struct mt_tracefs {
	int dir;	   /* the tracing directory; -1: none */
	const char *where; /* how it was opened, for --verbose */
	int failed;	   /* errno if dir is -1 */
};

/* Opens tracefs. Succeeds even without tracefs; mt_tracefs_find() then fails. */
void mt_tracefs_open(struct mt_tracefs *out);
void mt_tracefs_close(struct mt_tracefs *tracefs);

/* Returns why there is no tracefs, in one line; valid until the next call. */
const char *mt_tracefs_why_not(const struct mt_tracefs *tracefs);

/* Returns true if opening tracefs failed for lack of file descriptors, not of permission. */
bool mt_tracefs_lacks_files(const struct mt_tracefs *tracefs);

struct mt_tracepoint {
	uint64_t id;
	char *format; /* text of the format file; the caller frees it */
	bool refused; /* this user may not open the tracepoint */
};

/*
 * Finds the tracepoint "subsystem:name". MT_ERR_NOT_FOUND: unknown. If it cannot be read, the error
 * says what would permit that.
 */
struct mt_error *mt_tracefs_find(const struct mt_tracefs *tracefs, const char *name,
				 struct mt_tracepoint *out);

/*
 * Calls each(context, "subsystem:name") for every tracepoint in sorted order, until it returns
 * false.
 */
struct mt_error *mt_tracefs_each(const struct mt_tracefs *tracefs,
				 bool (*each)(void *context, const char *name), void *context);

#endif
