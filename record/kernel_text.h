/*
 * The text of /proc/kallsyms, as a file to read. The kernel takes tens of milliseconds to write it,
 * each time: a copy of the lines of functions is kept beside the images (record/image_cache.h), for
 * as long as it is the same boot with the same modules.
 */
#ifndef MT_RECORD_KERNEL_TEXT_H
#define MT_RECORD_KERNEL_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Where a kernel tells of itself. */
struct mt_kernel_files {
	const char *symbols; /* all lines */
	const char *modules; /* what of them are not the kernel's own, and where */
	const char *boot;    /* differs after each start */
};

/* This host's. */
extern const struct mt_kernel_files mt_kernel_files;

struct mt_kernel_text {
	int fd; /* -1: there is none; errno tells why */
	/* NULL, or what was read of a copy: all that is to be read, which the caller frees */
	uint8_t *bytes;
	size_t size;
};

/*
 * The text, the descriptor the caller's to close: what the kernel tells now, or of a copy what
 * struct mt_kernel_lines may want of it for these addresses. dir: a
 * folder that nobody else may write to, where a copy is or is made; or -1. Of the addresses, which
 * rise, those that a copy tells of come first, and *count becomes how many they are; the others
 * behind them rise, too. Not all that look like addresses have to be some.
 */
struct mt_kernel_text mt_kernel_text_open(const struct mt_kernel_files *files, int dir,
					  uint64_t *addresses, size_t *count);

#endif
