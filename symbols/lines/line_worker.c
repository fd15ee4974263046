/*
 * Asks a forked process for lines: sends an address, receives frames and the first problem. The two
 * sides share a socket, and each notices when the other one closes it.
 */
#include "symbols/lines/line_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/cursor.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/base/strings.h"

enum {
	REPLY_MAX = 1 << 20,	/* bytes; 64 frames with names and paths need far less */
	DESCRIPTORS_MAX = 4096, /* closed one by one before Linux 5.9 */
};

/* The first byte of a reply. */
enum state {
	STATE_LINES,	/* frames follow */
	STATE_NO_DWARF, /* only in the first reply: the file has no DWARF */
	STATE_FAILED,	/* only in the first reply: the DWARF cannot be read, see the problem */
};

typedef MT_ARRAY(uint8_t) reply_bytes;

struct mt_line_worker {
	pid_t pid;
	int fd;	       /* -1: the process has ended */
	char *problem; /* the first problem */
	struct mt_strings *strings;
	reply_bytes reply;
};

MT_DEFINE_CLEANUP(mt_line_worker, struct mt_line_worker)

static bool send_all(int fd, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size) {
		ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);

		if (sent < 0 && errno != EINTR)
			return false;
		at += sent > 0 ? sent : 0;
		size -= sent > 0 ? (size_t)sent : 0;
	}
	return true;
}

static bool receive_all(int fd, void *bytes, size_t size)
{
	uint8_t *at = bytes;

	while (size) {
		ssize_t got = recv(fd, at, size, 0);

		if (!got || (got < 0 && errno != EINTR))
			return false;
		at += got > 0 ? got : 0;
		size -= got > 0 ? (size_t)got : 0;
	}
	return true;
}

/* ---- The process ---- */

static bool put(reply_bytes *reply, const void *bytes, size_t size)
{
	return mt_array_extend(reply, bytes, size);
}

/* Puts a byte that says whether there is a text, then the text with its NUL. */
static bool put_text(reply_bytes *reply, const char *text)
{
	const uint8_t given = text != NULL;

	return put(reply, &given, 1) && (!text || put(reply, text, strlen(text) + 1));
}

static bool put_frame(reply_bytes *reply, const struct mt_lines_frame *frame)
{
	uint8_t numbers[5];

	mt_put_le32(numbers, frame->line);
	numbers[4] = frame->mangled;
	return put(reply, numbers, sizeof(numbers)) && put_text(reply, frame->name) &&
	       put_text(reply, frame->file);
}

/* Sends a reply: size, state, problem, frames. */
static bool answer(int fd, enum state state, const char *problem,
		   const struct mt_lines_frame *frames, size_t count, reply_bytes *reply)
{
	uint8_t head[5] = {0, 0, 0, 0, (uint8_t)state};
	bool fits;

	reply->count = 0;
	fits = put(reply, head, sizeof(head)) && put_text(reply, problem);
	for (size_t i = 0; fits && i < count; i++)
		fits = put_frame(reply, &frames[i]);
	if (!fits || reply->count > REPLY_MAX)
		return false;
	mt_put_le32(reply->items, (uint32_t)(reply->count - 4));
	return send_all(fd, reply->items, reply->count);
}

/*
 * Closes all descriptors but fd: an open copy of the reporter's output would keep its reader
 * waiting. Redirects standard output and error to /dev/null, because libdw may print when it dies.
 */
static int keep_only(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < 3; i++) {
		if (null < 0 || dup2(null, i) < 0)
			close(i);
	}
	if (dup2(fd, 3) < 0)
		_exit(1);
	if (syscall(SYS_close_range, 4, ~0u, 0)) {
		for (int i = 4; i < DESCRIPTORS_MAX; i++)
			close(i);
	}
	return 3;
}

static void serve(int fd, const struct mt_elf *image, struct mt_elf *debug, const char *path)
{
	static const int ends[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTERM};
	const struct rlimit no_core = {0, 0};
	struct mt_lines_frame frames[MT_LINES_DEPTH];
	struct mt_lines *lines = NULL;
	struct mt_error *err;
	reply_bytes reply = {0};
	uint8_t asked[8];
	enum state state;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		signal(ends[i], SIG_DFL);
	signal(SIGINT, SIG_IGN); /* Ctrl-C in a terminal: the reporter still needs lines for its
				    last report */
	setrlimit(RLIMIT_CORE, &no_core);
	fd = keep_only(fd);
	err = mt_lines_create(image, debug, path, &lines);
	state = err ? STATE_FAILED : lines ? STATE_LINES : STATE_NO_DWARF;
	if (!answer(fd, state, err ? err->message : NULL, NULL, 0, &reply))
		return;
	while (lines && receive_all(fd, asked, sizeof(asked))) {
		size_t count = mt_lines_find(lines, mt_get_le64(asked), frames);

		if (!answer(fd, STATE_LINES, mt_lines_problem(lines), frames, count, &reply))
			return;
	}
}

/* ---- The reporter's side ---- */

/* Ends the process. The reason for its end becomes the problem, if there was none before. */
static void worker_end(struct mt_line_worker *worker, bool failed)
{
	int status = 0;

	if (worker->fd < 0)
		return;
	if (!failed)
		kill(worker->pid, SIGKILL);
	mt_close_p(&worker->fd);
	while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!failed)
		return;
	free(MT_TAKE(worker->problem));
	if (asprintf(&worker->problem,
		     WIFSIGNALED(status) ? "reading debug information ended by signal %d"
					 : "reading debug information ended with status %d",
		     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)) < 0)
		worker->problem = NULL;
}

void mt_line_worker_destroy(struct mt_line_worker *worker)
{
	if (!worker)
		return;
	worker_end(worker, false);
	mt_strings_destroy(worker->strings);
	mt_array_deinit(&worker->reply);
	free(worker->problem);
	free(worker);
}

/* A text in the reply, valid until the next reply. */
static const char *get_text(struct mt_cursor *c)
{
	return mt_cursor_u8(c) ? mt_cursor_cstring(c) : NULL;
}

static const char *get_kept_text(struct mt_line_worker *worker, struct mt_cursor *c)
{
	const char *text = get_text(c);
	uint32_t id =
		text ? mt_strings_intern(worker->strings, text, strlen(text)) : MT_STRING_NONE;

	if (text && id == MT_STRING_NONE && !worker->problem)
		worker->problem = strdup("out of memory");
	return id == MT_STRING_NONE ? NULL : mt_strings_get(worker->strings, id);
}

/* Receives a reply; leaves *c after its state and problem. False if the process has ended. */
static bool receive(struct mt_line_worker *worker, enum state *state, struct mt_cursor *c)
{
	const char *problem;
	uint8_t head[4];
	uint32_t size;

	if (!receive_all(worker->fd, head, sizeof(head)))
		return false;
	size = mt_get_le32(head);
	if (size > REPLY_MAX || !mt_array_reserve(&worker->reply, size) ||
	    !receive_all(worker->fd, worker->reply.items, size))
		return false;
	*c = mt_cursor_init(worker->reply.items, size);
	*state = (enum state)mt_cursor_u8(c);
	problem = get_text(c);
	if (problem && !worker->problem)
		worker->problem = strdup(problem);
	return !c->bad;
}

static struct mt_error *start(struct mt_line_worker *worker, const struct mt_elf *image,
			      struct mt_elf *debug, const char *path)
{
	int fds[2], failed;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return mt_error_os(errno, "debug information: socketpair");
	worker->pid = fork();
	if (!worker->pid) {
		mt_memory_set_end(NULL); /* the exit function is for the caller's process only */
		serve(fds[1], image, debug, path);
		_exit(0);
	}
	failed = errno;
	close(fds[1]);
	worker->fd = fds[0];
	if (worker->pid > 0)
		return NULL;
	mt_close_p(&worker->fd);
	return mt_error_os(failed, "debug information: no process to read it");
}

struct mt_error *mt_line_worker_create(const struct mt_elf *image, struct mt_elf *debug,
				       const char *path, struct mt_line_worker **out)
{
	MT_CLEANUP(mt_line_worker_destroy_p)
	struct mt_line_worker *worker = calloc(1, sizeof(*worker));
	enum state state = STATE_FAILED;
	struct mt_error *err;
	struct mt_cursor c;

	if (!worker)
		return mt_error_nomem();
	worker->fd = -1;
	worker->strings = mt_strings_create();
	err = worker->strings ? start(worker, image, debug, path) : mt_error_nomem();
	if (err)
		return err;
	if (!receive(worker, &state, &c))
		worker_end(worker, true);
	if (state == STATE_FAILED)
		return worker->problem ? mt_error_create(MT_ERR_FORMAT, "%s", worker->problem)
				       : mt_error_nomem();
	*out = state == STATE_LINES ? MT_TAKE(worker) : NULL;
	return NULL;
}

size_t mt_line_worker_find(struct mt_line_worker *worker, uint64_t vaddr,
			   struct mt_lines_frame out[MT_LINES_DEPTH])
{
	uint8_t asked[8];
	enum state state;
	struct mt_cursor c;
	size_t count = 0;

	if (worker->fd < 0)
		return 0;
	mt_put_le64(asked, vaddr);
	if (!send_all(worker->fd, asked, sizeof(asked)) || !receive(worker, &state, &c)) {
		worker_end(worker, true);
		return 0;
	}
	while (count < MT_LINES_DEPTH && mt_cursor_left(&c)) {
		struct mt_lines_frame *frame = &out[count++];

		frame->line = mt_cursor_u32(&c);
		frame->mangled = mt_cursor_u8(&c);
		frame->name = get_kept_text(worker, &c);
		frame->file = get_kept_text(worker, &c);
	}
	return c.bad ? 0 : count;
}

const char *mt_line_worker_problem(const struct mt_line_worker *worker)
{
	return worker->problem;
}
