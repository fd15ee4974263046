/*
 * The values of attributes: one for each form, and the strings, addresses and entries that they
 * lead to.
 */
#include "symbols/dwarf.h"

struct mt_dwarf_leb mt_dwarf_long_uleb(const uint8_t *pos, const uint8_t *end)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	if (end - pos > 3 && (mt_get_le32(pos) & 0x808080) == 0x8080) { /* as most of them are */
		value = (pos[0] & 0x7fU) | (pos[1] & 0x7fU) << 7 | (unsigned int)pos[2] << 14;
		return (struct mt_dwarf_leb){value, pos + 3};
	}
	for (; pos < end; pos++, shift += 7) {
		if (shift < 64)
			value |= (uint64_t)(*pos & 0x7f) << shift;
		if (!(*pos & 0x80))
			return (struct mt_dwarf_leb){value, pos + 1};
	}
	return (struct mt_dwarf_leb){0};
}

struct mt_dwarf_leb mt_dwarf_long_sleb(const uint8_t *pos, const uint8_t *end)
{
	struct mt_dwarf_leb leb = mt_dwarf_long_uleb(pos, end);
	size_t bits = leb.end ? 7 * (size_t)(leb.end - pos) : 64;

	if (bits < 64 && (leb.end[-1] & 0x40))
		leb.number |= ~UINT64_C(0) << bits;
	return leb;
}

uint64_t mt_dwarf_offset(struct mt_cursor *c, uint8_t size)
{
	return size == 8 ? mt_cursor_u64(c) : mt_cursor_u32(c);
}

uint64_t mt_dwarf_address(struct mt_cursor *c, uint8_t size)
{
	return size == 8 ? mt_cursor_u64(c) : mt_cursor_u32(c);
}

static uint64_t read_3_bytes(struct mt_cursor *c)
{
	uint64_t low = mt_cursor_u16(c);

	return low | (uint64_t)mt_cursor_u8(c) << 16;
}

/* Blocks: what they hold is of no use here. */
static void skip_block(struct mt_cursor *c, uint16_t form)
{
	uint64_t size = form == DW_FORM_block1	 ? mt_cursor_u8(c)
			: form == DW_FORM_block2 ? mt_cursor_u16(c)
			: form == DW_FORM_block4 ? mt_cursor_u32(c)
						 : mt_dwarf_uleb(c);

	mt_cursor_bytes(c, size);
}

/* The sizes of forms that are a number of bytes; 0 for other forms. */
static unsigned int number_size(const struct mt_dwarf_unit *unit, uint16_t form)
{
	switch (form) {
	case DW_FORM_addr:
		return unit->address_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return unit->offset_size;
	case DW_FORM_ref_addr: /* an address in version 2 */
		return unit->version < 3 ? unit->address_size : unit->offset_size;
	case DW_FORM_data1:
	case DW_FORM_flag:
	case DW_FORM_ref1:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	default:
		return 0;
	}
}

static uint64_t read_number(struct mt_cursor *c, unsigned int size)
{
	switch (size) {
	case 1:
		return mt_cursor_u8(c);
	case 2:
		return mt_cursor_u16(c);
	case 3:
		return read_3_bytes(c);
	case 4:
		return mt_cursor_u32(c);
	default:
		return mt_cursor_u64(c);
	}
}

void mt_dwarf_value(const struct mt_dwarf_unit *unit, struct mt_cursor *c, uint16_t form,
		    int64_t implicit, struct mt_dwarf_value *out)
{
	unsigned int size = number_size(unit, form);

	out->form = form;
	out->string = NULL;
	if (size) {
		out->number = read_number(c, size);
		return;
	}
	switch (form) {
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		out->number = mt_dwarf_uleb(c);
		return;
	case DW_FORM_sdata:
		out->number = (uint64_t)mt_dwarf_sleb(c);
		return;
	case DW_FORM_implicit_const:
		out->number = (uint64_t)implicit;
		return;
	case DW_FORM_flag_present:
		out->number = 1;
		return;
	case DW_FORM_string:
		out->number = 0;
		out->string = mt_cursor_cstring(c);
		return;
	case DW_FORM_data16:
		out->number = mt_cursor_u64(c);
		mt_cursor_u64(c);
		return;
	case DW_FORM_block:
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
	case DW_FORM_exprloc:
		out->number = 0;
		skip_block(c, form);
		return;
	case DW_FORM_indirect:
		form = (uint16_t)mt_dwarf_uleb(c);
		if (form != DW_FORM_indirect && form != DW_FORM_implicit_const) {
			mt_dwarf_value(unit, c, form, 0, out);
			return;
		}
		break;
	}
	c->bad = true;
	out->number = 0;
}

static const char *string_at(const struct mt_span *section, uint64_t offset)
{
	struct mt_cursor c;

	if (!section->bytes || offset >= section->size)
		return NULL;
	if (!section->bytes[section->size - 1]) /* which ends every string in it */
		return (const char *)section->bytes + offset;
	c = mt_cursor_init(section->bytes + offset, section->size - offset);
	return mt_cursor_cstring(&c);
}

/* Entry `index` of a table of numbers in a section, `base` bytes in. */
static bool indexed(const struct mt_span *section, uint64_t base, uint64_t index, uint8_t size,
		    uint64_t *out)
{
	struct mt_cursor c = mt_cursor_init(section->bytes, section->bytes ? section->size : 0);
	uint64_t offset;

	if (__builtin_mul_overflow(index, (uint64_t)size, &offset) ||
	    __builtin_add_overflow(offset, base, &offset))
		return false;
	mt_cursor_bytes(&c, offset);
	*out = read_number(&c, size);
	return !c.bad;
}

const char *mt_dwarf_string(const struct mt_dwarf_unit *unit, const struct mt_dwarf_value *value)
{
	struct mt_dwarf *supplement;
	uint64_t offset;

	switch (value->form) {
	case DW_FORM_string:
		return value->string;
	case DW_FORM_strp:
		return string_at(&unit->file->str, value->number);
	case DW_FORM_line_strp:
		return string_at(&unit->file->line_str, value->number);
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		if (!indexed(&unit->str_offsets, unit->str_offsets_base, value->number,
			     unit->offset_size, &offset))
			return NULL;
		return string_at(&unit->file->str, offset);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		supplement = mt_dwarf_supplement(unit->file);
		return supplement ? string_at(&supplement->str, value->number) : NULL;
	default:
		return NULL;
	}
}

bool mt_dwarf_indexed_address(const struct mt_dwarf_unit *unit, uint64_t index, uint64_t *out)
{
	return indexed(&unit->addr, unit->addr_base, index, unit->address_size, out);
}

bool mt_dwarf_value_address(const struct mt_dwarf_unit *unit, const struct mt_dwarf_value *value,
			    uint64_t *out)
{
	switch (value->form) {
	case DW_FORM_addr:
		*out = value->number;
		return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return mt_dwarf_indexed_address(unit, value->number, out);
	default:
		return false;
	}
}

bool mt_dwarf_reference(struct mt_dwarf_unit *unit, const struct mt_dwarf_value *value,
			struct mt_dwarf_unit **to, uint64_t *offset)
{
	struct mt_dwarf *file = unit->file;
	uint64_t target = value->number;

	switch (value->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		if (target >= unit->end - unit->offset)
			return false;
		*to = unit;
		*offset = unit->offset + target;
		return *offset >= unit->entries;
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_GNU_ref_alt:
		file = mt_dwarf_supplement(file);
		break;
	case DW_FORM_ref_addr:
		break;
	default:
		return false;
	}
	if (file == unit->file && target >= unit->entries && target < unit->end)
		*to = unit; /* split units are in no list */
	else
		*to = file ? mt_dwarf_unit_at(file, target) : NULL;
	*offset = target;
	return *to && target >= (*to)->entries;
}
