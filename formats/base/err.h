/*
 * Errors are values: a fallible function returns NULL for success, or an error.
 *
 * An error says what failed, why (the errno or the limit) and, if there is a remedy, what to do.
 * Callers prepend context on the way up ("recording.mtr: chunk 17: checksum differs"). If memory
 * runs out while an error is made, a static error takes its place.
 */
#ifndef MT_FORMATS_BASE_ERR_H
#define MT_FORMATS_BASE_ERR_H

#include <stdio.h>

enum mt_error_kind {
	MT_ERR_NOMEM,	    /* out of memory, or over a stated memory bound */
	MT_ERR_OS,	    /* a system call failed; errnum says how */
	MT_ERR_FORMAT,	    /* malformed bytes */
	MT_ERR_UNSUPPORTED, /* well-formed, but not supported by this version or machine */
	MT_ERR_PERMISSION,  /* not allowed here; the hint says how to allow it */
	MT_ERR_USAGE,	    /* a mistake on the command line */
	MT_ERR_NOT_FOUND,   /* no such file, event, symbol, sample */
	MT_ERR_OUTPUT,	    /* the output could not be written (ENOSPC, EPIPE, ...) */
};

struct mt_error {
	enum mt_error_kind kind;
	int errnum;    /* errno; 0 if no system call failed */
	char *message; /* one line: what, then why; never NULL */
	char *hint;    /* one line: what to do; NULL: none */
};

/* Makes an error, never NULL. The caller destroys it or passes it up. */
struct mt_error *mt_error_create(enum mt_error_kind kind, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/*
 * Like mt_error_create() for a failed system call: appends ": " and strerror(errnum) to the
 * message. The kind is MT_ERR_OS, or MT_ERR_NOMEM for ENOMEM.
 */
struct mt_error *mt_error_os(int errnum, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/* The static out-of-memory error; allocates nothing. Destroying it does nothing. */
struct mt_error *mt_error_nomem(void) __attribute__((warn_unused_result));

/*
 * Prepends "context: " to the message. Takes ownership of err. Returns it, or the static error if
 * memory runs out. NULL stays NULL.
 */
struct mt_error *mt_error_context(struct mt_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/* Replaces the hint. Otherwise like mt_error_context(). */
struct mt_error *mt_error_hint(struct mt_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/*
 * Prints "TOOL: message" and, if there is a hint, "TOOL: hint" on a second line. Control characters
 * become "?".
 */
void mt_error_print(const struct mt_error *err, const char *tool, FILE *to);

/* NULL-safe; does nothing to the static error. */
void mt_error_destroy(struct mt_error *err);

#endif
