/*
 * The table of analyses.
 */
#include "report/analyses/analyses.h"

#include <string.h>

#include "formats/base/err.h"

const struct mt_analysis *const mt_analyses[] = {
	&mt_analysis_samples,
	&mt_analysis_unwind_report,
	&mt_analysis_branches,
	NULL,
};

const struct mt_analysis *mt_analysis_find(const char *name)
{
	for (size_t i = 0; mt_analyses[i]; i++) {
		if (!strcmp(mt_analyses[i]->name, name))
			return mt_analyses[i];
	}
	return NULL;
}

struct mt_error *mt_analysis_run(const struct mt_analysis *analysis, struct mt_session *session,
				 const struct mt_analysis_request *request, struct mt_table **out)
{
	if (request->listing && !analysis->lists)
		return mt_error_create(MT_ERR_USAGE,
				       "--%s makes sums, and this output shows single events",
				       analysis->name);
	if (!request->listing && !analysis->groups)
		return mt_error_create(MT_ERR_USAGE,
				       "--%s lists single events, and this output shows sums",
				       analysis->name);
	return analysis->run(session, request, out);
}
