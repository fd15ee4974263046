/* Lists of tracepoint ids, in memory and as text. */
#include "record/tracepoints/tracepoint_ids.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/proc/numbers.h"
#include "record/proc/procfs.h"

#define FIRST_LINE "# mtrec tracepoint ids 1"
#define ID_MAX 65535 /* a record's common_type is a u16 */

static struct mt_tracepoint_id *find(const struct mt_tracepoint_ids *ids, const char *name)
{
	for (size_t i = 0; i < ids->items.count; i++) {
		if (!strcmp(ids->items.items[i].name, name))
			return &ids->items.items[i];
	}
	return NULL;
}

const struct mt_tracepoint_id *mt_tracepoint_ids_find(const struct mt_tracepoint_ids *ids,
						      const char *name)
{
	return find(ids, name);
}

/* Adds an entry without searching for one of the same name. */
static bool append(struct mt_tracepoint_ids *ids, const char *name, uint64_t id, const char *format)
{
	struct mt_tracepoint_id *slot = mt_array_push(&ids->items);

	if (!slot)
		return false;
	*slot = (struct mt_tracepoint_id){strdup(name), id, format ? strdup(format) : NULL};
	if (slot->name)
		return true;
	free(slot->format);
	ids->items.count--;
	return false;
}

bool mt_tracepoint_ids_add(struct mt_tracepoint_ids *ids, const char *name, uint64_t id,
			   const char *format)
{
	struct mt_tracepoint_id *known = find(ids, name);

	if (!known)
		return append(ids, name, id, format);
	known->id = id;
	if (format) {
		free(known->format);
		known->format = strdup(format);
	}
	return true;
}

static char *this_kernel(void)
{
	struct utsname name;
	char *text;

	return !uname(&name) && asprintf(&text, "%s %s", name.release, name.version) >= 0 ? text
											  : NULL;
}

static char *this_boot(void)
{
	char *text = mt_read_text("/proc/sys/kernel/random/boot_id", NULL);

	if (text)
		text[strcspn(text, "\n")] = '\0';
	return text;
}

void mt_tracepoint_ids_sign(struct mt_tracepoint_ids *ids)
{
	free(ids->kernel);
	free(ids->boot);
	ids->kernel = this_kernel();
	ids->boot = this_boot();
}

bool mt_tracepoint_ids_same_kernel(const struct mt_tracepoint_ids *ids)
{
	MT_CLEANUP_FREE char *kernel = this_kernel();

	return kernel && ids->kernel && !strcmp(kernel, ids->kernel);
}

bool mt_tracepoint_ids_same_boot(const struct mt_tracepoint_ids *ids)
{
	MT_CLEANUP_FREE char *boot = this_boot();

	return boot && ids->boot && !strcmp(boot, ids->boot);
}

static void write_format(const struct mt_tracepoint_id *item, FILE *to)
{
	fprintf(to, "format %s\n", item->name);
	for (const char *line = item->format; *line;
	     line += strcspn(line, "\n"), line += *line == '\n')
		fprintf(to, "\t%.*s\n", (int)strcspn(line, "\n"), line);
}

void mt_tracepoint_ids_write(const struct mt_tracepoint_ids *ids, FILE *to)
{
	fputs(FIRST_LINE "\n", to);
	if (ids->kernel)
		fprintf(to, "kernel %s\n", ids->kernel);
	if (ids->boot)
		fprintf(to, "boot %s\n", ids->boot);
	for (size_t i = 0; i < ids->items.count; i++)
		fprintf(to, "id %llu %s\n", (unsigned long long)ids->items.items[i].id,
			ids->items.items[i].name);
	for (size_t i = 0; i < ids->items.count; i++) {
		if (ids->items.items[i].format)
			write_format(&ids->items.items[i], to);
	}
}

/* Parses "694 syscalls:sys_exit_brk". */
static bool parse_id(char *text, struct mt_tracepoint_ids *ids)
{
	char *name = strchr(text, ' ');
	uint64_t id;

	if (!name)
		return false;
	*name++ = '\0';
	return mt_parse_u64(text, &id) && id && id <= ID_MAX && strchr(name, ':') &&
	       append(ids, name, id, NULL);
}

/* Joins the lines that begin with a tab; *rest is the text after them. */
static char *take_indented(char *text, char **rest)
{
	char *joined = strdup(text), *to = joined;

	while (joined && *text == '\t') {
		size_t length = strcspn(text, "\n");

		memcpy(to, text + 1, length - 1);
		to += length - 1;
		*to++ = '\n';
		text += length + (text[length] == '\n');
	}
	if (joined)
		*to = '\0';
	*rest = text;
	return joined;
}

static bool parse_format(const char *name, char **rest, struct mt_tracepoint_ids *ids)
{
	struct mt_tracepoint_id *item = find(ids, name);
	char *format = take_indented(*rest, rest);

	if (!item) {
		free(format);
		return false;
	}
	free(item->format);
	item->format = format;
	return format;
}

static bool set_text(char **slot, const char *text)
{
	free(*slot);
	*slot = strdup(text);
	return *slot;
}

/* Parses one line. False if the line is not valid. */
static bool parse_line(char *line, char **rest, struct mt_tracepoint_ids *ids)
{
	if (!*line || *line == '#')
		return true;
	if (!strncmp(line, "id ", 3))
		return parse_id(line + 3, ids);
	if (!strncmp(line, "kernel ", 7))
		return set_text(&ids->kernel, line + 7);
	if (!strncmp(line, "boot ", 5))
		return set_text(&ids->boot, line + 5);
	if (!strncmp(line, "format ", 7))
		return parse_format(line + 7, rest, ids);
	return false;
}

struct mt_error *mt_tracepoint_ids_parse(const char *what, char *text,
					 struct mt_tracepoint_ids *out)
{
	unsigned long number = 0;

	*out = (struct mt_tracepoint_ids){0};
	if (strncmp(text, FIRST_LINE "\n", strlen(FIRST_LINE) + 1) != 0)
		return mt_error_hint(mt_error_create(MT_ERR_FORMAT,
						     "%s: is not a list of tracepoint ids", what),
				     "root writes one with: mtrec --check --tracepoint-ids FILE");
	while (*text) {
		char *line = text;

		number++;
		text += strcspn(text, "\n");
		if (*text)
			*text++ = '\0';
		if (!parse_line(line, &text, out))
			return mt_error_create(MT_ERR_FORMAT, "%s: line %lu makes no sense", what,
					       number);
		for (char *c = line + strlen(line) + 1; c < text; c++)
			number += *c == '\n';
	}
	return NULL;
}

struct mt_error *mt_tracepoint_ids_read(const char *path, struct mt_tracepoint_ids *out)
{
	MT_CLEANUP_FREE char *text = mt_read_text(path, NULL);

	*out = (struct mt_tracepoint_ids){0};
	return text ? mt_tracepoint_ids_parse(path, text, out)
		    : mt_error_os(errno, "cannot read %s", path);
}

static struct mt_error *write_failed(int errnum, const char *path)
{
	struct mt_error *err = mt_error_os(errnum, "cannot write %s", path);

	err->kind = MT_ERR_OUTPUT;
	return err;
}

/* Returns true for devices, FIFOs and links such as /dev/stdout, which must not be replaced. */
static bool is_written_into(const char *path)
{
	struct stat status;

	return !lstat(path, &status) && !S_ISREG(status.st_mode);
}

/* Writes the list and closes the stream, which may be NULL. Returns 0, or errno. */
static int write_to(const struct mt_tracepoint_ids *ids, FILE *to)
{
	int failed;

	if (!to)
		return errno;
	mt_tracepoint_ids_write(ids, to);
	failed = fflush(to) || ferror(to) ? errno : 0;
	return fclose(to) && !failed ? errno : failed;
}

struct mt_error *mt_tracepoint_ids_save(const struct mt_tracepoint_ids *ids, const char *path,
					unsigned mode)
{
	MT_CLEANUP_FREE char *temporary = mt_format("%s.XXXXXX", path);
	FILE *to;
	int fd, failed;

	if (!temporary)
		return mt_error_nomem();
	if (is_written_into(path)) {
		failed = write_to(ids, fopen(path, "we"));
		return failed ? write_failed(failed, path) : NULL;
	}
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return write_failed(errno, path);
	to = fchmod(fd, mode) ? NULL : fdopen(fd, "w");
	failed = write_to(ids, to);
	if (!to)
		close(fd);
	if (!failed && rename(temporary, path))
		failed = errno;
	if (failed)
		unlink(temporary);
	return failed ? write_failed(failed, path) : NULL;
}

void mt_tracepoint_ids_deinit(struct mt_tracepoint_ids *ids)
{
	for (size_t i = 0; i < ids->items.count; i++) {
		free(ids->items.items[i].name);
		free(ids->items.items[i].format);
	}
	mt_array_deinit(&ids->items);
	free(ids->kernel);
	free(ids->boot);
	*ids = (struct mt_tracepoint_ids){0};
}
