/*
 * formats/writer: the output holds the records that were given; an output that fails ends with a
 * whole chunk.
 */
#include "formats/stacks/sample_record.h"
#include "formats/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "formats/chunks/chunk.h"
#include "formats/reader.h"
#include "formats/records/record.h"
#include "tests/unit/unit.h"

#define BLOCK_SIZE (256u << 10)

static unsigned takes_nothing; /* calls of writev() that take no byte; the last aborts */

/* Replaces the C library's writev(). */
ssize_t writev(int fd, const struct iovec *pieces, int count)
{
	if (!takes_nothing)
		return syscall(SYS_writev, fd, pieces, count);
	if (!--takes_nothing)
		abort();
	return 0;
}

struct fixture {
	char path[64];
	int fd;
	struct mt_block block;
	struct mt_writer *writer;
};

static bool begin(struct fixture *f)
{
	*f = (struct fixture){.path = "/tmp/mt-writer-XXXXXX"};
	f->fd = mkstemp(f->path);
	f->block = (struct mt_block){.bytes = malloc(BLOCK_SIZE), .capacity = BLOCK_SIZE};
	return MT_CHECK(f->fd >= 0 && f->block.bytes) &&
	       MT_CHECK_OK(mt_writer_create(f->fd, BLOCK_SIZE, &f->writer));
}

static void end(struct fixture *f)
{
	mt_writer_destroy(f->writer);
	free(f->block.bytes);
	close(f->fd);
	unlink(f->path);
}

static struct mt_error *put_head(struct fixture *f, struct mt_writer *writer, int level)
{
	struct mt_header_record header = {
		.major = MT_FORMAT_MAJOR, .minor = MT_FORMAT_MINOR, .clock = 1, .id = {1}};

	mt_block_reset(&f->block, MT_CHUNK_HEAD, 0);
	mt_header_put(&f->block, &header);
	return mt_writer_write(writer, &f->block, level);
}

/* Writes a DATA chunk full of records; random bytes do not compress. */
static struct mt_error *put_data(struct fixture *f, struct mt_writer *writer, int level,
				 uint64_t time, bool random)
{
	struct {
		uint32_t type;
		uint16_t misc, size;
		uint64_t lost[31];
	} kernel = {.type = 13, .size = sizeof(kernel)};

	mt_block_reset(&f->block, MT_CHUNK_DATA, 3);
	do {
		for (int i = 0; random && i < 31; i++)
			kernel.lost[i] = (uint64_t)rand() << 33 ^ (uint64_t)rand();
	} while (mt_kernel_put(&f->block, time, 0, &kernel, sizeof(kernel)));
	return mt_writer_write(writer, &f->block, level);
}

static uint64_t file_size(const char *path)
{
	struct stat status;

	return stat(path, &status) ? 0 : (uint64_t)status.st_size;
}

/* Number of records that the reader finds in the file; all of its chunks are good. */
static uint64_t records_in(const char *path, uint64_t chunks)
{
	struct mt_reader *reader = NULL;
	struct mt_record record;
	uint64_t count = 0;
	bool more = true;

	if (!MT_CHECK_OK(mt_reader_open(path, NULL, &reader)))
		return 0;
	MT_CHECK_EQ(mt_reader_recording(reader, 0)->chunks, chunks);
	MT_CHECK_OK(mt_reader_rewind(reader, 0));
	while (MT_CHECK_OK(mt_reader_next(reader, &record, &more)) && more)
		count += record.type == MT_RECORD_KERNEL;
	MT_CHECK_EQ(mt_reader_recording(reader, 0)->damage.skipped_bytes, 0);
	MT_CHECK_EQ(mt_reader_recording(reader, 0)->damage.damaged_chunks, 0);
	MT_CHECK_EQ(mt_reader_recording(reader, 0)->damage.missing_chunks, 0);
	mt_reader_destroy(reader);
	return count;
}

MT_TEST(a_chunk_over_the_limit_is_left_out)
{
	struct fixture f;
	struct mt_writer_counts counts;

	MT_REQUIRE(begin(&f));
	MT_CHECK_OK(put_head(&f, f.writer, 0));
	mt_writer_set_limit(f.writer, 3 * BLOCK_SIZE / 2);
	for (int i = 0; i < 3; i++)
		MT_CHECK_OK(put_data(&f, f.writer, 0, 1, true));
	counts = mt_writer_counts(f.writer);
	MT_CHECK_EQ(counts.left_out, 2);
	MT_CHECK_EQ(counts.chunks, 2);
	MT_CHECK_EQ(counts.written, file_size(f.path));
	mt_writer_set_limit(f.writer, 0);
	MT_CHECK_OK(put_data(&f, f.writer, 0, 1, true));
	MT_CHECK(records_in(f.path, 3) > 0);
	end(&f);
}

MT_TEST(each_level_is_read_back)
{
	static const int levels[] = {0, 1, -3, 19};
	struct fixture f;
	uint64_t records = 0;

	MT_REQUIRE(begin(&f) && MT_CHECK_OK(put_head(&f, f.writer, 0)));
	for (int i = 0; i < 8; i++) {
		MT_CHECK_OK(put_data(&f, f.writer, levels[i / 2], 100 + (uint64_t)i, i % 2));
		records += f.block.records;
	}
	MT_CHECK_EQ(mt_writer_counts(f.writer).chunks, 9);
	MT_CHECK_EQ(mt_writer_counts(f.writer).written, file_size(f.path));
	MT_CHECK_EQ(records_in(f.path, 9), records);
	end(&f);
}

static void count_words(void *context, const uint64_t *words, size_t count)
{
	size_t *reported = context;

	for (size_t i = 0; i < count; i++)
		*reported += words[i] != 0;
}

static size_t words_in(const struct mt_block *block)
{
	const uint64_t *words = (const uint64_t *)(const void *)block->bytes;
	size_t count = 0;

	for (size_t i = 0; i < block->used / 8; i++)
		count += words[i] != 0;
	return count;
}

/* Every nonzero word of a DATA block is reported, and no word of HEAD. */
MT_TEST(words_of_data_are_reported)
{
	static const int levels[] = {0, 1};
	struct fixture f;

	MT_REQUIRE(begin(&f));
	for (int i = 0; i < 2; i++) {
		size_t reported = 0;

		mt_writer_set_words(f.writer, count_words, &reported);
		MT_CHECK_OK(put_head(&f, f.writer, levels[i]));
		MT_CHECK_EQ(reported, 0);
		MT_CHECK_OK(put_data(&f, f.writer, levels[i], 7, true));
		MT_CHECK_EQ(reported, words_in(&f.block));
	}
	end(&f);
}

MT_TEST(compression_pays_or_is_left)
{
	struct fixture f;
	uint64_t before;

	MT_REQUIRE(begin(&f));
	MT_CHECK_OK(put_data(&f, f.writer, 1, 1, false));
	MT_CHECK(mt_writer_counts(f.writer).written < mt_writer_counts(f.writer).raw / 20);
	before = mt_writer_counts(f.writer).written;
	memset(f.block.bytes, 0, 16);
	for (size_t i = 0; i < f.block.used; i++)
		f.block.bytes[i] = (uint8_t)(rand() >> 8);
	MT_CHECK_OK(mt_writer_write(f.writer, &f.block, 1));
	MT_CHECK_EQ(mt_writer_counts(f.writer).written - before,
		    MT_CHUNK_HEADER_SIZE + f.block.used);
	end(&f);
}

MT_TEST(an_empty_block_writes_nothing)
{
	struct fixture f;

	MT_REQUIRE(begin(&f));
	mt_block_reset(&f.block, MT_CHUNK_STATE, 0);
	MT_CHECK_OK(mt_writer_write(f.writer, &f.block, 1));
	MT_CHECK_EQ(file_size(f.path), 0);
	MT_CHECK_EQ(mt_writer_counts(f.writer).chunks, 0);
	end(&f);
}

MT_TEST(a_full_disk_leaves_whole_chunks)
{
	struct rlimit old, small;
	struct fixture f;
	uint64_t kept;

	signal(SIGXFSZ, SIG_IGN);
	MT_REQUIRE(!getrlimit(RLIMIT_FSIZE, &old));
	for (int cut = 0; cut < 8; cut++) {
		MT_REQUIRE(begin(&f) && MT_CHECK_OK(put_head(&f, f.writer, 0)));
		MT_CHECK_OK(put_data(&f, f.writer, 0, 5, true));
		kept = file_size(f.path);
		/* within the header, at its end, within the payload */
		small = (struct rlimit){kept + (uint64_t[]){0, 1, 63, 64, 65, 4096, 100000,
							    260000}[cut],
					old.rlim_max};
		MT_REQUIRE(!setrlimit(RLIMIT_FSIZE, &small));
		MT_CHECK_ERR(put_data(&f, f.writer, 0, 6, true), MT_ERR_OUTPUT);
		MT_CHECK_ERR(put_data(&f, f.writer, 0, 7, true), MT_ERR_OUTPUT);
		setrlimit(RLIMIT_FSIZE, &old);
		MT_CHECK_EQ(file_size(f.path), kept);
		MT_CHECK_EQ(mt_writer_counts(f.writer).written, kept);
		MT_CHECK_ERR(put_data(&f, f.writer, 0, 8, true), MT_ERR_OUTPUT);
		MT_CHECK(records_in(f.path, 2) > 0);
		end(&f);
	}
}

MT_TEST(the_error_says_why_and_what_is_left)
{
	struct fixture f;
	struct mt_writer *writer = NULL;
	struct mt_error *err;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	MT_REQUIRE(full >= 0 && begin(&f) &&
		   MT_CHECK_OK(mt_writer_create(full, BLOCK_SIZE, &writer)));
	err = put_head(&f, writer, 0);
	MT_REQUIRE(MT_CHECK(err));
	MT_CHECK_STR(err->message, "cannot write the recording: No space left on device");
	MT_CHECK_STR(err->hint, "nothing was written");
	MT_CHECK_EQ(err->kind, MT_ERR_OUTPUT);
	mt_error_destroy(err);
	mt_writer_destroy(writer);
	close(full);
	end(&f);
}

/* Copies a pipe to the fixture's file, in small pieces. */
struct copier {
	int from, to;
};

static void *copy_slowly(void *argument)
{
	struct copier *copier = argument;
	char bytes[3001];
	ssize_t n;

	while ((n = read(copier->from, bytes, sizeof(bytes))) > 0) {
		if (write(copier->to, bytes, (size_t)n) != n)
			break;
	}
	return NULL;
}

static void check_pipe(int flags)
{
	struct fixture f;
	struct copier copier;
	struct mt_writer *writer = NULL;
	uint64_t records = 0;
	pthread_t thread;
	int ends[2];

	MT_REQUIRE(begin(&f) && !pipe2(ends, O_CLOEXEC));
	fcntl(ends[1], F_SETPIPE_SZ, 4096);
	fcntl(ends[1], F_SETFL, flags);
	copier = (struct copier){ends[0], f.fd};
	MT_REQUIRE(!pthread_create(&thread, NULL, copy_slowly, &copier));
	MT_CHECK_OK(mt_writer_create(ends[1], BLOCK_SIZE, &writer));
	MT_CHECK_OK(put_head(&f, writer, 0));
	for (int i = 0; i < 4; i++) {
		MT_CHECK_OK(put_data(&f, writer, i % 2, 9, true));
		records += f.block.records;
	}
	close(ends[1]);
	pthread_join(thread, NULL);
	MT_CHECK_EQ(mt_writer_counts(writer).written, file_size(f.path));
	MT_CHECK_EQ(records_in(f.path, 5), records);
	mt_writer_destroy(writer);
	close(ends[0]);
	end(&f);
}

MT_TEST(a_narrow_pipe_gets_everything)
{
	check_pipe(0);
}

MT_TEST(a_pipe_that_does_not_block_gets_everything)
{
	/* ssh and others set O_NONBLOCK on their end, and the flag applies to both ends */
	check_pipe(O_NONBLOCK);
}

MT_TEST(a_closed_pipe_is_an_error_not_a_signal)
{
	struct fixture f;
	struct mt_writer *writer = NULL;
	struct mt_error *err;
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	MT_REQUIRE(begin(&f) && !pipe2(ends, O_CLOEXEC));
	MT_CHECK_OK(mt_writer_create(ends[1], BLOCK_SIZE, &writer));
	MT_CHECK_OK(put_head(&f, writer, 0));
	close(ends[0]);
	err = put_head(&f, writer, 0);
	MT_CHECK(err && err->errnum == EPIPE && err->kind == MT_ERR_OUTPUT);
	mt_error_destroy(err);
	mt_writer_destroy(writer);
	close(ends[1]);
	end(&f);
}

MT_TEST(an_output_that_takes_nothing_has_failed)
{
	struct fixture f;
	struct mt_error *err;

	MT_REQUIRE(begin(&f));
	MT_CHECK_OK(put_head(&f, f.writer, 0));
	takes_nothing = 1000;
	err = put_data(&f, f.writer, 0, 1, false);
	takes_nothing = 0;
	if (MT_CHECK(err)) {
		MT_CHECK_EQ(err->kind, MT_ERR_OUTPUT);
		MT_CHECK_EQ(err->errnum, EIO);
	}
	mt_error_destroy(err);
	MT_CHECK_EQ(file_size(f.path), mt_writer_counts(f.writer).written);
	end(&f);
}

MT_TEST_MAIN
