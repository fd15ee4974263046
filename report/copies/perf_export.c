/*
 * Observes a session. Records on tasks and maps wait until earlier samples are written, because
 * samples are only delivered after their stacks are unwound. So the file is in order of time, and
 * each round of it can be read alone.
 */
#include "report/copies/perf_export.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/base/strings.h"
#include "formats/perfdata/perfdata_file.h"
#include "formats/records/attr.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "formats/records/sample_type.h"
#include "report/names/naming.h"
#include "report/session/session.h"
#include "report/stacks/frames.h"
#include "report/stacks/spaces.h"
#include "report/stacks/stacks.h"
#include "report/sums/row_keys.h"
#include "report/tables/facts.h"
#include "report/tables/text.h"
#include "symbols/images/image.h"
#include "unwind/sample_stack.h"

#define KERNEL "[kernel.kallsyms]"

enum {
	SIDEBAND_ID = 1, /* of the dummy event; others follow by their index in the facts */
	FIRST_ID = 2,
	ROUND = 4096, /* samples of one round */
	TYPE_SOFTWARE = 1,
	SOFTWARE_DUMMY = 9,
	TYPE_TRACEPOINT = 2,
	TIME_FROM_END = 24, /* of the time in a trailer with mt_perf_sideband_type */
	BUILD_ID_MOST = 20,
};

#define KERNEL_START 0xffff800000000000ull

struct perf_export {
	struct mt_session *session;
	struct mt_perf_file *file;
	struct mt_perf_export_counts counts;
	struct mt_perf_bytes waiting; /* records on tasks and maps, not yet written */
	size_t taken;		      /* bytes of `waiting` that are written */
	struct mt_perf_bytes bytes;   /* bytes of the present sample */
	MT_ARRAY(uint64_t) chain;
	uint64_t now; /* time of the last record read */
	uint64_t first_time, last_time;
	bool kernel_reported;
};

static void perf_export_deinit(struct perf_export *copy)
{
	mt_perf_file_destroy(copy->file);
	mt_perf_bytes_deinit(&copy->waiting);
	mt_perf_bytes_deinit(&copy->bytes);
	mt_array_deinit(&copy->chain);
}

/* ---- Tasks and maps ---- */

static struct mt_kernel_record record_of(const struct perf_export *copy, uint32_t type)
{
	return (struct mt_kernel_record){.type = type,
					 .misc = MT_CPUMODE_USER,
					 .time = copy->now,
					 .id_pid = -1,
					 .id_tid = -1,
					 .cpu = UINT32_MAX};
}

static void put_task(struct perf_export *copy, const struct mt_task *task)
{
	struct mt_kernel_record record = record_of(copy, MT_KERNEL_COMM);

	record.pid = record.id_pid = task->pid;
	record.tid = record.id_tid = task->tid;
	record.name = mt_strings_get(mt_session_strings(copy->session), task->comm);
	mt_perf_put_record(&copy->waiting, &record, SIDEBAND_ID);
}

/* If the build id of a mapping's image is known, it replaces device and inode. */
static void find_build_id(const struct perf_export *copy, const struct mt_image_identity *identity,
			  struct mt_kernel_record *record)
{
	const struct mt_image *image =
		mt_image_set_intern(mt_naming_images(mt_session_naming(copy->session)), identity);

	if (image && image->identity.build_id_size &&
	    image->identity.build_id_size <= BUILD_ID_MOST) {
		record->build_id = image->identity.build_id;
		record->build_id_size = image->identity.build_id_size;
	}
}

static void put_map(struct perf_export *copy, const struct mt_map_record *map)
{
	struct mt_kernel_record record = record_of(copy, MT_KERNEL_MMAP2);
	MT_CLEANUP_FREE char *path = map->path.size ? mt_copy_bytes(map->path.bytes, map->path.size)
						    : mt_copy_string("//anon");
	struct mt_mapped mapped = mt_mapped_by_state(map, path);

	record.pid = record.tid = record.id_pid = record.id_tid = map->pid;
	record.start = map->start;
	record.length = map->end - map->start;
	record.offset = map->offset;
	record.prot = map->prot;
	record.flags = map->flags;
	record.major = map->major;
	record.minor = map->minor;
	record.inode = map->inode;
	record.name = path;
	find_build_id(copy, &mapped.identity, &record);
	mt_perf_put_record(&copy->waiting, &record, SIDEBAND_ID);
}

static void put_kernel_record(struct perf_export *copy, const struct mt_kernel_record *from)
{
	struct mt_kernel_record record = *from;
	struct mt_mapped mapped;

	if ((record.type == MT_KERNEL_MMAP || record.type == MT_KERNEL_MMAP2) &&
	    mt_mapped_by_kernel(from, &mapped) && !record.build_id)
		find_build_id(copy, &mapped.identity, &record);
	mt_perf_put_record(&copy->waiting, &record, SIDEBAND_ID);
}

static void put_loss(struct perf_export *copy, uint32_t event, const struct mt_loss_record *loss)
{
	struct mt_kernel_record record = record_of(copy, MT_KERNEL_LOST);

	record.lost_id = event == MT_EVENT_NONE ? SIDEBAND_ID : event + FIRST_ID;
	record.lost = loss->count;
	mt_perf_put_record(&copy->waiting, &record, SIDEBAND_ID);
}

static void observe(void *context, const struct mt_observed *observed)
{
	struct perf_export *copy = context;

	switch (observed->kind) {
	case MT_OBSERVED_TASK:
		if (observed->task)
			put_task(copy, observed->task);
		break;
	case MT_OBSERVED_MAP:
		if (!observed->again)
			put_map(copy, observed->map);
		break;
	case MT_OBSERVED_LOSS:
		put_loss(copy, observed->event, observed->loss);
		break;
	case MT_OBSERVED_KERNEL:
		copy->now = observed->time;
		put_kernel_record(copy, observed->kernel);
		break;
	case MT_OBSERVED_SAMPLE:
		copy->now = observed->time;
		break;
	default:
		break;
	}
}

/* Writes the waiting records up to the time `until`. */
static struct mt_error *write_waiting(struct perf_export *copy, uint64_t until)
{
	const uint8_t *bytes = copy->waiting.data.items;
	size_t begin = copy->taken, end = begin, count = copy->waiting.data.count;
	struct mt_error *err;

	while (end < count) {
		size_t size = mt_get_le16(bytes + end + 6);

		if (mt_get_le64(bytes + end + size - TIME_FROM_END) > until)
			break;
		end += size;
	}
	if (end == begin)
		return NULL;
	err = mt_perf_file_write(copy->file, bytes + begin, end - begin);
	copy->taken = end;
	if (end < count && end < count / 2)
		return err;
	memmove(copy->waiting.data.items, bytes + end, count - end);
	copy->waiting.data.count = count - end;
	copy->taken = 0;
	return err;
}

/* ---- Samples ---- */

/*
 * Writes the mapping of the kernel. Its name ends in the name of a function of the sample, and its
 * offset is the address of that function. perf compares both with the running kernel to find how
 * far the kernel was moved in another boot.
 */
static struct mt_error *put_kernel(struct perf_export *copy, const struct mt_session_sample *sample)
{
	struct mt_frames *frames = mt_session_frames(copy->session);
	struct mt_kernel_record record = record_of(copy, MT_KERNEL_MMAP2);
	MT_CLEANUP_FREE char *name = NULL;
	const char *function = "_text";
	size_t depth, count;
	const uint32_t *ids =
		mt_stacks_get(mt_session_stacks(copy->session), sample->stack, &depth);

	for (size_t i = 0; i < sample->kernel_frames && i < depth && !record.offset; i++) {
		const struct mt_frame_name *names = mt_frames_names(frames, ids[i], &count);

		if (!names->resolved || strcmp(names->dso, KERNEL) != 0)
			continue;
		function = mt_strings_get(mt_frames_strings(frames), names->name);
		record.offset = sample->pcs[i] - names->offset;
	}
	name = mt_format(KERNEL "%s", function);
	record.misc = MT_CPUMODE_KERNEL;
	record.pid = -1;
	record.start = KERNEL_START;
	record.length = UINT64_MAX - KERNEL_START;
	record.prot = 4; /* PROT_EXEC */
	record.name = name;
	record.time = sample->time;
	mt_perf_put_record(&copy->bytes, &record, SIDEBAND_ID);
	copy->kernel_reported = true;
	return NULL;
}

/* Makes the callchain: frames, with markers before those of the kernel and of the program. */
static void make_chain(struct perf_export *copy, const struct mt_session_sample *sample)
{
	uint64_t *to;

	(void)mt_array_reserve(&copy->chain, (size_t)sample->frames + 2);
	to = copy->chain.items;
	for (size_t i = 0; i < sample->frames; i++) {
		if (i == sample->kernel_frames)
			*to++ = MT_CONTEXT_USER;
		else if (!i)
			*to++ = MT_CONTEXT_KERNEL;
		*to++ = sample->addresses[i];
	}
	copy->chain.count = (size_t)(to - copy->chain.items);
}

/* The optional fields of a sample of an event. */
static uint64_t more_of(const struct mt_attr *attr)
{
	uint64_t kept = MT_SAMPLE_ADDR | MT_SAMPLE_CPU;

	return attr->sample_type & (kept | (attr->type == TYPE_TRACEPOINT ? MT_SAMPLE_RAW : 0));
}

static void put_sample(struct perf_export *copy, const struct mt_session_sample *sample)
{
	const struct mt_facts *facts = mt_session_facts(copy->session);
	const struct mt_sample *kernel = sample->kernel;
	struct mt_value values[MT_SAMPLE_VALUES];
	struct mt_sample out = {
		.misc = !sample->frames		? kernel->misc & MT_MISC_CPUMODE_MASK
			: sample->kernel_frames ? MT_CPUMODE_KERNEL
						: MT_CPUMODE_USER,
		.id = sample->event + FIRST_ID,
		.ip = sample->frames ? sample->addresses[0] : kernel->ip,
		.pid = kernel->pid,
		.tid = kernel->tid,
		.time = sample->time,
		.addr = kernel->addr,
		.cpu = kernel->cpu,
		.raw = sample->member ? NULL : kernel->raw,
		.raw_size = sample->member ? 0 : kernel->raw_size,
		.chain = copy->chain.items,
		.chain_count = copy->chain.count,
	};

	mt_sample_values(sample, values);
	out.period = (uint64_t)llround(values[1].value);
	copy->counts.samples++;
	copy->counts.cut += !mt_perf_put_sample(&copy->bytes, &out,
						more_of(&facts->events.items[sample->event].attr));
	if (copy->counts.samples % ROUND == 0)
		mt_perf_put_round(&copy->bytes);
}

static struct mt_error *copy_sample(struct perf_export *copy,
				    const struct mt_session_sample *sample)
{
	struct mt_error *err = write_waiting(copy, sample->time);

	copy->bytes.data.count = 0;
	if (!err && sample->kernel_frames && !copy->kernel_reported)
		err = put_kernel(copy, sample);
	if (err)
		return err;
	make_chain(copy, sample);
	put_sample(copy, sample);
	if (!copy->first_time)
		copy->first_time = sample->time;
	copy->last_time = sample->time;
	return mt_perf_file_write(copy->file, copy->bytes.data.items, copy->bytes.data.count);
}

static struct mt_error *copy_samples(struct perf_export *copy)
{
	struct mt_session_sample sample;
	struct mt_error *err = NULL;
	bool more = true;

	while (!err) {
		err = mt_session_next(copy->session, &sample, &more);
		if (err || !more)
			break;
		err = copy_sample(copy, &sample);
	}
	return err ? err : write_waiting(copy, UINT64_MAX);
}

/* ---- Facts about the file ---- */

/* The events, with the memory of their attributes and the images. */
struct closing {
	struct mt_perf_closing facts;
	struct mt_attr dummy;
	MT_ARRAY(struct mt_perf_described) events;
	MT_ARRAY(struct mt_perf_identified) images;
	uint8_t kernel_id[BUILD_ID_MOST];
};

static void closing_deinit(struct closing *closing)
{
	mt_array_deinit(&closing->events);
	mt_array_deinit(&closing->images);
}

/* Describes the events of samples, and the dummy event, which has all other records. */
static void describe_events(const struct mt_facts *facts, struct closing *out)
{
	out->dummy = (struct mt_attr){.type = TYPE_SOFTWARE, .config = SOFTWARE_DUMMY};
	for (size_t i = 0; i < facts->events.count; i++) {
		const struct mt_facts_event *event = &facts->events.items[i];

		if (event->role != MT_ROLE_SAMPLE && !event->selected)
			continue;
		(void)mt_array_append(&out->events, (struct mt_perf_described){
							    .attr = &event->attr,
							    .id = i + FIRST_ID,
							    .sample_type = mt_perf_sample_type |
									   more_of(&event->attr),
							    .name = event->name,
							    .format = event->format,
						    });
		out->dummy.clockid = event->attr.clockid;
		out->dummy.flags = event->attr.flags & (uint64_t)1 << MT_ATTR_USE_CLOCKID;
	}
	(void)mt_array_append(&out->events, (struct mt_perf_described){
						    .attr = &out->dummy,
						    .id = SIDEBAND_ID,
						    .sample_type = mt_perf_sideband_type,
						    .name = "dummy",
					    });
}

static void add_kernel_id(const char *hex, struct closing *out)
{
	size_t size = hex ? strlen(hex) / 2 : 0;

	if (!size || size > BUILD_ID_MOST)
		return;
	for (size_t i = 0; i < size; i++) {
		const char byte[] = {hex[2 * i], hex[2 * i + 1], '\0'};

		out->kernel_id[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	(void)mt_array_append(&out->images,
			      (struct mt_perf_identified){KERNEL, out->kernel_id, size, true});
}

static void identify_images(const struct perf_export *copy, struct closing *out)
{
	const struct mt_image_set *images = mt_naming_images(mt_session_naming(copy->session));

	for (uint32_t i = 0; i < mt_image_set_count(images); i++) {
		const struct mt_image *image = mt_image_set_get(images, i);
		const struct mt_image_identity *identity = &image->identity;

		if (identity->build_id_size && image->kind != MT_IMAGE_KERNEL)
			(void)mt_array_append(
				&out->images,
				(struct mt_perf_identified){identity->path, identity->build_id,
							    identity->build_id_size, false});
	}
}

static struct mt_error *close_file(struct perf_export *copy)
{
	const struct mt_facts *facts = mt_session_facts(copy->session);
	const struct mt_facts_recording *recording = &facts->recordings.items[0];
	const char *cpus = mt_facts_info(recording, "cpus");
	uint32_t clock = recording->reading->header.clock;
	MT_CLEANUP(closing_deinit)
	struct closing closing = {
		.facts =
			{
				.host = mt_facts_info(recording, "host"),
				.kernel = mt_facts_info(recording, "kernel"),
				.tool = mt_facts_info(recording, "tool"),
				.arch = mt_facts_info(recording, "arch"),
				.cpu = mt_facts_info(recording, "cpu"),
				.command = mt_facts_info(recording, "command"),
				.cpus = cpus ? (uint32_t)strtoul(cpus, NULL, 10) : 0,
				.first_time = copy->first_time,
				.last_time = copy->last_time,
				.clock = clock,
				.wall_clock = clock == MT_CLOCK_PERF ? 0 : recording->start_utc,
				.clock_time = recording->start,
			},
	};

	describe_events(facts, &closing);
	add_kernel_id(mt_facts_info(recording, "kernel-build-id"), &closing);
	identify_images(copy, &closing);
	closing.facts.events = closing.events.items;
	closing.facts.event_count = closing.events.count;
	closing.facts.images = closing.images.items;
	closing.facts.image_count = closing.images.count;
	return mt_perf_file_close(copy->file, &closing.facts);
}

static struct mt_error *check_session(const struct mt_session *session, const char *path)
{
	if (mt_session_has_reported(session, false))
		return mt_error_create(MT_ERR_USAGE,
				       "%s: has names of frames, and perf.data takes addresses",
				       path);
	if (mt_session_facts(session)->recordings.count > 1)
		return mt_error_create(MT_ERR_USAGE,
				       "%s: has several recordings, and perf.data takes one", path);
	return NULL;
}

struct mt_error *mt_perf_export(struct mt_session *session, const char *path, int fd,
				struct mt_perf_export_counts *out)
{
	MT_CLEANUP(perf_export_deinit) struct perf_export copy = {.session = session};
	const struct mt_observer observer = {.context = &copy, .observe = observe};
	struct mt_error *err = check_session(session, path);

	err = err ? err : mt_perf_file_create(fd, &copy.file);
	if (err)
		return err;
	mt_session_observe(session, &observer);
	err = copy_samples(&copy);
	mt_session_ignore(session, &observer);
	if (!err && !copy.counts.samples)
		err = mt_error_create(MT_ERR_NOT_FOUND,
				      "%s: no samples, or none that the "
				      "selectors leave",
				      path);
	err = err ? err : close_file(&copy);
	if (err)
		return err;
	copy.counts.written = mt_perf_file_size(copy.file);
	*out = copy.counts;
	return NULL;
}

void mt_perf_export_print(const struct mt_perf_export_counts *counts, const char *tool,
			  const char *path, FILE *to)
{
	fprintf(to, "%s: %s: %s samples with their stacks; %s bytes\n", tool, path,
		mt_text_count((double)counts->samples).text,
		mt_text_count((double)counts->written).text);
	if (counts->cut)
		fprintf(to,
			"%s: of %s samples the outermost frames are left out: a record of "
			"perf.data has no room for them\n",
			tool, mt_text_count((double)counts->cut).text);
}
