/* The targets of the options: the whole host, CPUs, processes, threads, or only the command. */
#ifndef MT_RECORD_TARGETS_H
#define MT_RECORD_TARGETS_H

#include <stdbool.h>
#include <sys/types.h>

struct mt_command;
struct mt_error;
struct mt_event_set;
struct mt_record_options;
struct mt_waiting;

/* Opens the events for all targets. The command is the target if there is no other. */
struct mt_error *mt_targets_open(const struct mt_record_options *options,
				 const struct mt_command *command, struct mt_event_set *opened);

/* Calls each for every existing process of the targets, but not for the command or children. */
void mt_targets_each(const struct mt_record_options *options,
		     void (*each)(void *context, pid_t pid), void *context);

/* Watches the targets whose end ends the recording. False out of memory. */
bool mt_targets_watch(const struct mt_record_options *options, struct mt_waiting *waiting);

#endif
