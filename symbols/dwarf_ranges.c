/*
 * Lists of ranges: .debug_ranges of versions up to 4, .debug_rnglists of version 5.
 */
#include "symbols/dwarf.h"

enum {
	RLE_END = 0,
	RLE_BASE_ADDRESSX = 1,
	RLE_STARTX_ENDX = 2,
	RLE_STARTX_LENGTH = 3,
	RLE_OFFSET_PAIR = 4,
	RLE_BASE_ADDRESS = 5,
	RLE_START_END = 6,
	RLE_START_LENGTH = 7,
};

/* Empty pieces and those that wrap around are left out. */
static bool give(const struct mt_range_sink *sink, uint64_t start, uint64_t end)
{
	return start >= end || sink->add(sink->context, start, end);
}

static struct mt_cursor cursor_at(const struct mt_span *section, uint64_t offset)
{
	struct mt_cursor c = mt_cursor_init(section->bytes, section->bytes ? section->size : 0);

	if (!c.pos)
		c.bad = true;
	mt_cursor_bytes(&c, offset);
	return c;
}

static bool read_ranges(const struct mt_dwarf_unit *unit, uint64_t offset,
			const struct mt_range_sink *sink)
{
	uint64_t largest = unit->address_size == 8 ? UINT64_MAX : UINT32_MAX;
	uint64_t base = unit->low_pc;
	struct mt_cursor c;

	if (unit->split && __builtin_add_overflow(offset, unit->ranges_base, &offset))
		return false;
	c = cursor_at(&unit->ranges, offset);
	for (;;) {
		uint64_t start = mt_dwarf_address(&c, unit->address_size);
		uint64_t end = mt_dwarf_address(&c, unit->address_size);

		if (c.bad)
			return false;
		if (!start && !end)
			return true;
		if (start == largest)
			base = end;
		else if (!give(sink, base + start, base + end))
			return false;
	}
}

/* One entry of .debug_rnglists that is no RLE_OFFSET_PAIR; *end for the last. */
static bool read_rnglist_entry(const struct mt_dwarf_unit *unit, struct mt_cursor *c,
			       uint64_t *base, const struct mt_range_sink *sink, bool *end)
{
	uint64_t a = 0, b = 0;
	bool known = true;

	switch (mt_cursor_u8(c)) {
	case RLE_END:
		*end = true;
		return !c->bad;
	case RLE_BASE_ADDRESSX:
		return mt_dwarf_indexed_address(unit, mt_dwarf_uleb(c), base);
	case RLE_STARTX_ENDX:
		known = mt_dwarf_indexed_address(unit, mt_dwarf_uleb(c), &a);
		known = mt_dwarf_indexed_address(unit, mt_dwarf_uleb(c), &b) && known;
		break;
	case RLE_STARTX_LENGTH:
		known = mt_dwarf_indexed_address(unit, mt_dwarf_uleb(c), &a);
		b = a + mt_dwarf_uleb(c);
		break;
	case RLE_BASE_ADDRESS:
		*base = mt_dwarf_address(c, unit->address_size);
		return !c->bad;
	case RLE_START_END:
		a = mt_dwarf_address(c, unit->address_size);
		b = mt_dwarf_address(c, unit->address_size);
		break;
	case RLE_START_LENGTH:
		a = mt_dwarf_address(c, unit->address_size);
		b = a + mt_dwarf_uleb(c);
		break;
	default:
		return false;
	}
	return known && !c->bad && give(sink, a, b);
}

/* Pairs of offsets as long as they come; most lists are of these alone. */
static bool read_offset_pairs(struct mt_cursor *at, uint64_t base, const struct mt_range_sink *sink)
{
	struct mt_cursor c = *at; /* in registers */
	bool good = true;

	while (good && c.pos < c.end && *c.pos == RLE_OFFSET_PAIR) {
		uint64_t start, end;

		c.pos++;
		start = base + mt_dwarf_uleb(&c);
		end = base + mt_dwarf_uleb(&c);
		good = !c.bad && give(sink, start, end);
	}
	*at = c;
	return good;
}

/* Where list `index` begins. */
static bool rnglist_offset(const struct mt_dwarf_unit *unit, uint64_t index, uint64_t *out)
{
	struct mt_cursor c;
	uint64_t at;

	if (__builtin_mul_overflow(index, (uint64_t)unit->offset_size, &at) ||
	    __builtin_add_overflow(at, unit->rnglists_base, &at))
		return false;
	c = cursor_at(&unit->rnglists, at);
	*out = unit->rnglists_base + mt_dwarf_offset(&c, unit->offset_size);
	return !c.bad;
}

static bool read_rnglist(const struct mt_dwarf_unit *unit, uint64_t offset,
			 const struct mt_range_sink *sink)
{
	struct mt_cursor c = cursor_at(&unit->rnglists, offset);
	uint64_t base = unit->low_pc;
	bool end = false;

	while (!end) {
		if (!read_offset_pairs(&c, base, sink) ||
		    !read_rnglist_entry(unit, &c, &base, sink, &end))
			return false;
	}
	return true;
}

bool mt_dwarf_ranges(const struct mt_dwarf_unit *unit, const struct mt_dwarf_value *list,
		     const struct mt_range_sink *sink)
{
	uint64_t offset = list->number;

	if (unit->version < 5)
		return read_ranges(unit, offset, sink);
	if (list->form == DW_FORM_rnglistx && !rnglist_offset(unit, offset, &offset))
		return false;
	return read_rnglist(unit, offset, sink);
}

bool mt_dwarf_low_high(const struct mt_dwarf_unit *unit, uint64_t low,
		       const struct mt_dwarf_value *high, const struct mt_range_sink *sink)
{
	uint64_t end;

	if (!mt_dwarf_value_address(unit, high, &end))
		end = low + high->number;
	return give(sink, low, end);
}

bool mt_dwarf_unit_ranges(const struct mt_dwarf_unit *unit, const struct mt_range_sink *sink)
{
	if (unit->range_list.form)
		return mt_dwarf_ranges(unit, &unit->range_list, sink);
	return !unit->low.form || !unit->high.form ||
	       mt_dwarf_low_high(unit, unit->low_pc, &unit->high, sink);
}
