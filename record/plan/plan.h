/*
 * From words to attributes: what `-e` asks for, as the list of kernel events to open. Pure: the
 * kernel's features and tracepoints come in as arguments, so that every plan can be tested without
 * a kernel.
 */
#ifndef MT_RECORD_PLAN_PLAN_H
#define MT_RECORD_PLAN_PLAN_H

#include <linux/perf_event.h>
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

struct mt_planned_event {
	enum mt_event_role role;
	uint32_t pair;	 /* index in the plan, or MT_EVENT_NONE */
	uint32_t full;	 /* the event that this one is a twin of; its own index where it is none */
	uint32_t leader; /* the event that it is counted together with, the first of its group; its
			    own index: it is that one; 0: none */
	uint32_t seed;	 /* the event that records the same with larger dumps, rarely; 0: none */
	int level;	 /* of throttle.h; MT_LEVEL_FULL for all but twins */
	enum mt_event_class class;
	char *name;  /* the kernel's: syscalls:sys_exit_brk, page-faults */
	char *alias; /* the user's word */
	char *unit;
	char *format; /* a tracepoint's, or NULL */
	char *filter; /* what the kernel is to let through, or NULL */
	struct perf_event_attr attr;
	struct mt_attr decoded; /* the same as the decoders want it */
	size_t sp_back; /* bytes from the user stack pointer among the registers to the dump's size;
			   0 without a dump */
	size_t id_offset, pid_offset, time_offset; /* where in a sample the identifier, the pid
						      (u32) and the time stand */
};

struct mt_plan {
	MT_ARRAY(struct mt_planned_event) events; /* index 0 is the side-band event */
	int start_level;			  /* of the events that have twins */
	MT_ARRAY(char *) notes; /* what stands in for what was asked for, a line each */
};

/*
 * Plans what the options ask for. per_task: the events follow tasks and their children, rather than
 * CPUs.
 */
struct mt_error *mt_plan_create(const struct mt_record_options *options,
				const struct mt_perf_features *features,
				const struct mt_tracepoint_source *tracepoints,
				struct mt_plan **out);
void mt_plan_destroy(struct mt_plan *plan);

/* Makes events that follow tasks into events of whole CPUs. */
void mt_plan_widen(struct mt_plan *plan);

#endif
