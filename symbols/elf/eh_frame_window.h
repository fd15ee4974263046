/*
 * Reads a file's .eh_frame with only a window of it in memory: bytes are requested before use, and
 * the few CIEs are read once.
 */
#ifndef MT_SYMBOLS_ELF_EH_FRAME_WINDOW_H
#define MT_SYMBOLS_ELF_EH_FRAME_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf/cfi_entry.h"

struct mt_elf_input;

#define MT_FRAME_CIES 16		   /* linkers emit few different CIEs */
#define MT_FRAME_WINDOW ((size_t)16 << 10) /* bytes in memory at a time */

struct mt_eh_frame_window {
	struct mt_cfi_section section;
	const struct mt_elf_input *input; /* as for a skeleton, or NULL */
	uint8_t *room;			  /* the caller's MT_FRAME_WINDOW bytes */
	const uint8_t *window;		  /* the section's bytes [from, to) */
	size_t from, to;
	struct {
		size_t offset; /* offset of the CIE, plus 1; 0: empty */
		bool good;
		struct mt_cfi_cie cie;
	} cies[MT_FRAME_CIES];
};

/* The fields that every entry has, like struct mt_cfi_entry. */
struct mt_frame_entry {
	size_t offset, next;
	size_t cie_offset; /* of an FDE's CIE */
	bool terminator, cie;
};

/* The code that an FDE covers. */
struct mt_frame_code {
	uint64_t start, end;
	/* as linkers write it: start is 4 bytes, relative to its own address */
	bool plain;
	bool absolute; /* start is an absolute address */
};

/* The entry at an offset, as mt_cfi_entry_read() returns it. */
bool mt_frame_entry_read(struct mt_eh_frame_window *entries, size_t offset,
			 struct mt_frame_entry *out);

/* False for a terminator, a CIE or an unreadable FDE. */
bool mt_frame_code_read(struct mt_eh_frame_window *entries, const struct mt_frame_entry *entry,
			struct mt_frame_code *out);

/* Copies the entry's bytes, entry->next - entry->offset of them. */
void mt_frame_entry_copy(struct mt_eh_frame_window *entries, const struct mt_frame_entry *entry,
			 uint8_t *to);

#endif
