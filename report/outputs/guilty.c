/*
 * System code is recognized by the path of its image; functions inlined from system headers are
 * skipped, too.
 */
#include "report/outputs/guilty.h"

#include <stdio.h>
#include <string.h>

#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

/* Code that everybody uses and nobody is guilty of. */
static bool is_system(const struct mt_frame_name *name, bool kernel)
{
	static const char *const places[] = {"/lib/",	       "/lib64/", "/usr/lib",
					     "/usr/local/lib", "[",	  "//"};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (!strncmp(name->dso, places[i], strlen(places[i])))
			return true;
	}
	return kernel;
}

/* Headers of the compiler and of libraries, from which so much is inlined. */
static bool is_system_source(const char *file)
{
	return !strncmp(file, "/usr/", 5) || !strncmp(file, "/opt/", 5) || strstr(file, "/rustc/");
}

/* Of the functions of a frame, the innermost that is written in none of those. */
static const struct mt_frame_name *own_function(const struct mt_frame_name *names, size_t count)
{
	for (size_t i = 0; i + 1 < count; i++) {
		if (names[i].file && !is_system_source(names[i].file))
			return &names[i];
	}
	return &names[count - 1];
}

bool mt_guilty_function(const struct mt_table *table, uint32_t stack,
			const struct mt_frame_name **out)
{
	size_t depth, names;
	const uint32_t *ids = mt_stacks_get(table->stacks, stack, &depth);
	bool guilty_in_kernel = false;

	*out = NULL;
	for (size_t i = 0; i < depth; i++) {
		const struct mt_frame_name *name = mt_frames_names(table->frames, ids[i], &names);
		bool kernel = mt_frames_key(table->frames, ids[i])->flags & MT_FRAME_IN_KERNEL;

		if (!name)
			return false;
		name = own_function(name, names);
		if (!is_system(name, kernel)) {
			*out = name;
			return true;
		}
		if (!*out || (guilty_in_kernel && !kernel))
			*out = name;
		guilty_in_kernel = *out == name ? kernel : guilty_in_kernel;
	}
	return true;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void mt_guilty_place(const char *dso, const char *file, uint32_t line, char out[80])
{
	char where[64], source[64] = "", number[16] = "";

	mt_text_fit(last_part(dso), 20, where, sizeof(where));
	if (file)
		mt_text_fit(last_part(file), 16, source, sizeof(source));
	if (file && line)
		snprintf(number, sizeof(number), ":%u", line);
	snprintf(out, 80, "(%.40s%s%.20s%.10s)", where, file ? ", " : "", source, number);
}
