/*
 * Decodes PERF_RECORD_SAMPLE field by field, in the order in which the kernel writes them
 * (perf_output_sample() in kernel/events/core.c): the attr says which fields are present, and
 * counts in the record say how long they are.
 */
#include "formats/records/sample.h"

#include "formats/base/cursor.h"
#include "formats/records/attr.h"
#include "formats/records/sample_type.h"

/* One walk over one record. */
struct walk {
	const struct mt_attr *attr;
	const struct mt_dump_apart *apart;
	struct mt_cursor c;
	const uint8_t *record;
	/*
	 * With PERF_SAMPLE_BRANCH_HW_INDEX an empty branch stack may have the index or, if the
	 * hardware gave no stack at all, lack it. Only the size of the record shows which.
	 */
	bool empty_without_index;
	bool empty_stack; /* an empty branch stack was found */
};

static bool sampled(const struct walk *w, uint64_t bit)
{
	return w->attr->sample_type & bit;
}

static uint64_t u64_if(struct walk *w, uint64_t bit)
{
	return sampled(w, bit) ? mt_cursor_u64(&w->c) : 0;
}

/* Borrows n * 8 bytes, which must be aligned so that they can be read in place. */
static const uint64_t *take_u64s(struct walk *w, uint64_t n)
{
	const uint8_t *p;

	if (n > mt_cursor_left(&w->c) / 8 || (uintptr_t)w->c.pos % 8) {
		w->c.bad = true;
		return NULL;
	}
	p = mt_cursor_bytes(&w->c, (size_t)n * 8);
	return (const void *)p;
}

/* The fields of fixed size that every sample begins with. */
static void take_fixed(struct walk *w, struct mt_sample *out)
{
	if (sampled(w, MT_SAMPLE_IDENTIFIER))
		out->id = mt_cursor_u64(&w->c);
	out->ip = u64_if(w, MT_SAMPLE_IP);
	if (sampled(w, MT_SAMPLE_TID)) {
		out->pid = (int32_t)mt_cursor_u32(&w->c);
		out->tid = (int32_t)mt_cursor_u32(&w->c);
	}
	out->time = u64_if(w, MT_SAMPLE_TIME);
	out->addr = u64_if(w, MT_SAMPLE_ADDR);
	if (sampled(w, MT_SAMPLE_ID))
		out->id = mt_cursor_u64(&w->c);
	out->stream_id = u64_if(w, MT_SAMPLE_STREAM_ID);
	if (sampled(w, MT_SAMPLE_CPU)) {
		out->cpu = mt_cursor_u32(&w->c);
		mt_cursor_u32(&w->c);
	}
	out->period = u64_if(w, MT_SAMPLE_PERIOD);
}

static void skip_fixed(struct walk *w)
{
	mt_cursor_bytes(&w->c,
			8 * (size_t)__builtin_popcountll(w->attr->sample_type & MT_SAMPLE_FIXED));
}

static void take_read(struct walk *w, struct mt_sample *out)
{
	uint64_t format = w->attr->read_format;
	size_t times =
		(size_t)__builtin_popcountll(format & (MT_FORMAT_ENABLED | MT_FORMAT_RUNNING));
	size_t value = 1 + (size_t)__builtin_popcountll(format & (MT_FORMAT_ID | MT_FORMAT_LOST));
	uint64_t values = 1;

	out->read = w->c.pos;
	if (format & MT_FORMAT_GROUP)
		values = mt_cursor_u64(&w->c);
	if (values > mt_cursor_left(&w->c) / 8)
		w->c.bad = true;
	else
		mt_cursor_bytes(&w->c, 8 * (times + (size_t)values * value));
	out->read_size = (size_t)(w->c.pos - out->read);
}

static void take_chain(struct walk *w, struct mt_sample *out)
{
	uint64_t n = mt_cursor_u64(&w->c);

	out->chain = take_u64s(w, n);
	out->chain_count = (size_t)n;
}

static void take_raw(struct walk *w, struct mt_sample *out)
{
	out->raw_size = mt_cursor_u32(&w->c);
	out->raw = mt_cursor_bytes(&w->c, out->raw_size);
}

static void take_branches(struct walk *w, struct mt_sample *out)
{
	uint64_t n = mt_cursor_u64(&w->c);

	out->has_branches = true;
	if (w->attr->branch_sample_type & MT_BRANCH_HW_INDEX) {
		w->empty_stack = !n;
		if (n || !w->empty_without_index)
			mt_cursor_u64(&w->c); /* the hardware index, unused */
	}
	if (n > mt_cursor_left(&w->c) / sizeof(struct mt_branch)) {
		w->c.bad = true;
		return;
	}
	out->branches = (const void *)take_u64s(w, n * 3);
	out->branch_count = (size_t)n;
	if (w->attr->branch_sample_type & MT_BRANCH_COUNTERS)
		take_u64s(w, n);
}

static const uint64_t *take_regs(struct walk *w, uint64_t mask, uint64_t *abi)
{
	*abi = mt_cursor_u64(&w->c);
	return *abi ? take_u64s(w, (uint64_t)__builtin_popcountll(mask)) : NULL;
}

/* The fields between the fixed fields and the user stack. */
static void take_variable(struct walk *w, struct mt_sample *out)
{
	if (sampled(w, MT_SAMPLE_READ))
		take_read(w, out);
	if (sampled(w, MT_SAMPLE_CALLCHAIN))
		take_chain(w, out);
	if (sampled(w, MT_SAMPLE_RAW))
		take_raw(w, out);
	if (sampled(w, MT_SAMPLE_BRANCH_STACK))
		take_branches(w, out);
	if (sampled(w, MT_SAMPLE_REGS_USER))
		out->user_regs = take_regs(w, w->attr->sample_regs_user, &out->user_abi);
}

/* The dump's bytes, which are in the record or, if they were cut out, elsewhere. */
static const uint8_t *take_dump_bytes(struct walk *w, uint64_t asked)
{
	if (!w->apart)
		return mt_cursor_bytes(&w->c, asked);
	if (asked != w->apart->asked || (size_t)(w->c.pos - w->record) != w->apart->cut)
		w->c.bad = true;
	return w->apart->bytes;
}

static void take_stack(struct walk *w, struct mt_sample *out)
{
	uint64_t asked = mt_cursor_u64(&w->c), valid;

	if (!asked) /* no bytes and no dyn_size, as for a kernel thread */
		return;
	out->dump = take_dump_bytes(w, asked);
	valid = mt_cursor_u64(&w->c);
	if (valid > asked || (w->apart && w->apart->bytes && valid > w->apart->size))
		w->c.bad = true;
	out->dump_asked = (size_t)asked;
	out->dump_size = out->dump ? (size_t)valid : 0;
	out->dump_was = (size_t)valid;
}

static void take_aux(struct walk *w)
{
	uint64_t size = mt_cursor_u64(&w->c);

	mt_cursor_bytes(&w->c, size);
}

static void take_rest(struct walk *w, struct mt_sample *out)
{
	uint64_t abi;

	if (sampled(w, MT_SAMPLE_STACK_USER))
		take_stack(w, out);
	out->weight = u64_if(w, MT_SAMPLE_WEIGHT | MT_SAMPLE_WEIGHT_STRUCT);
	out->data_source = u64_if(w, MT_SAMPLE_DATA_SRC);
	out->transaction = u64_if(w, MT_SAMPLE_TRANSACTION);
	if (sampled(w, MT_SAMPLE_REGS_INTR))
		take_regs(w, w->attr->sample_regs_intr, &abi);
	out->phys_addr = u64_if(w, MT_SAMPLE_PHYS_ADDR);
	out->cgroup = u64_if(w, MT_SAMPLE_CGROUP);
	out->data_page_size = u64_if(w, MT_SAMPLE_DATA_PAGE_SIZE);
	out->code_page_size = u64_if(w, MT_SAMPLE_CODE_PAGE_SIZE);
	if (sampled(w, MT_SAMPLE_AUX))
		take_aux(w);
}

static struct walk walk_begin(const struct mt_attr *attr, const uint8_t *record, size_t size)
{
	struct walk w = {.attr = attr, .record = record, .c = mt_cursor_init(record, size)};

	mt_cursor_bytes(&w.c, MT_KERNEL_HEADER_SIZE);
	return w;
}

static bool decode(struct walk *w, struct mt_sample *out)
{
	*out = (struct mt_sample){.pid = -1, .tid = -1, .cpu = UINT32_MAX};
	if (w->c.bad)
		return false;
	out->misc = mt_get_le16(w->record + 4);
	take_fixed(w, out);
	take_variable(w, out);
	take_rest(w, out);
	return !w->c.bad && (!w->apart || out->dump_asked);
}

bool mt_sample_decode(const struct mt_attr *attr, const uint8_t *record, size_t size,
		      const struct mt_dump_apart *apart, struct mt_sample *out)
{
	struct walk w = walk_begin(attr, record, size), retry = w;
	struct mt_sample other;
	bool good;

	w.apart = retry.apart = apart;
	good = decode(&w, out);
	if (!w.empty_stack || (good && !mt_cursor_left(&w.c)))
		return good;
	retry.empty_without_index = true;
	if (!decode(&retry, &other) || (good && mt_cursor_left(&retry.c)))
		return good;
	*out = other;
	return true;
}

bool mt_sample_decode_bytes(const struct mt_attr *attr, const struct mt_kernel_bytes *bytes,
			    struct mt_sample *out)
{
	struct mt_dump_apart apart = {bytes->cut, bytes->dump_asked, bytes->dump, bytes->dump_size};

	if (bytes->kernel_size < MT_KERNEL_HEADER_SIZE ||
	    mt_get_le32(bytes->kernel) != MT_KERNEL_SAMPLE ||
	    !mt_sample_decode(attr, bytes->kernel, bytes->kernel_size,
			      bytes->dump_asked ? &apart : NULL, out))
		return false;
	out->unwound = bytes->unwound;
	return true;
}

size_t mt_sample_read_count(const struct mt_attr *attr, const struct mt_sample *sample)
{
	if (!sample->read)
		return 0;
	return attr->read_format & MT_FORMAT_GROUP ? mt_get_le64(sample->read) : 1;
}

bool mt_sample_read_get(const struct mt_attr *attr, const struct mt_sample *sample, size_t i,
			struct mt_read_value *out)
{
	uint64_t format = attr->read_format;
	size_t times =
		(size_t)__builtin_popcountll(format & (MT_FORMAT_ENABLED | MT_FORMAT_RUNNING));
	size_t words = 1 + (size_t)__builtin_popcountll(format & (MT_FORMAT_ID | MT_FORMAT_LOST));
	bool group = format & MT_FORMAT_GROUP;
	const uint8_t *at;

	if (i >= mt_sample_read_count(attr, sample))
		return false;
	/* with a group, the count and the times come first; else the times follow the value */
	at = sample->read + 8 * (group ? 1 + times + i * words : 0);
	out->value = mt_get_le64(at);
	out->id = format & MT_FORMAT_ID ? mt_get_le64(at + 8 * (group ? 1 : 1 + times)) : 0;
	return true;
}

/* The offset of the field `size` if a dump follows it; else 0. */
static size_t stack_offset(struct walk *w)
{
	struct mt_sample passed;
	size_t offset;
	uint64_t asked;

	skip_fixed(w);
	take_variable(w, &passed);
	offset = (size_t)(w->c.pos - w->record);
	asked = mt_cursor_u64(&w->c);
	mt_cursor_bytes(&w->c, asked);
	if (mt_cursor_u64(&w->c) > asked || w->c.bad || !asked || asked % 8 || offset % 8)
		return 0;
	return offset;
}

size_t mt_sample_stack_offset(const struct mt_attr *attr, const uint8_t *record, size_t size)
{
	struct walk w = walk_begin(attr, record, size), retry = w;
	size_t offset;

	if (!sampled(&w, MT_SAMPLE_STACK_USER))
		return 0;
	offset = stack_offset(&w);
	if (offset || !w.empty_stack)
		return offset;
	retry.empty_without_index = true;
	return stack_offset(&retry);
}
