/*
 * Classifies the history of a path's memory: leak, plateau, sawtooth, or too little data. No I/O.
 */
#ifndef MT_REPORT_VERDICTS_VERDICT_H
#define MT_REPORT_VERDICTS_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_history;
struct mt_history_scale;

enum mt_verdict_kind {
	MT_VERDICT_TOO_LITTLE, /* too little data; `why` is the reason */
	MT_VERDICT_ONE_OFF,    /* all reserved at once */
	MT_VERDICT_PLATEAU,    /* grew and stopped: a cache that warmed up */
	MT_VERDICT_SAWTOOTH,   /* rises and falls repeatedly */
	MT_VERDICT_LEAK,       /* grows steadily, and the memory stays */
	MT_VERDICT_GROWS,      /* like LEAK so far: a filling cache looks the same */
	MT_VERDICT_HEAP,       /* like LEAK, for the heap: other paths may keep its blocks */
	MT_VERDICT_RETENTION,  /* memory stays reserved, but most pages are unused */
	MT_VERDICT_BOUNDED,    /* for blocks: new blocks replace old ones */
	MT_VERDICT_IN_USE,     /* for an allocator's memory: not RETENTION */
};

/* Ages of reservations: first, second and last third of the observed time. */
enum {
	MT_VERDICT_AGES = 3,
};

struct mt_verdict {
	enum mt_verdict_kind kind;
	const char *why;	       /* TOO_LITTLE: the missing data, static text; else NULL */
	double bytes;		       /* bytes held at the end */
	double per_second, low, high;  /* bytes, with a 90 % interval; NAN: unknown */
	double confidence;	       /* 0 to 1 */
	double seconds;		       /* from the first reservation to the end */
	uint64_t reservations, slices; /* number of reservations; of slices with a reservation */
	uint32_t falls;
	bool files;	   /* most of the reserved bytes are mapped files */
	bool ended;	   /* the process ended: it cannot be recorded longer */
	bool collected;	   /* HEAP: the heap of a garbage collector */
	double older_back; /* HEAP: bytes of older memory given back */
	bool pathless;	   /* the verdict is on all calls that were recorded without a stack */
	bool of_blocks;	   /* the memory is blocks of an allocator */
	uint64_t live;	   /* of blocks: number of live blocks */
	uint64_t resized;  /* of blocks: number of resizes */
	bool replaced;	   /* larger blocks replaced smaller ones; set for blocks and TOO_LITTLE */
	uint32_t one_in;   /* if above 1: one in this many blocks was recorded */
	double given_back; /* share of the reserved bytes */
	double survival[MT_VERDICT_AGES]; /* share of bytes still held; NAN: none reserved */
	double untouched;		  /* share of bytes without a fault; NAN: unknown */
	uint64_t advices;		  /* calls that gave pages back while they stayed mapped */
	double advised;			  /* bytes of these pages */
};

/* An allocator's memory in a process. */
struct mt_heap_parts {
	double mapped;
	double live;	  /* bytes of live blocks, with the allocator's overhead of each */
	double untouched; /* bytes whose pages are not in use; NAN: unknown */
	double older;	  /* unused memory older than the recording: free, or in older blocks */
	double inherited; /* unused memory inherited by fork: free, or in blocks of the parent */
	uint64_t blocks;  /* number of live blocks */
	double seconds;
};

/* Judges the history at `end` (ns). Settles the history. */
void mt_verdict_judge(struct mt_history *history, const struct mt_history_scale *scale,
		      uint64_t end, struct mt_verdict *out);

/*
 * Judges a history whose blocks survive at the same rate at every age. Such a history grows, even
 * if less is reserved over time, as long as the last third of the time adds to it. False, with *out
 * unchanged, if it does not grow.
 */
bool mt_verdict_judge_survivors(struct mt_history *history, const struct mt_history_scale *scale,
				uint64_t end, struct mt_verdict *out);

/* Refines a verdict by pages: `held` bytes were touched and not given back. */
void mt_verdict_consider_pages(struct mt_verdict *verdict, double held);

/* True if the memory is hardly touched: RETENTION, or undecided with too few reservations. */
bool mt_verdict_is_untouched(const struct mt_verdict *verdict);

/*
 * Refines a verdict by pages that madvise gave back while they stayed reserved: `bytes` in `calls`
 * calls. A path that gives back more than it holds in several calls fills the memory again each
 * time.
 */
void mt_verdict_consider_advice(struct mt_verdict *verdict, uint64_t calls, double bytes);

/*
 * Refines a verdict on a path that grows the heap. The path that calls brk is not the one that
 * keeps the blocks, so the verdict is never LEAK. `collected`: the heap of a garbage collector.
 * `older_back`: bytes from before the recording that the process unmapped since.
 */
void mt_verdict_consider_heap(struct mt_verdict *verdict, bool collected, double older_back);

/*
 * Refines a verdict on all mappings without a stack. Some of these paths may grow and others not,
 * so the verdict is never LEAK.
 */
void mt_verdict_consider_pathless(struct mt_verdict *verdict);

/* Refines a verdict on an ended process: it cannot be recorded for longer. */
void mt_verdict_consider_end(struct mt_verdict *verdict);

/* True if the time was too short for any verdict. */
bool mt_verdict_is_too_short(const struct mt_verdict *verdict);

/* True if the memory grows steadily, whichever path keeps it. */
bool mt_verdict_is_growth(enum mt_verdict_kind kind);

/* The kind as text: "leak". */
const char *mt_verdict_name(enum mt_verdict_kind kind);

/*
 * Writes the evidence as text, and what would decide an open case: "39.8 s, 412 reservations,
 * nothing given back so far; record 5 minutes".
 */
void mt_verdict_grounds(const struct mt_verdict *verdict, char *out, size_t size);

#endif
