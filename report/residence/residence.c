/* Updates holders at page events and changes of regions. */
#include "report/residence/residence.h"

#include <string.h>

#include "formats/records/record.h"
#include "report/residence/residence_parts.h"
#include "report/tables/byte_runs.h"

static void change(void *context, const struct mt_ledger *ledger,
		   const struct mt_ledger_change *reported)
{
	struct mt_residence *r = context;
	const struct mt_change *change = reported->change;
	uint32_t book = mt_residence_book(r, reported->space);
	struct mt_toucher *toucher;

	mt_residence_note(r, ledger, change->time);
	if (r->books.items[book]->closed || !change->sign)
		return;
	if (change->sign < 0) {
		mt_residence_give_back(r, ledger, book, change->start >> MT_PAGE_SHIFT,
				       change->end >> MT_PAGE_SHIFT, change->origin,
				       MT_ORIGIN_UNMAPPED);
		return;
	}
	toucher = mt_residence_toucher(r, reported->origin->tid);
	toucher->from = change->start >> MT_PAGE_SHIFT;
	toucher->to = change->end >> MT_PAGE_SHIFT;
}

/*
 * Splits huge pages at the ends of the range. A huge page lies in one mapping, so the kernel splits
 * the page if another mapping begins inside it.
 */
static void accessed(void *context, const struct mt_ledger *ledger,
		     const struct mt_ledger_change *reported)
{
	const uint64_t inside = MT_HUGE_PAGES - 1,
		       ends[] = {reported->change->start >> MT_PAGE_SHIFT,
				 reported->change->end >> MT_PAGE_SHIFT};
	struct mt_residence *r = context;
	uint32_t book = mt_residence_book(r, reported->space);

	(void)ledger;
	for (size_t i = 0; r->books.items[book]->huge && i < 2; i++) {
		if (ends[i] & inside)
			mt_residence_split(r, book, ends[i] & ~inside, (ends[i] | inside) + 1);
	}
}

static void moved(void *context, const struct mt_ledger *ledger,
		  const struct mt_ledger_space *space, uint64_t from, uint64_t to, uint64_t size)
{
	struct mt_residence *r = context;
	uint32_t book = mt_residence_book(r, space);

	(void)ledger;
	mt_page_map_move(&r->books.items[book]->map, from >> MT_PAGE_SHIFT, to >> MT_PAGE_SHIFT,
			 size >> MT_PAGE_SHIFT);
}

/* ---- Touching ---- */

static void find_key(const struct mt_ledger *ledger, uint32_t book,
		     const struct mt_ledger_touch *touch, struct mt_toucher *toucher)
{
	const struct mt_account *account = touch->space->account;
	const struct mt_extent *region = mt_extents_after(account->regions, touch->address);
	const struct mt_region_attrs unknown = {.kind = MT_REGION_ANONYMOUS};
	struct mt_holder_key key = {
		.book = book, .toucher = touch->origin, .member = MT_PAGES_ANONYMOUS};

	toucher->first = toucher->page;
	toucher->end = toucher->page + 1;
	if (region && region->start <= touch->address) {
		toucher->first = region->start >> MT_PAGE_SHIFT;
		toucher->end = region->end >> MT_PAGE_SHIFT;
		key.reserver = region->origin;
		key.attrs = region->attrs;
	} else {
		key.reserver = mt_ledger_because(ledger, touch->origin, MT_ORIGIN_BEFORE);
		key.attrs = mt_attr_table_intern((struct mt_attr_table *)mt_ledger_attrs(ledger),
						 &unknown);
	}
	toucher->key = key;
}

/* Counts each distinct page once, for recordings without each change of the kernel's counts. */
static void touch_pages(struct mt_residence *r, struct mt_toucher *toucher, uint32_t book,
			uint64_t page, uint64_t count)
{
	uint32_t holder = mt_residence_holder(r, &toucher->key);
	struct mt_book *of = r->books.items[book];
	uint64_t given = mt_page_map_fill(&of->map, page, page + count, count, holder);

	if (given) {
		mt_residence_hold(r, book, holder, (int64_t)given);
		mt_residence_note_total(of, (int64_t)given);
		mt_residence_note_pending(r, toucher, book, (int64_t)given);
	}
}

static void touched(void *context, const struct mt_ledger *ledger,
		    const struct mt_ledger_touch *touch)
{
	struct mt_residence *r = context;
	uint32_t book = mt_residence_book(r, touch->space);
	struct mt_toucher *toucher = mt_residence_toucher(r, touch->tid);
	uint64_t page = touch->address >> MT_PAGE_SHIFT;

	mt_residence_note(r, ledger, touch->time);
	if (r->books.items[book]->closed)
		return;
	if (touch->order) {
		uint64_t count = 1ull << touch->order;

		if (!r->each && toucher->faulting && toucher->book == book)
			touch_pages(r, toucher, book, toucher->page & ~(count - 1), count);
		return;
	}
	toucher->faulting = true;
	toucher->book = book;
	toucher->page = page;
	/* a child that borrows the space by vfork is not responsible for it */
	if (!r->books.items[book]->touched ||
	    mt_ledger_origin(ledger, touch->origin)->pid == touch->space->pid)
		r->books.items[book]->origin = touch->origin;
	r->books.items[book]->touched = touch->time;
	toucher->time = touch->time;
	toucher->given = 0;
	find_key(ledger, book, touch, toucher);
	if (!r->each)
		touch_pages(r, toucher, book, page, 1);
}

/* ---- Batched counts, or none ---- */

/*
 * Finds the rise of a count over a space's life; false if unknown. Sets *batched if the count may
 * lack pages that threads have touched and not added yet.
 */
static bool find_rise(struct mt_residence *r, uint32_t index, uint32_t member, uint64_t until,
		      int64_t *out, bool *batched)
{
	const struct mt_book *book = r->books.items[index];
	int32_t pid = book->space->pid;
	const struct mt_page_reading *from = mt_residence_first_reading(r, pid, member),
				     *to = mt_residence_last_reading(r, pid, member, until);
	bool is_new = mt_residence_born(book->space);
	const struct mt_page_counts *counts;
	size_t at = 0;

	while ((!to || to->time < book->touched) &&
	       (counts = mt_residence_next_counts(r, index, &at))) {
		if (!counts->seen[member])
			continue;
		*out = counts->value[member] - (is_new ? 0
						: from ? from->pages
						       : counts->first[member]);
		*batched = true;
		return true;
	}
	if (!to || to->time < book->touched || (!is_new && !from))
		return false;
	*out = to->pages - (is_new ? 0 : from->pages);
	return true;
}

/*
 * Finds the rise of all members together, from the readings of smaps_rollup at start and end. The
 * kernel walks the pages for smaps_rollup, so no pages are pending.
 */
static bool find_whole(struct mt_residence *r, uint32_t index, uint64_t until, int64_t *out)
{
	const struct mt_book *book = r->books.items[index];
	int32_t pid = book->space->pid;
	const struct mt_page_reading *from = mt_residence_first_reading(r, pid, MT_PAGES_WHOLE),
				     *to = mt_residence_last_reading(r, pid, MT_PAGES_WHOLE, until);
	bool is_new = mt_residence_born(book->space);

	if (!to || to->time < book->touched || (!is_new && from == to))
		return false;
	*out = to->pages - (is_new ? 0 : from->pages);
	return true;
}

/* The sum of the known rises of all members. */
static bool find_sum(struct mt_residence *r, uint32_t index, uint64_t until, int64_t *out)
{
	const struct mt_book *book = r->books.items[index];
	bool known = false, batched = false;
	int64_t rise;

	*out = 0;
	for (uint32_t i = 0; i < MT_PAGES_MEMBERS; i++) {
		if (i == MT_PAGES_SWAPPED || !find_rise(r, index, i, until, &rise, &batched))
			continue;
		*out += rise;
		known = true;
	}
	*out += batched ? book->pending : 0;
	return known;
}

/* Gives resident pages beyond those touched to a holder without a fault. */
static void put_unseen(struct mt_residence *r, const struct mt_ledger *ledger, uint32_t index,
		       uint64_t until)
{
	struct mt_book *book = r->books.items[index];
	int64_t sum, total = book->total - (book->space->ended ? 0 : book->late);
	uint32_t id;

	if (!book->touched ||
	    (!find_whole(r, index, until, &sum) && !find_sum(r, index, until, &sum)) ||
	    sum == total)
		return;
	book->read = UINT64_MAX; /* all figures are of the moment of the reading */
	id = mt_residence_cause(r, ledger, index, book->origin, MT_ORIGIN_UNSEEN,
				MT_PAGES_ANONYMOUS);
	mt_residence_hold(r, index, id, sum - total);
}

static void put_huge(struct mt_residence *r, const struct mt_ledger *ledger, uint32_t index,
		     enum mt_origin_kind why, int64_t pages)
{
	const struct mt_region_attrs attrs = {.kind = MT_REGION_ANONYMOUS};
	struct mt_holder_key key = {.book = index, .member = MT_PAGES_ANONYMOUS, .huge = true};
	uint32_t id;

	key.toucher = key.reserver = mt_ledger_because(ledger, r->books.items[index]->origin, why);
	key.attrs = mt_attr_table_intern((struct mt_attr_table *)mt_ledger_attrs(ledger), &attrs);
	id = mt_residence_holder(r, &key);
	mt_residence_hold(r, index, id, pages);
}

/*
 * Adds huge pages from before the recording, and huge pages that no fault explains: khugepaged and
 * madvise merge small pages into huge ones, and a forked child has the huge pages of its parent.
 * The kernel splits a huge page when a part of it is unmapped, or to swap it out.
 */
static void put_unseen_huge(struct mt_residence *r, const struct mt_ledger *ledger, uint32_t index)
{
	const struct mt_book *book = r->books.items[index];
	int32_t pid = book->space->pid;
	const struct mt_page_reading *from = mt_residence_first_reading(r, pid, MT_PAGES_HUGE),
				     *to = mt_residence_last_reading(r, pid, MT_PAGES_HUGE,
								     UINT64_MAX);
	enum mt_origin_kind why = MT_ORIGIN_COLLAPSED;
	int64_t rest;

	if (!book->touched || book->space->ended || !to || to->time < book->touched)
		return;
	if (!mt_residence_born(book->space) && from != to && from->pages)
		put_huge(r, ledger, index, MT_ORIGIN_BEFORE, from->pages);
	rest = to->pages - book->huge;
	if (rest < 0)
		why = MT_ORIGIN_SPLIT;
	else if (book->space->account && book->space->account->forked)
		why = MT_ORIGIN_FORKED;
	if (rest)
		put_huge(r, ledger, index, why, rest);
}

static void remaining(void *context, const struct mt_ledger *ledger,
		      const struct mt_ledger_space *space, const struct mt_extents *regions,
		      uint64_t time)
{
	struct mt_residence *r = context;
	uint32_t index = mt_residence_book(r, space);
	struct mt_page_counts *counts;
	size_t at = 0;

	mt_residence_note(r, ledger, time);
	if (r->options.remaining)
		r->options.remaining(r->options.context, ledger, space, regions, time,
				     &r->books.items[index]->map);
	if (!r->each && !r->options.peak)
		put_unseen(r, ledger, index, space->ended || r->options.moment ? time : UINT64_MAX);
	if (r->options.huge)
		put_unseen_huge(r, ledger, index);
	r->books.items[index]->closed = true;
	mt_page_map_deinit(&r->books.items[index]->map);
	/* Unbind the counts: the kernel may reuse the id of the space. */
	while ((counts = mt_residence_next_counts(r, index, &at)))
		*counts = (struct mt_page_counts){0};
	mt_array_deinit(&r->books.items[index]->counts);
}

static void gauged(void *context, uint32_t recording, const struct mt_gauge_record *gauge)
{
	static const char *const names[MT_PAGES_READ] = {
		[MT_PAGES_FILE] = "RssFile",
		[MT_PAGES_ANONYMOUS] = "RssAnon",
		[MT_PAGES_SWAPPED] = "VmSwap",
		[MT_PAGES_SHM] = "RssShmem",
		[MT_PAGES_WHOLE] = "smaps_rollup Rss",
		[MT_PAGES_HUGE] = "smaps_rollup AnonHugePages",
	};
	struct mt_residence *r = context;
	struct mt_page_reading *reading;
	uint32_t member = 0;

	mt_residence_begin(r, recording);
	while (member < MT_PAGES_READ &&
	       (gauge->name.size != strlen(names[member]) ||
		memcmp(gauge->name.bytes, names[member], gauge->name.size) != 0))
		member++;
	if (member == MT_PAGES_READ || gauge->value >> 56)
		return;
	reading = mt_array_push(&r->readings);
	*reading = (struct mt_page_reading){.pid = gauge->pid,
					    .member = member,
					    .time = gauge->after,
					    .number = r->readings.count - 1,
					    .pages = (int64_t)(gauge->value >> MT_PAGE_SHIFT)};
	r->readings_sorted = false;
}

void mt_residence_listen(struct mt_residence *residence, struct mt_ledger_options *options)
{
	options->change = change;
	options->remaining = remaining;
	options->touched = touched;
	options->counted = mt_residence_counted;
	options->moved = moved;
	options->accessed = accessed;
	options->gauged = gauged;
	options->context = residence;
}
