/*
 * Small pieces of readable text: numbers with separators, durations, and names from outside made
 * safe for a terminal.
 */
#ifndef MT_REPORT_TABLES_TEXT_H
#define MT_REPORT_TABLES_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Text that a formatter returns by value, so that several can stand in one printf. */
struct mt_snippet {
	char text[48];
};

/* 1234567 as "1,234,567". */
struct mt_snippet mt_text_count(double value);

/* "3.21 s", "4 min 12 s", "2 h 05 min". */
struct mt_snippet mt_text_duration(double seconds);

/* "812 B", "11.2 MB": decimal units. */
struct mt_snippet mt_text_bytes(double bytes);

/* part of whole in percent: "99.3 %", "<0.1 %", "0 %"; "-" where whole is 0. */
struct mt_snippet mt_text_percent(double part, double whole);

/* Unix time in ns as "2026-11-21 08:16:02 UTC". */
struct mt_snippet mt_text_date(uint64_t ns);

/*
 * Copies text into out (size bytes, terminated), control characters and broken UTF-8 replaced by
 * '?'; where it is longer than `width` columns, cut with `..` at the end. Gives the columns used.
 */
size_t mt_text_fit(const char *text, size_t width, char *out, size_t size);

/* The UTF-8 character that text begins with and its bytes; 0 where it is none. */
size_t mt_text_decode(const char *text, uint32_t *code);

/*
 * Bytes of the character that text begins with; 0 where it is broken UTF-8, a control character,
 * or one that ends a line or turns the direction of text.
 */
size_t mt_text_character(const char *text);

/* The next character of *text, which goes on behind it; "?" for a byte of what is none. */
const char *mt_text_take(const char **text, size_t *size);

/*
 * Prints text, made safe, between words over as many lines of `width` columns as it takes, `first`
 * before it and `rest`, as long, before each further line.
 */
void mt_text_print_wrapped(const char *first, const char *rest, const char *text, size_t width,
			   FILE *to);

/* Prints text with control characters replaced by '?'. */
void mt_text_print_clean(const char *text, FILE *to);

/* The same as one word of a shell, in quotes. */
void mt_text_print_quoted(const char *text, FILE *to);

#endif
