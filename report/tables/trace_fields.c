/*
 * Parses these lines of a format file:
 *	field:u64 clone_flags;	offset:32;	size:8;	signed:0;
 */
#include "report/tables/trace_fields.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"

enum {
	LINE_MOST = 256,
	OFFSET_MOST = 1 << 16,
};

/* The number after a word such as "offset:"; -1 if the word is missing. */
static long number_after(const char *line, const char *word)
{
	const char *at = strstr(line, word);

	return at ? strtol(at + strlen(word), NULL, 10) : -1;
}

static bool names_field(const char *line, const char *name)
{
	const char *semicolon = strchr(line, ';');
	size_t length = strlen(name), before;

	if (!strstr(line, "field:") || !semicolon)
		return false;
	before = (size_t)(semicolon - line);
	return before > length && !memcmp(semicolon - length, name, length) &&
	       strchr(" \t*", semicolon[-(ptrdiff_t)length - 1]);
}

struct mt_field mt_field_find(const struct mt_text *format, const char *name)
{
	const char *at = format->bytes, *end = at ? at + format->size : at;
	char line[LINE_MOST];

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)),
			   *stop = newline ? newline : end;
		size_t length = (size_t)(stop - at);
		long offset, size;

		length = length < sizeof(line) ? length : sizeof(line) - 1;
		memcpy(line, at, length);
		line[length] = '\0';
		at = stop + 1;
		if (!names_field(line, name))
			continue;
		offset = number_after(line, "offset:");
		size = number_after(line, "size:");
		if (offset >= 0 && offset < OFFSET_MOST &&
		    (size == 1 || size == 2 || size == 4 || size == 8))
			return (struct mt_field){(uint32_t)offset, (uint32_t)size,
						 number_after(line, "signed:") == 1};
	}
	return (struct mt_field){0};
}

bool mt_field_get(const struct mt_field *field, const struct mt_sample *sample, uint64_t *out)
{
	const uint8_t *at;

	if (!field->size || (size_t)field->offset + field->size > sample->raw_size)
		return false;
	at = sample->raw + field->offset;
	*out = field->size == 8	  ? mt_get_le64(at)
	       : field->size == 4 ? mt_get_le32(at)
	       : field->size == 2 ? mt_get_le16(at)
				  : *at;
	return true;
}

bool mt_field_number(const struct mt_field *field, const struct mt_sample *sample, double *out)
{
	unsigned int shift = 64 - 8 * field->size;
	uint64_t value;

	if (!mt_field_get(field, sample, &value))
		return false;
	*out = field->is_signed ? (double)((int64_t)(value << shift) >> shift) : (double)value;
	return true;
}

/* A __data_loc has the offset in the low 16 bits, the length in the high 16 bits. */
const char *mt_field_text(const struct mt_field *field, const struct mt_sample *sample,
			  size_t *length)
{
	uint64_t place;
	size_t offset, size;

	if (field->size != 4 || !mt_field_get(field, sample, &place))
		return NULL;
	offset = place & 0xffff;
	size = place >> 16;
	if (offset > sample->raw_size || size > sample->raw_size - offset)
		return NULL;
	*length = strnlen((const char *)sample->raw + offset, size);
	return (const char *)sample->raw + offset;
}
