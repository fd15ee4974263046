#!/bin/bash
# -e malloc, attached to an idle process, keeps to its budget when the load starts: mtrec removes the probes, and the recording says
# when.
# timeout: 240
# slow: the kernel takes a tenth of a second to take each probe off, and an allocator has seventeen
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'defining probes'
needs_compiler
cd "$TMPDIR" || exit 1

# Sleeps until SIGUSR1, then keeps 3 blocks, and allocates and frees 300 at a time. Prints how many pairs it made in each second of
# its CPU time, which does not depend on other load.
cat >sleeper.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static volatile sig_atomic_t go;
static void *volatile kept;
static void on_signal(int number)
{
	go = number;
}
__attribute__((noinline)) static void keep(void)
{
	for (int i = 0; i < 3; i++)
		kept = malloc(1000);
}
int main(int argc, char **argv)
{
	struct timespec now;
	int seconds = argc > 1 ? atoi(argv[1]) : 0;

	signal(SIGUSR1, on_signal);
	while (!go)
		usleep(10000);
	keep();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	for (int second = 0; second < seconds; second++) {
		time_t began = now.tv_sec;
		long pairs = 0;

		do {
			for (int i = 0; i < 300; i++) {
				kept = malloc(100);
				free(kept);
			}
			pairs += 300;
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		} while (now.tv_sec == began);
		printf("%ld\n", pairs);
		fflush(stdout);
	}
}
C
${CC:-cc} -g -O1 -o sleeper sleeper.c || exit 1

run() { # NAME SECONDS WORDS... of mtrec: how a recording that began while it was idle went
	local name=$1 seconds=$2
	shift 2
	./sleeper "$seconds" >"$name.pairs" &
	pid=$!
	until_runs "$pid" sleeper libc.so
	"$mtrec" -o "$name.mtr" -e malloc -p $pid "$@" 2>"$name.err" &
	recorder=$!
	for _ in $(seq 100); do
		! grep -q 'is recorded' "$name.err" || break
		sleep 0.1
	done
	sleep 2
	kill -USR1 $pid
	wait $recorder
	status=$?
	wait $pid
}
./sleeper 2 >plain.pairs & pid=$!
until_runs "$pid" sleeper libc.so
until_true grep -q '^State:.*sleeping' "/proc/$pid/status" # its handler is set
kill -USR1 $pid
wait $pid

run budget 6 --budget 5
is 'an idle program is recorded' "$status" 0
says '... with each block, because its load is not known' 'each is recorded' budget.err
says '... until its load passes the budget' 'probes switched off after [0-9.]+ s: [0-9]+ blocks a second cost [0-9]+ % of a CPU, more than --budget 5' budget.err
between '... and then the program has its speed back' 50 "$(($(sed -n 6p budget.pairs) * 100 / $(sed -n 2p plain.pairs)))" 1000
"$MT_TOP/scripts/mtdump" --records budget.mtr >records 2>&1
is 'the recording says when the probes were removed' "$(grep -c 'BLOCKS .*one_in=0' records)" 1
check '... as FORMAT.md specifies' "$MT_TOP/scripts/mtdump" --check budget.mtr
"$MT_BUILD/mtreport" budget.mtr >first 2>&1
says '... the first screen, too' 'probes switched off after' first
"$MT_BUILD/mtreport" --blocks --all --csv budget.mtr >blocks 2>&1
says 'blocks from before are known' 'keep' blocks
is '... and no others' "$(awk -F, '/keep/ { print "yes" }' blocks | head -1)" yes
! grep -q 'freed twice' blocks
is 'no free is reported missing after the end of the probes' "$?" 0

run any 2 --malloc-sample 64
is 'with --malloc-sample 64 no probe is removed, at any cost' "$(grep -c 'switched off' any.err)" 0
between '... and the program is slow until its end' 0 "$(($(sed -n 2p any.pairs) * 100 / $(sed -n 2p plain.pairs)))" 30
finish
