#!/bin/bash
# On Linux 4.15 of Ubuntu, in a virtual machine: neither events of locks nor counts of resident pages nor of losses.
# timeout: 900
. "$(dirname "$0")/machine/kernel.sh"
on_kernel 4.15 lost=no locks=no counts=none users=faults often=yes
finish
