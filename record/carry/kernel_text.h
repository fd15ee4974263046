/*
 * The functions of /proc/kallsyms, in memory. The kernel takes tens of milliseconds to write that
 * file, so it is read once per recording, and again only after modules were loaded or unloaded.
 */
#ifndef MT_RECORD_CARRY_KERNEL_TEXT_H
#define MT_RECORD_CARRY_KERNEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Paths of the kernel's files. */
struct mt_kernel_files {
	const char *symbols; /* one symbol per line */
	const char *modules; /* loaded modules */
};

/* This host's. */
extern const struct mt_kernel_files mt_kernel_files;

struct mt_kernel_text { /* zero-initialised: nothing is read */
	char *lines;	/* functions only, complete lines */
	size_t size;	/* 0: none has an address (kptr_restrict) */
	char *modules;	/* text of files->modules when lines was read */
};

/*
 * Reads the lines at the first call, and again if the loaded modules changed. False with errno.
 */
bool mt_kernel_text_update(struct mt_kernel_text *text, const struct mt_kernel_files *files);
void mt_kernel_text_deinit(struct mt_kernel_text *text);

#endif
