/*
 * The summary's verdicts on memory, where verdicts on blocks replace those on heaps. The blocks are
 * counted while another analysis reads the files.
 */
#ifndef MT_REPORT_ANALYSES_LEAKS_BESIDE_H
#define MT_REPORT_ANALYSES_LEAKS_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

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

/*
 * Makes the table behind the session's end, from judged verdicts. `blocks`: that of --blocks, NULL
 * where none live.
 */
struct mt_error *mt_leaks_beside_table(struct mt_leaks_beside *beside, struct mt_table **out,
				       struct mt_table **blocks);

/*
 * Whether memory of a process is in the table of blocks: a heap's, or such as an allocator mapped,
 * by the stack that reserved it. Behind mt_leaks_beside_table(), as long as `beside`.
 */
bool mt_leaks_beside_has(void *beside, int32_t pid, bool is_heap, uint32_t reserver);

#endif
