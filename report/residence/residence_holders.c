/*
 * Address spaces and their holders, pages taken from holders, and the final holdings. When a range
 * is given back, its pages are taken from their holders immediately and given to the cause. The
 * kernel's count falls later, and takes them from the cause.
 */
#include <stdlib.h>
#include <string.h>

#include "report/residence/residence_parts.h"
#include "report/tables/byte_runs.h"

struct mt_residence *mt_residence_create(const struct mt_residence_options *options)
{
	struct mt_residence *r = mt_alloc(1, sizeof(*r));

	r->options = *options;
	r->recording = UINT32_MAX;
	r->keys = mt_byte_runs_create();
	mt_array_push(&r->holders); /* holder 0 means no holder */
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
		mt_array_deinit(&r->books.items[i]->counts);
		free(r->books.items[i]);
	}
	mt_array_deinit(&r->books);
	mt_array_deinit(&r->holders);
	mt_byte_runs_destroy(r->keys);
	mt_map64_deinit(&r->by_space);
	free(r);
}

void mt_residence_begin(struct mt_residence *r, uint32_t recording)
{
	if (recording == r->recording)
		return;
	forget_recording(r);
	r->recording = recording;
	r->each_known = false;
}

/* ---- Finding ---- */

/*
 * With options.as_read: time of the last reading of a process. UINT64_MAX without that option, or
 * if the process has only one reading.
 */
static uint64_t last_read(struct mt_residence *r, int32_t pid)
{
	const struct mt_page_reading *first =
		mt_residence_first_reading(r, pid, MT_PAGES_ANONYMOUS);
	const struct mt_page_reading *last =
		mt_residence_last_reading(r, pid, MT_PAGES_ANONYMOUS, UINT64_MAX);

	return r->options.as_read && first != last ? last->time : UINT64_MAX;
}

uint32_t mt_residence_book(struct mt_residence *r, const struct mt_ledger_space *space)
{
	uint64_t key = (uint64_t)(uintptr_t)space, index;
	struct mt_book *book;

	mt_residence_begin(r, space->recording);
	if (!r->each_known) {
		r->each_known = true;
		r->each = r->options.each(r->options.context, r->recording);
	}
	if (mt_map64_get(&r->by_space, key, &index))
		return (uint32_t)index;
	book = mt_alloc(1, sizeof(*book));
	book->space = space;
	book->read = last_read(r, space->pid);
	mt_map64_put(&r->by_space, key, r->books.count);
	mt_array_append(&r->books, book);
	return (uint32_t)r->books.count - 1;
}

struct mt_toucher *mt_residence_toucher(struct mt_residence *r, int32_t tid)
{
	return mt_map64_element(&r->by_tid, &r->touchers, (uint32_t)tid);
}

struct mt_page_counts *mt_residence_counts_of(struct mt_residence *r, uint64_t mm)
{
	return mt_map64_element(&r->by_mm, &r->counts, mm);
}

uint32_t mt_residence_holder(struct mt_residence *r, const struct mt_holder_key *key)
{
	uint32_t id = mt_byte_runs_intern(r->keys, key, sizeof(*key)) + 1;

	mt_array_at(&r->holders, id)->huge = key->huge;
	return id;
}

/* ---- Sums ---- */

static struct mt_holder *of_epoch(struct mt_residence *r, uint32_t book, uint32_t id)
{
	struct mt_holder *holder = &r->holders.items[id];

	if (holder->epoch != r->books.items[book]->epoch) {
		holder->epoch = r->books.items[book]->epoch;
		holder->since = holder->swapped_since = holder->count_since = 0;
	}
	return holder;
}

static void deliver(struct mt_residence *r, uint32_t id, int64_t pages, int64_t swapped,
		    int64_t count)
{
	struct mt_holding more;

	if (!r->options.held)
		return;
	more = mt_residence_get(r, id - 1);
	more.pages = pages;
	more.swapped = swapped;
	more.count = count;
	r->options.held(r->options.context, r->ledger, &more, r->now);
}

void mt_residence_hold(struct mt_residence *r, uint32_t book, uint32_t id, int64_t pages)
{
	struct mt_holder *holder = of_epoch(r, book, id);
	int64_t late = r->now > r->books.items[book]->read ? pages : 0;

	holder->pages += pages;
	holder->since += pages;
	holder->late += late;
	r->books.items[book]->late += late;
	r->books.items[book]->huge += holder->huge ? pages : 0;
	deliver(r, id, pages, 0, 0);
}

void mt_residence_count_changes(struct mt_residence *r, uint32_t book, uint32_t id, int64_t changes)
{
	struct mt_holder *holder = of_epoch(r, book, id);

	holder->count += changes;
	holder->count_since += changes;
	holder->count_late += r->now > r->books.items[book]->read ? changes : 0;
	deliver(r, id, 0, 0, changes);
}

void mt_residence_hold_swapped(struct mt_residence *r, uint32_t book, uint32_t id, int64_t pages)
{
	struct mt_holder *holder = of_epoch(r, book, id);

	holder->swapped += pages;
	holder->swapped_since += pages;
	holder->swapped_late += r->now > r->books.items[book]->read ? pages : 0;
	deliver(r, id, 0, pages, 0);
}

void mt_residence_note_total(struct mt_book *book, int64_t pages)
{
	book->total += pages;
	if (book->total > book->peak) {
		book->peak = book->total;
		book->epoch++;
	}
}

void mt_residence_note_pending(struct mt_residence *r, struct mt_toucher *toucher, uint32_t book,
			       int64_t pages)
{
	if (toucher->pending_book != book)
		toucher->pending = 0; /* for an earlier program, whose book has ended */
	toucher->pending_book = book;
	if (pages < -toucher->pending)
		pages = -toucher->pending;
	toucher->pending += pages;
	r->books.items[book]->pending += pages;
}

/* ---- Causes ---- */

static const uint8_t member_kinds[MT_PAGES_MEMBERS] = {
	[MT_PAGES_FILE] = MT_REGION_FILE,
	[MT_PAGES_ANONYMOUS] = MT_REGION_ANONYMOUS,
	[MT_PAGES_SWAPPED] = MT_REGION_ANONYMOUS,
	[MT_PAGES_SHM] = MT_REGION_SHM,
};

uint32_t mt_residence_cause(struct mt_residence *r, const struct mt_ledger *ledger, uint32_t book,
			    uint32_t origin, enum mt_origin_kind why, uint32_t member)
{
	const struct mt_region_attrs attrs = {.kind = member_kinds[member]};
	struct mt_holder_key key = {.book = book, .member = member};

	key.toucher = key.reserver = mt_ledger_because(ledger, origin, why);
	key.attrs = mt_attr_table_intern((struct mt_attr_table *)mt_ledger_attrs(ledger), &attrs);
	return mt_residence_holder(r, &key);
}

/* ---- Readings of /proc, and the kernel's counts ---- */

static int compare_readings(const void *a, const void *b)
{
	const struct mt_page_reading *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->member != y->member)
		return x->member < y->member ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Sorts the readings. Returns the number of readings before `key`. */
static size_t readings_before(struct mt_residence *r, const struct mt_page_reading *key)
{
	const size_t count = r->readings.count;

	if (!r->readings_sorted && count)
		qsort(r->readings.items, count, sizeof(*r->readings.items), compare_readings);
	r->readings_sorted = true;
	return mt_array_split(count, at, compare_readings(&r->readings.items[at], key) < 0);
}

static const struct mt_page_reading *reading_at(const struct mt_residence *r, size_t at,
						const struct mt_page_reading *key)
{
	const struct mt_page_reading *found =
		at < r->readings.count ? &r->readings.items[at] : NULL;

	return found && found->pid == key->pid && found->member == key->member ? found : NULL;
}

const struct mt_page_reading *mt_residence_first_reading(struct mt_residence *r, int32_t pid,
							 uint32_t member)
{
	const struct mt_page_reading key = {.pid = pid, .member = member};

	return reading_at(r, readings_before(r, &key), &key);
}

const struct mt_page_reading *mt_residence_last_reading(struct mt_residence *r, int32_t pid,
							uint32_t member, uint64_t until)
{
	const struct mt_page_reading key = {
		.pid = pid, .member = member, .time = until, .number = SIZE_MAX};
	size_t before = readings_before(r, &key);

	return before ? reading_at(r, before - 1, &key) : NULL;
}

void mt_residence_bind(struct mt_residence *r, struct mt_page_counts *counts, uint32_t book)
{
	mt_array_append(&r->books.items[book]->counts, (uint32_t)(counts - r->counts.items));
	counts->book = book + 1;
}

struct mt_page_counts *mt_residence_next_counts(struct mt_residence *r, uint32_t book, size_t *at)
{
	const struct mt_book *of = r->books.items[book];

	while (*at < of->counts.count) {
		struct mt_page_counts *counts = &r->counts.items[of->counts.items[(*at)++]];

		if (counts->book == book + 1)
			return counts;
	}
	return NULL;
}

bool mt_residence_born(const struct mt_ledger_space *space)
{
	return space->generation || (space->account && space->account->forked);
}

/* ---- Holdings ---- */

size_t mt_residence_count(const struct mt_residence *residence)
{
	return residence->holders.count - 1;
}

struct mt_holding mt_residence_get(const struct mt_residence *r, size_t index)
{
	size_t size;
	const struct mt_holder_key *key = mt_byte_runs_get(r->keys, (uint32_t)index, &size);
	const struct mt_holder *holder = &r->holders.items[index + 1];
	const struct mt_book *book = r->books.items[key->book];
	struct mt_holding out = {
		.space = book->space,
		.toucher = key->toucher,
		.reserver = key->reserver,
		.attrs = key->attrs,
		.pages = holder->pages,
		.swapped = holder->swapped,
		.count = holder->count,
		.huge = holder->huge,
	};

	if ((r->options.peak || (r->options.ended_at_peak && book->space->ended)) &&
	    holder->epoch == book->epoch) {
		out.pages -= holder->since;
		out.swapped -= holder->swapped_since;
		out.count -= holder->count_since;
	} else if (!book->space->ended) {
		out.pages -= holder->late;
		out.swapped -= holder->swapped_late;
		out.count -= holder->count_late;
	}
	return out;
}

/* ---- Pages given back ---- */

struct taking {
	struct mt_residence *r;
	const struct mt_ledger *ledger;
	uint32_t book, origin;
	enum mt_origin_kind why;
	uint32_t causes[MT_PAGES_MEMBERS]; /* holders, found on first use */
	int64_t pages;
};

static void take_pages(void *context, uint64_t page, uint64_t count, uint32_t holder)
{
	struct taking *taking = context;
	struct mt_residence *r = taking->r;
	size_t size;
	const struct mt_holder_key *key = mt_byte_runs_get(r->keys, holder - 1, &size);
	uint32_t *cause = &taking->causes[key->member];

	(void)page;
	mt_residence_hold(r, taking->book, holder, -(int64_t)count);
	taking->pages += (int64_t)count;
	if (!r->each)
		return;
	if (!*cause)
		*cause = mt_residence_cause(r, taking->ledger, taking->book, taking->origin,
					    taking->why, key->member);
	mt_residence_hold(r, taking->book, *cause, (int64_t)count);
}

/* The holder with the same key but small pages. Moves the pages of the run to it. */
static uint32_t holder_split(struct mt_residence *r, uint32_t book, const struct mt_page_run *run)
{
	size_t size;
	struct mt_holder_key key;
	uint32_t id;

	if (!r->holders.items[run->holder].huge)
		return run->holder;
	memcpy(&key, mt_byte_runs_get(r->keys, run->holder - 1, &size), sizeof(key));
	key.huge = false;
	id = mt_residence_holder(r, &key);
	mt_residence_hold(r, book, run->holder, -(int64_t)run->pages);
	mt_residence_hold(r, book, id, run->pages);
	return id;
}

void mt_residence_split(struct mt_residence *r, uint32_t book, uint64_t first, uint64_t end)
{
	struct mt_page_map *map = &r->books.items[book]->map;
	mt_page_runs runs = {0};

	mt_page_map_clear(map, first, end, mt_page_runs_add, &runs);
	for (size_t i = 0; i < runs.count; i++) {
		const struct mt_page_run *run = &runs.items[i];

		mt_page_map_fill(map, run->first, run->first + run->pages, run->pages,
				 holder_split(r, book, run));
	}
	mt_array_deinit(&runs);
}

static void split_around(struct mt_residence *r, uint32_t book, uint64_t first, uint64_t end)
{
	const uint64_t inside = MT_HUGE_PAGES - 1;

	if (r->books.items[book]->huge) {
		if (first & inside)
			mt_residence_split(r, book, first & ~inside, first);
		if (end & inside)
			mt_residence_split(r, book, end, (end | inside) + 1);
	}
}

void mt_residence_give_back(struct mt_residence *r, const struct mt_ledger *ledger, uint32_t book,
			    uint64_t first, uint64_t end, uint32_t origin, enum mt_origin_kind why)
{
	struct mt_book *of = r->books.items[book];
	struct taking taking = {
		.r = r, .ledger = ledger, .book = book, .origin = origin, .why = why};

	split_around(r, book, first, end);
	mt_page_map_clear(&of->map, first, end, take_pages, &taking);
	/* Without each change of the counts, no later record says that pages are gone. */
	if (!r->each)
		mt_residence_note_total(of, -taking.pages);
}
