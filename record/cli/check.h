/*
 * --check: finds what this host permits, what a recording loses by each missing permission, and
 * what would grant that permission. Opens events as a recording does, and closes them again.
 */
#ifndef MT_RECORD_CLI_CHECK_H
#define MT_RECORD_CLI_CHECK_H

#include <stdbool.h>
#include <stdio.h>

#include "formats/base/array.h"

struct mt_error;

enum mt_check_state {
	MT_CHECK_OK,
	MT_CHECK_PART, /* only for the user's processes, or only partly */
	MT_CHECK_NO,
};

struct mt_check_row {
	const char *what;
	enum mt_check_state state;
	char *found;  /* what was found */
	char *cost;   /* what a recording loses; NULL: nothing */
	char *remedy; /* what would grant the missing permission; NULL: unknown */
};

struct mt_check {
	MT_ARRAY(struct mt_check_row) rows;
	bool can_record; /* at least page faults of a command can be recorded */
};

/*
 * Checks everything. If tracefs can be read, writes the ids of all its tracepoints to ids_file
 * (NULL: none). Otherwise reads ids from ids_file and tests them. On success the caller calls
 * mt_check_deinit() on *out.
 */
struct mt_error *mt_check_host(const char *ids_file, struct mt_check *out);
void mt_check_print(const struct mt_check *check, FILE *to);
void mt_check_deinit(struct mt_check *check);

#endif
