/* Reported stacks: their frames are interned with the names in the input. */
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
	INLINED_MAX = 64, /* functions in a frame; further ones form another frame */
};

static struct function make_function(struct mt_session *session,
				     const struct mt_reported_frame *frame)
{
	bool resolved = frame->name.size != 9 || memcmp(frame->name.bytes, "[unknown]", 9) != 0;
	const struct mt_text *name = resolved ? &frame->name : &frame->dso;

	return (struct function){
		.name = mt_strings_intern(session->strings, name->bytes, name->size),
		.dso = mt_strings_intern(session->strings, frame->dso.bytes, frame->dso.size),
		.resolved = resolved,
		.inlined = frame->inlined,
	};
}

static uint32_t text_frame(struct mt_session *session, struct mt_text text)
{
	uint32_t name = mt_strings_intern(session->strings, text.bytes, text.size);

	return mt_frames_words(session->frames, mt_strings_get(session->strings, name));
}

/*
 * The frame of the function at `at` and the functions that it is inlined into; *used is set to the
 * number of functions.
 */
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
		functions[count] = make_function(session, &at[count]);
		key.flags |= (at[count].kernel ? MT_FRAME_IN_KERNEL : 0) |
			     (at[count].guessed ? MT_FRAME_GUESSED : 0);
	} while (at[count++].inlined && count < left && count < INLINED_MAX);
	functions[count - 1].inlined = false;
	for (size_t i = 0; i + 1 < count; i++)
		functions[i].dso = functions[count - 1].dso;
	*used = count;
	key.offset = mt_byte_runs_intern(session->reported, functions, count * sizeof(*functions));
	return mt_frames_intern(session->frames, &key);
}

uint32_t mt_session_reported_stack(struct mt_session *session,
				   const struct mt_reported_stack *reported)
{
	size_t used;

	if (!session->reported)
		session->reported = mt_byte_runs_create();
	session->reported_frames.count = 0;
	for (size_t i = 0; i < reported->count; i += used)
		mt_array_append(&session->reported_frames,
				reported_frame(session, &reported->frames[i], reported->count - i,
					       &used));
	return mt_stacks_intern(session->stacks, session->reported_frames.items,
				session->reported_frames.count);
}

const struct mt_symbol *mt_session_reported_name(struct mt_session *session,
						 const struct mt_frame_key *key)
{
	size_t size;
	const struct function *functions =
		mt_byte_runs_get(session->reported, (uint32_t)key->offset, &size);

	session->reported_names.count = 0;
	for (size_t i = 0; i < size / sizeof(*functions); i++)
		*mt_array_push(&session->reported_names) = (struct mt_symbol){
			.name = mt_strings_get(session->strings, functions[i].name),
			.dso = mt_strings_get(session->strings, functions[i].dso),
			.resolved = functions[i].resolved,
			.inlined = functions[i].inlined,
		};
	return session->reported_names.items;
}
