/*
 * Writes a perf.data file: header, records, table of features, features, ids, attributes. Encodes
 * kernel records in the form of perf.data.
 */
#include "formats/perfdata/perfdata_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/perfdata/perfdata.h"
#include "formats/records/attr.h"
#include "formats/records/sample.h"
#include "formats/records/sample_type.h"

enum {
	BUFFER = 256 << 10,
	ATTR_SIZE = 112, /* PERF_ATTR_SIZE_VER5: up to aux_watermark and sample_max_stack */
	TYPE_TRACEPOINT = 2,
	TYPE_SOFTWARE = 1,
	SOFTWARE_DUMMY = 9,
	STRING_PADDING = 64, /* perf pads strings to a multiple of this */
	CLOCK_DATA_VERSION = 1,
	PAGE_SIZE_REPORTED = 4096,
	RECORD_MAX = 65528, /* bytes: the size field has 16 bits, and records are aligned */
	NAME_MAX_SIZE = 4095,
};

/* Bits of attr.flags that say what is counted and how; bits of the side-band event. */
enum {
	KEPT_FLAGS = 1 << 1 | 15 << 4 | 1 << 10 | 3 << 15 | 15 << 19 | 1 << 25,
	SIDEBAND_FLAGS = 1 << 8 | 1 << 9 | 1 << 13 | 1 << 17 | 1 << 23 | 1 << 24,
};

struct mt_perf_file {
	int fd;
	uint64_t size; /* bytes of the file, buffered ones included */
	struct mt_perf_bytes buffer;
};

/* ---- Records ---- */

const uint64_t mt_perf_sideband_type =
	MT_SAMPLE_IDENTIFIER | MT_SAMPLE_TID | MT_SAMPLE_TIME | MT_SAMPLE_CPU;
const uint64_t mt_perf_sample_type = MT_SAMPLE_IDENTIFIER | MT_SAMPLE_IP | MT_SAMPLE_TID |
				     MT_SAMPLE_TIME | MT_SAMPLE_PERIOD | MT_SAMPLE_CALLCHAIN;

void mt_perf_bytes_deinit(struct mt_perf_bytes *to)
{
	mt_array_deinit(&to->data);
}

void mt_perf_put_bytes(struct mt_perf_bytes *to, const void *bytes, size_t size)
{
	(void)mt_array_extend(&to->data, bytes, size);
}

void mt_perf_put_zeros(struct mt_perf_bytes *to, size_t count)
{
	static const uint8_t zeros[128];

	for (size_t n; count; count -= n) {
		n = count < sizeof(zeros) ? count : sizeof(zeros);
		mt_perf_put_bytes(to, zeros, n);
	}
}

void mt_perf_put_number(struct mt_perf_bytes *to, uint64_t value, size_t size)
{
	uint8_t bytes[8];

	mt_put_le64(bytes, value);
	mt_perf_put_bytes(to, bytes, size);
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

/* ---- The file ---- */

static struct mt_error *write_all(int fd, const uint8_t *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			struct mt_error *err = mt_error_os(errno, "cannot write");

			if (err->kind == MT_ERR_OS)
				err->kind = MT_ERR_OUTPUT;
			return err;
		}
		bytes += n;
		size -= (size_t)n;
	}
	return NULL;
}

static struct mt_error *flush(struct mt_perf_file *file)
{
	struct mt_error *err =
		write_all(file->fd, file->buffer.data.items, file->buffer.data.count);

	file->buffer.data.count = 0;
	return err;
}

struct mt_error *mt_perf_file_write(struct mt_perf_file *file, const void *records, size_t size)
{
	mt_perf_put_bytes(&file->buffer, records, size);
	file->size += size;
	return file->buffer.data.count >= BUFFER ? flush(file) : NULL;
}

uint64_t mt_perf_file_size(const struct mt_perf_file *file)
{
	return file->size;
}

void mt_perf_file_destroy(struct mt_perf_file *file)
{
	if (!file)
		return;
	mt_perf_bytes_deinit(&file->buffer);
	free(file);
}

MT_DEFINE_CLEANUP(mt_perf_file, struct mt_perf_file)

struct mt_error *mt_perf_file_create(int fd, struct mt_perf_file **out)
{
	MT_CLEANUP(mt_perf_file_destroy_p) struct mt_perf_file *file = mt_alloc(1, sizeof(*file));

	if (lseek(fd, 0, SEEK_CUR) || fcntl(fd, F_GETFL) & O_APPEND)
		return mt_error_create(MT_ERR_OUTPUT,
				       "perf.data is completed at its beginning: name a file");
	file->fd = fd;
	file->size = MT_PERF_HEADER_SIZE;
	mt_perf_put_zeros(&file->buffer, MT_PERF_HEADER_SIZE);
	*out = MT_TAKE(file);
	return NULL;
}

/* ---- Attributes ---- */

static bool is_dummy(const struct mt_attr *attr)
{
	return attr->type == TYPE_SOFTWARE && attr->config == SOFTWARE_DUMMY;
}

static void put_attr(struct mt_perf_bytes *to, const struct mt_perf_described *event)
{
	const struct mt_attr *attr = event->attr;
	uint64_t flags = attr->flags & KEPT_FLAGS;

	flags |= (uint64_t)1 << MT_ATTR_SAMPLE_ID_ALL;
	flags |= is_dummy(attr) ? SIDEBAND_FLAGS : 0;
	mt_perf_put_u32(to, attr->type);
	mt_perf_put_u32(to, ATTR_SIZE);
	mt_perf_put_u64(to, attr->config);
	mt_perf_put_u64(to, attr->sample_period);
	mt_perf_put_u64(to, event->sample_type);
	mt_perf_put_u64(to, 0); /* read_format */
	mt_perf_put_u64(to, flags);
	mt_perf_put_zeros(to, 8); /* wakeup, bp_type */
	mt_perf_put_u64(to, attr->config1);
	mt_perf_put_u64(to, attr->config2);
	mt_perf_put_zeros(to, 20); /* branches, registers, stack */
	mt_perf_put_u32(to, (uint32_t)attr->clockid);
	mt_perf_put_zeros(to, 16); /* registers, aux_watermark, sample_max_stack */
}

/* ---- Features ---- */

/* Writes a string as in perf's features: its padded size, then its bytes. */
static void put_string(struct mt_perf_bytes *to, const char *text)
{
	size_t size = strlen(text);
	size_t padded = (size + STRING_PADDING) / STRING_PADDING * STRING_PADDING;

	mt_perf_put_u32(to, (uint32_t)padded);
	mt_perf_put_bytes(to, text, size);
	mt_perf_put_zeros(to, padded - size);
}

static void put_cpus(struct mt_perf_bytes *to, const struct mt_perf_closing *closing)
{
	if (!closing->cpus)
		return;
	mt_perf_put_u32(to, closing->cpus);
	mt_perf_put_u32(to, closing->cpus);
}

static void put_command(struct mt_perf_bytes *to, const struct mt_perf_closing *closing)
{
	if (!closing->command)
		return;
	mt_perf_put_u32(to, 1);
	put_string(to, closing->command);
}

static void put_events(struct mt_perf_bytes *to, const struct mt_perf_closing *closing)
{
	mt_perf_put_u32(to, (uint32_t)closing->event_count);
	mt_perf_put_u32(to, ATTR_SIZE);
	for (size_t i = 0; i < closing->event_count; i++) {
		put_attr(to, &closing->events[i]);
		mt_perf_put_u32(to, 1);
		put_string(to, closing->events[i].name);
		mt_perf_put_u64(to, closing->events[i].id);
	}
}

static void put_build_ids(struct mt_perf_bytes *to, const struct mt_perf_closing *closing)
{
	for (size_t i = 0; i < closing->image_count; i++) {
		const struct mt_perf_identified *image = &closing->images[i];
		size_t length = strlen(image->path);
		size_t padded = (length + STRING_PADDING) / STRING_PADDING * STRING_PADDING;

		if (padded > MT_PERF_BUILD_ID_PATH_MAX ||
		    image->build_id_size > MT_PERF_BUILD_ID_SIZE)
			continue;
		mt_perf_put_u32(to, 0);
		mt_perf_put_u16(to,
				(uint16_t)(MT_PERF_MISC_BUILD_ID_SIZE |
					   (image->kernel ? MT_CPUMODE_KERNEL : MT_CPUMODE_USER)));
		mt_perf_put_u16(to, (uint16_t)(12 + MT_PERF_BUILD_ID_ROOM + padded));
		mt_perf_put_u32(to, UINT32_MAX); /* of no process */
		mt_perf_put_bytes(to, image->build_id, image->build_id_size);
		mt_perf_put_zeros(to, MT_PERF_BUILD_ID_SIZE - image->build_id_size);
		mt_perf_put_u32(to, (uint32_t)image->build_id_size);
		mt_perf_put_bytes(to, image->path, length);
		mt_perf_put_zeros(to, padded - length);
	}
}

static void put_times(struct mt_perf_bytes *to, const struct mt_perf_closing *closing)
{
	if (!closing->last_time)
		return;
	mt_perf_put_u64(to, closing->first_time);
	mt_perf_put_u64(to, closing->last_time);
}

static void put_clock(struct mt_perf_bytes *to, const struct mt_perf_closing *closing)
{
	if (!closing->wall_clock)
		return;
	mt_perf_put_u32(to, CLOCK_DATA_VERSION);
	mt_perf_put_u32(to, closing->clock);
	mt_perf_put_u64(to, closing->wall_clock);
	mt_perf_put_u64(to, closing->clock_time);
}

/* ---- The formats of tracepoints ---- */

/* The fields that every tracepoint has, for a tracepoint of unknown format. */
static char *made_format(const struct mt_perf_described *event)
{
	const char *colon = strchr(event->name, ':'), *name = colon ? colon + 1 : event->name;

	return mt_format(
		"name: %.*s\nID: %" PRIu64 "\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\nprint fmt: \"\"\n",
		(int)strcspn(name, "/ \n"), name, event->attr->config);
}

static void put_format(struct mt_perf_bytes *to, const struct mt_perf_described *event)
{
	size_t system = strcspn(event->name, ":");
	MT_CLEANUP_FREE char *made = NULL;
	const char *format = event->format;

	if (!format || !*format)
		format = made = made_format(event);
	mt_perf_put_bytes(to, event->name, system);
	mt_perf_put_u8(to, 0);
	mt_perf_put_u32(to, 1);
	mt_perf_put_u64(to, strlen(format));
	mt_perf_put_bytes(to, format, strlen(format));
}

/* Whether the event is the first one of its tracepoint. */
static bool needs_format(const struct mt_perf_closing *closing, size_t i)
{
	const struct mt_attr *attr = closing->events[i].attr;

	for (size_t k = 0; k < i; k++) {
		if (closing->events[k].attr->type == attr->type &&
		    closing->events[k].attr->config == attr->config)
			return false;
	}
	return attr->type == TYPE_TRACEPOINT;
}

/* Puts a trace.dat header, without the parts that only ftrace's own buffers need. */
static void put_tracing(struct mt_perf_bytes *to, const struct mt_perf_closing *closing)
{
	static const char page[] = "header_page", event[] = "header_event";
	/* the kernel's format of a page; perf stops reading without it */
	static const char page_format[] =
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
	uint32_t count = 0;

	for (size_t i = 0; i < closing->event_count; i++)
		count += needs_format(closing, i);
	if (!count)
		return;
	mt_perf_put_bytes(to, MT_PERF_TRACING_MAGIC, sizeof(MT_PERF_TRACING_MAGIC) - 1);
	mt_perf_put_bytes(to, "0.5", 4);
	mt_perf_put_u8(to, 0);		      /* little-endian */
	mt_perf_put_u8(to, sizeof(uint64_t)); /* size of a long */
	mt_perf_put_u32(to, PAGE_SIZE_REPORTED);
	mt_perf_put_bytes(to, page, sizeof(page));
	mt_perf_put_u64(to, sizeof(page_format) - 1);
	mt_perf_put_bytes(to, page_format, sizeof(page_format) - 1);
	mt_perf_put_bytes(to, event, sizeof(event));
	mt_perf_put_u64(to, 0);
	mt_perf_put_u32(to, 0); /* number of ftrace's own events */
	mt_perf_put_u32(to, count);
	for (size_t i = 0; i < closing->event_count; i++) {
		if (needs_format(closing, i))
			put_format(to, &closing->events[i]);
	}
	mt_perf_put_u32(to, 0); /* size of kallsyms */
	mt_perf_put_u32(to, 0); /* size of printk's formats */
}

/* ---- The end of the file ---- */

/* Puts a feature; does nothing if its value is unknown. */
static void put_feature(struct mt_perf_bytes *to, enum mt_perf_feature_bit feature,
			const struct mt_perf_closing *closing)
{
	const char *const texts[] = {
		[MT_PERF_FEATURE_HOSTNAME] = closing->host,
		[MT_PERF_FEATURE_OSRELEASE] = closing->kernel,
		[MT_PERF_FEATURE_VERSION] = closing->tool,
		[MT_PERF_FEATURE_ARCH] = closing->arch,
		[MT_PERF_FEATURE_CPUDESC] = closing->cpu,
	};
	static void (*const puts[])(struct mt_perf_bytes * to,
				    const struct mt_perf_closing *closing) = {
		[MT_PERF_FEATURE_TRACING_DATA] = put_tracing,
		[MT_PERF_FEATURE_BUILD_ID] = put_build_ids,
		[MT_PERF_FEATURE_NRCPUS] = put_cpus,
		[MT_PERF_FEATURE_CMDLINE] = put_command,
		[MT_PERF_FEATURE_EVENT_DESC] = put_events,
		[MT_PERF_FEATURE_SAMPLE_TIME] = put_times,
		[MT_PERF_FEATURE_CLOCK_DATA] = put_clock,
	};

	if (feature < sizeof(texts) / sizeof(*texts) && texts[feature])
		put_string(to, texts[feature]);
	else if (feature < sizeof(puts) / sizeof(*puts) && puts[feature])
		puts[feature](to, closing);
}

/* The features of the file: a bit for each, their bodies, and the table of their offsets. */
struct features {
	uint8_t bits[MT_PERF_FEATURE_BITS / 8];
	struct mt_perf_bytes bodies, table;
};

static void features_deinit(struct features *features)
{
	mt_perf_bytes_deinit(&features->bodies);
	mt_perf_bytes_deinit(&features->table);
}

static void make_features(struct features *out, uint64_t at, const struct mt_perf_closing *closing)
{
	size_t starts[MT_PERF_FEATURE_CLOCK_DATA + 2], count = 0;

	for (uint32_t i = 0; i <= MT_PERF_FEATURE_CLOCK_DATA; i++) {
		starts[count] = out->bodies.data.count;
		put_feature(&out->bodies, i, closing);
		if (out->bodies.data.count == starts[count])
			continue;
		out->bits[i / 8] |= (uint8_t)(1 << i % 8);
		count++;
	}
	starts[count] = out->bodies.data.count;
	for (size_t i = 0; i < count; i++) {
		mt_perf_put_u64(&out->table, at + count * MT_PERF_SECTION_SIZE + starts[i]);
		mt_perf_put_u64(&out->table, starts[i + 1] - starts[i]);
	}
}

/* Writes the ids, then an entry for each event: its attr and where its ids are. */
static struct mt_error *write_attrs(struct mt_perf_file *file,
				    const struct mt_perf_closing *closing, uint64_t *attrs)
{
	MT_CLEANUP(mt_perf_bytes_deinit) struct mt_perf_bytes bytes = {0};
	uint64_t ids = file->size;

	for (size_t i = 0; i < closing->event_count; i++)
		mt_perf_put_u64(&bytes, closing->events[i].id);
	*attrs = ids + bytes.data.count;
	for (size_t i = 0; i < closing->event_count; i++) {
		put_attr(&bytes, &closing->events[i]);
		mt_perf_put_u64(&bytes, ids + 8 * i);
		mt_perf_put_u64(&bytes, 8);
	}
	return mt_perf_file_write(file, bytes.data.items, bytes.data.count);
}

static struct mt_error *write_header(struct mt_perf_file *file,
				     const struct mt_perf_closing *closing, uint64_t records,
				     uint64_t attrs, const uint8_t *bits)
{
	const uint64_t entry = ATTR_SIZE + MT_PERF_SECTION_SIZE;
	uint8_t header[MT_PERF_HEADER_SIZE] = "PERFILE2";
	ssize_t n;

	mt_put_le64(header + MT_PERF_OFF_SIZE, MT_PERF_HEADER_SIZE);
	mt_put_le64(header + MT_PERF_OFF_ATTR_SIZE, entry);
	mt_put_le64(header + MT_PERF_OFF_ATTRS, attrs);
	mt_put_le64(header + MT_PERF_OFF_ATTRS + 8, entry * closing->event_count);
	mt_put_le64(header + MT_PERF_OFF_DATA, MT_PERF_HEADER_SIZE);
	mt_put_le64(header + MT_PERF_OFF_DATA + 8, records - MT_PERF_HEADER_SIZE);
	memcpy(header + MT_PERF_OFF_FEATURES, bits, MT_PERF_FEATURE_BITS / 8);
	n = pwrite(file->fd, header, sizeof(header), 0);
	return n == sizeof(header) ? NULL : mt_error_os(n < 0 ? errno : EIO, "cannot write");
}

struct mt_error *mt_perf_file_close(struct mt_perf_file *file,
				    const struct mt_perf_closing *closing)
{
	MT_CLEANUP(features_deinit) struct features features = {0};
	uint64_t records = file->size, attrs;
	struct mt_error *err;

	make_features(&features, records, closing);
	err = mt_perf_file_write(file, features.table.data.items, features.table.data.count);
	err = err ? err
		  : mt_perf_file_write(file, features.bodies.data.items,
				       features.bodies.data.count);
	err = err ? err : write_attrs(file, closing, &attrs);
	err = err ? err : flush(file);
	return err ? err : write_header(file, closing, records, attrs, features.bits);
}
