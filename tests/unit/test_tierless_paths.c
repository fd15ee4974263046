/* report/verdicts/tierless_paths: one path, regardless of the tiers a runtime compiled. */
#include <string.h>

#include "formats/base/strings.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/verdicts/tierless_paths.h"
#include "tests/unit/unit.h"

struct world {
	struct mt_stacks *stacks;
	struct mt_frames *frames;
	struct mt_tierless_paths *paths;
};

static struct world world_begin(void)
{
	struct world w = {.stacks = mt_stacks_create(),
			  .frames = mt_frames_create(&(struct mt_namer){0})};

	w.paths = mt_tierless_paths_create(w.stacks, w.frames);
	return w;
}

static void world_end(struct world *w)
{
	mt_tierless_paths_destroy(w->paths);
	mt_frames_destroy(w->frames);
	mt_stacks_destroy(w->stacks);
}

/* A path of names, innermost first, up to a NULL. */
static uint32_t path(struct world *w, const char *const *names)
{
	uint32_t ids[16];
	size_t count = 0;

	for (; names[count]; count++)
		ids[count] = mt_frames_words(w->frames, names[count]);
	return mt_tierless_paths_of(w->paths, mt_stacks_intern(w->stacks, ids, count));
}

#define PATH(...) path(&w, (const char *const[]){__VA_ARGS__, NULL})

MT_TEST(generated_code_without_names_is_one_frame)
{
	struct world w = world_begin();
	uint32_t interpreted =
		PATH("alloc", "v8::internal::FunctionCallbackArguments::Call",
		     "v8::internal::(anonymous namespace)::HandleApiCallHelper<false>",
		     "v8::internal::Builtin_HandleApiCall", "Builtins_CEntry", "[anon]", "[anon]",
		     "[anon]", "Builtins_JSEntry", "main");

	MT_CHECK_EQ(PATH("alloc", "Builtins_CallApiCallback", "[anon]", "Builtins_JSEntry", "main"),
		    interpreted);
	MT_CHECK_EQ(PATH("alloc", "[perf-7.map]", "main"), interpreted);
	MT_CHECK_EQ(PATH("alloc", "Interpreter", "Interpreter", "main"), interpreted);
	MT_CHECK(PATH("alloc", "main") != interpreted);
	MT_CHECK(PATH("alloc", "serve", "[anon]", "main") != interpreted);
	world_end(&w);
}

MT_TEST(a_path_that_is_cut_is_completed_where_one_continues_it)
{
	struct world w = world_begin();
	uint32_t whole = PATH("alloc", "open", "serve", "main"),
		 cut = PATH("alloc", "open", "serve"), shorter = PATH("alloc", "open"),
		 thread = PATH("alloc", "put", "run", "clone"),
		 other = PATH("alloc", "put", "run", "main"), unclear = PATH("alloc", "put", "run"),
		 apart = PATH("alloc", "close");
	struct mt_tierless_place places[] = {{1, cut},	  {1, whole}, {1, shorter}, {1, unclear},
					     {1, thread}, {1, other}, {1, apart},   {2, cut}};

	mt_tierless_paths_complete(w.paths, places, sizeof(places) / sizeof(*places));
	MT_CHECK_EQ(places[0].path, whole);
	MT_CHECK_EQ(places[1].path, whole);
	MT_CHECK_EQ(places[2].path, whole);
	MT_CHECK_EQ(places[3].path, unclear);
	MT_CHECK_EQ(places[4].path, thread);
	MT_CHECK_EQ(places[5].path, other);
	MT_CHECK_EQ(places[6].path, apart);
	MT_CHECK_EQ(places[7].path, cut); /* of another space */
	world_end(&w);
}

MT_TEST(a_tier_is_no_part_of_a_name)
{
	struct world w = world_begin();
	uint32_t compiled = PATH("alloc", "LazyCompile:*load a.js:1", "main");

	MT_CHECK_EQ(PATH("alloc", "LazyCompile:~load a.js:1", "main"), compiled);
	MT_CHECK_EQ(PATH("alloc", "JS:^load a.js:1", "main"), compiled);
	MT_CHECK(PATH("alloc", "JS:^store a.js:1", "main") != compiled);
	MT_CHECK(PATH("alloc", "std::~load a.js:1", "main") != compiled);
	MT_CHECK(PATH("alloc", "main") != PATH("main"));
	world_end(&w);
}

MT_TEST(the_callers_of_a_function_are_without_tiers)
{
	struct world w = world_begin();
	size_t one, other;
	uint32_t ids[] = {mt_frames_words(w.frames, "Builtins_KeyedStoreIC"),
			  mt_frames_words(w.frames, "JS:~fill a.js:1"),
			  mt_frames_words(w.frames, "JS:*load a.js:9"),
			  mt_frames_words(w.frames, "run"), mt_frames_words(w.frames, "main")};
	uint32_t whole = mt_stacks_intern(w.stacks, ids, 5), names[5];
	const uint32_t *got;

	for (size_t i = 0; i < 5; i++)
		names[i] = mt_frames_names(w.frames, ids[i], &one)->name;
	got = mt_tierless_paths_callers(w.paths, whole, names[1], 1, &one);
	MT_REQUIRE(got && one == 2);
	MT_CHECK_STR(mt_strings_get(mt_frames_strings(w.frames), got[0]), "load a.js:9");
	MT_CHECK_STR(mt_strings_get(mt_frames_strings(w.frames), got[1]), "fill a.js:1");
	got = mt_tierless_paths_callers(w.paths, whole, names[4], 2, &other);
	MT_CHECK(got && other == 1 && got[0] == names[4]);
	MT_CHECK(mt_tierless_paths_callers(w.paths, whole, MT_STRING_NONE, 2, &other) &&
		 other == 5);
	got = mt_tierless_paths_callers(w.paths, whole, names[0], 0, &one);
	MT_CHECK(got && one == 1);
	names[0] = got[0];
	ids[0] = mt_frames_words(w.frames, "[anon]");
	got = mt_tierless_paths_callers(w.paths, mt_stacks_intern(w.stacks, ids, 5),
					mt_strings_intern(mt_frames_strings(w.frames), "JIT code",
							  strlen("JIT code")),
					0, &one);
	MT_CHECK(got && one == 1 && got[0] == names[0]);
	world_end(&w);
}

MT_TEST_MAIN
