/*
 * The account of one address space: what is mapped in it, and what each call does to that. Effects,
 * not requests: results decide, and what a failed call may have done all the same is marked as
 * doubtful. Pure: effects come in the order in which they happened, changes go to the sink.
 */
#ifndef MT_REPORT_ACCOUNT_ACCOUNT_H
#define MT_REPORT_ACCOUNT_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/account/call.h"
#include "report/account/extents.h"

struct mt_account;
struct mt_natures;

/* A piece of memory that came or went. */
struct mt_change {
	uint64_t time;
	uint64_t start, end;
	int sign;	 /* +1 came, -1 went; 0: it is not known whether it did */
	uint32_t nature; /* id */
	uint32_t origin; /* who did it */
	/* Of what went: who had reserved it, and when; else as above. */
	uint32_t reserved_by;
	uint64_t reserved;
};

/* False out of memory. */
struct mt_account_sink {
	bool (*change)(void *context, struct mt_account *account, const struct mt_change *change);
	/* Regions have moved, and what is in them; their origin stays. May be NULL. */
	bool (*moved)(void *context, struct mt_account *account, uint64_t from, uint64_t to,
		      uint64_t size);
	void *context;
};

struct mt_account {
	struct mt_natures *natures;
	const struct mt_account_sink *sink;
	struct mt_extents *regions;
	struct mt_extents *doubts; /* where regions may be wrong: what stands there, or that nothing
				      does */
	uint64_t brk;		   /* as the last call gave it; 0 not known */
	uint64_t brk_time;
	/*
	 * Where it may have been when a fork copied it, shortly before the mappings; empty: it is
	 * known.
	 */
	struct mt_range brk_copied;
	uint64_t shm_span; /* of the largest attached segment */
	uint64_t forked; /* when it was copied from another: older regions are inherited; 0 never */
	bool has_first;
	bool unforked;	    /* some regions may not be forked */
	bool moves_checked; /* mremap as by Linux 6.17 and later; set by who made the account */
	uint32_t first;	    /* nature of the mapping that exec made first of a file */
	mt_extent_list scratch;
};

/* NULL out of memory. Borrows. */
struct mt_account *mt_account_create(struct mt_natures *natures,
				     const struct mt_account_sink *sink);
/* What a fork makes of it. */
struct mt_account *mt_account_fork(const struct mt_account *parent, uint64_t time);
void mt_account_destroy(struct mt_account *account);

/* Who did something, and who it is put down to where it cannot be told. */
struct mt_doers {
	uint32_t origin;
	uint32_t lost;	 /* calls that the recording lost */
	bool after_loss; /* brk calls may have been lost since the last one */
};

/* What a call did. False out of memory, as all below. */
bool mt_account_call(struct mt_account *account, const struct mt_vm_call *call,
		     const struct mt_doers *doers);

/* What a record tells of that no call made: a stack that grew, exec, the kernel by itself. */
struct mt_found {
	uint64_t time;
	uint64_t start, end, offset;
	uint32_t file; /* id, or MT_FILE_NONE */
	uint32_t prot;
	bool shared, exec;
	uint32_t origin;
};
bool mt_account_found(struct mt_account *account, const struct mt_found *found);

/*
 * A reading of the whole [start, end): `lines` are the regions in it, with their natures. What is
 * known of them already keeps its origin; the rest is put down to `origin`, and what is gone from
 * there too, where `again`: this is not the first reading.
 */
struct mt_reading_piece {
	uint64_t time;
	uint64_t start, end;
	const struct mt_extent *lines;
	size_t count;
	uint32_t origin;
	bool again;
};
bool mt_account_reading(struct mt_account *account, const struct mt_reading_piece *piece);

/* Regions in the range may be wrong from now on. */
bool mt_account_doubt(struct mt_account *account, uint64_t start, uint64_t end, uint64_t time);

/* How many bytes of the range are in doubt. */
uint64_t mt_account_doubtful(const struct mt_account *account, uint64_t start, uint64_t end);

#endif
