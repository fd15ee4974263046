/*
 * --unwind-report: the sources of each image's frames, and the reasons why stacks ended there. A
 * stack counts for the image of its outermost user frame, with the remedy that would have extended
 * it. Joined stacks count by their present end and by the end before joining. Stacks that could be
 * joined, but not reliably, count in the same way.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/strings.h"
#include "report/analyses/analyses.h"
#include "report/names/naming.h"
#include "report/session/session.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/sums/sum_table.h"
#include "report/tables/table.h"
#include "unwind/unwind.h"

static const struct mt_value_column value_columns[] = {
	{"count", ""},
};

enum {
	KEY_IMAGE,
	KEY_WHAT,
	KEY_HOW,
	KEY_HELPS,
	KEYS
};

static const struct mt_key_column key_columns[KEYS] = {
	[KEY_IMAGE] = {"image", MT_KEY_STRING},
	[KEY_WHAT] = {"what", MT_KEY_STRING},
	[KEY_HOW] = {"how", MT_KEY_STRING},
	[KEY_HELPS] = {"what would help", MT_KEY_STRING},
};

/* The remedy for a stack that ended for this reason. */
static const char *const helps[MT_END_REASONS] = {
	[MT_END_NO_REGS] = "record user stacks: mtrec does, perf record --call-graph dwarf",
	[MT_END_NO_DUMP] = "record stack dumps: mtrec does, perf record --call-graph dwarf",
	[MT_END_DUMP] = "record larger dumps: perf record --call-graph dwarf,65528",
	[MT_END_PAGE] =
		"record without mtrec --no-prefault; keep frame pointers: the kernel continues",
	[MT_END_STACK] = "nothing: one stack is dumped",
	[MT_END_NO_IMAGE] = "a recording without losses: a mapping is not reported",
	[MT_END_NO_ELF] = "--symfs DIR or --debug-dir DIR with the recorded files",
	[MT_END_NO_CFI] =
		"--unwind auto; build with -fasynchronous-unwind-tables, or frame pointers",
	[MT_END_BAD_CFI] = "--unwind fp, where it keeps frame pointers",
	[MT_END_BAD_CFA] = "--unwind fp, where it keeps frame pointers",
	[MT_END_LOOP] = "--unwind fp, where it keeps frame pointers",
	[MT_END_CHAIN] = "record stack dumps: mtrec does, perf record --call-graph dwarf",
	[MT_END_BRANCHES] = "record stack dumps, too: mtrec does",
	[MT_END_NO_BRANCHES] = "--unwind auto; mtrec --call-graph lbr, with a hardware event",
	[MT_END_LIMIT] = "--max-stack N",
};

struct image_counts {
	uint64_t frames[MT_FRAME_SOURCES], ends[MT_END_REASONS];
	uint64_t joined[MT_END_REASONS]; /* joined stacks, by their end before joining */
	uint64_t withheld;		 /* stacks that could have been joined, but not reliably */
	uint64_t all;			 /* frames */
	uint32_t image;
};

struct counts {
	struct mt_session *session;
	MT_ARRAY(struct image_counts) images; /* [0]: without an image; else by image + 1 */
};

static struct image_counts *counts_of(struct counts *counts, uint32_t image)
{
	struct image_counts *of =
		mt_array_at(&counts->images, image == MT_FRAME_NO_IMAGE ? 0 : (size_t)image + 1);

	of->image = image;
	return of;
}

static void count_sample(void *context, const struct mt_session_sample *sample)
{
	struct counts *counts = context;
	struct mt_frames *frames = mt_session_frames(counts->session);
	size_t count;
	const uint32_t *ids =
		mt_stacks_get(mt_session_stacks(counts->session), sample->stack, &count);
	uint32_t last = MT_FRAME_NO_IMAGE;
	struct image_counts *of;

	for (size_t i = 0; i < count; i++) {
		const struct mt_frame_key *key = mt_frames_key(frames, ids[i]);

		of = counts_of(counts, key->image);
		of->frames[sample->sources[i]]++;
		of->all++;
		if (sample->sources[i] != MT_FRAME_KERNEL && sample->sources[i] != MT_FRAME_SCANNED)
			last = key->image;
	}
	if (!sample->user)
		return;
	of = counts_of(counts, last);
	of->ends[sample->end]++;
	if (sample->walked_end != sample->end)
		of->joined[sample->walked_end]++;
	of->withheld += sample->withheld;
}

static int compare_images(const void *a, const void *b)
{
	const struct image_counts *x = a, *y = b;

	if (x->all != y->all)
		return x->all > y->all ? -1 : 1;
	return x->image < y->image ? -1 : x->image > y->image;
}

struct rows {
	struct mt_strings *strings;
	struct mt_sum_table *groups;
	const char *image;
};

static void add_row(const struct rows *rows, const char *what, const char *how, const char *help,
		    uint64_t count)
{
	const uint64_t keys[KEYS] = {
		[KEY_IMAGE] = mt_strings_add(rows->strings, rows->image),
		[KEY_WHAT] = mt_strings_add(rows->strings, what),
		[KEY_HOW] = mt_strings_add(rows->strings, how),
		[KEY_HELPS] = mt_strings_add(rows->strings, help ? help : ""),
	};
	struct mt_value value = mt_value_exact((double)count);

	if (count)
		mt_sum_table_add(rows->groups, keys, &value);
}

static void add_image(const struct rows *rows, const struct image_counts *counts)
{
	for (int i = 0; i < MT_FRAME_SOURCES; i++)
		add_row(rows, "frames", mt_frame_source_name((enum mt_frame_source)i), NULL,
			counts->frames[i]);
	for (int i = 0; i < MT_END_REASONS; i++)
		add_row(rows, "stacks end", mt_stack_end_name((enum mt_stack_end)i), helps[i],
			counts->ends[i]);
	for (int i = 0; i < MT_END_REASONS; i++)
		add_row(rows, "stacks joined", mt_stack_end_name((enum mt_stack_end)i), NULL,
			counts->joined[i]);
	add_row(rows, "stacks not joined", "changes unseen", helps[MT_END_DUMP], counts->withheld);
}

static struct mt_error *run(const struct mt_analysis *analysis, struct mt_session *session,
			    const struct mt_analysis_request *request, struct mt_table **out)
{
	struct counts counts = {.session = session};
	struct mt_error *err = mt_session_read(session, count_sample, &counts);
	struct rows rows = {
		.strings = mt_session_strings(session),
		.groups = mt_sum_table_plain(analysis->name, mt_session_strings(session),
					     key_columns, KEYS, value_columns, 1),
	};

	(void)request;
	if (counts.images.count)
		qsort(counts.images.items, counts.images.count, sizeof(*counts.images.items),
		      compare_images);
	for (size_t i = 0; i < counts.images.count; i++) {
		rows.image = mt_session_image_path(session, counts.images.items[i].image);
		add_image(&rows, &counts.images.items[i]);
	}
	mt_array_deinit(&counts.images);
	if (err)
		mt_sum_table_destroy(rows.groups);
	else
		*out = mt_sum_table_table(rows.groups);
	return err;
}

const struct mt_analysis mt_analysis_unwind_report = {
	.name = "unwind-report",
	.help = "how stacks were unwound, and why they end",
	.rare = true,
	.groups = true,
	.sources = true,
	.output = "table",
	.run = run,
};
