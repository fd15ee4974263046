#!/bin/bash
# Programs run one instruction at a time, with the branch records that hardware would have kept of them: the unwinder of branch
# records against the true call chain. Nobody here needs such hardware.
# timeout: 900
# slow: millions of single steps
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../oracle/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all 'not an x86-64 machine'
needs_command "${CC:-cc}"
build_tool lbr_step tests/oracle/lbr_step.c tests/oracle/branch_recorder.c tests/oracle/perf_file.c \
	tests/oracle/feeding.c tests/oracle/stepper.c || {
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
program deep "${CC:-cc}" -O2 -static "$workloads/deep.c"
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

# Beside a dump that is too small: past its end the records go on, and nothing that was right becomes wrong.
# goes_on LEAST-PERCENT STEPPER-OPTIONS PROGRAM [ARG]: how many more callers there are
goes_on() {
	local least=$1 options=$2 name=$3
	follows "a dump, then records: $options $name" "$options" "$name" "${@:4}"
	# "the dump alone gives 2.4 callers, both 9.5"
	awk -v least="$least" '/alone gives/ { good = $NF >= $5 * (1 + least / 100) } END { exit !good }' "$out" ||
		fail '... goes on past the dump'
}
for mode in call_stack any; do
	goes_on 20 "-j $mode,u -d 128 -s 20" deep
	goes_on 5 "-j $mode,u -d 128 -s 9" frames
	goes_on 5 "-j $mode,u -d 128 -s 9" signals
	goes_on 20 "-j $mode,u -d 128 -s 20" calls
	goes_on 20 "-t -j $mode,u -d 128 -s 20" transfers from-its-trap
	goes_on 0 "-t -j $mode,u -d 1024 -s 20" transfers from-its-trap
done

# The same through a file: perf.data with the samples, and beside it the truth, a line a sample, of which tests/oracle/lbr_step.c tells.
# recorded NAME STEPPER-OPTIONS PROGRAM [ARG]: $TMPDIR/NAME.data and .truth
recorded() {
	local name=$1 options=$2 program=$3
	shift 3
	# shellcheck disable=SC2086
	check "a recording of $program is written" "$TMPDIR/lbr_step" $options -o "$TMPDIR/$name.data" -T "$TMPDIR/$name.truth" \
		"$TMPDIR/$program" "$@"
}

# holds_truth FILE JUDGE [OPTION...]: mtreport's stacks against the truth. JUDGE: callers, none is wrong; mostly, in one stack of 100 at
# most; all, they are those that the records tell, each of them and no other; lived, those that the records tell truly are there, and
# the others were callers some time. Prints how many callers there are.
holds_truth() {
	local file=$1 judge=$2
	shift 2
	"$MT_BUILD/mtreport" -q --unwind lbr --no-inline --script "$@" "$file.data" >"$TMPDIR/script" || return 1
	python3 - "$TMPDIR/script" "$file.truth" "$judge" <<-'END'
		import sys
		script, truth, judge = open(sys.argv[1]).read(), open(sys.argv[2]).read().split("\n")[:-1], sys.argv[3]
		# The code of the vdso is the kernel's, and not in the file: who calls there has the place of its call, up to 7 bytes before.
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

recorded any '-t -j any,u -s 50' transfers from-its-trap
check 'mtreport replays a recording: no wrong caller' holds_truth "$TMPDIR/any" callers
recorded strict '-j call_stack,u -n 16 -s 20' calls
check 'mtreport takes a call stack as it is: all that the records tell' holds_truth "$TMPDIR/strict" all
recorded calls '-t -j call_stack,u -n 16 -s 50' transfers from-its-trap
check '... and, behind longjmp and exceptions, no caller that was none' holds_truth "$TMPDIR/calls" lived

# Recursion deeper than the records: what earlier samples still had.
for depth in 8 32; do
	recorded deep "-j call_stack,u,hw_index -n $depth -s 20" deep
	check "$depth records of a deep recursion" holds_truth "$TMPDIR/deep" all
	alone=$(cat "$out")
	check '... stitched: no wrong caller' holds_truth "$TMPDIR/deep" callers --stitch-lbr
	between '... and more of them' $((alone * 5 / 4)) "$(cat "$out")" 999999
	"$MT_BUILD/mtreport" -q --unwind lbr --stitch-lbr --unwind-report "$TMPDIR/deep.data" >"$TMPDIR/table"
	says '... marked' 'frames +stitched lbr +[1-9]' "$TMPDIR/table"
done
recorded deep '-j call_stack,u,hw_index -n 32 -s 2000' deep
check 'samples too rare to be stitched stay as they are' holds_truth "$TMPDIR/deep" callers --stitch-lbr
recorded deep '-j call_stack,u -n 32 -s 20' deep
check 'without the index nothing is stitched' holds_truth "$TMPDIR/deep" all --stitch-lbr

# A dump that ends, then records that end: what both tell together is right, and joining makes hardly one stack wrong. Frames of branch
# records have no stack pointers, so stacks are not joined behind them (docs/joining.md), but whole ones lend their frames to others.
# Which samples got further is where they fell, and that depends on the environment, too: of one in 20 steps it may be none.
for mode in call_stack any; do
	alone=0 joined=0
	for every in 19 20 21; do
		recorded both "-j $mode,u -n 8 -d 256 -s $every" deep
		check "a small dump and few records, $mode: no wrong caller" holds_truth "$TMPDIR/both" callers --unwind auto --no-join
		alone=$((alone + $(cat "$out")))
		check '... joined: hardly one is wrong' holds_truth "$TMPDIR/both" mostly --unwind auto
		joined=$((joined + $(cat "$out")))
	done
	between '... and more of them' $((alone * 5 / 4)) "$joined" 9999999
done

# As mtrec records it, sealed, and read where the program is not: its branches are classified and replayed by the code that is carried.
program sealed "${CC:-cc}" -O2 -static -Wl,--build-id "$workloads/frames.c"
recorded sealed '-j any,u -s 50' sealed
"$MT_TOP/tests/oracle/recording_of.py" "$TMPDIR/sealed.data" "$TMPDIR/plain.mtr"
# stacks_of FILE: with what is not of this place left out, and a count of the callers
stacks_of() {
	"$MT_BUILD/mtreport" -q --unwind lbr --no-inline --script "$TMPDIR/$1" >"$TMPDIR/$1.stacks"
	grep -c '^	' "$TMPDIR/$1.stacks"
}
samples=$(grep -vc ^ever "$TMPDIR/sealed.truth")
with=$(stacks_of plain.mtr)
between 'a recording of branches is replayed by the code of the files' $((samples + samples / 5)) "$with" 999999
check '... and sealed' "$MT_BUILD/mtreport" --seal "$TMPDIR/carried.mtr" "$TMPDIR/plain.mtr"
check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check "$TMPDIR/carried.mtr"
mv "$TMPDIR/sealed" "$TMPDIR/gone"
between '... which proves no caller where they are not' 0 "$(stacks_of plain.mtr)" "$samples"
is '... but sealed as many' "$(stacks_of carried.mtr)" "$with"
mv "$TMPDIR/gone" "$TMPDIR/sealed"
stacks_of plain.mtr >"$TMPDIR/why"
check '... the same ones' cmp "$TMPDIR/plain.mtr.stacks" "$TMPDIR/carried.mtr.stacks"
"$MT_BUILD/mtreport" --seal "$TMPDIR/again.mtr" "$TMPDIR/carried.mtr" 2>"$TMPDIR/said"
says '... and what is carried is not added again' ': 0 added' "$TMPDIR/said"
finish
