/*
 * What the files of the DWARF reader share: one file's debug sections, its units, and how to read
 * an entry's attributes. Versions 2 to 5, 32-bit and 64-bit offsets, split and supplementary files.
 * Every byte goes through a cursor; whatever is corrupt ends in an error or an absent value. Nobody
 * but symbols/lines.c and the dwarf_*.c includes this.
 */
#ifndef MT_SYMBOLS_DWARF_H
#define MT_SYMBOLS_DWARF_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/base/cursor.h"
#include "formats/base/map64.h"
#include "symbols/elf.h"
#include "symbols/interval_table.h"

struct mt_error;

/* The numbers of the standard that are used here, under its names. */
enum {
	DW_TAG_array_type = 0x01,
	DW_TAG_class_type = 0x02,
	DW_TAG_enumeration_type = 0x04,
	DW_TAG_lexical_block = 0x0b,
	DW_TAG_structure_type = 0x13,
	DW_TAG_subroutine_type = 0x15,
	DW_TAG_union_type = 0x17,
	DW_TAG_inlined_subroutine = 0x1d,
	DW_TAG_subprogram = 0x2e,
	DW_TAG_call_site = 0x48,
	DW_TAG_GNU_call_site = 0x4109,

	DW_AT_sibling = 0x01,
	DW_AT_name = 0x03,
	DW_AT_stmt_list = 0x10,
	DW_AT_low_pc = 0x11,
	DW_AT_high_pc = 0x12,
	DW_AT_comp_dir = 0x1b,
	DW_AT_abstract_origin = 0x31,
	DW_AT_declaration = 0x3c,
	DW_AT_specification = 0x47,
	DW_AT_ranges = 0x55,
	DW_AT_call_file = 0x58,
	DW_AT_call_line = 0x59,
	DW_AT_linkage_name = 0x6e,
	DW_AT_str_offsets_base = 0x72,
	DW_AT_addr_base = 0x73,
	DW_AT_rnglists_base = 0x74,
	DW_AT_dwo_name = 0x76,
	DW_AT_MIPS_linkage_name = 0x2007,
	DW_AT_GNU_dwo_name = 0x2130,
	DW_AT_GNU_dwo_id = 0x2131,
	DW_AT_GNU_ranges_base = 0x2132,
	DW_AT_GNU_addr_base = 0x2133,

	DW_UT_compile = 1,
	DW_UT_type = 2,
	DW_UT_skeleton = 4,
	DW_UT_split_compile = 5,
	DW_UT_split_type = 6,

	DW_FORM_addr = 0x01,
	DW_FORM_block2 = 0x03,
	DW_FORM_block4 = 0x04,
	DW_FORM_data2 = 0x05,
	DW_FORM_data4 = 0x06,
	DW_FORM_data8 = 0x07,
	DW_FORM_string = 0x08,
	DW_FORM_block = 0x09,
	DW_FORM_block1 = 0x0a,
	DW_FORM_data1 = 0x0b,
	DW_FORM_flag = 0x0c,
	DW_FORM_sdata = 0x0d,
	DW_FORM_strp = 0x0e,
	DW_FORM_udata = 0x0f,
	DW_FORM_ref_addr = 0x10,
	DW_FORM_ref1 = 0x11,
	DW_FORM_ref2 = 0x12,
	DW_FORM_ref4 = 0x13,
	DW_FORM_ref8 = 0x14,
	DW_FORM_ref_udata = 0x15,
	DW_FORM_indirect = 0x16,
	DW_FORM_sec_offset = 0x17,
	DW_FORM_exprloc = 0x18,
	DW_FORM_flag_present = 0x19,
	DW_FORM_strx = 0x1a,
	DW_FORM_addrx = 0x1b,
	DW_FORM_ref_sup4 = 0x1c,
	DW_FORM_strp_sup = 0x1d,
	DW_FORM_data16 = 0x1e,
	DW_FORM_line_strp = 0x1f,
	DW_FORM_ref_sig8 = 0x20,
	DW_FORM_implicit_const = 0x21,
	DW_FORM_loclistx = 0x22,
	DW_FORM_rnglistx = 0x23,
	DW_FORM_ref_sup8 = 0x24,
	DW_FORM_strx1 = 0x25,
	DW_FORM_strx2 = 0x26,
	DW_FORM_strx3 = 0x27,
	DW_FORM_strx4 = 0x28,
	DW_FORM_addrx1 = 0x29,
	DW_FORM_addrx2 = 0x2a,
	DW_FORM_addrx3 = 0x2b,
	DW_FORM_addrx4 = 0x2c,
	DW_FORM_GNU_addr_index = 0x1f01,
	DW_FORM_GNU_str_index = 0x1f02,
	DW_FORM_GNU_ref_alt = 0x1f20,
	DW_FORM_GNU_strp_alt = 0x1f21,

	DW_LNE_set_discriminator = 4,
};

struct mt_abbrev_attribute {
	uint16_t name, form;
	uint16_t at;	  /* bytes from the first value to this one, where the entry is_fixed */
	uint8_t size;	  /* in bytes, where all values of the form have the same; else 0 */
	int64_t implicit; /* of DW_FORM_implicit_const */
};

/* A step over some values: so many bytes, then one whose size varies. */
struct mt_abbrev_skip {
	uint32_t bytes;
	uint16_t form; /* 0: none */
};

/* Ways to go through entries. */
enum mt_walk {
	MT_WALK_OUTLINE = 1, /* lists functions */
	MT_WALK_NESTED = 2,  /* lists those that the outline has not */
	MT_WALK_TABLE = 4,   /* makes scopes of all that has code */
	MT_WALK_ASKED = 8,   /* the same of what has one of some addresses */
	MT_WALK_LOCAL = 16,  /* outside of functions; what is in them is walked MT_WALK_NESTED */
	MT_WALK_ALL =
		MT_WALK_OUTLINE | MT_WALK_NESTED | MT_WALK_TABLE | MT_WALK_ASKED | MT_WALK_LOCAL,
};

struct mt_abbrev {
	uint16_t tag;
	uint8_t wanted; /* by which walks */
	uint8_t closed; /* in which walks nothing in it is of interest */
	uint8_t leaf;	/* in which walks it is but so many bytes: skip.bytes */
	bool has_children;
	bool ends_in_sibling;		 /* the last attribute, and a DW_FORM_ref4 */
	bool is_fixed;			 /* a scope of which the values of use have their places */
	uint8_t low, high, ranges;	 /* of what is_fixed: which attribute, from 1; 0: none */
	struct mt_abbrev_skip skip;	 /* over the entry's values; more follow */
	uint32_t first_skip, skip_count; /* those, in the table's skips */
	uint32_t first, count;		 /* in the table's attributes: of scopes those of use */
};

enum mt_abbrev_varies {
	MT_VARIES_NOT,
	MT_VARIES_BLOCK,  /* a value of as many bytes as its first one says */
	MT_VARIES_STRING, /* up to a 0 */
};

/* How most entries are stepped over: those with codes of a byte, and a value of varying size. */
struct mt_abbrev_step {
	uint8_t bytes;	/* up to that value, code included; 0: it is no such */
	uint8_t varies; /* enum mt_abbrev_varies */
	uint8_t behind; /* bytes after that value */
	bool is_function;
	/* in which walks it is: */
	uint8_t plain;	/* bytes, and nothing more */
	uint8_t jumps;	/* on to its sibling, which its last 4 bytes say */
	uint8_t opens;	/* on to what is in it */
	uint8_t wanted; /* not stepped over */
};

/* What a table depends on beside its bytes: the sizes of values in the units that use it. */
struct mt_abbrev_sizes {
	uint8_t address, offset, ref_addr;
};

struct mt_abbrevs {
	MT_ARRAY(struct mt_abbrev) items;
	size_t counted; /* so many of the first have the codes that count from 1 */
	MT_ARRAY(struct mt_abbrev_skip) skips;
	MT_ARRAY(struct mt_abbrev_attribute) attributes;
	struct mt_map64 by_code;	  /* the others */
	struct mt_abbrev_step steps[128]; /* by code */
};

/* An attribute's value, as its form has it. */
struct mt_dwarf_value {
	uint16_t form;
	uint64_t number;    /* constant, offset, index, address; 1 for a flag */
	const char *string; /* of DW_FORM_string */
};

/* One file with debug sections. */
struct mt_dwarf {
	struct mt_elf *elf;
	bool owned;	  /* elf is this one's to close */
	const char *path; /* to find neighbours by, or NULL; borrowed unless owned */
	struct mt_span info, abbrev, str, line, line_str, ranges, rnglists, addr, str_offsets;
	struct mt_span cu_index;	      /* of a .dwp */
	MT_ARRAY(struct mt_dwarf_unit) units; /* by rising offset; pointers to them hold */
	MT_ARRAY(struct mt_abbrevs *) tables;
	struct mt_map64 abbrev_tables; /* offset and sizes to index in tables */
	struct mt_dwarf *supplement;   /* what dwz moved out; NULL: none, or not yet asked */
	bool supplement_tried;
	uint64_t budget;      /* work that indexing may still do, so that absurd files end soon */
	pthread_mutex_t lock; /* over tables, abbrev_tables and the supplement */
};

/* One unit of .debug_info. */
struct mt_dwarf_unit {
	struct mt_dwarf *file;
	uint64_t offset, end, entries; /* in .debug_info: header, end, first entry */
	uint16_t version;
	uint8_t address_size, offset_size;
	uint8_t type; /* DW_UT_* */
	bool split;   /* from a .dwo or .dwp */
	uint16_t root_tag;
	uint64_t abbrev_offset;	    /* in file->abbrev, contribution included */
	struct mt_abbrevs *abbrevs; /* NULL until needed */
	uint64_t id;		    /* of a skeleton or split unit */
	struct mt_span str_offsets, rnglists, addr, ranges; /* where its indices lead */
	uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base;
	uint64_t low_pc;
	/* of the root entry: */
	struct mt_dwarf_value low, high, range_list, line_list; /* form 0: not there */
	const char *comp_dir, *dwo_name;			/* or NULL */
};

/* ---- dwarf_unit.c ---- */

/*
 * Finds the sections and lists the units. elf and path are borrowed unless `owned`, when they are
 * taken, on failure too. Corrupt units end the list and leave an error in *problem, with *out valid
 * all the same; without any .debug_info *out is NULL.
 */
struct mt_error *mt_dwarf_open(struct mt_elf *elf, const char *path, bool owned,
			       struct mt_dwarf **out, struct mt_error **problem);
void mt_dwarf_destroy(struct mt_dwarf *file);

/* The abbreviations of a unit. From any thread. */
struct mt_error *mt_dwarf_unit_abbrevs(struct mt_dwarf_unit *unit);

/* What is left of a file's budget, and taking from it: as much as there is. From any thread. */
uint64_t mt_dwarf_budget(const struct mt_dwarf *file);
void mt_dwarf_spend(struct mt_dwarf *file, uint64_t work);

/* The unit that an offset of .debug_info lies in, or NULL. */
struct mt_dwarf_unit *mt_dwarf_unit_at(struct mt_dwarf *file, uint64_t offset);

/* Reads the unit that begins at offset: header and root entry. */
struct mt_error *mt_dwarf_read_unit(struct mt_dwarf *file, uint64_t offset, uint64_t abbrev_base,
				    const struct mt_dwarf_unit *skeleton,
				    struct mt_dwarf_unit *out);

/* ---- dwarf_abbrev.c ---- */

/* Reads the table at an offset of .debug_abbrev; *out is the caller's. */
struct mt_error *mt_abbrevs_read(const struct mt_span *section, uint64_t offset,
				 const struct mt_abbrev_sizes *sizes, struct mt_abbrevs **out);
void mt_abbrevs_destroy(struct mt_abbrevs *table);

/*
 * Finds one abbreviation without keeping the table: *c is left at its attributes. False where it is
 * not there. Takes the bytes it reads from *budget.
 */
bool mt_abbrevs_scan(const struct mt_span *section, uint64_t offset, uint64_t code,
		     uint64_t *budget, struct mt_cursor *c, uint16_t *tag);

/* The next attribute at c; name and form 0 end them. */
struct mt_abbrev_attribute mt_abbrev_attribute_read(struct mt_cursor *c);

/* The same for codes that do not count from 1. */
const struct mt_abbrev *mt_abbrevs_find_code(const struct mt_abbrevs *table, uint64_t code);

/* The abbreviation of that code, or NULL. */
static inline const struct mt_abbrev *mt_abbrevs_find(const struct mt_abbrevs *table, uint64_t code)
{
	uint64_t index = code - 1;

	if (index < table->counted)
		return &table->items.items[index];
	return mt_abbrevs_find_code(table, code);
}

/* ---- dwarf_value.c ---- */

/* A LEB128 number and where it ends; NULL past the end. */
struct mt_dwarf_leb {
	uint64_t number;
	const uint8_t *end;
};

/*
 * Numbers of more than one byte: 64 bits of them. By value, so that callers' cursors can stay in
 * registers.
 */
struct mt_dwarf_leb mt_dwarf_long_uleb(const uint8_t *pos, const uint8_t *end);
struct mt_dwarf_leb mt_dwarf_long_sleb(const uint8_t *pos, const uint8_t *end);

static inline uint64_t mt_dwarf_take_leb(struct mt_cursor *c, struct mt_dwarf_leb leb)
{
	c->bad |= !leb.end;
	if (!c->bad)
		c->pos = leb.end;
	return c->bad ? 0 : leb.number;
}

/* LEB128 numbers; most are one byte. */
static inline uint64_t mt_dwarf_uleb(struct mt_cursor *c)
{
	if (!c->bad && c->pos < c->end && *c->pos < 0x80)
		return *c->pos++;
	if (!c->bad && c->end - c->pos > 1 && c->pos[1] < 0x80) {
		c->pos += 2;
		return (c->pos[-2] & 0x7fU) | (uint64_t)c->pos[-1] << 7;
	}
	return mt_dwarf_take_leb(c, mt_dwarf_long_uleb(c->pos, c->end));
}

/* The same, signed. */
static inline int64_t mt_dwarf_sleb(struct mt_cursor *c)
{
	if (!c->bad && c->pos < c->end && *c->pos < 0x80)
		return (int64_t)((uint64_t)*c->pos++ << 57) >> 57;
	if (!c->bad && c->end - c->pos > 1 && c->pos[1] < 0x80) {
		c->pos += 2;
		return (int64_t)((c->pos[-2] & UINT64_C(0x7f)) << 50 | (uint64_t)c->pos[-1]
									       << 57) >>
		       50;
	}
	return (int64_t)mt_dwarf_take_leb(c, mt_dwarf_long_sleb(c->pos, c->end));
}

/* An offset of 4 or 8 bytes. */
uint64_t mt_dwarf_offset(struct mt_cursor *c, uint8_t size);
uint64_t mt_dwarf_address(struct mt_cursor *c, uint8_t size);

/* Reads one value; c->bad for a form that nobody knows. */
void mt_dwarf_value(const struct mt_dwarf_unit *unit, struct mt_cursor *c, uint16_t form,
		    int64_t implicit, struct mt_dwarf_value *out);

/* Reads one value; those of the usual sizes without asking for the form again. */
static inline void mt_dwarf_attribute_value(const struct mt_dwarf_unit *unit, struct mt_cursor *c,
					    const struct mt_abbrev_attribute *a,
					    struct mt_dwarf_value *value)
{
	value->form = a->form;
	value->string = NULL;
	if (a->size == 4)
		value->number = mt_cursor_u32(c);
	else if (a->size == 1)
		value->number = mt_cursor_u8(c);
	else if (a->size == 8)
		value->number = mt_cursor_u64(c);
	else if (a->size == 2)
		value->number = mt_cursor_u16(c);
	else if (a->form == DW_FORM_implicit_const)
		value->number = (uint64_t)a->implicit;
	else if (a->form != DW_FORM_flag_present)
		mt_dwarf_value(unit, c, a->form, a->implicit, value);
}

/* The string that a value leads to, or NULL. */
const char *mt_dwarf_string(const struct mt_dwarf_unit *unit, const struct mt_dwarf_value *value);

/* The address that a value is or leads to; false where it is none. */
bool mt_dwarf_value_address(const struct mt_dwarf_unit *unit, const struct mt_dwarf_value *value,
			    uint64_t *out);
bool mt_dwarf_indexed_address(const struct mt_dwarf_unit *unit, uint64_t index, uint64_t *out);

/* The unit and the offset of the entry that a reference leads to; false where it leads nowhere. */
bool mt_dwarf_reference(struct mt_dwarf_unit *unit, const struct mt_dwarf_value *value,
			struct mt_dwarf_unit **to, uint64_t *offset);

/* ---- dwarf_ranges.c ---- */

/* Takes one piece of code, end not included; false to stop. */
struct mt_range_sink {
	bool (*add)(void *context, uint64_t start, uint64_t end);
	void *context;
};

/* Gives every piece of a list of ranges; false where the list is corrupt or the sink stopped. */
bool mt_dwarf_ranges(const struct mt_dwarf_unit *unit, const struct mt_dwarf_value *list,
		     const struct mt_range_sink *sink);

/* The same for what an entry says by low_pc and high_pc. */
bool mt_dwarf_low_high(const struct mt_dwarf_unit *unit, uint64_t low,
		       const struct mt_dwarf_value *high, const struct mt_range_sink *sink);

/* The same for the code of a unit, as its root entry has it. */
bool mt_dwarf_unit_ranges(const struct mt_dwarf_unit *unit, const struct mt_range_sink *sink);

/* ---- dwarf_split.c ---- */

/* The file that dwz moved shared entries to; NULL where there is none at hand. */
struct mt_dwarf *mt_dwarf_supplement(struct mt_dwarf *file);

/* The other files that split units of one file came from. */
struct mt_dwarf_splits {
	MT_ARRAY(struct mt_dwarf *) files;
	struct mt_dwarf *package; /* the .dwp */
	bool package_tried;
	MT_ARRAY(struct mt_dwarf_unit *) units;
};

void mt_dwarf_splits_deinit(struct mt_dwarf_splits *splits);

/* The full unit of a skeleton, kept by splits. */
struct mt_error *mt_dwarf_splits_find(struct mt_dwarf_splits *splits,
				      const struct mt_dwarf_unit *skeleton,
				      struct mt_dwarf_unit **out);

/* ---- dwarf_line.c ---- */

/* Which addresses are code at all: what the linker dropped is not. */
struct mt_code_filter {
	bool (*is_code)(const void *context, uint64_t address);
	const void *context;
};

struct mt_line_file {
	union {
		const char *string;
		uint64_t offset; /* in the table's strings */
	} name;
	char *path; /* joined, once asked for */
	uint32_t directory;
};

/* What an opcode above the standard ones does. */
struct mt_line_special {
	uint16_t advance;
	int16_t line;
};

struct mt_line_machine;

/* How programs are to be read. */
struct mt_line_rules {
	uint8_t minimum_length, line_range, opcode_base;
	int8_t line_base;
	uint8_t lengths[256]; /* of the operands of standard opcodes */
	/* goes over many opcodes at a time, as mt_line_fast_run() does; or NULL */
	void (*run)(const struct mt_line_rules *rules, const uint8_t *limit,
		    struct mt_line_machine *m);
	uint16_t reciprocal; /* the high half of its product with up to 242 is that / line_range */
	struct mt_line_special special[256];
};

/* Where a program can be taken up again. */
struct mt_line_mark {
	uint64_t address;
	uint32_t position, file, line; /* position in the program */
};

/* A row of the table: file and line; line 0: none. */
struct mt_line_row {
	uint32_t file, line;
};

/* The row at an address that was asked for beforehand. */
struct mt_line_answer {
	uint64_t address;
	struct mt_line_row row;
};

/* A run of addresses. */
struct mt_line_sequence {
	uint64_t start, end;
	size_t mark, mark_count;
};

struct mt_line_table {
	const struct mt_line_rules *rules;
	struct mt_code_filter filter;
	uint64_t offset; /* in .debug_line */
	struct mt_span program;
	bool has_marks;
	MT_ARRAY(struct mt_line_mark) marks;
	MT_ARRAY(struct mt_line_sequence) sequences; /* by address */
	MT_ARRAY(struct mt_line_answer) answers;     /* by address; those in no sequence, too */
	MT_ARRAY(struct mt_line_file) files;
	MT_ARRAY(const char *) directories;
	struct mt_span strings; /* that files are named in; no bytes: each has its name */
	const char *comp_dir;
	uint32_t first_file; /* number of files[0] */
};

/* The rules of all programs read so far; nearly always one. */
struct mt_line_rule_set {
	MT_ARRAY(struct mt_line_rules *) items;
	pthread_mutex_t lock;
};

/* None yet. */
void mt_line_rule_set_init(struct mt_line_rule_set *rules);
void mt_line_rule_set_deinit(struct mt_line_rule_set *rules);

/*
 * Reads the header of a unit's line program. The table borrows the file's bytes, the filter's
 * context and the rules, which threads may share.
 */
struct mt_error *mt_line_table_read(const struct mt_dwarf_unit *unit,
				    const struct mt_code_filter *filter,
				    struct mt_line_rule_set *rules, struct mt_line_table *out);
void mt_line_table_deinit(struct mt_line_table *table);

/*
 * Runs the program for some addresses, which rise, so that mt_line_table_find() has their rows at
 * hand; nothing is kept about others. Once, and before anything is asked.
 */
struct mt_error *mt_line_table_prepare(struct mt_line_table *table, const uint64_t *addresses,
				       size_t count);

/* The row that covers an address; false where there is none. Damage ends the table: *problem. */
bool mt_line_table_find(struct mt_line_table *table, uint64_t address, struct mt_line_row *out,
			struct mt_error **problem);

/* A file's path, or NULL; borrowed from the table. */
const char *mt_line_table_path(struct mt_line_table *table, uint32_t file);

/* ---- dwarf_line_fast.c, dwarf_line_wide.c ---- */

/* The state machine. */
struct mt_line_machine {
	struct mt_cursor c;
	uint64_t address;
	uint32_t line, file;
};

/* Whether mt_line_fast_run() can go over programs with these rules, on this processor. */
bool mt_line_fast_usable(const struct mt_line_rules *rules);

/*
 * Goes over opcodes up to `limit` or a little past it, or to one that must be run by itself, or to
 * the last few bytes of the program; it may go over none.
 */
void mt_line_fast_run(const struct mt_line_rules *rules, const uint8_t *limit,
		      struct mt_line_machine *m);

/* The same on processors that have AVX-512. */
bool mt_line_wide_usable(const struct mt_line_rules *rules);
void mt_line_wide_run(const struct mt_line_rules *rules, const uint8_t *limit,
		      struct mt_line_machine *m);

/*
 * Whether a short "set discriminator" is at pos: the one extended opcode there is many of; it says
 * nothing about address or line, and takes 2 + pos[1] bytes.
 */
static inline bool mt_line_is_discriminator(const uint8_t *pos, const uint8_t *end)
{
	return end - pos > 18 && !pos[0] && pos[1] < 16 && pos[2] == DW_LNE_set_discriminator;
}

/* ---- dwarf_scopes.c, dwarf_walk.c ---- */

#define MT_SCOPE_NONE UINT32_MAX

/* A function with code, or a call that was inlined into one. */
struct mt_scope {
	uint64_t entry;	 /* its offset */
	uint32_t parent; /* the scope that an inlined call stands in; MT_SCOPE_NONE: a function */
	uint32_t detail; /* from 1, once asked for */
};

/* What is said about a scope that was found. */
struct mt_scope_detail {
	const char *name; /* as the DWARF has it; NULL without one */
	bool mangled;	  /* name is a linkage name */
	uint32_t parent;  /* as the scope's */
	uint32_t call_file, call_line;
};

/* A function with code, whose entries are read when the first address in it is asked for. */
struct mt_scope_function {
	uint64_t entry; /* in .debug_info */
	bool read;
	uint8_t asked;			 /* so often without a table */
	uint32_t first, count;		 /* what the scopes in it have, in intervals */
	struct mt_interval_table *table; /* the same, once that pays; or NULL */
};

/* The innermost scope at an address that was asked for beforehand, or MT_SCOPE_NONE. */
struct mt_scope_answer {
	uint64_t address;
	uint32_t scope, rank; /* rank: how deep it lies */
};

struct mt_scopes {
	struct mt_dwarf_unit *unit;
	struct mt_code_filter filter;
	MT_ARRAY(struct mt_scope_answer) answers; /* by address */
	MT_ARRAY(struct mt_scope) items;
	MT_ARRAY(struct mt_scope_detail) details;
	MT_ARRAY(struct mt_interval) intervals;
	MT_ARRAY(struct mt_scope_function) functions;
	struct mt_interval_table *outline; /* address to function; NULL: not needed yet */
	struct mt_interval_table *nested;  /* the same of functions elsewhere */
	bool outline_read, nested_read, prepared;
	struct mt_map64 by_origin; /* entry that names a function to a detail of that name */
};

/* Makes a unit ready to be asked about. */
struct mt_error *mt_scopes_read(struct mt_dwarf_unit *unit, const struct mt_code_filter *filter,
				struct mt_scopes *out);
void mt_scopes_deinit(struct mt_scopes *scopes);

/*
 * Finds the scopes at some addresses, which rise, and what is said about them, so that
 * mt_scopes_find() and mt_scope_detail() have that at hand. Of a function only what leads to those
 * is read.
 */
struct mt_error *mt_scopes_prepare(struct mt_scopes *scopes, const uint64_t *addresses,
				   size_t count);

/* The innermost scope at an address, or MT_SCOPE_NONE; *out is set whatever is given. */
struct mt_error *mt_scopes_find(struct mt_scopes *scopes, uint64_t address, uint32_t *out);

/* What is said about a scope. */
struct mt_scope_detail mt_scope_detail(struct mt_scopes *scopes, uint32_t index);

/* Whether a function of the outline has an address. */
bool mt_scopes_outlined(const struct mt_scopes *scopes, uint64_t address);

/* Which function has an address that was asked for. */
struct mt_scope_place {
	uint64_t function;	     /* its entry; 0: none has it */
	uint64_t gap_start, gap_end; /* where the code of others ends before it and begins behind */
	uint32_t rank;		     /* of what is to replace the function, at least */
};

/* Addresses that a walk looks for: by address, with what it finds about them. */
struct mt_walk_asked {
	struct mt_scope_answer *answers;
	struct mt_scope_place *places; /* NULL for MT_WALK_ASKED */
	size_t count;
};

/*
 * Goes through an entry and all that is in it. Without asked, scopes' items, functions and
 * intervals grow by what it finds. MT_WALK_ASKED adds items, and sets asked's answers; with places,
 * nothing but these is set. On damage, what came before it holds.
 */
struct mt_error *mt_walk_from(struct mt_scopes *scopes, uint64_t entry, enum mt_walk mode,
			      const struct mt_walk_asked *asked);

/* Has memory make ready what is at an entry of the unit, or at 0: there will be a walk from it. */
void mt_walk_announce(const struct mt_scopes *scopes, uint64_t entry);

#endif
