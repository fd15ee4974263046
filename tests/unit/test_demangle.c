/* Demangled names, and the bound on the cost of a name. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "symbols/names/demangle.h"
#include "tests/unit/unit.h"

static void check_demangled(const char *name, const char *expected)
{
	MT_CLEANUP_FREE char *demangled = mt_demangle(name);

	MT_CHECK_STR(demangled, expected);
}

MT_TEST(names_are_demangled_as_perf_does)
{
	check_demangled("_Z4growILi15ELi0EEvm", "grow<15, 0>");
	check_demangled("_ZN12XOREncryptor12encryptChunkERKSsS1_", "XOREncryptor::encryptChunk");
	check_demangled("_ZNSt6vectorIiSaIiEE9push_backERKi",
			"std::vector<int, std::allocator<int> >::push_back");
	check_demangled("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
			"core::fmt::Formatter::pad");
	check_demangled("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	check_demangled("_Z3foov.cold", "foo");
	check_demangled("main", NULL);
	check_demangled("", NULL);
	check_demangled("_", NULL);
	check_demangled("_Z", NULL);
	check_demangled("_ZN", NULL);
}

MT_TEST(hostile_names_end)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	MT_CLEANUP_FREE char *deep = malloc(100001);
	char bomb[1024];
	int length;

	MT_REQUIRE(deep);
	memset(deep, 'P', 100000);
	memcpy(deep, "_Z1f", 4);
	deep[100000] = '\0';
	check_demangled(deep, NULL);
	deep[15000] = '\0';
	check_demangled(deep, NULL);
	/* each template argument prints the previous one twice: 2 ** 33 bytes and more */
	length = snprintf(bomb, sizeof(bomb), "_Z1fI1AIiiE");
	for (int i = 1; i <= 33; i++)
		length += snprintf(bomb + length, sizeof(bomb) - (size_t)length, "S0_IS%c_S%c_E",
				   digits[i], digits[i]);
	snprintf(bomb + length, sizeof(bomb) - (size_t)length, "Evv");
	check_demangled(bomb, NULL);
}

/*
 * A name of Rust that prints one long identifier 2,048 times, by back references to tuples of two.
 * The identifier is in Punycode, which libiberty unpacks into separate memory.
 */
static void make_rust_bomb(char *bomb, size_t size)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	int at = snprintf(bomb, size, "_RINvC1a1fNtC1au4004_%04000d_kva", 0);
	int target = 8; /* of the back references: the last type, counted after "_R" */

	for (int i = 0; i < 11; i++) {
		int start = at - 2, number = target - 1;
		char reference[8];

		snprintf(reference, sizeof(reference), "B%c%c%c_", digits[number / 62 / 62],
			 digits[number / 62 % 62], digits[number % 62]);
		at += snprintf(bomb + at, size - (size_t)at, "T%s%sE", reference, reference);
		target = start;
	}
	snprintf(bomb + at, size - (size_t)at, "E");
}

MT_TEST(a_name_that_is_given_up_leaves_no_memory_after)
{
	char bomb[8192];
	size_t before;

	make_rust_bomb(bomb, sizeof(bomb));
	check_demangled(bomb, NULL);
	before = mallinfo2().uordblks;
	for (int i = 0; i < 100; i++)
		check_demangled(bomb, NULL);
	MT_CHECK_EQ(mallinfo2().uordblks, before);
}

MT_TEST_MAIN
