/*
 * Parses and matches words, regexes and numbers of selectors.
 */
#include "report/session/match.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"

struct mt_match {
	MT_ARRAY(char *) words;
	MT_ARRAY(regex_t) expressions;
	bool globs;
};

void mt_match_destroy(struct mt_match *match)
{
	if (!match)
		return;
	for (size_t i = 0; i < match->words.count; i++)
		free(match->words.items[i]);
	for (size_t i = 0; i < match->expressions.count; i++)
		regfree(&match->expressions.items[i]);
	mt_array_deinit(&match->words);
	mt_array_deinit(&match->expressions);
	free(match);
}

static struct mt_error *add_expression(struct mt_match *match, const char *option, const char *text,
				       size_t size)
{
	MT_CLEANUP_FREE char *pattern = mt_copy_bytes(text, size);
	char why[128];
	regex_t *regex;
	int code;

	regex = mt_array_push(&match->expressions);
	code = regcomp(regex, pattern, REG_EXTENDED | REG_NOSUB);
	if (code) {
		match->expressions.count--;
		regerror(code, regex, why, sizeof(why));
		return mt_error_create(MT_ERR_USAGE, "%s /%s/: %s", option, pattern, why);
	}
	return NULL;
}

static struct mt_error *add_words(struct mt_match *match, const char *option, const char *text)
{
	while (*text) {
		size_t size = strcspn(text, ",");

		if (size)
			mt_array_append(&match->words, mt_copy_bytes(text, size));
		text += size + (text[size] == ',');
	}
	if (!match->words.count)
		return mt_error_create(MT_ERR_USAGE, "%s: an empty list matches nothing", option);
	return NULL;
}

struct mt_error *mt_match_add(const char *option, const char *text, struct mt_match **match)
{
	size_t length = strlen(text);

	if (!*match)
		*match = mt_alloc(1, sizeof(**match));
	if (length > 2 && text[0] == '/' && text[length - 1] == '/')
		return add_expression(*match, option, text + 1, length - 2);
	return add_words(*match, option, text);
}

struct mt_error *mt_match_add_expression(const char *option, const char *text,
					 struct mt_match **match)
{
	size_t length = strlen(text);
	bool slashes = length > 2 && text[0] == '/' && text[length - 1] == '/';

	if (!*text)
		return mt_error_create(MT_ERR_USAGE, "%s: an empty expression matches all", option);
	if (!*match)
		*match = mt_alloc(1, sizeof(**match));
	return add_expression(*match, option, text + slashes, length - 2 * slashes);
}

void mt_match_take_globs(struct mt_match *match)
{
	match->globs = true;
}

bool mt_match_text(const struct mt_match *match, const char *text)
{
	if (!match)
		return true;
	for (size_t i = 0; i < match->words.count; i++) {
		const char *word = match->words.items[i];

		if (!strcmp(word, text) ||
		    (match->globs && strpbrk(word, "*?[") && !fnmatch(word, text, 0)))
			return true;
	}
	for (size_t i = 0; i < match->expressions.count; i++) {
		if (!regexec(&match->expressions.items[i], text, 0, NULL, 0))
			return true;
	}
	return false;
}

size_t mt_match_words(const struct mt_match *match)
{
	return match ? match->words.count : 0;
}

const char *mt_match_word(const struct mt_match *match, size_t i)
{
	return match->words.items[i];
}

struct mt_error *mt_numbers_add(const char *option, const char *text, struct mt_numbers *numbers)
{
	const char *at = text;

	do {
		char *end;
		long value;

		errno = 0;
		value = strtol(at, &end, 10);
		if (errno || end == at || !isdigit((unsigned char)*at) || (*end && *end != ','))
			return mt_error_create(MT_ERR_USAGE, "%s %s: not a list of numbers", option,
					       text);
		mt_array_append(numbers, value);
		at = *end ? end + 1 : end;
	} while (*at);
	return NULL;
}

void mt_numbers_deinit(struct mt_numbers *numbers)
{
	mt_array_deinit(numbers);
}

bool mt_numbers_match(const struct mt_numbers *numbers, long number)
{
	for (size_t i = 0; i < numbers->count; i++) {
		if (numbers->items[i] == number)
			return true;
	}
	return !numbers->count;
}
