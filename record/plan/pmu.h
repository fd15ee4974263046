/*
 * Parses PMU events with terms, `cpu/event=0xc4,umask=0x20/`. sysfs describes which bits of the
 * config fields each term sets.
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
	uint64_t period, frequency; /* 0: not given */
	bool core;		    /* event of the CPU's PMU */
};

/*
 * Parses "NAME/TERM[=VALUE],.../" (length bytes, both slashes included) according to the files
 * below root. A term is a format or an event of the PMU, or config, config1, config2, period or
 * freq.
 */
struct mt_error *mt_pmu_find(const char *root, const char *text, size_t length,
			     struct mt_pmu_event *out);

#endif
