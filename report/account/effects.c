/* Applies each call, also a failed one, to an address space as the kernel does. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "report/account/account_parts.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum {
	PROT_BITS = PROT_READ | PROT_WRITE | PROT_EXEC,
	PAGE_SHIFT = 12,
	HUGE_PAGE = 2 << 20,
	GIGANTIC_PAGE = 1 << 30,
};

/* The attributes of the byte at address; false if no mapping is known there. */
static bool attrs_at(const struct mt_account *account, uint64_t address,
		     struct mt_region_attrs *out)
{
	const struct mt_extent *region = mt_extents_after(account->regions, address);

	if (!region || region->start > address)
		return false;
	*out = *mt_attrs_get(account->attr_table, region->attrs);
	return true;
}

/* Marks the ranges that a call may have changed before it failed. */
static bool failed_effect(struct mt_account *account, const struct mt_vm_call *call)
{
	struct mt_range ranges[MT_VM_RANGES];
	size_t count = mt_vm_call_ranges(call, ranges);

	for (size_t i = 0; i < count; i++) {
		if (!mt_account_doubt(account, ranges[i].start, ranges[i].end, call->time))
			return false;
	}
	return true;
}

/* ---- brk ---- */

static bool grow_heap(struct mt_account *account, const struct mt_vm_call *call, uint64_t from,
		      const struct mt_doers *doers, uint32_t origin)
{
	const struct mt_region_attrs heap = {.prot = PROT_READ | PROT_WRITE,
					     .kind = MT_REGION_HEAP};
	uint64_t to = mt_page_up((uint64_t)call->result);

	/* A mapping that is known there was unmapped by an unseen call. */
	return mt_account_remove(account, from, to, call->time, doers->lost) &&
	       mt_account_add(account, from, to, &heap, call->time, origin);
}

/*
 * The result is the heap's new end. Without lost records this call made the difference to the last
 * result; otherwise the difference belongs to lost calls.
 */
static bool move_brk(struct mt_account *account, const struct mt_vm_call *call,
		     const struct mt_doers *doers, bool its)
{
	uint64_t from = mt_page_up(account->brk), to = mt_page_up((uint64_t)call->result);
	uint32_t origin = its ? doers->origin : doers->lost;

	if (to < from && !mt_account_remove(account, to, from, call->time, origin))
		return false;
	if (to > from && !grow_heap(account, call, from, doers, origin))
		return false;
	/*
	 * The child of a fork while another thread moved the heap's end: fork copies brk before it
	 * takes the lock under which it copies the mappings.
	 */
	return mt_account_doubt(account, account->brk_copied.start, account->brk_copied.end,
				call->time);
}

/*
 * A call that does not move brk changes nothing. If it returns another end than the known one, a
 * call that ran at the same time has most likely moved brk; its record comes earlier or later.
 */
static bool doubt_answer(struct mt_account *account, const struct mt_vm_call *call)
{
	uint64_t known = mt_page_up(account->brk), reported = mt_page_up((uint64_t)call->result);

	return mt_account_doubt(account, known < reported ? known : reported,
				known < reported ? reported : known, call->time);
}

static bool brk_effect(struct mt_account *account, const struct mt_vm_call *call,
		       const struct mt_doers *doers)
{
	bool moved = call->args[0] && call->args[0] == (uint64_t)call->result, good = true;
	bool copied = account->brk_copied.start < account->brk_copied.end;

	if (!call->result || mt_vm_call_failed(call->result))
		return true;
	if (account->brk && !moved && !doers->after_loss && !copied)
		return doubt_answer(account, call);
	if (account->brk && (moved || doers->after_loss))
		good = move_brk(account, call, doers, moved && !doers->after_loss);
	account->brk = (uint64_t)call->result;
	account->brk_time = call->time;
	account->brk_copied = (struct mt_range){0, 0};
	return good;
}

/* ---- mmap ---- */

static struct mt_region_attrs mmap_attrs(const struct mt_account *account,
					 const struct mt_vm_call *call)
{
	uint64_t flags = call->args[3];
	bool shared = (flags & MAP_TYPE) != MAP_PRIVATE, anonymous = flags & MAP_ANONYMOUS;
	struct mt_file_identity file = mt_attr_table_file_get(account->attr_table, call->file);
	struct mt_region_attrs attrs = {
		.prot = call->args[2] & PROT_BITS,
		.flags = (uint16_t)((shared ? MT_REGION_SHARED : 0) |
				    (flags & MAP_GROWSDOWN ? MT_REGION_GROWS_DOWN : 0)),
	};

	if (!anonymous || shared) {
		attrs.file = call->file;
		attrs.delta = (anonymous ? 0 : call->args[5]) - (uint64_t)call->result;
		attrs.kind = (uint8_t)(anonymous    ? MT_REGION_SHM
				       : call->file ? mt_region_kind_of(file.name, shared)
						    : MT_REGION_FILE);
		/* A private mapping of /dev/zero is anonymous memory. */
		if (attrs.kind == MT_REGION_ANONYMOUS)
			attrs.file = 0, attrs.delta = 0;
	} else if (flags & (MAP_STACK | MAP_GROWSDOWN)) {
		attrs.kind = MT_REGION_THREAD_STACK;
	}
	if (flags & MAP_HUGETLB)
		attrs.kind = MT_REGION_HUGE;
	if (mt_vm_call_huge_page(call) >= GIGANTIC_PAGE)
		attrs.flags |= MT_REGION_GIGANTIC;
	return attrs;
}

/*
 * A file on hugetlbfs is mapped in whole huge pages, and the flags of the call do not show that.
 * The MMAP2 record inside the call has the real end. Use it up to the next known mapping.
 */
static uint64_t end_in_file(const struct mt_account *account, const struct mt_vm_call *call,
			    uint64_t start, uint64_t end)
{
	const struct mt_extent *next;

	if (!call->file || call->start > start || call->end <= end)
		return end;
	next = mt_extents_after(account->regions, end);
	return next && next->start < call->end ? next->start > end ? next->start : end : call->end;
}

static bool mmap_effect(struct mt_account *account, const struct mt_vm_call *call,
			const struct mt_doers *doers)
{
	struct mt_region_attrs attrs = mmap_attrs(account, call);
	uint64_t start = (uint64_t)call->result, end;
	bool fixed = call->args[3] & MAP_FIXED;

	if (mt_vm_call_failed(call->result))
		return failed_effect(account, call);
	if (__builtin_add_overflow(start, mt_vm_call_mmap_length(call), &end))
		return true;
	end = end_in_file(account, call, start, end);
	/* Without MAP_FIXED the range is free, so a known mapping there was unmapped unseen. */
	return mt_account_remove(account, start, end, call->time,
				 fixed ? doers->origin : doers->lost) &&
	       mt_account_add(account, start, end, &attrs, call->time, doers->origin);
}

/* ---- munmap ---- */

static bool munmap_effect(struct mt_account *account, const struct mt_vm_call *call,
			  const struct mt_doers *doers)
{
	uint64_t start = call->args[0], end;

	if (call->result || __builtin_add_overflow(start, mt_page_up(call->args[1]), &end))
		return true;
	return mt_account_remove(account, start, end, call->time, doers->origin);
}

/* ---- mremap ---- */

struct move {
	uint64_t from, old_end; /* the old range, whole pages */
	uint64_t to, new_end;
	uint64_t flags;
};

/* Rounds to pages of the mapping's page size; UINT64_MAX on overflow. */
static uint64_t whole_pages(const struct mt_region_attrs *attrs, uint64_t length)
{
	uint64_t page = attrs->flags & MT_REGION_GIGANTIC ? GIGANTIC_PAGE : HUGE_PAGE;

	if (attrs->kind != MT_REGION_HUGE)
		return mt_page_up(length);
	return length > UINT64_MAX - page ? UINT64_MAX : (length + page - 1) & ~(page - 1);
}

static bool read_move(const struct mt_account *account, const struct mt_vm_call *call,
		      struct move *out)
{
	struct mt_region_attrs attrs = {.kind = MT_REGION_ANONYMOUS};

	out->from = call->args[0];
	out->to = (uint64_t)call->result;
	out->flags = call->args[3];
	(void)attrs_at(account, out->from, &attrs);
	return !__builtin_add_overflow(out->from, whole_pages(&attrs, call->args[1]),
				       &out->old_end) &&
	       !__builtin_add_overflow(out->to, whole_pages(&attrs, call->args[2]), &out->new_end);
}

/* The attributes of a region that continues `known` at a distance of `by` bytes. */
static struct mt_region_attrs continued(const struct mt_region_attrs *known, uint64_t by)
{
	struct mt_region_attrs attrs = *known;

	if (attrs.file || attrs.kind == MT_REGION_FILE || attrs.kind == MT_REGION_SHM)
		attrs.delta -= by;
	return attrs;
}

/*
 * Clears the destination of a piece. Linux 6.17 and later can move a range with holes; mappings at
 * the destination of a hole stay.
 */
static bool land(struct mt_account *account, const struct mt_vm_call *call,
		 const struct mt_extent *piece, const struct mt_doers *doers)
{
	return mt_account_remove(account, piece->start, piece->end, call->time,
				 call->args[3] & MREMAP_FIXED ? doers->origin : doers->lost);
}

static bool report_moved(struct mt_account *account, const struct mt_extent *piece, uint64_t by)
{
	const struct mt_account_sink *sink = account->sink;

	return !sink->moved || sink->moved(sink->context, account, piece->start - by, piece->start,
					   piece->end - piece->start);
}

/* Puts the pieces of a range at their new addresses, with adjusted file offsets. */
static bool put_moved(struct mt_account *account, const struct mt_vm_call *call,
		      const struct move *move, const struct mt_doers *doers)
{
	mt_extent_list moved = account->scratch;
	uint64_t by = move->to - move->from;
	bool good = true, copy = move->flags & MREMAP_DONTUNMAP;

	account->scratch = (mt_extent_list){0};
	for (size_t i = 0; good && i < moved.count; i++) {
		struct mt_extent piece = moved.items[i];
		struct mt_region_attrs attrs =
			continued(mt_attrs_get(account->attr_table, piece.attrs), by);

		piece.start += by;
		piece.end += by;
		piece.attrs = mt_attr_table_intern(account->attr_table, &attrs);
		good = piece.attrs != UINT32_MAX && land(account, call, &piece, doers);
		if (good && copy)
			good = mt_account_add(account, piece.start, piece.end, &attrs, call->time,
					      doers->origin);
		else if (good)
			good = mt_extents_insert(account->regions, &piece);
		good = good && report_moved(account, &piece, by);
	}
	mt_array_deinit(&moved);
	return good;
}

/* MREMAP_DONTUNMAP: the old range stays mapped, and is empty. */
static bool copy_range(struct mt_account *account, const struct mt_vm_call *call,
		       const struct move *move, const struct mt_doers *doers)
{
	account->scratch.count = 0;
	return mt_extents_list(account->regions, move->from, move->old_end, &account->scratch) &&
	       put_moved(account, call, move, doers);
}

/* A second mapping of shared memory: mremap with an old length of 0. */
static bool duplicate(struct mt_account *account, const struct mt_vm_call *call,
		      const struct move *move, const struct mt_doers *doers)
{
	const struct mt_extent whole = {.start = move->to, .end = move->new_end};
	struct mt_region_attrs attrs = {.prot = PROT_READ | PROT_WRITE};
	bool known = attrs_at(account, move->from, &attrs);

	attrs = continued(&attrs, move->to - move->from);
	return land(account, call, &whole, doers) &&
	       mt_account_add(account, move->to, move->new_end, &attrs, call->time,
			      doers->origin) &&
	       (known || mt_account_doubt(account, move->to, move->new_end, call->time));
}

static bool grow(struct mt_account *account, const struct mt_vm_call *call, const struct move *move,
		 const struct mt_doers *doers)
{
	uint64_t end = move->to + (move->old_end - move->from);
	struct mt_region_attrs attrs = {.prot = PROT_READ | PROT_WRITE};
	bool known = attrs_at(account, end - 1, &attrs);

	return mt_account_remove(account, end, move->new_end, call->time,
				 move->flags & MREMAP_FIXED ? doers->origin : doers->lost) &&
	       mt_account_add(account, end, move->new_end, &attrs, call->time, doers->origin) &&
	       (known || mt_account_doubt(account, move->to, move->new_end, call->time));
}

static bool move_range(struct mt_account *account, const struct mt_vm_call *call,
		       const struct move *move, const struct mt_doers *doers)
{
	uint64_t old = move->old_end - move->from, new = move->new_end - move->to;
	uint64_t kept = old < new ? old : new;

	if (!old)
		return duplicate(account, call, move, doers);
	if (move->flags & MREMAP_DONTUNMAP)
		return copy_range(account, call, move, doers);
	if (new < old &&
	    !mt_account_remove(account, move->from + new, move->old_end, call->time, doers->origin))
		return false;
	if (move->to != move->from && (!mt_account_take(account, move->from, move->from + kept) ||
				       !put_moved(account, call, move, doers)))
		return false;
	return new <= old || grow(account, call, move, doers);
}

/* Doubtful ranges move with the memory. A doubtful last byte makes the grown part doubtful. */
static bool move_doubts(struct mt_account *account, const struct mt_vm_call *call,
			const struct move *move, const mt_extent_list *doubts)
{
	uint64_t by = move->to - move->from;

	for (size_t i = 0; i < doubts->count; i++) {
		const struct mt_extent *doubt = &doubts->items[i];
		uint64_t start = doubt->start + by, end = doubt->end + by;

		if (doubt->end >= move->old_end)
			end = move->new_end;
		if (end > move->new_end)
			end = move->new_end;
		if (!mt_account_doubt(account, start, end, call->time))
			return false;
	}
	return true;
}

static bool is_segment(const struct mt_account *account, const struct mt_region_attrs *attrs)
{
	return attrs->kind == MT_REGION_SHM &&
	       !strncmp(mt_attr_table_file_get(account->attr_table, attrs->file).name, "/SYSV", 5);
}

/*
 * If several regions are moved at once, mremap moves the regions before the first one that cannot
 * move: a System V segment. Other files that choose their own addresses are not recognized.
 */
static bool move_until_refused(struct mt_account *account, const struct mt_vm_call *call,
			       struct move *move, const struct mt_doers *doers)
{
	const struct mt_extent *region = mt_extents_after(account->regions, move->from);
	uint64_t by = move->to - move->from;

	if (!region || region->start > move->from)
		return true;
	while (region && region->start < move->old_end) {
		const struct mt_region_attrs *attrs =
			mt_attrs_get(account->attr_table, region->attrs);

		if (is_segment(account, attrs)) {
			move->old_end = region->start > move->from ? region->start : move->from;
			move->new_end = move->old_end + by;
			return move->old_end == move->from ||
			       move_range(account, call, move, doers);
		}
		region = mt_extents_after(account->regions, region->end);
	}
	return failed_effect(account, call);
}

/* A second mapping over the first one: the kernel had unmapped the first one by then. */
static bool duplicate_refused(struct mt_account *account, const struct mt_vm_call *call,
			      const struct move *move, const struct mt_doers *doers)
{
	struct mt_region_attrs attrs;

	if (!attrs_at(account, move->from, &attrs))
		return true;
	if (move->from < move->to || move->from >= move->new_end)
		return failed_effect(account, call);
	return mt_account_remove(account, move->to, move->new_end, call->time, doers->origin);
}

/*
 * Linux 6.17 and later check the source before they unmap the destination. They also move several
 * regions, one after the other.
 */
static bool refused_move(struct mt_account *account, const struct mt_vm_call *call,
			 const struct mt_doers *doers)
{
	struct move move = {.from = call->args[0], .to = call->args[4], .flags = call->args[3]};
	uint64_t old = mt_page_up(call->args[1]), new = mt_page_up(call->args[2]);
	const struct mt_extent *doubt = mt_extents_after(account->doubts, move.from);

	if (__builtin_add_overflow(move.from, old, &move.old_end) ||
	    __builtin_add_overflow(move.to, new, &move.new_end))
		return true;
	if (account->moves_checked && call->result == -EINVAL)
		return true;
	if (!account->moves_checked || call->result != -EFAULT || !(move.flags & MREMAP_FIXED) ||
	    (doubt && doubt->start <= move.old_end))
		return failed_effect(account, call);
	if (!old)
		return duplicate_refused(account, call, &move, doers);
	return old != new || move_until_refused(account, call, &move, doers);
}

static bool mremap_effect(struct mt_account *account, const struct mt_vm_call *call,
			  const struct mt_doers *doers)
{
	mt_extent_list doubts = {0};
	struct move move;
	bool good;

	if (mt_vm_call_failed(call->result))
		return refused_move(account, call, doers);
	if (!read_move(account, call, &move))
		return true;
	good = mt_extents_list(account->doubts, move.from,
			       move.old_end > move.from ? move.old_end : move.from + 1, &doubts) &&
	       move_range(account, call, &move, doers) &&
	       move_doubts(account, call, &move, &doubts);
	mt_array_deinit(&doubts);
	return good;
}

/* ---- mprotect, madvise ---- */

/* The end of the mappings without a hole from start on, at most `end`. */
static uint64_t first_hole(const struct mt_account *account, uint64_t start, uint64_t end)
{
	while (start < end) {
		const struct mt_extent *region = mt_extents_after(account->regions, start);

		if (!region || region->start > start)
			return start;
		start = region->end;
	}
	return end;
}

typedef void change_attrs(struct mt_region_attrs *attrs, uint64_t how);

/*
 * When memory without access gets access, it counts as reserved by this call: the heap of a
 * thread's arena is 64 MiB of address space, and grows by mprotect.
 */
static bool report_access(struct mt_account *account, const struct mt_extent *was,
			  const struct mt_extent *is, uint64_t time, uint32_t origin)
{
	const struct mt_account_sink *sink = account->sink;
	bool had = mt_attrs_get(account->attr_table, was->attrs)->prot,
	     has = mt_attrs_get(account->attr_table, is->attrs)->prot;
	const struct mt_change change = {
		.time = time,
		.start = is->start,
		.end = is->end,
		.sign = had == has ? 0
			: has	   ? 1
				   : -1,
		.attrs = has ? is->attrs : was->attrs,
		.origin = origin,
		.reserved_by = was->origin,
		.reserved = was->time,
	};

	return was->attrs == is->attrs || !sink->access ||
	       sink->access(sink->context, account, &change);
}

static bool change_all_attrs(struct mt_account *account, uint64_t start, uint64_t end,
			     const struct mt_vm_call *call, const struct mt_doers *doers,
			     change_attrs *change, uint64_t how)
{
	mt_extent_list pieces = {0};
	/* Doubts stay: the call shows the protection, not whether the range is mapped. */
	bool good = mt_extents_remove(account->regions, start, end, &pieces);

	for (size_t i = 0; good && i < pieces.count; i++) {
		struct mt_region_attrs attrs =
			*mt_attrs_get(account->attr_table, pieces.items[i].attrs);
		const struct mt_extent was = pieces.items[i];
		bool closed = !attrs.prot;

		change(&attrs, how);
		if (closed && attrs.prot) {
			pieces.items[i].origin = doers->origin;
			pieces.items[i].time = call->time;
		}
		pieces.items[i].attrs = mt_attr_table_intern(account->attr_table, &attrs);
		good = pieces.items[i].attrs != UINT32_MAX &&
		       mt_extents_insert(account->regions, &pieces.items[i]) &&
		       report_access(account, &was, &pieces.items[i], call->time, doers->origin);
	}
	mt_array_deinit(&pieces);
	return good;
}

static void set_prot(struct mt_region_attrs *attrs, uint64_t prot)
{
	attrs->prot = prot & PROT_BITS;
}

static void set_forked(struct mt_region_attrs *attrs, uint64_t forked)
{
	attrs->flags &= (uint16_t)~MT_REGION_NOT_FORKED;
	attrs->flags |= forked ? 0 : MT_REGION_NOT_FORKED;
}

/*
 * If the place of a hole is doubtful, the end of a call that stopped at the hole is doubtful, too.
 */
static bool doubt_after(struct mt_account *account, uint64_t start, uint64_t end, uint64_t time)
{
	const struct mt_extent *doubt = mt_extents_after(account->doubts, start);

	return !doubt ||
	       mt_account_doubt(account, doubt->start > start ? doubt->start : start, end, time);
}

/*
 * At a hole, or at a region that cannot be changed, mprotect has changed the regions before. Each
 * region that it changed has left a record.
 */
static bool mprotect_effect(struct mt_account *account, const struct mt_vm_call *call,
			    const struct mt_doers *doers)
{
	uint64_t start = call->args[0], end, hole;

	if (__builtin_add_overflow(start, mt_page_up(call->args[1]), &end))
		return true;
	if (!call->result)
		return change_all_attrs(account, start, end, call, doers, set_prot, call->args[2]);
	if (!mt_vm_call_partial(call))
		return true;
	/* A merged neighbour has the same protection, so the range may be too long. */
	if (call->reported)
		return change_all_attrs(account, start, call->end < end ? call->end : end, call,
					doers, set_prot, call->args[2]);
	hole = first_hole(account, start, end);
	if (call->result != -ENOMEM || hole == end)
		return mt_account_doubt(account, start, end, call->time);
	return change_all_attrs(account, start, hole, call, doers, set_prot, call->args[2]) &&
	       doubt_after(account, start, end, call->time);
}

/* Only advice on forks counts here. madvise skips holes and then returns ENOMEM. */
static bool madvise_effect(struct mt_account *account, const struct mt_vm_call *call,
			   const struct mt_doers *doers)
{
	uint64_t advice = call->args[2], end;

	if ((advice != MADV_DONTFORK && advice != MADV_DOFORK) ||
	    (call->result && !mt_vm_call_partial(call)) ||
	    __builtin_add_overflow(call->args[0], mt_page_up(call->args[1]), &end))
		return true;
	account->unforked = true;
	return change_all_attrs(account, call->args[0], end, call, doers, set_forked,
				advice == MADV_DOFORK);
}

/* ---- System V shared memory ---- */

/* The size is the segment's size, which only the MMAP2 record has. */
static bool shmat_effect(struct mt_account *account, const struct mt_vm_call *call,
			 const struct mt_doers *doers)
{
	uint64_t start = (uint64_t)call->result;
	bool writes = !(call->args[2] & SHM_RDONLY), known = call->file && call->start == start;
	uint64_t end = known ? call->end : mt_page_up(start + 1);
	const struct mt_region_attrs attrs = {
		.delta = -start,
		.file = call->file,
		.prot = (uint8_t)(PROT_READ | (writes ? PROT_WRITE : 0) |
				  (call->args[2] & SHM_EXEC ? PROT_EXEC : 0)),
		.kind = MT_REGION_SHM,
		.flags = MT_REGION_SHARED,
	};

	if (mt_vm_call_failed(call->result))
		return true;
	if (end - start > account->shm_span)
		account->shm_span = end - start;
	return mt_account_remove(account, start, end, call->time,
				 call->args[2] & SHM_REMAP ? doers->origin : doers->lost) &&
	       mt_account_add(account, start, end, &attrs, call->time, doers->origin) &&
	       (known || mt_account_doubt(account, start, end, call->time));
}

/*
 * Removes every piece of the segment at its attach address, up to the largest segment size. Other
 * mappings may be between the pieces.
 */
static bool detach(struct mt_account *account, const struct mt_vm_call *call,
		   const struct mt_doers *doers)
{
	uint64_t at = call->args[0];
	const struct mt_extent *region = mt_extents_after(account->regions, at);
	uint32_t file = MT_FILE_NONE;
	bool found = false;

	while (region) {
		const struct mt_region_attrs *attrs =
			mt_attrs_get(account->attr_table, region->attrs);
		uint64_t start = region->start, end = region->end;
		bool its =
			attrs->kind == MT_REGION_SHM && attrs->delta == -at &&
			(found ? attrs->file == file : !attrs->file || is_segment(account, attrs));

		if (its) {
			found = true;
			file = attrs->file;
			if (!mt_account_remove(account, start > at ? start : at, end, call->time,
					       doers->origin))
				return false;
		} else if (found && start - at >= account->shm_span) {
			break;
		}
		region = mt_extents_after(account->regions, end);
	}
	return true;
}

/* In a doubtful range the pieces of the segment are not known. */
static bool shmdt_effect(struct mt_account *account, const struct mt_vm_call *call,
			 const struct mt_doers *doers)
{
	uint64_t start = call->args[0], end;
	const struct mt_extent *doubt;
	bool doubtful;

	if (call->result || __builtin_add_overflow(start, account->shm_span, &end))
		return true;
	doubt = mt_extents_after(account->doubts, start);
	doubtful = doubt && doubt->start < end;
	return detach(account, call, doers) &&
	       (!doubtful || mt_account_doubt(account, start, end, call->time));
}

/* ---- remap_file_pages ---- */

/* As an mmap of another part of the same file at the same address. */
static bool remap_effect(struct mt_account *account, const struct mt_vm_call *call,
			 const struct mt_doers *doers)
{
	uint64_t start = mt_page_down(call->args[0]), end;
	struct mt_region_attrs attrs;

	if (call->result || __builtin_add_overflow(start, mt_page_down(call->args[1]), &end))
		return true;
	if (!attrs_at(account, start, &attrs))
		return mt_account_doubt(account, start, end, call->time);
	attrs.delta = (call->args[3] << PAGE_SHIFT) - start;
	return mt_account_remove(account, start, end, call->time, doers->origin) &&
	       mt_account_add(account, start, end, &attrs, call->time, doers->origin);
}

bool mt_account_call(struct mt_account *account, const struct mt_vm_call *call,
		     const struct mt_doers *doers)
{
	switch (call->kind) {
	case MT_VM_BRK:
		return brk_effect(account, call, doers);
	case MT_VM_MMAP:
		return mmap_effect(account, call, doers);
	case MT_VM_MUNMAP:
		return munmap_effect(account, call, doers);
	case MT_VM_MREMAP:
		return mremap_effect(account, call, doers);
	case MT_VM_MPROTECT:
	case MT_VM_PKEY_MPROTECT:
		return mprotect_effect(account, call, doers);
	case MT_VM_MADVISE:
		return madvise_effect(account, call, doers);
	case MT_VM_SHMAT:
		return shmat_effect(account, call, doers);
	case MT_VM_SHMDT:
		return shmdt_effect(account, call, doers);
	case MT_VM_REMAP_FILE_PAGES:
		return remap_effect(account, call, doers);
	case MT_VM_PROCESS_MADVISE:
	case MT_VM_IO_URING_SETUP:
	case MT_VM_NONE:
	case MT_VM_BY_NUMBER:
		break;
	}
	return true;
}
