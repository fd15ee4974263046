/* Kernel symbols from any text, and a look-up around each address that the text may hold. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "formats/base/err.h"
#include "symbols/names/kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mt_kernel_symbols *symbols;
	struct mt_error *err = mt_kernel_symbols_parse((const char *)data, size, &symbols);
	volatile size_t length = 0;
	const char *name, *module;
	uint64_t offset;

	if (err) {
		mt_error_destroy(err);
		return 0;
	}
	for (unsigned int shift = 0; shift < 64; shift++) {
		name = mt_kernel_symbols_find(symbols, UINT64_MAX << shift, &offset, &module);
		length += name ? strlen(name) + (module ? strlen(module) : 0) : 0;
	}
	(void)length;
	mt_kernel_symbols_destroy(symbols);
	return 0;
}
