/* The files that the dynamic loader would map for a program, from their headers: nothing is run. */
#ifndef MT_RECORD_PROBES_NEEDED_FILES_H
#define MT_RECORD_PROBES_NEEDED_FILES_H

#include <stdbool.h>

/*
 * Calls each with the path of the program, or of a script's interpreter, then of what LD_PRELOAD
 * names, then of every library it needs (DT_NEEDED), directly or not, and of its loader, until each
 * returns false. Libraries are looked for as ld.so does: DT_RUNPATH, LD_LIBRARY_PATH, the folders
 * of /etc/ld.so.conf, the system's. What cannot be found is passed over.
 */
void mt_needed_files_each(const char *program, bool (*each)(void *context, const char *path),
			  void *context);

#endif
