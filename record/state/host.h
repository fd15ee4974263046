/* What the recording says of its host: the HEAD chunk. */
#ifndef MT_RECORD_STATE_HOST_H
#define MT_RECORD_STATE_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "record/proc/numbers.h"

struct mt_error;
struct mt_clock;
struct mt_plan;
struct mt_record_options;
struct mt_state;

/* Online CPUs, from /sys. */
struct mt_error *mt_host_cpus(struct mt_number_list *out);

/* HEADER, INFO, CLOCK and EVENT records, into a state of type HEAD. */
void mt_host_describe(struct mt_state *head, const struct mt_record_options *options,
		      const struct mt_clock *clock, const struct mt_plan *plan, int argc,
		      char **argv);

/* How targets were chosen among the processes of the host; NULL and false: not so. */
struct mt_target_choice {
	const char *comm;   /* --comm, the expression */
	const char *cgroup; /* -G, a line of mt_cgroup_line() */
	bool by_user;	    /* -u */
	uint32_t uid;
};

/* INFO records of it. */
void mt_host_describe_choice(struct mt_state *head, const struct mt_target_choice *choice);

/* One CLOCK record: the same moment on every clock. */
void mt_host_anchor(struct mt_state *state, const struct mt_clock *clock);

/*
 * Words as a shell would take them again: quoted where they hold more than letters, digits and a
 * few signs. The caller's to free; NULL out of memory.
 */
char *mt_host_quote(int argc, char *const *argv);

#endif
