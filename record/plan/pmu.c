/* Reads PMUs from sysfs: type, format/TERM and events/NAME, small files of one line each. */
#include "record/plan/planner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/proc/procfs.h"

enum {
	NAME_MAX_SIZE = 64,
	LINE_MAX_SIZE = 512,
	NESTED_MAX = 2, /* terms within a named event do not name further events */
};

struct pmu {
	const char *root;
	char name[NAME_MAX_SIZE];
};

/* Copies a name that can be part of a path: it has no slash and is not only dots. */
static bool take_name(const char *text, size_t length, char out[NAME_MAX_SIZE])
{
	if (!length || length >= NAME_MAX_SIZE || text[0] == '.' || memchr(text, '/', length))
		return false;
	memcpy(out, text, length);
	out[length] = '\0';
	return true;
}

/* Reads the first line of ROOT/PMU/FOLDER/FILE. False if it does not exist or is too long. */
static bool read_line(const struct pmu *pmu, const char *folder, const char *file,
		      char out[LINE_MAX_SIZE])
{
	MT_CLEANUP_CLOSE int fd = mt_openf(O_RDONLY, "%s/%s/%s%s%s", pmu->root, pmu->name, folder,
					   *folder ? "/" : "", file);
	ssize_t n = fd < 0 ? -1 : read(fd, out, LINE_MAX_SIZE - 1);

	if (n <= 0 || n == LINE_MAX_SIZE - 1)
		return false;
	out[n] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return true;
}

static bool parse_value(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 0);
	return !errno && end != text && !*end && *text != '-';
}

/*
 * Stores the bits of value, lowest first, at the positions of "config1:0-7,21". False if they do
 * not fit.
 */
static bool place(const char *format, uint64_t value, uint64_t config[3])
{
	static const char *const words[] = {"config:", "config1:", "config2:"};
	size_t which = 0;
	char *end;

	while (which < 3 && strncmp(format, words[which], strlen(words[which])))
		which++;
	if (which == 3)
		return false;
	for (format += strlen(words[which]); *format; format = end + (*end == ',')) {
		unsigned long low = strtoul(format, &end, 10), high = low;

		if (end == format)
			return false;
		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (low > high || high > 63 || (*end && *end != ','))
			return false;
		for (unsigned long bit = low; bit <= high; bit++, value >>= 1) {
			config[which] &= ~(1ull << bit);
			config[which] |= (value & 1) << bit;
		}
	}
	return !value;
}

/* Returns the field of a term that sysfs does not describe, or NULL. */
static uint64_t *common_term(const char *name, struct mt_counter *event)
{
	const struct {
		const char *name;
		uint64_t *value;
	} terms[] = {
		{"config", &event->config[0]},	{"config1", &event->config[1]},
		{"config2", &event->config[2]}, {"period", &event->period},
		{"freq", &event->frequency},
	};

	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
		if (!strcmp(terms[i].name, name))
			return terms[i].value;
	}
	return NULL;
}

/* Appends the names in a folder of the PMU, e.g. "event, umask", for errors about unknown terms. */
static void list_names(const struct pmu *pmu, const char *folder, char *out, size_t size)
{
	char path[LINE_MAX_SIZE];
	struct dirent *entry;
	size_t used = strlen(out);
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s/%s", pmu->root, pmu->name, folder);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)) && used + NAME_MAX_SIZE < size) {
		if (entry->d_name[0] != '.' && !strchr(entry->d_name, '.'))
			used += (size_t)snprintf(out + used, size - used, "%s%.60s",
						 used ? ", " : "", entry->d_name);
	}
	if (dir)
		closedir(dir);
}

static struct mt_error *unknown_term(const struct pmu *pmu, const char *name)
{
	char known[400] = "";

	list_names(pmu, "format", known, sizeof(known));
	list_names(pmu, "events", known, sizeof(known));
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "%s/: it has no term '%s'", pmu->name,
					     name),
			     "its terms and events are: %s%sconfig, config1, config2, period, freq",
			     known, *known ? "; and " : "");
}

static struct mt_error *take_terms(const struct pmu *pmu, const char *text, size_t length,
				   int nested, struct mt_counter *out);

static struct mt_error *take_term(const struct pmu *pmu, const char *text, size_t length,
				  int nested, struct mt_counter *out)
{
	char term[LINE_MAX_SIZE], line[LINE_MAX_SIZE], name[NAME_MAX_SIZE], *equals;
	uint64_t value = 1, *common;

	if (length >= sizeof(term))
		return mt_error_create(MT_ERR_USAGE, "%s/: too long a term", pmu->name);
	memcpy(term, text, length);
	term[length] = '\0';
	equals = strchr(term, '=');
	if (!take_name(term, equals ? (size_t)(equals - term) : length, name))
		return mt_error_create(MT_ERR_USAGE, "%s/: bad term '%s'", pmu->name, term);
	if (equals && !parse_value(equals + 1, &value))
		return mt_error_create(MT_ERR_USAGE, "%s/: '%s' is no number", pmu->name,
				       equals + 1);
	common = common_term(name, out);
	if (common)
		*common = value;
	else if (read_line(pmu, "format", name, line))
		return place(line, value, out->config)
			       ? NULL
			       : mt_error_create(MT_ERR_USAGE, "%s/: '%s' does not fit its bits %s",
						 pmu->name, term, line);
	else if (!equals && nested < NESTED_MAX && read_line(pmu, "events", name, line))
		return take_terms(pmu, line, strlen(line), nested + 1, out);
	else
		return unknown_term(pmu, name);
	return NULL;
}

static struct mt_error *take_terms(const struct pmu *pmu, const char *text, size_t length,
				   int nested, struct mt_counter *out)
{
	struct mt_error *err = NULL;

	for (size_t at = 0, n; at < length && !err; at += n + 1) {
		const char *comma = memchr(text + at, ',', length - at);

		n = comma ? (size_t)(comma - (text + at)) : length - at;
		err = take_term(pmu, text + at, n, nested, out);
	}
	return err;
}

/* Returns true for a CPU PMU on a machine that has none. */
static bool lacks_counters(const struct pmu *pmu)
{
	const struct pmu whole = {.root = pmu->root, .name = "cpu"};
	const struct pmu hybrid = {.root = pmu->root, .name = "cpu_core"};
	char line[LINE_MAX_SIZE];

	return !strncmp(pmu->name, "cpu", 3) && !read_line(&whole, "", "type", line) &&
	       !read_line(&hybrid, "", "type", line);
}

static struct mt_error *unknown_pmu(const struct pmu *pmu)
{
	const struct pmu root = {.root = pmu->root, .name = "."};
	char known[400] = "";

	list_names(&root, "", known, sizeof(known));
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "%s/: this machine has no such PMU",
					     pmu->name),
			     "it has %s%s", *known ? known : "none that sysfs tells of",
			     lacks_counters(pmu) ? "; no hardware counters (a virtual machine "
						   "without a PMU?): cpu-clock samples by time "
						   "instead"
						 : "");
}

/* Returns true for a CPU's PMU: "cpu", "cpu_core" of hybrid machines, or one with caps/branches. */
static bool is_core(const struct pmu *pmu)
{
	char line[LINE_MAX_SIZE];

	return !strcmp(pmu->name, "cpu") || !strncmp(pmu->name, "cpu_", 4) ||
	       read_line(pmu, "caps", "branches", line);
}

struct mt_error *mt_pmu_find(const char *root, const char *text, size_t length,
			     struct mt_counter *out)
{
	const char *slash = memchr(text, '/', length);
	struct mt_counter event = {.by_time = true};
	struct pmu pmu = {.root = root};
	char line[LINE_MAX_SIZE];
	struct mt_error *err;
	uint64_t type;

	if (!slash || text[length - 1] != '/' || slash == text + length - 1 ||
	    !take_name(text, (size_t)(slash - text), pmu.name))
		return mt_error_hint(mt_error_create(MT_ERR_USAGE, "bad event '%.*s'", (int)length,
						     text),
				     "an event of a PMU is written pmu/term=value,.../");
	if (!read_line(&pmu, "", "type", line) || !parse_value(line, &type) || type > UINT32_MAX)
		return unknown_pmu(&pmu);
	event.type = (uint32_t)type;
	event.core = is_core(&pmu);
	err = take_terms(&pmu, slash + 1, length - (size_t)(slash + 1 - text) - 1, 0, &event);
	if (!err)
		*out = event;
	return err;
}
