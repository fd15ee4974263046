/* The checksums that xz files and .gnu_debuglink have. */
#ifndef MT_SYMBOLS_CRC_H
#define MT_SYMBOLS_CRC_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 as of IEEE 802.3, and CRC-64 as of ECMA-182, reflected; of bytes at once. */
uint32_t mt_crc32(const void *bytes, size_t size);
uint64_t mt_crc64(const void *bytes, size_t size);

#endif
