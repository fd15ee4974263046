/* Encodes kernel records as perf.data has them. */
#include "formats/perfdata/perfdata_put.h"

#include <string.h>
#include <sys/mman.h>

#include "formats/base/bytes.h"
#include "formats/perfdata/perfdata.h"
#include "formats/records/sample.h"
#include "formats/records/sample_type.h"

enum {
	RECORD_MAX = 65528, /* bytes: the size field has 16 bits, and records are aligned */
	NAME_MAX_SIZE = 4095,
};

const uint64_t mt_perf_sideband_type =
	MT_SAMPLE_IDENTIFIER | MT_SAMPLE_TID | MT_SAMPLE_TIME | MT_SAMPLE_CPU;
const uint64_t mt_perf_sample_type = MT_SAMPLE_IDENTIFIER | MT_SAMPLE_IP | MT_SAMPLE_TID |
				     MT_SAMPLE_TIME | MT_SAMPLE_PERIOD | MT_SAMPLE_CALLCHAIN;

void mt_perf_bytes_deinit(struct mt_perf_bytes *to)
{
	mt_array_deinit(&to->data);
}

/* Room for more bytes; NULL out of memory. */
static uint8_t *make_room(struct mt_perf_bytes *to, size_t size)
{
	uint8_t *at;

	if (to->bad || !mt_array_reserve(&to->data, to->data.count + size)) {
		to->bad = true;
		return NULL;
	}
	at = to->data.items + to->data.count;
	to->data.count += size;
	return at;
}

void mt_perf_put_bytes(struct mt_perf_bytes *to, const void *bytes, size_t size)
{
	uint8_t *at = make_room(to, size);

	if (at && size)
		memcpy(at, bytes, size);
}

void mt_perf_put_zeros(struct mt_perf_bytes *to, size_t count)
{
	uint8_t *at = make_room(to, count);

	if (at)
		memset(at, 0, count);
}

void mt_perf_put_u8(struct mt_perf_bytes *to, uint8_t value)
{
	mt_perf_put_bytes(to, &value, sizeof(value));
}

void mt_perf_put_u16(struct mt_perf_bytes *to, uint16_t value)
{
	uint8_t bytes[2];

	mt_put_le16(bytes, value);
	mt_perf_put_bytes(to, bytes, sizeof(bytes));
}

void mt_perf_put_u32(struct mt_perf_bytes *to, uint32_t value)
{
	uint8_t bytes[4];

	mt_put_le32(bytes, value);
	mt_perf_put_bytes(to, bytes, sizeof(bytes));
}

void mt_perf_put_u64(struct mt_perf_bytes *to, uint64_t value)
{
	uint8_t bytes[8];

	mt_put_le64(bytes, value);
	mt_perf_put_bytes(to, bytes, sizeof(bytes));
}

/* Begins a record; end() sets its size. */
static size_t begin(struct mt_perf_bytes *to, uint32_t type, uint16_t misc)
{
	size_t start = to->data.count;

	mt_perf_put_u32(to, type);
	mt_perf_put_u16(to, misc);
	mt_perf_put_u16(to, 0);
	return start;
}

static void end(struct mt_perf_bytes *to, size_t start)
{
	if (!to->bad)
		mt_put_le16(to->data.items + start + 6, (uint16_t)(to->data.count - start));
}

static void put_task(struct mt_perf_bytes *to, int32_t pid, int32_t tid)
{
	mt_perf_put_u32(to, (uint32_t)pid);
	mt_perf_put_u32(to, (uint32_t)tid);
}

/* NUL-terminated, and padded. */
static void put_name(struct mt_perf_bytes *to, const char *name)
{
	size_t size = strnlen(name, NAME_MAX_SIZE);

	mt_perf_put_bytes(to, name, size);
	mt_perf_put_zeros(to, mt_align8(size + 1) - size);
}

static void put_mmap2(struct mt_perf_bytes *to, const struct mt_kernel_record *record)
{
	put_task(to, record->pid, record->tid);
	mt_perf_put_u64(to, record->start);
	mt_perf_put_u64(to, record->length);
	mt_perf_put_u64(to, record->offset);
	if (record->build_id) {
		mt_perf_put_u32(to, (uint32_t)record->build_id_size);
		mt_perf_put_bytes(to, record->build_id, record->build_id_size);
		mt_perf_put_zeros(to, MT_PERF_BUILD_ID_SIZE - record->build_id_size);
	} else {
		mt_perf_put_u32(to, record->major);
		mt_perf_put_u32(to, record->minor);
		mt_perf_put_u64(to, record->inode);
		mt_perf_put_u64(to, record->inode_generation);
	}
	mt_perf_put_u32(to, record->prot);
	mt_perf_put_u32(to, record->flags ? record->flags : MAP_PRIVATE);
	put_name(to, record->name);
}

static void put_comm(struct mt_perf_bytes *to, const struct mt_kernel_record *record)
{
	put_task(to, record->pid, record->tid);
	put_name(to, record->name);
}

/* FORK and EXIT */
static void put_fork(struct mt_perf_bytes *to, const struct mt_kernel_record *record)
{
	put_task(to, record->pid, record->ppid);
	put_task(to, record->tid, record->ptid);
	mt_perf_put_u64(to, record->event_time);
}

static void put_lost(struct mt_perf_bytes *to, const struct mt_kernel_record *record)
{
	mt_perf_put_u64(to, record->lost_id);
	mt_perf_put_u64(to, record->lost);
}

static uint16_t misc_of(const struct mt_kernel_record *record)
{
	bool map = record->type == MT_KERNEL_MMAP || record->type == MT_KERNEL_MMAP2;
	unsigned int misc = record->misc & MT_MISC_CPUMODE_MASK;

	if (record->type == MT_KERNEL_COMM && record->exec)
		misc |= MT_MISC_COMM_EXEC;
	if (map && !(record->prot & PROT_EXEC))
		misc |= MT_MISC_MMAP_DATA;
	if (map && record->build_id)
		misc |= MT_MISC_MMAP_BUILD_ID;
	return (uint16_t)misc;
}

void mt_perf_put_record(struct mt_perf_bytes *to, const struct mt_kernel_record *record,
			uint64_t id)
{
	static void (*const bodies[])(struct mt_perf_bytes * to,
				      const struct mt_kernel_record *record) = {
		[MT_KERNEL_MMAP] = put_mmap2, [MT_KERNEL_MMAP2] = put_mmap2,
		[MT_KERNEL_COMM] = put_comm,  [MT_KERNEL_FORK] = put_fork,
		[MT_KERNEL_EXIT] = put_fork,  [MT_KERNEL_LOST] = put_lost,
	};
	uint32_t type = record->type == MT_KERNEL_MMAP ? MT_KERNEL_MMAP2 : record->type;
	size_t start;

	if (type >= sizeof(bodies) / sizeof(*bodies) || !bodies[type])
		return;
	start = begin(to, type, misc_of(record));
	bodies[type](to, record);
	put_task(to, record->id_pid, record->id_tid);
	mt_perf_put_u64(to, record->time);
	mt_perf_put_u32(to, record->cpu);
	mt_perf_put_u32(to, 0);
	mt_perf_put_u64(to, id);
	end(to, start);
}

/* Raw data preceded by its size, padded so that the record stays aligned. */
static void put_raw(struct mt_perf_bytes *to, const struct mt_sample *sample, size_t size)
{
	size_t padded = mt_align8(4 + size) - 4;

	mt_perf_put_u32(to, (uint32_t)padded);
	mt_perf_put_bytes(to, sample->raw, size);
	mt_perf_put_zeros(to, padded - size);
}

bool mt_perf_put_sample(struct mt_perf_bytes *to, const struct mt_sample *sample, uint64_t more)
{
	size_t start = begin(to, MT_KERNEL_SAMPLE, sample->misc), left, raw, count;

	mt_perf_put_u64(to, sample->id);
	mt_perf_put_u64(to, sample->ip);
	put_task(to, sample->pid, sample->tid);
	mt_perf_put_u64(to, sample->time);
	if (more & MT_SAMPLE_ADDR)
		mt_perf_put_u64(to, sample->addr);
	if (more & MT_SAMPLE_CPU) {
		mt_perf_put_u32(to, sample->cpu);
		mt_perf_put_u32(to, 0);
	}
	mt_perf_put_u64(to, sample->period);
	left = RECORD_MAX - (to->data.count - start) - 16;
	raw = sample->raw_size <= left ? sample->raw_size : 0;
	left -= more & MT_SAMPLE_RAW ? raw : 0;
	count = sample->chain_count <= left / 8 ? sample->chain_count : left / 8;
	mt_perf_put_u64(to, count);
	for (size_t i = 0; i < count; i++)
		mt_perf_put_u64(to, sample->chain[i]);
	if (more & MT_SAMPLE_RAW)
		put_raw(to, sample, raw);
	end(to, start);
	return count == sample->chain_count;
}

void mt_perf_put_round(struct mt_perf_bytes *to)
{
	end(to, begin(to, MT_PERF_FINISHED_ROUND, 0));
}
