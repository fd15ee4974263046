/*
 * record/rings/prefault: where a stack's mapping continues, and touching a page of another process.
 */
#include "record/rings/prefault.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "record/proc/procfs.h"
#include "tests/unit/unit.h"

static const char maps[] =
	"555500000000-555500001000 r-xp 00000000 fe:00 12                         /bin/x\n"
	"7ffe00000000-7ffe00021000 rw-p 00000000 00:00 0                          [stack]\n"
	"7ffe00021000-7ffe00022000 r--p 00000000 00:00 0                          [vvar]\n";

MT_TEST(a_hole_is_within_one_mapping)
{
	MT_CHECK_EQ(mt_prefault_continues(maps, 0x7ffe00020000), MT_PREFAULT_CONTINUES);
	MT_CHECK_EQ(mt_prefault_continues(maps, 0x7ffe00001000), MT_PREFAULT_CONTINUES);
	MT_CHECK_EQ(mt_prefault_continues(maps, 0x7ffe00021000),
		    MT_PREFAULT_ENDS); /* the end of the stack, whatever mapping follows */
	MT_CHECK_EQ(mt_prefault_continues(maps, 0x7ffe00000000),
		    MT_PREFAULT_ENDS); /* the byte before is not mapped */
	MT_CHECK_EQ(mt_prefault_continues(maps, 0x7fff00000000), MT_PREFAULT_ENDS);
	MT_CHECK_EQ(mt_prefault_continues(maps, 0x555500000800), MT_PREFAULT_FILE);
	MT_CHECK_EQ(mt_prefault_continues(maps, 0x555500001000), MT_PREFAULT_ENDS);
	MT_CHECK_EQ(mt_prefault_continues("", 4096), MT_PREFAULT_ENDS);
	MT_CHECK_EQ(mt_prefault_continues("no maps", 4096), MT_PREFAULT_ENDS);
}

/* If the kernel supports the query, its answer equals that of the text. */
MT_TEST(asking_is_as_good_as_reading)
{
	MT_CLEANUP_CLOSE int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char *pages =
		mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MT_CLEANUP_FREE char *text = NULL;

	MT_REQUIRE(pages != MAP_FAILED && fd >= 0);
	MT_REQUIRE(!munmap(pages + 4 * 4096, 4096));
	MT_REQUIRE(!mprotect(pages + 6 * 4096, 4096, PROT_READ));
	text = mt_read_text("/proc/self/maps", NULL);
	MT_REQUIRE(text);
	for (int i = 0; i <= 8; i++) {
		uintptr_t address = (uintptr_t)pages + (uintptr_t)i * 4096;
		enum mt_prefault_answer answer = mt_prefault_ask(fd, address);

		if (answer == MT_PREFAULT_UNKNOWN) {
			MT_CHECK_EQ(errno, ENOTTY);
			break;
		}
		MT_CHECK_EQ(answer, mt_prefault_continues(text, address));
		if (i == 2)
			MT_CHECK_EQ(answer, MT_PREFAULT_CONTINUES);
		if (i == 4 || i == 5 || i == 6)
			MT_CHECK_EQ(answer, MT_PREFAULT_ENDS);
	}
	MT_CHECK(mt_prefault_ask(fd, 0) != MT_PREFAULT_CONTINUES);
	munmap(pages, 8 * 4096);
}

static bool present(pid_t pid, const char *page)
{
	uint64_t entry = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	file = fopen(path, "r");
	if (!file || fseek(file, (long)((uintptr_t)page / 4096 * 8), SEEK_SET) ||
	    fread(&entry, 8, 1, file) != 1)
		entry = 0;
	if (file)
		fclose(file);
	return entry >> 63;
}

MT_TEST(a_hole_is_touched_once_and_an_end_never)
{
	struct mt_prefault *prefault;
	struct mt_prefault_counts counts = {0};
	char *pages =
		mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	MT_REQUIRE(pages != MAP_FAILED);
	MT_REQUIRE(!munmap(pages + 3 * 4096, 4096));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	MT_REQUIRE(pid > 0);
	MT_CHECK(!mt_prefault_create(&prefault));
	for (int i = 0; i < 3; i++) {
		mt_prefault_request(prefault, (uint32_t)pid, (uintptr_t)pages + 4096);
		mt_prefault_request(prefault, (uint32_t)pid, (uintptr_t)pages + 3 * 4096);
	}
	for (int i = 0; i < 1000 && counts.faulted_in + counts.ends + counts.refused < 2; i++) {
		usleep(10000);
		counts = mt_prefault_counts(prefault);
	}
	mt_prefault_destroy(prefault);
	MT_CHECK_EQ(counts.ends, 1);
	MT_CHECK_EQ(counts.faulted_in + counts.refused, 1);
	MT_CHECK_EQ(present(pid, pages + 4096), counts.faulted_in);
	MT_CHECK(!present(pid, pages + 2 * 4096));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(pages, 3 * 4096);
}

/* A child that waits; it has the mappings of this process. */
static pid_t start_target(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	return pid;
}

static void end_target(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The file system of a file need not answer. */
MT_TEST(a_page_of_a_file_is_not_touched)
{
	char path[] = "/tmp/mt-heal-XXXXXX";
	MT_CLEANUP_CLOSE int fd = mkstemp(path);
	struct mt_prefault_counts counts = {0};
	struct mt_prefault *prefault;
	char *pages;
	pid_t pid;

	MT_REQUIRE(fd >= 0 && !unlink(path) && !ftruncate(fd, 4 * 4096));
	pages = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	MT_REQUIRE(pages != MAP_FAILED);
	pid = start_target();
	MT_REQUIRE(pid > 0);
	MT_CHECK(!mt_prefault_create(&prefault));
	mt_prefault_request(prefault, (uint32_t)pid, (uintptr_t)pages + 4096);
	for (int i = 0; i < 1000 && !(counts.faulted_in + counts.ends + counts.refused); i++) {
		usleep(10000);
		counts = mt_prefault_counts(prefault);
	}
	mt_prefault_destroy(prefault);
	MT_CHECK_EQ(counts.refused, 1);
	MT_CHECK(!present(pid, pages + 4096));
	end_target(pid);
	munmap(pages, 4 * 4096);
}

/* Registers memory whose page faults this test never answers. */
static int keep_back(void *pages, size_t size)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register registered = {.range = {(uintptr_t)pages, size},
					     .mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd >= 0 && !ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &registered))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The child registers its own memory: userfaultfd does not survive fork. */
MT_TEST(a_page_that_never_comes_does_not_keep_from_the_end)
{
	struct mt_prefault *prefault;
	char *pages =
		mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd, status = 0;
	pid_t pid;

	MT_REQUIRE(pages != MAP_FAILED);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fd = keep_back(pages, 4 * 4096);
		if (fd < 0 || mt_prefault_create(&prefault))
			_exit(2);
		mt_prefault_request(prefault, (uint32_t)getpid(), (uintptr_t)pages + 4096);
		usleep(300000);
		mt_prefault_destroy(prefault);
		_exit(1);
	}
	for (int i = 0; i < 1000 && !waitpid(pid, &status, WNOHANG); i++)
		usleep(10000);
	if (!MT_CHECK(WIFEXITED(status) && WEXITSTATUS(status)))
		end_target(pid);
	munmap(pages, 4 * 4096);
}

MT_TEST_MAIN
