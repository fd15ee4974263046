/* report/stacks/frames: each frame is named once. */
#include "report/stacks/frames.h"

#include "symbols/names/symbolize.h"
#include "tests/unit/unit.h"

static const struct mt_symbol *count_call(void *context, const struct mt_frame_key *key)
{
	static const struct mt_symbol symbol = {.name = "work", .dso = "app", .resolved = true};

	(void)key;
	++*(int *)context;
	return &symbol;
}

MT_TEST(a_frame_has_no_only_name_before_any_is_named)
{
	int calls = 0;
	const struct mt_namer namer = {.context = &calls, .name = count_call};
	struct mt_frames *frames = mt_frames_create(&namer);
	uint32_t id = mt_frames_intern(frames, &(struct mt_frame_key){0});

	MT_CHECK(!mt_frames_only_name(frames, id)); /* there is no array yet */
	mt_frames_resolve(frames);
	MT_CHECK(mt_frames_only_name(frames, id));
	mt_frames_resolve(frames);
	MT_CHECK_EQ(calls, 1);
	mt_frames_destroy(frames);
}

MT_TEST_MAIN
