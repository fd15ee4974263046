#!/bin/bash
# On Linux 6.1 of Debian 12, in a virtual machine: the kernel counts losses, reports locks, and counts resident pages in batches.
# timeout: 900
. "$(dirname "$0")/machine/kernel.sh"
on_kernel 6.1 counts=batched often=yes
finish
