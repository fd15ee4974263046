/*
 * How malloc() takes memory from the kernel, for programs that use much of it and then end.
 */
#ifndef MT_FORMATS_BASE_HEAP_H
#define MT_FORMATS_BASE_HEAP_H

/* Call it first thing in main(). Wherever the system refuses, all is as without it. */
void mt_heap_begin(void);

#endif
