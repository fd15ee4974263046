/* record/carry/images: what the recorder learns from samples about processes and the kernel. */
#include "formats/stacks/sample_record.h"
#include "record/carry/images.h"

#include <stdlib.h>

#include "formats/base/bytes.h"
#include "formats/chunks/chunk.h"
#include "formats/records/record.h"
#include "formats/records/sample_type.h"
#include "formats/stacks/stack_encoder.h"
#include "record/carry/image_choice.h"
#include "record/carry/kernel_seen.h"
#include "record/plan/plan.h"
#include "tests/unit/unit.h"

#define KERNEL_CODE UINT64_C(0xffffffff81000000)
#define STACK_TOP UINT64_C(0x7ffffffff000)

static struct mt_planned_event events[] = {
	{.name = (char *)"dummy"},
	{.role = MT_ROLE_SAMPLE, .decoded.sample_type = MT_SAMPLE_IP | MT_SAMPLE_TID},
	{.role = MT_ROLE_SEED, .decoded.sample_type = MT_SAMPLE_IP | MT_SAMPLE_TID},
	{.role = MT_ROLE_SAMPLE,
	 .decoded = {.sample_type = MT_SAMPLE_IP | MT_SAMPLE_TID | MT_SAMPLE_REGS_USER |
				    MT_SAMPLE_STACK_USER,
		     .sample_regs_user = 3}},
};
static const struct mt_plan plan = {.events = {events, 4, 4}};

struct sample {
	uint32_t type;
	uint16_t misc, size;
	uint64_t ip;
	int32_t pid, tid;
};

static void put(void *context, const struct mt_image_record *record)
{
	(void)context;
	(void)record;
}

static int32_t reported; /* the process that had a sample */

static void deliver(void *context, int32_t pid, uint64_t exec_time)
{
	(void)context;
	(void)exec_time;
	reported = pid;
}

/* Number of kernel addresses seen in a sample of that event and process. */
static size_t seen_in(uint32_t event, int32_t pid)
{
	const struct sample sample = {.type = 9, /* PERF_RECORD_SAMPLE */
				      .size = sizeof(sample),
				      .ip = KERNEL_CODE,
				      .pid = pid,
				      .tid = pid};
	const struct mt_carry_worker_offer offer = {.process = deliver};
	struct mt_image_choice *choice = mt_image_choice_create(false, &offer, NULL);
	struct mt_images *images =
		choice ? mt_images_create(&(struct mt_images_config){
				 .sink = {.put = put}, .plan = &plan, .choice = choice})
		       : NULL;
	uint8_t bytes[256];
	struct mt_block block = {.bytes = bytes, .capacity = sizeof(bytes)};
	size_t count = 0;
	bool all;

	reported = 0;
	mt_block_reset(&block, MT_CHUNK_DATA, 0);
	if (MT_CHECK(images && mt_kernel_put(&block, 5, event, &sample, sizeof(sample)))) {
		mt_images_see_samples(images, &block);
		free(mt_kernel_seen_take(mt_images_kernel_seen(images), &count, &all));
	}
	mt_images_destroy(images);
	mt_image_choice_destroy(choice);
	return count;
}

MT_TEST(a_sample_reports_of_its_process_and_of_the_kernel)
{
	MT_CHECK_EQ(seen_in(1, 100), 1);
	MT_CHECK_EQ(reported, 100);
}

/* Samples that count may leave out words that are unchanged since samples that do not count. */
MT_TEST(so_does_one_that_does_not_count_of_the_kernel_alone)
{
	MT_CHECK_EQ(seen_in(2, 100), 1);
	MT_CHECK_EQ(reported, 0);
}

MT_TEST(and_one_whose_process_is_gone)
{
	MT_CHECK_EQ(seen_in(1, -1), 1);
	MT_CHECK_EQ(reported, 0);
}

/*
 * Registers can hold any value: a value in them that looks like a kernel address causes no names to
 * be read.
 */
MT_TEST(registers_do_not_report_of_the_kernel)
{
	const uint64_t head[] = {9, KERNEL_CODE, 100, 2, KERNEL_CODE + 8, STACK_TOP - 16, 16},
		       tail[] = {16}, dump[] = {1, 2};
	struct mt_sample_pieces pieces = {
		.event = 3,
		.head = (const uint8_t *)head,
		.head_size = sizeof(head),
		.tail = (const uint8_t *)tail,
		.tail_size = sizeof(tail),
		.dump = (const uint8_t *)dump,
		.dump_size = sizeof(dump),
		.dump_asked = sizeof(dump),
		.sp_back = 16,
		.encoder = mt_stack_encoder_create(1),
		.tid = 100,
	};
	const struct mt_carry_worker_offer offer = {.process = deliver};
	struct mt_image_choice *choice = mt_image_choice_create(false, &offer, NULL);
	struct mt_images *images =
		choice ? mt_images_create(&(struct mt_images_config){
				 .sink = {.put = put}, .plan = &plan, .choice = choice})
		       : NULL;
	_Alignas(8) uint8_t bytes[512];
	struct mt_block block = {.bytes = bytes, .capacity = sizeof(bytes)};
	uint64_t *seen = NULL;
	size_t count = 0;
	bool all;

	mt_block_reset(&block, MT_CHUNK_DATA, 0);
	if (MT_CHECK(images && pieces.encoder && mt_sample_put(&block, 5, &pieces))) {
		MT_CHECK_EQ(mt_get_le32(bytes), MT_RECORD_PACKED);
		mt_images_see_samples(images, &block);
		seen = mt_kernel_seen_take(mt_images_kernel_seen(images), &count, &all);
	}
	MT_CHECK_EQ(count, 1);
	MT_CHECK(count && seen[0] == KERNEL_CODE);
	free(seen);
	mt_stack_encoder_destroy(pieces.encoder);
	mt_images_destroy(images);
	mt_image_choice_destroy(choice);
}

MT_TEST_MAIN
