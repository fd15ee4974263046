/*
 * Plans system calls: which events record a call, and which events replace them if there are none.
 */
#include <string.h>

#include "formats/base/err.h"
#include "record/open/perf_event.h"
#include "record/open/syscalls.h"
#include "record/plan/plan.h"
#include "record/plan/plan_parts.h"

/*
 * Plans both ends of a call. The exit record has the result, and the stack unless it is a mark. The
 * enter record is its time mark. -c above 1 thins the exits; marks are not thinned.
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
	if (asprintf(&event->filter, "id == %ld", number) < 0) {
		event->filter = NULL;
		return mt_error_nomem();
	}
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

/* Notes a call that cannot be recorded, and the reason for the first such call. Takes why. */
static struct mt_error *give_up_call(struct mt_planner *planner, const struct mt_event_word *word,
				     struct mt_error *why)
{
	if (planner->no_calls)
		mt_error_destroy(why);
	else
		planner->no_calls = why;
	return mt_planner_enumerate(&planner->calls, word->def->alias);
}

/* Leaves out a call; lists it as missing unless the kernel does not have it. Takes why. */
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

struct mt_error *mt_planner_mark_call(struct mt_planner *planner, const struct mt_event_word *word)
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
	struct mt_error *err =
		has_page_faults(planner->plan) ? NULL : mt_planner_list(planner, "page-faults");
	char *text = NULL;

	if (err)
		return err;
	if (asprintf(&text,
		     "page faults and the kernel's mmap records stand in for %s; unmapping is "
		     "not seen (%s): %s",
		     planner->calls, planner->no_calls->message,
		     planner->no_calls->hint ? planner->no_calls->hint : "see mtrec --check") < 0)
		text = NULL;
	return mt_planner_note(planner, text);
}

/* Adds a note if calls come from raw_syscalls, with the consequences. */
static struct mt_error *note_raw_calls(struct mt_planner *planner)
{
	for (size_t i = 0; !planner->calls_seen && i < planner->plan->events.count; i++) {
		if (!strncmp(planner->plan->events.items[i].name, "raw_syscalls:", 13))
			return mt_planner_note(
				planner, strdup("this kernel has no syscalls:* tracepoints of what "
						"is asked: raw_syscalls with a filter serve; calls "
						"of 32-bit programs are left out"));
	}
	return NULL;
}

/* Adds a note about events that need privileges. */
static struct mt_error *note_refused(struct mt_planner *planner)
{
	char *text;

	if (!planner->refused)
		return NULL;
	if (asprintf(&text, "without privileges (mtrec --check): %s", planner->refused) < 0)
		text = NULL;
	return mt_planner_note(planner, text);
}

/* Adds a note about the calls of a group that are not recorded although others are. */
static struct mt_error *note_missing(struct mt_planner *planner)
{
	char *text;

	if (!planner->missing)
		return NULL;
	if (asprintf(&text, "%s: not recorded, their tracepoints are out of reach here",
		     planner->missing) < 0)
		text = NULL;
	return mt_planner_note(planner, text);
}

struct mt_error *mt_planner_finish_calls(struct mt_planner *planner)
{
	struct mt_error *err = planner->no_calls ? replace_calls(planner) : NULL;

	if (!err)
		err = note_refused(planner);
	if (!err)
		err = note_raw_calls(planner);
	return err ? err : note_missing(planner);
}
