#!/bin/bash
# On the newest kernel that Debian has, in a virtual machine.
# timeout: 900
. "$(dirname "$0")/machine/kernel.sh"
on_kernel newest
finish
