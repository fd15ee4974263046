/* The interface by which a plan looks up tracepoints: the host's, or a test's. */
#ifndef MT_RECORD_TRACEPOINTS_TRACEPOINT_SOURCE_H
#define MT_RECORD_TRACEPOINTS_TRACEPOINT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

struct mt_error;
struct mt_tracepoint;
struct perf_event_attr;

/* A probe that is defined. */
struct mt_defined_probe {
	const char *name;  /* in tracefs: "group:name" */
	const char *alias; /* for the user */
	bool entry;	   /* beside a return probe, of the word that asked for that */
	bool is_stepped;   /* the kernel single-steps the instruction that it stops at */
};
typedef struct mt_error *mt_take_probe(void *out, const struct mt_defined_probe *probe);

/* What the samples of a probe are in an account of blocks (formats/FORMAT.md, section 4.3). */
enum mt_block_moment {
	MT_BLOCK_ALLOC, /* blocks; the others are facts beside them */
	MT_BLOCK_ENTER,
	MT_BLOCK_FREE,
};

/* A probe at a function of an allocator. */
struct mt_allocator_probe {
	const char *name;     /* "subsystem:name" */
	const char *function; /* malloc */
	const char *account;  /* formats/FORMAT.md, section 4.3 */
	const char *file;     /* of an allocator; NULL: the function is one that the user named */
	enum mt_block_moment moment;
	bool is_sized;	 /* the word before the block, which holds its size, is a field */
	bool frees_old;	 /* the function is given a block to replace */
	bool is_stepped; /* as in struct mt_defined_probe */
	bool has_no_ptr; /* the block's address is not what the function returns */
};

/* Whose functions are probed; borrowed for a call. */
struct mt_allocator_choice {
	bool allocators;			 /* those of the targets' allocators */
	const char *const *gives, *const *frees; /* the user's own (custom_functions.h) */
	size_t gives_count, frees_count;
};

/* A source of tracepoints. find as mt_tracefs_find(); the context is borrowed. */
struct mt_tracepoint_source {
	void *context;
	struct mt_error *(*find)(void *context, const char *name, struct mt_tracepoint *out);
	const char *pmu_root; /* directory that describes PMUs; NULL: MT_PMU_ROOT */
	/* True if these events can be counted, as a group that the first one leads; NULL: true. */
	bool (*together)(void *context, const struct perf_event_attr *attrs, size_t count);
	void *together_context;
	/*
	 * Calls each(context, "subsystem:name") for every tracepoint until it returns false.
	 */
	struct mt_error *(*each)(void *source, bool (*each)(void *context, const char *name),
				 void *context);
	/*
	 * Defines the probes of a word of -e and calls each(out, probe) for every one; its name can
	 * then be found. Before a return probe comes the function's entry, whose fields tell what
	 * the probe replaces on the stack (unwind/return_slots.h). *note: a note for the user,
	 * which the caller frees, or NULL. NULL: no probes.
	 */
	struct mt_error *(*probe)(void *probes, const char *text, size_t length,
				  mt_take_probe *each, void *out, char **note);
	/*
	 * The same for functions that give and free blocks (allocator_probes.h); NULL: none can
	 * be probed.
	 */
	struct mt_error *(*allocators)(void *probes, const struct mt_allocator_choice *choice,
				       struct mt_error *(*each)(void *out,
								const struct mt_allocator_probe *),
				       void *out, char **note);
	void *probes;
	/* True if kmem:rss_stat reports each change, not batches; NULL: false. */
	bool (*rss_each)(void *context);
};

#endif
