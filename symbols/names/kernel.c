/*
 * Kernel symbols from text in the form of /proc/kallsyms: "ffffffff81000000 T _text", with a tab
 * and "[module]" after symbols of modules, BPF and trampolines. The text is kept, and names point
 * into it. Padding (__pfx_NAME) and lines that only mark an end are not used as names.
 */
#include "symbols/names/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/foreign_file.h"

/* /proc/kallsyms of a large distribution kernel with all its modules is 20 MB. */
#define TEXT_MAX ((size_t)256 << 20)
#define READ_STEP ((size_t)1 << 20)
#define PAGE UINT64_C(4096)

struct kernel_symbol {
	uint64_t start;
	uint32_t name;	 /* offset in the text */
	uint32_t module; /* offset in the text, 0: the kernel proper */
	uint32_t order : 31;
	uint32_t end : 1; /* no name: the previous symbol ends here */
};

struct mt_kernel_symbols {
	char *text; /* names and modules end in NUL */
	MT_ARRAY(struct kernel_symbol) list;
};

MT_DEFINE_CLEANUP(mt_kernel_symbols, struct mt_kernel_symbols)

void mt_kernel_symbols_destroy(struct mt_kernel_symbols *symbols)
{
	if (!symbols)
		return;
	mt_array_deinit(&symbols->list);
	free(symbols->text);
	free(symbols);
}

/* Reads a hexadecimal number at *p and moves *p past it; false if it has no digits or too many. */
static bool take_hex(const char **p, uint64_t *value)
{
	const char *digits = *p;
	uint64_t v = 0;

	for (;; ++*p) {
		char c = **p;

		if (c >= '0' && c <= '9')
			v = v << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	*value = v;
	return *p > digits && *p - digits <= 16;
}

/* Cuts "name\t[module]" in the text. *module is its offset; 0 if there is no module. */
static void cut_module(char *text, char *name, uint32_t *module)
{
	char *tab = strpbrk(name, "\t "), *bracket, *end;

	*module = 0;
	if (!tab)
		return;
	*tab = '\0';
	bracket = strchr(tab + 1, '[');
	end = bracket ? strchr(bracket, ']') : NULL;
	if (!end)
		return;
	*end = '\0';
	*module = (uint32_t)(bracket + 1 - text);
}

bool mt_kernel_is_padding(const char *name, size_t size)
{
	return size > 6 && !memcmp(name, "__pfx_", 6);
}

/* Takes one line, which ends in NUL. Skips malformed lines and symbols that are not code. */
static bool take_line(struct mt_kernel_symbols *symbols, char *line)
{
	struct kernel_symbol *symbol;
	const char *p = line;
	uint64_t start;

	if (!take_hex(&p, &start) || p[0] != ' ' || !p[1] || p[2] != ' ' || !p[3])
		return true;
	if (!strchr("tTwW", p[1]) && p[1] != MT_KERNEL_END)
		return true;
	symbol = mt_array_push(&symbols->list);
	if (!symbol)
		return false;
	symbol->start = start;
	symbol->name = (uint32_t)(p + 3 - symbols->text);
	symbol->order = (uint32_t)symbols->list.count & INT32_MAX;
	symbol->end = p[1] == MT_KERNEL_END;
	if (start && mt_kernel_is_padding(p + 3, strlen(p + 3))) {
		symbol->end = true;
		symbol->start++; /* the return address of a call at the end of a function is still
				    in that function */
	}
	cut_module(symbols->text, symbols->text + symbol->name, &symbol->module);
	return true;
}

static bool take_lines(struct mt_kernel_symbols *symbols, size_t size)
{
	char *end = symbols->text + size, *line, *newline;

	for (line = symbols->text; line < end; line = newline + 1) {
		newline = memchr(line, '\n', (size_t)(end - line));
		if (!newline)
			newline = end;
		*newline = '\0';
		if (!take_line(symbols, line))
			return false;
	}
	return true;
}

static int compare_symbols(const void *a, const void *b)
{
	const struct kernel_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* The kernel's symbols are sorted, those of modules mostly are not. */
static void sort(struct mt_kernel_symbols *symbols)
{
	const struct kernel_symbol *list = symbols->list.items;
	size_t i = 1;

	while (i < symbols->list.count && list[i - 1].start <= list[i].start)
		i++;
	if (i < symbols->list.count)
		qsort(symbols->list.items, symbols->list.count, sizeof(*list), compare_symbols);
}

/*
 * Keeps the last of several symbols at one address: perf sets the end of only the last one, and
 * prefers symbols with an end. Symbols have priority over end marks. The list is sorted.
 */
static void settle(struct mt_kernel_symbols *symbols)
{
	struct kernel_symbol *list = symbols->list.items;
	size_t kept = 0;

	for (size_t i = 0; i < symbols->list.count; i++) {
		bool again = kept && list[kept - 1].start == list[i].start;

		if (again && list[i].end)
			continue;
		list[kept - again] = list[i];
		kept += !again;
	}
	symbols->list.count = kept;
}

/* Parses the text of `size` bytes and one spare byte. Takes ownership of the text. */
static struct mt_error *parse(char *text, size_t size, struct mt_kernel_symbols **out)
{
	MT_CLEANUP(mt_kernel_symbols_destroy_p)
	struct mt_kernel_symbols *symbols = calloc(1, sizeof(*symbols));
	size_t count;

	if (!symbols) {
		free(text);
		return mt_error_nomem();
	}
	symbols->text = text;
	if (!take_lines(symbols, size))
		return mt_error_nomem();
	count = symbols->list.count;
	if (!count)
		return mt_error_create(MT_ERR_FORMAT,
				       "no kernel symbols: not in the form of /proc/kallsyms");
	sort(symbols);
	if (!symbols->list.items[count - 1].start)
		return mt_error_hint(
			mt_error_create(MT_ERR_PERMISSION,
					"kernel symbols: all addresses are zero"),
			"kernel.kptr_restrict hides them: read as root, or set it to 0");
	settle(symbols);
	*out = MT_TAKE(symbols);
	return NULL;
}

struct mt_error *mt_kernel_symbols_parse(const char *text, size_t size,
					 struct mt_kernel_symbols **out)
{
	char *copy;

	if (size > TEXT_MAX)
		return mt_error_create(MT_ERR_FORMAT,
				       "kernel symbols: %zu bytes of text are too many", size);
	copy = malloc(size + 1);
	if (!copy)
		return mt_error_nomem();
	memcpy(copy, text, size);
	return parse(copy, size, out);
}

/* Reads up to the end, because files of /proc have size zero. */
static struct mt_error *read_all(int fd, const char *path, char **text, size_t *size)
{
	MT_ARRAY(char) bytes = {0};
	ssize_t n = 1;

	while (n > 0) {
		if (bytes.count > TEXT_MAX || !mt_array_reserve(&bytes, bytes.count + READ_STEP)) {
			mt_array_deinit(&bytes);
			return mt_error_create(MT_ERR_NOMEM, "%s: too large", path);
		}
		n = read(fd, bytes.items + bytes.count, bytes.capacity - bytes.count - 1);
		bytes.count += n > 0 ? (size_t)n : 0;
	}
	if (n < 0) {
		mt_array_deinit(&bytes);
		return mt_error_os(errno, "%s", path);
	}
	*text = bytes.items;
	*size = bytes.count;
	return NULL;
}

struct mt_error *mt_kernel_text_read(const char *path, char **text, size_t *size)
{
	struct stat st;
	MT_CLEANUP_CLOSE int fd = mt_foreign_open(AT_FDCWD, path, MT_LINKS_ALL, &st);

	if (fd < 0 && (errno == EINVAL || errno == EISDIR))
		return mt_error_create(MT_ERR_FORMAT, "%s: not a regular file", path);
	if (fd < 0)
		return mt_error_os(errno, "%s", path);
	return read_all(fd, path, text, size);
}

struct mt_error *mt_kernel_symbols_read(const char *path, struct mt_kernel_symbols **out)
{
	size_t size = 0;
	char *text = NULL;
	struct mt_error *err = mt_kernel_text_read(path, &text, &size);

	if (err)
		return err;
	return mt_error_context(parse(text, size, out), "%s", path);
}

/* The last symbol that starts at or before address, or NULL. */
static const struct kernel_symbol *symbol_before(const struct mt_kernel_symbols *symbols,
						 uint64_t address)
{
	size_t below =
		mt_array_split(symbols->list.count, at, symbols->list.items[at].start <= address);

	return below ? &symbols->list.items[below - 1] : NULL;
}

/*
 * True if the symbol covers the address. kallsyms has no sizes: a symbol reaches to the next one of
 * the same module, and the last of a module to the end of the page after its page, as in perf.
 */
static bool reaches(const struct mt_kernel_symbols *symbols, const struct kernel_symbol *symbol,
		    uint64_t address)
{
	const struct kernel_symbol *next = symbol + 1,
				   *end = symbols->list.items + symbols->list.count;

	if (next < end && !strcmp(symbol->module ? symbols->text + symbol->module : "",
				  next->module ? symbols->text + next->module : ""))
		return true;
	return address / PAGE <= symbol->start / PAGE + 1;
}

const char *mt_kernel_symbols_find(const struct mt_kernel_symbols *symbols, uint64_t address,
				   uint64_t *offset, const char **module)
{
	const struct kernel_symbol *symbol = symbol_before(symbols, address);

	if (!symbol || symbol->end || !reaches(symbols, symbol, address))
		return NULL;
	*offset = address - symbol->start;
	*module = symbol->module ? symbols->text + symbol->module : NULL;
	return symbols->text + symbol->name;
}
