/* record/ready and formats/base/pages: memory that is there before it is used. */
#include "record/ready.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "formats/base/pages.h"
#include "tests/unit/unit.h"

#define PAGES ((size_t)64)

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

MT_TEST(what_is_made_ready_keeps_what_it_holds_and_faults_no_more)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *bytes = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long before;

	MT_REQUIRE(bytes != MAP_FAILED);
	bytes[5 * page + 7] = 42;
	mt_pages_ready(bytes + 3, (PAGES - 1) * page); /* from within a page into the last one */
	MT_CHECK_EQ(bytes[5 * page + 7], 42);
	before = faults();
	for (size_t i = 0; i < PAGES; i++)
		((volatile uint8_t *)bytes)[i * page + 1] = 1;
	MT_CHECK(faults() - before <= 1); /* getrusage()'s own */
	munmap(bytes, PAGES * page);
}

MT_TEST(what_cannot_be_had_is_left)
{
	mt_pages_ready(NULL, 0);
}

/* Everything that is loaded, what is read-only behind the loader, too: none of it may be hurt. */
MT_TEST(code_and_data_and_a_stack_can_be_made_ready)
{
	static char in_data[3 * 4096] = "data";
	static char in_bss[3 * 4096];

	mt_ready_code();
	mt_ready_stack();
	mt_ready_local();
	MT_CHECK(!strcmp(in_data, "data"));
	MT_CHECK(!in_bss[0] && !in_bss[sizeof(in_bss) - 1]);
}

MT_TEST_MAIN
