/*
 * A table with stacks of named frames, without a recording, images or unwinding: for tests of
 * outputs.
 *
 *	struct report_fake fake;
 *
 *	report_fake_init(&fake);
 *	report_fake_add(&fake, "brk", "bash", "main;malloc;brk", 3);	root first
 *	report_fake_add(&fake, "brk", "bash", "main;f|g", 1);	one frame: f, inlined into g
 *	text = report_fake_write(&fake, &mt_output_folded, 80);
 *	report_fake_deinit(&fake);
 */
#ifndef MT_TESTS_UNIT_REPORT_FAKE_H
#define MT_TESTS_UNIT_REPORT_FAKE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/outputs/outputs.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/sums/sum_table.h"
#include "report/tables/facts.h"
#include "symbols/names/symbolize.h"

struct report_fake {
	struct mt_strings *strings, *names; /* names: by frame offset */
	struct mt_frames *frames;
	struct mt_stacks *stacks;
	struct mt_sum_table *groups;
	struct mt_symbol symbols[4]; /* of one frame */
	struct mt_facts facts;
	struct mt_recording recording;
	char *text;
	unsigned int asked; /* number of look-ups of names */
};

static const struct mt_symbol *report_fake_name(void *context, const struct mt_frame_key *key)
{
	struct report_fake *fake = context;
	const char *names = mt_strings_get(fake->names, (uint32_t)key->offset), *more = names;
	size_t count = sizeof(fake->symbols) / sizeof(*fake->symbols);

	fake->asked++;
	for (size_t i = 0; i < count && more; i++) {
		size_t length = strcspn(names, "|");

		more = names[length] ? names + length + 1 : NULL;
		fake->symbols[i] = (struct mt_symbol){
			.name = mt_strings_get(fake->names,
					       mt_strings_intern(fake->names, names, length)),
			.dso = "/bin/fake",
			.offset = 1,
			.resolved = true,
			.inlined = more,
		};
		names = more;
	}
	return fake->symbols;
}

static const struct mt_key_column report_fake_keys[] = {
	{"event", MT_KEY_STRING}, {"comm", MT_KEY_STRING}, {"stack", MT_KEY_STACK}};
static const struct mt_value_column report_fake_values[] = {{"count", "samples"},
							    {"period", "events"}};

static inline void report_fake_init(struct report_fake *fake)
{
	struct mt_namer namer = {.name = report_fake_name, .context = fake};
	struct mt_facts_recording *recording;
	struct mt_table shape;

	*fake = (struct report_fake){0};
	fake->strings = mt_strings_create();
	fake->names = mt_strings_create();
	fake->frames = mt_frames_create(&namer);
	fake->stacks = mt_stacks_create();
	shape = (struct mt_table){
		.name = "samples",
		.keys = report_fake_keys,
		.key_count = 3,
		.values = report_fake_values,
		.value_count = 2,
		.strings = fake->strings,
		.stacks = fake->stacks,
		.frames = fake->frames,
	};
	fake->groups = mt_sum_table_create(&shape);
	recording = mt_array_push(&fake->facts.recordings);
	recording->file = "fake.mtr";
	recording->reading = &fake->recording;
	recording->start = 1000000000;
	recording->end = 3000000000;
}

static inline void report_fake_deinit(struct report_fake *fake)
{
	mt_sum_table_destroy(fake->groups);
	mt_stacks_destroy(fake->stacks);
	mt_frames_destroy(fake->frames);
	mt_strings_destroy(fake->names);
	mt_strings_destroy(fake->strings);
	mt_facts_deinit(&fake->facts);
	free(fake->text);
}

static inline uint32_t report_fake_stack(struct report_fake *fake, const char *path)
{
	uint32_t ids[64], reversed[64];
	size_t count = 0;

	while (*path) {
		size_t length = strcspn(path, ";");
		struct mt_frame_key key = {.offset = mt_strings_intern(fake->names, path, length)};

		ids[count++] = mt_frames_intern(fake->frames, &key);
		path += length + (path[length] == ';');
	}
	for (size_t i = 0; i < count; i++)
		reversed[i] = ids[count - 1 - i];
	return mt_stacks_intern(fake->stacks, reversed, count);
}

static inline void report_fake_add(struct report_fake *fake, const char *event, const char *comm,
				   const char *path, double count)
{
	uint64_t keys[] = {mt_strings_intern(fake->strings, event, strlen(event)),
			   mt_strings_intern(fake->strings, comm, strlen(comm)),
			   report_fake_stack(fake, path)};
	struct mt_value values[] = {mt_value_exact(count), mt_value_exact(count * 10)};

	mt_sum_table_add(fake->groups, keys, values);
}

/*
 * Writes the output for value column `value`. The text is valid until the next write; NULL on an
 * error.
 */
static inline const char *report_fake_write(struct report_fake *fake,
					    const struct mt_output *output, size_t value)
{
	struct mt_view view = {.facts = &fake->facts, .value = value, .width = 80};
	size_t size;
	FILE *to;
	struct mt_error *err;

	free(fake->text);
	fake->text = NULL;
	to = mt_open_text(&fake->text, &size);
	err = mt_table_rewind(mt_sum_table_table(fake->groups));
	err = err ? err : mt_output_write(output, &view, mt_sum_table_table(fake->groups), to);
	fclose(to);
	if (!err)
		return fake->text;
	mt_error_destroy(err);
	return NULL;
}

#endif
