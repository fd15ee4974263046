/*
 * Options of perf report and perf script. Each is mapped to mtreport's option with the same
 * function, accepted if every report does this anyway, or else refused with the alternative.
 */
#include <string.h>

#include "formats/base/err.h"
#include "report/cli/option_table.h"
#include "report/cli/options.h"
#include "report/outputs/outputs.h"

static const struct {
	const char *perf, *by;
} sort_keys[] = {
	{"comm", "comm"},   {"dso", "image"},	    {"symbol", "stack"},  {"sym", "stack"},
	{"pid", "process"}, {"tid", "thread"},	    {"cpu", "cpu"},	  {"cgroup", "cgroup"},
	{"image", "image"}, {"process", "process"}, {"thread", "thread"}, {"stack", "stack"},
	{"event", "event"}, {"mode", "mode"},
};

static const char *key_of(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(sort_keys) / sizeof(*sort_keys); i++) {
		if (strlen(sort_keys[i].perf) == length &&
		    !strncmp(sort_keys[i].perf, word, length))
			return sort_keys[i].by;
	}
	return NULL;
}

static struct mt_error *set_sort(struct mt_report_options *o, const char *name, const char *value)
{
	o->sorted = true;
	for (;; value++) {
		size_t length = strcspn(value, ",");
		const char *by = key_of(value, length);
		struct mt_error *err = by ? mt_by_parse(name, by, &o->wishes.by) : NULL;

		if (!by)
			err = mt_error_hint(
				mt_error_create(MT_ERR_USAGE, "%s %.*s: no such key", name,
						(int)length, value),
				"known: comm, dso, symbol, pid, tid, cpu, cgroup; --by has more");
		if (err)
			return err;
		value += length;
		if (!*value)
			return NULL;
	}
}

static struct mt_error *set_info(struct mt_report_options *o, const char *name, const char *value)
{
	(void)value;
	if (o->output && o->output != &mt_output_info)
		return mt_error_create(MT_ERR_USAGE, "%s is --info: one output at a time", name);
	o->output = &mt_output_info;
	return NULL;
}

#define OWN(set, text) MT_OPTION_OWN, 0, set, NULL, text
#define HELD(text) MT_OPTION_HELD, 0, NULL, NULL, text
#define INSTEAD(text) MT_OPTION_INSTEAD, 0, NULL, NULL, text

const struct mt_option mt_perf_option_rows[] = {
	{'s', "sort", NULL, "KEY,...",
	 OWN(set_sort, "as --by: comm, dso (image), symbol (stack; shown as by --paths), pid, "
		       "tid, cpu, cgroup")},
	{'I', "header-only", "show-info", NULL, OWN(set_info, "as --info")},
	{0, "header", NULL, NULL, HELD("--info tells where a recording comes from")},
	{0, "stdio", NULL, NULL, HELD("reports are text anyway")},
	{'g', "call-graph", NULL, "[=TYPE]", HELD("reports have paths of calls anyway")},
	{'n', "show-nr-samples", NULL, NULL, HELD("counts are shown anyway")},
	{0, "show-total-period", NULL, NULL, HELD("figures are sums anyway")},
	{0, "no-children", NULL, NULL, HELD("a path's figures are its own anyway")},
	{'f', "force", NULL, NULL, HELD("a file may belong to anybody")},
	{'v', "verbose", NULL, NULL, HELD("--info and --unwind-report tell more")},
	{0, "children", NULL, NULL,
	 INSTEAD("--flamegraph OUT.svg adds up what each function called")},
	{'F', "fields", NULL, "FIELD,...",
	 INSTEAD("--by KEY,... chooses columns, --weight FIGURE the figure; --srcline adds lines")},
	{'t', "field-separator", NULL, "CHAR", INSTEAD("--csv has every column")},
	{0, "tui", NULL, NULL, INSTEAD("--flamegraph OUT.svg is to look around in")},
	{0, "gtk", NULL, NULL, INSTEAD("--flamegraph OUT.svg is to look around in")},
	{'U', "hide-unresolved", NULL, NULL, INSTEAD("--symbol NAME,... chooses stacks")},
	{'k', "vmlinux", NULL, "FILE", INSTEAD("--kallsyms FILE names kernel functions")},
	{0},
};
