#!/bin/bash
# Measures the cost of a sample after the ring: coding its dump and compressing it, on recordings of three kinds of stacks.
#
#	tests/bench/coding.sh [RECORDING...]	without files: records faulter, a compiler and node where these exist
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../oracle/lib.sh"
build_tool bench_coding tests/bench/bench_coding.c || {
	cat "$TMPDIR/why" >&2
	exit 1
}
if [ $# -gt 0 ]; then
	"$TMPDIR/bench_coding" "$@"
	exit
fi

# measure NAME COMMAND...
measure() {
	local name=$1
	shift
	"$MT_BUILD/mtrec" -q -e page-faults --call-graph dwarf,8192 -o "$TMPDIR/$name" -- "$@" >/dev/null &&
		(cd "$TMPDIR" && ./bench_coding "$name")
	rm -f "$TMPDIR/$name"
}

if [ -d "$MT_SHARED/targets" ] && make -s -C "$MT_SHARED/targets" B="$TMPDIR/targets" >/dev/null 2>&1; then
	(cd "$TMPDIR/targets" && measure faulter ./faulter 40000 40000 1)
fi
command -v g++ >/dev/null && measure g++ g++ -O1 -std=c++17 -S -o /dev/null "$MT_TOP/tests/workloads/grower.cpp"
echo 'const a = []; for (let i = 0; i < 300000; i++) a.push({n: i, s: "x".repeat(i % 100)}); a.map(JSON.stringify).length' \
	>"$TMPDIR/a.js"
command -v node >/dev/null && measure node node "$TMPDIR/a.js"
exit 0
