/* Whom the options mean: the whole host, CPUs, processes, threads, or the command alone. */
#ifndef MT_RECORD_TARGETS_H
#define MT_RECORD_TARGETS_H

#include <stdbool.h>
#include <sys/types.h>

struct mt_command;
struct mt_error;
struct mt_event_set;
struct mt_record_options;
struct mt_waiting;

/* Opens the events for them all; the command is the target where there is no other. */
struct mt_error *mt_targets_open(const struct mt_record_options *options,
				 const struct mt_command *command, struct mt_event_set *opened);

/* Each process of theirs that runs already; not the command, nor children. */
void mt_targets_each(const struct mt_record_options *options,
		     void (*each)(void *context, pid_t pid), void *context);

/* Watches those whose end ends the recording; false out of memory. */
bool mt_targets_watch(const struct mt_record_options *options, struct mt_waiting *waiting);

#endif
