/*
 * report/outputs/parts/headline and name_advice: the function that represents a stack, how JIT code
 * without names is shown, and advice on how to get names.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/strings.h"
#include "report/outputs/parts/headline.h"
#include "report/outputs/parts/name_advice.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/table.h"
#include "symbols/names/symbolize.h"
#include "tests/unit/unit.h"

#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define LIBSSL "/usr/lib/x86_64-linux-gnu/libssl.so.3"
#define JVM "/usr/lib/jvm/java-17/lib/server/libjvm.so"

enum {
	FRAMES_MOST = 8,
};

enum kind {
	FUNCTION,
	NAMELESS,
	GUESSED, /* a guessed frame without a name */
	KERNEL,
};

struct frame {
	const char *name, *dso;
	enum kind kind;
};

static struct world {
	struct mt_table table;
	struct frame frames[64]; /* by image number */
	struct mt_symbol symbol;
	uint32_t count;
} world;

static const struct mt_symbol *name_frame(void *context, const struct mt_frame_key *key)
{
	struct world *w = context;
	const struct frame *frame = &w->frames[key->image];

	w->symbol =
		(struct mt_symbol){.name = frame->name,
				   .dso = frame->dso,
				   .resolved = frame->kind == FUNCTION || frame->kind == KERNEL};
	return &w->symbol;
}

static void world_begin(void)
{
	world = (struct world){
		.table = {.strings = mt_strings_create(), .stacks = mt_stacks_create()}};
	world.table.frames =
		mt_frames_create(&(struct mt_namer){.name = name_frame, .context = &world});
}

static void world_end(void)
{
	mt_frames_destroy(world.table.frames);
	mt_stacks_destroy(world.table.stacks);
	mt_strings_destroy(world.table.strings);
}

/* Adds a stack, innermost frame first; it ends at the first frame without a name. */
static uint32_t add_stack(const char *exe, const struct frame *frames)
{
	uint32_t ids[FRAMES_MOST], stack;
	size_t count = 0;

	for (; frames[count].name; count++) {
		struct mt_frame_key key = {.image = world.count, .offset = world.count};

		key.flags = (frames[count].kind == KERNEL ? MT_FRAME_IN_KERNEL : 0u) |
			    (frames[count].kind == GUESSED ? MT_FRAME_GUESSED : 0u);
		world.frames[world.count++] = frames[count];
		ids[count] = mt_frames_intern(world.table.frames, &key);
	}
	stack = mt_stacks_intern(world.table.stacks, ids, count);
	mt_stacks_set_program(world.table.stacks, stack,
			      mt_strings_intern(world.table.strings, exe, strlen(exe)));
	mt_frames_resolve(world.table.frames);
	return stack;
}

/* "dictExpand (redis-server)" */
static const char *headline(const char *exe, const struct frame *frames)
{
	static char text[200];
	struct mt_headline found;
	char place[80];

	world_begin();
	found = mt_headline_of(&world.table, add_stack(exe, frames));
	snprintf(text, sizeof(text), "none");
	if (found.name != MT_STRING_NONE) {
		mt_headline_place(found.dso, found.file, found.line, SIZE_MAX, place);
		snprintf(text, sizeof(text), "%s %s",
			 mt_strings_get(mt_frames_strings(world.table.frames), found.name), place);
	}
	world_end();
	return text;
}

#define FRAMES(...) ((const struct frame[]){__VA_ARGS__, {NULL, NULL, FUNCTION}})

MT_TEST(the_innermost_function_of_the_program)
{
	const char *redis = "/usr/bin/redis-server",
		   *postgres = "/usr/lib/postgresql/15/bin/postgres";

	MT_CHECK_STR(headline(redis,
			      FRAMES({"je_arena_malloc", redis, FUNCTION},
				     {"calloc", redis, FUNCTION}, {"zcalloc", redis, FUNCTION},
				     {"dictExpand", redis, FUNCTION}, {"main", redis, FUNCTION})),
		     "dictExpand (redis-server)");
	MT_CHECK_STR(headline(postgres,
			      FRAMES({"brk", LIBC, FUNCTION}, {"palloc", postgres, FUNCTION},
				     {"ExecHashJoin", postgres, FUNCTION},
				     {"main", postgres, FUNCTION})),
		     "ExecHashJoin (postgres)");
	MT_CHECK_STR(headline("/usr/lib/jvm/java-17/bin/java",
			      FRAMES({"mmap", LIBC, FUNCTION},
				     {"os::pd_commit_memory", JVM, FUNCTION},
				     {"VirtualSpace::expand_by", JVM, FUNCTION},
				     {"DefNewGeneration::collect", JVM, FUNCTION},
				     {"start_thread", LIBC, FUNCTION})),
		     "DefNewGeneration::collect (libjvm.so)");
	MT_CHECK_STR(headline("/opt/x/lib/server",
			      FRAMES({"malloc", LIBC, FUNCTION}, {"SSL_new", LIBSSL, FUNCTION},
				     {"accept_one", "/opt/x/lib/server", FUNCTION})),
		     "accept_one (server)");
	MT_CHECK_STR(headline("/usr/local/bin/app",
			      FRAMES({"runtime.mallocgc", "/usr/local/bin/app", FUNCTION},
				     {"main.load", "/usr/local/bin/app", FUNCTION})),
		     "main.load (app)");
}

MT_TEST(without_one_of_a_library_and_else_the_innermost)
{
	MT_CHECK_STR(headline("/srv/server",
			      FRAMES({"handle_mm_fault", "[kernel]", KERNEL},
				     {"malloc", LIBC, FUNCTION}, {"SSL_new", LIBSSL, FUNCTION},
				     {"start_thread", LIBC, FUNCTION})),
		     "SSL_new (libssl.so.3)");
	MT_CHECK_STR(headline("/srv/server", FRAMES({"handle_mm_fault", "[kernel]", KERNEL},
						    {"malloc", LIBC, FUNCTION},
						    {"_start", "/srv/server", FUNCTION})),
		     "malloc (libc.so.6)");
	MT_CHECK_STR(headline("/srv/server", FRAMES({"do_exit", "[kernel]", KERNEL})),
		     "do_exit ([kernel])");
	MT_CHECK_STR(headline("/srv/server", FRAMES({NULL, NULL, FUNCTION})), "none");
}

static enum mt_code_class own_ssl(void *context, const char *path)
{
	(void)context;
	return strstr(path, "libssl")  ? MT_CODE_OURS
	       : strstr(path, "/srv/") ? MT_CODE_LIBRARY
				       : MT_CODE_NONE;
}

/* The names that the stacks of one program get together. */
static const char *headlines(const struct frame *const *stacks, size_t count)
{
	static char text[200];
	uint32_t ids[FRAMES_MOST];
	struct mt_headline found[FRAMES_MOST];
	size_t used = 0;

	world_begin();
	for (size_t i = 0; i < count; i++)
		ids[i] = add_stack("/usr/bin/server", stacks[i]);
	mt_headlines_of(&world.table, ids, count, found);
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? " " : "",
					 mt_strings_get(mt_frames_strings(world.table.frames),
							found[i].name));
	world_end();
	return text;
}

#define OWN(name)                                 \
	{                                         \
		name, "/usr/bin/server", FUNCTION \
	}
#define MALLOC                           \
	{                                \
		"malloc", LIBC, FUNCTION \
	}
#define HEADLINES(...)                                        \
	headlines((const struct frame *const[]){__VA_ARGS__}, \
		  sizeof((const struct frame *const[]){__VA_ARGS__}) / sizeof(void *))

MT_TEST(helpers_that_rows_share_are_skipped)
{
	const struct frame *open = FRAMES(MALLOC, OWN("copy"), OWN("open"), OWN("serve"),
					  OWN("main")),
			   *put = FRAMES(MALLOC, OWN("copy"), OWN("put"), OWN("serve"),
					 OWN("main")),
			   *get = FRAMES(MALLOC, OWN("copy"), OWN("get"), OWN("put"), OWN("main")),
			   *load = FRAMES(MALLOC, OWN("load"), OWN("main")),
			   *copy = FRAMES(MALLOC, OWN("copy"), OWN("main"));

	MT_CHECK_STR(HEADLINES(open), "copy");
	MT_CHECK_STR(HEADLINES(open, put, load), "open put load");
	MT_CHECK_STR(HEADLINES(open, put, get), "open put get");
	MT_CHECK_STR(HEADLINES(open, copy), "open copy");
	MT_CHECK_STR(HEADLINES(open, open, load), "copy copy load");
	MT_CHECK_STR(HEADLINES(open, put, open, put), "open put open put");
	MT_CHECK_STR(HEADLINES(FRAMES(MALLOC), FRAMES(MALLOC, {"SSL_new", LIBSSL, FUNCTION}), open),
		     "malloc SSL_new copy");
}

MT_TEST(a_path_from_main_and_from_a_thread_keep_their_name)
{
	const struct frame *thread = FRAMES(MALLOC, OWN("copy"), OWN("open"), OWN("serve")),
			   *run = FRAMES(MALLOC, OWN("copy"), OWN("open"), OWN("serve"), OWN("run"),
					 OWN("main")),
			   *put = FRAMES(MALLOC, OWN("copy"), OWN("put"), OWN("serve"), OWN("run"),
					 OWN("main")),
			   *cut = FRAMES(MALLOC, OWN("copy"));

	MT_CHECK_STR(HEADLINES(thread, put, put, run), "open put put open");
	MT_CHECK_STR(HEADLINES(thread, run, run), "copy copy copy");
	MT_CHECK_STR(HEADLINES(cut, run, put), "copy open put");
}

MT_TEST(the_user_may_say_otherwise)
{
	struct mt_headline found;
	uint32_t stack;

	world_begin();
	mt_frames_set_owner(world.table.frames, &(struct mt_frame_owner){.class_of = own_ssl});
	stack = add_stack("/srv/server", FRAMES({"main", "/srv/server", FUNCTION},
						{"CRYPTO_malloc", LIBSSL, FUNCTION}));
	found = mt_headline_of(&world.table, stack);
	MT_CHECK_STR(found.dso, LIBSSL);
	world_end();
}

MT_TEST(jit_code_without_names)
{
	const char *java = "/usr/lib/jvm/java-17/bin/java";

	MT_CHECK_STR(headline(java, FRAMES({"[anon]", "//anon", NAMELESS},
					   {"JavaCalls::call", JVM, FUNCTION})),
		     "JIT code (java)");
	MT_CHECK_STR(headline("", FRAMES({"[anon]", "//anon", NAMELESS})), "JIT code (anon)");
	MT_CHECK_STR(headline("/usr/bin/node",
			      FRAMES({"LazyCompile:*leak", "/tmp/perf-12.map", FUNCTION},
				     {"main", "/usr/bin/node", FUNCTION})),
		     "LazyCompile:*leak (perf-12.map)");
	MT_CHECK_STR(headline("/srv/server", FRAMES({"? [anon]", "//anon", GUESSED},
						    {"main", "/srv/server", FUNCTION})),
		     "main (server)");
}

MT_TEST(runs_of_frames_without_names_are_one_entry)
{
	static const char *const path[] = {"main",	   "[anon]",	 "[anon]",
					   "[perf-1.map]", "malloc",	 "[anon]",
					   "brk",	   "brk",	 "[libc.so.6]",
					   "[libc.so.6]",  "[libm.so.6]"};
	uint32_t names[11], out[11];
	size_t count = 11;
	struct mt_strings *strings;

	world_begin();
	strings = mt_frames_strings(world.table.frames);
	for (size_t i = 0; i < count; i++)
		names[i] = mt_strings_intern(strings, path[i], strlen(path[i]));
	mt_headline_fold_nameless(&world.table, names, out, &count);
	MT_CHECK_EQ(count, 8);
	MT_CHECK_STR(mt_strings_get(strings, out[1]), "JIT code x3");
	MT_CHECK_STR(mt_strings_get(strings, out[2]), "malloc");
	MT_CHECK_STR(mt_strings_get(strings, out[3]), "JIT code");
	MT_CHECK_STR(mt_strings_get(strings, out[5]), "brk");
	MT_CHECK_STR(mt_strings_get(strings, out[6]), "[libc.so.6]");
	MT_CHECK_STR(mt_strings_get(strings, out[7]), "[libm.so.6]");
	world_end();
}

/*
 * The advice for this stack, next to a stack of the program "other" that has 200 times its weight.
 */
static const char *advice(const char *exe, const struct frame *frames, double weight)
{
	static char text[600];
	struct mt_name_advice seen = {0};
	FILE *to = fmemopen(text, sizeof(text), "w");

	memset(text, 0, sizeof(text));
	world_begin();
	mt_name_advice_see(&seen, &world.table, add_stack(exe, frames), -weight);
	mt_name_advice_see(&seen, &world.table,
			   add_stack("/bin/other", FRAMES({"main", "/bin/other", FUNCTION})), 200);
	mt_name_advice_print(&seen, "", "names", 200, to);
	fclose(to);
	world_end();
	return text;
}

#define JIT FRAMES({"[anon]", "//anon", NAMELESS})

MT_TEST(what_would_name_them)
{
	MT_CHECK_STR(advice("/usr/bin/node", JIT, 100),
		     "names    node: JIT code has no names; start the program with node "
		     "--perf-basic-prof\n");
	MT_CHECK(strstr(advice("/usr/lib/jvm/java-17/bin/java", JIT, 100),
			"-XX:+PreserveFramePointer"));
	MT_CHECK(strstr(
		advice("/srv/launcher",
		       FRAMES({"[anon]", "//anon", NAMELESS}, {"JavaCalls::call", JVM, FUNCTION}),
		       100),
		"jcmd PID Compiler.perfmap"));
	MT_CHECK(strstr(advice("/srv/luajit", JIT, 100),
			"luajit: JIT code has no names; a perf map"));
	MT_CHECK_STR(advice("/usr/bin/node", JIT, 1), "");
	MT_CHECK_STR(advice("/usr/bin/node", FRAMES({"main", "/usr/bin/node", FUNCTION}), 100), "");
	MT_CHECK_STR(advice("/usr/bin/node", FRAMES({"[perf-9.map]", "/tmp/perf-9.map", NAMELESS}),
			    100),
		     "");
}

MT_TEST(python_of_each_version)
{
	const struct frame *frames =
		FRAMES({"_PyEval_EvalFrameDefault", "/usr/bin/python3", FUNCTION});

	MT_CHECK(strstr(advice("/usr/bin/python3.11", frames, 100),
			"python3.11: names of Python functions are not seen; only Python 3.12"));
	MT_CHECK(strstr(advice("/usr/bin/python3.12", frames, 100), "with python3 -X perf"));
	MT_CHECK(strstr(advice("/usr/bin/python3", frames, 100), "from Python 3.12 on"));
	MT_CHECK_STR(advice("/usr/bin/python3.12",
			    FRAMES({"py::f:/srv/app.py", "/tmp/perf-9.map", FUNCTION}), 100),
		     "");
}

MT_TEST_MAIN
