/*
 * Finding the chunks of a file by their headers, and which recording each belongs to.
 */
#ifndef MT_FORMATS_READING_CHUNK_SCAN_H
#define MT_FORMATS_READING_CHUNK_SCAN_H

#include <stddef.h>

#include "formats/base/array.h"
#include "formats/reader.h"
#include "formats/reading/payload.h"

struct mt_error;

/* A recording and its HEAD, STATE and DATA chunks, a range of the scan's. */
struct mt_scanned {
	struct mt_recording recording;
	struct mt_damage found; /* by the scan: what recording.damage begins with */
	size_t first_chunk, chunks;
	size_t first_file, files;   /* its FILE chunks, a range of the scan's files */
	size_t first_other, others; /* its other chunks, the same */
};

struct mt_scan {
	MT_ARRAY(struct mt_chunk_ref) chunks; /* HEAD, STATE and DATA in the order of the file */
	MT_ARRAY(struct mt_chunk_ref) files;  /* FILE, in the order of the file */
	MT_ARRAY(struct mt_chunk_ref) others; /* MARK, END, empty ones and of unknown type */
	MT_ARRAY(struct mt_scanned) recordings;
	struct mt_damage before; /* the first recording; part of its damage */
};

/*
 * Scans the loader's input. Reads chunk headers, the payloads of HEAD, MARK and END, and, only
 * where a chunk is not followed by another, its payload for the checksum. memory_limit bounds the
 * lists. Errors carry no path.
 */
struct mt_error *mt_scan_file(struct mt_loader *loader, size_t memory_limit, struct mt_scan *out);
void mt_scan_deinit(struct mt_scan *scan);

#endif
