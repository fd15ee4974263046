/* Finds the engine and the id of a container in a cgroup's path. */
#include "report/sums/container.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum {
	ID_LEAST = 32, /* hexadecimal digits: most engines write 64; rkt and old ones write 32 */
	ID_SHOWN = 12, /* digits that docker ps and crictl ps show */
};

/* A word in the path, and the engine whose id follows it. */
static const struct {
	const char *word, *engine;
} engines[] = {
	{"libpod", "podman"}, {"cri-containerd", "containerd"}, {"crio", "cri-o"},
	{"docker", "docker"}, {"containerd", "containerd"},	{"kubepods", "kubernetes"},
};

/* Text before the name of a container, and the characters that end the name. */
static const struct {
	const char *word, *engine, *ends;
} named[] = {
	{"/lxc.payload.", "lxc", "/\n"},
	{"/lxc.payload/", "lxc", "/\n"},
	{"/lxc/", "lxc", "/\n"},
	{"/machine-", "machine", ".\n"},	/* systemd-machined: machine-NAME.scope */
	{"/systemd-nspawn@", "machine", ".\n"}, /* systemd-nspawn@NAME.service */
};

static size_t hex_run(const char *text)
{
	size_t length = 0;

	while (isxdigit((unsigned char)text[length]))
		length++;
	return length;
}

/* The last id in the path, which is that of the innermost container. */
static const char *find_id(const char *cgroup)
{
	const char *found = NULL;

	for (const char *at = cgroup; *at; at++) {
		size_t length = hex_run(at);

		if (length >= ID_LEAST)
			found = at;
		at += length ? length - 1 : 0;
	}
	return found;
}

static const char *engine_of(const char *cgroup)
{
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		if (strstr(cgroup, engines[i].word))
			return engines[i].engine;
	}
	return "container";
}

struct mt_snippet mt_container_of(const char *cgroup)
{
	struct mt_snippet out = {"-"};
	const char *id = find_id(cgroup);

	if (id) {
		snprintf(out.text, sizeof(out.text), "%s %.*s", engine_of(cgroup), ID_SHOWN, id);
		return out;
	}
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		const char *at = strstr(cgroup, named[i].word);
		const char *name = at ? at + strlen(named[i].word) : "";

		if (*name) {
			snprintf(out.text, sizeof(out.text), "%s %.*s", named[i].engine,
				 (int)(strcspn(name, named[i].ends) % 32), name);
			return out;
		}
	}
	return out;
}
