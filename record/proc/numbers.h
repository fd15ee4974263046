/* Parses numbers and lists of numbers of the command line and of /sys. */
#ifndef MT_RECORD_PROC_NUMBERS_H
#define MT_RECORD_PROC_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;

#define MT_CPU_MAX 65535

/* A list of numbers, such as CPUs or pids; empty if all zero. Free it with mt_array_deinit(). */
struct mt_number_list {
	int *items;
	size_t count;
	size_t capacity;
};

/* Parses a decimal number without other text around it. On failure *out does not change. */
bool mt_parse_u64(const char *text, uint64_t *out);

/*
 * Appends the numbers of "1,2,5-7" to list, each once. A number above max is an error; `what` names
 * the option in its message.
 */
struct mt_error *mt_parse_list(const char *what, const char *text, int max,
			       struct mt_number_list *list);

/* Parses the size of -m: pages, or bytes with K, M or G. Rounds up to a power of two in pages. */
struct mt_error *mt_parse_ring_size(const char *text, size_t *out);

/*
 * Parses a size in bytes, from `low` to `high`: a number with B, K, M or G (KB and KiB too). The
 * unit of a number without a letter is `alone` bytes.
 */
struct mt_error *mt_parse_size(const char *what, const char *text, uint64_t alone, uint64_t low,
			       uint64_t high, uint64_t *out);

/* Parses a time above 0 into ns: "10" (seconds), "10s", "1.5s", "500ms", "2m", "1h". */
struct mt_error *mt_parse_duration(const char *what, const char *text, uint64_t *ns);

/* Returns true if the list contains the number. */
bool mt_list_has(const struct mt_number_list *list, int number);

/* Appends the number if it is not in the list. False out of memory. */
bool mt_list_add(struct mt_number_list *list, int number);

#endif
