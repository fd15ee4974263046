/*
 * A word of -e that names a probe:
 *
 *	u:PATH:SYMBOL[+OFFSET][(FIELD,...)]	a function of a file, at its start or OFFSET bytes
 * in ur:PATH:SYMBOL[(FIELD,...)]		when it returns usdt:PATH:PROVIDER:NAME[(FIELD,...)]
 * a static probe (systemtap's sys/sdt.h) k:SYMBOL[+OFFSET], kr:SYMBOL		the same for a
 * function of the kernel
 *
 * FIELD is [NAME=]FETCH[:TYPE] with the kernel's fetch expressions and types, or arg1, arg2, ...
 * Pure: nothing is looked up.
 */
#ifndef MT_RECORD_PROBES_PROBE_WORD_H
#define MT_RECORD_PROBES_PROBE_WORD_H

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
	char *type;  /* or NULL */
};

struct mt_probe_word {
	enum mt_probe_kind kind;
	char *text;	/* the word without its fields: the event's alias */
	char *path;	/* a path or a name of a file; NULL for functions of the kernel */
	char *provider; /* of a static probe, or NULL */
	char *symbol;	/* a name, a pattern, or a link-time address; of a static probe its name */
	uint64_t offset;
	bool has_offset; /* an offset was given, also +0 */
	MT_ARRAY(struct mt_probe_field) fields;
};

/* True if the text begins as such a word does. */
bool mt_is_probe_word(const char *text, size_t length);

/* True if it is a return probe's. */
bool mt_probe_is_return(enum mt_probe_kind kind);

/* Length of the word without its fields. */
size_t mt_probe_word_stem(const char *text, size_t length);

/* Parses a word; the usage error says what is wrong. Deinitialise *out. */
struct mt_error *mt_probe_word_parse(const char *text, size_t length, struct mt_probe_word *out);
void mt_probe_word_deinit(struct mt_probe_word *word);

#endif
