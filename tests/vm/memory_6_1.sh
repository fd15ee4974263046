#!/bin/bash
# Linux 6.1 of Debian 12, in a virtual machine: probes, kills and reclaim in a cgroup of version 2, and each group of events.
# timeout: 900
. "$(dirname "$0")/machine/memory.sh"
memory_on_kernel 6.1 event=pid slabs=counted
finish
