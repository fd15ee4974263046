/*
 * Finds the chunks of a file by their headers, and the recording that each belongs to.
 */
#ifndef MT_FORMATS_READING_CHUNK_SCAN_H
#define MT_FORMATS_READING_CHUNK_SCAN_H

#include <stddef.h>

#include "formats/base/array.h"
#include "formats/reader.h"
#include "formats/reading/payload.h"

struct mt_error;

/* A recording and its range of mt_scan.chunks. */
struct mt_scanned {
	struct mt_recording recording;
	struct mt_damage found; /* damage found by the scan; recording.damage begins with it */
	size_t first_chunk, chunks;
	size_t first_file, files;   /* its range of mt_scan.files */
	size_t first_other, others; /* its range of mt_scan.others */
};

struct mt_scan {
	MT_ARRAY(struct mt_chunk_ref) chunks; /* HEAD, STATE and DATA in file order */
	MT_ARRAY(struct mt_chunk_ref) files;  /* FILE in file order */
	MT_ARRAY(struct mt_chunk_ref) others; /* MARK, END, empty chunks and unknown types */
	MT_ARRAY(struct mt_scanned) recordings;
	struct mt_damage before; /* damage before the first recording, which counts it too */
};

/*
 * Scans the loader's input: chunk headers; payloads of HEAD, MARK and END; and, for the checksum,
 * the payload of any chunk that no other chunk follows. memory_limit bounds the lists. Errors carry
 * no path.
 */
struct mt_error *mt_scan_file(struct mt_loader *loader, size_t memory_limit, struct mt_scan *out);
void mt_scan_deinit(struct mt_scan *scan);

#endif
