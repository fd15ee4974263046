/*
 * A word of -e that names a probe:
 *
 *	u:PATH:SYMBOL[+OFFSET][(FIELD,...)]	start of a function of a file, or OFFSET bytes in
 *	ur:PATH:SYMBOL[(FIELD,...)]		return of a function of a file
 *	usdt:PATH:PROVIDER:NAME[(FIELD,...)]	a static probe (systemtap's sys/sdt.h)
 *	k:SYMBOL[+OFFSET], kr:SYMBOL		the same for a function of the kernel
 *
 * FIELD is [NAME=]FETCH[:TYPE] with the kernel's fetch expressions and types, or arg1, arg2, ...
 * Pure: nothing is looked up.
 */
#ifndef MT_RECORD_PLAN_PROBE_WORD_H
#define MT_RECORD_PLAN_PROBE_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_error;

enum mt_probe_kind {
	MT_PROBE_ENTRY,
	MT_PROBE_RETURN,
	MT_PROBE_USDT,
	MT_PROBE_KERNEL,
	MT_PROBE_KERNEL_RETURN,
};

struct mt_probe_field {
	char *name;
	char *fetch; /* as written, without name and type */
	char *type;  /* NULL: none */
};

struct mt_probe_word {
	enum mt_probe_kind kind;
	char *text;	/* the word without its fields, which is the event's alias */
	char *path;	/* path or name of a file; NULL: function of the kernel */
	char *provider; /* provider of a static probe, or NULL */
	char *symbol;	/* name, pattern or link-time address; name of a static probe */
	uint64_t offset;
	bool has_offset; /* an offset is given, even +0 */
	MT_ARRAY(struct mt_probe_field) fields;
};

/* Returns true if the text begins like a word that names a probe. */
bool mt_is_probe_word(const char *text, size_t length);

/* Returns true for return probes. */
bool mt_probe_is_return(enum mt_probe_kind kind);

/* Returns the length of the word without its fields. */
size_t mt_probe_word_stem(const char *text, size_t length);

/* Parses a word. The usage error describes the mistake. Deinitialise *out. */
struct mt_error *mt_probe_word_parse(const char *text, size_t length, struct mt_probe_word *out);
void mt_probe_word_deinit(struct mt_probe_word *word);

#endif
