/*
 * What a recording carries of the recorded machine: its FILE chunks (FORMAT.md section 8). Listed
 * by their fields when the recording is opened; the bytes of one are read, checked and unpacked
 * when they are first asked for.
 *
 * Threads may ask at the same time.
 */
#ifndef MT_FORMATS_READING_CARRIED_H
#define MT_FORMATS_READING_CARRIED_H

#include <stddef.h>
#include <stdint.h>

#include "formats/records/record.h"

struct mt_carried;
struct mt_chunk_ref;
struct mt_error;
struct mt_input;

/*
 * Lists the contents of these FILE chunks, each once. Borrows input and refs until destroyed. What
 * is damaged or not known is left out.
 */
struct mt_error *mt_carried_create(const struct mt_input *input, const struct mt_chunk_ref *refs,
				   size_t count, struct mt_carried **out);
void mt_carried_destroy(struct mt_carried *carried);

/*
 * How many contents there are. What was carried in pieces while it grew is one, of all the pieces
 * that are there.
 */
size_t mt_carried_count(const struct mt_carried *carried);

/* The fields of content i: part is 0, bytes empty. Borrowed, as its strings, until destroyed. */
const struct mt_file_record *mt_carried_get(const struct mt_carried *carried, size_t i);

/*
 * The time of its record: of kinds 4 and 5, when it was read; of pieces, the last one, and
 * UINT64_MAX where that was to be continued.
 */
uint64_t mt_carried_time(const struct mt_carried *carried, size_t i);

/* Bytes of file that content i takes. */
uint64_t mt_carried_stored(const struct mt_carried *carried, size_t i);

/*
 * The bytes of content i, fields->size of them, borrowed until dropped; NULL, now and later,
 * where they are damaged or incomplete, or memory is short. They are aligned for any type.
 */
const uint8_t *mt_carried_bytes(struct mt_carried *carried, size_t i);

/* Frees the bytes of content i, which nobody is to borrow any more; they may be asked for again. */
void mt_carried_drop(struct mt_carried *carried, size_t i);

#endif
