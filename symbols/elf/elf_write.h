/*
 * Encodes little-endian ELF headers of either class (wide: 64 bits), for skeletons.
 */
#ifndef MT_SYMBOLS_ELF_ELF_WRITE_H
#define MT_SYMBOLS_ELF_ELF_WRITE_H

#include <stdbool.h>
#include <stdint.h>

struct mt_elf_section_header;
struct mt_segment;

/* Each writes at `at` and returns the end. */
uint8_t *mt_elf_put_word(bool wide, uint8_t *at, uint64_t value);
uint8_t *mt_elf_put_segment(bool wide, const struct mt_segment *s, uint8_t *at);
uint8_t *mt_elf_put_section_header(bool wide, const struct mt_elf_section_header *s, uint8_t *at);

#endif
