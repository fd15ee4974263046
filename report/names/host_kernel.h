/*
 * Whether kernel addresses in a perf.data file mean what they mean on this machine now: perf does
 * not record the boot, but the kernel's release, its build id, and where it was loaded.
 */
#ifndef MT_REPORT_NAMES_HOST_KERNEL_H
#define MT_REPORT_NAMES_HOST_KERNEL_H

#include <stdbool.h>

/*
 * release as uname -r says it; build_id in hex, or NULL where it was not recorded; symbol is the
 * kernel's first one and its address: "_text ffffffff81000000". Reads /sys/kernel/notes and the
 * first lines of /proc/kallsyms; false where they do not say.
 */
bool mt_host_kernel_is(const char *release, const char *build_id, const char *symbol);

#endif
