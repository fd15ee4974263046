/*
 * malloc() tuned for programs that allocate much memory and then exit: huge pages, and freed memory
 * is kept.
 */
#ifndef MT_FORMATS_BASE_HEAP_H
#define MT_FORMATS_BASE_HEAP_H

/* Call first in main(). A setting that the system refuses is skipped. */
void mt_heap_begin(void);

#endif
