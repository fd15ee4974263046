/*
 * The heaviest paths of a table with stacks, each as two lines: its headline with its place, and
 * the innermost part of the path.
 */
#ifndef MT_REPORT_OUTPUTS_TOP_PATHS_H
#define MT_REPORT_OUTPUTS_TOP_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "report/sums/sum_table.h"
#include "report/tables/table.h"

struct mt_error;
struct mt_headline;
struct mt_paths;

/* One path with the row's other keys except sentences as text: "grower", "412 sshd". */
struct mt_top_path {
	uint32_t who;	      /* string id of the other keys */
	uint32_t path, stack; /* path id; stack of the path's heaviest row */
	uint32_t sentence;    /* string id of that row's sentence; 0: none */
	bool words;	      /* the frames are words, not code: [exec] */
	double heaviest;
	struct mt_value values[MT_GROUPS_COLUMNS];
};

struct mt_top_paths {
	struct mt_table *table;
	size_t weight; /* value column that orders the paths */
	struct mt_paths *paths;
	struct mt_map64 by_key;
	MT_ARRAY(struct mt_top_path) items; /* largest absolute value first */
};

/*
 * Reads the table, which must have a stack column, from its start, and names its frames. Borrows
 * the table. Deinit `out` after failure, too.
 */
struct mt_error *mt_top_paths_read(struct mt_table *table, size_t weight, struct mt_top_paths *out);
void mt_top_paths_deinit(struct mt_top_paths *top);

/* The last part of a path: "java" of "/usr/bin/java"; any other text as it is. */
const char *mt_path_last_part(const char *text);

/*
 * Prints "grower: SessionCache::remember  (grower, grower.cpp:32)" and a newline. If `headline` is
 * NULL, prints that of the path by itself.
 */
void mt_top_path_print(const struct mt_top_paths *top, const struct mt_top_path *path,
		       const struct mt_headline *headline, size_t room, FILE *to);

/*
 * Prints ".. > _int_malloc > sysmalloc > brk", indented by `indent` columns, and a newline; nothing
 * without frames. A run of JIT code without names is one entry.
 */
void mt_top_path_print_end(const struct mt_top_paths *top, const struct mt_top_path *path,
			   size_t indent, size_t width, FILE *to);

#endif
