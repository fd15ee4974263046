/*
 * A frame of the C library is recognized by its name, or because it has no name: functions that
 * call main and thread functions are not exported, unlike other functions with callbacks (qsort,
 * bsearch).
 */
#include "report/session/entry_ends.h"

#include <string.h>

#include "formats/base/strings.h"
#include "report/stacks/frames.h"
#include "report/tables/facts.h"

void mt_entry_ends_deinit(struct mt_entry_ends *ends)
{
	mt_array_deinit(&ends->items);
	mt_map64_deinit(&ends->by_frame);
}

void mt_entry_ends_add(struct mt_entry_ends *ends, uint32_t frame, uint32_t reason,
		       const char *path)
{
	uint64_t key = (uint64_t)frame << 32 | reason, at;

	if (mt_map64_get(&ends->by_frame, key, &at)) {
		ends->items.items[at].stacks++;
	} else if (mt_is_c_library(path)) {
		mt_map64_put(&ends->by_frame, key, ends->items.count);
		mt_array_append(&ends->items, (struct mt_entry_end){frame, reason, 1});
	}
}

static bool is_entry(const char *name)
{
	static const char *const names[] = {"__libc_start_call_main",
					    "__libc_start_main",
					    "clone",
					    "clone3",
					    "__clone",
					    "__clone3",
					    "start_thread",
					    "libc_start_main_stage2"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t size = strlen(names[i]);

		/* __libc_start_main_impl, __libc_start_main@@GLIBC_2.34 */
		if (!strncmp(name, names[i], size) && (!name[size] || strchr("@_.", name[size])))
			return true;
	}
	return false;
}

void mt_entry_ends_report(const struct mt_entry_ends *ends, struct mt_frames *frames,
			  struct mt_facts *facts)
{
	memset(facts->entry_ends, 0, sizeof(facts->entry_ends));
	for (size_t i = 0; i < ends->items.count; i++) {
		const struct mt_entry_end *end = &ends->items.items[i];
		size_t count;
		const struct mt_frame_name *names = mt_frames_names(frames, end->frame, &count);

		if (!names[count - 1].resolved ||
		    is_entry(mt_strings_get(mt_frames_strings(frames), names[count - 1].name)))
			facts->entry_ends[end->reason] += end->stacks;
	}
}
