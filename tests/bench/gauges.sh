#!/bin/bash
# Measures the cost of reading /proc for mtrec: percent of a CPU, user and system, while 500 processes sleep, with gauges each second,
# minus the cost without any in between.
#
#	tests/bench/gauges.sh [SECONDS [PROCESSES]]	60 s of each
. "$(dirname "$0")/../lib.sh"
seconds=${1:-60}
processes=${2:-500}
cd "$TMPDIR" || exit 1
cat >sleepers.c <<'END_OF_C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int i = atoi(argv[argc - 1]); i; i--) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, 15);
		pause();
		_exit(0);
	}
	puts("ready");
	fflush(stdout);
	pause();
}
END_OF_C
"${CC:-cc}" -O2 -o sleepers sleepers.c || exit 1
coproc sleepers { exec ./sleepers "$processes"; }
# shellcheck disable=SC2154
read -r _ <&"${sleepers[0]}"

# cost GAUGES: prints the CPU time in ms of all threads of mtrec, and of the thread that reads /proc
cost() {
	"$MT_BUILD/mtrec" -q -e syscalls:sys_exit_shmdt -a --gauges "$1" -o gauges.mtr &
	local recorder=$!
	until_recording "$recorder" gauges.mtr
	sleep "$seconds"
	cat "/proc/$recorder/task/$recorder/schedstat" "/proc/$recorder/task/"*/schedstat | awk '
		NR == 1 { one = $1 } NR > 1 { all += $1 } END { printf "%d %d\n", all / 1e6, one / 1e6 }'
	kill -INT "$recorder"
	wait "$recorder" 2>/dev/null
}

read -r with with_one < <(cost 1s)
read -r without without_one < <(cost none)
printf '%d processes, %d s: all threads %d ms with gauges each second, %d ms without; the one that reads them %d and %d ms: %.2f %% of a CPU\n' \
	"$processes" "$seconds" "$with" "$without" "$with_one" "$without_one" "$(awk "BEGIN { print ($with_one - $without_one) / $seconds / 10 }")"
kill "$sleepers_PID"
