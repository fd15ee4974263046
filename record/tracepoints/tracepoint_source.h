/* The interface through which a plan looks up tracepoints, implemented by the host and by tests. */
#ifndef MT_RECORD_TRACEPOINTS_TRACEPOINT_SOURCE_H
#define MT_RECORD_TRACEPOINTS_TRACEPOINT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

struct mt_error;
struct mt_tracepoint;
struct perf_event_attr;

/* A defined probe. */
struct mt_defined_probe {
	const char *name;  /* name in tracefs: "group:name" */
	const char *alias; /* name for the user */
	bool entry;	   /* entry event that accompanies a return probe */
	bool is_stepped;   /* the kernel single-steps the instruction at the probe */
};
typedef struct mt_error *mt_take_probe(void *out, const struct mt_defined_probe *probe);

/* What a sample of a probe means for blocks (formats/FORMAT.md, section 4.3). */
enum mt_block_moment {
	MT_BLOCK_ALLOC, /* samples; the other moments are marks */
	MT_BLOCK_ENTER,
	MT_BLOCK_FREE,
};

/* A probe at a function of an allocator. */
struct mt_allocator_probe {
	const char *name;     /* "subsystem:name" */
	const char *function; /* the function's name: malloc */
	const char *account;  /* formats/FORMAT.md, section 4.3 */
	const char *file;     /* path of an allocator; NULL: the user named the function */
	enum mt_block_moment moment;
	bool is_sized;	 /* a field contains the word before the block, which holds its size */
	bool frees_old;	 /* the function replaces a block */
	bool is_stepped; /* as in struct mt_defined_probe */
	bool has_no_ptr; /* the function does not return the block's address */
};

/* Selects the functions to probe; borrowed for a call. */
struct mt_allocator_choice {
	bool allocators;			 /* functions of the targets' allocators */
	const char *const *gives, *const *frees; /* functions that the user names (allocators.h) */
	size_t gives_count, frees_count;
};

/* A source of tracepoints. find is like mt_tracefs_find(); the context is borrowed. */
struct mt_tracepoint_source {
	void *context;
	struct mt_error *(*find)(void *context, const char *name, struct mt_tracepoint *out);
	const char *pmu_root; /* directory that describes PMUs; NULL: MT_PMU_ROOT */
	/*
	 * Returns true if the events can be counted as a group led by the first; NULL: always true.
	 */
	bool (*together)(void *context, const struct perf_event_attr *attrs, size_t count);
	void *together_context;
	/*
	 * Calls each(context, "subsystem:name") for every tracepoint until it returns false.
	 */
	struct mt_error *(*each)(void *source, bool (*each)(void *context, const char *name),
				 void *context);
	/*
	 * Defines the probes of a word of -e and calls each(out, probe) for every probe; find then
	 * finds their names. The function's entry event precedes a return probe; the fields of the
	 * entry event report the stack slot that the probe overwrites (unwind/return_slots.h).
	 * *note: a note for the user, which the caller frees, or NULL. NULL: no probes.
	 */
	struct mt_error *(*probe)(void *probes, const char *text, size_t length,
				  mt_take_probe *each, void *out, char **note);
	/*
	 * The same for functions that allocate and free blocks (allocator_probes.h). NULL: no
	 * function can be probed.
	 */
	struct mt_error *(*allocators)(void *probes, const struct mt_allocator_choice *choice,
				       struct mt_error *(*each)(void *out,
								const struct mt_allocator_probe *),
				       void *out, char **note);
	void *probes;
	/* Returns true if kmem:rss_stat reports each change, not batches; NULL: false. */
	bool (*rss_each)(void *context);
};

#endif
