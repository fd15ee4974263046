/*
 * Chooses the symbols of a skeleton of seen code: enough that each address in a seen place gets the
 * name that the full tables give it (symbols/names/symtab.h). Only for skeleton.c.
 */
#ifndef MT_SYMBOLS_CARRIED_SEEN_SYMBOLS_H
#define MT_SYMBOLS_CARRIED_SEEN_SYMBOLS_H

#include <stdbool.h>

struct mt_kept_symbols;
struct mt_seen_code;

/*
 * Adds the symbols to both tables, which give names together; call after collecting the
 * relocations. seen NULL: all function symbols. False out of memory.
 */
bool mt_seen_symbols_choose(const struct mt_seen_code *seen, struct mt_kept_symbols *plain,
			    struct mt_kept_symbols *dynamic);

#endif
