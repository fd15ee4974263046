/*
 * Which entries these are the sorted table in .eh_frame_hdr tells soon; where there is none, or it
 * lies about one of them, and in small sections, all entries are gone through. Either way what is
 * kept was read, so that fillers and entries follow one another whatever the table says.
 */
#include "symbols/seen_frames.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "symbols/address_sort.h"
#include "symbols/frame_entries.h"
#include "symbols/seen_code.h"
#include "symbols/skeleton.h"

#define PIECE ((size_t)32 << 10) /* bytes that are looked at, and written, at a time */
#define PAIR 8			 /* bytes of a pair of the table */
#define PAIRS_AT 12		 /* offset of the first */

/*
 * Smaller sections are gone through even where there is a table: that is soon done, and entries
 * that the table leaves out are found, as readers do with small ones.
 */
#define SMALL ((size_t)128 << 10)

/* A CIE without augmentation, of which readers want no more than that it is one. */
static const uint8_t filler_head[] = {
	0,    0,  0, 0, /* its length */
	0,    0,  0, 0, /* a CIE */
	1,    0,  1,	/* version 1, "", code alignment 1 */
	0x78, 16,	/* data alignment -8, return address 16; then nops, which are zeros */
};

/*
 * Where code that no entry tells of calls from is told by what else no entry tells of, no further
 * before it: all entries that stand there are kept.
 */
#define UNTOLD_SPAN ((uint64_t)64 << 10)
#define UNTOLD_MAX ((size_t)1 << 20) /* units that this may come to */

#define FILLER_MIN sizeof(filler_head)
#define SECTION_MAX ((size_t)0xffffff00) /* more than a filler may have */
#define COPIES_MAX ((size_t)1 << 20)	 /* bytes of entries that are kept in memory */

/* While it is planned: the kept entries as from << 32 | to, in any order. */
struct plan {
	struct mt_seen_frames *out;
	struct mt_frame_entries entries;
	const struct mt_seen_code *seen;
	MT_ARRAY(uint64_t) kept;
	MT_ARRAY(uint8_t) pairs; /* a bit for each of the table whose entry is kept */
	uint8_t *told;		 /* NULL, or by place: an entry that is kept tells of it */
	bool lies;		 /* the table does */
};

void mt_seen_frames_deinit(struct mt_seen_frames *frames)
{
	mt_array_deinit(&frames->kept);
	mt_array_deinit(&frames->copied);
	mt_array_deinit(&frames->copies);
}

static bool keep_entry(struct plan *plan, size_t from, size_t to)
{
	if (!mt_array_reserve(&plan->kept, plan->kept.count + 1))
		return false;
	plan->kept.items[plan->kept.count++] = (uint64_t)from << 32 | to;
	return true;
}

static void note_told(struct plan *plan, uint64_t start, uint64_t end)
{
	const struct mt_seen_code *seen = plan->seen;

	if (!plan->told)
		return;
	for (size_t i = mt_seen_code_before(seen, start); i < seen->count && seen->units[i] < end;
	     i++)
		plan->told[i] = 1;
}

/* Its bytes are at hand now, and are all that will be written of what is around it. */
static bool copy_entry(struct plan *plan, const struct mt_frame_entry *entry)
{
	struct mt_seen_frames *out = plan->out;
	size_t size = entry->next - entry->offset, at = out->copies.count;
	const uint8_t *bytes = mt_frame_entry_bytes(&plan->entries, entry);
	struct mt_addressed *item;

	if (!bytes || size > COPIES_MAX - at)
		return true;
	item = mt_array_push(&out->copied);
	if (!item || !mt_array_reserve(&out->copies, at + size))
		return false;
	*item = (struct mt_addressed){entry->offset, (uint32_t)at};
	memcpy(out->copies.items + at, bytes, size);
	out->copies.count += size;
	return true;
}

/* Keeps an FDE that was read, with its CIE, where one of the places is in its code. */
static bool keep_fde(struct plan *plan, const struct mt_frame_entry *entry,
		     const struct mt_frame_code *code, bool *kept)
{
	*kept = mt_seen_code_within(plan->seen, code->start, code->end);
	if (!*kept)
		return true;
	note_told(plan, code->start, code->end);
	return copy_entry(plan, entry) && keep_entry(plan, entry->offset, entry->next) &&
	       keep_entry(plan, entry->cie_offset, code->cie_end);
}

static void forget_entries(struct plan *plan)
{
	plan->kept.count = 0;
	plan->out->copied.count = plan->out->copies.count = 0;
}

/* ---- By going through all ---- */

static bool walk(struct plan *plan)
{
	struct mt_frame_entry entry;
	struct mt_frame_code code;
	bool kept;

	forget_entries(plan);
	for (size_t at = 0; mt_frame_entry_read(&plan->entries, at, &entry); at = entry.next) {
		if (mt_frame_code_read(&plan->entries, &entry, &code) &&
		    !keep_fde(plan, &entry, &code, &kept))
			return false;
	}
	return true;
}

/* ---- By the table ---- */

struct table {
	struct mt_span hdr;
	size_t count;
	uint64_t frame; /* where .eh_frame is */
};

/* A pair of code that may have a place in it. */
struct candidate {
	uint64_t start;
	uint32_t pair;
};

/* Such pairs, and their FDEs' offsets, by index. */
struct candidates {
	MT_ARRAY(struct mt_addressed) offsets;
	MT_ARRAY(struct candidate) items;
};

/* The one form that linkers write; else there are no pairs. */
static struct table read_table(struct mt_elf *elf, struct mt_span frame,
			       const struct mt_skeleton_input *input)
{
	struct table table = {.hdr = mt_elf_section(elf, ".eh_frame_hdr"), .frame = frame.vaddr};
	static const uint8_t form[] = {1, 0x1b, 0x03, 0x3b};
	uint8_t room[PAIRS_AT];
	const uint8_t *head;
	size_t count;

	if (frame.size <= SMALL || !table.hdr.bytes || table.hdr.size < PAIRS_AT)
		return table;
	head = mt_skeleton_input_look(input, table.hdr, 0, PAIRS_AT, room);
	if (memcmp(head, form, sizeof(form)) != 0)
		return table;
	count = mt_get_le32(head + 8);
	table.count = count <= (table.hdr.size - PAIRS_AT) / PAIR ? count : 0;
	return table;
}

static uint64_t table_word(const struct table *table, const uint8_t *bytes)
{
	return table->hdr.vaddr + (uint64_t)(int64_t)(int32_t)mt_get_le32(bytes);
}

/* The pairs from the i-th on, a piece of them and the one behind. */
static const uint8_t *look_at_pairs(const struct plan *plan, const struct table *table, size_t i,
				    uint8_t *room)
{
	size_t at = PAIRS_AT + i * PAIR, left = table->hdr.size - at;

	return mt_skeleton_input_look(plan->entries.input, table->hdr, at,
				      left < PIECE + PAIR ? left : PIECE + PAIR, room);
}

static bool add_candidate(struct candidates *to, uint64_t start, size_t pair, uint64_t offset)
{
	struct mt_addressed *item = mt_array_push(&to->offsets);

	if (!item || !mt_array_reserve(&to->items, to->items.count + 1))
		return false;
	*item = (struct mt_addressed){offset, (uint32_t)to->items.count};
	to->items.items[to->items.count++] = (struct candidate){start, (uint32_t)pair};
	return true;
}

static bool is_kept(const struct plan *plan, size_t pair)
{
	return plan->pairs.items[pair / 8] >> pair % 8 & 1;
}

/*
 * Whether a function that starts there may have a place in it, where the next one starts at `next`:
 * the FDE says more.
 */
static bool may_have_place(const struct mt_seen_code *seen, size_t *unit, uint64_t start,
			   uint64_t next)
{
	while (*unit < seen->count && seen->units[*unit] + MT_SEEN_UNIT <= start)
		++*unit;
	return *unit < seen->count && seen->units[*unit] < (next > start ? next : start + 1);
}

/* Lists those of the table; plan->lies where it is not in order. False out of memory. */
static bool find_candidates(struct plan *plan, const struct table *table, struct candidates *out)
{
	MT_CLEANUP_FREE uint8_t *room = malloc(PIECE + PAIR);
	const uint8_t *pairs = NULL;
	uint64_t last = 0;
	size_t unit = 0;

	if (!room)
		return false;
	for (size_t i = 0; i < table->count; i++) {
		size_t in = i % (PIECE / PAIR) * PAIR;
		uint64_t start, next;

		if (!in)
			pairs = look_at_pairs(plan, table, i, room);
		start = table_word(table, pairs + in);
		next = i + 1 < table->count ? table_word(table, pairs + in + PAIR) : UINT64_MAX;
		plan->lies |= start < last;
		last = start;
		if (may_have_place(plan->seen, &unit, start, next) && !is_kept(plan, i) &&
		    !add_candidate(out, start, i, table_word(table, pairs + in + 4) - table->frame))
			return false;
	}
	return true;
}

/* Keeps one, where that is right; plan->lies where it is no FDE of that code. */
static bool check_candidate(struct plan *plan, uint64_t offset, const struct candidate *candidate)
{
	struct mt_frame_entry entry;
	struct mt_frame_code code;
	bool kept = false, good;

	if (!mt_frame_entry_read(&plan->entries, offset, &entry) ||
	    !mt_frame_code_read(&plan->entries, &entry, &code) || code.start != candidate->start) {
		plan->lies = true;
		return true;
	}
	good = keep_fde(plan, &entry, &code, &kept);
	plan->pairs.items[candidate->pair / 8] |= (uint8_t)(kept << candidate->pair % 8);
	return good;
}

static bool check_candidates(struct plan *plan, const struct candidates *candidates)
{
	size_t size = plan->entries.section.span.size;

	for (size_t i = 0; i < candidates->offsets.count && !plan->lies; i++) {
		const struct mt_addressed *item = &candidates->offsets.items[i];

		if (item->address >= size)
			plan->lies = true;
		else if (!check_candidate(plan, item->address,
					  &candidates->items.items[item->index]))
			return false;
	}
	return true;
}

/* Room for a bit for each pair; those that are set stay. */
static bool reserve_pairs(struct plan *plan, size_t count)
{
	size_t before = plan->pairs.count, bytes = count / 8 + 1;

	if (!mt_array_reserve(&plan->pairs, bytes))
		return false;
	if (bytes > before)
		memset(plan->pairs.items + before, 0, bytes - before);
	plan->pairs.count = bytes;
	return true;
}

/* Keeps those that are not kept yet. */
static bool look_up(struct plan *plan, const struct table *table)
{
	struct candidates candidates = {0};
	bool good = reserve_pairs(plan, table->count) &&
		    find_candidates(plan, table, &candidates) &&
		    (plan->lies ||
		     (mt_address_sort(candidates.offsets.items, candidates.offsets.count) &&
		      check_candidates(plan, &candidates)));

	mt_array_deinit(&candidates.offsets);
	mt_array_deinit(&candidates.items);
	return good;
}

/* ---- Planning ---- */

/* Whether entries follow one another from `at` up to `end`, and none stands across it. */
static bool entries_fit(struct plan *plan, size_t at, size_t end)
{
	struct mt_frame_entry entry;

	while (at < end && mt_frame_entry_read(&plan->entries, at, &entry))
		at = entry.next;
	return at == end;
}

static bool add_range(struct mt_seen_frames *out, size_t from, size_t to)
{
	struct mt_seen_range *range = mt_array_push(&out->kept);

	if (range)
		*range = (struct mt_seen_range){from, to};
	return range;
}

/* Keeps all, of a section that is not what it seems. */
static bool keep_all(struct mt_seen_frames *out)
{
	out->kept.count = 0;
	return add_range(out, 0, out->span.size);
}

/*
 * Makes ranges of the entries, sorted; gaps that are too small for a filler are kept, where that is
 * what stands in them.
 */
static bool join_entries(struct plan *plan, struct mt_seen_frames *out)
{
	size_t end = 0;

	for (size_t i = 0; i < plan->kept.count; i++) {
		size_t from = plan->kept.items[i] >> 32, to = (uint32_t)plan->kept.items[i];
		bool again = i && plan->kept.items[i - 1] == plan->kept.items[i];

		if (again)
			continue;
		if (from < end || (from - end < FILLER_MIN && !entries_fit(plan, end, from)))
			return keep_all(out);
		if (from - end < FILLER_MIN && out->kept.count)
			out->kept.items[out->kept.count - 1].to = to;
		else if (!add_range(out, from - end < FILLER_MIN ? 0 : from, to))
			return false;
		end = to;
	}
	if (out->span.size - end >= FILLER_MIN || end == out->span.size)
		return true;
	if (!out->kept.count)
		return keep_all(out);
	out->kept.items[out->kept.count - 1].to = out->span.size;
	return true;
}

static bool find_entries(struct plan *plan, struct mt_elf *elf)
{
	struct table table = read_table(elf, plan->entries.section.span, plan->entries.input);

	if (table.count && !plan->lies) {
		if (!look_up(plan, &table))
			return false;
		if (!plan->lies)
			return true;
	}
	return walk(plan);
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
 * The places with those before each of which no entry tells; false out of memory, and where that is
 * too many. None where all are told of.
 */
static bool add_untold(const struct plan *plan, uint64_t **units, size_t *count)
{
	const struct mt_seen_code *seen = plan->seen;
	MT_ARRAY(uint64_t) all = {0};
	uint64_t low = UINT64_MAX; /* so far down all is wanted */

	for (size_t i = seen->count; i--;) {
		uint64_t unit = seen->units[i], from = unit;
		uint64_t below = i ? seen->units[i - 1] + MT_SEEN_UNIT : 0;

		if (!plan->told[i])
			from = unit < UNTOLD_SPAN ? 0 : unit - UNTOLD_SPAN;
		low = from < low ? from : low;
		from = low > below ? low : below;
		if (!mt_array_reserve(&all, all.count + (unit - from) / MT_SEEN_UNIT + 1) ||
		    all.count > UNTOLD_MAX) {
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

/* False out of memory. */
static bool find_kept(struct plan *plan, struct mt_elf *elf, bool *too_many)
{
	MT_CLEANUP_FREE uint8_t *told = calloc(1, plan->seen->count + 1);
	MT_CLEANUP_FREE uint64_t *units = NULL;
	struct mt_seen_code more = {0};
	bool good;

	plan->told = told;
	if (!told || !find_entries(plan, elf))
		return false;
	*too_many = !add_untold(plan, &units, &more.count);
	if (*too_many || more.count == plan->seen->count)
		return true;
	more.units = units;
	plan->told = NULL;
	plan->seen = &more;
	good = find_entries(plan, elf);
	plan->seen = NULL;
	return good;
}

static bool plan_entries(struct plan *plan, struct mt_elf *elf, struct mt_seen_frames *out)
{
	bool too_many = false;

	if (plan->seen->count && !find_kept(plan, elf, &too_many))
		return false;
	if (too_many)
		return keep_all(out);
	return mt_number_sort(plan->kept.items, plan->kept.count) &&
	       mt_address_sort(out->copied.items, out->copied.count) && join_entries(plan, out);
}

bool mt_seen_frames_plan(struct mt_elf *elf, struct mt_span span, const struct mt_seen_code *seen,
			 const struct mt_skeleton_input *input, struct mt_seen_frames *out)
{
	MT_CLEANUP_FREE uint8_t *room = malloc(MT_FRAME_WINDOW);
	struct plan plan = {
		.out = out,
		.entries = {.section.span = span, .input = input, .room = room},
		.seen = seen,
	};
	bool good;

	*out = (struct mt_seen_frames){.span = span, .input = input};
	if (span.size > SECTION_MAX)
		return keep_all(out);
	good = room && plan_entries(&plan, elf, out);
	mt_array_deinit(&plan.kept);
	mt_array_deinit(&plan.pairs);
	return good;
}

/* ---- Writing ---- */

/* Bytes that are not written yet. */
struct writer {
	const struct mt_skeleton_output *output;
	uint8_t *bytes; /* PIECE of them */
	size_t used;
};

static bool flush(struct writer *writer)
{
	size_t used = writer->used;

	writer->used = 0;
	return !used || writer->output->put(writer->output->context, writer->bytes, used);
}

/* Appends bytes, or zeros where they are NULL. */
static bool append(struct writer *writer, const uint8_t *bytes, size_t size)
{
	while (size) {
		size_t room = PIECE - writer->used, n = size < room ? size : room;

		if (bytes) {
			memcpy(writer->bytes + writer->used, bytes, n);
			bytes += n;
		} else {
			memset(writer->bytes + writer->used, 0, n);
		}
		writer->used += n;
		size -= n;
		if (writer->used == PIECE && !flush(writer))
			return false;
	}
	return true;
}

static bool append_filler(struct writer *writer, size_t size)
{
	uint8_t head[sizeof(filler_head)];

	if (!size)
		return true;
	memcpy(head, filler_head, sizeof(head));
	mt_put_le32(head, (uint32_t)(size - 4));
	return append(writer, head, sizeof(head)) && append(writer, NULL, size - sizeof(head));
}

/* What stands from `at` up to `end`, which was not copied. */
static bool append_file(const struct mt_seen_frames *frames, struct writer *writer, size_t at,
			size_t end, uint8_t *room)
{
	for (size_t n; at < end; at += n) {
		n = end - at < PIECE ? end - at : PIECE;
		if (!append(writer,
			    mt_skeleton_input_look(frames->input, frames->span, at, n, room), n))
			return false;
	}
	return true;
}

/* *next: of what was copied, at or before the range. */
static bool append_kept(const struct mt_seen_frames *frames, struct writer *writer,
			const struct mt_seen_range *range, size_t *next, uint8_t *room)
{
	for (size_t at = range->from, end; at < range->to; at = end) {
		const struct mt_addressed *copy = frames->copied.items + *next;
		const uint8_t *bytes;

		while (*next < frames->copied.count && copy->address < at) {
			copy++;
			++*next;
		}
		end = *next < frames->copied.count && copy->address < range->to ? copy->address
										: range->to;
		if (end != at || *next == frames->copied.count) {
			if (!append_file(frames, writer, at, end, room))
				return false;
			continue;
		}
		bytes = frames->copies.items + copy->index;
		end = at + mt_get_le32(bytes) + 4;
		if (!append(writer, bytes, end - at))
			return false;
	}
	return true;
}

bool mt_seen_frames_write(const struct mt_seen_frames *frames,
			  const struct mt_skeleton_output *output)
{
	MT_CLEANUP_FREE uint8_t *bytes = malloc(2 * PIECE);
	struct writer writer = {.output = output, .bytes = bytes};
	size_t at = 0, next = 0;

	if (!bytes)
		return false;
	for (size_t i = 0; i < frames->kept.count; i++) {
		const struct mt_seen_range *range = &frames->kept.items[i];

		if (!append_filler(&writer, range->from - at) ||
		    !append_kept(frames, &writer, range, &next, bytes + PIECE))
			return false;
		at = range->to;
	}
	return append_filler(&writer, frames->span.size - at) && flush(&writer);
}
