/* Finds the places in one file that a probe's symbol names. */
#ifndef MT_RECORD_PROBES_PROBE_SITES_H
#define MT_RECORD_PROBES_PROBE_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_cfi;
struct mt_elf;
struct mt_error;
struct mt_probe_word;

struct mt_probe_site {
	char *name;	    /* name of the function or of the static probe */
	char *arguments;    /* arguments of a static probe, or NULL */
	uint64_t address;   /* link-time address */
	uint64_t size;	    /* size of the function; 0: unknown */
	uint64_t offset;    /* file offset */
	uint64_t semaphore; /* file offset of the semaphore; 0: none */
};

struct mt_probe_sites {
	MT_ARRAY(struct mt_probe_site) items;
};

/*
 * Appends the sites of a word in a file: each address once; for a pattern, every function that
 * matches. Symbols come from .symtab, .dynsym, .gnu_debugdata, or the debug file of the build id or
 * of .gnu_debuglink. path names the file in messages and is where debug files are searched.
 * MT_ERR_NOT_FOUND: the file has no such symbol.
 */
struct mt_error *mt_probe_sites_find(struct mt_elf *elf, const char *path,
				     const struct mt_probe_word *word, struct mt_probe_sites *out);

/*
 * Returns true if a probe can be set at a link-time address. The address must be in the part of an
 * executable segment that the file contains, and in a code section if the file has sections. It
 * must not be inside a function whose start the unwind information gives, because it could be in
 * the middle of an instruction. cfi: of the file, or NULL.
 */
bool mt_is_function_start(struct mt_elf *elf, struct mt_cfi *cfi, uint64_t address);
void mt_probe_sites_deinit(struct mt_probe_sites *sites);

#endif
