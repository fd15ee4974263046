/*
 * Names that the summary's paths lack: those of JIT code and interpreted functions, with the way to
 * get them, and those of files without symbols.
 */
#include <string.h>

#include "formats/base/err.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/name_advice.h"
#include "report/outputs/summary/summary_parts.h"
#include "report/stacks/code_class.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/table.h"

enum {
	FILES_MOST = 64, /* counted separately */
};

/* A file whose frames are on less of the weight is not counted. */
#define LEAST_SHARE 0.01

struct nameless_file {
	const char *path;
	double weight;
};

struct nameless {
	struct mt_name_advice advice;
	struct nameless_file files[FILES_MOST];
	size_t count;
};

static void add_file(struct nameless *nameless, const char *path, double weight)
{
	size_t i = 0;

	while (i < nameless->count && strcmp(nameless->files[i].path, path) != 0)
		i++;
	if (i == FILES_MOST)
		return;
	if (i == nameless->count)
		nameless->files[nameless->count++] = (struct nameless_file){.path = path};
	nameless->files[i].weight += weight;
}

static void see_stack(struct nameless *nameless, const struct mt_table *table, uint32_t stack,
		      double weight)
{
	const char *last = NULL;
	size_t depth, count;
	const uint32_t *ids = mt_stacks_get(table->stacks, stack, &depth);

	for (size_t i = 0; i < depth; i++) {
		const struct mt_frame_name *name = mt_frames_names(table->frames, ids[i], &count);

		if (name->resolved || *name->dso != '/' || mt_is_made_code(name->dso) ||
		    (last && !strcmp(last, name->dso)))
			continue;
		last = name->dso;
		add_file(nameless, last, weight);
	}
	mt_name_advice_see(&nameless->advice, table, stack, weight);
}

static struct mt_error *see_table(struct nameless *nameless, struct mt_table *table)
{
	size_t stack = mt_table_key_of_kind(table, MT_KEY_STACK);
	size_t bytes = mt_table_value(table, "bytes");
	struct mt_error *err = mt_table_rewind(table);
	struct mt_row row;

	mt_frames_resolve(table->frames);
	while (mt_table_read(table, &row, &err)) {
		if (row.values[bytes].value > 0)
			see_stack(nameless, table, (uint32_t)row.keys[stack],
				  row.values[bytes].value);
	}
	return err;
}

static size_t count_files(const struct nameless *nameless)
{
	size_t files = 0;

	for (size_t i = 0; i < nameless->count; i++)
		files += nameless->files[i].weight >= LEAST_SHARE * nameless->advice.all;
	return files;
}

struct mt_error *mt_summary_print_nameless(const struct mt_summary *s, const char *heading,
					   const char *blocks, const char *said)
{
	struct nameless nameless = {0};
	struct mt_error *err = see_table(&nameless, s->blocks ?: s->resident ?: s->growth);
	size_t files, used;
	char text[240], label[12];

	if (!mt_name_advice_has_blocks(&nameless.advice))
		blocks = "";
	if (err || (!*said && !*blocks && !nameless.count && !nameless.advice.count))
		return err;
	files = count_files(&nameless);
	used = (size_t)snprintf(text, sizeof(text), "%s%s%s", blocks, *blocks && *said ? "; " : "",
				said);
	if (files)
		snprintf(text + used, sizeof(text) - used,
			 "%sthe functions of %zu file%s have no names (mtreport --info)",
			 used ? "; " : "", files, files == 1 ? "" : "s");
	fputc('\n', s->to);
	if (*text)
		mt_summary_print_alongside(s, heading, text);
	snprintf(label, sizeof(label), "%-8s   ", *text ? "" : heading);
	mt_name_advice_print(&nameless.advice, "", label, s->view->width, s->to);
	return NULL;
}
