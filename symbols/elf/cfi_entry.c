/*
 * Parses CIEs and FDEs of .eh_frame and .debug_frame: lengths, augmentations (zR zPLR S B, and the
 * old "eh"), and all pointer encodings. cfi.c finds the entry for an address, cfi_program.c runs
 * its program.
 */
#include "symbols/elf/cfi_entry.h"

#include "formats/base/cursor.h"

static uint64_t section_address(const struct mt_cfi_section *section, const uint8_t *pos)
{
	return section->span.vaddr + (uint64_t)(pos - section->span.bytes);
}

static uint64_t pointer_value(struct mt_cursor *c, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case MT_CFI_PE_ABSPTR:
	case MT_CFI_PE_UDATA8:
	case MT_CFI_PE_SDATA8:
		return mt_cursor_u64(c);
	case MT_CFI_PE_UDATA4:
		return mt_cursor_u32(c);
	case MT_CFI_PE_SDATA4:
		return (uint64_t)(int64_t)(int32_t)mt_cursor_u32(c);
	case MT_CFI_PE_UDATA2:
		return mt_cursor_u16(c);
	case MT_CFI_PE_SDATA2:
		return (uint64_t)(int64_t)(int16_t)mt_cursor_u16(c);
	case MT_CFI_PE_ULEB128:
		return mt_cursor_uleb(c);
	case MT_CFI_PE_SLEB128:
		return (uint64_t)mt_cursor_sleb(c);
	default:
		c->bad = true;
		return 0;
	}
}

bool mt_cfi_pointer_read(struct mt_cursor *c, uint8_t encoding,
			 const struct mt_cfi_section *section, uint64_t function, uint64_t *out)
{
	uint64_t base = 0, value;

	if (encoding == MT_CFI_PE_OMIT || (encoding & MT_CFI_PE_INDIRECT) || c->bad)
		return false;
	switch (encoding & 0x70) {
	case 0:
		break;
	case MT_CFI_PE_PCREL:
		base = section_address(section, c->pos);
		break;
	case MT_CFI_PE_DATAREL:
		base = section->data_base;
		break;
	case MT_CFI_PE_FUNCREL:
		base = function;
		break;
	case MT_CFI_PE_ALIGNED:
		mt_cursor_bytes(c, -section_address(section, c->pos) & 7);
		break;
	default:
		return false;
	}
	value = pointer_value(c, encoding);
	if (c->bad)
		return false;
	*out = base + value;
	return true;
}

/*
 * In .eh_frame, an id of 0 marks a CIE; any other id is the distance back to the CIE. In
 * .debug_frame, an id of all ones marks a CIE; any other id is the offset of the CIE.
 */
static bool entry_id(const struct mt_cfi_section *section, size_t id_at, uint64_t id, bool wide,
		     struct mt_cfi_entry *out)
{
	if (section->debug_frame) {
		out->cie = wide ? id == UINT64_MAX : id == UINT32_MAX;
		out->cie_offset = id;
		return out->cie || id < section->span.size;
	}
	out->cie = id == 0;
	out->cie_offset = id_at - id;
	return id <= id_at;
}

bool mt_cfi_entry_read(const struct mt_cfi_section *section, size_t offset,
		       struct mt_cfi_entry *out)
{
	const uint8_t *bytes = section->span.bytes;
	struct mt_cursor c;
	uint64_t length, id;
	size_t id_at;
	bool wide;

	if (offset >= section->span.size)
		return false;
	c = mt_cursor_init(bytes + offset, section->span.size - offset);
	length = mt_cursor_u32(&c);
	wide = length == UINT32_MAX;
	if (wide)
		length = mt_cursor_u64(&c);
	out->terminator = length == 0 && !c.bad;
	out->body = mt_cursor_sub(&c, length);
	if (c.bad)
		return false;
	out->next = (size_t)(c.pos - bytes);
	if (out->terminator)
		return true;
	id_at = (size_t)(out->body.pos - bytes);
	id = wide ? mt_cursor_u64(&out->body) : mt_cursor_u32(&out->body);
	return !out->body.bad && entry_id(section, id_at, id, wide, out);
}

/*
 * Reads the augmentation data of a 'z' CIE letter by letter. Stops at an unknown letter, because
 * the size of the data is known.
 */
static bool cie_augmentation(const struct mt_cfi_section *section, const char *letters,
			     struct mt_cursor *data, struct mt_cfi_cie *out)
{
	uint8_t encoding;

	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			out->encoding = mt_cursor_u8(data);
			break;
		case 'P':
			encoding = mt_cursor_u8(data);
			if ((encoding & 0x70) == MT_CFI_PE_ALIGNED)
				mt_cursor_bytes(data, -section_address(section, data->pos) & 7);
			pointer_value(data, encoding);
			break;
		case 'L':
			mt_cursor_u8(data);
			break;
		case 'S':
			out->signal = true;
			break;
		case 'B': /* AArch64: return addresses signed with the B key */
		case 'G': /* AArch64: tagged stack */
			break;
		default:
			return !data->bad;
		}
	}
	return !data->bad;
}

/*
 * Version 4 has the sizes of addresses and segment selectors. Only flat 8-byte addresses are
 * supported.
 */
static bool cie_version(struct mt_cursor *c, uint8_t version, const char *augmentation)
{
	if (version != 1 && version != 3 && version != 4)
		return false;
	if (augmentation[0] == 'e' && augmentation[1] == 'h')
		mt_cursor_u64(c);
	return version != 4 || (mt_cursor_u8(c) == 8 && mt_cursor_u8(c) == 0);
}

static bool cie_parse(const struct mt_cfi_section *section, struct mt_cursor c,
		      struct mt_cfi_cie *out)
{
	uint8_t version = mt_cursor_u8(&c);
	const char *augmentation = mt_cursor_cstring(&c);
	struct mt_cursor data;

	if (!augmentation || !cie_version(&c, version, augmentation))
		return false;
	*out = (struct mt_cfi_cie){.encoding = MT_CFI_PE_ABSPTR, .sized = augmentation[0] == 'z'};
	out->code_align = mt_cursor_uleb(&c);
	out->data_align = mt_cursor_sleb(&c);
	out->return_register = version == 1 ? mt_cursor_u8(&c) : mt_cursor_uleb(&c);
	if (out->sized) {
		data = mt_cursor_sub(&c, mt_cursor_uleb(&c));
		if (c.bad || !cie_augmentation(section, augmentation + 1, &data, out))
			return false;
	} else if (augmentation[0] && !(augmentation[0] == 'e' && augmentation[1] == 'h')) {
		return false;
	}
	out->program = c;
	return !c.bad;
}

bool mt_cfi_cie_read(const struct mt_cfi_section *section, size_t offset, struct mt_cfi_cie *out)
{
	struct mt_cfi_entry entry;

	return mt_cfi_entry_read(section, offset, &entry) && !entry.terminator && entry.cie &&
	       cie_parse(section, entry.body, out);
}

bool mt_cfi_fde_read_body(const struct mt_cfi_section *section, const struct mt_cfi_entry *entry,
			  struct mt_cfi_fde *fde)
{
	struct mt_cursor c = entry->body;
	uint8_t encoding = fde->cie.encoding;
	uint64_t length;

	if (!mt_cfi_pointer_read(&c, encoding, section, 0, &fde->start) ||
	    !mt_cfi_pointer_read(&c, encoding & 0x0f, section, 0, &length) ||
	    __builtin_add_overflow(fde->start, length, &fde->end))
		return false;
	if (fde->cie.sized)
		mt_cursor_bytes(&c, mt_cursor_uleb(&c));
	fde->program = c;
	return !c.bad;
}

bool mt_cfi_fde_read(const struct mt_cfi_section *section, size_t offset, struct mt_cfi_fde *out)
{
	struct mt_cfi_entry entry;

	return mt_cfi_entry_read(section, offset, &entry) && !entry.terminator && !entry.cie &&
	       mt_cfi_cie_read(section, entry.cie_offset, &out->cie) &&
	       mt_cfi_fde_read_body(section, &entry, out);
}
