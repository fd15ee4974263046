/*
 * Which page events and changes of regions mean what for who holds which page. A page is taken from
 * its holder when its range is given back; by how many pages the kernel's count falls then is told
 * apart, and the difference of both stays with the cause.
 */
#include "report/ledger/residence.h"

#include <string.h>

#include "formats/record.h"
#include "report/ledger/residence_parts.h"
#include "report/sequences.h"

/* ---- Pages given back ---- */

struct taking {
	struct mt_residence *r;
	uint32_t book;
	uint32_t causes[MT_PAGES_MEMBERS];
	int64_t pages;
};

static bool take_page(void *context, uint64_t page, uint32_t holder)
{
	struct taking *taking = context;
	size_t size;
	const struct mt_holder_key *key = mt_sequences_get(taking->r->keys, holder - 1, &size);

	(void)page;
	mt_residence_hold(taking->r, taking->book, holder, -1);
	if (taking->r->each)
		mt_residence_hold(taking->r, taking->book, taking->causes[key->member], 1);
	taking->pages++;
	return true;
}

/* Takes a range from its holders; how many pages really were resident the counts tell. */
bool mt_residence_give_back(struct mt_residence *r, const struct mt_ledger *ledger, uint32_t book,
			    uint64_t first, uint64_t end, uint32_t origin, enum mt_origin_kind why)
{
	struct mt_book *of = r->books.items[book];
	struct taking taking = {.r = r, .book = book};

	for (uint32_t i = 0; i < MT_PAGES_MEMBERS; i++) {
		taking.causes[i] = mt_residence_cause(r, ledger, book, origin, why, i);
		if (!taking.causes[i])
			return false;
	}
	if (!mt_page_map_clear(&of->map, first, end, take_page, &taking))
		return false;
	/* Without counts the pages have gone, and nothing is to follow. */
	if (!r->each)
		mt_residence_note_total(of, -taking.pages);
	return true;
}

static bool change(void *context, const struct mt_ledger *ledger,
		   const struct mt_ledger_change *told)
{
	struct mt_residence *r = context;
	const struct mt_change *change = told->change;
	uint32_t book = mt_residence_book(r, told->space);
	struct mt_toucher *toucher;

	mt_residence_note(r, ledger, change->time);
	if (book == UINT32_MAX || r->untold)
		return false;
	if (r->books.items[book]->closed || !change->sign)
		return true;
	if (change->sign < 0)
		return mt_residence_give_back(r, ledger, book, change->start >> MT_PAGE_SHIFT,
					      change->end >> MT_PAGE_SHIFT, change->origin,
					      MT_ORIGIN_UNMAPPED);
	toucher = mt_residence_toucher(r, told->origin->tid);
	if (!toucher)
		return false;
	toucher->from = change->start >> MT_PAGE_SHIFT;
	toucher->to = change->end >> MT_PAGE_SHIFT;
	return true;
}

static bool moved(void *context, const struct mt_ledger *ledger,
		  const struct mt_ledger_space *space, uint64_t from, uint64_t to, uint64_t size)
{
	struct mt_residence *r = context;
	uint32_t book = mt_residence_book(r, space);

	(void)ledger;
	return book != UINT32_MAX &&
	       mt_page_map_move(&r->books.items[book]->map, from >> MT_PAGE_SHIFT,
				to >> MT_PAGE_SHIFT, size >> MT_PAGE_SHIFT);
}

/* ---- Touching ---- */

static bool find_key(const struct mt_ledger *ledger, uint32_t book,
		     const struct mt_ledger_touch *touch, struct mt_toucher *toucher)
{
	const struct mt_account *account = touch->space->account;
	const struct mt_extent *region = mt_extents_after(account->regions, touch->address);
	const struct mt_nature unknown = {.kind = MT_REGION_ANONYMOUS};
	struct mt_holder_key key = {
		.book = book, .toucher = touch->origin, .member = MT_PAGES_ANONYMOUS};

	toucher->first = toucher->page;
	toucher->end = toucher->page + 1;
	if (region && region->start <= touch->address) {
		toucher->first = region->start >> MT_PAGE_SHIFT;
		toucher->end = region->end >> MT_PAGE_SHIFT;
		key.reserver = region->origin;
		key.nature = region->nature;
	} else {
		key.reserver = mt_ledger_because(ledger, touch->origin, MT_ORIGIN_BEFORE);
		key.nature =
			mt_natures_intern((struct mt_natures *)mt_ledger_natures(ledger), &unknown);
	}
	toucher->key = key;
	return key.reserver != UINT32_MAX && key.nature != UINT32_MAX;
}

/* Without counts of each: distinct pages, each once. */
static bool touch_pages(struct mt_residence *r, struct mt_toucher *toucher, uint32_t book,
			uint64_t page, uint64_t count)
{
	uint32_t holder = mt_residence_holder(r, &toucher->key);
	struct mt_book *of = r->books.items[book];

	if (!holder)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if (mt_page_map_get(&of->map, page + i))
			continue;
		if (!mt_page_map_set(&of->map, page + i, holder))
			return false;
		mt_residence_hold(r, book, holder, 1);
		mt_residence_note_total(of, 1);
		mt_residence_note_pending(r, toucher, book, 1);
	}
	return true;
}

static bool touched(void *context, const struct mt_ledger *ledger,
		    const struct mt_ledger_touch *touch)
{
	struct mt_residence *r = context;
	uint32_t book = mt_residence_book(r, touch->space);
	struct mt_toucher *toucher = mt_residence_toucher(r, touch->tid);
	uint64_t page = touch->address >> MT_PAGE_SHIFT;

	mt_residence_note(r, ledger, touch->time);
	if (book == UINT32_MAX || !toucher || r->untold)
		return false;
	if (r->books.items[book]->closed)
		return true;
	if (touch->order) {
		uint64_t count = 1ull << touch->order;

		return r->each || !toucher->faulting || toucher->book != book ||
		       touch_pages(r, toucher, book, toucher->page & ~(count - 1), count);
	}
	toucher->faulting = true;
	toucher->book = book;
	toucher->page = page;
	r->books.items[book]->touched = touch->time;
	r->books.items[book]->origin = touch->origin;
	toucher->time = touch->time;
	toucher->given = 0;
	return find_key(ledger, book, touch, toucher) &&
	       (r->each || touch_pages(r, toucher, book, page, 1));
}

/* ---- Where counts are batched, or there are none ---- */

/* The last that /proc said up to a time. */
static const struct mt_page_reading *last_reading(const struct mt_residence *r, int32_t pid,
						  uint32_t member, uint64_t until)
{
	const struct mt_page_reading *last = NULL;

	for (size_t i = 0; i < r->readings.count; i++) {
		const struct mt_page_reading *reading = &r->readings.items[i];

		if (reading->pid == pid && reading->member == member && reading->time <= until)
			last = reading;
	}
	return last;
}

/*
 * By how much a count rose over a space's life, as far as it is told; else false. Sets *batched
 * where that lacks what threads have not added to it yet.
 */
static bool find_rise(const struct mt_residence *r, uint32_t index, uint32_t member, uint64_t until,
		      int64_t *out, bool *batched)
{
	const struct mt_book *book = r->books.items[index];
	int32_t pid = book->space->pid;
	const struct mt_page_reading *from = mt_residence_reading(r, pid, member),
				     *to = last_reading(r, pid, member, until);
	bool is_new = mt_residence_born(book->space);

	for (size_t i = 0; (!to || to->time < book->touched) && i < r->counts.count; i++) {
		const struct mt_page_counts *counts = &r->counts.items[i];

		if (counts->book != index + 1 || !counts->seen[member])
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
 * The same of all members, by what smaps_rollup said at both ends: it walks the pages, so that
 * nothing is behind.
 */
static bool find_whole(const struct mt_residence *r, uint32_t index, uint64_t until, int64_t *out)
{
	const struct mt_book *book = r->books.items[index];
	int32_t pid = book->space->pid;
	const struct mt_page_reading *from = mt_residence_reading(r, pid, MT_PAGES_WHOLE),
				     *to = last_reading(r, pid, MT_PAGES_WHOLE, until);
	bool is_new = mt_residence_born(book->space);

	if (!to || to->time < book->touched || (!is_new && from == to))
		return false;
	*out = to->pages - (is_new ? 0 : from->pages);
	return true;
}

/* The sum of what is told of each member. */
static bool find_sum(const struct mt_residence *r, uint32_t index, uint64_t until, int64_t *out)
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

/* What the counts say beyond the pages that were touched is nobody's. */
static bool put_rest(struct mt_residence *r, const struct mt_ledger *ledger, uint32_t index,
		     uint64_t until)
{
	struct mt_book *book = r->books.items[index];
	int64_t sum;
	uint32_t id;

	if (!book->touched ||
	    (!find_whole(r, index, until, &sum) && !find_sum(r, index, until, &sum)) ||
	    sum == book->total)
		return true;
	id = mt_residence_cause(r, ledger, index, book->origin, MT_ORIGIN_UNSEEN,
				MT_PAGES_ANONYMOUS);
	if (!id)
		return false;
	mt_residence_hold(r, index, id, sum - book->total);
	return true;
}

static bool stood(void *context, const struct mt_ledger *ledger,
		  const struct mt_ledger_space *space, const struct mt_extents *regions,
		  uint64_t time)
{
	struct mt_residence *r = context;
	uint32_t index = mt_residence_book(r, space);

	(void)regions;
	mt_residence_note(r, ledger, time);
	if (index == UINT32_MAX ||
	    (!r->each && !r->options.peak &&
	     !put_rest(r, ledger, index, space->ended || r->options.moment ? time : UINT64_MAX)))
		return false;
	if (r->untold)
		return false;
	r->books.items[index]->closed = true;
	mt_page_map_deinit(&r->books.items[index]->map);
	/* The kernel may use its name again. */
	for (size_t i = 0; i < r->counts.count; i++) {
		if (r->counts.items[i].book == index + 1)
			r->counts.items[i] = (struct mt_page_counts){0};
	}
	return true;
}

static bool gauged(void *context, uint32_t recording, const struct mt_gauge_record *gauge)
{
	static const char *const names[MT_PAGES_READ] = {
		[MT_PAGES_FILE] = "RssFile",	       [MT_PAGES_ANONYMOUS] = "RssAnon",
		[MT_PAGES_SWAPPED] = "VmSwap",	       [MT_PAGES_SHM] = "RssShmem",
		[MT_PAGES_WHOLE] = "smaps_rollup Rss",
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
		return true;
	reading = mt_array_push(&r->readings);
	if (reading)
		*reading = (struct mt_page_reading){gauge->pid, member, gauge->after,
						    (int64_t)(gauge->value >> MT_PAGE_SHIFT)};
	return reading;
}

void mt_residence_listen(struct mt_residence *residence, struct mt_ledger_options *options)
{
	options->change = change;
	options->stood = stood;
	options->touched = touched;
	options->counted = mt_residence_counted;
	options->moved = moved;
	options->gauged = gauged;
	options->context = residence;
}
