#!/bin/bash
# The ledger's speed and memory on one CPU: CALLS calls of mmap and munmap, recorded with the order of locks (three
# records a call), without stacks and with dumps of 16 KiB.
#
#	tests/bench/ledger.sh [CALLS]	without: 1000000; 10000000 is what 20 s and 500 MB were promised for
. "$(dirname "$0")/../lib.sh"
calls=${1:-1000000}
cat >"$TMPDIR/loop.c" <<'EOF'
#include <stdlib.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
	static char *ring[512];
	for (long i = 0, n = argc > 1 ? atol(argv[1]) : 0; i < n; i++) {
		char **at = &ring[i * 7 % 512];
		if (*at)
			munmap(*at, 8192), *at = NULL;
		else
			*at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	return 0;
}
EOF
"${CC:-cc}" -O1 -o "$TMPDIR/loop" "$TMPDIR/loop.c" || exit 1
for stacks in none dwarf; do
	"$MT_BUILD/mtrec" -q -m 256M -e vm --call-graph $stacks -o "$TMPDIR/loop.mtr" "$TMPDIR/loop" "$calls" || exit 1
	"$MT_BUILD/mtreport" --info "$TMPDIR/loop.mtr" | awk -v stacks="$stacks" '
		$1 == "samples" || $1 == "lost" { n[$1] = $2 }
		/ (sample|mark), [0-9,]+ records/ { gsub(",", "", $(NF - 1)); sum += $(NF - 1) }
		END { printf "call-graph %s: %s calls, %d records of them, %s lost\n", stacks, n["samples"], sum, n["lost"] }'
	for what in --summary --growth "--growth --folded" --outstanding; do
		# shellcheck disable=SC2086 # two words
		{ TIMEFORMAT="%U %S"; time "$MT_BUILD/mtreport" -j1 $what "$TMPDIR/loop.mtr" >/dev/null 2>"$TMPDIR/notes"; } 2>"$TMPDIR/time"
		# shellcheck disable=SC2086
		memory=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$MT_BUILD/mtreport" -j1 $what "$TMPDIR/loop.mtr")
		awk -v what="$what" -v memory="$memory" '{ printf "  %-18s %6.2f s of CPU, %4d MiB\n", what, $1 + $2, memory }' "$TMPDIR/time"
	done
done
