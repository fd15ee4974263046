/*
 * Which functions call which directly, as the code of their images says: by the sets that a
 * recording carries (symbols/call_set.h), where it does, so that the answers are the same wherever
 * it is read; else by the bytes, where these are at hand. Private to the unwinder.
 */
#ifndef MT_UNWIND_CODE_CALLS_H
#define MT_UNWIND_CODE_CALLS_H

#include <stdbool.h>

struct mt_code_calls;
struct mt_code_function;
struct mt_code_places;

/* NULL out of memory. Borrows the places. */
struct mt_code_calls *mt_code_calls_create(const struct mt_code_places *places);
void mt_code_calls_destroy(struct mt_code_calls *calls);

/* Other images come: nothing that was found holds any more. */
void mt_code_calls_begin(struct mt_code_calls *calls);

/* Whether one has a direct call of the other; of different images nothing says so. */
bool mt_code_calls_has(struct mt_code_calls *calls, const struct mt_code_function *outer,
		       const struct mt_code_function *inner);

#endif
