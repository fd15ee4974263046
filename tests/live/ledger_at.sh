#!/bin/bash
# --outstanding at the peak, at any moment and at the end: the reserved memory of a program that grows and gives back in steps.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'tracepoints'
cd "$TMPDIR" || exit 1
${CC:-cc} -D_GNU_SOURCE -O1 -g -o peak "$MT_TOP/tests/workloads/peak.c" || exit 1
report=$MT_BUILD/mtreport

# reserved OPTION...: prints the outstanding bytes below the program's own function.
reserved() {
	"$report" -q --outstanding --folded "$@" | awk '/;reserve(;|$| )/ { sum += $NF } END { print sum + 0 }'
}

record_without_losses 'a program that grows and gives back is recorded' "$mtrec" -e vm ./peak
cp "$out" steps
is 'it has done what it is made for' "$(awk '{ print $1 }' steps | tr '\n' ' ')" 'started first second peak holed given-back '
peak=$(awk '$1 == "peak" { print $3 }' steps)
last=$(awk 'END { print $3 }' steps)
is "at the peak, $peak bytes are outstanding" "$(reserved --at peak)" "$peak"
while read -r step time bytes; do
	is "at $step, $bytes" "$(reserved --at "@$time")" "$bytes"
done <steps
is 'at the end what was not given back' "$(reserved --at end)" "$last"
is '... which is what is asked for without --at' "$(reserved)" "$last"
is '... and all of it after the whole time' "$(reserved --at 100%)" "$last"
is '... and nothing at its beginning' "$(reserved --at 0%)" 0
# The summary has the memory that a path holds of the growth, whatever it mapped and gave back in between.
held=$(awk -v bytes="$last" 'BEGIN { printf bytes < 1e6 ? "+%.1f kB" : "+%.1f MB", bytes / (bytes < 1e6 ? 1e3 : 1e6) }')
is "... and the summary shows it as $held" "$("$report" -q | awk '/^ *[+].*: reserve  /  { print $1, $2 }')" "$held"
is '... in the cgroup that it began in' "$("$report" -q --outstanding --by cgroup --csv | sed 1d | cut -d, -f1)" \
	"$(awk -F: '{ path = $3 } /memory/ { exit } END { print path }' /proc/self/cgroup)"
# Regions count as they are at that time; the second region has a hole then.
"$report" -q --outstanding --folded --weight count --at "@$(awk '$1 == "holed" { print $2 }' steps)" >counts
is 'a hole makes two of one' "$(awk '/;reserve(;|$| )/ { sum += $NF } END { print sum + 0 }' counts)" 4
finish
