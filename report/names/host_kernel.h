/*
 * Decides whether kernel addresses of a perf.data file are valid on this machine now. perf does not
 * record the boot id, but records the kernel's release, build id and load address.
 */
#ifndef MT_REPORT_NAMES_HOST_KERNEL_H
#define MT_REPORT_NAMES_HOST_KERNEL_H

#include <stdbool.h>

/*
 * True if this machine's kernel has this release (as of uname -r), build id (hex, NULL if not
 * recorded) and first symbol with its address: "_text ffffffff81000000". Reads /sys/kernel/notes
 * and the start of /proc/kallsyms; false if these are unreadable.
 */
bool mt_host_kernel_is(const char *release, const char *build_id, const char *symbol);

#endif
