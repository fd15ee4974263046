/*
 * Encodes kernel records for a perf.data file: the inverse of records/sample.h. Every record has a
 * sample_id_all trailer, every event PERF_SAMPLE_IDENTIFIER.
 */
#ifndef MT_FORMATS_PERFDATA_PERFDATA_PUT_H
#define MT_FORMATS_PERFDATA_PERFDATA_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_kernel_record;
struct mt_sample;

/* Growing bytes; `bad` once memory ran out, then puts do nothing. */
struct mt_perf_bytes {
	MT_ARRAY(uint8_t) data;
	bool bad;
};

void mt_perf_bytes_deinit(struct mt_perf_bytes *to);

/* Append a little-endian integer. */
void mt_perf_put_u8(struct mt_perf_bytes *to, uint8_t value);
/* Of two bytes. */
void mt_perf_put_u16(struct mt_perf_bytes *to, uint16_t value);
/* Of four bytes. */
void mt_perf_put_u32(struct mt_perf_bytes *to, uint32_t value);
/* Of eight bytes. */
void mt_perf_put_u64(struct mt_perf_bytes *to, uint64_t value);
/* Appends bytes as they are. */
void mt_perf_put_bytes(struct mt_perf_bytes *to, const void *bytes, size_t size);
/* Appends zeros, as padding. */
void mt_perf_put_zeros(struct mt_perf_bytes *to, size_t count);

/*
 * Appends an MMAP (as MMAP2), MMAP2, COMM, FORK, EXIT or LOST record of the side-band event with
 * that id; does nothing for other types. Names are cut at 4,095 bytes.
 */
void mt_perf_put_record(struct mt_perf_bytes *to, const struct mt_kernel_record *record,
			uint64_t id);

/* The fields of a side-band event's records, and the optional fields of samples. */
extern const uint64_t mt_perf_sideband_type, mt_perf_sample_type;

/*
 * Appends a PERF_RECORD_SAMPLE with mt_perf_sample_type and the bits in `more`: MT_SAMPLE_ADDR,
 * MT_SAMPLE_CPU, MT_SAMPLE_RAW. Raw data that does not fit in a record is left out. The outermost
 * entries of a callchain that does not fit are left out, too: then returns true.
 */
bool mt_perf_put_sample(struct mt_perf_bytes *to, const struct mt_sample *sample, uint64_t more);

/* Appends FINISHED_ROUND: later records are not older than those of the round before this one. */
void mt_perf_put_round(struct mt_perf_bytes *to);

#endif
