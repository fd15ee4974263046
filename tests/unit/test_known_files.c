/* record/carry/known_files: the files behind mappings are found by what a mapping says of them. */
#include "record/carry/known_files.h"

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
	struct mt_image_record record = {.build_id = text_of(id)};
	struct mt_image_identity identity = {
		.path = "/usr/bin/server", .device_major = 8, .inode = 42};
	struct mt_known_files files = {0};
	struct mt_known_file *file;

	mt_known_files_add(&files, -1, &at, &record);
	memset(path, 'x', sizeof(path));
	memset(id, 'x', sizeof(id));
	file = mt_known_files_find(&files, &identity);
	MT_REQUIRE(file);
	MT_CHECK_STR(file->at.path.bytes, "/usr/bin/server");
	MT_CHECK_EQ(file->record.build_id.size, 4);
	MT_CHECK(!memcmp(file->record.build_id.bytes, "\xde\xad\xbe\xef", 4));
	identity.inode = 43;
	MT_CHECK(!mt_known_files_find(&files, &identity));
	mt_known_files_deinit(&files, NULL);
}

MT_TEST(what_was_open_when_it_was_added_is_taken_once)
{
	struct mt_mapped_file at = {.path = text_of("/no/such/file")};
	struct mt_image_identity identity = {.path = "/no/such/file"};
	struct mt_known_files files = {0};
	struct mt_known_file *file;
	int fd, open = memfd_create("file", MFD_CLOEXEC);

	MT_REQUIRE(open >= 0);
	mt_known_files_add(&files, open, &at, &(struct mt_image_record){0});
	close(open);
	file = mt_known_files_find(&files, &identity);
	MT_REQUIRE(file);
	fd = mt_known_files_take(&files, NULL, file);
	MT_CHECK(fd > STDERR_FILENO);
	close(fd);
	MT_CHECK_EQ(mt_known_files_take(&files, NULL, file), -1);
	mt_known_files_deinit(&files, NULL);
}

MT_TEST_MAIN
