/* Interned attributes and files. */
#include "report/account/region_attrs.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/strings.h"
#include "report/tables/byte_runs.h"

struct file_key {
	uint64_t inode;
	uint32_t major, minor;
	uint32_t name; /* string id; 0 for a file with an inode */
	uint32_t unused;
};

struct mt_attr_table {
	struct mt_byte_runs *attr_table, *files;
	struct mt_strings *strings;
	MT_ARRAY(uint32_t) names; /* names of files, by id - 1 */
};

struct mt_attr_table *mt_attr_table_create(void)
{
	struct mt_attr_table *attr_table = mt_alloc(1, sizeof(*attr_table));

	attr_table->attr_table = mt_byte_runs_create();
	attr_table->files = mt_byte_runs_create();
	attr_table->strings = mt_strings_create();
	return attr_table;
}

void mt_attr_table_destroy(struct mt_attr_table *attr_table)
{
	if (!attr_table)
		return;
	mt_byte_runs_destroy(attr_table->attr_table);
	mt_byte_runs_destroy(attr_table->files);
	mt_strings_destroy(attr_table->strings);
	mt_array_deinit(&attr_table->names);
	free(attr_table);
}

uint32_t mt_attr_table_intern(struct mt_attr_table *attr_table, const struct mt_region_attrs *attrs)
{
	return mt_byte_runs_intern(attr_table->attr_table, attrs, sizeof(*attrs));
}

const struct mt_region_attrs *mt_attrs_get(const struct mt_attr_table *attr_table, uint32_t id)
{
	size_t size;

	return mt_byte_runs_get(attr_table->attr_table, id, &size);
}

uint32_t mt_attr_table_file(struct mt_attr_table *attr_table,
			    const struct mt_file_identity *identity)
{
	uint32_t name =
		mt_strings_intern(attr_table->strings, identity->name, strlen(identity->name));
	struct file_key key = {.inode = identity->inode,
			       .major = identity->major,
			       .minor = identity->minor,
			       .name = identity->inode ? 0 : name};
	uint32_t id = mt_byte_runs_intern(attr_table->files, &key, sizeof(key));

	if (id == attr_table->names.count)
		*mt_array_push(&attr_table->names) = name;
	return id + 1;
}

struct mt_file_identity mt_attr_table_file_get(const struct mt_attr_table *attr_table,
					       uint32_t file)
{
	size_t size;
	const struct file_key *key;

	if (file == MT_FILE_NONE || file > attr_table->names.count)
		return (struct mt_file_identity){.name = ""};
	key = mt_byte_runs_get(attr_table->files, file - 1, &size);
	return (struct mt_file_identity){key->major, key->minor, key->inode,
					 mt_strings_get(attr_table->strings,
							attr_table->names.items[file - 1])};
}
