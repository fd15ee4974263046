/* Runs an analysis alone. */
#include "report/sums/analysis.h"

#include "report/session/session.h"
#include "report/sums/row_keys.h"

struct mt_error *mt_listener_run(struct mt_listener *listener, struct mt_session *session,
				 struct mt_table **out)
{
	struct mt_error *err = mt_session_read(session, NULL, NULL);

	err = err ? err : listener->end(listener, out);
	listener->destroy(listener);
	return err;
}

struct mt_error *mt_analysis_run(const struct mt_analysis *analysis, struct mt_session *session,
				 const struct mt_analysis_request *request, struct mt_table **out)
{
	if (analysis->run)
		return analysis->run(analysis, session, request, out);
	return mt_listener_run(analysis->listen(analysis, session, request, false), session, out);
}

struct mt_error *mt_analysis_of_samples(const struct mt_analysis *analysis,
					struct mt_session *session,
					const struct mt_analysis_request *request,
					struct mt_table **out)
{
	return mt_row_keys_of_samples(session, analysis->name, request, out);
}
