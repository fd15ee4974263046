/*
 * --help and --help all, made from the tables of analyses, outputs, options and unwind methods.
 */
#include <stdbool.h>
#include <string.h>

#include "formats/base/help_row.h"
#include "report/analyses/analyses.h"
#include "report/cli/option_table.h"
#include "report/cli/options.h"
#include "report/cli/registry.h"
#include "report/outputs/outputs.h"
#include "unwind/unwind.h"

#define DEFAULT_FILE MT_REPORT_DEFAULT_FILE

static void print_heading(const char *heading, bool all, FILE *to)
{
	fprintf(to, "%s%s:\n", all ? "\n" : "", heading);
}

static void print_option(const struct mt_option *o, bool all, FILE *to)
{
	const char *argument = o->argument ? o->argument : "";
	const char *use = o->kind == MT_OPTION_HELD	 ? "accepted: "
			  : o->kind == MT_OPTION_INSTEAD ? "refused: "
							 : "";
	char left[80], text[500];

	snprintf(text, sizeof(text), "%s%s", use, all ? o->help : o->brief);
	snprintf(left, sizeof(left), "  %c%c%c --%s%s%s", o->letter ? '-' : ' ',
		 o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name,
		 *argument && strncmp(argument, "[=", 2) != 0 ? " " : "", argument);
	mt_help_row(left, text, to);
}

static void print_group(const struct mt_option_group *group, bool all, FILE *to)
{
	size_t shown = 0;

	for (const struct mt_option *o = group->options; o->name; o++) {
		if (!all && !o->brief)
			continue;
		if (!shown++)
			print_heading(group->heading, all, to);
		print_option(o, all, to);
	}
}

/* `dashes` is "--" if the name is an option of its own. */
static void print_row(const char *dashes, const char *name, const char *after, const char *help,
		      FILE *to)
{
	char left[64];

	snprintf(left, sizeof(left), "      %s%s%s%s", dashes, name, *after ? " " : "", after);
	mt_help_row(left, help, to);
}

static const char default_mark[] = "(default)";

static void print_analyses(bool all, FILE *to)
{
	print_heading("Analyses, what the report is about", all, to);
	for (size_t i = 0; mt_analyses[i]; i++) {
		if (all || !mt_analyses[i]->rare)
			print_row("--", mt_analyses[i]->name,
				  mt_analyses[i]->argument ? mt_analyses[i]->argument
				  : i			   ? ""
							   : default_mark,
				  mt_analyses[i]->help, to);
	}
}

static void print_outputs(bool all, FILE *to)
{
	print_heading("Outputs, how the result is shown", all, to);
	for (size_t i = 0; mt_outputs[i]; i++) {
		const struct mt_output *o = mt_outputs[i];
		const char *argument = o->argument ? o->argument : "";

		if (all || !o->rare)
			print_row("--", o->name, i ? argument : default_mark, o->help, to);
	}
}

static void print_methods(FILE *to)
{
	fputs("\nMethods of --unwind:\n", to);
	for (size_t t = 0; t < MT_METHOD_TABLES; t++) {
		for (const struct mt_unwind_method *m = mt_method_tables[t]; m->name; m++)
			print_row("", m->name, m == mt_unwind_methods ? default_mark : "", m->help,
				  to);
	}
}

static const char examples[] =
	"  mtreport                                       a screenful on " DEFAULT_FILE "\n"
	"  mtreport --resident --flamegraph out.svg       who touched what is still held\n"
	"  mtreport --comm mariadbd --time 10,20 db.mtr   one program, ten seconds of it\n";

static const char exits[] =
	"\nExit status: 0 report printed; 1 --strict failed; 2 usage; 3 unreadable file;\n"
	"4 nothing matched, or no samples; 5 output failed.\n";

void mt_report_options_help(enum mt_help which, FILE *to)
{
	bool all = which == MT_HELP_ALL;

	fputs("Usage: mtreport [ANALYSIS] [OUTPUT] [OPTION...] [FILE...]\n"
	      "Reads recordings of mtrec or perf, or stacks as text: FILE (" DEFAULT_FILE
	      "), or -.\n",
	      to);
	if (!all)
		fputc('\n', to);
	print_analyses(all, to);
	print_outputs(all, to);
	for (size_t i = 0; i < MT_OPTION_GROUPS; i++)
		print_group(&mt_option_groups[i], all, to);
	if (all)
		print_methods(to);
	print_heading("Examples", all, to);
	fputs(examples, to);
	fputs(all ? exits
		  : "All analyses, outputs and options: mtreport --help all, man mtreport\n",
	      to);
}
