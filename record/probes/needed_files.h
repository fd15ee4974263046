/*
 * Finds the files that the dynamic loader would map for a program, from their headers, without
 * running the program.
 */
#ifndef MT_RECORD_PROBES_NEEDED_FILES_H
#define MT_RECORD_PROBES_NEEDED_FILES_H

#include <stdbool.h>

/*
 * Calls each with a path until it returns false. The order is: the program, or a script's
 * interpreter; the files in LD_PRELOAD; all libraries that it needs directly or indirectly
 * (DT_NEEDED); its loader. Searches libraries like ld.so: DT_RUNPATH, LD_LIBRARY_PATH, the folders
 * of /etc/ld.so.conf, the system's folders. Skips files that do not exist.
 */
void mt_needed_files_each(const char *program, bool (*each)(void *context, const char *path),
			  void *context);

#endif
