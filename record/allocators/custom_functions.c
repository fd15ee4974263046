/* Parses the text as the word of a probe. Its fields must be those of an allocator function. */
#include "record/allocators/custom_functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "record/probes/probe_word.h"

#define EVERY_FILE "*"

/* The position of each argument in the function's row. */
static const struct {
	const char *name;
	size_t offset;
	bool frees;
} arguments[MT_CUSTOM_ARGUMENTS] = {
	{"size", offsetof(struct mt_allocator_function, size), false},
	{"count", offsetof(struct mt_allocator_function, count), false},
	{"old", offsetof(struct mt_allocator_function, old), false},
	{"out", offsetof(struct mt_allocator_function, out), false},
	{"ptr", offsetof(struct mt_allocator_function, freed), true},
};

static struct mt_error *bad(const char *text, bool frees, const char *why)
{
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "%s '%s': %s",
					     frees ? "--free-function" : "--alloc-function", text,
					     why),
			     frees ? "as pool_free(ptr=arg2)"
				   : "as pool_alloc(size=arg2), pool_calloc(size=arg3,count=arg2), "
				     "or cell_alloc(size=64)");
}

void mt_custom_function_deinit(struct mt_custom_function *own)
{
	free(own->path);
	free(own->name);
	for (size_t i = 0; i < MT_CUSTOM_ARGUMENTS; i++)
		free(own->arguments[i]);
}

/*
 * Returns the argument as mt_allocator_word() expects it; a number becomes the kernel's \NUMBER.
 * NULL out of memory.
 */
static char *argument_text(const struct mt_probe_field *field)
{
	bool number = !field->fetch[strspn(field->fetch, "0123456789")];

	return mt_format("%s%s%s%s", number ? "\\" : "", field->fetch, field->type ? ":" : "",
			 field->type ? field->type : "");
}

static struct mt_error *take_field(const struct mt_probe_field *field, const char *text, bool frees,
				   struct mt_custom_function *own)
{
	for (size_t i = 0; i < MT_CUSTOM_ARGUMENTS; i++) {
		if (strcmp(field->name, arguments[i].name) != 0 || arguments[i].frees != frees)
			continue;
		own->arguments[i] = argument_text(field);
		memcpy((char *)&own->function + arguments[i].offset, &own->arguments[i],
		       sizeof(own->arguments[i]));
		return own->arguments[i] ? NULL : mt_error_nomem();
	}
	return bad(text, frees,
		   frees ? "its argument is ptr" : "its arguments are size, count, old and out");
}

static struct mt_error *parse_word(const char *text, bool frees, struct mt_probe_word *out)
{
	size_t stem = mt_probe_word_stem(text, strlen(text));
	MT_CLEANUP_FREE char *whole = NULL;
	struct mt_error *err;

	whole = mt_format("u:%s%s", memchr(text, ':', stem) ? "" : EVERY_FILE ":", text);
	if (!whole)
		return mt_error_nomem();
	err = mt_probe_word_parse(whole, strlen(whole), out);
	if (!err || err->kind == MT_ERR_NOMEM)
		return err;
	mt_error_destroy(err);
	return bad(text, frees, "is no function with its arguments");
}

struct mt_error *mt_custom_function_parse(const char *text, bool frees,
					  struct mt_custom_function *out)
{
	MT_CLEANUP(mt_probe_word_deinit) struct mt_probe_word word = {0};
	MT_CLEANUP(mt_custom_function_deinit) struct mt_custom_function own = {0};
	struct mt_error *err = parse_word(text, frees, &word);

	if (err)
		return err;
	if (word.has_offset || strpbrk(word.symbol, "*?["))
		return bad(text, frees, "name one function, from its start");
	for (size_t i = 0; i < word.fields.count && !err; i++)
		err = take_field(&word.fields.items[i], text, frees, &own);
	if (err)
		return err;
	if (frees ? !own.function.freed : !own.function.size)
		return bad(text, frees,
			   frees ? "say where the block's address is" : "say where the size is");
	own.path = strcmp(word.path, EVERY_FILE) != 0 ? MT_TAKE(word.path) : NULL;
	own.name = MT_TAKE(word.symbol);
	own.function.name = own.name;
	*out = own;
	own = (struct mt_custom_function){0};
	return NULL;
}
