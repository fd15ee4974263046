/*
 * The perf.data source: opens a file and returns its facts as STATE records, then its kernel
 * records by time. Combines the parts in formats/perfdata/.
 *
 * Piped data has its facts in records at any position, so it is read twice. A file without the time
 * range of its samples is also read twice (perf before 4.16, or a killed recording).
 */
#include "formats/perfdata/perfdata.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/reading/held.h"
#include "formats/reading/input.h"
#include "formats/reading/source.h"
#include "formats/records/sample.h"

enum {
	KERNEL_WITHIN = 4096, /* records that are searched for the kernel's mapping */
};

struct perfdata {
	const struct mt_input *input;
	size_t memory_limit;
	struct mt_perf_layout layout;
	struct mt_perf_facts facts;
	struct mt_recording recording;
	struct mt_damage found; /* damage found while opening: recording.damage begins with it */
	struct mt_block state;
	size_t state_at;
	struct mt_perf_records records;
	bool ended; /* `records` is at its end */
	struct mt_perf_queue queue;
	struct mt_perf_piece *given; /* holds the record returned last */
	struct mt_held held;	     /* pieces */
	uint64_t last_time;	     /* of the record returned last */
};

static bool perfdata_probe(const uint8_t *head, size_t size)
{
	static const char *const magics[] = {"PERFILE2", "PERFFILE", "2ELIFREP"};

	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		if (size >= 8 && !memcmp(head, magics[i], 8))
			return true;
	}
	return false;
}

static void perfdata_release(void *of, uint64_t serial)
{
	struct perfdata *p = of;
	struct mt_perf_piece *piece;

	while ((piece = mt_held_take(&p->held, serial)))
		mt_perf_piece_release(piece);
}

static void perfdata_destroy(void *of)
{
	struct perfdata *p = of;

	if (!p)
		return;
	perfdata_release(p, UINT64_MAX);
	mt_array_deinit(&p->held.things);
	mt_perf_piece_release(p->given);
	mt_perf_queue_deinit(&p->queue);
	mt_perf_records_deinit(&p->records);
	mt_perf_facts_deinit(&p->facts);
	free(p->state.bytes);
	free(p);
}

MT_DEFINE_CLEANUP(perfdata, void)

/* ---- Event and time of a record ---- */

static uint64_t field_at(const struct mt_perf_record *record, bool is_sample, uint32_t at)
{
	if (!at || at + 8 > record->size)
		return 0;
	return mt_get_le64(is_sample ? record->bytes + at : record->bytes + record->size - at);
}

/*
 * Finds the event with the record's id. An id is used only if its event stores ids at that
 * position.
 */
static bool find_by_id(const struct mt_perf_facts *facts, const struct mt_perf_record *record,
		       bool is_sample, uint32_t *event, bool *some)
{
	const uint32_t *places = is_sample ? facts->sample_places : facts->other_places;
	size_t count = is_sample ? facts->sample_place_count : facts->other_place_count;

	for (size_t i = 0; i < count; i++) {
		uint64_t id = field_at(record, is_sample, places[i]), found;
		const struct mt_perf_event *known;

		*some |= id != 0;
		if (!id || !mt_map64_get(&facts->event_of_id, id, &found))
			continue;
		known = &facts->events.items[found];
		if ((is_sample ? known->sample_id_at : known->other_id_at) == places[i]) {
			*event = (uint32_t)found;
			return true;
		}
	}
	return false;
}

/*
 * The event of a record, found as perf does: the only event if there is one; the first event for a
 * record without an id; no event for a sample with an unknown id.
 */
static uint32_t event_of(const struct mt_perf_facts *facts, const struct mt_perf_record *record)
{
	bool is_sample = mt_get_le32(record->bytes) == MT_KERNEL_SAMPLE, some = false;
	uint32_t event = 0;

	if (!facts->events.count)
		return MT_EVENT_NONE;
	if (facts->events.count == 1 || find_by_id(facts, record, is_sample, &event, &some))
		return event;
	return is_sample && some ? MT_EVENT_NONE : 0;
}

static uint64_t time_of(const struct mt_perf_facts *facts, const struct mt_perf_record *record,
			uint32_t event)
{
	bool is_sample = mt_get_le32(record->bytes) == MT_KERNEL_SAMPLE;
	const struct mt_perf_event *known;

	if (event == MT_EVENT_NONE)
		return 0;
	known = &facts->events.items[event];
	return field_at(record, is_sample,
			is_sample ? known->sample_time_at : known->other_time_at);
}

static bool is_kernels(const struct mt_perf_record *record)
{
	return mt_get_le32(record->bytes) < MT_PERF_USER_FIRST;
}

/* ---- Opening ---- */

static void see_time(struct mt_perf_facts *facts, const struct mt_perf_record *record)
{
	uint64_t time = time_of(facts, record, event_of(facts, record));

	if (mt_get_le32(record->bytes) != MT_KERNEL_SAMPLE || !time || time == UINT64_MAX)
		return;
	if (!facts->first_time || time < facts->first_time)
		facts->first_time = time;
	if (time > facts->last_time)
		facts->last_time = time;
}

/* Reads the whole file for the facts in perf's records and for the times of the samples. */
static struct mt_error *survey(struct perfdata *p)
{
	struct mt_damage passed = {0}; /* counted when they are read again */
	struct mt_perf_record record;
	struct mt_error *err;
	bool more;

	p->facts.first_time = p->facts.last_time = 0;
	p->records.damage = &passed;
	mt_perf_records_begin(&p->records, p->layout.begin, p->layout.end);
	for (;;) {
		err = mt_perf_records_next(&p->records, &record, &more);
		if (err || !more)
			break;
		if (is_kernels(&record))
			see_time(&p->facts, &record);
		else
			mt_perf_user_record(&p->facts, record.bytes, record.size, record.data,
					    record.data_size);
	}
	p->records.damage = &p->recording.damage;
	return err;
}

static void describe(struct perfdata *p)
{
	struct mt_recording *r = &p->recording;

	r->foreign = p->layout.piped ? "perf.data, piped" : "perf.data";
	r->header.clock = p->facts.has_clock ? p->facts.clock_id : MT_CLOCK_PERF;
	r->size = p->input->size;
	r->raw_bytes = p->layout.end - p->layout.begin;
	r->first_time = p->facts.first_time;
	r->last_time = p->facts.last_time;
	p->found.cut_short = p->layout.cut_short;
	r->has_end = !p->layout.cut_short;
	if (!r->has_end)
		return;
	r->end.start = r->first_time;
	r->end.end = r->last_time;
	r->end.raw_bytes = r->raw_bytes;
}

static struct mt_error *perfdata_rewind(void *of, size_t i)
{
	struct perfdata *p = of;

	(void)i;
	perfdata_release(p, UINT64_MAX);
	mt_perf_piece_release(MT_TAKE(p->given));
	mt_perf_queue_clear(&p->queue);
	mt_perf_records_begin(&p->records, p->layout.begin, p->layout.end);
	p->recording.damage = p->found;
	p->state_at = 0;
	p->ended = false;
	p->last_time = 0;
	return NULL;
}

/* Finds the kernel's mapping, which perf writes before the samples and before other mappings. */
static struct mt_error *look_for_kernel(struct perfdata *p)
{
	struct mt_damage passed = {0};
	struct mt_error *err = NULL;
	struct mt_perf_record record;
	bool more = true;

	p->records.damage = &passed;
	mt_perf_records_begin(&p->records, p->layout.begin, p->layout.end);
	for (int i = 0; i < KERNEL_WITHIN && !err && !p->facts.kernel_symbol; i++) {
		err = mt_perf_records_next(&p->records, &record, &more);
		if (err || !more || mt_get_le32(record.bytes) == MT_KERNEL_SAMPLE)
			break;
		mt_perf_see_kernel(&p->facts, record.bytes, record.size);
	}
	p->records.damage = &p->recording.damage;
	return err;
}

static struct mt_error *read_facts(struct perfdata *p)
{
	struct mt_error *err = mt_perf_header_read(p->input, &p->facts, &p->layout);

	if (!err && (p->layout.piped || !p->facts.has_times))
		err = survey(p);
	err = err ? err : look_for_kernel(p);
	if (err)
		return err;
	if (!p->facts.events.count)
		return mt_error_create(MT_ERR_FORMAT, "is a perf.data file without a single event: "
						      "cut short, or damaged");
	mt_perf_state_make(&p->facts, &p->state);
	return NULL;
}

static struct mt_error *perfdata_open(const struct mt_input *input,
				      const struct mt_reader_options *options, void **out)
{
	MT_CLEANUP(perfdata_destroy_p) void *owned = mt_alloc(1, sizeof(struct perfdata));
	struct perfdata *p = owned;
	struct mt_error *err;

	p->input = input;
	p->memory_limit = options->memory_limit;
	p->held.keep = options->keep;
	mt_perf_records_init(&p->records, input, &p->recording.damage);
	err = read_facts(p);
	if (err)
		return err;
	describe(p);
	(void)perfdata_rewind(p, 0);
	*out = MT_TAKE(owned);
	return NULL;
}

static size_t perfdata_recordings(const void *of)
{
	(void)of;
	return 1;
}

static const struct mt_recording *perfdata_recording(const void *of, size_t i)
{
	(void)i;
	return &((const struct perfdata *)of)->recording;
}

/* ---- Records ---- */

static bool state_next(struct perfdata *p, struct mt_record *out)
{
	const uint8_t *record = p->state.bytes + p->state_at;

	if (p->state_at >= p->state.used)
		return false;
	*out = (struct mt_record){
		.type = mt_get_le32(record),
		.body = record + MT_RECORD_HEADER_SIZE,
		.size = mt_get_le32(record + 4) - MT_RECORD_HEADER_SIZE,
	};
	p->state_at += mt_get_le32(record + 4);
	return true;
}

/* Keeps `piece`, which holds the record to return next, and takes over a reference to it. */
static void hold(struct perfdata *p, struct mt_perf_piece *piece)
{
	struct mt_perf_piece *before = p->given;

	p->given = piece;
	if (p->held.keep && before && before != piece)
		mt_held_put(&p->held, before);
	else
		mt_perf_piece_release(before);
}

/* Returns a waiting record. Takes over its reference to the piece. */
static void give(struct perfdata *p, const struct mt_perf_waiting *waiting, struct mt_record *out)
{
	hold(p, waiting->piece);
	if (waiting->time) {
		p->recording.damage.disordered += waiting->time < p->last_time;
		p->last_time = waiting->time > p->last_time ? waiting->time : p->last_time;
	}
	*out = (struct mt_record){
		.type = MT_RECORD_KERNEL,
		.time = waiting->time,
		.body = waiting->bytes,
		.size = waiting->size,
		.bare = true,
		.event = waiting->event,
	};
}

/* Whether the queued records take more memory than the limit. */
static bool is_over_limit(const struct perfdata *p)
{
	const struct mt_perf_pool *pool = &p->records.pool;
	size_t pieces = (pool->pieces - pool->idle_count) * MT_PERF_PIECE_SIZE + pool->viewed;
	size_t waiting = p->queue.waiting.count - p->queue.next;

	return pieces + 2 * waiting * sizeof(*p->queue.waiting.items) > p->memory_limit / 2;
}

/* Queues a kernel record; a record without a time is returned immediately. */
static void take_kernels(struct perfdata *p, const struct mt_perf_record *record,
			 struct mt_record *out, bool *given)
{
	uint32_t event = event_of(&p->facts, record);
	uint64_t time = time_of(&p->facts, record, event);

	if (!time || time == UINT64_MAX) {
		struct mt_perf_waiting now = {
			.bytes = record->bytes,
			.piece = record->piece,
			.size = (uint32_t)record->size,
			.event = event,
		};

		record->piece->references++;
		*given = true;
		give(p, &now, out);
		return;
	}
	mt_perf_queue_put(&p->queue, record, time, event);
	if (is_over_limit(p))
		mt_perf_queue_give_half(&p->queue);
}

/* Reads one more record; *given is set if that record is returned before the queued ones. */
static struct mt_error *advance(struct perfdata *p, struct mt_record *out, bool *given)
{
	struct mt_perf_record record;
	struct mt_error *err;
	uint32_t type;
	bool more;

	err = mt_perf_records_next(&p->records, &record, &more);
	if (err)
		return err;
	type = more ? mt_get_le32(record.bytes) : 0;
	if (!more) {
		p->ended = true;
		mt_perf_queue_give_all(&p->queue);
	} else if (is_kernels(&record)) {
		take_kernels(p, &record, out, given);
	} else {
		p->recording.damage.unknown_records += type > MT_PERF_USER_LAST;
		if (type == MT_PERF_FINISHED_ROUND)
			mt_perf_queue_end_round(&p->queue);
	}
	return NULL;
}

static struct mt_error *perfdata_next(void *of, struct mt_record *out, bool *more)
{
	struct perfdata *p = of;
	struct mt_perf_waiting waiting;
	struct mt_error *err = NULL;

	*more = state_next(p, out);
	while (!*more && !err) {
		if (mt_perf_queue_take(&p->queue, &waiting)) {
			give(p, &waiting, out);
			*more = true;
		} else if (p->ended) {
			break;
		} else {
			err = advance(p, out, more);
		}
	}
	p->held.given += *more && !err;
	return err;
}

static uint32_t perfdata_event_of_id(const void *of, uint64_t id)
{
	const struct perfdata *p = of;
	uint64_t event;

	return mt_map64_get(&p->facts.event_of_id, id, &event) ? (uint32_t)event : MT_EVENT_NONE;
}

const struct mt_source_ops mt_source_perfdata = {
	.name = "a perf.data file",
	.probe = perfdata_probe,
	.open = perfdata_open,
	.destroy = perfdata_destroy,
	.recordings = perfdata_recordings,
	.recording = perfdata_recording,
	.rewind = perfdata_rewind,
	.next = perfdata_next,
	.release = perfdata_release,
	.event_of_id = perfdata_event_of_id,
};
