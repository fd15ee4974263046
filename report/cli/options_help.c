/*
 * --help, made from the tables of analyses, outputs, options and unwind methods.
 */
#include <stdbool.h>
#include <string.h>

#include "report/analyses/analyses.h"
#include "report/cli/option_table.h"
#include "report/cli/options.h"
#include "report/outputs/outputs.h"
#include "unwind/unwind.h"

#define DEFAULT_FILE MT_REPORT_DEFAULT_FILE

enum {
	HELP_COLUMN = 28,
	HELP_WIDTH = 80,
};

/* Prints text from the column on, broken between words. */
static void print_help_text(const char *text, size_t used, FILE *to)
{
	size_t column = HELP_COLUMN;

	if (used + 2 > HELP_COLUMN)
		fprintf(to, "\n%*s", HELP_COLUMN, "");
	else
		fprintf(to, "%*s", (int)(HELP_COLUMN - used), "");
	for (bool first = true; *text; first = false) {
		size_t word = strcspn(text, " ");

		if (!first && column + 1 + word > HELP_WIDTH) {
			fprintf(to, "\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		} else if (!first) {
			fputc(' ', to);
			column++;
		}
		fprintf(to, "%.*s", (int)word, text);
		column += word;
		text += word + (text[word] == ' ');
	}
	fputc('\n', to);
}

static void print_option(const struct mt_option *o, FILE *to)
{
	bool optional = o->argument && *o->argument == '[';
	char text[80];
	int used = snprintf(text, sizeof(text), "  %c%c%c --%s%s%s%s", o->letter ? '-' : ' ',
			    o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name,
			    optional	  ? "[="
			    : o->argument ? " "
					  : "",
			    o->argument ? o->argument + optional : "", "");

	fputs(text, to);
	print_help_text(o->help, (size_t)used, to);
}

/* dashes: "--" where the name is an option of its own. */
static void print_row(const char *dashes, const char *name, const char *help, bool is_default,
		      FILE *to)
{
	char text[64];
	int used = snprintf(text, sizeof(text), "      %s%s%s", dashes, name,
			    is_default ? " (default)" : "");

	fputs(text, to);
	print_help_text(help, (size_t)used, to);
}

void mt_report_options_help(FILE *to)
{
	fputs("Usage: mtreport [ANALYSIS] [OUTPUT] [selectors] [FILE...]\n"
	      "Reads what mtrec recorded: " DEFAULT_FILE ", or the files named (- is standard\n"
	      "input); several make one report.\n"
	      "\nAnalyses, what the report is about:\n",
	      to);
	for (size_t i = 0; mt_analyses[i]; i++)
		print_row("--", mt_analyses[i]->name, mt_analyses[i]->help, !i, to);
	fputs("\nOutputs, how it is shown:\n", to);
	for (size_t i = 0; mt_outputs[i]; i++)
		print_row("--", mt_outputs[i]->name, mt_outputs[i]->help, !i, to);
	fputs("\nSelectors, which samples count (all that are given must hold):\n", to);
	for (const struct mt_option *o = mt_option_tables[MT_OPTIONS_SELECTORS]; o->name; o++)
		print_option(o, to);
	fputs("\nOther options:\n", to);
	for (const struct mt_option *o = mt_option_tables[MT_OPTIONS_OTHERS]; o->name; o++)
		print_option(o, to);
	fputs("\nWays to unwind:\n", to);
	for (size_t t = 0; t < MT_METHOD_TABLES; t++) {
		for (const struct mt_unwind_method *m = mt_method_tables[t]; m->name; m++)
			print_row("", m->name, m->help, m == mt_unwind_methods, to);
	}
	fputs("\nExamples:\n"
	      "  mtreport                                       a screenful on " DEFAULT_FILE "\n"
	      "  mtreport --folded -e page-faults > out.folded  for any flame graph tool\n"
	      "  mtreport --comm mariadbd --time 10,20 db.mtr   one program, ten seconds of it\n"
	      "  mtreport --script h.mtr | gprof2dot -f perf    for what reads perf script\n"
	      "\nExit status: 0; 1 --strict found loss, damage or stacks that end early; 2 usage;\n"
	      "3 unreadable; 4 nothing matched, or no samples; 5 the output failed.\n",
	      to);
}
