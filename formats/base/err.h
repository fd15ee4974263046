/*
 * Errors are values: a fallible function returns NULL for success, or one of these.
 *
 * An error says what failed, why (the errno or the limit) and, where there is something to do about
 * it, what to do. Context is put in front on the way up ("recording.mtr: chunk 17: checksum
 * differs"). Running out of memory while making an error is survived: a static error stands in.
 */
#ifndef MT_FORMATS_BASE_ERR_H
#define MT_FORMATS_BASE_ERR_H

#include <stdio.h>

enum mt_error_kind {
	MT_ERR_NOMEM,	    /* out of memory, or over a stated memory bound */
	MT_ERR_OS,	    /* a system call failed; errnum says how */
	MT_ERR_FORMAT,	    /* bytes that are not what they claim to be */
	MT_ERR_UNSUPPORTED, /* well-formed, but not something this version or machine does */
	MT_ERR_PERMISSION,  /* not allowed here; the hint says what would allow it */
	MT_ERR_USAGE,	    /* the words of the command line are off */
	MT_ERR_NOT_FOUND,   /* no such file, event, symbol, sample */
	MT_ERR_OUTPUT,	    /* the output could not be written (ENOSPC, EPIPE, ...) */
};

struct mt_error {
	enum mt_error_kind kind;
	int errnum;    /* errno, 0 where no system call was involved */
	char *message; /* one line: what, then why; never NULL */
	char *hint;    /* one line: what to do; NULL where there is nothing to say */
};

/* Makes an error. Never returns NULL. The caller owns it: mt_error_destroy() or hand it up. */
struct mt_error *mt_error_create(enum mt_error_kind kind, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/*
 * As above for a failed system call: ": " and strerror(errnum) follow the message. ENOMEM becomes
 * MT_ERR_NOMEM.
 */
struct mt_error *mt_error_os(int errnum, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/* The static out-of-memory error. Needs no memory; destroying it is harmless. */
struct mt_error *mt_error_nomem(void) __attribute__((warn_unused_result));

/*
 * Puts "context: " in front of the message. Takes err, returns it (or what stands in for it). NULL
 * stays NULL.
 */
struct mt_error *mt_error_context(struct mt_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/*
 * Sets the hint, what to do about it; replaces an earlier one. Takes err, returns it. NULL stays
 * NULL.
 */
struct mt_error *mt_error_hint(struct mt_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/*
 * Prints "TOOL: message" and, if there is a hint, "TOOL: hint" on lines of their own, "?" for
 * control characters.
 */
void mt_error_print(const struct mt_error *err, const char *tool, FILE *to);

/* NULL-safe; harmless on the static error. */
void mt_error_destroy(struct mt_error *err);

#endif
