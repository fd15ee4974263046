#!/bin/bash
# Programs run one instruction at a time, with the branch records that hardware would have kept of them: the unwinder of branch
# records against the true call chain. Nobody here needs such hardware.
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../oracle/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all 'not an x86-64 machine'
needs_command "${CC:-cc}"
has_library capstone/capstone.h -lcapstone || skip_all 'built without a disassembler'
build_tool lbr_step tests/oracle/lbr_step.c tests/oracle/branch_recorder.c tests/oracle/perf_file.c \
	tests/oracle/stepper.c || {
	fail 'the single-stepper builds' "$TMPDIR/why"
	finish
}
workloads=$MT_TOP/tests/workloads/unwind

# program NAME COMPILER-WORDS...: $TMPDIR/NAME
program() {
	local name=$1
	shift
	"$@" -o "$TMPDIR/$name" -lm 2>"$TMPDIR/why" || skip "$name" 'the compiler cannot build it'
}

# follows DESCRIPTION STEPPER-OPTIONS PROGRAM [ARG]
follows() {
	local description=$1 options=$2 name=$3
	shift 3
	[ -x "$TMPDIR/$name" ] || return 0
	# shellcheck disable=SC2086
	check "$description" "$TMPDIR/lbr_step" $options "$TMPDIR/$name" "$@"
	sed 's/^/# /' "$out"
}

program frames "${CC:-cc}" -O2 -static "$workloads/frames.c"
program signals "${CC:-cc}" -O2 -static "$workloads/signals.c"
program calls "${CC:-cc}" -O2 -no-pie -Wl,-z,lazy "$workloads/calls.c"
program transfers "${CXX:-c++}" -O2 "$workloads/transfers.cpp"
"$TMPDIR/lbr_step" -s 1000 "$TMPDIR/frames" >"$TMPDIR/why" 2>&1
grep -q '^stepper: .*Operation not permitted' "$TMPDIR/why" && skip_all 'ptrace is not permitted'

for depth in 8 16 32 64; do
	follows "any branch, $depth deep: no wrong caller" "-j any,u -n $depth" frames
done
follows 'with the kernel in between' '-j any,u,k -s 3' frames
follows 'with the kinds told by the kernel' '-j any,u,save_type -s 3' frames
follows 'calls alone prove no caller' '-j any_call,u -s 3' frames
follows 'a call stack: all that it tells' '-j call_stack,u -n 8' frames
follows 'a deep call stack' '-j call_stack,u -n 64' frames
follows 'signals' '-j any,u -s 3' signals
follows 'signals, with the kernel in between' '-j any,u,k -s 3 -n 64' signals
follows 'signals in a call stack' '-j call_stack,u -s 3' signals
follows 'lazy PLT, the dynamic linker' '-j any,u -s 3' calls
follows 'the same as a call stack' '-j call_stack,u -s 3' calls
for filter in any,u any,u,k any,u,save_type call_stack,u; do
	follows "tail calls, exceptions, longjmp, coroutines, $filter" "-t -j $filter" transfers from-its-trap
done

# The same through a file: perf.data with the samples, and beside it the truth, an ip and return addresses a line.
check 'a recording is written' "$TMPDIR/lbr_step" -t -j call_stack,u -n 16 -s 50 -o "$TMPDIR/calls.data" -T "$TMPDIR/calls.truth" \
	"$TMPDIR/transfers" from-its-trap
check 'and another' "$TMPDIR/lbr_step" -t -j any,u -s 50 -o "$TMPDIR/any.data" -T "$TMPDIR/any.truth" "$TMPDIR/transfers" from-its-trap

# holds_truth FILE MOST-WRONG: mtreport's stacks against the truth, wrong where a caller is none of those that are there.
holds_truth() {
	"$MT_BUILD/mtreport" -q --unwind lbr --no-inline --script "$1.data" >"$TMPDIR/script" || return 1
	python3 - "$TMPDIR/script" "$1.truth" "$2" <<-'END'
		import sys
		script, truth, most = open(sys.argv[1]).read(), open(sys.argv[2]).read().split("\n")[:-1], float(sys.argv[3])
		stacks = [[int(line.split()[0], 16) for line in part.split("\n")[1:]] for part in script.strip().split("\n\n")]
		wrong = found = 0
		for stack, line in zip(stacks, truth):
		    true = [int(word, 16) for word in line.split()]
		    same = all(a in (b, b - 1) for a, b in zip(stack, true)) and len(stack) <= len(true)
		    wrong += not same
		    found += len(stack) - 1
		print(f"# {len(stacks)} samples, {wrong} not as the truth is, {found} callers")
		sys.exit(len(stacks) != len(truth) or not found or wrong > most * len(stacks))
	END
}
check 'mtreport replays a recording: no wrong caller' holds_truth "$TMPDIR/any" 0
# what longjmp, exceptions and coroutines leave behind in a call stack is not the program's any more
check 'mtreport takes a call stack as it is' holds_truth "$TMPDIR/calls" 0.7
finish
