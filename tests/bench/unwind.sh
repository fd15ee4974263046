#!/bin/bash
# Compares the unwinder's speed with a memcpy of the dumps, libunwind and libdw, on the same samples in one run.
#
#	tests/bench/unwind.sh [PERF.DATA...]	without files: records faulter, a compiler, gdb and node where these exist
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../oracle/lib.sh"
build_tool bench_unwind tests/bench/bench_unwind.c tests/bench/samples.c tests/oracle/oracle_libdw.c || {
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
	if command -v python3 >/dev/null && command -v perl >/dev/null; then
		"$MT_TOP/tests/bench/end_to_end.py" "$MT_BUILD/mtreport" "$TMPDIR/$name.perf.data"
	fi
	rm -f "$TMPDIR/$name.perf.data"
}

if [ -d "$MT_SHARED/targets" ] && make -s -C "$MT_SHARED/targets" B="$TMPDIR/targets" >/dev/null 2>&1; then
	(cd "$TMPDIR/targets" && measure faulter -e page-faults -c 1 -- ./faulter 40000 40000 1)
fi
{
	printf '#include %s\n' '<map>' '<regex>' '<future>' '<string>'
	for ((i = 0; i < 10; i++)); do
		echo "struct s$i { int a; bool operator<(const s$i &o) const { return a < o.a; } };"
		echo "int f$i(const char *t) { std::map<s$i, std::string> m; m[{1}] = t; auto f = std::async([&] { return m.size(); });"
		echo "std::basic_regex<char> r(t); return std::regex_match(m.begin()->second, r) + f.get(); }"
	done
} >"$TMPDIR/a.cpp"
command -v g++ >/dev/null && measure g++ -F 4000 -e cpu-clock:u -- g++ -O3 -S -o /dev/null "$TMPDIR/a.cpp"
words=()
for ((i = 0; i < 300; i++)); do
	words+=(-ex 'info functions main' -ex 'info types string' -ex file -ex "file $MT_BUILD/mtreport")
done
command -v gdb >/dev/null && measure gdb -F 4000 -e cpu-clock:u -- gdb -batch "$MT_BUILD/mtreport" "${words[@]}"
echo 'function f(n){return n<2?n:f(n-1)+f(n-2)} for(let i=0;i<7000;i++)JSON.stringify({a:f(24),b:[...Array(9999).keys()].sort()})' \
	>"$TMPDIR/a.js"
command -v node >/dev/null && measure node -F 4000 -e cpu-clock:u -- node "$TMPDIR/a.js"
exit 0
