/*
 * formats/perfdata/perfdata_file: encoded records decode to the same values; data without room is
 * cut off.
 */
#include "formats/perfdata/perfdata_file.h"

#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/records/attr.h"
#include "formats/records/sample.h"
#include "formats/records/sample_type.h"
#include "tests/unit/unit.h"

#define SIZE(bytes) mt_get_le16((bytes).data.items + 6)

static struct mt_attr attr_of(uint64_t sample_type)
{
	return (struct mt_attr){.sample_type = sample_type,
				.flags = (uint64_t)1 << MT_ATTR_SAMPLE_ID_ALL};
}

MT_TEST(a_mapping_keeps_its_build_id_and_the_trailer_its_event)
{
	static const uint8_t id[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	const struct mt_attr attr = attr_of(mt_perf_sideband_type);
	const struct mt_kernel_record record = {
		.type = MT_KERNEL_MMAP,
		.pid = 3,
		.tid = 4,
		.start = 0x7000,
		.length = 0x1000,
		.offset = 0x2000,
		.prot = 5,
		.build_id = id,
		.build_id_size = sizeof(id),
		.name = "/lib/a.so",
		.id_pid = 3,
		.id_tid = 4,
		.time = 99,
		.cpu = 1,
	};
	MT_CLEANUP(mt_perf_bytes_deinit) struct mt_perf_bytes bytes = {0};
	struct mt_kernel_record back;

	mt_perf_put_record(&bytes, &record, 7);
	MT_CHECK(bytes.data.count == SIZE(bytes));
	MT_CHECK(mt_kernel_record_decode(&attr, bytes.data.items, bytes.data.count, &back));
	MT_CHECK_EQ(back.type, MT_KERNEL_MMAP2);
	MT_CHECK(back.start == 0x7000 && back.offset == 0x2000 && back.prot == 5);
	MT_CHECK(back.build_id_size == sizeof(id) && !memcmp(back.build_id, id, sizeof(id)));
	MT_CHECK_STR(back.name, "/lib/a.so");
	MT_CHECK(back.id_tid == 4 && back.time == 99 && back.cpu == 1 && back.id == 7);
}

MT_TEST(records_of_other_types_are_left_out)
{
	MT_CLEANUP(mt_perf_bytes_deinit) struct mt_perf_bytes bytes = {0};

	mt_perf_put_record(&bytes, &(struct mt_kernel_record){.type = MT_KERNEL_SWITCH}, 1);
	mt_perf_put_record(&bytes, &(struct mt_kernel_record){.type = 4000}, 1);
	MT_CHECK_EQ(bytes.data.count, 0);
}

MT_TEST(a_sample_keeps_chain_and_raw_data_of_any_size)
{
	static const uint64_t chain[] = {MT_CONTEXT_USER, 0x400100, 0x400200};
	const uint64_t more = MT_SAMPLE_ADDR | MT_SAMPLE_CPU | MT_SAMPLE_RAW;
	const struct mt_attr attr = attr_of(mt_perf_sample_type | more);

	for (size_t raw = 0; raw < 17; raw++) {
		const struct mt_sample sample = {
			.misc = MT_CPUMODE_USER,
			.pid = 1,
			.tid = 2,
			.cpu = 3,
			.time = 4,
			.ip = 5,
			.addr = 6,
			.id = 7,
			.period = 8,
			.chain = chain,
			.chain_count = 3,
			.raw = (const uint8_t *)"abcdefghijklmnopq",
			.raw_size = raw,
		};
		MT_CLEANUP(mt_perf_bytes_deinit) struct mt_perf_bytes bytes = {0};
		struct mt_sample back;

		MT_CHECK(mt_perf_put_sample(&bytes, &sample, more));
		MT_CHECK(bytes.data.count == SIZE(bytes) && bytes.data.count % 8 == 0);
		MT_CHECK(mt_sample_decode(&attr, bytes.data.items, bytes.data.count, NULL, &back));
		MT_CHECK(back.id == 7 && back.ip == 5 && back.tid == 2 && back.cpu == 3);
		MT_CHECK(back.time == 4 && back.addr == 6 && back.period == 8);
		MT_CHECK(back.chain_count == 3 && !memcmp(back.chain, chain, sizeof(chain)));
		MT_CHECK(back.raw_size >= raw && !memcmp(back.raw, sample.raw, raw));
	}
}

MT_TEST(the_outermost_frames_are_cut_where_a_record_is_full)
{
	static const uint64_t chain[9000];
	const struct mt_attr attr = attr_of(mt_perf_sample_type);
	const struct mt_sample sample = {.chain = chain, .chain_count = 9000};
	MT_CLEANUP(mt_perf_bytes_deinit) struct mt_perf_bytes bytes = {0};
	struct mt_sample back;

	MT_CHECK(!mt_perf_put_sample(&bytes, &sample, 0));
	MT_CHECK(bytes.data.count == SIZE(bytes) && bytes.data.count > 65000);
	MT_CHECK(mt_sample_decode(&attr, bytes.data.items, bytes.data.count, NULL, &back));
	MT_CHECK(back.chain_count > 8000 && back.chain_count < 9000);
}

MT_TEST_MAIN
