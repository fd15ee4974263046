/*
 * --maps: the mappings of each process at a moment, as in /proc/PID/maps. Adjacent regions of
 * different calls stay separate; /proc may merge them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/base/strings.h"
#include "report/analyses/analyses.h"
#include "report/ledger/ledger.h"
#include "report/session/session.h"
#include "report/stacks/spaces.h"
#include "report/sums/sum_table.h"

enum {
	KEY_PID,
	KEY_START,
	KEY_END,
	KEY_PERMISSIONS,
	KEY_OFFSET,
	KEY_DEVICE,
	KEY_INODE,
	KEY_KIND,
	KEY_NAME,
	KEYS
};

static const struct mt_key_column key_columns[KEYS] = {
	[KEY_PID] = {"pid", MT_KEY_NUMBER},	   [KEY_START] = {"start", MT_KEY_ADDRESS},
	[KEY_END] = {"end", MT_KEY_ADDRESS},	   [KEY_PERMISSIONS] = {"perms", MT_KEY_STRING},
	[KEY_OFFSET] = {"offset", MT_KEY_ADDRESS}, [KEY_DEVICE] = {"dev", MT_KEY_STRING},
	[KEY_INODE] = {"inode", MT_KEY_NUMBER},	   [KEY_KIND] = {"kind", MT_KEY_STRING},
	[KEY_NAME] = {"name", MT_KEY_STRING},
};

static const struct mt_value_column value_columns[] = {
	{"bytes", "B"},
	{"doubtful", "B"},
};

struct maps {
	struct mt_session *session;
	struct mt_sum_table *groups;
	bool living; /* without processes that had ended by then */
};

static uint64_t intern(const struct maps *maps, const char *text)
{
	return mt_strings_add(mt_session_strings(maps->session), text);
}

static void add_row(const struct maps *maps, const struct mt_ledger *ledger,
		    const struct mt_ledger_space *space, const struct mt_extent *region)
{
	const struct mt_region_attrs *attrs = mt_attrs_get(mt_ledger_attrs(ledger), region->attrs);
	struct mt_file_identity file = mt_attr_table_file_get(mt_ledger_attrs(ledger), attrs->file);
	char permissions[] = {attrs->prot & PROT_READ ? 'r' : '-',
			      attrs->prot & PROT_WRITE ? 'w' : '-',
			      attrs->prot & PROT_EXEC ? 'x' : '-',
			      attrs->flags & MT_REGION_SHARED ? 's' : 'p', '\0'},
	     device[32];
	const char *kind = mt_region_kind_name((enum mt_region_kind)attrs->kind);
	bool has_file = attrs->kind == MT_REGION_FILE || attrs->kind == MT_REGION_SHM;
	uint64_t keys[KEYS] = {
		[KEY_PID] = (uint64_t)space->pid,
		[KEY_START] = region->start,
		[KEY_END] = region->end,
		[KEY_OFFSET] = has_file ? region->start + attrs->delta : 0,
		[KEY_INODE] = file.inode,
	};
	const struct mt_value values[] = {
		mt_value_exact((double)(region->end - region->start)),
		mt_value_exact((double)mt_ledger_doubtful(ledger, space, region)),
	};

	snprintf(device, sizeof(device), "%02" PRIx32 ":%02" PRIx32, file.major, file.minor);
	keys[KEY_PERMISSIONS] = intern(maps, permissions);
	keys[KEY_DEVICE] = intern(maps, device);
	keys[KEY_KIND] = intern(maps, kind);
	keys[KEY_NAME] = intern(maps, file.name);
	mt_sum_table_add(maps->groups, keys, values);
}

/* A range whose mapping, if any, is unknown. */
static void add_doubt(const struct maps *maps, const struct mt_ledger_space *space,
		      const struct mt_extent *range)
{
	const struct mt_value bytes = mt_value_exact((double)(range->end - range->start));
	const struct mt_value values[] = {bytes, bytes};
	uint64_t keys[KEYS] = {
		[KEY_PID] = (uint64_t)space->pid,
		[KEY_START] = range->start,
		[KEY_END] = range->end,
	};

	keys[KEY_PERMISSIONS] = intern(maps, "????");
	keys[KEY_KIND] = intern(maps, "in doubt");
	mt_sum_table_add(maps->groups, keys, values);
}

static bool add_space(void *context, const struct mt_ledger *ledger,
		      const struct mt_ledger_space *space, const struct mt_extents *regions,
		      uint64_t time)
{
	const struct maps *maps = context;
	const struct mt_extent *region = mt_extents_after(regions, 0);
	const struct mt_task leader = {.pid = space->pid, .tid = space->pid, .comm = space->comm};

	if (maps->living && space->ended)
		return true;
	if (!mt_session_selects(maps->session, &leader, time ? time - 1 : 0))
		return true;
	for (; region; region = mt_extents_after(regions, region->end)) {
		add_row(maps, ledger, space, region);
	}
	region = mt_extents_after(space->account->doubts, 0);
	for (; region; region = mt_extents_after(space->account->doubts, region->end)) {
		add_doubt(maps, space, region);
	}
	return true;
}

static struct mt_error *run(const struct mt_analysis *analysis, struct mt_session *session,
			    const struct mt_analysis_request *request, struct mt_table **out)
{
	const struct mt_table shape = {
		.name = analysis->name,
		.keys = key_columns,
		.key_count = KEYS,
		.values = value_columns,
		.value_count = 2,
		.strings = mt_session_strings(session),
	};
	struct mt_sum_table *groups = mt_sum_table_create(&shape);
	struct maps maps = {session, groups, request->at.when == MT_AT_TIME};
	const struct mt_ledger_options options = {
		.at = request->at, .remaining = add_space, .context = &maps};
	struct mt_ledger *ledger = mt_ledger_begin(session, &options, false);
	struct mt_error *err = mt_session_read(session, NULL, NULL);

	mt_ledger_end(ledger);
	mt_ledger_destroy(ledger);
	*out = mt_sum_table_table(groups);
	return err;
}

const struct mt_analysis mt_analysis_maps = {
	.name = "maps",
	.help = "mappings of each process, as /proc/PID/maps has them",
	.rare = true,
	.groups = true,
	.moments = true,
	.states = true,
	.needs = MT_NEEDS_MAPS,
	.record = "vm",
	.output = "table",
	.run = run,
};
