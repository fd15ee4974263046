/*
 * A growing array of one element type. MT_ARRAY(struct foo) names an anonymous struct {items,
 * count, capacity}. mt_array_push() appends one zeroed element, or returns NULL if memory runs out
 * (see memory.h). Pointers to elements are valid until the next push.
 */
#ifndef MT_FORMATS_BASE_ARRAY_H
#define MT_FORMATS_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/memory.h"

#define MT_ARRAY(type)           \
	struct {                 \
		type *items;     \
		size_t count;    \
		size_t capacity; \
	}

/* Reallocates the array for `want` elements; false out of memory. */
static inline bool mt_array_move(void **items, size_t *capacity, size_t want, size_t element)
{
	size_t grown = *capacity ? *capacity : 8, bytes;
	void *moved;

	while (grown < want && grown <= SIZE_MAX / 2)
		grown *= 2;
	moved = grown < want || __builtin_mul_overflow(grown, element, &bytes)
			? NULL
			: realloc(*items, bytes);
	if (!moved) {
		mt_memory_failed();
		return false;
	}
	*items = moved;
	*capacity = grown;
	return true;
}

/* Reserves room for `want` elements in all; false out of memory, with the array unchanged. */
static inline bool mt_array_grow(void **items, size_t *capacity, size_t want, size_t element)
{
	return want <= *capacity || mt_array_move(items, capacity, want, element);
}

#define mt_array_reserve(array, want) \
	mt_array_grow((void **)&(array)->items, &(array)->capacity, (want), sizeof(*(array)->items))

/* Appends a zeroed element and returns a pointer to it; NULL out of memory. */
#define mt_array_push(array)                                                             \
	(mt_array_reserve(array, (array)->count + 1)                                     \
		 ? (memset(&(array)->items[(array)->count], 0, sizeof(*(array)->items)), \
		    &(array)->items[(array)->count++])                                   \
		 : NULL)

/* The element at `index`; appends zeroed elements up to it if needed. NULL out of memory. */
#define mt_array_at(array, index)                                                            \
	({                                                                                   \
		__typeof__(array) array_ = (array);                                          \
		const size_t index_ = (index);                                               \
		bool fits_ = index_ < array_->count || mt_array_reserve(array_, index_ + 1); \
		if (fits_ && index_ >= array_->count) {                                      \
			memset(&array_->items[array_->count], 0,                             \
			       (index_ + 1 - array_->count) * sizeof(*array_->items));       \
			array_->count = index_ + 1;                                          \
		}                                                                            \
		fits_ ? &array_->items[index_] : NULL;                                       \
	})

/* Frees unused capacity; an empty array keeps its memory. */
#define mt_array_shrink(array)                                                                     \
	do {                                                                                       \
		void *smaller = (array)->count ? realloc((array)->items,                           \
							 (array)->count * sizeof(*(array)->items)) \
					       : NULL;                                             \
		if (smaller) {                                                                     \
			(array)->items = smaller;                                                  \
			(array)->capacity = (array)->count;                                        \
		}                                                                                  \
	} while (0)

/*
 * Binary search: returns how many of `count` indices satisfy `below`, an expression of the index
 * `at` that is true for all indices up to some point and false for all after it. The loop avoids a
 * branch, because the processor cannot predict the direction of a search.
 */
#define mt_array_split(count, at, below)                    \
	({                                                  \
		size_t low_ = 0, left_ = (count);           \
		while (left_ > 1) {                         \
			size_t half_ = left_ / 2;           \
			const size_t at = low_ + half_ - 1; \
			low_ += (below) ? half_ : 0;        \
			left_ -= half_;                     \
		}                                           \
		if (left_) {                                \
			const size_t at = low_;             \
			low_ += (below) ? 1 : 0;            \
		}                                           \
		low_;                                       \
	})

/* Appends a value; false out of memory, with the array unchanged. */
#define mt_array_append(array, ...)                                       \
	({                                                                \
		bool room_ = mt_array_reserve(array, (array)->count + 1); \
		if (room_) {                                              \
			(array)->items[(array)->count] = (__VA_ARGS__);   \
			(array)->count++;                                 \
		}                                                         \
		room_;                                                    \
	})

/*
 * Appends n elements, which must not be part of the array; false out of memory, with the array
 * unchanged.
 */
#define mt_array_extend(array, from, n)                                       \
	({                                                                    \
		const size_t more_ = (n);                                     \
		bool fits_ = mt_array_reserve(array, (array)->count + more_); \
		if (fits_ && more_) /* `from` may be NULL */                  \
			memcpy((array)->items + (array)->count, (from),       \
			       more_ * sizeof(*(array)->items));              \
		(array)->count += fits_ ? more_ : 0;                          \
		fits_;                                                        \
	})

#define mt_array_deinit(array)                          \
	do {                                            \
		free((array)->items);                   \
		(array)->items = NULL;                  \
		(array)->count = (array)->capacity = 0; \
	} while (0)

#endif
