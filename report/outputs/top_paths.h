/*
 * The rows of a table with stacks as the paths that weigh most, each told in two lines: whom to ask
 * about it, and the inner end of the path.
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
struct mt_paths;

/* One path of one who: the row's other keys, "grower", "412 sshd". */
struct mt_top_path {
	uint32_t who;	      /* string id */
	uint32_t path, stack; /* the stack is that of its heaviest row */
	bool words;	      /* no code, but what stands for it: [exec] */
	double heaviest;
	struct mt_value values[MT_GROUPS_COLUMNS];
};

struct mt_top_paths {
	struct mt_table *table;
	size_t weight; /* the figure that orders them */
	struct mt_paths *paths;
	struct mt_map64 by_key;
	MT_ARRAY(struct mt_top_path) items; /* largest first, whatever the sign */
};

/*
 * Reads the table, which has a stack column, from its beginning, and names its frames. Borrows it;
 * `out` is to be deinited whatever comes of it.
 */
struct mt_error *mt_top_paths_read(struct mt_table *table, size_t weight, struct mt_top_paths *out);
void mt_top_paths_deinit(struct mt_top_paths *top);

/* "grower: SessionCache::remember  (grower, grower.cpp:32)" and a line's end. */
struct mt_error *mt_top_path_print(const struct mt_top_paths *top, const struct mt_top_path *path,
				   size_t room, FILE *to);

/*
 * ".. > _int_malloc > sysmalloc > brk" from column `indent` on, and a line's end; nothing without
 * frames.
 */
void mt_top_path_print_end(const struct mt_top_paths *top, const struct mt_top_path *path,
			   size_t indent, size_t width, FILE *to);

#endif
