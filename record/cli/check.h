/*
 * --check: what this host permits, what a recording loses by each missing permission, and what
 * would grant it. Tests by opening events as a recording does, and closes them.
 */
#ifndef MT_RECORD_CLI_CHECK_H
#define MT_RECORD_CLI_CHECK_H

#include <stdbool.h>
#include <stdio.h>

#include "formats/base/array.h"

struct mt_error;

enum mt_check_state {
	MT_CHECK_OK,
	MT_CHECK_PART, /* only for own processes, or only a part */
	MT_CHECK_NO,
};

struct mt_check_row {
	const char *what;
	enum mt_check_state state;
	char *found;  /* what was found */
	char *cost;   /* what a recording loses; NULL: nothing */
	char *remedy; /* what would permit it; NULL: unknown */
};

struct mt_check {
	MT_ARRAY(struct mt_check_row) rows;
	bool can_record; /* at least page faults of our own command */
};

/*
 * Checks everything. ids_file (NULL: none): if tracefs can be read, the ids of all its tracepoints
 * are written there; otherwise the list is read and its ids are proven. On success the caller calls
 * mt_check_deinit() on *out.
 */
struct mt_error *mt_check_host(const char *ids_file, struct mt_check *out);
void mt_check_print(const struct mt_check *check, FILE *to);
void mt_check_deinit(struct mt_check *check);

#endif
