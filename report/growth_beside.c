/*
 * Growth beside another analysis.
 */
#include "report/growth_beside.h"

#include <sys/stat.h>

#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/facts.h"
#include "report/ledger/call.h"
#include "report/session.h"
#include "report/table.h"

void mt_growth_deinit(struct mt_growth *growth)
{
	mt_table_destroy(growth->table);
	mt_session_destroy(growth->session);
}

static bool is_told_of(const struct mt_facts *facts)
{
	enum mt_vm_call_kind kind;

	for (size_t i = 0; i < facts->events.count; i++) {
		const struct mt_facts_event *event = &facts->events.items[i];

		if (event->selected &&
		    mt_vm_call_moment(event->name, event->alias, &kind) == MT_MOMENT_EXIT)
			return true;
	}
	return false;
}

static bool can_be_read_again(const struct mt_session_options *options)
{
	struct stat file;

	for (size_t i = 0; i < options->file_count; i++) {
		if (stat(options->files[i], &file) || !S_ISREG(file.st_mode))
			return false;
	}
	return true;
}

struct mt_error *mt_growth_read(const struct mt_session_options *options,
				const struct mt_facts *facts, struct mt_growth *out)
{
	struct mt_session_options again = *options;
	const struct mt_analysis_request request = {
		.stacks = true, .by = mt_analysis_growth.default_by, .unwind = true};
	struct mt_error *err;

	if (!is_told_of(facts) || !can_be_read_again(options))
		return NULL;
	again.progress = NULL;
	again.stacks = true;
	err = mt_session_open(&again, &out->session);
	return err ? err : mt_analysis_growth.run(out->session, &request, &out->table);
}
