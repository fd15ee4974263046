#!/bin/bash
# libdw and libunwind as oracles: CFI row by row on this machine's libraries, and whole stacks of recorded samples.
# timeout: 180
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../oracle/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all 'not an x86-64 machine'
if ! build_tool unwind_rows tests/oracle/unwind_rows.c; then
	fail 'the row comparison builds' "$TMPDIR/why"
	finish
fi
for file in /lib/x86_64-linux-gnu/libc.so.6 /lib64/libc.so.6 /lib64/ld-linux-x86-64.so.2 /usr/lib/x86_64-linux-gnu/libstdc++.so.6 \
	/usr/lib64/libstdc++.so.6 /usr/lib/x86_64-linux-gnu/libcrypto.so.3 /usr/bin/gdb ${MT_ROWS:-}; do
	[ -e "$file" ] || continue
	check "every row of $file is libdw's" "$TMPDIR/unwind_rows" "$file"
	sed 's/^/# /' "$out"
done

if ! build_tool bench_unwind tests/bench/bench_unwind.c tests/bench/samples.c tests/oracle/oracle_libdw.c; then
	fail 'the stack comparison builds' "$TMPDIR/why"
	finish
fi

# record COMMAND...: records to $TMPDIR/perf.data, with buffers that hold all records if we may lock as much memory. On a busy
# machine perf reads its buffers late, and with dumps of 16 KiB small buffers soon lose records, including those of mappings.
record() {
	local size
	for size in 32M 512K; do
		perf record -q -m $size -e page-faults -c 1 --call-graph dwarf,16384 -o "$TMPDIR/perf.data" -- "$@" \
			>/dev/null 2>"$TMPDIR/why" && return
	done
	return 1
}

# agrees DESCRIPTION COMMAND...: checks that the stacks of the command, recorded by perf, are equal to those of the oracles, or longer,
# or shorter with a reason. If they are not, and records were lost, the result means nothing, and perf records the command again.
agrees() {
	local description=$1 status=3 round
	shift
	for ((round = 0; round < 3 && status == 3; round++)); do
		record "$@" || {
			skip "$description" 'perf cannot record it'
			return
		}
		"$TMPDIR/bench_unwind" --compare "$TMPDIR/perf.data" >"$TMPDIR/compared" 2>&1
		status=$?
	done
	case $status in
	0) pass "$description" ;;
	3) skip "$description" 'perf lost records each time, and what was mapped with them' ;;
	*) fail "$description" "$TMPDIR/compared" ;;
	esac
	sed 's/^/# /' "$TMPDIR/compared"
}

if ! command -v perf >/dev/null || [ -n "${MT_NO_PERF:-}" ]; then
	skip 'stacks are those of the oracles' "${MT_NO_PERF:-perf is not installed}"
	finish
fi
agrees "the shell's stacks" bash -c 'for i in 1 2 3; do ls -lR /usr/include | sort >/dev/null; done'
if [ "${MT_TESTS:-}" = long ]; then
	printf '#include <regex>\nint main() { std::regex r("a+b"); return std::regex_match("b", r); }\n' >"$TMPDIR/a.cpp"
else
	printf '#include <map>\nint main() { std::map<int, int> m; m[1]++; return m.size() - 1; }\n' >"$TMPDIR/a.cpp"
fi
command -v g++ >/dev/null && agrees "the compiler's stacks" g++ -O1 -S -o /dev/null "$TMPDIR/a.cpp"
if [ -n "$MT_SHARED" ] && [ -d "$MT_SHARED/targets" ] &&
	mkdir "$TMPDIR/targets" && cd "$MT_SHARED/targets" &&
	g++ -O2 -g -fomit-frame-pointer -std=c++17 -o "$TMPDIR/targets/faulter" faulter.cpp -ldl -pthread &&
	g++ -O2 -g -fomit-frame-pointer -std=c++17 -fPIC -shared -o "$TMPDIR/targets/plugin.so" plugin.cpp; then
	cd "$TMPDIR/targets" || exit 1
	agrees "faulter's stacks" ./faulter 5000 0 1
else
	skip "faulter's stacks" 'no ../shared next to the tree: set MT_SHARED=DIR'
fi
finish
