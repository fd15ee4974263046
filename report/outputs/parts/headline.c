/*
 * Which frame of a stack stands for it, and how frames without names are shown.
 */
#include "report/outputs/parts/headline.h"

#include <stdio.h>
#include <string.h>

#include "formats/base/strings.h"
#include "report/stacks/code_class.h"
#include "report/stacks/frames.h"
#include "report/stacks/runtime_functions.h"
#include "report/stacks/stacks.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

#define JIT_CODE "JIT code"

/* What a frame can be the headline as, best first. */
enum rank {
	RANK_PROGRAM,
	RANK_LIBRARY,
	RANK_USER,
	RANK_KERNEL,
	RANK_NONE,
};

struct choice {
	const struct mt_table *table;
	const char *exe;  /* "" where it is not known */
	uint32_t program; /* the same, as frames are asked */
	enum rank rank;	  /* of *out */
	struct mt_headline *out;
};

/*
 * Of the functions of a frame, innermost first, the first that is not the runtime's, by its name
 * and its source. What is inlined from an unknown source does not count. NULL: none is left.
 */
static const struct mt_frame_name *own_function(const struct choice *c,
						const struct mt_frame_name *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool inlined = i + 1 < count;

		if (names[i].file ? mt_is_runtime_source(names[i].file) : inlined)
			continue;
		if (!mt_frames_is_runtime(c->table->frames, names[i].name))
			return &names[i];
	}
	return NULL;
}

static bool is_nameless_jit(const struct mt_frame_name *name)
{
	return !name->resolved && mt_is_made_code(name->dso);
}

static void take(struct choice *c, enum rank rank, const struct mt_frame_name *name)
{
	if (rank >= c->rank)
		return;
	c->rank = rank;
	*c->out = (struct mt_headline){name->name, name->dso, name->file, name->line};
}

/* False out of memory. */
static bool take_jit(struct choice *c, const struct mt_frame_name *name)
{
	take(c, RANK_PROGRAM, name);
	c->out->name =
		mt_strings_intern(mt_frames_strings(c->table->frames), JIT_CODE, strlen(JIT_CODE));
	if (*c->exe)
		c->out->dso = c->exe;
	return c->out->name != MT_STRING_NONE;
}

static bool take_frame(struct choice *c, uint32_t frame)
{
	struct mt_frames *frames = c->table->frames;
	uint32_t flags = mt_frames_key(frames, frame)->flags;
	size_t count;
	const struct mt_frame_name *names = mt_frames_names(frames, frame, &count), *own;
	enum mt_code_class class;

	if (!names)
		return false;
	class = mt_frames_class(frames, frame, c->exe, c->program);
	if (class == MT_CODE_PROGRAM && is_nameless_jit(names))
		return flags & MT_FRAME_GUESSED || take_jit(c, names);
	own = class == MT_CODE_OURS ? names : own_function(c, names, count);
	if (own && (class == MT_CODE_OURS || class == MT_CODE_PROGRAM))
		take(c, RANK_PROGRAM, own);
	else if (own && class == MT_CODE_LIBRARY)
		take(c, RANK_LIBRARY, own);
	else
		take(c, flags & MT_FRAME_IN_KERNEL ? RANK_KERNEL : RANK_USER, &names[count - 1]);
	return true;
}

bool mt_headline_of(const struct mt_table *table, uint32_t stack, struct mt_headline *out)
{
	size_t depth;
	const uint32_t *ids = mt_stacks_get(table->stacks, stack, &depth);
	uint32_t program = mt_stacks_program(table->stacks, stack);
	struct choice choice = {.table = table,
				.exe = mt_strings_get(table->strings, program),
				.program = program,
				.rank = RANK_NONE,
				.out = out};

	*out = (struct mt_headline){.name = MT_STRING_NONE};
	for (size_t i = 0; i < depth && choice.rank != RANK_PROGRAM; i++) {
		if (!take_frame(&choice, ids[i]))
			return false;
	}
	return true;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void mt_headline_place(const char *dso, const char *file, uint32_t line, size_t room, char out[80])
{
	static const size_t widths[] = {20, 12, 0}; /* of the image's name */
	char where[44], source[24] = "", number[16] = "";

	if (file)
		mt_text_fit(last_part(file), 16, source, sizeof(source));
	if (file && line)
		snprintf(number, sizeof(number), ":%u", line);
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths) && (widths[i] || file); i++) {
		mt_text_fit(last_part(dso), widths[i], where, sizeof(where));
		snprintf(out, 80, "(%s%s%s%s)", where, *where && file ? ", " : "", source, number);
		if (mt_text_columns(out) <= room)
			return;
	}
}

/* "JIT code x3"; MT_STRING_NONE out of memory. */
static uint32_t jit_run(struct mt_strings *strings, size_t length)
{
	char text[40];

	if (length == 1)
		snprintf(text, sizeof(text), JIT_CODE);
	else
		snprintf(text, sizeof(text), JIT_CODE " x%zu", length);
	return mt_strings_intern(strings, text, strlen(text));
}

bool mt_headline_fold_nameless(const struct mt_table *table, const uint32_t *names, uint32_t *room,
			       size_t *count)
{
	struct mt_strings *strings = mt_frames_strings(table->frames);
	size_t kept = 0, run = 0;

	for (size_t i = 0; i < *count; i++) {
		const char *name = mt_strings_get(strings, names[i]);

		run = mt_is_made_code_name(name) ? run + 1 : 0;
		if (!run && *name == '[' && i && names[i] == names[i - 1])
			continue;
		kept += run < 2;
		room[kept - 1] = run ? jit_run(strings, run) : names[i];
		if (room[kept - 1] == MT_STRING_NONE)
			return false;
	}
	*count = kept;
	return true;
}
