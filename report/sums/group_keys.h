/*
 * The words of --by, and the key columns of each.
 */
#ifndef MT_REPORT_SUMS_GROUP_KEYS_H
#define MT_REPORT_SUMS_GROUP_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/tables/table.h"

struct mt_error;

/* Keys in the order of their columns in a table that has all; a stack is last. */
enum mt_by {
	MT_BY_EVENT,
	MT_BY_TIME,    /* an interval of --timeline; not a word of --by */
	MT_BY_SEGMENT, /* a segment of shared memory, and its creator */
	MT_BY_PROCESS,
	MT_BY_PROGRAM, /* processes of one name; not a word of --by */
	MT_BY_THREAD,
	MT_BY_COMM,
	MT_BY_CPU,
	MT_BY_CGROUP,
	MT_BY_CONTAINER,
	MT_BY_EXE,  /* the program that a process runs; not a word of --by */
	MT_BY_MODE, /* user, kernel or guest */
	MT_BY_KIND, /* kind of memory: heap, anonymous, file, stack, ... */
	MT_BY_FILE, /* the mapped file */
	MT_BY_IMAGE,
	MT_BY_TREND,	/* of a process's memory over time, in words */
	MT_BY_TOOK,	/* how long an event took, in powers of two of us */
	MT_BY_VALUE,	/* the value of --weight's field */
	MT_BY_LOG2,	/* the same in powers of two */
	MT_BY_LIFE,	/* whether a process began or ended during the recording */
	MT_BY_SIZE,	/* the size class of a block */
	MT_BY_AGE,	/* how long a block has lived, in powers of two of us */
	MT_BY_RESERVER, /* the stack that reserved the memory */
	MT_BY_STACK,
	MT_BY_KEYS
};

#define MT_BY_BIT(key) (1u << (key))

/* Keys that every analysis of samples can group by. */
#define MT_BY_OF_SAMPLES                                                                \
	(MT_BY_BIT(MT_BY_EVENT) | MT_BY_BIT(MT_BY_TIME) | MT_BY_BIT(MT_BY_PROCESS) |    \
	 MT_BY_BIT(MT_BY_THREAD) | MT_BY_BIT(MT_BY_COMM) | MT_BY_BIT(MT_BY_CPU) |       \
	 MT_BY_BIT(MT_BY_CGROUP) | MT_BY_BIT(MT_BY_CONTAINER) | MT_BY_BIT(MT_BY_MODE) | \
	 MT_BY_BIT(MT_BY_IMAGE) | MT_BY_BIT(MT_BY_STACK))

/* Keys that the screen of --summary can be grouped by, one at a time. */
#define MT_BY_OF_SCREEN                                                                    \
	(MT_BY_BIT(MT_BY_PROCESS) | MT_BY_BIT(MT_BY_CGROUP) | MT_BY_BIT(MT_BY_CONTAINER) | \
	 MT_BY_BIT(MT_BY_IMAGE))

/* Distinct keys in the order of their columns. */
struct mt_by_list {
	uint8_t keys[MT_BY_KEYS];
	size_t count;
};

struct mt_by_def {
	const char *name; /* word of --by; NULL: not available with --by */
	const char *help;
	struct mt_key_column columns[3];
	size_t column_count;
};

/* Borrows a key's row of the table. */
const struct mt_by_def *mt_by_def(enum mt_by key);

/*
 * Adds the keys of "process,stack" to the list. The usage error for an unknown word lists the known
 * ones.
 */
struct mt_error *mt_by_parse(const char *option, const char *text, struct mt_by_list *list);

/* True if the list has the key. */
bool mt_by_has(const struct mt_by_list *list, enum mt_by key);
/* Adds a key at the end, but before a stack; does nothing if the list has the key. */
void mt_by_add(struct mt_by_list *list, enum mt_by key);
void mt_by_add_first(struct mt_by_list *list, enum mt_by key);
void mt_by_remove(struct mt_by_list *list, enum mt_by key);

/* Writes the words of the keys in this bit set: "process, thread, stack". */
void mt_by_names(uint32_t keys, char *out, size_t size);

#endif
