/* Numbers and lists of numbers as the command line and /sys write them. */
#ifndef MT_RECORD_PROC_NUMBERS_H
#define MT_RECORD_PROC_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;

#define MT_CPU_MAX 65535

/* A list of numbers: CPUs, pids. All zero is an empty one; mt_array_deinit() releases it. */
struct mt_number_list {
	int *items;
	size_t count;
	size_t capacity;
};

/* A whole decimal number, nothing before or behind it; false otherwise, with *out untouched. */
bool mt_parse_u64(const char *text, uint64_t *out);

/*
 * "1,2,5-7" appended to list, each once; `what` names the option in the message. Numbers above max
 * are refused.
 */
struct mt_error *mt_parse_list(const char *what, const char *text, int max,
			       struct mt_number_list *list);

/* "-m": pages, or bytes with K, M or G; rounded up to a power of two of pages. */
struct mt_error *mt_parse_ring_size(const char *text, size_t *out);

/*
 * A size in bytes: a number with B, K, M or G behind it (KB and KiB too), from `low` to `high`; a
 * number alone counts `alone` bytes each.
 */
struct mt_error *mt_parse_size(const char *what, const char *text, uint64_t alone, uint64_t low,
			       uint64_t high, uint64_t *out);

/* A time: "10", "10s", "1.5s", "500ms", "2m", "1h", more than nothing; nanoseconds. */
struct mt_error *mt_parse_duration(const char *what, const char *text, uint64_t *ns);

/* True where number is in the list. */
bool mt_list_has(const struct mt_number_list *list, int number);

/* Appends number where it is not there yet; false out of memory. */
bool mt_list_add(struct mt_number_list *list, int number);

#endif
