/*
 * Makes a recording of calls, faults and counts from any bytes, for the fuzz targets of the
 * analyses. A step reads some bytes and adds one record of one of a few threads. Most addresses are
 * in a range of a few hundred pages; some are at the ends of the address space.
 */
#ifndef MT_TESTS_FUZZ_LEDGER_FEED_H
#define MT_TESTS_FUZZ_LEDGER_FEED_H

#include <stdint.h>
#include <stdio.h>

#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/cli/request.h"
#include "report/outputs/outputs.h"
#include "report/session/selection.h"
#include "report/session/session.h"
#include "report/tables/table.h"
#include "tests/unit/report_records.h"
#include "unwind/unwind.h"

enum {
	FEED_COUNT = 10, /* events, numbered after those of report_records.h */
	FEED_ALLOC,
	FEED_LOCK,
	FEED_CALLS, /* the exit event of each call, followed by its enter event */
	FEED_BYTES = 4096,
	FEED_THREADS = 5,
};

#define FEED_MARK_TYPE (2u | 4u | 1u << 7 | 1u << 10) /* TID, TIME, CPU, RAW */
#define FEED_BASE 0x7f0000000000ull

static const char *const feed_calls[] = {"brk",	    "mmap",  "munmap", "mremap",	 "mprotect",
					 "madvise", "shmat", "shmdt",  "process_madvise"};
#define FEED_KINDS (sizeof(feed_calls) / sizeof(feed_calls[0]))

struct feed {
	struct mt_builder *b;
	const uint8_t *at, *end;
	uint64_t time;
};

static inline uint8_t feed_byte(struct feed *feed)
{
	return feed->at < feed->end ? *feed->at++ : 0;
}

/* Returns an address, a length or flags. */
static inline uint64_t feed_word(struct feed *feed)
{
	static const uint64_t ends[] = {
		0,	    UINT64_MAX,		 UINT64_MAX - 4095, 1ull << 63,
		1ull << 47, (1ull << 47) - 4096, (1ull << 55) + 1,  1ull << 43};
	uint8_t kind = feed_byte(feed), value = feed_byte(feed);

	if (kind < 100)
		return FEED_BASE + (uint64_t)value * 4096;
	if (kind < 170)
		return (uint64_t)value * 4096;
	if (kind < 230)
		return value;
	if (kind < 240)
		return (uint64_t)value << (8 * (kind % 8));
	return ends[value % 8] + (kind & 1);
}

static inline void feed_event(struct mt_builder *b, uint32_t index, uint32_t role, const char *name,
			      const char *format)
{
	uint8_t attr[72] = {0};

	mt_put_le32(attr, 2);
	mt_put_le32(attr + 4, sizeof(attr));
	mt_put_le64(attr + 16, 1);
	mt_put_le64(attr + 24, FEED_MARK_TYPE);
	mt_put_le64(attr + 40, 1ull << 18);
	mt_event_put(&b->block, &(struct mt_event_record){
					.index = index,
					.role = role,
					.pair = MT_EVENT_NONE,
					.name = {name, strlen(name)},
					.alias = {name, strlen(name)},
					.unit = {"calls", 5},
					.format = {format, strlen(format)},
					.attr = {(const char *)attr, sizeof(attr)},
				});
}

static inline void feed_events(struct mt_builder *b)
{
	char name[64];

	feed_event(b, FEED_COUNT, MT_ROLE_MARK, "kmem:rss_stat",
		   "\tfield:unsigned int mm_id;\toffset:8;\tsize:4;\tsigned:0;\n"
		   "\tfield:unsigned int curr;\toffset:12;\tsize:4;\tsigned:0;\n"
		   "\tfield:int member;\toffset:16;\tsize:4;\tsigned:1;\n"
		   "\tfield:long size;\toffset:24;\tsize:8;\tsigned:1;\n");
	feed_event(b, FEED_ALLOC, MT_ROLE_MARK, "kmem:mm_page_alloc",
		   "\tfield:unsigned int order;\toffset:8;\tsize:4;\tsigned:0;\n"
		   "\tfield:unsigned long gfp_flags;\toffset:16;\tsize:8;\tsigned:0;\n");
	feed_event(b, FEED_LOCK, MT_ROLE_MARK, "mmap_lock:mmap_lock_acquire_returned", "");
	for (uint32_t i = 0; i < FEED_KINDS; i++) {
		snprintf(name, sizeof(name), "syscalls:sys_exit_%s", feed_calls[i]);
		feed_event(b, FEED_CALLS + 2 * i, MT_ROLE_SAMPLE, name, "");
		snprintf(name, sizeof(name), "syscalls:sys_enter_%s", feed_calls[i]);
		feed_event(b, FEED_CALLS + 2 * i + 1, MT_ROLE_MARK, name, "");
	}
}

/* Threads 100 and 101 belong to one process; every other thread is a process. */
static inline int feed_pid(int tid)
{
	return tid == 101 ? 100 : tid;
}

static inline void feed_mark(struct feed *feed, uint32_t event, int tid, const uint64_t *words,
			     size_t count)
{
	struct kernel_bytes k = kernel_begin(MT_KERNEL_SAMPLE, MT_CPUMODE_USER);

	put32(&k, (uint32_t)feed_pid(tid));
	put32(&k, (uint32_t)tid);
	put64(&k, REPORT_START + feed->time);
	put64(&k, 0);
	put32(&k, (uint32_t)(8 * count + 4));
	for (size_t i = 0; i < count; i++)
		put64(&k, words[i]);
	put32(&k, 0);
	kernel_end(&k);
	mt_kernel_put(&feed->b->block, REPORT_START + feed->time, event, k.bytes, k.size);
}

static inline void feed_fault(struct feed *feed, int tid)
{
	struct kernel_bytes k = kernel_begin(MT_KERNEL_SAMPLE, MT_CPUMODE_USER);

	put64(&k, 0x10010);
	put32(&k, (uint32_t)feed_pid(tid));
	put32(&k, (uint32_t)tid);
	put64(&k, REPORT_START + feed->time);
	put64(&k, feed_word(feed));
	put64(&k, 0);
	put64(&k, 1);
	put64(&k, 0);
	kernel_end(&k);
	mt_kernel_put(&feed->b->block, REPORT_START + feed->time, EVENT_FAULTS, k.bytes, k.size);
}

static inline void feed_loss(struct feed *feed)
{
	uint64_t from = REPORT_START + feed->time;

	mt_loss_put(&feed->b->block, &(struct mt_loss_record){
					     .event = feed_byte(feed) & 1 ? FEED_COUNT : FEED_CALLS,
					     .from = from,
					     .to = from + feed_byte(feed),
					     .count = 1,
					     .source = feed_byte(feed) % 3,
				     });
}

/* Adds one record. */
static inline void feed_step(struct feed *feed)
{
	uint8_t what = feed_byte(feed);
	int tid = 100 + feed_byte(feed) % FEED_THREADS;
	uint32_t call = FEED_CALLS + 2 * (what / 16 % FEED_KINDS);
	uint64_t words[9] = {0};

	feed->time += 1 + feed_byte(feed) % 4;
	switch (what % 16) {
	case 0:
	case 1:
	case 2:
		for (size_t i = 0; i < 6; i++)
			words[2 + i] = feed_word(feed);
		feed_mark(feed, call + 1, tid, words, 8);
		break;
	case 3:
	case 4:
	case 5:
		words[2] = feed_byte(feed) & 3 ? feed_word(feed) : -(uint64_t)feed_byte(feed);
		feed_mark(feed, call, tid, words, 3);
		break;
	case 6:
		words[1] = feed_byte(feed);
		feed_mark(feed, FEED_LOCK, tid, words, 4);
		break;
	case 7:
	case 8:
		feed_fault(feed, tid);
		break;
	case 9:
	case 10:
		words[1] = feed_byte(feed) % 4 | (uint64_t)(feed_byte(feed) % 4 > 0) << 32;
		words[2] = feed_byte(feed) % 5;
		words[3] = feed_word(feed);
		feed_mark(feed, FEED_COUNT, tid, words, 4);
		break;
	case 11:
		words[1] = feed_byte(feed) % 20;
		words[2] = 10;
		feed_mark(feed, FEED_ALLOC, tid, words, 3);
		break;
	case 12:
		report_records_fork(feed->b, feed->time, 102 + feed_byte(feed) % 3,
				    102 + feed_byte(feed) % 3, feed_pid(tid));
		break;
	case 13:
		if (feed_byte(feed) % 2)
			report_records_exit(feed->b, feed->time, feed_pid(tid));
		else
			report_records_comm(feed->b, feed->time, feed_pid(tid), tid, "other", true);
		break;
	case 14:
		words[0] = feed_word(feed);
		report_records_mmap(feed->b, feed->time, feed_pid(tid), words[0], feed_word(feed),
				    feed_byte(feed) % 2 ? "//anon" : "/no/such/app");
		break;
	default:
		feed_loss(feed);
		break;
	}
}

/* Adds lines of /proc/PID/maps and gauges; the first byte is their number. */
static inline void feed_state(struct feed *feed)
{
	static const char *const names[] = {"RssAnon", "RssFile", "VmSwap", "smaps_rollup Rss"};

	for (int i = feed_byte(feed) % 8; i > 0; i--) {
		int pid = feed_pid(100 + feed_byte(feed) % FEED_THREADS);
		const char *name = names[feed_byte(feed) % 4];
		struct mt_map_record map = {.pid = pid, .prot = 3, .flags = 2};

		map.start = feed_word(feed);
		map.end = feed_word(feed);
		map.before = REPORT_START - 10 + feed_byte(feed);
		map.after = map.before + feed_byte(feed);
		if (feed_byte(feed) % 2)
			mt_map_put(&feed->b->block, &map);
		else
			mt_reread_put(&feed->b->block, &map);
		mt_gauge_put(&feed->b->block,
			     &(struct mt_gauge_record){.pid = pid,
						       .before = map.before,
						       .after = map.after,
						       .value = feed_word(feed),
						       .name = {name, strlen(name)}});
	}
}

static inline void feed_recording(struct mt_builder *b, const char *kernel, const uint8_t *data,
				  size_t size)
{
	struct feed feed = {b, data, data + size, 10};

	mt_builder_init(b);
	mt_builder_head_begin(b);
	report_records_info(b, "kernel", kernel);
	mt_clock_put(&b->block, &(struct mt_clock_record){.recording = REPORT_START,
							  .realtime = 1700000000000000000});
	report_records_event(b, EVENT_DUMMY, MT_ROLE_SIDEBAND, "dummy", "dummy");
	report_records_event(b, EVENT_FAULTS, MT_ROLE_SAMPLE, "page-faults", "page-faults");
	feed_events(b);
	mt_builder_add(b, MT_CODEC_STORED);
	mt_builder_begin(b, MT_CHUNK_STATE, 0);
	feed_state(&feed);
	mt_builder_add(b, MT_CODEC_STORED);
	mt_builder_begin(b, MT_CHUNK_DATA, 0);
	while (feed.at < feed.end)
		feed_step(&feed);
	mt_builder_add(b, MT_CODEC_STORED);
}

/* Runs an analysis on the recording and reads its table to the last row. */
static inline void feed_analysis(const char *file, const struct mt_analysis *analysis,
				 const struct mt_wishes *wishes)
{
	struct mt_selection selection = {0};
	struct mt_analysis_request request;
	struct mt_session_options options = {
		.files = &file,
		.file_count = 1,
		.selection = &selection,
		.method = mt_unwind_methods,
		.max_frames = 16,
	};
	struct mt_session *session = NULL;
	struct mt_table *table = NULL;
	struct mt_error *err = mt_request_make(analysis, &mt_output_csv, wishes, &request);

	options.stacks = !err && request.unwind;
	err = err ? err : mt_session_open(&options, &session);
	err = err ? err : mt_analysis_run(analysis, session, &request, &table);
	if (!err) {
		struct mt_view view = {.width = 80, .facts = mt_session_facts(session)};
		FILE *null = fopen("/dev/null", "w");

		err = mt_output_write(&mt_output_csv, &view, table, null);
		fclose(null);
	}
	mt_error_destroy(err);
	mt_table_destroy(table);
	mt_session_destroy(session);
}

#endif
