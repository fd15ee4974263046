/*
 * DWARF that is not in the file itself: what -gsplit-dwarf left in .dwo files or a .dwp, and what
 * dwz moved to a file that several share. A file is used only where its id agrees.
 */
#include <stdlib.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "symbols/dwarf.h"

/* Debug information may name any path; these are no files. */
static bool is_file_path(const char *path)
{
	return strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/sys/", 5) != 0 &&
	       strncmp(path, "/dev/", 5) != 0 && !access(path, R_OK);
}

/* Opens path as a file with DWARF; NULL in *out where there is none. Takes path. */
static struct mt_error *open_neighbour(char *path, struct mt_dwarf **out)
{
	struct mt_error *err, *problem;
	struct mt_elf *elf;

	*out = NULL;
	if (!path || !is_file_path(path)) {
		free(path);
		return NULL;
	}
	err = mt_elf_open_file(path, &elf);
	if (err) {
		free(path);
		return err;
	}
	mt_elf_set_codec(elf, &mt_elf_codec_all);
	err = mt_dwarf_open(elf, path, true, out, &problem);
	mt_error_destroy(problem); /* what matters of it is found again when it is needed */
	return err;
}

/* The directory of a file, with its slash; "" where it has none. */
static int directory_length(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? (int)(slash - path) + 1 : 0;
}

/* NULL out of memory, too. */
static char *beside(const char *neighbour, const char *name)
{
	char *path;

	if (*name == '/')
		return strdup(name);
	return asprintf(&path, "%.*s%s", directory_length(neighbour), neighbour ? neighbour : "",
			name) < 0
		       ? NULL
		       : path;
}

/* ---- dwz ---- */

static bool has_id(const struct mt_dwarf *file, const uint8_t *id, size_t size)
{
	struct mt_span own = mt_elf_build_id(file->elf);

	return own.size == size && size && !memcmp(own.bytes, id, size);
}

static char *by_build_id(const uint8_t *id, size_t size)
{
	char hex[2 * MT_BUILD_ID_MAX + 1] = "", *path;

	if (size < 2 || size > MT_BUILD_ID_MAX)
		return NULL;
	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	return asprintf(&path, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2) < 0 ? NULL
											   : path;
}

static void open_supplement(struct mt_dwarf *file)
{
	struct mt_span link = mt_elf_section(file->elf, ".gnu_debugaltlink");
	struct mt_cursor c = mt_cursor_init(link.bytes, link.bytes ? link.size : 0);
	const char *name = c.pos ? mt_cursor_cstring(&c) : NULL;

	for (int i = 0; name && i < 2 && !file->supplement; i++) {
		char *path = i ? by_build_id(c.pos, mt_cursor_left(&c)) : beside(file->path, name);
		struct mt_dwarf *found = NULL;

		mt_error_destroy(open_neighbour(path, &found));
		if (found && has_id(found, c.pos, mt_cursor_left(&c)))
			file->supplement = found;
		else
			mt_dwarf_destroy(found);
	}
	if (file->supplement)
		file->supplement->supplement_tried = true; /* it has none of its own */
}

struct mt_dwarf *mt_dwarf_supplement(struct mt_dwarf *file)
{
	pthread_mutex_lock(&file->lock);
	if (!file->supplement_tried)
		open_supplement(file);
	file->supplement_tried = true;
	pthread_mutex_unlock(&file->lock);
	return file->supplement;
}

/* ---- .dwp ---- */

/* Where the parts of one unit are in the sections of a package, by what the columns are. */
enum {
	SECT_INFO = 1,
	SECT_ABBREV = 3,
	SECT_STR_OFFSETS = 6,
	SECT_RNGLISTS = 8, /* version 5 */
	SECTS = 9,
};

struct contribution {
	uint32_t offset[SECTS], size[SECTS];
};

/* Row of the unit in the index's hash table; 0 where it is not there. */
static uint32_t find_row(struct mt_cursor ids, struct mt_cursor rows, uint32_t slots, uint64_t id)
{
	uint32_t mask = slots - 1, at = (uint32_t)id & mask;
	uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;

	for (uint32_t i = 0; i < slots; i++, at = (at + step) & mask) {
		uint32_t row = mt_get_le32(rows.pos + 4 * (size_t)at);

		if (!row || mt_get_le64(ids.pos + 8 * (size_t)at) == id)
			return row;
	}
	return 0;
}

static bool find_contribution(const struct mt_dwarf *package, uint64_t id, struct contribution *out)
{
	struct mt_cursor c = mt_cursor_init(package->cu_index.bytes, package->cu_index.size), ids,
			 rows, columns, offsets, sizes;
	uint32_t columns_count, units, slots, row;

	mt_cursor_u32(&c); /* version, and in 5 padding */
	columns_count = mt_cursor_u32(&c);
	units = mt_cursor_u32(&c);
	slots = mt_cursor_u32(&c);
	if (!slots || (slots & (slots - 1)) || columns_count > 64)
		return false;
	ids = mt_cursor_sub(&c, 8 * (size_t)slots);
	rows = mt_cursor_sub(&c, 4 * (size_t)slots);
	columns = mt_cursor_sub(&c, 4 * (size_t)columns_count);
	offsets = mt_cursor_sub(&c, 4 * (size_t)columns_count * units);
	sizes = mt_cursor_sub(&c, 4 * (size_t)columns_count * units);
	if (c.bad)
		return false;
	row = find_row(ids, rows, slots, id);
	if (!row || row > units)
		return false;
	mt_cursor_bytes(&offsets, 4 * (size_t)columns_count * (row - 1));
	mt_cursor_bytes(&sizes, 4 * (size_t)columns_count * (row - 1));
	*out = (struct contribution){0};
	for (uint32_t i = 0; i < columns_count; i++) {
		uint32_t column = mt_cursor_u32(&columns), offset = mt_cursor_u32(&offsets),
			 size = mt_cursor_u32(&sizes);

		if (column < SECTS) {
			out->offset[column] = offset;
			out->size[column] = size;
		}
	}
	return true;
}

static struct mt_span part(const struct mt_span *section, uint64_t offset, uint64_t size)
{
	if (!section->bytes || offset > section->size || size > section->size - offset)
		return (struct mt_span){0};
	return (struct mt_span){.bytes = section->bytes + offset, .size = size};
}

static struct mt_error *unit_of_package(struct mt_dwarf *package,
					const struct mt_dwarf_unit *skeleton,
					struct mt_dwarf_unit *out, bool *found)
{
	struct contribution at;
	struct mt_error *err;

	if (!find_contribution(package, skeleton->id, &at))
		return NULL;
	err = mt_dwarf_read_unit(package, at.offset[SECT_INFO], at.offset[SECT_ABBREV], skeleton,
				 out);
	if (err)
		return err;
	out->str_offsets =
		part(&package->str_offsets, at.offset[SECT_STR_OFFSETS], at.size[SECT_STR_OFFSETS]);
	out->rnglists = part(&package->rnglists, at.offset[SECT_RNGLISTS], at.size[SECT_RNGLISTS]);
	*found = true;
	return NULL;
}

static struct mt_dwarf *package_of(struct mt_dwarf_splits *splits, const struct mt_dwarf *file)
{
	char *path;

	if (!splits->package_tried && file->path && asprintf(&path, "%s.dwp", file->path) >= 0)
		mt_error_destroy(open_neighbour(path, &splits->package));
	splits->package_tried = true;
	return splits->package && splits->package->cu_index.bytes ? splits->package : NULL;
}

/* ---- .dwo ---- */

/* As the compiler named it, then beside the file that has the skeleton. */
static char *dwo_path(const struct mt_dwarf_unit *skeleton, int attempt)
{
	const char *name = skeleton->dwo_name, *slash = strrchr(name, '/');
	char *path;

	if (attempt == 1)
		return beside(skeleton->file->path, slash ? slash + 1 : name);
	if (attempt == 2)
		return *name == '/' ? NULL : beside(skeleton->file->path, name);
	if (*name == '/' || !skeleton->comp_dir)
		return strdup(name);
	return asprintf(&path, "%s/%s", skeleton->comp_dir, name) < 0 ? NULL : path;
}

static struct mt_error *keep_unit(struct mt_dwarf_splits *splits, const struct mt_dwarf_unit *unit,
				  struct mt_dwarf_unit **out)
{
	struct mt_dwarf_unit *copy = malloc(sizeof(*copy)),
			     **slot = copy ? mt_array_push(&splits->units) : NULL;

	if (!slot) {
		free(copy);
		return mt_error_nomem();
	}
	*copy = *unit;
	*slot = *out = copy;
	return NULL;
}

/* The compile unit of that id in a .dwo. */
static struct mt_error *unit_of_dwo(struct mt_dwarf *dwo, const struct mt_dwarf_unit *skeleton,
				    struct mt_dwarf_unit *out, bool *found)
{
	for (size_t i = 0; i < dwo->units.count && !*found; i++) {
		if (dwo->units.items[i].id != skeleton->id)
			continue;
		*found = true;
		return mt_dwarf_read_unit(dwo, dwo->units.items[i].offset, 0, skeleton, out);
	}
	return NULL;
}

static struct mt_error *find_dwo(struct mt_dwarf_splits *splits,
				 const struct mt_dwarf_unit *skeleton, struct mt_dwarf_unit *out,
				 bool *found)
{
	struct mt_error *err = NULL;

	for (int attempt = 0; attempt < 3 && !*found && !err; attempt++) {
		struct mt_dwarf *dwo = NULL, **slot;

		mt_error_destroy(open_neighbour(dwo_path(skeleton, attempt), &dwo));
		if (!dwo)
			continue;
		slot = mt_array_push(&splits->files);
		if (!slot) {
			mt_dwarf_destroy(dwo);
			return mt_error_nomem();
		}
		*slot = dwo;
		err = unit_of_dwo(dwo, skeleton, out, found);
	}
	return err;
}

struct mt_error *mt_dwarf_splits_find(struct mt_dwarf_splits *splits,
				      const struct mt_dwarf_unit *skeleton,
				      struct mt_dwarf_unit **out)
{
	struct mt_dwarf *package = package_of(splits, skeleton->file);
	struct mt_dwarf_unit unit;
	struct mt_error *err = NULL;
	bool found = false;

	if (package)
		err = unit_of_package(package, skeleton, &unit, &found);
	if (!err && !found)
		err = find_dwo(splits, skeleton, &unit, &found);
	if (err)
		return mt_error_context(err, "%s", skeleton->dwo_name);
	if (!found)
		return mt_error_create(MT_ERR_NOT_FOUND, "%s: no such file with that id",
				       skeleton->dwo_name);
	return keep_unit(splits, &unit, out);
}

void mt_dwarf_splits_deinit(struct mt_dwarf_splits *splits)
{
	for (size_t i = 0; i < splits->units.count; i++)
		free(splits->units.items[i]);
	for (size_t i = 0; i < splits->files.count; i++)
		mt_dwarf_destroy(splits->files.items[i]);
	mt_dwarf_destroy(splits->package);
	mt_array_deinit(&splits->units);
	mt_array_deinit(&splits->files);
}
