/* Folded stacks: parses one line. */
#include "formats/text/reported_text.h"

/* The number at the end of the text, and the text before it; false without a number. */
static bool take_number(struct mt_text *text, double *out)
{
	struct mt_text rest = mt_text_trim(*text);
	size_t from = rest.size;
	double value = 0, part = 1;
	bool point = false, digits = false;

	while (from && (rest.bytes[from - 1] == '.' ||
			(rest.bytes[from - 1] >= '0' && rest.bytes[from - 1] <= '9')))
		from--;
	if (!from || from == rest.size ||
	    (rest.bytes[from - 1] != ' ' && rest.bytes[from - 1] != '\t'))
		return false;
	for (size_t i = from; i < rest.size; i++) {
		if (rest.bytes[i] == '.') {
			if (point || !digits)
				return false;
			point = true;
			continue;
		}
		digits = true;
		value = 10 * value + (rest.bytes[i] - '0');
		part *= point ? 10 : 1;
	}
	*out = value / part;
	text->size = (size_t)(rest.bytes - text->bytes) + from;
	return *out < 1e18;
}

bool mt_folded_counts(struct mt_text line, size_t counts, struct mt_text *path, double out[2])
{
	double last, first = 0;
	struct mt_text text = line;

	if (!take_number(&text, &last) || (counts == 2 && !take_number(&text, &first)))
		return false;
	out[0] = counts == 2 ? first : last;
	out[1] = last;
	*path = mt_text_trim(text);
	return path->size;
}

/* Suffixes of names that flamegraph.pl knows: kernel, inlined, made by a JIT compiler. */
static struct mt_reported_frame frame_of(struct mt_text name)
{
	struct mt_reported_frame frame = {.name = name, .dso = {"[unknown]", 9}};

	frame.kernel = mt_text_ends(name, "_[k]");
	frame.inlined = mt_text_ends(name, "_[i]");
	if (mt_text_ends(name, "_[j]"))
		frame.dso = (struct mt_text){"[anon]", 6};
	if (frame.kernel)
		frame.dso = (struct mt_text){"[kernel.kallsyms]", 17};
	if (frame.kernel || frame.inlined || frame.dso.size == 6)
		frame.name.size -= 4;
	if (!frame.name.size)
		frame.name = (struct mt_text){"[unknown]", 9};
	return frame;
}

bool mt_folded_path(struct mt_text path, struct mt_text *comm, mt_reported_frames *frames)
{
	const char *begin = path.bytes, *end = begin + path.size;

	frames->count = 0;
	while (end > begin && frames->count < MT_TEXT_FRAMES_MAX) {
		const char *mark = memrchr(begin, ';', (size_t)(end - begin));
		struct mt_reported_frame *frame;

		if (!mark)
			break;
		frame = mt_array_push(frames);
		if (!frame)
			return false;
		*frame = frame_of((struct mt_text){mark + 1, (size_t)(end - mark) - 1});
		end = mark;
	}
	*comm = (struct mt_text){begin, (size_t)(end - begin)};
	return true;
}
