/*
 * Files with DWARF and their units: the sections, the headers, and what each unit's root entry says
 * about it. Listing the units reads no other entry, so that opening a large file costs little.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "symbols/dwarf.h"
#include "symbols/elf_private.h"

MT_DEFINE_CLEANUP(mt_dwarf, struct mt_dwarf)

/* ".debug_NAME", or ".debug_NAME.dwo" where that is what the file has. */
static struct mt_span section(struct mt_elf *elf, const char *name, bool dwo)
{
	char full[40];
	size_t length = strlen(name);

	memcpy(full, name, length + 1);
	if (dwo)
		memcpy(full + length, ".dwo", 5);
	return mt_elf_section(elf, full);
}

/* Whether what begins at bytes is a type unit of version 5. */
static bool is_type_unit(const struct mt_span *info)
{
	struct mt_cursor c = mt_cursor_init(info->bytes, info->bytes ? info->size : 0);
	uint8_t type;

	if (mt_cursor_u32(&c) == UINT32_MAX)
		mt_cursor_u64(&c);
	if (mt_cursor_u16(&c) != 5)
		return false;
	type = mt_cursor_u8(&c);
	return type == DW_UT_type || type == DW_UT_split_type;
}

/*
 * Of a .dwo the section with the compile unit: type units of version 5 stand in sections of the
 * same name, one each. Without such the first.
 */
static struct mt_span split_info(struct mt_elf *elf)
{
	struct mt_span first = mt_elf_section(elf, ".debug_info.dwo");
	struct mt_elf_section_info info;

	if (!is_type_unit(&first))
		return first;
	for (size_t i = 1; mt_elf_section_info(elf, i, &info); i++) {
		struct mt_span span = {0};

		if (!strcmp(info.name, ".debug_info.dwo"))
			span = mt_elf_section_bytes(elf, i);
		if (span.bytes && !is_type_unit(&span))
			return span;
	}
	return first;
}

static void find_sections(struct mt_dwarf *file)
{
	struct mt_elf *elf = file->elf;
	bool dwo = false;

	file->info = mt_elf_section(elf, ".debug_info");
	if (!file->info.bytes) {
		dwo = true;
		file->info = split_info(elf);
	}
	file->abbrev = section(elf, ".debug_abbrev", dwo);
	file->str = section(elf, ".debug_str", dwo);
	file->line = section(elf, ".debug_line", dwo);
	file->line_str = mt_elf_section(elf, ".debug_line_str");
	file->ranges = mt_elf_section(elf, ".debug_ranges");
	file->rnglists = section(elf, ".debug_rnglists", dwo);
	file->addr = mt_elf_section(elf, ".debug_addr");
	file->str_offsets = section(elf, ".debug_str_offsets", dwo);
	file->cu_index = mt_elf_section(elf, ".debug_cu_index");
}

/* ---- Headers ---- */

static struct mt_error *bad_unit(const struct mt_dwarf_unit *unit, const char *what)
{
	return mt_error_create(MT_ERR_FORMAT, ".debug_info: unit at 0x%llx: %s",
			       (unsigned long long)unit->offset, what);
}

/* What follows version and sizes in version 5. */
static void read_header_5(struct mt_cursor *c, struct mt_dwarf_unit *unit)
{
	unit->type = mt_cursor_u8(c);
	unit->address_size = mt_cursor_u8(c);
	unit->abbrev_offset = mt_dwarf_offset(c, unit->offset_size);
	if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile) {
		unit->id = mt_cursor_u64(c);
	} else if (unit->type == DW_UT_type || unit->type == DW_UT_split_type) {
		mt_cursor_u64(c);
		mt_dwarf_offset(c, unit->offset_size);
	}
}

static struct mt_error *read_header(struct mt_dwarf_unit *unit)
{
	const struct mt_span *info = &unit->file->info;
	struct mt_cursor c = mt_cursor_init(info->bytes, info->size), body;
	uint64_t length;

	mt_cursor_bytes(&c, unit->offset);
	length = mt_cursor_u32(&c);
	unit->offset_size = 4;
	if (length == UINT32_MAX) {
		unit->offset_size = 8;
		length = mt_cursor_u64(&c);
	}
	body = mt_cursor_sub(&c, length);
	if (body.bad)
		return bad_unit(unit, "longer than the section");
	unit->end = (uint64_t)(body.end - info->bytes);
	unit->version = mt_cursor_u16(&body);
	if (unit->version < 2 || unit->version > 5)
		return bad_unit(unit, "unknown version");
	if (unit->version == 5) {
		read_header_5(&body, unit);
	} else {
		unit->type = DW_UT_compile;
		unit->abbrev_offset = mt_dwarf_offset(&body, unit->offset_size);
		unit->address_size = mt_cursor_u8(&body);
	}
	if (body.bad)
		return bad_unit(unit, "header cut short");
	if (unit->address_size != 4 && unit->address_size != 8)
		return bad_unit(unit, "addresses of unknown size");
	unit->entries = (uint64_t)(body.pos - info->bytes);
	return NULL;
}

/* ---- The root entry ---- */

/* Values that cannot be followed before the bases are known. */
struct root {
	struct mt_dwarf_value comp_dir, dwo_name;
};

static void take_root_value(struct mt_dwarf_unit *unit, struct root *root, uint16_t name,
			    const struct mt_dwarf_value *value)
{
	switch (name) {
	case DW_AT_stmt_list:
		unit->line_list = *value;
		break;
	case DW_AT_low_pc:
		unit->low = *value;
		break;
	case DW_AT_high_pc:
		unit->high = *value;
		break;
	case DW_AT_ranges:
		unit->range_list = *value;
		break;
	case DW_AT_comp_dir:
		root->comp_dir = *value;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		root->dwo_name = *value;
		break;
	case DW_AT_GNU_dwo_id:
		unit->id = value->number;
		break;
	case DW_AT_str_offsets_base:
		unit->str_offsets_base = value->number;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		unit->addr_base = value->number;
		break;
	case DW_AT_rnglists_base:
		unit->rnglists_base = value->number;
		break;
	case DW_AT_GNU_ranges_base:
		unit->ranges_base = value->number;
		break;
	}
}

static struct mt_error *read_root(struct mt_dwarf_unit *unit)
{
	const struct mt_dwarf *file = unit->file;
	struct mt_cursor c = mt_cursor_init(file->info.bytes + unit->entries,
					    unit->end - unit->entries),
			 forms;
	struct root root = {0};
	uint64_t code = mt_dwarf_uleb(&c), before, budget;
	bool found;

	if (!code)
		return NULL; /* an empty unit */
	before = budget = mt_dwarf_budget(file);
	found = mt_abbrevs_scan(&file->abbrev, unit->abbrev_offset, code, &budget, &forms,
				&unit->root_tag);
	mt_dwarf_spend(unit->file, before - budget);
	if (!found)
		return bad_unit(unit, "its abbreviation is not in .debug_abbrev");
	for (;;) {
		struct mt_abbrev_attribute attribute = mt_abbrev_attribute_read(&forms);
		struct mt_dwarf_value value;

		if (!attribute.name && !attribute.form)
			break;
		mt_dwarf_value(unit, &c, attribute.form, attribute.implicit, &value);
		if (c.bad)
			return bad_unit(unit, "first entry cut short, or of an unknown form");
		take_root_value(unit, &root, attribute.name, &value);
	}
	unit->comp_dir = mt_dwarf_string(unit, &root.comp_dir);
	unit->dwo_name = mt_dwarf_string(unit, &root.dwo_name);
	if (!unit->low.form || !mt_dwarf_value_address(unit, &unit->low, &unit->low_pc))
		unit->low = (struct mt_dwarf_value){0};
	return NULL;
}

/* What a split unit's indices lead to lies partly in the file that has its skeleton. */
static void take_skeleton(struct mt_dwarf_unit *unit, const struct mt_dwarf_unit *skeleton)
{
	unit->split = true;
	unit->addr = skeleton->addr;
	unit->addr_base = skeleton->addr_base;
	unit->ranges = skeleton->ranges;
	unit->ranges_base = skeleton->ranges_base;
	unit->comp_dir = skeleton->comp_dir;
	unit->line_list = skeleton->line_list;
	unit->low = skeleton->low;
	unit->low_pc = skeleton->low_pc;
}

struct mt_error *mt_dwarf_read_unit(struct mt_dwarf *file, uint64_t offset, uint64_t abbrev_base,
				    const struct mt_dwarf_unit *skeleton, struct mt_dwarf_unit *out)
{
	struct mt_dwarf_unit unit = {
		.file = file,
		.offset = offset,
		.str_offsets = file->str_offsets,
		.rnglists = file->rnglists,
		.addr = file->addr,
		.ranges = file->ranges,
	};
	struct mt_error *err = read_header(&unit);

	if (err)
		return err;
	if (__builtin_add_overflow(unit.abbrev_offset, abbrev_base, &unit.abbrev_offset))
		return bad_unit(&unit, "its abbreviations are outside .debug_abbrev");
	if (unit.version == 5) {
		unit.str_offsets_base = unit.offset_size == 8 ? 16 : 8;
		unit.addr_base = unit.str_offsets_base;
		unit.rnglists_base = unit.str_offsets_base + 4;
	}
	err = read_root(&unit);
	if (!err && skeleton)
		take_skeleton(&unit, skeleton);
	*out = unit;
	return err;
}

/* ---- Files ---- */

/* Every unit whose header holds; a root entry that does not makes a unit without code. */
static struct mt_error *list_units(struct mt_dwarf *file)
{
	struct mt_error *problem = NULL;

	for (uint64_t offset = 0; offset < file->info.size;) {
		struct mt_dwarf_unit *unit = mt_array_push(&file->units);
		struct mt_error *err;

		if (!unit) {
			mt_error_destroy(problem);
			return mt_error_nomem();
		}
		err = mt_dwarf_read_unit(file, offset, 0, NULL, unit);
		if (problem)
			mt_error_destroy(err);
		else
			problem = err;
		if (unit->entries <= offset) { /* no header: no way to the next one */
			file->units.count--;
			break;
		}
		offset = unit->end;
	}
	return problem;
}

struct mt_error *mt_dwarf_open(struct mt_elf *elf, const char *path, bool owned,
			       struct mt_dwarf **out, struct mt_error **problem)
{
	MT_CLEANUP(mt_dwarf_destroy_p) struct mt_dwarf *file = calloc(1, sizeof(*file));

	*out = NULL;
	*problem = NULL;
	if (!file) {
		if (owned) {
			mt_elf_destroy(elf);
			free((char *)path);
		}
		return mt_error_nomem();
	}
	pthread_mutex_init(&file->lock, NULL);
	file->elf = elf;
	file->path = path;
	file->owned = owned;
	find_sections(file);
	if (!file->info.bytes)
		return NULL;
	file->budget = 64 * ((uint64_t)file->info.size + file->abbrev.size) + (1 << 20);
	if (!file->cu_index.bytes)
		*problem = list_units(file);
	*out = MT_TAKE(file);
	return NULL;
}

void mt_dwarf_destroy(struct mt_dwarf *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->tables.count; i++)
		mt_abbrevs_destroy(file->tables.items[i]);
	mt_array_deinit(&file->tables);
	mt_map64_deinit(&file->abbrev_tables);
	mt_array_deinit(&file->units);
	mt_dwarf_destroy(file->supplement);
	pthread_mutex_destroy(&file->lock);
	if (file->owned) {
		mt_elf_destroy(file->elf);
		free((char *)file->path);
	}
	free(file);
}

/* A table that was read before, or NULL. The lock is held. */
static struct mt_abbrevs *kept_abbrevs(const struct mt_dwarf *file, uint64_t key)
{
	uint64_t kept;

	return mt_map64_get(&file->abbrev_tables, key, &kept) ? file->tables.items[kept] : NULL;
}

/* Keeps a table, unless another thread was faster; NULL out of memory. Takes table. */
static struct mt_abbrevs *keep_abbrevs(struct mt_dwarf *file, uint64_t key,
				       struct mt_abbrevs *table)
{
	struct mt_abbrevs *kept, **slot;

	pthread_mutex_lock(&file->lock);
	kept = kept_abbrevs(file, key);
	slot = kept ? NULL : mt_array_push(&file->tables);
	if (slot) {
		*slot = kept = MT_TAKE(table);
		(void)mt_map64_put(&file->abbrev_tables, key, file->tables.count - 1);
	}
	pthread_mutex_unlock(&file->lock);
	mt_abbrevs_destroy(table);
	return kept;
}

struct mt_error *mt_dwarf_unit_abbrevs(struct mt_dwarf_unit *unit)
{
	const struct mt_abbrev_sizes sizes = {
		.address = unit->address_size,
		.offset = unit->offset_size,
		.ref_addr = unit->version < 3 ? unit->address_size : unit->offset_size,
	};
	uint64_t key = unit->abbrev_offset << 3 | (sizes.address >> 3) << 2 |
		       (sizes.offset >> 3) << 1 | sizes.ref_addr >> 3;
	struct mt_dwarf *file = unit->file;
	struct mt_abbrevs *table, *none = NULL;

	if (__atomic_load_n(&unit->abbrevs, __ATOMIC_ACQUIRE))
		return NULL;
	pthread_mutex_lock(&file->lock);
	table = kept_abbrevs(file, key);
	pthread_mutex_unlock(&file->lock);
	if (!table) {
		struct mt_error *err =
			mt_abbrevs_read(&file->abbrev, unit->abbrev_offset, &sizes, &table);

		if (err)
			return err;
		table = keep_abbrevs(file, key, table);
	}
	if (!table)
		return mt_error_nomem();
	/* all threads have found the same one; the first sets it, so that it can be read plainly */
	(void)__atomic_compare_exchange_n(&unit->abbrevs, &none, table, false, __ATOMIC_ACQ_REL,
					  __ATOMIC_ACQUIRE);
	return NULL;
}

uint64_t mt_dwarf_budget(const struct mt_dwarf *file)
{
	return __atomic_load_n(&file->budget, __ATOMIC_RELAXED);
}

void mt_dwarf_spend(struct mt_dwarf *file, uint64_t work)
{
	uint64_t left = mt_dwarf_budget(file), then;

	do
		then = left - (work < left ? work : left);
	while (!__atomic_compare_exchange_n(&file->budget, &left, then, true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED));
}

struct mt_dwarf_unit *mt_dwarf_unit_at(struct mt_dwarf *file, uint64_t offset)
{
	size_t low = 0, high = file->units.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->units.items[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low && offset < file->units.items[low - 1].end ? &file->units.items[low - 1] : NULL;
}
