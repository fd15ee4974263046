/* Classifies images by path. The tables list what paths do not show. */
#include "report/stacks/code_class.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "formats/records/jitdump.h"

#define DELETED " (deleted)"

/* Part of a path. */
struct part {
	const char *text;
	size_t size;
};

static struct part part_of(const char *text)
{
	return (struct part){text, strlen(text)};
}

static bool is(struct part part, const char *text)
{
	return part.size == strlen(text) && !memcmp(part.text, text, part.size);
}

static bool starts_with(struct part part, const char *start)
{
	size_t size = strlen(start);

	return part.size >= size && !memcmp(part.text, start, size);
}

static bool is_one_of(struct part part, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (is(part, list[i]))
			return true;
	}
	return false;
}

#define IS_ONE_OF(part, list) is_one_of(part, list, sizeof(list) / sizeof(*(list)))

static struct part without_mark(const char *path)
{
	struct part part = part_of(path);
	size_t mark = strlen(DELETED);

	if (part.size > mark && !strcmp(path + part.size - mark, DELETED))
		part.size -= mark;
	return part;
}

static struct part directory_of(struct part path)
{
	while (path.size && path.text[path.size - 1] != '/')
		path.size--;
	path.size -= path.size > 0;
	return path;
}

static struct part name_of(struct part path)
{
	size_t directory = directory_of(path).size;
	size_t at = path.size && path.text[directory] == '/' ? directory + 1 : 0;

	return (struct part){path.text + at, path.size - at};
}

/* The component of the path at *at; size 0 at the end. Advances *at past the component. */
static struct part next_component(struct part path, size_t *at)
{
	struct part out;

	while (*at < path.size && path.text[*at] == '/')
		++*at;
	out = (struct part){path.text + *at, 0};
	while (*at < path.size && path.text[*at] != '/') {
		++*at;
		out.size++;
	}
	return out;
}

/* ---- Runtime ---- */

/* Sonames without their version: libc.so.6, libc-2.31.so, libtcmalloc_minimal.so.4. */
static const char *const runtime_names[] = {
	/* the C library (glibc and musl), and the loader */
	"libc", "libm", "libmvec", "libpthread", "libdl", "librt", "libanl", "libutil", "libresolv",
	"libthread_db", "libBrokenLocale", "libSegFault", "libc_malloc_debug", "ld-linux",
	"ld-linux-x86-64", "ld-musl-x86_64", "ld", "ld64", "linux-vdso", "linux-gate",
	/* compiler libraries */
	"libstdc++", "libgcc_s", "libc++", "libc++abi", "libunwind", "libatomic", "libgomp",
	"libomp", "libiomp5", "libasan", "libtsan", "libubsan", "liblsan", "libhwasan"};

static const char *const allocator_names[] = {"libjemalloc",
					      "libtcmalloc",
					      "libtcmalloc_minimal",
					      "libtcmalloc_debug",
					      "libtcmalloc_and_profiler",
					      "libtcmalloc_minimal_debug",
					      "libmimalloc",
					      "libmimalloc-secure",
					      "libmimalloc-debug",
					      "libsnmallocshim",
					      "librpmalloc",
					      "libhoard",
					      "libumem",
					      "libtbbmalloc",
					      "libtbbmalloc_proxy",
					      "libscudo",
					      "libduma",
					      "libefence"};

/* True for a name of the table with a version or suffix: libc.so.6, libc-2.31.so, ld-2.31.so. */
static bool is_in(struct part name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t size = strlen(names[i]);

		if (!starts_with(name, names[i]) || name.size <= size + 1)
			continue;
		if (name.text[size] == '.' ||
		    (name.text[size] == '-' && isdigit((unsigned char)name.text[size + 1])))
			return true;
	}
	return false;
}

bool mt_is_allocator(const char *path)
{
	return is_in(name_of(without_mark(path)), allocator_names,
		     sizeof(allocator_names) / sizeof(*allocator_names));
}

static bool is_runtime(struct part name)
{
	return is_in(name, runtime_names, sizeof(runtime_names) / sizeof(*runtime_names)) ||
	       is_in(name, allocator_names, sizeof(allocator_names) / sizeof(*allocator_names));
}

bool mt_is_loader(const char *path)
{
	struct part name = name_of(without_mark(path));

	return is_runtime(name) &&
	       (starts_with(name, "ld-") || starts_with(name, "ld.") || starts_with(name, "ld64."));
}

bool mt_is_c_library(const char *path)
{
	struct part name = name_of(without_mark(path));

	return is_runtime(name) &&
	       (starts_with(name, "libc.") || starts_with(name, "libc-") ||
		starts_with(name, "libpthread") || starts_with(name, "ld-musl"));
}

static bool has_so(struct part name)
{
	for (size_t i = 0; i + 3 <= name.size; i++) {
		if (!memcmp(name.text + i, ".so", 3) &&
		    (i + 3 == name.size || name.text[i + 3] == '.'))
			return true;
	}
	return false;
}

bool mt_may_be_program(const char *path)
{
	struct part name = name_of(without_mark(path));

	return *path == '/' && path[1] != '/' && name.size && !has_so(name) && !is_runtime(name);
}

/* ---- Made code ---- */

bool mt_is_made_code(const char *path)
{
	static const char *const starts[] = {"//anon", "[anon",	    "/memfd:",	 "/anon_hugepage",
					     "/SYSV",  "/dev/zero", "/tmp/perf-"};
	uint32_t pid;

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		if (starts_with(part_of(path), starts[i]))
			return true;
	}
	return mt_jitdump_path(path, strlen(path), &pid);
}

bool mt_is_made_code_name(const char *name)
{
	static const char *const starts[] = {"[anon", "[perf-", "[memfd:", "[zero"};

	name += strncmp(name, "? ", 2) ? 0 : 2;
	if (*name != '[')
		return false;
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		if (starts_with(part_of(name), starts[i]))
			return true;
	}
	return false;
}

/* ---- The program's directories ---- */

/* True for directories that contain many programs or libraries. */
static bool is_listed(struct part directory)
{
	static const char *const shared[] = {
		"",	      "/usr",	  "/usr/local", "/usr/share",	 "/usr/libexec", "/usr/lib",
		"/usr/lib64", "/lib",	  "/lib64",	"/opt",		 "/home",	 "/root",
		"/tmp",	      "/var",	  "/var/tmp",	"/var/lib",	 "/srv",	 "/snap",
		"/mnt",	      "/media",	  "/nix",	"/nix/store",	 "/run",	 "/dev/shm",
		"/usr/games", "/usr/bin", "/usr/sbin",	"/usr/local/lib"};

	return IS_ONE_OF(directory, shared);
}

static bool is_shared(struct part directory)
{
	struct part name = name_of(directory), parent = directory_of(directory);

	/* such as /usr/lib/x86_64-linux-gnu and /home/anna */
	return is_listed(directory) ||
	       (memmem(name.text, name.size, "-linux-", 7) && is_listed(parent)) ||
	       is(parent, "/home");
}

/* The directory of exe's installation: exe's directory without bin, lib or similar at the end. */
static struct part root_of(struct part exe)
{
	static const char *const inner[] = {"bin", "sbin", "lib", "lib64", "libexec", "exec"};
	struct part root = directory_of(exe);

	while (!is_shared(root) && IS_ONE_OF(name_of(root), inner))
		root = directory_of(root);
	return root;
}

static bool is_below(struct part path, struct part directory)
{
	return path.size > directory.size && path.text[directory.size] == '/' &&
	       !memcmp(path.text, directory.text, directory.size);
}

static bool is_in_own_tree(struct part path, struct part exe)
{
	struct part root = root_of(exe), alongside = directory_of(exe);

	if (!is_shared(root) && is_below(path, root))
		return true;
	return directory_of(path).size == alongside.size && is_below(path, alongside) &&
	       !starts_with(alongside, "/usr") && !starts_with(alongside, "/lib");
}

/* ---- The program's name ---- */

/* The name without its version: python for python3.11. The whole name if it is only a version. */
static struct part stem_of(struct part name)
{
	size_t stem = name.size;

	while (stem && (isdigit((unsigned char)name.text[stem - 1]) || name.text[stem - 1] == '.'))
		stem--;
	stem -= stem && stem < name.size && name.text[stem - 1] == '-';
	return (struct part){name.text, stem ? stem : name.size};
}

size_t mt_program_stem(const char *name)
{
	return stem_of(without_mark(name)).size;
}

/* Programs whose directories have another name, and that name. */
static const struct {
	const char *program, *directory;
} other_names[] = {
	{"postgres", "postgresql"}, {"postgres", "pgsql"},   {"mysqld", "mysql"},
	{"mariadbd", "mysql"},	    {"mariadbd", "mariadb"}, {"httpd", "apache"},
	{"node", "nodejs"},
};

/*
 * True if a name is the stem, followed by nothing or by a version or suffix: python3, python3.11,
 * ruby-3.1, nginx; not catgets for cat.
 */
static bool is_named(struct part name, struct part stem)
{
	if (stem.size < 3 || name.size < stem.size || memcmp(name.text, stem.text, stem.size) != 0)
		return false;
	return name.size == stem.size || !isalpha((unsigned char)name.text[stem.size]);
}

/* The name up to the first "-", "_" or space: redis for redis-server. */
static struct part first_word(struct part name)
{
	size_t size = 0;

	while (size < name.size && !strchr("-_ ", name.text[size]))
		size++;
	return (struct part){name.text, size};
}

static bool is_named_after(struct part name, struct part program)
{
	struct part stem = stem_of(program), word = first_word(program);

	if (is_named(name, stem) || (name.size == word.size && is_named(name, word)))
		return true;
	for (size_t i = 0; i < sizeof(other_names) / sizeof(*other_names); i++) {
		if (is(stem, other_names[i].program) &&
		    is_named(name, part_of(other_names[i].directory)))
			return true;
	}
	return false;
}

/*
 * True for a library with the program's name, or a file in a directory with this name, except for
 * the first directory of the path.
 */
static bool has_own_name(struct part path, struct part exe)
{
	struct part name = name_of(path), program = name_of(exe), component;
	size_t at = 0, number = 0;

	if (starts_with(name, "lib") && has_so(name) &&
	    is_named_after((struct part){name.text + 3, name.size - 3}, program))
		return true;
	while ((component = next_component(directory_of(path), &at)).size) {
		if (number++ && is_named_after(component, program))
			return true;
	}
	return false;
}

enum mt_code_class mt_code_class_of(const char *path, const char *exe)
{
	struct part file = without_mark(path), program = without_mark(exe ? exe : "");

	if (starts_with(file, "[vdso") || is_runtime(name_of(file)))
		return MT_CODE_RUNTIME;
	if (mt_is_made_code(path))
		return MT_CODE_PROGRAM;
	if (*path != '/')
		return MT_CODE_NONE;
	if (!program.size || !mt_may_be_program(exe))
		return mt_may_be_program(path) ? MT_CODE_PROGRAM : MT_CODE_LIBRARY;
	if (file.size == program.size && !memcmp(file.text, program.text, file.size))
		return MT_CODE_PROGRAM;
	return is_in_own_tree(file, program) || has_own_name(file, program) ? MT_CODE_PROGRAM
									    : MT_CODE_LIBRARY;
}
