/* record/probes/probe_sites: a probe is placed at the start of a function, in code. */
#include "record/probes/probe_sites.h"

#include <stdint.h>

#include "formats/base/cleanup.h"
#include "symbols/elf/elf.h"
#include "tests/unit/unit.h"
#include "unwind/cfi/cfi.h"

int test_probe_sites_function(int x);
__attribute__((noinline)) int test_probe_sites_function(int x)
{
	return x * 3 + 7;
}
int test_probe_sites_data = 1;

/* The link-time address of a symbol of this program. */
static uint64_t address_of(struct mt_elf *elf, const char *name)
{
	struct mt_elf_symbol symbol;

	for (size_t i = 0; i < mt_elf_symbol_count(elf, false); i++) {
		if (mt_elf_symbol(elf, false, i, &symbol) && !strcmp(symbol.name, name))
			return symbol.value;
	}
	return 0;
}

MT_TEST(a_function_begins_where_its_unwind_information_does)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	MT_CLEANUP(mt_cfi_destroy_p) struct mt_cfi *cfi = NULL;
	uint64_t function, data;

	MT_REQUIRE(MT_CHECK_OK(mt_elf_read_named("/proc/self/exe", &elf)));
	cfi = mt_cfi_of_elf(elf);
	function = address_of(elf, "test_probe_sites_function");
	data = address_of(elf, "test_probe_sites_data");
	MT_REQUIRE(function && data && cfi);
	MT_CHECK(mt_is_function_start(elf, cfi, function));
	MT_CHECK(!mt_is_function_start(elf, cfi, function + 1));
	MT_CHECK(!mt_is_function_start(elf, cfi, data));
	MT_CHECK(!mt_is_function_start(elf, NULL, data));
	MT_CHECK(!mt_is_function_start(elf, cfi, UINT64_MAX));
}

MT_TEST_MAIN
