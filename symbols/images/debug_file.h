/* Symbols and lines that an ELF file has in another file, or compressed inside. */
#ifndef MT_SYMBOLS_IMAGES_DEBUG_FILE_H
#define MT_SYMBOLS_IMAGES_DEBUG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_elf;
struct mt_error;

/* The contents of .gnu_debuglink. */
struct mt_debug_link {
	const char *name; /* file name without directory, borrowed from the file */
	uint32_t crc;	  /* of the whole debug file */
	/* mt_elf_open_file(), or a replacement */
	struct mt_error *(*open)(const char *path, struct mt_elf **out);
};

/* False without the section, or if it has no valid file name. */
bool mt_debug_link_read(struct mt_elf *elf, struct mt_debug_link *out);

/*
 * Opens the debug file where gdb looks: in the directory of the file at `path` and its .debug; if
 * `directory` is not NULL, only in the same path below `directory`. *out is unchanged if there is
 * no file; a file whose checksum or build id differs is an error. The caller owns *out and
 * *found_at.
 */
struct mt_error *mt_debug_link_open(const struct mt_debug_link *link, const struct mt_elf *elf,
				    const char *path, const char *directory, struct mt_elf **out,
				    char **found_at);

/*
 * Opens the ELF file that .gnu_debugdata holds, compressed by xz: the symbols of static functions.
 * If there is no such section, *out is unchanged. *out borrows *bytes, which the caller frees after
 * *out.
 */
struct mt_error *mt_mini_symbols_open(struct mt_elf *elf, const char *name, struct mt_elf **out,
				      uint8_t **bytes);

/*
 * Decompresses xz with all its streams, to at most `max` bytes. Any damage is an error: half a
 * symbol table would name the wrong functions. A file declares the dictionary size that it needs,
 * up to 4 GiB; more than xz itself ever uses is refused. The caller frees *out.
 */
struct mt_error *mt_xz_decode(const void *bytes, size_t size, size_t max, uint8_t **out,
			      size_t *out_size);

#endif
