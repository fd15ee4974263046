/* The table of allocator functions, and the probes of its rows. */
#include "record/allocators/allocators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "record/plan/probe_word.h"
#include "record/probes/probe_files.h"

#define NEW(mangled)                                              \
	{                                                         \
		.name = (mangled), .size = "arg1", .is_cxx = true \
	}
#define DELETE(mangled)                                            \
	{                                                          \
		.name = (mangled), .freed = "arg1", .is_cxx = true \
	}

const struct mt_allocator_function mt_allocator_functions[MT_ALLOCATOR_FUNCTIONS] = {
	{.name = "malloc", .size = "arg1"},
	{.name = "calloc", .size = "arg2", .count = "arg1"},
	{.name = "realloc", .size = "arg2", .old = "arg1"},
	{.name = "reallocarray", .size = "arg3", .count = "arg2", .old = "arg1"},
	{.name = "aligned_alloc", .size = "arg2"},
	{.name = "memalign", .size = "arg2"},
	{.name = "posix_memalign", .size = "arg3", .out = "arg1"},
	{.name = "valloc", .size = "arg1"},
	{.name = "pvalloc", .size = "arg1"},
	{.name = "free", .freed = "arg1"},
	{.name = "free_sized", .freed = "arg1"},
	{.name = "free_aligned_sized", .freed = "arg1"},
	{.name = "cfree", .freed = "arg1"},
	NEW("_Znwm"),
	NEW("_Znam"),
	NEW("_ZnwmRKSt9nothrow_t"),
	NEW("_ZnamRKSt9nothrow_t"),
	NEW("_ZnwmSt11align_val_t"),
	NEW("_ZnamSt11align_val_t"),
	NEW("_ZnwmSt11align_val_tRKSt9nothrow_t"),
	NEW("_ZnamSt11align_val_tRKSt9nothrow_t"),
	DELETE("_ZdlPv"),
	DELETE("_ZdaPv"),
	DELETE("_ZdlPvm"),
	DELETE("_ZdaPvm"),
	DELETE("_ZdlPvRKSt9nothrow_t"),
	DELETE("_ZdaPvRKSt9nothrow_t"),
	DELETE("_ZdlPvSt11align_val_t"),
	DELETE("_ZdaPvSt11align_val_t"),
	DELETE("_ZdlPvmSt11align_val_t"),
	DELETE("_ZdaPvmSt11align_val_t"),
	DELETE("_ZdlPvSt11align_val_tRKSt9nothrow_t"),
	DELETE("_ZdaPvSt11align_val_tRKSt9nothrow_t"),
};

bool mt_allocator_is_glibc(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	return !strcmp(base, "libc.so.6") || !strncmp(base, "libc-2.", 7);
}

enum mt_allocator_rank mt_allocator_rank(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	if (mt_probe_file_is_called(path, "libc"))
		return MT_ALLOCATOR_LIBC;
	return strncmp(base, "ld-", 3) ? MT_ALLOCATOR_FIRST : MT_ALLOCATOR_NEVER;
}

static void put_field(FILE *to, const char *name, const char *argument)
{
	if (argument)
		fprintf(to, "%c%s=%s%s", ftell(to) ? ',' : '(', name, argument,
			strchr(argument, ':') ? "" : ":u64");
}

/*
 * The file in the word is only used for messages. The entry probe is at the start of the function,
 * where the return probe stops in any case. It records the stack slot that the return probe
 * overwrites (unwind/return_slots.h).
 */
char *mt_allocator_word(const struct mt_allocator_function *function, enum mt_block_moment moment,
			bool glibc)
{
	MT_CLEANUP_FREE char *fields = NULL;
	size_t size;
	FILE *to = open_memstream(&fields, &size);
	char *word;

	if (!to)
		return NULL;
	if (moment == MT_BLOCK_ALLOC) {
		put_field(to, "ptr", "retval");
		put_field(to, "size", glibc && !function->out ? "-8($retval)" : NULL);
	} else if (moment == MT_BLOCK_FREE) {
		put_field(to, "ptr", function->freed);
		put_field(to, "size", glibc ? "-8(%di)" : NULL);
	} else {
		put_field(to, "size", function->size);
		put_field(to, "count", function->count);
		put_field(to, "old", function->old);
		put_field(to, "out", function->out);
		put_field(to, "return_slot", "%sp");
		put_field(to, "return_address", "+0(%sp)");
	}
	if (fclose(to) ||
	    asprintf(&word, "%s:malloc:%s%s%s)", moment == MT_BLOCK_ALLOC ? "ur" : "u",
		     function->name, moment == MT_BLOCK_ENTER ? "+0" : "", fields) < 0)
		return NULL;
	return word;
}

char *mt_allocator_account(const struct mt_allocator_function *function,
			   enum mt_block_moment moment)
{
	static const char *const operations[] = {
		[MT_BLOCK_ALLOC] = "alloc", [MT_BLOCK_ENTER] = "enter", [MT_BLOCK_FREE] = "free"};

	return mt_format("%s of=%s", operations[moment], function->name);
}

/* ---- Functions that the user names ---- */

#define EVERY_FILE "*"

/* The field of the function's row for each argument. */
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
