/*
 * Arguments of static probes: converts the text of .note.stapsdt ("-4@%edi 8@-16(%rbp) 4@$5") to
 * the kernel's fetch language. Pure; the text is hostile input.
 */
#ifndef MT_RECORD_PROBES_USDT_ARGUMENTS_H
#define MT_RECORD_PROBES_USDT_ARGUMENTS_H

#include <stdbool.h>

struct mt_usdt_argument {
	char text[64];	/* as in the note, truncated to this size */
	char fetch[64]; /* "" if the kernel cannot fetch it: scaled indices, floating point, names
			 */
	char type[4];	/* u8 to s64 */
};

/* Returns argument i, counted from 0. False if there are fewer arguments. */
bool mt_usdt_argument_get(const char *arguments, unsigned i, struct mt_usdt_argument *out);

/*
 * Returns the kernel's name of a register: di for rdi, edi, di and dil. NULL if it is no register.
 */
const char *mt_usdt_register(const char *name);

#endif
