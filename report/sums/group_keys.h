/*
 * What rows can be grouped by: the words of --by, and the key columns that each stands for.
 */
#ifndef MT_REPORT_SUMS_GROUP_KEYS_H
#define MT_REPORT_SUMS_GROUP_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/tables/table.h"

struct mt_error;

/* In the order of their columns in a table of them all: a stack stands last. */
enum mt_by {
	MT_BY_EVENT,
	MT_BY_TIME, /* an interval of --timeline; no word of --by */
	MT_BY_PROCESS,
	MT_BY_THREAD,
	MT_BY_COMM,
	MT_BY_CPU,
	MT_BY_CGROUP,
	MT_BY_MODE, /* in user code or in the kernel */
	MT_BY_KIND, /* of the memory: heap, anonymous, file, stack, ... */
	MT_BY_FILE, /* what is mapped there */
	MT_BY_IMAGE,
	MT_BY_RESERVER, /* the stack that reserved the memory */
	MT_BY_STACK,
	MT_BY_KEYS
};

#define MT_BY_BIT(key) (1u << (key))

/* What every analysis of samples knows of each. */
#define MT_BY_OF_SAMPLES                                                             \
	(MT_BY_BIT(MT_BY_EVENT) | MT_BY_BIT(MT_BY_TIME) | MT_BY_BIT(MT_BY_PROCESS) | \
	 MT_BY_BIT(MT_BY_THREAD) | MT_BY_BIT(MT_BY_COMM) | MT_BY_BIT(MT_BY_CPU) |    \
	 MT_BY_BIT(MT_BY_CGROUP) | MT_BY_BIT(MT_BY_MODE) | MT_BY_BIT(MT_BY_IMAGE) |  \
	 MT_BY_BIT(MT_BY_STACK))

/* Keys in the order of their columns, each once. */
struct mt_by_list {
	uint8_t keys[MT_BY_KEYS];
	size_t count;
};

struct mt_by_def {
	const char *name; /* the word; NULL: cannot be asked for */
	const char *help;
	struct mt_key_column columns[3];
	size_t column_count;
};

/* What a key is. */
const struct mt_by_def *mt_by_def(enum mt_by key);

/* Adds the words of "process,stack" to the list; an unknown one is a usage error with the known. */
struct mt_error *mt_by_parse(const char *option, const char *text, struct mt_by_list *list);

/* Whether the list has the key. */
bool mt_by_has(const struct mt_by_list *list, enum mt_by key);
/* Behind the others, but before a stack; nothing where it is there already. */
void mt_by_add(struct mt_by_list *list, enum mt_by key);
void mt_by_add_first(struct mt_by_list *list, enum mt_by key);
void mt_by_remove(struct mt_by_list *list, enum mt_by key);

/* "process, thread, stack": the words whose bits are in `keys`. */
void mt_by_names(uint32_t keys, char *out, size_t size);

#endif
