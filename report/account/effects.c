/* Applies each call, even a failed one, to an address space as the kernel does. */
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
static void failed_effect(struct mt_account *account, const struct mt_vm_call *call)
{
	struct mt_range ranges[MT_VM_RANGES];
	size_t count = mt_vm_call_ranges(call, ranges);

	for (size_t i = 0; i < count; i++)
		mt_account_doubt(account, ranges[i].start, ranges[i].end, call->time);
}

/* ---- brk ---- */

static void grow_heap(struct mt_account *account, const struct mt_vm_call *call, uint64_t from,
		      const struct mt_call_origins *origins, uint32_t origin)
{
	const struct mt_region_attrs heap = {.prot = PROT_READ | PROT_WRITE,
					     .kind = MT_REGION_HEAP};
	uint64_t to = mt_page_up((uint64_t)call->result);

	/* A known mapping in this range was unmapped by an unseen call. */
	mt_account_remove(account, from, to, call->time, origins->lost);
	mt_account_add(account, from, to, &heap, call->time, origin);
}

/*
 * The result is the heap's new end. If no records were lost (`its`), this call made the difference
 * to the last result; otherwise the difference belongs to lost calls.
 */
static void move_brk(struct mt_account *account, const struct mt_vm_call *call,
		     const struct mt_call_origins *origins, bool its)
{
	uint64_t from = mt_page_up(account->brk), to = mt_page_up((uint64_t)call->result);
	uint32_t origin = its ? origins->origin : origins->lost;

	if (to < from)
		mt_account_remove(account, to, from, call->time, origin);
	if (to > from)
		grow_heap(account, call, from, origins, origin);
	/*
	 * The space was forked while another thread moved the heap's end: fork copies brk before it
	 * takes the lock under which it copies the mappings.
	 */
	mt_account_doubt(account, account->brk_copied.start, account->brk_copied.end, call->time);
}

/*
 * A call that does not move brk changes nothing. If its result is not the known end, a call that
 * ran at the same time has most likely moved brk; that call's record comes earlier or later.
 */
static void doubt_answer(struct mt_account *account, const struct mt_vm_call *call)
{
	uint64_t known = mt_page_up(account->brk), reported = mt_page_up((uint64_t)call->result);

	mt_account_doubt(account, known < reported ? known : reported,
			 known < reported ? reported : known, call->time);
}

static void brk_effect(struct mt_account *account, const struct mt_vm_call *call,
		       const struct mt_call_origins *origins)
{
	bool moved = call->args[0] && call->args[0] == (uint64_t)call->result;
	bool copied = account->brk_copied.start < account->brk_copied.end;

	if (!call->result || mt_vm_call_failed(call->result))
		return;
	if (account->brk && !moved && !origins->after_loss && !copied) {
		doubt_answer(account, call);
		return;
	}
	if (account->brk && (moved || origins->after_loss))
		move_brk(account, call, origins, moved && !origins->after_loss);
	account->brk = (uint64_t)call->result;
	account->brk_time = call->time;
	account->brk_copied = (struct mt_range){0, 0};
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
 * The MMAP2 record inside the call has the real end, which is used up to the next known mapping.
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

static void mmap_effect(struct mt_account *account, const struct mt_vm_call *call,
			const struct mt_call_origins *origins)
{
	struct mt_region_attrs attrs = mmap_attrs(account, call);
	uint64_t start = (uint64_t)call->result, end;
	bool fixed = call->args[3] & MAP_FIXED;

	if (mt_vm_call_failed(call->result)) {
		failed_effect(account, call);
		return;
	}
	if (__builtin_add_overflow(start, mt_vm_call_mmap_length(call), &end))
		return;
	end = end_in_file(account, call, start, end);
	/* Without MAP_FIXED the range was free, so unseen calls unmapped known mappings. */
	mt_account_remove(account, start, end, call->time, fixed ? origins->origin : origins->lost);
	mt_account_add(account, start, end, &attrs, call->time, origins->origin);
}

/* ---- munmap ---- */

static void munmap_effect(struct mt_account *account, const struct mt_vm_call *call,
			  const struct mt_call_origins *origins)
{
	uint64_t start = call->args[0], end;

	if (call->result || __builtin_add_overflow(start, mt_page_up(call->args[1]), &end))
		return;
	mt_account_remove(account, start, end, call->time, origins->origin);
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
static void land(struct mt_account *account, const struct mt_vm_call *call,
		 const struct mt_extent *piece, const struct mt_call_origins *origins)
{
	mt_account_remove(account, piece->start, piece->end, call->time,
			  call->args[3] & MREMAP_FIXED ? origins->origin : origins->lost);
}

static void report_moved(struct mt_account *account, const struct mt_extent *piece, uint64_t by)
{
	const struct mt_account_sink *sink = account->sink;

	if (sink->moved)
		sink->moved(sink->context, account, piece->start - by, piece->start,
			    piece->end - piece->start);
}

/* Puts the pieces of a range at their new addresses, with adjusted file offsets. */
static void put_moved(struct mt_account *account, const struct mt_vm_call *call,
		      const struct move *move, const struct mt_call_origins *origins)
{
	mt_extent_list moved = account->scratch;
	uint64_t by = move->to - move->from;
	bool copy = move->flags & MREMAP_DONTUNMAP;

	account->scratch = (mt_extent_list){0};
	for (size_t i = 0; i < moved.count; i++) {
		struct mt_extent piece = moved.items[i];
		struct mt_region_attrs attrs =
			continued(mt_attrs_get(account->attr_table, piece.attrs), by);

		piece.start += by;
		piece.end += by;
		piece.attrs = mt_attr_table_intern(account->attr_table, &attrs);
		land(account, call, &piece, origins);
		if (copy)
			mt_account_add(account, piece.start, piece.end, &attrs, call->time,
				       origins->origin);
		else
			mt_extents_insert(account->regions, &piece);
		report_moved(account, &piece, by);
	}
	mt_array_deinit(&moved);
}

/* MREMAP_DONTUNMAP: the old range stays mapped, and becomes empty. */
static void copy_range(struct mt_account *account, const struct mt_vm_call *call,
		       const struct move *move, const struct mt_call_origins *origins)
{
	account->scratch.count = 0;
	mt_extents_list(account->regions, move->from, move->old_end, &account->scratch);
	put_moved(account, call, move, origins);
}

/* A second mapping of shared memory: mremap with an old length of 0. */
static void duplicate(struct mt_account *account, const struct mt_vm_call *call,
		      const struct move *move, const struct mt_call_origins *origins)
{
	const struct mt_extent whole = {.start = move->to, .end = move->new_end};
	struct mt_region_attrs attrs = {.prot = PROT_READ | PROT_WRITE};
	bool known = attrs_at(account, move->from, &attrs);

	attrs = continued(&attrs, move->to - move->from);
	land(account, call, &whole, origins);
	mt_account_add(account, move->to, move->new_end, &attrs, call->time, origins->origin);
	if (!known)
		mt_account_doubt(account, move->to, move->new_end, call->time);
}

static void grow(struct mt_account *account, const struct mt_vm_call *call, const struct move *move,
		 const struct mt_call_origins *origins)
{
	uint64_t end = move->to + (move->old_end - move->from);
	struct mt_region_attrs attrs = {.prot = PROT_READ | PROT_WRITE};
	bool known = attrs_at(account, end - 1, &attrs);

	mt_account_remove(account, end, move->new_end, call->time,
			  move->flags & MREMAP_FIXED ? origins->origin : origins->lost);
	mt_account_add(account, end, move->new_end, &attrs, call->time, origins->origin);
	if (!known)
		mt_account_doubt(account, move->to, move->new_end, call->time);
}

static void move_range(struct mt_account *account, const struct mt_vm_call *call,
		       const struct move *move, const struct mt_call_origins *origins)
{
	uint64_t old = move->old_end - move->from, new = move->new_end - move->to;
	uint64_t kept = old < new ? old : new;

	if (!old) {
		duplicate(account, call, move, origins);
		return;
	}
	if (move->flags & MREMAP_DONTUNMAP) {
		copy_range(account, call, move, origins);
		return;
	}
	if (new < old)
		mt_account_remove(account, move->from + new, move->old_end, call->time,
				  origins->origin);
	if (move->to != move->from) {
		mt_account_take(account, move->from, move->from + kept);
		put_moved(account, call, move, origins);
	}
	if (new > old)
		grow(account, call, move, origins);
}

/* Moves doubts with the memory. A doubtful last byte makes the grown part doubtful. */
static void move_doubts(struct mt_account *account, const struct mt_vm_call *call,
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
		mt_account_doubt(account, start, end, call->time);
	}
}

static bool is_segment(const struct mt_account *account, const struct mt_region_attrs *attrs)
{
	return attrs->kind == MT_REGION_SHM &&
	       !strncmp(mt_attr_table_file_get(account->attr_table, attrs->file).name, "/SYSV", 5);
}

/*
 * If several regions are moved at once, mremap moves the regions before the first one that cannot
 * be moved. This recognizes System V segments, but no other files that choose their own addresses.
 */
static void move_until_refused(struct mt_account *account, const struct mt_vm_call *call,
			       struct move *move, const struct mt_call_origins *origins)
{
	const struct mt_extent *region = mt_extents_after(account->regions, move->from);
	uint64_t by = move->to - move->from;

	if (!region || region->start > move->from)
		return;
	while (region && region->start < move->old_end) {
		const struct mt_region_attrs *attrs =
			mt_attrs_get(account->attr_table, region->attrs);

		if (is_segment(account, attrs)) {
			move->old_end = region->start > move->from ? region->start : move->from;
			move->new_end = move->old_end + by;
			if (move->old_end != move->from)
				move_range(account, call, move, origins);
			return;
		}
		region = mt_extents_after(account->regions, region->end);
	}
	failed_effect(account, call);
}

/* A second mapping that covers the first one fails after the kernel has unmapped the first one. */
static void duplicate_refused(struct mt_account *account, const struct mt_vm_call *call,
			      const struct move *move, const struct mt_call_origins *origins)
{
	struct mt_region_attrs attrs;

	if (!attrs_at(account, move->from, &attrs))
		return;
	if (move->from < move->to || move->from >= move->new_end) {
		failed_effect(account, call);
		return;
	}
	mt_account_remove(account, move->to, move->new_end, call->time, origins->origin);
}

/*
 * Linux 6.17 and later check the source before they unmap the destination. They also move several
 * regions, one at a time.
 */
static void refused_move(struct mt_account *account, const struct mt_vm_call *call,
			 const struct mt_call_origins *origins)
{
	struct move move = {.from = call->args[0], .to = call->args[4], .flags = call->args[3]};
	uint64_t old = mt_page_up(call->args[1]), new = mt_page_up(call->args[2]);
	const struct mt_extent *doubt = mt_extents_after(account->doubts, move.from);

	if (__builtin_add_overflow(move.from, old, &move.old_end) ||
	    __builtin_add_overflow(move.to, new, &move.new_end))
		return;
	if (account->moves_checked && call->result == -EINVAL)
		return;
	if (!account->moves_checked || call->result != -EFAULT || !(move.flags & MREMAP_FIXED) ||
	    (doubt && doubt->start <= move.old_end)) {
		failed_effect(account, call);
		return;
	}
	if (!old) {
		duplicate_refused(account, call, &move, origins);
		return;
	}
	if (old == new)
		move_until_refused(account, call, &move, origins);
}

static void mremap_effect(struct mt_account *account, const struct mt_vm_call *call,
			  const struct mt_call_origins *origins)
{
	mt_extent_list doubts = {0};
	struct move move;

	if (mt_vm_call_failed(call->result)) {
		refused_move(account, call, origins);
		return;
	}
	if (!read_move(account, call, &move))
		return;
	mt_extents_list(account->doubts, move.from,
			move.old_end > move.from ? move.old_end : move.from + 1, &doubts);
	move_range(account, call, &move, origins);
	move_doubts(account, call, &move, &doubts);
	mt_array_deinit(&doubts);
}

/* ---- mprotect, madvise ---- */

/* The first address from `start` on that is not mapped, at most `end`. */
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
 * When memory without access gets access, it counts as reserved by this call, because the heap of a
 * thread's arena is 64 MiB of address space, and grows by mprotect.
 */
static void report_access(struct mt_account *account, const struct mt_extent *was,
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

	if (was->attrs != is->attrs && sink->access)
		sink->access(sink->context, account, &change);
}

static void change_all_attrs(struct mt_account *account, uint64_t start, uint64_t end,
			     const struct mt_vm_call *call, const struct mt_call_origins *origins,
			     change_attrs *change, uint64_t how)
{
	mt_extent_list pieces = {0};
	/* Doubts remain: the call shows the protection, not whether the range is mapped. */

	mt_extents_remove(account->regions, start, end, &pieces);
	for (size_t i = 0; i < pieces.count; i++) {
		struct mt_region_attrs attrs =
			*mt_attrs_get(account->attr_table, pieces.items[i].attrs);
		const struct mt_extent was = pieces.items[i];
		bool closed = !attrs.prot;

		change(&attrs, how);
		if (closed && attrs.prot) {
			pieces.items[i].origin = origins->origin;
			pieces.items[i].time = call->time;
		}
		pieces.items[i].attrs = mt_attr_table_intern(account->attr_table, &attrs);
		mt_extents_insert(account->regions, &pieces.items[i]);
		report_access(account, &was, &pieces.items[i], call->time, origins->origin);
	}
	mt_array_deinit(&pieces);
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
 * If it is doubtful where a hole is, the end of a call that stopped at the hole is doubtful, too.
 */
static void doubt_after(struct mt_account *account, uint64_t start, uint64_t end, uint64_t time)
{
	const struct mt_extent *doubt = mt_extents_after(account->doubts, start);

	if (doubt)
		mt_account_doubt(account, doubt->start > start ? doubt->start : start, end, time);
}

/*
 * mprotect stops at a hole, or at a region that cannot be changed. It has then changed the regions
 * before that, and each region that it changed has a record.
 */
static void mprotect_effect(struct mt_account *account, const struct mt_vm_call *call,
			    const struct mt_call_origins *origins)
{
	uint64_t start = call->args[0], end, hole;

	if (__builtin_add_overflow(start, mt_page_up(call->args[1]), &end))
		return;
	if (!call->result) {
		change_all_attrs(account, start, end, call, origins, set_prot, call->args[2]);
		return;
	}
	if (!mt_vm_call_partial(call))
		return;
	/* A merged neighbour has the same protection, so the range may be too long. */
	if (call->reported) {
		change_all_attrs(account, start, call->end < end ? call->end : end, call, origins,
				 set_prot, call->args[2]);
		return;
	}
	hole = first_hole(account, start, end);
	if (call->result != -ENOMEM || hole == end) {
		mt_account_doubt(account, start, end, call->time);
		return;
	}
	change_all_attrs(account, start, hole, call, origins, set_prot, call->args[2]);
	doubt_after(account, start, end, call->time);
}

/* Only advice on forks matters here. madvise skips holes and then returns ENOMEM. */
static void madvise_effect(struct mt_account *account, const struct mt_vm_call *call,
			   const struct mt_call_origins *origins)
{
	uint64_t advice = call->args[2], end;

	if ((advice != MADV_DONTFORK && advice != MADV_DOFORK) ||
	    (call->result && !mt_vm_call_partial(call)) ||
	    __builtin_add_overflow(call->args[0], mt_page_up(call->args[1]), &end))
		return;
	account->unforked = true;
	change_all_attrs(account, call->args[0], end, call, origins, set_forked,
			 advice == MADV_DOFORK);
}

/* ---- System V shared memory ---- */

/* The size is that of the segment, which only the MMAP2 record has. */
static void shmat_effect(struct mt_account *account, const struct mt_vm_call *call,
			 const struct mt_call_origins *origins)
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
		return;
	if (end - start > account->shm_span)
		account->shm_span = end - start;
	mt_account_remove(account, start, end, call->time,
			  call->args[2] & SHM_REMAP ? origins->origin : origins->lost);
	mt_account_add(account, start, end, &attrs, call->time, origins->origin);
	if (!known)
		mt_account_doubt(account, start, end, call->time);
}

/*
 * Removes every piece of the segment at its attach address, up to the largest segment size. Other
 * mappings may be between the pieces.
 */
static void detach(struct mt_account *account, const struct mt_vm_call *call,
		   const struct mt_call_origins *origins)
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
			mt_account_remove(account, start > at ? start : at, end, call->time,
					  origins->origin);
		} else if (found && start - at >= account->shm_span) {
			break;
		}
		region = mt_extents_after(account->regions, end);
	}
}

/* In a doubtful range the pieces of the segment are not known. */
static void shmdt_effect(struct mt_account *account, const struct mt_vm_call *call,
			 const struct mt_call_origins *origins)
{
	uint64_t start = call->args[0], end;
	const struct mt_extent *doubt;
	bool doubtful;

	if (call->result || __builtin_add_overflow(start, account->shm_span, &end))
		return;
	doubt = mt_extents_after(account->doubts, start);
	doubtful = doubt && doubt->start < end;
	detach(account, call, origins);
	if (doubtful)
		mt_account_doubt(account, start, end, call->time);
}

/* ---- remap_file_pages ---- */

/* The effect is that of an mmap of another part of the same file at the same address. */
static void remap_effect(struct mt_account *account, const struct mt_vm_call *call,
			 const struct mt_call_origins *origins)
{
	uint64_t start = mt_page_down(call->args[0]), end;
	struct mt_region_attrs attrs;

	if (call->result || __builtin_add_overflow(start, mt_page_down(call->args[1]), &end))
		return;
	if (!attrs_at(account, start, &attrs)) {
		mt_account_doubt(account, start, end, call->time);
		return;
	}
	attrs.delta = (call->args[3] << PAGE_SHIFT) - start;
	mt_account_remove(account, start, end, call->time, origins->origin);
	mt_account_add(account, start, end, &attrs, call->time, origins->origin);
}

void mt_account_call(struct mt_account *account, const struct mt_vm_call *call,
		     const struct mt_call_origins *origins)
{
	static void (*const effects[])(struct mt_account *, const struct mt_vm_call *,
				       const struct mt_call_origins *) = {
		[MT_VM_BRK] = brk_effect,	    [MT_VM_MMAP] = mmap_effect,
		[MT_VM_MUNMAP] = munmap_effect,	    [MT_VM_MREMAP] = mremap_effect,
		[MT_VM_MPROTECT] = mprotect_effect, [MT_VM_PKEY_MPROTECT] = mprotect_effect,
		[MT_VM_MADVISE] = madvise_effect,   [MT_VM_SHMAT] = shmat_effect,
		[MT_VM_SHMDT] = shmdt_effect,	    [MT_VM_REMAP_FILE_PAGES] = remap_effect,
		[MT_VM_BY_NUMBER] = NULL,
	};

	if (effects[call->kind])
		effects[call->kind](account, call, origins);
}
