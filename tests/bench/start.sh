#!/bin/bash
# Measures mtrec and perf record: the time from the recorder's start to the first instruction of the recorded command, and from the
# command's end to the recorder's end, in milliseconds, the median of several runs.
#
#	tests/bench/start.sh [RUNS]		9 of each, in turn
. "$(dirname "$0")/../lib.sh"
runs=${1:-9}
cat >"$TMPDIR/now.c" <<'END'
#include <stdio.h>
#include <time.h>

int main(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	printf("%lld\n", t.tv_sec * 1000000000ll + t.tv_nsec);
}
END
cd "$TMPDIR" || exit 1
"${CC:-cc}" -O2 -o now now.c || exit 1

# once NAME RECORDER...
once() {
	local name=$1 before at after
	shift
	before=$(./now)
	at=$("$@" ./now 2>/dev/null)
	after=$(./now)
	echo "$(((at - before) / 10000)) $(((after - at) / 10000))" >>"$name"
}

median() {
	sort -n | awk '{ v[NR] = $1 } END { printf "%.1f", v[int((NR + 1) / 2)] / 100 }'
}

perf=$(command -v perf)
for ((i = 0; i < runs; i++)); do
	for events in page-faults brk vm vm,rss; do
		for all in '' -a; do
			once "mtrec -e $events $all" "$MT_BUILD/mtrec" -q -e "$events" $all -o start.mtr --
		done
	done
	[ -n "$perf" ] && for events in page-faults syscalls:sys_exit_brk; do
		for all in '' -a; do
			once "perf record -e $events $all" "$perf" record -q -m 64M -c 1 --call-graph dwarf,8192 -e "$events" $all -o start.perf --
		done
	done
done
printf '%-42s %10s %10s\n' '' 'start, ms' 'end, ms'
for name in mtrec* perf*; do
	[ -f "$name" ] && printf '%-42s %10s %10s\n' "$name" "$(awk '{ print $1 }' "$name" | median)" "$(awk '{ print $2 }' "$name" | median)"
done
exit 0
