/* Properties of an output's terminal: its width, and whether it has colours and UTF-8. */
#include "report/view.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/cli/options.h"
#include "report/names/naming.h"
#include "report/session/session.h"

/* NO_COLOR, set and not empty, disables colours: https://no-color.org. */
static bool wants_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return (!no || !*no) && term && *term && strcmp(term, "dumb") != 0;
}

static bool terminal_has_utf8(void)
{
	locale_t environment = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8 = environment && !strcmp(nl_langinfo_l(CODESET, environment), "UTF-8");

	if (environment)
		freelocale(environment);
	return utf8;
}

struct mt_view mt_report_view(const struct mt_report_options *options, struct mt_session *session,
			      int fd)
{
	struct mt_view view = {
		.facts = mt_session_facts(session),
		.width = 80,
		.selected = mt_selection_given(&options->selection),
		.srcline = options->srcline,
		.all = options->wishes.all,
		.limit = options->wishes.limit,
		.flame = &options->flame,
		.subject = options->subject,
		.source_paths = &options->source_paths,
		.assembly = options->assembly,
		.code = mt_naming_code(mt_session_naming(session)),
		.shown_first = options->shown_first,
		.words = options->words,
		.word_count = options->word_count,
		.given = options->given,
		.given_count = options->given_count,
	};
	struct winsize size;

	if (isatty(fd)) {
		view.utf8 = terminal_has_utf8();
		view.colour = wants_colour();
		if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col >= 40)
			view.width = size.ws_col > 200 ? 200 : size.ws_col;
	}
	return view;
}
