/* Folds the names of a path. */
#include "report/verdicts/tierless_paths.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
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
	struct mt_tierless_paths *paths = calloc(1, sizeof(*paths));

	if (!paths)
		return NULL;
	paths->strings = mt_frames_strings(frames);
	paths->paths = mt_paths_create(stacks, frames, false);
	paths->folded = mt_byte_runs_create();
	if (paths->paths && paths->folded)
		return paths;
	mt_tierless_paths_destroy(paths);
	return NULL;
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
 * Generated code without a name, or what V8 and HotSpot run in its place or between it and a
 * function of theirs, which differs from tier to tier.
 */
static bool is_generated(const char *name)
{
	static const char *const beginnings[] = {
		"Builtins_",
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
 * The same name for all tiers of a function of V8: "LazyCompile:*load a.js:1", "JS:~load a.js:1".
 */
static uint32_t without_tier(struct mt_strings *strings, uint32_t id)
{
	const char *name = mt_strings_get(strings, id), *colon = strchr(name, ':');
	bool tiered = colon && colon[1] && strchr("*~^+", colon[1]) &&
		      strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") ==
			      (size_t)(colon - name);

	return tiered ? mt_strings_intern(strings, colon + 2, strlen(colon + 2)) : id;
}

uint32_t mt_tierless_paths_of(struct mt_tierless_paths *paths, uint32_t stack)
{
	size_t count, kept = 0;
	uint32_t path = mt_paths_of(paths->paths, stack);
	const uint32_t *names =
		path == MT_PATH_NONE ? NULL : mt_paths_get(paths->paths, path, &count);
	uint32_t generated = mt_strings_intern(paths->strings, GENERATED, strlen(GENERATED));
	MT_CLEANUP_FREE uint32_t *folded = names ? calloc(count + 1, sizeof(*folded)) : NULL;

	if (!folded || generated == MT_STRING_NONE)
		return MT_PATH_NONE;
	for (size_t i = 0; i < count; i++) {
		bool made = is_generated(mt_strings_get(paths->strings, names[i]));
		uint32_t name = made ? generated : without_tier(paths->strings, names[i]);

		if (name == MT_STRING_NONE)
			return MT_PATH_NONE;
		if (!made || !kept || folded[kept - 1] != generated)
			folded[kept++] = name;
	}
	return mt_byte_runs_intern(paths->folded, folded, kept * sizeof(*folded));
}
