/*
 * Passes debug sections to libdw as an ELF file in memory, and opens the other files that DWARF
 * refers to.
 */
#include "symbols/lines/dwarf_file.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/version.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/base/cleanup.h"
#include "formats/base/cursor.h"
#include "formats/base/err.h"
#include "formats/base/foreign_file.h"

/* Existing files that this version of libdw cannot read. */
#if _ELFUTILS_PREREQ(0, 191)
#define CANNOT_READ ", or one with type units of DWARF 5"
#else
#define CANNOT_READ ", or a .dwp (elfutils before 0.191), or one with type units of DWARF 5"
#endif

MT_DEFINE_CLEANUP(mt_dwarf_file, struct mt_dwarf_file)

/* Names of the sections passed to libdw, as a section name table. */
static const char section_names[] = "\0.debug_abbrev\0.debug_addr\0.debug_info\0.debug_line\0"
				    ".debug_line_str\0.debug_ranges\0.debug_rnglists\0.debug_str\0"
				    ".debug_str_offsets\0.debug_types\0.shstrtab";

struct mt_error *mt_dwarf_error(const char *what, uint64_t offset)
{
	return mt_error_create(MT_ERR_FORMAT, "%s at 0x%llx: %s", what, (unsigned long long)offset,
			       dwarf_errmsg(-1));
}

/* ---- The view ---- */

static bool add_section(Elf *view, size_t name, uint32_t type, const struct mt_span *span)
{
	Elf_Scn *section = elf_newscn(view);
	Elf_Data *data = section ? elf_newdata(section) : NULL;
	GElf_Shdr header;

	if (!data || !gelf_getshdr(section, &header))
		return false;
	header.sh_name = (Elf64_Word)name;
	header.sh_type = type;
	header.sh_size = span->size;
	data->d_buf = (void *)span->bytes; /* libdw only reads it */
	data->d_size = span->size;
	data->d_type = ELF_T_BYTE;
	data->d_align = 1;
	return gelf_update_shdr(section, &header);
}

static bool fill_view(Elf *view, struct mt_elf *elf)
{
	GElf_Ehdr header;

	if (!gelf_newehdr(view, mt_elf_is_64(elf) ? ELFCLASS64 : ELFCLASS32) ||
	    !gelf_getehdr(view, &header))
		return false;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_type = ET_EXEC;
	header.e_machine = mt_elf_machine(elf);
	header.e_shstrndx = 0;
	for (size_t at = 1; at < sizeof(section_names); at += strlen(section_names + at) + 1) {
		const char *name = section_names + at;
		bool is_names = !strcmp(name, ".shstrtab");
		struct mt_span span =
			is_names ? (struct mt_span){.bytes = (const uint8_t *)section_names,
						    .size = sizeof(section_names)}
				 : mt_elf_section(elf, name);

		if (!span.bytes || !span.size)
			continue;
		if (!add_section(view, at, is_names ? SHT_STRTAB : SHT_PROGBITS, &span))
			return false;
		header.e_shstrndx++; /* the names come last */
	}
	return gelf_update_ehdr(view, &header);
}

/* libdw finds the directory of .dwo files by the descriptor, which it does not read. */
static Dwarf *begin(struct mt_dwarf_file *file, struct mt_elf *elf, const char *path)
{
	MT_CLEANUP_CLOSE int fd = open(path ? path : "/", O_PATH | O_CLOEXEC);

	if (fd < 0) /* a carried file has no path */
		fd = open("/", O_PATH | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	elf_version(EV_CURRENT);
	file->view = elf_begin(fd, ELF_C_WRITE, NULL);
	if (!file->view || !fill_view(file->view, elf))
		return NULL;
	return dwarf_begin_elf(file->view, DWARF_C_READ, NULL);
}

static struct mt_error *open_file(struct mt_elf *elf, const char *path, struct mt_dwarf_file **out)
{
	MT_CLEANUP(mt_dwarf_file_destroy_p) struct mt_dwarf_file *file = NULL;

	*out = NULL;
	if (!mt_elf_section(elf, ".debug_info").bytes)
		return NULL;
	file = calloc(1, sizeof(*file));
	if (!file)
		return mt_error_nomem();
	file->info = mt_elf_section(elf, ".debug_info");
	file->abbrev = mt_elf_section(elf, ".debug_abbrev");
	file->line = mt_elf_section(elf, ".debug_line");
	file->line_str = mt_elf_section(elf, ".debug_line_str");
	file->str = mt_elf_section(elf, ".debug_str");
	file->budget.left = 16 * ((uint64_t)file->info.size + file->abbrev.size) +
			    4 * (uint64_t)file->line.size + (1 << 20);
	file->dwarf = begin(file, elf, path);
	if (!file->dwarf)
		return mt_error_create(MT_ERR_FORMAT, "debug information: %s", dwarf_errmsg(-1));
	*out = MT_TAKE(file);
	return NULL;
}

Dwarf *mt_dwarf_file_again(struct mt_dwarf_file *file)
{
	return dwarf_begin_elf(file->view, DWARF_C_READ, NULL);
}

void mt_dwarf_file_destroy(struct mt_dwarf_file *file)
{
	if (!file)
		return;
	if (file->dwarf)
		dwarf_end(file->dwarf);
	if (file->view)
		elf_end(file->view);
	mt_dwarf_file_destroy(file->supplement);
	mt_elf_destroy(file->supplement_elf);
	free(file);
}

/* ---- Other files ---- */

/*
 * True if the path is a regular file or missing. Debug information may name any path, and opening a
 * file that is not regular may block.
 */
static bool is_harmless(const char *path)
{
	struct stat st;

	return !mt_foreign_stat(AT_FDCWD, path, MT_LINKS_TRUSTED, &st) || errno == ENOENT ||
	       errno == ENOTDIR;
}

/* Length of a path's directory with its slash; 0 if it has none. */
static int directory_length(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? (int)(slash - path) + 1 : 0;
}

/* Path of a file named in another file; NULL out of memory. */
static char *alongside(const char *neighbour, const char *name)
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

/* Opens the file if it has that id; otherwise file->supplement stays NULL. */
static void try_supplement(struct mt_dwarf_file *file, const char *path, const uint8_t *id,
			   size_t size)
{
	struct mt_elf *elf;
	struct mt_error *err;

	if (!path || !is_harmless(path))
		return;
	err = mt_elf_open_file(path, &elf);
	if (err) {
		mt_error_destroy(err);
		return;
	}
	mt_elf_set_codec(elf, &mt_elf_codec_all);
	if (mt_elf_has_build_id(elf, id, size))
		mt_error_destroy(open_file(elf, path, &file->supplement));
	if (file->supplement)
		file->supplement_elf = elf;
	else
		mt_elf_destroy(elf);
}

/*
 * Opens dwz's supplementary file. A file that names itself is ignored, because its references would
 * form a cycle.
 */
static void open_supplement(struct mt_dwarf_file *file, struct mt_elf *elf, const char *path)
{
	struct mt_span link = mt_elf_section(elf, ".gnu_debugaltlink");
	struct mt_cursor c = mt_cursor_init(link.bytes, link.bytes ? link.size : 0);
	const char *name = c.pos ? mt_cursor_cstring(&c) : NULL;
	size_t size = mt_cursor_left(&c);

	if (!name || !size || mt_elf_has_build_id(elf, c.pos, size))
		return;
	for (int i = 0; i < 2 && !file->supplement; i++) {
		MT_CLEANUP_FREE char *at =
			i ? mt_debug_file_path(NULL, c.pos, size) : alongside(path, name);

		try_supplement(file, at, c.pos, size);
	}
	if (file->supplement)
		dwarf_setalt(file->dwarf, file->supplement->dwarf);
}

struct mt_error *mt_dwarf_file_open(struct mt_elf *elf, const char *path,
				    struct mt_dwarf_file **out)
{
	struct mt_error *err = open_file(elf, path, out);

	if (!err && *out)
		open_supplement(*out, elf, path);
	return err;
}

/* ---- Split units ---- */

const char *mt_die_string(Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Attribute value;

	return dwarf_attr(die, attribute, &value) ? dwarf_formstring(&value) : NULL;
}

/* True if each path that libdw would try for this name is a regular file or missing. */
static bool may_open(const char *path, const char *directory, const char *name)
{
	MT_CLEANUP_FREE char *built = NULL, *found = alongside(path, name), *package = NULL;

	if (directory && asprintf(&built, "%s/%s", directory, name) < 0)
		built = NULL;
	if (path && asprintf(&package, "%s.dwp", path) < 0)
		package = NULL;
	return found && is_harmless(found) && (!built || is_harmless(built)) &&
	       (!package || is_harmless(package));
}

struct mt_error *mt_dwarf_full_unit(const char *path, Dwarf_Die *unit, Dwarf_Die *out)
{
	const char *name = mt_die_string(unit, DW_AT_dwo_name);
	Dwarf_Die split = {0};

	if (!name)
		name = mt_die_string(unit, DW_AT_GNU_dwo_name);
	if (!name) {
		*out = *unit;
		return NULL;
	}
	if (may_open(path, mt_die_string(unit, DW_AT_comp_dir), name) &&
	    !dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) && split.addr) {
		*out = split;
		return NULL;
	}
	return mt_error_create(MT_ERR_NOT_FOUND, "%s: no such file with that id%s", name,
			       CANNOT_READ);
}
