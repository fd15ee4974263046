/* Whom the options mean: the whole host, CPUs, processes, threads, or the command alone. */
#ifndef MT_RECORD_TARGETS_H
#define MT_RECORD_TARGETS_H

#include <stdbool.h>

struct mt_clock;
struct mt_command;
struct mt_error;
struct mt_opened;
struct mt_record_options;
struct mt_state;
struct mt_waiting;

/* Events follow CPUs, whatever runs there. */
bool mt_targets_are_cpus(const struct mt_record_options *options);

/* Processes or threads that run already are given. */
bool mt_targets_are_tasks(const struct mt_record_options *options);

/* Opens the events for them all; the command is the target where there is no other. */
struct mt_error *mt_targets_open(const struct mt_record_options *options,
				 const struct mt_command *command, struct mt_opened *opened);

/* What runs of them already, as STATE records. */
void mt_targets_put_existing(const struct mt_record_options *options, const struct mt_clock *clock,
			     struct mt_state *state);

/* Watches those whose end ends the recording; false out of memory. */
bool mt_targets_watch(const struct mt_record_options *options, struct mt_waiting *waiting);

#endif
