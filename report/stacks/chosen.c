/* Applies mtrec's choice of targets, from INFO records, to processes from before the recording. */
#include "report/stacks/chosen.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/memory.h"
#include "formats/records/record.h"

struct mt_chosen {
	bool by_list, by_user, by_name;
	uint32_t user;
	char *cgroup; /* "CONTROLLER:PATH", without controller in version 2; NULL: not by cgroup */
	regex_t name;
};

struct mt_chosen *mt_chosen_create(void)
{
	return mt_alloc(1, sizeof(struct mt_chosen));
}

void mt_chosen_destroy(struct mt_chosen *chosen)
{
	if (!chosen)
		return;
	if (chosen->by_name)
		regfree(&chosen->name);
	free(chosen->cgroup);
	free(chosen);
}

/* A regex that does not compile here does not restrict the choice. */
static void set_name(struct mt_chosen *chosen, const char *value)
{
	if (chosen->by_name)
		regfree(&chosen->name);
	chosen->by_name = !regcomp(&chosen->name, value, REG_EXTENDED | REG_NOSUB);
}

void mt_chosen_set_fact(struct mt_chosen *chosen, const char *key, const char *value)
{
	if (!strcmp(key, "target"))
		chosen->by_list = !strncmp(value, "pid ", 4) || !strncmp(value, "tid ", 4);
	if (!strcmp(key, "target-uid")) {
		chosen->by_user = true;
		chosen->user = (uint32_t)strtoul(value, NULL, 10);
	}
	if (!strcmp(key, "target-comm"))
		set_name(chosen, value);
	if (!strcmp(key, "target-cgroup")) {
		free(chosen->cgroup);
		chosen->cgroup = mt_copy_string(value);
	}
}

bool mt_chosen_by_process(const struct mt_chosen *chosen)
{
	return chosen->by_list || chosen->by_user || chosen->cgroup;
}

bool mt_chosen_by_name(const struct mt_chosen *chosen)
{
	return chosen->by_name;
}

/* True if the list of controllers is empty (version 2) or, with a controller, has it. */
static bool is_hierarchy(const char *list, size_t length, const char *controller, size_t size)
{
	return size ? memmem(list, length, controller, size) != NULL : !length;
}

/*
 * True if a line HIERARCHY:CONTROLLERS:PATH of /proc/PID/cgroup is the cgroup or a cgroup below it.
 */
static bool is_below(const char *line, size_t length, const char *cgroup)
{
	const char *end = line + length, *first = memchr(line, ':', length), *second;
	const char *path = strchr(cgroup, ':');
	size_t size = path ? strlen(path + 1) : 0;

	second = first ? memchr(first + 1, ':', (size_t)(end - first - 1)) : NULL;
	if (!second || !path ||
	    !is_hierarchy(first + 1, (size_t)(second - first - 1), cgroup, (size_t)(path - cgroup)))
		return false;
	size -= size && path[size] == '/';
	second++;
	return (size_t)(end - second) >= size && !memcmp(second, path + 1, size) &&
	       (second + size == end || second[size] == '/');
}

static bool is_in_cgroup(const struct mt_task_record *leader, const char *cgroup)
{
	const char *at = leader->cgroup.bytes, *end = at + leader->cgroup.size;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;

		if (is_below(at, (size_t)(stop - at), cgroup))
			return true;
		at = stop + 1;
	}
	return false;
}

/* With -p and -t the recording has only targets, so the list is not checked. */
bool mt_chosen_choose(const struct mt_chosen *chosen, const struct mt_task_record *leader)
{
	return (!chosen->by_user || leader->uid == chosen->user) &&
	       (!chosen->cgroup || is_in_cgroup(leader, chosen->cgroup));
}

bool mt_chosen_name(const struct mt_chosen *chosen, const char *comm)
{
	return !chosen->by_name || !regexec(&chosen->name, comm, 0, NULL, 0);
}
