/* The table of advice, and the choice of the advice for a stack. */
#include "report/outputs/parts/name_advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/strings.h"
#include "report/stacks/code_class.h"
#include "report/stacks/frames.h"
#include "report/stacks/runtime_functions.h"
#include "report/stacks/stacks.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

/* A program with a smaller part of the weight gets no line. */
#define LEAST_SHARE 0.01

/*
 * Below this part of the weight, a collector gets no advice: the program's own paths are the
 * answer.
 */
#define COLLECTED_SHARE 0.2

/* The first minor version of Python 3 with -X perf (What's New In Python 3.12). */
#define PYTHON_WITH_MAPS 12

enum lack {
	LACKS_JIT,    /* frames of JIT code without names */
	LACKS_PYTHON, /* no frame of a Python function at all */
	LACKS_BLOCKS, /* no malloc and free: the heap is garbage-collected */
};

struct row {
	const char *program, *image; /* stems of names: of exe, of an image in the stack */
	enum lack lack;
	const char *text; /* after "PROGRAM: " */
	/* Advice if the garbage collector is on the path; NULL: it has no known collector. */
	const char *collected;
};

static const char node_text[] =
	"JIT code has no names; start the program with node --perf-basic-prof";

static const char node_collected[] =
	"its collector moves what lives to new pages; node --heapsnapshot-signal=SIGUSR2 tells "
	"what that is, node --perf-basic-prof which code allocates";

static const struct row rows[] = {
	{"node", "libnode", LACKS_JIT, node_text, node_collected},
	{"nodejs", "libnode", LACKS_JIT, node_text, node_collected},
	{"java", "libjvm", LACKS_JIT,
	 "JIT code has no names; start the program with -XX:+PreserveFramePointer, and while it is "
	 "recorded run jcmd PID Compiler.perfmap",
	 "its collector moves what lives to new pages; jcmd PID GC.class_histogram tells what that "
	 "is; for which code allocates, start it with -XX:+PreserveFramePointer, and run jcmd PID "
	 "Compiler.perfmap while it is recorded"},
	{"dotnet", "libcoreclr", LACKS_JIT,
	 "JIT code has no names; start it with DOTNET_PerfMapEnabled=1 in its environment", NULL},
	{"python", "libpython", LACKS_PYTHON, NULL, NULL},
};

static const struct row other = {
	.lack = LACKS_JIT,
	.text = "JIT code has no names; a perf map, /tmp/perf-PID.map, would tell them"};

static const struct row go = {
	.lack = LACKS_BLOCKS,
	.text = "a Go program: its heap is collected, and has no malloc to record; Go's own heap "
		"profile (pprof) names the objects"};

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_stem(const char *name, const char *stem)
{
	return !strncmp(name, stem, strlen(stem)) && mt_program_stem(name) == strlen(stem);
}

/* True if an image's name has this stem: libjvm.so, libpython3.11.so.1.0. */
static bool is_image(const char *name, const char *stem)
{
	size_t size = strlen(stem);

	return !strncmp(name, stem, size) && strchr(".-0123456789", name[size]) && name[size];
}

static const struct row *row_of_program(const char *exe)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (is_stem(last_part(exe), rows[i].program))
			return &rows[i];
	}
	return NULL;
}

static const struct row *row_of_image(const char *dso)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (is_image(last_part(dso), rows[i].image))
			return &rows[i];
	}
	return NULL;
}

/* True for generated code without a perf map or jitdump, which would give its functions names. */
static bool is_unreported(const struct mt_frame_name *name)
{
	return !name->resolved && mt_is_made_code(name->dso) &&
	       strncmp(name->dso, "/tmp/perf-", 10) != 0 && !strstr(name->dso, ".dump");
}

static void add(struct mt_name_advice *advice, const char *program, const struct row *row,
		double weight, double collected)
{
	size_t i = 0;

	while (i < advice->count && strcmp(advice->items[i].program, program) != 0)
		i++;
	if (i == MT_NAME_ADVICE_MOST)
		return;
	if (i == advice->count) {
		advice->items[i].program = program;
		advice->items[i].row = row;
		advice->count++;
	}
	advice->items[i].weight += weight;
	advice->items[i].collected += collected;
}

/* Properties of the frames of one stack. */
struct seen {
	bool unreported;       /* JIT code without a name */
	bool python;	       /* a Python function */
	bool collector;	       /* a function of a garbage collector */
	bool go;	       /* code that Go linked */
	const struct row *row; /* the interpreter's, or NULL */
	const char *dso;       /* image that `row` was last searched for */
};

static void see_frame(const struct mt_table *table, uint32_t frame, struct seen *seen)
{
	uint32_t flags = mt_frames_key(table->frames, frame)->flags;
	size_t count;
	const struct mt_frame_name *name = mt_frames_names(table->frames, frame, &count);
	const char *text = mt_strings_get(mt_frames_strings(table->frames), name->name);

	seen->unreported |= is_unreported(name) && !(flags & MT_FRAME_GUESSED);
	seen->python |= !strncmp(text, "py::", 4);
	seen->collector |= mt_is_collector(text);
	seen->go |= name->go;
	if (!seen->row && seen->dso != name->dso) {
		seen->row = row_of_image(name->dso);
		seen->dso = name->dso;
	}
}

static bool is_advised(const struct seen *seen, bool known)
{
	if (!seen->row)
		return seen->unreported && known;
	if (seen->row->lack == LACKS_BLOCKS)
		return true;
	return seen->row->lack == LACKS_PYTHON ? !seen->python
					       : seen->unreported || seen->collector;
}

void mt_name_advice_see(struct mt_name_advice *advice, const struct mt_table *table, uint32_t stack,
			double weight)
{
	const char *exe = mt_strings_get(table->strings, mt_stacks_program(table->stacks, stack));
	struct seen seen = {.row = row_of_program(exe)};
	size_t depth;
	const uint32_t *ids = mt_stacks_get(table->stacks, stack, &depth);

	weight = fabs(weight);
	advice->all += weight;
	for (size_t i = 0; i < depth; i++)
		see_frame(table, ids[i], &seen);
	if (seen.go && !seen.row)
		seen.row = &go;
	seen.collector &= seen.row && seen.row->collected;
	if (is_advised(&seen, *exe))
		add(advice, *exe ? exe : seen.dso, seen.row ? seen.row : &other, weight,
		    seen.collector ? weight : 0);
}

/* The minor version in python3.11, libpython3.11.so; -1: not in the name. */
static long python_minor(const char *name)
{
	const char *at = strstr(name, "python3.");

	return at ? strtol(at + strlen("python3."), NULL, 10) : -1;
}

static const char *text_of(const struct row *row, const char *program)
{
	long minor = python_minor(program);

	if (row->lack != LACKS_PYTHON)
		return row->text;
	if (minor < 0)
		return "names of Python functions are not seen; from Python 3.12 on, python3 -X "
		       "perf tells them";
	return minor < PYTHON_WITH_MAPS
		       ? "names of Python functions are not seen; only Python 3.12 and later can "
			 "tell them"
		       : "names of Python functions are not seen; start the program with python3 "
			 "-X perf";
}

bool mt_name_advice_has_blocks(const struct mt_name_advice *advice)
{
	double without = 0;

	for (size_t i = 0; i < advice->count; i++)
		without += advice->items[i].row == &go ? advice->items[i].weight : 0;
	return without <= advice->all / 2;
}

void mt_name_advice_print(const struct mt_name_advice *advice, const char *before,
			  const char *label, size_t width, FILE *to)
{
	char head[16], indent[16];
	bool first = true;

	snprintf(head, sizeof(head), "%-9s", label);
	snprintf(indent, sizeof(indent), "%*s", (int)strlen(head), "");

	for (size_t i = 0; i < advice->count; i++) {
		const char *program = last_part(advice->items[i].program);
		char name[40], text[300];

		if (advice->items[i].weight < LEAST_SHARE * advice->all)
			continue;
		mt_text_fit(program, 20, name, sizeof(name));
		snprintf(text, sizeof(text), "%s: %s", name,
			 advice->items[i].collected >= COLLECTED_SHARE * advice->all
				 ? ((const struct row *)advice->items[i].row)->collected
				 : text_of(advice->items[i].row, program));
		fputs(first ? before : "", to);
		mt_text_print_wrapped(first ? head : indent, indent, text, width, to);
		first = false;
	}
}
