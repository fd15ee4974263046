/* Selects stacks by --dso and --symbol. */
#include <string.h>

#include "formats/base/strings.h"
#include "report/session/selection.h"
#include "report/session/session_state.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"

enum verdict { /* of a stack */
	VERDICT_NONE,
	VERDICT_NO,
	VERDICT_YES,
};

/* Matches the whole path, or its last component. */
static bool matches_path(const struct mt_match *match, const char *path)
{
	const char *slash = strrchr(path, '/');

	return mt_match_text(match, path) || (slash && mt_match_text(match, slash + 1));
}

static bool frame_matches(struct mt_session *session, uint32_t id)
{
	const struct mt_selection *selection = session->options->selection;
	size_t count;
	const struct mt_frame_name *names = mt_frames_names(session->frames, id, &count);

	for (size_t i = 0; i < count; i++) {
		if (selection->dsos && !matches_path(selection->dsos, names[i].dso) &&
		    !matches_path(selection->dsos, names[i].shown))
			continue;
		if (selection->symbols &&
		    !mt_match_text(selection->symbols,
				   mt_strings_get(mt_frames_strings(session->frames),
						  names[i].name)))
			continue;
		return true;
	}
	return false;
}

static bool stack_matches(struct mt_session *session, uint32_t stack)
{
	size_t count;
	const uint32_t *frames = mt_stacks_get(session->stacks, stack, &count);

	for (size_t i = 0; i < count; i++) {
		if (frame_matches(session, frames[i]))
			return true;
	}
	return false;
}

bool mt_session_choose_stack(struct mt_session *session, uint32_t stack)
{
	uint8_t *verdict;

	if (!mt_selection_needs_stacks(session->options->selection))
		return true;
	verdict = mt_array_at(&session->verdicts, stack);
	if (*verdict == VERDICT_NONE)
		*verdict = stack_matches(session, stack) ? VERDICT_YES : VERDICT_NO;
	return *verdict == VERDICT_YES;
}
