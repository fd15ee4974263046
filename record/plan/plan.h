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
#include "formats/records/attr.h"
#include "formats/records/events.h"
#include "formats/records/record.h"

struct mt_error;
struct mt_perf_features;
struct mt_record_options;
struct mt_tracepoint_source;

/* The role of an event in recording blocks (plan_blocks.c). */
enum mt_planned_block {
	MT_PLANNED_NONE,
	MT_PLANNED_ALLOC,
	MT_PLANNED_LARGE, /* all large blocks; accompanies an ALLOC event of sampled blocks */
	MT_PLANNED_ENTER,
	MT_PLANNED_FREE,
};

struct mt_planned_event {
	enum mt_event_role role;
	uint32_t pair;	 /* index of the other event of the pair, or MT_EVENT_NONE */
	uint32_t full;	 /* index of the event of which this one is a variant, or its own index */
	uint32_t leader; /* index of the first event of its group; 0: no group */
	uint32_t seed;	 /* index of its seed (variants.h); 0: none */
	int level;	 /* MT_LEVEL_* of a variant, else MT_LEVEL_FULL */
	enum mt_event_class class;
	bool left_out; /* not opened: not needed, or --stat cannot count it on this host */
	char *name;    /* the kernel's name: syscalls:sys_exit_brk, page-faults */
	char *alias;   /* the name in -e */
	char *unit;
	char *format;  /* text of a tracepoint's format file, or NULL */
	char *filter;  /* a tracepoint's filter (filter.h), or NULL */
	char *account; /* parameters for recording blocks (formats/FORMAT.md, 4.3), or NULL */
	enum mt_planned_block block;
	uint32_t file; /* block events: index + 1 of the allocator in block_files; 0: none */
	bool is_sized, frees_old, has_no_ptr,
		is_stepped; /* block events: as in struct mt_allocator_probe */
	struct perf_event_attr attr;
	struct mt_attr decoded; /* attr in the form that the decoders take */
	size_t sp_back; /* bytes from the user stack pointer in a sample to the dump's size field;
			   0: no dump */
	size_t id_offset, pid_offset, time_offset; /* offsets in a sample; the pid is a u32 */
};

struct mt_plan {
	MT_ARRAY(struct mt_planned_event) events; /* index 0 is the side-band event */
	int start_level;			  /* initial level of events that have variants */
	uint64_t storm_rate;	/* samples per second and storm event that -F requests; 0: all */
	MT_ARRAY(char *) notes; /* for the user, one line each: deviations from the request */
	MT_ARRAY(char *) block_files; /* paths of the probed allocators */
	char *probed; /* for the user: which functions are probed; NULL: not requested */
};

/*
 * Plans the events that the options request. Borrows nothing after the call. The caller destroys
 * *out.
 */
struct mt_error *mt_plan_create(const struct mt_record_options *options,
				const struct mt_perf_features *features,
				const struct mt_tracepoint_source *tracepoints,
				struct mt_plan **out);
void mt_plan_destroy(struct mt_plan *plan);

/* Returns true if blocks of allocators are recorded. */
bool mt_plan_has_blocks(const struct mt_plan *plan);

/*
 * Makes the kernel record 1 in one_in blocks, chosen by address (formats/records/address_sample.h).
 * one_in is a power of two; 1 records every block. If an event has the size word before a block,
 * all large blocks are recorded. Leaves out events that sampling does not need. Call it once.
 */
struct mt_error *mt_plan_sample_blocks(struct mt_plan *plan, uint32_t one_in);

/*
 * Leaves out all events of a file of block_files and adds the reason to `probed`. Call it before
 * mt_plan_sample_blocks().
 */
struct mt_error *mt_plan_leave_out_blocks(struct mt_plan *plan, uint32_t file, const char *why);

/*
 * Limits the stack dumps of block events to dump_size bytes. Call it before variants and seeds are
 * added.
 */
void mt_plan_cut_blocks(struct mt_plan *plan, uint32_t dump_size);

/*
 * Like mt_plan_sample_blocks() for objects of the kernel's allocators; sets *some if the plan has
 * such events.
 */
struct mt_error *mt_plan_sample_objects(struct mt_plan *plan, uint32_t one_in, bool *some);

/* Turns the events into counters without samples. Leaves out marks and the side-band. */
void mt_plan_count_only(struct mt_plan *plan);

/* Turns events of tasks into events of whole CPUs. */
void mt_plan_widen(struct mt_plan *plan);

#endif
