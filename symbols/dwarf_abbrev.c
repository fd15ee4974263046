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
	ATTRIBUTES_MAX = 16 << 20, /* of one table; the largest seen have 20 K */
};

/* Most names and forms are one byte. */
static inline bool is_short(const struct mt_cursor *c)
{
	return c->end - c->pos > 1 && (c->pos[0] | c->pos[1]) < 0x80 &&
	       c->pos[1] != DW_FORM_implicit_const;
}

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

static inline __attribute__((always_inline)) struct mt_abbrev_attribute read_attribute(
	struct mt_cursor *c)
{
	if (c->bad || !is_short(c))
		return mt_abbrev_attribute_read(c);
	c->pos += 2;
	return (struct mt_abbrev_attribute){.name = c->pos[-2], .form = c->pos[-1]};
}

/* ---- Sizes ---- */

/* How many bytes values take by their form; 0 where that varies, or they take none. */
struct form_sizes {
	uint8_t offset;
	uint8_t by_form[256];
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
	return sizes;
}

static inline uint8_t form_size(const struct form_sizes *sizes, uint16_t form)
{
	if (form == DW_FORM_GNU_ref_alt || form == DW_FORM_GNU_strp_alt)
		return sizes->offset;
	return form < sizeof(sizes->by_form) ? sizes->by_form[form] : 0;
}

/* ---- Tables ---- */

/* Adds a value to the steps over an entry; false out of memory. */
static bool add_skip(struct mt_abbrevs *table, struct mt_abbrev *abbrev,
		     struct mt_abbrev_skip **last, const struct mt_abbrev_attribute *attribute)
{
	struct mt_abbrev_skip *skip = *last;

	if (attribute->form == DW_FORM_flag_present || attribute->form == DW_FORM_implicit_const)
		return true;
	if (skip->form) {
		skip = *last = mt_array_push(&table->skips);
		if (!skip)
			return false;
		abbrev->skip_count++;
	}
	if (attribute->size)
		skip->bytes += attribute->size;
	else
		skip->form = attribute->form;
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
		abbrev->closed = MT_WALK_OUTLINE;
		break;
	}
}

static bool is_scope(const struct mt_abbrev *abbrev)
{
	return abbrev->wanted & MT_WALK_ASKED;
}

/* Remembers an attribute of a scope; false out of memory. */
static bool keep_attribute(struct mt_abbrevs *table, struct mt_abbrev *abbrev,
			   const struct mt_abbrev_attribute *attribute)
{
	struct mt_abbrev_attribute *kept = mt_array_push(&table->attributes);

	if (!kept)
		return false;
	*kept = *attribute;
	abbrev->count++;
	if (attribute->name == DW_AT_declaration)
		abbrev->closed = MT_WALK_ALL;
	else if (attribute->name == DW_AT_abstract_origin)
		abbrev->closed |= MT_WALK_NESTED; /* what is declared in it stands elsewhere */
	else if (abbrev->tag == DW_TAG_subprogram &&
		 (attribute->name == DW_AT_low_pc || attribute->name == DW_AT_ranges))
		abbrev->wanted |= MT_WALK_OUTLINE | MT_WALK_NESTED;
	return true;
}

/* Whether an attribute tells what is asked about scopes. */
static bool is_of_use(uint16_t name)
{
	switch (name) {
	case DW_AT_name:
	case DW_AT_low_pc:
	case DW_AT_high_pc:
	case DW_AT_abstract_origin:
	case DW_AT_specification:
	case DW_AT_ranges:
	case DW_AT_call_file:
	case DW_AT_call_line:
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		return true;
	default:
		return false;
	}
}

/* Drops what nobody asks for from attributes that are found without those before them. */
static void reduce_attributes(struct mt_abbrevs *table, struct mt_abbrev *abbrev)
{
	struct mt_abbrev_attribute *own;
	uint32_t kept = 0;

	if (!abbrev->count)
		return;
	own = table->attributes.items + abbrev->first;
	for (uint32_t i = 0; i < abbrev->count; i++) {
		if (!is_of_use(own[i].name))
			continue;
		own[kept++] = own[i];
		if (own[i].name == DW_AT_low_pc)
			abbrev->low = (uint8_t)kept;
		else if (own[i].name == DW_AT_high_pc)
			abbrev->high = (uint8_t)kept;
		else if (own[i].name == DW_AT_ranges)
			abbrev->ranges = (uint8_t)kept;
	}
	abbrev->count = kept;
	table->attributes.count = abbrev->first + kept;
}

static bool read_attributes(struct mt_cursor *c, const struct form_sizes *sizes,
			    struct mt_abbrevs *table, struct mt_abbrev *abbrev)
{
	struct mt_abbrev_skip *skip = &abbrev->skip;

	abbrev->first = (uint32_t)table->attributes.count;
	abbrev->first_skip = (uint32_t)table->skips.count;
	abbrev->is_fixed = is_scope(abbrev);
	for (;;) {
		struct mt_abbrev_attribute attribute = read_attribute(c);

		if (!attribute.name && !attribute.form)
			break;
		attribute.size = form_size(sizes, attribute.form);
		attribute.at = (uint16_t)skip->bytes;
		abbrev->ends_in_sibling =
			attribute.name == DW_AT_sibling && attribute.form == DW_FORM_ref4;
		if (!add_skip(table, abbrev, &skip, &attribute))
			return false;
		abbrev->is_fixed &= !skip->form;
		if (is_scope(abbrev) && !keep_attribute(table, abbrev, &attribute))
			return false;
	}
	abbrev->is_fixed &= abbrev->count < FIXED_MAX;
	if (abbrev->is_fixed)
		reduce_attributes(table, abbrev);
	if (!abbrev->has_children && !abbrev->skip.form)
		abbrev->leaf = (uint8_t)~abbrev->wanted;
	return true;
}

/* The next code that counts from 1. */
static void count_code(struct mt_abbrevs *table, uint64_t code, const struct mt_abbrev *abbrev)
{
	table->counted++;
	if (code < 0x80 && abbrev->leaf == UINT8_MAX && abbrev->skip.bytes < UINT8_MAX)
		table->steps[code] = (uint8_t)(abbrev->skip.bytes + 1);
}

static struct mt_error *read_table(struct mt_cursor *c, const struct form_sizes *sizes,
				   struct mt_abbrevs *table)
{
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
			while (is_short(c) && (c->pos[0] | c->pos[1]))
				c->pos += 2;
			attribute = read_attribute(c);
		} while (attribute.name || attribute.form);
		if (c->bad || (uint64_t)(c->pos - from) > *budget)
			return false;
		*budget -= (uint64_t)(c->pos - from);
	}
}
