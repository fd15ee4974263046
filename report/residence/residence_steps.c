/*
 * Attributes a change of the kernel's counts to the page fault or the call of the thread, or to
 * another cause.
 */
#include <sys/mman.h>

#include "report/residence/residence_parts.h"

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum {
	LARGE_PAGES = 4,   /* pages of the smallest large folio */
	AROUND_PAGES = 16, /* pages that the kernel maps around a fault in a file */
};

/*
 * Early after boot, before the kernel's random numbers are ready, each address space has the id 0.
 * This bit plus the index of the book is used as the id then.
 */
#define NAMELESS (1ull << 32)

/* A change of a count, with its space. */
struct step {
	const struct mt_ledger *ledger;
	const struct mt_ledger_count *reported;
	uint32_t book, member;
	int64_t pages;
	uint64_t last; /* time of the previous change of the same address space's counts */
};

static uint32_t cause_of(struct mt_residence *r, const struct step *step, enum mt_origin_kind why)
{
	return mt_residence_cause(r, step->ledger, step->book, step->reported->origin, why,
				  step->member);
}

static void put_down(struct mt_residence *r, const struct step *step, enum mt_origin_kind why,
		     int64_t pages)
{
	uint32_t id = cause_of(r, step, why);

	mt_residence_hold(r, step->book, id, pages);
	if (pages > 0)
		mt_residence_count_changes(r, step->book, id, 1);
}

struct taking {
	struct mt_residence *r;
	const struct step *step;
	enum mt_origin_kind why;
};

static void take_pages(void *context, uint64_t page, uint64_t count, uint32_t holder)
{
	const struct taking *taking = context;
	uint32_t id = cause_of(taking->r, taking->step, taking->why);

	(void)page;
	mt_residence_hold(taking->r, taking->step->book, holder, -(int64_t)count);
	mt_residence_hold(taking->r, taking->step->book, id, (int64_t)count);
	mt_residence_count_changes(taking->r, taking->step->book, id, (int64_t)count);
}

/* Takes the pages of a range from their holders and gives them to the cause `why`. */
static void take_back(struct mt_residence *r, const struct step *step, uint64_t from, uint64_t to,
		      enum mt_origin_kind why)
{
	struct taking taking = {r, step, why};

	mt_page_map_clear(&r->books.items[step->book]->map, from, to, take_pages, &taking);
}

/* The range of pages within which a fault added `count` pages. */
static void range_of_fault(const struct mt_toucher *toucher, uint32_t member, uint64_t count,
			   uint64_t *from, uint64_t *to)
{
	uint64_t size = 1;

	while (size < count)
		size *= 2;
	if (member != MT_PAGES_ANONYMOUS && size < AROUND_PAGES && count > 1)
		size = AROUND_PAGES;
	*from = toucher->page & ~(size - 1);
	*to = *from + size;
	*from = *from > toucher->first ? *from : toucher->first;
	*to = *to < toucher->end ? *to : toucher->end;
}

/* Gives `count` pages of a range without holders to the holder. */
static void give_pages(struct mt_residence *r, uint32_t book, uint32_t holder, uint64_t from,
		       uint64_t to, uint64_t count)
{
	mt_page_map_fill(&r->books.items[book]->map, from, to, count, holder);
}

/*
 * The part of a step that the fault itself added. The kernel sums its count over all CPUs for each
 * event. If threads fault at the same time, the event of one thread may include or repeat pages of
 * another thread. Anonymous pages of the fault itself are recognized by their size: 4 KiB, or a
 * power of two from 16 KiB on.
 */
static int64_t own_part(const struct step *step)
{
	int64_t pages = step->pages;

	if (step->member != MT_PAGES_ANONYMOUS)
		return pages < MT_HUGE_PAGES ? pages : MT_HUGE_PAGES;
	if (pages >= MT_HUGE_PAGES)
		return MT_HUGE_PAGES;
	return pages >= LARGE_PAGES && !(pages & (pages - 1)) ? pages : 1;
}

static void fault_added(struct mt_residence *r, const struct step *step, struct mt_toucher *toucher)
{
	const struct mt_ledger_space *space = r->books.items[step->book]->space;
	int64_t own = own_part(step);
	uint64_t from, to;
	uint32_t holder;

	toucher->given |= 1u << step->member;
	toucher->key.member = step->member;
	toucher->key.huge = own == MT_HUGE_PAGES && step->member == MT_PAGES_ANONYMOUS;
	holder = mt_residence_holder(r, &toucher->key);
	take_back(r, step, toucher->page, toucher->page + 1, MT_ORIGIN_RECLAIMED);
	give_pages(r, step->book, holder, toucher->page, toucher->page + 1, 1);
	range_of_fault(toucher, step->member, (uint64_t)own, &from, &to);
	give_pages(r, step->book, holder, from, to, (uint64_t)own - 1);
	mt_residence_hold(r, step->book, holder, own);
	mt_residence_count_changes(r, step->book, holder, 1);
	/* The first change of a new program includes the pages that exec loaded. */
	if (own != step->pages)
		put_down(r, step,
			 step->last || !space->generation ? MT_ORIGIN_UNSEEN : MT_ORIGIN_LOADED,
			 step->pages - own);
}

/* Applies pages that a fault removed: a page of a file replaced by a copy, or a split huge page. */
static void fault_took(struct mt_residence *r, const struct step *step,
		       const struct mt_toucher *toucher)
{
	uint64_t page = toucher->page, end = page + 1;

	if (step->pages <= -MT_HUGE_PAGES) {
		page &= ~(uint64_t)(MT_HUGE_PAGES - 1);
		end = page + MT_HUGE_PAGES;
	}
	take_back(r, step, page, end, MT_ORIGIN_REPLACED);
	put_down(r, step, MT_ORIGIN_REPLACED, step->pages);
}

static void call_added(struct mt_residence *r, const struct step *step, struct mt_toucher *toucher)
{
	const struct mt_page_count *count = step->reported->count;
	bool advice = count->call == MT_VM_MADVISE;
	enum mt_origin_kind why = advice && count->args[2] == MADV_COLLAPSE ? MT_ORIGIN_COLLAPSED
									    : MT_ORIGIN_POPULATED;
	uint64_t from = advice ? count->args[0] >> MT_PAGE_SHIFT : toucher->from;
	uint64_t to = advice ? from + (count->args[1] >> MT_PAGE_SHIFT) : toucher->to;
	uint32_t id = cause_of(r, step, why);

	give_pages(r, step->book, id, from, to, (uint64_t)step->pages);
	mt_residence_hold(r, step->book, id, step->pages);
	mt_residence_count_changes(r, step->book, id, 1);
}

static bool advice_frees(uint64_t advice)
{
	return advice == MADV_DONTNEED || advice == MADV_DONTNEED_LOCKED || advice == MADV_REMOVE;
}

static void call_took(struct mt_residence *r, const struct step *step, struct mt_toucher *toucher)
{
	const struct mt_page_count *count = step->reported->count;
	uint64_t from = count->args[0] >> MT_PAGE_SHIFT;

	if (count->call != MT_VM_MADVISE) {
		put_down(r, step, MT_ORIGIN_UNMAPPED, step->pages);
		return;
	}
	if (!advice_frees(count->args[2])) {
		put_down(r, step, MT_ORIGIN_RECLAIMED, step->pages);
		return;
	}
	if (toucher->advised != count->enter) {
		toucher->advised = count->enter;
		mt_residence_give_back(r, step->ledger, step->book, from,
				       from + (mt_page_up(count->args[1]) >> MT_PAGE_SHIFT),
				       step->reported->origin, MT_ORIGIN_ADVISED);
	}
	put_down(r, step, MT_ORIGIN_ADVISED, step->pages);
}

/* The cause of a step that belongs to neither a fault nor a known call. */
static enum mt_origin_kind why_loose(const struct step *step)
{
	if (mt_ledger_pages_lost(step->ledger, step->last, step->reported->time))
		return MT_ORIGIN_LOST;
	if (!step->reported->count->own)
		return step->pages > 0 ? MT_ORIGIN_COLLAPSED : MT_ORIGIN_RECLAIMED;
	if (step->pages > 0)
		return MT_ORIGIN_PINNED;
	return step->member == MT_PAGES_ANONYMOUS ? MT_ORIGIN_RECLAIMED : MT_ORIGIN_TRUNCATED;
}

static bool is_replaced(const struct step *step, const struct mt_toucher *toucher)
{
	return !toucher->given && (step->pages == -1 || step->pages == -MT_HUGE_PAGES);
}

/*
 * True if a huge page does not fit into the fault's region: an unrecorded call like mlock added it.
 */
static bool has_no_room(const struct step *step, const struct mt_toucher *toucher)
{
	uint64_t from = toucher->page & ~((uint64_t)MT_HUGE_PAGES - 1);

	return step->last && step->member == MT_PAGES_ANONYMOUS && step->pages >= MT_HUGE_PAGES &&
	       (from < toucher->first || from + MT_HUGE_PAGES > toucher->end);
}

static void put_step(struct mt_residence *r, const struct step *step, struct mt_toucher *toucher)
{
	const struct mt_page_count *count = step->reported->count;
	bool fault = toucher->faulting && toucher->book == step->book && count->own &&
		     !(count->call && count->enter > toucher->time) && !has_no_room(step, toucher);
	bool given = toucher->given & 1u << step->member;
	/* A fault does not remove anonymous pages. */
	bool rises = step->pages > 0 || (fault && !given && step->member == MT_PAGES_ANONYMOUS);

	/* A fault removes a file's page before it adds the copy; later removals are not its own. */
	if (fault && !given && (rises || is_replaced(step, toucher))) {
		if (rises)
			fault_added(r, step, toucher);
		else
			fault_took(r, step, toucher);
		return;
	}
	if (!step->pages)
		return;
	if (count->call && count->own) {
		if (rises)
			call_added(r, step, toucher);
		else
			call_took(r, step, toucher);
		return;
	}
	put_down(r, step, why_loose(step), step->pages);
}

static void put_swapped(struct mt_residence *r, const struct step *step)
{
	uint32_t id = cause_of(r, step, MT_ORIGIN_RECLAIMED);

	mt_residence_hold_swapped(r, step->book, id, step->pages);
}

/*
 * Binds the counts to the book of the step. If the space is new, pages from before its first event
 * were added by fork or exec.
 */
static void bind(struct mt_residence *r, struct mt_page_counts *counts, struct step *step)
{
	const struct mt_ledger_space *space = r->books.items[step->book]->space;
	bool is_new = mt_residence_born(space);
	enum mt_origin_kind why =
		space->account && space->account->forked ? MT_ORIGIN_FORKED : MT_ORIGIN_LOADED;

	if (counts->book)
		*counts = (struct mt_page_counts){.time = counts->time};
	mt_residence_bind(r, counts, step->book);
	for (uint32_t i = 0; i < MT_PAGES_MEMBERS; i++) {
		int64_t pages = counts->value[i];

		if (counts->seen[i] && is_new && pages) {
			step->member = i;
			if (i == MT_PAGES_SWAPPED)
				put_swapped(r, step);
			else
				put_down(r, step, why, pages);
			mt_residence_note_total(r->books.items[step->book],
						i == MT_PAGES_SWAPPED ? 0 : pages);
		}
		counts->seen[i] |= is_new;
	}
}

/*
 * The pages that the first observed value of a count adds. If there is no reading to compare with,
 * at most one page of a fault.
 */
static int64_t first_step(struct mt_residence *r, const struct step *step,
			  const struct mt_toucher *toucher, int64_t now)
{
	const struct mt_page_count *count = step->reported->count;
	const struct mt_ledger_space *space = r->books.items[step->book]->space;
	const struct mt_page_reading *reading =
		mt_residence_first_reading(r, space->pid, count->member);

	if (reading && reading->time <= step->reported->time)
		return now - reading->pages;
	return count->bytes && toucher->faulting && !count->call ? 1 : 0;
}

/*
 * Subtracts pending pages of the thread that the kernel has now added to the total: all except the
 * page of the present fault, or, if a huge page was added, only that page.
 */
static void note_batch(struct mt_residence *r, const struct step *step, struct mt_toucher *toucher)
{
	bool fault =
		toucher->faulting && toucher->book == step->book && !step->reported->count->call;
	int64_t pending = toucher->pending_book == step->book ? toucher->pending : 0;
	bool huge = step->pages >= MT_HUGE_PAGES;

	if (!step->reported->count->own || (huge && !fault))
		return;
	mt_residence_note_pending(r, toucher, step->book,
				  huge	  ? -MT_HUGE_PAGES
				  : fault ? (pending > 0) - pending
					  : -pending);
}

static void apply(struct mt_residence *r, struct mt_page_counts *counts, struct step *step,
		  struct mt_toucher *toucher)
{
	struct mt_book *book = r->books.items[step->book];
	int64_t now = (int64_t)(step->reported->count->bytes >> MT_PAGE_SHIFT);

	step->member = step->reported->count->member;
	step->pages = counts->seen[step->member] ? now - counts->value[step->member]
						 : first_step(r, step, toucher, now);
	if (!counts->seen[step->member])
		counts->first[step->member] = now;
	counts->seen[step->member] = true;
	counts->value[step->member] = now;
	counts->time = step->reported->time;
	if (!r->each)
		note_batch(r, step, toucher);
	if (!r->each || (!step->pages && step->member != MT_PAGES_ANONYMOUS))
		return;
	if (step->member == MT_PAGES_SWAPPED) {
		put_swapped(r, step);
		return;
	}
	put_step(r, step, toucher);
	mt_residence_note_total(book, step->pages);
}

/* Moves the counts that an address space had before it got an id to the counts with that id. */
static void take_nameless(struct mt_residence *r, uint32_t book, struct mt_page_counts *counts)
{
	uint64_t index;
	struct mt_page_counts *old;

	if (!mt_map64_get(&r->by_mm, NAMELESS | book, &index))
		return;
	old = &r->counts.items[index];
	if (old == counts || counts->book || old->book != book + 1)
		return;
	*counts = *old;
	*old = (struct mt_page_counts){0};
	mt_residence_bind(r, counts, book);
}

void mt_residence_counted(void *context, const struct mt_ledger *ledger,
			  const struct mt_ledger_count *reported)
{
	struct mt_residence *r = context;
	const struct mt_page_count *count = reported->count;
	struct step step = {.ledger = ledger,
			    .reported = reported,
			    .book = mt_residence_book(r, reported->space)};
	struct mt_toucher *toucher = mt_residence_toucher(r, reported->tid);
	struct mt_page_counts *counts =
		mt_residence_counts_of(r, count->mm ? count->mm : NAMELESS | step.book);

	mt_residence_note(r, ledger, reported->time);
	if (!count->own && !count->mm)
		return;
	if (count->own)
		take_nameless(r, step.book, counts);
	step.last = counts->time;
	if (!count->own && !counts->book) {
		counts->seen[count->member] = true;
		counts->value[count->member] = (int64_t)(count->bytes >> MT_PAGE_SHIFT);
		counts->time = reported->time;
		return;
	}
	/* If a thread has left its address space, by exit or exec, the space ends. */
	if (!count->own && counts->book == step.book + 1)
		r->books.items[step.book]->closed = true;
	if (count->own && counts->book != step.book + 1)
		bind(r, counts, &step);
	step.book = counts->book - 1;
	if (!r->books.items[step.book]->closed)
		apply(r, counts, &step, toucher);
}
