/*
 * The kernel's tracepoints by name: their ids and formats, from wherever tracefs can be had:
 * mounted at /sys/kernel/tracing or under debugfs, or, for root, a mount of our own that nobody
 * else sees and that ends with the process.
 */
#ifndef MT_RECORD_TRACEPOINTS_TRACEFS_H
#define MT_RECORD_TRACEPOINTS_TRACEFS_H

#include <stdbool.h>
#include <stdint.h>

struct mt_error;

struct mt_tracefs {
	int dir;	   /* the tracing directory; -1: none */
	const char *where; /* how it was reached, for --verbose */
	int failed;	   /* where there is none: errno */
};

/* Finds tracefs; having none is no error until a tracepoint is asked for. */
void mt_tracefs_open(struct mt_tracefs *out);
void mt_tracefs_close(struct mt_tracefs *tracefs);

/* Why there is none, one line; until the next call. */
const char *mt_tracefs_why_not(const struct mt_tracefs *tracefs);

/* There is none because no file descriptor was free: that says nothing of permissions. */
bool mt_tracefs_lacks_files(const struct mt_tracefs *tracefs);

struct mt_tracepoint {
	uint64_t id;
	char *format; /* the format file's text; the caller's */
	bool refused; /* its fields are not for us */
};

/*
 * The tracepoint "subsystem:name". An unknown one is MT_ERR_NOT_FOUND; one out of reach says what
 * would allow it.
 */
struct mt_error *mt_tracefs_find(const struct mt_tracefs *tracefs, const char *name,
				 struct mt_tracepoint *out);

/*
 * Calls each(context, "subsystem:name") for every tracepoint there is, sorted; stops when it
 * returns false.
 */
struct mt_error *mt_tracefs_each(const struct mt_tracefs *tracefs,
				 bool (*each)(void *context, const char *name), void *context);

#endif
