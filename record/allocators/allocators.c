/* The table of allocator functions, and the probes of its rows. */
#include "record/allocators/allocators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/memory.h"
#include "record/probes/probe_files.h"

#define NEW(mangled)                                              \
	{                                                         \
		.name = (mangled), .size = "arg1", .is_cxx = true \
	}
#define DELETE(mangled)                                            \
	{                                                          \
		.name = (mangled), .freed = "arg1", .is_cxx = true \
	}

static const struct mt_allocator_function functions[] = {
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

const struct mt_allocator_function *mt_allocator_functions(size_t *count)
{
	*count = sizeof(functions) / sizeof(*functions);
	return functions;
}

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
 * The file in the word serves messages only. The entry probe stays at the function's start, where
 * the return probe stops in any case. It records the stack slot that the return probe overwrites
 * (unwind/return_slots.h).
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
