/*
 * Demangles with libiberty, like perf, so that names are identical. Bounds the output, because
 * mangled names are untrusted. libiberty limits its recursion (left enabled) but not its output,
 * and back references double the output every few bytes.
 */
#include "symbols/names/demangle.h"

#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h> /* Debian */
#else
#include <demangle.h> /* Fedora */
#endif
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_MANGLED 16384
#define NAME_MAX_PRINTED 65536

struct printed {
	char *bytes;
	size_t length, capacity;
	bool full; /* stop the demangler at the next piece */
	jmp_buf enough;
};

/* False past the bound, or out of memory. */
static bool make_room(struct printed *out, size_t need)
{
	size_t capacity = out->capacity ? out->capacity : 256;
	char *moved;

	while (capacity < need)
		capacity *= 2;
	moved = need > NAME_MAX_PRINTED ? NULL : realloc(out->bytes, capacity);
	if (!moved)
		return false;
	out->bytes = moved;
	out->capacity = capacity;
	return true;
}

static bool is_ascii(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)bytes[i] >= 0x80)
			return false;
	}
	return true;
}

/*
 * Jumping out is the only way to stop the demangler. It holds allocated memory only while it prints
 * a Rust identifier in Punycode, which is never all ASCII. So such a piece is dropped, and the jump
 * is made at the next piece, at least a separator.
 */
static void append(const char *bytes, size_t length, void *opaque)
{
	struct printed *out = opaque;

	if (out->full ||
	    (length >= out->capacity - out->length && !make_room(out, out->length + length + 1))) {
		out->full = true;
		if (is_ascii(bytes, length))
			longjmp(out->enough, 1);
		return;
	}
	memcpy(out->bytes + out->length, bytes, length);
	out->length += length;
	out->bytes[out->length] = '\0';
}

/* Tries Rust first, like DMGL_AUTO: legacy Rust names are also valid C++ names. */
static bool print_demangled(const char *name, struct printed *out)
{
	if (rust_demangle_callback(name, DMGL_NO_OPTS, append, out))
		return !out->full;
	out->length = 0;
	return cplus_demangle_v3_callback(name, DMGL_NO_OPTS, append, out) && !out->full;
}

static char *demangle(const char *name)
{
	struct printed *out = calloc(1, sizeof(*out));
	char *result = NULL;

	if (!out)
		return NULL;
	/* on the heap, where longjmp() does not change it */
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
	if (name[0] != '_' ||
	    (name[1] != 'Z' && name[1] != 'R' && name[1] != 'G' && name[1] != '_'))
		return NULL;
	return strnlen(name, NAME_MAX_MANGLED) == NAME_MAX_MANGLED ? NULL : demangle(name);
}
