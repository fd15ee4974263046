/* Steps over abbreviations and headers of line programs to count their bytes. */
#include "symbols/lines/dwarf_bounds.h"

#include <dwarf.h>
#include <string.h>

#include "formats/base/cursor.h"
#include "formats/base/err.h"
#include "symbols/lines/dwarf_file.h"

enum {
	LINE_PROGRAM_MAX = 4 << 20, /* bytes: 400 MB of rows at most */
	PATHS_MAX = 256 << 20,	    /* bytes of all paths of a unit */
	FORMATS_MAX = 16,	    /* columns in a table of files */
};

/* ---- Abbreviations ---- */

/* Bytes of a table up to the abbreviation of that code, or of all of it if there is none. */
static uint64_t abbrev_bytes(const struct mt_span *abbrev, uint64_t offset, uint64_t code)
{
	struct mt_cursor c = mt_cursor_init(abbrev->bytes, abbrev->bytes ? abbrev->size : 0);
	uint64_t found, name, form;

	mt_cursor_bytes(&c, offset);
	while (!c.bad && (found = mt_cursor_uleb(&c))) {
		mt_cursor_uleb(&c); /* tag */
		mt_cursor_u8(&c);   /* children */
		do {
			name = mt_cursor_uleb(&c);
			form = mt_cursor_uleb(&c);
			if (form == DW_FORM_implicit_const)
				mt_cursor_sleb(&c);
		} while (!c.bad && (name || form));
		if (found == code)
			break;
	}
	return c.bad || !c.pos ? abbrev->size : (uint64_t)(c.pos - abbrev->bytes) - offset;
}

bool mt_dwarf_bound_entry(struct mt_dwarf_file *file, uint64_t entry, uint64_t abbrev_offset)
{
	struct mt_cursor c = mt_cursor_init(file->info.bytes, file->info.size);

	mt_cursor_bytes(&c, entry);
	return mt_dwarf_spend(&file->budget,
			      abbrev_bytes(&file->abbrev, abbrev_offset, mt_cursor_uleb(&c)));
}

bool mt_dwarf_bound_unit(struct mt_dwarf_file *file, uint64_t size, uint64_t abbrev_offset)
{
	return mt_dwarf_spend(&file->budget, size + abbrev_bytes(&file->abbrev, abbrev_offset, 0));
}

/* ---- Line programs ---- */

struct header {
	const struct mt_dwarf_file *file;
	struct mt_cursor c;
	uint8_t offset_size;
	uint64_t comp_dir;	/* length of the compilation directory */
	uint64_t directory_max; /* length of the longest directory */
	uint64_t paths;		/* bytes of all paths */
};

static uint64_t offset_of(struct header *h)
{
	return h->offset_size == 8 ? mt_cursor_u64(&h->c) : mt_cursor_u32(&h->c);
}

static uint64_t length_at(const struct mt_span *strings, uint64_t offset)
{
	if (!strings->bytes || offset >= strings->size)
		return 0;
	return strnlen((const char *)strings->bytes + offset, strings->size - offset);
}

/* Steps over a value; returns its length if it is or refers to a string. */
static uint64_t string_length(struct header *h, uint64_t form)
{
	const char *string;

	switch (form) {
	case DW_FORM_string:
		string = mt_cursor_cstring(&h->c);
		return string ? strlen(string) : 0;
	case DW_FORM_line_strp:
		return length_at(&h->file->line_str, offset_of(h));
	case DW_FORM_strp:
		return length_at(&h->file->str, offset_of(h));
	case DW_FORM_udata:
		mt_cursor_uleb(&h->c);
		return 0;
	case DW_FORM_data1:
		mt_cursor_u8(&h->c);
		return 0;
	case DW_FORM_data2:
		mt_cursor_u16(&h->c);
		return 0;
	case DW_FORM_data4:
		mt_cursor_u32(&h->c);
		return 0;
	case DW_FORM_data8:
		mt_cursor_u64(&h->c);
		return 0;
	case DW_FORM_data16:
		mt_cursor_bytes(&h->c, 16);
		return 0;
	case DW_FORM_block:
		mt_cursor_bytes(&h->c, mt_cursor_uleb(&h->c));
		return 0;
	default: /* no compiler uses other forms here */
		h->c.bad = true;
		return 0;
	}
}

static void add_directory(struct header *h, uint64_t length)
{
	h->directory_max = length > h->directory_max ? length : h->directory_max;
	h->paths += h->comp_dir + length + 2;
}

static void add_file(struct header *h, uint64_t length)
{
	h->paths += h->comp_dir + h->directory_max + length + 3;
}

/* Reads a table of version 5: its columns, then its rows. */
static void add_table(struct header *h, void (*add)(struct header *h, uint64_t length))
{
	uint64_t forms[FORMATS_MAX], count;
	uint8_t columns = mt_cursor_u8(&h->c);

	h->c.bad |= columns > FORMATS_MAX;
	for (uint8_t i = 0; i < columns && !h->c.bad; i++) {
		mt_cursor_uleb(&h->c); /* content type */
		forms[i] = mt_cursor_uleb(&h->c);
	}
	count = mt_cursor_uleb(&h->c);
	h->c.bad |= count > mt_cursor_left(&h->c);
	for (uint64_t i = 0; i < count && !h->c.bad && h->paths < PATHS_MAX; i++) {
		uint64_t length = 0;

		for (uint8_t k = 0; k < columns && !h->c.bad; k++)
			length += string_length(h, forms[k]);
		add(h, length);
	}
}

/*
 * Reads the tables of versions before 5: strings up to an empty one. Programs can add further
 * files.
 */
static void add_old_tables(struct header *h)
{
	const char *name;
	uint64_t program = mt_cursor_left(&h->c);

	while ((name = mt_cursor_cstring(&h->c)) && *name)
		add_directory(h, strlen(name));
	while ((name = mt_cursor_cstring(&h->c)) && *name) {
		mt_cursor_uleb(&h->c);
		mt_cursor_uleb(&h->c);
		mt_cursor_uleb(&h->c);
		add_file(h, strlen(name));
		if (h->paths >= PATHS_MAX)
			return;
	}
	h->paths += program / 8 * (h->comp_dir + h->directory_max);
}

/* Reads the header from the version on. */
static void read_header(struct header *h)
{
	uint16_t version = mt_cursor_u16(&h->c);
	uint8_t opcodes;

	if (version >= 5)
		mt_cursor_u16(&h->c); /* sizes of addresses and segment selectors */
	offset_of(h);		      /* length of the header */
	mt_cursor_bytes(&h->c, version >= 4 ? 5 : 4);
	opcodes = mt_cursor_u8(&h->c);
	mt_cursor_bytes(&h->c, opcodes ? opcodes - 1U : 0);
	if (version < 5) {
		add_old_tables(h);
	} else {
		add_table(h, add_directory);
		add_table(h, add_file);
	}
}

struct mt_error *mt_dwarf_bound_lines(struct mt_dwarf_file *file, uint64_t offset,
				      const char *comp_dir, uint64_t *size)
{
	struct mt_cursor c = mt_cursor_init(file->line.bytes, file->line.size);
	struct header h = {.file = file, .offset_size = 4};
	uint64_t length;

	mt_cursor_bytes(&c, offset);
	length = mt_cursor_u32(&c);
	if (length == UINT32_MAX) {
		h.offset_size = 8;
		length = mt_cursor_u64(&c);
	}
	h.c = mt_cursor_sub(&c, length);
	h.comp_dir = comp_dir ? strlen(comp_dir) : 0;
	if (!h.c.bad && length <= LINE_PROGRAM_MAX)
		read_header(&h);
	if (h.c.bad)
		return mt_error_create(MT_ERR_FORMAT, ".debug_line: program at 0x%llx is cut short",
				       (unsigned long long)offset);
	if (length > LINE_PROGRAM_MAX || h.paths >= PATHS_MAX ||
	    !mt_dwarf_spend(&file->budget, length))
		return mt_error_create(MT_ERR_FORMAT,
				       ".debug_line: program at 0x%llx is larger than is read",
				       (unsigned long long)offset);
	*size = length;
	return NULL;
}
