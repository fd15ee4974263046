/*
 * Finds the chunks of a file by their headers, and the recording that each belongs to.
 */
#ifndef MT_FORMATS_READING_CHUNK_SCAN_H
#define MT_FORMATS_READING_CHUNK_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/base/array.h"
#include "formats/reading/payload.h"
#include "formats/reading/source.h"

struct mt_error;

/* A recording and its range of mt_scan.chunks. */
struct mt_scanned {
	struct mt_recording recording;
	struct mt_damage found; /* damage found by the scan; recording.damage begins with it */
	size_t first_chunk, chunks;
	size_t first_file, files;   /* its range of mt_scan.files */
	size_t first_other, others; /* its range of mt_scan.others */
};

typedef MT_ARRAY(struct mt_chunk_ref) mt_chunk_refs;

struct mt_scan {
	mt_chunk_refs chunks; /* HEAD, STATE and DATA in file order */
	mt_chunk_refs files;  /* FILE in file order */
	mt_chunk_refs others; /* MARK, END, empty chunks and unknown types */
	MT_ARRAY(struct mt_scanned) recordings;
	struct mt_damage before; /* before the first recording, which includes it */
};

/*
 * Scans the loader's input: chunk headers; payloads of HEAD, MARK and END; and, for the checksum,
 * the payload of any chunk that no other chunk follows. memory_limit bounds the lists. Errors carry
 * no path.
 */
struct mt_error *mt_scan_file(struct mt_loader *loader, size_t memory_limit, struct mt_scan *out);

/* The same for a file that grows. */
struct mt_scanner;

/* Borrows loader and out. */
struct mt_scanner *mt_scanner_create(struct mt_loader *loader, size_t memory_limit,
				     struct mt_scan *out);
void mt_scanner_destroy(struct mt_scanner *scanner);

/*
 * Adds the chunks that have become complete since the last call, up to the first END. Bytes that
 * are not a chunk are an error here.
 */
struct mt_error *mt_scanner_advance(struct mt_scanner *scanner);

/* True after the end of the first recording. */
bool mt_scanner_complete(const struct mt_scanner *scanner);

void mt_scan_deinit(struct mt_scan *scan);

#endif
