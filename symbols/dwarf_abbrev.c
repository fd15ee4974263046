/*
 * Tables of abbreviations: which attributes, in which forms, the entries of a unit have.
 */
#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "symbols/dwarf.h"

MT_DEFINE_CLEANUP(mt_abbrevs, struct mt_abbrevs)

enum {
	ATTRIBUTES_MAX = 16 << 20, /* of one table; the largest seen have 20 K */
};

static inline struct mt_abbrev_attribute read_attribute(struct mt_cursor *c)
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

struct mt_abbrev_attribute mt_abbrev_attribute_read(struct mt_cursor *c)
{
	return read_attribute(c);
}

/* How many bytes a value of the form takes; 0 where that varies, or it takes none. */
static uint8_t form_size(uint16_t form, const struct mt_abbrev_sizes *unit)
{
	static const uint8_t sizes[] = {
		[DW_FORM_data1] = 1,	[DW_FORM_flag] = 1,	[DW_FORM_ref1] = 1,
		[DW_FORM_strx1] = 1,	[DW_FORM_addrx1] = 1,	[DW_FORM_data2] = 2,
		[DW_FORM_ref2] = 2,	[DW_FORM_strx2] = 2,	[DW_FORM_addrx2] = 2,
		[DW_FORM_strx3] = 3,	[DW_FORM_addrx3] = 3,	[DW_FORM_data4] = 4,
		[DW_FORM_ref4] = 4,	[DW_FORM_strx4] = 4,	[DW_FORM_addrx4] = 4,
		[DW_FORM_ref_sup4] = 4, [DW_FORM_data8] = 8,	[DW_FORM_ref8] = 8,
		[DW_FORM_ref_sig8] = 8, [DW_FORM_ref_sup8] = 8, [DW_FORM_data16] = 16,
	};

	switch (form) {
	case DW_FORM_addr:
		return unit->address;
	case DW_FORM_ref_addr:
		return unit->ref_addr;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return unit->offset;
	default:
		return form < sizeof(sizes) ? sizes[form] : 0;
	}
}

/* Adds a value to the steps over an entry; false out of memory. */
static bool add_skip(struct mt_abbrevs *table, struct mt_abbrev *abbrev,
		     const struct mt_abbrev_attribute *attribute)
{
	struct mt_abbrev_skip *skip =
		abbrev->skip_count ? &table->skips.items[table->skips.count - 1] : NULL;

	if (attribute->form == DW_FORM_flag_present || attribute->form == DW_FORM_implicit_const)
		return true;
	if (!skip || skip->form) {
		skip = mt_array_push(&table->skips);
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

static bool read_attributes(struct mt_cursor *c, const struct mt_abbrev_sizes *sizes,
			    struct mt_abbrevs *table, struct mt_abbrev *abbrev)
{
	abbrev->first = (uint32_t)table->attributes.count;
	abbrev->first_skip = (uint32_t)table->skips.count;
	for (;;) {
		struct mt_abbrev_attribute attribute = read_attribute(c), *kept;

		if (!attribute.name && !attribute.form)
			break;
		attribute.size = form_size(attribute.form, sizes);
		abbrev->ends_in_sibling =
			attribute.name == DW_AT_sibling && attribute.form == DW_FORM_ref4;
		if (!add_skip(table, abbrev, &attribute))
			return false;
		if (!abbrev->is_scope)
			continue;
		if (attribute.name == DW_AT_low_pc || attribute.name == DW_AT_ranges)
			abbrev->is_function = abbrev->tag == DW_TAG_subprogram;
		kept = mt_array_push(&table->attributes);
		if (!kept)
			return false;
		*kept = attribute;
	}
	abbrev->count = (uint32_t)table->attributes.count - abbrev->first;
	return true;
}

static void classify(struct mt_abbrev *abbrev)
{
	switch (abbrev->tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
		abbrev->is_scope = true;
		abbrev->is_rarely_code = true; /* as for what is in it */
		break;
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
	case DW_TAG_array_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_subroutine_type:
		abbrev->is_without_code = true;
		abbrev->is_rarely_code = true;
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		abbrev->is_rarely_code = true;
		break;
	}
}

static struct mt_error *read_table(struct mt_cursor *c, const struct mt_abbrev_sizes *sizes,
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
		abbrev->code = code;
		abbrev->tag = tag > UINT16_MAX ? 0 : (uint16_t)tag;
		abbrev->has_children = mt_cursor_u8(c);
		classify(abbrev);
		if (!read_attributes(c, sizes, table, abbrev))
			return mt_error_nomem();
		if (table->attributes.count > ATTRIBUTES_MAX || table->skips.count > ATTRIBUTES_MAX)
			return mt_error_create(MT_ERR_FORMAT, ".debug_abbrev has an absurd table");
		if (code != table->items.count &&
		    !mt_map64_put(&table->by_code, code, table->items.count - 1))
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
	struct mt_cursor c = cursor_at(section, offset);
	struct mt_error *err = table ? read_table(&c, sizes, table) : mt_error_nomem();

	if (!err)
		*out = MT_TAKE(table);
	return err;
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
		do
			attribute = read_attribute(c);
		while (attribute.name || attribute.form);
		if (c->bad || (uint64_t)(c->pos - from) > *budget)
			return false;
		*budget -= (uint64_t)(c->pos - from);
	}
}
