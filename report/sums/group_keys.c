/*
 * The table of grouping keys, and lists of them.
 */
#include "report/sums/group_keys.h"

#include <stdio.h>
#include <string.h>

#include "formats/base/err.h"

static const struct mt_by_def defs[MT_BY_KEYS] = {
	[MT_BY_EVENT] = {"event", "the event", {{"event", MT_KEY_STRING}}, 1},
	[MT_BY_TIME] = {NULL, NULL, {{"time", MT_KEY_TIME}}, 1},
	[MT_BY_SEGMENT] = {"segment",
			   "a segment of shared memory: id, key, and who made it",
			   {{"id", MT_KEY_NUMBER},
			    {"key", MT_KEY_ADDRESS},
			    {"maker", MT_KEY_STRING}},
			   3},
	[MT_BY_PROCESS] = {"process",
			   "pid, and the name of its first thread",
			   {{"pid", MT_KEY_NUMBER}, {"process", MT_KEY_STRING}},
			   2},
	[MT_BY_PROGRAM] = {NULL, NULL, {{"process", MT_KEY_STRING}}, 1},
	[MT_BY_THREAD] = {"thread",
			  "pid, tid, and the thread's name",
			  {{"pid", MT_KEY_NUMBER}, {"tid", MT_KEY_NUMBER}, {"comm", MT_KEY_STRING}},
			  3},
	[MT_BY_COMM] = {"comm", "the thread's name", {{"comm", MT_KEY_STRING}}, 1},
	[MT_BY_CPU] = {"cpu", "the CPU", {{"cpu", MT_KEY_NUMBER}}, 1},
	[MT_BY_CGROUP] = {"cgroup", "the process's cgroup", {{"cgroup", MT_KEY_STRING}}, 1},
	[MT_BY_CONTAINER] = {"container",
			     "the process's container",
			     {{"container", MT_KEY_STRING}},
			     1},
	[MT_BY_EXE] = {NULL, NULL, {{"image", MT_KEY_STRING}}, 1},
	[MT_BY_MODE] = {"mode", "user code or kernel", {{"mode", MT_KEY_STRING}}, 1},
	[MT_BY_KIND] = {"kind", "the kind of memory", {{"kind", MT_KEY_STRING}}, 1},
	[MT_BY_FILE] = {"file", "what is mapped there", {{"file", MT_KEY_STRING}}, 1},
	[MT_BY_IMAGE] = {"image",
			 "the file of the innermost user frame",
			 {{"image", MT_KEY_STRING}},
			 1},
	[MT_BY_TREND] = {"trend", "how its memory went, in words", {{"trend", MT_KEY_STRING}}, 1},
	[MT_BY_TOOK] = {"took", "how long it took", {{"took", MT_KEY_SPAN}}, 1},
	[MT_BY_VALUE] = {"value", "the value of --weight's field", {{"value", MT_KEY_SIGNED}}, 1},
	[MT_BY_LOG2] = {"log2",
			"the value of --weight's field, in powers of two",
			{{"log2", MT_KEY_BUCKET}},
			1},
	[MT_BY_LIFE] = {"life",
			"whether it began or ended meanwhile",
			{{"life", MT_KEY_STRING}},
			1},
	[MT_BY_SIZE] = {"size",
			"the size of blocks, to the next power of two",
			{{"size", MT_KEY_STRING}},
			1},
	[MT_BY_AGE] = {"age", "how long blocks have lived", {{"lived", MT_KEY_SPAN}}, 1},
	[MT_BY_RESERVER] = {"reserver",
			    "the stack that reserved the memory",
			    {{"reserver", MT_KEY_STACK}},
			    1},
	[MT_BY_STACK] = {"stack", "the stack", {{"stack", MT_KEY_STACK}}, 1},
};

const struct mt_by_def *mt_by_def(enum mt_by key)
{
	return &defs[key];
}

void mt_by_names(uint32_t keys, char *out, size_t size)
{
	size_t used = 0;

	*out = '\0';
	for (int i = 0; i < MT_BY_KEYS && used < size; i++) {
		if ((keys & MT_BY_BIT(i)) && defs[i].name)
			used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "",
						 defs[i].name);
	}
}

static struct mt_error *unknown_key(const char *option, const char *word, size_t length)
{
	char known[300];

	mt_by_names(UINT32_MAX, known, sizeof(known));
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "%s %.*s: no such key", option,
					     (int)length, word),
			     "known: %s", known);
}

static enum mt_by find_key(const char *word, size_t length)
{
	enum mt_by key = 0;

	while (key < MT_BY_KEYS && (!defs[key].name || strlen(defs[key].name) != length ||
				    strncmp(defs[key].name, word, length) != 0))
		key++;
	return key;
}

struct mt_error *mt_by_parse(const char *option, const char *text, struct mt_by_list *list)
{
	for (;;) {
		size_t length = strcspn(text, ",");
		enum mt_by key = find_key(text, length);

		if (key == MT_BY_KEYS)
			return unknown_key(option, text, length);
		mt_by_add(list, key);
		if (!text[length])
			return NULL;
		text += length + 1;
	}
}

bool mt_by_has(const struct mt_by_list *list, enum mt_by key)
{
	return memchr(list->keys, key, list->count);
}

static void insert(struct mt_by_list *list, size_t at, enum mt_by key)
{
	memmove(list->keys + at + 1, list->keys + at, list->count - at);
	list->keys[at] = (uint8_t)key;
	list->count++;
}

void mt_by_add(struct mt_by_list *list, enum mt_by key)
{
	size_t at = list->count;

	if (mt_by_has(list, key))
		return;
	if (at && list->keys[at - 1] == MT_BY_STACK)
		at--;
	insert(list, at, key);
}

void mt_by_add_first(struct mt_by_list *list, enum mt_by key)
{
	if (!mt_by_has(list, key))
		insert(list, 0, key);
}

void mt_by_remove(struct mt_by_list *list, enum mt_by key)
{
	const uint8_t *at = memchr(list->keys, key, list->count);
	size_t i = at ? (size_t)(at - list->keys) : list->count;

	if (!at)
		return;
	list->count--;
	memmove(list->keys + i, list->keys + i + 1, list->count - i);
}
