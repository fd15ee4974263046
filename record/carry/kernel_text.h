/*
 * The functions of /proc/kallsyms, in memory: the kernel takes tens of milliseconds to write that
 * text, so that it is read once a recording, and again only where modules have come or gone.
 */
#ifndef MT_RECORD_CARRY_KERNEL_TEXT_H
#define MT_RECORD_CARRY_KERNEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Where a kernel tells of itself. */
struct mt_kernel_files {
	const char *symbols; /* one line each */
	const char *modules; /* those that are loaded */
};

/* This host's. */
extern const struct mt_kernel_files mt_kernel_files;

struct mt_kernel_text { /* zero-initialised: nothing is read */
	char *lines;	/* of functions alone, whole lines */
	size_t size;	/* 0: none has an address (kptr_restrict) */
	char *modules;	/* the text of that file when the lines were read */
};

/* Reads the lines, unless they are those of the modules loaded now. False with errno. */
bool mt_kernel_text_update(struct mt_kernel_text *text, const struct mt_kernel_files *files);
void mt_kernel_text_deinit(struct mt_kernel_text *text);

#endif
