#!/bin/bash
# On Linux 6.12 of Debian 13, in a virtual machine: the kernel reports each resident page.
# timeout: 900
. "$(dirname "$0")/machine/kernel.sh"
on_kernel 6.12
finish
