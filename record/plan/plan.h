/*
 * Plans events: from the words of -e to the kernel events to open. Pure: the kernel's features and
 * tracepoints are arguments, so that every plan can be tested without a kernel.
 */
#ifndef MT_RECORD_PLAN_PLAN_H
#define MT_RECORD_PLAN_PLAN_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/events.h"
#include "formats/records/attr.h"
#include "formats/records/record.h"

struct mt_error;
struct mt_perf_features;
struct mt_record_options;
struct mt_tracepoint_source;

/* An event's part in an account of blocks (plan_blocks.c). */
enum mt_planned_block {
	MT_PLANNED_NONE,
	MT_PLANNED_ALLOC,
	MT_PLANNED_LARGE, /* beside an ALLOC of sampled blocks: large ones, each of them */
	MT_PLANNED_ENTER,
	MT_PLANNED_FREE,
};

struct mt_planned_event {
	enum mt_event_role role;
	uint32_t pair;	 /* index in the plan, or MT_EVENT_NONE */
	uint32_t full;	 /* the event that this one is a twin of; its own index: no twin */
	uint32_t leader; /* first event of its group, its own index for that one; 0: no group */
	uint32_t seed;	 /* its seed (seeds.h); 0: none */
	int level;	 /* MT_LEVEL_* of a twin; MT_LEVEL_FULL for others */
	enum mt_event_class class;
	bool left_out; /* it is not opened: --stat does not count it, or cannot here */
	char *name;    /* the kernel's: syscalls:sys_exit_brk, page-faults */
	char *alias;   /* as in -e */
	char *unit;
	char *format;  /* text of a tracepoint's format file, or NULL */
	char *filter;  /* a tracepoint's filter (filter.h), or NULL */
	char *account; /* its part in an account of blocks (formats/FORMAT.md, 4.3), or NULL */
	enum mt_planned_block block;
	uint32_t file; /* of a block: the allocator's place in block_files, from 1; 0: none */
	bool is_sized, frees_old, has_no_ptr,
		is_stepped; /* of a block, as in struct mt_allocator_probe */
	struct perf_event_attr attr;
	struct mt_attr decoded; /* attr in the form that decoders take */
	size_t sp_back; /* bytes from the user stack pointer in a sample to the dump's size field;
			   0: no dump */
	size_t id_offset, pid_offset, time_offset; /* in a sample; the pid is a u32 */
};

struct mt_plan {
	MT_ARRAY(struct mt_planned_event) events; /* index 0 is the side-band event */
	int start_level;			  /* level that events with twins start at */
	uint64_t storm_rate;	/* samples a second and storm event that -F asks for; 0: all */
	MT_ARRAY(char *) notes; /* for the user, one line each: what is not as it was asked for */
	MT_ARRAY(char *) block_files; /* paths of the allocators that are probed */
	char *probed; /* for the user: where blocks are given and freed; NULL: not asked */
};

/*
 * Plans what the options request. Borrows nothing after the call. *out: the caller destroys it.
 */
struct mt_error *mt_plan_create(const struct mt_record_options *options,
				const struct mt_perf_features *features,
				const struct mt_tracepoint_source *tracepoints,
				struct mt_plan **out);
void mt_plan_destroy(struct mt_plan *plan);

/* True if blocks of allocators are recorded. */
bool mt_plan_has_blocks(const struct mt_plan *plan);

/*
 * Has the kernel record 1 in one_in blocks, a power of two, chosen by their addresses
 * (formats/records/address_sample.h), and every large one where its size stands before it. Events
 * that are not needed then are left out. one_in 1: every block. Call it once.
 */
struct mt_error *mt_plan_sample_blocks(struct mt_plan *plan, uint32_t one_in);

/*
 * Leaves out all events of a file of block_files, for a reason that `probed` has then. Call it
 * before mt_plan_sample_blocks().
 */
struct mt_error *mt_plan_leave_out_blocks(struct mt_plan *plan, uint32_t file, const char *why);

/* Cuts the stack dumps of blocks' events. To be called before twins and seeds are added. */
void mt_plan_cut_blocks(struct mt_plan *plan, uint32_t dump_size);

/*
 * The same of objects of the kernel's allocators, where their events are planned: *some is set.
 */
struct mt_error *mt_plan_sample_objects(struct mt_plan *plan, uint32_t one_in, bool *some);

/* Turns the events into counters without samples; marks and the side-band are left out. */
void mt_plan_count_only(struct mt_plan *plan);

/* Turns events that follow tasks into events of whole CPUs. */
void mt_plan_widen(struct mt_plan *plan);

#endif
