/*
 * What page events and changes of regions mean for who holds which page. A page is taken from its
 * holder when its range is given back; by how many pages the kernel's count falls then is told
 * apart, and the difference of both stays with the cause.
 */
#include "report/ledger/residence.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/record.h"
#include "report/ledger/page_map.h"
#include "report/sequences.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum {
	PAGE_SHIFT = 12,
	PAGE = 1 << PAGE_SHIFT,
	HUGE_PAGES = 512,  /* of a huge page */
	LARGE_PAGES = 4,   /* of the smallest folio between */
	AROUND_PAGES = 16, /* that the kernel maps around a fault in a file */
	NONE = 0,	   /* no holder */
};

/* An address space's pages. */
struct book {
	const struct mt_ledger_space *space;
	struct mt_page_map map;
	bool closed;
	int64_t total, peak; /* pages */
	uint32_t epoch;	     /* of the peak */
};

/* What holds pages: interned, its number is the holder in page maps. */
struct holder_key {
	uint32_t book, toucher, reserver, nature;
	uint32_t member; /* what the kernel counts it as */
};

struct holder {
	int64_t pages, swapped, count;
	int64_t since, swapped_since, count_since; /* the peak of that epoch */
	uint32_t epoch;
};

/* The kernel's counts of one address space, in pages. */
struct counts {
	uint32_t book; /* index + 1, or 0: not known whose */
	bool seen[MT_PAGES_MEMBERS];
	int64_t value[MT_PAGES_MEMBERS];
	uint64_t time; /* of the last */
};

/* What /proc said first of a process's counts. */
struct reading {
	int32_t pid;
	uint32_t member;
	uint64_t time;
	int64_t pages;
};

/* What a thread did last. */
struct toucher {
	bool faulting; /* and the fault may have changes to come */
	uint32_t book; /* index, of the fault */
	uint64_t page, time;
	struct holder_key key; /* of who holds its page, but for the member */
	uint32_t given;	       /* members that the fault has added to: bits */
	uint64_t advised;      /* when the madvise call began whose pages are taken already */
	uint64_t from, to;     /* pages added last by a call of it */
};

struct mt_residence {
	struct mt_residence_options options;
	MT_ARRAY(struct book *) books;
	struct mt_sequences *keys;
	MT_ARRAY(struct holder) holders; /* by id in keys + 1 */
	struct mt_map64 by_space;	 /* address of a ledger's space to index in books */
	/* Of the present recording: */
	uint32_t recording;
	bool each, each_known;
	struct mt_map64 by_mm;	/* to index in counts */
	struct mt_map64 by_tid; /* to index in touchers */
	MT_ARRAY(struct counts) counts;
	MT_ARRAY(struct toucher) touchers;
	MT_ARRAY(struct reading) readings;
};

struct mt_residence *mt_residence_create(const struct mt_residence_options *options)
{
	struct mt_residence *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->options = *options;
	r->recording = UINT32_MAX;
	r->keys = mt_sequences_create();
	/* Holder 0 is nobody. */
	if (!r->keys || !mt_array_push(&r->holders)) {
		mt_residence_destroy(r);
		return NULL;
	}
	return r;
}

static void forget_recording(struct mt_residence *r)
{
	mt_map64_deinit(&r->by_mm);
	mt_map64_deinit(&r->by_tid);
	mt_array_deinit(&r->counts);
	mt_array_deinit(&r->touchers);
	mt_array_deinit(&r->readings);
}

void mt_residence_destroy(struct mt_residence *r)
{
	if (!r)
		return;
	forget_recording(r);
	for (size_t i = 0; i < r->books.count; i++) {
		mt_page_map_deinit(&r->books.items[i]->map);
		free(r->books.items[i]);
	}
	mt_array_deinit(&r->books);
	mt_array_deinit(&r->holders);
	mt_sequences_destroy(r->keys);
	mt_map64_deinit(&r->by_space);
	free(r);
}

static void begin_recording(struct mt_residence *r, uint32_t recording)
{
	if (recording == r->recording)
		return;
	forget_recording(r);
	r->recording = recording;
	r->each_known = false;
}

/* ---- Finding ---- */

/* Index of the space's book, made where it is new; UINT32_MAX out of memory. */
static uint32_t book_of(struct mt_residence *r, const struct mt_ledger_space *space)
{
	uint64_t key = (uint64_t)(uintptr_t)space, index;
	struct book *book, **slot;

	begin_recording(r, space->recording);
	if (!r->each_known) {
		r->each_known = true;
		r->each = r->options.each(r->options.context, r->recording);
	}
	if (mt_map64_get(&r->by_space, key, &index))
		return (uint32_t)index;
	book = calloc(1, sizeof(*book));
	slot = book ? mt_array_push(&r->books) : NULL;
	if (!slot) {
		free(book);
		return UINT32_MAX;
	}
	*slot = book;
	book->space = space;
	index = r->books.count - 1;
	return mt_map64_put(&r->by_space, key, index) ? (uint32_t)index : UINT32_MAX;
}

/* NULL out of memory; holds until the next one is made. */
static struct toucher *toucher_of(struct mt_residence *r, int32_t tid)
{
	uint64_t index;

	if (mt_map64_get(&r->by_tid, (uint32_t)tid, &index))
		return &r->touchers.items[index];
	if (!mt_map64_put(&r->by_tid, (uint32_t)tid, r->touchers.count))
		return NULL;
	return mt_array_push(&r->touchers);
}

/* The same. */
static struct counts *counts_of(struct mt_residence *r, uint32_t mm)
{
	uint64_t index;

	if (mt_map64_get(&r->by_mm, mm, &index))
		return &r->counts.items[index];
	if (!mt_map64_put(&r->by_mm, mm, r->counts.count))
		return NULL;
	return mt_array_push(&r->counts);
}

/* 0 out of memory. */
static uint32_t holder_of(struct mt_residence *r, const struct holder_key *key)
{
	uint32_t id = mt_sequences_intern(r->keys, key, sizeof(*key));

	if (id == MT_SEQUENCE_NONE)
		return NONE;
	return id + 1 < r->holders.count || mt_array_push(&r->holders) ? id + 1 : NONE;
}

/* ---- Adding up ---- */

static struct holder *of_epoch(struct mt_residence *r, uint32_t book, uint32_t id)
{
	struct holder *holder = &r->holders.items[id];

	if (holder->epoch != r->books.items[book]->epoch) {
		holder->epoch = r->books.items[book]->epoch;
		holder->since = holder->swapped_since = holder->count_since = 0;
	}
	return holder;
}

static void hold(struct mt_residence *r, uint32_t book, uint32_t id, int64_t pages)
{
	struct holder *holder = of_epoch(r, book, id);

	holder->pages += pages;
	holder->since += pages;
}

static void count_change(struct mt_residence *r, uint32_t book, uint32_t id)
{
	struct holder *holder = of_epoch(r, book, id);

	holder->count++;
	holder->count_since++;
}

static void hold_swapped(struct mt_residence *r, uint32_t book, uint32_t id, int64_t pages)
{
	struct holder *holder = of_epoch(r, book, id);

	holder->swapped += pages;
	holder->swapped_since += pages;
}

/* When a change has been put down to its holders. */
static void note_total(struct book *book, int64_t pages)
{
	book->total += pages;
	if (book->total > book->peak) {
		book->peak = book->total;
		book->epoch++;
	}
}

/* ---- Causes ---- */

static const uint8_t member_kinds[MT_PAGES_MEMBERS] = {
	[MT_PAGES_FILE] = MT_REGION_FILE,
	[MT_PAGES_ANONYMOUS] = MT_REGION_ANONYMOUS,
	[MT_PAGES_SWAPPED] = MT_REGION_ANONYMOUS,
	[MT_PAGES_SHM] = MT_REGION_SHM,
};

/* What of a book came or went for a reason, by the task of `origin`; 0 out of memory. */
static uint32_t cause(struct mt_residence *r, const struct mt_ledger *ledger, uint32_t book,
		      uint32_t origin, enum mt_origin_kind why, uint32_t member)
{
	const struct mt_nature nature = {.kind = member_kinds[member]};
	struct holder_key key = {.book = book, .member = member};

	key.toucher = key.reserver = mt_ledger_because(ledger, origin, why);
	key.nature = mt_natures_intern((struct mt_natures *)mt_ledger_natures(ledger), &nature);
	return key.toucher == UINT32_MAX || key.nature == UINT32_MAX ? NONE : holder_of(r, &key);
}

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
	const struct holder_key *key = mt_sequences_get(taking->r->keys, holder - 1, &size);

	(void)page;
	hold(taking->r, taking->book, holder, -1);
	if (taking->r->each)
		hold(taking->r, taking->book, taking->causes[key->member], 1);
	taking->pages++;
	return true;
}

/* Takes a range from its holders; how many pages really were resident the counts tell. */
static bool give_back(struct mt_residence *r, const struct mt_ledger *ledger, uint32_t book,
		      uint64_t first, uint64_t end, uint32_t origin, enum mt_origin_kind why)
{
	struct book *of = r->books.items[book];
	struct taking taking = {.r = r, .book = book};

	for (uint32_t i = 0; i < MT_PAGES_MEMBERS; i++) {
		taking.causes[i] = cause(r, ledger, book, origin, why, i);
		if (!taking.causes[i])
			return false;
	}
	if (!mt_page_map_clear(&of->map, first, end, take_page, &taking))
		return false;
	/* Without counts the pages have gone, and nothing is to follow. */
	if (!r->each)
		note_total(of, -taking.pages);
	return true;
}

static bool change(void *context, const struct mt_ledger *ledger,
		   const struct mt_ledger_change *told)
{
	struct mt_residence *r = context;
	const struct mt_change *change = told->change;
	uint32_t book = book_of(r, told->space);
	struct toucher *toucher;

	if (book == UINT32_MAX)
		return false;
	if (r->books.items[book]->closed || !change->sign)
		return true;
	if (change->sign < 0)
		return give_back(r, ledger, book, change->start >> PAGE_SHIFT,
				 change->end >> PAGE_SHIFT, change->origin, MT_ORIGIN_UNMAPPED);
	toucher = toucher_of(r, told->origin->tid);
	if (!toucher)
		return false;
	toucher->from = change->start >> PAGE_SHIFT;
	toucher->to = change->end >> PAGE_SHIFT;
	return true;
}

static bool moved(void *context, const struct mt_ledger *ledger,
		  const struct mt_ledger_space *space, uint64_t from, uint64_t to, uint64_t size)
{
	struct mt_residence *r = context;
	uint32_t book = book_of(r, space);

	(void)ledger;
	return book != UINT32_MAX &&
	       mt_page_map_move(&r->books.items[book]->map, from >> PAGE_SHIFT, to >> PAGE_SHIFT,
				size >> PAGE_SHIFT);
}

/* ---- Touching ---- */

static bool find_key(struct mt_residence *r, const struct mt_ledger *ledger, uint32_t book,
		     const struct mt_ledger_touch *touch, struct holder_key *out)
{
	const struct mt_account *account = touch->space->account;
	const struct mt_extent *region = mt_extents_after(account->regions, touch->address);
	const struct mt_nature unknown = {.kind = MT_REGION_ANONYMOUS};
	struct holder_key key = {
		.book = book, .toucher = touch->origin, .member = MT_PAGES_ANONYMOUS};

	(void)r;
	if (region && region->start <= touch->address) {
		key.reserver = region->origin;
		key.nature = region->nature;
	} else {
		key.reserver = mt_ledger_because(ledger, touch->origin, MT_ORIGIN_BEFORE);
		key.nature =
			mt_natures_intern((struct mt_natures *)mt_ledger_natures(ledger), &unknown);
	}
	*out = key;
	return key.reserver != UINT32_MAX && key.nature != UINT32_MAX;
}

/* Without counts: distinct pages, each once. */
static bool touch_pages(struct mt_residence *r, uint32_t book, uint32_t holder, uint64_t page,
			uint64_t count)
{
	struct book *of = r->books.items[book];

	if (!holder)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if (mt_page_map_get(&of->map, page + i))
			continue;
		if (!mt_page_map_set(&of->map, page + i, holder))
			return false;
		hold(r, book, holder, 1);
		note_total(of, 1);
	}
	return true;
}

static bool touched(void *context, const struct mt_ledger *ledger,
		    const struct mt_ledger_touch *touch)
{
	struct mt_residence *r = context;
	uint32_t book = book_of(r, touch->space);
	struct toucher *toucher = toucher_of(r, touch->tid);
	uint64_t page = touch->address >> PAGE_SHIFT;

	if (book == UINT32_MAX || !toucher)
		return false;
	if (r->books.items[book]->closed)
		return true;
	if (touch->order) {
		uint64_t count = 1ull << touch->order;

		return r->each || !toucher->faulting || toucher->book != book ||
		       touch_pages(r, book, holder_of(r, &toucher->key),
				   toucher->page & ~(count - 1), count);
	}
	toucher->faulting = true;
	toucher->book = book;
	toucher->page = page;
	toucher->time = touch->time;
	toucher->given = 0;
	return find_key(r, ledger, book, touch, &toucher->key) &&
	       (r->each || touch_pages(r, book, holder_of(r, &toucher->key), page, 1));
}

/* ---- Counts ---- */

/* A change of a count, and whose. */
struct step {
	const struct mt_ledger *ledger;
	const struct mt_ledger_count *told;
	uint32_t book, member;
	int64_t pages;
	uint64_t last; /* when the same address space's counts changed before */
};

static bool put_down(struct mt_residence *r, const struct step *step, enum mt_origin_kind why,
		     int64_t pages)
{
	uint32_t id = cause(r, step->ledger, step->book, step->told->origin, why, step->member);

	if (!id)
		return false;
	hold(r, step->book, id, pages);
	if (pages > 0)
		count_change(r, step->book, id);
	return true;
}

/* A page that had gone from its holder unseen, or has now, is nobody's again. */
static bool take_one(struct mt_residence *r, const struct step *step, uint64_t page,
		     enum mt_origin_kind why)
{
	struct mt_page_map *map = &r->books.items[step->book]->map;
	uint32_t holder = mt_page_map_get(map, page);

	if (!holder)
		return true;
	hold(r, step->book, holder, -1);
	return mt_page_map_set(map, page, NONE) && put_down(r, step, why, 1);
}

/* The range of pages that a fault added `count` of. */
static void range_of_fault(const struct toucher *toucher, uint32_t member, uint64_t count,
			   uint64_t *from, uint64_t *to)
{
	uint64_t size = 1;

	while (size < count)
		size *= 2;
	if (member != MT_PAGES_ANONYMOUS && size < AROUND_PAGES && count > 1)
		size = AROUND_PAGES;
	*from = toucher->page & ~(size - 1);
	*to = *from + size;
}

/* `count` pages of a range that nobody holds, the fault's own first, become the holder's. */
static bool give_pages(struct mt_residence *r, uint32_t book, uint32_t holder, uint64_t from,
		       uint64_t to, uint64_t count)
{
	struct mt_page_map *map = &r->books.items[book]->map;

	for (; from < to && count; from++) {
		if (mt_page_map_get(map, from))
			continue;
		if (!mt_page_map_set(map, from, holder))
			return false;
		count--;
	}
	return true;
}

/*
 * How much of a step is a fault's own. The kernel sums up its count over the CPUs for each event,
 * so that of threads that fault at the same time one may show the other's page too, or again: an
 * anonymous page is told from those by its sizes, 4 KiB or from 16 KiB on.
 */
static int64_t own_part(const struct step *step)
{
	int64_t pages = step->pages;

	if (step->member != MT_PAGES_ANONYMOUS)
		return pages < HUGE_PAGES ? pages : HUGE_PAGES;
	if (pages >= HUGE_PAGES)
		return HUGE_PAGES;
	return pages >= LARGE_PAGES && !(pages & (pages - 1)) ? pages : 1;
}

static bool fault_added(struct mt_residence *r, const struct step *step, struct toucher *toucher)
{
	int64_t own = own_part(step);
	uint64_t from, to;
	uint32_t holder;

	toucher->given |= 1u << step->member;
	toucher->key.member = step->member;
	holder = holder_of(r, &toucher->key);
	if (!holder)
		return false;
	if (!take_one(r, step, toucher->page, MT_ORIGIN_RECLAIMED) ||
	    !give_pages(r, step->book, holder, toucher->page, toucher->page + 1, 1))
		return false;
	range_of_fault(toucher, step->member, (uint64_t)own, &from, &to);
	if (!give_pages(r, step->book, holder, from, to, (uint64_t)own - 1))
		return false;
	hold(r, step->book, holder, own);
	count_change(r, step->book, holder);
	return own == step->pages || put_down(r, step, MT_ORIGIN_UNSEEN, step->pages - own);
}

/* A page of a file makes room for a copy of it; a huge one is split. */
static bool fault_took(struct mt_residence *r, const struct step *step,
		       const struct toucher *toucher)
{
	uint64_t page = toucher->page, end = page + 1;

	if (step->pages <= -HUGE_PAGES) {
		page &= ~(uint64_t)(HUGE_PAGES - 1);
		end = page + HUGE_PAGES;
	}
	for (; page < end; page++) {
		if (!take_one(r, step, page, MT_ORIGIN_REPLACED))
			return false;
	}
	return put_down(r, step, MT_ORIGIN_REPLACED, step->pages);
}

static bool call_added(struct mt_residence *r, const struct step *step, struct toucher *toucher)
{
	const struct mt_page_count *count = step->told->count;
	bool advice = count->call == MT_VM_MADVISE;
	enum mt_origin_kind why = advice && count->args[2] == MADV_COLLAPSE ? MT_ORIGIN_COLLAPSED
									    : MT_ORIGIN_POPULATED;
	uint64_t from = advice ? count->args[0] >> PAGE_SHIFT : toucher->from;
	uint64_t to = advice ? from + (count->args[1] >> PAGE_SHIFT) : toucher->to;
	uint32_t id = cause(r, step->ledger, step->book, step->told->origin, why, step->member);

	if (!id || !give_pages(r, step->book, id, from, to, (uint64_t)step->pages))
		return false;
	hold(r, step->book, id, step->pages);
	count_change(r, step->book, id);
	return true;
}

static bool advice_frees(uint64_t advice)
{
	return advice == MADV_DONTNEED || advice == MADV_DONTNEED_LOCKED || advice == MADV_REMOVE;
}

static bool call_took(struct mt_residence *r, const struct step *step, struct toucher *toucher)
{
	const struct mt_page_count *count = step->told->count;
	uint64_t from = count->args[0] >> PAGE_SHIFT;

	if (count->call != MT_VM_MADVISE)
		return put_down(r, step, MT_ORIGIN_UNMAPPED, step->pages);
	if (!advice_frees(count->args[2]))
		return put_down(r, step, MT_ORIGIN_RECLAIMED, step->pages);
	if (toucher->advised != count->enter) {
		toucher->advised = count->enter;
		if (!give_back(r, step->ledger, step->book, from,
			       from + (mt_page_up(count->args[1]) >> PAGE_SHIFT),
			       step->told->origin, MT_ORIGIN_ADVISED))
			return false;
	}
	return put_down(r, step, MT_ORIGIN_ADVISED, step->pages);
}

/* Neither a fault nor a call that is known. */
static enum mt_origin_kind why_loose(const struct step *step)
{
	if (mt_ledger_pages_lost(step->ledger, step->last, step->told->time))
		return MT_ORIGIN_LOST;
	if (!step->told->count->own)
		return step->pages > 0 ? MT_ORIGIN_COLLAPSED : MT_ORIGIN_RECLAIMED;
	if (step->pages > 0)
		return MT_ORIGIN_PINNED;
	return step->member == MT_PAGES_ANONYMOUS ? MT_ORIGIN_RECLAIMED : MT_ORIGIN_TRUNCATED;
}

static bool put_step(struct mt_residence *r, const struct step *step, struct toucher *toucher)
{
	const struct mt_page_count *count = step->told->count;
	bool fault = toucher->faulting && toucher->book == step->book && count->own &&
		     !(count->call && count->enter > toucher->time);
	bool given = toucher->given & 1u << step->member;
	/* A fault takes no anonymous page away. */
	bool rises = step->pages > 0 || (fault && !given && step->member == MT_PAGES_ANONYMOUS);

	if (fault && !(rises && given))
		return rises ? fault_added(r, step, toucher) : fault_took(r, step, toucher);
	if (!step->pages)
		return true;
	if (count->call && count->own)
		return rises ? call_added(r, step, toucher) : call_took(r, step, toucher);
	return put_down(r, step, why_loose(step), step->pages);
}

static bool put_swapped(struct mt_residence *r, const struct step *step)
{
	uint32_t id = cause(r, step->ledger, step->book, step->told->origin, MT_ORIGIN_RECLAIMED,
			    step->member);

	if (id)
		hold_swapped(r, step->book, id, step->pages);
	return id;
}

/* Whether all of a space's pages came within the recording. */
static bool born(const struct mt_ledger_space *space)
{
	return space->generation || (space->account && space->account->forked);
}

/* The counts turn out to be this book's: what they were before it ran is fork's or exec's. */
static bool bind(struct mt_residence *r, struct counts *counts, struct step *step)
{
	const struct mt_ledger_space *space = r->books.items[step->book]->space;
	bool is_new = born(space);
	enum mt_origin_kind why =
		space->account && space->account->forked ? MT_ORIGIN_FORKED : MT_ORIGIN_LOADED;

	if (counts->book)
		*counts = (struct counts){.time = counts->time};
	counts->book = step->book + 1;
	for (uint32_t i = 0; i < MT_PAGES_MEMBERS; i++) {
		int64_t pages = counts->value[i];

		if (counts->seen[i] && is_new && pages) {
			step->member = i;
			if (i == MT_PAGES_SWAPPED ? !put_swapped(r, step)
						  : !put_down(r, step, why, pages))
				return false;
			note_total(r->books.items[step->book], i == MT_PAGES_SWAPPED ? 0 : pages);
		}
		counts->seen[i] |= is_new;
	}
	return true;
}

static const struct reading *find_reading(const struct mt_residence *r, int32_t pid,
					  uint32_t member)
{
	for (size_t i = 0; i < r->readings.count; i++) {
		const struct reading *reading = &r->readings.items[i];

		if (reading->pid == pid && reading->member == member)
			return reading;
	}
	return NULL;
}

/* The first count that is seen of what was there before tells one page of a fault, no more. */
static int64_t first_step(const struct mt_residence *r, const struct step *step,
			  const struct toucher *toucher, int64_t now)
{
	const struct mt_page_count *count = step->told->count;
	const struct mt_ledger_space *space = r->books.items[step->book]->space;
	const struct reading *reading = find_reading(r, space->pid, count->member);

	if (reading && reading->time <= step->told->time)
		return now - reading->pages;
	return count->bytes && toucher->faulting && !count->call ? 1 : 0;
}

static bool apply(struct mt_residence *r, struct counts *counts, struct step *step,
		  struct toucher *toucher)
{
	struct book *book = r->books.items[step->book];
	int64_t now = (int64_t)(step->told->count->bytes >> PAGE_SHIFT);

	step->member = step->told->count->member;
	step->pages = counts->seen[step->member] ? now - counts->value[step->member]
						 : first_step(r, step, toucher, now);
	counts->seen[step->member] = true;
	counts->value[step->member] = now;
	counts->time = step->told->time;
	if (!r->each || (!step->pages && step->member != MT_PAGES_ANONYMOUS))
		return true;
	if (step->member == MT_PAGES_SWAPPED)
		return put_swapped(r, step);
	if (!put_step(r, step, toucher))
		return false;
	note_total(book, step->pages);
	return true;
}

static bool counted(void *context, const struct mt_ledger *ledger,
		    const struct mt_ledger_count *told)
{
	struct mt_residence *r = context;
	const struct mt_page_count *count = told->count;
	struct step step = {.ledger = ledger, .told = told, .book = book_of(r, told->space)};
	struct toucher *toucher = toucher_of(r, told->tid);
	struct counts *counts = counts_of(r, count->mm);

	if (step.book == UINT32_MAX || !toucher || !counts)
		return false;
	step.last = counts->time;
	if (!count->own && !counts->book) {
		counts->seen[count->member] = true;
		counts->value[count->member] = (int64_t)(count->bytes >> PAGE_SHIFT);
		counts->time = told->time;
		return true;
	}
	/* Who has let go of its own address space takes it down: it ends, or calls exec. */
	if (!count->own && counts->book == step.book + 1)
		r->books.items[step.book]->closed = true;
	if (count->own && counts->book != step.book + 1 && !bind(r, counts, &step))
		return false;
	step.book = counts->book - 1;
	return r->books.items[step.book]->closed || apply(r, counts, &step, toucher);
}

static bool stood(void *context, const struct mt_ledger *ledger,
		  const struct mt_ledger_space *space, const struct mt_extents *regions,
		  uint64_t time)
{
	struct mt_residence *r = context;
	uint32_t index = book_of(r, space);

	(void)ledger, (void)regions, (void)time;
	if (index == UINT32_MAX)
		return false;
	r->books.items[index]->closed = true;
	mt_page_map_deinit(&r->books.items[index]->map);
	/* The kernel may use its name again. */
	for (size_t i = 0; i < r->counts.count; i++) {
		if (r->counts.items[i].book == index + 1)
			r->counts.items[i] = (struct counts){0};
	}
	return true;
}

static bool gauged(void *context, uint32_t recording, const struct mt_gauge_record *gauge)
{
	static const char *const names[MT_PAGES_MEMBERS] = {
		[MT_PAGES_FILE] = "RssFile",
		[MT_PAGES_ANONYMOUS] = "RssAnon",
		[MT_PAGES_SWAPPED] = "VmSwap",
		[MT_PAGES_SHM] = "RssShmem",
	};
	struct mt_residence *r = context;
	struct reading *reading;
	uint32_t member = 0;

	begin_recording(r, recording);
	while (member < MT_PAGES_MEMBERS &&
	       (gauge->name.size != strlen(names[member]) ||
		memcmp(gauge->name.bytes, names[member], gauge->name.size) != 0))
		member++;
	if (member == MT_PAGES_MEMBERS || find_reading(r, gauge->pid, member) || gauge->value >> 56)
		return true;
	reading = mt_array_push(&r->readings);
	if (reading)
		*reading = (struct reading){gauge->pid, member, gauge->after,
					    (int64_t)(gauge->value >> PAGE_SHIFT)};
	return reading;
}

void mt_residence_listen(struct mt_residence *residence, struct mt_ledger_options *options)
{
	options->change = change;
	options->stood = stood;
	options->touched = touched;
	options->counted = counted;
	options->moved = moved;
	options->gauged = gauged;
	options->context = residence;
}

/* ---- Telling ---- */

size_t mt_residence_count(const struct mt_residence *residence)
{
	return residence->holders.count - 1;
}

struct mt_holding mt_residence_get(const struct mt_residence *r, size_t index)
{
	size_t size;
	const struct holder_key *key = mt_sequences_get(r->keys, (uint32_t)index, &size);
	const struct holder *holder = &r->holders.items[index + 1];
	const struct book *book = r->books.items[key->book];
	struct mt_holding out = {
		.space = book->space,
		.toucher = key->toucher,
		.reserver = key->reserver,
		.nature = key->nature,
		.pages = holder->pages,
		.swapped = holder->swapped,
		.count = holder->count,
	};

	if (r->options.peak && holder->epoch == book->epoch) {
		out.pages -= holder->since;
		out.swapped -= holder->swapped_since;
		out.count -= holder->count_since;
	}
	return out;
}
