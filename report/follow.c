/* Waits for the recording to grow, and forks for each update. */
#include "report/follow.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/chunks/chunk.h"
#include "formats/reader.h"
#include "formats/reading/input.h"
#include "report/session/session.h"
#include "report/stacks/frames.h"
#include "report/tables/facts.h"

#define LOOK_MS 200 /* interval between checks of the file's size */

struct mt_follow {
	struct mt_follow_options options;
	struct mt_input input;
	struct mt_session_growth growth;
	bool over; /* the recording has ended, or the user interrupted the report */
	bool last; /* the input is complete */
	uint64_t due;
	unsigned long updates;
	FILE *out; /* standard output, if the report is a listing; NULL before the listing begins */
	enum mt_follow_end why;
	int status;
};

MT_DEFINE_CLEANUP(mt_follow, struct mt_follow)

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * Waits until the input may have grown or the next update is due. Ends the report if the reader of
 * a listing has closed the pipe.
 */
static void sleep_for_more(struct mt_follow *follow)
{
	struct pollfd fds[] = {{.fd = follow->input.pipe, .events = POLLIN},
			       {.fd = follow->out ? STDOUT_FILENO : -1}};
	uint64_t now = now_ns(), ms = follow->due > now ? (follow->due - now) / 1000000 + 1 : 0;

	(void)poll(fds, 2, ms < LOOK_MS ? (int)ms : LOOK_MS);
	follow->over |= fds[1].revents & POLLERR;
}

static struct mt_error *name_input(const struct mt_follow *follow, struct mt_error *err)
{
	bool named = strcmp(follow->options.path, "-") != 0;

	return mt_error_context(err, "%s", named ? follow->options.path : "standard input");
}

/* Whether the first chunk is complete, or will never be completed. */
static bool has_begun(const struct mt_follow *follow)
{
	uint8_t bytes[MT_CHUNK_HEADER_SIZE];
	struct mt_chunk_header header;
	size_t got;

	if (follow->input.size < sizeof(bytes))
		return false;
	mt_error_destroy(mt_input_read(&follow->input, 0, bytes, sizeof(bytes), &got));
	return !mt_chunk_header_decode(bytes, &header) ||
	       follow->input.size >= sizeof(bytes) + header.stored_size;
}

static struct mt_error *grow(struct mt_follow *follow)
{
	bool ended;
	struct mt_error *err = mt_input_grow(&follow->input, follow->options.path, &ended);

	/* the writer of a pipe got the signal, too, and completes its output */
	follow->over |=
		ended || (*follow->options.stop && (follow->input.pipe < 0 || !has_begun(follow)));
	return name_input(follow, err);
}

/* ---- Updates ---- */

/* Ends the session's reading; mt_follow_why() returns the reason. */
static struct mt_error *leave(struct mt_follow *follow, enum mt_follow_end why)
{
	follow->why = why;
	return mt_error_create(MT_ERR_NOT_FOUND, "reading has ended");
}

/* Handles the exit of an update's child. True if another update is due. */
static bool take_status(struct mt_follow *follow, pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return false;
	}
	follow->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return !follow->status && ++follow->updates != follow->options.most;
}

static void set_due(struct mt_follow *follow)
{
	uint64_t interval = (uint64_t)(follow->options.interval * 1e9), now = now_ns();

	follow->due = follow->due + interval > now ? follow->due + interval : now + interval;
}

/* Forks for an update. Sets *end in the child. */
static struct mt_error *update(struct mt_follow *follow, struct mt_session *session, bool *end)
{
	struct mt_frames *frames = mt_session_frames(session);
	pid_t child;

	if (frames)
		mt_frames_resolve(frames);
	child = fork();
	if (child < 0)
		return mt_error_os(errno, "cannot make a process for an update");
	if (!child) {
		follow->why = MT_FOLLOW_UPDATE;
		follow->growth.update = true;
		*end = true;
		return NULL;
	}
	if (!take_status(follow, child))
		return leave(follow, MT_FOLLOW_ENOUGH);
	set_due(follow);
	return NULL;
}

/* Called when the interval is over. Sets *end if a listing has shown the requested intervals. */
static struct mt_error *take_turn(struct mt_follow *follow, struct mt_session *session,
				  const struct mt_reader_news *news, bool *end)
{
	if (!follow->options.listing)
		return news->earlier ? leave(follow, MT_FOLLOW_ANEW) : update(follow, session, end);
	*end = ++follow->updates == follow->options.most;
	set_due(follow);
	return NULL;
}

/* At the recording's end, a listing continues here; sums are made from the whole recording. */
static struct mt_error *take_end(struct mt_follow *follow, const struct mt_reader_news *news,
				 bool *end)
{
	follow->last = true;
	if (!follow->options.listing && (news->complete || news->earlier))
		return leave(follow, MT_FOLLOW_ANEW);
	*end = true;
	return NULL;
}

static struct mt_error *wait_for_more(void *context, struct mt_session *session, bool *end)
{
	struct mt_follow *follow = context;
	struct mt_reader_news news;
	struct mt_error *err = NULL;

	*end = follow->last;
	if (follow->out && fflush(follow->out))
		*end = true; /* an error of the output is reported when it is closed */
	while (!err && !*end) {
		err = mt_session_advance(session, &news);
		if (err || (news.whole && (follow->options.listing || !news.earlier)))
			break;
		if (follow->over || news.complete)
			return take_end(follow, &news, end);
		if (now_ns() >= follow->due)
			return take_turn(follow, session, &news, end);
		sleep_for_more(follow);
		err = grow(follow);
	}
	return err;
}

/* ---- Interface ---- */

struct mt_error *mt_follow_create(const struct mt_follow_options *options, struct mt_follow **out)
{
	MT_CLEANUP(mt_follow_destroy_p) struct mt_follow *follow = mt_alloc(1, sizeof(*follow));
	struct mt_error *err;

	follow->options = *options;
	follow->input.fd = follow->input.pipe = -1;
	follow->growth = (struct mt_session_growth){
		.input = &follow->input,
		.at_once = options->listing,
		.wait = wait_for_more,
		.context = follow,
	};
	err = mt_input_open_growing(options->path, &follow->input);
	if (err)
		return name_input(follow, err);
	follow->due = UINT64_MAX; /* no update is due before the recording begins */
	for (err = grow(follow); !err && !follow->over && !has_begun(follow); err = grow(follow))
		sleep_for_more(follow);
	if (err)
		return err;
	follow->due = now_ns();
	set_due(follow);
	*out = MT_TAKE(follow);
	return NULL;
}

void mt_follow_destroy(struct mt_follow *follow)
{
	if (!follow)
		return;
	mt_input_deinit(&follow->input);
	free(follow);
}

const struct mt_session_growth *mt_follow_growth(struct mt_follow *follow)
{
	follow->why = MT_FOLLOW_LAST;
	return &follow->growth;
}

void mt_follow_begin(struct mt_follow *follow, const struct mt_facts *facts, FILE *to)
{
	const struct mt_facts_recording *recording = &facts->recordings.items[0];

	if (follow->options.listing)
		follow->out = to;
	else if (isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", to);
	else
		fprintf(to, "--- %.2f s ---\n", (double)(recording->end - recording->start) / 1e9);
}

enum mt_follow_end mt_follow_why(const struct mt_follow *follow)
{
	return follow->why;
}

int mt_follow_status(const struct mt_follow *follow)
{
	return follow->status;
}
