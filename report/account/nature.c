/* Interned natures and files. */
#include "report/account/nature.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/strings.h"
#include "report/tables/byte_runs.h"

struct file_key {
	uint64_t inode;
	uint32_t major, minor;
	uint32_t name; /* string id; 0 where there is an inode */
	uint32_t unused;
};

struct mt_natures {
	struct mt_byte_runs *natures, *files;
	struct mt_strings *strings;
	MT_ARRAY(uint32_t) names; /* of files, by id less 1 */
};

struct mt_natures *mt_natures_create(void)
{
	struct mt_natures *natures = calloc(1, sizeof(*natures));

	if (!natures)
		return NULL;
	natures->natures = mt_byte_runs_create();
	natures->files = mt_byte_runs_create();
	natures->strings = mt_strings_create();
	if (!natures->natures || !natures->files || !natures->strings) {
		mt_natures_destroy(natures);
		return NULL;
	}
	return natures;
}

void mt_natures_destroy(struct mt_natures *natures)
{
	if (!natures)
		return;
	mt_byte_runs_destroy(natures->natures);
	mt_byte_runs_destroy(natures->files);
	mt_strings_destroy(natures->strings);
	mt_array_deinit(&natures->names);
	free(natures);
}

uint32_t mt_natures_intern(struct mt_natures *natures, const struct mt_nature *nature)
{
	return mt_byte_runs_intern(natures->natures, nature, sizeof(*nature));
}

const struct mt_nature *mt_natures_get(const struct mt_natures *natures, uint32_t id)
{
	size_t size;

	return mt_byte_runs_get(natures->natures, id, &size);
}

uint32_t mt_natures_file(struct mt_natures *natures, const struct mt_file_identity *identity)
{
	uint32_t name = mt_strings_intern(natures->strings, identity->name, strlen(identity->name));
	struct file_key key = {.inode = identity->inode,
			       .major = identity->major,
			       .minor = identity->minor,
			       .name = identity->inode ? 0 : name};
	uint32_t id = mt_byte_runs_intern(natures->files, &key, sizeof(key)), *slot;

	if (name == MT_STRING_NONE || id == MT_SEQUENCE_NONE)
		return UINT32_MAX;
	if (id == natures->names.count) {
		slot = mt_array_push(&natures->names);
		if (!slot)
			return UINT32_MAX;
		*slot = name;
	}
	return id + 1;
}

struct mt_file_identity mt_natures_file_get(const struct mt_natures *natures, uint32_t file)
{
	size_t size;
	const struct file_key *key;

	if (file == MT_FILE_NONE || file > natures->names.count)
		return (struct mt_file_identity){.name = ""};
	key = mt_byte_runs_get(natures->files, file - 1, &size);
	return (struct mt_file_identity){key->major, key->minor, key->inode,
					 mt_strings_get(natures->strings,
							natures->names.items[file - 1])};
}
