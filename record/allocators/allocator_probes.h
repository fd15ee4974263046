/*
 * -e malloc, --alloc-function, --free-function: probes at functions that allocate and free blocks.
 */
#ifndef MT_RECORD_ALLOCATORS_ALLOCATOR_PROBES_H
#define MT_RECORD_ALLOCATORS_ALLOCATOR_PROBES_H

struct mt_allocator_choice;
struct mt_allocator_probe;
struct mt_error;

/*
 * Defines the probes and calls each(out, probe) for every probe. `probes` is a struct mt_probes.
 * *note names the functions and what their probes cost; the caller frees it.
 */
struct mt_error *mt_allocator_probes_define(
	void *probes, const struct mt_allocator_choice *choice,
	struct mt_error *(*each)(void *out, const struct mt_allocator_probe *probe), void *out,
	char **note);

#endif
