/*
 * Makes FILE chunks of names: kernel symbols around sampled addresses, and names that processes
 * write for code they generate (perf maps, jitdumps), as these files grow and at the end. Used by
 * the carrying thread only. Reads files in slices, so memory is bounded for files of any size.
 */
#ifndef MT_RECORD_CARRY_EMBED_NAMES_H
#define MT_RECORD_CARRY_EMBED_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/carried/skeleton.h"

struct mt_embed_names;
struct mt_file_worker;
struct mt_file_record;
struct mt_mapped_file;
struct mt_text;

/* Receives the names. */
struct mt_embed_names_sink {
	void *context;
	/* Takes file->size bytes; false if there is no room left, which the sink has reported. */
	bool (*put)(void *context, uint64_t time, const struct mt_file_record *file,
		    const uint8_t *bytes);
	void (*problem)(void *context, const struct mt_text *path, const char *problem);
};

/* Kernel addresses sampled since the last call, in rising order. */
struct mt_kernel_news {
	uint64_t *addresses; /* NULL: none */
	size_t count;
	bool all; /* there were too many to keep, so carry all kernel symbols */
};

/* Borrows worker, which opens and reads files. NULL out of memory. */
struct mt_embed_names *mt_embed_names_create(const struct mt_skeleton_wish *wish,
					     const struct mt_embed_names_sink *sink,
					     struct mt_file_worker *worker);
void mt_embed_names_destroy(struct mt_embed_names *names);

/* Call when a process has its first sample, and with exec_time when it calls exec at that time. */
void mt_embed_names_see_process(struct mt_embed_names *names, int32_t pid, uint64_t exec_time);

/* Call when a process with a sample maps a jitdump. Takes fd. */
void mt_embed_names_see_jitdump(struct mt_embed_names *names, int fd,
				const struct mt_mapped_file *file);

/* Returns true if it is time for mt_embed_names_so_far(). */
bool mt_embed_names_is_due(const struct mt_embed_names *names);

/* Adds kernel addresses; mt_embed_names_so_far() carries their names. Takes news->addresses. */
void mt_embed_names_see_kernel(struct mt_embed_names *names, struct mt_kernel_news *news);

/* Carries the names written so far. `now` is the time of the pieces, on the recording's clock. */
void mt_embed_names_so_far(struct mt_embed_names *names, uint64_t now);

/* Carries the remaining names at the end of the recording. */
void mt_embed_names_rest(struct mt_embed_names *names, uint64_t now);

/* ---- The text of kernel symbols ---- */

/* Paths of the kernel's files. */
struct mt_kernel_files {
	const char *symbols; /* one symbol per line */
	const char *modules; /* loaded modules */
};

/* The files of this host. */
extern const struct mt_kernel_files mt_kernel_files;

/*
 * The functions of /proc/kallsyms, in memory. The kernel takes tens of milliseconds to write that
 * file, so it is read once per recording, and again only after modules were loaded or unloaded.
 */
struct mt_kernel_text { /* zero-initialised: nothing was read */
	char *lines;	/* functions only, complete lines */
	size_t size;	/* 0: no function has an address (kptr_restrict) */
	char *modules;	/* text of files->modules when lines was read */
};

/*
 * Reads the lines at the first call, and again if the loaded modules changed. False with errno.
 */
bool mt_kernel_text_update(struct mt_kernel_text *text, const struct mt_kernel_files *files);
void mt_kernel_text_deinit(struct mt_kernel_text *text);

#endif
