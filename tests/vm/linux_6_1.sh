#!/bin/bash
# On Linux 6.1 of Debian 12, in a virtual machine: losses are counted, locks are told, resident pages are counted in batches.
# timeout: 900
. "$(dirname "$0")/machine/kernel.sh"
on_kernel 6.1 counts=batched often=yes
finish
