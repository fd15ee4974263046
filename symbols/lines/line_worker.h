/*
 * Looks up lines like lines.h, in a process that reads the debug information: libdw survives
 * neither a failed allocation nor all damaged data. If the process dies, the lines of this image
 * are lost, and mt_line_worker_problem() says so. Not thread-safe.
 */
#ifndef MT_SYMBOLS_LINES_LINE_WORKER_H
#define MT_SYMBOLS_LINES_LINE_WORKER_H

#include <stddef.h>
#include <stdint.h>

#include "symbols/lines/lines.h"

struct mt_line_worker;

/*
 * Like mt_lines_create(), in a new process, which ends with the worker. Both files are mapped or in
 * memory: the process has no other descriptors.
 */
struct mt_error *mt_line_worker_create(const struct mt_elf *image, struct mt_elf *debug,
				       const char *path, struct mt_line_worker **out);
void mt_line_worker_destroy(struct mt_line_worker *worker);

/* As mt_lines_find() and mt_lines_problem(). */
size_t mt_line_worker_find(struct mt_line_worker *worker, uint64_t vaddr,
			   struct mt_lines_frame out[MT_LINES_DEPTH]);
const char *mt_line_worker_problem(const struct mt_line_worker *worker);

#endif
