/*
 * Plans system calls: which events record a call, and which events replace them if there are none.
 */
#include <string.h>

#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/records/events.h"
#include "record/open/perf_event.h"
#include "record/plan/filter.h"
#include "record/plan/plan.h"
#include "record/plan/planner.h"
#include "record/tracepoints/tracepoint_scan.h"

/*
 * Plans the exit and enter events of a call. The exit record has the result and, unless it is a
 * mark, the stack. The enter record marks the time of the call. -c above 1 thins the exits; marks
 * are not thinned.
 */
static struct mt_error *plan_pair(struct mt_planner *planner, const char *exit_name,
				  const char *enter_name, const struct mt_event_word *word)
{
	struct mt_planned_event *events;
	enum mt_event_role role = planner->marking ? MT_ROLE_MARK : MT_ROLE_SAMPLE;
	uint32_t exit_index = (uint32_t)planner->plan->events.count;
	struct mt_error *err = mt_planner_tracepoint(planner, exit_name, role, word);

	if (err)
		return err;
	err = mt_planner_tracepoint(planner, enter_name, MT_ROLE_MARK, word);
	events = planner->plan->events.items;
	if (err) {
		mt_planner_drop_last(planner);
		return err;
	}
	events[exit_index].pair = exit_index + 1;
	events[exit_index + 1].pair = exit_index;
	return NULL;
}

/* Requests one register. Any register reports the ABI, which determines the call numbering. */
static void ask_abi(struct mt_planned_event *event)
{
	if (event->attr.sample_type & PERF_SAMPLE_REGS_USER)
		return;
	event->attr.sample_type |= PERF_SAMPLE_REGS_USER;
	event->attr.sample_regs_user = 1u << MT_PERF_REG_SP;
}

static struct mt_error *filter_call(const struct mt_planner *planner,
				    struct mt_planned_event *event, long number)
{
	event->filter = mt_format("id == %ld", number);
	if (!event->filter)
		return mt_error_nomem();
	if (planner->features->user_stack)
		ask_abi(event);
	event->decoded.sample_type = event->attr.sample_type;
	event->decoded.sample_regs_user = event->attr.sample_regs_user;
	return NULL;
}

/*
 * Plans the tracepoints that all system calls share, filtered by number, for kernels without
 * syscalls:* (no CONFIG_FTRACE_SYSCALLS). 32-bit callers use another numbering; the ABI of the
 * registers identifies their records.
 */
static struct mt_error *plan_raw_syscall(struct mt_planner *planner,
					 const struct mt_event_word *word)
{
	size_t first = planner->plan->events.count;
	struct mt_error *err;
	long number;

	if (!mt_syscall_number(word->def->alias, &number))
		return mt_error_create(MT_ERR_NOT_FOUND, "%s: no such system call here",
				       word->def->alias);
	err = plan_pair(planner, "raw_syscalls:sys_exit", "raw_syscalls:sys_enter", word);
	for (size_t i = first; i < first + 2 && !err; i++)
		err = filter_call(planner, &planner->plan->events.items[i], number);
	return err;
}

/*
 * Notes a call that cannot be recorded, and the reason for the first such call. Takes ownership of
 * why.
 */
static struct mt_error *give_up_call(struct mt_planner *planner, const struct mt_event_word *word,
				     struct mt_error *why)
{
	if (planner->no_calls)
		mt_error_destroy(why);
	else
		planner->no_calls = why;
	return mt_planner_enumerate(&planner->calls, word->def->alias);
}

/* Leaves out a call, and lists it as missing if the kernel has it. Takes ownership of why. */
static struct mt_error *leave_out_call(struct mt_planner *planner, const struct mt_event_word *word,
				       struct mt_error *why)
{
	bool absent = why->kind == MT_ERR_NOT_FOUND;

	mt_error_destroy(why);
	return absent ? NULL : mt_planner_enumerate(&planner->missing, word->def->alias);
}

static struct mt_error *plan_call(struct mt_planner *planner, const struct mt_event_word *word)
{
	char exit_name[128], enter_name[128];
	struct mt_error *err, *raw;

	snprintf(exit_name, sizeof(exit_name), "syscalls:sys_exit_%s", word->def->alias);
	snprintf(enter_name, sizeof(enter_name), "syscalls:sys_enter_%s", word->def->alias);
	err = plan_pair(planner, exit_name, enter_name, word);
	planner->calls_seen |= !err;
	if (!err || mt_planner_is_fatal(err))
		return err;
	if ((planner->group || planner->marking) && planner->calls_seen)
		return leave_out_call(planner, word, err);
	raw = plan_raw_syscall(planner, word);
	if (raw && !mt_planner_is_fatal(raw)) {
		mt_error_destroy(raw);
		return planner->marking ? leave_out_call(planner, word, err)
					: give_up_call(planner, word, err);
	}
	mt_error_destroy(err);
	return raw;
}

/*
 * Plans a system call by the first kind of event that opens. The side-band records the names, files
 * and offsets of mappings.
 */
struct mt_error *mt_planner_call(struct mt_planner *planner, const struct mt_event_word *word)
{
	struct mt_error *err = plan_call(planner, word);

	return err ? err : mt_planner_ask_data(planner);
}

/* Plans both ends of a call as marks; leaves out a call that cannot be opened, with a note. */
static struct mt_error *mark_call(struct mt_planner *planner, const struct mt_event_word *word)
{
	struct mt_error *err;

	planner->marking = true;
	err = plan_call(planner, word);
	planner->marking = false;
	return err;
}

static bool has_page_faults(const struct mt_plan *plan)
{
	for (size_t i = 1; i < plan->events.count; i++) {
		const struct perf_event_attr *attr = &plan->events.items[i].attr;

		if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_PAGE_FAULTS)
			return true;
	}
	return false;
}

/*
 * Replaces system calls that have no tracepoints. Page faults with their addresses show which
 * memory each stack touched. The side-band's mmap records, including those of data, show mappings
 * and the growth of the heap.
 */
static struct mt_error *replace_calls(struct mt_planner *planner)
{
	const struct mt_event_word faults = {
		.text = "page-faults", .length = 11, .def = mt_event_def_find("page-faults", 11)};
	struct mt_error *err =
		has_page_faults(planner->plan) ? NULL : mt_planner_counter(planner, &faults);

	if (err)
		return err;
	return mt_plan_note(planner->plan,
			    "page faults and the kernel's mmap records stand in for %s; unmapping "
			    "is not seen (%s): %s",
			    planner->calls, planner->no_calls->message,
			    planner->no_calls->hint ? planner->no_calls->hint
						    : "see mtrec --check");
}

/* Adds a note if calls come from raw_syscalls, with the consequences. */
static struct mt_error *note_raw_calls(struct mt_planner *planner)
{
	for (size_t i = 0; !planner->calls_seen && i < planner->plan->events.count; i++) {
		if (!strncmp(planner->plan->events.items[i].name, "raw_syscalls:", 13))
			return mt_plan_note(
				planner->plan,
				"this kernel has no syscalls:* tracepoints of what is asked: "
				"raw_syscalls with a filter serve; calls of 32-bit programs are "
				"left out");
	}
	return NULL;
}

struct mt_error *mt_planner_finish_calls(struct mt_planner *planner)
{
	struct mt_error *err = planner->no_calls ? replace_calls(planner) : NULL;

	if (!err && planner->refused)
		err = mt_plan_note(planner->plan, "without privileges (mtrec --check): %s",
				   planner->refused);
	if (!err)
		err = note_raw_calls(planner);
	if (!err && planner->missing)
		err = mt_plan_note(planner->plan,
				   "%s: not recorded, their tracepoints are out of reach here",
				   planner->missing);
	return err;
}

/* ---- Marks ---- */

struct mt_error *mt_planner_mark(struct mt_planner *planner, const struct mt_event_word *word)
{
	struct mt_error *err = mt_planner_tracepoint(planner, word->def->alias, MT_ROLE_MARK, word);

	if (err || !word->def->filter)
		return err;
	return mt_filter_add(&mt_planner_last(planner)->filter, word->def->filter);
}

/* Plans a mark, or lists it as missing. */
static struct mt_error *mark_or_list(struct mt_planner *planner, const struct mt_event_word *word)
{
	struct mt_error *err;

	if (mt_planner_has(planner, MT_ROLE_MARK, word->text, word->length))
		return NULL;
	err = mt_planner_mark(planner, word);
	if (!err || mt_planner_is_fatal(err))
		return err;
	mt_error_destroy(err);
	return mt_planner_enumerate(&planner->missing, word->def->alias);
}

#define EXIT "syscalls:sys_exit_"

static bool equals(const char *text, const char *word, size_t length)
{
	return strlen(text) == length && !memcmp(text, word, length);
}

/* Returns true if the event samples the exits of the call, by its alias or as a tracepoint. */
static bool samples_call(const struct mt_planned_event *event, const char *call, size_t length)
{
	const char *name = event->name;

	if (event->role != MT_ROLE_SAMPLE)
		return false;
	return equals(event->alias, call, length) ||
	       (!event->filter && /* a filter may drop successful calls */
		!strncmp(name, EXIT, sizeof(EXIT) - 1) &&
		equals(name + sizeof(EXIT) - 1, call, length));
}

static bool is_sampled(const struct mt_planner *planner, const char *call, size_t length)
{
	for (size_t i = 1; i < planner->plan->events.count; i++) {
		if (samples_call(&planner->plan->events.items[i], call, length))
			return true;
	}
	return false;
}

/* Returns true if a call of the group is sampled. Otherwise no account of memory is kept. */
static bool has_calls(const struct mt_planner *planner, const struct mt_event_def *group)
{
	size_t length;

	for (const char *word = group->members; *word; word += length + (word[length] == ',')) {
		length = strcspn(word, ",");
		if (!memchr(word, ':', length) && is_sampled(planner, word, length))
			return true;
	}
	return false;
}

static struct mt_error *mark(struct mt_planner *planner, const char *text, size_t length)
{
	const struct mt_event_word word = {
		.text = text, .length = length, .def = mt_event_def_find(text, length)};

	if (word.def->kind == MT_EVENT_MARK)
		return mark_or_list(planner, &word);
	return is_sampled(planner, text, length) ? NULL : mark_call(planner, &word);
}

struct mt_error *mt_planner_finish_marks(struct mt_planner *planner)
{
	const struct mt_event_def *group = mt_event_def_find("vm", 2);
	struct mt_error *err;
	size_t length;

	if (planner->has_vm || !has_calls(planner, group))
		return NULL;
	err = mt_planner_ask_data(planner);
	for (const char *word = group->members; *word && !err;
	     word += length + (word[length] == ',')) {
		length = strcspn(word, ",");
		err = mark(planner, word, length);
	}
	return err;
}
