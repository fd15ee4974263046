/*
 * Looking at the targets from outside: what runs when the recording begins, and, as it goes on,
 * what /proc says of their memory.
 */
#include "record/recorder_parts.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "record/cli/options.h"
#include "record/plan/plan.h"
#include "record/proc/procfs.h"
#include "record/rings/state.h"
#include "record/state/existing.h"
#include "record/state/gauges.h"
#include "record/targets.h"

#define LOOK_NS 1000000000ull
#define LOOK_WIDE_NS 10000000000ull /* where the targets are all processes of the host */
#define LOOK_SHARE 200		    /* looking takes at most one part in so many */
#define FAMILY_MAX 4096

/* What one look is to write. */
struct look {
	struct mt_recorder *r;
	struct mt_state state;
	uint64_t began;
	bool maps, rollup, children;
	MT_ARRAY(pid_t) family;
};

/* The output may be stalled: a signal is to end the recording all the same. */
static bool a_signal_waits(void *context)
{
	const struct mt_recorder *r = context;

	return mt_waiting_has_signal(&r->waiting);
}

/* Where a look can be made up for. */
static bool at_once(void *context)
{
	(void)context;
	return true;
}

static struct mt_state begin_state(struct mt_recorder *r, bool (*give_up)(void *context))
{
	return (struct mt_state){.spool = r->spool,
				 .type = MT_CHUNK_STATE,
				 .give_up = give_up,
				 .give_up_context = r};
}

static void put_existing(void *context, pid_t pid)
{
	struct look *look = context;

	if (!mt_existing_process(&look->state, &look->r->clock, pid, !look->r->options->strip))
		(void)mt_map64_put(&look->r->without_memory, (uint64_t)pid, 1);
}

void mt_recorder_put_existing(struct mt_recorder *r)
{
	struct look look = {.r = r, .state = begin_state(r, a_signal_waits)};

	mt_targets_each(r->options, put_existing, &look);
	mt_state_flush(&look.state);
}

/*
 * The kernel's own threads are most of a small host's processes. Their numbers are theirs for a
 * while: later each is asked again.
 */
static bool is_without_memory(const struct look *look, pid_t pid)
{
	uint64_t ignored;

	return look->began - look->r->started < LOOK_WIDE_NS &&
	       mt_map64_get(&look->r->without_memory, (uint64_t)pid, &ignored);
}

static void add_to_family(void *context, pid_t pid)
{
	struct look *look = context;
	bool wanted = pid != look->r->stream_config.self && look->family.count < FAMILY_MAX &&
		      !is_without_memory(look, pid);
	pid_t *slot = wanted ? mt_array_push(&look->family) : NULL;

	if (slot)
		*slot = pid;
}

/* The children of each of its threads, as far as the kernel lists them (CONFIG_PROC_CHILDREN). */
static void add_children(struct look *look, pid_t pid)
{
	char path[64];
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		MT_CLEANUP_FREE char *text = NULL;
		char *at, *end;
		long child;

		if (entry->d_name[0] == '.')
			continue;
		text = mt_read_textf(NULL, "%s/%s/children", path, entry->d_name);
		for (at = text; at && (child = strtol(at, &end, 10)) > 0; at = end)
			add_to_family(look, (pid_t)child);
	}
	if (tasks)
		closedir(tasks);
}

static void look_at_family(struct look *look)
{
	for (size_t i = 0; i < look->family.count && !look->state.given_up; i++) {
		pid_t pid = look->family.items[i];

		if (look->maps)
			mt_existing_reread(&look->state, &look->r->clock, pid);
		mt_gauges_put(&look->state, &look->r->clock, pid, look->rollup);
		if (look->children)
			add_children(look, pid);
	}
}

/* Looks, and says when to look again; false where it did not find room for all. */
static bool carry_out(struct mt_recorder *r, bool maps, bool rollup, bool (*give_up)(void *context))
{
	bool wide = mt_options_target_cpus(r->options);
	struct look look = {
		.r = r,
		.state = begin_state(r, give_up),
		.began = mt_clock_now(&r->clock),
		.maps = maps,
		.rollup = rollup && !wide,
		.children = !wide && !r->options->no_inherit,
	};
	uint64_t least = wide ? LOOK_WIDE_NS : LOOK_NS, took;

	mt_targets_each(r->options, add_to_family, &look);
	if (!wide && !mt_options_target_tasks(r->options) && r->command.pid && !r->command.ended)
		add_to_family(&look, r->command.pid);
	look_at_family(&look);
	mt_array_deinit(&look.family);
	mt_state_flush(&look.state);
	took = mt_clock_now(&r->clock) - look.began;
	r->next_look = look.began + took + (took * LOOK_SHARE > least ? took * LOOK_SHARE : least);
	return !look.state.given_up;
}

/* The side-band's records of data mappings are asked for where an account of them is kept. */
static bool keeps_account(const struct mt_recorder *r)
{
	return r->plan->events.items[0].attr.mmap_data;
}

static uint64_t lost_of_ledger(const struct mt_recorder *r)
{
	struct mt_stream_counts sum = {0};

	for (size_t i = 0; i < r->drains.count; i++)
		(void)mt_drain_class_counts(r->drains.items[i], MT_CLASS_RARE, &sum);
	return sum.lost;
}

/* A command that has just begun is left for the next look. */
void mt_recorder_look_first(struct mt_recorder *r)
{
	bool running = mt_options_target_cpus(r->options) || mt_options_target_tasks(r->options);

	r->next_look = mt_clock_now(&r->clock) + LOOK_NS;
	if (running)
		(void)carry_out(r, keeps_account(r), true, a_signal_waits);
}

/* Never waits for the output: a look that finds no room is made up for later. */
void mt_recorder_look_again(struct mt_recorder *r)
{
	struct mt_state state = {.spool = r->spool, .type = MT_CHUNK_STATE};
	uint64_t lost = lost_of_ledger(r);

	r->next_look = mt_clock_now(&r->clock) + LOOK_NS;
	if (!mt_state_begin(&state))
		return;
	mt_state_flush(&state);
	if (carry_out(r, keeps_account(r) && lost != r->looked_lost, false, at_once))
		r->looked_lost = lost;
}

/* What still runs. Of all processes of a host the mappings are not read again. */
void mt_recorder_look_last(struct mt_recorder *r)
{
	bool maps = keeps_account(r) && !mt_options_target_cpus(r->options);

	if (!r->output_failed && !carry_out(r, maps, true, a_signal_waits))
		mt_recorder_say(r, 1,
				"the output takes nothing: what /proc says of the targets in "
				"the end is left out");
}
