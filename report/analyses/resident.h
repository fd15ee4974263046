/* --resident alongside another table. */
#ifndef MT_REPORT_ANALYSES_RESIDENT_H
#define MT_REPORT_ANALYSES_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

struct mt_listener;

/* Memory to leave out, because another table shows it; called after the session's end. */
struct mt_resident_apart {
	bool (*has)(void *context, int32_t pid, bool is_heap, uint32_t reserver);
	void *context;
};

/* Leaves out that memory. `listener` is that of mt_analysis_resident. Call before its end(). */
void mt_resident_leave_out(struct mt_listener *listener, const struct mt_resident_apart *apart);

#endif
