/* formats/base/pages: memory is populated before it is used. */
#include "formats/base/pages.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define PAGES ((size_t)64)

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

/* A sanitizer's shadow memory would add faults. */
__attribute__((no_sanitize("address", "thread"))) static void write_pages(volatile uint8_t *bytes,
									  size_t page)
{
	for (size_t i = 0; i < PAGES; i++)
		bytes[i * page + 1] = 1;
}

MT_TEST(what_is_made_ready_keeps_what_it_holds_and_faults_no_more)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *bytes = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long before;

	MT_REQUIRE(bytes != MAP_FAILED);
	bytes[5 * page + 7] = 42;
	mt_pages_ready(bytes + 3, (PAGES - 1) * page); /* from within a page to the last page */
	MT_CHECK_EQ(bytes[5 * page + 7], 42);
	before = faults();
	write_pages(bytes, page);
	MT_CHECK(faults() - before < 4); /* faults of the counting itself */
	munmap(bytes, PAGES * page);
}

MT_TEST(what_cannot_be_had_is_left)
{
	mt_pages_ready(NULL, 0);
}

MT_TEST_MAIN
