/* An array of patterns. The pattern that a stack matches is cached. */
#include "report/analyses/rows/suppressions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/text.h"

enum {
	SIZE_MOST = 1 << 20,
	PATTERNS_MOST = 4096,
	UNKNOWN = 0, /* the stack was not looked up */
	NONE = 1,    /* no pattern matches; else index of the pattern + 2 */
};

#define PREFIX "leak:"

struct pattern {
	char *text;
	double blocks, bytes; /* left out */
};

struct mt_suppressions {
	MT_ARRAY(struct pattern) patterns;
	MT_ARRAY(uint32_t) known; /* by stack: UNKNOWN, NONE or index + 2 */
};

MT_DEFINE_CLEANUP(mt_suppressions, struct mt_suppressions)

void mt_suppressions_destroy(struct mt_suppressions *suppressions)
{
	if (!suppressions)
		return;
	for (size_t i = 0; i < suppressions->patterns.count; i++)
		free(suppressions->patterns.items[i].text);
	mt_array_deinit(&suppressions->patterns);
	mt_array_deinit(&suppressions->known);
	free(suppressions);
}

/* ---- The file ---- */

static struct mt_error *take_line(struct mt_suppressions *suppressions, const char *path,
				  size_t number, char *line)
{
	struct pattern *pattern;
	size_t length;

	line += strspn(line, " \t");
	length = strcspn(line, "\r\n");
	while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
		length--;
	line[length] = '\0';
	if (!*line || *line == '#')
		return NULL;
	if (strncmp(line, PREFIX, strlen(PREFIX)) != 0 || !line[strlen(PREFIX)])
		return mt_error_hint(
			mt_error_create(MT_ERR_USAGE, "%s: line %zu is no leak:PATTERN", path,
					number),
			*line == '{' ? "valgrind's format is not read: write leak:FUNCTION "
				       "for the fun: that tells each path"
				     : "PATTERN is part of a function's, a file's or an "
				       "image's name, with * ^ $");
	if (suppressions->patterns.count == PATTERNS_MOST)
		return mt_error_create(MT_ERR_USAGE, "%s: more than %d patterns", path,
				       PATTERNS_MOST);
	pattern = mt_array_push(&suppressions->patterns);
	*pattern = (struct pattern){.text = mt_copy_string(line + strlen(PREFIX))};
	return NULL;
}

static struct mt_error *read_lines(struct mt_suppressions *suppressions, const char *path,
				   FILE *from)
{
	MT_CLEANUP_FREE char *text = mt_alloc(SIZE_MOST + 2, 1);
	struct mt_error *err = NULL;
	size_t size, number = 0;

	size = fread(text, 1, SIZE_MOST + 1, from);
	if (ferror(from))
		return mt_error_create(MT_ERR_USAGE, "%s: %s", path, strerror(errno));
	if (size > SIZE_MOST || memchr(text, '\0', size))
		return mt_error_create(MT_ERR_USAGE, "%s: %s", path,
				       size > SIZE_MOST ? "larger than 1 MiB" : "not a text");
	text[size] = '\0';
	for (char *line = text, *next; !err && line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		err = take_line(suppressions, path, ++number, line);
	}
	return err;
}

struct mt_error *mt_suppressions_read(const char *option, const char *path,
				      struct mt_suppressions **out)
{
	MT_CLEANUP(mt_suppressions_destroy_p)
	struct mt_suppressions *suppressions = mt_alloc(1, sizeof(*suppressions));
	struct mt_error *err;
	FILE *from;

	from = fopen(path, "re");
	if (!from)
		return mt_error_create(MT_ERR_USAGE, "%s %s: %s", option, path, strerror(errno));
	err = read_lines(suppressions, path, from);
	fclose(from);
	if (!err)
		*out = MT_TAKE(suppressions);
	return err;
}

/* ---- Matching ---- */

/*
 * Whether `pattern` occurs in `text`. The time is at most proportional to the product of their
 * lengths.
 */
static bool matches(const char *pattern, const char *text)
{
	const char *star = "", *from = text; /* where the last * resumes, in pattern and text */
	bool floats = *pattern != '^';

	pattern += !floats;
	star = floats ? pattern : NULL;
	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (!*pattern || (*pattern == '$' && !pattern[1] && !*text)) {
			return true;
		} else if (*text && *pattern == *text) {
			pattern++;
			text++;
		} else if (star && *from) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
}

static bool matches_frame(const char *pattern, struct mt_frames *frames, uint32_t frame)
{
	struct mt_strings *strings = mt_frames_strings(frames);
	size_t count;
	const struct mt_frame_name *names = mt_frames_names(frames, frame, &count);

	for (size_t i = 0; names && i < count; i++) {
		if (matches(pattern, mt_strings_get(strings, names[i].name)) ||
		    matches(pattern, names[i].dso) ||
		    (names[i].file && matches(pattern, names[i].file)))
			return true;
	}
	return false;
}

/* NONE, or the index + 2 of the first pattern that matches. */
static uint32_t find(const struct mt_suppressions *suppressions, struct mt_frames *frames,
		     const struct mt_stacks *stacks, uint32_t stack)
{
	size_t depth;
	const uint32_t *ids = mt_stacks_get(stacks, stack, &depth);

	for (size_t i = 0; i < suppressions->patterns.count; i++) {
		for (size_t k = 0; k < depth; k++) {
			if (matches_frame(suppressions->patterns.items[i].text, frames, ids[k]))
				return (uint32_t)i + 2;
		}
	}
	return NONE;
}

bool mt_suppressions_match(struct mt_suppressions *suppressions, struct mt_frames *frames,
			   const struct mt_stacks *stacks, uint32_t stack, double blocks,
			   double bytes)
{
	uint32_t *known;

	if (!suppressions || stack == MT_STACK_NONE)
		return false;
	known = mt_array_at(&suppressions->known, stack);
	if (*known == UNKNOWN)
		*known = find(suppressions, frames, stacks, stack);
	if (*known == NONE)
		return false;
	suppressions->patterns.items[*known - 2].blocks += blocks;
	suppressions->patterns.items[*known - 2].bytes += bytes;
	return true;
}

void mt_suppressions_report(const struct mt_suppressions *suppressions,
			    void (*print)(void *context, const char *line), void *context)
{
	char line[400];

	for (size_t i = 0; suppressions && i < suppressions->patterns.count; i++) {
		const struct pattern *pattern = &suppressions->patterns.items[i];

		if (!pattern->blocks)
			continue;
		snprintf(line, sizeof(line), "%s block%s of %s left out by " PREFIX "%.200s",
			 mt_text_count(pattern->blocks).text, pattern->blocks == 1 ? "" : "s",
			 mt_text_bytes(pattern->bytes).text, pattern->text);
		print(context, line);
	}
}
