/*
 * Turns records into effects in order: pairs the entry, lock, mapping and exit records of each
 * thread, and decides the kind and the time of their effect.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "formats/records/sample_type.h"
#include "report/ledger/ledger_parts.h"
#include "report/session/session.h"
#include "report/stacks/spaces.h"
#include "report/stacks/stacks.h"
#include "report/tables/facts.h"

#define PROT_INITIAL 7
#define MAP_FLAG_SHARED 1

static struct mt_ledger_thread *find_thread(struct mt_ledger *ledger, int32_t tid)
{
	uint64_t index;

	return mt_map64_get(&ledger->by_tid, (uint32_t)tid, &index) ? &ledger->threads.items[index]
								    : NULL;
}

/* Valid until the next thread is created. */
static struct mt_ledger_thread *thread_of(struct mt_ledger *ledger, int32_t tid)
{
	struct mt_ledger_thread *thread = find_thread(ledger, tid);
	uint32_t index;

	if (thread)
		return thread;
	if (ledger->free_threads.count) {
		index = ledger->free_threads.items[--ledger->free_threads.count];
	} else {
		index = (uint32_t)ledger->threads.count;
		mt_array_push(&ledger->threads);
	}
	mt_map64_put(&ledger->by_tid, (uint32_t)tid, index);
	ledger->threads.items[index] = (struct mt_ledger_thread){
		.place = MT_PLACE_NONE,
		.loose = {MT_PLACE_NONE, MT_PLACE_NONE},
	};
	return &ledger->threads.items[index];
}

static void give_up(struct mt_ledger *ledger, uint64_t *place)
{
	struct mt_effect *effect = mt_order_at(ledger->order, *place);

	if (effect)
		effect->ready = true;
	*place = MT_PLACE_NONE;
}

static void give_up_loose(struct mt_ledger *ledger, struct mt_ledger_thread *thread)
{
	give_up(ledger, &thread->loose[0]);
	give_up(ledger, &thread->loose[1]);
}

/*
 * The effect at *place, or at a new place if there is none or it was given up. Clears *place and
 * returns the place in *at.
 */
static struct mt_effect *effect_at(struct mt_ledger *ledger, uint64_t *place, uint64_t time,
				   uint64_t *at)
{
	struct mt_effect *effect = mt_order_at(ledger->order, *place);

	*at = *place;
	*place = MT_PLACE_NONE;
	if (effect && !effect->ready)
		return effect;
	*at = mt_order_add(ledger->order, time);
	return mt_order_at(ledger->order, *at);
}

static struct mt_task_name name_of(const struct mt_task *task)
{
	return (struct mt_task_name){task->pid,		task->tid,	     task->comm,
				     task->space->comm, task->space->cgroup, task->space->exe};
}

/* ---- Mappings without a call ---- */

static void take_found(struct mt_ledger *ledger, struct mt_ledger_thread *thread,
		       const struct mt_found *found, const struct mt_task *task)
{
	uint64_t at;
	struct mt_effect *effect = effect_at(ledger, &thread->loose[1], found->time, &at);

	give_up(ledger, &thread->loose[0]);
	effect->kind = MT_EFFECT_FOUND;
	effect->space = mt_ledger_spaces_of(&ledger->spaces, task->space, ledger->recording);
	effect->task = name_of(task);
	effect->found = *found;
	/*
	 * Without mmap and munmap events, the mapping may belong to a call that was not recorded,
	 * and may have been unmapped since. So it is not selected.
	 */
	effect->selected = (found->exec || ledger->has_maps) &&
			   mt_session_selects(ledger->session, task, found->time);
	effect->ready = true;
}

/* Takes a mapping that was kept for the exit of a call, if no exit followed. */
static void flush_found(struct mt_ledger *ledger, struct mt_ledger_thread *thread,
			const struct mt_task *task)
{
	if (thread->has_found)
		take_found(ledger, thread, &thread->found, task);
	thread->has_found = false;
}

/* ---- Calls ---- */

static void take_enter(struct mt_ledger *ledger, const struct mt_observed *observed,
		       const struct mt_ledger_event *event)
{
	struct mt_ledger_thread *thread = thread_of(ledger, observed->task->tid);

	/*
	 * A mapping before the thread's first recorded entry belongs to a call that was not
	 * recorded. It is dropped here; the first reading of /proc/PID/maps has it.
	 */
	if (ledger->has_marks && !thread->enter && !thread->left)
		thread->has_found = false;
	flush_found(ledger, thread, observed->task);
	give_up(ledger, &thread->place);
	give_up_loose(ledger, thread);
	thread->in_call = true;
	thread->exec = false;
	thread->kind = event->kind;
	thread->enter = observed->time;
	mt_vm_call_enter(observed->sample, thread->args);
}

/*
 * A fork locks the parent's address space and then immediately the child's. Marks two consecutive
 * locks of different address spaces as those of a fork.
 */
static void note_fork(struct mt_ledger *ledger, struct mt_ledger_thread *thread, uint64_t mm)
{
	struct mt_effect *own = mt_order_at(ledger->order, thread->loose[0]);
	struct mt_effect *other = mt_order_at(ledger->order, thread->loose[1]);

	if (own && other && mm && thread->loose_mm && thread->loose_mm != mm)
		own->of_a_fork = other->of_a_fork = true;
	thread->loose_mm = mm;
}

/* A call takes effect under its first lock. Outside calls, the last two locks are kept. */
static void take_lock(struct mt_ledger *ledger, const struct mt_observed *observed)
{
	struct mt_ledger_thread *thread = thread_of(ledger, observed->task->tid);
	uint64_t place;

	if (thread->in_call && thread->place != MT_PLACE_NONE)
		return;
	place = mt_order_add(ledger->order, observed->time);
	mt_order_at(ledger->order, place)->of_a_call = thread->in_call;
	if (thread->in_call) {
		thread->place = place;
		return;
	}
	give_up(ledger, &thread->loose[0]);
	thread->loose[0] = thread->loose[1];
	thread->loose[1] = place;
	note_fork(ledger, thread, mt_vm_call_locked(observed->sample));
}

static bool read_call(struct mt_ledger *ledger, const struct mt_observed *observed,
		      struct mt_ledger_thread *thread, enum mt_vm_call_kind kind,
		      struct mt_vm_call *call)
{
	bool paired = thread->in_call && thread->kind == kind;

	*call = (struct mt_vm_call){.kind = kind, .exit = observed->time};
	call->enter = paired ? thread->enter : observed->time;
	if (!mt_vm_call_result(observed->sample, &call->result))
		return false;
	if (paired)
		memcpy(call->args, thread->args, sizeof(call->args));
	else if (!mt_vm_call_registers(observed->attr, observed->sample, call->args))
		return false;
	if (thread->has_found) {
		call->file = thread->found.file;
		call->start = thread->found.start;
		call->end = thread->found.end;
	}
	call->reported = paired && ledger->has_data &&
			 !mt_losses_between(&ledger->map_losses, call->enter, call->exit);
	return true;
}

static void wait_for_stack(struct mt_ledger *ledger, const struct mt_observed *observed,
			   uint64_t place)
{
	*(uint64_t *)mt_session_defer(ledger->session, &ledger->observer, observed) = place;
}

/* True if the call failed before it changed anything. */
static bool refused_unlocked(const struct mt_ledger *ledger, const struct mt_ledger_thread *thread,
			     const struct mt_vm_call *call)
{
	return ledger->has_locks && call->reported && thread->place == MT_PLACE_NONE &&
	       mt_vm_call_failed(call->result);
}

static void take_exit(struct mt_ledger *ledger, const struct mt_observed *observed, uint32_t index)
{
	struct mt_ledger_thread *thread = thread_of(ledger, observed->task->tid);
	struct mt_effect *effect;
	struct mt_vm_call call;
	uint64_t at;
	bool known = read_call(ledger, observed, thread, ledger->events.items[index].kind, &call) &&
		     !refused_unlocked(ledger, thread, &call);

	thread->in_call = thread->has_found = thread->exec = false;
	thread->left = observed->time;
	if (!known) {
		give_up(ledger, &thread->place);
		return;
	}
	effect = effect_at(ledger, &thread->place, observed->time, &at);
	effect->kind = MT_EFFECT_CALL;
	effect->enter = call.enter;
	effect->exit = call.exit;
	effect->space =
		mt_ledger_spaces_of(&ledger->spaces, observed->task->space, ledger->recording);
	effect->task = name_of(observed->task);
	effect->event = index;
	effect->selected = observed->selected || observed->marks;
	effect->stack = MT_STACK_NONE;
	call.time = effect->time;
	effect->call = call;
	effect->ready = !observed->selected;
	if (observed->selected)
		wait_for_stack(ledger, observed, at);
}

/* ---- Pages ---- */

/* Adds an effect at the end of the order, for events that take effect immediately. */
static struct mt_effect *add_effect(struct mt_ledger *ledger, const struct mt_observed *observed,
				    enum mt_effect_kind kind, uint64_t *place)
{
	struct mt_effect *effect;

	*place = mt_order_add(ledger->order, observed->time);
	effect = mt_order_at(ledger->order, *place);
	effect->kind = kind;
	effect->space =
		mt_ledger_spaces_of(&ledger->spaces, observed->task->space, ledger->recording);
	effect->task = name_of(observed->task);
	effect->stack = MT_STACK_NONE;
	effect->event = observed->event;
	return effect;
}

static void take_fault(struct mt_ledger *ledger, const struct mt_observed *observed)
{
	uint64_t place;
	struct mt_effect *effect = add_effect(ledger, observed, MT_EFFECT_TOUCH, &place);
	bool waits = observed->selected && !ledger->options->stackless;

	effect->address = observed->sample->addr;
	effect->selected = waits;
	effect->ready = !waits;
	if (waits)
		wait_for_stack(ledger, observed, place);
}

static void take_count(struct mt_ledger *ledger, const struct mt_observed *observed,
		       const struct mt_page_event *event)
{
	const struct mt_ledger_thread *thread = find_thread(ledger, observed->task->tid);
	struct mt_page_count count;
	struct mt_effect *effect;
	uint64_t place;

	if (!mt_page_count_get(event, observed->sample, &count))
		return;
	if (thread && thread->in_call) {
		count.call = thread->kind;
		count.enter = thread->enter;
		memcpy(count.args, thread->args, sizeof(count.args));
	}
	effect = add_effect(ledger, observed, MT_EFFECT_COUNT, &place);
	effect->count = count;
	effect->selected = mt_session_selects(ledger->session, observed->task, observed->time);
	effect->ready = true;
}

static void take_alloc(struct mt_ledger *ledger, const struct mt_observed *observed,
		       const struct mt_page_event *event)
{
	uint32_t order = mt_page_alloc_order(event, observed->sample);
	struct mt_effect *effect;
	uint64_t place;

	if (!order)
		return;
	effect = add_effect(ledger, observed, MT_EFFECT_ALLOC, &place);
	effect->order = order;
	effect->ready = true;
}

/*
 * Drops the space that a FORK record created for a child, if the child turns out to share the space
 * of its parent.
 */
static void drop_unused(struct mt_ledger *ledger, const struct mt_task *parent)
{
	struct mt_ledger_thread *thread = find_thread(ledger, parent->tid);
	struct mt_ledger_space *space = thread ? thread->forked : NULL;

	if (!space || !space->watch->space || !space->watch->space->unused)
		return;
	space->watch->closed = space->watch->unused = true;
	mt_account_destroy(space->account);
	space->account = NULL;
	thread->forked = NULL;
}

/* An event is about pages or about a call, not about both. */
void mt_ledger_take_sample(struct mt_ledger *ledger, const struct mt_observed *observed)
{
	const struct mt_ledger_event *event = &ledger->events.items[observed->event];

	drop_unused(ledger, observed->task);
	if (event->page.moment == MT_PAGE_FAULT)
		take_fault(ledger, observed);
	else if (event->page.moment == MT_PAGE_COUNT)
		take_count(ledger, observed, &event->page);
	else if (event->page.moment == MT_PAGE_ALLOC)
		take_alloc(ledger, observed, &event->page);
	else if (event->moment == MT_MOMENT_ENTER)
		take_enter(ledger, observed, event);
	else if (event->moment == MT_MOMENT_LOCK)
		take_lock(ledger, observed);
	else if (event->moment == MT_MOMENT_EXIT)
		take_exit(ledger, observed, observed->event);
}

/* ---- Kernel records ---- */

/* True during mprotect, which produces a record for each region, in address order. */
static bool protects(const struct mt_ledger_thread *thread)
{
	return thread->in_call &&
	       (thread->kind == MT_VM_MPROTECT || thread->kind == MT_VM_PKEY_MPROTECT);
}

/*
 * True if the mapping is a new program's stack at the place where exec creates it. exec then moves
 * the stack to its final place, which gives a second record. Before Linux 6.13 the first record
 * comes after the record of the exec, or before it if the arguments fill whole pages.
 */
static bool is_stack_to_be(const struct mt_ledger_thread *thread, uint64_t end)
{
	return !thread->in_call && ((thread->exec && thread->exec_began) ||
				    end == (1ull << 47) - 4096 || end == (1ull << 56) - 4096);
}

/* Which unseen calls a mapping is evidence of, by its name: bits of enum mt_unseen_calls. */
static uint32_t unseen_by_region(const char *name, uint64_t start)
{
	/* The kernel maps these near the top: below 4 GiB only for 32-bit programs. */
	if (start < MT_NARROW_END && (!strcmp(name, "[vdso]") || !strcmp(name, "[stack]")))
		return MT_UNSEEN_NARROW;
	return !strcmp(name, "anon_inode:[io_uring]") ? MT_UNSEEN_RING : 0;
}

static void take_mapping(struct mt_ledger *ledger, const struct mt_observed *observed)
{
	const struct mt_kernel_record *record = observed->kernel;
	struct mt_ledger_thread *thread = thread_of(ledger, record->tid);
	bool anonymous = !record->name || !*record->name || !strncmp(record->name, "//anon", 6);
	struct mt_file_identity identity = {record->major, record->minor, record->inode,
					    record->name ? record->name : ""};
	struct mt_found found = {
		.time = record->time,
		.start = record->start,
		.offset = record->offset,
		.prot = record->prot,
		.shared = record->flags & MAP_FLAG_SHARED,
	};
	struct mt_ledger_space *space;
	/*
	 * The mapping may belong to a call that was entered before the recording began. It is kept
	 * for the exit of that call, which says which part of the mapping the call changed.
	 */
	bool late;

	if (!observed->task || record->pid < 0 || (record->misc & 7) == MT_CPUMODE_KERNEL ||
	    __builtin_add_overflow(record->start, record->length, &found.end) ||
	    found.start >= found.end)
		return;
	ledger->has_data |= record->misc & MT_MISC_MMAP_DATA;
	if (protects(thread)) {
		if (!thread->has_found || thread->found.end < found.end)
			thread->found = found;
		thread->has_found = true;
		return;
	}
	flush_found(ledger, thread, observed->task);
	space = mt_ledger_spaces_of(&ledger->spaces, observed->task->space, ledger->recording);
	space->unseen |= unseen_by_region(identity.name, record->start);
	if (anonymous && is_stack_to_be(thread, found.end)) {
		thread->exec_began = false;
		return;
	}
	thread->exec_began = false;
	found.exec = thread->exec;
	found.file = anonymous ? MT_FILE_NONE : mt_attr_table_file(ledger->attr_table, &identity);
	late = anonymous && !thread->enter && !thread->left;
	if (!thread->in_call && (found.exec || (ledger->has_marks && !late))) {
		take_found(ledger, thread, &found, observed->task);
		return;
	}
	thread->has_found = true;
	thread->found = found;
}

/*
 * A fork takes two locks: the older one locks the parent's space, the newer one the child's. If
 * both were recorded, the fork takes effect at the older one.
 */
static void take_fork(struct mt_ledger *ledger, const struct mt_observed *observed)
{
	const struct mt_kernel_record *record = observed->kernel;
	struct mt_ledger_thread *parent = thread_of(ledger, record->ptid);
	uint64_t *loose, at;
	struct mt_effect *effect;

	if (record->pid == record->ppid || !observed->task || !observed->space)
		return;
	loose = &parent->loose[parent->loose[0] == MT_PLACE_NONE];
	effect = effect_at(ledger, loose, record->time, &at);
	give_up_loose(ledger, parent);
	effect->kind = MT_EFFECT_FORK;
	effect->enter = parent->left;
	effect->exit = record->time;
	effect->parent = mt_ledger_spaces_of(&ledger->spaces, observed->space, ledger->recording);
	effect->space =
		mt_ledger_spaces_of(&ledger->spaces, observed->task->space, ledger->recording);
	effect->task = name_of(observed->task);
	effect->ready = true;
	parent->forked = effect->space;
	parent->left = record->time; /* the next fork comes after this time */
}

/* Queues the end of the space, if it has no threads left. */
static void take_end(struct mt_ledger *ledger, const struct mt_observed *observed, bool exec)
{
	struct mt_ledger_space *space;
	struct mt_effect *effect;

	if (!observed->space || observed->space->threads)
		return;
	space = mt_ledger_spaces_of(&ledger->spaces, observed->space, ledger->recording);
	if (space->watch->closed)
		return;
	effect = mt_order_at(ledger->order, mt_order_add(ledger->order, observed->time));
	space->watch->closed = true;
	effect->kind = MT_EFFECT_END;
	effect->space = space;
	effect->exec = exec;
	effect->ready = true;
}

static void take_exec(struct mt_ledger *ledger, const struct mt_observed *observed)
{
	struct mt_ledger_thread *thread = thread_of(ledger, observed->kernel->tid);

	give_up(ledger, &thread->place);
	give_up_loose(ledger, thread);
	thread->in_call = thread->has_found = false;
	thread->exec = thread->exec_began = true;
	take_end(ledger, observed, true);
}

static void take_thread_end(struct mt_ledger *ledger, const struct mt_observed *observed)
{
	struct mt_ledger_thread *thread = find_thread(ledger, observed->kernel->tid);

	if (thread) {
		give_up(ledger, &thread->place);
		give_up_loose(ledger, thread);
		mt_array_append(&ledger->free_threads, (uint32_t)(thread - ledger->threads.items));
		mt_map64_remove(&ledger->by_tid, (uint32_t)observed->kernel->tid);
	}
	take_end(ledger, observed, false);
}

void mt_ledger_take_kernel(struct mt_ledger *ledger, const struct mt_observed *observed)
{
	uint32_t type = observed->kernel->type;

	if (type == MT_KERNEL_MMAP || type == MT_KERNEL_MMAP2)
		take_mapping(ledger, observed);
	else if (type == MT_KERNEL_FORK)
		take_fork(ledger, observed);
	else if (type == MT_KERNEL_COMM && observed->kernel->exec)
		take_exec(ledger, observed);
	else if (type == MT_KERNEL_EXIT)
		take_thread_end(ledger, observed);
}

/* ---- Readings ---- */

/* The index of the reading of /proc/PID/maps that a line belongs to. */
static uint32_t reading_of(struct mt_ledger *ledger, const struct mt_map_record *map, bool again)
{
	struct mt_readings *readings =
		mt_map64_element(&ledger->readings_of, &ledger->readings, (uint32_t)map->pid);

	readings->count +=
		!readings->count || readings->again != again || map->start < readings->last_start;
	readings->again = again;
	readings->last_start = map->start;
	return readings->count - 1;
}

void mt_ledger_take_map(struct mt_ledger *ledger, const struct mt_observed *observed)
{
	const struct mt_map_record *map = observed->map;
	char name[4096];
	size_t length = map->path.size < sizeof(name) ? map->path.size : sizeof(name) - 1;
	bool shared = map->flags & MAP_FLAG_SHARED;
	struct mt_file_identity identity = {map->major, map->minor, map->inode, name};
	struct mt_region_attrs attrs = {.prot = map->prot & PROT_INITIAL,
					.flags = shared ? MT_REGION_SHARED : 0};

	if (map->start >= map->end)
		return;
	/*
	 * Lines are posted before the first effect of any process, so the space must exist by then.
	 */
	if (observed->space)
		mt_ledger_spaces_of(&ledger->spaces, observed->space, ledger->recording);
	if (length)
		memcpy(name, map->path.bytes, length);
	name[length] = '\0';
	attrs.kind = (uint8_t)mt_region_kind_of(name, shared);
	if (attrs.kind == MT_REGION_FILE || attrs.kind == MT_REGION_SHM ||
	    attrs.kind == MT_REGION_VDSO)
		attrs.file = mt_attr_table_file(ledger->attr_table, &identity);
	if (attrs.kind == MT_REGION_FILE || attrs.kind == MT_REGION_SHM)
		attrs.delta = map->offset - map->start;
	mt_array_append(&ledger->initial_maps,
			(struct mt_initial_map){
				.before = map->before,
				.after = map->after,
				.region = {map->start, map->end, map->before,
					   mt_attr_table_intern(ledger->attr_table, &attrs), 0},
				.pid = map->pid,
				.number = (uint32_t)ledger->initial_maps.count,
				.reading = reading_of(ledger, map, observed->again),
				.unseen = unseen_by_region(name, map->start),
			});
	ledger->initial_maps_sorted = false;
}
