#!/bin/bash
# On Linux 5.10 of Debian 11, in a virtual machine: there are no lock events, and resident pages are counted in batches.
# timeout: 900
. "$(dirname "$0")/machine/kernel.sh"
on_kernel 5.10 locks=no counts=batched
finish
