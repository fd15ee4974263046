/* Removes what depends on tiers from the names of a path. */
#include "report/verdicts/tierless_paths.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/memory.h"
#include "formats/base/strings.h"
#include "report/stacks/code_class.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/byte_runs.h"

#define GENERATED "[generated code]"

struct mt_tierless_paths {
	struct mt_strings *strings;
	struct mt_paths *paths;
	struct mt_byte_runs *folded;
};

struct mt_tierless_paths *mt_tierless_paths_create(const struct mt_stacks *stacks,
						   struct mt_frames *frames)
{
	struct mt_tierless_paths *paths = mt_alloc(1, sizeof(*paths));

	paths->strings = mt_frames_strings(frames);
	paths->paths = mt_paths_create(stacks, frames, false);
	paths->folded = mt_byte_runs_create();
	return paths;
}

void mt_tierless_paths_destroy(struct mt_tierless_paths *paths)
{
	if (!paths)
		return;
	mt_paths_destroy(paths->paths);
	mt_byte_runs_destroy(paths->folded);
	free(paths);
}

/*
 * True for generated code without a name, and for functions that V8 and HotSpot run in place of
 * generated code, or between it and other functions. These names differ between tiers.
 */
static bool is_generated(const char *name)
{
	static const char *const beginnings[] = {
		"Builtins_",
		MT_MADE_CODE_NAME,
		"v8::internal::Builtin_HandleApiCall",
		"v8::internal::(anonymous namespace)::HandleApiCallHelper",
		"v8::internal::FunctionCallbackArguments::Call",
	};

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	}
	return !strcmp(name, "Interpreter") || mt_is_made_code_name(name);
}

/*
 * Removes V8's kind and tier from a name: "LazyCompile:*load a.js:1" and "JS:~load a.js:1" become
 * "load a.js:1".
 */
static uint32_t without_tier(struct mt_strings *strings, uint32_t id)
{
	const char *name = mt_strings_get(strings, id), *colon = strchr(name, ':');
	bool tiered = colon && colon[1] && strchr("*~^+", colon[1]) &&
		      strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") ==
			      (size_t)(colon - name);

	return tiered ? mt_strings_intern(strings, colon + 2, strlen(colon + 2)) : id;
}

static uint32_t fold_name(struct mt_strings *strings, uint32_t name)
{
	return is_generated(mt_strings_get(strings, name))
		       ? mt_strings_intern(strings, GENERATED, strlen(GENERATED))
		       : without_tier(strings, name);
}

uint32_t mt_tierless_paths_of(struct mt_tierless_paths *paths, uint32_t stack)
{
	size_t count, kept = 0;
	const uint32_t *names =
		mt_paths_get(paths->paths, mt_paths_of(paths->paths, stack), &count);
	uint32_t generated = mt_strings_intern(paths->strings, GENERATED, strlen(GENERATED));
	MT_CLEANUP_FREE uint32_t *folded = mt_alloc(count + 1, sizeof(*folded));

	for (size_t i = 0; i < count; i++) {
		uint32_t name = fold_name(paths->strings, names[i]);

		if (name != generated || !kept || folded[kept - 1] != generated)
			folded[kept++] = name;
	}
	return mt_byte_runs_intern(paths->folded, folded, kept * sizeof(*folded));
}

const uint32_t *mt_tierless_paths_callers(struct mt_tierless_paths *paths, uint32_t stack,
					  uint32_t name, size_t callers, size_t *count)
{
	uint32_t path = mt_tierless_paths_of(paths, stack);
	uint32_t folded = name == MT_STRING_NONE ? name : fold_name(paths->strings, name);
	const uint32_t *names = mt_byte_runs_get(paths->folded, path, count);
	size_t end, first;

	*count /= sizeof(*names);
	for (end = *count; end && names[end - 1] != folded;)
		end--;
	if (!end)
		return names;
	first = end > callers ? end - callers - 1 : 0;
	*count = end - first;
	return names + first;
}

/* ---- Truncated stacks ---- */

struct end {
	const uint32_t *names; /* outermost first */
	size_t count;
	uint32_t space;
	size_t place;
	size_t after; /* index after the last end that continues this one */
	bool is_chain;
};

/* Orders by space, then by names from the innermost on: continuations follow a path. */
static int by_inner_names(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	if (x->space != y->space)
		return x->space < y->space ? -1 : 1;
	for (size_t i = 1; i <= x->count && i <= y->count; i++) {
		uint32_t one = x->names[x->count - i], other = y->names[y->count - i];

		if (one != other)
			return one < other ? -1 : 1;
	}
	return x->count < y->count ? -1 : x->count > y->count;
}

static bool is_inner_end(const struct end *end, const struct end *of)
{
	return end->space == of->space && end->count <= of->count &&
	       !memcmp(end->names, of->names + of->count - end->count,
		       end->count * sizeof(*end->names));
}

void mt_tierless_paths_complete(const struct mt_tierless_paths *paths,
				struct mt_tierless_place *places, size_t count)
{
	MT_CLEANUP_FREE struct end *ends = mt_alloc(count + 1, sizeof(*ends));

	for (size_t i = 0; i < count; i++) {
		ends[i] = (struct end){.space = places[i].space, .place = i};
		ends[i].names = mt_byte_runs_get(paths->folded, places[i].path, &ends[i].count);
		ends[i].count /= sizeof(*ends[i].names);
	}
	qsort(ends, count, sizeof(*ends), by_inner_names);
	for (size_t i = count; i--;) {
		bool continues =
			ends[i].count && i + 1 < count && is_inner_end(&ends[i], &ends[i + 1]);

		ends[i].after = continues ? ends[i + 1].after : i + 1;
		ends[i].is_chain = !continues || ends[i + 1].is_chain;
		while (continues && ends[i].after < count &&
		       is_inner_end(&ends[i], &ends[ends[i].after])) {
			ends[i].after = ends[ends[i].after].after;
			ends[i].is_chain = false;
		}
		if (continues && ends[i].is_chain)
			places[ends[i].place].path = places[ends[i + 1].place].path;
	}
}

void mt_tierless_paths_find(struct mt_tierless_paths *paths, struct mt_tierless_place *places,
			    size_t count)
{
	for (size_t i = 0; i < count; i++)
		places[i].path = paths ? mt_tierless_paths_of(paths, places[i].path) : MT_PATH_NONE;
	if (paths)
		mt_tierless_paths_complete(paths, places, count);
}
