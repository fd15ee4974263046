/* record/ready and formats/base/pages: memory that is there before it is used. */
#include "record/ready.h"

#include <pthread.h>
#include <stdio.h>
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

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

/* A sanitizer's own memory would come with faults. */
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
	mt_pages_ready(bytes + 3, (PAGES - 1) * page); /* from within a page into the last one */
	MT_CHECK_EQ(bytes[5 * page + 7], 42);
	before = faults();
	write_pages(bytes, page);
	MT_CHECK(faults() - before < 4); /* those of counting */
	munmap(bytes, PAGES * page);
}

MT_TEST(what_cannot_be_had_is_left)
{
	mt_pages_ready(NULL, 0);
}

/* Everything that is loaded, what is read-only behind the loader, too: none of it may be hurt. */
MT_TEST(code_and_data_and_a_stack_can_be_made_ready)
{
	/* where memory is guarded, a page begins in what guards it */
	static const _Alignas(4096) __attribute__((used)) char in_text[2 * 4096 - 64] = "text";
	static char in_data[3 * 4096] = "data";
	static char in_bss[3 * 4096];

	mt_ready_code();
	mt_ready_stack();
	mt_ready_local();
	MT_CHECK(!strcmp(in_text, "text"));
	MT_CHECK(!strcmp(in_data, "data"));
	MT_CHECK(!in_bss[0] && !in_bss[sizeof(in_bss) - 1]);
}

/* KiB of the C library's code that are not there; -1 where it has none of its own. */
static long absent_of_library(void)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	char line[512];
	bool code = false;
	long size = 0, there, absent = -1;

	while (maps && fgets(line, sizeof(line), maps)) {
		if (strstr(line, " r-xp "))
			code = strstr(line, "/libc.so") || strstr(line, "/libc-2");
		else if (strstr(line, " r--p ") || strstr(line, " rw-p "))
			code = false;
		else if (code && sscanf(line, "Rss: %ld", &there) == 1)
			absent = size - there;
		else
			(void)sscanf(line, "Size: %ld", &size);
	}
	if (maps)
		fclose(maps);
	return absent;
}

/* However this is linked: LDFLAGS=-no-pie, too. */
MT_TEST(the_code_of_the_c_library_is_made_ready)
{
	mt_ready_code();
	MT_CHECK(absent_of_library() <= 0);
}

static void *make_stack_ready(void *ready)
{
	mt_ready_stack();
	*(bool *)ready = true;
	return NULL;
}

/* A low ulimit -s makes threads' stacks as small. */
MT_TEST(a_stack_that_is_smaller_is_made_ready_as_far_as_it_goes)
{
	bool ready = false;
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	MT_REQUIRE(!pthread_attr_setstacksize(&attr, 24 << 10));
	MT_REQUIRE(!pthread_create(&thread, &attr, make_stack_ready, &ready));
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	MT_CHECK(ready);
}

MT_TEST_MAIN
