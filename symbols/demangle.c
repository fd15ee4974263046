/*
 * Demangling by libiberty, which perf uses too, so that names agree to the letter - most names by
 * demangle_plain.c, which prints the same sooner - and the bounds around it, since a mangled name
 * is input like any other. libiberty bounds its recursion by itself
 * (we leave that on), but not what it prints: back references double the output every few bytes.
 */
#include "symbols/demangle.h"

#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h> /* Debian */
#else
#include <demangle.h> /* Fedora */
#endif
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/pool.h"
#include "symbols/demangle_plain.h"

#define NAME_MAX_MANGLED 16384
#define NAME_MAX_PRINTED 65536
#define NAMES_PER_JOB 256 /* some 200 us */

struct printed {
	char *bytes;
	size_t length, capacity;
	jmp_buf enough;
};

/*
 * More room, or out of the demangler: it has no other way to be stopped, and owns nothing on the
 * heap while it prints.
 */
static void make_room(struct printed *out, size_t need)
{
	size_t capacity = out->capacity ? out->capacity : 256;
	char *moved;

	while (capacity < need)
		capacity *= 2;
	moved = need > NAME_MAX_PRINTED ? NULL : realloc(out->bytes, capacity);
	if (!moved)
		longjmp(out->enough, 1);
	out->bytes = moved;
	out->capacity = capacity;
}

static void append(const char *bytes, size_t length, void *opaque)
{
	struct printed *out = opaque;

	if (length >= out->capacity - out->length)
		make_room(out, out->length + length + 1);
	memcpy(out->bytes + out->length, bytes, length);
	out->length += length;
	out->bytes[out->length] = '\0';
}

/* Whether it can be a name of Rust: the legacy ones end in a hash of 16 digits, "17h". */
static bool is_rust(const char *name)
{
	return name[1] != 'Z' || strstr(name, "17h");
}

/* Legacy Rust names are C++ names as well, hence Rust first: so does DMGL_AUTO. */
static int print_demangled(const char *name, struct printed *out)
{
	if (is_rust(name) && rust_demangle_callback(name, DMGL_NO_OPTS, append, out))
		return 1;
	out->length = 0;
	return cplus_demangle_v3_callback(name, DMGL_NO_OPTS, append, out);
}

static char *demangle_any(const char *name)
{
	struct printed *out = calloc(1, sizeof(*out));
	char *result = NULL;

	if (!out)
		return NULL;
	/* on the heap, where longjmp leaves it as it is */
	if (!setjmp(out->enough) && print_demangled(name, out) && out->length) {
		result = out->bytes;
		out->bytes = NULL;
	}
	free(out->bytes);
	free(out);
	return result;
}

char *mt_demangle(const char *name)
{
	char *result;

	if (name[0] != '_' ||
	    (name[1] != 'Z' && name[1] != 'R' && name[1] != 'G' && name[1] != '_'))
		return NULL;
	if (strnlen(name, NAME_MAX_MANGLED) == NAME_MAX_MANGLED)
		return NULL;
	result = is_rust(name) ? NULL : mt_demangle_plain(name);
	return result ? result : demangle_any(name);
}

/* ---- Many names ---- */

struct names_job {
	struct mt_job job;
	const char *const *names;
	char **out;
	size_t count;
};

static void demangle_names(struct mt_job *job, unsigned int worker)
{
	struct names_job *of = (struct names_job *)job;

	(void)worker;
	for (size_t i = 0; i < of->count; i++)
		of->out[i] = mt_demangle(of->names[i]);
}

void mt_demangle_all(const char *const *names, size_t count, struct mt_pool *pool, char **out)
{
	size_t job_count = (count + NAMES_PER_JOB - 1) / NAMES_PER_JOB;
	MT_CLEANUP_FREE struct names_job *jobs = calloc(job_count + 1, sizeof(*jobs));
	struct names_job all = {.names = names, .out = out, .count = count};

	if (!jobs) {
		demangle_names(&all.job, 0);
		return;
	}
	for (size_t i = 0; i < job_count; i++) {
		size_t first = i * NAMES_PER_JOB, left = count - first;

		jobs[i] = (struct names_job){
			.job.run = demangle_names,
			.names = names + first,
			.out = out + first,
			.count = left < NAMES_PER_JOB ? left : NAMES_PER_JOB,
		};
		mt_pool_submit(pool, &jobs[i].job);
	}
	for (size_t i = 0; i < job_count; i++)
		mt_pool_wait(pool, &jobs[i].job);
}
