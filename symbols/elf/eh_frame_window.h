/*
 * Going through a file's .eh_frame of which little is in memory at a time: what is about to be
 * looked at is asked for first, and the few CIEs are read once.
 */
#ifndef MT_SYMBOLS_ELF_EH_FRAME_WINDOW_H
#define MT_SYMBOLS_ELF_EH_FRAME_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf/cfi_entry.h"

struct mt_elf_input;

#define MT_FRAME_CIES 16		   /* linkers leave a few different ones */
#define MT_FRAME_WINDOW ((size_t)16 << 10) /* bytes that are looked at at a time */

struct mt_eh_frame_window {
	struct mt_cfi_section section;
	const struct mt_elf_input *input; /* as for a skeleton, or NULL */
	uint8_t *room;			  /* MT_FRAME_WINDOW bytes, the caller's */
	const uint8_t *window;		  /* what of the section is in [from, to) */
	size_t from, to;
	struct {
		size_t offset; /* and 1; 0: empty */
		bool good;
		struct mt_cfi_cie cie;
	} cies[MT_FRAME_CIES];
};

/* The frame of an entry, as that of struct mt_cfi_entry. */
struct mt_frame_entry {
	size_t offset, next;
	size_t cie_offset; /* an FDE's CIE */
	bool terminator, cie;
};

/* The code that an FDE tells of. */
struct mt_frame_code {
	uint64_t start, end;
	bool plain;    /* the form that linkers write: start is 4 bytes, counted from themselves */
	bool absolute; /* start is an address */
};

/* The entry at an offset, as mt_cfi_entry_read() gives it. */
bool mt_frame_entry_read(struct mt_eh_frame_window *entries, size_t offset,
			 struct mt_frame_entry *out);

/* False for a terminator, a CIE, and an FDE that cannot be read. */
bool mt_frame_code_read(struct mt_eh_frame_window *entries, const struct mt_frame_entry *entry,
			struct mt_frame_code *out);

/* Copies the entry's bytes, entry->next - entry->offset of them. */
void mt_frame_entry_copy(struct mt_eh_frame_window *entries, const struct mt_frame_entry *entry,
			 uint8_t *to);

#endif
