/*
 * A file as bytes in memory that are read when they are first asked for, and stay as they were
 * read: who may write the file can neither change nor take away what was looked at, as in a
 * mapping, where a truncated file raises SIGBUS. Private to the ELF reader.
 */
#ifndef MT_SYMBOLS_ELF_ELF_COPY_H
#define MT_SYMBOLS_ELF_ELF_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_elf_copy;

/* Of the first `size` bytes of fd, which is duplicated. NULL out of memory or descriptors. */
struct mt_elf_copy *mt_elf_copy_create(int fd, size_t size);
void mt_elf_copy_destroy(struct mt_elf_copy *copy);

/* The first byte's place; what was not asked for reads as zeros. */
const uint8_t *mt_elf_copy_bytes(const struct mt_elf_copy *copy);

/*
 * Reads the range, within `size`: zeros where the file has nothing any more. False where more than
 * 256 MiB would be read in all. Thread-safe.
 */
bool mt_elf_copy_need(struct mt_elf_copy *copy, uint64_t offset, uint64_t size);

#endif
