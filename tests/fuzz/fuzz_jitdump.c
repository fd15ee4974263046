/*
 * A jitdump from any bytes: it is copied in pieces, and addresses of all sizes are looked up for
 * several times.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/records/jitdump.h"
#include "symbols/jit/jitdump_index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t size;
};

static size_t read_input(void *context, uint64_t at, uint8_t *out, size_t size)
{
	const struct input *input = context;

	return mt_copy_at(input->data, input->size, at, out, size);
}

/* Looks up addresses of every length in bits, and reads everything about the code found there. */
static void ask(const struct mt_jitdump *dump, uint64_t time)
{
	uint32_t era = mt_jitdump_era(dump, time), line;
	volatile uint64_t sum = mt_jitdump_era_end(dump, era);

	for (unsigned int shift = 0; shift < 64; shift++) {
		uint64_t address = UINT64_MAX >> shift, offset;
		uint32_t code = mt_jitdump_find(dump, era, address);
		struct mt_jitdump_code found;
		const char *file;

		if (code == MT_JITDUMP_NONE)
			continue;
		mt_jitdump_get(dump, code, &found);
		sum += strlen(found.name);
		if (mt_jitdump_placed(dump, mt_jitdump_place(dump, code, address), &offset) !=
			    code ||
		    offset >= found.size)
			__builtin_trap();
		file = mt_jitdump_line(dump, code, offset, &line);
		sum += file ? strlen(file) : 0;
		sum += mt_jitdump_unwind(dump, code).size;
	}
	(void)sum;
}

static void read_all(const uint8_t *data, size_t size)
{
	struct mt_jitdump *dump = mt_jitdump_create(data, size, &(int64_t){5});

	for (unsigned int shift = 0; dump && shift < 64; shift += 7)
		ask(dump, UINT64_MAX >> shift);
	mt_jitdump_destroy(dump);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	struct mt_jitdump_copy copy = {
		.input = {&input, read_input}, .unwind = true, .lines = true};
	static uint8_t out[8192];
	size_t copied;

	read_all(data, size);
	while ((copied = mt_jitdump_copy(&copy, size, out, sizeof(out))))
		read_all(out, copied);
	return 0;
}
