/*
 * Decodes kernel records other than samples: a body that depends on the type and, with
 * sample_id_all, a trailer with task, time, event and CPU.
 */
#include "formats/base/cursor.h"
#include "formats/records/attr.h"
#include "formats/records/sample.h"
#include "formats/records/sample_type.h"

#include <string.h>
#include <sys/mman.h>

#define BUILD_ID_MAX 20
#define USER_TYPE_FIRST 64 /* perf's own records begin here; they have no trailer */

static void take_task(struct mt_cursor *c, struct mt_kernel_record *out)
{
	out->pid = (int32_t)mt_cursor_u32(c);
	out->tid = (int32_t)mt_cursor_u32(c);
}

static void take_range(struct mt_cursor *c, struct mt_kernel_record *out)
{
	take_task(c, out);
	out->start = mt_cursor_u64(c);
	out->length = mt_cursor_u64(c);
	out->offset = mt_cursor_u64(c);
}

static void take_mmap(struct mt_cursor *c, struct mt_kernel_record *out)
{
	take_range(c, out);
	out->prot = out->misc & MT_MISC_MMAP_DATA ? PROT_READ : PROT_EXEC;
	out->name = mt_cursor_cstring(c);
}

static void take_build_id(struct mt_cursor *c, struct mt_kernel_record *out)
{
	out->build_id_size = mt_cursor_u8(c);
	mt_cursor_bytes(c, 3);
	out->build_id = mt_cursor_bytes(c, BUILD_ID_MAX);
	if (out->build_id_size > BUILD_ID_MAX)
		c->bad = true;
	if (!out->build_id_size)
		out->build_id = NULL;
}

/*
 * Old kernels (4.4, not 4.15) report neither protection nor flags of mappings without a file.
 * Reported flags are never 0. A mapping that is not data is executable.
 */
static uint32_t guess_prot(const struct mt_kernel_record *record)
{
	if (!(record->misc & MT_MISC_MMAP_DATA))
		return PROT_READ | PROT_EXEC;
	return record->name && !strncmp(record->name, "[vvar", 5) ? PROT_READ
								  : PROT_READ | PROT_WRITE;
}

static void take_mmap2(struct mt_cursor *c, struct mt_kernel_record *out)
{
	take_range(c, out);
	if (out->misc & MT_MISC_MMAP_BUILD_ID) {
		take_build_id(c, out);
	} else {
		out->major = mt_cursor_u32(c);
		out->minor = mt_cursor_u32(c);
		out->inode = mt_cursor_u64(c);
		out->inode_generation = mt_cursor_u64(c);
	}
	out->prot = mt_cursor_u32(c);
	out->flags = mt_cursor_u32(c);
	out->name = mt_cursor_cstring(c);
	if (!out->prot && !out->flags && !c->bad)
		out->prot = guess_prot(out);
}

static void take_comm(struct mt_cursor *c, struct mt_kernel_record *out)
{
	take_task(c, out);
	out->name = mt_cursor_cstring(c);
	out->exec = out->misc & MT_MISC_COMM_EXEC;
}

/* FORK and EXIT */
static void take_fork(struct mt_cursor *c, struct mt_kernel_record *out)
{
	out->pid = (int32_t)mt_cursor_u32(c);
	out->ppid = (int32_t)mt_cursor_u32(c);
	out->tid = (int32_t)mt_cursor_u32(c);
	out->ptid = (int32_t)mt_cursor_u32(c);
	out->event_time = mt_cursor_u64(c);
}

static void take_lost(struct mt_cursor *c, struct mt_kernel_record *out)
{
	out->lost_id = mt_cursor_u64(c);
	out->lost = mt_cursor_u64(c);
}

static void take_lost_samples(struct mt_cursor *c, struct mt_kernel_record *out)
{
	out->lost = mt_cursor_u64(c);
}

static void take_throttle(struct mt_cursor *c, struct mt_kernel_record *out)
{
	out->event_time = mt_cursor_u64(c);
	mt_cursor_u64(c); /* id */
	mt_cursor_u64(c); /* stream_id */
}

static void take_ksymbol(struct mt_cursor *c, struct mt_kernel_record *out)
{
	out->start = mt_cursor_u64(c);
	out->length = mt_cursor_u32(c);
	mt_cursor_u16(c); /* type */
	mt_cursor_u16(c); /* flags */
	out->name = mt_cursor_cstring(c);
}

static void take_cgroup(struct mt_cursor *c, struct mt_kernel_record *out)
{
	out->cgroup = mt_cursor_u64(c);
	out->name = mt_cursor_cstring(c);
}

/* Decoders of the body between header and trailer, by type; bodies of other types are ignored. */
static void (*const take_body[])(struct mt_cursor *c, struct mt_kernel_record *out) = {
	[MT_KERNEL_MMAP] = take_mmap,
	[MT_KERNEL_LOST] = take_lost,
	[MT_KERNEL_COMM] = take_comm,
	[MT_KERNEL_EXIT] = take_fork,
	[MT_KERNEL_THROTTLE] = take_throttle,
	[MT_KERNEL_UNTHROTTLE] = take_throttle,
	[MT_KERNEL_FORK] = take_fork,
	[MT_KERNEL_READ] = take_task,
	[MT_KERNEL_MMAP2] = take_mmap2,
	[MT_KERNEL_ITRACE_START] = take_task,
	[MT_KERNEL_LOST_SAMPLES] = take_lost_samples,
	[MT_KERNEL_SWITCH_CPU_WIDE] = take_task,
	[MT_KERNEL_NAMESPACES] = take_task,
	[MT_KERNEL_KSYMBOL] = take_ksymbol,
	[MT_KERNEL_CGROUP] = take_cgroup,
};

static size_t trailer_size(const struct mt_attr *attr, uint32_t type)
{
	if (type >= USER_TYPE_FIRST || !mt_attr_has(attr, MT_ATTR_SAMPLE_ID_ALL))
		return 0;
	return 8 * (size_t)__builtin_popcountll(attr->sample_type & MT_SAMPLE_TRAILER);
}

static void take_trailer(const struct mt_attr *attr, struct mt_cursor *c,
			 struct mt_kernel_record *out)
{
	if (attr->sample_type & MT_SAMPLE_TID) {
		out->id_pid = (int32_t)mt_cursor_u32(c);
		out->id_tid = (int32_t)mt_cursor_u32(c);
	}
	if (attr->sample_type & MT_SAMPLE_TIME)
		out->time = mt_cursor_u64(c);
	if (attr->sample_type & MT_SAMPLE_ID)
		out->id = mt_cursor_u64(c);
	if (attr->sample_type & MT_SAMPLE_STREAM_ID)
		mt_cursor_u64(c);
	if (attr->sample_type & MT_SAMPLE_CPU) {
		out->cpu = mt_cursor_u32(c);
		mt_cursor_u32(c);
	}
	if (attr->sample_type & MT_SAMPLE_IDENTIFIER)
		out->id = mt_cursor_u64(c);
}

bool mt_kernel_record_decode(const struct mt_attr *attr, const uint8_t *record, size_t size,
			     struct mt_kernel_record *out)
{
	struct mt_cursor c = mt_cursor_init(record, size), body;
	size_t trailer;

	*out = (struct mt_kernel_record){
		.pid = -1,
		.tid = -1,
		.ppid = -1,
		.ptid = -1,
		.id_pid = -1,
		.id_tid = -1,
		.cpu = UINT32_MAX,
	};
	out->type = mt_cursor_u32(&c);
	out->misc = mt_cursor_u16(&c);
	mt_cursor_u16(&c);
	trailer = trailer_size(attr, out->type);
	if (c.bad || mt_cursor_left(&c) < trailer)
		return false;
	body = mt_cursor_sub(&c, mt_cursor_left(&c) - trailer);
	if (out->type < sizeof(take_body) / sizeof(*take_body) && take_body[out->type])
		take_body[out->type](&body, out);
	if (trailer)
		take_trailer(attr, &c, out);
	return !body.bad && !c.bad;
}
