/*
 * A file as bytes in memory, which are read when they are first requested and then stay unchanged.
 * A process that writes the file can neither change nor remove bytes that were read. In a mapping,
 * a truncated file would raise SIGBUS. Private to the ELF reader.
 */
#ifndef MT_SYMBOLS_ELF_ELF_COPY_H
#define MT_SYMBOLS_ELF_ELF_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_elf_copy;

/* Copies the first `size` bytes of fd, which is duplicated. NULL out of memory or descriptors. */
struct mt_elf_copy *mt_elf_copy_create(int fd, size_t size);
void mt_elf_copy_destroy(struct mt_elf_copy *copy);

/* The start of the bytes; bytes not requested yet read as zeros. */
const uint8_t *mt_elf_copy_bytes(const struct mt_elf_copy *copy);

/*
 * Reads the range, within `size`; bytes that the file does not have any more are zeros. False if
 * more than 256 MiB would be read in total. Thread-safe.
 */
bool mt_elf_copy_need(struct mt_elf_copy *copy, uint64_t offset, uint64_t size);

#endif
