/*
 * The summary's verdicts on memory, where verdicts on blocks replace those on heaps. The blocks are
 * counted while another analysis reads the files.
 */
#ifndef MT_REPORT_ANALYSES_LEAKS_BESIDE_H
#define MT_REPORT_ANALYSES_LEAKS_BESIDE_H

#include <stdbool.h>

struct mt_analysis_request;
struct mt_error;
struct mt_leaks_beside;
struct mt_session;
struct mt_table;
struct mt_verdicts;

/* Before the session's first sample; the verdicts' ledger runs beside, too. Borrows all. */
struct mt_error *mt_leaks_beside_listen(struct mt_session *session,
					const struct mt_analysis_request *request,
					struct mt_verdicts *verdicts, struct mt_leaks_beside **out);
void mt_leaks_beside_destroy(struct mt_leaks_beside *beside);

/* Makes the table behind the session's end, from judged verdicts. */
struct mt_error *mt_leaks_beside_table(struct mt_leaks_beside *beside, struct mt_table **out);

#endif
