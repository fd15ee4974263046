/* The container of a cgroup. */
#ifndef MT_REPORT_SUMS_CONTAINER_H
#define MT_REPORT_SUMS_CONTAINER_H

#include "report/tables/text.h"

/*
 * The engine and id or name of a container, from one path or the lines of /proc/PID/cgroup: "docker
 * 3f2a1b4c5d6e", "containerd ..", "podman ..", "cri-o ..", "lxc NAME", "machine NAME". "-" if the
 * path is not of a container.
 */
struct mt_snippet mt_container_of(const char *cgroup);

#endif
