/*
 * --check: what this host allows, what each missing thing costs a recording, and what would allow
 * it. It asks by opening, as a recording does, and leaves nothing open.
 */
#ifndef MT_RECORD_CLI_CHECK_H
#define MT_RECORD_CLI_CHECK_H

#include <stdbool.h>
#include <stdio.h>

#include "formats/base/array.h"

struct mt_error;

enum mt_check_state {
	MT_CHECK_OK,
	MT_CHECK_PART, /* to be had for our own processes only, or less of it */
	MT_CHECK_NO,
};

struct mt_check_row {
	const char *what;
	enum mt_check_state state;
	char *found;  /* what was found */
	char *cost;   /* what its absence costs; NULL: nothing */
	char *remedy; /* what would allow it; NULL: nothing known */
};

struct mt_check {
	MT_ARRAY(struct mt_check_row) rows;
	bool can_record; /* at least our own command's page faults */
};

/*
 * Looks at everything. ids_file (NULL: none): where tracefs can be read, the ids of all its
 * tracepoints are written there; elsewhere that list is read and proven. *out must be released, but
 * after an error.
 */
struct mt_error *mt_check_host(const char *ids_file, struct mt_check *out);
void mt_check_print(const struct mt_check *check, FILE *to);
void mt_check_deinit(struct mt_check *check);

#endif
