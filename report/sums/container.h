/* The container of a cgroup. */
#ifndef MT_REPORT_SUMS_CONTAINER_H
#define MT_REPORT_SUMS_CONTAINER_H

#include "report/tables/text.h"

/*
 * "docker 3f2a1b4c5d6e", "containerd ..", "podman ..", "cri-o ..", "lxc NAME", "machine NAME", by
 * the lines of /proc/PID/cgroup or one path; "-" outside of containers.
 */
struct mt_snippet mt_container_of(const char *cgroup);

#endif
