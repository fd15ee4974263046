/*
 * Private parts of a ledger, shared by ledger.c (reads the recording), intake.c (turns records into
 * effects in order) and posting.c (applies effects to accounts).
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

#define MT_NARROW_END (1ull << 32) /* end of a 32-bit program's addresses */

/*
 * What the ledger knows about an event: which moment of which call it records, or which page event.
 */
struct mt_ledger_event {
	enum mt_vm_call_moment moment;
	enum mt_vm_call_kind kind;
	struct mt_page_event page;
};

/* A thread's state between its records. */
struct mt_ledger_thread {
	bool in_call;
	bool exec;	 /* has called exec and not entered a call since */
	bool exec_began; /* exec was called and no mapping was seen since */
	enum mt_vm_call_kind kind;
	uint64_t args[MT_VM_ARGUMENTS];
	uint64_t enter, left; /* times of the last call's entry, and of the last exit or fork */
	uint64_t place;	      /* place of the call's lock, or MT_PLACE_NONE */
	uint64_t loose[2];    /* places of locks outside any call, older first */
	uint64_t loose_mm;    /* the kernel's id of the newer lock's address space */
	bool has_found;	      /* `found` may belong to a call not read yet */
	struct mt_found found;
	struct mt_ledger_space *forked; /* space of the last child */
};

/* A line of /proc/PID/maps, with the times before and after its read(). */
struct mt_initial_map {
	uint64_t before, after;
	struct mt_extent region;
	int32_t pid;
	uint32_t number;  /* index in the recording */
	uint32_t reading; /* index of the reading, from 0 for each process */
	uint32_t unseen;  /* unseen calls by the mapping's name: bits of enum mt_unseen_calls */
};

/* Readings of one process's /proc/PID/maps. */
struct mt_readings {
	uint32_t count;
	uint64_t last_start; /* start of the last line; a lower start begins a new reading */
	bool again;
};

struct mt_ledger {
	struct mt_session *session;
	const struct mt_ledger_options *options;
	struct mt_attr_table *attr_table;
	struct mt_origins *origins;
	struct mt_account_sink sink;
	struct mt_observer observer;
	bool alongside; /* the session is also read for another analysis */
	struct mt_ledger_spaces spaces;

	/* The state of the present recording: */
	struct mt_order *order;
	MT_ARRAY(struct mt_ledger_event) events; /* by index in facts->events */
	bool has_calls, has_marks, has_locks;
	bool has_maps;		/* has exits of mmap or munmap */
	bool has_data;		/* has records of data mappings, not of executable ones alone */
	bool moves_checked;	/* passed to new accounts: mremap checks all arguments first */
	struct mt_map64 by_tid; /* tid to index in threads */
	MT_ARRAY(struct mt_ledger_thread) threads;
	MT_ARRAY(uint32_t) free_threads;
	struct mt_losses losses, brk_losses, page_losses;
	/* Losses that may include records of mappings or locks. */
	struct mt_losses map_losses;
	MT_ARRAY(struct mt_initial_map) initial_maps;
	size_t initial_maps_from;
	MT_ARRAY(struct mt_readings) readings; /* by process */
	struct mt_map64 readings_of;	       /* pid to index in readings */
	bool initial_maps_sorted;
	uint32_t recording; /* index into facts->recordings */
	uint64_t now;
	uint64_t at;			 /* effects after this time are ignored; UINT64_MAX: none */
	bool frozen;			 /* `at` is past */
	struct mt_ledger_space *posting; /* space whose account changes now */
};

/* ---- ledger.c ---- */

/* Applies the effects at the front that are ready; with `all`, empties the order. */
void mt_ledger_post_ready(struct mt_ledger *ledger, bool all);

/* ---- intake.c ---- */

/* Take a sample, mark or kernel record. */
void mt_ledger_take_sample(struct mt_ledger *ledger, const struct mt_observed *observed);
void mt_ledger_take_kernel(struct mt_ledger *ledger, const struct mt_observed *observed);

/* Takes a line of /proc/PID/maps. */
void mt_ledger_take_map(struct mt_ledger *ledger, const struct mt_observed *observed);

/* ---- posting.c ---- */

/* Applies an effect to its account. */
void mt_ledger_post(struct mt_ledger *ledger, const struct mt_effect *effect);

/* Applies readings of /proc/PID/maps up to a time. */
void mt_ledger_post_readings(struct mt_ledger *ledger, uint64_t until);

/* Calls `remaining` for a space and frees its account; does nothing the second time. */
void mt_ledger_close(struct mt_ledger *ledger, struct mt_ledger_space *space, uint64_t time);

/* The sinks of all accounts. Add space, origin and attributes, and call the options' callbacks. */
void mt_ledger_deliver_moved(void *ledger, struct mt_account *account, uint64_t from, uint64_t to,
			     uint64_t size);

/* See mt_ledger_deliver_moved(). */
void mt_ledger_deliver(void *ledger, struct mt_account *account, const struct mt_change *change);
void mt_ledger_deliver_access(void *ledger, struct mt_account *account,
			      const struct mt_change *change);

#endif
