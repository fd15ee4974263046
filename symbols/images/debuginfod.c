/* Uses libdebuginfod: requests, timeouts, and a list of files that are not requested again. */
#include "symbols/images/debuginfod.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "symbols/images/shared_library.h"

#define URLS "DEBUGINFOD_URLS"

enum {
	PATIENCE_S = 15, /* seconds without a byte; $DEBUGINFOD_TIMEOUT overrides it */
};

/* Names of the library, from its documentation. */
typedef struct debuginfod_client client;
typedef int find_file(client *c, const unsigned char *build_id, int size, char **path);
typedef int watch_file(client *c, long done, long all);

/* In the order of `functions`. */
struct library {
	client *(*begin)(void);
	void (*end)(client *c);
	find_file *find_debuginfo, *find_executable;
	void (*set_watch)(client *c, watch_file *watch);
	void (*set_data)(client *c, void *data);
	void *(*get_data)(client *c);
};

static const char *const functions[] = {
	"debuginfod_begin",	     "debuginfod_end",
	"debuginfod_find_debuginfo", "debuginfod_find_executable",
	"debuginfod_set_progressfn", "debuginfod_set_user_data",
	"debuginfod_get_user_data",  NULL,
};

_Static_assert(sizeof(functions) == sizeof(struct library) + sizeof(char *), "a name for each");

static const struct mt_shared_library debuginfod_library = {"libdebuginfod.so.1", functions};

struct mt_debuginfod {
	struct library library;
	client *client;
	struct mt_debuginfod_teller teller;
	long patience;	      /* seconds */
	bool failed;	      /* send no more requests */
	struct mt_map64 lack; /* hashes of build ids that the servers lack */
	/* of the file being fetched: */
	time_t moved; /* time of the last progress */
	long done;
};

MT_DEFINE_CLEANUP(mt_debuginfod, struct mt_debuginfod)

static time_t seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static struct mt_error *load_library(struct library *library)
{
	struct mt_error *err;

	if (mt_shared_library_load(&debuginfod_library, library))
		return NULL;
	err = mt_error_create(MT_ERR_USAGE,
			      "--debuginfod: %s", /* before elfutils 0.179 a function is missing */
			      mt_shared_library_problem(&debuginfod_library));
	return mt_error_hint(err, "it comes with the package libdebuginfod1 (Debian) or "
				  "elfutils-debuginfod-client (Fedora)");
}

static bool set_urls(const char *urls)
{
	const char *set;

	if (urls && *urls)
		return !setenv(URLS, urls, true);
	set = getenv(URLS);
	return set && *set;
}

/* Reads $DEBUGINFOD_TIMEOUT as the library does: a number of seconds, 0 for no limit. */
static long patience(void)
{
	const char *set = getenv("DEBUGINFOD_TIMEOUT");

	return set && *set ? strtol(set, NULL, 10) : PATIENCE_S;
}

/* The client's data, because a callback cannot reach the library's functions otherwise. */
static struct mt_debuginfod *owner_of(client *c)
{
	struct library library;
	void *handle = mt_shared_library_load(&debuginfod_library, &library);
	struct mt_debuginfod *owner = handle ? library.get_data(c) : NULL;

	mt_shared_library_unload(handle); /* drops only this reference */
	return owner;
}

/*
 * Called about once a second; a result other than 0 ends the request. Until the server has reported
 * the size, `all` is 0 and `done` counts calls.
 */
static int watch(client *c, long done, long all)
{
	struct mt_debuginfod *d = owner_of(c);
	time_t now = seconds_now();

	if (d && all > 0 && done != d->done) {
		d->done = done;
		d->moved = now;
	}
	return !d || (d->patience > 0 && now - d->moved > d->patience);
}

struct mt_error *mt_debuginfod_create(const char *urls, struct mt_debuginfod_teller teller,
				      struct mt_debuginfod **out)
{
	MT_CLEANUP(mt_debuginfod_destroy_p) struct mt_debuginfod *d = calloc(1, sizeof(*d));
	struct mt_error *err;

	if (!d)
		return mt_error_nomem();
	if (!set_urls(urls))
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "--debuginfod: no server is named"),
				     "--debuginfod=URL, or " URLS " in the environment");
	err = load_library(&d->library);
	if (err)
		return err;
	d->client = d->library.begin();
	if (!d->client)
		return mt_error_nomem();
	d->library.set_data(d->client, d);
	d->library.set_watch(d->client, watch);
	d->patience = patience();
	d->teller = teller;
	*out = MT_TAKE(d);
	return NULL;
}

/* Leaves the library loaded: its dependencies (curl, TLS) do not support unloading. */
void mt_debuginfod_destroy(struct mt_debuginfod *d)
{
	if (!d)
		return;
	if (d->client)
		d->library.end(d->client);
	mt_map64_deinit(&d->lack);
	free(d);
}

static void deliver(const struct mt_debuginfod *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void deliver(const struct mt_debuginfod *d, const char *format, ...)
{
	char *line;
	va_list words;

	va_start(words, format);
	if (vasprintf(&line, format, words) < 0)
		line = NULL;
	va_end(words);
	if (line && d->teller.deliver)
		d->teller.deliver(d->teller.context, line);
	free(line);
}

/* Remembers files that the servers lack. After any other failure, sends no more requests. */
static void note_failure(struct mt_debuginfod *d, int status, uint64_t key)
{
	/* the library's limit is the same, and its timeout sometimes looks like a missing file */
	bool late = d->patience > 0 && seconds_now() - d->moved >= d->patience;

	if (status == -ENOENT && !late) {
		(void)mt_map64_put(&d->lack, key, 1);
		return;
	}
	d->failed = true;
	if (late)
		deliver(d, "debuginfod: no answer for %ld seconds; nothing more is asked for",
			d->patience);
	else
		deliver(d, "debuginfod: %s; nothing more is asked for", strerror(-status));
}

bool mt_debuginfod_may_know(struct mt_image *image)
{
	struct mt_elf *elf = mt_image_elf(image);
	const struct mt_span id =
		elf ? mt_elf_build_id(elf)
		    : (struct mt_span){image->identity.build_id, image->identity.build_id_size, 0};

	return id.size && !mt_is_go_build_id(id.bytes, id.size);
}

/* `what` is shown to the user, and distinguishes two requests with one build id. */
static struct mt_error *fetch(struct mt_debuginfod *d, find_file *find, const char *what,
			      const struct mt_image_identity *identity, struct mt_elf **out,
			      char **found_at)
{
	uint64_t key = mt_hash_bytes(identity->build_id, identity->build_id_size, (uint8_t)*what),
		 ignored;
	MT_CLEANUP_FREE char *path = NULL;
	struct mt_error *err;
	int fd;

	if (!identity->build_id_size ||
	    mt_is_go_build_id(identity->build_id, identity->build_id_size) || d->failed ||
	    mt_map64_get(&d->lack, key, &ignored))
		return NULL;
	deliver(d, "asking debuginfod for the %s of %s", what, identity->path);
	d->moved = seconds_now();
	d->done = 0;
	fd = find(d->client, identity->build_id, (int)identity->build_id_size, &path);
	if (fd < 0) {
		note_failure(d, fd, key);
		return NULL;
	}
	err = mt_elf_open_fd(fd, path, out);
	close(fd);
	if (!err)
		*found_at = MT_TAKE(path);
	return err;
}

static struct mt_error *open_debuginfo(void *context, const struct mt_image_identity *identity,
				       struct mt_elf **out, char **found_at)
{
	struct mt_debuginfod *d = context;

	return fetch(d, d->library.find_debuginfo, "debug file", identity, out, found_at);
}

static struct mt_error *open_executable(void *context, const struct mt_image_identity *identity,
					struct mt_elf **out, char **found_at)
{
	struct mt_debuginfod *d = context;

	if (mt_image_kind_of(identity) != MT_IMAGE_FILE)
		return NULL;
	return fetch(d, d->library.find_executable, "file", identity, out, found_at);
}

const struct mt_image_source mt_image_source_debuginfod = {
	.name = "debuginfod", .debug = true, .open = open_debuginfo};

const struct mt_image_source mt_image_source_debuginfod_images = {
	.name = "debuginfod", .whole = true, .open = open_executable};
