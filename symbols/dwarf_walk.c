/*
 * Going through the entries of a unit, or of a function in it, for what has code: functions, or the
 * calls that were inlined into one. Most entries say nothing about code and are but stepped over.
 */
#include "formats/base/err.h"
#include "symbols/dwarf.h"
#include "symbols/interval_table.h"

enum {
	DEPTH_MAX = 512, /* entries within entries; compilers stay below 60 */
	AHEAD = 4096,	 /* bytes that are asked of memory before they are gone through */
	ANNOUNCED = 1024,
	CACHE_LINE = 64,
	SMALL = 256, /* bytes; fewer has an entry with 60 bytes, a block and 60 bytes more */
};

struct walk {
	struct mt_dwarf_unit *unit;
	struct mt_cursor c;
	struct mt_scopes *scopes;
	enum mt_walk mode;
	uint32_t *enclosing; /* the scope that each open level lies in: DEPTH_MAX */
	size_t depth;
	uint64_t budget;	       /* the file's, and what is left of it */
	uint32_t value;		       /* whose ranges are being read: scope or function */
	uint64_t function;	       /* its entry, the same */
	struct mt_scope_answer *asked; /* by address, or NULL */
	struct mt_scope_place *places; /* of these, or NULL */
	size_t asked_count;
	bool has_asked; /* one of them lies in the ranges that were read last */
	bool is_local;	/* MT_WALK_LOCAL, which is MT_WALK_NESTED within functions */
	size_t floor;	/* the depth in the function; what is above is MT_WALK_LOCAL's again */
	const uint8_t *fetched; /* memory for all up to there was asked for */
	bool nomem, too_many, bad_ranges;
};

static struct mt_error *bad_entry(const struct walk *walk, uint64_t entry, const char *what)
{
	return mt_error_create(MT_ERR_FORMAT, ".debug_info: entry 0x%llx of the unit at 0x%llx: %s",
			       (unsigned long long)entry, (unsigned long long)walk->unit->offset,
			       what);
}

/* ---- Scopes ---- */

/* Which code an entry says it has. */
struct scope_values {
	struct mt_dwarf_value low, high, ranges;
};

static void take_value(struct scope_values *values, uint16_t name,
		       const struct mt_dwarf_value *value)
{
	switch (name) {
	case DW_AT_low_pc:
		values->low = *value;
		break;
	case DW_AT_high_pc:
		values->high = *value;
		break;
	case DW_AT_ranges:
		values->ranges = *value;
		break;
	}
}

/* Marks the addresses in a piece of code that nothing deeper has. */
static void take_asked(struct walk *walk, uint64_t start, uint64_t end)
{
	struct mt_scope_answer *asked = walk->asked;
	size_t count = walk->asked_count;

	for (size_t i = mt_array_first_from(asked, count, start);
	     i < count && asked[i].address < end; i++) {
		walk->has_asked = true;
		if (asked[i].scope != MT_SCOPE_NONE && asked[i].rank > walk->depth)
			continue;
		if (walk->value == MT_SCOPE_NONE)
			continue;
		asked[i].scope = walk->value;
		asked[i].rank = (uint32_t)walk->depth;
	}
}

/* Pieces count, so that lists of them cannot be read for ever. */
static bool spend_interval(struct walk *walk)
{
	walk->too_many |= walk->budget < sizeof(struct mt_interval);
	if (walk->too_many)
		return false;
	walk->budget -= sizeof(struct mt_interval);
	return true;
}

/* A piece of code in MT_WALK_ASKED: most have none of the addresses. */
static bool add_asked(void *context, uint64_t start, uint64_t end)
{
	struct walk *walk = context;

	if (!spend_interval(walk))
		return false;
	if (start <= walk->asked[walk->asked_count - 1].address && end > walk->asked[0].address)
		take_asked(walk, start, end);
	return true;
}

/* A piece of code of a function: which of the addresses are in it, and which are next to it. */
static bool add_place(void *context, uint64_t start, uint64_t end)
{
	struct walk *walk = context;
	const struct mt_code_filter *filter = &walk->scopes->filter;
	struct mt_scope_place *places = walk->places, *before, *behind;
	size_t count = walk->asked_count, first, last;

	if (!spend_interval(walk))
		return false;
	first = last = mt_array_first_from(walk->asked, count, start);
	while (last < count && walk->asked[last].address < end)
		last++;
	before = first && start < places[first - 1].gap_end ? &places[first - 1] : NULL;
	behind = last < count && end > places[last].gap_start ? &places[last] : NULL;
	if ((first == last && !before && !behind) || !filter->is_code(filter->context, start))
		return true;
	if (before)
		before->gap_end = start;
	if (behind)
		behind->gap_start = end;
	for (; first < last; first++) {
		if (!spend_interval(walk))
			return false;
		if (places[first].rank <= walk->depth) {
			places[first].function = walk->function;
			places[first].rank = (uint32_t)walk->depth;
		}
	}
	return true;
}

static bool add_interval(void *context, uint64_t start, uint64_t end)
{
	struct walk *walk = context;
	const struct mt_code_filter *filter = &walk->scopes->filter;
	struct mt_interval *interval;

	if (walk->mode & (MT_WALK_OUTLINE | MT_WALK_NESTED) &&
	    !filter->is_code(filter->context, start))
		return true; /* code that the linker left out */
	if (walk->mode == MT_WALK_NESTED && mt_scopes_outlined(walk->scopes, start))
		return true;
	if (!spend_interval(walk))
		return false;
	interval = mt_array_push(&walk->scopes->intervals);
	walk->nomem |= !interval;
	if (!interval)
		return false;
	*interval = (struct mt_interval){start, end, (uint32_t)walk->depth, walk->value};
	return true;
}

static void add_ranges(struct walk *walk, const struct scope_values *values)
{
	const struct mt_range_sink sink = {walk->places			 ? add_place
					   : walk->mode == MT_WALK_ASKED ? add_asked
									 : add_interval,
					   walk};
	uint64_t low;
	bool good = true;

	if (values->ranges.form)
		good = mt_dwarf_ranges(walk->unit, &values->ranges, &sink);
	else if (values->low.form && values->high.form)
		good = mt_dwarf_value_address(walk->unit, &values->low, &low) &&
		       mt_dwarf_low_high(walk->unit, low, &values->high, &sink);
	walk->bad_ranges |= !good;
}

static bool has_code(const struct scope_values *values)
{
	return values->ranges.form || values->low.form;
}

static uint32_t scope_around(const struct walk *walk)
{
	return walk->depth ? walk->enclosing[walk->depth - 1] : MT_SCOPE_NONE;
}

/* The scope of the entry in hand, or the one around it where it makes none. */
static uint32_t add_scope(struct walk *walk, uint16_t tag, uint64_t entry,
			  const struct scope_values *values)
{
	uint32_t around = scope_around(walk);
	bool inlined = tag == DW_TAG_inlined_subroutine;
	struct mt_scope *scope;

	if (!inlined && !has_code(values))
		return MT_SCOPE_NONE; /* a declaration, or what inlined calls refer to */
	if (inlined && around == MT_SCOPE_NONE)
		return around;
	walk->value = (uint32_t)walk->scopes->items.count;
	scope = mt_array_push(&walk->scopes->items);
	walk->nomem |= !scope;
	if (!scope)
		return around;
	*scope = (struct mt_scope){
		.entry = entry,
		.parent = inlined ? around : MT_SCOPE_NONE,
	};
	walk->has_asked = false;
	add_ranges(walk, values);
	if (walk->mode == MT_WALK_ASKED && !walk->has_asked && has_code(values))
		walk->scopes->items.count--;
	return walk->value;
}

/* A block that is no function: only whether one of the addresses is in it matters. */
static uint32_t pass_block(struct walk *walk, const struct scope_values *values)
{
	walk->value = MT_SCOPE_NONE;
	walk->has_asked = false;
	add_ranges(walk, values);
	return scope_around(walk);
}

/* ---- Entries ---- */

/* By value, so that the caller's cursor can stay in registers. */
static __attribute__((noinline)) struct mt_cursor skip_value(const struct mt_dwarf_unit *unit,
							     struct mt_cursor c, uint16_t form)
{
	struct mt_dwarf_value value;

	mt_dwarf_value(unit, &c, form, 0, &value);
	return c;
}

/* Those that stand among the entries themselves have a few letters. */
static inline void skip_string(struct mt_cursor *c)
{
	const uint8_t *pos = c->pos;

	while (pos < c->end && *pos)
		pos++;
	c->bad |= pos == c->end;
	if (!c->bad)
		c->pos = pos + 1;
}

/* Steps over some values and the one of varying size that ends them. */
static inline void skip_values(const struct mt_dwarf_unit *unit, struct mt_cursor *c,
			       const struct mt_abbrev_skip *skip)
{
	if (skip->bytes > (size_t)(c->end - c->pos))
		c->bad = true;
	if (c->bad)
		return;
	c->pos += skip->bytes;
	if (skip->form == DW_FORM_exprloc)
		mt_cursor_bytes(c, mt_dwarf_uleb(c));
	else if (skip->form == DW_FORM_string)
		skip_string(c);
	else if (skip->form)
		*c = skip_value(unit, *c, skip->form);
}

static inline __attribute__((always_inline)) void skip_entry(const struct mt_dwarf_unit *unit,
							     struct mt_cursor *c,
							     const struct mt_abbrev *abbrev)
{
	skip_values(unit, c, &abbrev->skip);
	for (uint32_t i = 0; i < abbrev->skip_count; i++)
		skip_values(unit, c, &unit->abbrevs->skips.items[abbrev->first_skip + i]);
}

/* Reads a value that has its place in an entry, which begins at pos and is complete. */
static inline void read_fixed(const struct mt_dwarf_unit *unit, const struct mt_abbrev *abbrev,
			      uint8_t number, const uint8_t *pos, struct mt_dwarf_value *value)
{
	const struct mt_abbrev_attribute *a =
		&unit->abbrevs->attributes.items[abbrev->first + number - 1];
	struct mt_cursor c = mt_cursor_init(pos + a->at, a->size);

	mt_dwarf_attribute_value(unit, &c, a, value);
}

/* The same as read_scope() where the entry is_fixed. */
static void read_fixed_scope(struct walk *walk, const struct mt_abbrev *abbrev,
			     struct scope_values *values)
{
	const uint8_t *pos = walk->c.pos;

	skip_entry(walk->unit, &walk->c, abbrev);
	if (walk->c.bad)
		return;
	if (abbrev->low)
		read_fixed(walk->unit, abbrev, abbrev->low, pos, &values->low);
	if (abbrev->high)
		read_fixed(walk->unit, abbrev, abbrev->high, pos, &values->high);
	if (abbrev->ranges)
		read_fixed(walk->unit, abbrev, abbrev->ranges, pos, &values->ranges);
}

static void read_scope(struct walk *walk, const struct mt_abbrev *abbrev,
		       struct scope_values *values)
{
	const struct mt_abbrev_attribute *all = walk->unit->abbrevs->attributes.items;

	if (abbrev->is_fixed) {
		read_fixed_scope(walk, abbrev, values);
		return;
	}
	for (size_t i = 0; i < abbrev->count; i++) {
		const struct mt_abbrev_attribute *a = &all[abbrev->first + i];
		struct mt_dwarf_value value;

		mt_dwarf_attribute_value(walk->unit, &walk->c, a, &value);
		take_value(values, a->name, &value);
	}
}

/* Goes on behind the children of the entry that c is behind, where it says how far that is. */
static inline bool skip_to_sibling(const struct mt_dwarf_unit *unit, struct mt_cursor *c,
				   const struct mt_abbrev *abbrev)
{
	const uint8_t *to;
	uint64_t sibling;

	if (!abbrev->ends_in_sibling || c->bad)
		return false;
	sibling = mt_get_le32(c->pos - 4);
	if (sibling > unit->end - unit->offset)
		return false;
	to = unit->file->info.bytes + unit->offset + sibling;
	if (to <= c->pos || to > c->end)
		return false;
	c->pos = to;
	return true;
}

/* Goes behind the children of the entry that c is behind; c->bad where they are corrupt. */
static void skip_children(const struct mt_dwarf_unit *unit, struct mt_cursor *c,
			  const struct mt_abbrev *abbrev)
{
	size_t depth = 1;

	if (skip_to_sibling(unit, c, abbrev))
		return;
	while (depth && mt_cursor_left(c)) {
		uint64_t code = mt_dwarf_uleb(c);

		abbrev = code ? mt_abbrevs_find(unit->abbrevs, code) : NULL;
		if (!code)
			depth--;
		else if (abbrev)
			skip_entry(unit, c, abbrev);
		else
			c->bad = true;
		if (abbrev && abbrev->has_children && !skip_to_sibling(unit, c, abbrev))
			depth++;
	}
}

/* Lists the function that was just read. */
static void add_function(struct walk *walk, uint64_t entry, const struct scope_values *values)
{
	size_t ranges = walk->scopes->intervals.count;
	struct mt_scope_function *function;

	walk->function = entry;
	walk->value = (uint32_t)walk->scopes->functions.count;
	add_ranges(walk, values);
	if (walk->scopes->intervals.count == ranges)
		return; /* left out, or listed before */
	function = mt_array_push(&walk->scopes->functions);
	walk->nomem |= !function;
	if (function)
		function->entry = entry;
}

/* Goes behind the children of the entry that was just read. */
static struct mt_error *pass_children(struct walk *walk, const struct mt_abbrev *abbrev,
				      uint64_t entry)
{
	if (abbrev->has_children)
		skip_children(walk->unit, &walk->c, abbrev);
	return walk->c.bad ? bad_entry(walk, entry, "cut short, or of an unknown form") : NULL;
}

static struct mt_error *open_level(struct walk *walk, uint64_t entry, uint32_t scope)
{
	if (walk->depth == DEPTH_MAX)
		return bad_entry(walk, entry, "nested too deeply");
	walk->enclosing[walk->depth++] = scope;
	return NULL;
}

/* What the walk may go on with is asked of memory while the code of an entry is looked at. */
static inline void ask_for_sibling(const struct walk *walk)
{
	uint64_t sibling = mt_get_le32(walk->c.pos - 4), left;

	left = walk->unit->end - walk->unit->offset;
	if (sibling < left)
		__builtin_prefetch(walk->unit->file->info.bytes + walk->unit->offset + sibling);
}

static struct mt_error *walk_scope(struct walk *walk, const struct mt_abbrev *abbrev,
				   uint64_t entry)
{
	struct scope_values values = {0};
	uint32_t scope = MT_SCOPE_NONE;

	read_scope(walk, abbrev, &values);
	if (walk->c.bad)
		return bad_entry(walk, entry, "cut short, or of an unknown form");
	if (abbrev->ends_in_sibling)
		ask_for_sibling(walk);
	if (abbrev->tag == DW_TAG_lexical_block)
		scope = pass_block(walk, &values);
	else if (walk->mode & (MT_WALK_TABLE | MT_WALK_ASKED))
		scope = add_scope(walk, abbrev->tag, entry, &values);
	else
		add_function(walk, entry, &values);
	if (walk->mode == MT_WALK_ASKED
		    ? has_code(&values) && !walk->has_asked
		    : walk->mode != MT_WALK_TABLE && abbrev->closed & walk->mode)
		return pass_children(walk, abbrev, entry);
	if (!abbrev->has_children)
		return NULL;
	if (walk->mode == MT_WALK_LOCAL) {
		walk->mode = MT_WALK_NESTED;
		walk->floor = walk->depth + 1;
	}
	return open_level(walk, entry, scope);
}

/* Behind the last entry of a level. */
static void close_level(struct walk *walk)
{
	walk->depth--;
	if (walk->is_local && walk->depth < walk->floor)
		walk->mode = MT_WALK_LOCAL;
}

/* Where walks that step over entries are. */
struct stepping {
	const uint8_t *pos;
	uint32_t *enclosing;
	size_t depth, floor;
	enum mt_walk mode;
	bool is_local;
};

static struct stepping step_from(const struct walk *walk)
{
	return (struct stepping){walk->c.pos, walk->enclosing, walk->depth,
				 walk->floor, walk->mode,      walk->is_local};
}

static void stop_at(struct walk *walk, const struct stepping *s)
{
	walk->c.pos = s->pos;
	walk->depth = s->depth;
	walk->floor = s->floor;
	walk->mode = s->mode;
}

/* Into an entry that is no scope. */
static inline void step_in(struct stepping *s, bool is_function)
{
	s->enclosing[s->depth] = s->enclosing[s->depth - 1];
	s->depth++;
	if (is_function && s->mode == MT_WALK_LOCAL) {
		s->mode = MT_WALK_NESTED;
		s->floor = s->depth;
	}
}

static inline void step_out(struct stepping *s)
{
	s->depth--;
	if (s->is_local && s->depth < s->floor)
		s->mode = MT_WALK_LOCAL;
}

/* Behind an entry's value of varying size and what follows that; NULL where it is too long. */
static inline const uint8_t *step_over(const struct mt_abbrev_step *step, const uint8_t *pos,
				       const uint8_t *last)
{
	if (step->varies == MT_VARIES_BLOCK) {
		if (*pos >= 0x80)
			return NULL;
		pos += *pos;
	} else if (step->varies == MT_VARIES_STRING) {
		while (pos < last && *pos)
			pos++;
		if (pos >= last)
			return NULL;
	} else {
		return pos;
	}
	return pos + 1 + step->behind;
}

/* Asks for memory from pos on, some of which may have been asked for before; gives how far. */
static inline const uint8_t *fetch(const uint8_t *pos, const uint8_t *until)
{
	if (until < pos)
		until = pos;
	for (; until - pos < AHEAD; until += CACHE_LINE)
		__builtin_prefetch(until);
	return until;
}

/*
 * Steps over entries as their table of steps has it, while there are more bytes than any of these
 * has but for a string; false where it stopped at one that is wanted.
 */
static bool skip_small(struct walk *walk)
{
	const struct mt_dwarf_unit *unit = walk->unit;
	const struct mt_abbrev_step *steps = unit->abbrevs->steps;
	const uint8_t *first = unit->file->info.bytes + unit->offset;
	const uint8_t *last = walk->c.end - SMALL;
	const uint8_t *fetched = walk->fetched;
	struct stepping s = step_from(walk);
	bool wanted = false;

	if (walk->c.end - walk->c.pos < SMALL)
		return true;
	while (s.pos <= last && *s.pos < 0x80) {
		const struct mt_abbrev_step *step = &steps[*s.pos];
		const uint8_t *next = s.pos + step->bytes;

		if (fetched - s.pos < AHEAD / 2)
			fetched = fetch(s.pos, fetched);
		if (step->plain & s.mode) {
			s.pos = next;
			continue;
		}
		if (step->jumps & s.mode && !step->varies) {
			uint64_t sibling = mt_get_le32(next - 4);

			if (sibling <= (uint64_t)(next - first) ||
			    sibling > (uint64_t)(last - first))
				break;
			s.pos = first + sibling;
			continue;
		}
		wanted = step->wanted & s.mode;
		if (wanted || !step->bytes || step->jumps & s.mode)
			break;
		next = step_over(step, next, last);
		if (!next || s.depth + 1 >= DEPTH_MAX)
			break;
		if (step->opens & s.mode) {
			step_in(&s, step->is_function);
		} else if (!*s.pos) {
			if (s.depth == 1)
				break;
			step_out(&s);
		}
		s.pos = next;
	}
	stop_at(walk, &s);
	walk->fetched = fetched;
	return !wanted;
}

/* Steps over any entry; false where walk_entry() is needed for it. */
static bool skip_any(struct walk *walk)
{
	const struct mt_dwarf_unit *unit = walk->unit;
	struct stepping s = step_from(walk);
	struct mt_cursor c = walk->c;
	uint64_t code = mt_dwarf_uleb(&c);
	const struct mt_abbrev *abbrev = code ? mt_abbrevs_find(unit->abbrevs, code) : NULL;

	if (s.depth >= DEPTH_MAX || (abbrev ? abbrev->wanted & s.mode : code || s.depth == 1))
		return false;
	if (abbrev)
		skip_entry(unit, &c, abbrev);
	if (c.bad || c.pos == c.end)
		return false;
	if (!abbrev)
		step_out(&s);
	else if (abbrev->has_children &&
		 !(abbrev->closed & s.mode && skip_to_sibling(unit, &c, abbrev)))
		step_in(&s, abbrev->tag == DW_TAG_subprogram);
	s.pos = c.pos;
	stop_at(walk, &s);
	return true;
}

/* Goes to the next entry that walk_entry() is needed for: most say nothing about code. */
static void skip_plain_entries(struct walk *walk)
{
	while (skip_small(walk) && skip_any(walk))
		;
}

static struct mt_error *walk_entry(struct walk *walk, uint64_t entry, uint64_t code)
{
	const struct mt_abbrev *abbrev = mt_abbrevs_find(walk->unit->abbrevs, code);

	if (!abbrev)
		return bad_entry(walk, entry, "its abbreviation is not in .debug_abbrev");
	if (abbrev->wanted & walk->mode)
		return walk_scope(walk, abbrev, entry);
	skip_entry(walk->unit, &walk->c, abbrev);
	if (walk->c.bad)
		return bad_entry(walk, entry, "cut short, or of an unknown form");
	if (!abbrev->has_children)
		return NULL;
	if (abbrev->closed & walk->mode && skip_to_sibling(walk->unit, &walk->c, abbrev))
		return NULL;
	return open_level(walk, entry,
			  walk->depth ? walk->enclosing[walk->depth - 1] : MT_SCOPE_NONE);
}

/* An entry and all that is in it. */
static struct mt_error *walk_entries(struct walk *walk)
{
	const uint8_t *info = walk->unit->file->info.bytes;

	do {
		uint64_t entry = (uint64_t)(walk->c.pos - info), code = mt_dwarf_uleb(&walk->c);
		struct mt_error *err;

		if (walk->c.bad)
			return bad_entry(walk, entry, "cut short");
		err = code ? walk_entry(walk, entry, code) : NULL;
		if (err)
			return err;
		if (walk->nomem)
			return mt_error_nomem();
		if (walk->too_many)
			return bad_entry(walk, entry, "more ranges than any compiler writes");
		if (!code && walk->depth)
			close_level(walk);
		if (walk->depth)
			skip_plain_entries(walk);
	} while (walk->depth && mt_cursor_left(&walk->c));
	return walk->bad_ranges ? mt_error_create(MT_ERR_FORMAT,
						  ".debug_info: unit at 0x%llx: corrupt ranges",
						  (unsigned long long)walk->unit->offset)
				: NULL;
}

void mt_walk_announce(const struct mt_scopes *scopes, uint64_t entry)
{
	const uint8_t *start = scopes->unit->file->info.bytes + entry;

	for (size_t i = 0; i < ANNOUNCED && i < scopes->unit->end - entry; i += CACHE_LINE)
		__builtin_prefetch(start + i);
}

struct mt_error *mt_walk_from(struct mt_scopes *scopes, uint64_t entry, enum mt_walk mode,
			      const struct mt_walk_asked *asked)
{
	struct mt_dwarf *file = scopes->unit->file;
	uint64_t budget = mt_dwarf_budget(file);
	const uint8_t *start = file->info.bytes + entry;
	uint32_t enclosing[DEPTH_MAX];
	struct walk walk = {
		.unit = scopes->unit,
		.c = mt_cursor_init(start, scopes->unit->end - entry),
		.scopes = scopes,
		.mode = mode,
		.enclosing = enclosing,
		.budget = budget,
		.is_local = mode == MT_WALK_LOCAL,
		.floor = 1,
		.fetched = start,
	};
	struct mt_error *err;

	if (asked) {
		walk.asked = asked->answers;
		walk.places = asked->places;
		walk.asked_count = asked->count;
	}
	err = walk_entries(&walk);
	/* what was walked counts, too, so that entries without an end are not for each function */
	mt_dwarf_spend(file, budget - walk.budget + (uint64_t)(walk.c.pos - start));
	return err;
}
