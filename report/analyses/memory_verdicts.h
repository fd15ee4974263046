/* The table of --verdict, and of --leaks. */
#ifndef MT_REPORT_ANALYSES_MEMORY_VERDICTS_H
#define MT_REPORT_ANALYSES_MEMORY_VERDICTS_H

#include <stddef.h>

struct mt_analysis_request;
struct mt_error;
struct mt_session;
struct mt_table;
struct mt_verdict_row;

/* Makes the table of judged verdicts; borrows the session and the table's name. */
struct mt_error *mt_verdict_table(struct mt_session *session,
				  const struct mt_analysis_request *request, const char *name,
				  const struct mt_verdict_row *rows, size_t count,
				  struct mt_table **out);

#endif
