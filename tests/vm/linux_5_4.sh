#!/bin/bash
# On Linux 5.4 of Ubuntu, in a virtual machine: neither events of locks nor counts of resident pages nor of losses.
# timeout: 900
. "$(dirname "$0")/machine/kernel.sh"
on_kernel 5.4 lost=no locks=no counts=none users=calls
finish
