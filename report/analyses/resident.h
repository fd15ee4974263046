/* --resident while another analysis reads the session. */
#ifndef MT_REPORT_ANALYSES_RESIDENT_H
#define MT_REPORT_ANALYSES_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

struct mt_analysis_request;
struct mt_error;
struct mt_resident_run;
struct mt_session;
struct mt_table;

/*
 * --resident for a session that another caller reads to its end between begin and end.
 * Borrows session and request.
 */
struct mt_error *mt_resident_begin(struct mt_session *session,
				   const struct mt_analysis_request *request,
				   struct mt_resident_run **out);

/* Memory to leave out, because another table shows it; called after the session's end. */
struct mt_resident_apart {
	bool (*has)(void *context, int32_t pid, bool is_heap, uint32_t reserver);
	void *context;
};
void mt_resident_leave_out(struct mt_resident_run *run, const struct mt_resident_apart *apart);
struct mt_error *mt_resident_end(struct mt_resident_run *run, struct mt_table **out);
void mt_resident_run_destroy(struct mt_resident_run *run);

#endif
