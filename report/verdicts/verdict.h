/*
 * What the history of a path's memory looks like: a leak, a plateau, a sawtooth - or that too
 * little is known to say. Pure.
 */
#ifndef MT_REPORT_VERDICTS_VERDICT_H
#define MT_REPORT_VERDICTS_VERDICT_H

#include <stddef.h>
#include <stdint.h>

struct mt_history;
struct mt_history_scale;

enum mt_verdict_kind {
	MT_VERDICT_TOO_LITTLE, /* data; `why` says what is missing */
	MT_VERDICT_ONE_OFF,    /* reserved at once, and no more */
	MT_VERDICT_PLATEAU,    /* grew, and stopped; a cache that warmed up */
	MT_VERDICT_SAWTOOTH,   /* rises and falls, again and again */
	MT_VERDICT_LEAK,       /* grows steadily, and what it reserved stays */
	MT_VERDICT_RETENTION,  /* stands reserved, and its pages are not touched again */
};

/* Ages of what was reserved: in the first, second and last third of the time observed. */
enum {
	MT_VERDICT_AGES = 3,
};

struct mt_verdict {
	enum mt_verdict_kind kind;
	const char *why;	       /* TOO_LITTLE; static, else NULL */
	double bytes;		       /* held at the end */
	double per_hour, low, high;    /* bytes; NAN where too little is known */
	double confidence;	       /* 0 to 1 */
	double seconds;		       /* observed, from the first reservation on */
	uint64_t reservations, slices; /* slices of time in which something was reserved */
	uint32_t falls;
	double survival[MT_VERDICT_AGES]; /* share of the bytes still there; NAN: none reserved */
	double untouched;		  /* share of bytes that no fault touched; NAN: not known */
};

/* How the history looks at `end` (ns), when nothing more happens to it. Settles the history. */
void mt_verdict_judge(struct mt_history *history, const struct mt_history_scale *scale,
		      uint64_t end, struct mt_verdict *out);

/*
 * The same with what is known of its pages: `held` of the verdict's bytes are touched and not given
 * back.
 */
void mt_verdict_consider_pages(struct mt_verdict *verdict, double held);

/* "steady leak". */
const char *mt_verdict_name(enum mt_verdict_kind kind);

/* "39.8 s, 412 reservations, of the oldest third 97 % still there": what it rests on. */
void mt_verdict_grounds(const struct mt_verdict *verdict, char *out, size_t size);

#endif
