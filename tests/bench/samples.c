/*
 * Reads perf.data for the bench and the oracle test: attributes, and MMAP, MMAP2, COMM and SAMPLE
 * records in order of time.
 */
#include "tests/bench/samples.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "unwind/sample_stack.h"

struct record {
	uint64_t time;
	const uint8_t *bytes;
};

struct reader {
	uint64_t sample_type, regs_user;
	unsigned int regs_count;
	struct record *records;
	size_t count;
	uint64_t lost;
};

static void die(const char *path, const char *what)
{
	fprintf(stderr, "%s: %s\n", path, what);
	exit(2);
}

static size_t record_size(const uint8_t *r)
{
	return mt_get_le16(r + 6);
}

static uint32_t record_type(const uint8_t *r)
{
	return mt_get_le32(r);
}

/*
 * TIME in the trailer of a non-sample record; it is followed by ID, CPU, STREAM_ID, ID at the end.
 */
static uint64_t trailer_time(const struct reader *in, const uint8_t *r)
{
	size_t back = 8;

	back += in->sample_type & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
	back += in->sample_type & PERF_SAMPLE_CPU ? 8 : 0;
	back += in->sample_type & PERF_SAMPLE_STREAM_ID ? 8 : 0;
	back += in->sample_type & PERF_SAMPLE_ID ? 8 : 0;
	return in->sample_type & PERF_SAMPLE_TIME ? mt_get_le64(r + record_size(r) - back) : 0;
}

struct sample {
	uint32_t pid;
	uint64_t time;
	struct mt_unwind_input input;
};

static const uint8_t *read_registers(const struct reader *in, const uint8_t *p,
				     struct mt_unwind_input *out)
{
	uint64_t values[64], abi = mt_get_le64(p);

	p += 8;
	if (!abi)
		return p;
	for (unsigned int i = 0; i < in->regs_count; i++)
		values[i] = mt_get_le64(p + i * 8);
	mt_unwind_regs_from_perf(in->regs_user, values, &out->regs);
	out->have_regs = true;
	return p + in->regs_count * 8;
}

static void read_stack(const uint8_t *p, struct mt_unwind_input *out)
{
	out->dump_asked = mt_get_le64(p);
	if (!out->dump_asked)
		return;
	out->dump = p + 8;
	out->dump_size = mt_get_le64(p + 8 + out->dump_asked);
}

static void read_sample(const struct reader *in, const uint8_t *r, struct sample *out)
{
	uint64_t type = in->sample_type;
	const uint8_t *p = r + 8;

	memset(out, 0, sizeof(*out));
	p += type & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
	p += type & PERF_SAMPLE_IP ? 8 : 0;
	if (type & PERF_SAMPLE_TID) {
		out->pid = mt_get_le32(p);
		p += 8;
	}
	if (type & PERF_SAMPLE_TIME) {
		out->time = mt_get_le64(p);
		p += 8;
	}
	for (uint64_t bit = PERF_SAMPLE_ADDR; bit <= PERF_SAMPLE_PERIOD; bit <<= 1) {
		if (type & bit &
		    (PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
		     PERF_SAMPLE_PERIOD))
			p += 8;
	}
	if (type & PERF_SAMPLE_CALLCHAIN)
		p += 8 + mt_get_le64(p) * 8;
	if (type & PERF_SAMPLE_RAW)
		p += 4 + mt_get_le32(p);
	if (type & PERF_SAMPLE_REGS_USER)
		p = read_registers(in, p, &out->input);
	if (type & PERF_SAMPLE_STACK_USER)
		read_stack(p, &out->input);
}

static int by_time(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static void collect(struct reader *in, const uint8_t *p, const uint8_t *end)
{
	size_t capacity = 0;
	struct sample sample;

	for (; p + 8 <= end && record_size(p) >= 8 && p + record_size(p) <= end;
	     p += record_size(p)) {
		uint32_t type = record_type(p);

		if (type == PERF_RECORD_LOST)
			in->lost += mt_get_le64(p + 16);
		if (in->count == capacity) {
			capacity = capacity ? capacity * 2 : 4096;
			in->records = realloc(in->records, capacity * sizeof(*in->records));
			if (!in->records)
				die("samples", "out of memory");
		}
		if (type == PERF_RECORD_SAMPLE)
			read_sample(in, p, &sample);
		else if (type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2 ||
			 type == PERF_RECORD_COMM)
			sample.time = trailer_time(in, p);
		else
			continue;
		in->records[in->count++] = (struct record){.time = sample.time, .bytes = p};
	}
	qsort(in->records, in->count, sizeof(*in->records), by_time);
}

static uint32_t most_sampled(const struct reader *in)
{
	static uint32_t counts[1 << 22];
	uint32_t best = 0;
	struct sample sample;

	for (size_t i = 0; i < in->count; i++) {
		if (record_type(in->records[i].bytes) != PERF_RECORD_SAMPLE)
			continue;
		read_sample(in, in->records[i].bytes, &sample);
		if (sample.pid < 1 << 22 && ++counts[sample.pid] > counts[best])
			best = sample.pid;
	}
	return best;
}

static void apply_mmap(const uint8_t *r, struct samples *out)
{
	bool second = record_type(r) == PERF_RECORD_MMAP2;
	struct mt_image_identity identity = {.path = (const char *)r + (second ? 72 : 40)};
	struct mt_mapping mapping = {.start = mt_get_le64(r + 16),
				     .end = mt_get_le64(r + 16) + mt_get_le64(r + 24),
				     .offset = mt_get_le64(r + 32),
				     .prot = second ? mt_get_le32(r + 64) : PROT_EXEC};

	mapping.image = mt_image_set_intern(out->images, &identity);
	if (!mapping.image || !mt_image_map_insert(out->map, &mapping))
		die("samples", "out of memory");
}

static void apply(const struct reader *in, const uint8_t *r, struct samples *out)
{
	bool exec = record_type(r) == PERF_RECORD_COMM &&
		    (mt_get_le16(r + 4) & PERF_RECORD_MISC_COMM_EXEC);
	struct sample sample;

	if (record_type(r) == PERF_RECORD_SAMPLE) {
		read_sample(in, r, &sample);
		if (sample.pid != out->pid || !sample.input.have_regs)
			return;
		sample.input.map = out->map;
		out->inputs[out->count++] = sample.input;
	} else if (mt_get_le32(r + 8) == out->pid && exec) {
		mt_image_map_clear(out->map);
		out->count = 0;
	} else if (mt_get_le32(r + 8) == out->pid && record_type(r) != PERF_RECORD_COMM) {
		apply_mmap(r, out);
	}
}

static void map_file(const char *path, struct samples *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		die(path, "cannot open");
	out->file_size = (size_t)st.st_size;
	/* The file is copied into memory, so that page faults are not measured. */
	out->file = malloc(out->file_size + 1);
	for (size_t got = 0; out->file && got < out->file_size;) {
		ssize_t n = read(fd, (char *)out->file + got, out->file_size - got);

		if (n <= 0)
			die(path, "cannot read");
		got += (size_t)n;
	}
	close(fd);
	if (!out->file || out->file_size < 104 || memcmp(out->file, "PERFILE2", 8))
		die(path, "not a perf.data file in file mode");
}

void samples_load(const char *path, struct samples *out)
{
	struct reader in = {0};
	const uint8_t *bytes, *attr, *data;

	memset(out, 0, sizeof(*out));
	map_file(path, out);
	bytes = out->file;
	attr = bytes + mt_get_le64(bytes + 24);
	data = bytes + mt_get_le64(bytes + 40);
	in.sample_type = mt_get_le64(attr + 24);
	in.regs_user = mt_get_le64(attr + 80);
	in.regs_count = (unsigned int)__builtin_popcountll(in.regs_user);
	collect(&in, data, data + mt_get_le64(bytes + 48));
	out->pid = most_sampled(&in);
	out->lost = in.lost;
	out->images = mt_image_set_create();
	out->map = mt_image_map_create();
	out->inputs = calloc(in.count + 1, sizeof(*out->inputs));
	if (!out->images || !out->map || !out->inputs ||
	    !mt_image_set_add_source(out->images, &mt_image_source_local, NULL))
		die(path, "out of memory");
	for (size_t i = 0; i < in.count; i++)
		apply(&in, in.records[i].bytes, out);
	free(in.records);
}

void samples_deinit(struct samples *samples)
{
	mt_image_map_destroy(samples->map);
	mt_image_set_destroy(samples->images);
	free(samples->inputs);
	free(samples->file);
}
