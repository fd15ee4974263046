/* report/names/host_kernel: a different release, build id or load address is a different kernel. */
#include "report/names/host_kernel.h"

#include <inttypes.h>
#include <stdint.h>
#include <sys/utsname.h>

#include "formats/base/cleanup.h"
#include "tests/unit/unit.h"

/* "_text ADDRESS" as in /proc/kallsyms; false if the kernel hides addresses. */
static bool first_symbol(char out[64], uint64_t shift)
{
	MT_CLEANUP_FCLOSE FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], name[256];
	uint64_t address;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64 " %*c %255s", &address, name) == 2 &&
		    !strcmp(name, "_text"))
			return snprintf(out, 64, "_text %" PRIx64, address + shift) > 0 && address;
	}
	return false;
}

MT_TEST(this_kernel_is_this_kernel)
{
	struct utsname host;
	char symbol[64], elsewhere[64];

	if (uname(&host) || !first_symbol(symbol, 0) || !first_symbol(elsewhere, 0x200000))
		MT_SKIP("/proc/kallsyms has no addresses for this user");
	MT_CHECK(mt_host_kernel_is(host.release, NULL, symbol));
	MT_CHECK(!mt_host_kernel_is(host.release, NULL, elsewhere));
	MT_CHECK(!mt_host_kernel_is("3.4.5-other", NULL, symbol));
	MT_CHECK(!mt_host_kernel_is(NULL, NULL, symbol));
	MT_CHECK(!mt_host_kernel_is(host.release, "00112233", symbol));
}

MT_TEST(what_makes_no_sense_is_no_kernel)
{
	struct utsname host;

	MT_REQUIRE(!uname(&host));
	MT_CHECK(!mt_host_kernel_is(host.release, NULL, NULL));
	MT_CHECK(!mt_host_kernel_is(host.release, NULL, ""));
	MT_CHECK(!mt_host_kernel_is(host.release, NULL, "_text"));
	MT_CHECK(!mt_host_kernel_is(host.release, NULL, "_text 0"));
}

MT_TEST_MAIN
