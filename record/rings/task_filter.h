/*
 * Chooses the tasks whose samples are kept: for --comm and -u, and for -p if there are too few file
 * descriptors for its threads. The kernel cannot choose by a thread's name or user. So the drains
 * ask here for each sample, and pass COMM and FORK records of the side-band to the filter.
 */
#ifndef MT_RECORD_RINGS_TASK_FILTER_H
#define MT_RECORD_RINGS_TASK_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;
struct mt_number_list;
struct mt_task_filter;

/* Facts of a thread, from /proc. */
struct mt_task_facts {
	char comm[64];
	uint32_t uid;
	uint32_t process; /* its thread group */
	uint32_t parent;  /* its parent process */
};

/* Looks up facts; look_up returns false for a thread that has ended. */
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
 * From now on, keeps only samples of these processes and threads, and of their future children.
 * Call before there are other threads. False out of memory.
 */
bool mt_task_filter_only(struct mt_task_filter *filter, const struct mt_number_list *pids,
			 const struct mt_number_list *tids);

/* Gets the user whose threads are kept; false: threads of all users are kept. */
bool mt_task_filter_user(const struct mt_task_filter *filter, uint32_t *uid);

void mt_task_filter_destroy(struct mt_task_filter *filter);

/*
 * Starts a thread that looks up facts, so that mt_task_filter_wants() neither reads /proc nor
 * allocates. Call once, before the first mt_task_filter_wants().
 */
struct mt_error *mt_task_filter_start(struct mt_task_filter *filter);

/*
 * Looks up a thread before samples of it arrive, because the thread may have ended by then. If all
 * existing threads are looked up, only later ones can be unknown. Allocates memory, so drains must
 * not call it.
 */
void mt_task_filter_meet(struct mt_task_filter *filter, uint32_t tid, uint64_t time);

enum mt_task_verdict {
	MT_TASK_DROPPED,
	MT_TASK_KEPT,
	MT_TASK_UNKNOWN, /* being looked up: ask again; only after mt_task_filter_start() */
};

/*
 * The verdict on a thread's sample of that time (ns). Samples of threads without facts are kept.
 * Several threads may call this and mt_task_filter_see() at once.
 */
enum mt_task_verdict mt_task_filter_wants(struct mt_task_filter *filter, uint32_t tid,
					  uint64_t time);

/*
 * Learns names and parents from a COMM or FORK record; ignores other records. False: call again
 * with the same record, as for MT_TASK_UNKNOWN.
 */
bool mt_task_filter_see(struct mt_task_filter *filter, const uint8_t *record, size_t size,
			uint64_t time);

#endif
