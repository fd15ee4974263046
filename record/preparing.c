/*
 * Prepares a recording: finds the features of the kernel, plans and opens the events, opens the
 * file, and starts the threads.
 */
#include "record/recorder_parts.h"

#include <errno.h>
#include <signal.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/allocators/allocator_probes.h"
#include "record/cli/options.h"
#include "record/cli/output.h"
#include "record/counts/count_columns.h"
#include "record/open/cgroup.h"
#include "record/open/limits.h"
#include "record/open/perf_event.h"
#include "record/open/trials.h"
#include "record/plan/filter.h"
#include "record/plan/plan.h"
#include "record/plan/variants.h"
#include "record/probes/probe_events.h"
#include "record/probes/probes.h"
#include "record/proc/stopping.h"
#include "record/recorder.h"
#include "record/rings/ahead.h"
#include "record/rings/governor.h"
#include "record/rings/prefault.h"
#include "record/rings/ring_sizes.h"
#include "record/rings/state_writer.h"
#include "record/rings/task_filter.h"
#include "record/state/existing.h"
#include "record/state/gauges.h"
#include "record/state/host.h"
#include "record/tracepoints/tracepoint_source.h"
#include "record/tracepoints/tracepoints.h"
#include "record/write/pack.h"

/* Writes the features that this kernel lacks into the recording; prints them only with -v. */
static void note_features(struct mt_recorder *r)
{
	size_t count;
	const struct mt_feature *rows = mt_feature_rows(&count);

	for (size_t i = 0; i < count; i++) {
		char *text;

		if (mt_feature_has(&r->features, &rows[i]) ||
		    asprintf(&text, "this kernel gives us no %s (%s): %s", rows[i].name,
			     rows[i].since, rows[i].cost) < 0)
			continue;
		r->voice->say(r->voice->context, 2, text);
		mt_recorder_put_note(r, 0, text);
	}
}

static void say_plan(struct mt_recorder *r)
{
	for (size_t i = 0; i < r->plan->events.count; i++) {
		const struct mt_planned_event *event = &r->plan->events.items[i];
		MT_CLEANUP_FREE char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		mt_recorder_say(r, 2, "event %zu: %s (%s)", i, event->name, event->alias);
		if (out) {
			mt_perf_print_attr(&event->attr, out);
			fclose(out);
			mt_recorder_say(r, 3, "%s", text);
		}
	}
}

static struct mt_throttle_limits throttle_limits(const struct mt_recorder *r)
{
	uint64_t rate = r->options->max_rate ? r->options->max_rate : r->plan->storm_rate;

	return (struct mt_throttle_limits){.budget = r->options->budget / 100,
					   .max_rate = (double)rate};
}

/*
 * Adds variants and seeds to the plan. They cost a file descriptor for each thread, CPU and event,
 * so running threads get them only if a limit requires that. mt_plan_add_variants() selects the
 * variants.
 */
static struct mt_error *plan_variants(struct mt_recorder *r, size_t cpus)
{
	struct mt_throttle_limits limits = throttle_limits(r);
	bool all = r->options->budget > 0 || r->options->max_rate;
	enum mt_variants which = all		       ? MT_VARIANTS_ALL
				 : r->plan->storm_rate ? MT_VARIANTS_STORMS
						       : MT_VARIANTS_SMALL;
	struct mt_error *err = NULL;

	if (mt_options_target_tasks(r->options) && which == MT_VARIANTS_SMALL)
		return NULL;
	r->plan->start_level = mt_throttle_start(&limits);
	if (all)
		err = mt_plan_limit_others(r->plan, r->options->max_rate, cpus);
	err = err ? err : mt_plan_add_variants(r->plan, which);
	return err || r->options->no_seeds ? err : mt_plan_add_seeds(r->plan);
}

/* Removes probes of recorders that have ended, then creates the set of probes. */
static struct mt_error *create_probes(struct mt_recorder *r)
{
	int tracefs = mt_tracepoints_tracefs(r->tracepoints);
	size_t kept, removed = 0;

	if (tracefs >= 0) /* without permission, they are left to the next recorder of root */
		mt_error_destroy(mt_probe_events_sweep(tracefs, &removed, &kept));
	if (removed)
		mt_recorder_say(r, 2, "probes that an earlier mtrec left are removed: %zu",
				removed);
	r->probed = (struct mt_probe_targets){
		.pids = &r->options->pids,
		.tids = &r->options->tids,
		.command_file = mt_options_target_tasks(r->options) ? NULL : r->command_file,
		.everyone = mt_options_target_cpus(r->options),
	};
	r->probes = mt_probes_create(tracefs, &r->probed);
	return r->probes ? NULL : mt_error_nomem();
}

static void say_probe(void *r, const char *text)
{
	mt_recorder_say(r, 2, "%s", text);
}

/* Finds the kernel's features and plans the events. */
static struct mt_error *make_plan(struct mt_recorder *r)
{
	const struct mt_number_list *cpus = r->options->cpus.count ? &r->options->cpus : &r->cpus;
	struct mt_group_trial trial = {.features = &r->features,
				       .trials = &r->trials,
				       .cpu = cpus->items[0],
				       .wide = mt_options_target_cpus(r->options)};
	struct mt_tracepoint_source source;
	struct mt_error *err = mt_features_probe(&r->features);

	if (err)
		return err;
	note_features(r);
	if (!mt_clock_open(&r->features, &r->clock))
		mt_recorder_say(
			r, 1,
			"the kernel's clock cannot be related to any other: times of day are "
			"unknown");
	err = mt_tracepoints_create(&r->features, &r->trials, r->options->tracepoint_ids,
				    &r->tracepoints);
	if (err)
		return err;
	err = create_probes(r);
	if (err)
		return err;
	source = mt_tracepoints_source(r->tracepoints);
	source.probe = mt_probes_define;
	source.allocators = mt_allocator_probes_define;
	source.probes = r->probes;
	source.together = mt_group_trial_together;
	source.together_context = &trial;
	err = mt_plan_create(r->options, &r->features, &source, &r->plan);
	if (!err && r->options->action == MT_ACTION_RECORD)
		err = mt_recorder_sample_blocks(r);
	mt_recorder_say(r, 2, "tracepoints: %s", mt_tracepoints_where(r->tracepoints));
	mt_probes_describe(r->probes, say_probe, r);
	if (!err)
		err = mt_filter_check(r->plan, &r->features, &r->trials,
				      mt_tracepoints_tracefs(r->tracepoints));
	if (!err && r->options->action != MT_ACTION_COUNT)
		err = plan_variants(r, cpus->count);
	if (!err && r->options->action == MT_ACTION_COUNT) {
		mt_plan_count_only(r->plan);
		mt_recorder_leave_out_unsupported(r);
	}
	if (!err)
		say_plan(r);
	if (!err && r->plan->probed)
		mt_recorder_say(r, 0, "%s", r->plan->probed);
	for (size_t i = 0; !err && i < r->plan->notes.count; i++)
		mt_recorder_say(r, 1, "%s", r->plan->notes.items[i]);
	return err;
}

/* Warns that the rings are smaller than wanted, and says which limits would allow larger ones. */
static void say_shrunk(struct mt_recorder *r, size_t wanted)
{
	size_t each = mt_rings_bytes(r->plan, wanted);
	MT_CLEANUP_FREE char *fix = mt_limits_ring_fix(each, r->opened.cpus.count);

	mt_recorder_say(
		r, 1,
		"rings of %zu instead of %zu KiB a CPU, all that the mlock budget allows; if "
		"records "
		"are lost, %s",
		r->opened.ring_size >> 10, wanted >> 10, fix ? fix : "raise ulimit -l");
}

/*
 * Opens whole CPUs if there are more threads than file descriptors. The drains then keep only
 * records of the targets. Takes the error `why`, and returns it if whole CPUs cannot be opened
 * either.
 */
static struct mt_error *open_cpus_instead(struct mt_recorder *r, const struct mt_number_list *cpus,
					  size_t ring, struct mt_error *why)
{
	struct mt_error *err = NULL;
	bool paused = r->opened.paused;

	mt_event_set_deinit(&r->opened);
	mt_plan_widen(r->plan);
	if (!r->filter)
		err = mt_task_filter_create(NULL, NULL, NULL, &r->filter);
	if (!err && !mt_task_filter_only(r->filter, &r->options->pids, &r->options->tids))
		err = mt_error_nomem();
	err = err ? err : mt_event_set_init(r->plan, &r->features, cpus, ring, &r->opened);
	r->opened.paused = paused;
	err = err ? err : mt_event_set_add_cpus(&r->opened);
	if (err) {
		mt_error_destroy(err);
		return why;
	}
	mt_recorder_say(r, 1,
			"whole CPUs are recorded and what is not of the targets is dropped: %s",
			why->hint ? why->hint : why->message);
	mt_error_destroy(why);
	return NULL;
}

/* Returns the default ring size for `cpus` CPUs. */
static size_t ring_size_for(struct mt_recorder *r, size_t cpus)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	size_t wanted = mt_ring_size(r->plan, MT_CLASS_STORM);
	size_t size = mt_rings_size_for(r->plan, cpus, memory);

	if (size < wanted)
		mt_recorder_say(
			r, 2,
			"rings of %zu instead of %zu KiB a CPU: there are %zu, and %llu MiB of "
			"memory; -m asks for others",
			size >> 10, wanted >> 10, cpus, (unsigned long long)memory >> 20);
	return size;
}

static struct mt_error *open_events(struct mt_recorder *r)
{
	const struct mt_number_list *cpus = r->options->cpus.count ? &r->options->cpus : &r->cpus;
	size_t ring = r->options->ring_size ? r->options->ring_size : ring_size_for(r, cpus->count);
	struct mt_error *err = mt_event_set_init(r->plan, &r->features, cpus, ring, &r->opened);

	if (err)
		return err;
	if (r->opened.cpus.count < r->options->cpus.count)
		mt_recorder_say(r, 1, "-C: %zu of these CPUs are not online",
				r->options->cpus.count - r->opened.cpus.count);
	r->opened.cgroup = r->cgroup;
	r->opened.cgroup_name = r->options->cgroup;
	r->opened.paused = r->options->delay || r->options->start_disabled;
	err = mt_targets_open(r->options, &r->command, &r->opened);
	if (err && err->errnum == EMFILE && mt_options_target_tasks(r->options))
		err = open_cpus_instead(r, cpus, ring, err);
	if (!err && r->opened.ring_shrunk)
		say_shrunk(r, ring);
	if (!err && r->opened.refused)
		mt_recorder_say(r, 0,
				"malloc: the kernel cannot set some probes, %s first: these calls "
				"are not recorded",
				r->opened.refused);
	return err;
}

static struct mt_error *create_drains(struct mt_recorder *r)
{
	for (size_t i = 0; i < r->opened.cpus.count; i++) {
		struct mt_event_set_cpu *cpu = &r->opened.cpus.items[i];
		struct mt_drain *drain;
		struct mt_error *err = mt_drain_create(cpu->cpu, (uint32_t)i, cpu->rings,
						       &r->stream_config, &drain);

		if (err)
			return err;
		if (!mt_array_append(&r->drains, drain)) {
			mt_drain_destroy(drain);
			return mt_error_nomem();
		}
	}
	return NULL;
}

static void ask_drains(void *context)
{
	const struct mt_recorder *r = context;

	for (size_t i = 0; i < r->drains.count; i++)
		mt_drain_flush(r->drains.items[i]);
}

static bool drains_answered(void *context)
{
	const struct mt_recorder *r = context;
	bool all = true;

	for (size_t i = 0; i < r->drains.count; i++)
		all &= mt_drain_flushed(r->drains.items[i]);
	return all;
}

/* Starts one drain per CPU. Each drain helps the next one when the rings of that one fill up. */
static struct mt_error *start_drains(struct mt_recorder *r)
{
	enum mt_priority lowest = MT_PRIORITY_REALTIME;
	bool prefaults =
		!r->options->no_prefault && r->options->dump_size && r->features.user_stack;
	struct mt_error *err = prefaults ? mt_prefault_create(&r->prefault) : NULL;

	if (!err && r->filter)
		err = mt_task_filter_start(r->filter);
	err = err ? err : mt_ahead_create(r->spool, &r->ahead);
	r->stream_config = (struct mt_stream_config){.plan = r->plan,
						     .ids = &r->opened.ids,
						     .levels = r->opened.levels,
						     .spool = r->spool,
						     .filter = r->filter,
						     .prefault = r->prefault,
						     .images = r->memory.images,
						     .ahead = mt_ahead_thread(r->ahead),
						     .self = getpid()};
	err = err ? err : create_drains(r);
	if (!err)
		mt_ahead_add_drains(r->ahead, r->drains.items, r->drains.count);
	for (size_t i = 0; i < r->drains.count && !err; i++) {
		struct mt_drain *drain = r->drains.items[i];

		err = mt_drain_start(drain, r->drains.items[(i + 1) % r->drains.count]);
		if (mt_drain_priority(drain) > lowest)
			lowest = mt_drain_priority(drain);
	}
	r->flusher = (struct mt_pack_flusher){ask_drains, drains_answered, r};
	if (!err)
		mt_pack_set_flusher(r->pack, &r->flusher);
	if (!err)
		mt_recorder_say(r, 2, "rings of %zu CPUs drained by threads at %s", r->drains.count,
				mt_drain_priority_name(lowest));
	return err;
}

static size_t count_streams(const struct mt_recorder *r)
{
	size_t streams = 0;

	for (size_t i = 0; i < r->opened.cpus.count; i++) {
		for (int class = 0; class < MT_CLASSES; class ++)
			streams += r->opened.cpus.items[i].rings[class].page != NULL;
	}
	return streams;
}

/* Warns that --strip has little to remove if no raw bytes of stacks are recorded. */
static void report_nothing_to_strip(struct mt_recorder *r)
{
	enum mt_call_graph how = r->options->call_graph;

	if (!r->options->strip || how == MT_GRAPH_DWARF)
		return;
	mt_recorder_say(r, 1,
			"--strip: --call-graph %s records no raw bytes of stacks, so that none are "
			"unwound; only registers and arguments are left out",
			how == MT_GRAPH_FP    ? "fp"
			: how == MT_GRAPH_LBR ? "lbr"
					      : "none");
}

/* Writes which of the recorded processes are targets. */
static void describe_choice(const struct mt_recorder *r, struct mt_state *head)
{
	MT_CLEANUP_FREE char *cgroup = r->cgroup >= 0 ? mt_cgroup_line(r->cgroup) : NULL;
	struct mt_target_choice choice = {.comm = r->options->comm, .cgroup = cgroup};

	choice.by_user = r->filter && mt_task_filter_user(r->filter, &choice.uid);
	mt_host_describe_choice(head, &choice);
}

static struct mt_error *start_writing(struct mt_recorder *r, int argc, char **argv)
{
	struct mt_state head;
	struct mt_error *err = mt_output_open(r->options->output, r->waiting.signals, &r->output);
	const struct mt_skeleton_wish *wish = &r->options->embed.wish;
	const struct mt_memory_use use = {.carries = wish->names || wish->unwind,
					  .unwinds = r->options->strip};
	struct mt_pack_strip strip;

	if (err)
		return err;
	r->memory = mt_memory_share(r->options->memory, count_streams(r), &use);
	mt_recorder_say(r, 2, "memory beside the rings: %llu MiB, of it %zu for the spool",
			(unsigned long long)(r->memory.bytes >> 20),
			r->memory.blocks * MT_SPOOL_BLOCK >> 20);
	if (r->options->memory && r->memory.bytes > r->options->memory)
		mt_recorder_say(r, 1, "--memory: %zu rings need %llu MiB", count_streams(r),
				(unsigned long long)(r->memory.bytes >> 20));
	r->spool = mt_spool_create(r->memory.blocks);
	r->gauges = mt_gauges_create(&r->clock);
	if (!r->spool || !r->gauges)
		return mt_error_nomem();
	strip = (struct mt_pack_strip){.tables = r->memory.tables, .hold = r->memory.hold};
	err = mt_pack_create(r->output, r->options->level, r->spool, r->plan, r->waiting.failed,
			     &r->options->embed, &strip, &r->pack);
	if (err)
		return err;
	if (r->options->max_size)
		mt_pack_set_limit(r->pack, r->options->max_size, r->waiting.full);
	head = (struct mt_state){.spool = r->spool, .type = MT_CHUNK_HEAD};
	mt_host_describe(&head, r->options, &r->clock, r->plan, argc, argv);
	describe_choice(r, &head);
	mt_state_flush(&head);
	mt_recorder_put_waiting_notes(r);
	report_nothing_to_strip(r);
	return NULL;
}

static void say_switch(void *voice, const char *text)
{
	mt_recorder_say(voice, 0, "%s", text);
}

static struct mt_error *start_governor(struct mt_recorder *r)
{
	r->governor = mt_governor_create(&(struct mt_governor_config){
		.plan = r->plan,
		.opened = &r->opened,
		.spool = r->spool,
		.drains = r->drains.items,
		.drain_count = r->drains.count,
		.limits = throttle_limits(r),
		.voice = r,
		.say = say_switch,
	});
	return r->governor ? NULL : mt_error_nomem();
}

/* Returns an error if the targets ended, or became zombies, while their probes were prepared. */
static struct mt_error *check_targets(struct mt_recorder *r)
{
	bool process = r->options->pids.count;
	pid_t first;

	if (!mt_waiting_all_ended(&r->waiting))
		return NULL;
	first = process ? r->options->pids.items[0] : r->options->tids.items[0];
	return mt_error_create(MT_ERR_NOT_FOUND, "-%c: %s %d had ended before recording began",
			       process ? 'p' : 't', process ? "process" : "thread", (int)first);
}

/* Watches the targets. Fails if a process does not exist; threads are checked when opened. */
static struct mt_error *watch_targets(struct mt_recorder *r)
{
	const struct mt_number_list *pids = &r->options->pids;

	for (size_t i = 0; i < pids->count; i++) {
		if (kill(pids->items[i], 0) && errno == ESRCH)
			return mt_error_hint(mt_error_create(MT_ERR_NOT_FOUND,
							     "-p: there is no process %d",
							     pids->items[i]),
					     "ps lists the running processes");
	}
	if (!mt_targets_watch(r->options, &r->waiting))
		return mt_error_nomem();
	return pids->count ? check_targets(r) : NULL;
}

/* Reports existing children that are not targets. Future children are targets. */
static void note_children(struct mt_recorder *r)
{
	const struct mt_number_list *pids = &r->options->pids;
	struct mt_number_list family = {0};
	bool all = !r->options->no_inherit;
	char list[80] = "";
	size_t used = 0;

	for (size_t i = 0; i < pids->count; i++)
		all &= mt_list_add(&family, pids->items[i]);
	all = all && mt_existing_add_children(&family, getpid());
	for (size_t i = 0; i < family.count && used + 16 < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%d", i ? "," : "",
					 family.items[i]);
	if (all && family.count > pids->count)
		mt_recorder_say(r, 1, "%zu existing %s not recorded: --children, or -p %s%s",
				family.count - pids->count,
				family.count == pids->count + 1 ? "child is" : "children are", list,
				used + 16 < sizeof(list) ? "" : ",...");
	mt_array_deinit(&family);
}

/* Prepares what recording and --stat share: the plan, and the command, which waits at its gate. */
static struct mt_error *prepare_plan(struct mt_recorder *r)
{
	bool to_stdout = r->options->output && !strcmp(r->options->output, "-");
	struct mt_error *err = mt_waiting_init(&r->waiting);

	err = err ? err : watch_targets(r);
	err = err ? err : mt_host_cpus(&r->cpus);
	if (!err && r->options->cgroup)
		err = mt_cgroup_open(r->options->cgroup, &r->cgroup);
	if (!err && (r->options->comm || r->options->user))
		err = mt_task_filter_create(r->options->comm, r->options->user, NULL, &r->filter);
	err = err ? err : make_plan(r);
	if (!err && r->options->command)
		err = mt_command_prepare(r->options->command, to_stdout, &r->command);
	return err;
}

/* Opens --control, checks that targets still run, and reports children that are not recorded. */
static struct mt_error *prepare_waiting(struct mt_recorder *r)
{
	struct mt_error *err =
		r->options->control ? mt_control_open(r->options->control, &r->control) : NULL;

	r->waiting.control = r->control.in;
	err = err ? err : check_targets(r);
	if (!err)
		note_children(r);
	return err;
}

struct mt_error *mt_recorder_prepare_counting(struct mt_recorder *r)
{
	struct mt_error *err = prepare_plan(r);

	mt_limits_raise_files();
	err = err ? err : mt_recorder_open_counters(r, r->plan, &r->opened);
	r->opened.paused = r->options->delay || r->options->start_disabled;
	mt_trials_end(&r->trials);
	err = err ? err : prepare_waiting(r);
	if (err)
		return err;
	r->counts = calloc(r->plan->events.count, sizeof(*r->counts));
	return r->counts ? NULL : mt_error_nomem();
}

struct mt_error *mt_recorder_prepare(struct mt_recorder *r, int argc, char **argv)
{
	struct mt_error *err = prepare_plan(r);

	mt_self_limits_bound_heap();
	mt_self_limits_bound_stacks();
	mt_limits_raise_files(); /* the command was forked before and keeps its limits */
	r->oom_adj = mt_self_limits_spare_from_oom();
	mt_self_limits_stay_local();
	r->locked = mt_self_limits_lock_memory();
	mt_recorder_say(r, 2, "memory is %s; oom_score_adj is %d",
			r->locked ? "locked" : "not locked", r->oom_adj);
	err = err ? err : open_events(r);
	if (err && r->probes)
		mt_probes_remove_later(r->probes);
	mt_trials_end(&r->trials);
	err = err ? err : prepare_waiting(r);
	err = err ? err : start_writing(r, argc, argv);
	err = err ? err : start_drains(r);
	err = err ? err : start_governor(r);
	if (!err && r->locked)
		r->locked = mt_self_limits_have_memory();
	if (!err && mt_is_stopping())
		err = mt_stop_error();
	return err;
}
