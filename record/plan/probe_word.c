/* Splits the words of -e that name probes. Later steps look up the parts on this host. */
#include "record/plan/probe_word.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"

enum {
	FIELDS_MOST = 16,
	NAME_MOST = 31, /* name of a field: the kernel's MAX_ARG_NAME_LEN */
};

static const struct {
	const char *prefix;
	const char *form;
} kinds[] = {
	[MT_PROBE_ENTRY] = {"u:", "u:PATH:SYMBOL[+OFFSET][(FIELD,...)]"},
	[MT_PROBE_RETURN] = {"ur:", "ur:PATH:SYMBOL[(FIELD,...)]"},
	[MT_PROBE_USDT] = {"usdt:", "usdt:PATH:PROVIDER:NAME[(FIELD,...)]"},
	[MT_PROBE_KERNEL] = {"k:", "k:FUNCTION[+OFFSET][(FIELD,...)]"},
	[MT_PROBE_KERNEL_RETURN] = {"kr:", "kr:FUNCTION[(FIELD,...)]"},
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

static size_t kind_of(const char *text, size_t length)
{
	size_t i = 0;

	while (i < KINDS && (strlen(kinds[i].prefix) > length ||
			     memcmp(text, kinds[i].prefix, strlen(kinds[i].prefix)) != 0))
		i++;
	return i;
}

bool mt_is_probe_word(const char *text, size_t length)
{
	return kind_of(text, length) < KINDS;
}

bool mt_probe_is_return(enum mt_probe_kind kind)
{
	return kind == MT_PROBE_RETURN || kind == MT_PROBE_KERNEL_RETURN;
}

/* Names may contain brackets, as in Go; fields are in the pair of brackets that ends the word. */
size_t mt_probe_word_stem(const char *text, size_t length)
{
	size_t at = length, depth = 0;

	if (!length || text[length - 1] != ')')
		return length;
	while (at) {
		at--;
		depth += text[at] == ')';
		depth -= text[at] == '(';
		if (!depth)
			return at;
	}
	return length;
}

void mt_probe_word_deinit(struct mt_probe_word *word)
{
	for (size_t i = 0; i < word->fields.count; i++) {
		free(word->fields.items[i].name);
		free(word->fields.items[i].fetch);
		free(word->fields.items[i].type);
	}
	mt_array_deinit(&word->fields);
	free(word->text);
	free(word->path);
	free(word->provider);
	free(word->symbol);
}

static struct mt_error *bad_word(const struct mt_probe_word *word, const char *why)
{
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "%s: %s", word->text, why),
			     "it is written %s", kinds[word->kind].form);
}

/* ---- Fields ---- */

static bool is_name(const char *text)
{
	size_t length = strlen(text);

	if (!length || length > NAME_MOST || isdigit((unsigned char)*text))
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return false;
	}
	return true;
}

static bool is_named(const struct mt_probe_word *word, const char *name)
{
	for (size_t i = 0; i < word->fields.count; i++) {
		if (!strcmp(word->fields.items[i].name, name))
			return true;
	}
	return false;
}

/*
 * Returns the default name of a field: di for %di, retval for $retval. Other fields are named by
 * their position.
 */
static char *default_name(const struct mt_probe_word *word, const char *fetch)
{
	const char *from = fetch + strspn(fetch, "%$");

	if (is_name(from))
		return strdup(from);
	return mt_format("field%zu", word->fields.count + 1);
}

static struct mt_error *add_field(struct mt_probe_word *word, const char *text, size_t length)
{
	MT_CLEANUP_FREE char *name = NULL;
	MT_CLEANUP_FREE char *fetch = strndup(text, length);
	MT_CLEANUP_FREE char *type = NULL;
	char *equals = fetch ? strchr(fetch, '=') : NULL,
	     *colon = fetch ? strrchr(fetch, ':') : NULL;
	struct mt_probe_field *slot;

	if (!fetch)
		return mt_error_nomem();
	if (colon && !strchr(colon, ')')) {
		*colon = '\0';
		type = strdup(colon + 1);
	}
	if (equals) {
		*equals = '\0';
		name = strdup(fetch);
		memmove(fetch, equals + 1, strlen(equals + 1) + 1);
	} else {
		name = default_name(word, fetch);
	}
	if (!name || (colon && !strchr(colon, ')') && !type))
		return mt_error_nomem();
	if (!*fetch || strpbrk(fetch, " \t\n") || (type && (!*type || strpbrk(type, " \t\n"))))
		return bad_word(word, "a field is [NAME=]FETCH[:TYPE], as size=arg1:u32");
	if (!is_name(name) || is_named(word, name))
		return bad_word(word, is_name(name) ? "two fields have the same name"
						    : "a field's name has letters, digits and _, "
						      "31 at most");
	slot = word->fields.count < FIELDS_MOST ? mt_array_push(&word->fields) : NULL;
	if (!slot)
		return word->fields.count < FIELDS_MOST
			       ? mt_error_nomem()
			       : bad_word(word, "it has more than 16 fields");
	*slot = (struct mt_probe_field){MT_TAKE(name), MT_TAKE(fetch), MT_TAKE(type)};
	return NULL;
}

static struct mt_error *parse_fields(struct mt_probe_word *word, const char *text, size_t length)
{
	struct mt_error *err = NULL;
	size_t from = 0, depth = 0;

	for (size_t at = 0; at <= length && !err; at++) {
		depth += at < length && text[at] == '(';
		depth -= at < length && text[at] == ')' && depth;
		if (at < length && (text[at] != ',' || depth))
			continue;
		err = add_field(word, text + from, at - from);
		from = at + 1;
	}
	return err;
}

/* ---- The place ---- */

/* Cuts "+OFFSET" off the symbol. */
static void take_offset(struct mt_probe_word *word)
{
	char *plus = strrchr(word->symbol, '+'), *end;
	unsigned long long offset;

	if (!plus || plus == word->symbol || !isdigit((unsigned char)plus[1]))
		return;
	errno = 0;
	offset = strtoull(plus + 1, &end, 0);
	if (*end || errno)
		return;
	*plus = '\0';
	word->offset = offset;
	word->has_offset = true;
}

/* Cuts *text at its last colon and returns the part after it; NULL: there is no colon. */
static char *cut_last(char *text)
{
	char *colon = strrchr(text, ':');

	if (!colon)
		return NULL;
	*colon = '\0';
	return colon + 1;
}

static struct mt_error *parse_place(struct mt_probe_word *word)
{
	bool kernel = word->kind == MT_PROBE_KERNEL || word->kind == MT_PROBE_KERNEL_RETURN;
	bool fixed = word->kind == MT_PROBE_USDT;
	MT_CLEANUP_FREE char *place = strdup(word->text + strlen(kinds[word->kind].prefix));
	const char *symbol, *provider = NULL;

	if (!place)
		return mt_error_nomem();
	symbol = kernel ? place : cut_last(place);
	if (symbol && fixed)
		provider = cut_last(place);
	if (!symbol || !*symbol || !*place || (fixed && (!provider || !*provider)))
		return bad_word(word, "a part is missing");
	word->symbol = strdup(symbol);
	word->path = kernel ? NULL : strdup(place);
	word->provider = provider ? strdup(provider) : NULL;
	if (!word->symbol || (!kernel && !word->path) || (fixed && !word->provider))
		return mt_error_nomem();
	if (!fixed)
		take_offset(word);
	if (word->has_offset && mt_probe_is_return(word->kind))
		return bad_word(word, "a function returns as a whole: no offset goes with it");
	return NULL;
}

struct mt_error *mt_probe_word_parse(const char *text, size_t length, struct mt_probe_word *out)
{
	MT_CLEANUP(mt_probe_word_deinit)
	struct mt_probe_word word = {.kind = (enum mt_probe_kind)kind_of(text, length)};
	size_t stem = mt_probe_word_stem(text, length);
	struct mt_error *err;

	word.text = strndup(text, stem);
	if (!word.text)
		return mt_error_nomem();
	err = parse_place(&word);
	if (!err && stem < length)
		err = parse_fields(&word, text + stem + 1, length - stem - 2);
	if (err)
		return err;
	*out = word;
	word = (struct mt_probe_word){0};
	return NULL;
}
