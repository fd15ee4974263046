/* Describes the host in the HEAD chunk. */
#ifndef MT_RECORD_STATE_HOST_H
#define MT_RECORD_STATE_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/proc/numbers.h"

struct mt_error;
struct mt_clock;
struct mt_plan;
struct mt_record_options;
struct mt_state;

/* Online CPUs, from /sys. */
struct mt_error *mt_host_cpus(struct mt_number_list *out);

/* Writes HEADER, INFO, CLOCK and EVENT records to a state of type HEAD. */
void mt_host_describe(struct mt_state *head, const struct mt_record_options *options,
		      const struct mt_clock *clock, const struct mt_plan *plan, int argc,
		      char **argv);

/* Options that choose targets among the host's processes; NULL or false: not given. */
struct mt_target_choice {
	const char *comm;   /* the expression of --comm */
	const char *cgroup; /* of -G, as mt_cgroup_line() writes it */
	bool by_user;	    /* -u is given */
	uint32_t uid;
};

/* Writes the choice as INFO records. */
void mt_host_describe_choice(struct mt_state *head, const struct mt_target_choice *choice);

/*
 * Writes the start time of the recording, on its clock, and the process that will exec the command
 * (0: none, or its samples begin with its exec). The state must be written before any data.
 */
void mt_host_begin(struct mt_state *state, uint64_t start, pid_t command);

/* Puts one CLOCK record: the same moment on every clock. */
void mt_host_anchor(struct mt_state *state, const struct mt_clock *clock);

/*
 * Joins words for a shell: quotes words with characters other than letters, digits and a few signs.
 * The caller frees the string; NULL out of memory.
 */
char *mt_host_quote(int argc, char *const *argv);

#endif
