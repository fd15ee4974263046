/*
 * What `perf script` prints: a line for each sample, and one for each frame of its stack.
 *
 *     comm  1234/1235 [002]  5678.123456:   4096 page-faults:u:  detail
 *             55d0c0ffee12 grow(int)+0x12 (/usr/bin/grower)
 *
 * Of the head's fields only comm, a task and the event have to be there. Commands and events hold
 * almost any character, so that the head is searched for the first place where all fits.
 */
#include <inttypes.h>

#include "formats/text/told_text.h"

/* The next word, and what follows it. */
static struct mt_text take_word(struct mt_text *text)
{
	struct mt_text rest = mt_text_trim(*text), word = {rest.bytes, 0};

	while (word.size < rest.size && rest.bytes[word.size] != ' ' &&
	       rest.bytes[word.size] != '\t')
		word.size++;
	*text = (struct mt_text){rest.bytes + word.size, rest.size - word.size};
	return word;
}

/* A number at the text's start, which it takes; false without one, or if it is over `most`. */
static bool take_number(struct mt_text *text, uint64_t most, uint64_t *out)
{
	uint64_t value = 0;
	size_t at = 0;

	for (; at < text->size && text->bytes[at] >= '0' && text->bytes[at] <= '9'; at++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(text->bytes[at] - '0'), &value))
			return false;
	}
	text->bytes += at;
	text->size -= at;
	*out = value;
	return at && value <= most;
}

static bool take_character(struct mt_text *text, char character)
{
	if (!text->size || *text->bytes != character)
		return false;
	text->bytes++;
	text->size--;
	return true;
}

/* `tid` or `pid/tid`; perf prints -1 for what it does not know. */
static bool parse_task(struct mt_text word, struct mt_text_sample *out)
{
	uint64_t pid, tid;

	out->pid = out->tid = -1;
	if (mt_text_is(word, "-1") || mt_text_is(word, "-1/-1"))
		return true;
	if (!take_number(&word, INT32_MAX, &pid))
		return false;
	tid = pid;
	if (take_character(&word, '/') && !take_number(&word, INT32_MAX, &tid))
		return false;
	out->pid = (int32_t)pid;
	out->tid = (int32_t)tid;
	return !word.size;
}

static bool parse_cpu(struct mt_text word, uint32_t *out)
{
	uint64_t cpu;

	if (!take_character(&word, '[') || !take_number(&word, INT32_MAX, &cpu) ||
	    !take_character(&word, ']') || word.size)
		return false;
	*out = (uint32_t)cpu;
	return true;
}

/* `seconds.fraction:`, of up to nine digits. */
static bool parse_time(struct mt_text word, uint64_t *out)
{
	uint64_t seconds, fraction;
	size_t digits;

	if (!take_number(&word, UINT64_MAX / 1000000000 - 1, &seconds) ||
	    !take_character(&word, '.'))
		return false;
	digits = word.size;
	if (!take_number(&word, 999999999, &fraction))
		return false;
	for (digits -= word.size; digits < 9; digits++)
		fraction *= 10;
	*out = seconds * 1000000000 + fraction;
	return take_character(&word, ':') && !word.size;
}

/* The words behind the command; false where they are none of a head. */
static bool parse_fields(struct mt_text text, struct mt_text_sample *out)
{
	struct mt_text word = take_word(&text), number;

	if (!parse_task(word, out))
		return false;
	word = take_word(&text);
	if (parse_cpu(word, &out->cpu))
		word = take_word(&text);
	if (parse_time(word, &out->time))
		word = take_word(&text);
	number = word;
	if (take_number(&number, INT64_MAX, &out->period) && !number.size)
		word = take_word(&text);
	else
		out->period = 1;
	if (word.size < 2 || word.bytes[word.size - 1] != ':' || *word.bytes == ':')
		return false;
	out->event = (struct mt_text){word.bytes, word.size - 1};
	out->tail = mt_text_trim(text);
	return true;
}

bool mt_script_head(struct mt_text line, struct mt_text_sample *out)
{
	struct mt_text text = line, word = take_word(&text);

	if (!line.size || *line.bytes == '\t' || *line.bytes == '#')
		return false;
	for (int words = 0; word.size && words < 32; words++) {
		*out = (struct mt_text_sample){.cpu = UINT32_MAX, .pid = -1, .tid = -1};
		if (parse_fields(text, out)) {
			out->comm = mt_text_trim((struct mt_text){
				line.bytes, (size_t)(word.bytes + word.size - line.bytes)});
			return true;
		}
		word = take_word(&text);
	}
	return false;
}

static bool take_hex(struct mt_text *text, uint64_t *out)
{
	size_t at = 0;

	*out = 0;
	for (; at < text->size && at < 17; at++) {
		char c = text->bytes[at];
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
						   : -1;

		if (digit < 0)
			break;
		*out = *out << 4 | (uint64_t)digit;
	}
	text->bytes += at;
	text->size -= at;
	return at && at < 17;
}

/* ` (file)` at the end; a file that is gone ends in a bracket of its own. */
static bool take_file(struct mt_text *text, struct mt_text *out)
{
	size_t from = text->size;
	size_t skip = mt_text_ends(*text, " (deleted))") ? 11 : 0;

	if (!text->size || text->bytes[text->size - 1] != ')')
		return false;
	for (from -= skip; from >= 2; from--) {
		if (text->bytes[from - 2] == ' ' && text->bytes[from - 1] == '(')
			break;
	}
	if (from < 2)
		return false;
	*out = (struct mt_text){text->bytes + from, text->size - from - 1};
	text->size = from - 2;
	return true;
}

/* `+0x12` at the end, if it is there. */
static uint64_t take_offset(struct mt_text *text)
{
	for (size_t at = text->size; at >= 3 && text->size - at < 17; at--) {
		struct mt_text hex = {text->bytes + at, text->size - at};
		uint64_t offset;

		if (memcmp(text->bytes + at - 3, "+0x", 3) != 0)
			continue;
		if (!take_hex(&hex, &offset) || hex.size)
			return 0;
		text->size = at - 3;
		return offset;
	}
	return 0;
}

bool mt_script_frame(struct mt_text line, struct mt_told_frame *out)
{
	struct mt_text text = mt_text_trim(line), file;
	struct mt_told_frame frame = {.dso = {"[unknown]", 9}};

	if (!take_hex(&text, &frame.address) || !text.size || *text.bytes != ' ' ||
	    !take_file(&text, &file))
		return false;
	text = mt_text_trim(text);
	frame.inlined = mt_text_is(file, "inlined");
	if (!frame.inlined)
		frame.dso = file;
	frame.kernel = frame.address >> 63;
	frame.offset = take_offset(&text);
	frame.name = text.size ? text : (struct mt_text){"[unknown]", 9};
	*out = frame;
	return true;
}
