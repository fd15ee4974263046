/*
 * Events that tell of single pages: page faults, and the kernel's own count of how many pages of an
 * address space are resident (kmem:rss_stat), which from 6.2 on it gives at each change.
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
	MT_PAGE_FAULT, /* before the kernel sees to it */
	MT_PAGE_COUNT, /* a count has changed */
	MT_PAGE_ALLOC, /* pages in a row were taken */
};

/* What is counted: the kernel's own numbers. */
enum mt_page_member {
	MT_PAGES_FILE,
	MT_PAGES_ANONYMOUS,
	MT_PAGES_SWAPPED, /* not resident */
	MT_PAGES_SHM,
	MT_PAGES_MEMBERS
};

/* What an event is, and where its fields stand. */
struct mt_page_event {
	enum mt_page_moment moment;
	struct mt_field mm, current, member, size, order, flags;
};

/* A count as it is from now on. */
struct mt_page_count {
	uint32_t mm;	 /* the kernel's name of the address space */
	uint32_t member; /* enum mt_page_member */
	bool own;	 /* of the space that the thread runs in */
	uint64_t bytes;
	/* The call that its thread was in. */
	enum mt_vm_call_kind call; /* NONE: in none that is known */
	uint64_t enter;
	uint64_t args[3];
};

/* By its kernel name. */
struct mt_page_event mt_page_event_of(const struct mt_facts_event *event);

/* False where the sample lacks a field, or the member is none that is known. */
bool mt_page_count_get(const struct mt_page_event *event, const struct mt_sample *sample,
		       struct mt_page_count *out);

/* By how many bits the pages in a row were counted; 0 where they are not for a program. */
uint32_t mt_page_alloc_order(const struct mt_page_event *event, const struct mt_sample *sample);

#endif
