/* Cgroup gauges: usage, limit, failures, OOM kills and pressure. */
#include "record/state/cgroup_gauges.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/records/record.h"
#include "record/open/cgroup.h"
#include "record/open/clock.h"
#include "record/proc/procfs.h"
#include "record/rings/state_writer.h"

#define CGROUPS_MAX 512
#define LIMITED_MAX 256		     /* of CGROUPS_MAX, those without a known target */
#define DEPTH_MAX 16		     /* of directories: one is open for each level */
#define LOOKS_MAX 4096		     /* directories that are read; takes about 50 ms */
#define LIMIT 1			     /* index into sources */
#define NO_LIMIT ((uint64_t)1 << 62) /* version 1 prints about 2^63 for no limit */

/* A value: its name, its file, and the key of its line in a file of several lines. */
struct source {
	const char *name;
	const char *file[2], *key[2]; /* for version 1 and 2 */
};

static const struct source sources[MT_CGROUP_VALUES] = {
	{"usage", {"memory.usage_in_bytes", "memory.current"}, {NULL, NULL}},
	[LIMIT] = {"limit", {"memory.limit_in_bytes", "memory.max"}, {NULL, NULL}},
	{"failures", {"memory.failcnt", "memory.events"}, {NULL, "max"}},
	{"oom_kills", {"memory.oom_control", "memory.events"}, {"oom_kill", "oom_kill"}},
	{"pressure", {NULL, "memory.pressure"}, {NULL, "some"}}, /* us */
};

void mt_cgroup_gauges_deinit(struct mt_cgroup_gauges *gauges)
{
	for (size_t i = 0; i < gauges->count; i++) {
		free(gauges->items[i].path);
		free(gauges->items[i].directory);
	}
	mt_array_deinit(gauges);
	free(gauges->mount);
}

/*
 * The path on the line of the hierarchy that accounts for memory: "4:memory:/path", or "0::/path".
 * The caller frees it; NULL if there is none.
 */
static char *memory_path(char *text, bool unified)
{
	char *next = NULL;

	for (char *line = strtok_r(text, "\n", &next); line; line = strtok_r(NULL, "\n", &next)) {
		char *controllers = strchr(line, ':');
		char *path = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		if (unified ? !strcmp(line, "0:") : mt_cgroup_has_word(controllers + 1, "memory"))
			return strdup(path);
	}
	return NULL;
}

static size_t add(struct mt_cgroup_gauges *gauges, char *path)
{
	struct mt_cgroup *cgroup = gauges->count < CGROUPS_MAX ? mt_array_push(gauges) : NULL;

	if (cgroup && asprintf(&cgroup->directory, "%s%s", gauges->mount, path) >= 0) {
		cgroup->path = path;
		return gauges->count - 1;
	}
	gauges->count -= cgroup != NULL;
	free(path);
	return MT_CGROUP_NONE;
}

static void find_mount(struct mt_cgroup_gauges *gauges)
{
	if (!gauges->is_found)
		gauges->mount = mt_cgroup_memory_mount(&gauges->unified);
	gauges->is_found = true;
}

/* Index of the path, added if it is new. Takes the path. */
static size_t find_path(struct mt_cgroup_gauges *gauges, char *path)
{
	for (size_t i = 0; i < gauges->count; i++) {
		if (strcmp(gauges->items[i].path, path) != 0)
			continue;
		free(path);
		return i;
	}
	return add(gauges, path);
}

size_t mt_cgroup_gauges_find(struct mt_cgroup_gauges *gauges, pid_t pid)
{
	MT_CLEANUP_FREE char *text = NULL;
	char *path;

	find_mount(gauges);
	text = gauges->mount ? mt_read_textf(NULL, "/proc/%d/cgroup", (int)pid) : NULL;
	path = text ? memory_path(text, gauges->unified) : NULL;
	if (!path || !strcmp(path, "/") || strstr(path, "/..")) {
		free(path);
		return MT_CGROUP_NONE;
	}
	return find_path(gauges, path);
}

/*
 * Finds the number in a file, or in the line of the file that begins with the key: directly after
 * the key, or after "total=". "max" means no limit.
 */
static bool find_value(const char *text, const char *key, uint64_t *value)
{
	size_t length = key ? strlen(key) : 0;
	char *end;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		if (key && (strncmp(text, key, length) != 0 || text[length] != ' '))
			continue;
		text += length;
		text += strspn(text, " ");
		if (!strncmp(text, "avg10=", 6) && strstr(text, "total="))
			text = strstr(text, "total=") + 6;
		*value = strtoull(text, &end, 10);
		return end != text;
	}
	return false;
}

static void put_value(struct mt_cgroup *cgroup, size_t which, uint64_t value,
		      struct mt_gauge_record *gauge, struct mt_state *state, bool all)
{
	MT_CLEANUP_FREE char *name = NULL;

	if (cgroup->written[which] && cgroup->values[which] == value && !all)
		return;
	if (asprintf(&name, "cgroup %s %s", sources[which].name, cgroup->path) < 0) {
		name = NULL;
		return;
	}
	cgroup->written[which] = true;
	cgroup->values[which] = value;
	gauge->value = value;
	gauge->name = (struct mt_text){.bytes = name, .size = strlen(name)};
	(void)mt_state_put(state, mt_gauge_put, gauge);
}

static void put_cgroup(const struct mt_cgroup_gauges *gauges, struct mt_cgroup *cgroup,
		       struct mt_state *state, const struct mt_clock *clock, bool all)
{
	uint64_t value;

	for (size_t i = 0; i < MT_CGROUP_VALUES; i++) {
		MT_CLEANUP_FREE char *text = NULL;
		struct mt_gauge_record gauge = {.before = mt_clock_now(clock)};

		if (!sources[i].file[gauges->unified])
			continue;
		text = mt_read_textf(NULL, "%s/%s", cgroup->directory,
				     sources[i].file[gauges->unified]);
		gauge.after = mt_clock_now(clock);
		if (text && find_value(text, sources[i].key[gauges->unified], &value) &&
		    value < NO_LIMIT)
			put_value(cgroup, i, value, &gauge, state, all);
	}
}

/* ---- Cgroups with a limit ---- */

static bool has_limit(const struct mt_cgroup_gauges *gauges, const char *path)
{
	MT_CLEANUP_FREE char *text = mt_read_textf(NULL, "%s%s/%s", gauges->mount, path,
						   sources[LIMIT].file[gauges->unified]);
	uint64_t value;

	return text && find_value(text, NULL, &value) && value < NO_LIMIT;
}

/*
 * Adds the cgroups below a path, which is "" or "/path"; *looks: directories that may still be
 * read.
 */
static void add_limited_below(struct mt_cgroup_gauges *gauges, const char *path, int depth,
			      int *looks)
{
	MT_CLEANUP_FREE char *directory = NULL;
	struct dirent *entry;
	DIR *cgroups;

	if (asprintf(&directory, "%s%s", gauges->mount, path) < 0) {
		directory = NULL;
		return;
	}
	cgroups = opendir(directory);
	while (cgroups && (entry = readdir(cgroups)) && *looks > 0 && gauges->count < LIMITED_MAX) {
		char *below;
		size_t index;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    asprintf(&below, "%s/%s", path, entry->d_name) < 0)
			continue;
		--*looks;
		if (depth < DEPTH_MAX)
			add_limited_below(gauges, below, depth + 1, looks);
		if (!has_limit(gauges, below)) {
			free(below);
			continue;
		}
		index = find_path(gauges, below);
		if (index != MT_CGROUP_NONE)
			gauges->items[index].due = true;
	}
	if (cgroups)
		closedir(cgroups);
}

void mt_cgroup_gauges_add_limited(struct mt_cgroup_gauges *gauges)
{
	int looks = LOOKS_MAX;

	find_mount(gauges);
	if (gauges->mount)
		add_limited_below(gauges, "", 0, &looks);
}

void mt_cgroup_gauges_put(struct mt_cgroup_gauges *gauges, struct mt_state *state,
			  const struct mt_clock *clock, bool all)
{
	for (size_t i = 0; i < gauges->count; i++) {
		if (all || gauges->items[i].due)
			put_cgroup(gauges, &gauges->items[i], state, clock, all);
		gauges->items[i].due = false;
	}
}
