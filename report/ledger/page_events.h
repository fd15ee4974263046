/*
 * Events about single pages: page faults, page allocations, and the kernel's count of an address
 * space's resident pages (kmem:rss_stat, at each change from Linux 6.2 on).
 */
#ifndef MT_REPORT_LEDGER_PAGE_EVENTS_H
#define MT_REPORT_LEDGER_PAGE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/account/call.h"
#include "report/tables/trace_fields.h"

struct mt_facts_event;
struct mt_sample;

enum mt_page_moment {
	MT_PAGE_NONE,
	MT_PAGE_FAULT, /* before the kernel handles the fault */
	MT_PAGE_COUNT, /* a count changed */
	MT_PAGE_PART,  /* a count changed; a filter selects which counts are recorded */
	MT_PAGE_ALLOC, /* contiguous pages were allocated */
};

/* The kernel's MM_* counters, by their numbers. */
enum mt_page_member {
	MT_PAGES_FILE,
	MT_PAGES_ANONYMOUS,
	MT_PAGES_SWAPPED, /* not resident */
	MT_PAGES_SHM,
	MT_PAGES_MEMBERS
};

/* An event's kind and the places of its fields. */
struct mt_page_event {
	enum mt_page_moment moment;
	struct mt_field mm, current, member, size, order, flags;
};

/* A counter's new value. */
struct mt_page_count {
	uint32_t mm;	 /* the kernel's id of the address space */
	uint32_t member; /* enum mt_page_member */
	bool own;	 /* the address space is that of the thread */
	uint64_t bytes;
	/* The call that the thread is in. */
	enum mt_vm_call_kind call; /* MT_VM_NONE: in no known call */
	uint64_t enter;
	uint64_t args[3];
};

/* Recognizes an event by its kernel name. */
struct mt_page_event mt_page_event_of(const struct mt_facts_event *event);

/* False if the sample lacks a field or has an unknown member. */
bool mt_page_count_get(const struct mt_page_event *event, const struct mt_sample *sample,
		       struct mt_page_count *out);

/* Order of an allocation (2^order pages); 0 for a single page, and if not for a program. */
uint32_t mt_page_alloc_order(const struct mt_page_event *event, const struct mt_sample *sample);

#endif
