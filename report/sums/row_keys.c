/* Turns facts into the key columns that the request lists. */
#include "report/sums/row_keys.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "formats/records/attr.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "report/session/session.h"
#include "report/stacks/frames.h"
#include "report/stacks/spaces.h"
#include "report/stacks/stacks.h"
#include "report/sums/analysis.h"
#include "report/sums/container.h"
#include "report/sums/sample_field.h"
#include "report/sums/sum_table.h"
#include "report/tables/estimate.h"
#include "report/tables/facts.h"

enum {
	INTERVALS = 20, /* approximate number of intervals of a timeline, if not requested */
	PAGE = 4096,
};

/* Ids of strings + 1, indexed by another id; 0: not looked up yet. */
struct known_names {
	uint32_t *items;
	size_t count, capacity;
};

struct mt_row_keys {
	struct mt_session *session;
	struct mt_by_list by;
	uint8_t columns[MT_BY_KEYS][3]; /* column of each cell of by.keys[i] */
	uint64_t interval;		/* ns */
	const char *weight;
	struct mt_sum_table *groups;
	struct known_names images;     /* by stack id */
	struct known_names containers; /* by cgroup */
	struct known_names events;     /* by event */
	uint32_t modes[MT_ROW_MODES];  /* string ids of their names */
};

MT_DEFINE_CLEANUP(mt_row_keys, struct mt_row_keys)

const struct mt_value_column mt_memory_columns[MT_MEMORY_VALUES] = {
	{"bytes", "B"},
	{"count", "calls"},
	{"pages", "pages"},
};

void mt_memory_values(struct mt_value bytes, struct mt_value count,
		      struct mt_value out[MT_MEMORY_VALUES])
{
	out[0] = bytes;
	out[1] = count;
	out[2] = mt_value_scaled(&bytes, 1.0 / PAGE);
}

static enum mt_row_mode mode_of(uint16_t misc)
{
	switch (misc & 7) {
	case MT_CPUMODE_KERNEL:
		return MT_ROW_KERNEL;
	case MT_CPUMODE_GUEST_KERNEL:
	case MT_CPUMODE_GUEST_USER:
		return MT_ROW_GUEST;
	default:
		return MT_ROW_USER;
	}
}

struct mt_row_facts mt_row_facts_of(const struct mt_session *session,
				    const struct mt_session_sample *sample)
{
	uint64_t start = mt_session_facts(session)->recordings.items[sample->recording].start;

	return (struct mt_row_facts){
		.event = sample->event,
		.time = sample->time > start ? sample->time - start : 0,
		.pid = sample->task->pid,
		.tid = sample->task->tid,
		.comm = sample->task->comm,
		.process = sample->process,
		.cgroup = sample->cgroup,
		.cpu = sample->kernel->cpu,
		.mode = mode_of(sample->kernel->misc),
		.kind = sample->kind,
		.file = sample->file,
		.stack = sample->stack,
		.reserver = MT_STACK_NONE,
	};
}

/* ---- Creation ---- */

/* Lists the columns of all keys, each column once. */
static void list_columns(struct mt_row_keys *grouping, struct mt_key_column *columns,
			 struct mt_table *shape)
{
	shape->keys = columns;
	for (size_t i = 0; i < grouping->by.count; i++) {
		const struct mt_by_def *def = mt_by_def(grouping->by.keys[i]);

		for (size_t k = 0; k < def->column_count; k++) {
			size_t at = mt_table_key(shape, def->columns[k].name);

			if (at == MT_COLUMN_NONE) {
				at = shape->key_count++;
				columns[at] = def->columns[k];
			}
			grouping->columns[i][k] = (uint8_t)at;
		}
	}
}

/* The length of the longest recording, in ns. */
static uint64_t longest_time(const struct mt_session *session)
{
	const struct mt_facts *facts = mt_session_facts(session);
	uint64_t longest = 0;

	for (size_t i = 0; i < facts->recordings.count; i++) {
		const struct mt_recording *r = facts->recordings.items[i].reading;
		uint64_t from = r->has_end ? r->end.start : r->first_time;
		uint64_t to = r->has_end ? r->end.end : r->last_time;

		if (to > from && to - from > longest)
			longest = to - from;
	}
	return longest;
}

/* Length of each of `intervals` intervals, in ns, a multiple of 1 us; the last may be shorter. */
static uint64_t even_interval(const struct mt_session *session, unsigned int intervals)
{
	return (longest_time(session) / intervals / 1000 + 1) * 1000;
}

/* A round length in ns, which divides the recording into at most about that many intervals. */
static uint64_t fit_interval(const struct mt_session *session, unsigned int intervals)
{
	static const uint64_t steps[] = {1, 2, 5};
	uint64_t longest = longest_time(session), scale = 1000000;

	for (;; scale *= 10) {
		for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
			if (longest / (steps[i] * scale) < (intervals ? intervals : INTERVALS) ||
			    scale > UINT64_MAX / 100)
				return steps[i] * scale;
		}
	}
}

static uint32_t intern(const struct mt_row_keys *grouping, const char *text)
{
	return mt_strings_add(mt_session_strings(grouping->session), text);
}

static bool has_field_key(const struct mt_by_list *by)
{
	return mt_by_has(by, MT_BY_VALUE) || mt_by_has(by, MT_BY_LOG2);
}

struct mt_row_keys *mt_row_keys_create(struct mt_session *session, const char *name,
				       const struct mt_value_column *values, size_t value_count,
				       const struct mt_analysis_request *request)
{
	static const char *const modes[MT_ROW_MODES] = {"user", "kernel", "guest"};
	struct mt_row_keys *grouping = mt_alloc(1, sizeof(*grouping));
	struct mt_key_column columns[MT_GROUPS_COLUMNS];
	struct mt_table shape = {
		.name = name,
		.values = values,
		.value_count = value_count,
		.strings = mt_session_strings(session),
		.stacks = mt_session_stacks(session),
		.frames = mt_session_frames(session),
	};

	grouping->session = session;
	grouping->by = request->by;
	list_columns(grouping, columns, &shape);
	grouping->weight = request->weight;
	grouping->interval = request->interval > 0 ? (uint64_t)(request->interval * 1e9)
			     : request->even	   ? even_interval(session, request->intervals)
						   : fit_interval(session, request->intervals);
	shape.by_weight = has_field_key(&grouping->by);
	if (mt_by_has(&grouping->by, MT_BY_TIME))
		shape.interval = grouping->interval;
	grouping->groups = mt_sum_table_create(&shape);
	for (size_t i = 0; i < MT_ROW_MODES; i++)
		grouping->modes[i] = intern(grouping, modes[i]);
	return grouping;
}

void mt_row_keys_destroy(struct mt_row_keys *grouping)
{
	if (!grouping)
		return;
	mt_sum_table_destroy(grouping->groups);
	mt_array_deinit(&grouping->images);
	mt_array_deinit(&grouping->containers);
	mt_array_deinit(&grouping->events);
	free(grouping);
}

/* ---- Rows ---- */

static uint32_t container_name(const struct mt_row_keys *grouping, uint32_t cgroup)
{
	const char *path = mt_strings_get(mt_session_strings(grouping->session), cgroup);

	return intern(grouping, mt_container_of(path).text);
}

/* The file of the innermost user frame. */
static uint32_t image_name(const struct mt_row_keys *grouping, uint32_t stack)
{
	struct mt_frames *frames = mt_session_frames(grouping->session);
	size_t count;
	const uint32_t *ids = mt_stacks_get(mt_session_stacks(grouping->session), stack, &count);

	for (size_t i = 0; i < count; i++) {
		const struct mt_frame_key *key = mt_frames_key(frames, ids[i]);

		if (!(key->flags & MT_FRAME_IN_KERNEL))
			return intern(grouping,
				      mt_session_image_shown(grouping->session, key->image));
	}
	return intern(grouping, count ? "[kernel]" : "[unknown]");
}

static uint32_t event_name(const struct mt_row_keys *grouping, uint32_t event)
{
	return intern(grouping, mt_session_facts(grouping->session)->events.items[event].alias);
}

/* The string id of the name of item i. Calls `name` only once for each item. */
static uint32_t find_name(const struct mt_row_keys *grouping, struct known_names *known, uint32_t i,
			  uint32_t (*name)(const struct mt_row_keys *, uint32_t))
{
	uint32_t *id = mt_array_at(known, i);

	if (!*id)
		*id = name(grouping, i) + 1;
	return *id - 1;
}

static uint64_t event_cell(struct mt_row_keys *grouping, const struct mt_row_facts *facts)
{
	return facts->event == MT_EVENT_NONE
		       ? 0
		       : find_name(grouping, &grouping->events, facts->event, event_name);
}

static uint64_t time_cell(struct mt_row_keys *grouping, const struct mt_row_facts *facts)
{
	return facts->time - facts->time % grouping->interval;
}

static uint64_t span_cell(struct mt_row_keys *grouping, const struct mt_row_facts *facts)
{
	(void)grouping;
	return mt_span_bucket(facts->took);
}

static uint64_t value_cell(struct mt_row_keys *grouping, const struct mt_row_facts *facts)
{
	(void)grouping;
	return facts->field < 0x1p63 && facts->field > -0x1p63 ? (uint64_t)(int64_t)facts->field
							       : (uint64_t)INT64_MIN;
}

static uint64_t bucket_cell(struct mt_row_keys *grouping, const struct mt_row_facts *facts)
{
	(void)grouping;
	return mt_number_bucket(facts->field);
}

static uint64_t mode_cell(struct mt_row_keys *grouping, const struct mt_row_facts *facts)
{
	return grouping->modes[facts->mode];
}

static uint64_t container_cell(struct mt_row_keys *grouping, const struct mt_row_facts *facts)
{
	return find_name(grouping, &grouping->containers, facts->cgroup, container_name);
}

static uint64_t image_cell(struct mt_row_keys *grouping, const struct mt_row_facts *facts)
{
	return find_name(grouping, &grouping->images, facts->stack, image_name);
}

/* The type of a field of the facts. */
enum field_type {
	FIELD_ID,     /* uint32_t */
	FIELD_NUMBER, /* int32_t; below 0: unknown */
	FIELD_LONG,   /* uint64_t */
};

/* The cells of each key: fields of the facts, or one cell that `make` computes from the facts. */
static const struct cells {
	struct {
		size_t at;
		enum field_type type;
	} fields[3];
	uint64_t (*make)(struct mt_row_keys *grouping, const struct mt_row_facts *facts);
} cells_of[MT_BY_KEYS] = {
#define ID(field)                                              \
	{                                                      \
		offsetof(struct mt_row_facts, field), FIELD_ID \
	}
#define NUMBER(field)                                              \
	{                                                          \
		offsetof(struct mt_row_facts, field), FIELD_NUMBER \
	}
#define LONG(field)                                              \
	{                                                        \
		offsetof(struct mt_row_facts, field), FIELD_LONG \
	}
	[MT_BY_EVENT] = {.make = event_cell},
	[MT_BY_TIME] = {.make = time_cell},
	[MT_BY_SEGMENT] = {.fields = {LONG(segment), LONG(key), ID(maker)}},
	[MT_BY_PROCESS] = {.fields = {NUMBER(pid), ID(process)}},
	[MT_BY_PROGRAM] = {.fields = {ID(process)}},
	[MT_BY_THREAD] = {.fields = {NUMBER(pid), NUMBER(tid), ID(comm)}},
	[MT_BY_COMM] = {.fields = {ID(comm)}},
	[MT_BY_CPU] = {.fields = {NUMBER(cpu)}},
	[MT_BY_CGROUP] = {.fields = {ID(cgroup)}},
	[MT_BY_CONTAINER] = {.make = container_cell},
	[MT_BY_EXE] = {.fields = {ID(exe)}},
	[MT_BY_MODE] = {.make = mode_cell},
	[MT_BY_KIND] = {.fields = {ID(kind)}},
	[MT_BY_FILE] = {.fields = {ID(file)}},
	[MT_BY_IMAGE] = {.make = image_cell},
	[MT_BY_TREND] = {.fields = {ID(trend)}},
	[MT_BY_TOOK] = {.make = span_cell},
	[MT_BY_VALUE] = {.make = value_cell},
	[MT_BY_LOG2] = {.make = bucket_cell},
	[MT_BY_LIFE] = {.fields = {ID(life)}},
	[MT_BY_SIZE] = {.fields = {ID(size)}},
	[MT_BY_AGE] = {.make = span_cell},
	[MT_BY_RESERVER] = {.fields = {ID(reserver)}},
	[MT_BY_STACK] = {.fields = {ID(stack)}},
#undef ID
#undef NUMBER
#undef LONG
};

static uint64_t read_field(const struct mt_row_facts *facts, size_t at, enum field_type type)
{
	const char *field = (const char *)facts + at;
	uint64_t number = 0;
	uint32_t id;

	memcpy(type == FIELD_LONG ? (void *)&number : &id, field,
	       type == FIELD_LONG ? sizeof(number) : sizeof(id));
	if (type == FIELD_LONG)
		return number;
	return type == FIELD_NUMBER && id > INT32_MAX ? UINT64_MAX : id;
}

void mt_row_keys_most(struct mt_row_keys *grouping, size_t value)
{
	mt_sum_table_most(grouping->groups, value);
}

void mt_row_keys_cluster(struct mt_row_keys *grouping, uint64_t cluster)
{
	mt_sum_table_cluster(grouping->groups, cluster);
}

void mt_row_keys_add(struct mt_row_keys *grouping, const struct mt_row_facts *facts,
		     const struct mt_value *values)
{
	uint64_t keys[MT_GROUPS_COLUMNS];

	for (size_t i = 0; i < grouping->by.count; i++) {
		const struct mt_by_def *def = mt_by_def(grouping->by.keys[i]);
		const struct cells *cells = &cells_of[grouping->by.keys[i]];

		for (size_t k = 0; k < def->column_count; k++)
			keys[grouping->columns[i][k]] =
				cells->make ? cells->make(grouping, facts)
					    : read_field(facts, cells->fields[k].at,
							 cells->fields[k].type);
	}
	mt_sum_table_add(grouping->groups, keys, values);
}

struct naming {
	size_t pid, process; /* columns */
	uint32_t (*name)(void *context, int32_t pid, uint32_t process);
	void *context;
};

static uint64_t name_process(void *context, const uint64_t *keys)
{
	const struct naming *naming = context;

	return naming->name(naming->context, (int32_t)keys[naming->pid],
			    (uint32_t)keys[naming->process]);
}

void mt_row_keys_name_processes(struct mt_row_keys *grouping,
				uint32_t (*name)(void *context, int32_t pid, uint32_t process),
				void *context)
{
	const struct mt_table *table = mt_sum_table_table(grouping->groups);
	struct naming naming = {
		.pid = mt_table_key(table, "pid"),
		.process = mt_table_key(table, "process"),
		.name = name,
		.context = context,
	};

	if (naming.process != MT_COLUMN_NONE && naming.pid != MT_COLUMN_NONE)
		mt_sum_table_rename(grouping->groups, naming.process, name_process, &naming);
}

struct mt_error *mt_row_keys_table(struct mt_row_keys *grouping, struct mt_table **out)
{
	MT_CLEANUP(mt_row_keys_destroy_p) struct mt_row_keys *owned = grouping;
	size_t weight;
	struct mt_error *err =
		mt_table_weight(mt_sum_table_table(owned->groups), owned->weight, &weight);

	if (err)
		return err;
	mt_sum_table_sort(owned->groups, weight);
	*out = mt_sum_table_table(MT_TAKE(owned->groups));
	return NULL;
}

/* ---- Losses ---- */

/* Columns of the event and the interval in a row's keys; MT_COLUMN_NONE: none. */
struct lost_columns {
	const struct mt_row_keys *grouping;
	const struct mt_timespan *span;
	size_t event, time;
};

/* Whether lost records of an event may belong to a row. */
static bool is_of_row(const struct lost_columns *at, uint32_t event, const uint64_t *keys)
{
	const struct mt_row_keys *grouping = at->grouping;
	const struct mt_facts *facts = mt_session_facts(grouping->session);

	if (event == MT_EVENT_NONE)
		return true;
	if (facts->events.items[event].role != MT_ROLE_SAMPLE)
		return false;
	return at->event == MT_COLUMN_NONE ||
	       (event < grouping->events.count &&
		grouping->events.items[event] == keys[at->event] + 1);
}

/* How many samples that a recording lost may belong to a row. */
static double lost_of(const struct lost_columns *at, const struct mt_facts_recording *recording,
		      const uint64_t *keys)
{
	uint64_t reported = 0, lost = 0, from, to;

	mt_timespan_apply(at->span, recording->start, recording->end, &from, &to);
	if (at->time != MT_COLUMN_NONE) {
		from = recording->start + keys[at->time];
		to = from + at->grouping->interval;
	}
	for (size_t i = 0; i < recording->losses.count; i++) {
		const struct mt_facts_loss *loss = &recording->losses.items[i];

		reported += loss->count;
		if (loss->from < to && loss->to >= from && is_of_row(at, loss->event, keys))
			lost += loss->count;
	}
	/* The totals may count more losses; these may have happened at any time. */
	return (double)(lost + (mt_facts_lost(recording) - reported));
}

/* Raises the upper bounds for lost samples, each with the average values of the row's samples. */
static void raise_bounds(const struct mt_table *table, struct mt_value *values, size_t count,
			 double lost)
{
	double had = values[count].value;

	for (size_t i = 0; i < table->value_count; i++) {
		if (!(table->most & 1u << i))
			values[i].high +=
				i == count || had <= 0 ? lost : lost * values[i].value / had;
	}
}

static void widen_row(void *context, const uint64_t *keys, struct mt_value *values)
{
	const struct lost_columns *at = context;
	const struct mt_facts *facts = mt_session_facts(at->grouping->session);
	double lost = 0;

	for (size_t i = 0; i < facts->recordings.count; i++)
		lost += lost_of(at, &facts->recordings.items[i], keys);
	raise_bounds(mt_sum_table_table(at->grouping->groups), values, 0, lost);
}

/* Raises the upper bounds of each row by all lost samples that may belong to it. */
static void widen_for_losses(struct mt_row_keys *grouping, const struct mt_timespan *span)
{
	const struct mt_table *table = mt_sum_table_table(grouping->groups);
	struct lost_columns at = {
		.grouping = grouping,
		.span = span,
		.event = mt_table_key(table, "event"),
		.time = mt_table_key_of_kind(table, MT_KEY_TIME),
	};

	if (mt_facts_lost_all(mt_session_facts(grouping->session)))
		mt_sum_table_widen(grouping->groups, widen_row, &at);
}

struct lost_records {
	const struct mt_table *table;
	size_t count;
	double lost;
};

static void raise_row(void *context, const uint64_t *keys, struct mt_value *values)
{
	const struct lost_records *records = context;

	(void)keys;
	raise_bounds(records->table, values, records->count, records->lost);
}

void mt_row_keys_may_have(struct mt_row_keys *grouping, uint64_t lost, size_t count)
{
	struct lost_records records = {
		.table = mt_sum_table_table(grouping->groups),
		.count = count,
		.lost = (double)lost,
	};

	if (lost)
		mt_sum_table_widen(grouping->groups, raise_row, &records);
}

struct doubted {
	size_t stack; /* column */
	uint32_t but;
	const struct mt_value *bytes;
};

static void doubt_row(void *context, const uint64_t *keys, struct mt_value *values)
{
	const struct doubted *doubted = context;
	struct mt_value pages[MT_MEMORY_VALUES];

	if (keys[doubted->stack] == doubted->but)
		return;
	mt_memory_values(*doubted->bytes, mt_value_exact(0), pages);
	for (size_t i = 0; i < MT_MEMORY_VALUES; i++) {
		values[i].low += pages[i].low;
		values[i].high += pages[i].high;
	}
}

void mt_row_keys_doubt_paths(struct mt_row_keys *grouping, const struct mt_value *bytes,
			     uint32_t but)
{
	struct doubted doubted = {
		.stack = mt_table_key_of_kind(mt_sum_table_table(grouping->groups), MT_KEY_STACK),
		.but = but,
		.bytes = bytes,
	};

	if (doubted.stack != MT_COLUMN_NONE && (bytes->low < 0 || bytes->high > 0))
		mt_sum_table_widen(grouping->groups, doubt_row, &doubted);
}

/* ---- Samples ---- */

const struct mt_value_column mt_sample_columns[MT_SAMPLE_VALUES] = {
	{"count", "samples"},
	{"period", "events"},
};

static double period_of(const struct mt_session_sample *sample)
{
	if (sample->member)
		return 1;
	if (sample->kernel->period)
		return (double)sample->kernel->period;
	return mt_attr_has(sample->attr, MT_ATTR_FREQ) || !sample->attr->sample_period
		       ? 1
		       : (double)sample->attr->sample_period;
}

void mt_sample_values(const struct mt_session_sample *sample,
		      struct mt_value values[MT_SAMPLE_VALUES])
{
	values[0] = mt_value_exact(sample->weight);
	values[1] = mt_value_exact(sample->weight * period_of(sample));
}

/* The error if no event has the field that --weight names. */
static struct mt_error *no_such_figure(const char *name, const char *weight)
{
	const struct mt_table table = {
		.name = name, .values = mt_sample_columns, .value_count = MT_SAMPLE_VALUES};
	size_t none;

	return mt_error_hint(
		mt_table_weight(&table, weight, &none),
		"known: count, period, and the fields of tracepoints and probes, which "
		"--script shows");
}

/* Adds all samples; with a field only samples that have it. */
static struct mt_error *add_samples(struct mt_row_keys *grouping, struct mt_sample_field *field)
{
	struct mt_session_sample sample;
	struct mt_error *err = NULL;
	bool more = true;

	while (!err) {
		struct mt_row_facts facts;
		struct mt_value values[MT_SAMPLE_VALUES + 1];
		double value = 0;

		err = mt_session_next(grouping->session, &sample, &more);
		if (err || !more)
			return err;
		mt_sample_values(&sample, values);
		if (field->name && !mt_sample_field_get(field, grouping->session, &sample, &value))
			continue;
		if (field->name)
			values[MT_SAMPLE_VALUES] = mt_value_exact(sample.weight * value);
		facts = mt_row_facts_of(grouping->session, &sample);
		facts.field = value;
		mt_row_keys_add(grouping, &facts, values);
	}
	return err;
}

/* A weight that is not a figure of samples names a field. */
struct mt_error *mt_row_keys_of_samples(struct mt_session *session, const char *name,
					const struct mt_analysis_request *request,
					struct mt_table **out)
{
	MT_CLEANUP(mt_row_keys_destroy_p) struct mt_row_keys *grouping = NULL;
	MT_CLEANUP(mt_sample_field_deinit) struct mt_sample_field field = {.name = request->weight};
	struct mt_value_column columns[MT_SAMPLE_VALUES + 1] = {
		mt_sample_columns[0], mt_sample_columns[1], {request->weight, ""}};
	struct mt_error *err;

	for (size_t i = 0; i < MT_SAMPLE_VALUES && field.name; i++) {
		if (!strcmp(field.name, columns[i].name))
			field.name = NULL;
	}
	if (field.name && field.name[0] == '.') /* always a field */
		field.name++;
	if (has_field_key(&request->by) && !field.name)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "--by value, log2: of which field?"),
				     "--weight FIELD; --script shows the fields of tracepoints");
	grouping = mt_row_keys_create(session, name, columns,
				      MT_SAMPLE_VALUES + (field.name != NULL), request);
	err = add_samples(grouping, &field);
	if (!err && field.name && !field.known && mt_session_facts(session)->selected)
		err = no_such_figure(name, field.name);
	if (err)
		return err;
	widen_for_losses(grouping, &request->time);
	return mt_row_keys_table(MT_TAKE(grouping), out);
}
