/* Reads a file line by line in bounded memory. */
#include <string.h>

#include "formats/input.h"
#include "formats/text/reported_text.h"

void mt_text_lines_begin(struct mt_text_lines *lines)
{
	lines->offset = 0;
	lines->at = lines->end = 0;
}

/* Moves the remaining bytes to the buffer's start and reads on. */
static struct mt_error *fill(struct mt_text_lines *lines, size_t *got)
{
	struct mt_error *err;

	memmove(lines->buffer, lines->buffer + lines->at, lines->end - lines->at);
	lines->end -= lines->at;
	lines->at = 0;
	err = mt_input_read(lines->input, lines->offset, lines->buffer + lines->end,
			    MT_TEXT_LINE_MAX - lines->end, got);
	if (err)
		return err;
	lines->end += *got;
	lines->offset += *got;
	return NULL;
}

/* Takes `size` bytes and the newline after them. */
static struct mt_text take(struct mt_text_lines *lines, size_t size, size_t newline)
{
	struct mt_text line = {lines->buffer + lines->at, size};

	lines->at += size + newline;
	line.size -= size && line.bytes[size - 1] == '\r';
	return line;
}

/* Reads up to the line's end; a line that is too long loses its bytes. */
static struct mt_error *read_line(struct mt_text_lines *lines, bool *more)
{
	bool too_long = false;
	size_t passed = 0, got = 1;

	while (got) {
		const char *begin = lines->buffer + lines->at;
		size_t left = lines->end - lines->at;
		const char *end = memchr(begin + passed, '\n', left - passed);
		struct mt_error *err;

		if (end) {
			lines->line = take(lines, (size_t)(end - begin), 1);
			break;
		}
		too_long |= left == MT_TEXT_LINE_MAX;
		lines->at += left == MT_TEXT_LINE_MAX ? left : 0;
		passed = lines->end - lines->at;
		err = fill(lines, &got);
		if (err)
			return err;
	}
	if (!got) {
		*more = lines->end > lines->at || too_long;
		lines->line = take(lines, lines->end - lines->at, 0);
	}
	if (too_long)
		lines->line = (struct mt_text){0};
	return NULL;
}

struct mt_error *mt_text_lines_next(struct mt_text_lines *lines, struct mt_text *out, bool *more)
{
	struct mt_error *err;

	*more = true;
	err = read_line(lines, more);
	*out = lines->line;
	return err;
}
