/*
 * --comm and -u, and -p where files do not suffice for its threads: whose samples are kept. The
 * kernel cannot choose by a thread's name or user, so
 * the drains do: they ask here for each sample, and pass on what the side-band says of names and
 * forks.
 */
#ifndef MT_RECORD_RINGS_TASK_FILTER_H
#define MT_RECORD_RINGS_TASK_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;
struct mt_number_list;
struct mt_task_filter;

/* What /proc says of a thread. */
struct mt_task_facts {
	char comm[64];
	uint32_t uid;
	uint32_t process; /* its thread group */
	uint32_t parent;  /* its parent process */
};

/* Where facts come from; false for a thread that is gone. */
struct mt_task_source {
	void *context;
	bool (*look_up)(void *context, uint32_t tid, struct mt_task_facts *out);
};

/*
 * comm: a POSIX extended regular expression, or NULL; user: a name or number, or NULL. source NULL:
 * /proc.
 */
struct mt_error *mt_task_filter_create(const char *comm, const char *user,
				       const struct mt_task_source *source,
				       struct mt_task_filter **out);

/*
 * Keeps, of what it kept so far, only the samples of these processes and threads and of those that
 * they start. Before there are other threads. False out of memory.
 */
bool mt_task_filter_only(struct mt_task_filter *filter, const struct mt_number_list *pids,
			 const struct mt_number_list *tids);

void mt_task_filter_destroy(struct mt_task_filter *filter);

/*
 * Starts a thread that looks threads up from now on: whoever asks neither reads /proc nor
 * allocates. Once, before the first question.
 */
struct mt_error *mt_task_filter_start(struct mt_task_filter *filter);

enum mt_task_verdict {
	MT_TASK_DROPPED,
	MT_TASK_KEPT,
	MT_TASK_UNTOLD, /* the thread is being looked up: ask again. Only once one was started for
			   that */
};

/*
 * Whether a thread's sample of that time (ns) is to be kept. A thread of which nothing can be known
 * is kept. May be called by several threads at once, as may the other.
 */
enum mt_task_verdict mt_task_filter_wants(struct mt_task_filter *filter, uint32_t tid,
					  uint64_t time);

/*
 * A record of the side-band that is no sample: COMM and FORK tell of names and parents. False: come
 * with it again, as above.
 */
bool mt_task_filter_see(struct mt_task_filter *filter, const uint8_t *record, size_t size,
			uint64_t time);

#endif
