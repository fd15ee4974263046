/*
 * Tables of abbreviations: which attributes, in which forms, the entries of a unit have.
 */
#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "symbols/dwarf.h"

MT_DEFINE_CLEANUP(mt_abbrevs, struct mt_abbrevs)

enum {
	FIXED_MAX = 255,	   /* attributes of an entry that is_fixed */
	USUAL = 128,		   /* entries of a table for a source file of C */
	UNPLAIN = 0x80,		   /* no size that a form has */
	STEP_MAX = 60,		   /* bytes before or behind a value of varying size: see
				      skip_small() */
	ATTRIBUTES_MAX = 16 << 20, /* of one table; the largest seen have 20 K */
};

struct mt_abbrev_attribute mt_abbrev_attribute_read(struct mt_cursor *c)
{
	struct mt_abbrev_attribute attribute = {0};
	uint64_t name = mt_dwarf_uleb(c), form = mt_dwarf_uleb(c);

	if (form == DW_FORM_implicit_const)
		attribute.implicit = mt_dwarf_sleb(c);
	if (c->bad || name > UINT16_MAX || form > UINT16_MAX) {
		c->bad = true;
		return (struct mt_abbrev_attribute){0};
	}
	attribute.name = (uint16_t)name;
	attribute.form = (uint16_t)form;
	return attribute;
}

/* What most attributes are: a name of one byte or two, a form of one, a constant of one or none. */
struct short_attribute {
	uint16_t name;
	uint8_t form;
	uint8_t length; /* in .debug_abbrev; 0: it is not so */
	uint8_t constant;
};

/* All 0 but the length at the end of the attributes. */
static inline __attribute__((always_inline)) struct short_attribute peek_short(const uint8_t *pos,
									       const uint8_t *end)
{
	struct short_attribute a = {.length = 2};

	if (end - pos < 4)
		return (struct short_attribute){0};
	a.name = *pos;
	if (a.name >= 0x80) {
		a.name = (uint16_t)((a.name & 0x7f) | *++pos << 7);
		a.length = 3;
	}
	a.form = pos[1];
	if ((*pos | a.form) >= 0x80)
		return (struct short_attribute){0};
	if (a.form == DW_FORM_implicit_const) {
		a.length++;
		a.constant = pos[2];
		if (a.constant >= 0x80)
			return (struct short_attribute){0};
	}
	return a;
}

static inline __attribute__((always_inline)) struct mt_abbrev_attribute read_attribute(
	struct mt_cursor *c)
{
	struct short_attribute a;

	if (c->bad)
		return (struct mt_abbrev_attribute){0};
	a = peek_short(c->pos, c->end);
	if (!a.length)
		return mt_abbrev_attribute_read(c);
	c->pos += a.length;
	return (struct mt_abbrev_attribute){
		.name = a.name,
		.form = a.form,
		.implicit = (int64_t)((uint64_t)a.constant << 57) >> 57,
	};
}

/* Steps over short attributes, up to one that is not or to their end. */
static inline void skip_short(struct mt_cursor *c)
{
	const uint8_t *pos = c->pos, *end = c->end;

	for (;;) {
		struct short_attribute a = peek_short(pos, end);

		if (!a.length || !(a.name | a.form))
			break;
		pos += a.length;
	}
	c->pos = pos;
}

/* ---- Sizes ---- */

/* How many bytes values take by their form; 0 where that varies, or they take none. */
struct form_sizes {
	uint8_t offset;
	uint8_t by_form[256];
	uint8_t plain[128]; /* the same where it does not vary, else UNPLAIN */
};

static struct form_sizes form_sizes(const struct mt_abbrev_sizes *unit)
{
	struct form_sizes sizes = {
		.offset = unit->offset,
		.by_form =
			{
				[DW_FORM_data1] = 1,	[DW_FORM_flag] = 1,
				[DW_FORM_ref1] = 1,	[DW_FORM_strx1] = 1,
				[DW_FORM_addrx1] = 1,	[DW_FORM_data2] = 2,
				[DW_FORM_ref2] = 2,	[DW_FORM_strx2] = 2,
				[DW_FORM_addrx2] = 2,	[DW_FORM_strx3] = 3,
				[DW_FORM_addrx3] = 3,	[DW_FORM_data4] = 4,
				[DW_FORM_ref4] = 4,	[DW_FORM_strx4] = 4,
				[DW_FORM_addrx4] = 4,	[DW_FORM_ref_sup4] = 4,
				[DW_FORM_data8] = 8,	[DW_FORM_ref8] = 8,
				[DW_FORM_ref_sig8] = 8, [DW_FORM_ref_sup8] = 8,
				[DW_FORM_data16] = 16,
			},
	};

	sizes.by_form[DW_FORM_addr] = unit->address;
	sizes.by_form[DW_FORM_ref_addr] = unit->ref_addr;
	sizes.by_form[DW_FORM_strp] = sizes.by_form[DW_FORM_line_strp] = unit->offset;
	sizes.by_form[DW_FORM_sec_offset] = sizes.by_form[DW_FORM_strp_sup] = unit->offset;
	for (size_t i = 0; i < sizeof(sizes.plain); i++)
		sizes.plain[i] = sizes.by_form[i] ? sizes.by_form[i] : UNPLAIN;
	sizes.plain[DW_FORM_flag_present] = sizes.plain[DW_FORM_implicit_const] = 0;
	return sizes;
}

static inline uint8_t form_size(const struct form_sizes *sizes, uint16_t form)
{
	if (form == DW_FORM_GNU_ref_alt || form == DW_FORM_GNU_strp_alt)
		return sizes->offset;
	return form < sizeof(sizes->by_form) ? sizes->by_form[form] : 0;
}

/* ---- Tables ---- */

/* The step that has no value of varying size yet; false out of memory. */
static inline bool open_skip(struct mt_abbrevs *table, struct mt_abbrev *abbrev,
			     struct mt_abbrev_skip **last)
{
	struct mt_abbrev_skip *skip;

	if (!(*last)->form)
		return true;
	skip = mt_array_push(&table->skips);
	if (!skip)
		return false;
	abbrev->skip_count++;
	*last = skip;
	return true;
}

/* Adds values of known sizes to the steps over an entry; false out of memory. */
static inline bool add_bytes(struct mt_abbrevs *table, struct mt_abbrev *abbrev,
			     struct mt_abbrev_skip **last, uint32_t bytes)
{
	if (!open_skip(table, abbrev, last))
		return false;
	(*last)->bytes += bytes;
	return true;
}

static inline bool has_known_size(const struct mt_abbrev_attribute *attribute)
{
	return attribute->size || attribute->form == DW_FORM_flag_present ||
	       attribute->form == DW_FORM_implicit_const;
}

/* The same for a value of any form. */
static inline bool add_skip(struct mt_abbrevs *table, struct mt_abbrev *abbrev,
			    struct mt_abbrev_skip **last,
			    const struct mt_abbrev_attribute *attribute)
{
	if (has_known_size(attribute))
		return !attribute->size || add_bytes(table, abbrev, last, attribute->size);
	if (!open_skip(table, abbrev, last))
		return false;
	(*last)->form = attribute->form;
	return true;
}

/* Which walks have to do with an entry, as far as its tag tells. */
static void classify(struct mt_abbrev *abbrev)
{
	switch (abbrev->tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
		abbrev->wanted = MT_WALK_TABLE | MT_WALK_ASKED;
		abbrev->closed = MT_WALK_OUTLINE;
		break;
	case DW_TAG_lexical_block:
		abbrev->wanted = MT_WALK_ASKED;
		break;
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
	case DW_TAG_array_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_subroutine_type:
		abbrev->closed = MT_WALK_ALL;
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type: /* code only now and then */
		abbrev->closed = MT_WALK_OUTLINE | MT_WALK_LOCAL;
		break;
	}
}

static bool is_scope(const struct mt_abbrev *abbrev)
{
	return abbrev->wanted & MT_WALK_ASKED;
}

/* What the attributes of a scope tell about walks. */
static inline void note_attribute(struct mt_abbrev *abbrev, uint16_t name)
{
	if (name == DW_AT_declaration) {
		abbrev->closed = MT_WALK_ALL;
		abbrev->wanted &= (uint8_t)~MT_WALK_LOCAL;
	} else if (name == DW_AT_abstract_origin) {
		/* what is declared in it stands elsewhere */
		abbrev->closed |= MT_WALK_NESTED | MT_WALK_LOCAL;
	} else if (abbrev->tag == DW_TAG_subprogram &&
		   (name == DW_AT_low_pc || name == DW_AT_ranges))
		abbrev->wanted |= MT_WALK_OUTLINE | MT_WALK_NESTED | MT_WALK_LOCAL;
}

/* Remembers an attribute of a scope; false out of memory. */
static inline bool keep_attribute(struct mt_abbrevs *table, struct mt_abbrev *abbrev,
				  const struct mt_abbrev_attribute *attribute)
{
	struct mt_abbrev_attribute *kept = mt_array_push(&table->attributes);

	if (!kept)
		return false;
	*kept = *attribute;
	abbrev->count++;
	return true;
}

/* Whether an attribute tells what is asked about scopes. */
static inline bool is_of_use(uint16_t name)
{
	static const bool by_name[DW_AT_linkage_name + 1] = {
		[DW_AT_name] = true,	      [DW_AT_low_pc] = true,
		[DW_AT_high_pc] = true,	      [DW_AT_abstract_origin] = true,
		[DW_AT_specification] = true, [DW_AT_ranges] = true,
		[DW_AT_call_file] = true,     [DW_AT_call_line] = true,
		[DW_AT_linkage_name] = true,
	};

	return name < sizeof(by_name) ? by_name[name] : name == DW_AT_MIPS_linkage_name;
}

/* The same, of an entry that is_fixed. */
static inline bool keep_fixed(struct mt_abbrevs *table, struct mt_abbrev *abbrev,
			      const struct mt_abbrev_attribute *attribute)
{
	if (!keep_attribute(table, abbrev, attribute))
		return false;
	if (attribute->name == DW_AT_low_pc)
		abbrev->low = (uint8_t)abbrev->count;
	else if (attribute->name == DW_AT_high_pc)
		abbrev->high = (uint8_t)abbrev->count;
	else if (attribute->name == DW_AT_ranges)
		abbrev->ranges = (uint8_t)abbrev->count;
	return true;
}

/*
 * Adds up the sizes of attributes at c, up to one that is not so simple; *sibling: the last of them
 * says where the next entry is. All that matters of most entries.
 */
static inline uint32_t add_plain_sizes(struct mt_cursor *c, const struct form_sizes *sizes,
				       bool *sibling)
{
	const uint8_t *pos = c->pos, *end = c->end;
	struct short_attribute before = {0};
	uint32_t bytes = 0;

	for (;;) {
		struct short_attribute a = peek_short(pos, end);
		uint8_t size = sizes->plain[a.form & 0x7f];

		if (!a.length || !(a.name | a.form) || size & UNPLAIN)
			break;
		bytes += size;
		pos += a.length;
		before = a;
	}
	c->pos = pos;
	*sibling = before.name == DW_AT_sibling && before.form == DW_FORM_ref4;
	return bytes;
}

/* Attributes of an entry that is no scope: only how to step over them. */
static bool read_other_attributes(struct mt_cursor *c, const struct form_sizes *sizes,
				  struct mt_abbrevs *table, struct mt_abbrev *abbrev)
{
	struct mt_abbrev_skip *skip = &abbrev->skip;

	for (;;) {
		bool sibling;
		uint32_t bytes = add_plain_sizes(c, sizes, &sibling);
		struct mt_abbrev_attribute attribute = read_attribute(c);

		if (bytes && !add_bytes(table, abbrev, &skip, bytes))
			return false;
		if (!attribute.name && !attribute.form) {
			abbrev->ends_in_sibling = sibling;
			return true;
		}
		attribute.size = form_size(sizes, attribute.form);
		if (!add_skip(table, abbrev, &skip, &attribute))
			return false;
	}
}

/* Attributes of a scope, with those of use in their places; where they have none, not is_fixed. */
static bool read_fixed_attributes(struct mt_cursor *c, const struct form_sizes *sizes,
				  struct mt_abbrevs *table, struct mt_abbrev *abbrev)
{
	struct mt_abbrev_skip *skip = &abbrev->skip;

	abbrev->is_fixed = true;
	for (;;) {
		struct mt_abbrev_attribute attribute = read_attribute(c);

		if (!attribute.name && !attribute.form)
			return true;
		attribute.size = form_size(sizes, attribute.form);
		attribute.at = (uint16_t)skip->bytes;
		abbrev->ends_in_sibling =
			attribute.name == DW_AT_sibling && attribute.form == DW_FORM_ref4;
		note_attribute(abbrev, attribute.name);
		if (is_of_use(attribute.name)) {
			abbrev->is_fixed = !abbrev->skip.form && has_known_size(&attribute) &&
					   abbrev->count < FIXED_MAX;
			if (!abbrev->is_fixed)
				return true;
			if (!keep_fixed(table, abbrev, &attribute))
				return false;
		}
		if (!add_skip(table, abbrev, &skip, &attribute))
			return false;
	}
}

static bool read_scope_attributes(struct mt_cursor *c, const struct form_sizes *sizes,
				  struct mt_abbrevs *table, struct mt_abbrev *abbrev)
{
	const struct mt_cursor first = *c;
	struct mt_abbrev_skip *skip = &abbrev->skip;

	if (!read_fixed_attributes(c, sizes, table, abbrev))
		return false;
	if (abbrev->is_fixed)
		return true;
	*c = first;
	table->attributes.count = abbrev->first;
	table->skips.count = abbrev->first_skip;
	*skip = (struct mt_abbrev_skip){0};
	abbrev->skip_count = abbrev->count = 0;
	for (;;) {
		struct mt_abbrev_attribute attribute = read_attribute(c);

		if (!attribute.name && !attribute.form)
			return true;
		attribute.size = form_size(sizes, attribute.form);
		abbrev->ends_in_sibling =
			attribute.name == DW_AT_sibling && attribute.form == DW_FORM_ref4;
		note_attribute(abbrev, attribute.name);
		if (!add_skip(table, abbrev, &skip, &attribute) ||
		    !keep_attribute(table, abbrev, &attribute))
			return false;
	}
}

static bool read_attributes(struct mt_cursor *c, const struct form_sizes *sizes,
			    struct mt_abbrevs *table, struct mt_abbrev *abbrev)
{
	abbrev->first = (uint32_t)table->attributes.count;
	abbrev->first_skip = (uint32_t)table->skips.count;
	if (!(is_scope(abbrev) ? read_scope_attributes(c, sizes, table, abbrev)
			       : read_other_attributes(c, sizes, table, abbrev)))
		return false;
	if (!abbrev->has_children && !abbrev->skip.form)
		abbrev->leaf = (uint8_t)~abbrev->wanted;
	return true;
}

/* How entries of a code are stepped over, where that is told by a few bytes. */
static void list_step(struct mt_abbrevs *table, const struct mt_abbrev *abbrev,
		      struct mt_abbrev_step *out)
{
	const struct mt_abbrev_skip *skip = &abbrev->skip;
	uint8_t jumps = abbrev->has_children && abbrev->ends_in_sibling ? abbrev->closed : 0;
	struct mt_abbrev_step step = {
		.is_function = abbrev->tag == DW_TAG_subprogram,
		.jumps = jumps & (uint8_t)~abbrev->wanted,
		.wanted = abbrev->wanted,
	};
	uint32_t behind = 0;

	if (skip->form == DW_FORM_exprloc)
		step.varies = MT_VARIES_BLOCK;
	else if (skip->form == DW_FORM_string)
		step.varies = MT_VARIES_STRING;
	else if (skip->form)
		return;
	if (abbrev->skip_count) {
		skip = &table->skips.items[abbrev->first_skip];
		behind = skip->bytes;
	}
	if (abbrev->skip_count > 1 || (abbrev->skip_count && skip->form) ||
	    abbrev->skip.bytes >= STEP_MAX || behind >= STEP_MAX)
		return;
	step.bytes = (uint8_t)(abbrev->skip.bytes + 1);
	step.behind = (uint8_t)behind;
	if (abbrev->has_children)
		step.opens = (uint8_t) ~(step.jumps | step.wanted);
	else if (!step.varies)
		step.plain = (uint8_t)~step.wanted;
	*out = step;
}

/* The next code that counts from 1. */
static void count_code(struct mt_abbrevs *table, uint64_t code, const struct mt_abbrev *abbrev)
{
	table->counted++;
	if (code < sizeof(table->steps) / sizeof(table->steps[0]))
		list_step(table, abbrev, &table->steps[code]);
}

static struct mt_error *read_table(struct mt_cursor *c, const struct form_sizes *sizes,
				   struct mt_abbrevs *table)
{
	if (!mt_array_reserve(&table->items, USUAL) || !mt_array_reserve(&table->attributes, USUAL))
		return mt_error_nomem();
	table->steps[0].bytes = 1; /* the end of a level */
	for (;;) {
		uint64_t code = mt_dwarf_uleb(c), tag;
		struct mt_abbrev *abbrev;

		if (c->bad)
			return mt_error_create(MT_ERR_FORMAT, ".debug_abbrev is cut short");
		if (!code)
			return NULL;
		tag = mt_dwarf_uleb(c);
		abbrev = mt_array_push(&table->items);
		if (!abbrev)
			return mt_error_nomem();
		abbrev->tag = tag > UINT16_MAX ? 0 : (uint16_t)tag;
		abbrev->has_children = mt_cursor_u8(c);
		classify(abbrev);
		if (!read_attributes(c, sizes, table, abbrev))
			return mt_error_nomem();
		if (table->attributes.count > ATTRIBUTES_MAX || table->skips.count > ATTRIBUTES_MAX)
			return mt_error_create(MT_ERR_FORMAT, ".debug_abbrev has an absurd table");
		if (code == table->items.count && code == table->counted + 1)
			count_code(table, code, abbrev);
		else if (!mt_map64_put(&table->by_code, code, table->items.count - 1))
			return mt_error_nomem();
	}
}

static struct mt_cursor cursor_at(const struct mt_span *section, uint64_t offset)
{
	struct mt_cursor c = mt_cursor_init(section->bytes, section->bytes ? section->size : 0);

	mt_cursor_bytes(&c, offset);
	return c;
}

struct mt_error *mt_abbrevs_read(const struct mt_span *section, uint64_t offset,
				 const struct mt_abbrev_sizes *sizes, struct mt_abbrevs **out)
{
	MT_CLEANUP(mt_abbrevs_destroy_p) struct mt_abbrevs *table = calloc(1, sizeof(*table));
	const struct form_sizes by_form = form_sizes(sizes);
	struct mt_cursor c = cursor_at(section, offset);
	struct mt_error *err = table ? read_table(&c, &by_form, table) : mt_error_nomem();

	if (err)
		return err;
	mt_array_shrink(&table->items);
	mt_array_shrink(&table->attributes);
	mt_array_shrink(&table->skips);
	*out = MT_TAKE(table);
	return NULL;
}

void mt_abbrevs_destroy(struct mt_abbrevs *table)
{
	if (!table)
		return;
	mt_array_deinit(&table->items);
	mt_array_deinit(&table->attributes);
	mt_array_deinit(&table->skips);
	mt_map64_deinit(&table->by_code);
	free(table);
}

const struct mt_abbrev *mt_abbrevs_find_code(const struct mt_abbrevs *table, uint64_t code)
{
	uint64_t index;

	return mt_map64_get(&table->by_code, code, &index) ? &table->items.items[index] : NULL;
}

bool mt_abbrevs_scan(const struct mt_span *section, uint64_t offset, uint64_t code,
		     uint64_t *budget, struct mt_cursor *c, uint16_t *tag)
{
	*c = cursor_at(section, offset);
	for (;;) {
		const uint8_t *from = c->pos;
		uint64_t found = mt_dwarf_uleb(c);
		struct mt_abbrev_attribute attribute;

		*tag = (uint16_t)mt_dwarf_uleb(c);
		mt_cursor_u8(c);
		if (c->bad || !found || found == code)
			return !c->bad && found;
		do {
			skip_short(c);
			attribute = read_attribute(c);
		} while (attribute.name || attribute.form);
		if (c->bad || (uint64_t)(c->pos - from) > *budget)
			return false;
		*budget -= (uint64_t)(c->pos - from);
	}
}
