/*
 * Plans blocks of allocators: their probes, and the filters with which the kernel samples blocks.
 * Allocations and frees are filtered by the same function of the block's address.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/records/address_sample.h"
#include "formats/records/events.h"
#include "record/cli/options.h"
#include "record/plan/filter.h"
#include "record/plan/plan.h"
#include "record/plan/planner.h"
#include "record/tracepoints/tracepoint_source.h"

#define LARGE "size>=131072" /* bytes; one such block more or less changes an estimate visibly */
#define SMALL "size<131072"

/*
 * Filters by the size word before a block, which glibc computes as follows: the requested size plus
 * 8, rounded up to a multiple of 16, plus up to 32 bytes of a remainder that is too small for a
 * block. Flags use the values below 16. An aligned block with a mapping of its own (flag 2) has a
 * larger word. Allocations and frees use the same bounds, because the flags may change between
 * allocation and free; the reader compares with the requested size.
 */
static struct mt_error *filter_sizes(struct mt_planned_event *event, uint64_t least, uint64_t most)
{
	uint64_t low = (least + 8) & ~15ull, high = (most + 8 + 15) / 16 * 16 + 32 + 15;
	const char *failed = event->block == MT_PLANNED_FREE ? "" : "ptr==0||";
	MT_CLEANUP_FREE char *filter = NULL;

	if ((most == UINT64_MAX
		     ? asprintf(&filter, "%ssize>=%" PRIu64, failed, low)
		     : asprintf(&filter, "%ssize>=%" PRIu64 "&&(size<=%" PRIu64 "||size&2)", failed,
				low, high)) < 0)
		return mt_error_nomem();
	return mt_filter_add(&event->filter, filter);
}

/*
 * Adds the size limits to the parameters and filter of an event. A realloc is always recorded,
 * whatever its new size, because it also frees the old block.
 */
static struct mt_error *limit_sizes(struct mt_planned_event *event,
				    const struct mt_record_options *options)
{
	MT_CLEANUP_FREE char *account = event->account;
	uint64_t least = options->malloc_least, most = options->malloc_most;

	event->account = NULL;
	event->account = mt_format("%s size=%" PRIu64 "-%" PRIu64, account, least, most);
	if (!event->account)
		return mt_error_nomem();
	return event->is_sized && !event->frees_old ? filter_sizes(event, least, most) : NULL;
}

/*
 * Finds or adds the file of a probe. The probes of a file arrive in sequence. False out of memory.
 */
static bool find_file(struct mt_plan *plan, const char *path, uint32_t *file)
{
	size_t count = plan->block_files.count;
	bool known = !path || (count && !strcmp(plan->block_files.items[count - 1], path));
	char **slot = known ? NULL : mt_array_push(&plan->block_files);

	if (slot)
		*slot = strdup(path);
	*file = path ? (uint32_t)plan->block_files.count : 0;
	return known || (slot && *slot);
}

static struct mt_error *plan_one(struct mt_planner *planner, const struct mt_allocator_probe *probe,
				 enum mt_planned_block block)
{
	struct mt_event_word word = {.text = probe->function,
				     .length = strlen(probe->function),
				     .def = mt_event_def_find("malloc", 6)};
	bool gives = probe->moment == MT_BLOCK_ALLOC;
	struct mt_error *err = mt_planner_tracepoint(planner, probe->name,
						     gives ? MT_ROLE_SAMPLE : MT_ROLE_MARK, &word);
	struct mt_planned_event *event;

	if (err)
		return err;
	event = mt_planner_last(planner);
	event->account = strdup(probe->account);
	event->block = block;
	event->is_sized = probe->is_sized;
	event->frees_old = probe->frees_old;
	event->has_no_ptr = probe->has_no_ptr;
	event->is_stepped = probe->is_stepped;
	if (!event->account || !find_file(planner->plan, probe->file, &event->file))
		return mt_error_nomem();
	return planner->options->malloc_most && block != MT_PLANNED_ENTER
		       ? limit_sizes(event, planner->options)
		       : NULL;
}

static struct mt_error *plan_blocks(void *context, const struct mt_allocator_probe *probe)
{
	static const enum mt_planned_block blocks[] = {
		[MT_BLOCK_ALLOC] = MT_PLANNED_ALLOC,
		[MT_BLOCK_ENTER] = MT_PLANNED_ENTER,
		[MT_BLOCK_FREE] = MT_PLANNED_FREE,
	};
	struct mt_planner *planner = context;
	const struct mt_record_options *options = planner->options;
	bool sampled = options->action == MT_ACTION_RECORD && options->malloc_sample != 1;
	struct mt_error *err = plan_one(planner, probe, blocks[probe->moment]);

	if (err || !sampled || probe->moment != MT_BLOCK_ALLOC || !probe->is_sized)
		return err;
	return plan_one(planner, probe, MT_PLANNED_LARGE);
}

/* Refuses options that drop blocks by criteria other than their address. */
static struct mt_error *check_limits(const struct mt_record_options *options)
{
	bool runs = mt_options_target_cpus(options) || mt_options_target_tasks(options);

	if (options->period > 1 || options->frequency || options->max_rate)
		return mt_error_create(MT_ERR_USAGE,
				       "-e malloc records every block, or 1 in N with "
				       "--malloc-sample: -c, -F and --max-rate do not go with it");
	if (options->budget > 0 && (options->malloc_sample || !runs))
		return mt_error_create(MT_ERR_USAGE,
				       "-e malloc keeps to --budget with --malloc-sample auto, of "
				       "what runs already");
	return NULL;
}

struct mt_error *mt_planner_allocators(struct mt_planner *planner, bool allocators)
{
	const struct mt_allocator_choice choice = {
		.allocators = allocators,
		.gives = planner->options->custom_allocs.items,
		.gives_count = planner->options->custom_allocs.count,
		.frees = planner->options->custom_frees.items,
		.frees_count = planner->options->custom_frees.count,
	};
	const struct mt_tracepoint_source *source = planner->tracepoints;
	struct mt_error *err = check_limits(planner->options);

	if (err)
		return err;
	if (!allocators && !choice.gives_count)
		return mt_error_create(MT_ERR_USAGE, "--free-function: no function gives blocks; "
						     "--alloc-function names one, -e malloc the "
						     "allocator's");
	if (!source->allocators)
		return mt_error_create(MT_ERR_UNSUPPORTED, "malloc: probes cannot be defined here");
	return source->allocators(source->probes, &choice, plan_blocks, planner,
				  &planner->plan->probed);
}

bool mt_plan_has_blocks(const struct mt_plan *plan)
{
	for (size_t i = 0; i < plan->events.count; i++) {
		if (plan->events.items[i].block)
			return true;
	}
	return false;
}

/* Returns true if dumps of other events may contain the trampoline address of a return probe. */
static bool has_other_samples(const struct mt_plan *plan)
{
	for (size_t i = 0; i < plan->events.count; i++) {
		if (!plan->events.items[i].block && plan->events.items[i].role == MT_ROLE_SAMPLE)
			return true;
	}
	return false;
}

/*
 * Returns the filter of an event of sampled blocks, which the caller frees; NULL out of memory. The
 * kernel evaluates the filter for each block, so the term that rejects most blocks comes first. The
 * size is undefined if ptr is 0.
 */
static char *sample_filter(const struct mt_planned_event *event, const char *chosen)
{
	const char *format;

	if (event->block == MT_PLANNED_ALLOC)
		format = event->is_sized ? SMALL "&&%s||ptr==0" : "%s||ptr==0";
	else
		format = event->is_sized ? LARGE "&&ptr!=0||%s" : "%s";
	return mt_format(format, chosen);
}

static struct mt_error *sample_event(struct mt_planned_event *event, uint32_t one_in,
				     const char *chosen)
{
	MT_CLEANUP_FREE char *filter = NULL;
	MT_CLEANUP_FREE char *account = event->account;

	event->account = NULL;
	event->account = mt_format("%s one-in=%u", account, one_in);
	if (event->account && event->has_no_ptr)
		return NULL; /* the reader selects the sampled blocks */
	filter = sample_filter(event, chosen);
	return event->account && filter ? mt_filter_add(&event->filter, filter) : mt_error_nomem();
}

struct mt_error *mt_plan_sample_blocks(struct mt_plan *plan, uint32_t one_in)
{
	MT_CLEANUP_FREE char *chosen = mt_address_filter("ptr", one_in);
	bool all = one_in == 1, others = has_other_samples(plan);
	struct mt_error *err = all || chosen ? NULL : mt_error_nomem();

	for (size_t i = 0; i < plan->events.count && !err; i++) {
		struct mt_planned_event *event = &plan->events.items[i];

		if (event->left_out)
			continue;
		if (event->block == MT_PLANNED_LARGE && all)
			event->left_out = true;
		else if (event->block == MT_PLANNED_LARGE)
			err = mt_filter_add(&event->filter, LARGE "&&ptr!=0");
		else if (event->block == MT_PLANNED_ENTER && !all)
			event->left_out = event->is_sized && !event->frees_old && !others;
		else if (event->block && event->block != MT_PLANNED_ENTER && !all)
			err = sample_event(event, one_in, chosen);
	}
	return err;
}

/* Removes "N functions of PATH" and its comma from the text. */
static void unsay_file(char *text, const char *path)
{
	size_t length = strlen(path);
	char *at = text, *end, *begin;

	while ((at = strstr(at, " functions of "))) {
		begin = at;
		at += strlen(" functions of ");
		end = at + length;
		if (strncmp(at, path, length) != 0 ||
		    (strncmp(end, ", ", 2) != 0 && strncmp(end, " are probed", 11) != 0))
			continue;
		while (begin > text && begin[-1] >= '0' && begin[-1] <= '9')
			begin--;
		if (*end == ',')
			end += 2;
		else if (begin > text + 1 && begin[-2] == ',')
			begin -= 2;
		memmove(begin, end, strlen(end) + 1);
		return;
	}
}

struct mt_error *mt_plan_leave_out_blocks(struct mt_plan *plan, uint32_t file, const char *why)
{
	const char *path = plan->block_files.items[file - 1];
	char *text;

	for (size_t i = 0; i < plan->events.count; i++) {
		if (plan->events.items[i].block && plan->events.items[i].file == file)
			plan->events.items[i].left_out = true;
	}
	unsay_file(plan->probed, path);
	if (asprintf(&text, "%s; %s%s, %s", plan->probed,
		     strstr(plan->probed, "; left out: ") ? "" : "left out: ", path, why) < 0)
		return mt_error_nomem();
	free(plan->probed);
	plan->probed = text;
	return NULL;
}

void mt_plan_cut_blocks(struct mt_plan *plan, uint32_t dump_size)
{
	for (size_t i = 0; i < plan->events.count; i++) {
		struct mt_planned_event *event = &plan->events.items[i];

		if (!event->block || event->attr.sample_stack_user <= dump_size)
			continue;
		event->attr.sample_stack_user = dump_size;
		(void)mt_attr_decode(&event->attr, sizeof(event->attr), &event->decoded);
	}
}

/*
 * Returns true for events of kernel objects: kmem:kmalloc, kmem:kfree and others that have the
 * field ptr.
 */
static bool is_of_objects(const struct mt_planned_event *event)
{
	return !strncmp(event->name, "kmem:k", 6);
}

struct mt_error *mt_plan_sample_objects(struct mt_plan *plan, uint32_t one_in, bool *some)
{
	MT_CLEANUP_FREE char *chosen = mt_address_filter("ptr", one_in);
	struct mt_error *err = NULL;

	for (size_t i = 0; i < plan->events.count && one_in > 1 && !err; i++) {
		struct mt_planned_event *event = &plan->events.items[i];

		if (!is_of_objects(event))
			continue;
		*some = true;
		if (!chosen || asprintf(&event->account, "objects one-in=%u", one_in) < 0)
			return mt_error_nomem();
		err = mt_filter_add(&event->filter, chosen);
	}
	return err;
}

/* ---- Probes of -e ---- */

/* Plans a probe. The entry event of a return probe serves only to unwind dumps. */
static struct mt_error *plan_probe(void *out, const struct mt_defined_probe *probe)
{
	struct mt_event_word word = {.text = probe->alias, .length = strlen(probe->alias)};
	struct mt_planner *planner = out;

	if (probe->entry && !planner->options->dump_size)
		return NULL;
	return mt_planner_tracepoint(planner, probe->name,
				     probe->entry ? MT_ROLE_MARK : MT_ROLE_SAMPLE, &word);
}

struct mt_error *mt_planner_probe(struct mt_planner *planner, const char *text, size_t length)
{
	const struct mt_tracepoint_source *source = planner->tracepoints;
	MT_CLEANUP_FREE char *note = NULL;
	struct mt_error *err;

	if (!source->probe)
		return mt_error_create(MT_ERR_UNSUPPORTED, "%.*s: probes cannot be defined here",
				       (int)length, text);
	err = source->probe(source->probes, text, length, plan_probe, planner, &note);
	return err || !note ? err : mt_plan_note(planner->plan, "%s", note);
}
