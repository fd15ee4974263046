/*
 * --mmaps and --brks: the calls that reserve and return address space, one row each, in order of
 * return. Arguments come from the registers at the exit, or from the entry event if it was recorded
 * as a sample.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/base/array.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "report/account/call.h"
#include "report/analyses/analyses.h"
#include "report/analyses/rows/call_words.h"
#include "report/session/session.h"
#include "report/stacks/spaces.h"
#include "report/sums/row_keys.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"

enum {
	COLUMNS_MOST = 16,
	WORDS = 256, /* bytes for flags as text */
};

/* Columns that both listings begin with. */
enum {
	TIME,
	PID,
	TID,
	COMM,
	OWN
};

#define COMMON_COLUMNS                                                  \
	[TIME] = {"time", MT_KEY_TIME}, [PID] = {"pid", MT_KEY_NUMBER}, \
	[TID] = {"tid", MT_KEY_NUMBER}, [COMM] = {"comm", MT_KEY_STRING}

enum {
	AT_CALL = OWN,
	AT_ADDRESS,
	AT_SIZE,
	AT_PROT,
	AT_FLAGS,
	AT_FD,
	AT_OFFSET,
	AT_OLD,
	AT_OLD_SIZE,
	AT_ERROR,
	AT_FILE,
	AT_STACK_ID,
	AT_COLUMNS
};

static const struct mt_key_column map_columns[AT_COLUMNS] = {
	COMMON_COLUMNS,
	[AT_CALL] = {"call", MT_KEY_STRING},
	[AT_ADDRESS] = {"address", MT_KEY_ADDRESS},
	[AT_SIZE] = {"size", MT_KEY_NUMBER},
	[AT_PROT] = {"prot", MT_KEY_STRING},
	[AT_FLAGS] = {"flags", MT_KEY_STRING},
	[AT_FD] = {"fd", MT_KEY_SIGNED},
	[AT_OFFSET] = {"offset", MT_KEY_NUMBER},
	[AT_OLD] = {"old_address", MT_KEY_ADDRESS},
	[AT_OLD_SIZE] = {"old_size", MT_KEY_NUMBER},
	[AT_ERROR] = {"error", MT_KEY_STRING},
	[AT_FILE] = {"file", MT_KEY_STRING},
	[AT_STACK_ID] = {"stack", MT_KEY_STACK},
};

enum {
	BRK_OLD = OWN,
	BRK_NEW,
	BRK_DELTA,
	BRK_ASKED,
	BRK_ERROR,
	BRK_STACK_ID,
	BRK_COLUMNS
};

static const struct mt_key_column brk_columns[BRK_COLUMNS] = {
	COMMON_COLUMNS,
	[BRK_OLD] = {"old", MT_KEY_ADDRESS},
	[BRK_NEW] = {"new", MT_KEY_ADDRESS},
	[BRK_DELTA] = {"delta", MT_KEY_SIGNED},
	[BRK_ASKED] = {"asked", MT_KEY_ADDRESS},
	[BRK_ERROR] = {"error", MT_KEY_STRING},
	[BRK_STACK_ID] = {"stack", MT_KEY_STACK},
};

struct listed_call {
	enum mt_vm_call_kind kind;
	int64_t result;
	bool have_arguments;
	uint64_t arguments[MT_VM_ARGUMENTS];
};

struct call_list {
	struct mt_table table; /* first: ops get a pointer to it */
	struct mt_session *session;
	bool started;
	/* Fills the listing's own columns. */
	void (*fill)(struct call_list *list, const struct mt_session_sample *sample,
		     const struct listed_call *call);
	struct mt_map64 entered; /* tid to index of the call in entries */
	MT_ARRAY(struct listed_call) entries;
	struct mt_map64 breaks; /* recording and space to the latest end of the heap */
	uint64_t keys[COLUMNS_MOST];
};

static bool is_map_call(enum mt_vm_call_kind kind)
{
	return kind == MT_VM_MMAP || kind == MT_VM_MUNMAP || kind == MT_VM_MREMAP;
}

static bool is_map_event(const char *event)
{
	enum mt_vm_call_kind kind;

	mt_vm_call_moment(event, &kind);
	return is_map_call(kind) || kind == MT_VM_BY_NUMBER;
}

static bool is_brk_event(const char *event)
{
	enum mt_vm_call_kind kind;

	mt_vm_call_moment(event, &kind);
	return kind == MT_VM_BRK || kind == MT_VM_BY_NUMBER;
}

static void set_text(struct call_list *list, size_t column, const char *text)
{
	list->keys[column] = mt_strings_add(list->table.strings, text);
}

/* ---- mmap, munmap, mremap ---- */

/* The name of the mapping at the address, from the kernel's record within the call. */
static const char *name_of(const struct call_list *list, const struct mt_session_sample *sample,
			   const struct listed_call *call)
{
	const struct mt_task_map *map = &sample->task->map;
	uint64_t at = (uint64_t)call->result;

	if (call->arguments[3] & MAP_ANONYMOUS)
		return "anon";
	return at >= map->start && at < map->end ? mt_strings_get(list->table.strings, map->name)
						 : "";
}

static void fill_mmap(struct call_list *list, const struct mt_session_sample *sample,
		      const struct listed_call *call)
{
	const uint64_t *a = call->arguments;
	char prot[WORDS], flags[WORDS];

	mt_words_prot(a[2], prot, sizeof(prot));
	mt_words_map_flags(a[3], flags, sizeof(flags));
	list->keys[AT_SIZE] = a[1];
	list->keys[AT_FD] = (uint64_t)(int64_t)(int32_t)a[4];
	list->keys[AT_OFFSET] = a[5];
	set_text(list, AT_PROT, prot);
	set_text(list, AT_FLAGS, flags);
	if (!mt_vm_call_failed(call->result))
		set_text(list, AT_FILE, name_of(list, sample, call));
}

static void fill_mremap(struct call_list *list, const struct listed_call *call)
{
	const uint64_t *a = call->arguments;
	char flags[WORDS];

	mt_words_remap_flags(a[3], flags, sizeof(flags));
	list->keys[AT_OLD] = a[0];
	list->keys[AT_OLD_SIZE] = a[1];
	list->keys[AT_SIZE] = a[2];
	set_text(list, AT_FLAGS, flags);
}

static void clear_map(struct call_list *list)
{
	list->keys[AT_ADDRESS] = list->keys[AT_SIZE] = list->keys[AT_OFFSET] = UINT64_MAX;
	list->keys[AT_OLD] = list->keys[AT_OLD_SIZE] = UINT64_MAX;
	list->keys[AT_FD] = (uint64_t)INT64_MIN;
	list->keys[AT_PROT] = list->keys[AT_FLAGS] = list->keys[AT_FILE] = 0;
	list->keys[AT_ERROR] = 0;
}

static void fill_map(struct call_list *list, const struct mt_session_sample *sample,
		     const struct listed_call *call)
{
	bool failed = mt_vm_call_failed(call->result);
	char error[24];

	clear_map(list);
	list->keys[AT_STACK_ID] = sample->stack;
	mt_words_error(call->result, error, sizeof(error));
	if (failed)
		set_text(list, AT_ERROR, error);
	if (call->kind == MT_VM_MUNMAP) {
		if (call->have_arguments) {
			list->keys[AT_ADDRESS] = call->arguments[0];
			list->keys[AT_SIZE] = call->arguments[1];
		}
		set_text(list, AT_CALL, "munmap");
		return;
	}
	if (!failed)
		list->keys[AT_ADDRESS] = (uint64_t)call->result;
	if (call->kind == MT_VM_MREMAP) {
		set_text(list, AT_CALL, "mremap");
		if (call->have_arguments)
			fill_mremap(list, call);
		return;
	}
	set_text(list, AT_CALL, "mmap");
	if (call->have_arguments)
		fill_mmap(list, sample, call);
}

/* ---- brk ---- */

static void fill_brk(struct call_list *list, const struct mt_session_sample *sample,
		     const struct listed_call *call)
{
	uint64_t space = (uint64_t)sample->recording << 32 | sample->space->id;
	uint64_t now = (uint64_t)call->result, old;
	bool known = mt_map64_get(&list->breaks, space, &old);
	uint64_t asked = call->have_arguments ? call->arguments[0] : UINT64_MAX;

	list->keys[BRK_OLD] = known ? old : UINT64_MAX;
	list->keys[BRK_NEW] = now;
	list->keys[BRK_DELTA] = known ? now - old : (uint64_t)INT64_MIN;
	list->keys[BRK_ASKED] = asked;
	list->keys[BRK_STACK_ID] = sample->stack;
	/* brk fails by leaving the end unchanged. A call with 0 only queries the end. */
	set_text(list, BRK_ERROR, call->have_arguments && asked && now != asked ? "ENOMEM" : "");
	mt_map64_put(&list->breaks, space, now);
}

/* ---- The list ---- */

static struct mt_error *list_rewind(struct mt_table *table)
{
	if (((struct call_list *)table)->started)
		return mt_error_create(MT_ERR_UNSUPPORTED, "a listing of calls is read once");
	return NULL;
}

/* Arguments that the registers lack come from the call's enter event, if there is one. */
static void complete(struct call_list *list, uint64_t tid, struct listed_call *call)
{
	struct listed_call *entry;
	uint64_t at;

	if (!mt_map64_get(&list->entered, tid, &at))
		return;
	entry = &list->entries.items[at];
	if (!call->have_arguments && entry->have_arguments && entry->kind == call->kind) {
		memcpy(call->arguments, entry->arguments, sizeof(call->arguments));
		call->have_arguments = true;
	}
	entry->have_arguments = false;
}

/*
 * Whether the sample is the exit of a call of the list. Keeps the arguments of an entry until the
 * exit.
 */
static bool take_call(struct call_list *list, const struct mt_session_sample *sample,
		      struct listed_call *call)
{
	const char *event = mt_session_facts(list->session)->events.items[sample->event].name;
	uint64_t tid = (uint32_t)sample->task->tid;
	enum mt_vm_call_moment moment = mt_vm_call_moment(event, &call->kind);

	call->kind = mt_vm_call_kind_in(call->kind, sample->kernel);
	if ((list->fill == fill_brk ? call->kind != MT_VM_BRK : !is_map_call(call->kind)) ||
	    !mt_vm_call_result(sample->kernel, &call->result))
		return false;
	if (moment == MT_MOMENT_ENTER) {
		mt_vm_call_enter(sample->kernel, call->arguments);
		call->have_arguments = true;
		*mt_map64_element(&list->entered, &list->entries, tid) = *call;
		return false;
	}
	call->have_arguments = mt_vm_call_registers(sample->attr, sample->kernel, call->arguments);
	complete(list, tid, call);
	return moment == MT_MOMENT_EXIT;
}

static struct mt_error *list_next(struct mt_table *table, struct mt_row *out, bool *more)
{
	struct call_list *list = (struct call_list *)table;
	struct mt_session_sample sample;
	struct mt_row_facts facts;
	struct listed_call call;

	list->started = true;
	do {
		struct mt_error *err = mt_session_next(list->session, &sample, more);

		if (err || !*more)
			return err;
	} while (!take_call(list, &sample, &call));
	list->fill(list, &sample, &call);
	facts = mt_row_facts_of(list->session, &sample);
	list->keys[TIME] = facts.time;
	list->keys[PID] = (uint32_t)facts.pid;
	list->keys[TID] = (uint32_t)facts.tid;
	list->keys[COMM] = facts.comm;
	*out = (struct mt_row){.keys = list->keys};
	return NULL;
}

static void list_destroy(struct mt_table *table)
{
	struct call_list *list = (struct call_list *)table;

	mt_map64_deinit(&list->entered);
	mt_map64_deinit(&list->breaks);
	mt_array_deinit(&list->entries);
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
	struct call_list *list = mt_alloc(1, sizeof(*list));
	bool brks = analysis == &mt_analysis_brks;

	list->table = (struct mt_table){
		.ops = &list_ops,
		.name = analysis->name,
		.listing = true,
		.keys = brks ? brk_columns : map_columns,
		.key_count = (brks ? BRK_COLUMNS : AT_COLUMNS) - !request->stacks,
		.strings = mt_session_strings(session),
		.stacks = mt_session_stacks(session),
		.frames = mt_session_frames(session),
	};
	list->session = session;
	list->fill = brks ? fill_brk : fill_map;
	*out = &list->table;
	return NULL;
}

const struct mt_analysis mt_analysis_mmaps = {
	.name = "mmaps",
	.help = "each mmap, munmap and mremap call",
	.rare = true,
	.lists = true,
	.wants = is_map_event,
	.record = "mmap,munmap,mremap",
	.output = "table",
	.run = run,
};

const struct mt_analysis mt_analysis_brks = {
	.name = "brks",
	.help = "each brk call: the heap's end before and after",
	.rare = true,
	.lists = true,
	.wants = is_brk_event,
	.record = "brk",
	.output = "table",
	.run = run,
};
