/* Adds and removes ranges, and applies found mappings and readings. effects.c applies calls. */
#include "report/account/account.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "report/account/account_parts.h"
#include "report/account/region_attrs.h"

struct mt_account *mt_account_create(struct mt_attr_table *attr_table,
				     const struct mt_account_sink *sink)
{
	struct mt_account *account = mt_alloc(1, sizeof(*account));

	account->attr_table = attr_table;
	account->sink = sink;
	account->regions = mt_extents_create();
	account->doubts = mt_extents_create();
	return account;
}

void mt_account_destroy(struct mt_account *account)
{
	if (!account)
		return;
	mt_extents_destroy(account->regions);
	mt_extents_destroy(account->doubts);
	mt_array_deinit(&account->scratch);
	free(account);
}

/* Removes regions that madvise(MADV_DONTFORK) keeps from children. */
static void drop_unforked(struct mt_account *account)
{
	const struct mt_extent *region = mt_extents_after(account->regions, 0);

	while (region) {
		uint64_t start = region->start, end = region->end;

		if ((mt_attrs_get(account->attr_table, region->attrs)->flags &
		     MT_REGION_NOT_FORKED))
			mt_extents_remove(account->regions, start, end, NULL);
		region = mt_extents_after(account->regions, end);
	}
}

struct mt_account *mt_account_fork(const struct mt_account *parent, uint64_t time)
{
	struct mt_account *child = mt_alloc(1, sizeof(*child));

	*child = *parent;
	memset(&child->scratch, 0, sizeof(child->scratch));
	child->forked = time;
	child->regions = mt_extents_copy(parent->regions);
	child->doubts = mt_extents_copy(parent->doubts);
	if (child->unforked)
		drop_unforked(child);
	return child;
}

void mt_account_emit(struct mt_account *account, const struct mt_change *change)
{
	account->sink->change(account->sink->context, account, change);
}

static void settle(struct mt_account *account, uint64_t start, uint64_t end)
{
	if (mt_extents_count(account->doubts))
		mt_extents_remove(account->doubts, start, end, NULL);
}

/* The removed parts are then in account->scratch. */
void mt_account_take(struct mt_account *account, uint64_t start, uint64_t end)
{
	account->scratch.count = 0;
	settle(account, start, end);
	mt_extents_remove(account->regions, start, end, &account->scratch);
}

void mt_account_remove(struct mt_account *account, uint64_t start, uint64_t end, uint64_t time,
		       uint32_t origin)
{
	mt_account_take(account, start, end);
	for (size_t i = 0; i < account->scratch.count; i++) {
		const struct mt_extent *gone = &account->scratch.items[i];

		mt_account_emit(account, &(struct mt_change){
						 .time = time,
						 .start = gone->start,
						 .end = gone->end,
						 .sign = -1,
						 .attrs = gone->attrs,
						 .origin = origin,
						 .reserved_by = gone->origin,
						 .reserved = gone->time,
					 });
	}
}

void mt_account_put(struct mt_account *account, const struct mt_extent *region)
{
	mt_extents_insert(account->regions, region);
	mt_account_emit(account, &(struct mt_change){
					 .time = region->time,
					 .start = region->start,
					 .end = region->end,
					 .sign = 1,
					 .attrs = region->attrs,
					 .origin = region->origin,
					 .reserved_by = region->origin,
					 .reserved = region->time,
				 });
}

void mt_account_add(struct mt_account *account, uint64_t start, uint64_t end,
		    const struct mt_region_attrs *attrs, uint64_t time, uint32_t origin)
{
	struct mt_extent region = {start, end, time,
				   mt_attr_table_intern(account->attr_table, attrs), origin};

	if (start >= end)
		return;
	settle(account, start, end);
	mt_account_put(account, &region);
}

void mt_account_doubt(struct mt_account *account, uint64_t start, uint64_t end, uint64_t time)
{
	if (start < end) {
		mt_extents_remove(account->doubts, start, end, NULL);
		mt_extents_insert(account->doubts, &(struct mt_extent){start, end, time, 0, 0});
	}
}

uint64_t mt_account_doubtful(const struct mt_account *account, uint64_t start, uint64_t end)
{
	const struct mt_extent *doubt;
	uint64_t sum = 0;

	while (start < end && (doubt = mt_extents_after(account->doubts, start)) &&
	       doubt->start < end) {
		uint64_t from = doubt->start > start ? doubt->start : start,
			 to = doubt->end < end ? doubt->end : end;

		sum += to - from;
		start = to;
	}
	return sum;
}

/* ---- Mappings without a call ---- */

static struct mt_region_attrs attrs_of(const struct mt_account *account,
				       const struct mt_found *found)
{
	struct mt_file_identity file = mt_attr_table_file_get(account->attr_table, found->file);
	enum mt_region_kind kind = mt_region_kind_of(file.name, found->shared);
	bool has_offset = kind == MT_REGION_FILE || kind == MT_REGION_SHM;

	return (struct mt_region_attrs){
		.delta = has_offset ? found->offset - found->start : 0,
		.file = has_offset || kind == MT_REGION_VDSO ? found->file : MT_FILE_NONE,
		.prot = found->prot & 7,
		.kind = (uint8_t)kind,
		.flags = found->shared ? MT_REGION_SHARED : 0,
	};
}

/*
 * exec first maps the whole span of a file, then maps the file's other segments over it. No record
 * reports the parts of the first mapping that exec unmaps. So a later segment ends the first
 * mapping.
 */
static void clip_first(struct mt_account *account, const struct mt_region_attrs *attrs,
		       uint64_t start)
{
	const struct mt_region_attrs *first = mt_attrs_get(account->attr_table, account->first);
	const struct mt_extent *region;

	if (first->file != attrs->file)
		return;
	region = mt_extents_after(account->regions, start);
	while (region && region->attrs == account->first) {
		uint64_t from = region->start > start ? region->start : start, to = region->end;

		mt_account_remove(account, from, to, region->time, region->origin);
		region = mt_extents_after(account->regions, to);
	}
}

/* Applies a file mapping by exec. */
static void replace(struct mt_account *account, const struct mt_found *found,
		    const struct mt_region_attrs *attrs)
{
	if (account->has_first)
		clip_first(account, attrs, found->start);
	if (!account->has_first ||
	    mt_attrs_get(account->attr_table, account->first)->file != attrs->file) {
		account->first = mt_attr_table_intern(account->attr_table, attrs);
		account->has_first = true;
	}
	mt_account_remove(account, found->start, found->end, found->time, found->origin);
	mt_account_add(account, found->start, found->end, attrs, found->time, found->origin);
}

/* True if a region may be the mapping in the record, with a different protection. */
static bool same_thing(const struct mt_region_attrs *a, const struct mt_region_attrs *b)
{
	if (a->kind == MT_REGION_FILE || b->kind == MT_REGION_FILE)
		return a->kind == b->kind && a->file == b->file && a->delta == b->delta;
	return (a->flags & MT_REGION_SHARED) == (b->flags & MT_REGION_SHARED);
}

/* Gives the new protection to known pieces; gaps between them are new mappings. */
static void fill_in(struct mt_account *account, const struct mt_found *found,
		    const struct mt_region_attrs *attrs)
{
	mt_extent_list known = {0};
	uint64_t at = found->start;
	struct mt_region_attrs gap = *attrs;

	mt_extents_list(account->regions, found->start, found->end, &known);
	for (size_t i = 0; i < known.count; i++) {
		struct mt_region_attrs was =
			*mt_attrs_get(account->attr_table, known.items[i].attrs);

		if (same_thing(&was, attrs))
			gap.kind = was.kind; /* a stack that grew keeps its name */
	}
	for (size_t i = 0; i < known.count; i++) {
		struct mt_extent piece = known.items[i];
		struct mt_region_attrs was = *mt_attrs_get(account->attr_table, piece.attrs);

		mt_account_add(account, at, piece.start, &gap, found->time, found->origin);
		at = piece.end;
		if (same_thing(&was, attrs) && was.prot == attrs->prot)
			continue;
		if (same_thing(&was, attrs)) {
			was.prot = attrs->prot;
			piece.attrs = mt_attr_table_intern(account->attr_table, &was);
			mt_account_take(account, piece.start, piece.end);
			mt_extents_insert(account->regions, &piece);
		} else {
			mt_account_remove(account, piece.start, piece.end, found->time,
					  found->origin);
			mt_account_add(account, piece.start, piece.end, attrs, found->time,
				       found->origin);
		}
	}
	mt_account_add(account, at, found->end, &gap, found->time, found->origin);
	mt_array_deinit(&known);
}

void mt_account_found(struct mt_account *account, const struct mt_found *found)
{
	struct mt_region_attrs attrs = attrs_of(account, found);

	/*
	 * Without an event for the end of exec, a region that grew has one record, of its whole
	 * range.
	 */
	if (found->exec && attrs.kind == MT_REGION_FILE)
		replace(account, found, &attrs);
	else
		fill_in(account, found, &attrs);
}

/* ---- Readings ---- */

/* Applies one line of a reading; `old` are the regions that the account had there. */
static void confirm(struct mt_account *account, const struct mt_reading_piece *piece,
		    const struct mt_extent *line, const mt_extent_list *old)
{
	const struct mt_region_attrs *attrs = mt_attrs_get(account->attr_table, line->attrs);
	uint64_t at = line->start;

	for (size_t i = 0; i < old->count; i++) {
		struct mt_extent was = old->items[i];
		const struct mt_region_attrs *known = mt_attrs_get(account->attr_table, was.attrs);

		was.start = was.start > at ? was.start : at;
		was.end = was.end < line->end ? was.end : line->end;
		if (was.start >= was.end || !same_thing(known, attrs))
			continue;
		mt_account_add(account, at, was.start, attrs, piece->time, piece->origin);
		/* Only the mmap call shows that a region is a thread's stack. */
		if (known->kind != MT_REGION_THREAD_STACK || known->prot != attrs->prot)
			was.attrs = line->attrs;
		mt_extents_insert(account->regions, &was);
		at = was.end;
	}
	mt_account_add(account, at, line->end, attrs, piece->time, piece->origin);
}

/* Known regions that the reading does not confirm were unmapped by an unseen call. */
static void report_gone(struct mt_account *account, const struct mt_reading_piece *piece,
			const mt_extent_list *old)
{
	mt_extent_list now = {0};

	for (size_t i = 0; i < old->count; i++) {
		const struct mt_extent *was = &old->items[i];
		uint64_t at = was->start;

		now.count = 0;
		mt_extents_list(account->regions, was->start, was->end, &now);
		for (size_t k = 0; k <= now.count; k++) {
			bool last = k == now.count;
			bool kept = !last && now.items[k].time == was->time &&
				    now.items[k].origin == was->origin;
			uint64_t to = last ? was->end : now.items[k].start;
			struct mt_change gone = {
				.time = piece->time,
				.start = at,
				.end = kept || last ? to : now.items[k].end,
				.sign = -1,
				.attrs = was->attrs,
				.origin = piece->origin,
				.reserved_by = was->origin,
				.reserved = was->time,
			};

			if (gone.start < gone.end)
				mt_account_emit(account, &gone);
			if (!last)
				at = now.items[k].end;
		}
	}
	mt_array_deinit(&now);
}

/*
 * Takes the heap's end from a line of the heap. The heap may have several lines and ends where the
 * last one does. Before a second reading, the result of a brk call is newer than the reading.
 */
static void note_heap(struct mt_account *account, uint64_t end, bool again)
{
	if (again ? mt_page_up(account->brk) != end : !account->brk_time)
		account->brk = end;
}

void mt_account_reading(struct mt_account *account, const struct mt_reading_piece *piece)
{
	mt_extent_list old = {0};

	settle(account, piece->start, piece->end);
	mt_extents_remove(account->regions, piece->start, piece->end, &old);
	for (size_t i = 0; i < piece->count; i++) {
		const struct mt_extent *line = &piece->lines[i];

		if (mt_attrs_get(account->attr_table, line->attrs)->kind == MT_REGION_SHM &&
		    line->end - line->start > account->shm_span)
			account->shm_span = line->end - line->start;
		confirm(account, piece, line, &old);
		if (mt_attrs_get(account->attr_table, line->attrs)->kind == MT_REGION_HEAP)
			note_heap(account, line->end, piece->again);
	}
	report_gone(account, piece, &old);
	mt_array_deinit(&old);
}
