/* record/files/image_files: the file of a mapping is found by the fields of its record. */
#include "record/files/image_files.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/images/image.h"
#include "tests/unit/unit.h"

static struct mt_text text_of(const char *text)
{
	return (struct mt_text){.bytes = text, .size = strlen(text)};
}

MT_TEST(path_and_build_id_outlive_what_they_were_given_as)
{
	char path[] = "/usr/bin/server", id[] = "\xde\xad\xbe\xef";
	struct mt_mapped_file at = {.major = 8, .inode = 42, .path = text_of(path)};
	struct mt_image_record record = {.size = 7, .build_id = text_of(id)};
	struct mt_image_identity identity = {
		.path = "/usr/bin/server", .device_major = 8, .inode = 42};
	struct mt_image_files *files = mt_image_files_create(NULL);
	struct mt_image_file *file;
	bool added;

	MT_REQUIRE(files);
	mt_image_files_know(files, mt_image_files_get(files, &at, &added), -1, &record);
	MT_CHECK(added);
	memset(path, 'x', sizeof(path));
	memset(id, 'x', sizeof(id));
	file = mt_image_files_find(files, &identity);
	MT_REQUIRE(file);
	MT_CHECK_STR(file->at.path.bytes, "/usr/bin/server");
	record = mt_image_file_record(file);
	MT_CHECK_EQ(record.inode, 42);
	MT_CHECK_EQ(record.size, 7);
	MT_CHECK_EQ(record.build_id.size, 4);
	MT_CHECK(!memcmp(record.build_id.bytes, "\xde\xad\xbe\xef", 4));
	identity.inode = 43;
	MT_CHECK(!mt_image_files_find(files, &identity));
	mt_image_files_destroy(files);
}

MT_TEST(a_file_is_listed_once_and_each_generation_of_an_inode)
{
	struct mt_mapped_file at = {.inode = 42, .path = text_of("/lib/one")};
	struct mt_image_files *files = mt_image_files_create(NULL);
	struct mt_image_file *first, *second;
	bool added;

	MT_REQUIRE(files);
	first = mt_image_files_get(files, &at, &added);
	MT_CHECK(first && added);
	at.pid = 7;
	MT_CHECK(mt_image_files_get(files, &at, &added) == first && !added);
	at.inode_generation = 1;
	second = mt_image_files_get(files, &at, &added);
	MT_REQUIRE(second && added && second != first);
	at.inode_generation = 0;
	MT_CHECK(mt_image_files_get(files, &at, &added) == first && !added);
	MT_CHECK(mt_image_files_at(files, second->number) == second);
	mt_image_files_destroy(files);
}

MT_TEST(what_is_kept_open_can_be_had_again_and_again)
{
	struct mt_mapped_file at = {.path = text_of("/no/such/file")};
	struct mt_image_files *files = mt_image_files_create(NULL);
	struct mt_image_file *file;
	bool added;

	MT_REQUIRE(files);
	file = mt_image_files_get(files, &at, &added);
	MT_REQUIRE(file);
	MT_CHECK_EQ(mt_image_file_open(file, NULL), -1);
	mt_image_files_know(files, file, memfd_create("file", MFD_CLOEXEC),
			    &(struct mt_image_record){0});
	for (int i = 0; i < 2; i++) {
		int fd = mt_image_file_open(file, NULL);

		MT_CHECK(fd > STDERR_FILENO && fd != file->fd);
		close(fd);
	}
	mt_image_files_destroy(files);
}

/* At most 64 files that are not chosen, and 64 that are chosen. */
MT_TEST(as_many_are_kept_open_as_there_is_room_for)
{
	struct mt_image_files *files = mt_image_files_create(NULL);
	struct mt_image_file *list[100];
	size_t open = 0, chosen = 0;
	bool added;

	MT_REQUIRE(files);
	for (size_t i = 0; i < 100; i++) {
		struct mt_mapped_file at = {.inode = i, .path = text_of("/lib/many")};

		list[i] = mt_image_files_get(files, &at, &added);
		MT_REQUIRE(list[i]);
		mt_image_files_know(files, list[i], memfd_create("file", MFD_CLOEXEC),
				    &(struct mt_image_record){0});
		open += list[i]->fd >= 0;
	}
	MT_CHECK_EQ(open, 64);
	for (size_t i = 0; i < 100; i++) {
		list[i]->chosen = true;
		mt_image_files_keep_chosen(files, list[i]);
	}
	for (size_t i = 0; i < 100; i++) {
		struct mt_mapped_file at = {.inode = 1000 + i, .path = text_of("/lib/many")};

		list[i] = mt_image_files_get(files, &at, &added);
		MT_REQUIRE(list[i]);
		list[i]->chosen = true;
		mt_image_files_know(files, list[i], memfd_create("file", MFD_CLOEXEC),
				    &(struct mt_image_record){0});
		MT_CHECK(list[i]->fd >= 0); /* until it was offered */
		mt_image_files_keep_chosen(files, list[i]);
		chosen += list[i]->fd >= 0;
	}
	MT_CHECK_EQ(chosen, 0);
	mt_image_files_destroy(files);
}

MT_TEST_MAIN
