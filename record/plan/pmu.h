/*
 * Events of a PMU by its own terms, `cpu/event=0xc4,umask=0x20/`: sysfs says which bits of the
 * configuration each term means.
 */
#ifndef MT_RECORD_PLAN_PMU_H
#define MT_RECORD_PLAN_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;

#define MT_PMU_ROOT "/sys/bus/event_source/devices"

struct mt_pmu_event {
	uint32_t type;
	uint64_t config[3];
	uint64_t period, frequency; /* 0: not said */
	bool core;		    /* of a CPU's own counters */
};

/*
 * Reads "NAME/TERM[=VALUE],.../" (length bytes, both slashes included) with what stands below root.
 * A term is one of the PMU's formats or events, config, config1, config2, period or freq.
 */
struct mt_error *mt_pmu_find(const char *root, const char *text, size_t length,
			     struct mt_pmu_event *out);

#endif
