/*
 * --script: each sample in the format of `perf script`, for tools that parse it.
 */
#include <inttypes.h>
#include <string.h>

#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/outputs/outputs.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

enum {
	PAGE = 4096,
};

struct script {
	struct mt_table *table;
	size_t time, event, comm, tid, cpu, stack, period;
	bool srcline;
	FILE *to;
};

static void print_head(const struct script *script, const struct mt_row *row)
{
	const uint64_t *keys = row->keys;

	mt_text_print_clean(mt_table_string(script->table, row, script->comm), script->to);
	fprintf(script->to, " %5" PRId64 " ", (int64_t)keys[script->tid]);
	if (keys[script->cpu] != UINT64_MAX)
		fprintf(script->to, "[%03" PRIu64 "] ", keys[script->cpu]);
	fprintf(script->to, "%5" PRIu64 ".%06" PRIu64 ": ", keys[script->time] / 1000000000,
		keys[script->time] / 1000 % 1000000);
	fprintf(script->to, "%10.0f ", row->values[script->period].value);
	mt_text_print_clean(mt_table_string(script->table, row, script->event), script->to);
	fputs(": ", script->to);
	if (row->detail)
		mt_text_print_clean(row->detail, script->to);
	fputc('\n', script->to);
}

/* Prints the last part of the path on a separate line, indented, as perf does. */
static void print_line(const struct script *script, const struct mt_frame_name *name)
{
	const char *slash = strrchr(name->file, '/');

	fputs("\n  ", script->to);
	mt_text_print_clean(slash ? slash + 1 : name->file, script->to);
	fprintf(script->to, ":%" PRIu32, name->line);
}

/*
 * A frame's address is that of its call, or, in the kernel's chain, the return address; perf shows
 * the matching offset. Frames are looked up by their call, so a return address is one byte past the
 * address that was looked up.
 */
static void print_frame(const struct script *script, uint64_t address, bool returned,
			const struct mt_frame_name *name)
{
	const char *text = mt_strings_get(mt_frames_strings(script->table->frames), name->name);

	fprintf(script->to, "\t%16" PRIx64 " ", address);
	if (name->resolved) {
		mt_text_print_clean(text, script->to);
		fprintf(script->to, "+0x%" PRIx64, name->offset + returned);
	} else {
		fputs("[unknown]", script->to);
	}
	if (name->inlined) {
		fputs(" (inlined)", script->to);
	} else {
		fputs(" (", script->to);
		mt_text_print_clean(name->dso, script->to);
		fputc(')', script->to);
	}
	if (script->srcline && name->file)
		print_line(script, name);
	fputc('\n', script->to);
}

static void print_stack(const struct script *script, const struct mt_row *row)
{
	size_t depth, names;
	const uint32_t *frames =
		mt_stacks_get(script->table->stacks, (uint32_t)row->keys[script->stack], &depth);

	for (size_t i = 0; i < depth; i++) {
		const struct mt_frame_name *name =
			mt_frames_names(script->table->frames, frames[i], &names);
		const struct mt_frame_key *key = mt_frames_key(script->table->frames, frames[i]);
		bool reported = key->flags & MT_FRAME_REPORTED; /* without an address */
		uint64_t address = reported ? 0 : row->addresses ? row->addresses[i] : key->offset;
		bool returned = !reported && (address - key->offset) % PAGE == 1;

		for (size_t k = 0; k < names; k++)
			print_frame(script, address, returned, &name[k]);
	}
}

static struct mt_error *write_script(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	const struct script script = {
		.table = table,
		.time = mt_table_key_of_kind(table, MT_KEY_TIME),
		.event = mt_table_key(table, "event-name"),
		.comm = mt_table_key(table, "comm"),
		.tid = mt_table_key(table, "tid"),
		.cpu = mt_table_key(table, "cpu"),
		.stack = mt_table_key_of_kind(table, MT_KEY_STACK),
		.period = mt_table_value(table, "period"),
		.srcline = view->srcline,
		.to = to,
	};
	struct mt_error *err = NULL;
	struct mt_row row;

	if (script.time == MT_COLUMN_NONE || script.tid == MT_COLUMN_NONE ||
	    script.cpu == MT_COLUMN_NONE || script.period == MT_COLUMN_NONE)
		return mt_error_create(MT_ERR_USAGE, "--script shows samples, and --%s has none",
				       table->name);
	while (!ferror(to) && mt_table_read(table, &row, &err)) {
		print_head(&script, &row);
		print_stack(&script, &row);
		fputc('\n', to);
	}
	return err;
}

const struct mt_output mt_output_script = {
	.name = "script",
	.help = "every sample with its stack, as perf script does",
	.needs = MT_NEEDS_STACK | MT_NEEDS_LISTING,
	.write = write_script,
};
