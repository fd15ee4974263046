#!/bin/bash
# Measures the additional cost of every system call on the host while mtrec has system call tracepoints open: nanoseconds of getppid(), the
# smallest of five rounds, without, with brk of the whole host, and with brk of one process that sleeps.
set -u
MT_BUILD=${MT_BUILD:-$(cd "$(dirname "$0")/../.." && pwd)/build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
cat >calls.c <<'EOF'
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
	double best = 1e9;

	for (int round = 0; round < 5; round++) {
		struct timespec a, b;

		clock_gettime(CLOCK_MONOTONIC, &a);
		for (int i = 0; i < 1000000; i++)
			syscall(SYS_getppid);
		clock_gettime(CLOCK_MONOTONIC, &b);
		double ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / 1e6;
		best = ns < best ? ns : best;
	}
	printf("%.1f\n", best);
}
EOF
cc -O2 -o calls calls.c || exit 1

# recorded_alongside MTREC-ARGUMENT...: prints the time of a getppid() while mtrec records with these arguments.
recorded_alongside() {
	"$MT_BUILD/mtrec" -q -o none.mtr "$@" &
	local recorder=$! ns
	sleep 0.5
	ns=$(./calls)
	kill -INT $recorder
	wait $recorder 2>/dev/null
	echo "$ns"
}

sleep 600 &
sleeper=$!
base=$(./calls)
printf 'getppid: %s ns; with -e brk -a: %s; with -e brk -p of a sleeping process: %s; with -e page-faults -a: %s\n' \
	"$base" "$(recorded_alongside -e brk -a)" "$(recorded_alongside -e brk -p $sleeper)" "$(recorded_alongside -e page-faults -a)"
kill $sleeper
