/*
 * Reads a whole source file. Its path comes from debug information, which the compiler of the
 * program controls: it may name any file, even one that only the user of the report may read. So a
 * file is only shown if it is where the user said, or if it is a source by name and readable by
 * all.
 */
#include "report/outputs/annotate/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/foreign_file.h"
#include "report/outputs/parts/places.h"
#include "report/tables/text.h"

enum {
	SIZE_MOST = 32 << 20,
};

static const char *const endings[] = {
	"c",	"h",	 "cc",	"cpp", "cxx", "c++", "hh",  "hpp", "hxx",   "h++", "inl",
	"inc",	"ipp",	 "tcc", "rs",  "go",  "s",   "S",   "asm", "java",  "kt",  "m",
	"mm",	"swift", "d",	"f",   "f90", "f95", "F",   "F90", "for",   "zig", "nim",
	"cr",	"ml",	 "hs",	"adb", "ads", "pas", "pp",  "cu",  "cuh",   "y",   "l",
	"yy",	"ll",	 "def", "js",  "ts",  "py",  "pyx", "rb",  "scala", "cs",  "vala",
	"odin", "v",	 "jl",	"erl", "lua", "C",   "mjs", "php",
};

/* True for names of sources. C++ headers without a suffix are in folders called include. */
static bool is_source_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

	for (size_t i = 0; dot && i < sizeof(endings) / sizeof(*endings); i++) {
		if (!strcmp(dot + 1, endings[i]))
			return true;
	}
	return !dot && strstr(path, "/include/");
}

/* The path with its beginning replaced, or NULL. */
static char *moved_path(const char *path, const struct mt_source_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++) {
		const struct mt_source_path *p = &paths->items[i];

		if (!strncmp(path, p->from, p->from_size))
			return mt_format("%s%s", p->to, path + p->from_size);
	}
	return NULL;
}

/*
 * Opens the file below a directory that the user named: by its whole path, then with its first
 * components removed one by one.
 */
static int open_below(const char *directory, const char *path, struct stat *status)
{
	MT_CLEANUP_CLOSE int root = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = -1;

	for (const char *part = path; root >= 0 && part && fd < 0; part = strchr(part + 1, '/'))
		fd = mt_foreign_open(root, part, MT_LINKS_TRUSTED, status);
	return fd;
}

/* True if the file's real path, after links and renames, is that of a source. */
static bool is_still_source(int fd, const char *path)
{
	char link[32], real[PATH_MAX];
	ssize_t size;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	size = readlink(link, real, sizeof(real) - 1);
	real[size > 0 ? size : 0] = '\0';
	return is_source_name(size > 0 ? real : path);
}

/* The reason why a file named only by debug information is not shown, or NULL. */
static const char *refuse(int fd, const char *path, const struct stat *status)
{
	if (!is_still_source(fd, path))
		return "no source by its name";
	if (!(status->st_mode & S_IROTH) && status->st_uid != geteuid())
		return "not readable by others";
	return NULL;
}

/* Opens the file; on failure returns -1 and sets out->why or errno. Sets out->path. */
static int open_source(const char *path, const struct mt_source_paths *paths,
		       struct mt_source_file *out, struct stat *status)
{
	MT_CLEANUP_CLOSE int fd = -1;
	int given;

	out->path = moved_path(path, paths);
	if (out->path)
		return mt_foreign_open(AT_FDCWD, out->path, MT_LINKS_TRUSTED, status);
	out->path = mt_copy_string(path);
	for (size_t i = 0; i < paths->directory_count && fd < 0; i++)
		fd = open_below(paths->directories[i], path, status);
	if (fd < 0 && *path != '/') {
		out->why = "a relative name";
		return -1;
	}
	if (fd < 0) {
		fd = mt_foreign_open(AT_FDCWD, path, MT_LINKS_TRUSTED, status);
		out->why = fd < 0 ? NULL : refuse(fd, path, status);
	}
	given = fd;
	if (!out->why)
		fd = -1;
	return out->why ? -1 : given;
}

/* Reads the text. Returns NULL, or the reason why the file is not read. */
static const char *read_text(struct mt_source_file *file, int fd, const struct stat *st)
{
	size_t size;

	if (st->st_size > SIZE_MOST)
		return "larger than 32 MB";
	file->text = mt_alloc((size_t)st->st_size + 1, 1);
	size = mt_read_at(fd, 0, (uint8_t *)file->text, (size_t)st->st_size);
	file->text[size] = '\0';
	file->written = (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;
	if (strlen(file->text) == size)
		return NULL;
	free(file->text);
	file->text = NULL;
	return "not a text file";
}

/* Terminates each line in the text. */
static void split_lines(struct mt_source_file *file)
{
	MT_ARRAY(char *) lines = {0};

	for (char *at = file->text; at && *at;) {
		char *end = strchr(at, '\n');

		*mt_array_push(&lines) = at;
		if (end)
			*end++ = '\0';
		at = end;
	}
	file->lines = lines.items;
	file->count = lines.count;
}

void mt_source_file_read(const char *path, const struct mt_source_paths *paths,
			 struct mt_source_file *out)
{
	MT_CLEANUP_CLOSE int fd = -1;
	struct stat status;

	*out = (struct mt_source_file){0};
	fd = open_source(path, paths, out, &status);
	if (fd >= 0)
		out->why = read_text(out, fd, &status);
	else if (!out->why)
		out->why = mt_foreign_problem(errno);
	split_lines(out);
}

void mt_source_file_deinit(struct mt_source_file *file)
{
	free(file->path);
	free(file->text);
	free(file->lines);
	*file = (struct mt_source_file){0};
}

/* ---- Source lines ---- */

enum {
	AROUND = 5,		       /* lines before and after one with a figure */
	COLUMNS_MOST = 240,	       /* of a line */
	TEXT_MOST = 4 << 20,	       /* bytes of all lines */
	LINE_BYTES = 4 * COLUMNS_MOST, /* UTF-8 */
};

/* The reader's options, and its result. */
struct reading {
	const struct mt_places *places;
	const struct mt_source_paths *paths;
	uint64_t recorded;
	MT_ARRAY(struct mt_source_line) wanted; /* lines with figures, sorted, without text */
	struct mt_source_lines *out;
};

static int compare(const void *a, const void *b)
{
	const struct mt_source_line *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void find_wanted(struct reading *r)
{
	for (uint32_t i = 0; i < mt_places_count(r->places); i++) {
		const struct mt_stack_place *place = mt_places_get(r->places, i);

		if (place->line && is_source_name(mt_places_get_text(r->places, place->file)))
			*mt_array_push(&r->wanted) =
				(struct mt_source_line){.file = place->file, .line = place->line};
	}
	if (r->wanted.count)
		qsort(r->wanted.items, r->wanted.count, sizeof(*r->wanted.items), compare);
}

/* Adds a line of a file, made printable, with tabs as blanks. */
static void add_line(struct mt_source_lines *s, uint32_t file, uint32_t number, const char *text)
{
	char spaced[COLUMNS_MOST + 8], fitted[LINE_BYTES + 8];
	size_t used = 0;

	for (; *text && used < COLUMNS_MOST; text++) {
		if (*text == '\t')
			used += (size_t)snprintf(spaced + used, 5, "    ");
		else if (*text != '\r')
			spaced[used++] = *text;
	}
	spaced[used] = '\0';
	mt_text_fit(spaced, COLUMNS_MOST, fitted, sizeof(fitted));
	*mt_array_push(&s->lines) = (struct mt_source_line){file, number, mt_copy_string(fitted)};
	s->used += strlen(fitted) + 1;
}

/* Adds the wanted lines [first, end) of one file, with the lines around them. */
static void add_file(struct reading *r, const struct mt_source_file *source, size_t first,
		     size_t end)
{
	uint32_t file = r->wanted.items[first].file, next = 1;

	for (size_t i = first; i < end; i++) {
		uint32_t line = r->wanted.items[i].line, last = line + AROUND;

		if (line > source->count)
			break;
		if (r->out->used > TEXT_MOST) {
			r->out->left++;
			continue;
		}
		next = line > next + AROUND ? line - AROUND : next;
		for (; next <= last && next <= source->count; next++)
			add_line(r->out, file, next, source->lines[next - 1]);
	}
}

static void read_file(struct reading *r, size_t first, size_t end)
{
	uint32_t file = r->wanted.items[first].file;
	struct mt_source_file source = {0};

	mt_source_file_read(mt_places_get_text(r->places, file), r->paths, &source);
	if (source.text) {
		add_file(r, &source, first, end);
		if (r->recorded && source.written > r->recorded)
			*mt_array_push(&r->out->changed) = file;
	}
	mt_source_file_deinit(&source);
}

void mt_source_lines_read(struct mt_source_lines *lines, const struct mt_places *places,
			  const struct mt_source_paths *paths, uint64_t recorded)
{
	struct reading r = {.places = places, .paths = paths, .recorded = recorded, .out = lines};
	const struct mt_source_line *wanted;

	find_wanted(&r);
	wanted = r.wanted.items;
	for (size_t i = 0, end; i < r.wanted.count; i = end) {
		for (end = i; end < r.wanted.count && wanted[end].file == wanted[i].file;)
			end++;
		read_file(&r, i, end);
	}
	mt_array_deinit(&r.wanted);
}

void mt_source_lines_deinit(struct mt_source_lines *lines)
{
	for (size_t i = 0; i < lines->lines.count; i++)
		free(lines->lines.items[i].text);
	mt_array_deinit(&lines->lines);
	mt_array_deinit(&lines->changed);
}
