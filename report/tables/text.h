/*
 * Formats numbers, durations and dates, and makes untrusted names safe for a terminal.
 */
#ifndef MT_REPORT_TABLES_TEXT_H
#define MT_REPORT_TABLES_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct mt_strings;

/* A formatter's result, returned by value so that one printf can hold several. */
struct mt_snippet {
	char text[48];
};

/* A number with separators: "1,234,567". */
struct mt_snippet mt_text_count(double value);

/* A duration: "3.21 s", "4 min 12 s", "2 h 05 min". */
struct mt_snippet mt_text_duration(double seconds);

/* A size in decimal units: "812 B", "11.2 MB". */
struct mt_snippet mt_text_bytes(double bytes);

/* `part` of `whole` in percent: "99.3 %", "<0.1 %", "0 %"; "-" if whole is 0. */
struct mt_snippet mt_text_percent(double part, double whole);

/* Unix time in ns as "2026-11-21 08:16:02 UTC". */
struct mt_snippet mt_text_date(uint64_t ns);

/*
 * Columns that sanitized text takes on a terminal: 2 for a wide character, 0 for a combining one,
 * if the locale's LC_CTYPE is UTF-8.
 */
size_t mt_text_columns(const char *text);

/*
 * Copies text into out (size bytes, NUL-terminated), with control characters and invalid UTF-8
 * replaced by '?'. Text longer than `width` columns is cut and ends in `..`. Returns the columns
 * used.
 */
size_t mt_text_fit(const char *text, size_t width, char *out, size_t size);

/* Decodes the UTF-8 character at the start of text. Returns its bytes, 0 for invalid UTF-8. */
size_t mt_text_decode(const char *text, uint32_t *code);

/*
 * Bytes of the character at the start of text; 0 for invalid UTF-8, control characters, line
 * separators, and characters that change the text's direction.
 */
size_t mt_text_character(const char *text);

/*
 * Returns the next character of *text and advances *text past it; "?" for one that
 * mt_text_character() rejects.
 */
const char *mt_text_take(const char **text, size_t *size);

/* Interns text with "?" for each character that mt_text_character() rejects. Returns the id. */
uint32_t mt_text_intern(struct mt_strings *strings, const char *text);

/*
 * Prints sanitized text, broken between words into lines of `width` columns. The first line begins
 * with `first`, each further one with `rest`, which has as many columns.
 */
void mt_text_print_wrapped(const char *first, const char *rest, const char *text, size_t width,
			   FILE *to);

/* Prints sanitized text. */
void mt_text_print_clean(const char *text, FILE *to);

/*
 * Prints text as one word for a shell: in single quotes, or as $'\x1b' for bash if it contains
 * characters that a terminal interprets.
 */
void mt_text_print_quoted(const char *text, FILE *to);

#endif
