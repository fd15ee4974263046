/*
 * record/files/file_pages, record/carry/embed_image: bounds on the recorder's cost of a hostile
 * file.
 */
#include "record/files/file_pages.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/carry/embed_image.h"
#include "tests/unit/elf_builder.h"
#include "tests/unit/unit.h"

#define MIB ((uint64_t)1 << 20)

/* A file of that size that starts with these bytes; the remaining bytes are a hole. */
static int sparse_file(const struct elf_builder *elf, uint64_t size)
{
	int fd = memfd_create("sparse", MFD_CLOEXEC);

	if (ftruncate(fd, (off_t)size) ||
	    pwrite(fd, elf->bytes, elf->size, 0) != (ssize_t)elf->size)
		return -1;
	return fd;
}

static uint64_t resident(void)
{
	unsigned long long size = 0, pages = 0;
	FILE *statm = fopen("/proc/self/statm", "r");

	if (statm && fscanf(statm, "%llu %llu", &size, &pages) != 2)
		pages = 0;
	if (statm)
		fclose(statm);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

MT_TEST(a_sparse_file_larger_than_any_program_is_refused)
{
	struct mt_file_pages *pages = NULL;
	struct elf_builder elf;
	struct mt_error *err;
	int fd;

	builder_init(&elf, ET_DYN);
	fd = sparse_file(&elf, 16384 * MIB);
	MT_REQUIRE(fd >= 0);
	err = mt_file_pages_create(NULL, fd, "sparse", &pages);
	MT_CHECK(err);
	mt_error_destroy(err);
	mt_file_pages_destroy(pages);
	close(fd);
}

MT_TEST(what_is_kept_of_a_file_is_bounded)
{
	uint64_t before, after;
	struct mt_file_pages *pages = NULL;
	struct elf_builder elf;
	int fd;

	builder_init(&elf, ET_DYN);
	fd = sparse_file(&elf, 512 * MIB);
	MT_REQUIRE(fd >= 0);
	MT_REQUIRE(!mt_file_pages_create(NULL, fd, "sparse", &pages));
	before = resident();
	for (uint64_t at = 0; at < 512 * MIB; at += MIB)
		mt_file_pages_need(pages, at, MIB, true);
	after = resident();
	MT_CHECK(after > before + 16 * MIB); /* some memory was used */
	MT_CHECK(after < before + 80 * MIB); /* 64, and an eighth if a sanitizer counts bytes */
	mt_file_pages_destroy(pages);
	close(fd);
}

/* Without section headers all of the file is read. */
MT_TEST(a_file_without_section_headers_costs_no_more)
{
	struct mt_embed_file file = {.fd = -1};
	struct elf_builder elf;
	uint64_t before;

	builder_init(&elf, ET_DYN);
	builder_add_segment(&elf, PT_LOAD, PF_R | PF_X, 0, 0, 512 * MIB);
	builder_header(&elf)->e_phnum = 1;
	builder_header(&elf)->e_phoff = sizeof(Elf64_Ehdr);
	file.fd = sparse_file(&elf, 512 * MIB);
	MT_REQUIRE(file.fd >= 0);
	before = resident();
	MT_CHECK(!mt_embed_file_open(&file, "sparse"));
	MT_CHECK(resident() < before + 72 * MIB);
	mt_embed_file_close(&file);
	close(file.fd);
}

MT_TEST_MAIN
