/* Adds and removes ranges, and applies found mappings and readings. effects.c applies calls. */
#include "report/account/account.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "report/account/account_parts.h"
#include "report/account/region_attrs.h"

struct mt_account *mt_account_create(struct mt_attr_table *attr_table,
				     const struct mt_account_sink *sink)
{
	struct mt_account *account = calloc(1, sizeof(*account));

	if (!account)
		return NULL;
	account->attr_table = attr_table;
	account->sink = sink;
	account->regions = mt_extents_create();
	account->doubts = mt_extents_create();
	if (!account->regions || !account->doubts) {
		mt_account_destroy(account);
		return NULL;
	}
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
static bool drop_unforked(struct mt_account *account)
{
	const struct mt_extent *region = mt_extents_after(account->regions, 0);

	while (region) {
		uint64_t start = region->start, end = region->end;

		if ((mt_attrs_get(account->attr_table, region->attrs)->flags &
		     MT_REGION_NOT_FORKED) &&
		    !mt_extents_remove(account->regions, start, end, NULL))
			return false;
		region = mt_extents_after(account->regions, end);
	}
	return true;
}

struct mt_account *mt_account_fork(const struct mt_account *parent, uint64_t time)
{
	struct mt_account *child = calloc(1, sizeof(*child));

	if (!child)
		return NULL;
	*child = *parent;
	memset(&child->scratch, 0, sizeof(child->scratch));
	child->forked = time;
	child->regions = mt_extents_copy(parent->regions);
	child->doubts = mt_extents_copy(parent->doubts);
	if (!child->regions || !child->doubts || (child->unforked && !drop_unforked(child))) {
		mt_account_destroy(child);
		return NULL;
	}
	return child;
}

bool mt_account_emit(struct mt_account *account, const struct mt_change *change)
{
	return account->sink->change(account->sink->context, account, change);
}

static bool settle(struct mt_account *account, uint64_t start, uint64_t end)
{
	return !mt_extents_count(account->doubts) ||
	       mt_extents_remove(account->doubts, start, end, NULL);
}

/* The removed pieces are then in account->scratch. */
bool mt_account_take(struct mt_account *account, uint64_t start, uint64_t end)
{
	account->scratch.count = 0;
	return settle(account, start, end) &&
	       mt_extents_remove(account->regions, start, end, &account->scratch);
}

bool mt_account_remove(struct mt_account *account, uint64_t start, uint64_t end, uint64_t time,
		       uint32_t origin)
{
	bool good = mt_account_take(account, start, end);

	for (size_t i = 0; good && i < account->scratch.count; i++) {
		const struct mt_extent *gone = &account->scratch.items[i];

		good = mt_account_emit(account, &(struct mt_change){
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
	return good;
}

bool mt_account_put(struct mt_account *account, const struct mt_extent *region)
{
	return mt_extents_insert(account->regions, region) &&
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

bool mt_account_add(struct mt_account *account, uint64_t start, uint64_t end,
		    const struct mt_region_attrs *attrs, uint64_t time, uint32_t origin)
{
	struct mt_extent region = {start, end, time,
				   mt_attr_table_intern(account->attr_table, attrs), origin};

	if (start >= end)
		return true;
	return region.attrs != UINT32_MAX && settle(account, start, end) &&
	       mt_account_put(account, &region);
}

bool mt_account_doubt(struct mt_account *account, uint64_t start, uint64_t end, uint64_t time)
{
	return start >= end ||
	       (mt_extents_remove(account->doubts, start, end, NULL) &&
		mt_extents_insert(account->doubts, &(struct mt_extent){start, end, time, 0, 0}));
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
static bool clip_first(struct mt_account *account, const struct mt_region_attrs *attrs,
		       uint64_t start)
{
	const struct mt_region_attrs *first = mt_attrs_get(account->attr_table, account->first);
	const struct mt_extent *region;

	if (first->file != attrs->file)
		return true;
	region = mt_extents_after(account->regions, start);
	while (region && region->attrs == account->first) {
		uint64_t from = region->start > start ? region->start : start, to = region->end;

		if (!mt_account_remove(account, from, to, region->time, region->origin))
			return false;
		region = mt_extents_after(account->regions, to);
	}
	return true;
}

/* Applies a file mapping by exec. */
static bool replace(struct mt_account *account, const struct mt_found *found,
		    const struct mt_region_attrs *attrs)
{
	if (account->has_first && !clip_first(account, attrs, found->start))
		return false;
	if (!account->has_first ||
	    mt_attrs_get(account->attr_table, account->first)->file != attrs->file) {
		account->first = mt_attr_table_intern(account->attr_table, attrs);
		account->has_first = true;
		if (account->first == UINT32_MAX)
			return false;
	}
	return mt_account_remove(account, found->start, found->end, found->time, found->origin) &&
	       mt_account_add(account, found->start, found->end, attrs, found->time, found->origin);
}

/* True if a region may be the mapping in the record, with a different protection. */
static bool same_thing(const struct mt_region_attrs *a, const struct mt_region_attrs *b)
{
	if (a->kind == MT_REGION_FILE || b->kind == MT_REGION_FILE)
		return a->kind == b->kind && a->file == b->file && a->delta == b->delta;
	return (a->flags & MT_REGION_SHARED) == (b->flags & MT_REGION_SHARED);
}

/* Known pieces take the new protection; gaps between them are new mappings. */
static bool fill_in(struct mt_account *account, const struct mt_found *found,
		    const struct mt_region_attrs *attrs)
{
	mt_extent_list known = {0};
	uint64_t at = found->start;
	struct mt_region_attrs gap = *attrs;
	bool good = mt_extents_list(account->regions, found->start, found->end, &known);

	for (size_t i = 0; good && i < known.count; i++) {
		struct mt_region_attrs was =
			*mt_attrs_get(account->attr_table, known.items[i].attrs);

		if (same_thing(&was, attrs))
			gap.kind = was.kind; /* a stack that grew keeps its name */
	}
	for (size_t i = 0; good && i < known.count; i++) {
		struct mt_extent piece = known.items[i];
		struct mt_region_attrs was = *mt_attrs_get(account->attr_table, piece.attrs);

		good = mt_account_add(account, at, piece.start, &gap, found->time, found->origin);
		at = piece.end;
		if (!good || (same_thing(&was, attrs) && was.prot == attrs->prot))
			continue;
		if (same_thing(&was, attrs)) {
			was.prot = attrs->prot;
			piece.attrs = mt_attr_table_intern(account->attr_table, &was);
			good = piece.attrs != UINT32_MAX &&
			       mt_account_take(account, piece.start, piece.end) &&
			       mt_extents_insert(account->regions, &piece);
		} else {
			good = mt_account_remove(account, piece.start, piece.end, found->time,
						 found->origin) &&
			       mt_account_add(account, piece.start, piece.end, attrs, found->time,
					      found->origin);
		}
	}
	good = good && mt_account_add(account, at, found->end, &gap, found->time, found->origin);
	mt_array_deinit(&known);
	return good;
}

bool mt_account_found(struct mt_account *account, const struct mt_found *found)
{
	struct mt_region_attrs attrs = attrs_of(account, found);

	/*
	 * Without an event for the end of exec, a region that grew has a record of its whole range.
	 */
	return found->exec && attrs.kind == MT_REGION_FILE ? replace(account, found, &attrs)
							   : fill_in(account, found, &attrs);
}

/* ---- Readings ---- */

/* Applies one line of a reading; `old` are the regions that the account had there. */
static bool confirm(struct mt_account *account, const struct mt_reading_piece *piece,
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
		if (!mt_account_add(account, at, was.start, attrs, piece->time, piece->origin))
			return false;
		/* Only the call shows that a region is a thread's stack. */
		if (known->kind != MT_REGION_THREAD_STACK || known->prot != attrs->prot)
			was.attrs = line->attrs;
		if (!mt_extents_insert(account->regions, &was))
			return false;
		at = was.end;
	}
	return mt_account_add(account, at, line->end, attrs, piece->time, piece->origin);
}

/* Known regions that the reading does not confirm were unmapped by an unseen call. */
static bool report_gone(struct mt_account *account, const struct mt_reading_piece *piece,
			const mt_extent_list *old)
{
	mt_extent_list now = {0};
	bool good = true;

	for (size_t i = 0; good && i < old->count; i++) {
		const struct mt_extent *was = &old->items[i];
		uint64_t at = was->start;

		now.count = 0;
		good = mt_extents_list(account->regions, was->start, was->end, &now);
		for (size_t k = 0; good && k <= now.count; k++) {
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
				good = mt_account_emit(account, &gone);
			if (!last)
				at = now.items[k].end;
		}
	}
	mt_array_deinit(&now);
	return good;
}

/*
 * Notes a line of the heap. The heap may have several lines and ends where the last one does.
 * Before a second reading, the result of a brk call is newer than the reading.
 */
static void note_heap(struct mt_account *account, uint64_t end, bool again)
{
	if (again ? mt_page_up(account->brk) != end : !account->brk_time)
		account->brk = end;
}

bool mt_account_reading(struct mt_account *account, const struct mt_reading_piece *piece)
{
	mt_extent_list old = {0};
	bool good = settle(account, piece->start, piece->end) &&
		    mt_extents_remove(account->regions, piece->start, piece->end, &old);

	for (size_t i = 0; good && i < piece->count; i++) {
		const struct mt_extent *line = &piece->lines[i];

		if (mt_attrs_get(account->attr_table, line->attrs)->kind == MT_REGION_SHM &&
		    line->end - line->start > account->shm_span)
			account->shm_span = line->end - line->start;
		good = confirm(account, piece, line, &old);
		if (mt_attrs_get(account->attr_table, line->attrs)->kind == MT_REGION_HEAP)
			note_heap(account, line->end, piece->again);
	}
	good = good && report_gone(account, piece, &old);
	mt_array_deinit(&old);
	return good;
}
