/* Where processes have code mapped at this moment, as /proc tells. */
#ifndef MT_RECORD_MAPPED_NOW_H
#define MT_RECORD_MAPPED_NOW_H

struct mt_code_seen;

/*
 * Tells those of all processes on the host; where there may be some that /proc does not show or
 * let us read, that any may be there.
 */
void mt_mapped_now_tell(struct mt_code_seen *seen);

#endif
