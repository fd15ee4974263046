/*
 * Which symbols a skeleton of seen code keeps, for skeleton.c alone: as many as make any address in
 * a seen place get the name that all of them would give it (symbols/names/symtab.h).
 */
#ifndef MT_SYMBOLS_CARRIED_SEEN_SYMBOLS_H
#define MT_SYMBOLS_CARRIED_SEEN_SYMBOLS_H

#include <stdbool.h>

struct mt_kept_symbols;
struct mt_seen_code;

/*
 * Adds them to both tables, which give names together; the relocations were collected. seen: NULL
 * for all that name code. False out of memory.
 */
bool mt_seen_symbols_choose(const struct mt_seen_code *seen, struct mt_kept_symbols *plain,
			    struct mt_kept_symbols *dynamic);

#endif
