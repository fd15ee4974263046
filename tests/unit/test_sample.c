/*
 * formats/records/sample, formats/records/attr: every field of a sample, alone and all together,
 * whole, with the dump separate, and cut short.
 */
#include "formats/records/sample.h"

#include <stdlib.h>

#include "formats/base/bytes.h"
#include "formats/records/attr.h"
#include "formats/records/sample_type.h"
#include "tests/unit/kernel_bytes.h"
#include "tests/unit/unit.h"

#define DUMP_ASKED 64
#define DUMP_VALID 40
#define EVERYTHING ((uint64_t)(1u << 25) - 1 - MT_SAMPLE_WEIGHT_STRUCT)

static const struct mt_attr full_attr = {
	.sample_type = EVERYTHING,
	.read_format = MT_FORMAT_ENABLED | MT_FORMAT_ID | MT_FORMAT_GROUP | MT_FORMAT_LOST,
	.branch_sample_type = MT_BRANCH_HW_INDEX | MT_BRANCH_COUNTERS,
	.sample_regs_user = 0x7,
	.sample_regs_intr = 0x30,
	.sample_stack_user = DUMP_ASKED,
};

static void put_values(struct kernel_bytes *k, int n, uint64_t first)
{
	for (int i = 0; i < n; i++)
		put64(k, first + (uint64_t)i);
}

static void put_fixed(struct kernel_bytes *k, uint64_t type)
{
	if (type & MT_SAMPLE_IDENTIFIER)
		put64(k, 1001);
	if (type & MT_SAMPLE_IP)
		put64(k, 1002);
	if (type & MT_SAMPLE_TID) {
		put32(k, 1003);
		put32(k, 1004);
	}
	if (type & MT_SAMPLE_TIME)
		put64(k, 1005);
	if (type & MT_SAMPLE_ADDR)
		put64(k, 1006);
	if (type & MT_SAMPLE_ID)
		put64(k, 1001);
	if (type & MT_SAMPLE_STREAM_ID)
		put64(k, 1007);
	if (type & MT_SAMPLE_CPU) {
		put32(k, 8);
		put32(k, 0xdead);
	}
	if (type & MT_SAMPLE_PERIOD)
		put64(k, 1009);
}

static void put_branches(struct kernel_bytes *k, const struct mt_attr *attr, int n)
{
	put64(k, (uint64_t)n);
	if (attr->branch_sample_type & MT_BRANCH_HW_INDEX)
		put64(k, 1010);
	put_values(k, 3 * n, 2000);
	if (attr->branch_sample_type & MT_BRANCH_COUNTERS)
		put_values(k, n, 0xc0);
}

static void put_variable(struct kernel_bytes *k, const struct mt_attr *attr)
{
	uint64_t type = attr->sample_type;

	if (type & MT_SAMPLE_READ) { /* a group of 2: nr, enabled, {value, id, lost}[2] */
		put64(k, 2);
		put_values(k, 7, 3000);
	}
	if (type & MT_SAMPLE_CALLCHAIN) {
		put64(k, 4);
		put64(k, MT_CONTEXT_KERNEL);
		put64(k, 4001);
		put64(k, MT_CONTEXT_USER);
		put64(k, 4002);
	}
	if (type & MT_SAMPLE_RAW) {
		put32(k, 12);
		put_bytes(k, "raw bytes!!!", 12);
	}
	if (type & MT_SAMPLE_BRANCH_STACK)
		put_branches(k, attr, 2);
	if (type & MT_SAMPLE_REGS_USER) {
		put64(k, 2);
		put_values(k, 3, 5000);
	}
}

/* Adds the stack; returns the offset of the dump's size field, 0 if there is no dump. */
static size_t put_stack(struct kernel_bytes *k, uint64_t type)
{
	size_t offset = k->size;

	if (!(type & MT_SAMPLE_STACK_USER))
		return 0;
	put64(k, DUMP_ASKED);
	for (int i = 0; i < DUMP_ASKED; i++)
		put8(k, (uint8_t)i);
	put64(k, DUMP_VALID);
	return offset;
}

static void put_rest(struct kernel_bytes *k, uint64_t type)
{
	if (type & (MT_SAMPLE_WEIGHT | MT_SAMPLE_WEIGHT_STRUCT))
		put64(k, 6001);
	if (type & MT_SAMPLE_DATA_SRC)
		put64(k, 6002);
	if (type & MT_SAMPLE_TRANSACTION)
		put64(k, 6003);
	if (type & MT_SAMPLE_REGS_INTR) {
		put64(k, 2);
		put_values(k, 2, 7000);
	}
	if (type & MT_SAMPLE_PHYS_ADDR)
		put64(k, 6004);
	if (type & MT_SAMPLE_CGROUP)
		put64(k, 6005);
	if (type & MT_SAMPLE_DATA_PAGE_SIZE)
		put64(k, 6006);
	if (type & MT_SAMPLE_CODE_PAGE_SIZE)
		put64(k, 6007);
	if (type & MT_SAMPLE_AUX) {
		put64(k, 16);
		put_values(k, 2, 8000);
	}
}

static struct kernel_bytes sample_of(const struct mt_attr *attr, size_t *stack)
{
	struct kernel_bytes k = kernel_begin(MT_KERNEL_SAMPLE, MT_CPUMODE_USER);

	put_fixed(&k, attr->sample_type);
	put_variable(&k, attr);
	*stack = put_stack(&k, attr->sample_type);
	put_rest(&k, attr->sample_type);
	kernel_end(&k);
	return k;
}

/* Sampled fields have the values of sample_of(); other fields have the values for absent ones. */
static void check_scalars(const struct mt_sample *s, uint64_t type)
{
	MT_CHECK_EQ(s->misc, MT_CPUMODE_USER);
	MT_CHECK_EQ(s->id, type & (MT_SAMPLE_ID | MT_SAMPLE_IDENTIFIER) ? 1001 : 0);
	MT_CHECK_EQ(s->ip, type & MT_SAMPLE_IP ? 1002 : 0);
	MT_CHECK_EQ(s->pid, type & MT_SAMPLE_TID ? 1003 : -1);
	MT_CHECK_EQ(s->tid, type & MT_SAMPLE_TID ? 1004 : -1);
	MT_CHECK_EQ(s->time, type & MT_SAMPLE_TIME ? 1005 : 0);
	MT_CHECK_EQ(s->addr, type & MT_SAMPLE_ADDR ? 1006 : 0);
	MT_CHECK_EQ(s->stream_id, type & MT_SAMPLE_STREAM_ID ? 1007 : 0);
	MT_CHECK_EQ(s->cpu, type & MT_SAMPLE_CPU ? 8 : UINT32_MAX);
	MT_CHECK_EQ(s->period, type & MT_SAMPLE_PERIOD ? 1009 : 0);
	MT_CHECK_EQ(s->weight, type & (MT_SAMPLE_WEIGHT | MT_SAMPLE_WEIGHT_STRUCT) ? 6001 : 0);
	MT_CHECK_EQ(s->data_source, type & MT_SAMPLE_DATA_SRC ? 6002 : 0);
	MT_CHECK_EQ(s->transaction, type & MT_SAMPLE_TRANSACTION ? 6003 : 0);
	MT_CHECK_EQ(s->phys_addr, type & MT_SAMPLE_PHYS_ADDR ? 6004 : 0);
	MT_CHECK_EQ(s->cgroup, type & MT_SAMPLE_CGROUP ? 6005 : 0);
	MT_CHECK_EQ(s->data_page_size, type & MT_SAMPLE_DATA_PAGE_SIZE ? 6006 : 0);
	MT_CHECK_EQ(s->code_page_size, type & MT_SAMPLE_CODE_PAGE_SIZE ? 6007 : 0);
}

static void check_arrays(const struct mt_sample *s, uint64_t type)
{
	MT_CHECK_EQ(s->read_size, type & MT_SAMPLE_READ ? 64 : 0);
	MT_CHECK_EQ(s->chain_count, type & MT_SAMPLE_CALLCHAIN ? 4 : 0);
	MT_CHECK(!s->chain_count || s->chain[3] == 4002);
	MT_CHECK_EQ(s->raw_size, type & MT_SAMPLE_RAW ? 12 : 0);
	MT_CHECK(!s->raw_size || !memcmp(s->raw, "raw bytes!!!", 12));
	MT_CHECK_EQ(s->has_branches, (type & MT_SAMPLE_BRANCH_STACK) != 0);
	MT_CHECK_EQ(s->branch_count, type & MT_SAMPLE_BRANCH_STACK ? 2 : 0);
	MT_CHECK(!s->branch_count || (s->branches[1].from == 2003 && s->branches[1].flags == 2005));
	MT_CHECK_EQ(s->user_abi, type & MT_SAMPLE_REGS_USER ? 2 : 0);
	MT_CHECK(s->user_abi ? s->user_regs && s->user_regs[2] == 5002 : !s->user_regs);
}

static void check_dump(const struct mt_sample *s, uint64_t type)
{
	bool dumped = type & MT_SAMPLE_STACK_USER;

	MT_CHECK_EQ(s->dump_asked, dumped ? DUMP_ASKED : 0);
	MT_CHECK_EQ(s->dump_size, dumped ? DUMP_VALID : 0);
	for (uint8_t i = 0; dumped && i < DUMP_VALID; i++)
		MT_CHECK_EQ(s->dump[i], i);
}

static void check_sample(const struct mt_attr *attr, const uint8_t *record, size_t size,
			 const struct mt_dump_apart *apart)
{
	struct mt_sample s;

	if (!MT_CHECK(mt_sample_decode(attr, record, size, apart, &s)))
		return;
	check_scalars(&s, attr->sample_type);
	check_arrays(&s, attr->sample_type);
	check_dump(&s, attr->sample_type);
}

/* Like the recorder: removes the dump's bytes and closes the gap. */
static void check_apart(const struct mt_attr *attr, const struct kernel_bytes *k, size_t stack)
{
	struct mt_dump_apart apart = {.cut = (uint32_t)stack + 8,
				      .asked = DUMP_ASKED,
				      .bytes = k->bytes + stack + 8,
				      .size = DUMP_VALID};
	struct kernel_bytes cut = *k;

	cut.size -= DUMP_ASKED;
	memmove(cut.bytes + apart.cut, cut.bytes + apart.cut + DUMP_ASKED, cut.size - apart.cut);
	check_sample(attr, cut.bytes, cut.size, &apart);
}

static void check_attr(const struct mt_attr *attr)
{
	size_t stack;
	struct kernel_bytes k = sample_of(attr, &stack);

	check_sample(attr, k.bytes, k.size, NULL);
	MT_CHECK_EQ(mt_sample_stack_offset(attr, k.bytes, k.size), stack);
	if (stack)
		check_apart(attr, &k, stack);
}

MT_TEST(everything_at_once)
{
	check_attr(&full_attr);
}

MT_TEST(each_field_alone_and_missing)
{
	struct mt_attr attr = full_attr;

	for (int bit = 0; bit < 25; bit++) {
		attr.sample_type = 1u << bit;
		check_attr(&attr);
		attr.sample_type = EVERYTHING & ~(uint64_t)(1u << bit);
		check_attr(&attr);
		attr.sample_type = (1u << bit) | MT_SAMPLE_STACK_USER | MT_SAMPLE_REGS_USER;
		check_attr(&attr);
	}
}

MT_TEST(weight_struct_is_where_weight_does)
{
	struct mt_attr attr = full_attr;

	attr.sample_type ^= MT_SAMPLE_WEIGHT | MT_SAMPLE_WEIGHT_STRUCT;
	check_attr(&attr);
}

/* Each length is copied, so that a sanitizer reports a read past its end. */
MT_TEST(cut_at_every_length)
{
	size_t stack;
	struct kernel_bytes k = sample_of(&full_attr, &stack);
	struct mt_sample s;

	for (size_t size = 0; size < k.size; size++) {
		uint8_t *copy = aligned_alloc(8, mt_align8(size + 1));

		memcpy(copy, k.bytes, size);
		MT_CHECK(!mt_sample_decode(&full_attr, copy, size, NULL, &s));
		MT_CHECK_EQ(mt_sample_stack_offset(&full_attr, copy, size),
			    size < stack + 8 + DUMP_ASKED + 8 ? 0 : stack);
		free(copy);
	}
}

static size_t read_size(uint64_t format, int values)
{
	struct mt_attr attr = {.sample_type = MT_SAMPLE_READ | MT_SAMPLE_CALLCHAIN,
			       .read_format = format};
	struct kernel_bytes k = kernel_begin(MT_KERNEL_SAMPLE, 0);
	struct mt_sample s;

	put64(&k, 3); /* the value, or the number of values */
	put_values(&k, values - 1, 0);
	put64(&k, 1);
	put64(&k, 0x777);
	if (!mt_sample_decode(&attr, k.bytes, k.size, NULL, &s) || s.chain_count != 1 ||
	    s.chain[0] != 0x777)
		return 0;
	return s.read_size;
}

MT_TEST(every_read_format)
{
	for (uint64_t format = 0; format < 32; format++) {
		int times = !!(format & MT_FORMAT_ENABLED) + !!(format & MT_FORMAT_RUNNING);
		int value = 1 + !!(format & MT_FORMAT_ID) + !!(format & MT_FORMAT_LOST);
		int values = format & MT_FORMAT_GROUP ? 1 + times + 3 * value : times + value;

		MT_CHECK_EQ(read_size(format, values), values * 8);
	}
}

static bool decode_u64s(const struct mt_attr *attr, const uint64_t *values, size_t count,
			struct mt_sample *out)
{
	struct kernel_bytes k = kernel_begin(MT_KERNEL_SAMPLE, 0);

	for (size_t i = 0; i < count; i++)
		put64(&k, values[i]);
	return mt_sample_decode(attr, k.bytes, k.size, NULL, out);
}

#define DECODE(attr, out, ...)                             \
	decode_u64s(attr, (const uint64_t[]){__VA_ARGS__}, \
		    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), out)

MT_TEST(what_was_read_is_by_event)
{
	struct mt_attr attr = {.sample_type = MT_SAMPLE_READ};
	struct kernel_bytes k = kernel_begin(MT_KERNEL_SAMPLE, 0);
	struct mt_read_value value;
	struct mt_sample s;

	put_values(&k, 4, 10); /* value, enabled, id, lost: put as 10, 11, 12, 13 */
	attr.read_format = MT_FORMAT_ENABLED | MT_FORMAT_ID | MT_FORMAT_LOST;
	MT_REQUIRE(mt_sample_decode(&attr, k.bytes, k.size, NULL, &s));
	MT_CHECK_EQ(mt_sample_read_count(&attr, &s), 1);
	MT_CHECK(mt_sample_read_get(&attr, &s, 0, &value));
	MT_CHECK(value.value == 10 && value.id == 12);
	MT_CHECK(!mt_sample_read_get(&attr, &s, 1, &value));
	k = kernel_begin(MT_KERNEL_SAMPLE, 0);
	put64(&k, 2);
	put_values(&k, 6, 20); /* enabled, running, then {value, id} twice */
	attr.read_format = MT_FORMAT_GROUP | MT_FORMAT_ENABLED | MT_FORMAT_RUNNING | MT_FORMAT_ID;
	MT_REQUIRE(mt_sample_decode(&attr, k.bytes, k.size, NULL, &s));
	MT_CHECK_EQ(mt_sample_read_count(&attr, &s), 2);
	MT_CHECK(mt_sample_read_get(&attr, &s, 1, &value));
	MT_CHECK(value.value == 24 && value.id == 25);
	MT_CHECK(!mt_sample_read_get(&attr, &s, 2, &value));
	attr.sample_type = 0;
	MT_REQUIRE(mt_sample_decode(&attr, k.bytes, k.size, NULL, &s));
	MT_CHECK_EQ(mt_sample_read_count(&attr, &s), 0);
}

MT_TEST(no_registers_without_an_abi)
{
	struct mt_attr attr = {.sample_type = MT_SAMPLE_REGS_USER | MT_SAMPLE_STACK_USER,
			       .sample_regs_user = 0xff};
	struct mt_sample s;

	MT_CHECK(DECODE(&attr, &s, 0, 0));
	MT_CHECK(!s.user_regs && !s.user_abi && !s.dump_asked);
	MT_CHECK(!DECODE(&attr, &s, 1, 0));
}

MT_TEST(a_dump_of_size_zero_has_no_dynamic_size)
{
	struct mt_attr attr = {.sample_type = MT_SAMPLE_STACK_USER | MT_SAMPLE_WEIGHT};
	struct kernel_bytes k = kernel_begin(MT_KERNEL_SAMPLE, 0);
	struct mt_sample s;

	MT_CHECK(DECODE(&attr, &s, 0, 77));
	MT_CHECK_EQ(s.weight, 77);
	MT_CHECK(!s.dump);
	put64(&k, 0);
	put64(&k, 77);
	MT_CHECK_EQ(mt_sample_stack_offset(&attr, k.bytes, k.size), 0);
}

MT_TEST(a_dump_may_hold_no_valid_byte)
{
	struct mt_attr attr = {.sample_type = MT_SAMPLE_STACK_USER};
	struct mt_sample s;

	MT_CHECK(DECODE(&attr, &s, 8, 0xaaaa, 0));
	MT_CHECK_EQ(s.dump_asked, 8);
	MT_CHECK_EQ(s.dump_size, 0);
	MT_CHECK(!DECODE(&attr, &s, 8, 0xaaaa, 9)); /* more valid than requested */
}

MT_TEST(an_empty_branch_stack_with_or_without_its_index)
{
	struct mt_attr attr = {.sample_type = MT_SAMPLE_BRANCH_STACK | MT_SAMPLE_WEIGHT,
			       .branch_sample_type = MT_BRANCH_HW_INDEX};
	struct mt_sample s;

	MT_CHECK(DECODE(&attr, &s, 0, 5, 77));
	MT_CHECK_EQ(s.weight, 77);
	MT_CHECK(s.has_branches);
	MT_CHECK(DECODE(&attr, &s, 0, 77));
	MT_CHECK_EQ(s.weight, 77);
	attr.sample_type = MT_SAMPLE_BRANCH_STACK | MT_SAMPLE_STACK_USER | MT_SAMPLE_WEIGHT;
	MT_CHECK(DECODE(&attr, &s, 0, 8, 0xaaaa, 4, 77));
	MT_CHECK_EQ(s.dump_size, 4);
	MT_CHECK_EQ(s.weight, 77);
}

MT_TEST(counts_that_overflow_are_refused)
{
	struct mt_attr chain = {.sample_type = MT_SAMPLE_CALLCHAIN},
		       branches = {.sample_type = MT_SAMPLE_BRANCH_STACK};
	struct mt_attr read = {.sample_type = MT_SAMPLE_READ,
			       .read_format = MT_FORMAT_GROUP | MT_FORMAT_ID};
	struct mt_attr stack = {.sample_type = MT_SAMPLE_STACK_USER},
		       aux = {.sample_type = MT_SAMPLE_AUX};
	static const uint64_t counts[] = {2,	      1ull << 61, (1ull << 61) + 1,
					  1ull << 63, UINT64_MAX, UINT64_MAX / 24 + 1};
	struct mt_sample s;

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		MT_CHECK(!DECODE(&chain, &s, counts[i], 1));
		MT_CHECK(!DECODE(&branches, &s, counts[i], 1, 2));
		MT_CHECK(!DECODE(&read, &s, counts[i], 1));
		MT_CHECK(!DECODE(&stack, &s, counts[i] | 256, 1));
		MT_CHECK(!DECODE(&aux, &s, counts[i] | 256, 1));
	}
}

MT_TEST(raw_of_odd_size_spoils_only_what_is_read_in_place)
{
	struct mt_attr attr = {.sample_type = MT_SAMPLE_RAW | MT_SAMPLE_WEIGHT};
	struct kernel_bytes k = kernel_begin(MT_KERNEL_SAMPLE, 0);
	struct mt_sample s;

	put32(&k, 3);
	put_bytes(&k, "abc", 3);
	put64(&k, 1);
	put_values(&k, 3, 1);
	MT_CHECK(mt_sample_decode(&attr, k.bytes, k.size, NULL, &s));
	MT_CHECK_EQ(s.weight, 1);
	attr.sample_type = MT_SAMPLE_RAW | MT_SAMPLE_BRANCH_STACK;
	MT_CHECK(!mt_sample_decode(&attr, k.bytes, k.size, NULL, &s));
}

MT_TEST(a_dump_apart_has_to_fit)
{
	size_t stack;
	struct kernel_bytes k = sample_of(&full_attr, &stack);
	struct mt_dump_apart apart = {.cut = (uint32_t)stack + 8,
				      .asked = DUMP_ASKED,
				      .bytes = k.bytes,
				      .size = DUMP_VALID};
	struct mt_attr attr = full_attr;
	struct mt_sample s;

	k.size -= DUMP_ASKED;
	memmove(k.bytes + apart.cut, k.bytes + apart.cut + DUMP_ASKED, k.size - apart.cut);
	MT_CHECK(mt_sample_decode(&full_attr, k.bytes, k.size, &apart, &s));
	apart.cut += 8;
	MT_CHECK(!mt_sample_decode(&full_attr, k.bytes, k.size, &apart, &s));
	apart.cut -= 8;
	apart.asked += 8;
	MT_CHECK(!mt_sample_decode(&full_attr, k.bytes, k.size, &apart, &s));
	apart.asked -= 8;
	apart.size = DUMP_VALID - 1;
	MT_CHECK(!mt_sample_decode(&full_attr, k.bytes, k.size, &apart, &s));
	apart.size++;
	attr.sample_type &= ~(uint64_t)MT_SAMPLE_STACK_USER; /* the event has no dumps */
	MT_CHECK(!mt_sample_decode(&attr, k.bytes, k.size, &apart, &s));
}

static const uint8_t attr_bytes[136] = {
	[0] = 2,    [4] = 136,	[8] = 3,    [16] = 4,  [24] = 5,   [32] = 6,  [40] = 1,
	[42] = 4,   [56] = 7,	[64] = 8,   [72] = 9,  [80] = 10,  [88] = 11, [92] = 255,
	[93] = 255, [94] = 255, [95] = 255, [96] = 12, [108] = 13,
};

MT_TEST(attr)
{
	struct mt_attr attr;

	MT_REQUIRE(mt_attr_decode(attr_bytes, sizeof(attr_bytes), &attr));
	MT_CHECK_EQ(attr.type, 2);
	MT_CHECK_EQ(attr.size, 136);
	MT_CHECK_EQ(attr.config, 3);
	MT_CHECK_EQ(attr.sample_period, 4);
	MT_CHECK_EQ(attr.sample_type, 5);
	MT_CHECK_EQ(attr.read_format, 6);
	MT_CHECK_EQ(attr.flags, 1 + (4 << 16));
	MT_CHECK(mt_attr_has(&attr, MT_ATTR_SAMPLE_ID_ALL));
	MT_CHECK(!mt_attr_has(&attr, MT_ATTR_INHERIT));
	MT_CHECK_EQ(attr.config1, 7);
	MT_CHECK_EQ(attr.config2, 8);
	MT_CHECK_EQ(attr.branch_sample_type, 9);
	MT_CHECK_EQ(attr.sample_regs_user, 10);
	MT_CHECK_EQ(attr.sample_stack_user, 11);
	MT_CHECK_EQ(attr.clockid, -1);
	MT_CHECK_EQ(attr.sample_regs_intr, 12);
	MT_CHECK_EQ(attr.sample_max_stack, 13);
}

MT_TEST(attrs_of_every_age)
{
	uint8_t bytes[136];
	struct mt_attr attr;

	for (size_t size = 0; size <= sizeof(bytes); size++) {
		if (!MT_CHECK_EQ(mt_attr_decode(attr_bytes, size, &attr), size >= 64) || size < 64)
			continue;
		MT_CHECK_EQ(attr.branch_sample_type, size > 72 ? 9 : 0);
		MT_CHECK_EQ(attr.sample_max_stack, size > 108 ? 13 : 0);
	}
	memcpy(bytes, attr_bytes, sizeof(bytes));
	bytes[4] = 80; /* the attr's size field counts, not the number of bytes */
	MT_CHECK(mt_attr_decode(bytes, sizeof(bytes), &attr));
	MT_CHECK_EQ(attr.branch_sample_type, 9);
	MT_CHECK_EQ(attr.sample_regs_user, 0);
	bytes[4] = 0; /* the kernel takes 0 as the first size */
	MT_CHECK(mt_attr_decode(bytes, sizeof(bytes), &attr));
	MT_CHECK_EQ(attr.config1, 7);
	MT_CHECK_EQ(attr.config2, 0);
	bytes[4] = 63;
	MT_CHECK(!mt_attr_decode(bytes, sizeof(bytes), &attr));
}

MT_TEST_MAIN
