/* The set of images: identities, build ids that must agree, and paths that must not be opened. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "symbols/images/image.h"
#include "tests/unit/elf_builder.h"
#include "tests/unit/unit.h"

MT_DEFINE_CLEANUP(mt_image_set, struct mt_image_set)
#define MT_SET_GUARD MT_CLEANUP(mt_image_set_destroy_p) struct mt_image_set *

static struct elf_builder builder;

static struct mt_image_set *local_set(void)
{
	struct mt_image_set *set = mt_image_set_create();

	MT_CHECK(mt_image_set_add_source(set, &mt_image_source_local, NULL));
	return set;
}

static struct mt_image *intern(struct mt_image_set *set, const char *path, const char *build_id,
			       uint64_t inode)
{
	struct mt_image_identity identity = {
		.path = path, .inode = inode, .build_id_size = strlen(build_id)};

	memcpy(identity.build_id, build_id, identity.build_id_size);
	return mt_image_set_intern(set, &identity);
}

/* Makes a file with the build id 1, 2, 3, 4; the caller unlinks it. */
static bool make_file(char *path)
{
	int fd = mkstemp(path);
	bool ok = fd >= 0;

	builder_init(&builder, ET_DYN);
	builder_add_build_id(&builder, 4);
	builder_finish(&builder);
	ok = ok && write(fd, builder.bytes, builder.size) == (ssize_t)builder.size;
	if (fd >= 0)
		close(fd);
	return ok;
}

MT_TEST(identities_are_interned)
{
	MT_SET_GUARD set = mt_image_set_create();
	struct mt_image *a = intern(set, "/bin/a", "", 1);

	MT_REQUIRE(a);
	MT_CHECK_EQ(intern(set, "/bin/a", "", 1), a);
	MT_CHECK(intern(set, "/bin/a", "", 2) != a);
	MT_CHECK(intern(set, "/bin/b", "", 1) != a);
	MT_CHECK(intern(set, "/bin/a", "id", 1) != a);
	MT_CHECK_EQ(intern(set, "/bin/a", "id", 7), intern(set, "/bin/a", "id", 8));
	MT_CHECK_EQ(mt_image_set_count(set), 4);
	MT_CHECK_EQ(mt_image_set_get(set, a->id), a);
	MT_CHECK(!mt_image_set_get(set, 4));
	MT_CHECK_STR(a->basename, "a");
}

MT_TEST(kinds_come_from_paths)
{
	MT_CHECK_EQ(mt_image_kind_of_path("/usr/bin/x"), MT_IMAGE_FILE);
	MT_CHECK_EQ(mt_image_kind_of_path("[vdso]"), MT_IMAGE_VDSO);
	MT_CHECK_EQ(mt_image_kind_of_path("//anon"), MT_IMAGE_ANONYMOUS);
	MT_CHECK_EQ(mt_image_kind_of_path("[heap]"), MT_IMAGE_ANONYMOUS);
	MT_CHECK_EQ(mt_image_kind_of_path("[stack:12]"), MT_IMAGE_ANONYMOUS);
	MT_CHECK_EQ(mt_image_kind_of_path(""), MT_IMAGE_ANONYMOUS);
	MT_CHECK_EQ(mt_image_kind_of_path("/srv/jit-12.dump"), MT_IMAGE_ANONYMOUS);
	MT_CHECK_EQ(mt_image_kind_of_path("[kernel.kallsyms]_text"), MT_IMAGE_KERNEL);
	MT_CHECK_EQ(mt_image_kind_of_path("[nf_tables]"), MT_IMAGE_KERNEL);
	MT_CHECK_EQ(mt_image_kind_of_path("/lib/modules/6.1/kernel/fs/ext4.ko.xz"),
		    MT_IMAGE_KERNEL);
}

MT_TEST(a_memfd_with_a_build_id_is_a_file)
{
	MT_SET_GUARD set = local_set();
	struct mt_image_identity reported = {.path = "/memfd:later", .inode = 7};
	struct mt_image *made = intern(set, "/memfd:doublemapper (deleted)", "", 0),
			*run = intern(set, "/memfd:code (deleted)", "\1\2\3\4", 0),
			*later = intern(set, "/memfd:later", "", 7);

	MT_CHECK_EQ(made->kind, MT_IMAGE_ANONYMOUS);
	MT_CHECK_EQ(run->kind, MT_IMAGE_FILE);
	MT_CHECK_EQ(later->kind, MT_IMAGE_ANONYMOUS);
	memcpy(reported.build_id, "\1\2\3\5", reported.build_id_size = 4);
	mt_image_set_learn_build_id(set, &reported);
	MT_CHECK_EQ(later->kind, MT_IMAGE_FILE);
}

MT_TEST(a_file_is_found_and_its_build_id_held_against_the_recorded)
{
	char path[] = "/tmp/test_image.XXXXXX";
	MT_SET_GUARD set = local_set();
	struct mt_image *right, *wrong, *none;

	MT_REQUIRE(make_file(path));
	right = intern(set, path, "\1\2\3\4", 0);
	wrong = intern(set, path, "\1\2\3\5", 0);
	none = intern(set, path, "", 0);
	MT_CHECK(mt_image_elf(right) && !right->unchecked && !right->missing);
	MT_CHECK_STR(right->found_at, path);
	MT_CHECK(mt_image_elf(none) && none->unchecked);
	MT_CHECK(!mt_image_elf(wrong) && !mt_image_elf(wrong));
	MT_REQUIRE(wrong->missing);
	MT_CHECK(strstr(wrong->missing, "build id differs: recorded 01020305, file 01020304"));
	unlink(path);
}

MT_TEST(a_deleted_path_needs_a_build_id)
{
	char path[] = "/tmp/test_image.XXXXXX", deleted[64];
	MT_SET_GUARD set = local_set();

	MT_REQUIRE(make_file(path));
	snprintf(deleted, sizeof(deleted), "%s (deleted)", path);
	MT_CHECK(mt_image_elf(intern(set, deleted, "\1\2\3\4", 0)));
	MT_CHECK(!mt_image_elf(intern(set, deleted, "\1\2\3\5", 0)));
	MT_CHECK(!mt_image_elf(intern(set, deleted, "", 0)));
	unlink(path);
}

MT_TEST(hostile_paths_are_refused)
{
	static const char *const paths[] = {"etc/passwd",	 "/usr/../etc/passwd", "/tmp/..",
					    "/proc/kcore",	 "/dev/zero",	       "/etc",
					    "/sys/kernel/notes", "/nonexistent/x",     "x/../y"};
	MT_SET_GUARD set = local_set();

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct mt_image *image = intern(set, paths[i], "", 0);

		MT_CHECK(!mt_image_elf(image));
		MT_CHECK(image->missing);
	}
}

MT_TEST(a_build_id_learnt_later_counts)
{
	char path[] = "/tmp/test_image.XXXXXX";
	MT_SET_GUARD set = local_set();
	struct mt_image_identity later = {
		.path = path, .build_id = {9, 9}, .build_id_size = 2, .inode = 5};
	struct mt_image *image, *opened;

	MT_REQUIRE(make_file(path));
	image = intern(set, path, "", 5);
	opened = intern(set, path, "", 6);
	MT_CHECK(mt_image_elf(opened));
	mt_image_set_learn_build_id(set, &later);
	MT_CHECK(!mt_image_elf(image));
	MT_CHECK_EQ(intern(set, path, "\11\11", 5), image);
	MT_CHECK_EQ(intern(set, path, "", 5), image);
	MT_CHECK(mt_image_elf(opened)); /* another inode */
	later.inode = 6;
	mt_image_set_learn_build_id(set, &later);
	MT_CHECK(!mt_image_elf(opened)); /* no longer in use */
	unlink(path);
}

MT_TEST(a_build_id_recorded_for_a_path_is_that_of_images_to_come)
{
	MT_SET_GUARD set = mt_image_set_create();
	struct mt_image_identity reported = {
		.path = "/bin/a", .build_id = "id", .build_id_size = 2};
	struct mt_image *image;

	mt_image_set_learn_build_id(set, &reported);
	image = intern(set, "/bin/a", "", 7);
	MT_REQUIRE(image);
	MT_CHECK_EQ(image->identity.build_id_size, 2);
	MT_CHECK_EQ(intern(set, "/bin/a", "", 7), image);
	MT_CHECK_EQ(intern(set, "/bin/a", "other", 7)->identity.build_id_size, 5);
	MT_CHECK_EQ(intern(set, "/bin/b", "", 7)->identity.build_id_size, 0);
}

/* Makes the file DIRECTORY/NAME with a build id; the caller unlinks it. */
static bool make_below(const char *directory, const char *name, char path[128])
{
	char made[] = "/tmp/mt-test-XXXXXX";

	snprintf(path, 128, "%s/%s", directory, name);
	return make_file(made) && !rename(made, path);
}

MT_TEST(files_are_found_below_a_directory)
{
	MT_SET_GUARD set = mt_image_set_create();
	char directory[] = "/tmp/mt-dir-XXXXXX", path[128];
	struct mt_image *image;

	MT_REQUIRE(mkdtemp(directory) && make_below(directory, "prog", path));
	MT_CHECK(mt_image_set_add_source(set, &mt_image_source_below, directory));
	image = intern(set, "/not/here/prog", "", 0);
	MT_CHECK(mt_image_elf(image));
	MT_CHECK(image->found_at && !strcmp(image->found_at, path));
	image = intern(set, "/prog", "", 0);
	MT_CHECK(mt_image_elf(image));
	image = intern(set, "/not/here/../prog", "", 0); /* does not leave the directory */
	MT_CHECK(!mt_image_elf(image));
	image = intern(set, "/not/here/other", "", 0);
	MT_CHECK(!mt_image_elf(image));
	MT_CHECK(image->missing && strstr(image->missing, "/not/here/other: not in /tmp/mt-dir-"));
	unlink(path);
	rmdir(directory);
}

MT_TEST(a_build_id_learnt_later_confirms)
{
	char path[] = "/tmp/test_image.XXXXXX";
	MT_SET_GUARD set = local_set();
	struct mt_image_identity later = {
		.path = path, .build_id = {1, 2, 3, 4}, .build_id_size = 4};
	struct mt_image *image;
	struct mt_elf *elf;

	MT_REQUIRE(make_file(path));
	image = intern(set, path, "", 5);
	elf = mt_image_elf(image);
	MT_CHECK(elf && image->unchecked);
	mt_image_set_learn_build_id(set, &later); /* no inode: matched by path */
	MT_CHECK(mt_image_elf(image) == elf && !image->unchecked);
	unlink(path);
}

MT_TEST(the_vdso_is_this_process_s_own)
{
	MT_SET_GUARD set = local_set();
	struct mt_image *image = intern(set, "[vdso]", "", 0),
			*other = intern(set, "[vdso]", "\1\2", 0);

	if (!getauxval(AT_SYSINFO_EHDR))
		MT_SKIP("no vdso here");
	MT_CHECK(mt_image_elf(image) && image->unchecked);
	MT_CHECK(mt_image_elf(image) && mt_elf_symbol_count(mt_image_elf(image), true) > 1);
	MT_CHECK(!mt_image_elf(other) && strstr(other->missing, "build id differs"));
}

MT_TEST(symbols_come_from_a_debug_file_where_the_image_has_none)
{
	char directory[] = "/tmp/test_image.XXXXXX", path[64], debug[128], command[192];
	Elf64_Sym symbols[2] = {{0}, {.st_name = 1, .st_info = STT_FUNC, .st_shndx = 1}};
	MT_SET_GUARD set = local_set();
	struct mt_image *image;
	FILE *f;

	MT_REQUIRE(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/x.XXXXXX", directory);
	MT_REQUIRE(make_file(path));
	snprintf(command, sizeof(command), "mkdir -p %s/.build-id/01", directory);
	MT_REQUIRE(!system(command));
	snprintf(debug, sizeof(debug), "%s/.build-id/01/020304.debug", directory);
	builder_init(&builder, ET_DYN);
	builder_add_build_id(&builder, 4);
	builder_add_symbols(&builder, false, symbols, 2, "\0hello", 7);
	builder_finish(&builder);
	f = fopen(debug, "w");
	MT_REQUIRE(f && fwrite(builder.bytes, builder.size, 1, f) == 1);
	fclose(f);
	MT_CHECK(mt_image_set_add_source(set, &mt_image_source_build_id, directory));
	image = intern(set, path, "", 0);
	MT_REQUIRE(mt_image_symbols_elf(image));
	MT_CHECK(mt_image_symbols_elf(image) != mt_image_elf(image));
	MT_CHECK_EQ(mt_elf_symbol_count(mt_image_symbols_elf(image), false), 2);
	MT_CHECK_STR(image->debug_found_at, debug);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	MT_CHECK(!system(command));
}

/* CPU time of learning a build id for each of `count` images. */
static clock_t time_of_learning(uint32_t count)
{
	MT_SET_GUARD set = mt_image_set_create();
	clock_t start = clock();
	char path[32];

	for (uint32_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "/lib/%u.so", i / 2);
		intern(set, path, "", i + 1);
	}
	for (uint32_t i = 0; i < count; i++) {
		struct mt_image_identity reported = {
			.path = path, .build_id_size = 4, .inode = i % 2 ? i : 0};

		snprintf(path, sizeof(path), "/lib/%u.so", i / 2);
		memcpy(reported.build_id, &i, 4);
		mt_image_set_learn_build_id(set, &reported);
	}
	MT_CHECK_EQ(mt_image_set_get(set, 77)->identity.build_id_size, 4);
	MT_CHECK_EQ(mt_image_set_get(set, count - 1)->identity.build_id_size, 4);
	return clock() - start;
}

/*
 * Learning n build ids must not search n images each time: 16 times as many would then take 256
 * times as long.
 */
MT_TEST(build_ids_of_many_images_are_learnt_in_no_time_each)
{
	clock_t few = time_of_learning(2500);

	MT_CHECK(time_of_learning(40000) < 80 * few);
}

MT_TEST_MAIN
