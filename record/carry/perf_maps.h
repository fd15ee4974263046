/*
 * /tmp/perf-PID.map, in which a process with a just-in-time compiler names its code: found in the
 * process' own mount namespace by the number it has itself, and kept open, so that it can be read
 * when the process is gone.
 *
 * What stands there is another's: only a regular file is taken, that the process' user or root
 * owns, that no symbolic link leads to, and that was written since the process began: what an
 * earlier one of that number left would give wrong names.
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
	char path[40]; /* as the process names it */
	struct stat status;
	uint64_t carried;  /* bytes from its front that are; the caller's, 0 at first, as are: */
	bool in_pieces;	   /* a piece of it is */
	uint64_t time;	   /* of the process' last piece, of this file or one before */
	unsigned int anew; /* how often it was written anew since the first piece */
	bool replaces;	   /* what is carried next takes the place of what was before */
	uint64_t read;	   /* once taken: the time that it is told to be of */
};

/* NULL out of memory. */
struct mt_perf_maps *mt_perf_maps_create(struct mt_file_worker *worker);
void mt_perf_maps_destroy(struct mt_perf_maps *maps);

/* A process has a sample: looks for its file, and again as time goes by. */
void mt_perf_maps_add(struct mt_perf_maps *maps, int32_t pid);

/*
 * Looks for the files that are due; now is CLOCK_MONOTONIC's, ns. A process that is found to have
 * ended, and to have left none, is forgotten.
 */
void mt_perf_maps_look(struct mt_perf_maps *maps, uint64_t now);

/* How many processes are remembered. */
size_t mt_perf_maps_count(const struct mt_perf_maps *maps);

/*
 * The next of those files that is due, at pauses from 1 to 60 s, and that has not just `carried`
 * bytes; its status is that of now, and it is borrowed until the next call. NULL, and from the
 * first on again, behind the last.
 */
struct mt_perf_map_file *mt_perf_maps_next_changed(struct mt_perf_maps *maps, uint64_t now);

/* When a piece is told to be read: about then, but later than the last one, and odd. */
uint64_t mt_perf_map_piece_time(const struct mt_perf_map_file *file, uint64_t time);

/*
 * Takes the file of a process, which is looked for anew from then on; false where it has none. The
 * caller closes out->fd. An exec is told of after pieces that were read behind it, perhaps: times
 * of files are even, those of pieces odd, and none is given twice, since a process' contents are
 * told apart by them.
 */
bool mt_perf_maps_take(struct mt_perf_maps *maps, int32_t pid, uint64_t time,
		       struct mt_perf_map_file *out);

/* Pieces of a file that was taken had times up to that one. */
void mt_perf_maps_keep_time(struct mt_perf_maps *maps, int32_t pid, uint64_t time);

/* The same of any process, at the end; false when there is none left. */
bool mt_perf_maps_take_last(struct mt_perf_maps *maps, uint64_t time, struct mt_perf_map_file *out);

#endif
