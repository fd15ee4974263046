/*
 * Reads the static probes of a file from .note.stapsdt (sys/sdt.h of systemtap). Pure; the bytes
 * are hostile input.
 */
#ifndef MT_RECORD_PROBES_USDT_NOTES_H
#define MT_RECORD_PROBES_USDT_NOTES_H

#include <stdbool.h>
#include <stdint.h>

struct mt_elf;
struct mt_span;

/* One site of a probe; its strings are borrowed from the file. */
struct mt_usdt_note {
	const char *provider, *name;
	const char *arguments; /* see usdt_arguments.h */
	uint64_t address;      /* link-time */
	uint64_t semaphore;    /* link-time address of a u16; 0: none */
};

/*
 * Calls each for every site, in the file's order, until it returns false. Returns false in that
 * case.
 */
bool mt_usdt_notes_each(struct mt_elf *elf,
			bool (*each)(void *context, const struct mt_usdt_note *note),
			void *context);

/*
 * The same for the bytes of a section; base is the address of .stapsdt.base, 0: unknown. Strings
 * are borrowed from the bytes.
 */
bool mt_usdt_notes_read(const struct mt_span *notes, uint64_t base,
			bool (*each)(void *context, const struct mt_usdt_note *note),
			void *context);

#endif
