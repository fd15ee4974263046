#!/bin/bash
# Measures the cost of recording allocations for a program, and how many per second are recorded without loss:
#
# 1. A server whose requests allocate and free 10,000 blocks in a second of its CPU time: requests in such a second while mtrec records
#    1 in 4 of them, as --malloc-sample auto chooses at that rate, and while nothing does, by turns; the median of the ratios.
# 2. A program that paces itself to so many pairs of malloc and free a second, every block recorded: pairs a second, and lost records.
#
#	tests/bench/allocations.sh [RUNS [SECONDS]]	5 runs of 3 s
. "$(dirname "$0")/../lib.sh"
runs=${1:-5}
seconds=${2:-3}
cd "$TMPDIR" || exit 1
cat >pairs.c <<'END_OF_C'
/* pairs RATE SECONDS: that many pairs a second, or with RATE 0 requests of 1 ms of work and 10 pairs. Prints what it did a second. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double own_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void pairs(int count)
{
	static void *volatile block;

	while (count--) {
		block = malloc(100);
		free(block);
	}
}

int main(int argc, char **argv)
{
	double rate = argc > 2 ? atof(argv[1]) : 0, length = argc > 2 ? atof(argv[2]) : 1;
	volatile unsigned work = 0;
	unsigned long turns = 1, done = 0;
	double from, start;

	/* as many turns as take a millisecond where nothing else runs */
	for (double took = 0; took < 1e-3; turns *= 2) {
		start = own_time();
		for (unsigned long i = 0; i < turns; i++)
			work++;
		took = own_time() - start;
	}
	from = now();
	start = own_time();
	while (now() - from < length) {
		if (rate > 0) {
			pairs(100);
			done += 100;
			while ((double)done / rate > now() - from)
				;
		} else {
			for (unsigned long i = 0; i < turns / 2; i++)
				work++;
			pairs(10);
			done++;
		}
	}
	printf("%.1f %.1f\n", (double)done / (now() - from), (double)done / (own_time() - start));
	return 0;
}
END_OF_C
"${CC:-cc}" -O1 -fno-builtin -o pairs pairs.c || exit 1

# served: prints requests per second of the server's CPU time, so that other load on this machine does not count
served() {
	./pairs 0 "$((seconds + 3))" >rates &
	local server=$! recorder=
	if [ "$1" = recorded ]; then
		"$MT_BUILD/mtrec" -o server.mtr -e malloc --malloc-sample 4 -p "$server" 2>said &
		recorder=$!
	fi
	wait "$server"
	[ -z "$recorder" ] || wait "$recorder"
	cut -d' ' -f2 rates
}
for ((i = 0; i < runs; i++)); do
	echo "$(served alone) $(served recorded)"
done | awk '{ print $2 / $1 }' | sort -n >ratios
printf 'a server of 10,000 allocations a second: recorded %s times as many requests a CPU second, median of %d runs (%s)\n' \
	"$(sed -n "$((runs / 2 + 1))p" ratios)" "$runs" "$(tr '\n' ' ' <ratios)"

for rate in 10000 25000 50000 75000 100000; do
	"$MT_BUILD/mtrec" -o all.mtr -e malloc --malloc-sample all -- ./pairs "$rate" "$seconds" >rates 2>said
	printf 'every block, %7d pairs a second wanted: %s; %s\n' "$rate" "$(cut -d' ' -f1 rates)" \
		"$(sed -n 's/^mtrec: [0-9.]* s, //p' said)"
done
"$MT_BUILD/mtrec" -o fp.mtr -e malloc --malloc-sample all --call-graph fp -- ./pairs 100000 "$seconds" >rates 2>said
printf 'every block, frame pointers, 100000 wanted: %s; %s\n' "$(cut -d' ' -f1 rates)" "$(sed -n 's/^mtrec: [0-9.]* s, //p' said)"
