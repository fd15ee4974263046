/*
 * Scans all entries, reading only the first bytes of each: even for the largest images that costs
 * less than finding a few hundred entries through the search table in .eh_frame_hdr and verifying
 * that table.
 */
#include "symbols/carried/skeleton_parts.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "symbols/carried/seen_code.h"
#include "symbols/carried/skeleton.h"
#include "symbols/elf/eh_frame_window.h"
#include "symbols/elf/elf_input.h"

/*
 * If no entry covers a place, the unwinder accepts a call to any uncovered address up to this
 * distance before the place. All entries in that range are kept, so that covered addresses are
 * known.
 */
#define UNREPORTED_SPAN ((uint64_t)64 << 10)
#define UNREPORTED_MAX ((size_t)1 << 20) /* units of places and these ranges */

#define KEPT_MAX ((size_t)32 << 20) /* bytes of entries; a larger result is not pruned */

struct fde {
	struct mt_frame_entry entry;
	struct mt_frame_code code;
};

struct plan {
	struct mt_made_bytes *out;
	uint64_t vaddr;	      /* address of the first byte */
	struct mt_map64 cies; /* offset in the section -> offset in out */
	struct mt_eh_frame_window entries;
	const struct mt_seen_code *seen;
	size_t next;		     /* index of the place found last */
	MT_ARRAY(struct fde) before; /* FDEs of code before places */
	uint8_t *reported;	     /* by place: a kept entry covers it */
	bool unsupported;	     /* an entry cannot be rewritten */
};

static void note_reported(struct plan *plan, uint64_t start, uint64_t end)
{
	const struct mt_seen_code *seen = plan->seen;

	for (size_t i = mt_seen_code_before(seen, start); i < seen->count && seen->units[i] < end;
	     i++)
		plan->reported[i] = 1;
}

/* Appends an entry unchanged. False out of memory. */
static bool append(struct plan *plan, const struct mt_frame_entry *entry)
{
	size_t size = entry->next - entry->offset, at = plan->out->count;

	plan->unsupported |= size > KEPT_MAX - at;
	if (plan->unsupported)
		return true;
	if (!mt_array_reserve(plan->out, at + size))
		return false;
	mt_frame_entry_copy(&plan->entries, entry, plan->out->items + at);
	plan->out->count += size;
	plan->unsupported |= mt_get_le32(plan->out->items + at) == UINT32_MAX;
	return true;
}

/* Appends the CIE at an offset unless it was appended before; *at: its offset in out. */
static bool append_cie(struct plan *plan, size_t offset, uint64_t *at)
{
	struct mt_frame_entry cie;

	if (mt_map64_get(&plan->cies, offset, at))
		return true;
	*at = plan->out->count;
	plan->unsupported |= !mt_frame_entry_read(&plan->entries, offset, &cie);
	return plan->unsupported || (append(plan, &cie) && mt_map64_put(&plan->cies, offset, *at));
}

/* Appends an FDE. Adjusts its offsets to its CIE and its code, which are relative to the FDE. */
static bool append_fde(struct plan *plan, const struct mt_frame_entry *entry,
		       const struct mt_frame_code *code)
{
	uint64_t cie, at, distance;
	uint8_t *fde;

	plan->unsupported |= !code->plain && !code->absolute;
	if (plan->unsupported)
		return true;
	if (!append_cie(plan, entry->cie_offset, &cie))
		return false;
	at = plan->out->count;
	distance = code->start - (plan->vaddr + at + 8);
	plan->unsupported |= code->plain && distance != (uint64_t)(int64_t)(int32_t)distance;
	if (plan->unsupported || !append(plan, entry) || plan->unsupported)
		return plan->unsupported;
	fde = plan->out->items + at;
	mt_put_le32(fde + 4, (uint32_t)(at + 4 - cie));
	if (code->plain)
		mt_put_le32(fde + 8, (uint32_t)distance);
	return true;
}

enum where {
	REPORTS,
	BEFORE,
	ELSEWHERE
};

/* The first place that ends after an address; addresses mostly ascend. */
static size_t next_place(struct plan *plan, uint64_t address)
{
	const struct mt_seen_code *seen = plan->seen;
	size_t i = plan->next;

	if ((i && seen->units[i - 1] + MT_SEEN_UNIT > address) ||
	    (i < seen->count && seen->units[i] + MT_SEEN_UNIT <= address))
		plan->next = mt_seen_code_before(seen, address);
	return plan->next;
}

/* Compares an FDE with the next place: covers it, ends shortly before it, or neither. */
static enum where where_is(struct plan *plan, const struct mt_frame_code *code)
{
	size_t next = next_place(plan, code->start);
	const uint64_t *unit = plan->seen->units + next;

	if (next == plan->seen->count || code->start == code->end)
		return ELSEWHERE;
	if (*unit < code->end)
		return REPORTS;
	return *unit - code->end < UNREPORTED_SPAN ? BEFORE : ELSEWHERE;
}

/* Keeps the FDEs that cover a place, and lists FDEs that end shortly before one. */
static bool keep_entries(struct plan *plan)
{
	struct mt_frame_entry entry;
	struct mt_frame_code code;
	bool good = true;

	for (size_t at = 0;
	     good && !plan->unsupported && mt_frame_entry_read(&plan->entries, at, &entry);
	     at = entry.next) {
		if (!mt_frame_code_read(&plan->entries, &entry, &code))
			continue;
		switch (where_is(plan, &code)) {
		case REPORTS:
			note_reported(plan, code.start, code.end);
			good = append_fde(plan, &entry, &code);
			break;
		case BEFORE:
			good = mt_array_append(&plan->before, (struct fde){entry, code});
			break;
		case ELSEWHERE:
			break;
		}
	}
	return good;
}

/* Keeps the listed FDEs that cover one of the places in `unreported`. */
static bool keep_before(struct plan *plan, const struct mt_seen_code *unreported)
{
	for (size_t i = 0; i < plan->before.count && !plan->unsupported; i++) {
		const struct fde *fde = &plan->before.items[i];

		if (mt_seen_code_within(unreported, fde->code.start, fde->code.end) &&
		    !append_fde(plan, &fde->entry, &fde->code))
			return false;
	}
	return true;
}

static void reverse(uint64_t *items, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		uint64_t item = items[i];

		items[i] = items[count - 1 - i];
		items[count - 1 - i] = item;
	}
}

/*
 * Lists the places, and all units of the range before each place that no entry covers. False out of
 * memory or if there are too many. The list equals the places if all are covered.
 */
static bool add_unreported(const struct plan *plan, uint64_t **units, size_t *count)
{
	const struct mt_seen_code *seen = plan->seen;
	MT_ARRAY(uint64_t) all = {0};
	uint64_t low = UINT64_MAX; /* units from here on are needed */

	for (size_t i = seen->count; i--;) {
		uint64_t unit = seen->units[i], from = unit;
		uint64_t below = i ? seen->units[i - 1] + MT_SEEN_UNIT : 0;

		if (!plan->reported[i])
			from = unit < UNREPORTED_SPAN ? 0 : unit - UNREPORTED_SPAN;
		low = from < low ? from : low;
		from = low > below ? low : below;
		if (!mt_array_reserve(&all, all.count + (unit - from) / MT_SEEN_UNIT + 1) ||
		    all.count > UNREPORTED_MAX) {
			mt_array_deinit(&all);
			return false;
		}
		for (; unit >= from && unit <= seen->units[i]; unit -= MT_SEEN_UNIT)
			all.items[all.count++] = unit;
	}
	reverse(all.items, all.count);
	*units = all.items;
	*count = all.count;
	return true;
}

/* Finds the entries to keep. False out of memory. */
static bool find_kept(struct plan *plan)
{
	MT_CLEANUP_FREE uint8_t *reported = calloc(1, plan->seen->count + 1);
	MT_CLEANUP_FREE uint64_t *units = NULL;
	struct mt_seen_code more = {0};

	plan->reported = reported;
	if (!reported || !keep_entries(plan))
		return false;
	plan->unsupported |= !add_unreported(plan, &units, &more.count);
	if (plan->unsupported || more.count == plan->seen->count)
		return true;
	more.units = units;
	return keep_before(plan, &more);
}

bool mt_pruned_eh_frame_make(struct mt_span span, const struct mt_seen_code *seen,
			     const struct mt_elf_input *input, struct mt_made_bytes *out, bool *all)
{
	MT_CLEANUP_FREE uint8_t *room = malloc(MT_FRAME_WINDOW);
	struct plan plan = {
		.out = out,
		.vaddr = span.vaddr,
		.entries = {.section.span = span, .input = input, .room = room},
		.seen = seen,
	};
	bool good = room && (!seen->count || find_kept(&plan));

	*all = plan.unsupported;
	mt_map64_deinit(&plan.cies);
	mt_array_deinit(&plan.before);
	return good;
}
