/*
 * Reads the static probes of a file from .note.stapsdt (sys/sdt.h of systemtap), and converts the
 * text of their arguments ("-4@%edi 8@-16(%rbp) 4@$5") to the kernel's fetch language. Pure; bytes
 * and text are hostile input.
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
	const char *arguments; /* see mt_usdt_argument_get() */
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

/* An argument of a static probe. */
struct mt_usdt_argument {
	char text[64];	/* as in the note, truncated to this size */
	char fetch[64]; /* "" if the kernel cannot fetch it: scaled indices, floating point, names
			 */
	char type[4];	/* u8 to s64 */
};

/* Returns argument i, counted from 0. False if there are fewer arguments. */
bool mt_usdt_argument_get(const char *arguments, unsigned i, struct mt_usdt_argument *out);

/*
 * Returns the kernel's name of a register: di for rdi, edi, di and dil. NULL if it is not a
 * register.
 */
const char *mt_usdt_register(const char *name);

#endif
