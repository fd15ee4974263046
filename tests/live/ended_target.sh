#!/bin/bash
# If a target ended before recording began, mtrec says so, exits with status 3, and writes no recording.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
cd "$TMPDIR" || exit 1

# A target that has ended, but whose parent has not waited for it yet.
sh -c 'sleep 0 & echo $! >ended; exec sleep 20' &
parent=$!
until_true test -s ended
ended=$(cat ended)
until_true grep -q '^State:.Z' "/proc/$ended/status"
for what in vm,rss page-faults; do
	expect 3 "$what of a process that has ended" "$mtrec" -o no.mtr -e $what -p "$ended" --duration 1
	says '... says that it had' "^mtrec: -p: process $ended had ended before recording began\$"
done
expect 3 'its thread' "$mtrec" -o no.mtr -e page-faults -t "$ended" --duration 1
says '... likewise' "^mtrec: -t: thread $ended had ended before recording began\$"
is 'no file is left' "$(ls ./*.mtr 2>/dev/null)" ''
kill $parent

# A target that ends while mtrec prepares probes.
if [ "$(id -u)" = 0 ]; then
	sleep 0.5 &
	short=$!
	expect 3 'one that ends meanwhile' "$mtrec" -o no.mtr -e malloc -p $short --duration 1
	says '... is not said to be unknown' "^mtrec: -p: process $short had ended before recording began\$"
	is 'no file is left' "$(ls ./*.mtr 2>/dev/null)" ''
fi
expect 3 'one that never was' "$mtrec" -o no.mtr -e page-faults -p 99999999
says '... is another matter' '^mtrec: -p: there is no process 99999999$'
finish
