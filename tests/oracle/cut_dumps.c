/*
 * Copies a recording and cuts every user stack dump to BYTES, as if that size had been requested
 * from the kernel. Tests compare the report of the copy with the report of the original.
 *
 *	cut_dumps BYTES IN OUT [LARGER]
 *
 * With LARGER, a seed of that size precedes one dump in 37, as in recordings of mtrec. The program
 * prints the time of each seed, then the number of dumps and the number of dumps that were longer
 * than BYTES.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/err.h"
#include "formats/chunks/chunk.h"
#include "formats/reader.h"
#include "formats/records/record.h"
#include "formats/rewrite.h"
#include "formats/stacks/sample_record.h"
#include "formats/writer.h"

enum {
	EVERY = 37,
	SEED = 1 << 16, /* index of the event of the seeds */
};

struct cut {
	uint64_t bytes, larger; /* larger 0: no seeds */
	uint64_t dumps, longer;
	struct mt_block seeds;	  /* EVENT record of the seeds */
	MT_ARRAY(uint8_t) kernel; /* bytes of a sample, with its sizes changed */
};

/* A sample holds its size in three places: its header, before the dump, and after the dump. */
static bool shorten(struct cut *cut, struct mt_kernel_bytes *b, uint32_t bytes)
{
	uint8_t *kernel;

	if (!mt_array_reserve(&cut->kernel, b->kernel_size))
		return false;
	kernel = cut->kernel.items;
	memcpy(kernel, b->kernel, b->kernel_size);
	b->dump_size = b->dump_size < bytes ? b->dump_size : bytes;
	b->dump_asked = bytes;
	mt_put_le16(kernel + 6, (uint16_t)(b->kernel_size + bytes));
	mt_put_le64(kernel + b->cut - 8, bytes);
	mt_put_le64(kernel + b->cut, b->dump_size);
	b->kernel = kernel;
	return true;
}

/* Adds the sample with its dump cut to `bytes`. */
static bool put_cut(struct cut *cut, const struct mt_record *record, uint64_t bytes, bool seed,
		    struct mt_block *block)
{
	struct mt_kernel_bytes b;

	if (!mt_record_kernel_get(record, &b))
		return false;
	b.event = seed ? SEED : b.event;
	bytes = bytes < b.dump_asked ? bytes : b.dump_asked;
	return shorten(cut, &b, (uint32_t)bytes) && mt_sample_put_plain(block, record->time, &b);
}

static bool cut_record(void *context, const struct mt_record *record, struct mt_block *block,
		       bool *same)
{
	const struct mt_block before = *block;
	struct cut *cut = context;
	struct mt_kernel_bytes b;
	bool seed;

	*same = !mt_record_kernel_get(record, &b) || !b.dump_asked || !b.dump;
	if (*same)
		return true;
	seed = cut->larger && cut->dumps % EVERY == EVERY - 1;
	if ((seed && !put_cut(cut, record, cut->larger, true, block)) ||
	    !put_cut(cut, record, cut->bytes, false, block)) {
		*block = before; /* the caller enlarges the block and passes the record again */
		return false;
	}
	if (seed)
		printf("seed %" PRIu64 ".%06" PRIu64 "\n", record->time / 1000000000,
		       record->time / 1000 % 1000000);
	cut->longer += b.dump_size > cut->bytes;
	cut->dumps++;
	return true;
}

/* Adds an event for the seeds of the event with dumps. */
static struct mt_error *learn_event(void *context, const struct mt_record *record)
{
	struct perf_event_attr attr = {0};
	struct mt_event_record event;
	struct cut *cut = context;

	if (!cut->larger || cut->seeds.records || record->type != MT_RECORD_EVENT ||
	    !mt_event_get(record->body, record->size, &event) || event.role != MT_ROLE_SAMPLE ||
	    event.attr.size > sizeof(attr))
		return NULL;
	memcpy(&attr, event.attr.bytes, event.attr.size);
	if (!attr.sample_stack_user)
		return NULL;
	attr.sample_stack_user = (uint32_t)cut->larger;
	attr.sample_period *= EVERY;
	event.attr.bytes = (const char *)&attr;
	event.pair = event.index;
	event.index = SEED;
	event.role = MT_ROLE_SEED;
	return mt_event_put(&cut->seeds, &event) ? NULL : mt_error_nomem();
}

static struct mt_error *report_seeds(void *context, size_t recording, struct mt_writer *writer)
{
	struct cut *cut = context;

	(void)recording;
	return cut->seeds.records ? mt_writer_write(writer, &cut->seeds, 1) : NULL;
}

static int copy(const char *from, const char *to, struct cut *cut)
{
	static uint8_t room[1 << 16];
	const struct mt_rewrite how = {
		.context = cut, .statement = learn_event, .head = report_seeds, .data = cut_record};
	struct mt_rewrite_counts counts;
	int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct mt_error *err;

	if (fd < 0) {
		perror(to);
		return 1;
	}
	cut->seeds = (struct mt_block){.bytes = room, .capacity = sizeof(room)};
	mt_block_reset(&cut->seeds, MT_CHUNK_STATE, 0);
	err = mt_rewrite_file(from, fd, &how, &counts);
	close(fd);
	mt_array_deinit(&cut->kernel);
	if (err) {
		fprintf(stderr, "cut_dumps: %s\n", err->message);
		mt_error_destroy(err);
		return 1;
	}
	printf("%" PRIu64 " dumps, %" PRIu64 " longer\n", cut->dumps, cut->longer);
	return counts.damaged || counts.records_left_out;
}

/* Accepts the sizes that the kernel accepts: multiples of 8. */
static bool read_size(const char *word, uint64_t *out)
{
	*out = strtoul(word, NULL, 0);
	return *out && *out % 8 == 0 && *out <= 65528;
}

int main(int argc, char **argv)
{
	struct cut cut = {0};

	if (argc < 4 || argc > 5 || !read_size(argv[1], &cut.bytes) ||
	    (argc == 5 && !read_size(argv[4], &cut.larger))) {
		fprintf(stderr, "usage: cut_dumps BYTES IN OUT [LARGER]\n");
		return 2;
	}
	return copy(argv[2], argv[3], &cut);
}
