/* record/probes/usdt_notes: .note.stapsdt, also damaged. */
#include "record/probes/usdt_notes.h"

#include "symbols/elf/elf.h"
#include "tests/unit/unit.h"

struct seen {
	unsigned count;
	struct mt_usdt_note last;
};

static bool see(void *context, const struct mt_usdt_note *note)
{
	struct seen *seen = context;

	seen->count++;
	seen->last = *note;
	return true;
}

static size_t put(uint8_t *to, uint32_t type, const char *strings, size_t strings_size)
{
	uint32_t head[3] = {8, (uint32_t)(24 + strings_size), type};
	uint64_t addresses[3] = {0x1000, 0x5000, 0x8000};
	size_t size = sizeof(head) + 8 + 24 + strings_size;

	memcpy(to, head, sizeof(head));
	memcpy(to + 12, "stapsdt", 8);
	memcpy(to + 20, addresses, 24);
	memcpy(to + 44, strings, strings_size);
	memset(to + size, 0, -size & 3);
	return size + (-size & 3);
}

MT_TEST(a_note_has_names_arguments_and_addresses)
{
	uint8_t bytes[256];
	size_t size = put(bytes, 1, "a\0b\0", 5);
	struct mt_span span = {.bytes = bytes};
	struct seen seen = {0};

	size += put(bytes + size, 3, "demo\0step\0008@%rdi -4@%esi", 25);
	span.size = size;
	MT_CHECK(mt_usdt_notes_read(&span, 0, see, &seen));
	MT_REQUIRE(MT_CHECK_EQ(seen.count, 1));
	MT_CHECK_STR(seen.last.provider, "demo");
	MT_CHECK_STR(seen.last.name, "step");
	MT_CHECK_STR(seen.last.arguments, "8@%rdi -4@%esi");
	MT_CHECK_EQ(seen.last.address, 0x1000);
	MT_CHECK_EQ(seen.last.semaphore, 0x8000);
	MT_CHECK(mt_usdt_notes_read(&span, 0x5100, see, &seen));
	MT_CHECK_EQ(seen.last.address, 0x1100);
	MT_CHECK_EQ(seen.last.semaphore, 0x8100);
}

MT_TEST(a_note_that_is_cut_anywhere_is_passed_over)
{
	uint8_t bytes[256];
	size_t whole = put(bytes, 3, "demo\0step\0", 11);
	struct seen seen = {0};

	for (size_t size = 0; size < whole - 1; size++) {
		struct mt_span span = {.bytes = bytes, .size = size};

		MT_CHECK(mt_usdt_notes_read(&span, 0, see, &seen));
	}
	MT_CHECK_EQ(seen.count, 0);
}

MT_TEST_MAIN
