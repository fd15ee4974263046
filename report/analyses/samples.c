/*
 * --samples: as sums, how often each event, thread name and stack was sampled; as a listing, a row
 * for each sample. --counts: how often each event occurred. --faults and --files: page faults by
 * mode and stack, or by the file mapped at the address. Minor and major faults have separate rows
 * if they were recorded as separate events.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "formats/records/attr.h"
#include "formats/records/sample.h"
#include "report/analyses/analyses.h"
#include "report/session/session.h"
#include "report/session/trace_format.h"
#include "report/stacks/spaces.h"
#include "report/sums/row_keys.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"

enum {
	DETAIL = 4096, /* maximum bytes of text for a tracepoint's fields */
};

enum list_column {
	LIST_TIME,
	LIST_EVENT,
	LIST_EVENT_NAME,
	LIST_COMM,
	LIST_PID,
	LIST_TID,
	LIST_CPU,
	LIST_STACK,
	LIST_COLUMNS
};

static const struct mt_key_column list_columns[] = {
	[LIST_TIME] = {"time", MT_KEY_TIME},
	[LIST_EVENT] = {"event", MT_KEY_STRING},
	[LIST_EVENT_NAME] = {"event-name", MT_KEY_STRING},
	[LIST_COMM] = {"comm", MT_KEY_STRING},
	[LIST_PID] = {"pid", MT_KEY_NUMBER},
	[LIST_TID] = {"tid", MT_KEY_NUMBER},
	[LIST_CPU] = {"cpu", MT_KEY_NUMBER},
	[LIST_STACK] = {"stack", MT_KEY_STACK},
};

/* The stack comes last, so that a listing without stacks uses the first columns only. */
static struct mt_table shape(struct mt_session *session, bool stacks)
{
	return (struct mt_table){
		.name = mt_analysis_samples.name,
		.keys = list_columns,
		.key_count = LIST_COLUMNS - !stacks,
		.values = mt_sample_columns,
		.value_count = MT_SAMPLE_VALUES,
		.strings = mt_session_strings(session),
		.stacks = mt_session_stacks(session),
		.frames = mt_session_frames(session),
	};
}

/* The strings of the event used last. */
struct event_strings {
	uint32_t event;
	uint64_t alias, name;
};

static const struct event_strings no_event = {.event = UINT32_MAX};

static void find_strings(struct mt_session *session, uint32_t event, struct event_strings *last)
{
	const struct mt_facts_event *facts = &mt_session_facts(session)->events.items[event];
	struct mt_strings *strings = mt_session_strings(session);

	if (last->event == event)
		return;
	*last = (struct event_strings){
		.event = event,
		.alias = mt_strings_add(strings, facts->alias),
		.name = mt_strings_add(strings, facts->name),
	};
}

struct sample_list {
	struct mt_table table; /* first: ops get a pointer to it */
	struct mt_session *session;
	bool started;
	struct event_strings event;
	uint64_t keys[LIST_COLUMNS];
	struct mt_value values[MT_SAMPLE_VALUES];
	MT_ARRAY(struct mt_trace_format *) formats; /* by event; NULL: not read yet */
	char detail[DETAIL];
};

static struct mt_error *list_rewind(struct mt_table *table)
{
	if (((struct sample_list *)table)->started)
		return mt_error_create(MT_ERR_UNSUPPORTED, "a listing of samples is read once");
	return NULL;
}

static uint64_t number_or_none(int64_t number)
{
	return number < 0 ? UINT64_MAX : (uint64_t)number;
}

/* The text of a tracepoint's fields, or NULL. */
static const char *describe(struct sample_list *list, const struct mt_session_sample *sample)
{
	const char *text = mt_session_facts(list->session)->events.items[sample->event].format;
	struct mt_trace_format **format;

	if (!text || !*text || !sample->kernel->raw_size)
		return NULL;
	format = mt_array_at(&list->formats, sample->event);
	if (!*format)
		*format = mt_trace_format_create(text);
	mt_trace_format_print(*format, sample->kernel->raw, sample->kernel->raw_size, list->detail,
			      sizeof(list->detail));
	return list->detail;
}

static struct mt_error *list_next(struct mt_table *table, struct mt_row *out, bool *more)
{
	struct sample_list *list = (struct sample_list *)table;
	struct mt_session_sample sample;
	struct mt_error *err = mt_session_next(list->session, &sample, more);

	list->started = true;
	if (err || !*more)
		return err;
	list->keys[LIST_TIME] = sample.time;
	find_strings(list->session, sample.event, &list->event);
	list->keys[LIST_EVENT] = list->event.alias;
	list->keys[LIST_EVENT_NAME] = list->event.name;
	list->keys[LIST_COMM] = sample.task->comm;
	list->keys[LIST_PID] = number_or_none(sample.task->pid);
	list->keys[LIST_TID] = number_or_none(sample.task->tid);
	list->keys[LIST_CPU] = sample.kernel->cpu == UINT32_MAX ? UINT64_MAX : sample.kernel->cpu;
	list->keys[LIST_STACK] = sample.stack;
	mt_sample_values(&sample, list->values);
	*out = (struct mt_row){
		.keys = list->keys,
		.values = list->values,
		.addresses = sample.addresses,
		.sources = sample.sources,
		.detail = describe(list, &sample),
	};
	return NULL;
}

static void list_destroy(struct mt_table *table)
{
	struct sample_list *list = (struct sample_list *)table;

	for (size_t i = 0; i < list->formats.count; i++)
		mt_trace_format_destroy(list->formats.items[i]);
	mt_array_deinit(&list->formats);
	free(list);
}

static const struct mt_table_ops list_ops = {
	.rewind = list_rewind,
	.next = list_next,
	.destroy = list_destroy,
};

static struct mt_error *run(const struct mt_analysis *analysis, struct mt_session *session,
			    const struct mt_analysis_request *request, struct mt_table **out)
{
	struct sample_list *list;

	if (!request->listing)
		return mt_analysis_of_samples(analysis, session, request, out);
	list = mt_alloc(1, sizeof(*list));
	list->table = shape(session, request->stacks);
	list->table.ops = &list_ops;
	list->table.listing = true;
	list->session = session;
	list->event = no_event;
	*out = &list->table;
	return NULL;
}

static bool is_fault(const char *event)
{
	static const char *const names[] = {"page-faults", "faults", "minor-faults",
					    "major-faults"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t length = strlen(names[i]);

		/* perf appends modifiers: page-faults:u */
		if (!strncmp(event, names[i], length) && (!event[length] || event[length] == ':'))
			return true;
	}
	return false;
}

#define KEYS (MT_BY_OF_SAMPLES | MT_BY_BIT(MT_BY_VALUE) | MT_BY_BIT(MT_BY_LOG2))

const struct mt_analysis mt_analysis_samples = {
	.name = "samples",
	.help = "how often each stack was sampled",
	.groups = true,
	.lists = true,
	.by = KEYS,
	.default_by = {{MT_BY_EVENT, MT_BY_COMM, MT_BY_STACK}, 3},
	.members = true,
	.reported = true,
	.events_apart = true,
	.run = run,
};

const struct mt_analysis mt_analysis_counts = {
	.name = "counts",
	.help = "how often each event came; --by, --weight: of whom",
	.rare = true,
	.groups = true,
	.by = KEYS,
	.default_by = {{MT_BY_EVENT}, 1},
	.members = true,
	.reported = true,
	.events_apart = true,
	.output = "table",
	.run = mt_analysis_of_samples,
};

#define FAULT_KEYS (MT_BY_OF_SAMPLES | MT_BY_BIT(MT_BY_KIND) | MT_BY_BIT(MT_BY_FILE))
#define RECORD "page-faults; minor and major apart: minor-faults,major-faults"

const struct mt_analysis mt_analysis_faults = {
	.name = "faults",
	.help = "page faults by event, user or kernel, and stack",
	.groups = true,
	.by = FAULT_KEYS,
	.default_by = {{MT_BY_EVENT, MT_BY_MODE, MT_BY_COMM, MT_BY_STACK}, 4},
	.reported = true,
	.events_apart = true,
	.wants = is_fault,
	.regions = true,
	.record = RECORD,
	.output = "table",
	.run = mt_analysis_of_samples,
};

const struct mt_analysis mt_analysis_files = {
	.name = "files",
	.help = "page faults by mapped file, heap, stack, anonymous",
	.rare = true,
	.groups = true,
	.by = FAULT_KEYS,
	.default_by = {{MT_BY_EVENT, MT_BY_KIND, MT_BY_FILE}, 3},
	.events_apart = true,
	.wants = is_fault,
	.regions = true,
	.record = RECORD,
	.output = "table",
	.run = mt_analysis_of_samples,
};
