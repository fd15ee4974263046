#!/bin/bash
# The unwinder's speed beside a memcpy of the dumps, libunwind and libdw, on the same samples in one run.
#
#	tests/bench/unwind.sh [PERF.DATA...]	without files: records faulter, a compiler, gdb and node where they are there
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../oracle/lib.sh"
tool_flags=()
libraries=()
if has_library elfutils/libdwfl.h -ldw -lelf; then
	tool_flags+=(-DHAVE_LIBDW)
	libraries+=(-ldw -lelf)
fi
if has_library libunwind.h -lunwind-x86_64; then
	tool_flags+=(-DHAVE_LIBUNWIND)
	libraries+=(-lunwind-x86_64)
fi
build_tool bench_unwind tests/bench/bench_unwind.c tests/bench/samples.c tests/oracle/oracle*.c "${libraries[@]}" || {
	cat "$TMPDIR/why" >&2
	exit 1
}
if [ $# -gt 0 ]; then
	"$TMPDIR/bench_unwind" "$@"
	exit
fi
command -v perf >/dev/null || {
	echo 'bench: unwind: perf is not installed, and no perf.data file named' >&2
	exit 0
}

# measure NAME EVENT-WORDS -- COMMAND...
measure() {
	local name=$1
	shift
	perf record -q --call-graph dwarf,16384 -o "$TMPDIR/$name.perf.data" "$@" >/dev/null 2>&1
	"$TMPDIR/bench_unwind" "$TMPDIR/$name.perf.data"
	rm -f "$TMPDIR/$name.perf.data"
}

if [ -d "$MT_SHARED/targets" ] && make -s -C "$MT_SHARED/targets" B="$TMPDIR/targets" >/dev/null 2>&1; then
	(cd "$TMPDIR/targets" && measure faulter -e page-faults -c 1 -- ./faulter 20000 20000 1)
fi
printf '#include <map>\n#include <regex>\nint main() { std::regex r("a+b"); return std::regex_match("b", r); }\n' \
	>"$TMPDIR/a.cpp"
command -v g++ >/dev/null && measure g++ -F 4000 -e cpu-clock:u -- g++ -O2 -S -o /dev/null "$TMPDIR/a.cpp"
command -v gdb >/dev/null &&
	measure gdb -F 4000 -e cpu-clock:u -- gdb -batch -ex 'info functions main' -ex 'info types string' "$TMPDIR/bench_unwind"
echo 'function f(n){return n<2?n:f(n-1)+f(n-2)} for(let i=0;i<40;i++)JSON.stringify({a:f(24),b:[...Array(999).keys()].sort()})' \
	>"$TMPDIR/a.js"
command -v node >/dev/null && measure node -F 4000 -e cpu-clock:u -- node "$TMPDIR/a.js"
exit 0
