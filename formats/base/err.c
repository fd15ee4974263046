/* Error values. Callers decide what an error means; only the two main.c files print one. */
#include "formats/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static struct mt_error nomem = {
	.kind = MT_ERR_NOMEM,
	.errnum = ENOMEM,
	.message = (char *)"out of memory",
};

static struct mt_error *error_create_v(enum mt_error_kind kind, const char *format, va_list ap)
{
	struct mt_error *err = calloc(1, sizeof(*err));

	if (!err)
		return &nomem;
	err->kind = kind;
	if (vasprintf(&err->message, format, ap) < 0) {
		free(err);
		return &nomem;
	}
	return err;
}

struct mt_error *mt_error_create(enum mt_error_kind kind, const char *format, ...)
{
	va_list ap;
	struct mt_error *err;

	va_start(ap, format);
	err = error_create_v(kind, format, ap);
	va_end(ap);
	return err;
}

struct mt_error *mt_error_os(int errnum, const char *format, ...)
{
	va_list ap;
	struct mt_error *err;
	char *with_reason;

	va_start(ap, format);
	err = error_create_v(errnum == ENOMEM ? MT_ERR_NOMEM : MT_ERR_OS, format, ap);
	va_end(ap);
	if (err == &nomem)
		return err;
	err->errnum = errnum;
	if (asprintf(&with_reason, "%s: %s", err->message, strerror(errnum)) >= 0) {
		free(err->message);
		err->message = with_reason;
	}
	return err;
}

struct mt_error *mt_error_nomem(void)
{
	return &nomem;
}

struct mt_error *mt_error_context(struct mt_error *err, const char *format, ...)
{
	char *context, *joined;
	va_list ap;
	int n;

	if (!err || err == &nomem)
		return err;
	va_start(ap, format);
	n = vasprintf(&context, format, ap);
	va_end(ap);
	if (n < 0)
		return err;
	if (asprintf(&joined, "%s: %s", context, err->message) >= 0) {
		free(err->message);
		err->message = joined;
	}
	free(context);
	return err;
}

struct mt_error *mt_error_hint(struct mt_error *err, const char *format, ...)
{
	char *hint;
	va_list ap;
	int n;

	if (!err || err == &nomem)
		return err;
	va_start(ap, format);
	n = vasprintf(&hint, format, ap);
	va_end(ap);
	if (n < 0)
		return err;
	free(err->hint);
	err->hint = hint;
	return err;
}

/*
 * Replaces control characters: names of files and events may contain escape sequences or newlines.
 */
static void print_line(const char *tool, const char *text, FILE *to)
{
	fprintf(to, "%s: ", tool);
	for (const char *c = text; *c; c++)
		fputc((unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c, to);
	fputc('\n', to);
}

void mt_error_print(const struct mt_error *err, const char *tool, FILE *to)
{
	print_line(tool, err->message, to);
	if (err->hint)
		print_line(tool, err->hint, to);
}

void mt_error_destroy(struct mt_error *err)
{
	if (!err || err == &nomem)
		return;
	free(err->message);
	free(err->hint);
	free(err);
}
