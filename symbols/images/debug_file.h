/* Symbols and lines that an ELF file says are elsewhere, or that it has packed. */
#ifndef MT_SYMBOLS_IMAGES_DEBUG_FILE_H
#define MT_SYMBOLS_IMAGES_DEBUG_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct mt_elf;
struct mt_error;

/* What .gnu_debuglink says. */
struct mt_debug_link {
	const char *name; /* borrowed from the file; without a directory */
	uint32_t crc;	  /* of all of the debug file */
};

/* False where there is no such section, or what it says is no file's name. */
bool mt_debug_link_read(struct mt_elf *elf, struct mt_debug_link *out);

/*
 * Looks where gdb does: beside the file at `path`, in .debug there, and with a directory in
 * DIRECTORY/PATH's own directory alone. *out stays as it was where there is none; a file whose
 * checksum or build id differs is an error. Both results are the caller's.
 */
struct mt_error *mt_debug_link_open(const struct mt_debug_link *link, const struct mt_elf *elf,
				    const char *path, const char *directory, struct mt_elf **out,
				    char **found_at);

/*
 * The file that .gnu_debugdata holds, packed by xz: the symbols of static functions. *out stays as
 * it was without the section; it borrows *bytes, which is the caller's to free after it.
 */
struct mt_error *mt_mini_symbols_open(struct mt_elf *elf, const char *name, struct mt_elf **out,
				      uint8_t **bytes);

#endif
