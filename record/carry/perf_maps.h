/*
 * /tmp/perf-PID.map, in which a process names its just-in-time compiled code. The file is opened in
 * the process's mount namespace, under the pid that the process has there, and kept open, so that
 * it can be read after the process has ended.
 *
 * The file is untrusted. It must be all of the following, since other files could give wrong names:
 *
 * 1. a regular file, not through a symbolic link;
 * 2. owned by the process's user or root;
 * 3. written since the process began, not by an earlier process of the same pid.
 */
#ifndef MT_RECORD_CARRY_PERF_MAPS_H
#define MT_RECORD_CARRY_PERF_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct mt_file_worker;
struct mt_perf_maps;

struct mt_perf_map_file {
	int32_t pid;
	int fd;
	char path[40]; /* as the process sees it */
	struct stat status;
	uint64_t carried;  /* bytes carried; the caller updates this and the fields below */
	bool in_pieces;	   /* a piece was carried */
	uint64_t time;	   /* time of the process's last piece, of this or an earlier file */
	unsigned int anew; /* how often the file was rewritten since the first piece */
	bool replaces;	   /* the next piece replaces all earlier ones */
	uint64_t read;	   /* after mt_perf_maps_take(): the time for the last piece */
};

/* Borrows worker. NULL out of memory. */
struct mt_perf_maps *mt_perf_maps_create(struct mt_file_worker *worker);
void mt_perf_maps_destroy(struct mt_perf_maps *maps);

/* Call when a process has a sample. Searches for its file now, and later at intervals. */
void mt_perf_maps_add(struct mt_perf_maps *maps, int32_t pid);

/*
 * Searches for the files of processes that are due; `now` is ns of CLOCK_MONOTONIC. Forgets a
 * process that has ended without a file.
 */
void mt_perf_maps_look(struct mt_perf_maps *maps, uint64_t now);

/* Returns the number of processes not forgotten. */
size_t mt_perf_maps_count(const struct mt_perf_maps *maps);

/*
 * Returns the next file that is due and whose size is not `carried`, with its current status,
 * borrowed until the next call. Files are due at intervals that grow from 1 to 60 s. Returns NULL
 * after the last file, and then starts at the first file again.
 */
struct mt_perf_map_file *mt_perf_maps_next_changed(struct mt_perf_maps *maps, uint64_t now);

/* Returns the time for a new piece: an odd number near `time`, after the time of the last piece. */
uint64_t mt_perf_map_piece_time(const struct mt_perf_map_file *file, uint64_t time);

/*
 * Takes the file of a process at an exec; the caller closes out->fd. False if there is no file.
 * Later, a new file of the process is searched for. The record of an exec may arrive after later
 * pieces were read. Readers distinguish the carried files and pieces of a process by time, so files
 * get even times, pieces get odd times, and no time is used twice.
 */
bool mt_perf_maps_take(struct mt_perf_maps *maps, int32_t pid, uint64_t time,
		       struct mt_perf_map_file *out);

/* Call after carrying a taken file, with the time of its last piece. */
void mt_perf_maps_keep_time(struct mt_perf_maps *maps, int32_t pid, uint64_t time);

/* Takes the file of the next process at the end of the recording; false after the last process. */
bool mt_perf_maps_take_last(struct mt_perf_maps *maps, uint64_t time, struct mt_perf_map_file *out);

#endif
