#!/bin/bash
# Runs programs one instruction at a time, and simulates the call stack that hardware would keep of them. Compares the unwinder of
# hardware call stacks with the true call chain. No such hardware is needed.
# timeout: 900
# slow: millions of single steps
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../oracle/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all 'not an x86-64 machine'
needs_command "${CC:-cc}"
build_tool lbr_step tests/oracle/lbr_step.c tests/oracle/branch_recorder.c tests/oracle/perf_file.c tests/oracle/stepper.c || {
	fail 'the single-stepper builds' "$TMPDIR/why"
	finish
}
workloads=$MT_TOP/tests/workloads/unwind

# program NAME COMPILER-WORDS...: builds $TMPDIR/NAME
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
program deep "${CC:-cc}" -O2 -static "$workloads/deep.c"
program calls "${CC:-cc}" -O2 -no-pie -Wl,-z,lazy "$workloads/calls.c"
program transfers "${CXX:-c++}" -O2 "$workloads/transfers.cpp"
"$TMPDIR/lbr_step" -s 1000 "$TMPDIR/frames" >"$TMPDIR/why" 2>&1
grep -q '^stepper: .*Operation not permitted' "$TMPDIR/why" && skip_all 'ptrace is not permitted'

follows 'a call stack: all that it has' '-n 8' frames
follows 'a deep call stack' '-n 64' frames
follows 'signals in a call stack' '-s 3' signals
follows 'lazy PLT, the dynamic linker' '-s 3' calls
follows 'tail calls, exceptions, longjmp, coroutines' -t transfers from-its-trap

# The dump is too small: the records continue past its end, and no right caller becomes wrong.
# goes_on LEAST-PERCENT STEPPER-OPTIONS PROGRAM [ARG]: prints how many more callers there are
goes_on() {
	local least=$1 options=$2 name=$3
	follows "a dump, then records: $options $name" "$options" "$name" "${@:4}"
	# "the dump alone gives 2.4 callers, both 9.5"
	awk -v least="$least" '/alone gives/ { good = $NF >= $5 * (1 + least / 100) } END { exit !good }' "$out" ||
		fail '... goes on past the dump'
}
goes_on 20 '-d 128 -s 20' deep
goes_on 5 '-d 128 -s 9' frames
goes_on 5 '-d 128 -s 9' signals
goes_on 20 '-d 128 -s 20' calls
goes_on 20 '-t -d 128 -s 20' transfers from-its-trap
goes_on 0 '-t -d 1024 -s 20' transfers from-its-trap

# The same test through a file: a perf.data file has the samples, and a second file the truth, with a line for each sample
# (tests/oracle/lbr_step.c).
# recorded NAME STEPPER-OPTIONS PROGRAM [ARG]: writes $TMPDIR/NAME.data and $TMPDIR/NAME.truth
recorded() {
	local name=$1 options=$2 program=$3
	shift 3
	# shellcheck disable=SC2086
	check "a recording of $program is written" "$TMPDIR/lbr_step" $options -o "$TMPDIR/$name.data" -T "$TMPDIR/$name.truth" \
		"$TMPDIR/$program" "$@"
}

# holds_truth FILE JUDGE [OPTION...]: compares mtreport's stacks with the truth. JUDGE is one of: callers, no caller is wrong; mostly, at
# most one stack in 100 has a wrong caller; all, the callers are exactly those of the records; lived, the true callers of the records
# are there, and the others were callers at some time. Prints the number of callers.
holds_truth() {
	local file=$1 judge=$2
	shift 2
	"$MT_BUILD/mtreport" -q --unwind lbr --no-inline --script "$@" "$file.data" >"$TMPDIR/script" || return 1
	python3 - "$TMPDIR/script" "$file.truth" "$judge" <<-'END'
		import sys
		script, truth, judge = open(sys.argv[1]).read(), open(sys.argv[2]).read().split("\n")[:-1], sys.argv[3]
		# The code of the vdso belongs to the kernel and is not in the file: a caller there has the address of its call, up to 7 bytes before.
		before = lambda line: 7 if line.endswith("([vdso])") else 1
		lines = [part.split("\n")[1:] for part in script.strip().split("\n\n")]
		stacks = [[int(line.split()[0], 16) for line in part] for part in lines]
		calls = [[before(line) for line in part[1:]] for part in lines]
		ever = {int(word, 16) for word in truth.pop().split()[1:]}
		wrong = found = 0
		for stack, call, line in zip(stacks, calls, truth):
		    told, ip, *callers = line.split()
		    told, callers, ours = int(told), [int(word, 16) for word in callers], stack[1:]
		    same = [b - most <= a <= b for a, b, most in zip(ours, callers, call)]
		    if judge in ("callers", "mostly"):
		        good = all(same) and len(ours) <= len(callers)
		    else:
		        good = all(same[:told]) and len(same) >= told and (len(ours) == told or judge == "lived")
		        good = good and all(ever & set(range(pc, pc + most + 1)) for pc, most in zip(ours, call))
		    wrong += not good or stack[0] != int(ip, 16)
		    found += len(ours)
		print(found)
		bound = len(stacks) / 100 if judge == "mostly" else 0
		sys.exit(len(stacks) != len(truth) or not found or wrong > bound)
	END
}

recorded strict '-n 16 -s 20' calls
check 'mtreport takes a call stack as it is: all that the records have' holds_truth "$TMPDIR/strict" all
recorded calls '-t -n 16 -s 50' transfers from-its-trap
check '... and, after longjmp and exceptions, no caller that was none' holds_truth "$TMPDIR/calls" lived

for depth in 8 32; do
	recorded deep "-n $depth -s 20" deep
	check "$depth records of a deep recursion" holds_truth "$TMPDIR/deep" all
done

# A dump ends, then the records end: the frames of both together are right, and joining makes hardly one stack wrong. Frames of branch
# records have no stack pointers, so stacks are not joined after them (docs/joining.md), but other stacks can be joined with whole
# ones. Whether a stack continues depends on the place of its sample, and so on the environment, too: with one in 20 steps, possibly
# none continues.
alone=0 joined=0
for every in 19 20 21; do
	recorded both "-n 8 -d 256 -s $every" deep
	check 'a small dump and few records: no wrong caller' holds_truth "$TMPDIR/both" callers --unwind auto --no-join
	alone=$((alone + $(cat "$out")))
	check '... joined: hardly one is wrong' holds_truth "$TMPDIR/both" mostly --unwind auto
	joined=$((joined + $(cat "$out")))
done
between '... and more of them' $((alone * 5 / 4)) "$joined" 9999999

# The same as mtrec would record it, sealed, and read without the program: mtreport finds return addresses with the carried code.
program sealed "${CC:-cc}" -O2 -static -Wl,--build-id "$workloads/frames.c"
recorded sealed '-s 50' sealed
"$MT_TOP/tests/oracle/recording_of.py" "$TMPDIR/sealed.data" "$TMPDIR/plain.mtr"
# stacks_of FILE: writes mtreport's stacks of FILE to FILE.stacks
stacks_of() {
	"$MT_BUILD/mtreport" -q --unwind lbr --no-inline --script "$TMPDIR/$1" >"$TMPDIR/$1.stacks"
}
stacks_of plain.mtr
check 'a recording of call stacks is sealed' "$MT_BUILD/mtreport" --seal "$TMPDIR/carried.mtr" "$TMPDIR/plain.mtr"
check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check "$TMPDIR/carried.mtr"
mv "$TMPDIR/sealed" "$TMPDIR/gone"
stacks_of carried.mtr
check '... and gives the same stacks after the program is removed' cmp "$TMPDIR/plain.mtr.stacks" "$TMPDIR/carried.mtr.stacks"
cp "$TMPDIR/plain.mtr.stacks" "$TMPDIR/here"
stacks_of plain.mtr
expect 1 '... while a recording without the code gives other stacks' cmp "$TMPDIR/plain.mtr.stacks" "$TMPDIR/here"
mv "$TMPDIR/gone" "$TMPDIR/sealed"
"$MT_BUILD/mtreport" --seal "$TMPDIR/again.mtr" "$TMPDIR/carried.mtr" 2>"$TMPDIR/said"
says '... and what is carried is not added again' ': 0 added' "$TMPDIR/said"
finish
