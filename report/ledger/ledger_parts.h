/*
 * The parts of a ledger, for its own files alone: ledger.c (the recording's records in, spaces and
 * origins), intake.c (from records to places in the order), posting.c (effects into accounts).
 */
#ifndef MT_REPORT_LEDGER_LEDGER_PARTS_H
#define MT_REPORT_LEDGER_LEDGER_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "report/ledger/ledger.h"
#include "report/ledger/ledger_spaces.h"
#include "report/ledger/losses.h"
#include "report/ledger/order.h"
#include "report/session/session.h"

/* What an event of the facts is to the ledger. */
struct mt_ledger_event {
	enum mt_vm_call_moment moment;
	enum mt_vm_call_kind kind;
	struct mt_page_event page;
};

/* A thread between two records of its own. */
struct mt_ledger_thread {
	bool in_call;
	bool exec;	 /* has called exec and not yet run */
	bool exec_began; /* ... and nothing is known to be mapped since */
	enum mt_vm_call_kind kind;
	uint64_t args[MT_VM_ARGUMENTS];
	uint64_t enter, left; /* its last call; 0 none yet */
	uint64_t place;	      /* taken by the call's lock, or MT_PLACE_NONE */
	uint64_t loose[2];    /* by locks outside any call, older first */
	uint64_t loose_mm; /* the address space that the newer one is of, as the kernel names it */
	bool has_found;	   /* an MMAP2 record that may belong to a call yet to be told of */
	uint64_t found_time;
	struct mt_found found;
	struct mt_ledger_space *forked; /* its last child's */
};

/* A line of /proc/PID/maps, and when it was read. */
struct mt_seed_line {
	uint64_t before, after;
	struct mt_extent region;
	int32_t pid;
	uint32_t number;  /* in the recording */
	uint32_t reading; /* of its process, from 0 */
	uint32_t unseen;  /* what it says of its program, enum mt_unseen_calls */
};

/* How often the maps of a process were read. */
struct mt_readings {
	uint32_t count;
	uint64_t last_start; /* of a line: a reading begins where addresses fall */
	bool again;
};

struct mt_waiting_stack {
	uint64_t serial, place;
};

struct mt_ledger {
	struct mt_session *session;
	const struct mt_ledger_options *options;
	struct mt_natures *natures;
	struct mt_origins *origins;
	struct mt_account_sink sink;
	struct mt_observer observer;
	bool beside; /* somebody else reads */
	struct mt_ledger_spaces spaces;

	/* Of the present recording: */
	struct mt_order *order;
	MT_ARRAY(struct mt_ledger_event) events; /* by index in the facts */
	bool has_calls, has_marks, has_locks;
	bool has_data;		/* records of mappings of data, not of programs alone */
	bool moves_checked;	/* of its accounts */
	struct mt_map64 by_tid; /* index in threads */
	MT_ARRAY(struct mt_ledger_thread) threads;
	MT_ARRAY(uint32_t) free_threads;
	MT_ARRAY(struct mt_waiting_stack) waiting;
	size_t waiting_from;
	struct mt_losses losses, brk_losses, page_losses;
	struct mt_losses map_losses; /* of records of mappings and locks, or what may have been such
				      */
	MT_ARRAY(struct mt_seed_line) seeds;
	size_t seeds_from;
	MT_ARRAY(struct mt_readings) readings; /* by process; few more than are looked at again */
	struct mt_map64 readings_of;	       /* pid to index */
	bool seeds_sorted;
	uint32_t recording; /* index in facts->recordings */
	uint64_t now;
	uint64_t at;			 /* effects after it do not count; UINT64_MAX: all do */
	bool frozen;			 /* that time is past */
	struct mt_ledger_space *posting; /* the one whose account changes */
};

/* ---- ledger.c ---- */

/* Applies what is whole and in order. False out of memory. */
bool mt_ledger_post_ready(struct mt_ledger *ledger, bool all);

/* ---- intake.c ---- */

/* A sample, mark, or kernel record. False out of memory. */
bool mt_ledger_take_sample(struct mt_ledger *ledger, const struct mt_observed *observed);
bool mt_ledger_take_kernel(struct mt_ledger *ledger, const struct mt_observed *observed);

/* A line of /proc/PID/maps. */
bool mt_ledger_take_map(struct mt_ledger *ledger, const struct mt_observed *observed);

/* ---- posting.c ---- */

/* Puts an effect into its account. False out of memory. */
bool mt_ledger_post(struct mt_ledger *ledger, const struct mt_effect *effect);

/* Readings of /proc/PID/maps up to a time. */
bool mt_ledger_post_readings(struct mt_ledger *ledger, uint64_t until);

/* Tells how a space stood, once. */
bool mt_ledger_close(struct mt_ledger *ledger, struct mt_ledger_space *space, uint64_t time);

/* Pages of an account moved: told with its space. */
bool mt_ledger_tell_moved(void *ledger, struct mt_account *account, uint64_t from, uint64_t to,
			  uint64_t size);

/* The change of an account, told with all that is known of it; the sink of all accounts. */
bool mt_ledger_tell(void *ledger, struct mt_account *account, const struct mt_change *change);

#endif
