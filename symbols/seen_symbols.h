/*
 * Which symbols a skeleton of seen code keeps, for skeleton.c alone: as many as make any address in
 * a seen place get the name that all of them would give it (symbols/symtab.h).
 */
#ifndef MT_SYMBOLS_SEEN_SYMBOLS_H
#define MT_SYMBOLS_SEEN_SYMBOLS_H

#include <stdbool.h>

struct mt_seen_code;
struct mt_skeleton_table;

/*
 * Marks them in both tables, which give names together and are yet to be measured; the relocations
 * were collected. False out of memory.
 */
bool mt_seen_symbols_mark(const struct mt_seen_code *seen, struct mt_skeleton_table *plain,
			  struct mt_skeleton_table *dynamic);

#endif
