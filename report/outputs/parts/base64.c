/* Writes four digits for each three bytes. */
#include "report/outputs/parts/base64.h"

#include <stdint.h>

enum {
	GROUP = 3,
};

void mt_base64_write(const unsigned char *bytes, size_t size, FILE *to)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += GROUP) {
		size_t left = size - i;
		uint32_t group = (uint32_t)bytes[i] << 16 |
				 (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				 (left > 2 ? bytes[i + 2] : 0);

		putc_unlocked(digits[group >> 18], to);
		putc_unlocked(digits[group >> 12 & 63], to);
		putc_unlocked(left > 1 ? digits[group >> 6 & 63] : '=', to);
		putc_unlocked(left > 2 ? digits[group & 63] : '=', to);
	}
}
