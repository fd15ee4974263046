/*
 * Folded stacks: `comm;root;leaf 12`, or two counts, as difffolded.pl writes them. They hold names,
 * not addresses, so that nothing is unwound or symbolized. Private to formats/text.
 */
#ifndef MT_FORMATS_TEXT_REPORTED_TEXT_H
#define MT_FORMATS_TEXT_REPORTED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/reader.h"

struct mt_error;
struct mt_input;

enum mt_text_kind {
	MT_TEXT_NONE,
	MT_TEXT_FOLDED,
	MT_TEXT_PAIRS,	/* folded, with two counts a line: before and now */
	MT_TEXT_SCRIPT, /* output of perf script: recognized, and refused */
};

enum {
	MT_TEXT_LINE_MAX = 1 << 20, /* bytes; longer lines are left out */
	MT_TEXT_FRAMES_MAX = 65536, /* of a sample */
};

/* The kind of a file that begins with these bytes: the whole file, or as much as a probe gets. */
enum mt_text_kind mt_text_kind_of(const char *head, size_t size);

/* ---- Lines of a file ---- */

struct mt_text_lines {
	const struct mt_input *input;
	char *buffer;	 /* MT_TEXT_LINE_MAX bytes */
	uint64_t offset; /* offset in the file of the next read */
	size_t at, end;
	struct mt_text line;
};

/* The next line is the first one. */
void mt_text_lines_begin(struct mt_text_lines *lines);

/*
 * The next line without its newline, borrowed until the next call; *more false at the end. A line
 * that is too long is given as NULL bytes.
 */
struct mt_error *mt_text_lines_next(struct mt_text_lines *lines, struct mt_text *out, bool *more);

/* ---- Parsing lines ---- */

typedef MT_ARRAY(struct mt_reported_frame) mt_reported_frames;

/*
 * Parses the counts at a folded line's end, one or two, and the text before them. False if the line
 * is not folded.
 */
bool mt_folded_counts(struct mt_text line, size_t counts, struct mt_text *path, double out[2]);

/*
 * Splits a folded line's path. Its first name is the command, as stackcollapse-perf.pl writes it;
 * the others become frames, innermost first. False out of memory.
 */
bool mt_folded_path(struct mt_text path, struct mt_text *comm, mt_reported_frames *frames);

/* ---- Words ---- */

static inline struct mt_text mt_text_trim(struct mt_text text)
{
	while (text.size && (*text.bytes == ' ' || *text.bytes == '\t')) {
		text.bytes++;
		text.size--;
	}
	while (text.size && (text.bytes[text.size - 1] == ' ' || text.bytes[text.size - 1] == '\t'))
		text.size--;
	return text;
}

static inline bool mt_text_ends(struct mt_text text, const char *word)
{
	size_t size = strlen(word);

	return text.size >= size && !memcmp(text.bytes + text.size - size, word, size);
}

#endif
