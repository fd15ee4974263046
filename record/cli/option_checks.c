/* Checks combinations of options. */
#include "record/cli/option_checks.h"

#include <string.h>

#include "formats/base/err.h"
#include "record/cli/option_rows.h"
#include "record/cli/options.h"

#define ALONGSIDE_DUMP 4096 /* bytes: callchain, registers, fields of a tracepoint */

/* A ring without room for one whole sample records nothing. */
static struct mt_error *check_ring(const struct mt_record_options *options)
{
	size_t least =
		(options->call_graph == MT_GRAPH_DWARF ? options->dump_size : 0) + ALONGSIDE_DUMP;
	size_t size = 4096;

	if (!options->ring_size || options->ring_size >= least)
		return NULL;
	while (size < least)
		size *= 2;
	return mt_error_hint(mt_error_create(MT_ERR_USAGE,
					     "-m: a ring of %zuK has no room for one sample",
					     options->ring_size >> 10),
			     "-m %zuK is the least there is for these stacks", size >> 10);
}

/* Returns what is wrong with the targets; NULL: nothing. */
static const char *bad_targets(const struct mt_record_options *options)
{
	bool wide = options->all_cpus || options->cpus.count;
	bool tasks = options->pids.count || options->tids.count;

	if (wide && tasks)
		return "-a and -C record every process: -p and -t do not go with them";
	if ((options->user || options->cgroup) && tasks)
		return "-u and -G choose the processes by themselves: -p and -t do not go with "
		       "them";
	if (!wide && !tasks && !options->command && !options->user && !options->cgroup)
		return "nothing to record: give -a, -C, -u, -G, -p, -t, or a command";
	if (mt_list_has(&options->pids, 0))
		return "-p: there is no process 0";
	if (mt_list_has(&options->tids, 0))
		return "-t: there is no thread 0";
	if (options->cgroup && !*options->cgroup)
		return "-G: empty name of a cgroup";
	return NULL;
}

struct mt_error *mt_options_check(const struct mt_record_options *options)
{
	const char *what = NULL;

	if (bad_targets(options))
		what = bad_targets(options);
	else if (options->children && (!options->pids.count || options->no_inherit))
		what = "--children goes with -p, and not with -i";
	else if (options->period && options->frequency)
		what = "-c and -F exclude each other";
	else if (options->all_user && options->all_kernel)
		what = "--all-user and --all-kernel exclude each other";
	else if (options->start_disabled && !options->control)
		what = "-D -1 starts nothing by itself: it wants --control";
	else if (options->output && !*options->output)
		what = "-o: empty file name";
	else if (options->action != MT_ACTION_COUNT && (options->interval || options->separator))
		what = "-I and -x go with --stat only";
	else if (options->command && !*options->command[0])
		what = "the name of the command is empty";
	return what ? mt_error_create(MT_ERR_USAGE, "%s", what) : check_ring(options);
}

bool mt_option_is_for_counting(const struct mt_option_row *row)
{
	static const char letters[] = "eaptGCioqvhDIx";
	static const int keys[] = {
		MT_OPT_STAT,	      MT_OPT_FILTER,   MT_OPT_TRACEPOINT_IDS, MT_OPT_DURATION,
		MT_OPT_CONTROL,	      MT_OPT_ALL_USER, MT_OPT_ALL_KERNEL,     MT_OPT_LIST,
		MT_OPT_VERSION,	      MT_OPT_CHECK,    MT_OPT_CLEAN,	      MT_OPT_ALLOC_FUNCTION,
		MT_OPT_FREE_FUNCTION, MT_OPT_CHILDREN,
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (row->key == keys[i])
			return true;
	}
	return row->use == MT_OPTION_HELD || (row->key < 256 && strchr(letters, row->key));
}

struct mt_error *mt_options_check_counting(const struct mt_record_options *options,
					   const struct mt_option_row *other)
{
	char letter[] = {'-', 0, 0};

	if (options->action != MT_ACTION_COUNT || !other)
		return NULL;
	letter[1] = (char)(other->key < 256 ? other->key : '-');
	return mt_error_create(MT_ERR_USAGE, "--stat records nothing: %s%s does not go with it",
			       letter, other->key < 256 ? "" : other->name);
}
