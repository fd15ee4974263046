/* The rows, most used group first, and --help, which is made from them. */
#include "record/cli/option_rows.h"

#include <stdbool.h>
#include <stdio.h>

#include "formats/base/help_row.h"
#include "record/cli/options.h"

/*
 * The last fields of a row: a text for each kind of --help, one text for both, or one text only for
 * --help all. perf's options that mtrec does not need have only the last one.
 */
#define BOTH(brief, help) brief, help, MT_OPTION_OWN
#define COMMON(text) BOTH(text, text)
#define RARE(text) BOTH(NULL, text)
#define HELD(text) NULL, text, MT_OPTION_HELD
#define INSTEAD(text) NULL, text, MT_OPTION_INSTEAD

const struct mt_option_row mt_option_rows[] = {
	{.heading = "Events, what to record"},
	{NULL, 'e', "event", "EVENT,...",
	 BOTH("brk, 'sched:*', u:libc:malloc (repeatable; default: " MT_DEFAULT_EVENTS ")",
	      "events: alias (brk), group (vm, rss), malloc (blocks of the targets' "
	      "allocators), tracepoint or pattern ('sched:*'), perf's "
	      "name, raw (r1a8) or of a PMU; probes: u:PATH:SYMBOL[+OFFSET], ur: (returns), "
	      "usdt:PATH:PROVIDER:NAME, k:FUNCTION, kr:, each with (NAME=arg1,...); repeatable; "
	      "default: " MT_DEFAULT_EVENTS)},
	{NULL, MT_OPT_LIST, "list", "[PATTERN]",
	 BOTH("print the events, and what this host has of each",
	      "print the events, or those matching: what this host has of each and why not all, "
	      "its cost, the report that reads it; usdt with -p: the static probes of what the "
	      "process maps")},
	{NULL, MT_OPT_CHECK, "check", NULL,
	 BOTH("print what this host allows, and what is missing",
	      "print what this host allows; for what is missing, what that costs a recording and "
	      "what would allow it")},
	{NULL, MT_OPT_CLEAN, "clean", NULL,
	 RARE("remove the probes of recorders that were killed, as the next recording does")},
	{NULL, MT_OPT_FILTER, "filter", "EXPR",
	 COMMON("filter the tracepoint before it: 'ret > 0'")},
	{NULL, MT_OPT_ALLOC_FUNCTION, "alloc-function", "NAME(size=ARG)",
	 RARE("record blocks of a program's own function, too; these alone without -e: "
	      "'pool_alloc(size=arg2)', 'PATH:NAME(size=arg2,count=arg1)', 'cell_alloc(size=64)'; "
	      "repeatable")},
	{NULL, MT_OPT_FREE_FUNCTION, "free-function", "NAME(ptr=ARG)",
	 RARE("and this one frees them: 'pool_free(ptr=arg2)'; repeatable")},
	{NULL, MT_OPT_TRACEPOINT_IDS, "tracepoint-ids", "FILE",
	 RARE("take tracepoint ids from FILE where tracefs cannot be read; with --check: write "
	      "FILE")},

	{.heading = "Targets, whom to record"},
	{NULL, 'a', "all-cpus", NULL,
	 BOTH("every process on the host",
	      "every process on the host; while a syscall event is open, every system call on "
	      "the host takes some 0.1 us longer")},
	{NULL, 'p', "pid", "LIST", COMMON("these processes: all threads, and children to come")},
	{NULL, MT_OPT_CHILDREN, "children", NULL,
	 COMMON("with -p: their children that run already, too")},
	{NULL, 't', "tid", "LIST", COMMON("these threads, and children to come")},
	{NULL, 'u', "uid", "USER", COMMON("this user's processes, new ones too (name or number)")},
	{NULL, 'G', "cgroup", "CGROUP", COMMON("the processes of this cgroup, new ones too")},
	{NULL, MT_OPT_COMM, "comm", "REGEX", COMMON("of these only threads whose name matches")},
	{NULL, 'C', "cpu", "LIST", RARE("every process, on these CPUs only: 0,2-3")},
	{NULL, 'i', "no-inherit", NULL, RARE("no children, only the given processes and threads")},

	{.heading = "Output"},
	{NULL, 'o', "output", "FILE",
	 BOTH("write to FILE (" MT_DEFAULT_OUTPUT "), - is standard output",
	      "write to FILE (" MT_DEFAULT_OUTPUT
	      "), an existing one becomes FILE.old; - is standard "
	      "output")},
	{NULL, MT_OPT_STRIP, "strip", NULL,
	 BOTH("write frames, never raw bytes of stacks",
	      "unwind while recording and write frames; no raw bytes of stacks reach the file")},
	{NULL, MT_OPT_MAX_SIZE, "max-size", "SIZE",
	 COMMON("stop before the file is larger: 500M, 2G")},
	{NULL, 'z', "compression-level", "LEVEL", RARE("zstd level, -7 to 22 (-1); 0: none")},
	{NULL, MT_OPT_EMBED, "embed", "WHAT",
	 RARE("what to carry of the images that ran: none, symbols, unwind (names and unwind "
	      "tables, the default), lines (also debug information), all (also images that no "
	      "sample met)")},
	{NULL, MT_OPT_EMBED_LIMIT, "embed-limit", "SIZE",
	 RARE("carry at most SIZE of images, compressed (64M)")},
	{NULL, 'q', "quiet", NULL, RARE("print errors only")},
	{NULL, 'v', "verbose", NULL,
	 RARE("print what is opened, and what the kernel refused; twice: every attribute")},

	{.heading = "Time, when to record"},
	{NULL, MT_OPT_DURATION, "duration", "TIME", COMMON("record that long: 10s, 500ms, 2m, 1h")},
	{NULL, MT_OPT_GAUGES, "gauges", "TIME|none",
	 RARE("read sizes from /proc that often (1s); none: only at start and end")},
	{NULL, 'D', "delay", "MS",
	 RARE("start the events MS milliseconds later; -1: --control starts them")},
	{NULL, MT_OPT_CONTROL, "control", "fifo:CTL[,ACK]",
	 RARE("take enable, disable, ping and stop from a FIFO, or from a descriptor: fd:N[,M]")},

	{.heading = "Samples and stacks"},
	{NULL, 'c', "count", "N", COMMON("a sample every N events (1: faults, tracepoints)")},
	{NULL, 'F', "freq", "HZ|max",
	 BOTH("samples a second of clocks and hardware (1000)",
	      "samples a second of clocks and hardware (1000); faults and other storms are "
	      "thinned to about as many")},
	{NULL, MT_OPT_CALL_GRAPH, "call-graph", "METHOD",
	 BOTH("dwarf[,SIZE] (dwarf,16384), fp, lbr, none",
	      "dwarf[,SIZE]: up to SIZE bytes of raw stack (dwarf,16384; every block of "
	      "-e malloc: dwarf,4096); fp: the kernel's frame pointer walk; lbr: the "
	      "hardware's call stack; none")},
	{NULL, 'g', NULL, NULL, RARE("record stacks, as by default")},
	{NULL, MT_OPT_NO_PREFAULT, "no-prefault", NULL,
	 RARE("do not fault in the absent stack pages that end dumps")},
	{NULL, MT_OPT_NO_SEEDS, "no-seeds", NULL,
	 RARE("no larger dumps (64 KiB) beside one in 37 small ones")},

	{.heading = "Cost"},
	{NULL, MT_OPT_BUDGET, "budget", "PCT",
	 COMMON("thin events to cost at most PCT % of one CPU")},
	{NULL, MT_OPT_MAX_RATE, "max-rate", "N",
	 RARE("thin each event to at most N samples a second")},
	{NULL, MT_OPT_MALLOC_SAMPLE, "malloc-sample", "N|auto|all",
	 BOTH("-e malloc: 1 in N blocks, chosen by address (auto)",
	      "-e malloc: record 1 in N blocks, chosen by address, a power of two up to 64, and "
	      "with glibc every one of 128 KiB and more; auto, the default: of what runs "
	      "already as many as --budget allows (5), of a command all")},
	{NULL, MT_OPT_MALLOC_SIZE, "malloc-size", "MIN-MAX",
	 RARE("-e malloc: record only blocks of MIN to MAX bytes, as 4K-64K; no MAX: no upper "
	      "limit")},
	{NULL, 'm', "mmap-pages", "PAGES|SIZE",
	 RARE("ring buffer of each CPU: pages, or bytes with K, M or G (16M; 8M for small dumps)")},
	{NULL, MT_OPT_MEMORY, "memory", "MiB",
	 RARE("the recorder's own memory beside the ring buffers (64, with --strip 160)")},
	{NULL, MT_OPT_STATS, "stats", NULL,
	 RARE("print a table of what each stage did at the end")},

	{.heading = "Counts, without a recording"},
	{NULL, MT_OPT_STAT, "stat", NULL,
	 BOTH("print counts, as perf stat does",
	      "record nothing: count the events and print the counts, as perf stat does, on "
	      "standard error or to -o FILE")},
	{NULL, 'I', "interval-print", "MS", COMMON("with --stat: every MS milliseconds")},
	{NULL, 'x', "field-separator", "SEP",
	 RARE("with --stat: fields separated by SEP, in perf's order")},

	{.heading = "Of perf record"},
	{NULL, MT_OPT_ALL_USER, "all-user", NULL,
	 RARE("counted events at user level only, as with the modifier u")},
	{NULL, MT_OPT_ALL_KERNEL, "all-kernel", NULL,
	 RARE("counted events at kernel level only, as with the modifier k")},
	{NULL, 'k', "clockid", "CLOCK", RARE("mono: times are CLOCK_MONOTONIC anyway")},
	{NULL, 'd', "data", NULL, HELD("faults have their address anyway")},
	{NULL, 'P', "period", NULL, HELD("samples have their weight anyway")},
	{NULL, 'R', "raw-samples", NULL, HELD("tracepoints have their fields anyway")},
	{NULL, 's', NULL, NULL, HELD("samples have their thread anyway")},
	{NULL, MT_OPT_OF_PERF, "sample-cpu", NULL, HELD("samples have their CPU anyway")},
	{NULL, 'T', "timestamp", NULL, HELD("samples have their time anyway")},
	{NULL, 'n', "no-samples", NULL, INSTEAD("--stat counts without samples")},
	{NULL, MT_OPT_OF_PERF + 1, "overwrite", NULL,
	 INSTEAD("the file has everything; --duration or --max-size bounds it")},
	{NULL, MT_OPT_OF_PERF + 2, "switch-output", "[WHEN]",
	 INSTEAD("run mtrec --duration TIME -o FILE in a loop; mtreport FILE... reads them "
		 "as one")},

	{.heading = "Help"},
	{NULL, 'h', "help", "[all]", RARE("print the most used options, or all of them")},
	{NULL, MT_OPT_VERSION, "version", NULL, RARE("print the version")},
};

_Static_assert(sizeof(mt_option_rows) == MT_OPTION_ROWS * sizeof(*mt_option_rows),
	       "MT_OPTION_ROWS is the number of rows");

static void print_option(const struct mt_option_row *row, bool all, FILE *to)
{
	static const char *const uses[] = {"", "accepted: ", "refused: "};
	bool letter = row->key < 256;
	char left[80], right[256];

	snprintf(left, sizeof(left), "  %c%c%s%s%s%s", letter ? '-' : ' ', letter ? row->key : ' ',
		 !row->name ? ""
		 : letter   ? ", --"
			    : "  --",
		 row->name ? row->name : "", row->argument ? " " : "",
		 row->argument ? row->argument : "");
	snprintf(right, sizeof(right), "%s%s", uses[row->use], all ? row->help : row->brief);
	mt_help_row(left, right, to);
}

/* Prints options; a heading is printed with the first option of its group. */
static void print_options(bool all, FILE *to)
{
	const char *heading = NULL;

	for (size_t i = 0; i < MT_OPTION_ROWS; i++) {
		const struct mt_option_row *row = &mt_option_rows[i];

		if (row->heading) {
			heading = row->heading;
		} else if (all || row->brief) {
			if (heading)
				fprintf(to, "%s%s:\n", all ? "\n" : "", heading);
			heading = NULL;
			print_option(row, all, to);
		}
	}
}

static const char usage[] =
	"Usage: mtrec [-e EVENT] [OPTION...] [--] COMMAND [ARG...]\n"
	"       mtrec [-e EVENT] [OPTION...] -p PID | -t TID [-- COMMAND [ARG...]]\n"
	"       mtrec [-e EVENT] [OPTION...] -a | -u USER | -G CGROUP [-- COMMAND ...]\n"
	"       mtrec --stat [-e EVENT] [-I MS] [OPTION...] -a | -p PID | COMMAND ...\n"
	"       mtrec --list [PATTERN] | --list usdt -p PID | --clean\n"
	"       mtrec --check [--tracepoint-ids FILE]\n"
	"Records what makes memory grow: brk, mmap, page faults, with raw user stacks.\n"
	"Ends with COMMAND, the targets, --duration, --max-size, SIGINT or SIGTERM.\n";

static const char examples[] =
	"Examples:\n"
	"  mtrec -a -- sleep 30\n"
	"  mtrec -o memory.mtr ./server\n"
	"  mtrec -e page-faults -p $(pidof mysqld) -o faults.mtr\n"
	"  mtrec -e mmap,munmap,brk -o - ./server | ssh host 'cat > server.mtr'\n";

static const char exits[] =
	"\nExit status: without a command 0 recorded, 2 usage, 3 cannot record, 4 recorded\n"
	"nothing, 5 output failed. With a command its own status, 128 + n if signal n\n"
	"ended it, 125 if mtrec failed (2 for usage), 126 if the command cannot be run,\n"
	"127 if it is not found.\n";

void mt_record_options_help(const char *topic, FILE *to)
{
	bool all = topic;

	fputs(usage, to);
	if (!all)
		fputc('\n', to);
	print_options(all, to);
	fprintf(to, "\n%s", examples);
	fputs(all ? exits : "All options: mtrec --help all, man mtrec\n", to);
}
