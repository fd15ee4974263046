#!/bin/bash
# On Linux 4.4 of Ubuntu, in a virtual machine: the oldest one here.
# timeout: 900
. "$(dirname "$0")/machine/kernel.sh"
on_kernel 4.4 lost=no locks=no counts=none users=faults strict=no
finish
