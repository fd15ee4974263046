/* Stacks that came as text: their frames are interned with the names in the input. */
#include <string.h>

#include "formats/base/strings.h"
#include "report/session/session_state.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/byte_runs.h"
#include "symbols/names/symbolize.h"

/* One function; inlined functions come before the function that they are inlined into. */
struct function {
	uint32_t name, dso; /* ids in session->strings */
	uint32_t resolved, inlined;
};

enum {
	INLINED_MAX = 64, /* functions of a frame; more of them make another frame */
};

static bool make_function(struct mt_session *session, const struct mt_reported_frame *frame,
			  struct function *out)
{
	bool resolved = frame->name.size != 9 || memcmp(frame->name.bytes, "[unknown]", 9) != 0;
	const struct mt_text *name = resolved ? &frame->name : &frame->dso;

	*out = (struct function){
		.name = mt_strings_intern(session->strings, name->bytes, name->size),
		.dso = mt_strings_intern(session->strings, frame->dso.bytes, frame->dso.size),
		.resolved = resolved,
		.inlined = frame->inlined,
	};
	return out->name != MT_STRING_NONE && out->dso != MT_STRING_NONE;
}

static uint32_t text_frame(struct mt_session *session, struct mt_text text)
{
	uint32_t name = mt_strings_intern(session->strings, text.bytes, text.size);

	return name == MT_STRING_NONE
		       ? MT_FRAME_NONE
		       : mt_frames_words(session->frames, mt_strings_get(session->strings, name));
}

/* The frame of the function at `at` and its callers by inlining; *used: number of functions. */
static uint32_t reported_frame(struct mt_session *session, const struct mt_reported_frame *at,
			       size_t left, size_t *used)
{
	struct function functions[INLINED_MAX];
	struct mt_frame_key key = {.image = MT_FRAME_NO_IMAGE, .flags = MT_FRAME_REPORTED};
	size_t count = 0;

	*used = 1;
	if (!at->dso.size)
		return text_frame(session, at->name);
	do {
		if (!make_function(session, &at[count], &functions[count]))
			return MT_FRAME_NONE;
		key.flags |= (at[count].kernel ? MT_FRAME_IN_KERNEL : 0) |
			     (at[count].guessed ? MT_FRAME_GUESSED : 0);
	} while (at[count++].inlined && count < left && count < INLINED_MAX);
	functions[count - 1].inlined = false;
	for (size_t i = 0; i + 1 < count; i++)
		functions[i].dso = functions[count - 1].dso;
	*used = count;
	key.offset = mt_byte_runs_intern(session->reported, functions, count * sizeof(*functions));
	return key.offset == MT_SEQUENCE_NONE ? MT_FRAME_NONE
					      : mt_frames_intern(session->frames, &key);
}

uint32_t mt_session_reported_stack(struct mt_session *session,
				   const struct mt_reported_stack *reported)
{
	size_t used;

	if (!session->reported)
		session->reported = mt_byte_runs_create();
	if (!session->reported)
		return MT_STACK_NONE;
	session->reported_frames.count = 0;
	for (size_t i = 0; i < reported->count; i += used) {
		uint32_t *slot = mt_array_push(&session->reported_frames);

		if (!slot)
			return MT_STACK_NONE;
		*slot = reported_frame(session, &reported->frames[i], reported->count - i, &used);
		if (*slot == MT_FRAME_NONE)
			return MT_STACK_NONE;
	}
	return mt_stacks_intern(session->stacks, session->reported_frames.items,
				session->reported_frames.count);
}

const struct mt_symbol *mt_session_reported_name(struct mt_session *session,
						 const struct mt_frame_key *key)
{
	static const struct mt_symbol none = {.name = "[unknown]", .dso = "[unknown]"};
	size_t size;
	const struct function *functions =
		mt_byte_runs_get(session->reported, (uint32_t)key->offset, &size);

	session->reported_names.count = 0;
	for (size_t i = 0; i < size / sizeof(*functions); i++) {
		struct mt_symbol *symbol = mt_array_push(&session->reported_names);

		if (!symbol)
			return &none;
		*symbol = (struct mt_symbol){
			.name = mt_strings_get(session->strings, functions[i].name),
			.dso = mt_strings_get(session->strings, functions[i].dso),
			.resolved = functions[i].resolved,
			.inlined = functions[i].inlined,
		};
	}
	return session->reported_names.items;
}
